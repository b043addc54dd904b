"""The Parquet writer: what it writes, other readers read."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sim import Spec, pages, part, runner
from sim.outcome import Column
from tests.toy import ENDS, GAME

COLUMNS = [
    Column("one", "never anything else", low=7, high=7),
    Column("two", "", high=1),
    Column("three", "", low=-1, high=1),
    Column("few", "", low=3, high=18),
    Column("byte", "", high=255),
    Column("signed", "", low=-128, high=127),
    Column("short", "", low=-30_000, high=30_000),
    Column("word", "", high=2**16 - 1),
    Column("long", "", high=2**31 - 1),
    Column("negative", "", low=-(2**31), high=2**31 - 1),
    Column("longest", "", low=-(2**62), high=2**62),
    Column("end", "", categories=ENDS),
    Column("ä", "", categories=("ää", "")),
    Column("share", "", share=True),
]


def rows_of(n, seed=1):
    numbers = np.random.default_rng(seed)
    arrays = []
    for column in COLUMNS:
        low, high = runner.bounds(column)
        values = numbers.integers(low, high, n, endpoint=True)
        arrays.append(values.astype(np.uint8 if column.share else column.storage))
    return arrays


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 127, 128, 129, 130, 257, 1000, 100_000])
def test_pyarrow_reads_what_is_written(monkeypatch, n):
    monkeypatch.setattr(pages, "PAGE_ROWS", 16_384)
    arrays = rows_of(n, n)
    data = pages.encode(COLUMNS, 2**40, arrays, {b"fairdeal": b"{}"})
    with pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True) as file:
        table = file.read()
        assert file.metadata.num_rows == n
        assert file.metadata.metadata[b"fairdeal"] == b"{}"
    table.validate(full=True)
    assert not any(field.nullable for field in table.schema)
    wanted = part.to_table(COLUMNS, 2**40, arrays)
    assert table.schema.remove_metadata() == wanted.schema
    pd.testing.assert_frame_equal(table.to_pandas(), wanted.to_pandas())


def test_readers_without_arrow_in_mind_read_it():
    arrays = rows_of(300)
    data = pages.encode(COLUMNS, 0, arrays, {})
    table = pq.ParquetFile(pa.BufferReader(data)).read()
    plain = pq.read_table(pa.BufferReader(data), read_dictionary=[])
    assert plain["end"].cast(pa.string()).to_pylist() == [ENDS[i] for i in arrays[11]]
    schema = pq.read_schema(pa.BufferReader(data)).remove_metadata()
    assert schema == table.schema.remove_metadata()


@pytest.mark.parametrize("n_values", [1, 2, 3, 4, 5, 16, 17, 256, 257, 65536])
@pytest.mark.parametrize("n", [1, 7, 8, 31, 32, 33])
def test_packing_can_be_undone(n, n_values):
    indices = np.random.default_rng(1).integers(0, n_values, n).astype(np.uint8 if n_values <= 256 else np.uint16)
    packed = pages.pack(indices, n_values)
    width = packed[0]
    assert 2**width >= n_values
    body = packed[1 + len(pages._varint(-(-n // 8) << 1 | 1)) :]
    assert len(body) == -(-n // 8) * width
    bits = int.from_bytes(body, "little")
    assert [bits >> i * width & (2**width - 1) for i in range(n)] == indices.tolist()


def test_toy_game_is_the_same_by_both_writers():
    player = runner.ready(Spec.build(GAME))
    kept = {}
    runner.play(player, [(10, 5000)], lambda first, arrays: kept.update({first: arrays}), block=5000)
    ours = pq.read_table(pa.BufferReader(pages.encode(player.columns, 10, kept[10], {}))).to_pandas()
    pd.testing.assert_frame_equal(ours, part.to_table(player.columns, 10, kept[10]).to_pandas())
