"""The summary of a run: every column's mean or shares with its interval, and the games without a verdict.

All figures are functions of exact counts (`analysis.tally`), so they do not depend on how the rows are split into parts
and batches.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.intervals import CONFIDENCE, Interval, fraction, mean, rate
from analysis.load import INDEX, ColumnNote, LoadError, Rows, Run, is_path, open_rows, provenance_of, to_numpy
from analysis.order_statistics import QUANTILES, quantiles
from analysis.seats import SeatCounts
from analysis.sums import SHARES
from analysis.tally import Array, Moments, Tally, count_values

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NO_VERDICT = {"end": "turn_cap", "status": "unknown"}
"""Category column (or the end of its name, after ``_``) → the value that says that a game ended without a verdict."""

MOST_CATEGORIES = 1_000
"""A text column with more values than this is no category (and is left out)."""


@dataclasses.dataclass(frozen=True)
class Bounds:
    """A rate, with all games without a verdict counted as lost, and with all counted as won."""

    lost: Interval
    won: Interval


@dataclasses.dataclass(frozen=True)
class Number:
    """A numeric column.

    Attributes
    ----------
    note
        Its name, description and range.
    mean
        Its mean; for zeros and ones the rate of ones.
    is_rate
        True for a rate or a fraction of a win: percent is its natural unit.
    moments
        The exact sums, and how often each value occurred.
    undecided
        The same of the games without a verdict only.
    """

    note: ColumnNote
    mean: Interval
    is_rate: bool
    moments: Moments
    undecided: Moments

    @property
    def name(self) -> str:
        """Return the column's name."""
        return self.note.name

    @property
    def n(self) -> int:
        """Return how many games have a value."""
        return self.moments.n

    @property
    def names_a_seat(self) -> bool:
        """Tell whether the values are seats, -1 for nobody: then the mean says nothing, the shares all."""
        low, high = self.note.low, self.note.high
        return low == -1 and high is not None and high >= 1 and self.moments.counts is not None

    def share(self, value: float) -> Interval:
        """Return the share of the games with a value that have this one.

        Raises
        ------
        ValueError
            If the column has too many values for them to be counted.
        """
        return rate(_counted(self)[value] if value in _counted(self) else 0, self.n, self.mean.confidence)

    def quantiles(self, levels: Sequence[float] = QUANTILES) -> dict[float, Interval]:
        """Return quantiles with distribution-free intervals (see `analysis.order_statistics`).

        Raises
        ------
        ValueError
            If the column has too many values for them to be counted, or a level is not between 0 and 1.
        """
        low, high = self.note.low, self.note.high
        return quantiles(
            _counted(self),
            levels,
            confidence=self.mean.confidence,
            low=-math.inf if low is None else low,
            high=math.inf if high is None else high,
        )

    def shares(self) -> dict[float, Interval]:
        """Return each value's share, with intervals that hold each for itself; of a seat column every seat's.

        Raises
        ------
        ValueError
            If the column has too many values for them to be counted.
        """
        values = set(_counted(self))
        if self.names_a_seat and self.note.high is not None:
            values |= set(range(-1, int(self.note.high) + 1))
        return {value: self.share(value) for value in sorted(values)}


@dataclasses.dataclass(frozen=True)
class Category:
    """A category column.

    Attributes
    ----------
    note
        Its name, description and declared values.
    counts
        Value → games; declared values that never occurred are there with 0.
    n
        How many games have a value.
    shares
        Value → its share of them, with intervals that hold each for itself.
    """

    note: ColumnNote
    counts: Mapping[str, int]
    n: int
    shares: Mapping[str, Interval]

    @property
    def name(self) -> str:
        """Return the column's name."""
        return self.note.name


@dataclasses.dataclass(frozen=True)
class Summary:
    """What the rows of a run say.

    Attributes
    ----------
    run
        What was played, as far as the results tell.
    games
        Rows counted.
    columns
        Name → numeric column.
    categories
        Name → category column.
    undecided
        Games that ended without a verdict.
    undecided_by
        (column, value) → games: which column said so.
    left_out
        Columns that are neither numbers nor categories.
    confidence
        Of every interval.
    seats
        The sums over several seats at once, for `by_policy` and `analysis.quality`.
    """

    run: Run
    games: int
    columns: Mapping[str, Number]
    categories: Mapping[str, Category]
    undecided: int
    undecided_by: Mapping[tuple[str, str], int]
    left_out: tuple[str, ...]
    confidence: float
    seats: SeatCounts = dataclasses.field(repr=False, compare=False)

    @property
    def means(self) -> dict[str, float]:
        """Return column → mean."""
        return {name: column.mean.estimate for name, column in self.columns.items()}

    @property
    def ends(self) -> dict[str, dict[str, int]]:
        """Return category column → value → count."""
        return {name: dict(column.counts) for name, column in self.categories.items()}

    @property
    def measured(self) -> list[Number]:
        """Return the columns whose quantiles say something: counted numbers with three values or more, no seats."""
        return [
            column
            for column in self.columns.values()
            if not column.is_rate and not column.names_a_seat and len(column.moments.counts or ()) > 2
        ]

    def by_policy(self) -> dict[str, dict[str, dict[str, Interval]]]:
        """Return slot → policy → what a seat that plays it gets, per game; of the slots in which the seats differ.

        Keys of the innermost are the stems of the seats' columns (``points``, ``win_share``), and columns that name a
        seat (``winner``: the share of games in which a seat that plays the policy is named). A number is the mean over
        the policy's seats; its interval takes into account that the seats of a game are not independent.
        """
        return {
            slot: {
                policy: self._of_seats([k for k, n in enumerate(names) if n == policy])
                for policy in dict.fromkeys(names)
            }
            for slot, names in self.run.policies.items()
            if len(set(names)) > 1
        }

    def _of_seats(self, seats: Sequence[int]) -> dict[str, Interval]:
        """Return the means over some seats: of each stem, and of each column that names a seat."""
        found = {}
        for name, column in self.columns.items():
            if column.names_a_seat and (column.note.high or 0) >= max(seats):
                events = sum(_counted(column).get(seat, 0) for seat in seats)
                found[name] = rate(events, column.n, self.confidence).scaled(1 / len(seats))
        for stem, joint in self.seats.joints.items():
            if len(joint.sums) > max(seats):
                shares = self.seats.shares.issuperset(self.seats.groups[stem])
                weights = [int(seat in seats) for seat in range(len(joint.sums))]
                unit = len(seats) * (SHARES if shares else 1)
                average, variance = joint.moments(weights, unit)
                interval = fraction if shares else mean
                if joint.n:
                    found[stem] = interval(average, variance, joint.n, self.confidence)
        return found

    def bounds(self, column: str, value: float | None = None) -> Bounds:
        """Return a rate over all games with those without a verdict counted as lost, and as won.

        Parameters
        ----------
        column
            A column of zeros and ones, or fractions of a win.
        value
            Of any counted column: look at the rate of this value.

        Raises
        ------
        LoadError
            For a column that does not exist.
        ValueError
            For a column that is not a rate, without a value.
        """
        if column not in self.columns:
            raise LoadError(f"no numeric column '{column}'; there are {', '.join(self.columns)}")
        number = self.columns[column]
        if value is None and not number.is_rate:
            raise ValueError(f"{column} is not a rate; give a value, to bound its share")
        if value is None:
            total = number.moments.total - number.undecided.total
            squares = number.moments.squares - number.undecided.squares
        else:
            total = squares = Fraction(_counted(number).get(value, 0) - (number.undecided.counts or {}).get(value, 0))
        return Bounds(*(self._over_all(total + added, squares + added) for added in (0, self.undecided)))

    def _over_all(self, total: Fraction, squares: Fraction) -> Interval:
        """Return the interval of a mean of fractions over all games, from their sum and sum of squares."""
        if total == squares:  # zeros and ones
            return rate(int(total), self.games, self.confidence)
        sums = Moments(self.games, total, squares, None, None, None)
        return fraction(sums.mean, sums.variance, self.games, self.confidence)

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints, except for ``diagnosis``, ``seconds`` and ``games_per_second``.

        Beside what is promised: ``confidence``; ``shares`` (category or seat column → value → share with interval); if
        games have no verdict, ``bounds`` (rate → ``lost`` and ``won``).
        """
        told: dict[str, Any] = {
            "game": self.run.game,
            "rules": dict(self.run.rules),
            "policies": {slot: list(names) for slot, names in self.run.policies.items()},
            "seed": self.run.seed,
            "games": self.games,
            "confidence": self.confidence,
            "columns": {name: column.mean.to_json() for name, column in self.columns.items()},
            "ends": self.ends,
            "shares": {name: _named(category.shares) for name, category in self.categories.items()}
            | {name: _named(column.shares()) for name, column in self.columns.items() if column.names_a_seat},
            "undecided": self.undecided,
            "quantiles": {column.name: _quantiles(column) for column in self.measured},
            "by_policy": {
                slot: {
                    policy: {name: ends.to_json() for name, ends in found.items()} for policy, found in groups.items()
                }
                for slot, groups in self.by_policy().items()
            },
        }
        if self.undecided:
            rates = {name: self.bounds(name) for name, column in self.columns.items() if column.is_rate}
            told["bounds"] = {name: {"lost": b.lost.to_json(), "won": b.won.to_json()} for name, b in rates.items()}
        return told


def summarise(
    source: str | os.PathLike[str] | Rows | pa.Table | pd.DataFrame, *, confidence: float = CONFIDENCE
) -> Summary:
    """Return the summary of results.

    Parameters
    ----------
    source
        A results folder, a Parquet file or folder, what `open_rows` returned, or a table in memory (an Arrow table may
        carry a part's provenance in its metadata).
    confidence
        Of every interval, 0-1.

    Raises
    ------
    LoadError
        If the results cannot be read, or are not of one run.
    ValueError
        If `confidence` is not between 0 and 1.
    """
    if is_path(source):
        from analysis.kept import into_counts, is_kept, open_kept

        if is_kept(source):
            kept = open_kept(source)
            counts = Counts(kept.schema, kept.run)
            into_counts(kept, counts)
            return counts.summary(confidence)
        source = open_rows(source)
    if isinstance(source, Rows):
        counts = Counts(source.schema, source.run)
        names = [*counts.numbers, *counts.categories]
        for batch in source.batches(names):
            counts.add(batch)
    else:
        import pyarrow as pa

        table = source if isinstance(source, pa.Table) else pa.Table.from_pandas(source, preserve_index=False)
        counts = Counts(table.schema, Run.read(provenance_of(table.schema)))
        for batch in table.to_batches():
            counts.add(batch)
    return counts.summary(confidence)


class Counts:
    """Exact counts of rows, batch by batch; `merge` joins the counts of disjoint rows.

    Parameters
    ----------
    schema
        The Arrow schema of the rows.
    run
        What was played; its column notes give ranges and the values of categories.

    Attributes
    ----------
    numbers, categories
        The names of the columns that are counted as numbers and as categories.
    no_verdict
        Category → the value that says that a game ended without a verdict.
    seats
        What is counted of several seats at once.
    left_out
        The names of those that are neither.
    """

    def __init__(self, schema: pa.Schema, run: Run) -> None:
        import pyarrow as pa

        self.run = run
        self.games = 0
        self.undecided = 0
        self.numbers: list[str] = []
        self.categories: list[str] = []
        self.left_out: list[str] = []
        self._booleans: set[str] = set()
        self._floats: set[str] = set()
        for field in schema:
            kind = field.type
            if field.name == INDEX and (run.game is not None or pa.types.is_uint64(kind)):
                continue
            if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
                self.numbers.append(field.name)
            elif self._note(field.name).text:
                self.left_out.append(field.name)
            elif pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
                self.categories.append(field.name)
            else:
                self.left_out.append(field.name)
            if pa.types.is_boolean(kind):
                self._booleans.add(field.name)
            if pa.types.is_floating(kind):
                self._floats.add(field.name)
        self.no_verdict = {name: value for name in self.categories if (value := _value_without_verdict(name))}
        self._all = {name: Tally() for name in self.numbers}
        self._of_undecided = {name: Tally() for name in self.numbers}
        self._values: dict[str, dict[str, int] | None] = {name: {} for name in self.categories}
        self.seats = SeatCounts(schema, run)

    def add(self, batch: pa.RecordBatch) -> None:
        """Count a batch of rows.

        Raises
        ------
        LoadError
            If a column holds an infinite value.
        """
        self.games += batch.num_rows
        undecided = np.zeros(batch.num_rows, bool)
        for name in self.categories:
            codes, words = _coded(batch.column(name))
            counts = count_values(codes)
            self.enter(name, {word: counts.get(code, 0) for code, word in enumerate(words)})
            if self.no_verdict.get(name) in words:
                undecided |= codes == words.index(self.no_verdict[name])
        where = np.flatnonzero(undecided)
        self.undecided += len(where)
        for name in self.numbers:
            values, valid = to_numpy(batch.column(name))
            self._count(self._all[name], name, values if valid is None else values[valid])
            if len(where):
                of_undecided = values[where] if valid is None else values[where[valid[where]]]
                self._count(self._of_undecided[name], name, of_undecided)
        self.seats.add(batch)

    def merge(self, other: Counts) -> None:
        """Add the counts of other rows with the same columns."""
        self.games += other.games
        self.undecided += other.undecided
        for name in self.numbers:
            self._all[name].merge(other._all[name])
            self._of_undecided[name].merge(other._of_undecided[name])
        self.seats.merge(other.seats)
        for name, counts in other._values.items():
            if counts is None:
                self._values[name] = None
            else:
                self.enter(name, counts)

    def set_number(self, name: str, every: Tally, of_undecided: Tally) -> None:
        """Take a column's counts as they were kept: of every game, and of those without a verdict."""
        self._all[name], self._of_undecided[name] = every, of_undecided

    def summary(self, confidence: float = CONFIDENCE) -> Summary:
        """Return the summary of what was counted so far."""
        columns = {name: self._number(name, confidence) for name in self.numbers}
        categories = {}
        for name, counts in self._values.items():
            if counts is not None:
                categories[name] = _category(self._note(name), counts, confidence)
        by = {(name, value): categories[name].counts.get(value, 0) for name, value in self.no_verdict.items()}
        too_many = [name for name in self.categories if name not in categories]
        left_out = (*self.left_out, *too_many)
        return Summary(self.run, self.games, columns, categories, self.undecided, by, left_out, confidence, self.seats)

    def _note(self, name: str) -> ColumnNote:
        return self.run.columns.get(name) or ColumnNote(name)

    def _count(self, tally: Tally, name: str, values: Array) -> None:
        try:
            tally.add(values)
        except ValueError as error:
            raise LoadError(f"column '{name}': {error}") from error

    def enter(self, name: str, found: Mapping[str, int]) -> None:
        """Add counts of a category's values."""
        known = self._values[name]
        if known is None:
            return
        for value, count in found.items():
            if count:
                known[value] = known.get(value, 0) + count
        if len(known) > MOST_CATEGORIES:
            self._values[name] = None

    def _number(self, name: str, confidence: float) -> Number:
        note, moments = self._note(name), self._all[name].moments()
        is_binary = moments.counts is not None and moments.counts.keys() <= {0, 1}
        is_rate = name in self._booleans or (note.low == 0 and note.high == 1 and name not in self._floats)
        is_rate = is_rate or (is_binary and note.high is None and moments.n > 0)
        if is_rate and is_binary:
            interval = rate(int(moments.total), moments.n, confidence)
        elif note.share:
            interval = fraction(moments.mean, moments.variance, moments.n, confidence)
        else:
            interval = mean(moments.mean, moments.variance, moments.n, confidence)
        return Number(note, interval, is_rate or note.share, moments, self._of_undecided[name].moments())


def _category(note: ColumnNote, counts: Mapping[str, int], confidence: float) -> Category:
    order = dict.fromkeys([*note.categories, *sorted(counts)])
    n = sum(counts.values())
    full = {value: counts.get(value, 0) for value in order}
    return Category(note, full, n, {value: rate(count, n, confidence) for value, count in full.items()})


def _counted(number: Number) -> Mapping[float, int]:
    if number.moments.counts is None:
        raise ValueError(f"{number.name} has too many values for them to be counted one by one")
    return number.moments.counts


def _value_without_verdict(name: str) -> str | None:
    for ending, value in NO_VERDICT.items():
        if name == ending or name.endswith(f"_{ending}"):
            return value
    return None


def _coded(column: pa.Array) -> tuple[Array, list[str]]:
    """Return a category column as indices (-1 for an empty value) and the values they stand for."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes, valid = to_numpy(column.indices)
    if valid is not None:
        codes = np.where(valid, codes, -1).astype(np.int64)
    return codes, [str(value.as_py()) for value in column.dictionary]


def _quantiles(column: Number) -> dict[str, dict[str, Any]]:
    """Return level → value with its interval, for JSON; infinite ends are None."""
    told = {level: ends.to_json() for level, ends in column.quantiles().items()}
    return {
        f"{level:g}": {"value": ends["mean"], "low": ends["low"], "high": ends["high"]} for level, ends in told.items()
    }


def _named(shares: Mapping[Any, Interval]) -> dict[str, dict[str, Any]]:
    """Return shares for JSON; whole numbers as ``0``, not ``0.0``."""
    return {
        f"{value:g}" if isinstance(value, float) else str(value): {
            "share": told.pop("mean"),
            **told,
        }
        for value, told in ((value, share.to_json()) for value, share in shares.items())
    }


__all__ = ["Bounds", "Category", "Counts", "Number", "Summary", "summarise"]
