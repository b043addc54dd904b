"""Bludiště's exact values: against the enumeration of small decks, and each option that they honour."""

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache
from math import comb, factorial

import numpy as np
import pytest

from sim import exact
from sim.games.bludiste.exact import (
    _placed_of_suit,
    distinct_deals,
    distinct_rows,
    offers_law,
    placed_law,
)
from sim.quantities import hypergeometric

# Decks, ranks, cards in a row: 12 and 24 cards; the ace is rank 1, the king rank `ranks`.
SMALL = [(1, 3, 2), (1, 4, 3), (1, 4, 4), (2, 3, 2), (2, 3, 4), (2, 4, 2), (2, 4, 3), (2, 4, 4)]


def stock(decks, ranks):
    """Return the cards of the stock as (rank, suit)."""
    cards = list(itertools.product(range(1, ranks + 1), range(4)))
    if decks == 1:
        return [card for card in cards if card[0] != 1]
    return cards + [card for card in cards if card[0] not in (1, ranks)]


def start(decks, ranks):
    """Return the foundations' tops: (suit, direction) → rank."""
    return {(suit, +1): 1 for suit in range(4)} | ({(suit, -1): ranks for suit in range(4)} if decks == 2 else {})


@cache
def most_placed(row, tops):
    """Return how many cards of a row can be placed at most: every order is tried."""
    best = 0
    for at, (rank, suit) in enumerate(row):
        for key, top in tops:
            if key[0] == suit and rank == top + key[1]:
                after = tuple((k, rank if k == key else t) for k, t in tops)
                best = max(best, 1 + most_placed(row[:at] + row[at + 1 :], after))
    return best


@pytest.mark.parametrize(("decks", "ranks", "columns"), SMALL)
def test_the_first_row(decks, ranks, columns):
    cards, tops = stock(decks, ranks), start(decks, ranks)
    fitting, offers, placed = Counter(), Counter(), Counter()
    rows = set()
    for row in itertools.combinations(cards, columns):
        fits = [{key for key, top in tops.items() if key[0] == s and r == top + key[1]} for r, s in row]
        fitting[sum(map(bool, fits))] += 1
        offers[len(set().union(*fits))] += 1
        placed[most_placed(tuple(sorted(row)), tuple(tops.items()))] += 1
        rows.add(tuple(sorted(row)))
    total = comb(len(cards), columns)
    assert placed_law(columns, decks, ranks) == {n: Fraction(k, total) for n, k in sorted(placed.items())}
    assert distinct_rows(columns, decks, ranks) == len(rows)
    if ranks > 3 or decks == 1:  # with three ranks the two is the queen, and fits both ways
        n_kinds, copies = (8, 2) if decks == 2 else (4, 1)
        assert hypergeometric(columns, n_kinds * copies, len(cards)) == {
            n: Fraction(k, total) for n, k in sorted(fitting.items())
        }
        assert offers_law(columns, n_kinds, copies, len(cards)) == {
            n: Fraction(k, total) for n, k in sorted(offers.items())
        }


def test_distinct_deals():
    # One suit of three ranks, twice, but for ace and king: 2 2 A K in 12 orders; the formula is of four suits.
    orders = set(itertools.permutations(["2", "2", "A", "K"]))
    assert len(orders) == 12 == factorial(4) // 2
    assert distinct_deals(2, 3) == factorial(16) // 2**4
    assert distinct_deals(2) == factorial(96) // 2**44
    assert distinct_deals(1) == factorial(48)
    assert distinct_deals(1, 2) == len(set(itertools.permutations(range(4))))


def test_a_suit_that_meets_in_the_middle():
    """All ranks from two to queen in a row of 16: what the simulation counts is what the sum counts."""
    law = placed_law(16)
    assert max(law) == 16
    counts = np.array(
        [[0, *[1] * 11, 1], [1, *[1] * 11, 0], [1, *[1] * 11, 1], [0, 2, *[1] * 10, 0], [1, *[2] * 11, 1]]
    )
    assert list(_placed_of_suit(counts, 2)) == [12, 12, 12, 12, 24]
    assert sum(law.values()) == 1


def test_the_letter():
    found = exact("bludiste")
    assert found["no card can be placed"] == Fraction(comb(80, 10), comb(96, 10))
    assert found["orders of the stock that differ"] == factorial(96) // 2**44
    assert found["… if suits may be renamed"] * 24 == found["orders of the stock that differ"]


@pytest.mark.parametrize(
    "options", [{"columns": 8}, {"decks": 1}, {"refill": "at_once"}, {"columns": 14, "transfer": True}]
)
def test_each_option_matters(options):
    changed = exact("bludiste", rules=options)
    assert [q.exact for _, q in changed] != [
        q.exact
        for _, q in exact("bludiste", rules={"columns": options.get("columns", 10)} if "transfer" in options else {})
    ]
    if "refill" in options or "transfer" in options:
        assert any(
            next(iter(options if "refill" in options else ["transfer"])) in line
            for s in changed.sections
            for line in s.missing
        )
