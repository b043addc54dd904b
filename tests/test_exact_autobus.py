"""Autobus's exact values: against the enumeration of small decks, and each option that they honour."""

import itertools
from collections import Counter
from fractions import Fraction

import pytest

from sim import exact
from sim.games.autobus.exact import first_able, none_seen
from sim.quantities import Dealt, Seen, hypergeometric


@pytest.mark.parametrize(
    ("n_cards", "n_aces", "players", "hand", "bus"),
    [(8, 2, 2, 2, 2), (12, 4, 3, 2, 2), (12, 2, 4, 1, 1), (12, 3, 2, 3, 3)],
)
def test_first_round(n_cards, n_aces, players, hand, bus):
    """Every place that the aces can have in the deck is dealt as the rule book says: hand, then bus, seat by seat."""
    first, seen, own = Counter(), Counter(), Counter()
    for aces in itertools.combinations(range(n_cards), n_aces):
        visible = []
        for seat in range(players):
            start = seat * (hand + bus)
            visible.append(sum(place in aces for place in range(start, start + hand + 1)))
        first[next((seat for seat, n in enumerate(visible) if n), players)] += 1
        seen[sum(visible)] += 1
        own[visible[0]] += 1
    total = first.total()
    n_each = hand + 1
    for seat in range(players):
        assert first_able(seat, n_each, n_aces, n_cards) == Fraction(first[seat], total)
    assert none_seen(players * n_each, n_aces, n_cards) == Fraction(first[players], total)
    assert hypergeometric(players * n_each, n_aces, n_cards) == {k: Fraction(n, total) for k, n in sorted(seen.items())}
    assert hypergeometric(n_each, n_aces, n_cards) == {k: Fraction(n, total) for k, n in sorted(own.items())}


def test_the_letter():
    found = exact("autobus")
    none = Fraction(1)
    for n in range(24):  # four seats see six cards each, of two decks
        none *= Fraction(96 - n, 104 - n)
    assert found["nobody can place a card"] == none
    assert sum(found[f"seat {seat} is the first that can"] for seat in range(4)) == 1 - none


@pytest.mark.parametrize("options", [{"players": 3}, {"decks": 3}, {"hand_size": 6}, {"bus_size": 20}])
def test_each_option_matters(options):
    changed, letter = exact("autobus", rules=options), exact("autobus")
    assert changed["nobody can place a card"] != letter["nobody can place a card"]


def test_where_the_columns_show_it():
    def shown(**rules):
        return exact("autobus", rules=rules).sections[0].quantities[0].shown

    assert isinstance(shown(), Seen)
    slow = exact("autobus", policies="planner,greedy,greedy,greedy").sections[0].quantities[0].shown
    assert slow.policies == (("policy", "greedy"),)
    assert isinstance(shown(stalemate_rounds=2), Dealt)
    assert isinstance(shown(max_turns=3), Dealt)
    found = exact("autobus", rules={"must_play": False})
    assert "planner" in found.sections[0].missing[0]
