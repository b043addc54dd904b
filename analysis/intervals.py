"""Confidence intervals for rates and means.

One question a function: `wilson` and `clopper_pearson` for rates, `rate` to choose between them, `mean` for means,
`fraction` for means of numbers between 0 and 1 such as a share of a win.

Why these are written out here rather than taken from statsmodels and scipy.stats: every ``fairdeal run`` prints
intervals, also the one of a thousand games, and importing statsmodels takes 1.1 s, scipy.stats 0.8 s. Wilson's interval
is one line and the normal quantile is in Python's standard library; Clopper-Pearson and Student's t use the functions
of `scipy.special` that those libraries use, imported only when a rate is rare or a sample small. The tests hold all
of them to statsmodels' ``proportion_confint`` (methods ``wilson`` and ``beta``) and to scipy.stats within 1e-12.

Probabilities are 0-1, also the confidence.

References
----------
Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
Clopper, C. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the binomial.
Biometrika 26, 404-413.
Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion. Statistical Science
16, 101-133: Wilson's interval covers what it says on average, but not for rare events; hence `RARE`.
Student (1908). The probable error of a mean. Biometrika 6, 1-25.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from statistics import NormalDist

CONFIDENCE = 0.95

RARE = 10
"""Fewer events (or non-events) than this get Clopper-Pearson's interval, which covers at least what it says."""

SMALL = 1_000
"""Fewer games than this get Student's quantile for a mean. (At 1,000 the normal one makes it 0.12 % narrower.)"""


@dataclasses.dataclass(frozen=True, repr=False)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    estimate
        The sample's rate or mean; nan if there is no sample.
    low, high
        The ends; infinite where the sample says nothing.
    n
        Games it rests on.
    se
        Standard error of the estimate; nan if one game cannot tell.
    method
        ``wilson``, ``clopper_pearson``, ``score`` (of paired rates), ``normal``, ``t``; ``constant`` for the mean of a
        sample that never varied (its ends say only that); ``none`` for no sample, or one game of a mean.
    confidence
        What the interval covers in the long run, 0-1.
    """

    estimate: float
    low: float
    high: float
    n: int
    se: float
    method: str
    confidence: float = CONFIDENCE

    def __repr__(self) -> str:
        """Return ``Interval(0.25 [0.2491, 0.2509], n=1000000, wilson)``."""
        return f"Interval({self.estimate:.6g} [{self.low:.6g}, {self.high:.6g}], n={self.n}, {self.method})"

    @property
    def half_width(self) -> float:
        """Return half the interval's width."""
        return (self.high - self.low) / 2

    def scaled(self, factor: float) -> Interval:
        """Return the interval of `factor` (positive) times what this one is of."""
        ends = {key: factor * getattr(self, key) for key in ("estimate", "low", "high", "se")}
        return dataclasses.replace(self, **ends)

    def to_json(self) -> dict[str, float | int | None]:
        """Return ``mean, se, low, high, n``; what is not a number, or infinite, is None (JSON has neither)."""
        entries = {"mean": self.estimate, "se": self.se, "low": self.low, "high": self.high}
        return {name: value if math.isfinite(value) else None for name, value in entries.items()} | {"n": self.n}


def normal_quantile(confidence: float = CONFIDENCE) -> float:
    """Return z such that a standard normal number lies within ±z with probability `confidence`.

    Raises
    ------
    ValueError
        If `confidence` is not between 0 and 1.
    """
    _check_confidence(confidence)
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def wilson(events: float, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's interval of a rate: the rates that a score test would not reject.

    Raises
    ------
    ValueError
        If not 0 ≤ `events` ≤ `n`, or `confidence` is not between 0 and 1.
    """
    _check_counts(events, n)
    z = normal_quantile(confidence)
    if n == 0:
        return _no_rate(confidence)
    p = events / n
    centre = (events + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(events * (1 - p) + z * z / 4)
    low = 0.0 if events == 0 else max(0.0, centre - half)
    high = 1.0 if events == n else min(1.0, centre + half)
    return Interval(p, low, high, n, _rate_se(p, n), "wilson", confidence)


def clopper_pearson(events: float, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Clopper and Pearson's interval of a rate: it covers at least what it says, for any rate and any `n`.

    Raises
    ------
    ValueError
        If not 0 ≤ `events` ≤ `n`, or `confidence` is not between 0 and 1.
    """
    _check_counts(events, n)
    _check_confidence(confidence)
    if n == 0:
        return _no_rate(confidence)
    tail = (1 - confidence) / 2
    p = events / n
    # Never and always have closed forms: (1 - high)^n = tail.
    if events == 0:
        low, high = 0.0, -math.expm1(math.log(tail) / n)
    elif events == n:
        low, high = math.exp(math.log(tail) / n), 1.0
    else:
        from scipy.special import betainccinv, betaincinv

        low = float(betaincinv(events, n - events + 1, tail))
        high = float(betainccinv(events + 1, n - events, tail))
    return Interval(p, low, high, n, _rate_se(p, n), "clopper_pearson", confidence)


def rate(events: float, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return a rate's interval: Wilson's, or Clopper and Pearson's below `RARE` events or non-events.

    Raises
    ------
    ValueError
        If not 0 ≤ `events` ≤ `n`, or `confidence` is not between 0 and 1.
    """
    choice = clopper_pearson if min(events, n - events) < RARE else wilson
    return choice(events, n, confidence)


def mean(average: float, variance: float, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of a mean.

    Parameters
    ----------
    average, variance
        The sample's mean and its variance with divisor n - 1.

    Raises
    ------
    ValueError
        If `n` or the variance is negative, or `confidence` is not between 0 and 1.
    """
    _check_confidence(confidence)
    if n < 0 or variance < 0:
        raise ValueError(f"n = {n} and variance = {variance}: neither can be negative")
    if n < 2:
        return Interval(average if n else math.nan, -math.inf, math.inf, n, math.nan, "none", confidence)
    if variance == 0:
        return Interval(average, average, average, n, 0.0, "constant", confidence)
    se = math.sqrt(variance / n)
    if n < SMALL:
        from scipy.special import stdtrit

        half, method = -float(stdtrit(n - 1, (1 - confidence) / 2)) * se, "t"
    else:
        half, method = normal_quantile(confidence) * se, "normal"
    return Interval(average, average - half, average + half, n, se, method, confidence)


def fraction(average: float, variance: float, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of a mean of numbers between 0 and 1 that are not all 0 or 1, such as a share of a win.

    As `mean`, but with Clopper and Pearson's ends where the numbers add up to fewer than `RARE` (or lack fewer from
    `n`): a normal interval would be too short there, and of no width for a seat that never won. These ends are
    cautious, because no numbers between 0 and 1 spread more than zeros and ones of the same mean.

    Raises
    ------
    ValueError
        If the mean is not between 0 and 1, or for what `mean` refuses.
    """
    if n and not 0 <= average <= 1:
        raise ValueError(f"a mean of {average} is not a fraction")
    if n and min(average, 1 - average) * n < RARE:
        ends = clopper_pearson(average * n, n, confidence)
        se = math.sqrt(variance / n) if n > 1 else math.nan
        return dataclasses.replace(ends, estimate=average, se=se)
    return mean(average, variance, n, confidence)


def _rate_se(p: float, n: int) -> float:
    return math.sqrt(p * (1 - p) / n)


def _no_rate(confidence: float) -> Interval:
    return Interval(math.nan, 0.0, 1.0, 0, math.nan, "none", confidence)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1 (95 % is 0.95)")


def _check_counts(events: float, n: int) -> None:
    if not 0 <= events <= n:
        raise ValueError(f"{events} events in {n} games: not between none and all")


def paired_rates(gained: int, lost: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of the difference of two rates over the same games.

    Tango's score interval: the differences that a score test would not reject. It is to McNemar's test (without
    correction) what Wilson's interval is to the test of one rate, and leaves out zero exactly when that test rejects.
    Below `RARE` games that differ the ends are Clopper and Pearson's, those of either kind of game with half the
    error each, which cover at least what they say.

    Parameters
    ----------
    gained, lost
        Games in which only the second holds, and in which only the first does.
    n
        Games in all.

    Raises
    ------
    ValueError
        If the counts are negative or more than `n`, or `confidence` is not between 0 and 1.

    References
    ----------
    Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design. Statistics in Medicine 17, 891-908.
    """
    _check_counts(min(gained, lost), n)
    _check_counts(gained + lost, n)
    z = normal_quantile(confidence)
    if n == 0:
        return Interval(math.nan, -1.0, 1.0, 0, math.nan, "none", confidence)
    difference = (gained - lost) / n
    se = math.sqrt(max(0.0, gained + lost - n * difference**2)) / n
    if gained + lost < RARE:
        gain, loss = (clopper_pearson(events, n, (1 + confidence) / 2) for events in (gained, lost))
        return Interval(difference, gain.low - loss.high, gain.high - loss.low, n, se, "clopper_pearson", confidence)

    def excess(delta: float) -> float:
        """Return the squared score statistic's numerator less z² times its variance, at the difference `delta`."""
        b = (2 * n - gained + lost) * delta - gained - lost
        root = math.sqrt(max(0.0, b * b + 8 * n * lost * delta * (1 - delta)))
        p_lost = (root - b) / (4 * n)
        return (gained - lost - n * delta) ** 2 - z * z * n * (2 * p_lost + delta * (1 - delta))

    # At the ends one root is the end itself, and the other has a closed form.
    low, high = (-1.0 if lost == n else (n - z * z) / (n + z * z)), (1.0 if gained == n else (z * z - n) / (n + z * z))
    if lost < n and gained < n:
        low, high = (_root(excess, *ends) for ends in ((-1.0, difference), (difference, 1.0)))
    return Interval(difference, low, high, n, se, "score", confidence)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function is 0 between two places at which its signs differ, to the last bits.

    The secant's place is taken again and again; an end that stays is given half its weight each time (the Illinois
    method; Dowell and Jarratt, 1971). The tests hold it to scipy's ``brentq``, whose import takes 0.3 s.
    """
    at_low, at_high = function(low), function(high)
    x, stayed = (high, 0) if abs(at_high) < abs(at_low) else (low, 0)
    while at_low and at_high and high - low > 2 * math.ulp(x):
        x = (low * at_high - high * at_low) / (at_high - at_low)
        if not low < x < high:
            x = (low + high) / 2
        there = function(x)
        if there == 0:
            break
        if (there > 0) == (at_low > 0):
            low, at_low = x, there
            at_high, stayed = at_high / (2 if stayed == 1 else 1), 1
        else:
            high, at_high = x, there
            at_low, stayed = at_low / (2 if stayed == 2 else 1), 2
    return x
