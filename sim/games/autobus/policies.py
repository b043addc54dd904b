"""Autobus's policies: what a seat places, and what it gives up.

A placement is a number (see `record.STOP`). A way to give up a card is (how, a, pile): a hand card's place, or the rank
of a swap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.autobus.moves import (
    RANDOM,
    bus_top,
    can_join_equals,
    can_swap,
    has_empty_pile,
    is_wanted,
    may_bury,
    pile_rank,
)
from sim.games.autobus.planner import plan_discard, plan_placement
from sim.games.autobus.record import (
    BURY,
    BUS,
    COPIES,
    HAND,
    N_RANKS,
    NO_WAY,
    STOP,
    STORAGE,
    SWAP,
    TO_EMPTY,
    TO_EQUAL,
)
from sim.games.autobus.rules import SLOTS
from sim.jit import compiled, inlined
from sim.rng import draw_below

PLANNER = list(SLOTS[0].choices).index("planner")


@inlined
def choose_placement(state: Any, rules: Any, seat: int) -> int:
    """Return what the seat places next, or `STOP`."""
    policy = rules.policy[seat]
    if policy == RANDOM:
        return random_placement(state, rules, seat)
    if policy == PLANNER:
        return plan_placement(state, rules, seat)
    return greedy_placement(state, rules, seat)


@inlined
def choose_discard(state: Any, rules: Any, seat: int) -> tuple[int, int, int]:
    """Return how the seat gives up a card: (how, hand card or rank, pile); how is `NO_WAY` if it cannot."""
    policy = rules.policy[seat]
    if policy == RANDOM:
        return random_discard(state, rules, seat)
    if policy == PLANNER:
        return plan_discard(state, rules, seat)
    return greedy_discard(state, rules, seat)


@compiled
def greedy_placement(state: Any, rules: Any, seat: int) -> int:
    """Return the bus's card; else the lowest hand card; else the lowest storage pile's latest card that fits."""
    if is_wanted(state, bus_top(state, seat)):
        return BUS
    best, best_rank = STOP, N_RANKS
    for i in range(state.n_hand[seat]):
        card = np.int64(state.hand[seat, i])
        if card >> 2 < best_rank and is_wanted(state, card):
            best, best_rank = HAND + i, card >> 2
    if best != STOP:
        return best
    for pile in range(rules.n_storage_piles):
        for i in range(state.n_storage[seat, pile] - 1, -1, -1):
            card = np.int64(state.storage[seat, pile, i])
            if card >> 2 < best_rank and is_wanted(state, card):
                best, best_rank = STORAGE + COPIES * pile + i, card >> 2
    return best


@compiled
def greedy_discard(state: Any, rules: Any, seat: int) -> tuple[int, int, int]:
    """Return the highest card that joins its equals; else the highest to an empty pile; else a swap; else bury it."""
    n = state.n_hand[seat]
    joining, joined, highest = -1, -1, 0
    for i in range(n):
        rank = np.int64(state.hand[seat, i]) >> 2
        if rank > np.int64(state.hand[seat, highest]) >> 2:
            highest = i
        if joining < 0 or rank > np.int64(state.hand[seat, joining]) >> 2:
            for pile in range(rules.n_storage_piles):
                if pile_rank(state, seat, pile) == rank:
                    joining, joined = i, pile
                    break
    if joining >= 0:
        return TO_EQUAL, joining, joined
    for pile in range(rules.n_storage_piles):
        if state.n_storage[seat, pile] == 0:
            return TO_EMPTY, highest, pile
    for n_pile in range(3, 0, -1):
        for rank in range(N_RANKS - 1, -1, -1):
            for pile in range(rules.n_storage_piles):
                if state.n_storage[seat, pile] == n_pile and can_swap(state, rules, seat, rank, pile):
                    return SWAP, rank, pile
    if may_bury(rules, False):
        return BURY, highest, 0
    return NO_WAY, 0, 0


@compiled
def nth_placement(state: Any, rules: Any, seat: int, n: int) -> int:
    """Return placement number `n` of those there are, or -1 - (how many there are) if there are not so many.

    The hand in its order, then the storage piles with their cards in the order put in, then the bus.
    """
    k = 0
    for i in range(state.n_hand[seat]):
        if is_wanted(state, state.hand[seat, i]):
            if k == n:
                return HAND + i
            k += 1
    for pile in range(rules.n_storage_piles):
        for i in range(state.n_storage[seat, pile]):
            if is_wanted(state, state.storage[seat, pile, i]):
                if k == n:
                    return STORAGE + COPIES * pile + i
                k += 1
    if is_wanted(state, bus_top(state, seat)):
        if k == n:
            return BUS
        k += 1
    return -1 - k


@compiled
def random_placement(state: Any, rules: Any, seat: int) -> int:
    """Return any placement, with equal chances."""
    n = -1 - nth_placement(state, rules, seat, 1 << 40)
    return nth_placement(state, rules, seat, draw_below(state.streams[seat], n)) if n > 0 else STOP


@compiled
def nth_discard(state: Any, rules: Any, seat: int, n: int) -> tuple[int, int, int]:
    """Return way number `n` of giving up a card; or (`NO_WAY`, how many there are, 0) if there are not so many.

    A hand card to an empty pile, hand card by hand card; to a pile of its rank; a swap, rank by rank; burying.
    """
    k = 0
    for i in range(state.n_hand[seat]):
        for pile in range(rules.n_storage_piles):
            if state.n_storage[seat, pile] == 0:
                if k == n:
                    return TO_EMPTY, i, pile
                k += 1
    for i in range(state.n_hand[seat]):
        for pile in range(rules.n_storage_piles):
            if pile_rank(state, seat, pile) == np.int64(state.hand[seat, i]) >> 2:
                if k == n:
                    return TO_EQUAL, i, pile
                k += 1
    if has_empty_pile(state, rules, seat):
        return NO_WAY, k, 0
    for rank in range(N_RANKS):
        for pile in range(rules.n_storage_piles):
            if can_swap(state, rules, seat, rank, pile):
                if k == n:
                    return SWAP, rank, pile
                k += 1
    if may_bury(rules, can_join_equals(state, rules, seat)):
        for i in range(state.n_hand[seat]):
            if k == n:
                return BURY, i, 0
            k += 1
    return NO_WAY, k, 0


@compiled
def random_discard(state: Any, rules: Any, seat: int) -> tuple[int, int, int]:
    """Return any way of giving up a card, with equal chances."""
    _, n, _ = nth_discard(state, rules, seat, 1 << 40)
    return nth_discard(state, rules, seat, draw_below(state.streams[seat], n)) if n > 0 else (NO_WAY, 0, 0)
