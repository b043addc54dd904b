"""Confidence sequences against closed forms and one another; targets; when a run stops."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln

from analysis import ConditionError, Target, Watch, mean_sequence, rate_sequence, wilson
from analysis.joint import Measure
from analysis.load import ColumnNote
from analysis.pairs import open_side
from analysis.sequential import ASYMPTOTIC, ENOUGH, EXACT, FIRST_LOOK, STEP, difference_sequence, looks
from analysis.sums import Joint


@pytest.mark.parametrize("most", [1, 1_000, 1_024, 5_000, 10**6, 10**9])
def test_looks(most):
    found = list(looks(most))
    assert found[-1] == most
    assert found == sorted(set(found))
    assert all(games % FIRST_LOOK == 0 for games in found[:-1])
    assert all(b - a <= max(FIRST_LOOK, STEP * a + FIRST_LOOK) for a, b in zip([0, *found], found, strict=False))
    assert len(found) < 260


def mixture(p, events, n):
    return (
        betaln(0.5 + events, 0.5 + n - events) - betaln(0.5, 0.5) - events * math.log(p) - (n - events) * math.log1p(-p)
    )


@given(st.integers(1, 10**6), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.999]))
def test_ends_of_a_rate_are_where_the_mixture_is_one_over_the_error(n, part, confidence):
    events = round(part * n)
    found = rate_sequence(events, n, confidence)
    assert found.low <= found.estimate <= found.high
    for end in (found.low, found.high):
        if 0 < end < 1:
            assert mixture(end, events, n) == pytest.approx(-math.log(1 - confidence), rel=1e-5, abs=1e-5)
    ordinary = wilson(events, n, confidence)
    if 30 < events < n - 30:
        assert found.half_width > ordinary.half_width


@pytest.mark.parametrize("n", [1, 10, 1_000, 10**7])
def test_never_and_always_have_closed_forms(n):
    bound = -math.expm1((betaln(0.5, 0.5 + n) - betaln(0.5, 0.5) + math.log(0.05)) / n)
    never, always = rate_sequence(0, n), rate_sequence(n, n)
    assert (never.low, always.high) == (0, 1)
    assert never.high == pytest.approx(bound, rel=1e-9)
    assert always.low == pytest.approx(1 - bound, rel=1e-7, abs=1e-9)


def test_expected_growth_of_the_mixture_is_one():
    """At the true rate the mixture over the likelihood is a martingale that begins at 1, as Ville needs it."""
    from scipy.stats import binom

    for n in (1, 5, 40):
        for p in (0.1, 0.5):
            events = np.arange(n + 1)
            ratio = np.exp([mixture(p, s, n) for s in events.tolist()])
            assert (binom.pmf(events, n, p) * ratio).sum() == pytest.approx(1, rel=1e-9)


def test_mean_sequence():
    found = mean_sequence(3.0, 4.0, 10_240)
    assert found.method == ASYMPTOTIC
    # The mixture martingale of a normal mean: exp(ρ²S²/2(nρ²+1)) / √(nρ²+1) is 1/error at the ends.
    rho2 = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / 10_240
    total = found.half_width * 10_240 / 2.0
    grown = 10_240 * rho2 + 1
    assert math.exp(rho2 * total**2 / 2 / grown) / math.sqrt(grown) == pytest.approx(20, rel=1e-9)
    widths = [mean_sequence(0, 1, n).half_width * math.sqrt(n) / 1.96 for n in (1_024, 10_240, 10**6)]
    assert min(widths) == widths[1]
    assert widths[2] < 2
    assert mean_sequence(1.0, 0.0, 5_000).half_width == math.inf
    for wrong in ((0, 1, -1), (0, -1, 5)):
        with pytest.raises(ValueError, match="not possible"):
            mean_sequence(*wrong)


def test_difference_of_which_little_is_known():
    measure = Measure("won", "won", None, ColumnNote("won"), True, True, 1.0)
    pair = Joint(2)
    numbers = np.zeros((2, 5_000), np.int8)
    numbers[1, :3] = 1
    pair.add(numbers)
    found = difference_sequence(measure, pair, 1, 3)
    assert found.method == EXACT
    assert found.high == rate_sequence(3, 5_000).high
    assert found.low == -found.high
    wide = Measure("turns", "turns", None, ColumnNote("turns"), False, False, math.inf)
    assert difference_sequence(wide, pair, 1, 3).half_width == math.inf
    numbers[1, :ENOUGH] = 1
    pair = Joint(2)
    pair.add(numbers)
    assert difference_sequence(wide, pair, 1, ENOUGH).method == ASYMPTOTIC


@pytest.mark.parametrize(
    ("text", "what", "half_width"),
    [
        ("winner==0 ± 0.1%", "winner==0", 0.001),
        ("turns +- 0.05", "turns", 0.05),
        ("turns+/-1e-2", "turns", 0.01),
        ("a - b > 2 ± 5 %", "a - b > 2", 0.05),
    ],
)
def test_targets(text, what, half_width):
    assert Target.read(text) == Target(what, pytest.approx(half_width))


@pytest.mark.parametrize(
    "text", ["", "turns", "± 1", "turns ± x", "turns ± 0", "turns ± -1", "turns ± inf", "a ± 1 ± 2"]
)
def test_what_is_no_target(text):
    with pytest.raises(ConditionError):
        Target.read(text)


def test_watch_does_not_depend_on_batches():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"game": range(9_000), "turns": rng.geometric(0.2, 9_000), "won": rng.random(9_000) < 0.3})
    side = open_side(frame)
    for text in ("turns ± 0.1", "turns > 3 and won ± 1%"):
        watches = [Watch(Target.read(text), side) for _ in range(2)]
        for watch, size in zip(watches, (9_000, 700), strict=True):
            for batch in side.read(watch.columns, size):
                watch.add(batch)
        assert watches[0].interval == watches[1].interval
        table = frame[watches[0].columns].value_counts().reset_index()
        weighted = Watch(Target.read(text), side)
        for batch in open_side(table.assign(game=range(len(table)))).read(watches[0].columns, 10**6):
            order = table["count"].to_numpy()
            weighted.add(batch, order)
        assert weighted.interval == watches[0].interval
        assert watches[0].interval.n == 9_000


def test_column_that_hardly_varies_is_not_trusted():
    frame = pd.DataFrame({"game": range(5_000), "swaps": [0] * 4_950 + [1] * 50})
    watch = Watch(Target.read("swaps ± 0.5"), open_side(frame))
    for batch in open_side(frame).read(["swaps"], 1_000):
        watch.add(batch)
    assert not watch.is_reached
