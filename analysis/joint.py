"""Sums over the same deals under several variants: all that paired comparisons and contrasts need.

Of each measure (a column's value, or whether it has a certain value) the sums and the products of all pairs of variants
are kept. Any contrast's mean and standard error over the deals follow from these, whatever the baseline: the memory
needed does not depend on the number of games. Whole numbers, and shares of a win (multiples of 1/840), are added up
exactly, so that the figures do not depend on how the rows are split into batches.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.load import INDEX, ColumnNote, LoadError, to_numpy
from analysis.pairs import Array, Side
from analysis.summary import NO_VERDICT
from analysis.sums import SHARES, STEP, Joint, distinct, in_shares, scratch

if TYPE_CHECKING:
    import pyarrow as pa

MOST_VALUES = 50
"""A category with more values than this is left out."""

_NOBODY = -1


@dataclasses.dataclass(frozen=True)
class Values:
    """A column's values under one variant.

    Attributes
    ----------
    numbers
        Numbers, 0 and 1 for truth values, or the places of `words`.
    valid
        Which of them there are; None if all.
    words
        What the numbers stand for in a column of categories.
    are_winners
        Of shares of a win: the numbers say among how many winners a win is shared, 0 for those who get nothing.
    """

    numbers: Array
    valid: Array | None = None
    words: tuple[str, ...] = ()
    are_winners: bool = False

    def part(self, start: int, end: int) -> Values:
        """Return the values of some of the games."""
        valid = None if self.valid is None else self.valid[start:end]
        return Values(self.numbers[start:end], valid, self.words, self.are_winners)


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

    def add(self, batch: _Batch, rows: Array, scale: int = 1) -> None:
        """Add numbers that no game lacks: of the batch's distinct rows, in units of `scale`."""
        places, baseline = batch.places, self._baseline
        fresh = Joint(len(rows))
        fresh.add(rows, scale, self._reach(rows, scale))
        if rows.dtype == bool:
            on, both = fresh.sums, fresh.products[places[baseline]]
            apart = on + on[places[baseline]] - 2 * both
            changed = [int(apart[place]) for place in places]
        else:
            changed = batch.changed
        self.changed = [a + b for a, b in zip(self.changed, changed, strict=True)]
        if len(rows) < len(places):
            fresh = fresh.part(*places)
        self.joint.merge(fresh)
        for v, pair in enumerate(self._pairs or ()):
            pair.merge(fresh.part(baseline, v))
        if self.filled is None:
            return
        self.filled.tile(fresh)
        if batch.undecided is not None:
            known = rows[:, batch.open][places]
            undecided = batch.undecided[:, batch.open]
            one = rows.dtype.type(self.unit // scale)
            ends = [np.where(undecided, end, known) for end in (rows.dtype.type(0), one)]
            self.filled.replace(np.concatenate([known, known]), np.concatenate(ends), scale)

    def add_partly(self, numbers: Array, valid: Array, undecided: Array | None) -> None:
        """Add numbers of shape (variants, games), some of which there are."""
        base = self._baseline
        if self._pairs is None:  # so far every game had every value
            self._pairs = [self.joint.part(base, v) for v in range(len(numbers))]
        for v, pair in enumerate(self._pairs):
            pair.add(numbers[[base, v]][:, valid[v] & valid[base]])
        self.joint.add(numbers[:, valid.all(axis=0)])
        self._reach(numbers[valid])
        differs = (numbers != numbers[base]) & valid & valid[base]
        self.changed = [n + int(np.count_nonzero(row)) for n, row in zip(self.changed, differs, strict=True)]
        if self.filled is not None:
            known = np.where(valid, numbers, 0)
            ends = [known if undecided is None else np.where(undecided, end, known) for end in (0, self.unit)]
            self.filled.add(np.concatenate(ends))

    def _reach(self, numbers: Array, scale: int = 1) -> int | None:
        """Note the least and the most of some numbers; return the largest absolute value, None if they are no whole."""
        if not numbers.size:
            return 0
        least, most = numbers.min().item(), numbers.max().item()
        self.least, self.most = min(self.least, scale * least), max(self.most, scale * most)
        return max(abs(least), abs(most)) if numbers.dtype.kind in "iu" else None

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
        filled = None if plain["filled"] is None else Joint.from_json(plain["filled"])
        self._merge(Joint.from_json(plain["joint"]), filled, plain["changed"], plain["least"], plain["most"])

    def merge(self, other: Counted) -> None:
        """Add what another has counted of other games."""
        if self._pairs or other._pairs:
            ours, theirs = ([c.pair(v) for v in range(len(self.changed))] for c in (self, other))
            for pair, more in zip(ours, theirs, strict=True):
                pair.merge(more)
            self._pairs = ours
        self._merge(other.joint, other.filled, other.changed, other.least, other.most)

    def _merge(self, joint: Joint, filled: Joint | None, changed: Sequence[int], least: float, most: float) -> None:
        self.joint.merge(joint)
        if self.filled is not None and filled is not None:
            self.filled.merge(filled)
        self.changed = [a + b for a, b in zip(self.changed, changed, strict=True)]
        self.least, self.most = min(self.least, least), max(self.most, most)

    def pair(self, variant: int) -> Joint:
        """Return the sums of the baseline's and a variant's numbers over the games in which both have a value."""
        return self.joint.part(self._baseline, variant) if self._pairs is None else self._pairs[variant]


class _Batch:
    """A column of the same games under every variant, none of them without a value.

    Attributes
    ----------
    numbers
        Of shape (variants, games).
    rows, places
        The rows that differ from each other, and which of them each variant's is: what variants have in common is
        counted once.
    apart, changed
        In which games a variant differs from the baseline, and in how many.
    undecided, open
        Which games have no verdict, of shape (variants, games), and the places of those without one under any variant.
    """

    def __init__(self, numbers: Array, baseline: int, undecided: Array | None, where_open: Array) -> None:
        self.numbers = numbers
        found, self.places = distinct(numbers)
        self.rows = numbers if len(found) == len(numbers) else numbers[found]
        base = self.places[baseline]
        apart = np.not_equal(self.rows, self.rows[base], out=scratch("apart", self.rows.shape, bool))
        changed = [0 if place == base else int(np.count_nonzero(row)) for place, row in enumerate(apart)]
        self.apart, self.changed = apart, [changed[place] for place in self.places]
        self.undecided = undecided
        self.open = where_open


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

    def fresh(self) -> JointCounts:
        """Return counts of the same columns under the same variants, of no games yet."""
        found = copy.copy(self)
        found.games, found._counted, found._too_many = 0, {}, set()
        found.differing, found.undecided = [0] * len(self.sides), [0] * len(self.sides)
        return found

    def add(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Count rows of the same games, one batch for each variant.

        Raises
        ------
        LoadError
            If a column holds an infinite value, or something that is no share of a win.
        """
        columns = {name: [_values(batch.column(name)) for batch in batches] for name in self.read}
        self.add_values(columns, batches[0].num_rows)

    def add_values(self, columns: Mapping[str, Sequence[Values]], n_games: int) -> None:
        """Count games whose values are at hand: column → its values under each variant.

        Raises
        ------
        LoadError
            As `add`.
        """
        for at in range(0, n_games, STEP):
            end = min(at + STEP, n_games)
            self._add_step({name: [side.part(at, end) for side in columns[name]] for name in self.read}, end - at)

    def _add_step(self, columns: Mapping[str, Sequence[Values]], n_games: int) -> None:
        k = len(self.sides)
        words = {name: _words(columns[name]) for name in self._verdicts}
        undecided = self._undecided(words, k, n_games)
        where_open = np.flatnonzero(undecided.any(axis=0)) if undecided is not None else np.empty(0, np.intp)
        differs = np.zeros((k, n_games), bool)
        for name in self.names:
            scale = 1
            values: dict[Any, int] | None = None
            if self._kinds[name] == "word":
                numbers, valid, known = words.get(name) or _words(columns[name])
                values = {word: code for code, word in enumerate(known)}
            else:
                numbers, valid, scale = self._numbers(name, columns[name])
                if self._names_seats(name):
                    values = self._seats(name) or {int(v): int(v) for v in np.unique(numbers)}
            if valid is not None:
                self._mark(differs, numbers, valid)
                if values is None:
                    self._of(name, None).add_partly(numbers, valid, undecided)
                for value, code in self._places(name, values):
                    found = np.zeros(numbers.shape, bool) if code is None else numbers == code
                    self._of(name, value).add_partly(found.view(np.int8), valid, undecided)
                continue
            batch = _Batch(numbers, self.baseline, undecided, where_open)
            for v, place in enumerate(batch.places):
                if batch.changed[v]:
                    differs[v] |= batch.apart[place]
            if values is None:
                self._of(name, None).add(batch, batch.rows, scale)
            for value, code in self._places(name, values):
                found = np.zeros(batch.rows.shape, bool) if code is None else batch.rows == code
                self._of(name, value).add(batch, found)
        self.games += n_games
        for v in range(k):
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
            self._of(entry["column"], entry["value"]).merge_json(entry)
        self._merge(plain["games"], plain["differing"], plain["undecided"])

    def merge(self, other: JointCounts) -> None:
        """Add what was counted of other games of the same variants."""
        self._too_many |= other._too_many
        for (column, value), counted in other._counted.items():
            self._of(column, value).merge(counted)
        for key, counted in self._counted.items():
            if key not in other._counted:
                counted.merge(other._new(*key, other.games))
        self._merge(other.games, other.differing, other.undecided)

    def _merge(self, games: int, differing: Sequence[int], undecided: Sequence[int]) -> None:
        self.games += games
        self.differing = [a + b for a, b in zip(self.differing, differing, strict=True)]
        self.undecided = [a + b for a, b in zip(self.undecided, undecided, strict=True)]

    def _mark(self, differs: Array, numbers: Array, valid: Array) -> None:
        """Note in which games a column differs from the baseline's; an empty value is a value of its own."""
        base = self.baseline
        for v in range(len(numbers)):
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

    def _numbers(self, name: str, columns: Sequence[Values]) -> tuple[Array, Array | None, int]:
        """Return a numeric column of every variant, which values there are (None: all), and the numbers' unit."""
        numbers, valid = _stacked(columns)
        if columns[0].are_winners:
            return _shared(numbers)
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
        return numbers, valid, 1

    def _undecided(
        self, words: Mapping[str, tuple[Array, Array | None, list[str]]], k: int, n_games: int
    ) -> Array | None:
        """Return which games have no verdict; None if all have one."""
        undecided = np.zeros((k, n_games), bool)
        for name, (codes, _, known) in words.items():
            if self._verdicts[name] in known:
                undecided |= codes == known.index(self._verdicts[name])
        for v in range(k):
            self.undecided[v] += int(np.count_nonzero(undecided[v]))
        return undecided if undecided.any() else None

    def _places(self, name: str, codes: Mapping[Any, int] | None) -> Iterator[tuple[float | str, int | None]]:
        """Yield each value of a column of categories or seats, with its number (None: there is none of them here)."""
        if codes is None:
            return
        declared = dict.fromkeys(self.notes[name].categories)
        seen = {value for column, value in self._counted if column == name}
        if len(seen | set(codes) | set(declared)) > MOST_VALUES:
            self._too_many.add(name)
        if name not in self._too_many:
            for value in dict.fromkeys([*declared, *codes, *seen]):
                yield value, codes.get(value)

    def _of(self, name: str, value: float | str | None) -> Counted:
        """Return the counts of a measure; if it is new, it was 0 in all games so far."""
        if (name, value) not in self._counted:
            self._counted[name, value] = self._new(name, value, self.games)
        return self._counted[name, value]

    def _new(self, name: str, value: float | str | None, games: int) -> Counted:
        unit = SHARES if value is None and self.notes[name].share else 1
        return Counted(len(self.sides), self.baseline, games, unit, is_filled=self._depends(name, value))

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


def _values(column: pa.Array) -> Values:
    """Return the values of a column of Arrow."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.dictionary_encode()
    elif not pa.types.is_dictionary(kind):
        return Values(*to_numpy(column))
    return Values(*to_numpy(column.indices), words=tuple(str(word.as_py()) for word in column.dictionary))


def _stacked(columns: Sequence[Values]) -> tuple[Array, Array | None]:
    """Return the numbers of all variants, of shape (variants, games), and which of them there are; None if all."""
    numbers = np.stack([column.numbers for column in columns])
    if all(column.valid is None or column.valid.all() for column in columns):
        return numbers, None
    everything = np.ones(numbers.shape[1], bool)
    return numbers, np.stack([everything if column.valid is None else column.valid for column in columns])


def _shared(winners: Array) -> tuple[Array, None, int]:
    """Return shares of a win, given the numbers of winners, as small whole numbers of some 840ths; and of how many."""
    most = int(winners.max(initial=1))
    unit = math.lcm(*range(1, most + 1))
    shares: Array = np.zeros(winners.shape, np.int8 if unit < 2**7 else np.int16)
    for n in range(1, most + 1):
        shares += (winners == n) * shares.dtype.type(unit // n)
    return shares, None, SHARES // unit


def _words(columns: Sequence[Values]) -> tuple[Array, Array | None, list[str]]:
    """Return a category column of every variant as numbers, which of them there are, and what they stand for."""
    numbers, valid = _stacked(columns)
    if valid is not None:
        numbers = np.where(valid, numbers, 0)
    known: dict[str, int] = {}
    for row, column in enumerate(columns):
        places = [known.setdefault(word, len(known)) for word in column.words]
        if places != list(range(len(places))):
            numbers = numbers.astype(np.int16, copy=False)
            numbers[row] = np.array([*places, 0], np.int16)[numbers[row]]
    return numbers if valid is None else np.where(valid, numbers, -1), valid, list(known)


def _place(categories: Sequence[str], value: Any) -> int:
    return categories.index(value) if value in categories else len(categories)


__all__ = ["Counted", "Joint", "JointCounts", "Measure", "Values", "chosen_columns", "unknown_column"]
