"""The results folder: what lies in it, going on with it, refusing what is not for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sim import RefusedError, Spec, StoreError, check, default_folder, iter_parts, prepare, read_manifest, run, storage
from sim.game import Player
from tests import disks
from tests.disks import small_disk
from tests.toy import ENDS, GAME

N = 4_000
BLOCK = 500


@pytest.fixture(scope="module")
def expected():
    return run(GAME, N).frame()


@pytest.fixture
def folder(tmp_path):
    """A finished run of eight parts."""
    run(GAME, N, block=BLOCK, out=tmp_path / "run")
    return tmp_path / "run"


def listing(folder):
    """What every file of a folder holds."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def part(folder, number):
    return sorted(folder.glob("part-*"))[number]


def forget(folder, *numbers):
    """Make a manifest that does not list some parts, as after a kill."""
    path = folder / "_run.json"
    document = json.loads(path.read_text())
    document["parts"] = [entry for i, entry in enumerate(document["parts"]) if i not in numbers]
    document["complete"] = False
    path.write_text(json.dumps(document))


def same_rows(folder, expected):
    """Read the folder as anybody would."""
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]
    pd.testing.assert_frame_equal(pd.read_parquet(folder), expected)
    assert check(folder) == []
    return True


# What lies in the folder


def test_folder_holds_parts_and_manifest(folder, expected):
    names = sorted(os.listdir(folder))
    assert names[:2] == [".lock", "_run.json"]
    assert names[2] == "part-000000000000-000000000499.parquet"
    assert len(names) == 10
    assert same_rows(folder, expected)


def test_rows_are_the_same_in_memory_and_on_disk(folder, expected):
    results = run(GAME, N, out=folder)
    pd.testing.assert_frame_equal(results.frame(), expected)
    assert results.n_played == 0
    assert repr(results) == f"<Results toy seed 1: 4,000 of 4,000 games in {folder}>"


def test_part_is_small_types_without_nulls_in_zstd(folder):
    with pq.ParquetFile(part(folder, 1)) as file:
        types = {field.name: str(field.type) for field in file.schema_arrow}
        assert types == {
            "game": "uint64",
            "points_0": "int16",
            "points_1": "int16",
            "balance": "int16",
            "end": "dictionary<values=string, indices=int8, ordered=0>",
            "total": "int32",
            "kind": "int8",
            "win_share_0": "double",
            "win_share_1": "double",
            "last": "int8",
        }
        assert not any(field.nullable for field in file.schema_arrow)
        group = file.metadata.row_group(0)
        assert {group.column(i).compression for i in range(group.num_columns)} == {"ZSTD"}


def test_categories_are_all_there_and_in_order(folder):
    rows = pd.read_parquet(folder)
    assert list(rows["end"].cat.categories) == list(ENDS)
    assert set(rows["end"]) < set(ENDS)
    assert rows.attrs == {}


def test_provenance_lies_in_every_part(folder):
    spec = Spec.build(GAME)
    for number in range(8):
        metadata = pq.read_metadata(part(folder, number)).metadata
        document = json.loads(metadata[b"fairdeal"])
        assert document["format"] == 1
        assert document["spec"] == spec.plain()
        assert document["range"] == {"first": number * BLOCK, "games": BLOCK}
        assert set(document["software"]) == {"name", "version", "commit", "dirty"}
        assert document["environment"].keys() >= {"python", "numpy", "numba", "pyarrow", "system", "machine"}
        assert len(document["kernel_hash"]) == 16
        end = document["columns"][3]
        assert end["name"] == "end"
        assert end["categories"] == list(ENDS)
        assert all(column["description"] for column in document["columns"])


def test_manifest_tells_the_run(folder):
    manifest = read_manifest(folder)
    assert manifest.spec == Spec.build(GAME).plain()
    assert (manifest.games, manifest.n_there, manifest.complete) == (N, N, True)
    assert manifest.document["complete"] is True
    assert manifest.document["parts"][1]["name"] == "part-000000000500-000000000999.parquet"
    assert manifest.seconds > 0
    assert [path.name for path in iter_parts(folder)] == [path.name for path in sorted(folder.glob("part-*"))]


def test_parts_do_not_depend_on_when_and_by_how_many_threads_they_are_written(folder, tmp_path):
    run(GAME, N, block=BLOCK, threads=1, out=tmp_path / "again")
    for number in range(8):
        assert part(folder, number).read_bytes() == part(tmp_path / "again", number).read_bytes()


def test_shares_are_written_exactly(tmp_path):
    run(GAME, 500, rules={"players": 6}, out=tmp_path / "run")
    shares = pd.read_parquet(tmp_path / "run")[[f"win_share_{seat}" for seat in range(6)]]
    assert set(shares.to_numpy().ravel()) == {0.0, 1.0, 1 / 6}


def test_columns_of_every_width_are_written(tmp_path):
    rules = {
        "bus_deck": "fresh",
        "blockers": "23456789TJQKA",
        "players": 2,
        "max_turns": 2**31 - 1,
        "max_attempts": 70_000,
    }
    run("bussikuski", 3, rules=rules, out=tmp_path / "run")
    rows = pd.read_parquet(tmp_path / "run")
    assert rows["bus_attempts"].dtype == "int32"
    assert rows["bus_attempts"].max() == 70_000


def test_same_command_same_folder():
    spec = Spec.build(GAME, seed=9)
    assert str(default_folder(spec, 5000)) == f"results/toy-5000-seed9-{spec.digest()}"
    assert default_folder(spec, 5000) == default_folder(Spec.build(GAME, seed=9), 5000)
    assert default_folder(spec, 5000) != default_folder(Spec.build(GAME, GAME.rules(players=3), seed=9), 5000)


# Going on


def test_finished_run_plays_nothing(folder, monkeypatch, expected):
    before = listing(folder)
    monkeypatch.setattr(Player, "play", None)
    results = run(GAME, N, out=folder)
    assert (results.n_there, results.n_played, results.complete) == (N, 0, True)
    assert listing(folder) == before


def test_larger_run_is_added_to(folder):
    kept = {name: data for name, data in listing(folder).items() if name.startswith("part")}
    prepared = prepare(GAME, N + 777, out=folder)
    assert (prepared.n_there, prepared.n_missing, prepared.existing) == (N, 777, N)
    results = prepared.play(block=300)
    assert results.n_played == 777
    assert listing(folder).items() >= kept.items()
    assert same_rows(folder, run(GAME, N + 777).frame())


def test_time_of_all_sittings_adds_up(folder):
    before = read_manifest(folder).seconds
    run(GAME, N + 100, rules={}, out=folder)
    assert read_manifest(folder).seconds >= before


def truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path):
    path.write_bytes(b"")


def flipped_in_footer(path):
    data = bytearray(path.read_bytes())
    data[data.index(b'"kernel_hash": "') + 20] ^= 1
    path.write_bytes(data)


def flipped_in_length(path):
    data = bytearray(path.read_bytes())
    data[-7] ^= 0x40
    path.write_bytes(data)


def flipped(path, at=900):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def missing(path):
    path.unlink()


def another_range(path):
    shutil.copy(part(path.parent, 5), path)


DAMAGE = [truncated, emptied, flipped, flipped_in_footer, flipped_in_length, missing, another_range]


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "unlisted"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_part_is_played_again(folder, expected, damage, listed):
    damage(part(folder, 3))
    assert check(folder)
    forget(folder, *([6] if listed else [3, 6]))
    results = run(GAME, N, block=BLOCK // 2, out=folder)
    assert results.n_played == BLOCK
    assert same_rows(folder, expected)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_part_of_a_finished_run_is_played_again(folder, expected, damage):
    damage(part(folder, 3))
    assert prepare(GAME, N, out=folder).n_missing == BLOCK
    assert run(GAME, N, out=folder).n_played == BLOCK
    assert same_rows(folder, expected)


def test_missing_part_of_a_finished_run_is_played_again(folder, expected):
    part(folder, 2).unlink()
    assert prepare(GAME, N, out=folder).n_missing == BLOCK
    with pytest.raises(StoreError, match=r"is missing, though _run.json lists it"):
        list(iter_parts(folder))
    assert run(GAME, N, out=folder).n_played == BLOCK
    assert same_rows(folder, expected)


@pytest.mark.parametrize("at", [4, 900])
def test_flipped_byte_in_the_data_is_found_by_check(folder, at):
    flipped(part(folder, 2), at)
    assert check(folder) == [
        "part-000000001000-000000001499.parquet: it is damaged: its bytes are not those that were written"
    ]


def test_a_folder_of_an_earlier_version_is_refused_as_such(folder):
    path = folder / "_run.json"
    document = json.loads(path.read_text())
    del document["parts"][2]["sha256"]
    path.write_text(json.dumps(document))
    with pytest.raises(RefusedError, match=r"_run.json: the folder was written by an earlier version"):
        read_manifest(folder)


def test_rows_with_a_flipped_byte_are_not_read(folder):
    results = run(GAME, N, out=folder)
    flipped(part(folder, 2), 900)
    with pytest.raises(StoreError, match=r"part-000000001000-000000001499\.parquet is damaged"):
        results.frame()


def test_whole_parts_that_are_not_listed_are_taken_in(folder, expected):
    forget(folder, 0, 3, 7)
    assert len(check(folder)) == 4
    prepared = prepare(GAME, N, out=folder)
    assert prepared.n_there == N - 3 * BLOCK
    results = prepared.play()
    assert results.n_played == 0
    assert results.complete
    assert same_rows(folder, expected)


def test_unlisted_part_that_overlaps_is_removed(folder, tmp_path, expected):
    run(GAME, N, block=700, out=tmp_path / "other")
    shutil.copy(part(tmp_path / "other", 1), folder)
    forget(folder, 4)
    assert run(GAME, N, out=folder).n_played == 0
    assert same_rows(folder, expected)


def test_unlisted_part_beyond_the_run_is_removed(folder, tmp_path, expected):
    run(GAME, N + BLOCK, block=BLOCK, out=tmp_path / "larger")
    shutil.copy(part(tmp_path / "larger", -1), folder)
    forget(folder, 1)
    run(GAME, N, out=folder)
    assert same_rows(folder, expected)


def test_stray_temporary_files_are_removed(folder, expected):
    stray = folder / f".part-000000001000-000000001499.parquet.{'0' * 32}.tmp"
    stray.write_bytes(part(folder, 2).read_bytes()[:100])
    (folder / f"._run.json.{'a' * 32}.tmp").write_text("{")
    part(folder, 2).unlink()
    (folder / ".notes").write_text("mine")
    pd.read_parquet(folder)
    run(GAME, N, out=folder)
    assert same_rows(folder, expected)
    assert (folder / ".notes").exists()


def test_folder_with_nothing_but_strays_is_new(tmp_path, expected):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").touch()
    (tmp_path / "run" / f"._run.json.{'a' * 32}.tmp").write_text("{")
    run(GAME, N, out=tmp_path / "run")
    assert same_rows(tmp_path / "run", expected)


def test_any_block_size_goes_on(folder, expected):
    for number in (1, 2, 5):
        part(folder, number).unlink()
        run(GAME, N, block=number * 77, out=folder)
    assert same_rows(folder, expected)


# Refusing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": 2}, "holds another run: seed 1 there, 2 here; give another folder"),
        ({"rules": {"players": 6}}, "holds another run: players 2 there, 6 here; give another folder"),
        ({"rules": {"reverse": True}}, "reverse false there, true here"),
        ({"policies": "wild"}, "policy calm there, wild here"),
        ({"policies": "calm,wild"}, "policy calm there, calm,wild here"),
        ({"game": "bussikuski"}, "game toy there, bussikuski here"),
        ({"games": N - 1}, "is a run of 4,000 games, not of 3,999; ask for as many, or give another folder"),
        ({"seed": 2, "rules": {"reverse": True, "pace": 1, "broken_at": 1}, "policies": "wild"}, "; and 1 more; give"),
    ],
)
def test_another_run_is_refused_and_nothing_touched(folder, arguments, message):
    before = listing(folder)
    with pytest.raises(RefusedError, match=message) as caught:
        run(**{"game": GAME, "games": N, "out": folder, **arguments})
    assert "\n" not in str(caught.value)
    assert listing(folder) == before


def test_other_kernels_may_read_but_not_go_on(folder, monkeypatch, expected):
    path = folder / "_run.json"
    document = json.loads(path.read_text()) | {"kernel_hash": "0123456789abcdef"}
    path.write_text(json.dumps(document))
    pd.testing.assert_frame_equal(run(GAME, N, out=folder).frame(), expected)
    before = listing(folder)
    with pytest.raises(RefusedError, match=r"was begun by other kernels .0123456789abcdef there"):
        run(GAME, N + 1, out=folder)
    assert listing(folder) == before


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "unlisted"])
def test_part_of_another_run_is_refused_and_nothing_touched(folder, tmp_path, listed):
    run(GAME, N, block=BLOCK, seed=2, out=tmp_path / "other")
    shutil.copy(part(tmp_path / "other", 2), part(folder, 2))
    truncated(part(folder, 4))
    forget(folder, *([1] if listed else [1, 2]))
    before = listing(folder)
    with pytest.raises(
        RefusedError, match=r"1499.parquet belongs to another run .seed 2 there, 1 here.; move it elsewhere"
    ):
        run(GAME, N, out=folder)
    assert listing(folder) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "_run.json is cut short or damaged"),
        ('{"format": 1, "spec": {', "_run.json is cut short or damaged"),
        ("[]", "_run.json is damaged: it is not a run's document"),
        ("{}", "_run.json is damaged: it is not a run's document"),
        ('{"format": 1}', "_run.json is damaged: KeyError"),
        ('{"format": 2}', "_run.json has format 2; this version of fairdeal knows format 1"),
        ("\xff\xfe", "_run.json is cut short or damaged"),
    ],
)
def test_damaged_manifest_is_refused(folder, text, message):
    (folder / "_run.json").write_bytes(text.encode("latin-1"))
    before = listing(folder)
    for call in (lambda: read_manifest(folder), lambda: check(folder), lambda: run(GAME, N, out=folder)):
        with pytest.raises(StoreError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
    assert listing(folder) == before


def test_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(RefusedError, match=r"is not a results folder and not empty: it holds thesis\.txt"):
        run(GAME, N, out=tmp_path)
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_parts_without_a_manifest_are_refused(folder):
    (folder / "_run.json").unlink()
    with pytest.raises(RefusedError, match=r"it holds part-000000000000-000000000499.parquet"):
        run(GAME, N, out=folder)


def test_file_instead_of_a_folder_is_refused(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(RefusedError, match="run is a file, not a folder"):
        run(GAME, N, out=tmp_path / "run")
    with pytest.raises(StoreError, match=r"run/below is a file|run/below cannot be written"):
        run(GAME, N, out=tmp_path / "run" / "below")
    with pytest.raises(RefusedError, match="run is a file, not a results folder"):
        read_manifest(tmp_path / "run")


def test_what_is_no_results_folder_says_so(tmp_path):
    with pytest.raises(RefusedError, match=r"is not a results folder: it has no _run.json"):
        read_manifest(tmp_path)
    with pytest.raises(RefusedError, match=r"there is no folder .*/nowhere"):
        read_manifest(tmp_path / "nowhere")


def test_second_process_is_locked_out(tmp_path, expected):
    out = tmp_path / "run"
    arguments = f"GAME, {N}, rules={{'pace': 2000}}, block=100, out={str(out)!r}"
    code = f"from tests.toy import GAME; from sim import run; run({arguments})"
    with subprocess.Popen([sys.executable, "-c", code]) as first:
        try:
            while not list(out.glob("part-*")):
                assert first.poll() is None
                time.sleep(0.02)
            with pytest.raises(RefusedError, match=rf"is being written by process {first.pid}; wait for it"):
                run(GAME, N, rules={"pace": 2000}, out=out)
        finally:
            first.kill()
    run(GAME, N, rules={"pace": 2000}, block=100, threads=64, out=out)
    assert same_rows(out, expected)


# A full disk, a folder that cannot be written


@pytest.mark.parametrize("kind", disks.kinds())
@pytest.mark.parametrize("kilobytes", [4, 8, 12, 16, 40, 60, 70, 84])
def test_full_disk_leaves_nothing_half_written(tmp_path, expected, kind, kilobytes):
    with small_disk(kind, tmp_path / "disk", kilobytes=kilobytes) as disk:
        out = disk.path / "run"
        with pytest.raises(
            StoreError, match=r"run cannot be written: no space left on device; what is finished is kept"
        ) as caught:
            run(GAME, N, block=BLOCK, threads=2, out=out)
        assert "\n" not in str(caught.value)
        left = set(os.listdir(out)) if out.exists() else set()
        assert not [name for name in left if name.endswith(".tmp")]
        for path in out.glob("part-*"):
            assert len(pd.read_parquet(path)) == BLOCK
        if "_run.json" in left:
            assert read_manifest(out).n_there < N
        disk.widen()
        results = run(GAME, N, out=out)
        assert results.complete
        assert same_rows(out, expected)


@pytest.mark.parametrize("kind", disks.kinds())
@pytest.mark.parametrize("names", [2, 3, 4, 5, 7])
def test_disk_without_room_for_names_leaves_nothing_half_written(tmp_path, expected, kind, names):
    with small_disk(kind, tmp_path / "disk", names=names) as disk:
        out = disk.path / "run"
        with pytest.raises(StoreError, match="no space left on device"):
            run(GAME, N, block=BLOCK, out=out)
        assert not [name for name in (os.listdir(out) if out.exists() else []) if name.endswith(".tmp")]
        disk.widen()
        run(GAME, N, out=out)
        assert same_rows(out, expected)


@pytest.mark.parametrize("kind", disks.kinds())
def test_folder_made_for_nothing_is_removed(tmp_path, kind):
    with small_disk(kind, tmp_path / "disk", kilobytes=64, names=3) as disk:
        with pytest.raises(StoreError, match="no space left"):
            run(GAME, N, out=disk.path / "run")
        assert os.listdir(disk.path) == []


@pytest.mark.parametrize("kind", disks.kinds())
def test_read_only_disk_is_refused_but_read(tmp_path, expected, kind):
    with small_disk(kind, tmp_path / "disk") as disk:
        run(GAME, N, block=BLOCK, out=disk.path / "run")
        disk.read_only(True)
        pd.testing.assert_frame_equal(run(GAME, N, out=disk.path / "run").frame(), expected)
        for out, games in ((disk.path / "run", N + 1), (disk.path / "new", N)):
            with pytest.raises(StoreError, match=f"{out.name} cannot be written: read-only file system") as caught:
                run(GAME, games, out=out)
            assert "\n" not in str(caught.value)
        disk.read_only(False)


def test_permission_lost_in_mid_run_keeps_what_is_finished(tmp_path, expected):
    # A real disk is not made read-only while the run's lock is open on it.
    with small_disk(disks.Pretended, tmp_path / "disk") as disk:
        out = disk.path / "run"

        def take_away(done, wanted, rate):
            if len(list(out.glob("part-*"))) >= 2:
                disk.read_only(True)

        with pytest.raises(StoreError, match="run cannot be written: read-only file system") as caught:
            run(GAME, N, rules={"pace": 100}, block=BLOCK, threads=1, out=out, progress=take_away)
        assert "\n" not in str(caught.value)
        assert not [name for name in os.listdir(out) if name.endswith(".tmp")]
        disk.read_only(False)
        results = run(GAME, N, rules={"pace": 100}, out=out)
        assert results.n_played <= N - 2 * BLOCK
        assert same_rows(out, expected)


def test_folder_deleted_in_mid_run_is_one_line(tmp_path, expected):
    out = tmp_path / "run"

    def delete(done, wanted, rate):
        if len(list(out.glob("part-*"))) >= 2:
            shutil.rmtree(out)

    with pytest.raises(StoreError, match="run cannot be written: no such file or directory") as caught:
        run(GAME, N, rules={"pace": 100}, block=BLOCK, threads=1, out=out, progress=delete)
    assert "\n" not in str(caught.value)
    assert not out.exists()
    run(GAME, N, rules={"pace": 100}, out=out)
    assert same_rows(out, expected)


def test_folder_without_permission_is_refused(tmp_path, folder):
    code = f"""
import os, sys
from tests.toy import GAME
from sim import run, StoreError
run(GAME, 10, out=sys.argv[1])  # imports all that is needed, while it may
if os.geteuid() == 0:
    os.seteuid(65534)
for out in sys.argv[2:]:
    try:
        run(GAME, {N + 1}, out=out)
    except StoreError as error:
        print(error)
"""
    for path in tmp_path.parents:
        if path.name.startswith(("pytest-", "popen-")):  # made for its owner alone
            path.chmod(path.stat().st_mode | 0o111)
    (tmp_path / "warm").mkdir()
    (tmp_path / "closed").mkdir(mode=0o000)
    folder.chmod(0o555)
    tmp_path.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, tmp_path / "warm", tmp_path / "new", folder, tmp_path / "closed"],
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        tmp_path.chmod(0o755)
        (tmp_path / "closed").chmod(0o755)
        folder.chmod(0o755)
    assert done.stdout.splitlines() == [
        f"{tmp_path / 'new'} cannot be written: permission denied",
        f"{folder} cannot be written: permission denied",
        f"{tmp_path / 'closed'} cannot be read: permission denied",
    ]


def test_error_of_the_manifest_does_not_hide_the_first(folder, monkeypatch):
    real, failed = storage.begin_file, []

    def broken(path, data):
        if path.suffix == ".parquet":
            failed.append(path)
            raise OSError(28, "No space left on device")
        if failed:
            raise OSError(5, "Input/output error")
        return real(path, data)

    part(folder, 0).unlink()
    monkeypatch.setattr("sim.storage.begin_file", broken)
    with pytest.raises(StoreError, match="no space left"):
        run(GAME, N, out=folder)
    monkeypatch.undo()
    assert run(GAME, N, out=folder).complete
