"""What the seats of a game have to do with each other: sums over seats, and how close the end was.

`Counts` looks at one column at a time. Two questions need several at once: what a policy that sits on several seats
gets (the seats' numbers of a game are not independent), and by how much the winner was ahead. Both are kept as exact
whole numbers, so that they add up over any split of the rows.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.load import Run, to_numpy
from analysis.sums import Joint, in_shares
from analysis.tally import Array, Tally

if TYPE_CHECKING:
    import pyarrow as pa


_ENDS = ("low", "high")


def seat_groups(names: Iterable[str]) -> dict[str, list[str]]:
    """Return stem → stem_0, stem_1, …, of the stems that have one for each of two seats or more."""
    groups: dict[str, dict[int, str]] = {}
    for name in names:
        found = re.fullmatch(r"(.+)_(0|[1-9]\d*)", name)
        if found:
            groups.setdefault(found[1], {})[int(found[2])] = name
    return {
        stem: [group[seat] for seat in range(len(group))]
        for stem, group in groups.items()
        if len(group) > 1 and sorted(group) == [*range(len(group))]
    }


@dataclasses.dataclass
class Standing:
    """How far apart the first two seats were, by a column in which the winner is always first.

    Attributes
    ----------
    is_first
        ``low``, ``high`` → whether every winner so far had the least, or the most, of all seats.
    gaps
        ``low``, ``high`` → how often each distance between the first and the second seat occurred, counted from that
        end, over the games that somebody won.
    """

    is_first: dict[str, bool] = dataclasses.field(default_factory=lambda: dict.fromkeys(_ENDS, True))
    gaps: dict[str, Tally] = dataclasses.field(default_factory=lambda: {end: Tally() for end in _ENDS})

    def add(self, numbers: Array, won: Array) -> None:
        """Count games that were won: numbers and winners, both of shape (seats, games)."""
        for end in _ENDS:
            if not self.is_first[end]:
                continue
            first, second = _first_two(numbers, end)
            self.is_first[end] = bool((~won | (numbers == first)).all())
            if self.is_first[end]:
                self.gaps[end].add(np.abs(second.astype(np.int64) - first))
            else:
                self.gaps[end] = Tally()

    def merge(self, other: Standing) -> None:
        """Add what was counted of other games."""
        for end in _ENDS:
            self.is_first[end] = self.is_first[end] and other.is_first[end]
            if self.is_first[end]:
                self.gaps[end].merge(other.gaps[end])
            else:
                self.gaps[end] = Tally()

    @property
    def end(self) -> str | None:
        """Return ``low`` or ``high``; None if the winner is at neither end (or always at both: nobody differs)."""
        told = [end for end in _ENDS if self.is_first[end]]
        return told[0] if len(told) == 1 else None


def _first_two(numbers: Array, end: str) -> tuple[Array, Array]:
    """Return the first and the second of the seats' numbers from one end, each of shape (games,)."""
    better, worse = (np.minimum, np.maximum) if end == "low" else (np.maximum, np.minimum)
    first, second = better(numbers[0], numbers[1]), worse(numbers[0], numbers[1])
    for row in numbers[2:]:
        second = better(second, worse(first, row))
        first = better(first, row)
    return first, second


class SeatCounts:
    """Adds up what needs several seats' columns at once.

    Parameters
    ----------
    schema, run
        The rows' columns, and what the run's document says of them.

    Attributes
    ----------
    groups
        Stem → its columns, of the stems whose columns hold whole numbers or shares of a win.
    joints
        Stem → sums and products over the seats, in units of 1/840 for shares. Of shares of a win always, of the others
        if policies differ by seat.
    standings
        Stem → how close the end was.
    """

    def __init__(self, schema: pa.Schema, run: Run) -> None:
        import pyarrow as pa

        kinds = {field.name: field.type for field in schema}
        self.shares = {name for name, note in run.columns.items() if note.share and name in kinds}
        usable = [name for name, kind in kinds.items() if pa.types.is_integer(kind) or name in self.shares]
        self.groups = seat_groups(usable)
        wins = [stem for stem, names in self.groups.items() if self.shares.issuperset(names)]
        self._wins = self.groups[wins[0]] if wins else []
        self._winner = "winner" if "winner" in usable and not wins else None
        by_policy = any(len(set(names)) > 1 for names in run.policies.values())
        self.joints = {stem: Joint(len(names)) for stem, names in self.groups.items() if stem in wins or by_policy}
        has_winner = bool(wins) or self._winner is not None
        self.standings = {stem: Standing() for stem in self.groups if has_winner and stem not in wins}

    @property
    def columns(self) -> list[str]:
        """Return the columns that are read."""
        return [*(name for names in self.groups.values() for name in names), *([self._winner] if self._winner else [])]

    def add(self, batch: pa.RecordBatch) -> None:
        """Count a batch of rows; rows with an empty value in one of a stem's columns are left out there.

        Raises
        ------
        LoadError
            If a share of a win is none.
        """
        won, certain = self._winners(batch)
        for stem in [*self.joints, *(stem for stem in self.standings if stem not in self.joints)]:
            standing = self.standings.get(stem)
            if stem not in self.joints and (standing is None or not any(standing.is_first.values())):
                continue
            numbers, there = self._read(batch, self.groups[stem])
            if stem in self.joints:
                self.joints[stem].add(numbers if there is None else numbers[:, there])
            if standing is not None and won is not None and len(won) == len(numbers):
                where = certain if there is None else certain & there
                standing.add(*((numbers, won) if where.all() else (numbers[:, where], won[:, where])))

    def _winners(self, batch: pa.RecordBatch) -> tuple[Array | None, Array]:
        """Return which seats won, of shape (seats, games), and in which games anybody did."""
        nobody = np.zeros(batch.num_rows, bool)
        if not self.standings:
            return None, nobody
        if self._wins:
            columns = [to_numpy(batch.column(name)) for name in self._wins]
            won = np.stack([(values > 0) & (True if valid is None else valid) for values, valid in columns])
        else:
            values, valid = to_numpy(batch.column(self._winner))
            n_seats = max(len(self.groups[stem]) for stem in self.standings)
            won = np.stack([values == seat for seat in range(n_seats)])
            won &= True if valid is None else valid
        return won, np.asarray(won.any(axis=0))

    def _read(self, batch: pa.RecordBatch, names: Sequence[str]) -> tuple[Array, Array | None]:
        """Return the columns as whole numbers of shape (seats, games), and in which games all are there."""
        columns = [to_numpy(batch.column(name)) for name in names]
        rows = [
            in_shares(name, values) if name in self.shares else values
            for name, (values, _) in zip(names, columns, strict=True)
        ]
        masks = [valid for _, valid in columns if valid is not None]
        return np.stack(rows), np.logical_and.reduce(masks) if masks else None

    def merge(self, other: SeatCounts) -> None:
        """Add what was counted of other games."""
        for stem, joint in self.joints.items():
            joint.merge(other.joints[stem])
        for stem, standing in self.standings.items():
            standing.merge(other.standings[stem])


__all__ = ["SeatCounts", "Standing", "seat_groups"]
