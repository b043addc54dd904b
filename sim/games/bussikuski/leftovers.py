"""What the pyramid leaves in the hands exactly, and how the driver is found.

Suits and the order of the cards do not matter here: only which ranks lie in the pyramid.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from fractions import Fraction
from functools import cache
from math import comb
from typing import NamedTuple

from sim.games.bussikuski.rules import Matches

HAND = 4


@dataclasses.dataclass(frozen=True)
class Found:
    """How the driver is found: the chances of each way.

    Attributes
    ----------
    most_cards
        One seat has the most cards left.
    tied
        Two or more have, and some card.
    broken
        One of the tied has the lowest (or just as well the highest) single card alone; part of `tied`. None where it is
        not known (`matches = one`).
    nobody
        Nobody has a card left.
    """

    most_cards: Fraction
    tied: Fraction
    broken: Fraction | None
    nobody: Fraction


def left_law(pyramid: int, matches: Matches, ranks: int = 13, suits: int = 4, hand: int = HAND) -> dict[int, Fraction]:
    """Return the law of the cards left to one seat after a pyramid of so many cards.

    Derivation. The hand and the pyramid are disjoint uniform samples of the deck. Rank by rank, h cards go to the hand
    and p to the pyramid in C(4, h) C(4-h, p) ways; none of the h is left if p > 0 (`all`), or h - p of them (`one`).
    The number of ways is summed over the ranks by (cards in hand, in the pyramid, left).
    """
    places: dict[tuple[int, int, int], int] = {(0, 0, 0): 1}
    for _ in range(ranks):
        later: defaultdict[tuple[int, int, int], int] = defaultdict(int)
        for (in_hand, in_pyramid, left), ways in places.items():
            for h in range(min(suits, hand - in_hand) + 1):
                for p in range(min(suits - h, pyramid - in_pyramid) + 1):
                    kept = max(0, h - p) if matches is Matches.ONE else h * (p == 0)
                    here = ways * comb(suits, h) * comb(suits - h, p)
                    later[in_hand + h, in_pyramid + p, left + kept] += here
        places = later
    total = comb(ranks * suits, hand) * comb(ranks * suits - hand, pyramid)
    whole = {
        left: ways for (in_hand, in_pyramid, left), ways in places.items() if (in_hand, in_pyramid) == (hand, pyramid)
    }
    return {left: Fraction(whole.get(left, 0), total) for left in range(hand + 1)}


def ranks_in_pyramid(pyramid: int, ranks: int = 13, suits: int = 4) -> dict[int, Fraction]:
    """Return the law of the number of different ranks in a pyramid of so many cards.

    Derivation. Of k chosen ranks every one must occur: the coefficient of x^pyramid in ((1 + x)^4 - 1)^k.
    """
    total = comb(ranks * suits, pyramid)
    ways = [1] + [0] * pyramid
    law = {}
    for k in range(1, min(ranks, pyramid) + 1):
        ways = [
            sum(comb(suits, n) * ways[size - n] for n in range(1, min(suits, size) + 1)) for size in range(pyramid + 1)
        ]
        if ways[pyramid]:
            law[k] = Fraction(comb(ranks, k) * ways[pyramid], total)
    return law


def found_by(
    players: int, pyramid: int, matches: Matches = Matches.ALL, ranks: int = 13, suits: int = 4, hand: int = HAND
) -> Found:
    """Return how the driver is found.

    Derivation. Given the pyramid, the hands are uniform samples of the rest of the deck. With `all`, of k ranks in a
    pyramid of P cards, 4 (13-k) cards stay in a hand and 4 k - P go. Given that t seats are tied with m cards each,
    these are uniform disjoint samples of the 4 (13-k) cards, which are 13-k whole ranks; see `alone_at_the_end`. With
    `one`, cards of a rank of which one card lies in the pyramid stay but for the first of each hand; if two or more lie
    there, all go, as there are no more cards of it than that. See `_tied` for the numbers left to the seats.
    """
    most = tied = broken = nobody = Fraction(0)
    groups = _pools(pyramid, matches, ranks, suits)
    for m in range(hand + 1):
        for n_ranks, pools in groups:
            for t, share in enumerate(_tied(players, m, pools, comb(ranks * suits, pyramid), hand)):
                if not share:
                    continue
                if m == 0:
                    nobody += share if t == players else 0
                elif t == 1:
                    most += share
                elif t > 1:
                    tied += share
                    if matches is Matches.ALL:
                        broken += share * alone_at_the_end(t, m, n_ranks, suits)
    return Found(most, tied, broken if matches is Matches.ALL else None, nobody)


class _Pool(NamedTuple):
    """The cards that are not in the pyramid: those that stay, those that go, and sets of which each hand loses one."""

    staying: int
    going: int
    triples: int = 0
    pairs: int = 0

    @property
    def size(self) -> int:
        """Return the number of cards."""
        return self.staying + self.going + 3 * self.triples + 2 * self.pairs


def _pools(pyramid: int, matches: Matches, ranks: int, suits: int) -> list[tuple[int, dict[_Pool, int]]]:
    """Return groups of (ranks that do not lie in the pyramid, pool → pyramids that leave it).

    Under `one` it is a single group, and the ranks are not counted.
    """
    if matches is Matches.ALL:
        total = comb(ranks * suits, pyramid)
        return [
            (ranks - k, {_Pool(suits * (ranks - k), suits * k - pyramid): (p * total).numerator})
            for k, p in ranks_in_pyramid(pyramid, ranks, suits).items()
        ]
    # (cards in the pyramid, ranks seen, ranks with one card there, cards of other such ranks outside) → pyramids
    places: dict[tuple[int, int, int, int], int] = {(0, 0, 0, 0): 1}
    for _ in range(ranks):
        later: defaultdict[tuple[int, int, int, int], int] = defaultdict(int)
        for (laid, seen, once, going), ways in places.items():
            for n in range(min(suits, pyramid - laid) + 1):
                outside = suits - n if n > 1 else 0
                later[laid + n, seen + (n > 0), once + (n == 1), going + outside] += ways * comb(suits, n)
        places = later
    pools: dict[_Pool, int] = {}
    for (laid, seen, once, going), ways in places.items():
        if laid == pyramid:
            sets = {2: (going + once, 0, 0), 3: (going, 0, once), 4: (going, once, 0)}[suits]
            pools[_Pool(suits * (ranks - seen), *sets)] = ways
    return [(0, pools)]


def _tied(players: int, m: int, pools: dict[_Pool, int], total: int, hand: int) -> list[Fraction]:
    """Return, for t = 0, 1, …, the chance that t seats have exactly m cards left and the others fewer.

    Derivation. Seat by seat, summed over what is left of the pool. Of a triple a hand may take one card (and lose it,
    which leaves a pair), two (and keep one, which leaves a card that goes) or three (and keep two); of a pair one
    (which leaves a card that goes) or both (and keep one).
    """
    size = next(iter(pools)).size
    for seat in range(players):
        total *= comb(size - hand * seat, hand)
    places: dict[tuple[int, _Pool], int] = {(0, pool): ways for pool, ways in pools.items()}
    for _ in range(players):
        later: defaultdict[tuple[int, _Pool], int] = defaultdict(int)
        for (t, left), ways in places.items():
            for kept, after, here in _hands(left, hand, m):
                later[t + (kept == m), after] += ways * here
        places = later
    found = [0] * (players + 1)
    for (t, _), ways in places.items():
        found[t] += ways
    return [Fraction(ways, total) for ways in found]


@cache
def _hands(pool: _Pool, hand: int, most: int) -> list[tuple[int, _Pool, int]]:
    """Return (cards kept, the pool after it, ways) of the hands that keep at most so many."""
    found: defaultdict[tuple[int, _Pool], int] = defaultdict(int)
    for one, two, three in _choices(pool.triples, 3, hand):
        of_triples = comb(pool.triples, one) * comb(pool.triples - one, two) * comb(pool.triples - one - two, three)
        of_triples *= 3 ** (one + two)
        for single, both, _ in _choices(pool.pairs, 2, hand - one - 2 * two - 3 * three):
            of_pairs = comb(pool.pairs, single) * comb(pool.pairs - single, both) * 2**single
            others = hand - one - 2 * two - 3 * three - single - 2 * both
            for staying in range(min(others, pool.staying) + 1):
                going, kept = others - staying, staying + two + 2 * three + both
                if going > pool.going or kept > most:
                    continue
                after = _Pool(
                    pool.staying - staying,
                    pool.going - going + two + single,
                    pool.triples - one - two - three,
                    pool.pairs + one - single - both,
                )
                ways = of_triples * of_pairs * comb(pool.staying, staying) * comb(pool.going, going)
                found[kept, after] += ways
    return [(kept, after, ways) for (kept, after), ways in found.items()]


def _choices(sets: int, size: int, cards: int) -> list[tuple[int, int, int]]:
    """Return how many sets of a size a hand may take one, two and three cards of, with so many cards at most."""
    return [
        (one, two, three)
        for three in range((cards // 3 if size == 3 else 0) + 1)
        for two in range((cards - 3 * three) // 2 + 1)
        for one in range(cards - 3 * three - 2 * two + 1)
        if one + two + three <= sets
    ]


def alone_at_the_end(tied: int, cards: int, ranks: int, suits: int = 4) -> Fraction:
    """Return the chance that one of the tied alone holds the lowest card of all, each having so many of whole ranks.

    Derivation. Sum over the lowest rank held, the i-th: one of the tied has j ≥ 1 of its cards, in C(4, j) ways, the
    rest of its cards and everybody else's are of the 4 (R - i) cards above. By turning the order round the same holds
    for the highest card.
    """
    total = 1
    for n in range(tied):
        total *= comb(suits * ranks - cards * n, cards)
    ways = 0
    for above in range(0, suits * ranks, suits):
        for j in range(1, min(suits, cards) + 1):
            here = comb(suits, j) * comb(above, cards - j)
            for n in range(tied - 1):
                left = above - (cards - j) - cards * n
                here *= comb(left, cards) if left >= 0 else 0
            ways += here
    return Fraction(tied * ways, total)


__all__ = ["HAND", "Found", "alone_at_the_end", "found_by", "left_law", "ranks_in_pyramid"]
