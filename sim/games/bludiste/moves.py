"""Bludiště, phase by phase: the rules folded into tables, and the moves that use them.

Every function takes the game's record first. `events` are the rows in which a game to be told is written down; where
there is no room for them they are only counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.events import note
from sim.games.bludiste import record as rec
from sim.games.bludiste.deals import stock_pack
from sim.games.bludiste.record import MAX_ROWS, MAX_STOCK, N_FOUNDATIONS, N_PLACES, SHIFT
from sim.games.bludiste.rules import SLOTS, Available, BludisteRules, DealWhen, Fill, Refill
from sim.jit import compiled, inlined
from sim.rng import DEAL, decide_next, lowest_one, start_stream
from sim.rng import POLICY as POLICY_STREAM
from sim.rules import LARGEST_COUNT, pack

ONE = np.uint64(1)
ZERO = np.uint64(0)
_WORD = 2**64 - 1


# -- the rules as tables: each option is read in the one function named after it ----------------------------------


def _table(sets: Sequence[int]) -> list[list[int]]:
    """Return sets of places as two words each."""
    return [[places & _WORD, places >> 64] for places in [*sets, *[0] * (MAX_ROWS + 1 - len(sets))]]


def decks(rules: BludisteRules) -> tuple[list[int], list[int]]:
    """Return the stock before it is shuffled, and the card that each foundation takes first."""
    up = [SHIFT + 4 + suit for suit in range(4)]
    down = [SHIFT + 44 + suit for suit in range(4)] if rules.decks == 2 else [0, 1, 2, 3]  # cards there are none of
    return [SHIFT + card for card in stock_pack(rules)], up + down


def columns(rules: BludisteRules) -> list[int]:
    """Return, for each row, its places."""
    row = (1 << rules.columns) - 1
    return [row << rules.columns * i for i in range(rules.most_rows)]


def max_rows(rules: BludisteRules) -> int:
    """Return how many rows may be opened."""
    return rules.max_rows or LARGEST_COUNT


def available(rules: BludisteRules) -> tuple[list[int], int, int]:
    """Return the places open anyhow by the number of rows, and if an empty place opens the one below, and above.

    The answers are words of ones or zeros.
    """
    rows = columns(rules)
    everywhere = (1 << N_PLACES) - 1 if rules.available is Available.ALL else 0
    below = rules.available is not Available.ALL
    above = rules.available is Available.ABOVE_OR_BELOW
    return [0, *(everywhere | rows[0] | newest for newest in rows)], _WORD * below, _WORD * above


def fill(rules: BludisteRules) -> list[int]:
    """Return, by the number of rows, the places whose gaps are filled."""
    rows = columns(rules)
    if rules.fill is Fill.NEWEST:
        return [0, *rows]
    if rules.fill is Fill.FIRST:
        return [0, rows[0]]
    return [sum(rows[:n]) for n in range(len(rows) + 1)]


def refill(rules: BludisteRules) -> int:
    """Return a word of ones if a gap is filled at once, else zeros."""
    return _WORD * (rules.refill is Refill.AT_ONCE)


def is_plain(rules: BludisteRules) -> bool:
    """Tell whether `first.play_first` can play: the document's rules, but for numbers and which row is filled."""
    return (
        rules.available is Available.ABOVE
        and rules.refill is Refill.WHEN_STUCK
        and rules.fill is not Fill.ALL
        and not rules.grace
    )


def fold(rules: BludisteRules, policies: Mapping[str, Sequence[str]]) -> np.ndarray[Any, Any]:
    """Return the kernel's record of a rule set and the policy, shape (1,)."""
    start, wanted = decks(rules)
    copies = [card + 64 * (i >= 44 and rules.decks == 2) for i, card in enumerate(start)]
    always_open, opens_below, opens_above = available(rules)
    (slot,) = SLOTS
    name, effort = slot.parse(policies[slot.name][0])
    return pack(
        [
            ("columns", "i8", rules.columns),
            ("start", ("u1", (MAX_STOCK,)), [*start, *[0] * (MAX_STOCK - len(start))]),
            ("copies", ("u1", (MAX_STOCK,)), [*copies, *[0] * (MAX_STOCK - len(copies))]),
            ("first_up", "u8", sum(1 << card for card in wanted[:4])),
            ("first_down", "u8", sum(1 << card for card in wanted[4:])),
            ("filled_until", "i8", 1 if rules.fill is Fill.FIRST else LARGEST_COUNT),
            ("is_plain", "i8", is_plain(rules)),
            ("first_wanted", ("i8", (N_FOUNDATIONS,)), wanted),
            ("n_stock", "i8", len(start)),
            ("max_rows", "i8", max_rows(rules)),
            ("always_open", ("u8", (MAX_ROWS + 1, 2)), _table(always_open)),
            ("opens_below", "u8", opens_below),
            ("opens_above", "u8", opens_above),
            ("filled", ("u8", (MAX_ROWS + 1, 2)), _table(fill(rules))),
            ("once", "u8", refill(rules)),
            ("any_time", "i8", rules.deal is DealWhen.ANY_TIME),
            ("transfers", "i8", rules.transfer and rules.decks == 2),
            ("grace", "i8", rules.grace),
            ("policy", "i8", list(slot.choices).index(name)),
            ("effort", "i8", effort),
        ]
    )


# -- sets of places -------------------------------------------------------------------------------------------------


@inlined
def place_of(low: int, high: int) -> int:
    """Return the first of a set of places, or the only one."""
    return lowest_one(low) if low else np.int64(64) + lowest_one(high)


@inlined
def first_of(low: int, high: int) -> tuple[int, int]:
    """Return the set of the first place of a set."""
    return low & -low, ZERO if low else high & -high


@inlined
def set_of(place: int) -> tuple[int, int]:
    """Return the set of one place."""
    bit = ONE << np.uint64(place & 63)
    return (bit, ZERO) if place < 64 else (ZERO, bit)


# -- the deal ---------------------------------------------------------------------------------------------------------


@compiled
def begin(state: Any, rules: Any, order: Any, seed: int, game: int) -> None:
    """Clear the table; take the explicit deal `order`, or begin the shuffle of the stock if it is empty."""
    state.occupied[:] = ZERO
    state.laid[:] = ZERO
    for foundation in range(N_FOUNDATIONS):
        state.wanted[foundation] = rules.first_wanted[foundation]
    state.n_dealt = 0
    state.n_rows = 0
    state.n_placed = 0
    state.n_laid = 0
    state.n_graces = rules.grace
    stock = state.stock
    if order.shape[0] == 0:
        start_stream(state.shuffling, seed, game, DEAL, 0)
        for i in range(MAX_STOCK):
            stock[i] = rules.start[i]
        state.n_decided = 0
    else:
        for i in range(rules.n_stock):
            stock[i] = order[i]
        state.n_decided = rules.n_stock
    start_stream(state.thinking, seed, game, POLICY_STREAM, 0)


@compiled
def decide_to(state: Any, rules: Any, n_cards: int) -> None:
    """Shuffle on until `n_cards` of the stock are decided."""
    while state.n_decided < n_cards:
        state.n_decided = decide_next(state.shuffling, state.stock, rules.n_stock, state.n_decided)


@inlined
def lay(state: Any, place: int, low: int, high: int) -> int:
    """Lay the next card of the stock, which is decided, at a place; return the card."""
    card = state.stock[np.uint64(state.n_dealt)]
    state.n_dealt += 1
    state.at[np.uint64(place)] = card
    state.laid[np.uint64(card), 0] |= low
    state.laid[np.uint64(card), 1] |= high
    return np.int64(card)


@inlined
def find_open(state: Any, rules: Any) -> None:
    """Find the places whose card is available: in row 1, in the newest row, or next to an empty place (`available`)."""
    across = np.uint64(rules.columns)
    back = np.uint64(64) - across
    last = np.uint64(state.n_rows)
    low, high = ~state.occupied[0], ~state.occupied[1]
    below_low, below_high = low << across, (high << across) | (low >> back)
    above_low, above_high = (low >> across) | (high << back), high >> across
    state.open[0] = rules.always_open[last, 0] | (below_low & rules.opens_below) | (above_low & rules.opens_above)
    state.open[1] = rules.always_open[last, 1] | (below_high & rules.opens_below) | (above_high & rules.opens_above)


@compiled
def open_row(state: Any, rules: Any, events: Any) -> None:
    """Open a row of `columns` cards, or of all that are left."""
    n_cards = min(np.int64(rules.columns), rules.n_stock - state.n_dealt)
    decide_to(state, rules, state.n_dealt + n_cards)
    first = rules.columns * state.n_rows
    note(events, rec.ROW, n_cards)
    for place in range(first, first + n_cards):
        low, high = set_of(place)
        lay(state, place, low, high)
        state.occupied[0] |= low
        state.occupied[1] |= high
    state.n_laid += n_cards
    state.n_rows += 1
    find_open(state, rules)


@inlined
def gaps(state: Any, rules: Any) -> tuple[int, int]:
    """Return the empty places that are to be filled (`fill`)."""
    last = np.uint64(state.n_rows)
    return rules.filled[last, 0] & ~state.occupied[0], rules.filled[last, 1] & ~state.occupied[1]


@compiled
def fill_gaps(state: Any, rules: Any, events: Any, low: int, high: int) -> None:
    """Fill gaps from the stock while it lasts, the oldest row first, each left to right."""
    while (low | high) and state.n_dealt < rules.n_stock:
        decide_to(state, rules, state.n_dealt + 1)
        one_low, one_high = first_of(low, high)
        place = place_of(low, high)
        card = lay(state, place, one_low, one_high)
        note(events, rec.FILL, place, card)
        state.occupied[0] |= one_low
        state.occupied[1] |= one_high
        low ^= one_low
        high ^= one_high
    find_open(state, rules)


@compiled
def deal(state: Any, rules: Any, events: Any) -> bool:
    """Fill gaps or open a row, when no card can be placed; False if neither can be done."""
    if state.n_dealt == rules.n_stock:
        return False
    low, high = gaps(state, rules)
    if low | high:
        fill_gaps(state, rules, events, low, high)
        return True
    if state.n_rows == rules.max_rows:
        return False
    open_row(state, rules, events)
    return True


# -- placements -------------------------------------------------------------------------------------------------------


@inlined
def wanted_places(state: Any) -> tuple[int, int]:
    """Return the places of the cards that fit a foundation, whether they are available or not."""
    low = high = ZERO
    for foundation in range(N_FOUNDATIONS):
        card = np.uint64(state.wanted[foundation])
        low |= state.laid[card, 0]
        high |= state.laid[card, 1]
    return low, high


@inlined
def place_card(state: Any, rules: Any, events: Any, place: int, foundation: int) -> None:
    """Move the card at a place to a foundation that it fits; under `at_once` a gap to be filled is."""
    low, high = set_of(place)
    card = np.uint64(state.at[np.uint64(place)])
    state.laid[card, 0] ^= low
    state.laid[card, 1] ^= high
    state.occupied[0] ^= low
    state.occupied[1] ^= high
    state.wanted[np.uint64(foundation)] += 4 if foundation < 4 else -4
    state.n_placed += 1
    if rules.once:
        gap_low, gap_high = gaps(state, rules)
        fill_gaps(state, rules, events, gap_low & low, gap_high & high)
    else:
        across = np.uint64(rules.columns)
        back = np.uint64(64) - across
        below_low, below_high = low << across, (high << across) | (low >> back)
        above_low, above_high = (low >> across) | (high << back), high >> across
        state.open[0] |= (below_low & rules.opens_below) | (above_low & rules.opens_above)
        state.open[1] |= (below_high & rules.opens_below) | (above_high & rules.opens_above)


@inlined
def transfer_card(state: Any, events: Any, source: int, target: int) -> None:
    """Move the top card of a foundation to the other one of its suit, which takes it (`transfer`)."""
    step = -4 if source < 4 else 4
    note(events, rec.TRANSFER, source, state.wanted[np.uint64(target)], target)
    state.wanted[np.uint64(source)] += step
    state.wanted[np.uint64(target)] += step


@inlined
def write_row(state: Any, rules: Any, columns: Any, row: int) -> None:
    """Write the finished game in the order of `state.columns`."""
    columns[0, row] = state.n_placed == rules.n_stock
    columns[1, row] = state.n_placed
    columns[2, row] = state.n_rows
    columns[3, row] = state.n_dealt - state.n_laid
