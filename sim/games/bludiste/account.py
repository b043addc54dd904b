"""A deal of Bludiště decided and told: the line that wins, or where all lines end and why the furthest one does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sim.cards import card_text
from sim.events import Event
from sim.game import Spec
from sim.games.bludiste import solver_kernel
from sim.games.bludiste.lines import as_events
from sim.games.bludiste.rules import Available, BludisteRules
from sim.games.bludiste.solver import COLUMNS, solve_deal
from sim.games.bludiste.solving import (
    DEAD_END,
    DRAW,
    FILL,
    GAP,
    HOPELESS,
    KNOWN,
    LOOK_AHEAD,
    ROW,
    SOLVED,
    UNKNOWN,
    begin,
    can_fill,
    list_placements,
    make,
    relax,
)
from sim.replays import NO_BREAK, counted

BAR = 40
MOST_CARDS = 12
_WORD = 2**64 - 1
_PILES = ("up", "down")


class Decider:
    """Decides deals of one specification, and tells how."""

    def __init__(self, spec: Spec) -> None:
        self.rules: BludisteRules = spec.rules
        self._folded = solver_kernel.fold(spec.rules, spec.policies, spec.keep_moves)
        self._scratch = solver_kernel.new_scratch()

    def decide(self, stock: Sequence[int]) -> Decided:
        """Decide a deal: the stock, as `sim.cards` numbers cards."""
        folded, scratch = self._folded, self._scratch
        row, line = solve_deal(scratch, folded.rules, stock, folded.most_nodes)
        return Decided(self.rules, folded, scratch[0][0], row, line)


class Decided:
    """One deal that was decided.

    Attributes
    ----------
    raw
        Its row in the kernel's numbers.
    events
        What happens in the line that wins, or in the furthest one.
    """

    def __init__(
        self,
        rules: BludisteRules,
        folded: solver_kernel.Folded,
        record: Any,
        row: dict[str, int],
        line: np.ndarray[Any, Any] | None,
    ) -> None:
        self.rules = rules
        self.row = row
        self.raw = solver_kernel.raw_row(folded, [row[name] for name in COLUMNS], line)
        self._folded = folded.rules
        self._record = record
        self._most_nodes = folded.most_nodes
        self._furthest: np.ndarray[Any, Any] = record["best_trail"][: int(record["n_best_trail"])].copy()
        self.events: list[Event] = as_events(folded.rules, self._furthest if line is None else line)

    @property
    def is_solved(self) -> bool:
        """Tell whether the deal can be won."""
        return self.row["status"] == SOLVED

    def verdict(self) -> Iterator[str]:
        """Say what was found, sentence by sentence."""
        nodes, depth = counted(self.row["nodes"], "node"), self.row["depth"]
        searched = f"{nodes} (positions with more than one move to try), at most {depth:,} on one way"
        if self.is_solved:
            yield f"The deal can be won; the search took {searched}. The line has {self._choices()}."
            return
        ends = self._record["ends"]
        n_ends = sum(int(ends[kind]) for kind in (DEAD_END, HOPELESS, KNOWN))
        if self.row["status"] == UNKNOWN:
            yield f"Unknown: the search was given up at its limit of {counted(self._most_nodes, 'node')}."
        else:
            yield f"The deal cannot be won: every line was followed until it ends. The proof has {searched}."
        kinds = [
            (DEAD_END, "because nothing can follow", "because nothing can follow"),
            (HOPELESS, "where cards block each other for good", "where cards block each other for good"),
            (KNOWN, "in a position refuted before", "in positions refuted before"),
        ]
        told = [f"{int(ends[kind]):,} {one if ends[kind] == 1 else more}" for kind, one, more in kinds if ends[kind]]
        yield f"{'A line ends' if n_ends == 1 else 'Lines end'} {counted(n_ends, 'time')}: {', '.join(told)}."

    def _choices(self) -> str:
        n = self.row["choice_points"]
        return f"{counted(n, 'choice')}" if n else "no choice in it"

    def histogram(self) -> Iterator[str]:
        """Draw how many cards were placed where lines end."""
        counts = self._record["ended_at"].tolist()
        last = max((placed for placed, n in enumerate(counts) if n), default=0)
        first = next((placed for placed, n in enumerate(counts) if n), 0)
        width = max(1, -(-(last - first + 1) // 12))
        bins = [(at, sum(counts[at : at + width])) for at in range(first, last + 1, width)]
        most = max((n for _, n in bins), default=0)
        if sum(counts) < 2:
            return
        yield "Cards placed where lines end:"
        for at, n in bins:
            if n:
                label = f"{at}" if width == 1 else f"{at}–{min(at + width - 1, last)}"
                yield f"  {label:>7} {n:>{len(f'{most:,}') + 1},}  {'█' * -(-n * BAR // most)}"

    def reasons(self) -> Iterator[str]:
        """Say why nothing can follow the furthest line, sentence by sentence."""
        yield from _Furthest(self.rules, self._folded[0], self._record, self._furthest).reasons()


class _Furthest:
    """The position at the end of the furthest line, looked at again."""

    def __init__(self, rules: BludisteRules, folded: Any, record: Any, line: np.ndarray[Any, Any]) -> None:
        self.rules = rules
        self.folded = folded
        self.record = record
        begin(record, folded)
        for change in line.tolist()[1:]:
            kind = change & 7
            is_first_row = record["n_rows"] == 1 and kind == ROW and record["n_trail"] == 1
            if kind != DRAW and not is_first_row:
                make(record, folded, _move(change))

    def reasons(self) -> Iterator[str]:
        record, folded = self.record, self.folded
        left = folded["n_stock"] - record["drawn"]
        if list_placements(record, folded) == 0 and record["n_moves"] == 0 and not can_fill(record, folded):
            if left == 0:
                yield "There no card can be placed, and the stock is empty."
                yield from self._blocked()
                return
            if self.rules.max_rows and record["n_rows"] >= self.rules.max_rows:
                yield f"There no card can be placed, and max_rows allows no further row ({int(left)} cards are left)."
                return
        yield from self._blocked()

    def _blocked(self) -> Iterator[str]:
        """Say which cards can never go, by the relaxation that the search uses."""
        stuck = self._stuck(look_ahead=False)
        ahead = ""
        if not stuck and self.folded["shortcuts"] & LOOK_AHEAD:
            stuck = self._stuck(look_ahead=True)
            ahead = ", once the next row covers those that cannot be placed before it comes"
        if not stuck:
            yield "What can follow it was searched to its end without a win."
            return
        shown = " ".join(_at(self._card(cell), cell, self.rules.columns) for cell in stuck[:MOST_CARDS])
        more = f" and {len(stuck) - MOST_CARDS} more" if len(stuck) > MOST_CARDS else ""
        cards = "this card can never be placed" if len(stuck) == 1 else "these cards can never be placed"
        yield f"Whatever the stock still brings, {cards}{ahead}: {shown}{more}."
        for suit in range(4):
            for pile in range(2):
                yield from self._stopped(pile, suit, set(stuck))

    def _stuck(self, *, look_ahead: bool) -> list[int]:
        """Return the cells of cards that the relaxation never frees."""
        record, folded, columns = self.record, self.folded, self.rules.columns
        row = (1 << columns) - 1
        newest = int(record["n_rows"] - 1)
        always = row | row << newest * columns
        if self.rules.available is Available.ALL:
            always = 2**128 - 1
        if look_ahead:
            relax(record, folded, *_words(always), False, True)
            if record["reach_drawn"] < folded["n_stock"] and newest:
                gone = int(record["gone0"]) | int(record["gone1"]) << 64
                always = row | (row << newest * columns & gone)
        relax(record, folded, *_words(always), True, False)
        laid = int(record["laid0"]) | int(record["laid1"]) << 64
        left = laid & ~(int(record["gone0"]) | int(record["gone1"]) << 64)
        return [cell for cell in range(128) if left >> cell & 1]

    def _stopped(self, pile: int, suit: int, stuck: set[int]) -> Iterator[str]:
        """Say what keeps a foundation from going on."""
        reach = int(self.record["reach_down" if pile else "reach_up"][suit])
        n_ranks = int(self.folded["n_ranks"])
        if (reach <= 1) if pile else (reach >= n_ranks):
            return
        card = 4 * (reach - 2) + suit if pile else 4 * reach + suit
        cells = [cell for cell in sorted(stuck) if self._card(cell) == card]
        if not cells:
            return
        columns = self.rules.columns
        covers = []
        for cell in cells:
            above = self._card(cell - columns) if cell >= columns else GAP
            cover = f" under {_name(above)}" if above != GAP else ""
            covers.append(f"{_where(cell, columns)}{cover}")
        top = _name(4 * (reach - 1) + suit)
        yield f"{_PILES[pile].capitalize()} from {top} the next one is {_name(card)}: {' and '.join(covers)}."

    def _card(self, cell: int) -> int:
        return int(self.record["grid"][cell])


def _move(change: int) -> int:
    """Return the move that made a change."""
    kind = change & 7
    if kind in (FILL, ROW):
        return kind
    return kind | ((change >> 3 & 255) << 3) | (change >> 25 & 1) << 25


def _words(cells: int) -> tuple[Any, Any]:
    return np.uint64(cells & _WORD), np.uint64(cells >> 64 & _WORD)


def _name(card: int) -> str:
    return card_text(card, symbols=True)


def _where(cell: int, columns: int) -> str:
    row, column = divmod(cell, columns)
    return f"row {row + 1}, column {column + 1}".replace(" ", NO_BREAK)


def _at(card: int, cell: int, columns: int) -> str:
    return f"{_name(card)} ({_where(cell, columns)})".replace(" ", NO_BREAK)
