"""Several options varied together: main effects, interactions, and which option matters most.

Every deal was played under every combination, so every effect is a contrast within the deal: a sum of its numbers under
the combinations, with weights that add up to zero. Its mean over the deals is the effect, and the contrasts' own spread
gives the interval; no regression on pooled rows is fitted, whose errors would ignore that the rows of a deal belong
together (9 to 15 times too wide on effects, as measured).

The main effect of a value is the change from its option's baseline value, averaged over all combinations of the other
options, each with the same weight. A two-way interaction is how much the change by one option is itself changed by
another, and so on.

References
----------
Box, G., Hunter, J. and Hunter, W. (2005). Statistics for Experimenters, 2nd ed., chapter 5 (effects as contrasts).
Kleijnen, J. (2015). Design and Analysis of Simulation Experiments, 2nd ed. (common random numbers).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.comparison import OPEN, SAME, Bounds, Comparison, Difference, adjusted, t_test, verdict
from analysis.intervals import RARE, Interval, clopper_pearson, mean
from analysis.joint import Counted, JointCounts, Measure

MOST_FACTORS = 3
"""Interactions of more options than this are not looked at."""


@dataclasses.dataclass(frozen=True)
class Effect(Difference):
    """A main effect or an interaction of one measure; a difference of means over combinations.

    Attributes
    ----------
    variant
        The values that make it: ``bus_size = 12``, or ``bus_size = 12 × swap = false``.
    base, other
        Main effect: the mean under the option's baseline value and under this one. Interaction: nan.
    factors
        The options it is of: one for a main effect.
    deviation
        The measure's standard deviation within a variant (over all variants).
    """

    factors: tuple[str, ...] = ()
    deviation: float = math.nan

    @property
    def size(self) -> float:
        """Return the effect in standard deviations of its measure, without its sign."""
        return abs(self.difference.estimate) / self.deviation if self.deviation > 0 else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told = super().to_json()
        return {"effect": told.pop("variant"), "factors": list(self.factors), **told, "size": self.size}


@dataclasses.dataclass(frozen=True)
class Rank:
    """How much an option matters for a measure: its largest main effect between any two of its values.

    Attributes
    ----------
    low_value, high_value
        The two values, that with the lower mean first.
    low, high
        The measure's means under them.
    difference
        Of the two, never negative. Where an option has three values or more it is the largest of several differences,
        so that the estimate tends to be a little large.
    size
        The difference in standard deviations of the measure, with its interval.
    ahead
        Whether it is clearly larger than the next one's in the ranking: the interval of the difference of the two
        effects, taken deal by deal, leaves out zero. None for the last, and between different measures.
    """

    factor: str
    measure: Measure
    low_value: str
    high_value: str
    low: float
    high: float
    difference: Interval
    size: Interval
    ahead: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "factor": self.factor,
            "measure": self.measure.name,
            "from": {"value": self.low_value, "mean": self.low},
            "to": {"value": self.high_value, "mean": self.high},
            "difference": self.difference.to_json(),
            "size": self.size.to_json(),
            "ahead": self.ahead,
        }


@dataclasses.dataclass(frozen=True)
class Factorial:
    """What came of several options varied together.

    Attributes
    ----------
    comparison
        Every combination against the baseline, as ever.
    effects
        Main effects and interactions, judged together (Holm over all of them).
    n_comparisons
        How many effects the verdicts allow for.
    ranking
        The options, that with the largest effect on any measure (in its standard deviations) first.
    """

    comparison: Comparison
    effects: tuple[Effect, ...]
    n_comparisons: int
    ranking: tuple[Rank, ...]

    @property
    def main_effects(self) -> tuple[Effect, ...]:
        """Return the effects of single options."""
        return tuple(effect for effect in self.effects if len(effect.factors) == 1)

    @property
    def interactions(self) -> tuple[Effect, ...]:
        """Return the effects of several options together."""
        return tuple(effect for effect in self.effects if len(effect.factors) > 1)

    def of(self, measure: str, effect: str) -> Effect:
        """Return one effect, by the measure's and its own name.

        Raises
        ------
        KeyError
            If there is none.
        """
        for found in self.effects:
            if (found.measure.name, found.variant) == (measure, effect):
                return found
        raise KeyError(f"no effect '{effect}' on '{measure}'")

    def rank(self, measure: str) -> tuple[Rank, ...]:
        """Return the options in the order in which they matter for one measure.

        Raises
        ------
        KeyError
            If there is no such measure.
        """
        counts = _counts(self.comparison)
        for found, counted in counts.measures():
            if found.name == measure:
                return _ranked(_Design(self.comparison), found, counted, self.comparison.confidence)
        raise KeyError(f"no measure '{measure}'; there are {', '.join(m.name for m, _ in counts.measures())}")

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints: the comparison, the effects, and the rankings."""
        design, counts = _Design(self.comparison), _counts(self.comparison)
        by_measure = {
            measure.name: [rank.to_json() for rank in _ranked(design, measure, counted, self.comparison.confidence)]
            for measure, counted in counts.measures()
        }
        return {
            **self.comparison.to_json(),
            "effects": [effect.to_json() for effect in self.effects],
            "effects_judged": self.n_comparisons,
            "ranking": [rank.to_json() for rank in self.ranking],
            "ranking_by": by_measure,
        }


def factorial(comparison: Comparison, most_factors: int = MOST_FACTORS) -> Factorial:
    """Return the effects of options that were varied in every combination.

    Parameters
    ----------
    comparison
        Of all combinations, from the folder that ``fairdeal compare`` wrote (it says what they are combinations of).
    most_factors
        Interactions of up to so many options.

    Raises
    ------
    ValueError
        If fewer than two options were varied, or not every combination is there.

    Examples
    --------
    ``factorial(compare("results/both")).ranking[0].factor`` is the option that matters most.
    """
    design, counts = _Design(comparison), _counts(comparison)
    measures = [(measure, counted, _variances(counted)) for measure, counted in counts.measures()]
    effects = [
        _effect(comparison, design, measure, counted, variances, values)
        for values in design.effects(most_factors)
        for measure, counted, variances in measures
    ]
    family = [effect for effect in effects if effect.verdict != SAME]
    by_holm = iter(adjusted([effect.p for effect in family]))
    strict = 1 - 2 * (1 - comparison.confidence) / max(1, len(family))
    judged = []
    for effect in effects:
        if effect.verdict != SAME:
            ends = _widened(effect.difference, strict)
            told = verdict(effect.difference, ends, next(by_holm), effect.margin, len(family))
            effect = dataclasses.replace(effect, **told)
        judged.append(effect)
    return Factorial(comparison, tuple(judged), len(family), _overall(design, counts, comparison.confidence))


def _counts(comparison: Comparison) -> JointCounts:
    assert comparison.counts is not None
    return comparison.counts


class _Design:
    """The combinations, and the weights that make contrasts of them.

    Weights are whole numbers; a contrast is their sum over `divisor`.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.factors = dict(comparison.factors)
        if len(self.factors) < 2:
            raise ValueError("main effects and interactions need two options or more that are varied")
        self.cells = [dict(comparison.levels[name]) for name in comparison.variants]
        self.base = dict(comparison.levels[comparison.baseline])
        there = {tuple(cell[name] for name in self.factors) for cell in self.cells}
        if len(there) != len(self.cells) or there != set(itertools.product(*self.factors.values())):
            raise ValueError("not every combination of the options' values is there, each once")

    def effects(self, most_factors: int) -> Iterator[dict[str, str]]:
        """Yield factor → value for each effect: those of one factor first."""
        for n in range(1, min(most_factors, len(self.factors)) + 1):
            for names in itertools.combinations(self.factors, n):
                others = [[value for value in self.factors[name] if value != self.base[name]] for name in names]
                for values in itertools.product(*others):
                    yield dict(zip(names, values, strict=True))

    def weights(self, values: Mapping[str, str], base: Mapping[str, str] | None = None) -> tuple[list[int], int]:
        """Return the weights and the divisor of the contrast of these values with the baseline's (or `base`)."""
        base = self.base if base is None else base
        weights = []
        for cell in self.cells:
            signs = [
                1 if cell[name] == value else -1 if cell[name] == base[name] else 0 for name, value in values.items()
            ]
            weights.append(math.prod(signs))
        return weights, self.n_others(values)

    def share(self, factor: str, value: str) -> tuple[list[int], int]:
        """Return the weights and the divisor of the mean under one value."""
        return [int(cell[factor] == value) for cell in self.cells], self.n_others({factor: value})

    def n_others(self, values: Mapping[str, str]) -> int:
        """Return the number of combinations of the other factors' values."""
        return math.prod(len(levels) for name, levels in self.factors.items() if name not in values)


def _effect(
    comparison: Comparison,
    design: _Design,
    measure: Measure,
    counted: Counted,
    variances: Sequence[float],
    values: Mapping[str, str],
) -> Effect:
    """Return an effect that is not judged yet."""
    weights, divisor = design.weights(values)
    unit = counted.unit * divisor
    average, variance = counted.joint.moments(weights, unit)
    # What the contrast's variance would be if every variant had deals of its own.
    apart = sum(weight**2 * own for weight, own in zip(weights, variances, strict=True)) / divisor**2
    base = other = correlation = math.nan
    if len(values) == 1:
        ((factor, value),) = values.items()
        (base, base_variance), (other, other_variance) = (
            counted.joint.moments(*_of_unit(design.share(factor, level), counted.unit))
            for level in (design.base[factor], value)
        )
        spread = math.sqrt(base_variance * other_variance) if base_variance > 0 < other_variance else math.nan
        correlation = (base_variance + other_variance - variance) / 2 / spread
    difference = _interval(counted, measure, average, variance, len(values), comparison.confidence)
    is_same = not any(counted.changed) or (average == 0 and variance == 0)
    p = 1.0 if is_same or counted.joint.n < 2 else t_test(average, variance, counted.joint.n)
    return Effect(
        measure=measure,
        variant=" × ".join(f"{name} = {value}" for name, value in values.items()),
        base=base,
        other=other,
        difference=difference,
        n_changed=max(counted.changed),
        correlation=correlation,
        variance_cut=apart / variance if variance > 0 else math.nan,
        test="t",
        p=p,
        p_adjusted=p,
        margin=comparison.margins.of(measure),
        verdict=SAME if is_same else OPEN,
        bounds=_bounds(comparison, counted, weights, divisor),
        factors=tuple(values),
        deviation=_deviation(variances),
    )


def _of_unit(weights: tuple[list[int], int], unit: int) -> tuple[list[int], int]:
    return weights[0], weights[1] * unit


def _interval(
    counted: Counted, measure: Measure, average: float, variance: float, n_factors: int, confidence: float
) -> Interval:
    """Return a contrast's interval; where hardly any deal differs, the cautious one that `comparison.interval` has."""
    n, n_changed = counted.joint.n, sum(counted.changed)
    spread = measure.spread * 2 ** (n_factors - 1)
    if n_changed < RARE and n > 1 and math.isfinite(spread):
        reach = clopper_pearson(min(n, n_changed), n, confidence).high * spread
        se = math.sqrt(variance / n)
        return Interval(average, min(-reach, average), max(reach, average), n, se, "clopper_pearson", confidence)
    return mean(average, variance, n, confidence)


def _widened(interval: Interval, confidence: float) -> Interval:
    """Return a contrast's interval with another confidence."""
    if interval.method == "clopper_pearson" or not interval.se > 0:
        return interval
    return mean(interval.estimate, interval.se**2 * interval.n, interval.n, confidence)


def _variances(counted: Counted) -> list[float]:
    """Return each variant's own variance."""
    return [counted.joint.moments({place: 1}, counted.unit)[1] for place in range(len(counted.joint.sums))]


def _deviation(variances: Sequence[float]) -> float:
    """Return the standard deviation within a variant, over all variants."""
    return math.sqrt(sum(variances) / len(variances))


def _bounds(comparison: Comparison, counted: Counted, weights: Sequence[int], divisor: int) -> Bounds | None:
    """Return how far the games without a verdict leave an effect open."""
    if counted.filled is None or not any(comparison.undecided.values()):
        return None
    # All variants with those games lost come first, then all with them won.
    lost_for = [*(max(0, weight) for weight in weights), *(min(0, weight) for weight in weights)]
    won_for = [*(min(0, weight) for weight in weights), *(max(0, weight) for weight in weights)]
    ends = []
    for chosen in (lost_for, won_for):
        average, variance = counted.filled.moments(chosen, counted.unit * divisor)
        ends.append(mean(average, variance, counted.filled.n, comparison.confidence))
    return Bounds(*ends)


def _ranked(design: _Design, measure: Measure, counted: Counted, confidence: float) -> tuple[Rank, ...]:
    """Return the options in the order in which they matter for a measure."""
    ranks = sorted(
        (_largest(design, measure, counted, factor, confidence) for factor in design.factors),
        key=lambda rank: -rank.difference.estimate,
    )
    found = []
    for rank, after in itertools.zip_longest(ranks, ranks[1:]):
        ahead = None
        if after is not None:
            mine, theirs = (design.weights({r.factor: r.high_value}, {r.factor: r.low_value}) for r in (rank, after))
            weights = [a * theirs[1] - b * mine[1] for a, b in zip(mine[0], theirs[0], strict=True)]
            average, variance = counted.joint.moments(weights, counted.unit * mine[1] * theirs[1])
            ahead = mean(average, variance, counted.joint.n, confidence).low > 0
        found.append(dataclasses.replace(rank, ahead=ahead))
    return tuple(found)


def _largest(design: _Design, measure: Measure, counted: Counted, factor: str, confidence: float) -> Rank:
    """Return an option's largest main effect between two of its values."""
    means = {
        value: counted.joint.moments(*_of_unit(design.share(factor, value), counted.unit))[0]
        for value in design.factors[factor]
    }
    low, high = min(means, key=lambda value: means[value]), max(means, key=lambda value: means[value])
    if low == high:
        low, high = design.factors[factor][:2]
    weights, divisor = design.weights({factor: high}, {factor: low})
    average, variance = counted.joint.moments(weights, counted.unit * divisor)
    difference = _interval(counted, measure, average, variance, 1, confidence)
    deviation = _deviation(_variances(counted))
    size = Interval(0.0, 0.0, 0.0, difference.n, 0.0, "constant", confidence)
    if deviation > 0:
        ends = {key: getattr(difference, key) / deviation for key in ("estimate", "low", "high", "se")}
        size = dataclasses.replace(difference, **ends)
    return Rank(factor, measure, low, high, means[low], means[high], difference, size)


def _overall(design: _Design, counts: JointCounts, confidence: float) -> tuple[Rank, ...]:
    """Return the options by their largest effect on any measure."""
    found = []
    for factor in design.factors:
        ranks = [_largest(design, measure, counted, factor, confidence) for measure, counted in counts.measures()]
        found.append(max(ranks, key=lambda rank: rank.size.estimate))
    return tuple(sorted(found, key=lambda rank: -rank.size.estimate))


__all__ = ["Effect", "Factorial", "Rank", "factorial"]
