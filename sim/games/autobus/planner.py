"""Autobus's policy `planner`: what to place and what to give up, by a search through the own turn.

The bus top is placed whenever that is possible, if need be on cards of hand and storage laid below it: the fewest that
do. What turns up is then thought about afresh, as are the cards of a new hand. Otherwise the sets of cards that could
be placed are gone through (their order does not matter: low cards first is always legal), each with the best way to
give up a card if one is due, and `outlook` says which end of the turn is worth most. No random numbers are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.autobus.moves import (
    ONE,
    bus_top,
    can_swap,
    class_of,
    discard_is_due,
    is_wanted,
    may_bury,
    pile_rank,
    talon_size,
)
from sim.games.autobus.outlook import bit, look, missing_below, worth
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
from sim.jit import compiled, inlined
from sim.rng import lowest_one

MOST_ENDS = 200  # of the turn that a search looks at
WORST = -1.0


# -- cards moved in the plan only -------------------------------------------------------------------------------------


@compiled
def move_hand(plan: Any, kind: int, n: int) -> None:
    """Add `n` cards of a class to the hand."""
    plan.n_in_hand[kind] += n
    plan.n_hand += n
    note_held(plan, kind)


@compiled
def move_storage(plan: Any, kind: int, n: int) -> None:
    """Add `n` cards of a class to storage."""
    rank = kind >> 2
    was_empty = plan.n_stored[rank] == 0
    plan.n_in_storage[kind] += n
    plan.n_stored[rank] += n
    plan.n_all_stored += n
    plan.n_empty += np.int64(plan.n_stored[rank] == 0) - np.int64(was_empty)
    note_held(plan, kind)


@inlined
def note_held(plan: Any, kind: int) -> None:
    """Note whether hand or storage still hold a class."""
    if plan.n_in_hand[kind] + plan.n_in_storage[kind] > 0:
        plan.held |= bit(kind)
    else:
        plan.held &= ~bit(kind)


@compiled
def move_pile(plan: Any, kind: int, n: int) -> None:
    """Let `n` common piles show a card of a class instead of the card below it."""
    if kind >= 4:
        note_accepting(plan, kind, -n)
    if kind < 48:
        note_accepting(plan, kind + 4, n)


@inlined
def note_accepting(plan: Any, kind: int, n: int) -> None:
    """Let `n` more common piles accept a class."""
    plan.n_accepting[kind] += n
    if plan.n_accepting[kind] > 0:
        plan.wanted |= bit(kind)
    else:
        plan.wanted &= ~bit(kind)


@compiled
def place_some(plan: Any, kind: int, n: int, n_from_hand: int) -> None:
    """Place `n` cards of a class, so many of them from the hand; take them back if the numbers are negative."""
    move_hand(plan, kind, -n_from_hand)
    move_storage(plan, kind, n_from_hand - n)
    move_pile(plan, kind, n)


# -- giving up a card -------------------------------------------------------------------------------------------------


@compiled
def best_discard(plan: Any, rules: Any) -> tuple[float, int, int]:
    """Return the best way to give up a card, swaps aside: (worth, how, class); how is `NO_WAY` if there is none."""
    best, best_how, best_kind = WORST, NO_WAY, 0
    hand = np.uint64(0)
    can_join = False
    rest = plan.held
    while rest != 0:
        kind = lowest_one(rest)
        rest &= rest - ONE
        if plan.n_in_hand[kind] > 0:
            hand |= bit(kind)
            can_join |= plan.n_stored[kind >> 2] > 0
    buries = plan.n_empty <= 0 and may_bury(rules, can_join)
    while hand != 0:
        kind = lowest_one(hand)
        hand &= hand - ONE
        joins = plan.n_stored[kind >> 2] > 0
        if not (joins or plan.n_empty > 0 or buries):
            continue
        stays = np.int64(not buries)
        move_hand(plan, kind, -1)
        move_storage(plan, kind, stays)
        plan.bus_left += 1 - stays
        value = worth(plan, rules, False)
        plan.bus_left -= 1 - stays
        move_storage(plan, kind, -stays)
        move_hand(plan, kind, 1)
        if value > best:
            best, best_kind = value, kind
            best_how = BURY if buries else (TO_EQUAL if joins else TO_EMPTY)
    return best, best_how, best_kind


@compiled
def move_swap(state: Any, rules: Any, seat: int, rank: int, pile: int, sign: int) -> None:
    """Exchange hand cards of a rank for a pile, in the plan; take it back if `sign` is -1."""
    plan = state.plan
    n_pile = state.n_storage[seat, pile]
    n_given = 0
    for i in range(state.n_hand[seat]):
        card = np.int64(state.hand[seat, i])
        if n_given <= n_pile and card >> 2 == rank:
            n_given += 1
            move_hand(plan, np.int64(class_of(rules, card)), -sign)
            move_storage(plan, np.int64(class_of(rules, card)), sign)
    for i in range(n_pile):
        kind = np.int64(class_of(rules, state.storage[seat, pile, i]))
        move_hand(plan, kind, sign)
        move_storage(plan, kind, -sign)


@compiled
def plan_discard(state: Any, rules: Any, seat: int) -> tuple[int, int, int]:
    """Return how the seat gives up a card: (how, hand card or rank, pile); how is `NO_WAY` if it cannot."""
    look(state, rules, seat)
    plan = state.plan
    best, how, kind = best_discard(plan, rules)
    swapped, swapped_for = -1, -1
    if plan.n_empty == 0:
        for rank in range(N_RANKS):
            for pile in range(rules.n_storage_piles):
                if can_swap(state, rules, seat, rank, pile):
                    move_swap(state, rules, seat, rank, pile, 1)
                    value = worth(plan, rules, False)
                    move_swap(state, rules, seat, rank, pile, -1)
                    if value > best:
                        best, how, swapped, swapped_for = value, SWAP, rank, pile
    if how == SWAP:
        return SWAP, swapped, swapped_for
    if how == NO_WAY:
        return NO_WAY, 0, 0
    card = find_card(state, rules, seat, kind, False) - HAND
    if how == BURY:
        return BURY, card, 0
    wanted_rank = kind >> 2 if how == TO_EQUAL else -1
    pile = 0
    while pile_rank(state, seat, pile) != wanted_rank:
        pile += 1
    return how, card, pile


# -- placing ----------------------------------------------------------------------------------------------------------


@compiled
def find_card(state: Any, rules: Any, seat: int, kind: int, storage_first: bool) -> int:
    """Return the placement of a held card of a class: the earliest of the hand, or the lowest storage pile's latest."""
    found = STOP
    for i in range(state.n_hand[seat]):
        if found == STOP and np.int64(class_of(rules, state.hand[seat, i])) == kind:
            found = HAND + i
    if found != STOP and not storage_first:
        return found
    for pile in range(rules.n_storage_piles):
        for i in range(state.n_storage[seat, pile] - 1, -1, -1):
            if np.int64(class_of(rules, state.storage[seat, pile, i])) == kind:
                return STORAGE + COPIES * pile + i
    return found


@compiled
def can_place(state: Any, rules: Any, seat: int) -> bool:
    """Tell whether a card of the hand or of storage can be placed."""
    for i in range(state.n_hand[seat]):
        if is_wanted(state, state.hand[seat, i]):
            return True
    for pile in range(rules.n_storage_piles):
        for i in range(state.n_storage[seat, pile]):
            if is_wanted(state, state.storage[seat, pile, i]):
                return True
    return False


@compiled
def value_of_end(state: Any, rules: Any, n_placed: int, n_from_hand: int) -> float:
    """Return what it is worth to stop after placing so many cards more, some of them from the hand."""
    plan = state.plan
    if plan.n_hand == 0:
        return worth(plan, rules, talon_size(state) > 0)
    value = WORST
    if discard_is_due(rules, state.turn_placed + n_placed, state.pass_placed_from_hand + n_from_hand):
        value, _, _ = best_discard(plan, rules)
    return value if value > WORST else worth(plan, rules, False)


@compiled
def search(state: Any, rules: Any, storage_first: bool) -> tuple[float, int, bool]:
    """Go through the sets of cards that can be placed, from all to none.

    Returns
    -------
    tuple
        The worth of the best; its lowest class, `STOP` for none; and whether `storage_first` makes a difference.
    """
    plan = state.plan
    n_kinds = 0
    rest = plan.held
    while rest != 0:
        plan.kinds[n_kinds] = lowest_one(rest)
        rest &= rest - ONE
        n_kinds += 1
    must_place = rules.must_play != 0 and state.turn_placed == 0
    best, first, matters = WORST, STOP, False
    n_placed, n_from_hand = 0, 0
    i = 0
    for _ in range(MOST_ENDS):
        while i < n_kinds:
            kind = plan.kinds[i]
            n = min(plan.n_in_hand[kind] + plan.n_in_storage[kind], plan.n_accepting[kind])
            n_hand = max(n - plan.n_in_storage[kind], 0) if storage_first else min(n, plan.n_in_hand[kind])
            matters |= n > 0 and plan.n_in_hand[kind] > 0 and plan.n_in_storage[kind] > 0
            place_some(plan, kind, n, n_hand)
            plan.n_placed[i] = n
            plan.n_from_hand[i] = n_hand
            n_placed += n
            n_from_hand += n_hand
            i += 1
        if n_placed > 0 or not must_place:
            value = value_of_end(state, rules, n_placed, n_from_hand)
            if value > best:
                best, first = value, STOP
                for k in range(n_kinds - 1, -1, -1):
                    if plan.n_placed[k] > 0:
                        first = plan.kinds[k]
        while i > 0 and plan.n_placed[i - 1] == 0:
            i -= 1
        if i == 0:
            break
        n_hand = np.int64(
            plan.n_from_hand[i - 1] > 0 and (storage_first or plan.n_from_hand[i - 1] == plan.n_placed[i - 1])
        )
        place_some(plan, plan.kinds[i - 1], -1, -n_hand)
        plan.n_placed[i - 1] -= 1
        plan.n_from_hand[i - 1] -= n_hand
        n_placed -= 1
        n_from_hand -= n_hand
    return best, first, matters


@compiled
def plan_placement(state: Any, rules: Any, seat: int) -> int:
    """Return what the seat places next, or `STOP`."""
    if is_wanted(state, bus_top(state, seat)):
        return BUS
    if not can_place(state, rules, seat):
        return STOP
    look(state, rules, seat)
    plan = state.plan
    needed = missing_below(plan.wanted, plan.top)
    if needed & ~plan.held == 0:
        return find_card(state, rules, seat, lowest_one(needed), False)
    best, first, matters = search(state, rules, False)
    storage_first = False
    if matters:
        look(state, rules, seat)
        value, other_first, _ = search(state, rules, True)
        if value > best:
            first, storage_first = other_first, True
    return find_card(state, rules, seat, first, storage_first) if first != STOP else STOP
