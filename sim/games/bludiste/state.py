"""The columns of Bludiště."""

from __future__ import annotations

import dataclasses

from sim.game import MAX_EFFORT
from sim.games.bludiste.rules import BludisteRules
from sim.outcome import Column

STATUS = ("unsolvable", "solved", "unknown")
LIMITS = ("none", "nodes", "nodes_and_table")


def columns(rules: BludisteRules) -> list[Column]:
    """Return the columns of a row under `rules`, in the kernel's order."""
    n = rules.n_stock
    return [
        Column("won", "1 if all foundations are full, else 0", high=1),
        Column("placed", "cards placed on foundations", high=n),
        Column("rows", "rows opened", high=rules.most_rows),
        Column("refilled", "cards put into gaps", high=n - 1),
    ]


def solver_columns(rules: BludisteRules, keep_moves: bool) -> list[Column]:
    """Return the columns of a deal that was decided; what only a line that wins has is lacking for other deals."""
    won, placed, rows, refilled = columns(rules)
    most = 2 * rules.n_stock  # a move places a card or takes one from the stock
    told = [
        dataclasses.replace(won, description="1 if the deal was solved, else 0"),
        dataclasses.replace(placed, description="most cards placed on foundations in any line seen"),
        dataclasses.replace(rows, description="rows opened in the line that wins", optional=True),
        dataclasses.replace(refilled, description="cards put into gaps in the line that wins", optional=True),
        Column("status", "whether the deal can be won, proved", categories=STATUS),
        Column("limit", "what kept the deal from being decided", categories=LIMITS),
        Column("nodes", "positions searched that had more than one move to try", high=MAX_EFFORT),
        Column("depth", "most such positions on one way", high=most),
        Column("choice_points", "such positions on the way to the win", high=most, optional=True),
    ]
    if keep_moves:
        told.append(Column("moves", "the line that wins, as text", text=True))
    return told
