"""Comparisons counted while they are played: the same answer as from the rows, however they came to be there."""

import itertools
import json
import os
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from analysis.joint import JointCounts, Values
from analysis.pairs import open_side
from analysis.sums import STEP, Joint, distinct, exact_sums
from sim.store import read_manifest
from tests.command_line import call, good

# Ties of several winners, games without a verdict, values that a game lacks, columns that only some variants have.
COMPARISONS = {
    "bussikuski": ["bussikuski", "--vary", "players=2,8", "--vary", "bus=none,diamond", "--games", "5k"],
    "autobus": ["autobus", "--vary", "bus_size=4,6", "--vary", "swap=true,false", "--games", "2k"],
    "no verdict": ["autobus", "--vary", "max_turns=60,90", "--rule", "stalemate_rounds=0", "--games", "2k"],
    "dupa": ["dupa", "--vary", "keep_top=false,true", "--vary", "players=3,4", "--games", "4k"],
    "capped": ["dupa", "--vary", "max_turns=12,20", "--variant", "table", "--games", "4k"],
    "bludiste": ["bludiste", "--vary", "columns=8,9,10", "--games", "2k"],
    "solver": ["bludiste", "--vary", "policy=solver:20,solver:200", "--games", "200"],
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def variants(folder: str) -> list[Path]:
    return sorted(path for path in Path(folder).iterdir() if path.is_dir())


@pytest.mark.parametrize("words", COMPARISONS.values(), ids=COMPARISONS)
def test_counted_in_memory_or_read_back_the_answer_is_the_same(words: list[str]) -> None:
    command = ["compare", *words, "--json", "--out", "both", "--threads", "2"]
    played = call(*command)
    assert played.exit_code == 0, played.output
    assert "counted meanwhile" in played.stderr
    read = call(*command)
    assert "nothing to play" in read.stderr
    assert played.stdout == read.stdout
    assert any(entry["differing"] for entry in json.loads(read.stdout)["differences"])


@pytest.mark.parametrize("column", ["win_share", "bus_end", "points_1"])
def test_columns_chosen_are_counted_alike(column: str) -> None:
    command = ["compare", *COMPARISONS["bussikuski"], "--column", column, "--out", "both", "--quiet"]
    assert good(*command) == good(*command)


def test_what_variants_lack_in_different_places_is_played_and_counted_once() -> None:
    words = ["compare", "bussikuski", "--vary", "bus_stake=by_row,flat", "--vary", "players=3,4", "--threads", "2"]
    good(*words, "--games", "30k", "--out", "whole", "--quiet")
    good(*words, "--games", "20k", "--out", "mended", "--quiet")
    first, second, third, _ = variants("mended")
    # One variant lost the part of its first games, another that of its last, a third one everything.
    sorted(first.glob("*.parquet"))[0].unlink()
    sorted(second.glob("*.parquet"))[-1].unlink()
    for path in third.iterdir():
        path.unlink()
    mended = call(*words, "--games", "30k", "--out", "mended", "--json")
    assert mended.exit_code == 0, mended.output
    assert "counted meanwhile" in mended.stderr
    told = [json.loads(text) for text in (mended.stdout, good(*words, "--games", "30k", "--out", "whole", "--json"))]
    assert [one.pop("folder") for one in told] == ["mended", "whole"]
    assert told[0] == told[1]
    for ours, theirs in zip(variants("mended"), variants("whole"), strict=True):
        assert read_manifest(ours).complete
        assert pa.concat_tables(rows(ours)).equals(pa.concat_tables(rows(theirs)))


def rows(folder: Path) -> list[pa.Table]:
    import pyarrow.parquet as pq

    return [pq.read_table(path).replace_schema_metadata(None) for path in sorted(folder.glob("*.parquet"))]


def test_time_spent_is_each_variant_s_own() -> None:
    words = ["--vary", "policy=greedy,planner", "--variant", "table", "--games", "400", "--threads", "1"]
    good("compare", "autobus", *words, "--out", "both", "--quiet")
    seconds = {folder.name: read_manifest(folder).seconds for folder in variants("both")}
    assert seconds["policy=planner"] > seconds["policy=greedy"] > 0


def test_a_full_disk_is_one_line_and_the_command_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["compare", "bussikuski", "--vary", "bus_stake=by_row,flat", "--games", "20k", "--threads", "1"]
    good(*words, "--out", "whole", "--quiet")
    real, left = os.fsync, iter(range(20))

    def full(file: int) -> None:
        real(file)
        if next(left, None) is None:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        stopped = call(*words, "--out", "full")
    assert stopped.exit_code == 1
    assert stopped.stdout == ""
    assert "no space left on device; what is finished is kept: make room" in stopped.stderr.splitlines()[-1]
    assert good(*words, "--out", "full", "--quiet") == good(*words, "--out", "whole", "--quiet")


# Sums


@pytest.mark.parametrize("largest", [1, 4, 90, 127, 300, 5_000, 2**19 - 1, 2**20, 2**40])
@pytest.mark.parametrize("n_games", [1, 63, 2_049, STEP + 5])
def test_sums_and_products_are_exact(largest: int, n_games: int) -> None:
    rng = np.random.default_rng(largest + n_games)
    kind = next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if largest <= np.iinfo(kind).max)
    numbers = rng.integers(-largest, largest, (3, n_games), endpoint=True).astype(kind)
    numbers[:, -1] = largest, -largest, largest
    sums, products = exact_sums(numbers)
    plain = [[int(x) for x in row] for row in numbers]
    assert sums.tolist() == [sum(row) for row in plain]
    wanted = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in plain] for a in plain]
    assert products.tolist() == wanted


@pytest.mark.parametrize("n_games", [1, 8, 63, 64, 65, STEP + 1])
def test_truth_values_are_counted_exactly(n_games: int) -> None:
    truths = np.random.default_rng(n_games).random((5, n_games)) < 0.4
    sums, products = exact_sums(truths)
    assert sums.tolist() == truths.sum(axis=1).tolist()
    assert products.tolist() == [[int((a & b).sum()) for b in truths] for a in truths]


def test_numbers_can_be_replaced() -> None:
    rng = np.random.default_rng(5)
    old, new = rng.integers(0, 9, (2, 3, 100))
    changed, wanted = Joint(3), Joint(3)
    changed.add(np.concatenate([old, new], axis=1))
    changed.replace(old[:, :40], new[:, :40], 1)
    wanted.add(np.concatenate([new[:, :40], old[:, 40:], new], axis=1))
    assert changed.to_json() == wanted.to_json()


def test_rows_that_are_alike_are_found() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 3, (2, 1_000), np.int8)
    late = a.copy()
    late[-1] += 1
    found, places = distinct(np.stack([a, b, a, late, b]))
    assert (found, places) == ([0, 1, 3], [0, 1, 0, 2, 1])


def test_blocks_are_merged_in_any_order() -> None:
    rng = random.Random(3)
    n = 900
    tables = []
    for shift in (0, 1, 2):
        points = [(game * (7 + shift)) % 23 for game in range(n)]
        ends = [("won", "turn_cap", "stuck")[(game // (3 + shift)) % 3] for game in range(n)]
        tables.append(pa.table({"game": range(n), "points": points, "end": ends}))
    sides = [open_side(table, str(place)) for place, table in enumerate(tables)]

    def values(table: pa.Table, name: str, start: int, end: int) -> Values:
        known = ("won", "stuck", "turn_cap")
        told = table[name].to_pylist()[start:end]
        if name == "end":
            return Values(np.array([known.index(word) for word in told], np.int8), words=known)
        return Values(np.array(told, np.int16))

    whole = JointCounts(sides, 1)
    whole.add([table.combine_chunks().to_batches()[0] for table in tables])
    cuts = [0, *sorted(rng.sample(range(1, n), 6)), n]
    spans = list(itertools.pairwise(cuts))
    for _ in range(5):
        rng.shuffle(spans)
        merged = JointCounts(sides, 1)
        for start, end in spans:
            block = merged.fresh()
            columns = {name: [values(table, name, start, end) for table in tables] for name in block.read}
            block.add_values(columns, end - start)
            merged.merge(block)
        told = [{measure.name: (measure, found.to_json()) for measure, found in c.measures()} for c in (merged, whole)]
        assert told[0] == told[1]
        assert (merged.games, merged.differing, merged.undecided) == (n, whole.differing, whole.undecided)
