"""A Parquet writer for results: columns of small whole numbers, none of them null, packed by numpy.

Own code in place of a library because writing must cost less than a quarter of a run: a million rows of Bussikuski take
300 to 500 ms of a processor to play, and to write 140 at best and 160 to 190 at a good size by pyarrow 26 (456 by its
defaults), 340 by polars, 385 by DuckDB, 540 by arrow-rs; here 70, in half the space. pyarrow still supplies the schema
and zstd, and does all reading. Here a column is a dictionary (the run of
whole numbers from its least to its greatest value, a category's words, a share's fractions) and its rows are indices of
1, 2, 4, 8 or 16 bits, put together by a few operations on whole arrays; zstd does the rest. The files are ordinary
Parquet, format 2: any reader takes them.

References
----------
apache/parquet-format: Encodings.md (RLE_DICTIONARY, DELTA_BINARY_PACKED), parquet.thrift; Thrift's compact protocol.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sim.outcome import MOST_WINNERS, Column

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

INDEX = "game"
PAGE_ROWS = 2**19  # a whole block: above 256 KB zstd looks for longer repeats only, and is a sixth faster
LEVEL = 1
_MAGIC = b"PAR1"
_INT32, _INT64, _DOUBLE, _BYTES = 1, 2, 5, 6
_PLAIN, _RLE, _DELTA, _DICTIONARY = 0, 3, 5, 8
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_ZSTD, _UTF8 = 6, 0
# numpy type → physical type, converted type, bits, signed
_TYPES = {
    "u1": (_INT32, 11, 8, False),
    "u2": (_INT32, 12, 16, False),
    "u4": (_INT32, 13, 32, False),
    "u8": (_INT64, 14, 64, False),
    "i1": (_INT32, 15, 8, True),
    "i2": (_INT32, 16, 16, True),
    "i4": (_INT32, 17, 32, True),
    "i8": (_INT64, 18, 64, True),
}


class Long(int):
    """A 64-bit number in Thrift's eyes."""


class Byte(int):
    """An 8-bit number in Thrift's eyes."""


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 if number >= 0 else (-number << 1) - 1)


def _thrift(value: Any) -> tuple[int, bytes]:
    """Return a value's type code and its bytes in Thrift's compact protocol."""
    match value:
        case Byte():
            return 3, struct.pack("b", value)
        case Long():
            return 6, _zigzag(value)
        case int():
            return 5, _zigzag(value)
        case str():
            return _thrift(value.encode())
        case bytes():
            return 8, _varint(len(value)) + value
        case list():
            items = [_thrift(item) for item in value]
            head = bytes([min(len(items), 15) << 4 | items[0][0]])
            return 9, head + (_varint(len(items)) if len(items) > 14 else b"") + b"".join(item for _, item in items)
        case _:
            return 12, _record(value)


def _record(fields: Mapping[int, Any]) -> bytes:
    """Return a Thrift struct, given its field numbers (ascending) and values."""
    out, last = [], 0
    for number, value in fields.items():
        kind, data = (2 - value, b"") if isinstance(value, bool) else _thrift(value)
        out.append(bytes([number - last << 4 | kind]) + data)
        last = number
    return b"".join(out) + b"\0"


def pack(indices: np.ndarray[Any, Any], n_values: int) -> bytes:
    """Return a page of dictionary indices: their width in bits, then one bit-packed run, the lowest bits first.

    The width is a power of two, so that packing is whole-array arithmetic: neighbours are joined until a byte is full.
    """
    import numpy as np

    width = next(w for w in (1, 2, 4, 8, 16) if n_values <= 1 << w)
    n_groups = -(-len(indices) // 8)
    indices = indices.astype(np.uint8 if width <= 8 else np.uint16, copy=False)
    if len(indices) % 8:
        indices = np.concatenate([indices, np.zeros(-len(indices) % 8, indices.dtype)])
    filled = width
    while filled < 8:
        pairs = indices.view("<u2")
        indices = (pairs | pairs >> (8 - filled)).astype(np.uint8)
        filled *= 2
    return bytes([width]) + _varint(n_groups << 1 | 1) + indices.tobytes()


class _File:
    """A Parquet file of one row group, being put together in memory."""

    def __init__(self) -> None:
        import pyarrow as pa

        self.pieces = [_MAGIC]
        self.size = len(_MAGIC)
        self.chunks: list[dict[int, Any]] = []
        self._codec = pa.Codec("zstd", compression_level=LEVEL)

    def put(self, *pieces: bytes) -> None:
        self.pieces += pieces
        self.size += sum(map(len, pieces))

    def page(self, kind: int, body: bytes, header: dict[int, Any]) -> int:
        """Add a page; return its size before compression."""
        packed = self._codec.compress(body, asbytes=True)
        checksum = struct.unpack("<i", struct.pack("<I", zlib.crc32(packed)))[0]
        head = _record({1: kind, 2: len(body), 3: len(packed), 4: checksum, **header})
        self.put(head, packed)
        return len(head) + len(body)

    def chunk(
        self, name: str, kind: int, n_rows: int, pages: Any, encoding: int, dictionary: tuple[int, bytes] | None = None
    ) -> None:
        """Add a column: its dictionary (number of values, their bytes), then its pages (rows, bytes)."""
        start, plain_size = self.size, 0
        if dictionary is not None:
            plain_size = self.page(_DICTIONARY_PAGE, dictionary[1], {7: {1: dictionary[0], 2: _PLAIN}})
        first_page = self.size
        for rows, body in pages:
            plain_size += self.page(_DATA_PAGE, body, {5: {1: rows, 2: encoding, 3: _RLE, 4: _RLE}})
        about = {
            1: kind,
            2: [encoding, _RLE, _PLAIN],
            3: [name],
            4: _ZSTD,
            5: Long(n_rows),
            6: Long(plain_size),
            7: Long(self.size - start),
            9: Long(first_page),
        }
        self.chunks.append({2: Long(start), 3: about if dictionary is None else {**about, 11: Long(start)}})

    def finish(self, elements: list[dict[int, Any]], n_rows: int, metadata: Mapping[bytes, bytes]) -> bytes:
        """Return the file, its footer added."""
        sizes = [Long(sum(chunk[3][field] for chunk in self.chunks)) for field in (6, 7)]
        group = {1: self.chunks, 2: sizes[0], 3: Long(n_rows), 6: sizes[1]}
        pairs = [{1: key, 2: value} for key, value in metadata.items()]
        footer = _record({1: 2, 2: elements, 3: Long(n_rows), 4: [group], 5: pairs, 6: "fairdeal"})
        self.put(footer, struct.pack("<I", len(footer)), _MAGIC)
        return b"".join(self.pieces)


def _dictionary(column: Column, array: np.ndarray[Any, Any]) -> tuple[int, bytes, Callable[[Any], Any]] | None:
    """Return a column's dictionary (number of values, their bytes) and what turns rows into indices.

    None for a column with too many different values.
    """
    import numpy as np

    if column.text:
        return None
    if column.categories:
        words = [word.encode() for word in column.categories]
        return (
            len(words),
            b"".join(struct.pack("<I", len(word)) + word for word in words),
            lambda rows: rows.view(np.uint8),
        )
    if column.share:
        values = column.decode(np.arange(MOST_WINNERS + 1))
        return len(values), values.astype("<f8").tobytes(), lambda rows: rows
    present = column.present(array)
    there = array if present is None else array[present]
    if not len(there):
        return None
    least, most = int(there.min()), int(there.max())
    kind = np.uint8 if most - least < 256 else np.uint16
    if most - least < 2**16:
        values = np.arange(least, most + 1).astype(_stored(array))
        start = array.dtype.type(least)
        return len(values), values.tobytes(), lambda rows: (rows - start if least else rows).astype(kind, copy=False)
    values = np.unique(there)
    if len(values) > 2**16:
        return None
    return (
        len(values),
        values.astype(_stored(array)).tobytes(),
        lambda rows: np.searchsorted(values, rows).astype(np.uint16),
    )


def _stored(array: np.ndarray[Any, Any]) -> str:
    """Return the numpy name of the physical type."""
    return "<i8" if array.dtype.itemsize == 8 else "<i4"


def schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the Arrow schema of a part: the game index, then the columns."""
    import pyarrow as pa

    fields = [pa.field(INDEX, pa.uint64(), nullable=False)]
    for column in columns:
        kind = pa.string() if column.text else pa.from_numpy_dtype(column.storage)
        if column.categories:
            kind = pa.dictionary(kind, pa.string())
        fields.append(pa.field(column.name, kind, nullable=column.may_lack))
    return pa.schema(fields)


def encode(
    columns: Sequence[Column], first: int, arrays: Sequence[np.ndarray[Any, Any]], metadata: Mapping[bytes, bytes]
) -> bytes:
    """Return a block's rows (as `sim.runner.Rows` has them) as a Parquet file."""
    file, n = _File(), len(arrays[0])
    spans = [(at, min(PAGE_ROWS, n - at)) for at in range(0, n, PAGE_ROWS)]
    file.chunk(INDEX, _INT64, n, ((rows, _count(first + at, rows)) for at, rows in spans), _DELTA)
    elements = [{4: "schema", 5: 1 + len(columns)}, _element(INDEX, "u8")]
    for column, array in zip(columns, arrays, strict=True):
        dictionary = _dictionary(column, array)
        words = column.categories or column.text
        element = _element(column.name, "words" if words else "share" if column.share else array.dtype.str[1:])
        element[3] = int(column.may_lack)
        if dictionary is None:
            file.chunk(column.name, element[1], n, _pages(column, array, spans, _plain), _PLAIN)
        else:
            n_values, values, index = dictionary
            pages = _pages(column, array, spans, _packing(index, n_values))
            file.chunk(column.name, element[1], n, pages, _DICTIONARY, (n_values, values))
        elements.append(element)
    # Readers that know Arrow take the metadata from its schema, others from the footer: it stands in both.
    arrow = base64.b64encode(schema(columns).with_metadata(dict(metadata)).serialize().to_pybytes())
    return file.finish(elements, n, {**metadata, b"ARROW:schema": arrow})


def _pages(
    column: Column,
    array: np.ndarray[Any, Any],
    spans: Sequence[tuple[int, int]],
    body: Callable[[np.ndarray[Any, Any]], bytes],
) -> Iterator[tuple[int, bytes]]:
    """Yield a column's pages (rows, bytes); where values may be lacking, which are there, then those."""
    present = column.present(array)
    for at, rows in spans:
        values = array[at : at + rows]
        if present is None:
            yield rows, body(values)
        else:
            there = present[at : at + rows]
            yield rows, _levels(there) + body(values[there])


def _packing(index: Callable[[Any], Any], n_values: int) -> Callable[[np.ndarray[Any, Any]], bytes]:
    return lambda values: pack(index(values), n_values)


def _levels(present: np.ndarray[Any, Any]) -> bytes:
    """Return a page's definition levels: its length, then one bit-packed run of a bit a row."""
    import numpy as np

    run = _varint(-(-len(present) // 8) << 1 | 1) + np.packbits(present, bitorder="little").tobytes()
    return struct.pack("<I", len(run)) + run


def _plain(values: np.ndarray[Any, Any]) -> bytes:
    """Return values as they are, one after another; texts with their lengths."""
    if values.dtype == object:
        words = [word.encode() for word in values]
        return b"".join(struct.pack("<I", len(word)) + word for word in words)
    return values.astype(_stored(values)).tobytes()


def _count(first: int, n: int) -> bytes:
    """Return the numbers first, first + 1, … delta-coded: every difference is 1, so no bits are left to store."""
    n_blocks = -(-(n - 1) // 128)
    return _varint(128) + _varint(4) + _varint(n) + _zigzag(first) + (_zigzag(1) + bytes(4)) * n_blocks


def _element(name: str, kind: str) -> dict[int, Any]:
    """Return a column's element of the schema."""
    if kind == "words":
        return {1: _BYTES, 3: 0, 4: name, 6: _UTF8, 10: {1: {}}}
    if kind == "share":
        return {1: _DOUBLE, 3: 0, 4: name}
    physical, converted, bits, signed = _TYPES[kind]
    return {1: physical, 3: 0, 4: name, 6: converted, 10: {10: {1: Byte(bits), 2: signed}}}
