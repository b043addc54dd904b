"""The search for ``refill = at_once``, which learns from its refutations.

Every placement from the newest row draws a card into its place, so nearly every order of placements leads to a position
of its own, and a table of positions hardly ever finds one again. But most refutations look at few places only. So with
each refuted position its *reason* is kept: cells whose card matters (EXACT), cells of which only matters that no active
card lies there (CLASS), and the active cards. It is meant for ``fill = newest``, ``available = above``, ``deal =
when_stuck``, without `transfer` and `grace`: gaps of older rows stay gaps, and a card is available in row 1, in the
newest row and below a gap. Such games stand still while the stock lasts but for the newest row, which is always full.

Resemblance
    A position Q *resembles* a position P under a reason if the stock, the number of rows and the foundations are the
    same, the same cells outside the newest row hold a card, the newest row holds the same cards in whatever order,
    every EXACT cell holds the same card, and every CLASS cell holds the same card or in both an inactive one. (An
    active card in a CLASS cell is as good as EXACT.) As foundations and stock agree, the laid cards are the same ones
    altogether.

Theorem
    If P was refuted with a reason, every Q that resembles P is lost. The table keeps refuted positions with their
    reasons and cuts what resembles one of them; all that resemblance names is kept and compared.

Proof, by induction over the refutation, which ends in one of these ways:

- *The laid cards can never all go* (`certify`). In P a relaxation stops with piles that do not get on. Each copy of the
  card such a pile wants lies below a card, in an unbroken column, that is stuck: it fits neither of its piles' reach,
  and those of them that still lack its rank are stopped themselves. These cells are EXACT. In Q take the first
  placement that brings a stopped pile past its reach: its card lies below a stuck one, which therefore was placed
  before, on a pile that was past its reach before: a contradiction. (`freezes`: copies may also lie in the newest row
  if they cannot be placed before the next one opens; that is found by a relaxation in which every laid card is
  available, so it depends on nothing but what resemblance fixes.)
- *No placement, no row* or *all placements lose* (`look_at_moves`). The cells of all available cards outside the newest
  row are CLASS and the wanted cards active, so Q has the same placements there, and the same cards to place in the
  newest row. Each child of Q resembles a child of P under its reason, which is part of P's: the same cell was emptied
  outside the newest row; or a card was placed from the newest row, from one column in P and another in Q, neither of
  them pinned by the reason (if Q's is, P has the same card there, and that child of P is taken; if P's is, choose
  another copy: outside the pinned cells both rows hold the same cards), and the card drawn comes to these columns.
  When the stock is used up a gap comes there instead; then the order of the newest row does not matter any more, as
  nothing will lie below it.
- *A new row*. Its cards come from the stock and lie in the same cells; they are left out of the reason (NEW).
- *A placement is made without trying others* (`settle`, and F_ONLY in `order_moves`): it is closed and draws nothing,
  see `solver.keep_closed`. Its cells are EXACT. That it is closed depends on what the relaxation of the phase found
  open; unless that is so even with every laid card available, these cells (EXACT where cards went, CLASS where they
  stayed) and the cards that fitted are part of the reason.
- *A closed card that draws* (`after_child`). Let all placements of a closed card x be refuted, with reasons none of
  which pins a cell of the newest row whose card may be placed in this phase. Then the position is lost, whatever else
  could be played. Take any line; it plays m1 … mk and then x (some placement of it must come before the next row).
  Played first, x would lead to a position from which m1 … mk leads to the same cards laid, with the newest row in
  another order L'. Go back from L, where the line really led, taking back mk, …, m1 as if x had been played before:
  each goes to the column where the card lies that was drawn for it. That gives a position which differs from the one
  after x only in the order of cards that the reason does not pin, so it resembles it and is lost; and L can be reached
  from it.

Restarts
    After a number of positions the search begins anew, with other random orders; the table stays. No verdict depends on
    the order, wins are found sooner, and proofs lose little. The random numbers are the same for every deal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.bludiste.solving import (
    CHOICE,
    DEAD,
    DEAD_END,
    FORCED,
    GAP,
    GENERATION,
    HOPELESS,
    KNOWN,
    LOOK_AHEAD,
    NONE,
    ONE,
    SOLVED,
    TABLE,
    UNKNOWN,
    UNSOLVABLE,
    WON,
    always_open,
    begin_search,
    can_open,
    cell_bits,
    count_end,
    deal_stock,
    freezes,
    has_cell,
    is_closed,
    list_placements,
    moved_down,
    note_arrival,
    open_row,
    place,
    relax,
    undo_to,
    write_row,
)
from sim.jit import compiled, inlined
from sim.rng import lowest_one

N_WAYS = 16  # entries of the table that a position may take
FIRST_PASS = 2000  # positions before the first restart; each later pass is 200 longer

# The words of a reason, and after them the cells of rows opened since the position it is for.
EXACT, CLASS, ACTIVE = 0, 2, 4
NEW = 5
N_REASON = 5

# The words of a frame: the reasons of the way to its position (with NEW), of all moves tried, of those of one closed
# card; cells of the newest row whose card may be placed in this phase, as things lie and if every card were available;
# what the relaxation of the phase looked at; the cells of the only card tried; which rule is used; whether the phase is
# part of the reason.
F_PATH, F_NEW, F_ALL, F_GROUP = 0, 5, 7, 12
F_TOUCH, F_TOUCH_FREE, F_PHASE, F_ONLY = 17, 19, 21, 26
F_RULE, F_NEEDS_PHASE = 28, 29
RULE_NONE, RULE_GROUPS, RULE_ONLY = np.uint64(0), np.uint64(1), np.uint64(2)

# Marks of moves: closed as things lie; closed if every card were available; the last of its card.
CLOSED, CLOSED_FREE, LAST = 1 << 26, 1 << 27, 1 << 28


@inlined
def newest_row(s: Any, rules: Any) -> tuple[int, int]:
    """Return the cells of the newest row."""
    row = np.uint64(s.n_rows - 1)
    return rules.row[row, 0], rules.row[row, 1]


@inlined
def look_at(s: Any, at: int, a0: int, a1: int) -> None:
    """Add cells to the reason, but for those of rows opened since."""
    s.reason[at] |= a0 & ~s.reason[NEW]
    s.reason[at + 1] |= a1 & ~s.reason[NEW + 1]


@inlined
def wanted_cards(s: Any, rules: Any) -> int:
    """Return the cards that fit a foundation now."""
    wanted = NONE
    for suit in range(rules.n_suits):
        if s.up[suit] < rules.n_ranks:
            wanted |= ONE << np.uint64(4 * s.up[suit] + suit)
        if s.down[suit] > 1:
            wanted |= ONE << np.uint64(4 * (s.down[suit] - 2) + suit)
    return wanted


@inlined
def front_cells(s: Any, rules: Any) -> tuple[int, int]:
    """Return the available cards outside the newest row, as `set_free` would find them."""
    new0, new1 = newest_row(s, rules)
    a0, a1 = moved_down(rules, ~s.laid0, ~s.laid1)
    return s.laid0 & (a0 | rules.row[0, 0]) & ~new0, s.laid1 & (a1 | rules.row[0, 1]) & ~new1


@compiled
def look_at_moves(s: Any, rules: Any) -> None:
    """Add what decides which cards may be placed now."""
    a0, a1 = front_cells(s, rules)
    look_at(s, CLASS, a0, a1)
    s.reason[ACTIVE] |= wanted_cards(s, rules)


@inlined
def _fits_reach(s: Any, card: int) -> bool:
    """Tell whether the relaxation would let a card go if it were open."""
    suit = card & 3
    rank = (card >> 2) + 1
    return (rank > s.up[suit] and rank <= s.reach_up[suit] + 1) or (
        rank < s.down[suit] and rank >= s.reach_down[suit] - 1
    )


@compiled
def certify(s: Any, rules: Any) -> None:
    """Add the cells of a certificate that the laid cards can never all go; `relax` has just failed.

    From each stopped pile in turn: its card's copies, the cheapest stuck card above each, the stopped piles these wait
    for, and so on. The cheapest of these certificates is taken.
    """
    c = rules.columns
    least = 1 << 40
    best0 = NONE
    best1 = NONE
    for pile in range(2 * rules.n_suits):
        suit = pile >> 1
        if s.reach_down[suit] <= 1 if pile & 1 else s.reach_up[suit] >= rules.n_ranks:
            continue
        needed = 1 << pile
        done = 0
        cells0 = NONE
        cells1 = NONE
        cost = 0
        while needed & ~done:
            stopped = lowest_one(np.uint64(needed & ~done))
            done |= 1 << stopped
            suit = stopped >> 1
            card = 4 * (s.reach_down[suit] - 2) + suit if stopped & 1 else 4 * s.reach_up[suit] + suit
            for word in range(2):
                copies = s.at[2 * card + word]
                while copies != NONE:
                    cell = lowest_one(copies) + 64 * word
                    copies &= copies - ONE
                    # the cheapest card above that is stuck
                    blocker = -1
                    blocker_cost = 1 << 40
                    blocker_needs = 0
                    z = cell - c
                    while z >= 0 and s.grid[np.uint64(z)] != GAP:
                        stuck = np.int64(s.grid[np.uint64(z)])
                        if not has_cell(s.gone0, s.gone1, z) and not _fits_reach(s, stuck):
                            needs = 0
                            if (stuck >> 2) + 1 > s.up[stuck & 3]:
                                needs |= 1 << (2 * (stuck & 3))
                            if (stuck >> 2) + 1 < s.down[stuck & 3]:
                                needs |= 2 << (2 * (stuck & 3))
                            z_cost = 0 if has_cell(cells0, cells1, z) else cell_cost(s, rules, z)
                            extra = needs & ~needed
                            z_cost += 20 * ((extra & 1) + (extra >> 1 & 1) + (extra >> 2 & 1) + (extra >> 3 & 1))
                            z_cost += 20 * ((extra >> 4 & 1) + (extra >> 5 & 1) + (extra >> 6 & 1) + (extra >> 7 & 1))
                            if z_cost < blocker_cost:
                                blocker = z
                                blocker_cost = z_cost
                                blocker_needs = needs
                        z -= c
                    needed |= blocker_needs
                    for z in (cell, blocker):
                        if not has_cell(cells0, cells1, z):
                            cost += cell_cost(s, rules, z)
                            bit0, bit1 = cell_bits(z)
                            cells0 |= bit0
                            cells1 |= bit1
        if cost < least:
            least = cost
            best0 = cells0
            best1 = cells1
    look_at(s, EXACT, best0, best1)


@inlined
def cell_cost(s: Any, rules: Any, cell: int) -> int:
    """Return how much a cell narrows a reason: later rows differ more."""
    age = s.n_rows - 1 - cell // rules.columns
    return 1 + (64 >> min(age, 6))


@compiled
def is_refuted(s: Any, rules: Any) -> bool:
    """Tell whether the laid cards can be shown never to go all, and add why."""
    if not rules.shortcuts & DEAD:
        return False
    always0, always1 = always_open(s, rules)
    if not relax(s, rules, always0, always1, np.bool_(True), np.bool_(False)):
        certify(s, rules)
        return True
    if rules.shortcuts & LOOK_AHEAD and freezes(s, rules):
        relax(s, rules, ~NONE, ~NONE, np.bool_(False), np.bool_(True))
        if s.reach_drawn < rules.n_stock:
            new0, new1 = newest_row(s, rules)
            if not relax(
                s,
                rules,
                rules.row[0, 0] | (new0 & s.gone0),
                rules.row[0, 1] | (new1 & s.gone1),
                np.bool_(True),
                np.bool_(False),
            ):
                certify(s, rules)
                return True
    return False


@inlined
def settle(s: Any, rules: Any) -> int:
    """Make every move that is no choice, and start the reason with what that looked at."""
    s.reason[:] = NONE
    while True:
        if s.n_placed == rules.n_stock:
            return WON
        list_placements(s, rules)
        if s.n_moves == 0:
            look_at_moves(s, rules)
            if not can_open(s, rules):
                return DEAD_END
            s.reason[NEW] |= rules.row[s.n_rows, 0]
            s.reason[NEW + 1] |= rules.row[s.n_rows, 1]
            open_row(s, rules)
            if is_refuted(s, rules):
                return HOPELESS
            continue
        if s.n_moves == 1:
            look_at_moves(s, rules)
            place(s, rules, np.int64(s.moves[0]))
            continue
        if rules.shortcuts & FORCED:
            new0, new1 = newest_row(s, rules)
            if s.drawn >= rules.n_stock:
                new0 = NONE
                new1 = NONE
            found = -1
            for i in range(s.n_moves):
                move = np.int64(s.moves[i])
                cell = (move >> 3) & 255
                card = np.int64(s.grid[np.uint64(cell)])
                rank = (card >> 2) + 1
                if (rank <= s.up[card & 3] or rank >= s.down[card & 3]) and not has_cell(new0, new1, cell):
                    found = i
                    break
            if found >= 0:
                move = np.int64(s.moves[found])
                bit0, bit1 = cell_bits((move >> 3) & 255)
                new0, new1 = newest_row(s, rules)
                look_at(s, EXACT, bit0 & ~new0, bit1 & ~new1)
                place(s, rules, move)
                continue
        return CHOICE


@inlined
def random_below(s: Any, bound: int) -> int:
    """Return a number below a small bound; it only shuffles moves."""
    x = s.random
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    s.random = x
    return np.int64((x >> np.uint64(33)) % np.uint64(bound))


@inlined
def card_of(s: Any, move: int) -> int:
    """Return the card that a move places."""
    return np.int64(s.grid[np.uint64((move >> 3) & 255)])


@compiled
def mark_closed(s: Any, rules: Any, mark: int) -> None:
    """Mark the moves of cards that are closed by the relaxation just made; all moves of a card or none."""
    n = s.n_moves
    for i in range(n):
        move = np.int64(s.moves[i])
        card = card_of(s, move)
        closed = True
        for j in range(n):
            other = np.int64(s.moves[j])
            if card_of(s, other) == card and not is_closed(s, rules, card, other & 7):
                closed = False
        if closed:
            s.moves[i] = move | mark


@compiled
def keep_only(s: Any, rules: Any, frame: Any, mark: int, draw0: int, draw1: int) -> bool:
    """Keep only the moves of a card with a mark that draws nothing, if there is one."""
    n = s.n_moves
    for i in range(n):
        move = np.int64(s.moves[i])
        if not move & mark:
            continue
        card = card_of(s, move)
        k = np.uint64(2 * card)
        if (s.at[k] & draw0) | (s.at[k + ONE] & draw1) != NONE:
            continue
        new0, new1 = newest_row(s, rules)
        frame[F_ONLY] = s.at[k] & s.free0 & ~new0
        frame[F_ONLY + 1] = s.at[k + ONE] & s.free1 & ~new1
        frame[F_RULE] = RULE_ONLY
        frame[F_NEEDS_PHASE] = np.uint64(mark == CLOSED)
        n_kept = 0
        for j in range(n):
            other = np.int64(s.moves[j])
            if card_of(s, other) == card:
                s.moves[n_kept] = other
                n_kept += 1
        s.n_moves = n_kept
        return True
    return False


@inlined
def sort_moves(s: Any) -> None:
    """Put closed cards first, those with fewest moves before others, and the moves of a card together."""
    n = s.n_moves
    keys = s.moves[128:]
    for i in range(n):
        move = np.int64(s.moves[i])
        first = -1
        count = 0
        for j in range(n):
            if card_of(s, np.int64(s.moves[j])) == card_of(s, move):
                count += 1
                if first < 0:
                    first = j
        keys[i] = (count if move & CLOSED else 9) * 128 + first
    for i in range(1, n):
        move = np.int64(s.moves[i])
        key = np.int64(keys[i])
        j = i
        while j > 0 and keys[j - 1] > key:
            s.moves[j] = s.moves[j - 1]
            keys[j] = keys[j - 1]
            j -= 1
        s.moves[j] = move
        keys[j] = key
    for i in range(n):
        if i == n - 1 or card_of(s, np.int64(s.moves[i])) != card_of(s, np.int64(s.moves[i + 1])):
            s.moves[i] = np.int64(s.moves[i]) | LAST


@inlined
def order_moves(s: Any, rules: Any, frame: Any) -> None:
    """Order the moves at random, but closed cards first, or keep only a closed one that draws nothing."""
    for i in range(s.n_moves - 1, 0, -1):
        j = random_below(s, i + 1)
        move = s.moves[i]
        s.moves[i] = s.moves[j]
        s.moves[j] = move
    frame[F_RULE] = RULE_NONE
    if not rules.shortcuts & FORCED:
        return
    new0, new1 = newest_row(s, rules)
    draw0 = new0
    draw1 = new1
    if s.drawn >= rules.n_stock:
        draw0 = NONE
        draw1 = NONE
    relax(s, rules, ~NONE, ~NONE, np.bool_(False), np.bool_(True))
    mark_closed(s, rules, np.int64(CLOSED_FREE))
    frame[F_TOUCH_FREE] = s.gone0 & draw0
    frame[F_TOUCH_FREE + 1] = s.gone1 & draw1
    always0, always1 = always_open(s, rules)
    relax(s, rules, always0, always1, np.bool_(False), np.bool_(True))
    mark_closed(s, rules, np.int64(CLOSED))
    frame[F_TOUCH] = s.gone0 & draw0
    frame[F_TOUCH + 1] = s.gone1 & draw1
    frame[F_PHASE + EXACT] = s.gone0 & ~new0
    frame[F_PHASE + EXACT + 1] = s.gone1 & ~new1
    frame[F_PHASE + CLASS] = s.open0 & ~s.gone0 & ~new0
    frame[F_PHASE + CLASS + 1] = s.open1 & ~s.gone1 & ~new1
    frame[F_PHASE + ACTIVE] = s.fitting
    for mark in (CLOSED_FREE, CLOSED):
        if keep_only(s, rules, frame, mark, draw0, draw1):
            return
    frame[F_RULE] = RULE_GROUPS
    sort_moves(s)


# --------------------------------------------------------------------------------------------- the table of refutations


@compiled
def find_bucket(s: Any, table: Any, rules: Any) -> int:
    """Write the exact part of the position's key; return where its entries start."""
    word = NONE
    for suit in range(4):
        word = (word << np.uint64(8)) | np.uint64(s.up[suit] << 4) | np.uint64(s.down[suit])
    word = (word << np.uint64(16)) | np.uint64(s.generation)
    word = (word << np.uint64(8)) | np.uint64(s.n_rows)
    s.key[0] = (word << np.uint64(8)) | np.uint64(s.drawn)
    s.key[1] = s.laid0
    s.key[2] = s.laid1
    newest = NONE
    first = (s.n_rows - 1) * rules.columns
    for cell in range(first, first + rules.columns):
        h = np.uint64(s.grid[np.uint64(cell)] + 1) * np.uint64(0x9E3779B97F4A7C15)
        newest += (h ^ (h >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    s.key[8] = newest
    h = NONE
    for word in (s.key[0] & ~GENERATION, s.key[1], s.key[2], newest):  # whatever was solved before with this table
        h = (h ^ word) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    h ^= h >> np.uint64(32)
    n_buckets = np.uint64(table.size) // np.uint64(N_WAYS * rules.n_words)
    return np.int64((h % n_buckets) * np.uint64(N_WAYS * rules.n_words))


@inlined
def entry_card(table: Any, entry: int, cell: int) -> int:
    """Return the card that an entry has in a cell."""
    return np.int64((table[np.uint64(entry + 9 + (cell >> 3))] >> np.uint64(8 * (cell & 7))) & np.uint64(63))


@inlined
def has_same_cards(s: Any, table: Any, entry: int, first: int, end: int) -> bool:
    """Tell whether a row holds the same cards as in an entry, in whatever order."""
    for cell in range(first, end):
        card = np.int64(s.grid[np.uint64(cell)])
        n = 0
        for other in range(first, end):
            n += s.grid[np.uint64(other)] == card
            n -= entry_card(table, entry, other) == card
        if n:
            return False
    return True


@inlined
def is_known(s: Any, table: Any, rules: Any) -> bool:
    """Tell whether the position is refuted by an entry; if so, add the entry's reason."""
    bucket = find_bucket(s, table, rules)
    for way in range(N_WAYS):
        entry = bucket + way * rules.n_words
        if (
            table[np.uint64(entry)] != s.key[0]
            or table[np.uint64(entry + 1)] != s.key[1]
            or table[np.uint64(entry + 2)] != s.key[2]
            or table[np.uint64(entry + 8)] != s.key[8]
        ):
            continue
        active = table[np.uint64(entry + 7)]
        same = True
        for word in range(2):
            cells = table[np.uint64(entry + 3 + word)]
            while cells != NONE and same:
                cell = lowest_one(cells) + 64 * word
                cells &= cells - ONE
                same = entry_card(table, entry, cell) == s.grid[np.uint64(cell)]
            cells = table[np.uint64(entry + 5 + word)]
            while cells != NONE and same:
                cell = lowest_one(cells) + 64 * word
                cells &= cells - ONE
                a = entry_card(table, entry, cell)
                b = np.int64(s.grid[np.uint64(cell)])
                same = a == b or not ((active >> np.uint64(a)) | (active >> np.uint64(b))) & ONE
        if not same:
            continue
        first = (s.n_rows - 1) * rules.columns
        if not has_same_cards(s, table, entry, first, first + rules.columns):
            continue
        look_at(s, EXACT, table[np.uint64(entry + 3)], table[np.uint64(entry + 4)])
        look_at(s, CLASS, table[np.uint64(entry + 5)], table[np.uint64(entry + 6)])
        s.reason[ACTIVE] |= active
        return True
    return False


@inlined
def remember(s: Any, table: Any, rules: Any, reason: Any) -> None:
    """Enter the position as refuted."""
    bucket = find_bucket(s, table, rules)
    entry = -1
    for way in range(N_WAYS):
        at = bucket + way * rules.n_words
        if (table[np.uint64(at)] >> np.uint64(16)) & np.uint64(0xFFFF) != np.uint64(s.generation):
            entry = at
            break
    if entry < 0:
        s.n_forgotten += 1
        s.clock = (s.clock + 1) % N_WAYS
        entry = bucket + s.clock * rules.n_words
    table[entry] = s.key[0]
    table[entry + 1] = s.key[1]
    table[entry + 2] = s.key[2]
    for i in range(N_REASON):
        table[entry + 3 + i] = reason[i]
    table[entry + 3] &= s.laid0
    table[entry + 4] &= s.laid1
    table[entry + 5] &= s.laid0 & ~reason[0]
    table[entry + 6] &= s.laid1 & ~reason[1]
    table[entry + 8] = s.key[8]
    for i in range(9, rules.n_words):
        word = NONE
        for k in range(8):
            word |= np.uint64(s.grid[8 * (i - 9) + k]) << np.uint64(8 * k)
        table[entry + i] = word


# -------------------------------------------------------------------------------------------------------------- search


@inlined
def after_child(s: Any, rules: Any, frame: Any, move: int) -> bool:
    """Take over the reason why a move loses; return whether the whole position is lost by it (see the module)."""
    for i in range(N_REASON):
        frame[F_ALL + i] |= s.reason[i]
    if frame[F_RULE] != RULE_GROUPS or not move & CLOSED:
        return False
    for i in range(N_REASON):
        frame[F_GROUP + i] |= s.reason[i]
    if not move & LAST:
        return False
    cells0 = frame[F_GROUP + EXACT] | frame[F_GROUP + CLASS]
    cells1 = frame[F_GROUP + EXACT + 1] | frame[F_GROUP + CLASS + 1]
    lost = (cells0 & frame[F_TOUCH]) | (cells1 & frame[F_TOUCH + 1]) == NONE
    if lost:
        is_free = (cells0 & frame[F_TOUCH_FREE]) | (cells1 & frame[F_TOUCH_FREE + 1]) == NONE
        needs = not (is_free and move & CLOSED_FREE)
        for i in range(N_REASON):
            frame[F_ALL + i] = frame[F_GROUP + i]
        # cards of the group outside the newest row have to lie where they do
        card = s.grid[np.uint64((move >> 3) & 255)]
        front0, front1 = front_cells(s, rules)
        i = np.uint64(2 * np.int64(card))
        frame[F_ALL] |= s.at[i] & front0
        frame[F_ALL + 1] |= s.at[i + ONE] & front1
        if needs:
            for i in range(N_REASON):
                frame[F_ALL + i] |= frame[F_PHASE + i]
    for i in range(N_REASON):
        frame[F_GROUP + i] = NONE
    return lost


@inlined
def finish(s: Any, table: Any, rules: Any, frame: Any, by_group: bool) -> None:
    """Enter the position of a frame as refuted and turn the reason into that of the position it was entered with."""
    for i in range(N_REASON):
        s.reason[i] = frame[F_ALL + i]
    s.reason[NEW] = NONE
    s.reason[NEW + 1] = NONE
    if frame[F_RULE] == RULE_ONLY:
        s.reason[EXACT] |= frame[F_ONLY]
        s.reason[EXACT + 1] |= frame[F_ONLY + 1]
        if frame[F_NEEDS_PHASE]:
            for i in range(N_REASON):
                s.reason[i] |= frame[F_PHASE + i]
    elif not by_group:
        look_at_moves(s, rules)
    if rules.shortcuts & TABLE:
        remember(s, table, rules, s.reason)
    for i in range(4):
        s.reason[i] = frame[F_PATH + i] | (s.reason[i] & ~frame[F_NEW + (i & 1)])
    s.reason[ACTIVE] |= frame[F_PATH + ACTIVE]


@inlined
def search_learning(s: Any, table: Any, rules: Any, node_limit: int) -> int:
    """Decide the deal in `stock`; return the status."""
    begin_search(s, table, rules)
    start = s.n_trail
    pass_nodes = 0
    pass_limit = FIRST_PASS
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
            if rules.shortcuts & TABLE and is_known(s, table, rules):
                count_end(s, KNOWN)
                continue
            if s.nodes >= node_limit:
                return UNKNOWN
            s.nodes += 1
            if is_refuted(s, rules):
                count_end(s, HOPELESS)
                continue
            if pass_nodes >= pass_limit and rules.shortcuts & TABLE:
                undo_to(s, start)
                s.n_frames = 0
                n_stack = 0
                pass_nodes = 0
                pass_limit += FIRST_PASS // 10
                entering = True
                continue
            pass_nodes += 1
            f = s.n_frames
            s.n_frames = f + 1
            s.depth = max(s.depth, f + 1)
            frame = s.frame_reason[f]
            frame[:] = NONE
            for i in range(7):
                frame[i] = s.reason[i]
            order_moves(s, rules, frame)
            s.frame_trail[f] = s.n_trail
            s.frame_next[f] = n_stack
            for i in range(s.n_moves):
                s.stack[n_stack] = s.moves[i]
                n_stack += 1
            s.frame_end[f] = n_stack
            make_next(s, rules, f)
            entering = True
        else:
            if s.n_frames == 0:
                return UNSOLVABLE
            f = s.n_frames - 1
            frame = s.frame_reason[f]
            undo_to(s, s.frame_trail[f])
            i = s.frame_next[f]
            by_group = after_child(s, rules, frame, np.int64(s.stack[i - 1]))
            if by_group or i == s.frame_end[f]:
                finish(s, table, rules, frame, by_group)
                s.n_frames = f
                n_stack = np.int64(s.frame_end[f - 1]) if f else 0
                continue
            make_next(s, rules, f)
            entering = True


@inlined
def make_next(s: Any, rules: Any, f: int) -> None:
    """Make a frame's next move."""
    i = s.frame_next[f]
    s.frame_next[f] = i + 1
    place(s, rules, np.int64(s.stack[i]) & ~(CLOSED | CLOSED_FREE | LAST))


@compiled
def decide_learning(
    s: Any, table: Any, rules: Any, seed: int, first: int, n_games: int, is_seeded: bool, node_limit: int, out: Any
) -> None:
    """Decide seeded deals, or the one in `stock`, and write their rows."""
    for k in range(n_games):
        if is_seeded:
            deal_stock(s, rules, seed, first + np.uint64(k))
        write_row(s, rules, search_learning(s, table, rules, node_limit), out, k)
