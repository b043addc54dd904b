"""Bludiště's solver as the runner calls it: blocks of deals decided, or an explicit one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sim.games.bludiste import solver
from sim.games.bludiste.lines import as_moves, write_moves
from sim.games.bludiste.rules import SLOTS, BludisteRules
from sim.games.bludiste.solving import SOLVED

__all__ = ["Folded", "fold", "new_scratch", "play_block", "play_deal"]

LONG = 0.05  # seconds after which the deals decided so far are returned: whoever waits for a stop need not wait long


class Folded(NamedTuple):
    """A rule set as the searches read it, the most nodes of a deal, and whether moves are kept."""

    rules: np.ndarray[Any, Any]
    most_nodes: int
    keep_moves: bool = False


def fold(rules: BludisteRules, policies: Mapping[str, Sequence[str]], keep_moves: bool = False) -> Folded:
    """Return what decides deals under a rule set and the policy ``solver:N``."""
    (slot,) = SLOTS
    return Folded(solver.fold(rules), slot.parse(policies[slot.name][0])[1], keep_moves)


def new_scratch() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return what one thread needs."""
    return solver.new_solver()


def play_block(scratch: Any, folded: Folded, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
    """Decide the deals first, first + 1, …: all n_games, or fewer if that takes long.

    Returns
    -------
    The columns of `state.solver_columns`, int64 (texts: objects), each of shape (n,), 1 ≤ n ≤ n_games.
    """
    pieces = []
    end = time.monotonic() + LONG
    at, n = first, 1
    while at < first + n_games and (at == first or time.monotonic() < end):
        n = min(n, first + n_games - at)
        pieces.append(_decide(scratch, folded, seed, at, n))
        at += n
        n *= 2
    return [np.concatenate(column) for column in zip(*pieces, strict=True)]


def _decide(scratch: Any, folded: Folded, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
    if not folded.keep_moves:
        rows = solver.solve_block(scratch, folded.rules, seed, first, n_games, folded.most_nodes)
        return _columns(np.array(rows))
    decided = [solver.solve_game(scratch, folded.rules, seed, first + i, folded.most_nodes) for i in range(n_games)]
    columns = _columns(np.array([list(row.values()) for row, _ in decided]).T)
    return [*columns, np.array([_text(folded, line) for _, line in decided], object)]


def play_deal(
    scratch: Any, folded: Folded, seed: int, game: int, orders: np.ndarray[Any, Any]
) -> list[np.ndarray[Any, Any]]:
    """Decide one explicit deal; return its row as `play_block` does.

    Parameters
    ----------
    orders : uint8, shape (1, n_cards)
        The stock as `sim.cards` numbers it, top first.
    """
    row, line = solver.solve_deal(scratch, folded.rules, orders[0], folded.most_nodes)
    return [np.array([value]) for value in raw_row(folded, list(row.values()), line)]


def raw_row(folded: Folded, row: Sequence[int], line: np.ndarray[Any, Any] | None) -> tuple[Any, ...]:
    """Return one row in the order of `state.solver_columns`, from that of `solver.COLUMNS` and the line that wins."""
    numbers = [int(column[0]) for column in _columns(np.array([row]).T)]
    return (*numbers, _text(folded, line)) if folded.keep_moves else tuple(numbers)


def _columns(rows: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Return the columns of `state.solver_columns` from those of `solver.COLUMNS`, shape (n_columns, n_games)."""
    status, limit, nodes, depth, choice_points, placed, n_rows, refilled = rows
    won = status == SOLVED
    return [
        won.astype(np.int64),
        placed,
        np.where(won, n_rows, -1),
        np.where(won, refilled, -1),
        status,
        limit,
        nodes,
        depth,
        np.where(won, choice_points, -1),
    ]


def _text(folded: Folded, line: np.ndarray[Any, Any] | None) -> str:
    return "" if line is None else write_moves(as_moves(folded.rules, line))
