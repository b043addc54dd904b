"""Runs that are killed or interrupted, as processes of their own."""

from __future__ import annotations

import os
import random
import signal
import time

import pandas as pd
import pytest

from sim import check, prepare, read_manifest, run
from tests.processes import start_python
from tests.toy import GAME

N = 40_000
RULES = {"pace": 40}  # 1.6 s in all on one thread


def start(out, block, threads=2):
    """Begin (or go on with) the run in a process of its own."""
    code = (
        f"from tests.toy import GAME; from sim import run; "
        f"print(run(GAME, {N}, rules={RULES}, out={str(out)!r}, block={block}, threads={threads}).n_played)"
    )
    return start_python("-c", code)


def wait_for_parts(process, out, n_parts, patience=30.0):
    """Wait until so many parts are there."""
    end = time.monotonic() + patience
    while len(list(out.glob("part-*"))) < n_parts:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture(scope="module")
def expected():
    """An undisturbed run."""
    return run(GAME, N, threads=1, block=N).frame()


@pytest.mark.parametrize("seed", [1, 2])
def test_run_that_is_killed_again_and_again_ends_with_the_same_rows(tmp_path, expected, seed):
    random_numbers = random.Random(seed)
    out = tmp_path / "run"
    there = [0]
    for _ in range(5):
        process = start(out, block=random_numbers.choice([150, 400, 1000]), threads=random_numbers.choice([1, 2]))
        before = len(list(out.glob("part-*")))
        if random_numbers.random() < 0.8:
            wait_for_parts(process, out, before + random_numbers.randrange(1, 6))
        time.sleep(random_numbers.uniform(0, 0.05))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if out.exists() and (out / "_run.json").exists():
            there.append(read_manifest(out).n_there)
            for path in out.glob("part-*"):
                pd.read_parquet(path)
    assert there == sorted(there)
    assert max(there) < N, "nothing was left to be done: the test proves nothing"
    readable = pd.read_parquet(out)
    pd.testing.assert_frame_equal(readable, expected.loc[readable["game"]].reset_index(drop=True))
    results = run(GAME, N, rules=RULES, out=out)
    assert 0 < results.n_played < N
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)
    assert check(out) == []
    assert not [name for name in os.listdir(out) if name.endswith(".tmp")]


@pytest.mark.parametrize("moment", [0.0, 0.3, 0.5, 0.6, 0.7])
def test_run_that_is_killed_at_its_beginning_can_be_begun_again(tmp_path, expected, moment):
    out = tmp_path / "run"
    process = start(out, block=500)
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    run(GAME, N, rules=RULES, out=out, threads=8)
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)


def test_interrupted_run_keeps_what_is_finished(tmp_path, expected):
    out = tmp_path / "run"
    process = start(out, block=200)
    wait_for_parts(process, out, 5)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
    manifest = read_manifest(out)
    assert not manifest.complete
    assert {part.name for part in manifest.parts} == {path.name for path in out.glob("part-*")}
    assert not [name for name in os.listdir(out) if name.endswith(".tmp")]
    prepared = prepare(GAME, N, rules=RULES, out=out)
    assert 1000 <= prepared.n_there == manifest.n_there < N
    results = prepared.play(threads=8)
    assert results.n_played == N - manifest.n_there
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)


def test_kill_while_the_run_is_extended(tmp_path, expected):
    out = tmp_path / "run"
    run(GAME, N // 2, rules=RULES, out=out, threads=8)
    before = len(list(out.glob("part-*")))
    process = start(out, block=300)
    wait_for_parts(process, out, before + 3)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert run(GAME, N, rules=RULES, out=out, threads=8).n_played < N // 2
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)
