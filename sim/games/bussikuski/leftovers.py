"""What the pyramid leaves in the hands exactly, and how the driver is found.

Suits and the order of the cards do not matter here: only which ranks lie in the pyramid.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from fractions import Fraction
from math import comb

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
        One of the tied has the lowest (or just as well the highest) single card alone; part of `tied`.
    nobody
        Nobody has a card left.
    """

    most_cards: Fraction
    tied: Fraction
    broken: Fraction
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


def found_by(players: int, pyramid: int, ranks: int = 13, suits: int = 4, hand: int = HAND) -> Found:
    """Return how the driver is found when all equal cards are matched (`matches = all`).

    Derivation. Given k ranks in the pyramid, a hand card stays exactly if it is of another rank. Of the deck without
    the pyramid 4 (13-k) cards are such and 4 k - P are not, and the hands are uniform samples of it: the numbers left
    to the seats follow a multivariate hypergeometric law. Given that t seats are tied with m cards each, these are
    uniform disjoint samples of the 4 (13-k) cards, which are 13-k whole ranks; see `alone_at_the_end`.
    """
    most = tied = broken = nobody = Fraction(0)
    for k, p_ranks in ranks_in_pyramid(pyramid, ranks, suits).items():
        staying, going = suits * (ranks - k), suits * k - pyramid
        for m in range(hand + 1):
            for t, p in enumerate(_tied(players, m, staying, going, hand)):
                share = p_ranks * p
                if not share:
                    continue
                if m == 0:
                    nobody += share if t == players else 0
                elif t == 1:
                    most += share
                elif t > 1:
                    tied += share
                    broken += share * alone_at_the_end(t, m, ranks - k, suits)
    return Found(most, tied, broken, nobody)


def _tied(players: int, m: int, staying: int, going: int, hand: int) -> list[Fraction]:
    """Return, for t = 0, 1, …, the chance that t seats have exactly m staying cards and the others fewer."""
    total = 1
    for seat in range(players):
        total *= comb(staying + going - hand * seat, hand)
    # (tied seats, staying cards used) → ways, seat by seat.
    places: dict[tuple[int, int], int] = {(0, 0): 1}
    for seat in range(players):
        later: defaultdict[tuple[int, int], int] = defaultdict(int)
        for (t, used), ways in places.items():
            gone = hand * seat - used
            for n in range(m + 1):
                here = comb(staying - used, n) * comb(going - gone, hand - n) if going - gone >= hand - n else 0
                if here:
                    later[t + (n == m), used + n] += ways * here
        places = later
    found = [Fraction(0)] * (players + 1)
    for (t, _), ways in places.items():
        found[t] += Fraction(ways, total)
    return found


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
