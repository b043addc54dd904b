"""How much faster two are than one: threads of one process, and workers of a Dask cluster.

Two processors of a shared machine are seldom worth two: a second thread of the bare kernel, which waits for nothing and
writes nothing, gives 1.7 to 2.1 times one from minute to minute. So each round also measures that, and what a run
reaches is counted in processors of the worth that the machine had: twice as much as the bare kernel's ratio is 2.
"""

import contextlib
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sim import DaskEngine, Spec, get_game, run
from sim.runner import ready

pytestmark = [
    pytest.mark.validation,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

GAMES = 10_000_000
ROUNDS = 9


def bare(threads):
    """Return games per second of the kernel alone, in so many threads at a time."""
    player, n_games = ready(Spec.build(get_game("bussikuski"))), 2_000_000

    def play(first):
        for at in range(first, first + n_games, 5_000):
            player.play(at, 5_000)

    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(play, [thread * n_games for thread in range(threads)]))
    return threads * n_games / (time.perf_counter() - began)


def processors_used(one, two):
    """Return how many processors the second puts to use where the first uses one: the median of rounds."""
    ratios, worth = [], []
    for _ in range(ROUNDS):
        before = bare(2) / bare(1)
        ratios.append(two() / one())
        worth.append((before + bare(2) / bare(1)) / 2)
    used = statistics.median(2 * ratio / pair for ratio, pair in zip(ratios, worth, strict=True))
    print(
        f"{statistics.median(ratios):.3f} times (best round {max(ratios):.3f}) where the bare kernel gives"
        f" {statistics.median(worth):.3f}: {used:.3f} processors"
    )
    return used


def player(folder, **how):
    number = iter(range(1000))
    return lambda: run("bussikuski", GAMES, out=folder / f"{next(number)}", **how).games_per_second


def test_two_threads_are_nearly_twice_as_fast_as_one(tmp_path):
    assert processors_used(player(tmp_path / "1", threads=1), player(tmp_path / "2", threads=2)) > 1.9


def test_two_workers_are_much_faster_than_one(tmp_path):
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(DaskEngine(workers=n)) for n in (1, 2))
        for engine in (one, two):
            run("bussikuski", 200_000, out=tmp_path / f"warm {engine.workers}", engine=engine)
        assert processors_used(player(tmp_path / "1", engine=one), player(tmp_path / "2", engine=two)) > 1.7
