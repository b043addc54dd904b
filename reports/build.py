"""The report of results folders, whatever they hold: a run, a comparison, or a solver's results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.load import open_rows
from reports.run_page import NOTHING, About

if TYPE_CHECKING:
    from analysis.comparison import Comparison, Margins
    from reports.page import Page

Source = str | os.PathLike[str]


def report(
    source: Source | Sequence[Source],
    *,
    margin: float | Mapping[str, float] | Margins | None = None,
    by: str | None = None,
    about: About = NOTHING,
) -> Page:
    """Return the report of results; its `write` makes a file of it.

    Parameters
    ----------
    source
        A results folder, anybody's Parquet, a folder of variants, or several folders on the same deals to compare.
    margin
        Of a comparison: what is too small to matter (see `analysis.compare`).
    by
        Of a comparison: the measure that it opens with.
    about
        What is known beside the results: the game's title, replays, a diagnosis.

    Raises
    ------
    LoadError
        If results cannot be read, or are not of the same deals.
    ValueError
        For a wrong margin or measure.

    Examples
    --------
    ``report("results/mine").write("mine.html")``
    """
    if not isinstance(source, str | os.PathLike):
        return of_comparison(compared(source, margin), about, by)
    from analysis.comparison import DOCUMENT

    if os.path.exists(os.path.join(source, DOCUMENT)):
        return of_comparison(compared(source, margin), about, by)
    rows = open_rows(source)
    if is_of_solver(rows.names):
        from analysis.solvability import solvability
        from reports.solver_page import efforts, solver_page

        return solver_page(solvability(source), efforts(rows), about=about)
    from reports.gather import gather
    from reports.run_page import run_page

    return run_page(gather(rows), about)


def is_of_solver(names: Sequence[str]) -> bool:
    """Tell whether columns are those of a solver."""
    return {"status", "won", "nodes"} <= set(names)


def compared(
    source: Source | Sequence[Source], margin: float | Mapping[str, float] | Margins | None = None
) -> Comparison:
    """Return a comparison of a folder of variants, or of folders, which are called by their names."""
    from analysis.comparison import compare

    return compare(source if isinstance(source, str | os.PathLike) else list[Source](source), margin=margin)


def of_comparison(found: Comparison, about: About = NOTHING, by: str | None = None) -> Page:
    """Return a comparison's report, with effects if several options were varied in every combination.

    Raises
    ------
    ValueError
        If there is no such measure as `by`.
    """
    from analysis.effects import factorial
    from reports.comparison_page import comparison_page

    if by is not None and all(difference.measure.name != by for difference in found.differences):
        raise ValueError(f"there is no measure '{by}'")
    return comparison_page(found, about, factorial=factorial(found) if len(found.factors) > 1 else None, by=by)
