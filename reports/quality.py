"""Quantiles, what each policy gets, and how good a game it is, as a person reads them below the summary."""

from __future__ import annotations

import math
import re

from analysis.intervals import Interval
from analysis.order_statistics import QUANTILES
from analysis.quality import NOT_TOLD, Closeness, Quality, assess
from analysis.seats import seat_groups
from analysis.summary import Number, Summary
from reports.table import WIDTH, Cell, Column, capitalised, cell, number, plain, table, words, wrapped


def render_quality(summary: Summary, *, width: int = WIDTH) -> str:
    """Return the tables as text, without a line feed at the end; empty if there are no games."""
    if not summary.games:
        return ""
    blocks = [_quantile_table(summary, width), *_policy_tables(summary, width), _quality_lines(assess(summary), width)]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block)


def _quantile_table(summary: Summary, width: int) -> list[str]:
    """Return the quantiles of each column; seats that have the same are told in one line."""
    measured = {column.name: column for column in summary.measured}
    rows: list[tuple[str, list[str]]] = []
    done: set[str] = set()
    groups = {name: (stem, names) for stem, names in seat_groups(measured).items() for name in names}
    for name in measured:
        if name in done:
            continue
        stem, names = groups.get(name, (name, [name]))
        done.update(names)
        told = [_quantile_cells(measured[each]) for each in names]
        if len(names) > 1 and all(line == told[0] for line in told):
            rows.append((f"{words(stem)}, each seat", told[0]))
        else:
            labels = [words(each) if len(names) == 1 else f"{words(stem)}, seat {k}" for k, each in enumerate(names)]
            rows += zip(labels, told, strict=True)
    if not rows:
        return []
    columns = [
        Column("median" if level == 0.5 else f"{100 * level:g} %", [cells[k] for _, cells in rows])
        for k, level in enumerate(QUANTILES)
    ]
    lines = table(Column("Quantiles per game", [capitalised(label) for label, _ in rows]), columns, width)
    many = [column.name for column in summary.columns.values() if column.moments.counts is None]
    if many:
        lines += wrapped(f"Too many values to be counted: {', '.join(many)}.", width)
    return [
        *lines,
        *wrapped("In brackets the interval, if it is wider than one value; it holds for any distribution.", width),
    ]


def _quantile_cells(column: Number) -> list[str]:
    return [_quantile(ends) for ends in column.quantiles().values()]


def _quantile(ends: Interval) -> str:
    estimate = plain(ends.estimate)
    if ends.low == ends.high == ends.estimate:
        return estimate
    low, high = (plain(end) if math.isfinite(end) else "?" for end in (ends.low, ends.high))
    return f"{estimate} ({low} – {high})"


def _policy_tables(summary: Summary, width: int) -> list[list[str]]:
    """Return a table for each slot in which the seats differ: what a seat gets that plays each policy."""
    told = []
    for slot, groups in summary.by_policy().items():
        names = summary.run.policies[slot]
        measures = list(dict.fromkeys(name for group in groups.values() for name in group))
        measures.sort(key=lambda name: not name.startswith("win"))
        rates = {name: name == "winner" or _is_rate(summary, name) for name in measures}
        columns = [
            Column(
                f"{'named as winner' if name == 'winner' else words(name)}{', %' if rates[name] else ''}",
                [cell(group[name], percent=rates[name]) if name in group else Cell("-") for group in groups.values()],
            )
            for name in measures
        ]
        seats = [", ".join(str(k) for k, name in enumerate(names) if name == policy) for policy in groups]
        first = Column("Policy" if slot == "policy" else f"Policy to {slot}", list(groups))
        told.append([*table(first, [Column("seats", seats), *columns], width), "Per game and seat that plays it."])
    return told


def _is_rate(summary: Summary, stem: str) -> bool:
    return all(
        column.is_rate for name, column in summary.columns.items() if re.fullmatch(rf"{re.escape(stem)}_\d+", name)
    )


def quality_entries(found: Quality) -> list[tuple[str, str]]:
    """Return what makes a good game, in named sentences; nothing if the results do not tell."""
    told = []
    if found.balance:
        balance = found.balance
        gap = _in_line(balance.gap, points=True)
        if balance.is_uneven:
            said = (
                f"uneven: seat {balance.best} wins {gap} percentage points more often than seat {balance.worst} (the "
                "widest gap of all pairs; the interval allows for the choice)"
            )
        else:
            said = f"no two seats clearly differ; the widest gap is {gap} percentage points (allowing for the choice)"
        told.append(("Seat balance", f"{said}."))
    if found.decisive:
        said = f"{_in_line(found.decisive)} % of the games have a winner"
        if found.alone and found.alone.estimate != found.decisive.estimate:
            said += f", {_in_line(found.alone)} % a single one"
        told.append(("Decisiveness", f"{said}."))
    if found.length:
        length = found.length
        short, middle, long = (length.quantiles[level] for level in (0.05, 0.5, 0.95))
        said = (
            f"nine games of ten take {_quantile(short)} to {_quantile(long)} {words(length.column.name)}, half at most "
        )
        said += _quantile(middle)
        if math.isfinite(length.ratio.estimate):
            low, middling, high = (number(getattr(length.ratio, key), 2) for key in ("low", "estimate", "high"))
            ends = "" if low == high else f" ({low} – {high})"
            said += f"; the long ones {middling}{ends} times as long as the short ones"
        told.append(("Length", f"{said}."))
    for close in found.closeness:
        told.append(("Closeness", f"{_closeness(close)}."))
    for luck in found.luck:
        said = (
            f"{_in_line(luck.wins)} % of the wins go to the weaker policy, {luck.weaker}, on "
            f"{100 * luck.seats:.3g} % of the seats (a seat with it wins {_in_line(luck.weaker_share)} %, one "
            f"with {luck.stronger} {_in_line(luck.stronger_share)} %)"
        )
        told.append(("Luck", f"{said}."))
    return told


def _quality_lines(found: Quality, width: int) -> list[str]:
    entries = quality_entries(found)
    if not entries:
        return []
    lines = [line for name, said in entries for line in wrapped(f"{name}: {said}", width, "  ")]
    return ["How good a game it is", *lines, *wrapped(NOT_TOLD, width, "  ")]


def _closeness(close: Closeness) -> str:
    least = "least" if close.end == "low" else "most"
    return (
        f"the second seat is {_in_line(close.gap, percent=False)} behind in {words(close.stem)} (the winner has the "
        f"{least}) on average, the median is {_quantile(close.median)}; at most 1 in {_in_line(close.close)} % of the "
        "games won"
    )


def _in_line(interval: Interval, *, percent: bool = True, points: bool = False) -> str:
    told = cell(interval.scaled(100) if points else interval, percent=percent and not points)
    return f"{told.number} {told.tail}".strip()


__all__ = ["quality_entries", "render_quality"]
