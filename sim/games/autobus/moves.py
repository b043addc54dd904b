"""Autobus, step by step of a turn: the rules folded into numbers, and the moves that use them.

Every function takes the game's record first. `events` are the rows in which a game to be told is written down; where
there is no room for them they are only counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.cards import DECK_SIZE
from sim.events import note
from sim.games.autobus import record as rec
from sim.games.autobus.record import MAX_CARDS, N_RANKS, RING, ROOM
from sim.games.autobus.rules import SLOTS, AutobusRules, DiscardWhen, Recycle
from sim.games.autobus.state import ENDS
from sim.jit import compiled, inlined
from sim.rng import DEAL, RESHUFFLE, decide_next, shuffle_cards, start_stream
from sim.rng import POLICY as POLICY_STREAM
from sim.rules import pack

BUS_EMPTY, STALEMATE, TURN_CAP = (ENDS.index(end) for end in ("bus_empty", "stalemate", "turn_cap"))
RANDOM = list(SLOTS[0].choices).index("random")

ACES = np.uint64(0xF)
ONE = np.uint64(1)
FIRST_KING = 48
PACK = (np.arange(MAX_CARDS) % DECK_SIZE).astype(np.uint8)


# -- the rules, folded ------------------------------------------------------------------------------------------------


def follow_suit(rules: AutobusRules) -> tuple[int, int]:
    """Return a mask from a card to its class, and the cards of class 0."""
    return (0x3F, 0x1) if rules.follow_suit else (0x3C, 0xF)


def stalemate_rounds(rules: AutobusRules) -> tuple[int, int]:
    """Return how many turns without a card placed end the game, and how many with an empty talon from the start."""
    never = rules.max_turns + 1
    if rules.stalemate_rounds:
        return rules.stalemate_rounds * rules.players, never
    return never, rules.players


def only_ranks_matter(rules: AutobusRules, policies: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a game can be played in counts of ranks (module `counts`)."""
    return not rules.follow_suit and set(policies["policy"]) == {"greedy"} and rules.hand_size <= 8


def fold(rules: AutobusRules, policies: Mapping[str, Sequence[str]]) -> np.ndarray[Any, Any]:
    """Return the kernel's record of a rule set and the seats' policies, shape (1,)."""
    class_mask, group = follow_suit(rules)
    idle_limit, dead_limit = stalemate_rounds(rules)
    kinds = [list(SLOTS[0].choices).index(name) for name in policies["policy"]]
    return pack(
        [
            ("n_players", "i8", rules.players),
            ("n_cards", "i8", rules.n_decks * DECK_SIZE),
            ("bus_size", "i8", rules.bus_size),
            ("hand_size", "i8", rules.hand_size),
            ("n_storage_piles", "i8", rules.storage_piles),
            ("class_mask", "u8", class_mask),
            ("group", "u8", group),
            ("recycle_shuffles", "i8", rules.recycle is not Recycle.BOTTOM),
            ("recycle_takes_talon", "i8", rules.recycle is Recycle.SHUFFLE_ALL),
            ("discard_unless_turn", "i8", rules.discard_when is DiscardWhen.NOTHING_PLAYED),
            ("swap", "i8", rules.swap),
            ("bury", "i8", rules.bury),
            ("must_play", "i8", rules.must_play),
            ("idle_limit", "i8", idle_limit),
            ("dead_limit", "i8", dead_limit),
            ("max_passes", "i8", rules.max_turns),
            ("policy", ("i8", (8,)), [*kinds, *[0] * (8 - len(kinds))]),
            ("any_random", "i8", "random" in policies["policy"]),
            ("piles", "u8", (1 << 8 * rules.storage_piles) - 1),
            ("no_piles", "u8", 2**64 - (1 << 8 * rules.storage_piles)),
            ("only_ranks", "i8", only_ranks_matter(rules, policies)),
        ]
    )


# -- the talon --------------------------------------------------------------------------------------------------------


@inlined
def talon_size(state: Any) -> int:
    """Return the number of cards in the talon."""
    return state.tail - state.head


@compiled
def decide_more(state: Any, rules: Any) -> None:
    """Shuffle the next cards that are not decided: some of the deck, or the finished pile that returned next.

    The shuffles of (seed, game) are numbered, so it does not matter when one is made; most of a talon is never reached.
    """
    if state.n_decided < rules.n_cards:
        state.n_decided = decide_next(state.deck_stream, state.cards, rules.n_cards, state.n_decided)
    else:
        shuffle_from(state, rules, state.n_decided, N_RANKS)
        state.n_decided += N_RANKS


@inlined
def shuffle_from(state: Any, rules: Any, first: int, n: int) -> None:
    """Shuffle `n` cards from place `first` on, for a pile that returns; nothing under `recycle = bottom`."""
    if rules.recycle_shuffles:
        start_stream(state.recycle_stream, state.seed, state.game, RESHUFFLE, state.n_shuffles)
        shuffle_cards(state.recycle_stream, state.cards[first:], n)
        state.n_shuffles += 1


@inlined
def next_card(state: Any, rules: Any) -> int:
    """Take the top card of a talon that is not empty."""
    i = state.head
    if i >= state.n_decided:
        decide_more(state, rules)
    state.head = i + 1
    return np.int64(state.cards[np.uint64(i)])


@compiled
def recycle(state: Any, rules: Any, pile: Any) -> None:
    """Return a finished pile to the talon.

    Parameters
    ----------
    pile
        Its cards from the ace on; None where only ranks are known.
    """
    cards = state.cards
    if state.tail > ROOM - 2 * N_RANKS:
        shift = state.head - rules.n_cards  # what lay before it was the deck, whose shuffle is over
        for i in range(state.head, state.tail):
            cards[i - shift] = cards[i]
        state.head -= shift
        state.tail -= shift
        state.n_decided -= shift
        state.n_summed = state.head
    for rank in range(N_RANKS):
        cards[np.uint64(state.tail + rank)] = 4 * rank if pile is None else pile[rank]
    state.tail += N_RANKS
    if rules.recycle_takes_talon:
        while state.n_decided < rules.n_cards:
            decide_more(state, rules)
        shuffle_from(state, rules, state.head, talon_size(state))
        state.n_decided = state.tail
        state.n_summed = state.head


# -- the deal ---------------------------------------------------------------------------------------------------------


@inlined
def take_deck(state: Any, rules: Any, seed: int, game: int) -> None:
    """Take the deck of a seeded game, to be shuffled as far as it is looked at."""
    for i in range(rules.n_cards):
        state.cards[np.uint64(i)] = PACK[np.uint64(i)]
    start_stream(state.deck_stream, seed, game, DEAL, 0)
    state.n_decided = 0


@inlined
def take_order(state: Any, rules: Any, order: Any) -> None:
    """Take the deck of an explicit deal, top first."""
    for i in range(rules.n_cards):
        state.cards[i] = order[i]
    state.n_decided = rules.n_cards


@inlined
def begin(state: Any, rules: Any, seed: int, game: int) -> None:
    """Clear the table around a deck that was taken, and decide as much of it as is dealt."""
    state.seed = seed
    state.game = game
    n = rules.n_players
    state.head = 0
    state.tail = rules.n_cards
    state.n_shuffles = 0
    while state.n_decided < n * (rules.hand_size + rules.bus_size):
        decide_more(state, rules)
    state.wanted = ACES
    for i in range(64):
        state.n_showing[i] = 0
    state.n_piles = 0
    state.n_idle_turns = 0
    state.n_dead_turns = 0
    state.winner = -1
    state.n_passes = 0
    state.n_turns = 0
    state.n_plays = 0
    state.n_finished = 0
    state.n_buries = 0
    state.n_swaps = 0
    for seat in range(n):
        state.wanted_left[seat] = 0
    if rules.any_random:
        for seat in range(n):
            start_stream(state.streams[seat], seed, game, POLICY_STREAM, seat)


@compiled
def whole_deck(state: Any, rules: Any, seed: int, game: int) -> None:
    """Shuffle the whole deck of a seeded game, for writing it down."""
    take_deck(state, rules, seed, game)
    begin(state, rules, seed, game)
    while state.n_decided < rules.n_cards:
        decide_more(state, rules)


@inlined
def deal_bus(state: Any, rules: Any, seat: int) -> None:
    """Deal the seat's bus."""
    head = state.head
    for i in range(rules.bus_size):
        state.bus[seat, np.uint64(i)] = state.cards[np.uint64(head + i)]
    state.head = head + rules.bus_size
    state.bus_head[seat] = 0
    state.bus_tail[seat] = rules.bus_size


@inlined
def deal(state: Any, rules: Any) -> None:
    """Deal seat by seat: the hand, then the bus."""
    for seat in range(rules.n_players):
        for i in range(rules.hand_size):
            state.hand[seat, i] = next_card(state, rules)
        state.n_hand[seat] = rules.hand_size
        for pile in range(rules.n_storage_piles):
            state.n_storage[seat, pile] = 0
        deal_bus(state, rules, seat)


# -- the common piles -------------------------------------------------------------------------------------------------


@inlined
def class_of(rules: Any, card: int) -> int:
    """Return the class of a card: itself, or without `follow_suit` its rank's first card."""
    return np.uint64(card) & rules.class_mask


@inlined
def is_wanted(state: Any, card: int) -> bool:
    """Tell whether a common pile accepts a card."""
    return (state.wanted >> np.uint64(card)) & ONE != 0


@inlined
def show(state: Any, rules: Any, wanted: int, kind: int) -> int:
    """Let a pile show a card of class `kind` in place of the card below it; return what piles accept then.

    An ace lies on nothing and a king is shown by nobody: the counts before the first class and after the last are for
    show.
    """
    below, above = np.uint64(kind), np.uint64(kind) + np.uint64(4)
    n = state.n_showing[below] - 1
    state.n_showing[below] = n
    wanted &= ~((np.uint64(n == 0) * rules.group) << below)
    state.n_showing[above] += 1
    return wanted | (rules.group << above)


@compiled
def oldest_pile(state: Any, rules: Any, card: int) -> int:
    """Return the oldest common pile that accepts `card`; the number of piles if it starts a new one."""
    kind = class_of(rules, card)
    for number in range(state.n_piles):
        top = state.piles[number, state.pile_height[number] - 1]
        if class_of(rules, top) + np.uint64(4) == kind:
            return number
    return state.n_piles


@compiled
def lay(state: Any, rules: Any, events: Any, seat: int, card: int, source: int, storage_pile: int) -> None:
    """Lay a card that has left its place on the oldest pile that accepts it."""
    number = oldest_pile(state, rules, card)
    note(events, rec.PLACE, seat, card, source, storage_pile, number)
    if number == state.n_piles:
        state.pile_height[number] = 0
        state.n_piles += 1
    height = state.pile_height[number]
    state.piles[number, height] = card
    state.pile_height[number] = height + 1
    state.wanted = show(state, rules, state.wanted, class_of(rules, card))
    state.n_plays += 1
    if card >= FIRST_KING:
        state.n_finished += 1
        recycle(state, rules, state.piles[number])
        for later in range(number + 1, state.n_piles):
            for i in range(state.pile_height[later]):
                state.piles[later - 1, i] = state.piles[later, i]
            state.pile_height[later - 1] = state.pile_height[later]
        state.n_piles -= 1
        note(events, rec.FINISH, number, talon_size(state))


# -- the bus ----------------------------------------------------------------------------------------------------------


@inlined
def bus_left(state: Any, seat: int) -> int:
    """Return the number of cards in a bus."""
    return state.bus_tail[seat] - state.bus_head[seat]


@inlined
def bus_top(state: Any, seat: int) -> int:
    """Return the face-up card of a bus that is not empty."""
    return np.int64(state.bus[seat, np.uint64(state.bus_head[seat] & (RING - 1))])


@inlined
def bury(state: Any, seat: int, card: int) -> None:
    """Put a card face down under the bus."""
    state.bus[seat, np.uint64(state.bus_tail[seat] & (RING - 1))] = card
    state.bus_tail[seat] += 1
    state.n_buries += 1


# -- hands and storage ------------------------------------------------------------------------------------------------


@compiled
def draw_up(state: Any, rules: Any, events: Any, seat: int) -> None:
    """Draw until the hand is full or the talon empty."""
    while state.n_hand[seat] < rules.hand_size and talon_size(state) > 0:
        card = next_card(state, rules)
        state.hand[seat, state.n_hand[seat]] = card
        state.n_hand[seat] += 1
        note(events, rec.DRAW, seat, card)


@inlined
def leave_hand(state: Any, seat: int, i: int) -> int:
    """Take card number `i` out of a hand, closing the gap."""
    card = np.int64(state.hand[seat, i])
    n = state.n_hand[seat] - 1
    for j in range(i, n):
        state.hand[seat, j] = state.hand[seat, j + 1]
    state.n_hand[seat] = n
    return card


@inlined
def leave_storage(state: Any, seat: int, pile: int, i: int) -> int:
    """Take card number `i` out of a storage pile, closing the gap."""
    card = np.int64(state.storage[seat, pile, i])
    n = state.n_storage[seat, pile] - 1
    for j in range(i, n):
        state.storage[seat, pile, j] = state.storage[seat, pile, j + 1]
    state.n_storage[seat, pile] = n
    return card


@inlined
def store(state: Any, seat: int, pile: int, card: int) -> None:
    """Put a card onto a storage pile."""
    state.storage[seat, pile, state.n_storage[seat, pile]] = card
    state.n_storage[seat, pile] += 1


@inlined
def pile_rank(state: Any, seat: int, pile: int) -> int:
    """Return the rank (0–12) of a storage pile's cards, -1 for an empty one."""
    return np.int64(state.storage[seat, pile, 0]) >> 2 if state.n_storage[seat, pile] > 0 else -1


@inlined
def has_empty_pile(state: Any, rules: Any, seat: int) -> bool:
    """Tell whether a seat has an empty storage pile."""
    for pile in range(rules.n_storage_piles):
        if state.n_storage[seat, pile] == 0:
            return True
    return False


@inlined
def count_rank(state: Any, seat: int, rank: int) -> int:
    """Return how many cards of a rank a hand holds."""
    n = 0
    for i in range(state.n_hand[seat]):
        n += np.int64(state.hand[seat, i]) >> 2 == rank
    return n


@inlined
def can_join_equals(state: Any, rules: Any, seat: int) -> bool:
    """Tell whether some hand card has a storage pile of its rank (step 4b)."""
    for i in range(state.n_hand[seat]):
        for pile in range(rules.n_storage_piles):
            if pile_rank(state, seat, pile) == np.int64(state.hand[seat, i]) >> 2:
                return True
    return False


@inlined
def may_swap(rules: Any) -> bool:
    """Tell whether equal hand cards may be exchanged for a pile (`swap`)."""
    return rules.swap != 0


@inlined
def can_swap(state: Any, rules: Any, seat: int, rank: int, pile: int) -> bool:
    """Tell whether cards of a rank may be exchanged for a pile, if no pile is empty (step 4c i)."""
    k = state.n_storage[seat, pile] + 1
    return may_swap(rules) and 2 <= k <= 4 and count_rank(state, seat, rank) >= k


@inlined
def may_bury(rules: Any, can_join: bool) -> bool:
    """Tell whether a hand card may go under the bus, if no pile is empty (step 4c ii)."""
    return rules.bury != 0 and not can_join


@compiled
def swap(state: Any, seat: int, rank: int, pile: int) -> int:
    """Exchange the earliest k hand cards of a rank for a pile of k - 1; return k."""
    n_pile = state.n_storage[seat, pile]
    k = n_pile + 1
    n_kept = 0
    n_given = 0
    for i in range(state.n_hand[seat]):
        card = state.hand[seat, i]
        if n_given < k and np.int64(card) >> 2 == rank:
            state.swapped[n_given] = card
            n_given += 1
        else:
            state.hand[seat, n_kept] = card
            n_kept += 1
    for i in range(n_pile):
        state.hand[seat, n_kept + i] = state.storage[seat, pile, i]
    for i in range(k):
        state.storage[seat, pile, i] = state.swapped[i]
    state.n_hand[seat] = n_kept + n_pile
    state.n_storage[seat, pile] = k
    state.n_swaps += 1
    return k


# -- the end ----------------------------------------------------------------------------------------------------------


@inlined
def discard_is_due(rules: Any, in_turn: int, from_hand: int) -> bool:
    """Tell whether a card has to be given up, if the hand holds one (`discard_when`).

    Parameters
    ----------
    in_turn, from_hand
        Cards placed in this turn, and from the hand in its last pass.
    """
    return (in_turn if rules.discard_unless_turn else from_hand) == 0


@inlined
def reaches_cap(state: Any, rules: Any) -> bool:
    """Tell whether the last pass was the last one allowed (`max_turns`)."""
    return state.n_passes >= rules.max_passes


@inlined
def end_turn(state: Any, rules: Any) -> bool:
    """Count a turn without a card placed; tell whether the game ends as a stalemate or by the cap."""
    if state.turn_placed > 0:
        state.n_idle_turns = 0
        state.n_dead_turns = 0
    else:
        state.n_idle_turns += 1
        state.n_dead_turns = state.n_dead_turns + 1 if state.turn_began_empty else 0
    if state.n_idle_turns >= rules.idle_limit or state.n_dead_turns >= rules.dead_limit:
        state.end = STALEMATE
        return True
    if reaches_cap(state, rules):
        state.end = TURN_CAP
        return True
    return False


@inlined
def win(state: Any, seat: int) -> None:
    """End the game: the bus of `seat` is empty."""
    state.end = BUS_EMPTY
    state.winner = seat
