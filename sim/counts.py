"""Exact counts of a block's rows, for runs that keep no rows (``--keep summary``).

Of a block are kept: for every column how often each value occurred, split by the columns that can say that a game has
no verdict; the same of several columns together (all those with few values, and what the caller names); sums and
products over the seats; and how far the second seat was behind the winner. All are whole numbers, so the counts of
blocks add up to those of the run, however it was cut.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.jit import compiled
from sim.outcome import MOST_WINNERS, Column
from sim.rules import RuleError, nearest

Array = np.ndarray[Any, Any]

WITHOUT_VERDICT = ("turn_cap", "unknown")
"""Values of a category that say that a game ended without a verdict."""

MOST_CELLS = 2**20
"""A table of several columns with more cells than this in a block is refused: it would be no summary."""

_FEW = 64  # values; a column with so many possible ones is counted in its declared range
_DENSE = 2**22  # cells; where a table could have more, the cells that occur are found by sorting
_LANES = 4  # small tables that are counted into by turns, so that one count need not wait for the last
_SMALL = 2**12  # cells of a small table
_EXACT = 2**21  # numbers up to here can be multiplied and added up in 64 bits


@compiled
def _tally(lanes: Any, numbers: Any, low: int, others: Any, n_others: int) -> None:
    """Count each number, split by the code in `others`, into a cell of one of the lanes, by turns."""
    mask = len(lanes) - 1
    for row in range(len(numbers)):
        lanes[row & mask, (np.int64(numbers[row]) - low) * n_others + others[row]] += 1


@compiled
def _mix(codes: Any, numbers: Any, low: int, width: int) -> None:
    """Put a column's numbers behind the codes so far."""
    for row in range(len(numbers)):
        codes[row] = codes[row] * width + (np.int64(numbers[row]) - low)


@compiled
def _products(numbers: Any, sums: Any, products: Any) -> None:
    """Add up the seats' numbers, of shape (seats, games), and their products."""
    seats, games = numbers.shape
    for game in range(games):
        for a in range(seats):
            x = np.int64(numbers[a, game])
            sums[a] += x
            for b in range(a + 1):
                products[a, b] += x * numbers[b, game]


@compiled
def _first_two(numbers: Any, won: Any, gaps: Any, is_first: Any) -> None:
    """Write the distance of the first two seats from the low and from the high end, -1 for a game that nobody won.

    `is_first` says of either end whether every winner was there. Numbers and winners are of shape (seats, games), gaps
    of shape (2, games).
    """
    seats, games = numbers.shape
    for game in range(games):
        if not (is_first[0] or is_first[1]):
            return
        least, next_least = np.int64(numbers[0, game]), np.int64(2**62)
        most, next_most = least, np.int64(-(2**62))
        for seat in range(1, seats):
            x = np.int64(numbers[seat, game])
            if x < least:
                least, next_least = x, least
            elif x < next_least:
                next_least = x
            if x > most:
                most, next_most = x, most
            elif x > next_most:
                next_most = x
        is_won = False
        for seat in range(seats):
            if won[seat, game]:
                is_won = True
                is_first[0] &= numbers[seat, game] == least
                is_first[1] &= numbers[seat, game] == most
        gaps[0, game] = next_least - least if is_won else -1
        gaps[1, game] = most - next_most if is_won else -1


class Counter:
    """Counts blocks of a run; safe to share between threads.

    Parameters
    ----------
    columns
        The run's columns.
    joint
        Groups of columns to be counted together, by name.
    by_policy
        Add up every group of seats' columns over the seats: the policies differ by seat.

    Raises
    ------
    RuleError
        For a group with an unknown column.
    """

    def __init__(
        self, columns: Sequence[Column], joint: Sequence[Sequence[str]] = (), *, by_policy: bool = False
    ) -> None:
        self.columns = list(columns)
        self.places = {column.name: place for place, column in enumerate(columns)}
        self._verdicts = [column.name for column in columns if set(WITHOUT_VERDICT) & set(column.categories)]
        few = [column.name for column in columns if column.categories or (column.low, column.high) == (0, 1)]
        few += [column.name for column in columns if column.low == -1 and not column.categories and column.high < 64]
        groups = _seat_groups([column.name for column in columns])
        self._wins = next((names for names in groups.values() if self._are_shares(names)), [])
        self._together = [few] * (len(few) > 1) + [self._wins] * (0 < len(self._wins) <= MOST_WINNERS)
        covered = {name for group in self._together for name in group} | set(self._verdicts)
        self._together += check_joint(columns, joint)
        self._alone = [column.name for column in columns if column.name not in covered]
        self._summed = {stem: names for stem, names in groups.items() if by_policy and not self._are_shares(names)}
        self._standing = {stem: names for stem, names in groups.items() if not self._are_shares(names)}

    def count(self, arrays: Sequence[Array]) -> dict[str, Any]:
        """Return a block's counts as JSON has them.

        ``tables``: columns, their values, and how often each combination occurred; a share of a win is told by the
        number of winners, 0 for none. Every column is in one or another. ``seats``: stem of seats' columns → sums and
        products over the seats. ``standings``: stem → for either end, whether every winner was there and how often each
        distance from the second seat occurred.

        Parameters
        ----------
        arrays
            The columns, as `sim.runner.Rows` has them.

        Raises
        ------
        ValueError
            If a group of columns has more than `MOST_CELLS` different rows in the block.
        """
        named = dict(zip(self.places, arrays, strict=True))
        groups = [[name] for name in self._alone]
        groups += [[name for name in group if name not in self._verdicts] for group in self._together]
        if not any(groups):
            groups = [[]]
        verdicts = self._codes(self._verdicts, named)
        tables = [self._table(group, named, verdicts) for group in groups if group or len(groups) == 1]
        return {"tables": tables, "seats": self._seats(named), "standings": self._standings(named)}

    def _column(self, name: str) -> Column:
        return self.columns[self.places[name]]

    def _are_shares(self, names: Sequence[str]) -> bool:
        return all(self._column(name).share for name in names)

    def _range(self, name: str, array: Array) -> tuple[int, int]:
        """Return the least number and how many there can be: as declared, or as found where that may be much less."""
        column = self._column(name)
        if column.share or column.categories:
            return 0, MOST_WINNERS + 1 if column.share else len(column.categories)
        if column.high - column.low < _FEW:
            return column.low, column.high - column.low + 1
        least = int(array.min())
        return least, int(array.max()) - least + 1

    def _codes(self, names: Sequence[str], named: Mapping[str, Array]) -> tuple[Array, list[tuple[int, int]]]:
        """Return the rows of some columns as one code each, and the columns' ranges."""
        ranges = [self._range(name, named[name]) for name in names]
        if math.prod(width for _, width in ranges) >= 2**62:
            raise ValueError(f"{', '.join(names)} have too many values to be counted together")
        n_codes = math.prod(width for _, width in ranges)
        kind = np.uint8 if n_codes <= 2**8 else np.int32 if n_codes <= 2**31 else np.int64
        codes = np.zeros(len(next(iter(named.values()))), kind)
        for name, (low, width) in zip(names, ranges, strict=True):
            _mix(codes, named[name], low, width)
        return codes, ranges

    def _table(
        self, names: Sequence[str], named: Mapping[str, Array], verdicts: tuple[Array, list[tuple[int, int]]]
    ) -> dict[str, Any]:
        """Return how often each combination of values of these columns and of those of the verdict occurs."""
        others, ranges = verdicts
        n_others = math.prod(width for _, width in ranges)
        if len(names) == 1:
            numbers, own = named[names[0]], [self._range(names[0], named[names[0]])]
            low = own[0][0]
        else:
            numbers, own = self._codes(names, named)
            low = 0
        n_cells = math.prod(width for _, width in own) * n_others
        what = ", ".join([*names, *self._verdicts])
        if n_cells <= _DENSE:
            cells, counts = _cells(n_cells, numbers, low, others, n_others)
        elif n_cells < 2**62:
            cells, counts = np.unique((numbers.astype(np.int64) - low) * n_others + others, return_counts=True)
        else:
            raise ValueError(f"{what} have too many values to be counted together")
        if len(cells) > MOST_CELLS and len(names) > 1:
            raise ValueError(
                f"{what} have too many values to be counted together: {len(cells):,} in {len(others):,} games"
            )
        values: list[list[Any]] = []
        for name, (first, width) in reversed(list(zip([*names, *self._verdicts], [*own, *ranges], strict=True))):
            cells, code = np.divmod(cells, width)
            words = self._column(name).categories
            values.insert(0, [words[place] for place in code.tolist()] if words else (code + first).tolist())
        return {"columns": [*names, *self._verdicts], "values": values, "counts": counts.tolist()}

    def _seats(self, named: Mapping[str, Array]) -> dict[str, Any]:
        """Return sums and products over the seats."""
        told = {}
        for stem, names in self._summed.items():
            numbers = np.stack([named[name] for name in names])
            k = len(names)
            sums, products = np.zeros(k, np.int64), np.zeros((k, k), np.int64)
            if max(abs(int(numbers.min())), abs(int(numbers.max()))) < _EXACT:
                _products(numbers, sums, products)
                products += np.tril(products, -1).T
            else:
                whole = numbers.astype(object)
                sums, products = whole.sum(axis=1), whole @ whole.T
            told[stem] = {"n": numbers.shape[1], "sums": sums.tolist(), "products": products.tolist()}
        return told

    def _standings(self, named: Mapping[str, Array]) -> dict[str, Any]:
        """Return how far the second seat was behind."""
        if self._wins:
            won = np.stack([named[name] > 0 for name in self._wins])
        elif "winner" in named and self._standing:
            won = np.stack([named["winner"] == seat for seat in range(self._column("winner").high + 1)])
        else:
            return {}
        told = {}
        for stem, names in self._standing.items():
            if len(names) != len(won):
                continue
            gaps, is_first = np.empty((2, won.shape[1]), np.int64), np.ones(2, np.bool_)
            _first_two(np.stack([named[name] for name in names]), won, gaps, is_first)
            told[stem] = {
                end: {"is_first": bool(is_first[place]), "gaps": _histogram(gaps[place]) if is_first[place] else []}
                for place, end in enumerate(("low", "high"))
            }
        return told


def _cells(n_cells: int, numbers: Array, low: int, others: Array, n_others: int) -> tuple[Array, Array]:
    """Return the cells of a table that occur, and how often."""
    lanes = np.zeros((_LANES if n_cells <= _SMALL else 1, n_cells), np.int64)
    _tally(lanes, numbers, low, others, n_others)
    dense = lanes.sum(axis=0)
    cells = np.flatnonzero(dense)
    return cells, dense[cells]


def _histogram(gaps: Array) -> list[list[int]]:
    """Return value and how often, for the values that are not -1."""
    most = int(gaps.max())
    if most < _DENSE:
        values, counts = _cells(most + 2, gaps, -1, np.zeros(len(gaps), np.uint8), 1)
        values = values - 1
    else:
        values, counts = np.unique(gaps, return_counts=True)
    return [[value, count] for value, count in zip(values.tolist(), counts.tolist(), strict=True) if value >= 0]


def _seat_groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Return stem → stem_0, stem_1, …, of the stems that have one for each of two seats or more."""
    stems = [name.removesuffix("_0") for name in names if name.endswith("_0")]
    own = {stem: [name for name in names if re.fullmatch(rf"{re.escape(stem)}_\d+", name)] for stem in stems}
    return {stem: group for stem, group in own.items() if len(group) > 1}


def check_joint(columns: Sequence[Column], joint: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return groups of columns to be counted together, each column once; a stem stands for its seats' columns.

    Raises
    ------
    RuleError
        For a name that is no column, or a group of one.
    """
    names = [column.name for column in columns]
    groups = _seat_groups(names)
    found = []
    for group in joint:
        own: list[str] = []
        for name in group:
            if name not in names and name not in groups:
                raise RuleError(f"--joint: there is no column '{name}'{nearest(name, names)}")
            own += [name] if name in names else groups[name]
        own = list(dict.fromkeys(own))
        if len(own) < 2:
            raise RuleError(f"--joint {','.join(group)}: name two columns or more; each alone is counted anyhow")
        found.append(own)
    return found
