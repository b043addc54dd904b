"""How many games are needed, from a pilot: for an interval of some half-width, or to tell two variants apart."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.conditions import Condition
from analysis.intervals import CONFIDENCE, Interval, mean, normal_quantile, rate, wilson
from analysis.joint import Joint
from analysis.load import LoadError, to_numpy
from analysis.pairs import aligned, check_pairing, open_side

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.pairs import Side, Source

POWER = 0.8


@dataclasses.dataclass(frozen=True)
class Pilot:
    """What a few games say of a condition's rate or a column's mean.

    Attributes
    ----------
    what
        The condition or the column.
    is_rate
        True for a condition.
    estimates
        The rate or mean, for each of one or two results on the same deals.
    deviations
        Its standard deviation from game to game, for each.
    difference
        Of the second's less the first's, deal by deal; None with one result.
    paired_deviation
        The difference's standard deviation from deal to deal; nan with one result.
    """

    what: str
    is_rate: bool
    estimates: tuple[Interval, ...]
    deviations: tuple[float, ...]
    difference: Interval | None = None
    paired_deviation: float = math.nan

    @property
    def correlation(self) -> float:
        """Return the correlation of the two numbers of a deal; nan with one result."""
        if len(self.deviations) < 2 or not min(self.deviations) > 0:
            return math.nan
        a, b = self.deviations
        return (a * a + b * b - self.paired_deviation**2) / (2 * a * b)


@dataclasses.dataclass(frozen=True)
class Size:
    """A number of games.

    Attributes
    ----------
    games
        As the pilot's estimate has it; of each variant.
    at_most
        If the rate is the end of the pilot's interval that needs the most games; as `games` where that is not told.
    """

    games: int
    at_most: int


def pilot(sources: Source | Sequence[Source], what: str, *, confidence: float = CONFIDENCE) -> Pilot:
    """Return what results, or two of them on the same deals, say of a condition or a column.

    Raises
    ------
    ConditionError
        If it is neither.
    LoadError
        If results cannot be read, do not pair, or hold no game that counts.
    """
    several = list(sources) if isinstance(sources, list | tuple) else [sources]
    if len(several) not in (1, 2):
        raise LoadError(f"{len(several)} results: a pilot is of one, or of two on the same deals")
    sides = [open_side(source) for source in several]
    check_pairing(sides)
    readers = [Reader(what.strip(), side) for side in sides]
    joint = Joint(len(sides))
    for _, batches in aligned(sides, [reader.columns for reader in readers]):
        read = [reader(batch) for reader, batch in zip(readers, batches, strict=True)]
        known = np.logical_and.reduce([valid for _, valid in read])
        joint.add(np.stack([numbers[known] for numbers, _ in read]))
    if joint.n < 2:
        raise LoadError(f"the pilot holds {joint.n} games in which '{what}' can be told; two at least are needed")
    is_rate = readers[0].condition is not None
    estimates, deviations = [], []
    for place in range(len(sides)):
        average, variance = joint.part(place).moments((1,))
        events = int(joint.sums[place]) if is_rate else 0
        estimates.append(rate(events, joint.n, confidence) if is_rate else mean(average, variance, joint.n, confidence))
        deviations.append(math.sqrt(variance))
    if len(sides) == 1:
        return Pilot(what, is_rate, tuple(estimates), tuple(deviations))
    average, variance = joint.moments((-1, 1))
    difference = mean(average, variance, joint.n, confidence)
    return Pilot(what, is_rate, tuple(estimates), tuple(deviations), difference, math.sqrt(variance))


class Reader:
    """Reads a condition (as 0 and 1) or a column of numbers.

    Attributes
    ----------
    condition
        None for a column.
    columns
        The columns that are read.

    Raises
    ------
    ConditionError
        If it is neither.
    """

    def __init__(self, what: str, side: Side) -> None:
        import pyarrow as pa

        self.condition: Condition | None = None
        self.columns = [what]
        kind = side.schema.field(what).type if what in side.schema.names else None
        if kind is None or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            self.condition = Condition(what, [side])
            self.columns = self.condition.columns[0]

    def __call__(self, batch: pa.RecordBatch) -> tuple[Any, Any]:
        """Return the numbers, and which of them there are."""
        if self.condition is not None:
            holds, unknown = self.condition([batch])
            return holds.astype(np.int8), ~unknown
        numbers, valid = to_numpy(batch.column(self.columns[0]))
        known = np.ones(len(numbers), bool) if valid is None else valid
        if numbers.dtype.kind == "f":
            known = known & np.isfinite(numbers)
        return numbers, known


def for_half_width(found: Pilot, half_width: float, *, confidence: float = CONFIDENCE) -> Size:
    """Return how many games give the first of the pilot's results an interval of this half-width.

    For a rate Wilson's interval is solved for the number of games; for a mean z² · variance / half-width².

    Raises
    ------
    ValueError
        If the half-width is not positive, or for a rate not below a half.
    """
    if not 0 < half_width < (0.5 if found.is_rate else math.inf):
        raise ValueError(f"half-width {half_width} is out of range; allowed: above 0{', below 0.5' * found.is_rate}")
    if not found.is_rate:
        games = _whole((normal_quantile(confidence) * found.deviations[0] / half_width) ** 2)
        return Size(games, games)
    estimate = found.estimates[0]
    nearest_half = min(max(0.5, estimate.low), estimate.high)
    return Size(*(_games_of_rate(p, half_width, confidence) for p in (estimate.estimate, nearest_half)))


def _games_of_rate(p: float, half_width: float, confidence: float) -> int:
    """Return the fewest games with which Wilson's interval of a rate `p` is as narrow."""
    low, high = 0, 1
    while wilson(p * high, high, confidence).half_width > half_width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if wilson(p * middle, middle, confidence).half_width > half_width:
            low = middle
        else:
            high = middle
    return high


def to_tell_apart(
    found: Pilot, difference: float, *, paired: bool, confidence: float = CONFIDENCE, power: float = POWER
) -> Size:
    """Return how many games of each variant tell them apart if they differ by `difference`.

    Paired: (z_error + z_power)² · variance of the pilot's paired differences / difference². Unpaired: for means, the
    same with the sum of the two variances; for rates statsmodels' sample size for two independent proportions, the
    second being the pilot's first plus `difference`.

    Raises
    ------
    ValueError
        If the difference is 0, takes a rate beyond 0 to 1, or `paired` is asked of a pilot of one result.
    """
    if not (math.isfinite(difference) and difference):
        raise ValueError(f"difference {difference}: it must not be 0")
    z = normal_quantile(confidence) + NormalDist().inv_cdf(power)
    if paired:
        if found.difference is None:
            raise ValueError("a paired plan needs a pilot of two results on the same deals")
        games = _whole((z * found.paired_deviation / difference) ** 2)
        return Size(games, games)
    if not found.is_rate:
        two = found.deviations if len(found.deviations) > 1 else found.deviations * 2
        games = _whole(z * z * sum(deviation**2 for deviation in two) / difference**2)
        return Size(games, games)
    base = found.estimates[0].estimate
    if not 0 <= base + difference <= 1:
        raise ValueError(f"a rate of {base:.4g} cannot change by {difference:g}: it would leave 0 to 1")
    from statsmodels.stats.proportion import samplesize_proportions_2indep_onetail

    low = min(base, base + difference)
    games = _whole(samplesize_proportions_2indep_onetail(abs(difference), low, power, alpha=1 - confidence))
    return Size(games, games)


def _whole(games: float) -> int:
    return max(2, math.ceil(games - 1e-9))


__all__ = ["Pilot", "Reader", "Size", "for_half_width", "pilot", "to_tell_apart"]
