"""Variants compared on the same deals: paired differences with intervals, and a verdict on each.

Every measure (a column's mean, the rate of each end, each seat's share of wins) of every variant is set against the
baseline's. A difference's interval holds for itself; the verdicts hold together: a measure is called bigger or smaller
by its p-value adjusted by Holm over all comparisons, and too small to matter if an interval that allows for their
number (Bonferroni) lies within the margin. Either kind of verdict is wrong anywhere in the whole comparison with a
probability of at most 1 - confidence.

Measures in which no deal differs are left out of the count of comparisons: given how many deals differ, such a test
could never reject (Tarone 1990).

References
----------
Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.
McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions. Psychometrika 12.
Schuirmann, D. (1987). Two one-sided tests of equivalence. J. Pharmacokinetics and Biopharmaceutics 15, 657-680.
Tarone, R. (1990). A modified Bonferroni method for discrete data. Biometrics 46, 515-522.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from analysis.intervals import CONFIDENCE, RARE, Interval, clopper_pearson, mean, paired_rates
from analysis.joint import Counted, Joint, JointCounts, Measure
from analysis.load import BATCH_ROWS, LoadError, Run, is_path, path_of
from analysis.pairs import aligned, check_pairing, open_side

if TYPE_CHECKING:
    import pandas as pd

    from analysis.pairs import Source

DOCUMENT = "_compare.json"
"""In a folder of results folders: which of them are variants of what."""

BIGGER, SMALLER, TOO_SMALL = "bigger", "smaller", "too small to matter"
OPEN, SAME = "not decided yet", "no deal differs"

POWER = 0.8
"""The chance that as many games as are named would decide a difference of the size seen."""

SMALL_BATCH = 16_384  # rows

_EXACT = 1_000  # fewer games that differ get McNemar's test exactly, by the binomial distribution


@dataclasses.dataclass(frozen=True)
class Margins:
    """The differences that are too small to matter.

    Attributes
    ----------
    all, rates
        Of every measure, and of every rate (0-1); None if not said.
    columns
        Column, or stem of the seats' columns → its own.
    """

    all: float | None = None
    rates: float | None = None
    columns: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def of(self, measure: Measure) -> float | None:
        """Return a measure's margin, None if it has none."""
        stem, _, seat = measure.column.rpartition("_")
        names = [measure.name, measure.column, *([stem] if seat.isdigit() else [])]
        own = next((self.columns[name] for name in names if name in self.columns), None)
        general = self.rates if measure.is_rate and self.rates is not None else self.all
        return general if own is None else own


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The lowest and the highest a difference of rates can be, whatever the games without a verdict would have become.

    Attributes
    ----------
    low
        With all of the variant's counted as lost and all of the baseline's as won.
    high
        The other way round.
    """

    low: Interval
    high: Interval


@dataclasses.dataclass(frozen=True)
class Difference:
    """A variant's measure less the baseline's, over the same deals.

    Attributes
    ----------
    base, other
        The measure's mean under the baseline and under the variant.
    difference
        With its interval, which holds for this difference alone.
    n_changed
        Deals on which the measure differs.
    correlation
        Of the two numbers of a deal; nan if one of them never varies.
    variance_cut
        How many times as many games it would take without pairing: the variance of the difference of two independent
        samples over the one found; nan if neither varies.
    test
        ``mcnemar`` (exact below 1,000 games that differ) or ``t`` of the paired differences.
    p, p_adjusted
        By itself, and by Holm over all comparisons.
    margin
        What is too small to matter; None if nothing is.
    verdict
        One of ``bigger``, ``smaller``, ``too small to matter``, ``not decided yet``, ``no deal differs``.
    games_needed
        If not decided: about how many games decide it, with a chance of `POWER`, if the difference is what it seems.
    bounds
        If games have no verdict and the measure depends on it: what they leave open.
    """

    measure: Measure
    variant: str
    base: float
    other: float
    difference: Interval
    n_changed: int
    correlation: float
    variance_cut: float
    test: str
    p: float
    p_adjusted: float
    margin: float | None
    verdict: str
    games_needed: float | None = None
    bounds: Bounds | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it: what is not a number is None."""
        told: dict[str, Any] = {
            "measure": self.measure.name,
            "column": self.measure.column,
            "value": self.measure.value,
            "variant": self.variant,
            "base": self.base,
            "other": self.other,
            **{("difference" if key == "mean" else key): value for key, value in self.difference.to_json().items()},
            "method": self.difference.method,
            "differing": self.n_changed,
            "correlation": self.correlation,
            "variance_cut": self.variance_cut,
            "test": self.test,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "margin": self.margin,
            "verdict": self.verdict,
            "games_needed": self.games_needed,
        }
        if self.bounds:
            told["bounds"] = {"low": self.bounds.low.to_json(), "high": self.bounds.high.to_json()}
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in told.items()
        }


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What variants differ in, on the same deals.

    Attributes
    ----------
    variants
        Name → what was played.
    baseline
        The name of the variant that the others are set against.
    games
        Deals that all variants have.
    unmatched
        Variant → its games that another one lacks.
    differing
        Variant → the share of deals on which any column differs from the baseline's.
    undecided
        Variant → games without a verdict.
    differences
        Variant by variant, measure by measure.
    n_comparisons
        How many the verdicts allow for.
    left_out
        Columns that are not compared.
    factors
        Factor → its values, if the variants are all combinations of them.
    levels
        Variant → its value of each factor.
    """

    variants: Mapping[str, Run]
    baseline: str
    games: int
    unmatched: Mapping[str, int]
    differing: Mapping[str, Interval]
    undecided: Mapping[str, int]
    differences: tuple[Difference, ...]
    n_comparisons: int
    left_out: tuple[str, ...]
    confidence: float
    margins: Margins
    factors: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    levels: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    counts: JointCounts | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def run(self) -> Run:
        """Return the baseline's run."""
        return self.variants[self.baseline]

    def of(self, measure: str, variant: str | None = None) -> Difference:
        """Return one difference, by the measure's name; the variant may be left out if there is only one.

        Raises
        ------
        KeyError
            If there is none.
        """
        for found in self.differences:
            if found.measure.name == measure and variant in (None, found.variant):
                return found
        raise KeyError(f"no difference of '{measure}'" + (f" for variant '{variant}'" if variant else ""))

    def frame(self) -> pd.DataFrame:
        """Return the differences as a DataFrame, one a row."""
        import pandas as pd

        return pd.DataFrame([found.to_json() for found in self.differences])

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "game": self.run.game,
            "seed": self.run.seed,
            "games": self.games,
            "confidence": self.confidence,
            "baseline": self.baseline,
            "variants": {
                name: {
                    "levels": dict(self.levels.get(name, {})),
                    "rules": dict(run.rules),
                    "policies": {slot: list(names) for slot, names in run.policies.items()},
                    "unmatched": self.unmatched[name],
                    "undecided": self.undecided[name],
                    "differing": self.differing[name].to_json() if name in self.differing else None,
                }
                for name, run in self.variants.items()
            },
            "factors": {name: list(values) for name, values in self.factors.items()},
            "comparisons": self.n_comparisons,
            "left_out": list(self.left_out),
            "differences": [found.to_json() for found in self.differences],
        }


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a folder of variants says of itself (``_compare.json``).

    Attributes
    ----------
    folders
        Variant → its results folder.
    factors
        Factor → its values.
    levels
        Variant → its value of each factor.
    keep
        ``rows``, or ``summary`` where the variants' joint counts were kept and no rows.
    folder
        The folder itself; None if the plan does not come from one.
    """

    folders: Mapping[str, Path]
    baseline: str
    factors: Mapping[str, tuple[str, ...]]
    levels: Mapping[str, Mapping[str, str]]
    keep: str = "rows"
    folder: Path | None = None

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Plan:
        """Return what a folder of variants holds.

        Raises
        ------
        LoadError
            If it is none, or its document is damaged.
        """
        path = path_of(folder) / DOCUMENT
        try:
            document = json.loads(path.read_bytes())
            levels = {entry["name"]: dict(entry["levels"]) for entry in document["variants"]}
            return cls(
                {entry["name"]: path.parent / Path(entry["folder"]).name for entry in document["variants"]},
                document["baseline"],
                {entry["name"]: tuple(entry["values"]) for entry in document["factors"]},
                levels,
                document.get("keep", "rows"),
                path.parent,
            )
        except FileNotFoundError:
            raise LoadError(f"{folder} is no folder of variants: it has no {DOCUMENT}") from None
        except OSError as error:
            raise LoadError(f"{path} cannot be read: {error.strerror}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise LoadError(f"{path} is damaged: {error!r}") from error

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return {
            "format": 1,
            "baseline": self.baseline,
            "factors": [{"name": name, "values": list(values)} for name, values in self.factors.items()],
            "variants": [
                {"name": name, "folder": folder.name, "levels": dict(self.levels[name])}
                for name, folder in self.folders.items()
            ],
            "keep": self.keep,
        }


def compare(
    sources: str | os.PathLike[str] | Plan | Mapping[str, Source] | Sequence[Source],
    *,
    baseline: str | None = None,
    columns: Sequence[str] | None = None,
    margin: float | Mapping[str, float] | Margins | None = None,
    confidence: float = CONFIDENCE,
    counts: JointCounts | None = None,
) -> Comparison:
    """Compare variants on the deals that all of them have.

    Parameters
    ----------
    sources
        Variant → results folder, Parquet or DataFrame; or just these, named by their folders or by their numbers; or
        the folder that ``fairdeal compare`` wrote.
    baseline
        The variant that the others are set against; the first, if not said.
    columns
        Which to compare (``points`` stands for ``points_0``, …); all that every variant has, if not said.
    margin
        What is too small to matter: one number for every measure in its own unit (rates 0-1), or column → number.
    confidence
        Of every interval, 0-1; the verdicts together are wrong at most with the rest.
    counts
        The variants' joint counts, of the same baseline and columns, where all games were counted already; then no
        rows are read.

    Raises
    ------
    LoadError
        If results cannot be read, are not of the same deals, or have no game in common; for an unknown column.
    ValueError
        If `confidence` is not between 0 and 1, a margin not positive, there are not two variants, or no such baseline.

    Examples
    --------
    >>> import pandas as pd
    >>> a = pd.DataFrame({"game": range(1000), "turns": [i % 7 for i in range(1000)]})
    >>> compare({"short": a, "long": a.assign(turns=a.turns + a.game % 2)}).of("turns").verdict
    'bigger'
    """
    if is_path(sources):
        sources = Plan.read(sources)
    plan = sources if isinstance(sources, Plan) else None
    named = plan.folders if plan else _named(sources)  # type: ignore[arg-type]
    names = list(named)
    if len(names) < 2:
        raise ValueError("a comparison needs two variants or more")
    baseline = baseline or (plan.baseline if plan else names[0])
    if baseline not in names:
        raise ValueError(f"there is no variant '{baseline}' to be the baseline; there are {', '.join(names)}")
    margins = _margins(margin)
    if counts is None and plan is not None and plan.keep != "rows":
        counts = _kept_counts(plan, baseline, columns)
    if counts is not None:
        sides = [dataclasses.replace(side, n_rows=counts.games) for side in counts.sides]
    else:
        sides = [open_side(source) for source in named.values()]
        check_pairing(sides)
        counts = JointCounts(sides, names.index(baseline), columns)
        # Together the batches of many variants are as large as those of two.
        batch_rows = max(SMALL_BATCH, 2 * BATCH_ROWS // len(sides))
        for _, batches in aligned(sides, [counts.read] * len(sides), batch_rows):
            counts.add(batches)
    if not counts.games:
        raise LoadError(f"{', '.join(side.name for side in sides)} have no game in common: nothing can be paired")
    differences = _judged(
        [_difference(counts, v, name, margins, confidence) for v, name in enumerate(names) if name != baseline],
        confidence,
    )
    return Comparison(
        variants={name: side.run for name, side in zip(names, sides, strict=True)},
        baseline=baseline,
        games=counts.games,
        unmatched={name: side.n_rows - counts.games for name, side in zip(names, sides, strict=True)},
        differing={
            name: _share(counts.differing[v], counts.games, confidence)
            for v, name in enumerate(names)
            if name != baseline
        },
        undecided=dict(zip(names, counts.undecided, strict=True)),
        differences=differences,
        n_comparisons=sum(found.n_changed > 0 for found in differences),
        left_out=(*(counts.left_out if columns is None else ()), *counts.too_many),
        confidence=confidence,
        margins=margins,
        factors=plan.factors if plan else {},
        levels=plan.levels if plan else {},
        counts=counts,
    )


def _kept_counts(plan: Plan, baseline: str, columns: Sequence[str] | None) -> JointCounts:
    """Return the joint counts that a comparison kept instead of rows."""
    from analysis.joint_kept import add_up, sides_of

    folder = plan.folder or next(iter(plan.folders.values())).parent
    sides, first = sides_of(folder, list(plan.folders))
    if baseline != first["baseline"]:
        raise LoadError(f"{folder} kept counts against the baseline {first['baseline']}; another one needs the rows")
    compared = first["compared"] or None
    if columns is not None and list(columns) != compared:
        raise LoadError(
            f"{folder} kept counts of {'all' if compared is None else ', '.join(compared)} columns together"
        )
    counts = JointCounts(sides, list(plan.folders).index(baseline), compared)
    add_up(folder, counts, first)
    return counts


def _named(sources: Mapping[str, Source] | Sequence[Source]) -> dict[str, Source]:
    """Return name → source; folders are called by their names, as far as these differ."""
    if isinstance(sources, Mapping):
        return dict(sources)
    paths = [str(source) if is_path(source) else "" for source in sources]
    short = [Path(path).name for path in paths]
    for names in (short, paths):
        if all(names) and len(set(names)) == len(names):
            return dict(zip(names, sources, strict=True))
    return {str(number): source for number, source in enumerate(sources)}


def _margins(margin: float | Mapping[str, float] | Margins | None) -> Margins:
    if isinstance(margin, Mapping):
        margin = Margins(columns=margin)
    elif not isinstance(margin, Margins):
        margin = Margins(all=margin)
    for value in (margin.all, margin.rates, *margin.columns.values()):
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"margin {value} is not a positive number")
    return margin


def _share(events: int, n: int, confidence: float) -> Interval:
    from analysis.intervals import rate

    return rate(events, n, confidence)


def _difference(
    counts: JointCounts, variant: int, name: str, margins: Margins, confidence: float
) -> list[tuple[Difference, Counted, int]]:
    """Return every measure's difference, not judged yet."""
    found = []
    for measure, counted in counts.measures():
        pair, unit, n_changed = counted.pair(variant), counted.unit, counted.changed[variant]
        (base, base_variance), (other, other_variance) = pair.moments((1, 0), unit), pair.moments((0, 1), unit)
        _, variance = pair.moments((-1, 1), unit)
        test, p = _test(measure, pair, unit, n_changed)
        two_sample = base_variance + other_variance
        spread = math.sqrt(base_variance * other_variance) if base_variance > 0 < other_variance else math.nan
        difference = Difference(
            measure=measure,
            variant=name,
            base=base,
            other=other,
            difference=interval(measure, pair, unit, n_changed, confidence),
            n_changed=n_changed,
            correlation=(two_sample - variance) / 2 / spread,
            variance_cut=two_sample / variance if variance > 0 else math.inf if two_sample > 0 else math.nan,
            test=test,
            p=p,
            p_adjusted=p,
            margin=margins.of(measure),
            verdict=OPEN if n_changed else SAME,
            bounds=_bounds(counts, counted, variant, confidence),
        )
        found.append((difference, counted, variant))
    return found


def interval(measure: Measure, pair: Joint, unit: int, n_changed: int, confidence: float) -> Interval:
    """Return the interval of a mean paired difference (the second number less the first).

    Of zeros and ones Tango's score interval; else Student's or the normal one. Where fewer than `RARE` deals differ
    these would be too short: then the difference is bounded by how often deals can differ at all (Clopper-Pearson)
    times the most by which a deal can. (Measured by ``make validate``: where 20 skewed differences decide, a nominal
    95 % cover 91 %; from a few hundred on, 94 to 96 %.)
    """
    if measure.is_binary:
        gained, lost = _discordant(pair)
        return paired_rates(gained, lost, pair.n, confidence)
    average, variance = pair.moments((-1, 1), unit)
    if n_changed < RARE and pair.n > 1 and math.isfinite(measure.spread):
        reach = clopper_pearson(n_changed, pair.n, confidence).high * measure.spread
        se = math.sqrt(variance / pair.n)
        return Interval(average, min(-reach, average), max(reach, average), pair.n, se, "clopper_pearson", confidence)
    return mean(average, variance, pair.n, confidence)


def _discordant(pair: Joint) -> tuple[int, int]:
    """Return in how many games only the second is one, and in how many only the first."""
    both = pair.products[0, 1]
    return int(pair.sums[1] - both), int(pair.sums[0] - both)


def _test(measure: Measure, pair: Joint, unit: int, n_changed: int) -> tuple[str, float]:
    """Return the test's name and its two-sided p-value."""
    if measure.is_binary:
        gained, lost = _discordant(pair)
        return "mcnemar", _mcnemar(gained, lost)
    if not n_changed or pair.n < 2:
        return "t", 1.0
    average, variance = pair.moments((-1, 1), unit)
    return "t", t_test(average, variance, pair.n)


def _mcnemar(gained: int, lost: int) -> float:
    """Return the p-value of McNemar's test: exact where few games differ, else by the chi-squared distribution.

    The tests hold it to statsmodels' ``mcnemar``, whose import takes longer than a small comparison.
    """
    differing = gained + lost
    if not differing:
        return 1.0
    if differing < _EXACT:
        from scipy.special import bdtr

        return float(min(1.0, 2 * bdtr(min(gained, lost), differing, 0.5)))
    return math.erfc(abs(gained - lost) / math.sqrt(2 * differing))


def t_test(average: float, variance: float, n: int) -> float:
    """Return the two-sided p-value of Student's test that a mean is 0."""
    from scipy.special import stdtr

    if variance == 0:
        return 0.0 if average else 1.0
    return float(2 * stdtr(n - 1, -abs(average) / math.sqrt(variance / n)))


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm: the smallest times their number, the next times one less, never falling.

    The tests hold them to statsmodels' ``multipletests``, whose import takes longer than a small comparison.
    """
    found = [0.0] * len(p_values)
    least = 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        found[place] = least
    return found


def _bounds(counts: JointCounts, counted: Counted, variant: int, confidence: float) -> Bounds | None:
    """Return how far the games without a verdict leave a difference open."""
    k, base = len(counts.sides), counts.baseline
    if counted.filled is None or not (counts.undecided[variant] or counts.undecided[base]):
        return None
    # The filled numbers are all variants' with those games lost, then all variants' with them won.
    ends = []
    for first, second in ((base + k, variant), (base, variant + k)):
        average, variance = counted.filled.part(first, second).moments((-1, 1), counted.unit)
        ends.append(mean(average, variance, counted.filled.n, confidence))
    return Bounds(*ends)


def _judged(groups: Sequence[Sequence[tuple[Difference, Counted, int]]], confidence: float) -> tuple[Difference, ...]:
    """Return the differences with adjusted p-values and verdicts."""
    flat = [entry for group in groups for entry in group]
    family = [difference for difference, _, _ in flat if difference.n_changed]
    by_holm = iter(adjusted([difference.p for difference in family]))
    strict = 1 - 2 * (1 - confidence) / max(1, len(family))
    found = []
    for difference, counted, variant in flat:
        if not difference.n_changed:
            found.append(difference)
            continue
        pair = counted.pair(variant)
        ends = interval(difference.measure, pair, counted.unit, difference.n_changed, strict)
        told = verdict(difference.difference, ends, next(by_holm), difference.margin, len(family))
        found.append(dataclasses.replace(difference, **told))
    return tuple(found)


def verdict(
    difference: Interval, strict: Interval, p_adjusted: float, margin: float | None, n_comparisons: int
) -> dict[str, Any]:
    """Return the adjusted p-value, the verdict and how many games are needed.

    Parameters
    ----------
    strict
        The interval whose ends each hold with an error of (1 - confidence) / `n_comparisons`.
    """
    if margin is not None and -margin < strict.low and strict.high < margin:
        said = TOO_SMALL
    elif p_adjusted < 1 - difference.confidence:
        said = BIGGER if difference.estimate > 0 else SMALLER
    else:
        said = OPEN
    needed = games_needed(difference, margin, n_comparisons) if said == OPEN else None
    return {"p_adjusted": p_adjusted, "verdict": said, "games_needed": needed}


def games_needed(difference: Interval, margin: float | None, n_comparisons: int) -> float | None:
    """Return about how many games decide a difference, with a chance of `POWER`, if it is what it seems.

    Either way of deciding it counts, whichever needs fewer games: n · ((z_error + z_power) · se / distance)², the
    distance being the one to zero or to the margin. None if it cannot be said.
    """
    if not difference.se > 0:
        return None
    error = (1 - difference.confidence) / n_comparisons
    normal = NormalDist()
    distances = [(abs(difference.estimate), normal.inv_cdf(1 - error / 2))]
    if margin is not None:
        distances.append((margin - abs(difference.estimate), normal.inv_cdf(1 - error)))
    power = normal.inv_cdf(POWER)
    needed = [difference.n * ((z + power) * difference.se / far) ** 2 for far, z in distances if far > 0]
    return min(needed, default=None)


__all__ = ["DOCUMENT", "Bounds", "Comparison", "Difference", "Margins", "Plan", "compare"]
