"""Bussikuski's policies: how a seat answers (`guess`) and to whom it gives points (`give`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.bussikuski.rules import SLOTS
from sim.jit import compiled, inlined
from sim.rng import count_ones, draw_below

OWN, COUNTING, GUESS_RANDOM = (list(SLOTS[0].choices).index(name) for name in ("own", "counting", "random"))
LEADER, NEIGHBOUR, SPREAD, GIVE_RANDOM = (
    list(SLOTS[1].choices).index(name) for name in ("leader", "neighbour", "spread", "random")
)


@inlined
def known_cards(policy: int, own: int, table: int) -> int:
    """Return the cards a guesser knows: those before it (`own`), or every face-up card on the table (`counting`)."""
    return table if policy == COUNTING else own


@inlined
def draw_answer(state: Any, rules: Any, seat: int, n_answers: int) -> int:
    """Return a uniform answer if the seat guesses at random; otherwise 0, and no random number is used."""
    return draw_below(state.guess_streams[seat], n_answers) if rules.guess[seat] == GUESS_RANDOM else 0


@inlined
def answer_two(policy: int, drawn: int, known: int, first: int, second: int) -> int:
    """Return 0 or 1: the answer with more unknown cards that fit it, the first among equals; or the one drawn."""
    if policy == GUESS_RANDOM:
        return drawn
    return np.int64(count_ones(second & ~known) > count_ones(first & ~known))


@inlined
def answer_suit(policy: int, drawn: int, known: int, suits: Any) -> int:
    """Return the suit with the most unknown cards, the first among equals; or the one drawn."""
    if policy == GUESS_RANDOM:
        return drawn
    # Count and order in one number: the largest is the most, then the first suit.
    early = max(4 * count_ones(suits[0] & ~known) + 3, 4 * count_ones(suits[1] & ~known) + 2)
    late = max(4 * count_ones(suits[2] & ~known) + 1, 4 * count_ones(suits[3] & ~known))
    return 3 - (max(early, late) & 3)


@compiled
def give(state: Any, rules: Any, giver: int, points: int) -> None:
    """Give `points` to opponents by the giver's policy."""
    n = rules.n_players
    policy = rules.give[giver]
    for i in range(points):
        if policy == LEADER:
            step = nearest_with_fewest(state.points, n, giver)
        elif policy == NEIGHBOUR:
            step = 1
        elif policy == SPREAD:
            step = 1 + i % (n - 1)
        else:
            step = 1 + draw_below(state.give_streams[giver], n - 1)
        state.points[(giver + step) % n] += 1


@inlined
def nearest_with_fewest(points: Any, n: int, giver: int) -> int:
    """Return the way to the opponent with the fewest points, the nearest after the giver among equals."""
    best = 1
    for step in range(2, n):
        if points[(giver + step) % n] < points[(giver + best) % n]:
            best = step
    return best
