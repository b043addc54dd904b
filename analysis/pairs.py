"""The same deals in several results: rows matched by their game index, batch by batch.

Common random numbers make game number i the same deal under every variant, so the games are pairs. `aligned` walks
through all results at once and hands out rows of the same games; memory is bounded by a batch of each, not by the
number of games.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.load import (
    BATCH_ROWS,
    INDEX,
    LoadError,
    Rows,
    Run,
    is_path,
    open_rows,
    opened,
    provenance_of,
    to_numpy,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd
    import pyarrow as pa

    Source: TypeAlias = str | os.PathLike[str] | Rows | pa.Table | pd.DataFrame

Array = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True)
class Side:
    """Results that are to be matched with others.

    Attributes
    ----------
    name
        What errors call it.
    n_rows
        Its games.
    read
        Gives the named columns in batches, in the order of the game index.
    """

    name: str
    schema: pa.Schema
    run: Run
    n_rows: int
    read: Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]


def open_side(source: Source, name: str | None = None) -> Side:
    """Return a source ready to be matched; a table in memory is put in the order of its games.

    Raises
    ------
    LoadError
        If it cannot be read, or has no column ``game`` of whole numbers.
    """
    import pyarrow as pa

    if is_path(source):
        name = name or str(source)
        source = open_rows(source)
    if isinstance(source, Rows):
        name, schema, run, n_rows = name or str(source.path), source.schema, source.run, source.n_rows
        _check_index(schema, name)
        return Side(name, schema, run, n_rows, source.batches)
    table = source if isinstance(source, pa.Table) else pa.Table.from_pandas(source, preserve_index=False)
    name = name or "the table"
    _check_index(table.schema, name)
    ordered = table.sort_by(INDEX)

    def read(columns: Sequence[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        yield from ordered.select(list(columns)).to_batches(max_chunksize=batch_rows)

    return Side(name, table.schema, Run.read(provenance_of(table.schema)), table.num_rows, read)


def check_pairing(sides: Sequence[Side]) -> None:
    """Make sure that the results are of the same deals, as far as they say what they are of.

    Raises
    ------
    LoadError
        If they are of different games, seeds or random streams.
    """
    first = sides[0]
    for side in sides[1:]:
        for what, key in (("game", "game"), ("seed", "seed"), ("random scheme", "random_scheme")):
            ours, theirs = (_said(s.run, key) for s in (first, side))
            if ours is not None and theirs is not None and ours != theirs:
                raise LoadError(
                    f"{first.name} and {side.name} are not the same deals: {what} {ours} there, {theirs} here; "
                    "play both with one game and one --seed"
                )


def _said(run: Run, key: str) -> Any:
    spec = run.document.get("spec")
    return spec.get(key) if isinstance(spec, Mapping) else run.document.get(key)


def _check_index(schema: pa.Schema, name: str) -> None:
    import pyarrow as pa

    if INDEX not in schema.names or not pa.types.is_integer(schema.field(INDEX).type):
        raise LoadError(f"{name} has no column '{INDEX}' of whole numbers, by which deals are matched")


def aligned(
    sides: Sequence[Side], columns: Sequence[Sequence[str]], batch_rows: int = BATCH_ROWS
) -> Iterator[tuple[Array, list[pa.RecordBatch]]]:
    """Yield game indices and each side's rows of exactly these games; games that a side lacks are passed over.

    Parameters
    ----------
    columns
        For each side the columns to read.

    Raises
    ------
    LoadError
        If a side's games are not in ascending order, each once.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="reader") as reader:
        cursors = [_Cursor(side, names, batch_rows, reader) for side, names in zip(sides, columns, strict=True)]
        yield from _matched(cursors)


def _matched(cursors: Sequence[_Cursor]) -> Iterator[tuple[Array, list[pa.RecordBatch]]]:
    while all(cursor.fill() for cursor in cursors):
        end = min(cursor.index[-1] for cursor in cursors)
        taken = [cursor.take(end) for cursor in cursors]
        indices = [index for index, _ in taken]
        if all(np.array_equal(indices[0], index) for index in indices[1:]):
            yield indices[0], [rows for _, rows in taken]
            continue
        common = functools.reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), indices)
        if len(common):
            yield common, [_select(rows, np.searchsorted(index, common)) for index, rows in taken]


def rows_between(
    paths: Sequence[Path], columns: Sequence[str], first: int, end: int, batch_rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the games first … end - 1 from some parts, in their order; with the game index if it is named.

    Raises
    ------
    LoadError
        If a part cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = list(dict.fromkeys([INDEX, *columns]))
    for path in paths:
        try:
            with pq.ParquetFile(opened(path), page_checksum_verification=True) as file:
                for batch in file.iter_batches(batch_size=batch_rows, columns=wanted):
                    index = to_numpy(batch.column(INDEX))[0]
                    low, high = np.searchsorted(index, [first, end]).tolist()
                    if low < high:
                        yield batch.slice(low, high - low)
        except (OSError, pa.ArrowException) as error:
            raise LoadError(f"{path} cannot be read as Parquet: {error}") from error


class _Cursor:
    """A place in one side's rows; the next batch is read by another thread while this one is looked at."""

    def __init__(self, side: Side, columns: Sequence[str], batch_rows: int, reader: ThreadPoolExecutor) -> None:
        self.name = side.name
        self.index: Array = np.empty(0, np.uint64)
        self._columns = list(columns)
        self._batches = side.read([INDEX, *(name for name in columns if name != INDEX)], batch_rows)
        self._rows: pa.RecordBatch = None
        self._last = -1
        self._reader = reader
        self._ahead = reader.submit(next, self._batches, None)

    def fill(self) -> bool:
        """Read on if there are no rows at hand; return False at the end."""
        while not len(self.index):
            batch = self._ahead.result()
            if batch is None:
                return False
            self._ahead = self._reader.submit(next, self._batches, None)
            self._rows = batch
            self.index = self._read_index(batch)
        return True

    def take(self, end: Any) -> tuple[Array, pa.RecordBatch]:
        """Return the rows up to the game `end`, and move on."""
        n_rows = int(np.searchsorted(self.index, end, "right"))
        taken = self.index[:n_rows], self._rows.slice(0, n_rows)
        self.index, self._rows = self.index[n_rows:], self._rows.slice(n_rows)
        return taken

    def _read_index(self, batch: pa.RecordBatch) -> Array:
        index, valid = to_numpy(batch.column(INDEX))
        if valid is not None or (len(index) and index.min() < 0):
            raise LoadError(f"{self.name}: column '{INDEX}' holds something that is no game index")
        index = index.astype(np.uint64, copy=False)
        if len(index):
            if int(index[0]) <= self._last or (index[1:] <= index[:-1]).any():
                raise LoadError(f"{self.name}: the games are not in ascending order, each once: no pairing")
            self._last = int(index[-1])
        return index


def _select(rows: pa.RecordBatch, positions: Array) -> pa.RecordBatch:
    import pyarrow as pa

    if len(positions) == rows.num_rows:
        return rows
    wanted = pa.Array.from_buffers(pa.int64(), len(positions), [None, pa.py_buffer(positions.astype(np.int64))])
    return rows.take(wanted)
