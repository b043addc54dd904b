"""Turns of greedy seats where only ranks matter: hands as counts of ranks in one word.

Without `follow_suit` two cards of a rank are alike, and `greedy` asks for the lowest or the highest rank only, so a
hand is a word of 13 nibbles, and what can be placed is one bitwise and. The moves are those of `moves` and `policies`,
and so are the shuffles; a test compares the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.autobus.moves import (
    FIRST_KING,
    ONE,
    TURN_CAP,
    bury,
    deal_bus,
    decide_more,
    discard_is_due,
    end_turn,
    may_bury,
    may_swap,
    reaches_cap,
    recycle,
    show,
    talon_size,
    win,
)
from sim.games.autobus.record import RING
from sim.jit import compiled, inlined
from sim.rng import highest_one, lowest_one

EIGHTS = np.uint64(0x8888888888888)  # the highest bit of each rank's nibble
SEVENS = np.uint64(0x7777777777777)
CLASS_MASK = np.uint64(0x3C)
EIGHT = np.uint64(8)
BYTES = np.uint64(0x0101010101010101)


@inlined
def held(counts: int) -> int:
    """Return the ranks that a hand of at most eight cards holds, each as the highest bit of its nibble."""
    return (counts + SEVENS) & EIGHTS


@inlined
def lowest_kind(ranks: int) -> int:
    """Return the class of the lowest rank of a set of one bit a rank, wherever in the nibble it is."""
    return lowest_one(ranks) & 0x3C


@inlined
def one_of(kind: int) -> int:
    """Return the counts of one card."""
    return ONE << np.uint64(kind)


@inlined
def count_of(counts: int, kind: int) -> int:
    """Return how many cards of a class there are."""
    return np.int64((counts >> np.uint64(kind)) & np.uint64(0xF))


@inlined
def sum_up(state: Any) -> None:
    """Sum the counts of the cards that have been decided since: then a draw is a difference, however many cards."""
    n = state.n_summed
    total = state.sums[np.uint64(n)]
    while n < state.n_decided:
        total += one_of(state.cards[np.uint64(n)] & CLASS_MASK)
        n += 1
        state.sums[np.uint64(n)] = total
    state.n_summed = n


@inlined
def deal_counts(state: Any, rules: Any) -> None:
    """Deal seat by seat: the hand, then the bus."""
    state.n_summed = 0
    state.sums[0] = 0
    sum_up(state)
    for seat in range(rules.n_players):
        state.hand_counts[seat] = drawn_counts(state, rules.hand_size)
        state.n_hand[seat] = rules.hand_size
        state.storage_ranks[seat] = 0
        state.storage_kinds[seat] = rules.no_piles
        state.storage_counts[seat] = 0
        deal_bus(state, rules, seat)


@inlined
def drawn_counts(state: Any, n: int) -> int:
    """Take the top `n` cards of the talon, which are decided and summed; return their counts."""
    head = state.head
    state.head = head + n
    return state.sums[np.uint64(head + n)] - state.sums[np.uint64(head)]


@inlined
def draw_up_counts(state: Any, rules: Any, seat: int) -> None:
    """Draw until the hand is full or the talon empty."""
    n = min(rules.hand_size - state.n_hand[seat], talon_size(state))
    while state.n_summed < state.head + n:
        if state.n_decided < state.head + n:
            decide_more(state, rules)
        sum_up(state)
    state.hand_counts[seat] += drawn_counts(state, n)
    state.n_hand[seat] += n


@inlined
def first_pile(kinds: int, byte: int) -> int:
    """Return eight times the number of the first storage pile whose byte is `byte`, 64 if there is none."""
    other = kinds ^ (BYTES * np.uint64(byte))
    return lowest_one((other - BYTES) & ~other & (BYTES << np.uint64(7))) & np.int64(0x78)


@inlined
def leave_storage_counts(state: Any, seat: int, ranks: int, kind: int) -> int:
    """Take a card of a class out of the lowest-numbered storage pile of its rank; return the classes stored then."""
    kinds = state.storage_kinds[seat]
    at = np.uint64(first_pile(kinds, kind + 1))
    counts = state.storage_counts[seat] - (ONE << at)
    state.storage_counts[seat] = counts
    if (counts >> at) & np.uint64(0xFF) != 0:
        return ranks
    kinds &= ~(np.uint64(0xFF) << at)
    state.storage_kinds[seat] = kinds
    return ranks if first_pile(kinds, kind + 1) < 64 else ranks & ~(EIGHT << np.uint64(kind))


@inlined
def place_counts(state: Any, rules: Any, seat: int) -> bool:
    """Place as `greedy` does until nothing can be placed; tell whether the bus is empty."""
    counts = state.hand_counts[seat]
    ranks = state.storage_ranks[seat]
    wanted = state.wanted
    head = state.bus_head[seat]
    n_placed = 0
    n_from_hand = 0
    # Selections instead of branches: which source has the card is anybody's guess, and the processor's wrong ones cost
    # more than all the rest.
    while head < state.bus_tail[seat]:
        top = np.uint64(state.bus[seat, np.uint64(head & (RING - 1))]) & CLASS_MASK
        bus_fits = one_of(top) & wanted
        hand_fits = held(counts) & wanted
        fits = bus_fits if bus_fits != 0 else (hand_fits if hand_fits != 0 else ranks & wanted)
        if fits == 0:
            break
        kind = lowest_kind(fits)
        is_bus = bus_fits != 0
        is_hand = (not is_bus) & (hand_fits != 0)
        head += is_bus
        counts -= np.uint64(is_hand) << np.uint64(kind)
        n_from_hand += is_hand
        n_placed += 1
        if not (is_bus | is_hand):
            ranks = leave_storage_counts(state, seat, ranks, kind)
        wanted = show(state, rules, wanted, kind)
        if kind >= FIRST_KING:
            state.n_finished += 1
            recycle(state, rules, None)
    state.hand_counts[seat] = counts
    state.storage_ranks[seat] = ranks
    state.wanted = wanted
    state.bus_head[seat] = head
    state.n_hand[seat] -= n_from_hand
    state.n_plays += n_placed
    state.pass_placed_from_hand = n_from_hand
    state.turn_placed = n_placed + state.turn_placed
    return head == state.bus_tail[seat]


@compiled
def swap_counts(state: Any, rules: Any, seat: int) -> bool:
    """Exchange the most hand cards of the highest rank for the lowest-numbered pile that allows it, if one does."""
    counts = state.hand_counts[seat]
    for k in range(4, 1, -1):
        kind = -1
        for other in range(48, -1, -4):
            if count_of(counts, other) >= k:
                kind = other
                break
        at = np.uint64(first_pile(state.storage_counts[seat] & rules.piles, k - 1))
        if kind < 0 or at >= 8 * rules.n_storage_piles:
            continue
        kinds = state.storage_kinds[seat]
        taken = ((kinds >> at) & np.uint64(0xFF)) - ONE
        counts -= np.uint64(k) << np.uint64(kind)
        counts += np.uint64(k - 1) << taken
        state.hand_counts[seat] = counts
        state.n_hand[seat] -= 1
        kinds = (kinds & ~(np.uint64(0xFF) << at)) | (np.uint64(kind + 1) << at)
        state.storage_kinds[seat] = kinds
        state.storage_counts[seat] += ONE << at
        if first_pile(kinds, taken + ONE) == 64:
            state.storage_ranks[seat] &= ~(EIGHT << taken)
        state.storage_ranks[seat] |= EIGHT << np.uint64(kind)
        state.n_swaps += 1
        return True
    return False


@inlined
def give_up_counts(state: Any, rules: Any, seat: int, is_due: bool) -> None:
    """Give up a card as `greedy` does, if one is due; again with as few branches as can be."""
    counts = state.hand_counts[seat]
    ranks = held(counts)
    joins = ranks & state.storage_ranks[seat]
    kind = np.uint64(highest_one((joins if joins != 0 else ranks) | ONE)) & CLASS_MASK
    kinds = state.storage_kinds[seat]
    at = first_pile(kinds, kind + ONE if joins != 0 else np.uint64(0))
    if is_due & (at == 64):
        give_up_counts_without_pile(state, rules, seat, kind)
        return
    due = np.uint64(is_due)
    pile = np.uint64(at) & np.uint64(0x3F)
    stored = (kinds & ~(np.uint64(0xFF) << pile)) | ((kind + ONE) << pile)
    state.storage_kinds[seat] = stored if is_due else kinds
    state.storage_counts[seat] += due << pile
    state.storage_ranks[seat] |= (due << np.uint64(3)) << kind
    state.hand_counts[seat] = counts - (due << kind)
    state.n_hand[seat] -= is_due


@compiled
def give_up_counts_without_pile(state: Any, rules: Any, seat: int, kind: int) -> None:
    """Give up a card where none joins its equals and no pile is empty; `kind` is the highest."""
    if may_swap(rules) and swap_counts(state, rules, seat):
        return
    if may_bury(rules, False):
        bury(state, seat, kind)
        state.hand_counts[seat] -= one_of(kind)
        state.n_hand[seat] -= 1


@inlined
def play_turn_counts(state: Any, rules: Any, seat: int) -> bool:
    """Play a turn; tell whether the game is over."""
    state.n_turns += 1
    state.turn_placed = 0
    state.turn_began_empty = talon_size(state) == 0
    while True:
        draw_up_counts(state, rules, seat)
        state.n_passes += 1
        if place_counts(state, rules, seat):
            win(state, seat)
            return True
        if state.n_hand[seat] > 0 or talon_size(state) == 0:
            break
        if reaches_cap(state, rules):
            state.end = TURN_CAP
            return True
    give_up_counts(
        state,
        rules,
        seat,
        (state.n_hand[seat] > 0) & discard_is_due(rules, state.turn_placed, state.pass_placed_from_hand),
    )
    return end_turn(state, rules)
