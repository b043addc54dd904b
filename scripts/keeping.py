"""``compare --keep summary``: joint counts of all variants, block by block, and no rows.

A block's games are played under every variant in one go, so that the deals' pairs are counted while they are there. A
block's file appears whole or not at all, and counts as soon as it is there; its name is its range.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.progress import Progress, Voice, stopping
from scripts.together import Block, Together, count_block, play_together
from scripts.until import interrupted, side_of
from scripts.variants import Variant

if TYPE_CHECKING:
    import threading

    import numpy as np


class Keeper:
    """The joint counts of a comparison's variants in a folder.

    Parameters
    ----------
    variants, baseline
        What is compared, and the place of what the others are set against.
    games
        How many deals are wanted.
    columns
        The columns to compare; empty for all.
    parent
        The folder.
    """

    def __init__(
        self, variants: Sequence[Variant], baseline: int, games: int, columns: Sequence[str], parent: Path
    ) -> None:
        from analysis.joint import JointCounts

        self.variants = list(variants)
        self.baseline = baseline
        self.games = games
        self.columns = list(columns)
        self.parent = parent
        self.counts = JointCounts([side_of(variant.spec) for variant in variants], baseline, columns or None)

    @property
    def document(self) -> dict[str, Any]:
        """Return what decides the counts; every block's file has it."""
        from sim.jit import kernel_hash
        from sim.provenance import column_notes

        spec = self.variants[0].spec
        return {
            "format": 1,
            "variants": {variant.name: variant.spec.plain() for variant in self.variants},
            "baseline": self.variants[self.baseline].name,
            "compared": self.columns,
            "columns": {variant.name: column_notes(variant.spec.columns) for variant in self.variants},
            "kernel_hash": kernel_hash(f"{spec.game.package}.kernel"),
        }

    def there(self) -> list[Block]:
        """Return the blocks that are there whole; what is broken, or overlaps, is removed.

        Raises
        ------
        RefusedError
            If there are counts of another comparison.
        """
        from analysis.joint_kept import BlockError, range_of, read_joint
        from sim.store import RefusedError

        found: list[Block] = []
        names = sorted(name for name in os.listdir(self.parent) if range_of(name)) if self.parent.exists() else []
        wanted = json.loads(json.dumps(self.document))
        for name in names:
            try:
                document = read_joint(self.parent / name)
            except BlockError:
                (self.parent / name).unlink()
                continue
            for key, value in wanted.items():
                if document.get(key) != value:
                    where = f"{self.parent / name} is of another comparison ({key} differs)"
                    raise RefusedError(f"{where}; give another folder")
            first, n_games = range_of(name) or (0, 0)
            if first + n_games > self.games:
                raise RefusedError(
                    f"{self.parent} holds more than {self.games:,} games; ask for as many, or give another folder"
                )
            found.append(Block(first, n_games))
        return found

    def play(self, voice: Voice, threads: int | None, *, shown: bool) -> None:
        """Play what is missing; leave with status 130 if interrupted on the way."""
        from sim.store import gaps

        there = self.there()
        missing = gaps(there, self.games)
        title, seed = self.variants[0].spec.game.title, self.variants[0].spec.seed
        if not missing:
            voice.say(f"{self.parent} is complete: {self.games:,} games of {title}, nothing to play.")
            return
        n_there = sum(block.games for block in there)
        voice.say(
            f"Playing {len(self.variants)} variants of {title} on the same {self.games:,} deals"
            f"{f' ({n_there:,} are there)' if n_there else ''}, seed {seed}, keeping counts alone in {self.parent}"
        )
        with Progress(voice, shown=shown) as progress, stopping(progress) as stop:
            done = self._play(missing, n_there, threads, voice, progress, stop)
            if done < sum(n for _, n in missing):
                interrupted(n_there + done, self.parent)

    def _play(
        self,
        missing: list[tuple[int, int]],
        n_there: int,
        threads: int | None,
        voice: Voice,
        progress: Progress,
        stop: threading.Event,
    ) -> int:
        with voice.about_compiling():
            self._player = Together(self.variants)
            how: dict[str, Any] = {"store": self._finish, "progress": progress, "n_there": n_there, "stop": stop}
            tally = play_together(self._player, missing, self._write, threads, **how)
        voice.say(
            f"Played {tally.n_played:,} deals in {tally.seconds:.3g} s, "
            f"{tally.n_played * len(self.variants) / max(tally.seconds, 1e-9):,.0f} games a second"
        )
        return tally.n_played

    def _write(self, first: int, arrays: list[np.ndarray[Any, Any]]) -> Callable[[], None]:
        """Count a block's games and write the counts, in the thread that played them; return what makes them appear."""
        from analysis.joint_kept import encode, name_of
        from sim.storage import begin_file, telling

        counted = count_block(self.counts, self._player, self._player.split(arrays))
        n_games = len(arrays[0])
        data = encode({**self.document, "range": {"first": first, "games": n_games}, "joint": counted.to_json()})
        with telling(self.parent):
            return begin_file(self.parent / name_of(first, n_games), data)

    def _finish(self, appear: Callable[[], None]) -> None:
        """Wait until a block's counts are there."""
        from sim.storage import telling

        with telling(self.parent):
            appear()


__all__ = ["Keeper"]
