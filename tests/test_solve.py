"""`sim.solve`: deals decided as runs are played: the same rows however they are cut, kept, killed or tried again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from sim import RuleError, StoreError, check, read_manifest, run, solve
from sim.games import get_game
from sim.games.bludiste.lines import read_moves
from sim.solvability import escalated_folder, limits, n_unknown, prepare_solve
from sim.store import RefusedError
from tests.reference import bludiste as ref

GAME = get_game("bludiste")
N = 600
TWELVE = {"columns": 12}


@pytest.fixture(scope="module")
def expected() -> pd.DataFrame:
    """Return the rows of an undisturbed solve, its moves kept."""
    return solve("bludiste", N, rules=TWELVE, keep_moves=True, threads=1).frame()


def test_rows_are_what_the_reference_says(expected: pd.DataFrame) -> None:
    assert len(expected) == N
    assert set(expected["status"]) == {"solved", "unsolvable"}
    assert (expected["won"] == (expected["status"] == "solved")).all()
    lost = expected[expected["won"] == 0]
    for name in ("rows", "refilled", "choice_points", "moves"):
        assert lost[name].isna().all()
    assert (lost["placed"] < 96).all()
    won = expected[expected["won"] == 1]
    assert len(won) > 50
    for row in won.itertuples():
        stock = ref.seeded_stock(TWELVE, 1, row.game)
        replayed = ref.check_line(TWELVE, stock, read_moves(row.moves))
        assert replayed == {"won": 1, "placed": row.placed, "rows": row.rows, "refilled": row.refilled}


@pytest.mark.parametrize(("threads", "block"), [(2, 37), (1, 600), (3, 100)])
def test_rows_do_not_depend_on_how_deals_are_cut(
    tmp_path: Path, expected: pd.DataFrame, threads: int, block: int
) -> None:
    solve("bludiste", N, rules=TWELVE, keep_moves=True, threads=threads, block=block, out=tmp_path / "solved")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "solved"), expected)
    assert check(tmp_path / "solved") == []


def test_it_is_a_run_with_the_policy_solver(expected: pd.DataFrame) -> None:
    rows = run("bludiste", 100, rules=TWELVE, policies="solver").frame()
    pd.testing.assert_frame_equal(rows, expected.drop(columns="moves").head(100))


def test_more_deals_are_added_and_other_limits_refused(tmp_path: Path, expected: pd.DataFrame) -> None:
    out = tmp_path / "solved"
    solve("bludiste", 200, rules=TWELVE, keep_moves=True, out=out)
    assert solve("bludiste", N, rules=TWELVE, keep_moves=True, out=out).n_played == N - 200
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)
    with pytest.raises(RefusedError, match="policy solver there, solver:500 here"):
        solve("bludiste", N, rules=TWELVE, nodes=500, keep_moves=True, out=out)
    with pytest.raises(RefusedError, match="keep moves true there, not set here"):
        solve("bludiste", N, rules=TWELVE, out=out)


def test_a_solve_that_is_killed_goes_on(tmp_path: Path, expected: pd.DataFrame) -> None:
    out = tmp_path / "solved"
    code = f"from sim import solve; solve('bludiste', {N}, rules={TWELVE}, keep_moves=True, out={str(out)!r}, block=20)"
    there = [0]
    for n_parts in (1, 4):
        process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        end = time.monotonic() + 120
        before = len(list(out.glob("part-*")))
        while len(list(out.glob("part-*"))) < before + n_parts:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if (out / "_run.json").exists():
            there.append(read_manifest(out).n_there)
    assert max(there) < N, "nothing was left to be done: the test proves nothing"
    results = solve("bludiste", N, rules=TWELVE, keep_moves=True, out=out)
    assert 0 < results.n_played < N
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)
    assert check(out) == []


def test_unknown_deals_are_tried_again(tmp_path: Path, expected: pd.DataFrame) -> None:
    few = solve("bludiste", N, rules=TWELVE, nodes=10, keep_moves=True)
    rows = few.frame()
    is_unknown = rows["status"] == "unknown"
    assert 100 < is_unknown.sum() < N
    assert n_unknown(few) == is_unknown.sum()
    assert set(rows["limit"][is_unknown]) == {"nodes"}
    assert set(rows["limit"][~is_unknown]) == {"none"}
    pd.testing.assert_frame_equal(
        rows[~is_unknown].reset_index(drop=True), expected[~is_unknown].reset_index(drop=True)
    )

    out = tmp_path / "solved"
    results = solve("bludiste", N, rules=TWELVE, nodes=10, escalate=100_000, keep_moves=True, out=out, block=77)
    assert results.folder is not None
    folders = [out, *(escalated_folder(out, limit) for limit in (100, 1_000, 10_000, 100_000))]
    there = [folder for folder in folders if folder.exists()]
    assert there == folders[: len(there)]
    assert results.folder == there[-1]
    left = [(pd.read_parquet(folder)["status"] == "unknown").sum() for folder in there]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0
    pd.testing.assert_frame_equal(results.frame(), expected)
    assert all(check(folder) == [] for folder in there)


def test_known_deals_are_not_decided_again() -> None:
    known = solve("bludiste", 100, rules=TWELVE, nodes=20)
    again = prepare_solve("bludiste", 130, rules=TWELVE, nodes=10_000, known=known).play(threads=1, block=13)
    pd.testing.assert_frame_equal(again.frame(), solve("bludiste", 130, rules=TWELVE, nodes=10_000).frame())


def test_wrong_calls() -> None:
    with pytest.raises(RuleError, match="^dupa has no solver; bludiste has one$"):
        solve("dupa", 10)
    with pytest.raises(RuleError, match="nodes = 0 is out of range; allowed: 1 to 1,000,000,000"):
        solve("bludiste", 10, nodes=0)
    with pytest.raises(RuleError, match="escalate = 50: that is not more than the first limit, 100 nodes"):
        solve("bludiste", 10, nodes=100, escalate=50)
    with pytest.raises(RuleError, match="moves are kept of solved deals only"):
        run_kept()
    assert limits(GAME, 100, 0) == [100, 1_000, 10_000]
    assert limits(GAME, None, None) == [10_000_000]
    assert limits(GAME, 100, 250) == [100, 250]
    assert issubclass(RefusedError, StoreError)


def run_kept() -> None:
    """Ask for moves of a policy that solves nothing."""
    from sim import prepare

    prepare("bludiste", 10, policies="first", keep_moves=True)
