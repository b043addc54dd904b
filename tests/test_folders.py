"""Folders as wholes: verified by playing games again, and merged."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from sim import part as parts_on_disk
from sim import prepare, run
from sim.folders import merge_folders, verify_folder
from sim.game import Spec
from sim.games import get_game
from sim.store import RefusedError, RunFolder, StoreError, check, read_manifest
from tests.command_line import call, good, refused

N = 4_000
BLOCK = 500


def play(out, **how):
    return run("bussikuski", N, block=BLOCK, out=out, **how)


@pytest.fixture
def folder(tmp_path):
    play(tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="module")
def expected():
    return run("bussikuski", N).frame()


def halves(folder, *names):
    """Deal the parts of a run out to copies of its folder."""
    document = json.loads((folder / "_run.json").read_text())
    made = []
    for number, name in enumerate(names):
        copy = folder.parent / name
        shutil.copytree(folder, copy)
        kept = document["parts"][number :: len(names)]
        for entry in document["parts"]:
            if entry not in kept:
                (copy / entry["name"]).unlink()
        there = sum(entry["games"] for entry in kept)
        (copy / "_run.json").write_text(json.dumps({**document, "parts": kept, "n_there": there, "complete": False}))
        made.append(copy)
    return made


# verify


def test_a_good_folder_is_good(folder):
    found = verify_folder(folder, sample=300, seed=7)
    assert found.is_good
    assert found.same_kernels
    assert (found.n_parts, found.n_there, found.games, found.n_replayed, found.seed) == (8, N, N, 300, 7)


def test_every_game_can_be_played_again(folder):
    assert verify_folder(folder, sample=10**9).n_replayed == N


def test_a_drawn_sample_differs_from_time_to_time(folder):
    assert verify_folder(folder, sample=1).seed != verify_folder(folder, sample=1).seed


def altered(folder, column, game):
    """Change one value of a part and write it, its hashes and the manifest as if it had always been so."""
    spec = Spec.build(get_game("bussikuski"))
    entry = next(part for part in read_manifest(folder).parts if part.first <= game < part.end)
    arrays = [np.array(array) for array in run("bussikuski", N, block=BLOCK).blocks[entry.first // BLOCK][1]]
    place = [one.name for one in spec.columns].index(column)
    arrays[place][game - entry.first] ^= 1
    document = parts_on_disk.inspect(folder / entry.name)[1]
    (folder / entry.name).unlink()
    part, data = parts_on_disk.encode(spec.columns, document, entry.first, arrays)
    (folder / part.name).write_bytes(data)
    manifest = json.loads((folder / "_run.json").read_text())
    manifest["parts"] = [part.plain() if one["name"] == part.name else one for one in manifest["parts"]]
    (folder / "_run.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(("column", "game"), [("points_1", 1_234), ("bus_end", 0), ("left_0", N - 1)])
def test_a_row_that_no_kernel_played_is_found(folder, column, game):
    altered(folder, column, game)
    assert check(folder) == []
    found = verify_folder(folder, sample=N)
    assert len(found.problems) == 1
    assert f"game {game} has {column} = " in found.problems[0]
    assert found.problems[0].startswith(f"part-{game // BLOCK * BLOCK:012d}-")


def test_damage_is_named_with_the_rest_still_compared(folder):
    part = folder / "part-000000001000-000000001499.parquet"
    data = bytearray(part.read_bytes())
    data[700] ^= 4
    part.write_bytes(data)
    (folder / "part-000000002000-000000002499.parquet").unlink()
    found = verify_folder(folder, sample=N)
    assert found.n_replayed == N - 2 * BLOCK
    assert [problem.split(": ")[0] for problem in found.problems] == [
        part.name,
        "part-000000002000-000000002499.parquet",
    ]


def test_a_folder_of_counts_is_played_again_by_blocks(tmp_path):
    play(tmp_path / "run", keep="summary")
    assert verify_folder(tmp_path / "run", sample=1).n_replayed == BLOCK
    assert verify_folder(tmp_path / "run", sample=N).n_replayed == N
    name = "counts-000000000500-000000000999.json"
    data = (tmp_path / "run" / name).read_bytes()
    (tmp_path / "run" / name).write_bytes(data.replace(b"1", b"2", 1))
    found = verify_folder(tmp_path / "run", sample=N)
    assert [problem.split(":")[0] for problem in found.problems] == [name]


def test_rows_of_other_kernels_are_told(folder):
    path = folder / "_run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"kernel_hash": "0123456789abcdef"}))
    assert not verify_folder(folder, sample=5).same_kernels


def test_the_command_verify(folder):
    told = good("verify", folder, "--sample", 200, "--sample-seed", 1)
    assert "4,000 games in 8 files" in told
    assert "200 games drawn with sample seed 1 and played again: every value is the same" in told
    (plain,) = json.loads(good("verify", folder, "--json", "--sample", "50"))
    assert plain["good"] is True
    (folder / "part-000000001000-000000001499.parquet").unlink()
    done = call("verify", folder)
    assert done.exit_code == 1
    assert "part-000000001000-000000001499.parquet: no such file or directory" in done.stdout
    assert done.stderr.count("\n") == 1
    assert "there is no folder" in refused("verify", folder / "nowhere")


# merge


def test_merged_shares_are_the_run(folder, tmp_path, expected):
    manifest = merge_folders(halves(folder, "a", "b", "c"), tmp_path / "all")
    assert manifest.complete
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "all"), expected)
    assert check(tmp_path / "all") == []
    assert verify_folder(tmp_path / "all", sample=100).is_good


def test_what_is_missing_is_played_by_the_run(folder, tmp_path, expected):
    a, b, _ = halves(folder, "a", "b", "c")
    assert merge_folders([b, a], tmp_path / "all").n_there == N - 2 * BLOCK
    assert play(tmp_path / "all").n_played == 2 * BLOCK
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "all"), expected)


def test_a_merge_goes_on_after_an_interruption(folder, tmp_path, expected, monkeypatch):
    shares = halves(folder, "a", "b")
    usual, n_taken = RunFolder.take, []

    def take(self, path, part):
        if len(n_taken) == 3:
            raise KeyboardInterrupt
        n_taken.append(part)
        usual(self, path, part)

    monkeypatch.setattr(RunFolder, "take", take)
    with pytest.raises(KeyboardInterrupt):
        merge_folders(shares, tmp_path / "all")
    assert read_manifest(tmp_path / "all").n_there == 3 * BLOCK
    monkeypatch.undo()
    assert merge_folders(shares, tmp_path / "all").complete
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "all"), expected)


def test_counts_are_merged_too(tmp_path):
    play(tmp_path / "run", keep="summary")
    merge_folders(halves(tmp_path / "run", "a", "b"), tmp_path / "all")
    whole, merged = (json.loads(good("summary", tmp_path / name, "--json")) for name in ("run", "all"))
    assert {**whole, "folder": 0, "seconds": 0, "games_per_second": 0} == {
        **merged, "folder": 0, "seconds": 0, "games_per_second": 0
    }  # fmt: skip


def test_what_does_not_belong_together_is_refused(folder, tmp_path):
    play(tmp_path / "other", seed=2)
    with pytest.raises(RefusedError, match=rf"are not of one run: seed 2 {tmp_path}/other, 1 {folder}"):
        merge_folders([folder, tmp_path / "other"], tmp_path / "all")
    play(tmp_path / "counts", keep="summary")
    with pytest.raises(RefusedError, match="keeps summary"):
        merge_folders([folder, tmp_path / "counts"], tmp_path / "all")
    shutil.copytree(folder, tmp_path / "copy")
    with pytest.raises(RefusedError, match="both hold games 0 to 499"):
        merge_folders([folder, tmp_path / "copy"], tmp_path / "all")
    with pytest.raises(RefusedError, match="is one of the folders to be joined"):
        merge_folders(halves(folder, "a", "b"), tmp_path / "a")
    assert not (tmp_path / "all").exists()


def test_a_damaged_part_is_not_merged(folder, tmp_path):
    a, b = halves(folder, "a", "b")
    part = b / "part-000000000500-000000000999.parquet"
    data = bytearray(part.read_bytes())
    data[700] ^= 4
    part.write_bytes(data)
    with pytest.raises(StoreError, match=r"part-000000000500-000000000999.parquet is missing or damaged"):
        merge_folders([a, b], tmp_path / "all")


def test_the_command_merge(folder, tmp_path):
    a, b, c = halves(folder, "a", "b", "c")
    assert "holds 3,000 of 4,000 games" in (told := good("merge", a, b, "--out", tmp_path / "two"))
    assert "Missing are the games 1,000 to 1,499, and 1 more ranges" in told
    plain = json.loads(good("merge", a, b, c, "--out", tmp_path / "all", "--json"))
    assert (plain["n_there"], plain["missing"]) == (N, [])
    assert refused("merge", a, "--out", tmp_path / "all") == "merge needs two folders or more"
    assert "needs --out" in refused("merge", a, b)


# shares


def test_shares_played_apart_are_merged_into_the_run(tmp_path, expected):
    folders = [tmp_path / f"share{k}" for k in range(1, 4)]
    for k, out in enumerate(folders, start=1):
        told = call("run", "bussikuski", "--games", N, "--share", f"{k}/3", "--out", out, "--json")
        assert told.exit_code == 0, told.output
        assert json.loads(told.stdout)["games"] in (1333, 1334)
    again = call("run", "bussikuski", "--games", N, "--share", "2/3", "--out", folders[1])
    assert "has its share of 4,000: 1,333 games of Bussikuski, nothing to play" in again.stderr
    assert "holds 4,000 of 4,000 games" in good("merge", *folders, "--out", tmp_path / "all")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "all"), expected)


def test_a_share_that_is_not_all_there_is_gone_on_with(tmp_path, expected):
    out = tmp_path / "run"
    prepared = prepare("bussikuski", N, out=out, share=(2, 4))
    assert (prepared.n_missing, prepared.n_wanted) == (1000, 1000)
    assert prepared.play(block=300).complete
    sorted(out.glob("part-*"))[1].unlink()
    prepared = prepare("bussikuski", N, out=out, share=(2, 4))
    assert (prepared.n_there, prepared.n_missing) == (700, 300)
    prepared.play()
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected[1000:2000].reset_index(drop=True))
    assert prepare("bussikuski", N, out=out).n_missing == 3000


@pytest.mark.parametrize("share", ["0/4", "5/4", "half", "1/", "1/5000"])
def test_wrong_shares_are_refused(tmp_path, share):
    assert share.split("/")[0] in refused("run", "bussikuski", "--games", N, "--share", share, "--out", tmp_path / "a")
    assert not (tmp_path / "a").exists()
