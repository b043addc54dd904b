"""Dupa biskupa's exact values: against the enumeration of small decks, and each option that they honour."""

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache
from math import comb

import pytest

from sim import exact
from sim.games.dupa.exact import (
    every_seat_has_an_ace,
    largest_set_law,
    one_set,
    second_goes_out,
    second_goes_out_at_random,
)
from sim.quantities import hypergeometric

# Cards of a small deck are ranks; the last rank is the ace.
SMALL = [(4, 2, 3), (4, 2, 2), (3, 4, 3), (6, 2, 3), (4, 3, 2), (4, 3, 4), (4, 2, 1)]


def law_of(counts):
    return {value: Fraction(n, counts.total()) for value, n in counts.items()}


def hands(ranks, copies, hand):
    """Return every hand, as a list of ranks."""
    deck = [rank for rank in range(ranks) for _ in range(copies)]
    return [[deck[at] for at in places] for places in itertools.combinations(range(len(deck)), hand)]


@pytest.mark.parametrize(("ranks", "copies", "hand"), SMALL)
def test_largest_set(ranks, copies, hand):
    found = Counter(max(Counter(cards).values()) for cards in hands(ranks, copies, hand))
    assert largest_set_law(hand, copies, ranks) == law_of(found)
    is_one = sum(len(set(cards)) == 1 for cards in hands(ranks, copies, hand))
    assert one_set(hand, copies, ranks) == Fraction(is_one, comb(ranks * copies, hand))


@pytest.mark.parametrize(
    ("n_cards", "n_aces", "players", "hand"), [(8, 2, 2, 3), (12, 4, 3, 3), (8, 4, 4, 2), (12, 2, 2, 6)]
)
def test_aces(n_cards, n_aces, players, hand):
    own, every = Counter(), Counter()
    for places in itertools.combinations(range(n_cards), n_aces):  # where the aces lie in the deck
        aces = Counter(place // hand for place in places)
        own[aces[0]] += 1
        every[all(aces[seat] for seat in range(players))] += 1
    assert hypergeometric(hand, n_aces, n_cards) == law_of(own)
    assert every_seat_has_an_ace(players, hand, n_aces, n_cards) == law_of(every).get(True, 0)


def can_go_out(cards, lead, ace, several, demands):
    """Tell whether a hand can go out in one move after a lead of one rank; the rules as they stand in the rule book.

    A demand stands if the lead was a dupa. Whether one set fits is a matter of ranks: with any match but `suit` a set
    of the lead's rank fits, and every other set is a dupa.
    """
    ranks = set(cards)

    def is_dupa(rank):
        return rank not in (ace, lead)

    def beats(rank):
        return not demands or rank == ace or rank > lead

    if len(ranks) == 1:
        rank = cards[0]
        fits = rank in (ace, lead) or lead == ace or is_dupa(rank)
        return beats(rank) and fits
    return several and all(is_dupa(rank) and beats(rank) for rank in ranks)


@cache
def pairs(ranks, copies, hand):
    """Return how often the leader and the second player have which hands, over all deals."""
    deck = [rank for rank in range(ranks) for _ in range(copies)]
    found = Counter()
    for first in itertools.combinations(range(len(deck)), hand):
        left = [at for at in range(len(deck)) if at not in first]
        for second in itertools.combinations(left, hand):
            found[tuple(deck[at] for at in first), tuple(deck[at] for at in second)] += 1
    return found


def leads(cards, ace, policy):
    """Yield (chance, rank, is the leader out) of each lead that the policy may make."""
    counts = Counter(cards)
    if policy == "greedy":
        rank = max(counts, key=lambda r: (counts[r], r != ace, -r))
        yield Fraction(1), rank, counts[rank] == len(cards)
        return
    for rank, n in counts.items():
        subsets = 2**n - 1
        for _ in range(subsets):
            yield Fraction(1, len(counts) * subsets), rank, False
        if n == len(cards):
            yield -Fraction(1, len(counts) * subsets), rank, False  # the whole set: the leader is out
            yield Fraction(1, len(counts) * subsets), rank, True


@pytest.mark.parametrize(("ranks", "copies", "hand"), SMALL)
@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("opening", [0, Fraction(1, 2), 1])
def test_second_player_goes_out(ranks, copies, hand, several, opening):
    ace = ranks - 1
    greedy = random = Fraction(0)
    n = comb(ranks * copies, hand) * comb(ranks * copies - hand, hand)
    for (first, second), often in pairs(ranks, copies, hand).items():
        for policy in ("greedy", "random"):
            for chance, lead, is_out in leads(first, ace, policy):
                if is_out:
                    continue
                demand = opening if lead != ace else 0
                goes = sum(
                    p * can_go_out(second, lead, ace, several, demands)
                    for demands, p in ((True, demand), (False, 1 - demand))
                    if p
                )
                if policy == "greedy":
                    greedy += often * chance * goes
                else:
                    random += often * chance * goes
    assert second_goes_out_at_random(hand, several, Fraction(opening), copies, ranks) == random / n
    if opening != Fraction(1, 2):  # greedy declares whenever it may
        assert second_goes_out(hand, several, bool(opening), copies, ranks) == greedy / n


def test_without_dupas_nobody_goes_out_with_a_large_hand():
    assert second_goes_out(13, False, False, dupas=False) == 0
    assert second_goes_out_at_random(13, False, Fraction(0), dupas=False) == 0


def test_the_letter():
    found = exact("dupa")
    assert found["the leader: its hand is one set"] == 0
    assert found["4 cards"] == 1 - found["1 card"] - found["2 cards"] - found["3 cards"]
    assert found["1 card"] == Fraction(4**13, comb(52, 13))
    assert 0.169 < found["the second player, after a greedy lead"] < 0.171


@pytest.mark.parametrize(
    ("options", "section"),
    [
        ({"players": 3}, "The largest set in a hand of 17"),
        ({"decks": 2}, "The largest set in a hand of 26"),
        ({"hand_size": 5}, "The largest set in a hand of 5"),
        ({"several_dupas": False}, "Going out in one move"),
        ({"opening": "dupa"}, "Going out in one move"),
        ({"opening": "dupa", "dupa": "declared"}, "Going out in one move"),
        ({"dupa": "off"}, "Going out in one move"),
    ],
)
def test_each_option_matters(options, section):
    def values(rules):
        found = exact("dupa", rules=rules)
        return {s.title: [q.exact for q in s.quantities] for s in found.sections}

    changed = values(options)
    assert changed[section] != values({}).get(section)
    if options.get("dupa") == "declared":
        assert changed[section] != values({"opening": "dupa"})[section]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pass_when": "any"}, "it may pass instead"),
        ({"hand_size": 3, "dupa": "off"}, "a matter of suits"),
        ({"hand_size": 3, "match": "suit"}, "a matter of suits"),
    ],
)
def test_what_is_not_exact_is_said(options, words):
    found = exact("dupa", rules=options)
    assert any(words in line for section in found.sections for line in section.missing)


def test_a_careful_lead_is_not_exact():
    found = exact("dupa", policies="careful,greedy,greedy,greedy")
    assert ["careful" in line for section in found.sections for line in section.missing] == [True]
    assert not exact("dupa").sections[-1].missing
