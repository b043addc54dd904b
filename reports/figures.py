"""Figures: each a function that draws a DataFrame on a matplotlib Axes.

The DataFrames hold probabilities (0-1), and numbers in their columns' units; figures show rates in percent. A column
``text``, where it is there, is what stands beside a row. Labels come as they are to be read. Figures whose rows have
labels are as high as `height_of` says; they stand beside the rows, or above them where the figure is narrow.

Examples
--------
>>> import pandas as pd
>>> from matplotlib.figure import Figure
>>> from reports.figures import shares
>>> frame = pd.DataFrame({"label": ["seat 0", "seat 1"], "share": [0.4, 0.6], "low": [0.3, 0.5], "high": [0.5, 0.7]})
>>> shares(frame, Figure().subplots(), fair=0.5)
"""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reports.style import BAND, GRID, HATCHES, INK, MUTED, PALETTE, PAPER, colours, markers
from reports.table import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_NARROW = 5.0  # inches
_LINE, _ROW, _GAP = 0.145, 0.19, 0.13  # heights in inches: a line of a label, a row, the space between blocks
_AXIS, _LEGEND = 0.52, 0.19
_BEHIND = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.6}  # keeps lines from running through a text
_WIDE_LABEL, _NARROW_LABEL, _MOST_LINES = 36, 40, 3


def height_of(labels: Sequence[str], *, narrow: bool, rows: int = 1, legend: Sequence[str] = ()) -> float:
    """Return the height in inches of a figure with these labels, `rows` rows each, and a legend of these names."""
    lines = math.ceil(len(legend) / _legend_columns(legend, narrow)) if legend else 0
    return _blocks(labels, rows, narrow).total + _AXIS + _LEGEND * lines


# -- shares -----------------------------------------------------------------------------------------------------------


def shares(
    frame: pd.DataFrame,
    axes: Axes,
    *,
    fair: float | None = None,
    xlabel: str = "%",
    legend: str | None = None,
    kinds: Sequence[str] | None = None,
) -> None:
    """Draw shares as bars with their intervals.

    Parameters
    ----------
    frame
        ``label``, ``share``, ``low``, ``high``; if there, ``kind`` (a colour each), ``open`` (what may come on top
        of the share, hatched), ``text``.
    fair
        Where everybody would have the same.
    legend
        What ``open`` is.
    kinds
        All kinds there are, for their colours to be the same in every figure.
    """
    blocks = _label(axes, frame, rows=1)
    ys = [block[0] for block in blocks.rows]
    own = list(frame["kind"]) if "kind" in frame else [""] * len(frame)
    colour = colours([*(kinds or ()), *own] if "kind" in frame else own)
    share = 100 * frame["share"].to_numpy(float)
    axes.barh(ys, share, height=0.75 * _ROW, color=[colour[kind] for kind in own], edgecolor="none", zorder=2)
    if "open" in frame and frame["open"].any():
        axes.barh(
            ys,
            100 * frame["open"].to_numpy(float),
            left=share,
            height=0.75 * _ROW,
            facecolor=BAND,
            edgecolor=MUTED,
            hatch="////",
            linewidth=0.5,
            hatch_linewidth=0.5,
            zorder=2,
            label=legend,
        )
        if legend:
            _legend(axes)
    low, high = 100 * frame["low"].to_numpy(float), 100 * frame["high"].to_numpy(float)
    axes.hlines(ys, low, high, color=INK, linewidth=1.6, zorder=3)
    if fair is not None:
        axes.axvline(100 * fair, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=4)
        axes.text(100 * fair, 1, "fair", transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=7.5)
    top = float(np.nanmax([*high, *share, 100 * (fair or 0), 1e-6]))
    axes.set_xlim(0, min(100.0, 1.04 * top) if top < 97 else 100)
    axes.set_xlabel(xlabel)
    _across(axes)


def verdicts(frame: pd.DataFrame, axes: Axes) -> None:
    """Draw one bar of what became of all deals: its parts add up to one.

    Parameters
    ----------
    frame
        ``label``, ``share``, and ``low``, ``high`` (of the first part: where its true share can lie), a row for what is
        shown, for what is open and for the rest.
    """
    left = 0.0
    faces = ((PALETTE[0], ""), (BAND, "////"), (MUTED, ""))
    for (face, hatch), label, share in zip(faces, frame["label"], frame["share"], strict=True):
        edge = MUTED if hatch else "none"
        look: dict[str, Any] = {"facecolor": face, "hatch": hatch, "edgecolor": edge, "linewidth": 0.5}
        axes.barh([0.0], [100 * share], left=[left], height=0.6, label=f"{label}: {_percent(share)}", zorder=2, **look)
        left += 100 * share
    low, high = 100 * frame["low"].iloc[0], 100 * frame["high"].iloc[0]
    axes.hlines([0.5], [low], [high], color=INK, linewidth=1.6, zorder=3)
    axes.vlines([low, high], [0.42] * 2, [0.58] * 2, color=INK, linewidth=1.6, zorder=3)
    axes.set(xlim=(0, 100), ylim=(0.7, -0.4), yticks=[], xlabel="deals, %")
    axes.spines["left"].set_visible(False)
    _legend(axes)


# -- distributions ----------------------------------------------------------------------------------------------------


def histogram(frame: pd.DataFrame, axes: Axes, *, xlabel: str = "", ylabel: str = "games, %") -> None:
    """Draw how often each value occurs.

    Parameters
    ----------
    frame
        ``value``, ``games``: every value that occurs, in ascending order. Many values are put together in bins of one
        width; a far tail of less than one in two thousand is left to the words beneath.
    """
    values, games = frame["value"].to_numpy(float), frame["games"].to_numpy(float)
    below = np.cumsum(games) / games.sum()
    reach = values[min(len(values) - 1, int(np.searchsorted(below, 0.9995)))]
    width = max(1.0, math.ceil((reach - values[0] + 1) / (30 if _is_narrow(axes) else 60)))
    bins = np.floor((values - values[0]) / width)
    shown = values <= reach
    heights = np.bincount(bins[shown].astype(int), weights=games[shown]) / games.sum() * 100
    lefts = values[0] + width * np.arange(len(heights)) - (0.5 if width == 1 else 0)
    axes.bar(lefts, heights, width=0.94 * width, align="edge", color=colours(["a"])["a"], zorder=2)
    axes.set_xlim(lefts[0] - 0.5 * width, lefts[-1] + 1.5 * width)
    axes.set(xlabel=xlabel + (f" (bars of {width:.0f})" if width > 1 else ""), ylabel=ylabel)
    _whole_ticks(axes, few=len(heights) < 12 and width == 1)
    axes.grid(axis="y")


def survival(frame: pd.DataFrame, axes: Axes, *, xlabel: str = "", ylabel: str = "games that go on, %") -> None:
    """Draw the share of games that are longer than each value, a line for each ``label`` if there are several.

    Parameters
    ----------
    frame
        ``value``, ``games`` in ascending order of value; if there, ``label``.
    """
    groups = [("", frame)] if "label" not in frame else list(frame.groupby("label", sort=False, observed=True))
    names = [str(name) for name, _ in groups]
    reach, least = 0.0, math.inf
    for number, (name, group) in enumerate(groups):
        games, values = group["games"].to_numpy(float), group["value"].to_numpy(float)
        left = 100 * (1 - np.cumsum(games) / games.sum()).clip(0)
        keep = np.unique(np.linspace(0, len(values) - 1, min(len(values), 400)).astype(int))
        start = min(0.0, values[0])
        axes.step(
            [start, *values[keep]],
            [100, *left[keep]],
            where="post",
            color=colours(names)[str(name)],
            zorder=3,
            linestyle=("-", "--", "-.", ":")[number % 4],
            label=str(name),
        )
        reach = max(reach, values[min(len(values) - 1, int(np.searchsorted(-left, -0.05)))])
        least = min(least, start)
    axes.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, 102), xlim=(least, max(reach, least + 1)))
    axes.grid()
    if len(groups) > 1:
        _legend(axes)


def spread(frame: pd.DataFrame, axes: Axes, *, xlabel: str = "") -> None:
    """Draw where the middle half and nine tenths of the games lie, the median and the mean.

    Parameters
    ----------
    frame
        ``label``, ``mean``, ``q05``, ``q25``, ``q50``, ``q75``, ``q95``; if there, ``kind`` (a colour each), ``text``.
    """
    blocks = _label(axes, frame, rows=1)
    kinds = list(frame["kind"]) if "kind" in frame else [""] * len(frame)
    for (y,), kind, row in zip(blocks.rows, kinds, _records(frame), strict=True):
        colour = colours(kinds)[kind]
        axes.hlines(y, row.q05, row.q95, color=colour, linewidth=1.6, zorder=2)
        axes.hlines(y, row.q25, row.q75, color=colour, linewidth=8, zorder=2)
        axes.plot([row.q50], [y], "|", color=PAPER, markersize=8, markeredgewidth=2, zorder=3)
        axes.plot([row.mean], [y], "D", color=INK, markersize=4, zorder=4)
    axes.set_xlabel(xlabel)
    axes.margins(x=0.04)
    _across(axes)


# -- precision --------------------------------------------------------------------------------------------------------


def convergence(frame: pd.DataFrame, axes: Axes, *, ylabel: str = "%", unit: float = 100) -> None:
    """Draw estimates and their intervals as the games came in.

    Parameters
    ----------
    frame
        ``label``, ``games``, ``estimate``, ``low``, ``high``.
    """
    names = list(dict.fromkeys(frame["label"]))
    ends = frame.groupby("label", sort=False)[["low", "high", "estimate", "games"]]
    for number, (name, group) in enumerate(ends):
        colour = colours(names)[str(name)]
        low, high = unit * group["low"].to_numpy(float), unit * group["high"].to_numpy(float)
        axes.fill_between(group["games"], low, high, color=colour, alpha=0.22, linewidth=0, zorder=2)
        axes.plot(
            group["games"],
            unit * group["estimate"],
            color=colour,
            label=str(name),
            zorder=3,
            linestyle=("-", "--")[number % 2],
            marker="." if len(group) == 1 else None,
        )
    later = frame[frame["games"] >= min(100.0, frame["games"].max())]
    low, high = unit * later["low"].min(), unit * later["high"].max()
    if math.isfinite(low) and math.isfinite(high) and low < high:
        axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    if frame["games"].max() > 10 * frame["games"].min():
        axes.set_xscale("log")
    axes.set(xlabel="games", ylabel=ylabel)
    axes.xaxis.set_major_formatter(lambda n, _: _count(n))
    axes.xaxis.set_minor_formatter(lambda n, _: "")
    axes.grid()
    if len(names) > 1:
        _legend(axes)


# -- comparisons ------------------------------------------------------------------------------------------------------


def forest(frame: pd.DataFrame, axes: Axes, *, xlabel: str = "difference", kinds: Sequence[str] | None = None) -> None:
    """Draw differences with their intervals about zero, and the band that is too small to matter.

    Parameters
    ----------
    frame
        ``label``, ``kind`` (the variant: a colour and a marker each), ``estimate``, ``low``, ``high`` in the axis's
        unit; ``margin`` (nan where nothing is too small), ``text``. Rows of one label stand together.
    kinds
        All variants there are, for their colours to be the same in every figure.
    """
    kinds = list(dict.fromkeys(frame["kind"])) if kinds is None else list(kinds)
    colour, marker = colours(kinds), markers(kinds)
    blocks = _label(axes, frame, rows=_most_rows(frame))
    for block, (_, group) in zip(blocks.rows, frame.groupby("label", sort=False), strict=True):
        for y, row in zip(block, _records(group), strict=False):
            if math.isfinite(row.margin):
                axes.barh([y], [2 * row.margin], left=[-row.margin], height=_ROW, color=BAND, zorder=1)
            low, high = (end if math.isfinite(end) else row.estimate for end in (row.low, row.high))
            axes.hlines(y, low, high, color=colour[row.kind], linewidth=1.8, zorder=3)
            axes.plot([row.estimate], [y], marker[row.kind], color=colour[row.kind], markersize=5, zorder=4)
    axes.axvline(0, color=INK, linewidth=0.9, zorder=2)
    axes.margins(x=0.05)
    axes.set_xlabel(xlabel)
    _across(axes)
    shown = [kind for kind in kinds if kind in set(frame["kind"])]
    if len(shown) > 1 and _most_rows(frame) > 1:
        for kind in shown:
            axes.plot([], [], marker[kind], color=colour[kind], linestyle="-", markersize=5, label=kind)
        _legend(axes)


def ranking(frame: pd.DataFrame, axes: Axes, *, xlabel: str = "largest effect, in standard deviations") -> None:
    """Draw how much each option matters, with intervals.

    Parameters
    ----------
    frame
        ``label``, ``estimate``, ``low``, ``high``; if there, ``text``.
    """
    blocks = _label(axes, frame, rows=1)
    ys = [block[0] for block in blocks.rows]
    axes.barh(ys, frame["estimate"], height=0.75 * _ROW, color=colours(["a"])["a"], zorder=2)
    axes.hlines(ys, frame["low"].clip(lower=0), frame["high"], color=INK, linewidth=1.6, zorder=3)
    axes.set_xlim(0, 1.04 * max(float(frame["high"].max()), 1e-6))
    axes.set_xlabel(xlabel)
    _across(axes)


def heat_map(frame: pd.DataFrame, axes: Axes, *, xlabel: str = "", ylabel: str = "") -> None:
    """Draw a number for every pair of values of two options.

    Parameters
    ----------
    frame
        ``row``, ``column``, ``value``, ``text``.
    """
    rows, columns = list(dict.fromkeys(frame["row"])), list(dict.fromkeys(frame["column"]))
    cells = {(row.row, row.column): row for row in _records(frame)}
    grid = np.array([[cells[row, column].value for column in columns] for row in rows], float)
    low, high = np.nanmin(grid), np.nanmax(grid)
    mesh = axes.pcolormesh(grid, cmap="cividis", vmin=low, vmax=high if high > low else low + 1, edgecolors="none")
    room = 11 if _is_narrow(axes) else 20
    for (i, j), value in np.ndenumerate(grid):
        text = cells[rows[i], columns[j]].text
        red, green, blue, _ = mesh.cmap(mesh.norm(value))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
        fits = len(columns) * len(text) < 6 * room
        axes.text(
            j + 0.5,
            i + 0.5,
            text,
            ha="center",
            va="center",
            color="#ffffff" if dark else "#000000",
            fontsize=8,
            rotation=0 if fits else 90,
        )
    axes.set_xticks(np.arange(len(columns)) + 0.5, [_shortened(name, room) for name in columns])
    axes.set_yticks(np.arange(len(rows)) + 0.5, [_shortened(name, room) for name in rows])
    if sum(min(len(name), room) + 2 for name in columns) > (36 if _is_narrow(axes) else 80):
        for label in axes.get_xticklabels():
            label.set(rotation=90)
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(xlabel)
    axes.set_title(ylabel, fontsize=8.5, color=MUTED)


# -- the solver -------------------------------------------------------------------------------------------------------


def budget(frame: pd.DataFrame, axes: Axes, *, xlabel: str = "positions looked at") -> None:
    """Draw how many deals are decided within each budget.

    Parameters
    ----------
    frame
        ``label`` (the verdict), ``nodes``, ``share`` (of all deals, decided so within so many positions).
    """
    names = list(dict.fromkeys(frame["label"]))
    for number, name in enumerate(names):
        group = frame[frame["label"] == name]
        axes.step(
            group["nodes"].clip(lower=1),
            100 * group["share"],
            where="post",
            color=colours(names)[name],
            linestyle=("-", "--", "-.")[number % 3],
            label=name,
        )
    axes.set(xscale="log", ylim=(0, None), xlabel=xlabel, ylabel="deals, %")
    axes.xaxis.set_major_formatter(lambda n, _: _count(n))
    axes.xaxis.set_minor_formatter(lambda n, _: "")
    axes.grid()
    _legend(axes)


# -- the strategy card ------------------------------------------------------------------------------------------------

_CARD = 14.0  # its width in cells


def strategy_card(frame: pd.DataFrame, axes: Axes) -> None:
    """Draw what to answer in each situation of Bussikuski's questions, and its chance of being right, as a card.

    Parameters
    ----------
    frame
        ``question`` (1-4), ``situation``, ``best``, ``chance`` (0-1), ``first``, ``second``: of question 2 the rank of
        the card, of question 3 the lower and the higher rank, else empty.
    """
    ranks = list(dict.fromkeys(rank for rank in [*frame["first"], *frame["second"]] if rank))
    small = 5.2 if _is_narrow(axes) else 8
    y = 0.0
    for question, group in frame.groupby("question", sort=True):
        rows = _records(group)
        answers = list(dict.fromkeys(group["best"]))
        if question in (2, 3):
            answers = ["higher", "lower"] if question == 2 else ["inside", "outside"]
        y = _card_heading(axes, y, int(str(question)), answers, small)
        if question == 2:
            for row in rows:
                x = 1 + ranks.index(row.first)
                axes.text(x + 0.5, y + 0.45, row.first, ha="center", va="center", fontsize=small + 0.5, weight="bold")
                _card_cell(axes, x, y + 0.9, row, answers, small)
            y += 2.1
        elif question == 3:
            for place, rank in enumerate(ranks):
                axes.text(place + 1.5, y + 0.45, rank, ha="center", va="center", fontsize=small + 0.5, weight="bold")
                axes.text(0.55, y + place + 1.4, rank, ha="center", va="center", fontsize=small + 0.5, weight="bold")
            for row in rows:
                _card_cell(axes, 1 + ranks.index(row.second), y + 0.9 + ranks.index(row.first), row, answers, small)
            y += len(ranks) + 1.1
        elif question == 4:
            n_columns = _card_columns(narrow=_is_narrow(axes))
            n_lines = math.ceil(len(rows) / n_columns)
            for number, row in enumerate(rows):
                x, line = divmod(number, n_lines)
                told = (
                    f"{row.situation.replace(' ', '')}  →  {_SUITS.get(row.best, row.best)}  {100 * row.chance:.1f} %"
                )
                axes.text(0.3 + x * _CARD / n_columns, y + 0.5 + line, told, va="center", fontsize=small + 0.5)
            y += n_lines + 0.2
        else:
            axes.text(0.3, y + 0.5, f"{rows[0].best}  {100 * rows[0].chance:.1f} %", va="center", fontsize=small + 0.5)
            y += 1.2
    axes.set(xlim=(0, _CARD), ylim=(y, 0))
    axes.set_axis_off()


_SUITS = dict(zip("SHDC", "♠♥♦♣", strict=True))
_QUESTIONS = {
    1: "1  Red or black?",
    2: "2  Higher or lower than your card?",
    3: "3  Inside or outside your two cards?",
    4: "4  Which suit? (your three cards → what to say)",
}


def _card_heading(axes: Axes, y: float, question: int, answers: Sequence[str], small: float) -> float:
    """Write a question, and the key to its two answers; return where its cells begin."""
    text = "4  A suit you hold, or a new one?" if {"held", "new"} & set(answers) else _QUESTIONS[question]
    axes.text(0.2, y + 0.6, text, va="center", weight="bold", fontsize=small + 1.5)
    if question in (2, 3):
        for place, answer in enumerate(answers):
            x = _CARD - 5.2 + 2.7 * place
            _card_box(axes, x, y + 0.3, 0.6, place == 0)
            axes.text(x + 0.8, y + 0.62, answer, va="center", fontsize=small + 0.5)
    axes.plot([0.2, _CARD], [y + 1.1] * 2, color=GRID, linewidth=0.8)
    return y + 1.25


def _card_box(axes: Axes, x: float, y: float, size: float, is_first: bool) -> None:
    look: dict[str, Any] = {"facecolor": PALETTE[0] if is_first else BAND, "edgecolor": PAPER}
    axes.bar([x], [size], width=size, bottom=y, align="edge", linewidth=0.8, zorder=2, **look)


def _card_cell(axes: Axes, x: float, y: float, row: Any, answers: Sequence[str], small: float) -> None:
    """Draw one situation: the colour is the answer, the number its chance in percent."""
    is_first = row.best == answers[0]
    _card_box(axes, x, y, 1, is_first)
    colour = PAPER if is_first else INK
    axes.text(
        x + 0.5, y + 0.5, f"{100 * row.chance:.0f}", ha="center", va="center", fontsize=small, color=colour, zorder=3
    )


def card_height(frame: pd.DataFrame, *, narrow: bool) -> float:
    """Return the height in inches of a strategy card whose cells are as high as wide."""
    n_ranks = len({rank for rank in [*frame["first"], *frame["second"]] if rank})
    n_lines = math.ceil((frame["question"] == 4).sum() / _card_columns(narrow=narrow))
    return (4 * 1.25 + 1.2 + 2.1 + n_ranks + 1.1 + n_lines + 0.2) / _CARD * (3.4 if narrow else 6.2)


def _card_columns(*, narrow: bool) -> int:
    return 2 if narrow else 4


# -- shared -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Blocks:
    """Where labels and rows stand, in inches from the top.

    Attributes
    ----------
    lines
        Each block's label, line by line.
    tops
        Where its label begins (narrow), or its rows do.
    rows
        The middles of its rows.
    """

    lines: list[list[str]]
    tops: list[float]
    rows: list[list[float]]
    total: float


def _blocks(labels: Sequence[str], rows: int, narrow: bool) -> _Blocks:
    lines, tops, middles, y = [], [], [], 0.0
    for label in labels:
        mine = _wrapped(label, _NARROW_LABEL if narrow else _WIDE_LABEL)
        used = rows * _ROW
        lines.append(mine)
        tops.append(y)
        if narrow:
            y += len(mine) * _LINE
        else:
            used = max(used, len(mine) * _LINE)
        first = y + (used - rows * _ROW) / 2
        middles.append([first + (k + 0.5) * _ROW for k in range(rows)])
        y += used + _GAP
    return _Blocks(lines, tops, middles, y)


def _label(axes: Axes, frame: pd.DataFrame, *, rows: int) -> _Blocks:
    """Write the labels and the texts of the rows, and return where the rows are."""
    narrow = _is_narrow(axes)
    labels = [str(label) for label in dict.fromkeys(frame["label"])] if rows > 1 else [str(x) for x in frame["label"]]
    texts = [str(text) for text in frame["text"]] if "text" in frame else [""] * len(frame)
    longest = max(map(len, texts), default=0)
    owners = [str(x) for x in frame["label"]]
    blocks = _blocks(labels, rows, narrow)
    axes.set_ylim(blocks.total, -_GAP / 2)
    aside = axes.get_yaxis_transform()
    if narrow:
        axes.set_yticks([])
        for top, lines in zip(blocks.tops, blocks.lines, strict=True):
            axes.text(
                0,
                top,
                "\n".join(lines),
                transform=aside,
                va="top",
                ha="left",
                fontsize=8,
                linespacing=1.15,
                zorder=5,
                bbox=_BEHIND,
            )
    else:
        used = [
            block[: owners.count(label) if rows > 1 else 1] for label, block in zip(labels, blocks.rows, strict=True)
        ]
        axes.set_yticks([sum(ys) / len(ys) for ys in used], ["\n".join(lines) for lines in blocks.lines])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    if longest:
        ys = [y for block in blocks.rows for y in block]
        if rows > 1:
            ys = [y for label, block in zip(labels, blocks.rows, strict=True) for y in block[: owners.count(label)]]
        above = narrow and rows == 1 and max(len(lines[0]) for lines in blocks.lines) + longest < _NARROW_LABEL
        for y, text, top in zip(ys, texts, blocks.tops if rows == 1 else ys, strict=True):
            x, height, va, ha = (1.0, top, "top", "right") if above else (1.015, y, "center", "left")
            behind = _BEHIND if above else None
            axes.text(x, height, text, transform=aside, va=va, ha=ha, fontsize=8, zorder=5, bbox=behind)
    return blocks


def _records(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples())


def _most_rows(frame: pd.DataFrame) -> int:
    return int(frame["label"].value_counts().max())


def _wrapped(text: str, width: int) -> list[str]:
    """Return a label's lines; the middle of a very long one is left out."""
    text = text.replace(" = ", "\u00a0=\u00a0")
    lines = textwrap.wrap(_shortened(text, _MOST_LINES * width - 8), width, break_on_hyphens=False) or [""]
    return (
        lines
        if len(lines) <= _MOST_LINES
        else [*lines[: _MOST_LINES - 1], _shortened(lines[_MOST_LINES - 1], width - 1) + "…"]
    )


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[len(text) - half :]}"


def _is_narrow(axes: Axes) -> bool:
    return axes.figure.get_figwidth() < _NARROW  # type: ignore[union-attr]


def _across(axes: Axes) -> None:
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=4 if _is_narrow(axes) else 7)


def _whole_ticks(axes: Axes, *, few: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(12 if few else 6 if _is_narrow(axes) else 9, integer=True))


def _legend(axes: Axes) -> None:
    """Write the legend above, over the whole width of the figure."""
    handles, names = axes.get_legend_handles_labels()
    narrow = _is_narrow(axes)
    axes.figure.legend(
        handles,
        [_shortened(name, 42 if narrow else 88) for name in names],
        loc="outside upper left",
        alignment="left",
        ncols=_legend_columns(names, narrow),
        borderaxespad=0.1,
        borderpad=0.2,
        labelspacing=0.35,
        handlelength=1.6,
        columnspacing=1.2,
    )


def _legend_columns(names: Sequence[str], narrow: bool) -> int:
    """Return in how many columns names have room beside each other."""
    longest = max(map(len, names), default=0)
    if narrow:
        return 2 if longest <= 16 else 1
    return next((n for n, most in ((4, 18), (3, 26), (2, 42)) if longest <= most), 1)


def _percent(share: float) -> str:
    return f"{plain(round(100 * share, 1 if 0.001 <= share <= 0.999 or share in (0, 1) else 3))} %"


def _count(n: float) -> str:
    """Return a number of games for an axis: ``10k``, ``1M``."""
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if n >= unit:
            return f"{n / unit:g}{sign}"
    return f"{n:g}"


__all__ = [
    "HATCHES",
    "budget",
    "card_height",
    "convergence",
    "forest",
    "heat_map",
    "height_of",
    "histogram",
    "ranking",
    "shares",
    "spread",
    "strategy_card",
    "survival",
    "verdicts",
]
