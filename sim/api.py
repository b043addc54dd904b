"""Playing a run from Python: `run` is the verb, `prepare` says beforehand what it would do."""

from __future__ import annotations

import dataclasses
import functools
import operator
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sim import part as parts_on_disk
from sim import runner, storage, store
from sim.game import Game, Player, Spec
from sim.games import get_game
from sim.outcome import Column
from sim.rules import RuleError, Rules, listed, nearest

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from sim.cluster import DaskEngine

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
    keep: str = store.ROWS

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
            If nothing was played, no rows were kept, or a part of the folder is missing or damaged.
        """
        if self.keep != store.ROWS:
            raise store.StoreError(f"{self.folder} keeps counts, no rows; analysis.summarise reads them")
        import pyarrow as pa

        tables = self.tables()
        if not tables:
            raise store.StoreError("there are no rows: nothing was played to the end of a block")
        frame: pd.DataFrame = pa.concat_tables(tables).to_pandas()
        return frame

    def tables(self) -> list[pa.Table]:
        """Return the rows as Arrow tables, a block each.

        Raises
        ------
        StoreError
            If a part of the folder is missing or damaged.
        """
        return self._from_folder() if self.folder else self._from_memory()

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
    keep, joint
        See `run`.
    known
        The same deals, decided as far as fewer nodes went; only what stayed unknown is searched again.
    share
        The games that are to be played here, if others play the rest: the first and their number.
    n_elsewhere
        Games that are neither there nor to be played here.
    """

    spec: Spec
    games: int
    folder: Path | None
    n_there: int = 0
    existing: int = 0
    keep: str = store.ROWS
    joint: tuple[tuple[str, ...], ...] = ()
    known: Results | None = None
    share: runner.Range | None = None
    n_elsewhere: int = 0

    @property
    def n_wanted(self) -> int:
        """Return how many games there will be."""
        return self.games - self.n_elsewhere

    @property
    def n_missing(self) -> int:
        """Return the number of games to be played."""
        return self.n_wanted - self.n_there

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
        engine: DaskEngine | None = None,
    ) -> Results:
        """Play what is missing; see `run`."""
        if engine is not None and self.folder is None:
            raise RuleError("a cluster plays into a results folder that all its machines share: out = …")
        if not self.n_missing:
            return Results(self.spec, self.n_wanted, self.folder, self.n_there, 0, 0.0, keep=self.keep)
        how = {"threads": threads, "block": block, "progress": progress, "stop": stop}
        return self._play_in_memory(how) if self.folder is None else self._play_into_folder(self.folder, how, engine)

    def _play_in_memory(self, how: dict[str, Any]) -> Results:
        blocks: list[Block] = []
        tally = runner.play(self._player(), [(0, self.games)], lambda *block: block, receive=blocks.append, **how)
        blocks.sort(key=operator.itemgetter(0))
        return Results(self.spec, self.games, None, tally.n_played, tally.n_played, tally.seconds, tuple(blocks))

    def _play_into_folder(self, path: Path, how: dict[str, Any], engine: DaskEngine | None) -> Results:
        with self.open_folder() as folder:
            crew = self._crew(folder, engine, f"{self.games} games, share {self.share}")
            folder.start_clock()
            missing = folder.missing if self.share is None else store.within(folder.missing, self.share)
            tally = crew(missing, n_there=folder.n_there, **how)
        there = folder.n_there
        return Results(self.spec, self.n_wanted, path, there, tally.n_played, tally.seconds, keep=self.keep)

    def open_folder(self, games: int | None = None) -> store.RunFolder:
        """Return the run's folder, to be entered and written; as one of so many games, if not of all."""
        from sim.jit import kernel_hash

        assert self.folder is not None
        kernel = kernel_hash(self.spec.kernel_module)
        return store.RunFolder(self.folder, self.spec, games or self.games, kernel, self.keep, self.joint)

    def _crew(self, folder: store.RunFolder, engine: DaskEngine | None, wanted: str) -> Callable[..., runner.Tally]:
        """Return what plays ranges of games into a folder: threads of this process, or a cluster.

        `wanted` says what the sitting plays (see `sim.store.RunFolder.share`).
        """
        if engine is None:
            writer = folder.writer
            return functools.partial(
                runner.play, self._player(), sink=writer.begin, store=writer.finish, receive=folder.add
            )

        def play(ranges: Sequence[runner.Range], *, threads: int | None = None, **how: Any) -> runner.Tally:
            return engine.play(folder, ranges, new_player=self._new_player(), wanted=wanted, **how)

        return play

    def _player(self) -> Player:
        """Return what plays, its kernels compiled."""
        return runner.warm(self._new_player()())

    def _new_player(self) -> Callable[[], Player]:
        """Return what makes what plays, here or in another process."""
        if self.known is None:
            return functools.partial(Player, self.spec)
        from sim.solvability import Retrying

        known = self.known
        if known.folder is not None:
            known = dataclasses.replace(known, folder=storage.absolute(known.folder))
        return functools.partial(Retrying, self.spec, known)


class Sitting:
    """A results folder that is played on bit by bit; use it as a context.

    At every moment its rows are those of a plain run of as many games.

    Parameters
    ----------
    prepared
        The run, with a folder; its `games` are the most there may be.
    engine
        What plays, if not threads of this process; see `run`.

    Attributes
    ----------
    games
        How many games it has been played to.
    n_played, seconds
        In this sitting.

    Raises
    ------
    StoreError
        If the run has no folder; on entering, if the folder is not for this run or cannot be written.
    """

    def __init__(self, prepared: Prepared, engine: DaskEngine | None = None) -> None:
        if prepared.folder is None:
            raise store.StoreError("a run that is played bit by bit needs a folder")
        self.prepared = prepared
        self.path = prepared.folder
        self.games = 0
        self.n_played, self.seconds = 0, 0.0
        self._folder = prepared.open_folder(max(1, prepared.existing))
        self._engine = engine
        self._crew: Callable[..., runner.Tally] | None = None

    def __enter__(self) -> Self:
        """Lock the folder and put it in order."""
        self._folder.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """List what is finished and unlock."""
        self._folder.games = max(1, self.games, self.prepared.existing)
        self._folder.__exit__(kind, *rest)

    def play_to(
        self,
        games: int,
        *,
        threads: int | None = None,
        progress: runner.Progress | None = None,
        stop: threading.Event | None = None,
    ) -> bool:
        """Play what is missing of 0 … games - 1; return whether all is there then (not: it was told to stop)."""
        folder = self._folder
        folder.games = max(folder.games, games)
        self.games = max(self.games, games)
        gaps = store.gaps(folder.parts, folder.games)
        missing = [(first, min(n, games - first)) for first, n in gaps if first < games]
        n_missing = sum(n for _, n in missing)
        if not n_missing:
            return True
        if self._crew is None:
            self._crew = self.prepared._crew(folder, self._engine, f"stages to {self.prepared.games} games")
        threads = runner.default_threads() if threads is None else threads
        block = -(-n_missing // threads) if self._engine is None else None
        how: dict[str, Any] = {"threads": threads, "block": block, "progress": progress, "stop": stop}
        folder.start_clock()
        try:
            tally = self._crew(missing, n_there=games - n_missing, **how)
        finally:
            folder.stop_clock()
        self.n_played, self.seconds = self.n_played + tally.n_played, self.seconds + tally.seconds
        return tally.n_played == n_missing

    def files(self, first: int, end: int) -> list[Path]:
        """Return the files that hold the games first … end - 1; see `sim.store.RunFolder.files`."""
        return self._folder.files(first, end)

    def results(self) -> Results:
        """Return what it has come to."""
        prepared, there = self.prepared, self._folder.n_there
        return Results(
            prepared.spec, self._folder.games, self.path, there, self.n_played, self.seconds, keep=prepared.keep
        )


def prepare(
    game: str | Game,
    games: int,
    *,
    seed: int = 1,
    rules: Rules | Mapping[str, object] | None = None,
    variant: str | None = None,
    policies: Policies | None = None,
    out: str | os.PathLike[str] | None = None,
    keep: str = store.ROWS,
    joint: Sequence[Sequence[str]] = (),
    keep_moves: bool = False,
    known: Results | None = None,
    share: tuple[int, int] | None = None,
) -> Prepared:
    """Return a run with everything checked and nothing played or written; the parameters are those of `run`.

    Parameters
    ----------
    keep_moves, known
        For a game's solver: see `Spec` and `Prepared`.
    share
        (k, n): play only the k-th of n equal shares of the games; `sim.folders.merge_folders` joins the folders.

    Raises
    ------
    RuleError
        For an unknown game, option, variant or policy, or a wrong value.
    StoreError
        If `out` is not a folder for this run.
    """
    game = get_game(game) if isinstance(game, str) else game
    spec = Spec.build(
        game,
        _rules(game, rules, variant),
        _policies(game, policies),
        _whole("seed", seed),
        keep_moves=keep_moves,
    )
    games = _whole("games", games)
    if not 1 <= games <= store.MOST_GAMES:
        raise RuleError(f"games = {games} is out of range; allowed: 1 to {store.MOST_GAMES}")
    if keep not in store.KEEPS:
        raise RuleError(f"keep = {keep!r}: choose {listed(store.KEEPS)}{nearest(keep, store.KEEPS)}")
    if joint and keep != store.SUMMARY:
        raise RuleError("columns are counted together (--joint) only where a summary is kept (--keep summary)")
    groups = _groups(spec, joint)
    if out is None:
        if keep != store.ROWS:
            raise RuleError("keep = 'summary' needs a results folder: out = …")
        if share is not None:
            raise RuleError("a share needs a results folder: out = …")
        return Prepared(spec, games, None, known=known)
    folder = storage.place(out)
    manifest = store.look(folder, spec, games, keep, groups)
    there = (0, 0) if manifest is None else (manifest.n_there, manifest.games)
    prepared = Prepared(spec, games, folder, *there, keep, groups, known)
    if share is None:
        return prepared
    span = _span(games, *share)
    missing = store.gaps(() if manifest is None else manifest.parts, games)
    n_elsewhere = sum(n for _, n in missing) - sum(n for _, n in store.within(missing, span))
    return dataclasses.replace(prepared, share=span, n_elsewhere=n_elsewhere)


def _span(games: int, number: int, shares: int) -> runner.Range:
    """Return the games of one of several equal shares: the first and their number."""
    if not 1 <= number <= shares <= games:
        raise RuleError(f"share {number}/{shares} of {games:,} games is out of range; the first of four is 1/4")
    first = games * (number - 1) // shares
    return first, games * number // shares - first


def _groups(spec: Spec, joint: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of columns that are counted together, in full."""
    if not joint:
        return ()
    from sim.counts import check_joint

    return tuple(tuple(group) for group in check_joint(spec.columns, joint))


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
    keep: str = store.ROWS,
    joint: Sequence[Sequence[str]] = (),
    engine: DaskEngine | None = None,
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
        The results folder, or an address that fsspec knows (``s3://bucket/run``). Without it rows are kept in memory.
    progress
        Called with the games done, the games wanted and the games per second.
    stop
        An event; once it is set no block is begun, and what is finished is returned.
    keep
        ``rows``, or ``summary``: the folder then holds no rows but exact counts of each block (see `sim.counts`), from
        which `analysis.summarise` and `analysis.ask` work with the same figures; it hardly grows with the games.
    joint
        Groups of columns that are counted together too, so that conditions on several of them can be asked.
    engine
        A Dask cluster that plays instead of threads of this process, into a folder or an address (``s3://bucket/run``)
        that all its machines share.

    Raises
    ------
    RuleError
        For an unknown game, option, variant or policy, or a wrong value.
    StoreError
        If the folder is not for this run, or cannot be written.
    EngineError
        If the cluster does not fit, or is lost.

    Examples
    --------
    >>> from sim import run
    >>> rows = run("bussikuski", 1000, rules={"players": 3}).frame()
    >>> len(rows)
    1000
    """
    how: dict[str, Any] = {"seed": seed, "rules": rules, "variant": variant, "policies": policies, "out": out}
    prepared = prepare(game, games, keep=keep, joint=joint, **how)
    return prepared.play(threads=threads, block=block, progress=progress, stop=stop, engine=engine)


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
