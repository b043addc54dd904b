"""Bludiště's policy `best`: every way to go on up to the next deal, judged by play-outs on shuffled stocks.

It knows the table and which cards the stock still holds, not their order. Up to the next card from the stock everything
is known, so all positions in which that card can come are listed (`list_ends`). If there are several, each is played
out to the end of the game by a rule of thumb (`policies.choose_by_thumb`) on the same shuffled stocks, the worse half
is dropped again and again until one is left (sequential halving [1]_), and the way to that one is taken. The number of
play-outs for a decision is `PLAY_OUTS` times the effort.

References
----------
.. [1] Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.events import note
from sim.games.bludiste import record as rec
from sim.games.bludiste.moves import (
    ONE,
    ZERO,
    deal,
    fill_gaps,
    find_open,
    first_of,
    gaps,
    open_row,
    place_card,
    place_of,
    set_of,
    transfer_card,
    wanted_places,
)
from sim.games.bludiste.policies import BEST, choose_by_thumb, place_by_grace, place_until_stuck
from sim.games.bludiste.record import MAX_STOCK, N_CARDS, N_FOUNDATIONS, STATE_DTYPE
from sim.jit import compiled, inlined
from sim.rng import decide_next

PLAY_OUTS = 16
NODES = 2_048
WIN_BONUS = 20  # what a game won counts for, in cards placed

MAX_NODES = 16_384
MAX_ENDS = 64
N_SLOTS = 2 * MAX_NODES

# What comes after the moves to an end.
AS_DUE, FILL, OPEN = 0, 1, 2

SEARCH_DTYPE = np.dtype(
    [
        # positions up to the next deal
        ("n_nodes", np.int64),
        ("occupied", np.uint64, (MAX_NODES, 2)),
        ("wanted", np.uint64, (MAX_NODES,)),  # the cards that the foundations take next, a byte each
        ("graces", np.int64, (MAX_NODES,)),
        ("parent", np.int64, (MAX_NODES,)),
        ("kind", np.int64, (MAX_NODES,)),  # of the move that led there: an event's kind
        ("where", np.int64, (MAX_NODES,)),  # its place, or the foundation a card was transferred from
        ("foundation", np.int64, (MAX_NODES,)),
        ("reveals", np.int64, (MAX_NODES,)),  # 1 if the move's gap is filled at once
        ("stack", np.int64, (MAX_NODES,)),  # nodes to be looked at, the last one first
        ("n_stacked", np.int64),
        ("slots", np.int64, (N_SLOTS,)),  # hash table of the nodes: the listing's number and the node's
        ("listing", np.int64),
        # those in which a card comes from the stock, or the game ends
        ("n_ends", np.int64),
        ("end", np.int64, (MAX_ENDS,)),
        ("action", np.int64, (MAX_ENDS,)),
        ("n_placed", np.int64, (MAX_ENDS,)),
        ("total", np.int64, (MAX_ENDS,)),
        ("path", np.int64, (MAX_NODES,)),
        ("unseen", np.uint8, (MAX_STOCK + 8,)),
        ("here", STATE_DTYPE),
    ],
    align=True,
)


# -- positions up to the next deal ------------------------------------------------------------------------------------


@inlined
def as_word(wanted: Any) -> int:
    """Return the cards that the foundations take next as one word."""
    word = ZERO
    for foundation in range(N_FOUNDATIONS):
        word |= np.uint64(wanted[foundation]) << np.uint64(8 * foundation)
    return word


@inlined
def moved_on(word: int, foundation: int, step: int) -> int:
    """Return the word of cards that are taken next after a foundation has changed by `step` cards of its suit."""
    change = np.uint64(4) << np.uint64(8 * foundation)
    return word + change if (foundation < 4) == (step > 0) else word - change


@compiled
def add_node(
    search: Any, low: int, high: int, wanted: int, graces: int, parent: int, kind: int, where: int, foundation: int
) -> int:
    """Add a position, unless it is there already or there is no room; return its number, or -1."""
    mixed = low * np.uint64(0x9E3779B97F4A7C15) ^ high * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ wanted) * np.uint64(0x165667B19E3779F9) + np.uint64(graces)
    slot = (mixed ^ (mixed >> np.uint64(29))) & np.uint64(N_SLOTS - 1)
    while search.slots[slot] >> 32 == search.listing:
        there = np.uint64(search.slots[slot] & 0xFFFFFFFF)
        if (
            search.occupied[there, 0] == low
            and search.occupied[there, 1] == high
            and search.wanted[there] == wanted
            and search.graces[there] == graces
        ):
            return -1
        slot = (slot + ONE) & np.uint64(N_SLOTS - 1)
    node = search.n_nodes
    if node == MAX_NODES:
        return -1
    search.slots[slot] = search.listing << 32 | node
    search.occupied[node, 0] = low
    search.occupied[node, 1] = high
    search.wanted[node] = wanted
    search.graces[node] = graces
    search.parent[node] = parent
    search.kind[node] = kind
    search.where[node] = where
    search.foundation[node] = foundation
    search.reveals[node] = 0
    search.n_nodes = node + 1
    search.stack[search.n_stacked] = node
    search.n_stacked += 1
    return node


@compiled
def add_end(search: Any, node: int, action: int, n_placed: int) -> None:
    """Add a way to go on; if there is no room, in place of one with the fewest cards placed, if they are fewer."""
    if search.n_ends < MAX_ENDS:
        number = search.n_ends
        search.n_ends += 1
    else:
        number = 0
        for end in range(1, MAX_ENDS):
            if search.n_placed[end] < search.n_placed[number]:
                number = end
        if search.n_placed[number] >= n_placed:
            return
    search.end[number] = node
    search.action[number] = action
    search.n_placed[number] = n_placed


@compiled
def go_to(here: Any, state: Any, rules: Any, search: Any, node: int) -> None:
    """Make `here` the position of a node, as far as it is known."""
    low, high = search.occupied[node, 0], search.occupied[node, 1]
    here.occupied[0] = low
    here.occupied[1] = high
    for card in range(N_CARDS):
        here.laid[card, 0] = state.laid[card, 0] & low
        here.laid[card, 1] = state.laid[card, 1] & high
    n_placed = 0
    for foundation in range(N_FOUNDATIONS):
        card = np.int64((search.wanted[node] >> np.uint64(8 * foundation)) & np.uint64(255))
        here.wanted[foundation] = card
        n_placed += abs(card - rules.first_wanted[foundation]) >> 2
    here.n_placed = n_placed
    here.at[:] = state.at
    here.n_dealt = state.n_dealt
    here.n_rows = state.n_rows
    here.n_laid = state.n_laid
    here.n_graces = search.graces[node]
    find_open(here, rules)


@inlined
def can_come_to_want(here: Any, card: int, foundation: int) -> bool:
    """Tell whether a foundation may come to take the card before the next deal: the cards up to it are laid out."""
    step = 4 if foundation < 4 else -4
    wanted = here.wanted[np.uint64(foundation)]
    while wanted != card:
        if (card - wanted) * step < 0 or here.laid[wanted, 0] | here.laid[wanted, 1] == ZERO:
            return False
        wanted += step
    return True


@inlined
def is_forced(here: Any, rules: Any, card: int, low: int, high: int, foundation: int) -> bool:
    """Tell whether a placement has no alternative before the next deal.

    No other copy of the card is laid out, and the other foundation of its suit cannot take it: so it must come to this
    placement before the player is stuck, and to make it now only opens places. (Where cards may be transferred between
    foundations that meet, what one of them takes is not settled.)
    """
    other = foundation + 4 if foundation < 4 else foundation - 4
    if rules.transfers and abs(here.wanted[np.uint64(other)] - card) <= 8:
        return False
    if here.laid[card, 0] != low or here.laid[card, 1] != high:
        return False
    return not can_come_to_want(here, card, other)


@compiled
def add_placements(search: Any, here: Any, state: Any, rules: Any, node: int, low: int, high: int, kind: int) -> None:
    """Add the positions after the placements of cards at a set of places: all of them, or a single forced one."""
    fill_low, fill_high = rules.filled[np.uint64(here.n_rows), 0], rules.filled[np.uint64(here.n_rows), 1]
    is_refilled = rules.once != ZERO and state.n_dealt < rules.n_stock
    graces = search.graces[node] - (kind == rec.GRACE)
    thumb_place, thumb_foundation = choose_by_thumb(here, rules, low, high)
    thumb_child = -1
    for forced in range(2):
        rest_low, rest_high = low, high
        if forced == 0 and kind == rec.GRACE:
            continue
        while rest_low | rest_high:
            one_low, one_high = first_of(rest_low, rest_high)
            place = place_of(rest_low, rest_high)
            rest_low ^= one_low
            rest_high ^= one_high
            card = np.int64(state.at[np.uint64(place)])
            for way in range(2):
                foundation = (card & 3) + 4 * way
                if here.wanted[np.uint64(foundation)] != card:
                    continue
                if forced == 0 and not is_forced(here, rules, card, one_low, one_high, foundation):
                    continue
                child = add_node(
                    search,
                    here.occupied[0] ^ one_low,
                    here.occupied[1] ^ one_high,
                    moved_on(search.wanted[node], foundation, 1),
                    graces,
                    node,
                    kind,
                    place,
                    foundation,
                )
                if child >= 0 and is_refilled and ((one_low & fill_low) | (one_high & fill_high)):
                    search.reveals[child] = 1
                    add_end(search, child, AS_DUE, here.n_placed + 1)
                if place == thumb_place and foundation == thumb_foundation:
                    thumb_child = child
                if forced == 0:
                    return
    if thumb_child >= 0:
        # it is looked at next
        last = search.n_stacked - 1
        for i in range(last + 1):
            if search.stack[i] == thumb_child:
                search.stack[i] = search.stack[last]
        search.stack[last] = thumb_child


@compiled
def add_transfers(search: Any, here: Any, node: int) -> None:
    """Add the positions after the transfers between the foundations of a suit that meet (`transfer`)."""
    for suit in range(4):
        up, down = here.wanted[suit], here.wanted[suit + 4]
        for source in (suit, suit + 4):
            target = suit + 4 if source == suit else suit
            top = up - 4 if source == suit else down + 4
            is_base = top < rec.SHIFT + 4 if source == suit else top >= rec.SHIFT + 48
            if not is_base and here.wanted[target] == top:
                wanted = moved_on(moved_on(search.wanted[node], source, -1), target, 1)
                low, high = here.occupied[0], here.occupied[1]
                add_node(search, low, high, wanted, search.graces[node], node, rec.TRANSFER, source, target)


@compiled
def add_deals(search: Any, here: Any, rules: Any, node: int, is_stuck: bool) -> bool:
    """Add the ways to deal in a position; False if nothing can be dealt."""
    gap_low, gap_high = gaps(here, rules)
    has_stock = here.n_dealt < rules.n_stock
    can_fill = has_stock and (gap_low | gap_high) != ZERO
    can_open = has_stock and here.n_rows < rules.max_rows
    if rules.any_time:
        if can_fill:
            add_end(search, node, FILL, here.n_placed)
        if can_open:
            add_end(search, node, OPEN, here.n_placed)
    elif is_stuck and (can_fill or can_open):
        add_end(search, node, AS_DUE, here.n_placed)
    return can_fill or can_open


@compiled
def list_ends(state: Any, rules: Any, search: Any) -> None:
    """Find the positions in which a card can come from the stock next, or the game ends; at most `NODES` are looked at.

    The first line looked at is the rule of thumb's.
    """
    here = search.here
    search.listing += 1
    search.n_nodes = 0
    search.n_stacked = 0
    search.n_ends = 0
    wanted = as_word(state.wanted)
    add_node(search, state.occupied[0], state.occupied[1], wanted, state.n_graces, -1, 0, 0, 0)
    n_left = min(MAX_NODES, NODES * rules.effort)
    while search.n_stacked and n_left:
        n_left -= 1
        search.n_stacked -= 1
        node = search.stack[search.n_stacked]
        if search.reveals[node]:
            continue
        go_to(here, state, rules, search, node)
        wanted_low, wanted_high = wanted_places(here)
        low, high = wanted_low & here.open[0], wanted_high & here.open[1]
        is_stuck = (low | high) == ZERO
        before = search.n_nodes
        if rules.transfers:
            add_transfers(search, here, node)
        can_deal = add_deals(search, here, rules, node, is_stuck)
        if not is_stuck:
            add_placements(search, here, state, rules, node, low, high, rec.PLACE)
        elif not can_deal:
            if here.n_graces:
                add_placements(search, here, state, rules, node, wanted_low, wanted_high, rec.GRACE)
            if search.n_nodes == before or rules.transfers:
                add_end(search, node, AS_DUE, here.n_placed)
            if here.n_placed == rules.n_stock:
                search.n_ends = 0  # won: nothing else is wanted
                add_end(search, node, AS_DUE, here.n_placed)
                return


# -- their worth ------------------------------------------------------------------------------------------------------


@compiled
def play_out(here: Any, state: Any, rules: Any, search: Any, end: int) -> int:
    """Play a game to its end by the rule of thumb; return what it is worth."""
    node = search.end[end]
    go_to(here, state, rules, search, node)
    for i in range(state.n_dealt, rules.n_stock):
        here.stock[i] = search.unseen[i]
    here.n_decided = rules.n_stock
    going = True
    if search.reveals[node]:
        low, high = set_of(search.where[node])
        fill_gaps(here, rules, None, low, high)
    elif search.action[end] == OPEN:
        open_row(here, rules, None)
    else:
        going = deal(here, rules, None) or place_by_grace(here, rules, None, BEST)
    while going:
        place_until_stuck(here, rules, None, BEST)
        going = deal(here, rules, None) or place_by_grace(here, rules, None, BEST)
    return here.n_placed + (WIN_BONUS if here.n_placed == rules.n_stock else 0)


@inlined
def shuffle_unseen(state: Any, rules: Any, search: Any) -> None:
    """Shuffle the cards that the stock still holds."""
    n_left = rules.n_stock - state.n_dealt
    unseen = search.unseen[state.n_dealt :]
    n_decided = 0
    while n_decided < n_left:
        n_decided = decide_next(state.thinking, unseen, n_left, n_decided)


@compiled
def judge(state: Any, rules: Any, search: Any) -> None:
    """Put the best end first."""
    n_ends = search.n_ends
    for i in range(state.n_dealt, rules.n_stock):
        search.unseen[i] = state.stock[i]
    search.unseen[state.n_dealt : rules.n_stock].sort()  # so that their order tells nothing
    search.total[:] = 0
    is_settled = state.n_dealt == rules.n_stock  # nothing is left to chance
    n_samples = 1 if is_settled else PLAY_OUTS * rules.effort
    while n_ends > 1:
        for _ in range(n_samples):
            if not is_settled:
                shuffle_unseen(state, rules, search)
            for end in range(n_ends):
                search.total[end] += play_out(search.here, state, rules, search, end)
        n_ends = 1 if keep_better_half(search, n_ends) == 1 or is_settled else (n_ends + 1) >> 1


@compiled
def keep_better_half(search: Any, n_ends: int) -> int:
    """Sort the ends by their totals, equals as they stand; return half their number."""
    for i in range(1, n_ends):
        end, action, total = search.end[i], search.action[i], search.total[i]
        j = i
        while j > 0 and search.total[j - 1] < total:
            search.end[j] = search.end[j - 1]
            search.action[j] = search.action[j - 1]
            search.total[j] = search.total[j - 1]
            j -= 1
        search.end[j], search.action[j], search.total[j] = end, action, total
    return (n_ends + 1) >> 1


# -- the policy -------------------------------------------------------------------------------------------------------


@compiled
def play_phase(state: Any, rules: Any, events: Any, search: Any) -> bool:
    """Play up to the next deal, and deal; False if the game is over."""
    list_ends(state, rules, search)
    if search.n_ends > 1:
        judge(state, rules, search)
    node = search.end[0]
    reveals = search.reveals[node]
    length = 0
    while search.parent[node] >= 0:
        search.path[length] = node
        length += 1
        node = search.parent[node]
    for i in range(length - 1, -1, -1):
        node = np.uint64(search.path[i])
        kind, where, foundation = search.kind[node], search.where[node], search.foundation[node]
        if kind == rec.TRANSFER:
            transfer_card(state, events, where, foundation)
        else:
            note(events, kind, where, np.int64(state.at[np.uint64(where)]), foundation)
            state.n_graces = search.graces[node]
            place_card(state, rules, events, where, foundation)
    if reveals:
        return True
    if search.action[0] == OPEN:
        open_row(state, rules, events)
        return True
    return deal(state, rules, events)


@inlined
def play_best(state: Any, rules: Any, events: Any, search: Any) -> None:
    """Play a game by the policy `best`."""
    going = deal(state, rules, events)
    while going:
        going = play_phase(state, rules, events, search)
