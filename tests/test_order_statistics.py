"""Quantiles against scipy's, numpy's, and the binomial distribution itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.order_statistics import QUANTILES, quantiles, ranks


def counted(values):
    found, counts = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize("n", [1, 5, 30, 200, 5_000])
@pytest.mark.parametrize("level", QUANTILES)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_ends_are_scipys(n, level, confidence):
    values = np.random.default_rng(n).geometric(0.02, n)
    found = quantiles(counted(values), [level], confidence=confidence)[level]
    ends = stats.quantile_test(values, p=level).confidence_interval(confidence)
    assert found.low == (-math.inf if math.isnan(ends.low) else ends.low)
    assert found.high == (math.inf if math.isnan(ends.high) else ends.high)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60), st.floats(0.01, 0.99))
def test_estimate_is_numpys_inverted_distribution(values, level):
    found = quantiles(counted(values), [level])[level]
    assert found.estimate == np.quantile(values, level, method="inverted_cdf")
    assert found.low <= found.estimate <= found.high


@pytest.mark.parametrize("n", [1, 7, 100, 12_345, 10**6, 10**9, 2**31 - 1])
@pytest.mark.parametrize("level", [0.001, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_ranks_are_the_binomial_distributions(n, level, confidence):
    low, high = ranks(n, level, confidence)
    law, tail = stats.binom(n, level), (1 - confidence) / 2
    assert law.cdf(low - 1) <= tail < law.cdf(low)
    assert law.sf(high - 1) <= tail < law.sf(high - 2) or high == 1


@pytest.mark.parametrize("level", QUANTILES)
@pytest.mark.parametrize("n", [60_000, 10**6, 3 * 10**8])
def test_short_way_finds_what_the_long_way_finds(monkeypatch, level, n):
    """Whatever the values are like: every rank is another value, then a few values only."""
    for step in (1, 7, 1_000, n // 20):
        values = np.arange(0, n, max(step, n // 50_000))
        counts = dict(zip(values.tolist(), np.diff([*values.tolist(), n]).tolist(), strict=True))
        short = quantiles(counts, [level])[level]
        with monkeypatch.context() as patch:
            patch.setattr("analysis.order_statistics._LARGE", math.inf)
            assert quantiles(counts, [level])[level] == short


def test_values_seldom_enough_end_where_the_column_ends():
    found = quantiles({3: 2, 9: 1}, low=0, high=20)
    assert (found[0.5].low, found[0.5].estimate, found[0.5].high) == (0, 3, 20)
    assert quantiles({}, low=0, high=20)[0.5].n == 0
    with pytest.raises(ValueError, match="quantile 5 is not between 0 and 1"):
        quantiles({1: 1}, [5])


@pytest.mark.parametrize("level", [0.05, 0.25, 0.5, 0.75, 0.95])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 73, 100, 1_000, 4_096, 10_000])
def test_ranks_of_few_values_are_those_of_the_binomial_law(n, level):
    first, last = ranks(n, level)
    law = stats.binom(n, level)
    assert law.cdf(first - 1) <= 0.025 < law.cdf(first)
    assert law.sf(last - 1) <= 0.025
    assert last == 0 or law.sf(last - 2) > 0.025
