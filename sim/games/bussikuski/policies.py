"""Bussikuski's policies: how a seat answers (`guess`) and to whom it gives points (`give`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.bussikuski.rules import SLOTS
from sim.jit import compiled, inlined
from sim.rng import count_ones, draw_below

OWN, COUNTING, GUESS_RANDOM = (list(SLOTS[0].choices).index(name) for name in ("own", "counting", "random"))
LEADER, NEIGHBOUR, SPREAD, GIVE_RANDOM = (list(SLOTS[1].choices).index(name) for name in ("leader", "neighbour", "spread", "random"))


@inlined
def known_cards(policy: int, own: int, table: int) -> int:
    """Return the cards a guesser knows: those before it (`own`), or every face-up card on the table (`counting`)."""
    return table if policy == COUNTING else own


@inlined
def answer_two(stream: Any, policy: int, known: int, first: int, second: int) -> int:
    """Return 0 or 1: the answer with more unknown cards that fit it, the first among equals; or either at random."""
    if policy == GUESS_RANDOM:
        return draw_below(stream, 2)
    return np.int64(count_ones(second & ~known) > count_ones(first & ~known))


@inlined
def answer_suit(stream: Any, policy: int, known: int, suits: Any) -> int:
    """Return the suit with the most unknown cards, the first among equals; or any at random."""
    if policy == GUESS_RANDOM:
        return draw_below(stream, 4)
    # Count and order in one number: the largest is the most, then the first suit.
    best = 4 * count_ones(suits[0] & ~known) + 3
    best = max(best, 4 * count_ones(suits[1] & ~known) + 2)
    best = max(best, 4 * count_ones(suits[2] & ~known) + 1)
    best = max(best, 4 * count_ones(suits[3] & ~known))
    return 3 - (best & 3)


@inlined
def give(state: Any, rules: Any, giver: int, points: int) -> None:
    """Give `points` to opponents by the giver's policy."""
    policy = rules.give[giver]
    if policy == LEADER and rules.n_players <= 4:
        give_to_leader_of_four(state.points, rules.distance[giver], points)
    elif policy == LEADER:
        give_to_leader(state.points, rules.distance[giver], points)
    elif policy == GIVE_RANDOM:
        give_at_random(state, rules, giver, points)
    else:
        give_round(state, rules, giver, points, 1 if policy == NEIGHBOUR else rules.n_players - 1)


@compiled
def give_round(state: Any, rules: Any, giver: int, points: int, n_recipients: int) -> None:
    """Give one point at a time round the next `n_recipients` seats (`neighbour`: 1, `spread`: all)."""
    for i in range(points):
        state.points[(giver + 1 + i % n_recipients) % rules.n_players] += 1


@compiled
def give_at_random(state: Any, rules: Any, giver: int, points: int) -> None:
    """Give each point to a uniform opponent."""
    for _ in range(points):
        step = 1 + draw_below(state.give_streams[giver], rules.n_players - 1)
        state.points[(giver + step) % rules.n_players] += 1


@inlined
def give_to_leader(totals: Any, distance: Any, points: int) -> None:
    """Give one point at a time to the opponent with the fewest, the nearest after the giver among equals.

    `distance[seat]` is the way from the giver, huge for seats that get nothing; points and distance make one key.
    """
    for _ in range(points):
        best = totals[0] * 8 + distance[0]
        seat = 0
        for i in range(1, 8):
            key = totals[i] * 8 + distance[i]
            if key < best:
                best = key
                seat = i
        totals[seat] += 1


@inlined
def give_to_leader_of_four(totals: Any, distance: Any, points: int) -> None:
    """Do as `give_to_leader` for four seats at most, all in registers."""
    a0, a1, a2, a3 = distance[0], distance[1], distance[2], distance[3]
    k0, k1, k2, k3 = totals[0] * 8 + a0, totals[1] * 8 + a1, totals[2] * 8 + a2, totals[3] * 8 + a3
    for _ in range(points):
        least = min(min(k0, k1), min(k2, k3))
        k0 += 8 * (k0 == least)
        k1 += 8 * (k1 == least)
        k2 += 8 * (k2 == least)
        k3 += 8 * (k3 == least)
    totals[0] = (k0 - a0) >> 3
    totals[1] = (k1 - a1) >> 3
    totals[2] = (k2 - a2) >> 3
    totals[3] = (k3 - a3) >> 3
