"""Turns blocks of a run into the files of its folder: parts of rows, or files of counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sim import kept, storage
from sim import part as parts_on_disk
from sim.game import Spec
from sim.part import Part, PartError
from sim.provenance import describe
from sim.storage import StoreError, telling

if TYPE_CHECKING:
    import numpy as np

    from sim.counts import Counter

Begun: TypeAlias = tuple[Part, Callable[[], None]]
"""A part, and what makes it appear."""

ROWS, SUMMARY = "rows", "summary"
KEEPS = (ROWS, SUMMARY)


class Writer:
    """Writes blocks of one run; safe in any thread.

    Attributes
    ----------
    document
        The provenance that stands in every file.
    """

    def __init__(
        self, path: Path, spec: Spec, kernel_hash: str, keep: str = ROWS, joint: Sequence[Sequence[str]] = ()
    ) -> None:
        self.path = path
        self.columns = spec.columns
        self.document: dict[str, Any] = json.loads(json.dumps(describe(spec, kernel_hash)))
        self._counter: Counter | None = None
        if keep == SUMMARY:
            from sim.counts import Counter

            by_policy = any(len(set(names)) > 1 for names in spec.policies.values())
            self._counter = Counter(spec.columns, joint, by_policy=by_policy)
            self.document |= {"keep": keep, "joint": [list(group) for group in joint]}

    def begin(self, first: int, arrays: Sequence[np.ndarray[Any, Any]]) -> Begun:
        """Write a block's rows as a part, or its counts; nothing is there before `finish` is called.

        Raises
        ------
        StoreError
            If it cannot be written; nothing of the part is left behind.
        """
        part, data = self._encode(first, arrays)
        with telling(self.path):
            return part, storage.begin_file(self.path / part.name, data)

    def finish(self, begun: Begun) -> Part:
        """Wait until what was begun is there, whole; return it.

        Raises
        ------
        StoreError
            If it cannot be written; nothing of the part is left behind.
        """
        part, appear = begun
        with telling(self.path):
            appear()
        return part

    def write_once(self, first: int, arrays: Sequence[np.ndarray[Any, Any]]) -> Part:
        """Write a block unless it lies there whole already; return what lies there.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        part, data = self._encode(first, arrays)
        with telling(self.path):
            if storage.write_once(self.path / part.name, data):
                return part
            there = self.there(first, part.games)
            if there is None:
                storage.replace_file(self.path / part.name, data)
            return there or part

    def there(self, first: int, n_games: int) -> Part | None:
        """Return the file of a block if it lies there, whole and of this run.

        Raises
        ------
        StoreError
            If it cannot be read.
        """
        kind = Part if self._counter is None else kept.Kept
        path = self.path / kind(first, n_games, 0, "", "").name
        with telling(self.path):
            try:
                part, document = inspect(path)
            except (PartError, FileNotFoundError):
                return None
        return part if self.is_ours(document) else None

    def is_ours(self, document: Any) -> bool:
        """Tell whether a file with this provenance is one of this run, as this writer writes it."""
        decisive = ("format", "spec", "kernel_hash", "columns", "keep", "joint")
        return all(document.get(key) == self.document.get(key) for key in decisive)

    def _encode(self, first: int, arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[Part, bytes | memoryview]:
        if self._counter is None:
            return parts_on_disk.encode(self.columns, self.document, first, arrays)
        try:
            return kept.encode(self._counter, self.document, first, arrays)
        except ValueError as error:
            raise StoreError(f"--joint: {error}") from error


def inspect(path: Path) -> tuple[Part, dict[str, Any]]:
    """Return what a part or a file of counts is, and its provenance; see `sim.part.inspect`."""
    return kept.inspect(path) if kept.range_of(path.name) else parts_on_disk.inspect(path)


__all__ = ["KEEPS", "ROWS", "SUMMARY", "Writer", "inspect"]
