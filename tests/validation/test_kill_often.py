"""A run that is killed twenty times, whenever it happens to be, ends with the rows of an undisturbed one."""

import random
import signal
import time

import pandas as pd
import pytest

from sim import check, prepare, run
from tests.test_kill import RULES, start
from tests.toy import GAME

pytestmark = pytest.mark.validation

N = 40_000
N_KILLS = 20


@pytest.mark.parametrize("threads", [1, 2])
def test_twenty_kills_at_random_moments(tmp_path, threads):
    out, moments = tmp_path / "run", random.Random(threads)
    expected = run(GAME, N, rules=RULES).frame()
    there = []
    for _ in range(N_KILLS):
        process = start(out, block=100, threads=threads)
        time.sleep(moments.uniform(0.2, 1.2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        there.append(prepare(GAME, N, rules=RULES, out=out).n_there)
    assert there == sorted(there)
    prepared = prepare(GAME, N, rules=RULES, out=out)
    assert prepared.play().complete
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)
    assert check(out) == []
