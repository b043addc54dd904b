"""A line of Bludiště that wins: from the search's changes to the moves of the rule book, and these as text.

Moves are ``("up", row, column)``, ``("down", row, column)`` (a placement from there on that foundation of the suit),
``("transfer", suit, "up" or "down")`` (to which of the suit's foundations), ``("fill",)`` and ``("row",)``. Rows and
columns are counted from 0. Fills and rows are written under ``deal = any_time`` and under `transfer`; otherwise they
come by themselves. As text rows and columns are counted from 1: ``up:1.3 down:2.10 transfer:S:up fill row``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.events import Event
from sim.games.bludiste import record as rec
from sim.games.bludiste.solving import ABOVE_OR_BELOW, ALL, DRAW, FILL, ROW, START, UP

SUITS = "SHDC"

_MOVE = re.compile(r"(up|down):([1-9]\d*)\.([1-9]\d*)|(transfer):([SHDC]):(up|down)|fill|row")

Move = tuple[str | int, ...]


class _Teller:
    """Follows a line of changes and says its moves."""

    def __init__(self, rules: np.ndarray[Any, Any]) -> None:
        r = rules[0]
        self.columns = int(r["columns"])
        self.n_ranks = int(r["n_ranks"])
        self.suits = range(int(r["n_suits"]))
        self.available = int(r["available"])
        self.transfer = bool(r["transfer"])
        self.any_time = bool(r["deal"])
        self.up = [1] * 4
        self.down = [self.n_ranks if r["decks"] == 2 else 0] * 4
        self.laid: dict[int, int] = {}
        self.n_rows = 0
        self.moves: list[Move] = []
        self.events: list[Event] = []
        self.n_to_come = 0  # cards of the row opened last

    def tell(self, change: int) -> None:
        """Take one change in."""
        kind, cell, card, graced = change & 7, (change >> 3) & 255, (change >> 11) & 63, bool(change >> 25 & 1)
        if kind == DRAW:
            self.draw(cell, card)
        elif kind in (FILL, ROW):
            self.step(kind)
        else:
            self.place(kind, cell, card, graced)

    def draw(self, cell: int, card: int) -> None:
        """Tell a card that is laid: of a new row, or into a gap."""
        self.laid[cell] = card
        if self.n_to_come and self.events[-1][0] == rec.ROW:
            self.n_to_come -= 1
            self.events[-1] = (rec.ROW, self.events[-1][1] + 1, 0, 0, 0, 0)
        else:
            self.events.append((rec.FILL, cell, card + rec.SHIFT, 0, 0, 0))

    def step(self, kind: int) -> None:
        """Tell a fill or a new row; row 1 comes by itself."""
        if not self.any_time:
            for suit in self.suits:
                if self.is_met(suit):
                    self.meet_at(suit, self.quiet(suit))
        if kind == ROW:
            self.n_rows += 1
            self.n_to_come = self.columns
            self.events.append((rec.ROW, 0, 0, 0, 0, 0))
        if self.n_rows > 1 or kind == FILL:
            if self.any_time or self.transfer:
                self.moves.append(("row",) if kind == ROW else ("fill",))

    def place(self, kind: int, cell: int, card: int, graced: bool) -> None:
        """Tell a placement, after the transfers that it needs."""
        rank, suit = card // 4 + 1, card % 4
        if graced:
            for other in self.suits:
                if self.is_met(other):
                    self.meet_at(other, self.quiet(other, rank if other == suit else 0))
        elif kind == START:
            self.meet_at(suit, max(rank - 1, 1))
        goes_up = self.up[suit] == rank - 1 if kind == START else kind == UP
        (self.up if goes_up else self.down)[suit] = rank
        self.moves.append(("up" if goes_up else "down", cell // self.columns, cell % self.columns))
        self.events.append(
            (rec.GRACE if graced else rec.PLACE, cell, card + rec.SHIFT, suit if goes_up else 4 + suit, 0, 0)
        )
        del self.laid[cell]

    def is_met(self, suit: int) -> bool:
        """Tell whether a suit's piles meet, so that its top cards may move."""
        return self.transfer and self.down[suit] == self.up[suit] + 1

    def meet_at(self, suit: int, up: int) -> None:
        """Tell the transfers after which the pile going up ends in a rank."""
        while self.up[suit] != up:
            step = 1 if self.up[suit] < up else -1
            moved = self.down[suit] if step == 1 else self.up[suit]
            source, target = (4 + suit, suit) if step == 1 else (suit, 4 + suit)
            self.events.append((rec.TRANSFER, source, 4 * (moved - 1) + suit + rec.SHIFT, target, 0, 0))
            self.up[suit] += step
            self.down[suit] += step
            self.moves.append(("transfer", SUITS[suit], "up" if step == 1 else "down"))

    def is_free(self, cell: int) -> bool:
        """Tell whether the card of a cell is available."""
        c = self.columns
        if self.available == ALL or cell < c or cell >= (self.n_rows - 1) * c or cell - c not in self.laid:
            return True
        return self.available == ABOVE_OR_BELOW and cell + c not in self.laid

    def quiet(self, suit: int, rank: int = 0) -> int:
        """Return where piles can meet (the nearest top rank of the one going up) so that no available card fits.

        With a rank, that rank has to fit.
        """
        free = {card // 4 + 1 for cell, card in self.laid.items() if card % 4 == suit and self.is_free(cell)}
        places = [up for up in range(1, self.n_ranks) if not free & {up, up + 1} and (not rank or rank in (up, up + 1))]
        return min(places, key=lambda up: abs(up - self.up[suit]))


def as_events(rules: np.ndarray[Any, Any], line: np.ndarray[Any, Any]) -> list[Event]:
    """Return a line, whether it wins or not, as `record` names events, for the game to be told."""
    teller = _Teller(rules)
    for change in line.tolist():
        teller.tell(change)
    return teller.events


def as_moves(rules: np.ndarray[Any, Any], line: np.ndarray[Any, Any]) -> list[Move]:
    """Return the moves of a line, shape (n_changes,), as `solver.solve_deal` returns it."""
    teller = _Teller(rules)
    for change in line.tolist():
        teller.tell(change)
    return teller.moves


def write_moves(moves: Sequence[Move]) -> str:
    """Return moves as text."""
    return " ".join(_write_move(*move) for move in moves)


def _write_move(kind: str | int, *where: str | int) -> str:
    if kind in ("up", "down"):
        row, column = where
        return f"{kind}:{int(row) + 1}.{int(column) + 1}"
    return ":".join(map(str, (kind, *where)))


def read_moves(text: str) -> list[Move]:
    """Return the moves of a text.

    Raises
    ------
    ValueError
        For a word that is no move.
    """
    moves: list[Move] = []
    for word in text.split():
        match = _MOVE.fullmatch(word)
        if match is None:
            raise ValueError(f"'{word}' is no move; moves are up:1.3, down:1.3, transfer:S:up, fill and row")
        kind, row, column, suit, to = match[1] or match[4] or word, match[2], match[3], match[5], match[6]
        if row:
            moves.append((kind, int(row) - 1, int(column) - 1))
        else:
            moves.append((kind, suit, to) if suit else (kind,))
    return moves
