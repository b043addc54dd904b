"""Blocks, threads, progress, interruption."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest

from sim import RuleError, Spec, get_game, prepare, run, runner
from tests.toy import GAME, ToyRules

N = 5_000


@pytest.fixture(scope="module")
def expected():
    return run(GAME, N, threads=1, block=N).frame()


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("block", [None, 97, 1000, 4999, 10**9])
def test_rows_depend_neither_on_threads_nor_on_blocks(expected, threads, block):
    pd.testing.assert_frame_equal(run(GAME, N, threads=threads, block=block).frame(), expected)


def test_blocks_of_one_game(expected):
    pd.testing.assert_frame_equal(run(GAME, 60, block=1).frame(), expected.head(60))


@pytest.mark.parametrize("chunk", [1, 13])
def test_rows_do_not_depend_on_chunks(expected, monkeypatch, chunk):
    monkeypatch.setattr(runner, "FIRST_CHUNK", chunk)
    monkeypatch.setattr(runner, "LARGEST_CHUNK", chunk)
    pd.testing.assert_frame_equal(run(GAME, 700, threads=2, block=300).frame(), expected.head(700))


def test_real_game_has_the_same_rows_however_it_is_played(tmp_path):
    expected = run("bussikuski", 4_000, threads=1).frame()
    pd.testing.assert_frame_equal(run("bussikuski", 4_000, threads=2, block=333).frame(), expected)
    pd.testing.assert_frame_equal(run("bussikuski", 4_000, block=1234, out=tmp_path / "run").frame(), expected)


def test_rows_are_what_the_columns_decode():
    spec = Spec.build(GAME, seed=7)
    player = runner.ready(spec)
    raw = player.play(100, 50)
    kept = {}
    runner.play(player, [(100, 50)], lambda first, arrays: kept.update({first: arrays}), block=64)
    for column, array, numbers in zip(spec.columns, kept[100], raw, strict=True):
        decoded = column.decode(array) if column.share else array
        np.testing.assert_array_equal(decoded, column.decode(numbers))
        assert decoded.dtype == column.storage


def test_ranges_are_cut_into_blocks():
    assert list(runner.cut([(0, 5), (9, 2)], 2)) == [(0, 2), (2, 2), (4, 1), (9, 2)]
    player = runner.ready(Spec.build(GAME))
    seen = []
    tally = runner.play(
        player, [(3, 10), (50, 4)], lambda first, arrays: (first, len(arrays[0])), receive=seen.append, block=4
    )
    assert sorted(seen) == [(3, 4), (7, 4), (11, 2), (50, 4)]
    assert tally.n_played == 14


@pytest.mark.parametrize("threads", [1, 2, 64])
@pytest.mark.parametrize("n_games", [1, 1000, 10**6, 10**9])
def test_default_blocks_give_every_thread_work_to_the_end(n_games, threads):
    sizes = [size for _, size in runner.cut([(0, n_games)], partial(runner.block_size, n_games, threads))]
    assert sum(sizes) == n_games
    assert all(runner.SMALLEST_BLOCK <= size <= runner.LARGEST_BLOCK for size in sizes[:-1])
    assert max(sizes) <= runner.SMALLEST_BLOCK or n_games / max(sizes) >= 3 * threads
    assert sizes[-1] <= max(runner.SMALLEST_BLOCK, n_games / threads / 12)
    assert len(sizes) <= 24 * threads + n_games / runner.LARGEST_BLOCK


def test_default_blocks_fill_every_range():
    ranges = [(0, 5_000), (9_000, 1), (20_000, 70_000)]
    pieces = runner.cut(ranges, partial(runner.block_size, 75_001, 2))
    assert [game for first, n in pieces for game in range(first, first + n)] == [
        game for first, n in ranges for game in range(first, first + n)
    ]


def test_few_blocks_are_in_flight():
    player = runner.ready(Spec.build(GAME))
    begun, received, most = [], [], []

    def receive(first):
        most.append(len(begun) - len(received))
        received.append(first)

    def sink(first, arrays):
        begun.append(first)
        return first

    runner.play(player, [(0, 100_000)], sink, receive=receive, threads=2, block=1000)
    assert len(received) == 100
    assert max(most) <= 4


def test_progress_rises_to_the_end():
    told = []
    run(GAME, N, block=500, progress=lambda *numbers: told.append(numbers))
    done = [numbers[0] for numbers in told]
    assert done == sorted(done)
    assert told[-1][:2] == (N, N)
    assert all(numbers[2] > 0 for numbers in told)


def test_stop_keeps_what_is_finished(expected):
    stop = threading.Event()

    def progress(done, of, per_second):
        if done >= 2000:
            stop.set()

    results = run(GAME, N, rules={"pace": 100}, threads=2, block=500, progress=progress, stop=stop)
    assert not results.complete
    assert 500 <= results.n_there < N
    rows = results.frame()
    assert len(rows) == results.n_there
    pd.testing.assert_frame_equal(rows, expected.loc[rows["game"]].reset_index(drop=True))


def test_stop_is_obeyed_in_the_middle_of_a_block():
    stop = threading.Event()
    prepared = prepare(GAME, 10**9, rules={"pace": 1000})  # twelve days
    results = prepared.play(block=10**6, progress=lambda *_: stop.set(), stop=stop)
    assert results.n_there == 0
    with pytest.raises(ValueError, match="there are no rows"):
        results.frame()


def test_interruption_hands_over_what_is_finished():
    player = runner.ready(Spec.build(GAME, ToyRules(pace=50)))
    received = []

    def progress(done, of, per_second):
        if done >= 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.play(
            player,
            [(0, N)],
            lambda first, arrays: first,
            receive=received.append,
            threads=2,
            block=250,
            progress=progress,
        )
    assert received
    assert len(received) < N // 250


def test_error_of_a_sink_is_raised_after_the_rest_is_received():
    player = runner.ready(Spec.build(GAME))
    received = []

    def sink(first, arrays):
        if first == 2000:
            raise OSError("no more")
        return first

    with pytest.raises(OSError, match="no more"):
        runner.play(player, [(0, N)], sink, receive=received.append, threads=2, block=500)
    assert {0, 500} <= set(received)
    assert 2000 not in received


def test_error_of_a_store_is_raised_after_the_rest_is_received():
    player = runner.ready(Spec.build(GAME))
    received = []

    def store(first):
        if first == 2000:
            raise OSError("no more")
        return first

    with pytest.raises(OSError, match="no more"):
        runner.play(player, [(0, N)], lambda first, _: first, store=store, receive=received.append, block=500)
    assert {0, 500} <= set(received)
    assert 2000 not in received


def test_blocks_are_stored_while_others_are_played():
    player = runner.ready(Spec.build(GAME))
    played, stored, received = [], [], []
    second = threading.Event()

    def sink(first, arrays):
        played.append((first, threading.current_thread()))
        if first:
            second.set()
        return first

    def store(first):
        assert second.wait(60)  # one thread plays: it goes on although the first block is not stored
        stored.append((first, threading.current_thread()))
        return -first

    runner.play(player, [(0, 3000)], sink, store=store, receive=received.append, threads=1, block=1000)
    assert sorted(received) == [-2000, -1000, 0]
    assert not {thread for _, thread in played} & {thread for _, thread in stored}


def test_playing_waits_for_a_slow_store():
    player = runner.ready(Spec.build(GAME))
    played, received, most = [], [], []

    def store(first):
        time.sleep(0.002)
        most.append(len(played) - len(received))
        return first

    runner.play(
        player,
        [(0, 20_000)],
        lambda first, _: played.append(first) or first,
        store=store,
        receive=received.append,
        threads=2,
        block=200,
    )
    assert sorted(received) == list(range(0, 20_000, 200))
    assert max(most) <= 8


def test_what_is_played_when_it_is_stopped_is_stored():
    player = runner.ready(Spec.build(GAME))
    stop = threading.Event()
    played, received = [], []

    def sink(first, arrays):
        played.append(first)
        if len(played) == 5:
            stop.set()
        return first

    runner.play(player, [(0, N)], sink, store=lambda first: first, receive=received.append, block=100, stop=stop)
    assert sorted(received) == sorted(played)
    assert 5 <= len(received) < N // 100


def test_value_out_of_range_is_an_error():
    with pytest.raises(ValueError, match=r"^column kind: the kernel wrote 9, outside 0 to 3$"):
        run(GAME, N, rules={"broken_at": 1234})


def test_slow_games_are_handed_over_often(monkeypatch, expected):
    monkeypatch.setattr(runner, "CLOSE_AFTER", 0.02)
    results = run(GAME, 1000, rules={"pace": 200}, threads=2)
    assert len(results.blocks) > 3
    pd.testing.assert_frame_equal(results.frame(), expected.head(1000))


@pytest.mark.parametrize(("name", "value"), [("threads", 0), ("block", 0), ("threads", -1)])
def test_wrong_numbers_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} = {value}"):
        run(GAME, 10, **{name: value})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": 0}, "games = 0 is out of range; allowed: 1 to 1000000000000"),
        ({"games": 1.5}, "games = 1.5 is not a whole number"),
        ({"games": True}, "games = True is not a whole number"),
        ({"games": "1M"}, "games = '1M' is not a whole number"),
        ({"seed": -1}, "seed -1 is out of range"),
        ({"seed": "x"}, "seed = 'x' is not a whole number"),
        ({"rules": {"player": 3}}, r"no option 'player' \(did you mean 'players'\?\)"),
        ({"rules": {"players": 9}}, "players: 9 is out of range"),
        ({"variant": "thre"}, r"no variant 'thre' \(did you mean 'three'\?\)"),
        ({"rules": ToyRules(), "variant": "three"}, "variant = 'three' with a whole rule set"),
        ({"rules": get_game("bussikuski").rules()}, "these are rules of bussikuski, not of toy"),
        ({"policies": "clam"}, "'clam' is (not a|no) policy"),
        ({"policies": {"polcy": "calm"}}, "toy has --policy instead"),
        ({"policies": "calm,calm,calm"}, "3 policies for 2 seats"),
        ({"game": "busikuski"}, r"not a game \(did you mean 'bussikuski'\?\)"),
        ({"game": "bussikuski", "policies": "own"}, "bussikuski has guess and give; give a mapping"),
    ],
)
def test_wrong_calls_are_refused_in_one_line(arguments, message):
    with pytest.raises(RuleError, match=message) as caught:
        run(**{"game": GAME, "games": 10, **arguments})
    assert "\n" not in str(caught.value)


def test_arguments_are_resolved():
    prepared = prepare(GAME, np.int64(10), variant="three", rules={"reverse": True}, policies="calm,wild,calm", seed=5)
    assert prepared.spec.plain()["rules"] == {"players": 3, "pace": 0, "reverse": True, "broken_at": 0}
    assert prepared.spec.policies == {"policy": ("calm", "wild", "calm")}
    assert (prepared.n_there, prepared.n_missing, prepared.folder) == (0, 10, None)


def test_results_say_what_they_are():
    results = run(GAME, 1000, seed=3)
    assert repr(results) == "<Results toy seed 3: 1,000 of 1,000 games>"
    assert results.n_played == 1000
    assert results.games_per_second > 0
    assert results.frame()["game"].tolist() == list(range(1000))


def test_importing_sim_loads_nothing_heavy():
    code = (
        "import sys, sim; from sim import get_game; print({'numpy', 'numba', 'pyarrow', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_running_does_not_load_pandas(tmp_path):
    code = f"import sys; from tests.toy import GAME; from sim import run; run(GAME, 10, out={str(tmp_path / 'r')!r})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print('pandas' in sys.modules)"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_every_public_name_is_there():
    import sim

    assert dir(sim) == sorted(sim.__all__)
    for name in sim.__all__:
        assert getattr(sim, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        sim.rum  # noqa: B018
