"""One pass over a run's rows for all that its report shows: the counts, how the estimates settled, games worth reading.

Memory is bounded by a batch of rows and by the number of distinct values.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.intervals import CONFIDENCE, mean
from analysis.load import INDEX, Rows, to_numpy
from analysis.summary import Counts, Summary
from reports.words import CLOSEST, LENGTH

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Array = np.ndarray[Any, Any]

_CHECKS_A_DECADE = 12
_FIRST_CHECK = 20


@dataclasses.dataclass(frozen=True)
class Pick:
    """A game worth reading.

    Attributes
    ----------
    what
        ``median``, ``longest``, ``closest``; ``first`` if all are of one length.
    why
        What is special about it, for the reader.
    """

    what: str
    index: int
    why: str


@dataclasses.dataclass(frozen=True)
class Gathered:
    """What one pass over the rows gave.

    Attributes
    ----------
    settling
        How the estimates came about: ``label`` (the column, with the seat's number after ``=`` if it names seats),
        ``games``, ``estimate``, ``low``, ``high``.
    picks
        The median game, the longest and the closest, as far as the game's columns say.
    """

    summary: Summary
    settling: pd.DataFrame
    picks: tuple[Pick, ...]


def gather(rows: Rows, confidence: float = CONFIDENCE) -> Gathered:
    """Read a run's rows once.

    Raises
    ------
    LoadError
        If the rows cannot be read.
    """
    counts = Counts(rows.schema, rows.run)
    settling, picking = _Settling(counts, rows), _Picking(counts, rows)
    names = list(dict.fromkeys([*counts.numbers, *counts.categories, *picking.names]))
    for batch in rows.batches(names):
        counts.add(batch)
        settling.add(batch)
        picking.add(batch)
    summary = counts.summary(confidence)
    return Gathered(summary, settling.frame(confidence), picking.picks(summary))


def _numbers(batch: pa.RecordBatch, name: str) -> Array:
    """Return a column as floats, nan where a value is missing."""
    values, valid = to_numpy(batch.column(name))
    numbers = values.astype(np.float64)
    if valid is not None:
        numbers[~valid] = np.nan
    return numbers


class _Settling:
    """Running sums of the rates that the report opens with, at checks that lie evenly on a logarithmic scale."""

    def __init__(self, counts: Counts, rows: Rows) -> None:
        notes = rows.run.columns
        self._columns: list[tuple[str, int | None]] = []
        shares = [name for name in counts.numbers if name.startswith("win_share_")]
        winner = notes.get("winner")
        if shares:
            self._columns = [(name, None) for name in shares]
        elif winner is not None and winner.high is not None and "winner" in counts.numbers:
            self._columns = [("winner", seat) for seat in range(int(winner.high) + 1)]
        elif "won" in counts.numbers:
            self._columns = [("won", None)]
        n = rows.n_rows
        decades = math.log10(max(n, 2) / min(_FIRST_CHECK, max(n, 1)))
        grid: Any = np.geomspace(min(_FIRST_CHECK, n), n, max(2, int(_CHECKS_A_DECADE * decades) + 2)) if n else []
        self._checks = sorted({round(check) for check in grid})
        self._n = 0
        self._sums = np.zeros((len(self._columns), 2))
        self._seen: list[tuple[int, Array]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        if not self._columns:
            return
        read = {name: _numbers(batch, name) for name in dict.fromkeys(name for name, _ in self._columns)}
        values = np.array([read[name] if seat is None else read[name] == seat for name, seat in self._columns], float)
        values[np.isnan(values)] = 0
        ends = [check - self._n for check in self._checks if self._n < check <= self._n + batch.num_rows]
        start = 0
        for end in [*ends, batch.num_rows]:
            piece = values[:, start:end]
            self._sums += np.stack([piece.sum(axis=1), (piece**2).sum(axis=1)], axis=1)
            if end in ends and (not self._seen or self._seen[-1][0] != self._n + end):
                self._seen.append((self._n + end, self._sums.copy()))
            start = end
        self._n += batch.num_rows

    def frame(self, confidence: float) -> pd.DataFrame:
        import pandas as pd

        records = []
        for place, (name, seat) in enumerate(self._columns):
            for n, sums in self._seen:
                total, squares = sums[place]
                variance = max(0.0, (squares - total**2 / n) / (n - 1)) if n > 1 else 0.0
                found = mean(total / n, variance, n, confidence)
                label = name if seat is None else f"{name}={seat}"
                records.append((label, n, found.estimate, max(0.0, found.low), min(1.0, found.high)))
        return pd.DataFrame(records, columns=["label", "games", "estimate", "low", "high"])


class _Picking:
    """The games that are the longest and the closest so far, and the first one of each length."""

    def __init__(self, counts: Counts, rows: Rows) -> None:
        game = rows.run.game or ""
        length, self._counted = LENGTH.get(game, ("turns", ""))
        self._length = length if length in counts.numbers and INDEX in rows.names else ""
        stem, self._sign = CLOSEST.get(game, ("", 1))
        seats = [name for name in counts.numbers if name.startswith(f"{stem}_") and name[len(stem) + 1 :].isdigit()]
        self._close = (seats if len(seats) > 1 else [stem] if stem in counts.numbers else []) if self._length else []
        self._stem = stem
        self._winner = [name for name in ("winner", "won") if name in counts.numbers and self._close]
        self.names = [INDEX, self._length] if self._length else []
        self._first: dict[float, int] = {}
        self._best: tuple[float, float, int] | None = None  # distance, -length, index

    def add(self, batch: pa.RecordBatch) -> None:
        if not self._length:
            return
        index, _ = to_numpy(batch.column(INDEX))
        length = _numbers(batch, self._length)
        known = np.flatnonzero(np.isfinite(length))
        values, firsts = np.unique(length[known], return_index=True)
        for value, first in zip(values.tolist(), known[firsts].tolist(), strict=True):
            self._first.setdefault(value, int(index[first]))
        if not self._close:
            return
        distance = self._distance(batch)
        distance[~np.isfinite(length)] = np.nan
        if np.isnan(distance).all():
            return
        near = np.flatnonzero(distance == np.nanmin(distance))
        place = near[np.argmax(length[near])]
        found = (float(distance[place]), -float(length[place]), int(index[place]))
        self._best = found if self._best is None else min(self._best, found)

    def _distance(self, batch: pa.RecordBatch) -> Array:
        """Return how far all seats together are behind the best; nan for games that are not looked at."""
        values = np.array([_numbers(batch, name) for name in self._close])
        if len(self._close) > 1:
            best = values.min(axis=0) if self._sign < 0 else values.max(axis=0)
            distance = np.abs(values - best).sum(axis=0)
            if self._winner and (winner := _numbers(batch, self._winner[0])) is not None:
                distance[winner < 0] = np.nan
            return np.asarray(distance)
        distance = -self._sign * values[0]
        if "won" in self._winner:
            distance[_numbers(batch, "won") == 1] = np.nan
        return np.asarray(distance)

    def picks(self, summary: Summary) -> tuple[Pick, ...]:
        """Return the games, each with a sentence."""
        column = summary.columns.get(self._length)
        if column is None or not column.moments.counts or not self._first:
            return ()
        from reports.words import length_column

        told = length_column(summary)
        what = told[1] if told else self._length
        values = list(column.moments.counts)
        below = np.cumsum([column.moments.counts[value] for value in values])
        median = values[int(np.searchsorted(below, (column.n + 1) // 2))]
        longest = max(self._first)
        found = [
            Pick("median", self._first[median], f"{what}: {median:g}; half of the games have no more"),
            Pick("longest", self._first[longest], f"{what}: {longest:g}, the most of all games"),
        ]
        if longest == median:
            found = [Pick("first", self._first[median], f"{what}: {median:g}, as in every game")]
        if self._best is not None:
            distance, _, index = self._best
            if len(self._close) > 1:
                why = f"all seats together are {distance:g} behind the best, by {self._stem.replace('_', ' ')}"
            else:
                why = f"{-self._sign * distance:g} {self._stem}, the most without winning"
            found.append(Pick("closest", index, why + "; of such games the longest"))
        return tuple(found)


def quantiles(counts: dict[float, int], levels: Sequence[float]) -> list[float]:
    """Return the values below or at which these shares of the games lie."""
    values = list(counts)
    below = np.cumsum(list(counts.values()))
    return [values[int(np.searchsorted(below, level * below[-1] - 1e-9))] for level in levels]
