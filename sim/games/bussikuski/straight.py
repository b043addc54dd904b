"""One attempt on the straight bus exactly: higher or lower, again and again, from a fresh deck.

A position is how many cards of each rank are out, and the rank turned last. Ranks count from 0; a position's key holds
three bits a rank. Numbers of ways are whole: an ordered way to turn the cards so far, suits told apart.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import perm

POSITIONS = 120_000
"""Most positions of one length that are followed, by default: a second or two in all."""

_BITS = 3  # of a rank's count, at most four cards


@dataclasses.dataclass(frozen=True)
class Attempt:
    """The law of one attempt.

    Attributes
    ----------
    fails
        Guess (from 1) → chance that it is the one that fails, as far as it was followed.
    success
        The chance that all guesses are right; None if it was not followed so far.
    """

    fails: dict[int, Fraction]
    success: Fraction | None


def straight_attempt(
    length: int, policy: str, tie_is_right: bool, ranks: int = 13, copies: int = 4, positions: int = POSITIONS
) -> Attempt:
    """Return the law of an attempt of `length` guesses from a fresh deck.

    Derivation. Under ``own`` (and ``counting``, which has seen no more) the answer depends on the position alone, so
    the ways to be in each position with all guesses right so far follow from those of one card before: a position with
    c_r cards of rank r out goes on to rank r in 4 - c_r ways. Under ``random`` both answers are given equally often,
    and are right for one of the two unless the rank is the last one; then only how many ranks have how many cards out
    matters, and how many the last one.

    Parameters
    ----------
    policy
        ``own`` or ``random``.
    positions
        Guesses at which there are more positions than this are not followed.
    """
    if policy == "random":
        return _random_attempt(length, tie_is_right, ranks, copies)
    fails: dict[int, Fraction] = {}
    places: dict[tuple[int, int], int] = {(1 << _BITS * rank, rank): copies for rank in range(ranks)}
    for guess in range(1, length + 1):
        if len(places) > positions:
            return Attempt(fails, None)
        later: defaultdict[tuple[int, int], int] = defaultdict(int)
        n_right = n_all = 0
        for (key, last), ways in places.items():
            left = _left(key, ranks, copies)
            low, high = sum(left[:last]), sum(left[last + 1 :])
            right = range(last + 1, ranks) if high >= low else range(last)
            n_all += ways * (low + high + left[last])
            for rank in (*right, last) if tie_is_right else right:
                if left[rank]:
                    later[key + (1 << _BITS * rank), rank] += ways * left[rank]
                    n_right += ways * left[rank]
        fails[guess] = Fraction(n_all - n_right, perm(ranks * copies, guess + 1))
        places = later
    return Attempt(fails, 1 - sum(fails.values(), Fraction(0)))


def _left(key: int, ranks: int, copies: int) -> list[int]:
    """Return how many cards of each rank are left."""
    mask = (1 << _BITS) - 1
    return [copies - (key >> _BITS * rank & mask) for rank in range(ranks)]


def _random_attempt(length: int, tie_is_right: bool, ranks: int, copies: int) -> Attempt:
    """Return the law under ``random``; a place is how many ranks have 0, 1, … cards out, and how many the last one."""
    first = [ranks - 1, 1] + [0] * (copies - 1)
    places: dict[tuple[tuple[int, ...], int], Fraction] = {(tuple(first), 1): Fraction(1)}
    fails: dict[int, Fraction] = {}
    alive = Fraction(1)
    for guess in range(1, length + 1):
        later: defaultdict[tuple[tuple[int, ...], int], Fraction] = defaultdict(Fraction)
        n_left = ranks * copies - guess
        for (shape, last), p in places.items():
            for out in range(copies):
                others = shape[out] - (out == last)
                if others:
                    later[_moved(shape, out), out + 1] += p * Fraction(others * (copies - out), n_left) / 2
            if tie_is_right and last < copies:
                later[_moved(shape, last), last + 1] += p * Fraction(copies - last, n_left)
        now = sum(later.values(), Fraction(0))
        fails[guess] = alive - now
        alive, places = now, later
    return Attempt(fails, alive)


def _moved(shape: Sequence[int], out: int) -> tuple[int, ...]:
    """Return the shape when one of the ranks with `out` cards out has one more."""
    found = list(shape)
    found[out] -= 1
    found[out + 1] += 1
    return tuple(found)


def best_attempt(
    length: int, tie_is_right: bool, ranks: int = 13, copies: int = 4, positions: int = POSITIONS
) -> Fraction | None:
    """Return the greatest chance of success that any way to answer gives an attempt from a fresh deck.

    Derivation. Backward recursion over the positions: the number of ways to go on to the end is, for each answer, the
    sum over the cards that make it right of the ways from there; the greater one counts. It is the same recursion on a
    running deck for the first attempt, whose deck is whole.

    Returns
    -------
    Fraction or None
        None if an attempt so long has more than `positions` positions of one length.
    """
    layers: list[set[tuple[int, int]]] = [{(1 << _BITS * rank, rank) for rank in range(ranks)}]
    for _ in range(length - 1):
        following: set[tuple[int, int]] = set()
        for key, last in layers[-1]:
            left = _left(key, ranks, copies)
            for rank in range(ranks):
                if left[rank] and (rank != last or tie_is_right):
                    following.add((key + (1 << _BITS * rank), rank))
        if len(following) > positions:
            return None
        layers.append(following)
    ways: dict[tuple[int, int], int] | None = None
    for layer in reversed(layers):
        now = {}
        for key, last in layer:
            left = _left(key, ranks, copies)
            onward = [
                n * (1 if ways is None else ways.get((key + (1 << _BITS * rank), rank), 0)) if n else 0
                for rank, n in enumerate(left)
            ]
            both = onward[last] if tie_is_right else 0
            now[key, last] = max(sum(onward[last + 1 :]), sum(onward[:last])) + both
        ways = now
    assert ways is not None
    return Fraction(copies * sum(ways.values()), perm(ranks * copies, length + 1))


__all__ = ["POSITIONS", "Attempt", "best_attempt", "straight_attempt"]
