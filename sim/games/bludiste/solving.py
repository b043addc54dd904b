"""What both of Bludiště's searches do: change a position and take it back, list moves, and bound what can still happen.

A *cell* is ``columns`` times its row plus its column. Sets of cells are two words (``…0`` for cells 0–63). A card is
``4 * rank + suit`` as in `sim.cards` with the ace as rank 0; in this module ``rank`` counts from 1. Two copies of a
card are *twins*; a position does not tell them apart.

Each suit has one pile going up from its ace (top rank ``up``) and one going down from its king (top rank ``down``; 0
with one deck). The *roles* of a rank are to lie on the pile going up and on the one going down; with two decks every
rank has both and two copies (the bases included), so a rank still has as many copies in play as it has open roles.

A *phase* is what happens between two times that cards are taken from the stock under ``when_stuck``, and between two
new rows under ``at_once``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.bludiste.deals import stock_pack
from sim.games.bludiste.rules import Available, BludisteRules, DealWhen, Fill, Refill
from sim.games.bludiste.state import LIMITS, STATUS
from sim.jit import compiled, inlined
from sim.rng import DEAL, STREAM_DTYPE, count_ones, lowest_one, shuffle_cards, start_stream

# Shortcuts, a bit each in the folded rules. Proofs stand with the functions named.
FORCED = 1  # `keep_closed`: placements that come in every order are made in one
DEAD = 2  # `is_dead`: positions whose laid cards can never all go are cut
TABLE = 4  # `solver.visit`: a position is searched once
LOOK_AHEAD = 8  # `freeze`: cards of the newest row that must stay count as blocked already
DEFER = 16  # `solver.drop_starts`: a suit's second half is not begun where that changes nothing
LEARN = 32  # `learning.search_learning`: what a refutation did not look at is forgotten with it
START_RANKS = 64  # `is_dead`: a suit's second half must begin somewhere
ALL_SHORTCUTS = 127

GAP = 63
PROBES_FROM = 1000
N_CELLS = 160  # 111 can be in use; a row below the last is looked at too
MAX_TRAIL = 1024

# Kinds of moves and of changes on the trail. START begins the second half of a suit whose piles meet, under `transfer`.
# STEP is the fill or new row that is due, made by choice.
UP, DOWN, START, FILL, ROW, STEP, DRAW = 0, 1, 2, 3, 4, 5, 6
GRACE_BIT = 1 << 25

AT_ONCE = Refill.AT_ONCE.value
ABOVE, ABOVE_OR_BELOW, ALL = (choice.value for choice in Available)
FILL_NEWEST, FILL_FIRST, FILL_ALL = (choice.value for choice in Fill)

# How a way through the moves that are no choice ends: nothing can follow, all cards are placed, a choice, or the laid
# cards were shown never to go all. Where a search turns back, as counted: these, and positions found in the table.
DEAD_END, WON, CHOICE, HOPELESS = 0, 1, 2, 3
N_ENDS = 5
KNOWN = 4

UNSOLVABLE, SOLVED, UNKNOWN = range(len(STATUS))
NO_LIMIT, NODE_LIMIT, NODE_LIMIT_TABLE_FULL = range(len(LIMITS))

RULES_DTYPE = np.dtype(
    [
        ("columns", np.int64),
        ("refill", np.int64),
        ("available", np.int64),
        ("transfer", np.int64),
        ("max_rows", np.int64),
        ("decks", np.int64),
        ("fill", np.int64),
        ("deal", np.int64),  # 1: any_time
        ("grace", np.int64),
        ("n_ranks", np.int64),
        ("n_suits", np.int64),
        ("n_stock", np.int64),
        ("shortcuts", np.int64),
        ("learns", np.int64),
        ("probes_from", np.int64),
        ("n_words", np.int64),  # of a position in the table
        ("row", np.uint64, (98, 2)),  # by row its cells
        ("start", np.uint8, (112,)),  # the stock before it is shuffled
    ],
    align=True,
)

SOLVER_DTYPE = np.dtype(
    [
        ("stream", STREAM_DTYPE),
        ("stock", np.uint8, (112,)),
        # the position
        ("grid", np.uint8, (N_CELLS,)),
        ("laid0", np.uint64),
        ("laid1", np.uint64),
        ("at", np.uint64, (128,)),  # by card the cells it lies in, two words each
        ("hidden", np.int8, (64,)),  # by card the copies in the stock
        ("in_stock", np.uint64),  # the cards with any
        ("up", np.int64, (4,)),
        ("down", np.int64, (4,)),
        ("drawn", np.int64),
        ("n_rows", np.int64),
        ("n_placed", np.int64),
        ("grace_used", np.int64),
        # the placements found last
        ("free0", np.uint64),
        ("free1", np.uint64),
        ("n_moves", np.int64),
        ("moves", np.int32, (512,)),
        # the relaxation made last
        ("gone0", np.uint64),
        ("gone1", np.uint64),
        ("open0", np.uint64),
        ("open1", np.uint64),
        ("fitting", np.uint64),  # cards that may fit at some time
        ("reach_up", np.int64, (4,)),
        ("reach_down", np.int64, (4,)),
        ("reach_drawn", np.int64),
        ("start_rank", np.int64, (4,)),  # where a suit's second half is supposed to begin; 0: anywhere
        ("low", np.int64, (4,)),
        ("high", np.int64, (4,)),
        # the search
        ("best", np.int64),
        ("nodes", np.int64),
        ("depth", np.int64),
        ("generation", np.int64),
        ("n_forgotten", np.int64),
        ("clock", np.int64),
        ("random", np.uint64),
        ("n_trail", np.int64),
        ("trail", np.int32, (MAX_TRAIL,)),
        ("n_frames", np.int64),
        ("frame_trail", np.int32, (MAX_TRAIL,)),
        ("frame_next", np.int32, (MAX_TRAIL,)),
        ("frame_end", np.int32, (MAX_TRAIL,)),
        ("stack", np.int32, (16384,)),
        ("key", np.uint64, (24,)),
        # of the search that learns: what refutations looked at
        ("reason", np.uint64, (8,)),
        ("frame_reason", np.uint64, (128, 32)),
        # for the account of a search that was in vain
        ("ends", np.int64, (N_ENDS,)),
        ("ended_at", np.int64, (128,)),  # by cards placed, how many ways ended there
        ("n_best_trail", np.int64),
        ("best_trail", np.int32, (MAX_TRAIL,)),
    ],
    align=True,
)


def fold(
    rules: BludisteRules, n_ranks: int = 13, n_suits: int = 4, shortcuts: int = ALL_SHORTCUTS
) -> np.ndarray[Any, Any]:
    """Return the rules as the compiled searches read them, shape (1,).

    Parameters
    ----------
    n_ranks, n_suits
        A smaller pack, for tests.
    shortcuts
        Which shortcuts are used, a bit each.
    """
    folded = np.zeros(1, RULES_DTYPE)
    record = folded[0]
    for name in ("columns", "refill", "available", "max_rows", "decks", "fill", "deal", "grace"):
        record[name] = getattr(rules, name)
    record["transfer"] = rules.transfer and rules.decks == 2
    record["n_ranks"] = n_ranks
    record["n_suits"] = n_suits
    record["shortcuts"] = shortcuts
    record["probes_from"] = PROBES_FROM
    start = stock_pack(rules, n_ranks, n_suits)
    record["n_stock"] = len(start)
    record["start"][: len(start)] = start
    record["learns"] = (
        bool(shortcuts & LEARN)
        and rules.refill is Refill.AT_ONCE
        and rules.available is Available.ABOVE
        and rules.fill is Fill.NEWEST
        and rules.deal is DealWhen.WHEN_STUCK
        and not (record["transfer"] or rules.grace)
    )
    n_cells = -(-len(start) // rules.columns) * rules.columns
    record["n_words"] = 9 + -(-n_cells // 8) if record["learns"] else 1 + -(-n_cells // 10)
    for row in range(98):
        cells = ((1 << rules.columns) - 1) << (row * rules.columns)
        record["row"][row] = cells & (2**64 - 1), cells >> 64 & (2**64 - 1)
    return folded


# -------------------------------------------------------------------------------------------------------- sets of cells

ONE = np.uint64(1)
NONE = np.uint64(0)
GENERATION = np.uint64(0xFFFF0000)  # in the first word of every entry of a table: which deal it belongs to


@inlined
def cell_bits(cell: int) -> tuple[int, int]:
    """Return the set of one cell."""
    bit = ONE << np.uint64(cell & 63)
    return (NONE, bit) if cell & 64 else (bit, NONE)


@inlined
def moved_down(rules: Any, a0: int, a1: int) -> tuple[int, int]:
    """Return the cells directly below those of a set."""
    c = np.uint64(rules.columns)
    return a0 << c, (a1 << c) | (a0 >> (np.uint64(64) - c))


@inlined
def moved_up(rules: Any, a0: int, a1: int) -> tuple[int, int]:
    """Return the cells directly above those of a set."""
    c = np.uint64(rules.columns)
    return (a0 >> c) | (a1 << (np.uint64(64) - c)), a1 >> c


@inlined
def has_cell(a0: int, a1: int, cell: int) -> bool:
    """Tell whether a cell is in a set."""
    return ((a1 if cell & 64 else a0) >> np.uint64(cell & 63)) & ONE != NONE


# -------------------------------------------------------------------------------------------------- changes and undoing


@inlined
def lay(s: Any, cell: int, card: int) -> None:
    """Put a card into a cell."""
    s.grid[np.uint64(cell)] = card
    bit0, bit1 = cell_bits(cell)
    s.laid0 |= bit0
    s.laid1 |= bit1
    s.at[np.uint64(2 * card)] |= bit0
    s.at[np.uint64(2 * card + 1)] |= bit1


@inlined
def lift(s: Any, cell: int, card: int) -> None:
    """Take a card out of its cell."""
    s.grid[np.uint64(cell)] = GAP
    bit0, bit1 = cell_bits(cell)
    s.laid0 &= ~bit0
    s.laid1 &= ~bit1
    s.at[np.uint64(2 * card)] &= ~bit0
    s.at[np.uint64(2 * card + 1)] &= ~bit1


@inlined
def note(s: Any, kind: int, cell: int, card: int, up: int, down: int, graced: int) -> None:
    """Write a change down: kind, cell, card, the suit's piles before it, and whether it used up a grace."""
    s.trail[np.uint64(s.n_trail)] = kind | (cell << 3) | (card << 11) | (up << 17) | (down << 21) | (graced << 25)
    s.n_trail += 1


@inlined
def draw(s: Any, cell: int) -> None:
    """Put the next card of the stock into a cell."""
    card = np.int64(s.stock[np.uint64(s.drawn)])
    s.drawn += 1
    s.hidden[np.uint64(card)] -= 1
    if s.hidden[np.uint64(card)] == 0:
        s.in_stock &= ~(ONE << np.uint64(card))
    lay(s, cell, card)
    note(s, DRAW, cell, card, 0, 0, 0)


@compiled
def undo_to(s: Any, n_trail: int) -> None:
    """Take changes back until only the first `n_trail` are left."""
    while s.n_trail > n_trail:
        s.n_trail -= 1
        change = np.int64(s.trail[np.uint64(s.n_trail)])
        kind = change & 7
        cell = (change >> 3) & 255
        card = (change >> 11) & 63
        if kind <= START:
            s.up[card & 3] = (change >> 17) & 15
            s.down[card & 3] = (change >> 21) & 15
            s.n_placed -= 1
            s.grace_used -= (change >> 25) & 1
            lay(s, cell, card)
        elif kind == DRAW:
            s.drawn -= 1
            s.hidden[np.uint64(card)] += 1
            s.in_stock |= ONE << np.uint64(card)
            lift(s, cell, card)
        elif kind == ROW:
            s.n_rows -= 1


@inlined
def is_filled_row(s: Any, rules: Any, row: int) -> bool:
    """Carry out `fill`: tell whether gaps of a row are filled while there are so many rows."""
    if rules.fill == FILL_NEWEST:
        return row == s.n_rows - 1
    return rules.fill == FILL_ALL or s.n_rows == 1


@inlined
def filled_cells(s: Any, rules: Any) -> tuple[int, int]:
    """Return the cells of the rows whose gaps are filled while there are so many rows."""
    newest = np.uint64(s.n_rows - 1)
    cells0 = rules.row[newest, 0]
    cells1 = rules.row[newest, 1]
    if rules.fill == FILL_FIRST and s.n_rows > 1:
        return NONE, NONE
    if rules.fill == FILL_ALL:
        for row in range(s.n_rows - 1):
            cells0 |= rules.row[np.uint64(row), 0]
            cells1 |= rules.row[np.uint64(row), 1]
    return cells0, cells1


@compiled
def place(s: Any, rules: Any, move: int) -> None:
    """Place a card on a foundation; under `at_once` its gap is filled."""
    kind = move & 7
    cell = (move >> 3) & 255
    graced = (move >> 25) & 1
    card = np.int64(s.grid[np.uint64(cell)])
    suit = card & 3
    rank = (card >> 2) + 1
    note(s, kind, cell, card, s.up[suit], s.down[suit], graced)
    s.grace_used += graced
    if kind != DOWN:
        s.up[suit] = rank
    if kind != UP:
        s.down[suit] = rank
    s.n_placed += 1
    lift(s, cell, card)
    if rules.refill == AT_ONCE and s.drawn < rules.n_stock and is_filled_row(s, rules, cell // rules.columns):
        draw(s, cell)


@compiled
def can_fill(s: Any, rules: Any) -> bool:
    """Tell whether a fill is a step of its own, and there are a gap and a card for it."""
    if rules.refill == AT_ONCE or s.drawn >= rules.n_stock:
        return False
    cells0, cells1 = filled_cells(s, rules)
    return (cells0 & ~s.laid0) | (cells1 & ~s.laid1) != NONE


@compiled
def fill_gaps(s: Any, rules: Any) -> None:
    """Fill the gaps, oldest row first, left to right, while the stock lasts."""
    end = s.n_rows * rules.columns
    note(s, FILL, 0, 0, 0, 0, 0)
    for cell in range(0 if rules.fill != FILL_NEWEST else end - rules.columns, end):
        if s.grid[np.uint64(cell)] == GAP:
            if s.drawn >= rules.n_stock:
                return
            draw(s, cell)


@inlined
def can_open(s: Any, rules: Any) -> bool:
    """Tell whether the stock and `max_rows` allow a new row."""
    return s.drawn < rules.n_stock and (rules.max_rows == 0 or s.n_rows < rules.max_rows)


@compiled
def open_row(s: Any, rules: Any) -> None:
    """Open a new row; a short stock fills the leftmost columns."""
    note(s, ROW, 0, 0, 0, 0, 0)
    first = s.n_rows * rules.columns
    s.n_rows += 1
    for cell in range(first, min(first + rules.columns, first + rules.n_stock - s.drawn)):
        draw(s, cell)


@compiled
def make(s: Any, rules: Any, move: int) -> None:
    """Make a move."""
    kind = move & 7
    if kind <= START:
        place(s, rules, move)
    elif kind == FILL or (kind == STEP and can_fill(s, rules)):
        fill_gaps(s, rules)
    else:
        open_row(s, rules)


@compiled
def begin(s: Any, rules: Any) -> None:
    """Lay out row 1 of the deal in `stock`."""
    s.at[:] = NONE
    s.hidden[:] = 0
    s.in_stock = NONE
    s.grid[:] = GAP
    s.laid0 = NONE
    s.laid1 = NONE
    for i in range(rules.n_stock):
        s.hidden[s.stock[i]] += 1
        s.in_stock |= ONE << np.uint64(s.stock[i])
    for suit in range(4):
        s.up[suit] = 1
        s.down[suit] = rules.n_ranks if rules.decks == 2 else 0
    s.drawn = 0
    s.n_rows = 0
    s.n_placed = 0
    s.grace_used = 0
    s.best = 0
    s.nodes = 0
    s.depth = 0
    s.n_trail = 0
    s.n_frames = 0
    s.n_forgotten = 0
    s.clock = 0
    s.random = np.uint64(0x9E3779B97F4A7C15)
    s.ends[:] = 0
    s.ended_at[:] = 0
    s.n_best_trail = 0
    open_row(s, rules)


@inlined
def begin_search(s: Any, table: Any, rules: Any) -> None:
    """Lay out row 1, and forget what the table holds of other deals."""
    s.generation = (s.generation + 1) & 0xFFFF
    if s.generation == 0:
        table[:] = NONE
        s.generation = 1
    begin(s, rules)


@inlined
def count_end(s: Any, end: int) -> None:
    """Count where and how a way ended."""
    s.ends[end] += 1
    s.ended_at[s.n_placed] += 1


@inlined
def keep_furthest(s: Any) -> None:
    """Keep the way to the position that is reached if it is the furthest one."""
    if s.n_placed > s.best or (s.n_placed == s.best and s.n_trail > s.n_best_trail):
        s.best = s.n_placed
        s.n_best_trail = s.n_trail
        for i in range(s.n_trail):
            s.best_trail[i] = s.trail[i]


@inlined
def note_arrival(s: Any, result: int) -> None:
    """Take note of the position that is reached, and of the end if it is one."""
    keep_furthest(s)
    if result not in (WON, CHOICE):
        count_end(s, result)


@inlined
def count_refills(s: Any, rules: Any) -> int:
    """Count the cards of a line that came into gaps."""
    n_refills = 0
    n_to_come = 0  # of the row opened last
    for i in range(s.n_trail):
        kind = np.int64(s.trail[i]) & 7
        if kind == ROW:
            n_to_come = rules.columns
        elif kind != DRAW:
            n_to_come = 0
        elif n_to_come > 0:
            n_to_come -= 1
        else:
            n_refills += 1
    return n_refills


@inlined
def write_row(s: Any, rules: Any, status: int, out: Any, k: int) -> None:
    """Write what the search found, in the order of `solver.COLUMNS`."""
    is_solved = status == SOLVED
    out[0, k] = status
    out[1, k] = 0 if status != UNKNOWN else NODE_LIMIT if s.n_forgotten == 0 else NODE_LIMIT_TABLE_FULL
    out[2, k] = s.nodes
    out[3, k] = s.depth
    out[4, k] = s.n_frames if is_solved else 0
    out[5, k] = rules.n_stock if is_solved else s.best
    out[6, k] = s.n_rows if is_solved else 0
    out[7, k] = count_refills(s, rules) if is_solved else 0


@compiled
def deal_stock(s: Any, rules: Any, seed: int, game: int) -> None:
    """Shuffle the stock of (seed, game)."""
    for i in range(rules.n_stock):
        s.stock[i] = rules.start[i]
    start_stream(s.stream, seed, game, DEAL, 0)
    shuffle_cards(s.stream, s.stock, rules.n_stock)


# ---------------------------------------------------------------------------------------------------------------- moves


@inlined
def set_free(s: Any, rules: Any) -> None:
    """Carry out `available`: find the laid cards that may be placed."""
    if rules.available == ALL:
        s.free0 = s.laid0
        s.free1 = s.laid1
        return
    newest = np.uint64(s.n_rows - 1)
    a0, a1 = moved_down(rules, ~s.laid0, ~s.laid1)
    a0 |= rules.row[0, 0] | rules.row[newest, 0]
    a1 |= rules.row[0, 1] | rules.row[newest, 1]
    if rules.available == ABOVE_OR_BELOW:
        b0, b1 = moved_up(rules, ~s.laid0, ~s.laid1)
        a0 |= b0
        a1 |= b1
    s.free0 = s.laid0 & a0
    s.free1 = s.laid1 & a1


@inlined
def is_met(s: Any, rules: Any, suit: int) -> bool:
    """Tell whether a suit's piles meet and their top cards may move to and fro.

    Under `transfer` the piles of a suit that hold each rank once may be made to meet anywhere, at any time and at no
    cost. So where they meet is no part of the position: any rank may be placed next, and afterwards both piles end in
    it, whichever it was placed on. This *starts* the suit's second half; before and after it no transfer is possible.
    The player is stuck if the piles can meet where neither of the two cards that then fit is available.
    """
    return rules.transfer != 0 and s.down[suit] == s.up[suit] + 1


@inlined
def add_placements(s: Any, kind: int, card: int, a0: int, a1: int, mark: int) -> int:
    """Add the placements of a card that lies in a set of cells; return their number."""
    i = np.uint64(2 * card)
    b0 = s.at[i] & a0
    b1 = s.at[i + ONE] & a1
    n = 0
    while b0 != NONE:
        s.moves[np.uint64(s.n_moves)] = kind | (lowest_one(b0) << 3) | mark
        s.n_moves += 1
        n += 1
        b0 &= b0 - ONE
    while b1 != NONE:
        s.moves[np.uint64(s.n_moves)] = kind | ((lowest_one(b1) + 64) << 3) | mark
        s.n_moves += 1
        n += 1
        b1 &= b1 - ONE
    return n


@compiled
def list_placements(s: Any, rules: Any) -> int:
    """List the placements of available cards; return how many of them have to be made before the player is stuck."""
    set_free(s, rules)
    s.n_moves = 0
    n_due = 0
    for suit in range(rules.n_suits):
        up = s.up[suit]
        down = s.down[suit]
        if is_met(s, rules, suit):
            for rank in range(1, rules.n_ranks + 1):
                add_placements(s, START, 4 * (rank - 1) + suit, s.free0, s.free1, 0)
            continue
        if up < rules.n_ranks:
            n_due += add_placements(s, UP, 4 * up + suit, s.free0, s.free1, 0)
        if down > 1 and not (rules.transfer and down == up + 2):  # one rank between: the same piles either way
            n_due += add_placements(s, DOWN, 4 * (down - 2) + suit, s.free0, s.free1, 0)
    return n_due


@inlined
def rank_is_free(s: Any, rank: int, suit: int) -> bool:
    """Tell whether a copy of a card is available, as `set_free` found."""
    i = np.uint64(2 * (4 * (rank - 1) + suit))
    return (s.at[i] & s.free0) | (s.at[i + ONE] & s.free1) != NONE


@compiled
def all_quiet(s: Any, rules: Any) -> bool:
    """Tell whether every suit whose piles meet can be made to meet where no available card fits."""
    if not rules.transfer:
        return True
    for suit in range(rules.n_suits):
        if is_met(s, rules, suit):
            quiet = False
            below = rank_is_free(s, 1, suit)
            for up in range(1, rules.n_ranks):
                above = rank_is_free(s, up + 1, suit)
                quiet |= not (below or above)
                below = above
            if not quiet:
                return False
    return True


@compiled
def list_graces(s: Any, rules: Any) -> None:
    """Add the grace placements: nothing else can be done, and every suit that is met is quiet."""
    a0 = ~s.free0
    a1 = ~s.free1
    for suit in range(rules.n_suits):
        up = s.up[suit]
        down = s.down[suit]
        if is_met(s, rules, suit):
            for rank in range(1, rules.n_ranks + 1):
                low = rank > 1 and not rank_is_free(s, rank - 1, suit)
                high = rank < rules.n_ranks and not rank_is_free(s, rank + 1, suit)
                if not rank_is_free(s, rank, suit) and (low or high):
                    add_placements(s, START, 4 * (rank - 1) + suit, a0, a1, GRACE_BIT)
            continue
        if up < rules.n_ranks:
            add_placements(s, UP, 4 * up + suit, a0, a1, GRACE_BIT)
        if down > 1 and not (rules.transfer and down == up + 2):
            add_placements(s, DOWN, 4 * (down - 2) + suit, a0, a1, GRACE_BIT)


# ----------------------------------------------------------------------------------------------------------- relaxation


@inlined
def _fit(s: Any, card: int, fit: Any) -> Any:
    """Let a card fit; return the cells that fit with its own added."""
    s.fitting |= ONE << np.uint64(card)
    i = np.uint64(2 * card)
    return fit[0] | s.at[i], fit[1] | s.at[i + ONE]


@inlined
def _is_seen(s: Any, card: int, open0: int, open1: int, seen: int) -> bool:
    """Tell whether a copy of a card is open or was seen."""
    i = np.uint64(2 * card)
    return (s.at[i] & open0) | (s.at[i + ONE] & open1) | ((seen >> np.uint64(card)) & ONE) != NONE


@inlined
def _is_wholly_open(s: Any, card: int, open0: int, open1: int) -> bool:
    """Tell whether no copy of a card lies closed."""
    i = np.uint64(2 * card)
    return (s.at[i] & ~open0) | (s.at[i + ONE] & ~open1) == NONE


@compiled
def relax(s: Any, rules: Any, always0: int, always1: int, stock_is_free: bool, draws: bool) -> bool:
    """Find which laid cards may be placed at all if nothing is ever used up; return whether all of them may.

    Every card may serve both roles of its rank, a card that is gone stays gone for its neighbours even where its place
    would be filled again, a pile is passed on by any copy seen, and a suit whose piles may come to meet under
    `transfer` takes any of its cards. The result is a *closure*: the order does not matter, and more cards open or
    seen never let fewer go.

    Claim: whatever happens from this position on, a card laid now is placed only if it is found here (its cell is in
    `gone`), and a pile gets no further than `reach`, provided that `always` holds the cells of row 1 and every cell
    that may be available while its neighbours lie there, and that the stock is covered: by `stock_is_free` (its cards
    are all seen), by `draws` (one for each gap that waits and for each card found gone in a row that is filled, in the
    stock's order, cards drawn included), or because no card is taken from it in the time that is meant.

    Proof, by induction over the placements of a real line. A card is placed when its cell is in `always`, or the
    neighbour above (or below) is a gap: already now, or because the card laid there now was placed before, so is gone
    here; or by grace. So it is open here. Its role needs the ranks before it on that pile, each served by a card placed
    before, which was open or seen here; so the pile passes them here, and the card fits. A card comes from the stock
    for a gap, which waits now or was made by a card placed before. A grace makes one card go that is not open: here,
    when nothing else goes, all that fit do at once.

    With ``start_rank`` a suit that has no rank twice is supposed to begin its second half with that rank. Then its
    second copies are placed from that rank outwards, one rank after another, none before every rank was placed once;
    and a second copy is placed when the first one has been too, so both were open. The claim holds for lines that
    begin so.
    """
    n_ranks = rules.n_ranks
    s.fitting = NONE
    fit = (NONE, NONE)
    seen = s.in_stock if stock_is_free else NONE
    begun = 0
    for suit in range(rules.n_suits):
        s.reach_up[suit] = s.up[suit]
        s.reach_down[suit] = s.down[suit]
        if s.start_rank[suit] > 0 and is_met(s, rules, suit):
            continue
        if s.up[suit] < n_ranks:
            fit = _fit(s, 4 * s.up[suit] + suit, fit)
        if s.down[suit] > 1:
            fit = _fit(s, 4 * (s.down[suit] - 2) + suit, fit)
    a0, a1 = moved_down(rules, ~s.laid0, ~s.laid1)
    open0 = s.laid0 & (a0 | always0)
    open1 = s.laid1 & (a1 | always1)
    if rules.available == ABOVE_OR_BELOW:
        a0, a1 = moved_up(rules, ~s.laid0, ~s.laid1)
        open0 |= s.laid0 & a0
        open1 |= s.laid1 & a1
    gone0 = NONE
    gone1 = NONE
    graces = rules.grace - s.grace_used if stock_is_free else 0
    filled0, filled1 = filled_cells(s, rules)
    reach_drawn = s.drawn
    counted0 = NONE  # cards drawn that have been counted as gone, by their place in the stock
    counted1 = NONE
    n_draws = 0
    if draws:
        n_draws = count_ones(filled0 & ~s.laid0) + count_ones(filled1 & ~s.laid1)
    while True:
        changed = False
        for suit in range(rules.n_suits):
            start = s.start_rank[suit]
            while not (start > 0 and s.reach_up[suit] >= s.reach_down[suit] - 1):
                card = 4 * s.reach_up[suit] + suit
                if s.reach_up[suit] == n_ranks or not _is_seen(s, card, open0, open1, seen):
                    break
                s.reach_up[suit] += 1
                changed = True
                if s.reach_up[suit] < n_ranks:
                    fit = _fit(s, card + 4, fit)
            while not (start > 0 and s.reach_up[suit] >= s.reach_down[suit] - 1):
                card = 4 * (s.reach_down[suit] - 2) + suit
                if s.reach_down[suit] <= 1 or not _is_seen(s, card, open0, open1, seen):
                    break
                s.reach_down[suit] -= 1
                changed = True
                if s.reach_down[suit] > 1:
                    fit = _fit(s, card - 4, fit)
            if (
                (rules.transfer or start > 0)
                and s.up[suit] < s.down[suit]
                and s.reach_up[suit] >= s.reach_down[suit] - 1
                and not (begun >> suit) & 1
            ):
                begun |= 1 << suit
                changed = True
                if start > 0:
                    s.low[suit] = start
                    s.high[suit] = start
                    fit = _fit(s, 4 * (start - 1) + suit, fit)
                else:
                    for rank in range(n_ranks):
                        fit = _fit(s, 4 * rank + suit, fit)
            if start > 0 and (begun >> suit) & 1:
                while s.high[suit] <= n_ranks and _is_wholly_open(s, 4 * (s.high[suit] - 1) + suit, open0, open1):
                    s.high[suit] += 1
                    changed = True
                    if s.high[suit] <= n_ranks:
                        fit = _fit(s, 4 * (s.high[suit] - 1) + suit, fit)
                while s.low[suit] >= 1 and _is_wholly_open(s, 4 * (s.low[suit] - 1) + suit, open0, open1):
                    s.low[suit] -= 1
                    changed = True
                    if s.low[suit] >= 1:
                        fit = _fit(s, 4 * (s.low[suit] - 1) + suit, fit)
        new0 = open0 & fit[0] & ~gone0
        new1 = open1 & fit[1] & ~gone1
        if draws:
            n_draws += count_ones(new0 & filled0) + count_ones(new1 & filled1)
            for i in range(s.drawn, reach_drawn):
                a0, a1 = cell_bits(i)
                if (counted0 & a0) | (counted1 & a1) == NONE:
                    if (s.fitting >> np.uint64(s.stock[np.uint64(i)])) & ONE:
                        counted0 |= a0
                        counted1 |= a1
                        n_draws += 1
            while reach_drawn < min(rules.n_stock, s.drawn + n_draws):
                seen |= ONE << np.uint64(s.stock[np.uint64(reach_drawn)])
                reach_drawn += 1
                changed = True
        if new0 | new1 == NONE and not changed and graces > 0:
            graces -= 1
            new0 = s.laid0 & fit[0] & ~gone0
            new1 = s.laid1 & fit[1] & ~gone1
            open0 |= new0
            open1 |= new1
        if new0 | new1 != NONE:
            changed = True
            gone0 |= new0
            gone1 |= new1
            a0, a1 = moved_down(rules, new0, new1)
            open0 |= s.laid0 & a0
            open1 |= s.laid1 & a1
            if rules.available == ABOVE_OR_BELOW:
                a0, a1 = moved_up(rules, new0, new1)
                open0 |= s.laid0 & a0
                open1 |= s.laid1 & a1
        if not changed:
            break
    s.gone0 = gone0
    s.gone1 = gone1
    s.open0 = open0
    s.open1 = open1
    s.reach_drawn = reach_drawn
    return gone0 == s.laid0 and gone1 == s.laid1


@inlined
def always_open(s: Any, rules: Any) -> tuple[int, int]:
    """Return the cells that are available whatever their neighbours are: row 1 and the newest row, or all."""
    if rules.available == ALL:
        return ~NONE, ~NONE
    newest = np.uint64(s.n_rows - 1)
    return rules.row[0, 0] | rules.row[newest, 0], rules.row[0, 1] | rules.row[newest, 1]


@inlined
def freezes(s: Any, rules: Any) -> bool:
    """Tell whether a new row will open if the stock outlasts this one, and block cards of the newest row."""
    return (
        rules.available == ABOVE
        and s.n_rows > 1
        and rules.deal == 0
        and s.drawn < rules.n_stock
        and (rules.max_rows == 0 or s.n_rows < rules.max_rows)
    )


@compiled
def is_dead(s: Any, rules: Any) -> bool:
    """Tell whether the laid cards can be shown never to go all.

    By the claim of `relax`, with every card of the stock free from now on, a card not found there is never placed, and
    the game cannot be won.

    LOOK_AHEAD: the newest row's cards count as always available only if they may be placed before the next row opens.
    They are found by a first relaxation, of that time alone, in which every gap draws a card. Unless it may use up the
    stock, the next row does open (nobody wins with cards in the stock), and cards still lying there are blocked from
    then on like all others: until the card above goes.

    START_RANKS: in a won game each suit's second half begins somewhere. If the relaxation fails for every rank it could
    begin with, the game is lost. Under `transfer` this is what a suit whose piles (may) meet must be measured by, as
    any of its cards fits there; otherwise it pays in long searches only.
    """
    always0, always1 = always_open(s, rules)
    if rules.shortcuts & LOOK_AHEAD and freezes(s, rules):
        relax(s, rules, always0, always1, np.bool_(False), np.bool_(True))
        if s.reach_drawn < rules.n_stock:
            newest = np.uint64(s.n_rows - 1)
            always0 = rules.row[0, 0] | (rules.row[newest, 0] & s.gone0)
            always1 = rules.row[0, 1] | (rules.row[newest, 1] & s.gone1)
    if not relax(s, rules, always0, always1, np.bool_(True), np.bool_(False)):
        return True
    if rules.shortcuts & START_RANKS and (rules.transfer or s.nodes >= rules.probes_from):
        for suit in range(rules.n_suits):
            if s.up[suit] < s.down[suit] - 1 or is_met(s, rules, suit):
                may_begin = False
                for rank in range(1, rules.n_ranks + 1):
                    s.start_rank[suit] = rank
                    if relax(s, rules, always0, always1, np.bool_(True), np.bool_(False)):
                        may_begin = True
                        break
                s.start_rank[suit] = 0
                if not may_begin:
                    return True
    return False


@inlined
def is_closed(s: Any, rules: Any, card: int, kind: int) -> bool:
    """Tell whether the placements of a card that are possible now are all there can be in this phase.

    `relax` has been made for the phase. A card with one open role has one copy left. Otherwise neither may the other
    pile come to want the rank, nor a copy become available: by the claim of `relax` it would be open there, or drawn.
    """
    suit = card & 3
    rank = (card >> 2) + 1
    if rank <= s.up[suit] or rank >= s.down[suit]:
        return True
    if s.up[suit] + 1 != s.down[suit] - 1:
        if kind == UP and s.reach_down[suit] - 1 <= rank:
            return False
        if kind == DOWN and s.reach_up[suit] + 1 >= rank:
            return False
    i = np.uint64(2 * card)
    if (s.at[i] & s.open0 & ~s.free0) | (s.at[i + ONE] & s.open1 & ~s.free1) != NONE:
        return False
    for k in range(s.drawn, s.reach_drawn):
        if s.stock[np.uint64(k)] == card:
            return False
    return True
