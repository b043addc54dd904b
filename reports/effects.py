"""Options varied together, as a person reads it in a terminal: what matters most, main effects, interactions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from analysis.comparison import BIGGER, OPEN, SAME, SMALLER
from analysis.effects import Factorial, Rank
from reports.comparison import bounds, difference_cell, difference_table, heading, joined, label, legend, percent
from reports.table import WIDTH, Cell, Column, cell, games_text, table, wrapped

_MOST_INTERACTIONS = 12


def render_factorial(
    found: Factorial,
    *,
    by: str | None = None,
    title: str | None = None,
    notes: Sequence[tuple[str, str]] = (),
    width: int = WIDTH,
) -> str:
    """Return effects as text, without a line feed at its end.

    Parameters
    ----------
    by
        Rank the options by this measure; if not said, by whichever measure each of them moves most.
    title
        The game's name; else the run's.
    notes
        Named lines of the heading: the rules, the policies.
    width
        Columns of text.
    """
    comparison = found.comparison
    judged = dataclasses.replace(comparison, n_comparisons=found.n_comparisons)
    blocks = [
        heading(judged, title, notes, width),
        _ranking(found.rank(by) if by else found.ranking, by, width),
    ]
    for factor, values in comparison.factors.items():
        base = comparison.levels[comparison.baseline][factor]
        for value in values:
            if value != base:
                blocks.append(_main(found, factor, base, value, width))
    blocks += [_interactions(found, width), _bounds(found, width), legend(found.effects, width)]
    return joined(blocks)


def _ranking(ranks: Sequence[Rank], by: str | None, width: int) -> list[str]:
    """Return the options in the order in which they matter."""
    first = ranks[0]
    unit = 100 if first.measure.is_rate else 1
    on = f"{by}" if by else "what it moves most"
    lines = wrapped(
        f"What matters most: {first.factor} (from {first.low_value} to {first.high_value}, {first.measure.name} goes "
        f"from {unit * first.low:.3g} to {unit * first.high:.3g}{' %' if first.measure.is_rate else ''})",
        width,
    )
    columns = [
        Column("from", [rank.low_value for rank in ranks]),
        Column("to", [rank.high_value for rank in ranks]),
        Column(f"changes {on}", [rank.measure.name + (", %" if rank.measure.is_rate else "") for rank in ranks]),
        Column("by", [cell(percent(rank.difference, rank.measure)) for rank in ranks]),
        Column("in SD", [cell(rank.size) for rank in ranks]),
    ]
    if by:
        told = {True: "ahead of the next", False: "not clearly ahead", None: ""}
        columns = [columns[0], columns[1], columns[3], columns[4], Column("", [told[rank.ahead] for rank in ranks])]
    return [*lines, "", *table(Column("", [rank.factor for rank in ranks]), columns, width)]


def _main(found: Factorial, factor: str, base: str, value: str, width: int) -> list[str]:
    """Return the main effects of one value."""
    mine = [effect for effect in found.main_effects if effect.variant == f"{factor} = {value}"]
    lines = wrapped(f"{factor} = {value} against {base}, averaged over the rest", width)
    shown = [effect for effect in mine if effect.verdict != SAME]
    if shown:
        lines += ["", *difference_table(shown, (base, value), width)]
    same = [effect.measure.name for effect in mine if effect.verdict == SAME]
    return [*lines, "", *wrapped(f"No deal differs in {', '.join(same)}.", width)] if same else lines


def _interactions(found: Factorial, width: int) -> list[str]:
    """Return the largest interactions that are decided, and how many are not."""
    decided = [effect for effect in found.interactions if effect.verdict in (BIGGER, SMALLER)]
    n_open = sum(effect.verdict == OPEN for effect in found.interactions)
    rest = f"{n_open} not decided yet" if n_open else "the rest too small to matter or none"
    if not decided:
        return wrapped(f"Interactions: none is clearly there ({rest}).", width)
    largest = sorted(decided, key=lambda effect: -effect.size)[:_MOST_INTERACTIONS]
    shown = f"the {len(largest)} largest" if len(decided) > len(largest) else "all"
    lines = wrapped(
        f"Interactions: {len(decided)} are clearly there, {rest}; {shown} of these. An interaction is how much one "
        "option's effect is changed by the other.",
        width,
    )
    columns = [
        Column("of", [effect.variant for effect in largest]),
        Column("interaction", [difference_cell(effect) for effect in largest]),
        Column("in SD", [Cell(f"{effect.size:.2f}") for effect in largest]),
    ]
    return [*lines, "", *table(Column("", [label(effect) for effect in largest]), columns, width)]


def _bounds(found: Factorial, width: int) -> list[str]:
    """Return how far the games without a verdict leave the main effects on rates open."""
    n_games = sum(found.comparison.undecided.values())
    bounded = [effect for effect in found.main_effects if effect.bounds and effect.verdict != SAME]
    names = [f"{effect.variant}: {label(effect)}" for effect in bounded]
    return bounds(f"{games_text(n_games)}, all variants together", bounded, names, width)


__all__ = ["render_factorial"]
