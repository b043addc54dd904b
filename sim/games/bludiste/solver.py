"""Bludiště's solver: decides, knowing the whole stock, whether a deal can be won.

Depth first, with limits that are counted, never timed. ``solved`` carries its moves, ``unsolvable`` means that the tree
was exhausted, ``unknown`` that the limit of nodes was reached. A *node* is a position with more than one move to try
after every shortcut. Shortcuts are bits of the folded rules; each is proved where it is made, and without any of them
the verdicts are the same:

FORCED
    `keep_closed`, `place_freely`: placements that would only be made in another order are not.
DEAD, LOOK_AHEAD, START_RANKS
    `solving.is_dead`: positions are cut in which the laid cards can never all go.
TABLE
    `visit`: each position is searched once. Whole positions are kept and compared. Twins are one card in them, so
    positions that differ by an exchange of twins are one; and where the piles of a suit meet is no part of them under
    `transfer`.
DEFER
    `drop_starts`: under `transfer` a suit's second half is not begun where that can wait.
LEARN
    `learning`: another search for `refill = at_once`.

A forgetting table loses time but no verdict: every move puts a card on a foundation or takes one from the stock, so no
line comes back to a position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.games.bludiste.learning import decide_learning
from sim.games.bludiste.solving import (
    ALL,
    ALL_SHORTCUTS,
    AT_ONCE,
    CHOICE,
    DEAD,
    DEAD_END,
    DEFER,
    DOWN,
    FILL,
    FORCED,
    GAP,
    GENERATION,
    GRACE_BIT,
    HOPELESS,
    KNOWN,
    NONE,
    ONE,
    ROW,
    SOLVED,
    SOLVER_DTYPE,
    START,
    STEP,
    TABLE,
    UNKNOWN,
    UNSOLVABLE,
    UP,
    WON,
    add_placements,
    all_quiet,
    always_open,
    begin_search,
    can_fill,
    can_open,
    count_end,
    deal_stock,
    fold,
    is_closed,
    is_dead,
    is_filled_row,
    is_met,
    list_graces,
    list_placements,
    make,
    note_arrival,
    place,
    rank_is_free,
    relax,
    set_free,
    undo_to,
    write_row,
)
from sim.games.bludiste.state import LIMITS, STATUS
from sim.jit import compiled, inlined

__all__ = [
    "ALL_SHORTCUTS",
    "COLUMNS",
    "LIMITS",
    "STATUS",
    "fold",
    "new_solver",
    "solve_block",
    "solve_deal",
    "solve_game",
]

COLUMNS = ("status", "limit", "nodes", "depth", "choice_points", "placed", "rows", "refilled")

N_PROBES = 8


@inlined
def keep_closed(s: Any, rules: Any) -> None:
    """Keep the placements of one card only, if there is a card for which that loses nothing.

    Under ``deal = when_stuck`` let x be a card that fits and is available, let T be the placements of x that are
    possible now, and let no others become possible before cards are taken from the stock next (under `at_once`: before
    the next row); x is *closed* then (`solving.is_closed`). None of T may draw a card. In every line some member of T
    comes in this phase, since the player is not stuck before: a copy of x stays available and its pile wants x until
    then. The first one that comes can be moved to the front: it is possible now; what was placed before it stays
    possible, for more gaps only make more cards available, and none of it was x or waited for x; and the same cards
    are gone afterwards, from the same cells, with the same cards drawn into the same gaps. So it is enough to try T.

    A card with one open role has one copy, so it is closed at once. Starts of second halves are not looked at: they
    need not be made. The closed card with fewest placements is taken.
    """
    n = s.n_moves
    relaxed = False
    kept = -1
    n_kept = 99
    for i in range(n):
        move = np.int64(s.moves[np.uint64(i)])
        if move & 7 == START:
            continue
        cell = (move >> 3) & 255
        card = np.int64(s.grid[np.uint64(cell)])
        n_same = 0
        draws = False
        for j in range(n):
            other = (np.int64(s.moves[np.uint64(j)]) >> 3) & 255
            if s.grid[np.uint64(other)] == card:
                n_same += 1
                draws |= is_filled_row(s, rules, other // rules.columns)
        draws &= s.drawn < rules.n_stock
        if n_same >= n_kept or (draws and rules.refill == AT_ONCE):
            continue
        rank = (card >> 2) + 1
        one_role = rank <= s.up[card & 3] or rank >= s.down[card & 3]
        if not one_role:
            if not relaxed:
                always0, always1 = always_open(s, rules)
                relax(s, rules, always0, always1, np.bool_(False), rules.refill == AT_ONCE)
                relaxed = True
            if not is_closed(s, rules, card, move & 7):
                continue
        kept = card
        n_kept = n_same
        if n_kept == 1:
            break
    if kept < 0:
        return
    k = 0
    for i in range(n):
        move = np.int64(s.moves[np.uint64(i)])
        if s.grid[np.uint64((move >> 3) & 255)] == kept:
            s.moves[np.uint64(k)] = move
            k += 1
    s.n_moves = k


EXPOSES, LEAVES = 1, 2


@inlined
def stays_free(s: Any, rules: Any, cell: int) -> bool:
    """Tell whether an available cell stays so, whatever is filled or opened."""
    if rules.available == ALL or cell < rules.columns:
        return True
    above = cell - rules.columns
    return s.grid[np.uint64(above)] == GAP and not is_filled_row(s, rules, above // rules.columns)


@inlined
def try_start(s: Any, rules: Any, move: int) -> int:
    """Make a start and all the suit's placements that follow from it, look what that does, and take it all back.

    Returns
    -------
    EXPOSES if a card of another suit that is available now, and was not, fits; LEAVES if a card was placed that the
    next fill or new row would make unavailable, or whose gap would be filled then.
    """
    n_trail = s.n_trail
    suit = np.int64(s.grid[np.uint64((move >> 3) & 255)]) & 3
    free0 = s.free0
    free1 = s.free1
    result = 0
    while True:
        cell = (move >> 3) & 255
        if is_filled_row(s, rules, cell // rules.columns) or not stays_free(s, rules, cell):
            result |= LEAVES
        place(s, rules, move)
        s.n_moves = 0
        set_free(s, rules)
        n = 0
        if s.up[suit] < rules.n_ranks:
            n += add_placements(s, UP, 4 * s.up[suit] + suit, s.free0, s.free1, 0)
        if s.down[suit] > 1:
            n += add_placements(s, DOWN, 4 * (s.down[suit] - 2) + suit, s.free0, s.free1, 0)
        if n == 0:
            break
        move = np.int64(s.moves[0])
    new0 = s.free0 & ~free0
    new1 = s.free1 & ~free1
    for other in range(rules.n_suits):
        if other != suit:
            met = is_met(s, rules, other)
            for rank in range(1, rules.n_ranks + 1):
                i = np.uint64(2 * (4 * (rank - 1) + other))
                if met or rank == s.up[other] + 1 or rank == s.down[other] - 1:
                    if (s.at[i] & new0) | (s.at[i + ONE] & new1) != NONE:
                        result |= EXPOSES
    undo_to(s, n_trail)
    s.free0 = free0
    s.free1 = free1
    return result


@compiled
def drop_starts(s: Any, rules: Any, may_step: bool, n_due: int) -> None:
    """Drop starts of second halves that can as well come later, or that come to the same as others.

    Under `transfer`, ``refill = when_stuck`` and ``deal = when_stuck``. A start lets the cards of its suit next to it
    follow while they are available; they have one role and must be placed in this phase, whatever else is done. Of
    available ranks in sequence any one makes the others follow, so only the lowest is tried.

    Let a start expose nothing: no card of another suit that fits now has become available by it and what follows.

    - While other cards have to be placed, a line that begins with this start goes on with one of them sooner or later
      in this phase, or with another start. That move is possible now and can be made first; so the start need not be
      tried first. (If it needs what the start exposed, it did not fit when it was exposed, and some other move came
      before it.)
    - When a fill or new row may be made instead (all suits are quiet), the start can be made after it as well, if the
      cards that follow it stay available then and leave no gaps to fill: the same gaps are filled and the same row
      comes, and new cards of the suit can follow either way. So it is not tried now, but among the moves after that
      step.
    """
    if rules.refill == AT_ONCE:
        return
    n = s.n_moves
    saved = s.moves[128:]
    for i in range(n):
        saved[i] = s.moves[i]
    k = 128
    for i in range(n):
        move = np.int64(saved[i])
        if move & 7 == START and not move & GRACE_BIT:
            card = np.int64(s.grid[np.uint64((move >> 3) & 255)])
            if card >= 4 and rank_is_free(s, card >> 2, card & 3):
                continue  # the rank before it is available too
            if n_due > 0 or may_step:
                result = try_start(s, rules, move)
                if result == 0 or (n_due > 0 and not result & EXPOSES):
                    continue
        saved[k] = move
        k += 1
    for i in range(128, k):
        s.moves[i - 128] = saved[i]
    s.n_moves = k - 128


# --------------------------------------------------------------------------------------------------------------- table


@inlined
def write_key(s: Any, rules: Any) -> None:
    """Write the whole position into `key`."""
    word = NONE
    for suit in range(4):
        up = s.up[suit]
        down = s.down[suit]
        if is_met(s, rules, suit):
            up = 0
            down = 1
        word = (word << np.uint64(8)) | np.uint64(up << 4) | np.uint64(down)
    word = (word << np.uint64(16)) | np.uint64(s.generation)
    word = (word << np.uint64(7)) | np.uint64(s.n_rows)
    word = (word << np.uint64(2)) | np.uint64(s.grace_used)
    s.key[0] = (word << np.uint64(7)) | np.uint64(s.drawn)
    k = 1
    end = s.n_rows * rules.columns
    for first in range(0, end, 10):
        word = NONE
        for cell in range(first, min(first + 10, end)):
            word = (word << np.uint64(6)) | np.uint64(s.grid[np.uint64(cell)])
        s.key[np.uint64(k)] = word
        k += 1
    while k < rules.n_words:
        s.key[np.uint64(k)] = NONE
        k += 1


@inlined
def visit(s: Any, rules: Any, table: Any) -> bool:
    """Enter the position into the table; return whether it was there.

    A position that was entered has been searched in vain, or it would be on the way to this one, which no line comes
    back to. Of eight places in a row one is used up again when all are taken.
    """
    write_key(s, rules)
    n = np.uint64(rules.n_words)
    h = (s.key[0] & ~GENERATION) * np.uint64(0x9E3779B97F4A7C15)  # whatever was solved before with this table
    for i in range(1, rules.n_words):
        h = (h ^ s.key[np.uint64(i)]) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    h ^= h >> np.uint64(32)
    n_entries = np.uint64(table.size) // n
    first = h % n_entries
    slot = first
    target = NONE
    found = False
    for _ in range(N_PROBES):
        at = slot * n
        if (table[at] >> np.uint64(16)) & np.uint64(0xFFFF) != np.uint64(s.generation):
            target = at
            found = True
            break
        same = True
        for i in range(n):
            if table[at + np.uint64(i)] != s.key[np.uint64(i)]:
                same = False
                break
        if same:
            return True
        slot += ONE
        if slot == n_entries:
            slot = NONE
    if not found:
        s.n_forgotten += 1
        s.clock = (s.clock + 1) % N_PROBES
        target = ((first + np.uint64(s.clock)) % n_entries) * n
    for i in range(n):
        table[target + np.uint64(i)] = s.key[np.uint64(i)]
    return False


# -------------------------------------------------------------------------------------------------------------- search


@inlined
def settle(s: Any, rules: Any) -> int:
    """Make every move that is no choice; then list the moves to try."""
    while True:
        if s.n_placed == rules.n_stock:
            return WON
        n_due = list_placements(s, rules)
        if rules.deal != 0:
            if rules.shortcuts & FORCED and place_freely(s, rules):
                continue
            fills = can_fill(s, rules)
            opens = can_open(s, rules)
            if fills:
                add_move(s, FILL)
            if opens:
                add_move(s, ROW)
            if n_due == 0 and not fills and not opens and s.grace_used < rules.grace and all_quiet(s, rules):
                list_graces(s, rules)
        elif n_due == 0:
            if s.n_moves == 0 or all_quiet(s, rules):
                steps = can_fill(s, rules) or can_open(s, rules)
                if steps and s.n_moves == 0:
                    fills = can_fill(s, rules)
                    make(s, rules, STEP)
                    if not fills and rules.shortcuts & DEAD and is_dead(s, rules):
                        return HOPELESS
                    continue
                if steps:
                    add_move(s, STEP)
                elif s.grace_used < rules.grace:
                    list_graces(s, rules)
            if rules.transfer and s.n_moves > 1 and rules.shortcuts & DEFER:
                drop_starts(s, rules, np.int64(s.moves[s.n_moves - 1]) & 7 == STEP, np.int64(0))
        elif s.n_moves > 1:
            if rules.shortcuts & FORCED:
                keep_closed(s, rules)
            if rules.transfer and s.n_moves > 1 and rules.shortcuts & DEFER:
                drop_starts(s, rules, np.bool_(False), n_due)
        if s.n_moves == 0:
            return DEAD_END
        if s.n_moves > 1:
            return CHOICE
        make(s, rules, np.int64(s.moves[0]))


@inlined
def add_move(s: Any, kind: int) -> None:
    """Add a step to the moves."""
    s.moves[np.uint64(s.n_moves)] = kind
    s.n_moves += 1


@inlined
def place_freely(s: Any, rules: Any) -> bool:
    """Make a placement that is always safe under ``deal = any_time``, if there is one; tell whether there was.

    Let a card have one open role, hence one copy, and lie where gaps are not filled any more. It comes to the same
    pile in every winning line. Placed now instead, it leaves a gap that is never filled and only makes more cards
    available; the other moves of the line stay possible, draw the same cards into the same cells, and nobody has to
    wait to be stuck. (But for a grace, which more available cards may forbid.)
    """
    if s.grace_used < rules.grace:
        return False
    for i in range(s.n_moves):
        move = np.int64(s.moves[np.uint64(i)])
        cell = (move >> 3) & 255
        card = np.int64(s.grid[np.uint64(cell)])
        rank = (card >> 2) + 1
        if (
            move & 7 != START
            and (rank <= s.up[card & 3] or rank >= s.down[card & 3])
            and (s.drawn >= rules.n_stock or not is_filled_row(s, rules, cell // rules.columns))
        ):
            place(s, rules, move)
            return True
    return False


@inlined
def search(s: Any, table: Any, rules: Any, node_limit: int) -> int:
    """Decide the deal in `stock`, depth first."""
    begin_search(s, table, rules)
    entering = True
    n_stack = 0
    while True:
        if entering:
            entering = False
            result = settle(s, rules)
            note_arrival(s, result)
            if result == WON:
                return SOLVED
            if result != CHOICE:
                continue
            if s.nodes >= node_limit:
                return UNKNOWN
            s.nodes += 1
            f = s.n_frames
            s.frame_trail[f] = s.n_trail
            s.frame_next[f] = n_stack
            for i in range(s.n_moves):
                s.stack[n_stack + i] = s.moves[i]
            if rules.shortcuts & TABLE and visit(s, rules, table):
                count_end(s, KNOWN)
                continue
            if rules.shortcuts & DEAD and is_dead(s, rules):
                count_end(s, HOPELESS)
                continue
            n_stack += s.n_moves
            s.frame_end[f] = n_stack
            s.n_frames = f + 1
            s.depth = max(s.depth, f + 1)
        else:
            if s.n_frames == 0:
                return UNSOLVABLE
            f = s.n_frames - 1
            undo_to(s, s.frame_trail[f])
            i = s.frame_next[f]
            if i == s.frame_end[f]:
                s.n_frames = f
                n_stack = np.int64(s.frame_end[f - 1]) if f else 0
                continue
            s.frame_next[f] = i + 1
            make(s, rules, np.int64(s.stack[i]))
            entering = True


@compiled
def decide(
    s: Any, table: Any, rules: Any, seed: int, first: int, n_games: int, is_seeded: bool, node_limit: int, out: Any
) -> None:
    """Decide seeded deals, or the one in `stock`, and write their rows."""
    for k in range(n_games):
        if is_seeded:
            deal_stock(s, rules, seed, first + np.uint64(k))
        write_row(s, rules, search(s, table, rules, node_limit), out, k)


def new_solver(table_size_log2: int = 22) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return what one thread needs: a record, shape (1,), and the table, 2**table_size_log2 words of 8 bytes."""
    return np.zeros(1, SOLVER_DTYPE), np.zeros(1 << table_size_log2, np.uint64)


def solve_block(
    scratch: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]],
    rules: np.ndarray[Any, Any],
    seed: int,
    first: int,
    n_games: int,
    node_limit: int,
) -> list[np.ndarray[Any, Any]]:
    """Decide the games first … first + n_games - 1.

    Returns
    -------
    The columns of `COLUMNS`, int64, shape (n_games,): ``status`` (a place in `STATUS`), ``limit`` (in `LIMITS`),
    ``nodes``, ``depth`` (most nodes on one way), ``choice_points`` (nodes on the way to the win; 0 if there is none),
    ``placed`` (the most seen; all if solved), ``rows`` and ``refilled`` (of the line that wins; 0 if there is none).
    """
    record, table = scratch
    out = np.zeros((len(COLUMNS), n_games), np.int64)
    run = decide_learning if rules[0]["learns"] else decide
    run(record[0], table, rules[0], np.uint64(seed), np.uint64(first), n_games, True, node_limit, out)
    return list(out)


def solve_deal(
    scratch: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]],
    rules: np.ndarray[Any, Any],
    stock: Sequence[int] | np.ndarray[Any, Any],
    node_limit: int,
) -> tuple[dict[str, int], np.ndarray[Any, Any] | None]:
    """Decide one deal.

    Parameters
    ----------
    stock
        Card numbers, top first, as many of each card as the rules say.

    Returns
    -------
    The row by the names of `COLUMNS`, and the line that wins (for `as_moves`), if there is one.
    """
    record, table = scratch
    out = np.zeros((len(COLUMNS), 1), np.int64)
    record[0]["stock"][: len(stock)] = stock
    run = decide_learning if rules[0]["learns"] else decide
    run(record[0], table, rules[0], np.uint64(0), np.uint64(0), 1, False, node_limit, out)
    line = record[0]["trail"][: int(record[0]["n_trail"])].copy() if out[0, 0] == SOLVED else None
    return dict(zip(COLUMNS, out[:, 0].tolist(), strict=True)), line


def solve_game(
    scratch: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]],
    rules: np.ndarray[Any, Any],
    seed: int,
    game: int,
    node_limit: int,
) -> tuple[dict[str, int], np.ndarray[Any, Any] | None]:
    """Decide the deal of (seed, game); return what `solve_deal` does."""
    deal_stock(scratch[0][0], rules[0], np.uint64(seed), np.uint64(game))
    stock = scratch[0][0]["stock"][: int(rules[0]["n_stock"])].copy()
    return solve_deal(scratch, rules, stock, node_limit)
