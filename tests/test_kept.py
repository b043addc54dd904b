"""Runs that keep counts instead of rows: the same figures, to the last bit, and nothing lost or mixed."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from analysis import LoadError, ask, open_kept, summarise
from analysis.quality import assess
from sim import RefusedError, RuleError, StoreError, check, prepare, read_manifest, run
from sim.counts import Counter
from sim.outcome import Column
from tests.toy import GAME

N = 20_000
BY_SEAT = {"policies": {"policy": "calm,wild"}}


def told(folder):
    found = summarise(folder)
    return json.dumps({**found.to_json(), "quality": assess(found).to_json()})


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows") / "run"
    run(GAME, N, out=folder, **BY_SEAT)
    return folder


@pytest.mark.parametrize(("block", "threads"), [(N, 1), (1_777, 2), (300, 3)])
def test_summary_is_that_of_the_rows(tmp_path, rows, block, threads):
    results = run(GAME, N, out=tmp_path / "kept", keep="summary", block=block, threads=threads, **BY_SEAT)
    assert results.complete
    assert told(tmp_path / "kept") == told(rows)
    assert not list((tmp_path / "kept").glob("*.parquet"))
    with pytest.raises(StoreError, match="keeps counts, no rows"):
        results.frame()


@pytest.mark.parametrize(
    ("game", "how"),
    [
        ("bussikuski", {"policies": {"guess": "own,counting,random,own"}}),
        ("bussikuski", {"rules": {"players": 2, "bus": "questions"}}),
        ("autobus", {"policies": "planner,greedy,greedy,random"}),
        ("dupa", {"rules": {"players": 5}}),
        ("bludiste", {}),
    ],
)
def test_every_game(tmp_path, game, how):
    run(game, 1_500, out=tmp_path / "rows", **how)
    run(game, 1_500, out=tmp_path / "kept", keep="summary", block=600, **how)
    assert told(tmp_path / "kept") == told(tmp_path / "rows")


def test_conditions_on_columns_that_were_counted_together(tmp_path, rows):
    run(GAME, N, out=tmp_path / "kept", keep="summary", joint=[["points", "kind"]], block=3_000, **BY_SEAT)
    for condition, given in [
        ("points_0 > 2 * points_1", None),
        ("points_0 + points_1 > 150 and kind == 2", "points_0 != 7"),
        ("end == 'won' and last == 1", None),
        ("win_share_0 > win_share_1", "win_share_1 < 1"),
        ("balance < 0", None),
        ("total > 10", None),
    ]:
        plain, counted = (ask(folder, condition, given=given).to_json() for folder in (rows, tmp_path / "kept"))
        assert {**plain, "results": None} == {**counted, "results": None}
    with pytest.raises(LoadError, match=r"did not count balance and kind together; play it with --joint balance,kind"):
        ask(tmp_path / "kept", "balance > kind")
    with pytest.raises(LoadError, match="no rows: this needs the rows"):
        ask([tmp_path / "kept", rows], "a.kind == b.kind")


def test_killed_and_resumed(tmp_path, rows):
    out = tmp_path / "kept"
    code = (
        f"from tests.toy import GAME; from sim import run; "
        f"run(GAME, {N}, rules={{'pace': 60}}, out={str(out)!r}, block=250, keep='summary')"
    )
    there = 0
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        end = time.monotonic() + 60
        while len(list(out.glob("counts-*"))) < there + 4:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        there = len(list(out.glob("counts-*")))
    assert 0 < there * 250 < N
    results = run(GAME, N, rules={"pace": 60}, out=out, keep="summary", threads=8)
    assert 0 < results.n_played < N
    whole = run(GAME, N, out=tmp_path / "whole", keep="summary")
    assert whole.complete
    assert summarise(out).to_json()["columns"] == summarise(tmp_path / "whole").to_json()["columns"]
    assert check(out) == []
    assert not list(out.glob(".*.tmp"))


@pytest.mark.parametrize("damage", ["cut", "flip", "delete"])
def test_damaged_counts_are_found_and_played_again(tmp_path, damage):
    out = tmp_path / "kept"
    run(GAME, 3_000, out=out, keep="summary", block=1_000)
    whole = told(out)
    path = sorted(out.glob("counts-*"))[1]
    data = path.read_bytes()
    if damage == "delete":
        path.unlink()
    else:
        middle = len(data) // 2
        path.write_bytes(
            data[:middle] if damage == "cut" else data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        )
    with pytest.raises(LoadError, match=path.name):
        open_kept(out)
    assert any(path.name in problem for problem in check(out))
    if damage == "flip":  # of the right size it is not looked into at every start; the message says to delete it
        path.unlink()
    assert run(GAME, 3_000, out=out, keep="summary").n_played == 1_000
    assert told(out) == whole


def test_rows_and_counts_are_not_mixed(tmp_path):
    run(GAME, 1_000, out=tmp_path / "rows")
    run(GAME, 1_000, out=tmp_path / "kept", keep="summary")
    with pytest.raises(RefusedError, match="keeps rows, not summary"):
        run(GAME, 2_000, out=tmp_path / "rows", keep="summary")
    with pytest.raises(RefusedError, match="keeps summary, not rows"):
        run(GAME, 2_000, out=tmp_path / "kept")
    with pytest.raises(RefusedError, match="counts no columns together"):
        run(GAME, 2_000, out=tmp_path / "kept", keep="summary", joint=[["kind", "last"]])
    with pytest.raises(RefusedError, match="holds another run: seed 1 there, 2 here"):
        run(GAME, 2_000, out=tmp_path / "kept", keep="summary", seed=2)
    (tmp_path / "rows" / "counts-000000005000-000000005999.json").write_bytes(b"{}")
    assert run(GAME, 1_000, out=tmp_path / "rows").complete
    assert run(GAME, 2_000, out=tmp_path / "kept", keep="summary").n_played == 1_000
    assert read_manifest(tmp_path / "kept").n_there == 2_000


def test_slips_are_told_before_anything_is_played(tmp_path):
    for how, message in [
        ({"keep": "sumary"}, "did you mean 'summary'"),
        ({"keep": "summary", "joint": [["kind", "lats"]]}, "no column 'lats' (did you mean 'last'?)"),
        ({"keep": "summary", "joint": [["kind"]]}, "name two columns or more"),
        ({"joint": [["kind", "last"]]}, "only where a summary is kept"),
    ]:
        with pytest.raises(RuleError) as error:
            prepare(GAME, 10, out=tmp_path / "x", **how)
        assert message in str(error.value)
    with pytest.raises(RuleError, match="needs a results folder"):
        run(GAME, 10, keep="summary")


def test_counts_of_wide_columns_are_those_of_numpy():
    rng = np.random.default_rng(5)
    columns = [
        Column("wide", "", low=-(2**40), high=2**40),
        Column("narrow", "", high=2),
        Column("far", "", high=10**6),
    ]
    arrays = [
        rng.integers(-(2**40), 2**40, 5_000),
        rng.integers(0, 3, 5_000).astype(np.int8),
        rng.integers(0, 10**6, 5_000),
    ]
    found = Counter(columns, [["wide", "narrow"], ["far", "narrow"]]).count(arrays)
    by_names = {tuple(table["columns"]): table for table in found["tables"]}
    for place, column in enumerate(columns):
        values, counts = np.unique(arrays[place], return_counts=True)
        assert by_names[column.name,]["values"] == [values.tolist()]
        assert by_names[column.name,]["counts"] == counts.tolist()
    for place, names in ((0, ("wide", "narrow")), (2, ("far", "narrow"))):
        pairs = sorted(zip(arrays[place].tolist(), arrays[1].tolist(), strict=True))
        assert sorted(zip(*by_names[names]["values"], strict=True)) == sorted(set(pairs))
        assert sum(by_names[names]["counts"]) == 5_000


def test_too_many_combinations_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sim.counts.MOST_CELLS", 100)
    with pytest.raises(StoreError, match="points_0, points_1 have too many values to be counted together"):
        run(GAME, 1_000, out=tmp_path / "kept", keep="summary", joint=[["points"]])
