"""What share of deals can be won, as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analysis.solvability import SOLVED, UNKNOWN, UNSOLVABLE, Rival, Solvability
from analysis.summary import Number
from reports.comparison import joined
from reports.table import WIDTH, Column, cell, entry, plain, table, wrapped


def render_solvability(
    found: Solvability,
    *,
    title: str | None = None,
    changes: Mapping[str, str] | None = None,
    most_nodes: int | None = None,
    diagnosis: Iterable[str] = (),
    width: int = WIDTH,
) -> str:
    """Return it as text, without a line feed at its end.

    Parameters
    ----------
    title
        The game's name; else the run's.
    changes
        The options that are not at their default, as typed.
    most_nodes
        The limit of each deal's search.
    diagnosis
        Sentences about the rule set.
    width
        Columns of text.
    """
    blocks = [
        _heading(found, title, changes, most_nodes, width),
        _shares(found, width),
        _answer(found, width),
        _effort(found, width),
        _rivals(found, width),
        [line for sentence in diagnosis for line in wrapped(f"- {sentence}", width, "  ")],
    ]
    return joined(blocks)


def _heading(
    found: Solvability, title: str | None, changes: Mapping[str, str] | None, most_nodes: int | None, width: int
) -> list[str]:
    run = found.summary.run
    first = f"{title or (run.game or '').capitalize()}: {_deals(found.summary.games)}"
    lines = [first + (f", seed {run.seed}" if run.seed is not None else "")]
    if run.games is not None and run.games > found.summary.games:
        lines += entry("Unfinished", f"{found.summary.games:,} of {run.games:,} deals are tried", width)
    said = ", ".join(f"{name} = {value}" for name, value in (changes or {}).items())
    lines += entry("Rules", f"by the letter, but {said}" if said else "by the letter", width)
    limit = "" if most_nodes is None else f"; at most {most_nodes:,} nodes a deal"
    lines += entry("Solver", f"knows the order of the whole stock, and proves what it says{limit}", width)
    lines += entry("Intervals", f"{100 * found.summary.confidence:.10g} %, each for itself; ± is half the width", width)
    return lines


def _deals(n: int) -> str:
    return f"{n:,} deal{'' if n == 1 else 's'}"


def _shares(found: Solvability, width: int) -> list[str]:
    """Return how many deals got which verdict."""
    shares = found.summary.categories["status"].shares
    names = [SOLVED, UNSOLVABLE, UNKNOWN]
    counts = [f"{found.counts[name]:,}" for name in names]
    longest = max(len(count) for count in ["deals", *counts])
    columns = [
        Column("share, %", [cell(shares[name], percent=True) for name in names]),
        Column("deals".rjust(longest), [count.rjust(longest) for count in counts]),
    ]
    labels = ["Can be won (the moves were found)", "Cannot be won (every line was refuted)", "Unknown"]
    return table(Column("", labels), columns, width)


def _answer(found: Solvability, width: int) -> list[str]:
    """Return the share solvable as one sentence, the unknown deals counted both ways."""
    lost, won = found.bounds.lost, found.bounds.won
    if not found.counts[UNKNOWN]:
        return wrapped(f"Solvable: {_in_line(lost)}. No deal is unknown: nothing but chance is left open.", width)
    by = found.summary.categories["limit"].counts if "limit" in found.summary.categories else {}
    full = by.get("nodes_and_table", 0)
    why = f" (for {full:,} of them the table was full, too)" if full else ""
    together = f"{100 * found.low:.4g} % to {100 * found.high:.4g} %"
    return wrapped(
        f"Solvable: from {_in_line(lost)}, if none of the {found.counts[UNKNOWN]:,} unknown deals can be won, to "
        f"{_in_line(won)}, if all of them can; with chance in it, {together}. They are unknown because the limit of "
        f"nodes was reached{why}.",
        width,
    )


def _in_line(share: object) -> str:
    told = cell(share, percent=True)  # type: ignore[arg-type]
    return f"{told.number} {told.tail}".strip() + " %"


def _effort(found: Solvability, width: int) -> list[str]:
    """Return how much was searched."""
    lines = []
    for name, what in (("nodes", "Nodes"), ("depth", "Depth"), ("choice_points", "Choices")):
        number = found.summary.columns.get(name)
        if number is not None and number.n:
            lines += entry(what, f"{_numbers(number)} ({number.note.description})", width)
    return lines


def _numbers(number: Number) -> str:
    """Return a column's mean, its median and its largest value, as far as they are known."""
    median = _median(number)
    middle = "" if median is None else f", median {plain(median)}"
    return f"mean {plain(number.mean.estimate)}{middle}, most {plain(number.moments.high or 0)}"


def _median(number: Number) -> float | None:
    """Return the lower median; None if the values were too many to be counted one by one."""
    counts = number.moments.counts
    if counts is None:
        return None
    below = 0
    for value in sorted(counts):
        below += counts[value]
        if 2 * below >= number.n:
            return value
    return None


def _rivals(found: Solvability, width: int) -> list[str]:
    """Return what policies win of the same deals."""
    if not found.rivals:
        return []
    columns = [
        Column("won, %", [cell(rival.won, percent=True) for rival in found.rivals]),
        Column("of the solvable, %", [cell(rival.of_solvable, percent=True) for rival in found.rivals]),
        Column("solvable but lost, % of all", [cell(rival.missed, percent=True) for rival in found.rivals]),
    ]
    if any(rival.missed_at_most != rival.missed for rival in found.rivals):
        most = [cell(rival.missed_at_most, percent=True) for rival in found.rivals]
        columns.append(Column("if all unknown are solvable", most))
    n = sorted({rival.games for rival in found.rivals})
    which = f"the same {_deals(n[0])}" if len(n) == 1 else "the same deals"
    first = "" if n[0] == found.summary.games else " (the first ones)"
    names = [f"{rival.policy}" if len(n) == 1 else f"{rival.policy} ({rival.games:,})" for rival in found.rivals]
    return [
        *wrapped(f"Policies that do not know the stock, on {which}{first}:", width),
        "",
        *table(Column("Policy", names), columns, width),
        *[line for rival in found.rivals if rival.n_surprises for line in _surprise(rival, width)],
    ]


def _surprise(rival: Rival, width: int) -> list[str]:
    those = "it" if rival.n_surprises == 1 else "they"
    told = f"{rival.policy} wins {_deals(rival.n_surprises)} that the search left unknown: so {those} can be won."
    return wrapped(told, width)


__all__ = ["render_solvability"]
