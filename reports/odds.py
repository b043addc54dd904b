"""Odds as a person reads them in a terminal."""

from __future__ import annotations

import math

from analysis.conditions import LETTERS
from analysis.odds import Odds
from reports.table import WIDTH, cell, entry, games_text, wrapped

_METHODS = {"wilson": "Wilson", "clopper_pearson": "Clopper-Pearson"}


def render_odds(found: Odds, *, title: str | None = None, width: int = WIDTH) -> str:
    """Return odds as text, without a line feed at its end.

    Parameters
    ----------
    title
        The game's name; else the run's.
    width
        Columns of text.
    """
    lines = wrapped(found.condition, width)
    if found.given is not None:
        lines += entry("given", found.given, width)
    lines.append("")
    if not found.n:
        none = f"no game fulfils: {found.given}" if found.given else "there are no games"
        return "\n".join([*lines, f"cannot be told: {none}"])
    told = cell(found.rate, percent=True)
    covers = f"{100 * found.rate.confidence:.10g} %, {_METHODS[found.rate.method]}"
    lines += entry("Percent", f"{told.number} {told.tail}".rstrip() + f" %  ({covers})", width)
    lines += entry("Odds", _one_in(found), width)
    lines += entry("Games", f"{found.events:,} of {found.n:,}{_of_which(found, title)}", width)
    if len(found.names) > 1:
        named = ", ".join(f"{letter} = {name}" for letter, name in zip(LETTERS, found.names, strict=False))
        lines += entry("Results", named, width)
    if found.given_unknown:
        lines += entry("Left out", f"{games_text(found.given_unknown)} for which the given cannot be told", width)
    if found.bounds:
        lost, won = (cell(end, percent=True) for end in found.bounds)
        what = [f"{found.undecided:,} without a verdict"] * bool(found.undecided)
        what += [f"{found.unknown:,} without a value"] * bool(found.unknown)
        ends = [f"{end.number} {end.tail}".rstrip() for end in (lost, won)]
        lines += entry("Open", f"{' and '.join(what)}: all counted as no {ends[0]} %, all as yes {ends[1]} %", width)
    return "\n".join(lines)


def _of_which(found: Odds, title: str | None) -> str:
    run = found.runs[0]
    game = title or (run.game or "").capitalize()
    of = f" games of {game}" if game else " rows"
    seed = f", seed {run.seed}" if run.seed is not None else ""
    share = f" ({found.games:,} in all)" if found.given is not None else ""
    return f"{of}{share}{seed}"


def _one_in(found: Odds) -> str:
    """Return ``1 in 12.3 (11.9 – 12.7)``."""
    estimate, low, high = found.one_in
    if found.events == 0:
        return f"never in {games_text(found.n)}; at most 1 in {_short(math.floor(low))}"
    if found.events == found.n:
        fails = 1 / (1 - found.rate.low)
        return f"always in {games_text(found.n)}; fails at most 1 in {_short(math.floor(fails))}"
    return f"1 in {_short(estimate)} ({_short(low)} – {_short(high)})"


def _short(n: float) -> str:
    """Return a number to three digits, with separators."""
    return f"{n:.3g}" if n < 999.5 else f"{round(n, 2 - math.floor(math.log10(n))):,.0f}"


__all__ = ["render_odds"]
