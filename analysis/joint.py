"""Sums over the same deals under several variants: all that paired comparisons and contrasts need.

Of each measure (a column's value, or whether it has a certain value) the sums and the products of all pairs of variants
are kept. Any contrast's mean and standard error over the deals follow from these, whatever the baseline: the memory
needed does not depend on the number of games. Whole numbers, and shares of a win (multiples of 1/840), are added up
exactly, so that the figures do not depend on how the rows are split into batches.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.load import INDEX, ColumnNote, LoadError, to_numpy
from analysis.pairs import Array, Side
from analysis.summary import NO_VERDICT
from analysis.sums import SHARES, Joint, in_shares

if TYPE_CHECKING:
    import pyarrow as pa

MOST_VALUES = 50
"""A category with more values than this is left out."""

_NOBODY = -1


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number that every game has.

    Attributes
    ----------
    name
        The column's name, or the condition that the column has `value`, as `ask` takes it: ``winner == 0``.
    value
        None for the column's number itself.
    is_rate
        True for a rate or a share of a win: percent is its natural unit.
    is_binary
        True if it was 0 or 1 in every game.
    spread
        The most by which two games can differ in it, infinite if that is not known.
    """

    name: str
    column: str
    value: float | str | None
    note: ColumnNote
    is_rate: bool
    is_binary: bool
    spread: float


class Counted:
    """What was added up of one measure.

    Attributes
    ----------
    joint
        Over the games in which it has a value under every variant.
    changed
        Variant → games in which it differs from the baseline.
    filled
        The same numbers with all games without a verdict counted as lost, then with all counted as won, over all games;
        None if the measure is no rate, or does not depend on the verdict.
    unit
        The numbers are in units of 1/unit.
    """

    def __init__(self, k: int, baseline: int, n: int, unit: int, *, is_filled: bool) -> None:
        self.joint = Joint(k, n)
        self.filled = Joint(2 * k, n) if is_filled else None
        self.unit = unit
        self.changed = [0] * k
        self.least: float = 0 if n else math.inf
        self.most: float = 0 if n else -math.inf
        self._baseline = baseline
        self._pairs: list[Joint] | None = None

    def add(self, numbers: Array, valid: Array | None, undecided: Array | None) -> None:
        """Add a batch: numbers of shape (variants, games), which of them there are, and games without a verdict."""
        fresh = Joint(len(numbers))
        fresh.add(numbers if valid is None else numbers[:, valid.all(axis=0)])
        there = numbers if valid is None else numbers[valid]
        if there.size:
            self.least, self.most = min(self.least, there.min().item()), max(self.most, there.max().item())
        for v in range(len(numbers)):
            self.changed[v] += self._n_changed(v, numbers, valid, fresh)
        if valid is not None and self._pairs is None:
            self._pairs = [self.joint.part(self._baseline, v) for v in range(len(numbers))]
        if self._pairs is not None:
            for v, pair in enumerate(self._pairs):
                two = numbers[[self._baseline, v]]
                pair.add(two if valid is None else two[:, valid[v] & valid[self._baseline]])
        self.joint.n += fresh.n
        self.joint.sums += fresh.sums
        self.joint.products += fresh.products
        if self.filled is None:
            return
        if undecided is None and valid is None:
            self.filled.tile(fresh)
        else:
            known = numbers if valid is None else np.where(valid, numbers, 0)
            ends = [known if undecided is None else np.where(undecided, end, known) for end in (0, self.unit)]
            self.filled.add(np.concatenate(ends))

    def _n_changed(self, v: int, numbers: Array, valid: Array | None, fresh: Joint) -> int:
        """Return in how many games a variant differs from the baseline."""
        base = self._baseline
        if v == base:
            return 0
        if valid is None and numbers.dtype == bool:
            return int(fresh.sums[v] + fresh.sums[base] - 2 * fresh.products[v, base])
        differs = numbers[v] != numbers[base]
        if valid is not None:
            differs &= valid[v] & valid[base]
        return int(np.count_nonzero(differs))

    def to_json(self) -> dict[str, Any]:
        """Return what was added up as JSON has it.

        Raises
        ------
        ValueError
            If a value was missing anywhere: then more has to be known than is kept.
        """
        if self._pairs is not None:
            raise ValueError("counts of columns with empty values are not kept")
        return {
            "unit": self.unit,
            "joint": self.joint.to_json(),
            "changed": self.changed,
            "filled": None if self.filled is None else self.filled.to_json(),
            "least": self.least,
            "most": self.most,
        }

    def merge_json(self, plain: Mapping[str, Any]) -> None:
        """Add what `to_json` returned of other games."""
        self.joint.merge(Joint.from_json(plain["joint"]))
        if self.filled is not None:
            self.filled.merge(Joint.from_json(plain["filled"]))
        self.changed = [a + b for a, b in zip(self.changed, plain["changed"], strict=True)]
        self.least, self.most = min(self.least, plain["least"]), max(self.most, plain["most"])

    def pair(self, variant: int) -> Joint:
        """Return the sums of the baseline's and a variant's numbers over the games in which both have a value."""
        return self.joint.part(self._baseline, variant) if self._pairs is None else self._pairs[variant]


class JointCounts:
    """Adds up every measure of the same deals under several variants.

    Parameters
    ----------
    sides
        The variants.
    baseline
        Which of them is the baseline.
    columns
        The columns to look at; None for all that every variant has.

    Attributes
    ----------
    names
        The columns read.
    left_out
        Columns that not every variant has, or that are neither numbers nor categories.
    games
        Deals so far.
    differing
        Variant → deals so far on which any of the columns differs from the baseline's.
    undecided
        Variant → games without a verdict.
    """

    def __init__(self, sides: Sequence[Side], baseline: int, columns: Sequence[str] | None = None) -> None:
        self.sides = sides
        self.baseline = baseline
        self.games = 0
        self.differing = [0] * len(sides)
        self.undecided = [0] * len(sides)
        kinds = {name: [_kind(side.schema, name) for side in sides] for side in sides for name in side.schema.names}
        kinds.pop(INDEX, None)
        shared = {name: found[0] for name, found in kinds.items() if found[0] and len(set(found)) == 1}
        self.left_out = tuple(name for name in kinds if name not in shared)
        self._kinds = shared
        self.names = list(shared) if columns is None else chosen_columns(columns, list(shared), self.left_out)
        self.notes = {name: _joined_note([side.run.columns.get(name) for side in sides], name) for name in shared}
        self._verdicts = {name: value for name, kind in shared.items() if kind == "word" and (value := _verdict(name))}
        self._counted: dict[tuple[str, float | str | None], Counted] = {}
        self._too_many: set[str] = set()

    @property
    def read(self) -> list[str]:
        """Return the columns that are to be read: those looked at, and those that tell the verdict."""
        return list(dict.fromkeys([*self.names, *self._verdicts]))

    def add(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Count rows of the same games, one batch for each variant.

        Raises
        ------
        LoadError
            If a column holds an infinite value, or something that is no share of a win.
        """
        n_games = batches[0].num_rows
        words = {name: _words([batch.column(name) for batch in batches]) for name in self._verdicts}
        undecided = self._undecided(words, len(batches), n_games)
        differs = np.zeros((len(batches), n_games), bool)
        for name in self.names:
            if self._kinds[name] == "word":
                numbers, known = words.get(name) or _words([batch.column(name) for batch in batches])
                valid = None if numbers.min(initial=0) >= 0 else numbers >= 0
                self._add_values(name, numbers, dict(enumerate(known)), valid, undecided)
            else:
                numbers, valid = self._numbers(name, [batch.column(name) for batch in batches])
                if self._names_seats(name):
                    seats = self._seats(name) or {int(v): int(v) for v in np.unique(numbers)}
                    self._add_values(name, numbers, seats, valid, undecided)
                else:
                    self._add(name, None, numbers, valid, undecided)
            self._mark(differs, numbers, valid)
        self.games += n_games
        for v in range(len(batches)):
            self.differing[v] += int(np.count_nonzero(differs[v]))

    def to_json(self) -> dict[str, Any]:
        """Return what was counted as JSON has it."""
        return {
            "games": self.games,
            "differing": self.differing,
            "undecided": self.undecided,
            "measures": [
                {"column": column, "value": value, **counted.to_json()}
                for (column, value), counted in self._counted.items()
            ],
            "too_many": sorted(self._too_many),
        }

    def merge_json(self, plain: Mapping[str, Any]) -> None:
        """Add what `to_json` returned of other games of the same variants."""
        self._too_many |= set(plain["too_many"])
        for entry in plain["measures"]:
            key = entry["column"], entry["value"]
            if key not in self._counted:
                is_filled = entry["filled"] is not None
                unit = entry["unit"]
                self._counted[key] = Counted(len(self.sides), self.baseline, self.games, unit, is_filled=is_filled)
            self._counted[key].merge_json(entry)
        self.games += plain["games"]
        self.differing = [a + b for a, b in zip(self.differing, plain["differing"], strict=True)]
        self.undecided = [a + b for a, b in zip(self.undecided, plain["undecided"], strict=True)]

    def _mark(self, differs: Array, numbers: Array, valid: Array | None) -> None:
        """Note in which games a column differs from the baseline's; an empty value is a value of its own."""
        base = self.baseline
        for v in range(len(numbers)):
            if v == base:
                continue
            if valid is None:
                differs[v] |= numbers[v] != numbers[base]
            else:
                differs[v] |= np.where(valid[v] & valid[base], numbers[v] != numbers[base], valid[v] != valid[base])

    def measures(self) -> list[tuple[Measure, Counted]]:
        """Return what was counted: wins first, then in the columns' order."""
        order = sorted(self.names, key=lambda name: (not name.startswith("win"), self.names.index(name)))
        found = []
        for name in order:
            mine = [(value, counted) for (column, value), counted in self._counted.items() if column == name]
            note = self.notes[name]
            if note.categories:
                mine.sort(key=lambda entry: _place(note.categories, entry[0]))
            elif self._names_seats(name):
                mine.sort(key=lambda entry: float(entry[0] or 0) % 1e9)  # nobody comes last
            if name not in self._too_many:
                found += [(self._measure(note, value, counted), counted) for value, counted in mine]
        return found

    @property
    def too_many(self) -> tuple[str, ...]:
        """Return the categories that had too many values to be looked at."""
        return tuple(name for name in self.names if name in self._too_many)

    def _measure(self, note: ColumnNote, value: float | str | None, counted: Counted) -> Measure:
        name = note.name if value is None else f"{note.name} == {value!r}"
        is_whole = counted.unit == 1 and self._kinds[note.name] != "float"
        is_binary = value is not None or (is_whole and 0 <= counted.least and counted.most <= 1)
        is_rate = value is not None or note.share or self._kinds[note.name] == "truth"
        is_rate = is_rate or (is_whole and note.low == 0 and note.high == 1) or (is_binary and note.high is None)
        spread = math.inf if note.low is None or note.high is None else note.high - note.low
        return Measure(name, note.name, value, note, is_rate, is_binary, 1.0 if is_rate else spread)

    def _numbers(self, name: str, columns: Sequence[pa.Array]) -> tuple[Array, Array | None]:
        """Return a numeric column of every variant, and which values there are (None: all)."""
        read = [to_numpy(column) for column in columns]
        numbers = np.stack([values for values, _ in read])
        valid = None
        if any(there is not None for _, there in read):
            valid = np.stack([np.ones(numbers.shape[1], bool) if there is None else there for _, there in read])
        if numbers.dtype.kind == "f":
            finite = np.isfinite(numbers) if valid is None else np.isfinite(numbers) | ~valid
            if np.isinf(numbers[valid] if valid is not None else numbers).any():
                raise LoadError(f"column '{name}': an infinite value has no mean")
            if not finite.all():
                valid = finite if valid is None else finite & valid
            if valid is not None:
                numbers = np.where(valid, numbers, 0)
            if self.notes[name].share:
                numbers = in_shares(name, numbers)
        elif valid is not None:
            numbers = np.where(valid, numbers, 0)
        elif numbers.dtype == np.uint64:
            numbers = numbers.astype(np.float64)
        return numbers, valid

    def _undecided(self, words: Mapping[str, tuple[Array, list[str]]], k: int, n_games: int) -> Array | None:
        """Return which games have no verdict; None if all have one."""
        undecided = np.zeros((k, n_games), bool)
        for name, (codes, known) in words.items():
            if self._verdicts[name] in known:
                undecided |= codes == known.index(self._verdicts[name])
        for v in range(k):
            self.undecided[v] += int(np.count_nonzero(undecided[v]))
        return undecided if undecided.any() else None

    def _add_values(
        self,
        name: str,
        numbers: Array,
        values: Mapping[int, float | str],
        valid: Array | None,
        undecided: Array | None,
    ) -> None:
        """Count each value of a column: of a category, or a seat."""
        declared = dict.fromkeys(self.notes[name].categories)
        seen = {value for column, value in self._counted if column == name}
        if len(seen | set(values.values()) | set(declared)) > MOST_VALUES:
            self._too_many.add(name)
        if name in self._too_many:
            return
        codes = {value: code for code, value in values.items()}
        for value in dict.fromkeys([*declared, *values.values(), *seen]):
            found = numbers == codes[value] if value in codes else np.zeros(numbers.shape, bool)
            self._add(name, value, found, valid, undecided)

    def _add(
        self, name: str, value: float | str | None, numbers: Array, valid: Array | None, undecided: Array | None
    ) -> None:
        if (name, value) not in self._counted:
            unit = SHARES if value is None and self.notes[name].share else 1
            is_filled = self._depends(name, value)
            self._counted[name, value] = Counted(len(self.sides), self.baseline, self.games, unit, is_filled=is_filled)
        self._counted[name, value].add(numbers.view(np.int8) if numbers.dtype == bool else numbers, valid, undecided)

    def _depends(self, name: str, value: float | str | None) -> bool:
        """Tell whether a measure is a rate that the games without a verdict leave open."""
        note = self.notes[name]
        if not self._verdicts:
            return False
        if value is None:
            return note.share or self._kinds[name] == "truth" or (note.low == 0 and note.high == 1)
        if self._kinds[name] == "word":
            return name in self._verdicts and value != self._verdicts[name]
        return name.startswith("win")

    def _names_seats(self, name: str) -> bool:
        note = self.notes[name]
        if self._kinds[name] != "whole":
            return False
        if note.low is None and note.high is None:
            return name == "winner"
        return note.low == _NOBODY and note.high is not None and note.high >= 1

    def _seats(self, name: str) -> dict[int, int]:
        """Return the seats that exist under all variants, and nobody."""
        high = self.notes[name].high
        return {seat: seat for seat in range(_NOBODY, int(high) + 1)} if high is not None else {}


def _kind(schema: pa.Schema, name: str) -> str | None:
    """Return what a column holds: whole, float, truth, word; None if it is neither, or there is none."""
    import pyarrow as pa

    if name not in schema.names:
        return None
    kind = schema.field(name).type
    if pa.types.is_boolean(kind):
        return "truth"
    if pa.types.is_integer(kind):
        return "whole"
    if pa.types.is_floating(kind):
        return "float"
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return "word" if is_text or pa.types.is_dictionary(kind) else None


def chosen_columns(columns: Sequence[str], known: Sequence[str], left_out: Sequence[str]) -> list[str]:
    """Return the columns asked for: by name, or by the stem of the seats' (``points`` for ``points_0``, …).

    Raises
    ------
    LoadError
        For a name that is none.
    """
    found: list[str] = []
    for name in columns:
        seats = [column for column in known if re.fullmatch(re.escape(name) + r"_\d+", column)]
        if name not in known and not seats:
            raise LoadError(unknown_column(name, known, left_out))
        found += [name] if name in known else seats
    return list(dict.fromkeys(found))


def unknown_column(name: str, known: Sequence[str], elsewhere: Sequence[str] = ()) -> str:
    """Return what to say of a column that does not exist."""
    import difflib

    if name in elsewhere:
        return f"not every variant has a column '{name}' of numbers or categories; all have {', '.join(known)}"
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
    return f"there is no column '{name}'; {hint}"


def _joined_note(notes: Sequence[ColumnNote | None], name: str) -> ColumnNote:
    """Return one note for a column: the widest range; of seats only those that exist under all variants."""
    there = [note for note in notes if note is not None]
    if len(there) < len(notes):
        return ColumnNote(name)
    lows, highs = ([getattr(note, end) for note in there] for end in ("low", "high"))
    low = None if None in lows else min(lows)
    of_seats = all(note.low == _NOBODY and (note.high or 0) >= 1 for note in there)
    high = None if None in highs else (min if of_seats else max)(highs)
    categories = tuple(dict.fromkeys(value for note in there for value in note.categories))
    return ColumnNote(name, there[0].description, low, high, categories, all(note.share for note in there))


def _verdict(name: str) -> str | None:
    return next((value for end, value in NO_VERDICT.items() if name == end or name.endswith(f"_{end}")), None)


def _words(columns: Sequence[pa.Array]) -> tuple[Array, list[str]]:
    """Return a category column of every variant as numbers (-1 for an empty value) and the values they stand for."""
    import pyarrow as pa

    known: dict[str, int] = {}
    rows = []
    for column in columns:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        codes, valid = to_numpy(coded.indices)
        places = [known.setdefault(str(word.as_py()), len(known)) for word in coded.dictionary]
        codes = codes.astype(np.intp)
        if valid is not None:
            codes = np.where(valid, codes, len(places))
        rows.append(np.array([*places, -1], np.int16)[codes])
    return np.stack(rows), list(known)


def _place(categories: Sequence[str], value: Any) -> int:
    return categories.index(value) if value in categories else len(categories)


__all__ = ["Counted", "Joint", "JointCounts", "Measure", "chosen_columns", "unknown_column"]
