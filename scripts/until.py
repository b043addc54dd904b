"""``--until METRIC±HALFWIDTH`` for ``run``: plays on until an anytime-valid interval is tight enough."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from scripts.errors import INTERRUPTED, command_line, complain
from scripts.progress import Progress, Voice, stopping

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.pairs import Side
    from analysis.sequential import Target, Watch
    from sim.api import Prepared, Results
    from sim.cluster import DaskEngine
    from sim.game import Spec


@dataclasses.dataclass(frozen=True)
class Stopped:
    """Where a run with ``--until`` stopped.

    Attributes
    ----------
    games
        At the last look.
    reached
        Whether the interval was as tight as wanted.
    """

    watch: Watch
    games: int
    reached: bool

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        from analysis.sequential import GUARANTEES

        interval, target = self.watch.interval, self.watch.target
        return {
            "metric": target.what,
            "half_width": target.half_width,
            "reached": self.reached,
            "games": self.games,
            **interval.to_json(),
            "method": interval.method,
            "confidence": interval.confidence,
            "guarantee": GUARANTEES.get(interval.method),
        }


def side_of(spec: Spec) -> Side:
    """Return a run that is not played yet as results without rows: its columns and what they mean."""
    from analysis.load import Run
    from analysis.pairs import Side
    from sim.part import schema
    from sim.provenance import column_notes

    run = Run.read({"spec": spec.plain(), "columns": column_notes(spec.columns)})
    return Side(spec.game.name, schema(spec.columns), run, 0, lambda columns, batch_rows: iter(()))


def until_folder(spec: Spec, target: Target, keep: str) -> Path:
    """Return the folder of a run with ``--until`` that is given none: the same one for the same run and target."""
    digest = hashlib.sha256(f"{spec.digest()} {target}".encode()).hexdigest()[:8]
    name = f"{spec.game.name}-until-seed{spec.seed}-{digest}"
    return Path("results") / (name if keep == "rows" else f"{name}-{keep}")


def play_until(
    voice: Voice,
    prepared: Prepared,
    watch: Watch,
    threads: int | None,
    *,
    shown: bool,
    engine: DaskEngine | None = None,
) -> tuple[Results, Stopped]:
    """Play until the target is reached, or all games are played; leave with status 130 if interrupted on the way."""
    from analysis.sequential import looks
    from sim.api import Sitting

    reader = _counts_reader(prepared, watch) if prepared.keep == "summary" else _rows_reader(watch)
    seen = looked = 0
    with (
        Progress(voice, shown=shown, foretells=False) as progress,
        stopping(progress) as stop,
        Sitting(prepared, engine) as sitting,
    ):
        pace = Pace(progress, prepared.games)
        for games in looks(prepared.games):
            with voice.about_compiling():
                if not sitting.play_to(games, threads=threads, progress=pace, stop=stop):
                    break
            pace.add(sitting.n_played)
            if reader(seen, games, sitting.files(seen, games)):
                looked = games
                if watch.is_reached:
                    break
            seen = games
        results = sitting.results()
    if watch.is_reached or looked == prepared.games:
        return results, Stopped(watch, looked, watch.is_reached)
    interrupted(results.n_there, prepared.folder)


class Pace:
    """Tells a display how far a run in stages is, of the most games that there may be."""

    def __init__(self, progress: Progress, most: int) -> None:
        self.progress = progress
        self.most = most
        self.n_played = 0
        self.began = time.monotonic()

    def add(self, n_played: int) -> None:
        """Take note of the games played in all the stages so far."""
        self.n_played = n_played

    def __call__(self, done: int, wanted: int, rate: float) -> None:
        """Take note of how far a stage is."""
        elapsed = time.monotonic() - self.began
        self.progress(done, self.most, self.n_played / elapsed if self.n_played and elapsed else rate)


def interrupted(n_there: int, folder: Path | None) -> NoReturn:
    """Say what is kept, and leave with status 130."""
    complain(f"interrupted; {n_there:,} games are kept in {folder}. To go on, give the same command: {command_line()}")
    click.get_current_context().exit(INTERRUPTED)


def _rows_reader(watch: Watch) -> Callable[[int, int, list[Path]], bool]:
    """Return what reads the rows of the games from `seen` to before `games`."""

    def read(seen: int, games: int, paths: list[Path]) -> bool:
        from analysis.pairs import rows_between

        for batch in rows_between(paths, watch.columns, seen, games):
            watch.add(batch)
        return True

    return read


def _counts_reader(prepared: Prepared, watch: Watch) -> Callable[[int, int, list[Path]], bool]:
    """Return what reads the counts of blocks; it tells whether they end where the look is."""
    from analysis.kept import Added, read_block
    from analysis.load import Run
    from sim.provenance import column_notes

    run = Run.read({"spec": prepared.spec.plain(), "columns": column_notes(prepared.columns)})
    done = 0

    def read(seen: int, games: int, paths: list[Path]) -> bool:
        nonlocal done
        for path in paths:
            added = Added(run)
            added.add(read_block(path))
            first, n_games = added.ranges[0]
            if first < done or first + n_games > games:
                continue
            watch.add(*added.kept(path.parent).batch(watch.columns))
            done = first + n_games
        return done == games

    return read


def until_text(stopped: Stopped) -> str:
    """Return in words where the run stopped, and what may be relied on."""
    from analysis.sequential import GUARANTEES
    from reports.table import WIDTH, cell, wrapped

    watch = stopped.watch
    told = cell(watch.interval, percent=watch.is_rate)
    unit = " %" if watch.is_rate else ""
    wanted = f"{100 * watch.target.half_width:g} %" if watch.is_rate else f"{watch.target.half_width:g}"
    said = f"{told.number} {told.tail}".strip() + unit
    start = f"Reached after {stopped.games:,} games" if stopped.reached else f"Not reached in {stopped.games:,} games"
    guarantee = GUARANTEES.get(watch.interval.method, "no interval: too few games differ")
    lines = wrapped(
        f"{start}: {watch.target.what} is {said} (wanted ± {wanted}), with {100 * watch.confidence:g} % at every look "
        f"together: {guarantee}. The other intervals are ordinary ones, as for a number of games chosen beforehand.",
        WIDTH,
    )
    return "\n".join(lines)
