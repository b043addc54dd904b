"""A comparison of variants as a person reads it in a terminal: plain text, at most 100 columns wide.

Measures are called as the command ``ask`` takes them, so that a line can be asked about further.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.comparison import OPEN, SAME, Comparison, Difference
from analysis.intervals import Interval
from reports.table import WIDTH, Cell, Column, cell, digits_of, entry, games_text, number, plain, table, wrapped

if TYPE_CHECKING:
    from analysis.comparison import Margins
    from analysis.joint import Measure

_MOST_NEEDED = 1e12


def render_comparison(
    found: Comparison, *, title: str | None = None, notes: Sequence[tuple[str, str]] = (), width: int = WIDTH
) -> str:
    """Return a comparison as text, without a line feed at its end.

    Parameters
    ----------
    title
        The game's name; else the run's.
    notes
        Named lines of the heading: the rules, the policies.
    width
        Columns of text.
    """
    blocks = [heading(found, title, notes, width)]
    for name in found.variants:
        if name != found.baseline:
            blocks += _variant(found, name, width)
    blocks.append(legend(found.differences, width))
    return joined(blocks)


def joined(blocks: Sequence[Sequence[str]]) -> str:
    """Return blocks of lines with an empty line between them."""
    return "\n\n".join("\n".join(line.rstrip().replace("\xa0", " ") for line in block) for block in blocks if block)


def heading(found: Comparison, title: str | None, notes: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return what was compared, and how to read the rest."""
    game = title or (found.run.game or "").capitalize()
    first = f"{game + ': ' if game else ''}{len(found.variants)} variants on the same {found.games:,} deals"
    if found.run.seed is not None:
        first += f", seed {found.run.seed}"
    lines = [first]
    varied = [f"{name} = {'; '.join(values)}" for name, values in found.factors.items()] or list(found.variants)
    lines += entry("Varied", ", ".join(varied), width)
    lines += entry("Baseline", found.baseline, width)
    for name, text in notes:
        lines += entry(name, text, width)
    lines += entry("Intervals", f"{100 * found.confidence:.10g} %, each for itself; ± is half the width", width)
    error = f"{100 * (1 - found.confidence):.3g} %"
    together = f"all {found.n_comparisons} comparisons" if found.n_comparisons != 1 else "the one comparison"
    lines += entry("Verdicts", f"hold together for {together}, with an error of {error} (Holm)", width)
    margin = margin_text(found.margins)
    if margin:
        lines += entry("Too small", f"to matter: differences below {margin}", width)
    for name, n_games in found.unmatched.items():
        if n_games:
            lines += entry("Unmatched", f"{games_text(n_games)} of {name} that another variant lacks", width)
    if found.left_out:
        lines += entry("Left out", ", ".join(found.left_out), width)
    return lines


def margin_text(margins: Margins) -> str:
    """Return what is too small to matter."""
    told = [] if margins.all is None else [f"{margins.all:g}"]
    told += [] if margins.rates is None else [f"{100 * margins.rates:g} % of a rate"]
    return ", ".join([*told, *(f"{value:g} in {name}" for name, value in margins.columns.items())])


def _variant(found: Comparison, name: str, width: int) -> list[list[str]]:
    """Return a variant's differences from the baseline."""
    mine = [difference for difference in found.differences if difference.variant == name]
    share = cell(found.differing[name], percent=True)
    lines = wrapped(
        f"{name} against {found.baseline}: {share.number} {share.tail} % of the deals end differently", width
    )
    shown = [difference for difference in mine if difference.verdict != SAME]
    if shown:
        lines += ["", *difference_table(shown, (short_name(found.baseline, found), short_name(name, found)), width)]
    same = [difference.measure.name for difference in mine if difference.verdict == SAME]
    if same:
        lines += ["", *wrapped(f"No deal differs in {', '.join(same)}.", width)]
    bounded = [difference for difference in shown if difference.bounds]
    there = (
        f"{games_text(found.undecided[name])} under {name}, {found.undecided[found.baseline]:,} under {found.baseline}"
    )
    return [lines, bounds(there, bounded, [label(difference) for difference in bounded], width)]


def short_name(name: str, found: Comparison) -> str:
    """Return a variant's name without the option's, if only one is varied."""
    return next(iter(found.levels[name].values())) if len(found.factors) == 1 and name in found.levels else name


def difference_table(differences: Sequence[Difference], heads: tuple[str, str], width: int) -> list[str]:
    """Return a line for each difference: both means, the difference, what pairing did, the verdict."""
    names = [label(difference) for difference in differences]
    columns = [
        Column(heads[0], [mean_cell(difference, difference.base) for difference in differences]),
        Column(heads[1], [mean_cell(difference, difference.other) for difference in differences]),
        Column("difference", [difference_cell(difference) for difference in differences]),
        Column("r", [decimal(difference.correlation, 2) for difference in differences]),
        Column("cut", [decimal(difference.variance_cut, 2) for difference in differences]),
        Column("verdict", [verdict_text(difference) for difference in differences]),
    ]
    return table(Column("", names), columns, width)


def label(difference: Difference) -> str:
    """Return a measure's name, with its unit if that is percent."""
    return difference.measure.name + (", %" if difference.measure.is_rate else "")


def difference_cell(difference: Difference) -> Cell:
    """Return a difference with its interval, in percentage points if it is one of rates."""
    return cell(percent(difference.difference, difference.measure))


def percent(interval: Interval, measure: Measure) -> Interval:
    """Return an interval in percent if the measure is a rate."""
    unit = 100 if measure.is_rate else 1
    return dataclasses.replace(
        interval, estimate=unit * interval.estimate, low=unit * interval.low, high=unit * interval.high
    )


def mean_cell(difference: Difference, value: float) -> Cell:
    """Return a mean with as many digits as its difference has."""
    unit = 100 if difference.measure.is_rate else 1
    half = unit * difference.difference.half_width
    if not (math.isfinite(half) and half > 0):
        return Cell(plain(unit * value))
    return Cell(number(unit * value, digits_of(half)))


def decimal(value: float, digits: int) -> Cell:
    """Return a number with so many decimals, fewer if it is large."""
    if not math.isfinite(value):
        return Cell("∞" if value > 0 else "-")
    return Cell(number(value, digits) if abs(value) < 100 else number(value, 0))


def verdict_text(difference: Difference) -> str:
    """Return a verdict; of an open one with the number of games that decides it."""
    if difference.verdict != OPEN or difference.games_needed is None:
        return difference.verdict
    return f"{OPEN}: {count(difference.games_needed)}"


def count(n: float) -> str:
    """Return a number of games to two digits: ``1.2M``."""
    if n > _MOST_NEEDED:
        return "over 1000G"
    digits = 1 - math.floor(math.log10(n))
    n = round(n, digits)
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if n >= unit:
            return f"{n / unit:.3g}{sign}"
    return f"{n:.0f}"


def bounds(there: str, differences: Sequence[Difference], names: Sequence[str], width: int) -> list[str]:
    """Return how far the games without a verdict leave differences of rates open; a sentence if hardly at all."""
    if not differences:
        return []
    taken = f"No verdict: {there}. The figures above take them as they stand"
    pairs = [
        (name, difference, difference.bounds)
        for name, difference in zip(names, differences, strict=True)
        if difference.bounds and gap(difference) > difference.difference.half_width / 10
    ]
    if not pairs:
        return wrapped(f"{taken}; counting them as lost or as won moves no difference by a tenth of its ±.", width)
    lines = wrapped(
        f"{taken}; here they are counted as lost on one side and as won on the other, and the other way round, to show "
        "what they leave open, apart from chance. What is not listed moves by less than a tenth of its ±.",
        width,
    )
    lows = [cell(percent(limits.low, difference.measure)) for _, difference, limits in pairs]
    highs = [cell(percent(limits.high, difference.measure)) for _, difference, limits in pairs]
    columns = [Column("difference at least", lows), Column("at most", highs)]
    return [*lines, "", *table(Column("", [name for name, _, _ in pairs]), columns, width)]


def gap(difference: Difference) -> float:
    """Return how far the games without a verdict can move a difference."""
    assert difference.bounds
    return difference.bounds.high.estimate - difference.bounds.low.estimate


def legend(differences: Sequence[Difference], width: int) -> list[str]:
    """Return what the short heads mean."""
    lines = wrapped(
        "r: correlation of the two numbers of a deal. cut: how many times as many games it would take without the same "
        "deals.",
        width,
    )
    if any(difference.verdict == OPEN and difference.games_needed for difference in differences):
        lines += wrapped(
            f"{OPEN.capitalize()}: the number says about how many games decide it, in four of five cases, if the "
            "difference is what it seems.",
            width,
        )
    return lines


__all__ = ["render_comparison"]
