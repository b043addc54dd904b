"""Quantiles of counted values, with intervals that hold whatever the distribution.

The interval of the p-quantile runs from one order statistic to another: the number of values not above it is binomial
with p, so that the ranks follow from the binomial distribution alone. They are exact, and for values that repeat (whole
numbers of turns, points, cards) they cover at least what they say; `scipy.stats.quantile_test` finds the same ends from
the sorted values, which the tests check. Only counts are needed here, so a run of any size is one table.

References
----------
Thompson, W. R. (1936). On confidence ranges for the median and other expectation distributions for populations of
unknown distribution form. Annals of Mathematical Statistics 7, 122-128.
Conover, W. J. (1999). Practical Nonparametric Statistics, 3rd ed., section 3.2.
Hyndman, R. J. and Fan, Y. (1996). Sample quantiles in statistical packages. American Statistician 50, 361-365: the
estimate is their definition 1, a value that did occur.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from analysis.intervals import CONFIDENCE, Interval, normal_quantile

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

_FEW = 10_000
"""Up to so many values binomial probabilities are added up one by one."""

_LARGE = 10_000
"""From so many values on (and so many times p (1 - p)) the ranks are first sought within `_NEAR` of a normal law."""

_NEAR = 3


def quantiles(
    counts: Mapping[float, int],
    levels: Sequence[float] = QUANTILES,
    *,
    confidence: float = CONFIDENCE,
    low: float = -math.inf,
    high: float = math.inf,
) -> dict[float, Interval]:
    """Return quantiles of counted values with their intervals.

    Parameters
    ----------
    counts
        Value → how often, in ascending order of the values.
    levels
        Which quantiles, 0-1.
    confidence
        Of each interval, 0-1.
    low, high
        The ends where there are too few values for an order statistic to be one.

    Raises
    ------
    ValueError
        If a level or `confidence` is not between 0 and 1.
    """
    values = np.array(list(counts))
    up_to = np.cumsum(np.array(list(counts.values()), np.int64))
    n = int(up_to[-1]) if len(up_to) else 0

    def at(rank: int) -> float:
        """Return the value of this rank, from 1."""
        if not 1 <= rank <= n:
            return low if rank < 1 else high
        found: float = values[np.searchsorted(up_to, rank)].item()
        return found

    found = {}
    for level in levels:
        if not 0 < level < 1:
            raise ValueError(f"quantile {level} is not between 0 and 1 (the median is 0.5)")
        if not n:
            found[level] = Interval(math.nan, low, high, 0, math.nan, "none", confidence)
            continue
        ends = _near_ends(n, level, confidence, at)
        if ends is None:
            first, last = ranks(n, level, confidence)
            ends = at(first), at(last)
        # A whole number times a level such as 0.05 may come out a hair too large.
        estimate = at(max(1, math.ceil(n * level * (1 - 1e-15))))
        found[level] = Interval(estimate, *ends, n, math.nan, "order_statistics", confidence)
    return found


def ranks(n: int, level: float, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """Return the ranks (from 1) of the values between which a quantile lies; 0 and n + 1 where there is none.

    The lower is the largest rank with P(B < rank) ≤ tail, the upper the smallest with P(B ≥ rank) ≤ tail, for B
    binomial with `n` and `level` and a tail of half the error.
    """
    tail = (1 - confidence) / 2
    if n <= _FEW:
        return _summed_ranks(n, level, tail)
    from scipy.special import bdtr, bdtrc, bdtrik

    below, above = (_least(float(bdtrik(y, n, level))) for y in (tail, 1 - tail))
    if n < 2**31:  # what the library's binomial distribution takes; beyond, its inverse is near enough to be right
        while below > 0 and bdtr(below - 1, n, level) > tail:
            below -= 1
        while bdtr(below, n, level) <= tail:
            below += 1
        while above > 0 and bdtrc(above - 1, n, level) <= tail:
            above -= 1
        while bdtrc(above, n, level) > tail:
            above += 1
    return below, above + 1


@functools.cache
def _summed_ranks(n: int, level: float, tail: float) -> tuple[int, int]:
    """Return the same by adding up binomial probabilities: loading scipy would take a fifth of a small run's time."""
    log_p, log_q, whole = math.log(level), math.log1p(-level), math.lgamma(n + 1)

    def chance(k: int) -> float:
        return math.exp(whole - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * log_p + (n - k) * log_q)

    below, left = 0, chance(0)
    while left <= tail:
        below += 1
        left += chance(below)
    above, right = n, chance(n)
    while right <= tail:
        above -= 1
        right += chance(above)
    return below, above + 1


def _least(rank: float) -> int:
    return max(0, math.ceil(rank)) if math.isfinite(rank) else 0


def _near_ends(n: int, level: float, confidence: float, at: Callable[[int], float]) -> tuple[float, float] | None:
    """Return the ends if all ranks near those of a normal law have the same values: most often, and without scipy."""
    spread = level * (1 - level)
    if n * spread < _LARGE:
        return None
    z = normal_quantile(confidence)
    # Cornish and Fisher's correction for the skewness; the error is far below a rank.
    shift = (z * z - 1) * (1 - 2 * level) / 6
    ends = []
    for sign in (-1, 1):
        middle = n * level + sign * z * math.sqrt(n * spread) + shift
        first, last = at(math.floor(middle) - _NEAR), at(math.ceil(middle) + _NEAR)
        if first != last:
            return None
        ends.append(first)
    return ends[0], ends[1]


__all__ = ["QUANTILES", "quantiles", "ranks"]
