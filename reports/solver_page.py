"""The report of a solver: what share of the deals can be won, at which budget, and how far from it policies are."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from analysis.load import to_numpy
from analysis.solvability import SOLVED, UNKNOWN, UNSOLVABLE, Rival, Solvability
from reports import figures, words
from reports.page import Block, Page, Picture, Table, Text
from reports.run_page import (
    NOTHING,
    About,
    count_frame,
    fixed_height,
    numbers,
    provenance,
    row_height,
    section,
    share_frame,
    terms,
)
from reports.table import capitalised, cell

if TYPE_CHECKING:
    import pandas as pd

    from analysis.load import Rows
    from analysis.summary import Summary

_BUDGETS_A_DECADE = 20
_SOLVER = "perfect play"


def solver_page(
    found: Solvability,
    effort: pd.DataFrame,
    rivals: Mapping[str, Summary] | None = None,
    about: About = NOTHING,
    *,
    limit: int | None = None,
) -> Page:
    """Return a solver's report.

    Parameters
    ----------
    effort
        What `efforts` returned.
    rivals
        Policy → the summary of its results on the same deals.
    limit
        The most nodes of a deal's search.
    """
    rivals = rivals or {}
    sections = [
        section("Can be won, or not", verdicts(found)),
        section("What a larger budget decides", budget(effort, limit)),
        section("Rule of thumb against perfect play", rules_of_thumb(found)),
        section("Cards placed", placed(rivals)),
        section("Diagnosis", [Text(about.diagnosis)] if about.diagnosis else []),
        section("Every column", [numbers(found.summary)]),
        section("The terms", terms(found.summary.run)),
        section("Where this comes from", provenance(found.summary.run, about)),
    ]
    n = found.summary.games
    title = f"{words.title(found.summary.run, about.title)}: {n:,} deal{'' if n == 1 else 's'} tried by the solver"
    return Page(title, answer(found), facts(found, about, limit), [part for part in sections if part])


def answer(found: Solvability) -> str:
    """Return what share of the deals can be won, in one sentence."""
    best = max(found.rivals, key=lambda rival: rival.won.estimate, default=None)
    if found.counts[UNKNOWN]:
        said = f"Between {_percent(found.low)} and {_percent(found.high)} of the deals can be won by perfect play"
    else:
        said = f"{words.interval(found.bounds.lost, percent=True)} of the deals can be won by perfect play"
    if best is not None:
        said += f"; without knowing the stock, the policy {best.policy} wins {words.interval(best.won, percent=True)}"
    return f"{said}."


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def facts(found: Solvability, about: About, limit: int | None) -> list[tuple[str, str]]:
    """Return what was tried, in named lines."""
    run = found.summary.run
    told = []
    if run.seed is not None:
        told.append(("Deals", f"{found.summary.games:,}, seed {run.seed}"))
    if run.games is not None and run.games > found.summary.games:
        told.append(("Unfinished", f"{found.summary.games:,} of {run.games:,} deals are tried"))
    if run.rules:
        told.append(("Rules", words.rules(run, about.changes)))
    most = "" if limit is None else f"; at most {limit:,} positions with a choice for a deal"
    told.append(("Solver", f"knows the order of the whole stock, and proves what it says{most}"))
    told.append(("Intervals", f"{100 * found.summary.confidence:.10g} %, each for itself; ± is half the width"))
    return told


def verdicts(found: Solvability) -> list[Block]:
    """Return what became of the deals, as one bar."""
    import pandas as pd

    shares = found.summary.categories["status"].shares
    names = [(SOLVED, "can be won"), (UNKNOWN, "unknown"), (UNSOLVABLE, "cannot be won")]
    frame = pd.DataFrame(
        {
            "label": [label for _, label in names],
            "share": [shares[name].estimate if name in shares else 0.0 for name, _ in names],
            "low": found.low,
            "high": found.high,
        }
    )
    told = [f"{label}: {words.interval(shares[name], percent=True)} ({found.counts[name]:,})" for name, label in names]
    both = f"{_percent(found.low)} to {_percent(found.high)}"
    said = f"The share that can be won, by chance and with the unknown deals counted as lost and as won: {both}."
    if not found.counts[UNKNOWN]:
        said = f"No deal is unknown: only chance is left open, {both}."
    caption = f"{said} It is the line below the bar."
    return [
        Picture(
            "verdicts",
            "What became of the deals",
            caption,
            f"One bar: {'; '.join(told)}. {said}",
            frame,
            figures.verdicts,
            fixed_height(1.25, 1.65),
        ),
        Text([capitalised(line) + "." for line in told]),
    ]


def efforts(rows: Rows) -> pd.DataFrame:
    """Return how many deals are decided within each budget, from one pass over a solver's rows.

    Returns
    -------
    ``label`` (the verdict in words), ``nodes`` (the budget), ``share`` (of all deals).

    Raises
    ------
    LoadError
        If the rows cannot be read.
    """
    import pandas as pd

    names = {SOLVED: "proved that it can be won", UNSOLVABLE: "proved that it cannot be won"}
    most = 1
    grid = np.unique(np.geomspace(1, 1e9, 9 * _BUDGETS_A_DECADE + 1).round()).astype(np.int64)
    decided = {name: np.zeros(len(grid) + 1, np.int64) for name in names}
    for batch in rows.batches(["status", "nodes"]):
        column = batch.column("status")
        status, _ = to_numpy(column.indices)
        values = [value.as_py() for value in column.dictionary]
        nodes, _ = to_numpy(batch.column("nodes"))
        most = max(most, int(nodes.max(initial=1)))
        for name, counts in decided.items():
            if name in values:
                mine = nodes[status == values.index(name)]
                counts += np.bincount(np.searchsorted(grid, mine), minlength=len(counts))
    kept = int(np.searchsorted(grid, most)) + 1
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "label": label,
                    "nodes": grid[:kept],
                    "share": np.cumsum(decided[name])[:kept] / max(1, rows.n_rows),
                }
            )
            for name, label in names.items()
        ],
        ignore_index=True,
    )


def budget(effort: pd.DataFrame, limit: int | None) -> list[Block]:
    """Return how many deals are decided within each budget."""
    last = effort.groupby("label", sort=False)["share"].last()
    told = "; ".join(f"{label}: {_percent(share)}" for label, share in last.items())
    most = "" if limit is None else f" The search of a deal stops at {limit:,}."
    caption = f"Share of the deals decided after looking at no more than so many positions with a choice.{most}"
    return [
        Picture(
            "budget",
            "Budget and verdicts",
            caption,
            f"Rising curves. {caption} At the end, {told}.",
            effort,
            figures.budget,
            fixed_height(2.6, 2.7),
        )
    ]


def rules_of_thumb(found: Solvability) -> list[Block]:
    """Return what policies win of the same deals, beside what can be won."""
    if not found.rivals:
        return []
    solved = found.summary.categories["status"].shares[SOLVED]
    labels = [rival.policy for rival in found.rivals] + [_SOLVER]
    shares = [rival.won for rival in found.rivals] + [solved]
    frame = share_frame(labels, shares, labels)
    unknown = found.counts[UNKNOWN] / max(1, found.summary.games)
    frame["open"] = [0.0] * len(found.rivals) + [unknown]
    told = "; ".join(
        f"{label} {words.interval(share, percent=True)}" for label, share in zip(labels, shares, strict=True)
    )
    caption = "Share of the deals won by policies that do not know the stock, and the share proved to be winnable."
    is_open = any(rival.missed_at_most != rival.missed for rival in found.rivals)
    rows = [(rival.policy, *_row(rival)[: 5 if is_open else 4]) for rival in found.rivals]
    heads: tuple[str, ...] = (
        "policy",
        "deals",
        "won, %",
        "of the solvable, %",
        "solvable but lost, % of all",
        "with the unknown",
    )
    heads = heads if is_open else heads[:-1]
    return [
        Picture(
            "gap",
            "Won by rule of thumb, and winnable",
            caption,
            f"Bars. {caption} {told}.",
            frame,
            functools.partial(figures.shares, xlabel="deals, %", legend="unknown" if unknown else None),
            row_height(labels, legend=["unknown"] if unknown else ()),
        ),
        Table(heads, rows),
    ]


def _row(rival: Rival) -> tuple[str, ...]:
    shares = (rival.won, rival.of_solvable, rival.missed, rival.missed_at_most)
    cells = (cell(share, percent=True) for share in shares)
    return (f"{rival.games:,}", *(f"{told.number} {told.tail}".strip() for told in cells))


def placed(rivals: Mapping[str, Summary]) -> list[Block]:
    """Return how many cards each policy places."""
    import pandas as pd

    known = {
        name: summary.columns["placed"]
        for name, summary in rivals.items()
        if "placed" in summary.columns and summary.columns["placed"].n and summary.columns["placed"].moments.counts
    }
    if not known:
        return []
    frame = pd.concat([count_frame(column).assign(label=name) for name, column in known.items()], ignore_index=True)
    told = "; ".join(f"{name} {words.interval(column.mean)}" for name, column in known.items())
    caption = f"Share of the deals in which more than so many cards are placed. On the average: {told}."
    return [
        Picture(
            "placed",
            "Cards placed",
            caption,
            f"Falling curves. {caption}",
            frame,
            functools.partial(figures.survival, xlabel="cards placed", ylabel="deals, %"),
            fixed_height(2.8, 3.1),
        )
    ]


__all__ = ["efforts", "solver_page"]
