"""One Parquet part of a results folder: its schema, and how it is written and checked."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim import pages, storage
from sim.outcome import Column
from sim.pages import INDEX as INDEX
from sim.pages import schema as schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

PROVENANCE = b"fairdeal"
"""Key of the provenance in a part's Parquet metadata."""

_PART = re.compile(r"part-(\d{12})-(\d{12})\.parquet")
_STRAY = re.compile(r"\.(part-\d{12}-\d{12}\.parquet|counts-\d{12}-\d{12}\.json|_run\.json)\.[0-9a-f]{32}\.tmp")


class PartError(ValueError):
    """A part that is damaged, cut short, or not what its name says."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A finished part.

    Attributes
    ----------
    first, games
        The range of game indices, one row each.
    size
        Bytes in the file.
    footer
        SHA-256 of the file's last bytes, from the Parquet footer on: enough to know a file by without reading it all.
    sha256
        That of the whole file.
    """

    first: int
    games: int
    size: int
    footer: str
    sha256: str

    @property
    def name(self) -> str:
        """Return the file's name: a function of the range alone."""
        return f"part-{self.first:012d}-{self.first + self.games - 1:012d}.parquet"

    @property
    def end(self) -> int:
        """Return the game index after the last."""
        return self.first + self.games

    def overlaps(self, other: Part) -> bool:
        """Tell whether two parts share a game."""
        return self.first < other.end and other.first < self.end

    def plain(self) -> dict[str, Any]:
        """Return the part as JSON has it."""
        return {"name": self.name, **dataclasses.asdict(self)}


def range_of(name: str) -> tuple[int, int] | None:
    """Return (first, games) of a part's file name, or None if it is none."""
    match = _PART.fullmatch(name)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    return (first, last - first + 1) if last >= first else None


def is_stray(name: str) -> bool:
    """Tell whether `name` is a temporary file that a killed process left."""
    return _STRAY.fullmatch(name) is not None


def to_table(columns: Sequence[Column], first: int, arrays: Sequence[np.ndarray[Any, Any]]) -> pa.Table:
    """Return a block's rows (as `sim.runner.Rows` has them) as an Arrow table.

    Buffers are shared, not copied, except for shares, which become fractions. (``pyarrow.array`` would import pandas.)
    """
    import numpy as np
    import pyarrow as pa

    data = [_wrap(np.arange(first, first + len(arrays[0]), dtype=np.uint64))]
    for column, array in zip(columns, arrays, strict=True):
        if column.text:
            data.append(_strings(array.tolist(), column.present(array)))
            continue
        values = _wrap(column.decode(array) if column.share else array, column.present(array))
        if column.categories:
            values = pa.DictionaryArray.from_arrays(values, _strings(column.categories), safe=False)
        data.append(values)
    return pa.Table.from_arrays(data, schema=schema(columns))


def to_arrays(columns: Sequence[Column], table: pa.Table) -> list[np.ndarray[Any, Any]]:
    """Return the rows of a table as a kernel writes them; the columns may not be shares."""
    import numpy as np

    arrays = []
    for column in columns:
        values = table[column.name].combine_chunks()
        if column.text:
            arrays.append(np.array([text or "" for text in values.to_pylist()], object))
            continue
        if column.categories:
            values = values.indices
        elif column.optional:
            values = values.fill_null(column.low - 1)
        arrays.append(values.to_numpy(zero_copy_only=False))
    return arrays


def _wrap(array: np.ndarray[Any, Any], present: np.ndarray[Any, Any] | None = None) -> pa.Array:
    import pyarrow as pa

    buffers = [_bits(present), pa.py_buffer(array)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), buffers)


def _bits(present: np.ndarray[Any, Any] | None) -> pa.Buffer | None:
    import numpy as np
    import pyarrow as pa

    return None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))


def _strings(words: Sequence[str], present: np.ndarray[Any, Any] | None = None) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    encoded = [word.encode() for word in words]
    offsets = np.cumsum([0, *map(len, encoded)]).astype(np.int32)
    text = pa.py_buffer(b"".join(encoded))
    return pa.Array.from_buffers(pa.string(), len(words), [_bits(present), pa.py_buffer(offsets), text])


def encode(
    columns: Sequence[Column], document: Mapping[str, Any], first: int, arrays: Sequence[np.ndarray[Any, Any]]
) -> tuple[Part, memoryview]:
    """Return a block as a part, and its file.

    Parameters
    ----------
    document
        What `sim.provenance.describe` returns; the range is added.
    arrays
        The columns, as `sim.runner.Rows` has them.
    """
    n_games = len(arrays[0])
    provenance = {**document, "range": {"first": first, "games": n_games}}
    data = memoryview(pages.encode(columns, first, arrays, {PROVENANCE: json.dumps(provenance).encode()}))
    footer = data[-_footer_size(bytes(data[-8:])) :]
    return Part(first, n_games, len(data), _hash(footer), _hash(data)), data


def _footer_size(tail: bytes) -> int:
    """Return the bytes from the footer to the end of the file, given its last eight bytes."""
    if len(tail) != 8 or tail[4:] != b"PAR1":
        raise PartError("it does not end as a Parquet file does")
    return int.from_bytes(tail[:4], "little") + 8


def _hash(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()


def is_whole(path: Path, part: Part) -> bool:
    """Tell whether the file is there and has every byte that was written.

    Raises
    ------
    OSError
        If it is there but cannot be read.
    """
    try:
        return _hash(storage.read(path)) == part.sha256
    except FileNotFoundError:
        return False


def inspect(path: Path) -> tuple[Part, dict[str, Any]]:
    """Return what a part is, and its provenance, from its name and its footer.

    Raises
    ------
    PartError
        If the file is not a whole part; the message says why, without naming it.
    OSError
        If it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    named = range_of(path.name)
    if named is None:
        raise PartError("its name is not a part's")
    data = storage.read(path)
    length = _footer_size(data[-8:])
    if length > len(data):
        raise PartError("it is cut short")
    try:
        metadata = pq.read_metadata(pa.BufferReader(data))
        document = json.loads((metadata.metadata or {})[PROVENANCE])
        span = (document["range"]["first"], document["range"]["games"])
    except (KeyError, TypeError, ValueError, pa.ArrowException, OSError) as error:
        raise PartError("its footer is damaged or not a part's") from error
    if span != named or metadata.num_rows != span[1]:
        raise PartError(f"its name, its provenance and its {metadata.num_rows} rows do not agree")
    return Part(*named, len(data), _hash(data[-length:]), _hash(data)), document


def read(path: Path) -> pa.Table:
    """Return a part's rows, its checksums verified.

    Raises
    ------
    PartError
        If it cannot be decoded.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(storage.source(path), page_checksum_verification=True) as file:
            table = file.read()
            table.validate(full=True)
            return table
    except (OSError, pa.ArrowException) as error:
        raise PartError(f"it cannot be decoded ({str(error).splitlines()[0]})") from error
