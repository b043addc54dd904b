"""The policy `first` under the document's rules of availability and refilling, as fast as it can be made.

`policies.place_until_stuck` is the same for every rule set, and the tests hold the two equal. Here sets are of cards,
not of places: one word says which numbers have a copy that is available, one which the foundations take, and for each
copy the place is kept where it is available. Copies count as different: those of card c are c and ``64 + c``.

A game takes half the time that it takes with sets of places, of which each is two words: from a card that fits to the
next one it is a count of zeros and two loads, and what a processor cannot foresee is only when the player is stuck.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.bludiste.moves import ONE, ZERO
from sim.games.bludiste.record import MAX_STOCK
from sim.jit import compiled, inlined
from sim.rng import DEAL, lowest_one, shuffle_cards, start_stream

NOWHERE = 255  # where a copy is that is not laid out, or not available
NOTHING = 63  # what lies at an empty place: a number that no foundation takes
CARD = np.uint64(63)
COPY = np.uint64(64)
FOUR = np.uint64(4)

TABLE_DTYPE = np.dtype(
    [
        ("where", np.uint8, (128,)),  # by copy, the place where it is available
        ("lies", np.uint8, (128,)),  # by place, the copy
        ("stock", np.uint8, (104,)),
    ],
    align=True,
)


@inlined
def play_first(table: Any, rules: Any, columns: Any, row: int) -> None:
    """Play a game whose stock is shuffled; write its row."""
    where = table.where
    lies = table.lies
    stock = table.stock
    n_stock = np.uint64(rules.n_stock)
    across = np.uint64(rules.columns)
    max_rows = np.uint64(rules.max_rows)
    for i in range(128):
        where[i] = NOWHERE
        lies[i] = NOTHING
    up = np.uint64(rules.first_up)
    down = np.uint64(rules.first_down)
    available = ZERO  # cards with an available copy
    n_dealt = n_rows = n_laid = n_placed = ZERO
    newest = ZERO  # first place of the newest row
    gaps = ZERO  # empty places of the newest row, if they are filled
    filled = ZERO
    while n_dealt < n_stock:
        if gaps:
            while True:
                place = newest + np.uint64(lowest_one(gaps))
                copy = np.uint64(stock[n_dealt])
                lies[place] = copy
                where[copy] = place
                available |= ONE << (copy & CARD)
                gaps &= gaps - ONE
                n_dealt += ONE
                if gaps == ZERO or n_dealt == n_stock:
                    break
        else:
            if n_rows == max_rows:
                break
            if n_rows > ONE:
                # the newest row is covered where a card lies above
                for i in range(across):
                    place = newest + np.uint64(i)
                    copy = np.uint64(lies[place])
                    is_covered = np.uint64(lies[place - across] != NOTHING)
                    is_alone = np.uint64(where[copy ^ COPY] == NOWHERE)
                    where[copy] |= ZERO - is_covered
                    available &= ~((is_covered & is_alone) << (copy & CARD))
            newest = across * n_rows
            n_cards = min(across, n_stock - n_dealt)
            for i in range(n_cards):
                place = newest + np.uint64(i)
                copy = np.uint64(stock[n_dealt + np.uint64(i)])
                lies[place] = copy
                where[copy] = place
                available |= ONE << (copy & CARD)
            n_dealt += n_cards
            n_laid += n_cards
            n_rows += ONE
            filled = ~ZERO if n_rows <= np.uint64(rules.filled_until) else ZERO
        while True:
            fits = available & (up | down)
            if fits == ZERO:
                break
            card = np.uint64(lowest_one(fits))
            first, second = np.uint64(where[card]), np.uint64(where[card | COPY])
            rest = fits & (fits - ONE)
            while rest:
                other = np.uint64(lowest_one(rest))
                other_first, other_second = np.uint64(where[other]), np.uint64(where[other | COPY])
                is_earlier = min(other_first, other_second) < min(first, second)
                card = other if is_earlier else card
                first = other_first if is_earlier else first
                second = other_second if is_earlier else second
                rest &= rest - ONE
            place = min(first, second)
            copy = card | (COPY if second < first else ZERO)
            bit = ONE << card
            where[copy] = NOWHERE
            available ^= bit if max(first, second) == np.uint64(NOWHERE) else ZERO
            lies[place] = NOTHING
            below = place + across
            freed = np.uint64(lies[below])
            where[freed] = below
            available |= ONE << (freed & CARD)
            goes_up = (bit & up) != ZERO
            up ^= bit | (bit << FOUR) if goes_up else ZERO
            down ^= ZERO if goes_up else bit | (bit >> FOUR)
            n_placed += ONE
            gaps |= (filled if place >= newest else ZERO) & (ONE << ((place - newest) & CARD))
    columns[0, row] = n_placed == n_stock
    columns[1, row] = n_placed
    columns[2, row] = n_rows
    columns[3, row] = n_dealt - n_laid


@inlined
def begin_stock(table: Any, stream: Any, rules: Any, seed: int, game: int) -> None:
    """Shuffle the stock."""
    start_stream(stream, seed, game, DEAL, 0)
    for i in range(MAX_STOCK):
        table.stock[i] = rules.copies[i]
    shuffle_cards(stream, table.stock, rules.n_stock)


@compiled
def play_firsts(state: Any, table: Any, rules: Any, seed: int, first: int, columns: Any) -> None:
    """Play games from `first` on into the columns, until they are full."""
    for row in range(columns.shape[1]):
        begin_stock(table, state.shuffling, rules, seed, first + np.uint64(row))
        play_first(table, rules, columns, row)
