"""The variants of a comparison played together, block by block: the deals' pairs are counted while they are there.

Each variant's rows go into its own results folder, as a plain run writes them. What one variant has and another lacks
(after an interruption, or with more games) is played for itself and counted from the files.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.deciding import add_games
from scripts.progress import Progress, Voice, stopping
from scripts.until import interrupted, side_of
from scripts.variants import Variant

if TYPE_CHECKING:
    import numpy as np

    from analysis.joint import JointCounts, Values
    from sim.api import Prepared
    from sim.outcome import Column
    from sim.part import Part
    from sim.runner import Range, Tally
    from sim.store import RunFolder
    from sim.writer import Begun

MOST_ROWS = 2**20
"""Rows of all variants that a thread holds at a time: twice those of a plain run."""

Arrays = list["np.ndarray[Any, Any]"]


@dataclasses.dataclass(frozen=True)
class Block:
    """A range of games that is done."""

    first: int
    games: int

    @property
    def end(self) -> int:
        """Return the game index after the last."""
        return self.first + self.games


class Together:
    """Plays the same games under every variant: a player whose rows are the variants' rows side by side.

    Attributes
    ----------
    spent
        Seconds that each variant took, of all threads together.
    """

    def __init__(self, variants: Sequence[Variant]) -> None:
        from sim import runner

        self.players = [runner.ready(variant.spec) for variant in variants]
        self.columns: list[Column] = [column for player in self.players for column in player.columns]
        self.spent = [0.0] * len(variants)
        self._few = runner.FIRST_CHUNK
        self._lock = threading.Lock()

    def play_some(self, first: int, n_games: int) -> Arrays:
        """Return the columns of all variants, one variant after another."""
        if n_games <= self._few:  # nobody knows yet how long they take
            n_games = max(1, n_games // len(self.players))
        found: Arrays = []
        for place, player in enumerate(self.players):
            with self.clock(place):
                # The first one's kernel may stop early, where games are long; then the others play as many.
                found += player.play(first, len(found[0])) if found else player.play_some(first, n_games)
        return found

    @contextlib.contextmanager
    def clock(self, place: int) -> Iterator[None]:
        """Count the time as a variant's."""
        began = time.monotonic()
        yield
        with self._lock:
            self.spent[place] += time.monotonic() - began

    def split(self, arrays: Arrays) -> list[Arrays]:
        """Return each variant's own columns of a block."""
        rest = iter(arrays)
        return [[next(rest) for _ in player.columns] for player in self.players]


def play_together(player: Together, ranges: Sequence[Range], sink: Any, threads: int | None, **how: Any) -> Tally:
    """Play ranges of games as `sim.runner.play` does, in blocks that are the smaller the more variants there are."""
    from sim import runner

    k, told = len(player.players), how.pop("progress")
    how["progress"] = lambda done, wanted, rate: told(k * done, k * wanted, k * rate)  # in games, not deals
    n_games, n_threads = sum(n for _, n in ranges), threads or runner.default_threads()
    most = max(runner.SMALLEST_BLOCK, min(runner.LARGEST_BLOCK, MOST_ROWS // k))
    blocks = runner.cut(ranges, lambda left: min(most, runner.block_size(n_games, n_threads, left)))
    return runner.play(player, blocks, sink, threads=threads, block=most, **how)  # type: ignore[arg-type]


def count_block(counts: JointCounts, player: Together, split: Sequence[Arrays]) -> JointCounts:
    """Return fresh counts of a block's games, given each variant's columns."""
    from analysis.joint import Values

    columns: dict[str, list[Values]] = {name: [] for name in counts.read}
    for own, arrays in zip(player.players, split, strict=True):
        for column, array in zip(own.columns, arrays, strict=True):
            if column.name in columns:
                there = Values(array, column.present(array), column.categories, column.share)
                columns[column.name].append(there)
    counted = counts.fresh()
    counted.add_values(columns, len(split[0][0]))
    return counted


class RowsTogether:
    """Plays what is missing of the variants' results folders.

    Parameters
    ----------
    variants, prepared, baseline
        What is compared, the runs, and the place of what the others are set against.
    columns
        The columns to compare; empty for all.

    Attributes
    ----------
    counted
        The counts of the games that were counted in memory.
    """

    def __init__(
        self, variants: Sequence[Variant], prepared: Sequence[Prepared], baseline: int, columns: Sequence[str]
    ) -> None:
        from analysis.joint import JointCounts

        self.variants = variants
        self.prepared = prepared
        self.games = prepared[0].games
        self.counted = JointCounts([side_of(variant.spec) for variant in variants], baseline, columns or None)
        self.folders: list[RunFolder] = []
        self.n_played, self.seconds, self.counting = 0, 0.0, 0.0
        self._before: list[float] = []
        self._threads = 1

    def play(self, voice: Voice, threads: int | None, parent: Path, *, shown: bool) -> JointCounts | None:
        """Play what is missing; return the counts of all games, None if none was played under all variants.

        Leaves with status 130 if interrupted on the way.
        """
        from sim import runner
        from sim.store import gaps

        self._threads = threads or runner.default_threads()
        with contextlib.ExitStack() as stack:
            progress = stack.enter_context(Progress(voice, shown=shown))
            stop = stack.enter_context(stopping(progress))
            self.folders = [stack.enter_context(run.open_folder()) for run in self.prepared]
            shared = functools.reduce(_common, (folder.missing for folder in self.folders))
            blocks = [Block(*span) for span in shared]
            how: dict[str, Any] = {"progress": progress, "stop": stop}
            with voice.about_compiling():
                for folder, variant in zip(self.folders, self.variants, strict=True):
                    alone = gaps([*folder.parts, *blocks], self.games)
                    self._play_alone(folder, variant, alone, threads, how)
                if shared and not stop.is_set():
                    self._play_shared(shared, threads, how)
            n_there = sum(folder.n_there for folder in self.folders)
            if n_there < self.games * len(self.variants):
                interrupted(n_there, parent)
        self._say(voice)
        if not shared:
            return None
        for first, n_games in gaps(blocks, self.games):
            add_games(self.counted, [folder.files for folder in self.folders], first, first + n_games)
        return self.counted

    def _play_alone(
        self, folder: RunFolder, variant: Variant, ranges: list[Range], threads: int | None, how: Mapping[str, Any]
    ) -> None:
        """Play what only this variant lacks."""
        from sim import runner

        if not ranges or how["stop"].is_set():
            return
        folder.start_clock()
        player = runner.ready(variant.spec)
        n_there = self.games - sum(n for _, n in ranges)
        tally = runner.play(
            player,
            ranges,
            folder.writer.begin,
            store=folder.writer.finish,
            receive=folder.add,
            threads=threads,
            n_there=n_there,
            **how,
        )
        folder.stop_clock()
        self.n_played, self.seconds = self.n_played + tally.n_played, self.seconds + tally.seconds

    def _play_shared(self, ranges: list[Range], threads: int | None, how: Mapping[str, Any]) -> None:
        """Play what all variants lack, and count it."""
        self._player = Together(self.variants)
        self._before = [folder.seconds for folder in self.folders]
        n_there = self.games - sum(n for _, n in ranges)
        how = {**how, "store": self._finish, "receive": self._receive, "n_there": n_there}
        tally = play_together(self._player, ranges, self._write, threads, **how)
        self.n_played += tally.n_played * len(self.variants)
        self.seconds += tally.seconds - self.counting

    def _write(self, first: int, arrays: Arrays) -> tuple[list[Begun], JointCounts, float]:
        """Write a block's rows beside the variants' parts and count them; in the thread that played them."""
        split = self._player.split(arrays)
        begun = []
        for place, (folder, own) in enumerate(zip(self.folders, split, strict=True)):
            with self._player.clock(place):
                begun.append(folder.writer.begin(first, own))
        began = time.thread_time()
        counted = count_block(self.counted, self._player, split)
        return begun, counted, time.thread_time() - began

    def _finish(self, written: tuple[list[Begun], JointCounts, float]) -> tuple[list[Part], JointCounts, float]:
        """Wait until a block's parts are there."""
        begun, counted, seconds = written
        parts = [folder.writer.finish(one) for folder, one in zip(self.folders, begun, strict=True)]
        return parts, counted, seconds

    def _receive(self, receipt: tuple[list[Part], JointCounts, float]) -> None:
        parts, counted, seconds = receipt
        self.counting += seconds / self._threads
        for place, (folder, part) in enumerate(zip(self.folders, parts, strict=True)):
            folder.seconds = self._before[place] + self._player.spent[place] / self._threads
            folder.add(part)
        self.counted.merge(counted)

    def _say(self, voice: Voice) -> None:
        counted = f"; counted meanwhile, in {self.counting:.2g} s more" if self.counting else ""
        voice.say(
            f"Played {self.n_played:,} games in {self.seconds:.3g} s, "
            f"{self.n_played / max(self.seconds, 1e-9):,.0f} a second{counted}"
        )


def _common(some: list[Range], others: list[Range]) -> list[Range]:
    """Return the ranges that lie in both."""
    from sim.store import within

    return [found for span in others for found in within(some, span)]


__all__ = ["Block", "RowsTogether", "Together", "count_block", "play_together"]
