"""The report of a comparison: the verdict, the differences, what matters most, where the variants part."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.comparison import BIGGER, OPEN, SAME, SMALLER, TOO_SMALL, Comparison, Difference
from reports import figures, words
from reports.comparison import decimal, difference_cell, gap, margin_text, mean_cell, percent, short_name, verdict_text
from reports.page import Block, Page, Picture, Table, Text
from reports.run_page import NOTHING, About, provenance, row_height, section, share_frame, terms
from reports.table import Cell, capitalised, cell, games_text

if TYPE_CHECKING:
    import pandas as pd

    from analysis.effects import Factorial, Rank
    from analysis.joint import Measure

_FEW_VARIANTS = 4  # set against the baseline in one figure; more of them get a figure for each measure
_MOST_ROWS = 40
_MOST_FIGURES = 4


def comparison_page(
    found: Comparison,
    about: About = NOTHING,
    *,
    factorial: Factorial | None = None,
    by: str | None = None,
) -> Page:
    """Return a comparison's report.

    Parameters
    ----------
    factorial
        The effects, if several options were varied.
    by
        The measure that the report opens with; if not said, the one that changes most.
    """
    measure = headline(found, factorial, by)
    sections = [
        section("In short", [Text(in_short(found))] if len(found.variants) <= _FEW_VARIANTS else counted(found)),
        section("What matters most", ranking(factorial, by) if factorial else []),
        section("Two options together", heat_map(found, factorial, measure) if factorial and measure else []),
        section("The differences", forests(found, measure)),
        section("Where the variants part", parting(found)),
        section("Games without a verdict", undecided(found)),
        section("The table", tables(found)),
        section("The terms", terms(found.run)),
        section("Where this comes from", provenance(found.run, about)),
    ]
    title = f"{words.title(found.run, about.title)}: {len(found.variants)} variants on the same {found.games:,} deals"
    return Page(title, answer(found, measure), facts(found, about), [part for part in sections if part])


# -- the answer -------------------------------------------------------------------------------------------------------


def headline(found: Comparison, factorial: Factorial | None, by: str | None) -> Measure | None:
    """Return the measure that the report opens with: that named, else the one that changes most, in its deviations."""
    known = {difference.measure.name: difference.measure for difference in found.differences}
    if by is not None:
        return known[by]
    if factorial is not None:
        return factorial.ranking[0].measure
    decided = [difference for difference in found.differences if difference.verdict in (BIGGER, SMALLER)]
    return max(decided, key=functools.partial(size, found)).measure if decided else None


def size(found: Comparison, difference: Difference) -> float:
    """Return a difference in the measure's standard deviations under the baseline (the variant's, if that has none)."""
    deviation = _deviation(found, difference)
    return abs(difference.difference.estimate) / deviation if deviation > 0 else 0.0


def _deviation(found: Comparison, difference: Difference) -> float:
    assert found.counts is not None
    counted = next(counted for measure, counted in found.counts.measures() if measure.name == difference.measure.name)
    pair = counted.pair(list(found.variants).index(difference.variant))
    for weights in ((1, 0), (0, 1)):
        variance = pair.moments(weights, counted.unit)[1]
        if variance > 0:
            return math.sqrt(variance)
    return 0.0


def answer(found: Comparison, measure: Measure | None) -> str:
    """Return the verdict in one sentence."""
    n, verdicts = found.n_comparisons, [difference.verdict for difference in found.differences]
    if not n:
        return f"It changes nothing: all {games_text(found.games)} end alike under every variant."
    decided = sum(verdict in (BIGGER, SMALLER) for verdict in verdicts)
    small, still_open = verdicts.count(TOO_SMALL), verdicts.count(OPEN)
    mine = [difference for difference in found.differences if measure and difference.measure.name == measure.name]
    if not mine or not decided:
        if small and not still_open:
            return f"No difference matters: all {small} are below what was said to be too small to matter."
        told = f"; {small} of them are too small to matter" if small else ""
        return f"Nothing is shown to differ yet: {still_open} of {n} comparisons are not decided{told}."
    least = min(mine, key=lambda difference: difference.other)
    most = max(mine, key=lambda difference: difference.other)
    far = max((least, most), key=lambda difference: abs(difference.difference.estimate))
    told = words.measure(far.measure)
    if len(mine) > 1:
        places = [(far.base, found.baseline), *((difference.other, difference.variant) for difference in mine)]
        low, high = min(places, key=lambda place: place[0]), max(places, key=lambda place: place[0])
        change = f"from {_value(far, low[0])} under {low[1]} to {_value(far, high[0])} under {high[1]}"
    else:
        difference = difference_cell(far)
        unit = " percentage points" if far.measure.is_rate else ""
        change = f"{_value(far, far.base)} under {found.baseline}, {_value(far, far.other)} under {far.variant}"
        change += f" ({_signed(difference)}{unit})"
    rest = f"{decided} of {n} comparisons show{'s' * (decided == 1)} a difference" if n > 1 else ""
    rest += f", {small} {_are(small)} too small to matter" if small and rest else ""
    rest += f", {still_open} {_are(still_open)} not decided yet" if still_open and rest else ""
    often = "how often " if far.measure.is_rate and not far.measure.note.share else ""
    return f"What changes most is {often}{told}: {change}" + (f"; {rest}." if rest else ".")


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _value(difference: Difference, value: float) -> str:
    return mean_cell(difference, value).number + (" %" if difference.measure.is_rate else "")


def _signed(found: Cell) -> str:
    sign = "" if found.number.startswith("-") else "+"
    return f"{sign}{found.number} {found.tail}".strip()


def facts(found: Comparison, about: About) -> list[tuple[str, str]]:
    """Return what was compared, in named lines."""
    told = [("Baseline", found.baseline)]
    varied = [f"{name} = {'; '.join(values)}" for name, values in found.factors.items()]
    told.append(("Varied" if varied else "Variants", ", ".join(varied or found.variants)))
    if found.run.seed is not None:
        told.append(("Played", f"{games_text(found.games)} under each variant, seed {found.run.seed}"))
    if about.changes is not None:
        changes = {name: text for name, text in about.changes.items() if name not in found.factors}
        if "variant" not in found.factors:
            told.append(("Rules", words.rules(found.run, changes)))
    if found.run.policies and not set(found.factors) & set(found.run.policies):
        told.append(("Policies", words.policies(found.run)))
    error = f"{100 * (1 - found.confidence):.3g} %"
    told.append(("Intervals", f"{100 * found.confidence:.10g} %, each for itself; ± is half the width"))
    n = found.n_comparisons
    told.append(("Verdicts", f"hold together for all {n} comparisons, with an error of {error} (Holm)"))
    if margin := margin_text(found.margins):
        told.append(("Too small", f"to matter: differences below {margin}"))
    for name, n_games in found.unmatched.items():
        if n_games:
            told.append(("Unmatched", f"{games_text(n_games)} of {name} that another variant lacks"))
    return told


def in_short(found: Comparison) -> list[str]:
    """Return a sentence for each variant: what is bigger, smaller, too small to matter, open."""
    told = []
    for name in found.variants:
        mine = [difference for difference in found.differences if difference.variant == name]
        if name == found.baseline:
            continue
        parts = []
        for verdict in (BIGGER, SMALLER, TOO_SMALL, OPEN):
            names = [words.measure(difference.measure) for difference in mine if difference.verdict == verdict]
            if names:
                parts.append(f"{verdict}: {_some(names)}")
        told.append(f"{name}, against {found.baseline}: " + ("; ".join(parts) or "no deal differs") + ".")
    return told


def counted(found: Comparison) -> list[Block]:
    """Return how many measures got which verdict under each of many variants."""
    verdicts = (BIGGER, SMALLER, TOO_SMALL, OPEN, SAME)
    rows = []
    for name in found.variants:
        mine = [difference.verdict for difference in found.differences if difference.variant == name]
        if name != found.baseline:
            rows.append((short_name(name, found), *(str(mine.count(verdict)) for verdict in verdicts)))
    return [Table((next(iter(found.factors)) if len(found.factors) == 1 else "numbers that are", *verdicts), rows)]


def _some(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


# -- sections ---------------------------------------------------------------------------------------------------------


def ranking(factorial: Factorial, by: str | None) -> list[Block]:
    """Return how much each option matters."""
    import pandas as pd

    ranks = factorial.rank(by) if by else factorial.ranking
    frame = pd.DataFrame(
        {
            "label": [rank.factor for rank in ranks],
            "estimate": [rank.size.estimate for rank in ranks],
            "low": [rank.size.low for rank in ranks],
            "high": [rank.size.high for rank in ranks],
            "text": [_told(cell(rank.size)) for rank in ranks],
        }
    )
    lines = [_rank_line(rank) for rank in ranks]
    caption = (
        "The largest change of a number between two values of the option, averaged over the other options, in standard "
        "deviations of that number within a variant."
    )
    alt = "Bars of how much each option matters: " + "; ".join(lines)
    return [
        Picture(
            "ranking",
            "How much each option matters",
            caption,
            alt,
            frame,
            figures.ranking,
            row_height(list(frame["label"])),
        ),
        Text(lines),
    ]


def _rank_line(rank: Rank) -> str:
    unit, sign = (100, " %") if rank.measure.is_rate else (1, "")
    change = f"from {unit * rank.low:.4g}{sign} to {unit * rank.high:.4g}{sign}"
    ahead = {True: "; clearly ahead of the next", False: "; not clearly ahead of the next", None: ""}[rank.ahead]
    return f"{rank.factor}, from {rank.low_value} to {rank.high_value}: {words.measure(rank.measure)}, {change}{ahead}."


def heat_map(found: Comparison, factorial: Factorial, measure: Measure) -> list[Block]:
    """Return a measure's mean under every pair of values of the two options that matter most."""
    import pandas as pd

    first, second = (rank.factor for rank in factorial.ranking[:2])
    mine = {
        difference.variant: difference for difference in found.differences if difference.measure.name == measure.name
    }
    some = min(mine.values(), key=lambda difference: (difference.verdict == SAME, difference.difference.half_width))
    means: dict[tuple[str, str], list[float]] = {}
    for name, levels in found.levels.items():
        value = mine[name].other if name in mine else some.base
        means.setdefault((levels[first], levels[second]), []).append(value)
    records = [
        (row, column, average, _value(some, average))
        for row in found.factors[first]
        for column in found.factors[second]
        if (values := means.get((row, column))) and not math.isnan(average := sum(values) / len(values))
    ]
    frame = pd.DataFrame(records, columns=["row", "column", "value", "text"])
    told = "; ".join(f"{first} = {row}, {second} = {column}: {text}" for row, column, _, text in records[:40])
    rest = ", averaged over the other options" if len(found.factors) > 2 else ""
    caption = f"{capitalised(words.measure(measure))}, mean under each pair of values{rest}."
    n_rows = len(found.factors[first])
    return [
        Picture(
            "heatmap",
            f"{first} and {second} together",
            caption,
            f"Heat map. {caption} {told}",
            frame,
            functools.partial(figures.heat_map, xlabel=second, ylabel=first),
            functools.partial(_heat_height, n_rows),
        )
    ]


def _heat_height(n_rows: int, narrow: bool) -> float:
    return 0.9 + (0.36 if n_rows < 12 else 0.26) * n_rows


def forests(found: Comparison, first: Measure | None) -> list[Block]:
    """Return the differences with their intervals, and the band that is too small to matter."""
    others = [name for name in found.variants if name != found.baseline]
    shown = [difference for difference in found.differences if difference.verdict != SAME]
    sizes: dict[str, float] = {}
    for difference in shown:
        name = difference.measure.name
        sizes[name] = max(sizes.get(name, 0.0), size(found, difference))
    ranked = sorted(sizes, key=lambda name: (first is None or name != first.name, -sizes[name]))
    if len(others) > _FEW_VARIANTS:
        of_kind: dict[str, str] = {}  # one seat's stands for all seats'
        for name in ranked:
            of_kind.setdefault(re.sub(r"\d+$", "", name), name)
        return [
            _forest_of_variants(found, number, [difference for difference in shown if difference.measure.name == name])
            for number, name in enumerate([*of_kind.values()][:_MOST_FIGURES], start=1)
        ]
    blocks: list[Block] = []
    for is_rate in (True, False):
        mine = [name for name in ranked if any(d.measure.name == name and d.measure.is_rate == is_rate for d in shown)]
        kept = set(mine[: max(1, _MOST_ROWS // len(others))])
        rows = [difference for difference in shown if difference.measure.name in kept]
        if rows:
            blocks.append(_forest_of_measures(found, rows, is_rate, len(mine) - len(kept)))
    return blocks


def _forest_of_measures(found: Comparison, rows: Sequence[Difference], is_rate: bool, left_out: int) -> Picture:
    """Return the differences of several measures: of rates in percentage points, of numbers in standard deviations."""
    names = list(dict.fromkeys(difference.measure.name for difference in rows))
    rows = sorted(rows, key=lambda difference: names.index(difference.measure.name))
    frame = forest_frame(found, rows, [words.measure(d.measure) for d in rows], [_scale(found, d) for d in rows])
    n_rows = max(names_of.count(name) for names_of in [[d.measure.name for d in rows]] for name in names)
    unit = "percentage points" if is_rate else "standard deviations under the baseline"
    what = "rates" if is_rate else "numbers"
    title = f"Differences from {found.baseline}: {what}"
    caption = f"Difference of each of the {what} from {found.baseline} on the same deals, in {unit}, with intervals."
    if not is_rate:
        caption += " At the side they stand in their own units."
    caption += _of_band(rows) + (f" {left_out} smaller ones are in the table." if left_out > 0 else "")
    return Picture(
        "forest" if is_rate else "forest-numbers",
        title,
        caption,
        f"Forest plot. {caption} {_alt(rows)}",
        frame,
        functools.partial(figures.forest, xlabel=f"difference, {unit}", kinds=list(found.variants)),
        row_height(
            list(dict.fromkeys(frame["label"])),
            n_rows,
            legend=kinds if len(kinds := list(dict.fromkeys(frame["kind"]))) > 1 else (),
        ),
    )


def _forest_of_variants(found: Comparison, number: int, rows: Sequence[Difference]) -> Picture:
    """Return one measure's differences under every variant."""
    measure = rows[0].measure
    unit = "percentage points" if measure.is_rate else "in its own unit"
    labels = [short_name(difference.variant, found) for difference in rows]
    frame = forest_frame(found, rows, labels, [100.0 if measure.is_rate else 1.0] * len(rows))
    factor = f" ({next(iter(found.factors))})" if len(found.factors) == 1 else ""
    told = words.measure(measure)
    caption = (
        f"{capitalised(told)}: difference of each variant{factor} from {found.baseline} on the same deals, {unit}."
    )
    caption += _of_band(rows)
    return Picture(
        "forest" if number == 1 else f"forest-{number}",
        f"Differences: {told}",
        caption,
        f"Forest plot. {caption} {_alt(rows)}",
        frame,
        functools.partial(figures.forest, xlabel=f"difference, {unit}", kinds=list(found.variants)),
        row_height(labels),
    )


def _of_band(rows: Sequence[Difference]) -> str:
    """Return what the grey band means, if there is one."""
    return " The grey band is what is too small to matter." if any(row.margin is not None for row in rows) else ""


def _alt(rows: Sequence[Difference]) -> str:
    told = [
        f"{words.measure(d.measure)}, {d.variant}: {_told(difference_cell(d))}, {d.verdict}" for d in rows[:_MOST_ROWS]
    ]
    return "; ".join(told) + "."


def _scale(found: Comparison, difference: Difference) -> float:
    deviation = _deviation(found, difference)
    return 100.0 if difference.measure.is_rate else 1 / deviation if deviation > 0 else 1.0


def forest_frame(
    found: Comparison, rows: Sequence[Difference], labels: Sequence[str], scales: Sequence[float]
) -> pd.DataFrame:
    """Return differences as `figures.forest` draws them, each times its scale."""
    import pandas as pd

    records = []
    for difference, label, scale in zip(rows, labels, scales, strict=True):
        ends = difference.difference
        margin = scale * difference.margin if difference.margin is not None else math.nan
        text = _told(difference_cell(difference))
        records.append(
            (label, difference.variant, scale * ends.estimate, scale * ends.low, scale * ends.high, margin, text)
        )
    return pd.DataFrame(records, columns=["label", "kind", "estimate", "low", "high", "margin", "text"])


def parting(found: Comparison) -> list[Block]:
    """Return the share of the deals that end differently."""
    names = list(found.differing)
    shares = [found.differing[name] for name in names]
    labels = [short_name(name, found) for name in names]
    frame = share_frame(labels, shares, names)
    told = "; ".join(f"{name} {words.interval(share, percent=True)}" for name, share in zip(names, shares, strict=True))
    caption = f"Share of the deals on which any column differs from that under {found.baseline}."
    paint = functools.partial(figures.shares, xlabel="deals, %", kinds=list(found.variants))
    return [
        Picture(
            "differing",
            "Deals that end differently",
            caption,
            f"Bars. {caption} {told}.",
            frame,
            paint,
            row_height(labels),
        )
    ]


def undecided(found: Comparison) -> list[Block]:
    """Return what the games without a verdict leave open."""
    if not any(found.undecided.values()):
        return []
    there = ", ".join(f"{n:,} under {name}" for name, n in found.undecided.items() if n)
    rows = [
        (
            words.measure(difference.measure),
            difference.variant,
            _told(cell(percent(difference.bounds.low, difference.measure))),
            _told(cell(percent(difference.bounds.high, difference.measure))),
        )
        for difference in found.differences
        if difference.bounds and gap(difference) > difference.difference.half_width / 10
    ]
    said = f"Games without a verdict: {there}. The figures take them as they stand."
    if not rows:
        return [Text([f"{said} Counting them as lost or as won moves no difference by a tenth of its ±."])]
    said += " Here they are counted as lost on one side and as won on the other, and the other way round."
    return [Text([said]), Table(("Difference, %", "variant", "at least", "at most"), rows)]


def tables(found: Comparison) -> list[Block]:
    """Return every difference, a table for each variant."""
    others = [name for name in found.variants if name != found.baseline]
    blocks: list[Block] = []
    for name in others:
        rows = []
        for difference in found.differences:
            if difference.variant != name or difference.verdict == SAME:
                continue
            unit = ", %" if difference.measure.is_rate else ""
            rows.append(
                (
                    words.measure(difference.measure) + unit,
                    mean_cell(difference, difference.base).number,
                    mean_cell(difference, difference.other).number,
                    _told(difference_cell(difference)),
                    verdict_text(difference),
                    f"{100 * difference.n_changed / found.games:.3g} %",
                    _told(decimal(difference.correlation, 2)),
                    _told(decimal(difference.variance_cut, 2)),
                )
            )
        heads = (
            "",
            short_name(found.baseline, found),
            short_name(name, found),
            "difference",
            "verdict",
            "deals that differ",
        )
        same = [words.measure(d.measure) for d in found.differences if d.variant == name and d.verdict == SAME]
        if rows:
            folded = "" if len(others) == 1 else f"{name} against {found.baseline}"
            blocks.append(Table((*heads, "r", "cut"), rows, folded=folded))
        if same:
            blocks.append(Text([f"{name}: no deal differs in {', '.join(same)}."]))
    notes = [
        "r: correlation of the two numbers of a deal.",
        "cut: how many times as many games it would take without the same deals.",
    ]
    if any(difference.verdict == OPEN and difference.games_needed for difference in found.differences):
        notes.append(
            f"{capitalised(OPEN)}: the number says about how many games decide it, in four of five cases, if the "
            "difference is what it seems."
        )
    return [*blocks, Text(notes)]


def _told(found: Cell) -> str:
    return f"{found.number} {found.tail}".strip()


__all__ = ["comparison_page"]
