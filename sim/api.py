"""Playing a run from Python: `run` is the verb, `prepare` says beforehand what it would do."""

from __future__ import annotations

import dataclasses
import operator
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim import part as parts_on_disk
from sim import runner, store
from sim.game import Game, Spec
from sim.games import get_game
from sim.outcome import Column
from sim.rules import RuleError, Rules, listed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Policies = str | Mapping[str, str | Sequence[str] | None]
Block = tuple[int, list["np.ndarray[Any, Any]"]]


@dataclasses.dataclass(frozen=True)
class Results:
    """What a run has come to.

    Attributes
    ----------
    games
        Games wanted.
    folder
        The results folder; None if the rows are in memory.
    n_there
        Games done, those of earlier sittings included.
    n_played
        Games played in this sitting.
    seconds
        Time this sitting took, compiling left out.
    """

    spec: Spec
    games: int
    folder: Path | None
    n_there: int
    n_played: int
    seconds: float
    blocks: tuple[Block, ...] = dataclasses.field(default=(), repr=False)

    @property
    def complete(self) -> bool:
        """Tell whether all games wanted are done."""
        return self.n_there == self.games

    @property
    def games_per_second(self) -> float:
        """Return the speed of this sitting; 0 if nothing was played."""
        return self.n_played / self.seconds if self.seconds > 0 else 0.0

    def __repr__(self) -> str:
        """Say how many games of what there are, and where."""
        where = f" in {self.folder}" if self.folder else ""
        return f"<Results {self.spec.game.name} seed {self.spec.seed}: {self.n_there:,} of {self.games:,} games{where}>"

    def frame(self) -> pd.DataFrame:
        """Return the rows, one a game, as a DataFrame: the game index, then the columns; categories as categoricals.

        The rows are the same whether they were kept in memory or in a folder.

        Raises
        ------
        StoreError
            If nothing was played, or a part of the folder is missing or damaged.
        """
        import pyarrow as pa

        tables = self._from_folder() if self.folder else self._from_memory()
        if not tables:
            raise store.StoreError("there are no rows: nothing was played to the end of a block")
        frame: pd.DataFrame = pa.concat_tables(tables).to_pandas()
        return frame

    def _from_memory(self) -> list[Any]:
        return [parts_on_disk.to_table(self.spec.columns, first, arrays) for first, arrays in self.blocks]

    def _from_folder(self) -> list[Any]:
        tables = []
        for path in store.iter_parts(self.folder or ""):
            try:
                tables.append(parts_on_disk.read(path).replace_schema_metadata(None))
            except parts_on_disk.PartError as error:
                raise store.StoreError(f"{path} is damaged: {error}") from error
        return tables


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A run about to be played.

    Attributes
    ----------
    folder
        Where its rows go; None to keep them in memory.
    n_there
        Games that lie there finished.
    existing
        How many games the folder's run was of when it was played last; 0 for a new one.
    """

    spec: Spec
    games: int
    folder: Path | None
    n_there: int = 0
    existing: int = 0

    @property
    def n_missing(self) -> int:
        """Return the number of games to be played."""
        return self.games - self.n_there

    @property
    def columns(self) -> list[Column]:
        """Return the columns of a row, the game index aside."""
        return self.spec.columns

    def play(
        self,
        *,
        threads: int | None = None,
        block: int | None = None,
        progress: runner.Progress | None = None,
        stop: threading.Event | None = None,
    ) -> Results:
        """Play what is missing; see `run`."""
        if not self.n_missing:
            return Results(self.spec, self.games, self.folder, self.n_there, 0, 0.0)
        how = {"threads": threads, "block": block, "progress": progress, "stop": stop}
        return self._play_in_memory(how) if self.folder is None else self._play_into_folder(self.folder, how)

    def _play_in_memory(self, how: dict[str, Any]) -> Results:
        blocks: list[Block] = []
        player = runner.ready(self.spec)
        tally = runner.play(player, [(0, self.games)], lambda *block: block, receive=blocks.append, **how)
        blocks.sort(key=operator.itemgetter(0))
        return Results(self.spec, self.games, None, tally.n_played, tally.n_played, tally.seconds, tuple(blocks))

    def _play_into_folder(self, path: Path, how: dict[str, Any]) -> Results:
        from sim.jit import kernel_hash

        kernel = kernel_hash(f"{self.spec.game.package}.kernel")
        with store.RunFolder(path, self.spec, self.games, kernel) as folder:
            player = runner.ready(self.spec)
            folder.start_clock()
            tally = runner.play(player, folder.missing, folder.write, receive=folder.add, n_there=folder.n_there, **how)
        return Results(self.spec, self.games, path, folder.n_there, tally.n_played, tally.seconds)


def prepare(
    game: str | Game,
    games: int,
    *,
    seed: int = 1,
    rules: Rules | Mapping[str, object] | None = None,
    variant: str | None = None,
    policies: Policies | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Prepared:
    """Return a run with everything checked and nothing played or written; the parameters are those of `run`.

    Raises
    ------
    RuleError
        For an unknown game, option, variant or policy, or a wrong value.
    StoreError
        If `out` is not a folder for this run.
    """
    game = get_game(game) if isinstance(game, str) else game
    spec = Spec.build(game, _rules(game, rules, variant), _policies(game, policies), _whole("seed", seed))
    games = _whole("games", games)
    if not 1 <= games <= store.MOST_GAMES:
        raise RuleError(f"games = {games} is out of range; allowed: 1 to {store.MOST_GAMES}")
    if out is None:
        return Prepared(spec, games, None)
    manifest = store.look(Path(out), spec, games)
    if manifest is None:
        return Prepared(spec, games, Path(out))
    return Prepared(spec, games, Path(out), manifest.n_there, manifest.games)


def run(
    game: str | Game,
    games: int,
    *,
    seed: int = 1,
    rules: Rules | Mapping[str, object] | None = None,
    variant: str | None = None,
    policies: Policies | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    block: int | None = None,
    progress: runner.Progress | None = None,
    stop: threading.Event | None = None,
) -> Results:
    """Play the games 0 … games - 1 of a seed.

    With `out` the rows are written as they come; what lies there of the same run is kept, so that the same call goes on
    after an interruption and a larger `games` adds to a finished run. Ctrl-C keeps the blocks that are finished.

    Parameters
    ----------
    game
        Its name, or a `Game`.
    rules
        Options that depart from the defaults (or from `variant`), or a whole rule set.
    policies
        Slot → one policy for every seat, or one a seat (``"own,random,own,own"`` or a sequence); a game with a single
        slot takes the text alone.
    threads, block
        Threads, and games in a block; they never change a row. Default: the processors there are, and blocks of up to
        half a million games.
    out
        The results folder. Without it rows are kept in memory.
    progress
        Called with the games done, the games wanted and the games per second.
    stop
        An event; once it is set no block is begun, and what is finished is returned.

    Raises
    ------
    RuleError
        For an unknown game, option, variant or policy, or a wrong value.
    StoreError
        If the folder is not for this run, or cannot be written.

    Examples
    --------
    >>> from sim import run
    >>> rows = run("bussikuski", 1000, rules={"players": 3}).frame()
    >>> len(rows)
    1000
    """
    prepared = prepare(game, games, seed=seed, rules=rules, variant=variant, policies=policies, out=out)
    return prepared.play(threads=threads, block=block, progress=progress, stop=stop)


def _whole(name: str, value: Any) -> int:
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise RuleError(f"{name} = {value!r} is not a whole number")


def _rules(game: Game, rules: Rules | Mapping[str, object] | None, variant: str | None) -> Rules:
    """Return the whole rule set."""
    if not isinstance(rules, Rules):
        return game.rules.build(variant=variant, options=rules)
    if variant is not None:
        raise RuleError(f"variant = {variant!r} with a whole rule set: give one of them, or the options as a mapping")
    if not isinstance(rules, game.rules):
        raise RuleError(f"these are rules of {rules.GAME}, not of {game.name}")
    return rules


def _policies(game: Game, policies: Policies | None) -> Mapping[str, str | Sequence[str] | None]:
    """Return slot → policies."""
    if not isinstance(policies, str):
        return policies or {}
    names = [slot.name for slot in game.slots]
    if len(names) != 1:
        has = listed(names, "and") if names else "no policies"
        raise RuleError(f"policies = {policies!r}: {game.name} has {has}; give a mapping of slot to policy")
    return {names[0]: policies}
