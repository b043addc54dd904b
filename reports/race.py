"""A race as a person reads it in a terminal."""

from __future__ import annotations

from analysis.elimination import Race
from analysis.intervals import Interval
from reports.table import WIDTH, Cell, Column, cell, entry, table, wrapped


def render_race(found: Race, *, title: str, seed: int, measure: str, percent: bool, width: int = WIDTH) -> str:
    """Return a race as text, without a line feed at its end.

    Parameters
    ----------
    title
        The game's name.
    seed
        Of the deals.
    measure
        What decides, in words.
    percent
        Whether the score is a rate.
    width
        Columns of text.
    """
    names = found.ranking()
    leader = names[0]
    falls = {fall.name: fall for fall in found.falls}
    lines = [_verdict(found, leader)]
    lines += entry("Game", f"{title}, seed {seed}, {found.games:,} deals", width)
    lines += entry("Measure", f"{measure}{', %' if percent else ''}", width)
    doubt = f"{100 * found.error:g} %"
    promise = f"the winner is the wrong one with at most {doubt}"
    if found.margin is not None:
        unit = f"{100 * found.margin:g} %" if percent else f"{found.margin:g}"
        promise = f"the winner is worse than the best by {unit} or more with at most {doubt}"
    lines += entry("Error", f"{promise}, however often one looks (for large samples)", width)
    lines.append("")
    scores, behind, fates = [], [], []
    for name in names:
        scores.append(cell(found.score(name), percent=percent))
        if name in falls:
            fall = falls[name]
            behind.append(_behind(fall.difference, percent))
            fates.append(f"fell after {fall.games:,}, beaten by {fall.by}")
        elif name == leader:
            behind.append(Cell("-"))
            fates.append("wins" if found.is_decided else "leads")
        else:
            behind.append(_behind(found.difference(leader, name), percent))
            fates.append("not better than the leader by the margin" if found.is_decided else "not decided")
    columns = [Column("score", scores), Column("behind", behind), Column("", fates)]
    lines += table(Column("", names), columns, width)
    lines += wrapped(
        "Score: over the deals it played, with an interval that holds at every look, for itself. Behind: who beat it "
        "(or the leader) less itself, deal by deal on the same deals, with the race's interval.",
        width,
    )
    return "\n".join(line.rstrip() for line in lines)


def _verdict(found: Race, leader: str) -> str:
    if not found.is_decided:
        others = ", ".join(name for name in found.active if name != leader)
        return f"Not decided: {leader} leads, but {others} may be as good or better; more deals or a --margin decide it"
    if len(found.active) == 1:
        return f"The best is {leader}"
    return f"The best is {leader}, or no other is better by the margin"


def _behind(interval: Interval, percent: bool) -> Cell:
    return cell(interval.scaled(100) if percent else interval)


def difference_text(interval: Interval, is_rate: bool) -> str:
    """Return a difference for use in a sentence."""
    told = _behind(interval, is_rate)
    return f"{told.number} {told.tail}".strip() + (" percentage points" if is_rate else "")


__all__ = ["difference_text", "render_race"]
