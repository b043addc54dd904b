"""The intervals against statsmodels, scipy.stats, and exact coverage."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.proportion import proportion_confint

from analysis import Interval, clopper_pearson, intervals, mean, rate, wilson
from analysis.intervals import RARE, SMALL, fraction, normal_quantile

CONFIDENCES = (0.5, 0.9, 0.95, 0.99, 0.999)
SIZES = (1, 2, 3, 9, 10, 37, 1_000, 10**6, 10**9)
GRID = [
    (events, n)
    for n in SIZES
    for events in sorted({e for e in (0, 1, 2, 9, n // 10, n // 3, n // 2, n - 1, n) if 0 <= e <= n})
]


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(("function", "method"), [(wilson, "wilson"), (clopper_pearson, "beta")])
def test_rates_equal_statsmodels(function, method, confidence):
    for events, n in GRID:
        low, high = proportion_confint(events, n, alpha=1 - confidence, method=method)
        found = function(events, n, confidence)
        assert found.low == pytest.approx(low, rel=1e-12, abs=1e-12), (events, n)
        assert found.high == pytest.approx(high, rel=1e-12, abs=1e-12), (events, n)
        assert found.estimate == events / n


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_small_ends_of_clopper_pearson_keep_their_digits(confidence):
    tail = (1 - confidence) / 2
    for events, n in GRID:
        found = clopper_pearson(events, n, confidence)
        if events:
            assert found.low == pytest.approx(stats.beta.ppf(tail, events, n - events + 1), rel=1e-11)
        if events < n:
            assert 1 - found.high == pytest.approx(stats.beta.ppf(tail, n - events, events + 1), rel=1e-6)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_wilson_ends_solve_the_score_equation(confidence):
    z = normal_quantile(confidence)
    for events, n in GRID:
        found = wilson(events, n, confidence)
        for end in (found.low, found.high):
            if 0 < end < 1:
                score = (events / n - end) / math.sqrt(end * (1 - end) / n)
                assert abs(score) == pytest.approx(z, rel=1e-6), (events, n)


@pytest.mark.parametrize("confidence", [1e-6, 0.5, 0.8, 0.95, 0.999999])
def test_normal_quantile_equals_scipy(confidence):
    assert normal_quantile(confidence) == pytest.approx(stats.norm.ppf(0.5 + confidence / 2), rel=1e-9)
    assert normal_quantile(confidence) == pytest.approx(stats.norm.isf((1 - confidence) / 2), rel=1e-12)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("n", [2, 3, 30, SMALL - 1, SMALL, 100_000])
def test_means_equal_scipy(n, confidence):
    values = np.random.default_rng(n).gamma(2.0, size=n)
    found = mean(values.mean(), values.var(ddof=1), n, confidence)
    law = stats.t(n - 1) if n < SMALL else stats.norm
    low, high = (values.mean() + stats.sem(values) * law.ppf(q) for q in ((1 - confidence) / 2, (1 + confidence) / 2))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-11)
    assert found.se == pytest.approx(stats.sem(values), rel=1e-12)
    assert found.method == ("t" if n < SMALL else "normal")


def test_students_quantile_ends_where_it_hardly_matters():
    assert stats.t(SMALL - 1).ppf(0.975) / normal_quantile(0.95) - 1 < 0.00125


@pytest.mark.parametrize(
    ("events", "n", "method"),
    [
        (0, 10**6, "clopper_pearson"),
        (RARE - 1, 10**6, "clopper_pearson"),
        (RARE, 10**6, "wilson"),
        (10**6 - RARE, 10**6, "wilson"),
        (10**6 - RARE + 1, 10**6, "clopper_pearson"),
        (10**6, 10**6, "clopper_pearson"),
        (RARE, 2 * RARE, "wilson"),
    ],
)
def test_rare_rates_get_clopper_pearson(events, n, method):
    assert rate(events, n).method == method


def _coverage(interval, n, p):
    """Return the exact probability that the interval of a binomial count holds p."""
    events = np.arange(n + 1)
    covers = [interval(int(k), n).low <= p <= interval(int(k), n).high for k in events]
    return float(stats.binom.pmf(events, n, p)[covers].sum())


@pytest.mark.parametrize("n", [1, 10, 60])
def test_clopper_pearson_covers_at_least_what_it_says(n):
    for p in (1e-4, 0.01, 0.05, 0.2, 0.5, 0.77, 0.999):
        assert _coverage(clopper_pearson, n, p) >= 0.95


@pytest.mark.parametrize(("n", "p"), [(400, 0.5), (400, 0.05), (400, 0.3), (1_000, 0.9), (2_000, 0.001)])
def test_rates_are_covered_about_as_often_as_said(n, p):
    assert 0.94 <= _coverage(rate, n, p) <= 0.995


def test_never_and_always():
    for function in (wilson, clopper_pearson, rate):
        never, always = function(0, 1_000), function(1_000, 1_000)
        assert (never.low, always.high) == (0.0, 1.0)
        assert never.high == pytest.approx(1 - always.low, rel=1e-12)
        assert 0 < never.high < 0.004
    assert clopper_pearson(0, 100).high == pytest.approx(1 - 0.025 ** (1 / 100), rel=1e-12)
    assert clopper_pearson(0, 10**15).high == pytest.approx(-math.log(0.025) / 1e15, rel=1e-12)


def test_no_games_leave_everything_open():
    for found in (wilson(0, 0), clopper_pearson(0, 0), rate(0, 0)):
        assert math.isnan(found.estimate)
        assert (found.low, found.high, found.n, found.method) == (0.0, 1.0, 0, "none")
    for n in (0, 1):
        found = mean(3.0, math.nan, n)
        assert (found.low, found.high, found.method) == (-math.inf, math.inf, "none")
        assert math.isnan(found.se)
        assert math.isnan(found.estimate) is (n == 0)


def test_a_sample_without_spread_is_called_constant():
    found = mean(3.0, 0.0, 50)
    assert (found.estimate, found.low, found.high, found.se, found.method) == (3.0, 3.0, 3.0, 0.0, "constant")


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.01, 0.9999))
def test_rates_hold_their_estimate_and_mirror(counts, confidence):
    events, n = counts
    for function in (wilson, clopper_pearson):
        found, mirrored = function(events, n, confidence), function(n - events, n, confidence)
        assert 0 <= found.low <= found.estimate <= found.high <= 1
        assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12)
        assert function(events, n, confidence / 2).half_width <= found.half_width


def test_fractions_of_few_wins_are_cautious_and_of_many_normal():
    n = 10_000
    values = np.zeros(n)
    values[:15] = 0.5
    few = fraction(values.mean(), values.var(ddof=1), n)
    assert few.method == "clopper_pearson"
    assert few.se == pytest.approx(stats.sem(values))
    assert (few.low, few.high) == pytest.approx(proportion_confint(7.5, n, method="beta"), rel=1e-12)
    assert few.half_width > mean(values.mean(), values.var(ddof=1), n).half_width
    never = fraction(0.0, 0.0, n)
    assert (never.low, never.high) == (0.0, rate(0, n).high)
    values[:5_000] = 0.5
    many = fraction(values.mean(), values.var(ddof=1), n)
    assert many == mean(values.mean(), values.var(ddof=1), n)
    one = fraction(0.5, math.nan, 1)
    assert (one.estimate, one.n) == (0.5, 1)
    assert math.isnan(one.se)


@pytest.mark.parametrize("call", [lambda: wilson(-1, 5), lambda: rate(6, 5), lambda: clopper_pearson(1, 0)])
def test_impossible_counts_are_refused(call):
    with pytest.raises(ValueError, match="not between none and all"):
        call()


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, math.nan])
def test_impossible_confidences_are_refused(confidence):
    for call in (lambda: rate(5, 50, confidence), lambda: rate(25, 50, confidence), lambda: mean(1, 1, 50, confidence)):
        with pytest.raises(ValueError, match="not between 0 and 1"):
            call()


def test_impossible_moments_are_refused():
    with pytest.raises(ValueError, match="negative"):
        mean(0.0, -1.0, 5)
    with pytest.raises(ValueError, match="not a fraction"):
        fraction(1.5, 1.0, 5)


def test_json_has_neither_nan_nor_infinity():
    assert rate(1, 2).to_json().keys() == {"mean", "se", "low", "high", "n"}
    assert mean(3.0, math.nan, 1).to_json() == {"mean": 3.0, "se": None, "low": None, "high": None, "n": 1}
    json.dumps(rate(0, 0).to_json(), allow_nan=False)


def test_the_object_is_short_and_frozen():
    found = rate(250_000, 10**6)
    assert repr(found) == "Interval(0.25 [0.249152, 0.25085], n=1000000, wilson)"
    assert isinstance(found, Interval)
    with pytest.raises(AttributeError):
        found.low = 0.0


def test_the_score_interval_s_ends_are_those_that_brentq_finds(monkeypatch):
    rng = np.random.default_rng(11)
    games = (10 ** rng.uniform(1.5, 11, 400)).astype(int)
    cases = [(int(n), *(int(x) for x in rng.multinomial(min(n, 10**6), [0.02, 0.03, 0.95])[:2])) for n in games]
    cases = [(n, gained, lost) for n, gained, lost in cases if gained + lost >= 10]
    ours = [intervals.paired_rates(gained, lost, n) for n, gained, lost in cases]
    monkeypatch.setattr(intervals, "_root", lambda f, low, high: float(optimize.brentq(f, low, high, xtol=1e-16)))
    for (n, gained, lost), found in zip(cases, ours, strict=True):
        theirs = intervals.paired_rates(gained, lost, n)
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12, abs=1e-14)
