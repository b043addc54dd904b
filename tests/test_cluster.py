"""Runs on a real Dask cluster: whatever dies, the rows are those of a plain run; what does not fit is refused."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import signal
import sys
import time

import pandas as pd
import pytest

from sim import DaskEngine, EngineError, RuleError, Spec, StoreError, check, prepare, read_manifest, run, storage
from sim import cluster as ours
from sim.api import Sitting
from sim.game import RANDOM_SCHEME, Player
from sim.provenance import FORMAT, software
from sim.runner import play_whole
from sim.solvability import prepare_solve
from sim.store import Grid, RunFolder
from tests.clusters import ROOT, cluster_of, end, python, s3_server, wait_until
from tests.command_line import good, refused
from tests.toy import GAME

# Dask leaves sockets of its own for the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning:.*"),
]

N = 40_000
BLOCK = 1_000
SLOW = {"pace": 100}  # 4 s in all on one thread


@pytest.fixture(scope="module")
def expected():
    """An undisturbed run."""
    return run(GAME, N, threads=1, block=N).frame()


@pytest.fixture(scope="module")
def s3():
    """A local S3 server, for this process and all it starts."""
    with s3_server() as env, pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        yield env


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, s3):
    """A scheduler and two workers that are left alone."""
    with cluster_of(tmp_path_factory.mktemp("dask"), 2, s3) as running:
        yield running


def client(address, out, rules=SLOW):
    """Begin (or go on with) a run in a process of its own."""
    code = (
        f"from tests.toy import GAME; from sim import DaskEngine, run\n"
        f"with DaskEngine({address!r}) as engine:\n"
        f"    print(run(GAME, {N}, rules={rules}, out={str(out)!r}, block={BLOCK}, engine=engine).n_played)"
    )
    return python("-c", code)


def n_parts(out):
    return len(list(out.glob("part-*")))


def same_rows(out, expected):
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)
    assert check(out) == []
    assert not [name for name in os.listdir(out) if name.endswith(".tmp")]
    return True


def test_killed_worker_and_killed_client_change_no_row(tmp_path, expected):
    out = tmp_path / "run"
    with cluster_of(tmp_path, 2) as cluster:
        first = client(cluster.address, out)
        wait_until(lambda: n_parts(out) >= 4, "four parts")
        end(cluster.workers[0])
        there = n_parts(out)
        cluster.add_worker()
        wait_until(lambda: n_parts(out) >= there + 4, "more parts after a worker's death")
        assert first.poll() is None
        end(first)
        assert n_parts(out) < N / BLOCK, "nothing was left to be done: the test proves nothing"
        kept = read_manifest(out).n_there
        second = client(cluster.address, out)
        printed, errors = second.communicate(timeout=120)
    assert second.returncode == 0, errors
    assert 0 < int(printed) <= N - kept
    assert read_manifest(out).complete
    assert sorted(part.first for part in read_manifest(out).parts) == list(range(0, N, BLOCK))
    assert same_rows(out, expected)


def test_rows_are_those_of_a_plain_run_with_any_size_of_block(tmp_path, cluster, expected):
    with DaskEngine(cluster.address) as engine:
        results = run(GAME, N, out=tmp_path / "chosen", engine=engine)
        assert results.n_played == N
        run(GAME, N, out=tmp_path / "given", block=7_777, engine=engine)
    assert same_rows(tmp_path / "chosen", expected)
    assert same_rows(tmp_path / "given", expected)
    assert n_parts(tmp_path / "given") == 6
    grid = Grid.read(read_manifest(tmp_path / "chosen").document)
    assert {part.first % grid.block for part in read_manifest(tmp_path / "chosen").parts} == {0}


def test_threads_and_clusters_go_on_with_each_others_runs(tmp_path, cluster, expected):
    out = tmp_path / "run"
    run(GAME, 5_500, out=out, block=700)
    with DaskEngine(cluster.address) as engine:
        run(GAME, 20_300, out=out, block=1_024, engine=engine)
        grids = [Grid.read(read_manifest(out).document)]
        run(GAME, 30_001, out=out, engine=engine)
        grids.append(Grid.read(read_manifest(out).document))
    assert [grid.block for grid in grids] == [1_024, 1_024]
    assert grids[0].name != grids[1].name
    run(GAME, N, out=out)
    assert Grid.read(read_manifest(out).document) is None
    assert same_rows(out, expected)


def test_files_are_the_same_byte_for_byte_rows_and_counts(tmp_path, cluster):
    with DaskEngine(cluster.address) as engine:
        for keep in ("rows", "summary"):
            there, here = tmp_path / f"{keep} there", tmp_path / f"{keep} here"
            run(GAME, N, out=there, keep=keep, block=8_192, engine=engine)
            run(GAME, N, out=here, keep=keep, block=8_192)
            files = [{path.name: path.read_bytes() for path in out.glob("[pc]*-*")} for out in (there, here)]
            assert len(files[0]) == 5
            assert files[0] == files[1]
            assert check(there) == []


def test_stages_are_played_alike(tmp_path, cluster, expected):
    prepared = prepare(GAME, N, out=tmp_path / "run")
    with DaskEngine(cluster.address) as engine, Sitting(prepared, engine) as sitting:
        for games in (1_000, 2_000, 4_000):
            assert sitting.play_to(games)
            assert [path.name for path in sitting.files(0, games)] == sorted(os.listdir(tmp_path / "run"))[2:]
    assert sitting.results().games == 4_000
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "run"), expected.iloc[:4_000])


def test_deals_are_solved_alike(tmp_path, cluster):
    few, more = 20, 2_000
    frames = []
    for name in ("plain", "cluster"):
        with DaskEngine(cluster.address) as opened:
            engine = opened if name == "cluster" else None
            known = prepare_solve("bludiste", 60, nodes=few, out=tmp_path / name).play(engine=engine)
            assert known.complete
            again = prepare_solve("bludiste", 60, nodes=more, out=tmp_path / f"{name} more", known=known)
            frames.append([known.frame(), again.play(engine=engine).frame()])
    for plain, theirs in zip(*frames, strict=True):
        pd.testing.assert_frame_equal(plain, theirs)
    assert "unknown" in set(frames[0][0]["status"])


def test_rows_on_s3_are_the_same(cluster, expected):
    with DaskEngine(cluster.address) as engine:
        results = run(GAME, N, out="s3://bucket/run", block=4_096, engine=engine)
        pd.testing.assert_frame_equal(results.frame(), expected)
        assert run(GAME, N, out="s3://bucket/run", engine=engine).n_played == 0
    assert check("s3://bucket/run") == []
    assert pd.read_parquet("s3://bucket/run").equals(expected)


def test_plain_run_on_s3_repairs_what_is_missing_or_broken(s3, expected):
    folder = storage.place("s3://bucket/mended")
    run(GAME, N, out=folder, block=4_000)
    (folder / "part-000000004000-000000007999.parquet").unlink()
    broken = folder / "part-000000012000-000000015999.parquet"
    broken.write_bytes(broken.read_bytes()[:-100])
    assert len(check(folder)) == 2
    assert run(GAME, N, out="s3://bucket/mended").n_played == 8_000
    assert pd.read_parquet("s3://bucket/mended").equals(expected)
    with pytest.raises(StoreError, match="s3://bucket/mended holds another run: seed 1 there, 2 here"):
        run(GAME, N, seed=2, out=folder)


def test_addresses_that_cannot_be_used_are_one_line(s3, monkeypatch):
    assert (
        refused_run("s4://bucket/run")
        == "s4://bucket/run is no address that is known here: unsupported filesystem: 's4'"
    )
    assert refused_run("s3:/bucket/run").endswith("did you mean 's3://bucket/run'?")
    assert refused_run("s3://no-such-bucket/run", status=1).endswith("the specified bucket does not exist")
    assert "gs://bucket/run needs a package that is not installed" in refused_run("gs://bucket/run")
    monkeypatch.setitem(sys.modules, "upath", None)
    assert refused_run("s3://b/r") == "s3://b/r needs packages that are not installed: pip install 'fairdeal[cluster]'"


def test_store_that_does_not_answer_or_does_not_know_us_is_one_line(s3):
    silent = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    nobody = {"AWS_ACCESS_KEY_ID": "", "AWS_CONFIG_FILE": "/none", "AWS_SHARED_CREDENTIALS_FILE": "/none"}
    run_words = ("run", "bussikuski", "--games", 10, "--quiet", "--out", "s3://bucket/any")
    for change, words in ((silent, run_words), (nobody, run_words), (nobody, ("summary", "s3://bucket/any"))):
        done = python("-m", "scripts.cli", *words, env=s3 | change)
        _, errors = done.communicate(timeout=120)
        assert done.returncode == 1, errors
        assert errors.startswith("fairdeal: ")
        assert errors.count("\n") == 1


def test_summary_and_odds_are_read_from_s3(s3, tmp_path):
    words = ("run", "bussikuski", "--games", "2000", "--quiet", "--out")
    for keep in ("rows", "summary"):
        for out in (f"s3://bucket/{keep} kept", tmp_path / keep):
            good(*words, out, "--keep", keep)
        for command, *more in (("summary",), ("ask", "driver == 0")):
            assert good(command, f"s3://bucket/{keep} kept", *more) == good(command, tmp_path / keep, *more)


def test_comparison_lies_on_s3(s3, tmp_path):
    words = ("compare", "bussikuski", "--vary", "give=random,leader", "--games", "1000", "--quiet", "--out")
    assert good(*words, "s3://bucket/compared") == good(*words, tmp_path / "compared")
    odds = [
        good("ask", out, "a.driver == 0 and b.driver == 0") for out in ("s3://bucket/compared", tmp_path / "compared")
    ]
    assert odds[0].splitlines()[:5] == odds[1].splitlines()[:5]


def refused_run(out, status=2):
    return refused("run", "bussikuski", "--games", 10, "--quiet", "--out", out, status=status)


def test_scheduler_that_is_not_there_is_one_line_in_seconds(tmp_path):
    began = time.monotonic()
    words = ("run", "bussikuski", "--games", 10, "--quiet", "--out", tmp_path / "run", "--engine", "dask")
    said = refused(*words, "--scheduler", "127.0.0.1:9", status=1)
    assert said == "there is no Dask scheduler at 127.0.0.1:9: no answer in 4 seconds"
    assert time.monotonic() - began < 15
    assert not (tmp_path / "run").exists()
    for wrong in ("tcp://host:port:x", "localhost", "http://localhost:80", "", "localhost:", ":8786"):
        assert f"--scheduler: '{wrong}' is no address of a Dask scheduler" in refused(*words, "--scheduler", wrong)
    for good_one in ("localhost:8786", "tcp://10.0.0.1:1", "tls://a.b-c:1", "[::1]:8786", "tcp://[fe80::1%eth0]:80"):
        ours.check_address(good_one)


def test_calls_that_make_no_sense_are_refused(tmp_path):
    words = ("run", "bussikuski", "--games", 10)
    assert refused(*words, "--engine", "threads", "--scheduler", "a:1").startswith("--scheduler is for --engine dask")
    assert "--nthreads" in refused(*words, "--threads", 2, "--scheduler", "a:1")
    assert "did you mean" in refused(*words, "--engine", "dusk") or "dask" in refused(*words, "--engine", "dusk")
    with pytest.raises(RuleError, match="a cluster plays into a results folder"):
        run(GAME, 10, engine=DaskEngine())


def test_without_the_extra_the_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"pip install 'fairdeal\[cluster\]'"):
        DaskEngine().__enter__()


@pytest.fixture
def other_sources(tmp_path):
    """A copy of our sources in which the toy's kernel is another one."""
    other = tmp_path / "other"
    for name in ("sim", "tests"):
        shutil.copytree(ROOT / name, other / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "tests" / "toy" / "kernel.py").open("a") as file:
        file.write("\n# Another kernel.\n")
    return other


def test_worker_with_other_kernels_is_refused_before_anything_is_played(tmp_path, other_sources):
    out = tmp_path / "run"
    with cluster_of(tmp_path, 1) as cluster:
        cluster.add_worker(cwd=other_sources, path=other_sources)
        cluster.wait_for_workers(2)
        with (
            DaskEngine(cluster.address) as engine,
            pytest.raises(EngineError, match=r"would not play the same games: .*\(kernels \w{16} there, \w{16} here\)"),
        ):
            run(GAME, N, out=out, engine=engine)
    assert n_parts(out) == 0


def test_worker_with_other_kernels_that_comes_later_is_refused_too(tmp_path, other_sources):
    out = tmp_path / "run"
    with cluster_of(tmp_path, 1) as cluster:
        running = client(cluster.address, out, {"pace": 300})
        wait_until(lambda: n_parts(out) >= 2, "two parts")
        cluster.add_worker(cwd=other_sources, path=other_sources)
        _, errors = running.communicate(timeout=60)
    assert "EngineError: a worker is of another fairdeal (kernels" in errors
    assert 2_000 <= read_manifest(out).n_there < N
    assert check(out)[-1] == f"{read_manifest(out).n_there:,} of {N:,} games are done"


def test_worker_without_fairdeal_is_refused(tmp_path):
    empty = tmp_path / "empty"
    (empty / "sim").mkdir(parents=True)
    (empty / "sim" / "__init__.py").touch()
    with cluster_of(tmp_path, 0) as cluster:
        cluster.add_worker(cwd=empty, path=empty)
        cluster.wait_for_workers(1)
        with DaskEngine(cluster.address) as engine, pytest.raises(EngineError, match="it has no fairdeal"):
            run(GAME, N, out=tmp_path / "run", engine=engine)


def test_lost_scheduler_is_one_line_and_what_is_finished_is_kept(tmp_path, expected):
    out = tmp_path / "run"
    with cluster_of(tmp_path, 1) as cluster:
        running = client(cluster.address, out)
        wait_until(lambda: n_parts(out) >= 3, "three parts")
        end(cluster.scheduler)
        _, errors = running.communicate(timeout=60)
    assert errors.splitlines()[-1].startswith("sim.cluster.EngineError: the Dask scheduler at tcp://127.0.0.1:")
    assert errors.splitlines()[-1].endswith("was lost; what is finished is kept")
    assert 0 < read_manifest(out).n_there < N
    run(GAME, N, out=out, rules=SLOW, threads=8)
    assert same_rows(out, expected)


def test_worker_that_dies_of_the_work_ends_the_run(tmp_path, job, monkeypatch):
    monkeypatch.setattr(ours, "PATIENCE", 2.0)
    with (
        cluster_of(tmp_path, 1) as cluster,
        DaskEngine(cluster.address) as engine,
        RunFolder(job.path, job.spec, N, job.kernel_hash) as folder,
        pytest.raises(EngineError, match="has had no worker for 2 seconds; what is finished is kept"),
    ):
        engine.play(folder, folder.missing, new_player=functools.partial(os._exit, 1), wanted="all", block=BLOCK)


def test_interrupted_client_keeps_what_is_finished(tmp_path, cluster, expected):
    out = tmp_path / "run"
    running = client(cluster.address, out)
    wait_until(lambda: n_parts(out) >= 3, "three parts")
    end(running, signal.SIGINT)
    assert running.returncode != 0
    assert 2 * BLOCK <= read_manifest(out).n_there < N
    with DaskEngine(cluster.address) as engine:
        assert 0 < run(GAME, N, out=out, rules=SLOW, engine=engine).n_played < N - 2 * BLOCK
    assert same_rows(out, expected)


def test_interrupted_command_with_a_cluster_of_its_own(tmp_path):
    out = tmp_path / "run"
    words = ("-m", "scripts.cli", "run", "bussikuski", "--games", "20M", "--out", out, "--engine", "dask")
    running = python(*words)
    wait_until(lambda: n_parts(out) >= 2, "two parts", patience=300)
    os.killpg(running.pid, signal.SIGINT)
    printed, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert printed == ""
    manifest = read_manifest(out)
    assert errors.splitlines()[-1].startswith(
        f"fairdeal: interrupted; {manifest.n_there:,} of 20,000,000 games are kept"
    )
    assert manifest.n_there > 0
    assert check(out)[-1] == f"{manifest.n_there:,} of 20,000,000 games are done"
    assert "Traceback" not in errors
    assert "distributed" not in errors


# One worker's tasks, without a cluster


@pytest.fixture
def job(tmp_path):
    spec = Spec.build(GAME)
    kernels = ours.identity(spec.kernel_module)["kernels"]
    return ours.Job(
        path=tmp_path / "run",
        spec=spec,
        new_player=functools.partial(Player, spec),
        kernel_module=spec.kernel_module,
        kernel_hash=kernels,
        version=str(software()["version"]),
        scheme=RANDOM_SCHEME,
        format=FORMAT,
        keep="rows",
        joint=(),
    )


def shared(job, block=100, wanted="all"):
    """Begin a run with a grid; return the job with it."""
    with RunFolder(job.path, job.spec, 1_000, job.kernel_hash) as folder:
        return dataclasses.replace(job, grid=folder.share(wanted, lambda: block).name)


def test_block_that_lies_there_is_not_played_again(job, monkeypatch):
    job = shared(job)
    part = ours.play_block(job, 100, 100)
    (path,) = job.path.glob("part-*")
    before = path.stat().st_mtime_ns
    monkeypatch.setattr("sim.runner.play_whole", None)
    assert ours.play_block(job, 100, 100) == part
    assert path.stat().st_mtime_ns == before


def test_block_that_two_play_at_a_time_is_written_once(job):
    job = shared(job)
    (player, writer) = ours._prepare(job)
    part = ours.play_block(job, 100, 100)
    (path,) = job.path.glob("part-*")
    before = path.stat().st_mtime_ns
    arrays = play_whole(player, 100, 100)
    assert writer.write_once(100, arrays) == part
    assert path.stat().st_mtime_ns == before
    path.write_bytes(path.read_bytes()[:-50])
    assert writer.write_once(100, arrays) == part
    assert writer.there(100, 100) == part


def test_task_of_an_earlier_sitting_writes_nothing(job):
    old = shared(job)
    new = shared(job, wanted="something else")
    assert ours.play_block(old, 0, 100) is None
    assert not list(job.path.glob("part-*"))
    assert ours.play_block(new, 0, 100) is not None


@pytest.mark.parametrize("change", [{"kernel_hash": "0" * 16}, {"version": "0.0.1"}, {"scheme": "dice/v1"}])
def test_every_task_compares_what_decides_the_rows(job, change):
    job = dataclasses.replace(shared(job), **change)
    with pytest.raises(EngineError, match=f"{next(iter(change.values()))} here"):
        ours.play_block(job, 0, 100)


def test_folder_that_a_worker_does_not_find_is_refused(job, cluster, tmp_path):
    job = dataclasses.replace(shared(job), path=tmp_path / "elsewhere")
    with DaskEngine(cluster.address) as engine, pytest.raises(EngineError, match="does not find the folder here"):
        engine._check_folder(job, "here")


@pytest.mark.parametrize(
    ("games", "threads", "rate", "block"),
    [
        (10**9, 2, 5e6, 2**19),  # no larger than a plain run's
        (10_000, 2, 5e6, 2**17),  # not worth cutting
        (1_000_000, 4, 1_000, 1024),  # two seconds
        (100, 2, 0.5, 1),
        (10**6, 8, 0.01, 1),
        (10**7, 8, 100, 4096),  # a minute, not 50,000 parts
    ],
)
def test_blocks_are_some_seconds_long(games, threads, rate, block):
    assert ours.block_size(games, threads, rate) == block


def test_grid_cuts_at_multiples_of_its_block():
    grid = Grid(100, "", "")
    assert list(grid.cut([(0, 250), (380, 20), (400, 1), (990, 30)])) == [
        (0, 100),
        (100, 100),
        (200, 50),
        (380, 20),
        (400, 1),
        (990, 10),
        (1000, 20),
    ]
