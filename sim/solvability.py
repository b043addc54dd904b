"""Deciding deals: `solve` is the verb; `prepare_solve` and `limits` are its steps, for whoever tells what goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim import part as parts_on_disk
from sim import runner
from sim.api import Prepared, Results, prepare
from sim.game import MAX_EFFORT, Game, Player, Slot, Solver, Spec
from sim.games import GAMES, get_game
from sim.rules import RuleError, Rules, listed
from sim.storage import place

if TYPE_CHECKING:
    import numpy as np

ESCALATION = 10
"""How many times as many nodes the deals that stayed unknown are given next."""

RETRIES = 2
"""How often they are given more, if no most is named."""

UNKNOWN = "unknown"


def find_solver(game: Game) -> tuple[Solver, Slot]:
    """Return a game's solver, and the slot of its policy.

    Raises
    ------
    RuleError
        If the game has none.
    """
    if game.solver is None:
        known = [name for name in GAMES if get_game(name).solver]
        raise RuleError(f"{game.name} has no solver; {listed(known, 'and')} has one")
    return game.solver, next(slot for slot in game.slots if game.solver.policy in slot.choices)


def solver_policy(game: Game, nodes: int | None) -> dict[str, str]:
    """Return the policy that decides a game's deals within so many nodes each (None: the default).

    Raises
    ------
    RuleError
        If the game has no solver, or for a limit that cannot be.
    """
    solver, slot = find_solver(game)
    if nodes is not None and not 1 <= nodes <= MAX_EFFORT:
        raise RuleError(f"nodes = {nodes} is out of range; allowed: 1 to {MAX_EFFORT:,}")
    return {slot.name: solver.policy if nodes is None else f"{solver.policy}:{nodes}"}


def limits(game: Game, nodes: int | None, most: int | None) -> list[int]:
    """Return the limits of nodes that are tried one after another while deals stay unknown.

    Parameters
    ----------
    nodes
        The first one; None for the default.
    most
        The last one; 0 for the first one a hundredfold; None if nothing is to be tried again.

    Raises
    ------
    RuleError
        If the game has no solver, or the last one is less than the first.
    """
    solver, slot = find_solver(game)
    first = slot.efforts[solver.policy] if nodes is None else nodes
    if most is None:
        return [first]
    last = min(first * ESCALATION**RETRIES, MAX_EFFORT) if most == 0 else most
    if last <= first:
        raise RuleError(f"escalate = {last:,}: that is not more than the first limit, {first:,} nodes")
    tried = [first]
    while tried[-1] < last:
        tried.append(min(tried[-1] * ESCALATION, last))
    return tried


def prepare_solve(
    game: str | Game,
    games: int,
    *,
    seed: int = 1,
    rules: Rules | Mapping[str, object] | None = None,
    variant: str | None = None,
    nodes: int | None = None,
    keep_moves: bool = False,
    out: str | os.PathLike[str] | None = None,
    known: Results | None = None,
) -> Prepared:
    """Return a solve with everything checked and nothing decided or written; see `solve`.

    Parameters
    ----------
    known
        The same deals, decided as far as fewer nodes went: only those unknown are searched again. The rows are those
        that there would be without it, bit for bit.

    Raises
    ------
    RuleError
        For a game without a solver, an unknown option or variant, or a wrong value.
    StoreError
        If `out` is not a folder for this.
    """
    game = get_game(game) if isinstance(game, str) else game
    return prepare(
        game,
        games,
        seed=seed,
        rules=rules,
        variant=variant,
        policies=solver_policy(game, nodes),
        out=out,
        keep_moves=keep_moves,
        known=known,
    )


def solve(
    game: str | Game,
    games: int,
    *,
    seed: int = 1,
    rules: Rules | Mapping[str, object] | None = None,
    variant: str | None = None,
    nodes: int | None = None,
    escalate: int | None = None,
    keep_moves: bool = False,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    block: int | None = None,
    progress: runner.Progress | None = None,
    stop: threading.Event | None = None,
) -> Results:
    """Decide, knowing the whole stock, which of the deals 0 … games - 1 of a seed can be won.

    The rows hold ``status`` (``solved``, ``unsolvable``, ``unknown``), ``limit`` (of an unknown deal), ``nodes``,
    ``depth``, ``choice_points`` and the game's own columns. They are the rows of `sim.run` with the policy
    ``solver:nodes``, and are kept, gone on with and read in the same way.

    Parameters
    ----------
    nodes
        The most positions with a choice that are searched for a deal; default: what the game says.
    escalate
        Deals that stay unknown are tried again with ten times the nodes, up to this many (0: the first limit a
        hundredfold). Each limit's rows are a folder of their own beside `out`, as `escalated_folder` names it; those of
        the last are returned.
    keep_moves
        Keep the moves of solved deals, as text, in the column ``moves``.

    Other parameters, and errors, are those of `sim.run`.

    Raises
    ------
    RuleError
        For a game without a solver, an unknown option or variant, or a wrong value.
    StoreError
        If the folder is not for this, or cannot be written.

    Examples
    --------
    >>> from sim import solve
    >>> rows = solve("bludiste", 200).frame()
    >>> sorted(set(rows["status"]))
    ['solved', 'unsolvable']
    """
    game = get_game(game) if isinstance(game, str) else game
    results: Results | None = None
    for number, limit in enumerate(limits(game, nodes, escalate)):
        folder = escalated_folder(place(out), limit) if out is not None and number else out
        prepared = prepare_solve(
            game,
            games,
            seed=seed,
            rules=rules,
            variant=variant,
            nodes=limit,
            keep_moves=keep_moves,
            out=folder,
            known=results,
        )
        results = prepared.play(threads=threads, block=block, progress=progress, stop=stop)
        if not results.complete or not n_unknown(results):
            break
    assert results is not None
    return results


def escalated_folder(out: Path, nodes: int) -> Path:
    """Return where the deals are kept that were tried again with so many nodes."""
    return out.with_name(f"{out.name}-{nodes}-nodes")


def n_unknown(results: Results) -> int:
    """Return how many deals stayed unknown."""
    return sum(table["status"].to_pylist().count(UNKNOWN) for table in results.tables())


class Retrying(Player):
    """Takes the deals that are decided from earlier results, and decides the others."""

    def __init__(self, spec: Spec, known: Results) -> None:
        super().__init__(spec)
        tables = known.tables()
        self._known: list[tuple[int, list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = []
        status = next(i for i, column in enumerate(self.columns) if column.name == "status")
        unknown = self.columns[status].categories.index(UNKNOWN)
        for table in tables:
            arrays = parts_on_disk.to_arrays(self.columns, table)
            self._known.append((table[parts_on_disk.INDEX][0].as_py(), arrays, arrays[status] != unknown))

    def play_some(self, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
        """Return rows that are known, or decide deals up to the next one that is."""
        for begin, arrays, is_decided in self._known:
            at = first - begin
            if 0 <= at < len(is_decided):
                same = _length(is_decided[at : at + n_games])
                if is_decided[at]:
                    return [array[at : at + same] for array in arrays]
                return super().play_some(first, same)
        return super().play_some(first, min(n_games, self._gap(first)))

    def _gap(self, first: int) -> int:
        """Return the number of games from `first` on until one is known."""
        return min((begin - first for begin, _, _ in self._known if begin > first), default=2**62)


def _length(flags: np.ndarray[Any, Any]) -> int:
    """Return how many of the first flags are alike."""
    import numpy as np

    other = np.flatnonzero(flags != flags[0])
    return int(other[0]) if len(other) else len(flags)


__all__ = [
    "Retrying",
    "escalated_folder",
    "find_solver",
    "limits",
    "n_unknown",
    "prepare_solve",
    "solve",
    "solver_policy",
]
