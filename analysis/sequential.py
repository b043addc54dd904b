"""Confidence sequences: intervals that hold at all numbers of games at once, so that one may look and stop any time.

An ordinary interval covers what it says at one number of games, chosen beforehand. Who looks again and again and stops
as soon as it pleases errs far more often (47 to 49 % instead of 5 %, as measured). A confidence sequence is a little
wider and covers the truth at every look together with the stated probability.

rates
    Robbins' mixture of likelihood ratios with a Beta(1/2, 1/2) law: the ratio of the mixture to the binomial likelihood
    at the true rate is a martingale, which by Ville's inequality exceeds 1/error at any time with at most that
    probability. Exact for any number of games.
means
    The asymptotic confidence sequence of Waudby-Smith and others: a normal mixture with the variance that was found. It
    holds for large samples, as Student's interval does: hence looks begin at `FIRST_LOOK` games, and a number that
    hardly ever varies is not trusted before it did so `ENOUGH` times.
paired differences
    As means; where fewer than `ENOUGH` deals differ, by the exact sequence of how often deals differ at all.

References
----------
Ville, J. (1939). Étude critique de la notion de collectif. Paris.
Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. Annals of Mathematical Statistics
41, 1397-1409.
Howard, S. R., Ramdas, A., McAuliffe, J. and Sekhon, J. (2021). Time-uniform, nonparametric, nonasymptotic confidence
sequences. Annals of Statistics 49, 1055-1080.
Waudby-Smith, I., Arbour, D., Sinha, R., Kennedy, E. H. and Ramdas, A. (2024). Time-uniform central limit theory and
asymptotic confidence sequences. Annals of Statistics 52, 2613-2640.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.conditions import ConditionError
from analysis.intervals import CONFIDENCE, Interval
from analysis.tally import Array, Moments, Tally

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.joint import Measure
    from analysis.pairs import Side
    from analysis.sums import Joint

FIRST_LOOK = 1_024
"""Games at the first look; every look is at a multiple of it, and the last at the most games there may be."""

STEP = 0.1
"""From look to look the games grow by this share."""

TUNED = 10 * FIRST_LOOK
"""The number of games at which the sequence of a mean is narrowest, compared with an ordinary interval."""

ENOUGH = 100

EXACT = "beta_binomial"
ASYMPTOTIC = "asymptotic"

GUARANTEES = {
    EXACT: "anytime-valid, exact for any number of games (beta-binomial mixture)",
    ASYMPTOTIC: "anytime-valid for large samples (asymptotic confidence sequence)",
}
"""The method of an interval → what may be relied on."""


def looks(most: int, first: int = FIRST_LOOK, step: float = STEP) -> Iterator[int]:
    """Yield the numbers of games after which to look: 1,024, 2,048, …, later in steps of 10 %; the last is `most`."""
    games = first
    while games < most:
        yield games
        games += max(first, math.ceil(games * step / first) * first)
    yield most


def rate_sequence(events: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return a rate's interval of the exact confidence sequence.

    The rates p with log B(½ + s, ½ + n - s) - log B(½, ½) - s log p - (n - s) log(1 - p) below log(1/error), for s
    events in n games.

    Raises
    ------
    ValueError
        If not 0 ≤ `events` ≤ `n`, or `confidence` is not between 0 and 1.
    """
    from scipy.optimize import brentq
    from scipy.special import betaln, xlog1py, xlogy

    if not 0 <= events <= n or not 0 < confidence < 1:
        raise ValueError(f"{events} events in {n} games, confidence {confidence}: not possible")
    if n == 0:
        return Interval(math.nan, 0.0, 1.0, 0, math.nan, "none", confidence)
    mixture = float(betaln(0.5 + events, 0.5 + n - events) - betaln(0.5, 0.5)) + math.log(1 - confidence)

    def excess(p: float) -> float:
        return mixture - float(xlogy(events, p) + xlog1py(n - events, -p))

    p = events / n
    low = 0.0 if events == 0 else float(brentq(excess, 1e-300, p, xtol=1e-300, rtol=1e-12))
    high = 1.0 if events == n else float(brentq(excess, p, 1 - 1e-16, xtol=1e-16, rtol=1e-12))
    return Interval(p, low, high, n, math.sqrt(p * (1 - p) / n), EXACT, confidence)


def mean_sequence(average: float, variance: float, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return a mean's interval of the asymptotic confidence sequence.

    The half-width is the standard deviation times √(2 (nρ² + 1) log(√(nρ² + 1) / error) / (n²ρ²)), with ρ² so that it
    is about narrowest at `TUNED` games.

    Parameters
    ----------
    average, variance
        The sample's mean and its variance with divisor n - 1.

    Raises
    ------
    ValueError
        If `n` or the variance is negative, or `confidence` is not between 0 and 1.
    """
    if n < 0 or variance < 0 or not 0 < confidence < 1:
        raise ValueError(f"n = {n}, variance = {variance}, confidence = {confidence}: not possible")
    if n < 2 or variance == 0:
        return Interval(average if n else math.nan, -math.inf, math.inf, n, math.nan, "none", confidence)
    error = 1 - confidence
    rho2 = (-2 * math.log(error) + math.log(-2 * math.log(error) + 1)) / TUNED
    grown = n * rho2 + 1
    half = math.sqrt(2 * grown * variance * math.log(math.sqrt(grown) / error) / rho2) / n
    return Interval(average, average - half, average + half, n, math.sqrt(variance / n), ASYMPTOTIC, confidence)


def difference_sequence(
    measure: Measure, pair: Joint, unit: int, n_changed: int, confidence: float = CONFIDENCE
) -> Interval:
    """Return the interval of a mean paired difference (the second number less the first) at any time.

    The sibling of `analysis.comparison.interval`, which holds at one number of games.
    """
    average, variance = pair.moments((-1, 1), unit)
    if n_changed >= ENOUGH:
        return mean_sequence(average, variance, pair.n, confidence)
    if not math.isfinite(measure.spread) or pair.n < 2:
        return Interval(average, -math.inf, math.inf, pair.n, math.nan, "none", confidence)
    reach = rate_sequence(min(n_changed, pair.n), pair.n, confidence).high * measure.spread
    se = math.sqrt(variance / pair.n)
    return Interval(average, min(-reach, average), max(reach, average), pair.n, se, EXACT, confidence)


@dataclasses.dataclass(frozen=True)
class Target:
    """What is to be known how well.

    Attributes
    ----------
    what
        A condition or a column.
    half_width
        Of the interval, rates 0-1.
    """

    what: str
    half_width: float

    @classmethod
    def read(cls, text: str) -> Target:
        """Return the target written ``winner == 0 ± 0.1%``, or with ``+-`` or ``+/-``.

        Raises
        ------
        ConditionError
            If it is none.
        """
        parts = re.split(r"±|\+/-|\+-", text)
        if len(parts) != 2 or not parts[0].strip():
            raise ConditionError(
                f"'{text}': write METRIC±HALFWIDTH, for example 'winner == 0 ± 0.1%' or 'turns ± 0.05'"
            )
        amount = parts[1].strip()
        try:
            half_width = float(amount.removesuffix("%")) / (100 if amount.endswith("%") else 1)
        except ValueError:
            half_width = math.nan
        if not 0 < half_width < math.inf:
            raise ConditionError(f"'{text}': the half-width '{amount}' is no positive number; write 0.1% or 0.05")
        return cls(parts[0].strip(), half_width)


class Watch:
    """Follows one target through the games, in their order.

    Parameters
    ----------
    target
        What is to be known how well.
    side
        Results with the columns it is read from.

    Raises
    ------
    ConditionError
        If it is neither a condition nor a column of numbers of these results, or the half-width of a rate is 0.5 or
        more.
    """

    def __init__(self, target: Target, side: Side, confidence: float = CONFIDENCE) -> None:
        from analysis.sizes import Reader

        self.target = target
        self.confidence = confidence
        self._reader = Reader(target.what, side)
        self.is_rate = self._reader.condition is not None
        self.columns = self._reader.columns
        self._tally = Tally()
        if self.is_rate and target.half_width >= 0.5:
            raise ConditionError(
                f"'{target.what} ± {target.half_width:g}': every rate is known that well; allowed: below 0.5"
            )

    def add(self, batch: pa.RecordBatch, weights: Array | None = None) -> None:
        """Take in rows; with `weights`, of shape (rows,), each stands for so many games."""
        numbers, known = self._reader(batch)
        if weights is None:
            self._tally.add(numbers if known.all() else numbers[known])
            return
        counts: dict[float, int] = {}
        for number, weight in zip(numbers[known].tolist(), weights[known].tolist(), strict=True):
            counts[number] = counts.get(number, 0) + weight
        self._tally.merge(Tally.of(counts))

    @property
    def interval(self) -> Interval:
        """Return the estimate with its interval so far."""
        moments = self._tally.moments()
        if self.is_rate:
            return rate_sequence(int(moments.total), moments.n, self.confidence)
        return _sequence_of(moments, self.confidence)

    @property
    def is_reached(self) -> bool:
        """Tell whether the interval is as tight as wanted."""
        return self.interval.half_width <= self.target.half_width


def _sequence_of(moments: Moments, confidence: float) -> Interval:
    """Return the interval of a counted column's mean; none before `ENOUGH` values differ from the most frequent one."""
    if not moments.n:
        return Interval(math.nan, -math.inf, math.inf, 0, math.nan, "none", confidence)
    if moments.counts is not None and moments.n - max(moments.counts.values()) < ENOUGH:
        return Interval(moments.mean, -math.inf, math.inf, moments.n, math.nan, "none", confidence)
    return mean_sequence(moments.mean, moments.variance, moments.n, confidence)


__all__ = [
    "GUARANTEES",
    "Target",
    "Watch",
    "difference_sequence",
    "looks",
    "mean_sequence",
    "rate_sequence",
]
