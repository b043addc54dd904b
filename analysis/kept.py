"""What a run with ``--keep summary`` has kept: exact counts of its blocks, added up.

Such a folder holds no rows but tables: how often each combination of the values of some columns occurred. Every figure
of the summary is a function of these, and so are the odds of any condition whose columns stand in one table. The
figures are those that the rows would give, to the last bit.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.load import DOCUMENT, LoadError, Run, is_path, path_of, read_document, same_run
from analysis.seats import Standing
from analysis.sums import SHARES, Joint
from analysis.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.pairs import Side
    from analysis.summary import Counts

KEEP = "summary"
_MEND = "delete it and give the run's command again: its games are played anew"
_HASH = ',"sha256":"'

_WITHOUT_VERDICT = {"turn_cap", "unknown"}  # as analysis.summary has them

Table = dict[tuple[Any, ...], int]


def is_kept(source: str | os.PathLike[str]) -> bool:
    """Tell whether this is the folder of a run that kept a summary instead of rows."""
    path = path_of(source)
    path = path.parent if path.name == DOCUMENT else path
    document = read_document(path / DOCUMENT) if path.is_dir() else None
    return document is not None and document.get("keep") == KEEP


@dataclasses.dataclass(frozen=True)
class Kept:
    """The counts of a run.

    Attributes
    ----------
    path
        The folder.
    run
        What was played.
    games
        Games counted.
    tables
        Columns → combination of their values → games. Numbers are whole, shares of a win floats, categories words.
    seats
        Stem → sums and products over the seats.
    standings
        Stem → how far the second seat was behind.
    """

    path: Path
    run: Run
    games: int
    tables: Mapping[tuple[str, ...], Table]
    seats: Mapping[str, Joint]
    standings: Mapping[str, Standing]

    @property
    def schema(self) -> pa.Schema:
        """Return the columns that the rows would have had."""
        return _schema(self.run)

    def side(self) -> Side:
        """Return the run as results without rows: its columns and what they mean."""
        from analysis.pairs import Side

        return Side(str(self.path), self.schema, self.run, self.games, lambda columns, batch_rows: iter(()))

    def table(self, columns: Iterable[str]) -> tuple[tuple[str, ...], Table] | None:
        """Return the smallest table that holds all these columns; None if there is none."""
        wanted = set(columns)
        fitting = [(len(cells), names) for names, cells in self.tables.items() if wanted <= set(names)]
        if not fitting:
            return None
        names = min(fitting)[1]
        return names, self.tables[names]

    def batch(self, columns: Sequence[str]) -> tuple[pa.RecordBatch, np.ndarray[Any, Any]]:
        """Return the combinations of some columns' values as rows, and how many games each stands for.

        Raises
        ------
        LoadError
            If they were not counted together.
        """
        import pyarrow as pa

        found = self.table(columns)
        if found is None:
            # Those that tell the verdict are counted with every group.
            asked = [name for name in columns if not _WITHOUT_VERDICT & set(self.run.columns[name].categories)]
            raise LoadError(
                f"{self.path} kept counts, no rows, and did not count {' and '.join(asked)} together; play it with "
                f"--joint {','.join(asked)}, or without --keep summary"
            )
        names, cells = found
        order = sorted(cells, key=repr)
        schema = self.schema
        arrays = []
        for name in columns:
            place, kind = names.index(name), schema.field(name).type
            values = pa.array([cell[place] for cell in order], _plain(kind))
            arrays.append(values.dictionary_encode() if pa.types.is_dictionary(kind) else values)
        weights = np.array([cells[cell] for cell in order], np.int64)
        return pa.RecordBatch.from_arrays(arrays, names=list(columns)), weights


def open_kept_source(source: Any) -> Kept | None:
    """Return what a run kept, if `source` is the folder of one that kept a summary instead of rows; else None.

    Raises
    ------
    LoadError
        If it is, and cannot be read (see `open_kept`).
    """
    return open_kept(source) if is_path(source) and is_kept(source) else None


def open_kept(source: str | os.PathLike[str]) -> Kept:
    """Return what a run with ``--keep summary`` has kept, its blocks added up.

    Raises
    ------
    LoadError
        If it is no such folder, or a block is missing, damaged or of another run.
    """
    path = path_of(source)
    path = path.parent if path.name == DOCUMENT else path
    document = read_document(path / DOCUMENT) if path.is_dir() else None
    if document is None or document.get("keep") != KEEP:
        raise LoadError(f"{path} is not the folder of a run that kept a summary")
    entries = document.get("parts") or []
    if not entries:
        raise LoadError(f"{path}: nothing is finished yet; the run has not written its first block")
    run = Run.read(document)
    added = Added(run)
    for entry in entries:
        added.add(read_block(path / str(entry["name"]), document, entry))
    return added.kept(path)


class Added:
    """Adds up the counts of blocks.

    Attributes
    ----------
    ranges
        First game and number of games of each block.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.ranges: list[tuple[int, int]] = []
        self._tables: dict[tuple[str, ...], Table] = {}
        self._seats: dict[str, Joint] = {}
        self._standings: dict[str, Standing] = {}

    def add(self, block: Mapping[str, Any]) -> None:
        """Add a block's counts, as they stand in its file."""
        self.ranges.append((int(block["range"]["first"]), int(block["range"]["games"])))
        for table in block["tables"]:
            cells = self._tables.setdefault(tuple(table["columns"]), {})
            for cell, count in zip(zip(*table["values"], strict=True), table["counts"], strict=True):
                cells[cell] = cells.get(cell, 0) + count
        for stem, sums in block["seats"].items():
            joint = Joint.from_json(sums)
            if stem in self._seats:
                self._seats[stem].merge(joint)
            else:
                self._seats[stem] = joint
        for stem, ends in block["standings"].items():
            standing = Standing()
            for end, told in ends.items():
                standing.is_first[end] = told["is_first"]
                standing.gaps[end] = Tally.of(dict(told["gaps"]))
            if stem in self._standings:
                self._standings[stem].merge(standing)
            else:
                self._standings[stem] = standing

    def kept(self, path: Path) -> Kept:
        """Return the sum, with shares of a win as fractions."""
        notes = self.run.columns
        tables: dict[tuple[str, ...], Table] = {}
        for names, cells in self._tables.items():
            places = [place for place, name in enumerate(names) if name in notes and notes[name].share]
            tables[names] = {_with_shares(cell, places): count for cell, count in cells.items()}
        return Kept(path, self.run, sum(n for _, n in self.ranges), tables, self._seats, self._standings)


def _with_shares(cell: tuple[Any, ...], places: Sequence[int]) -> tuple[Any, ...]:
    """Return a combination with the numbers of winners at `places` as shares of a win."""
    if not places:
        return cell
    return tuple((1 / value if value else 0.0) if place in places else value for place, value in enumerate(cell))


def read_block(
    path: Path, document: Mapping[str, Any] | None = None, entry: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """Return a block's counts after making sure that they are whole, and of the run that `document` is of.

    Raises
    ------
    LoadError
        If they are not.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise LoadError(f"{path} is missing, though {DOCUMENT} lists it; run the same command again") from None
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}") from error
    body, _, mark = data.decode(errors="replace").rpartition(_HASH)
    if mark != hashlib.sha256(body.encode()).hexdigest() + '"}':
        raise LoadError(f"{path} is cut short or damaged; {_MEND}")
    if entry and entry.get("footer") not in (None, hashlib.sha256(data).hexdigest()):
        raise LoadError(f"{path} is not the file that {DOCUMENT} lists; {_MEND}")
    block: Mapping[str, Any] = json.loads(data)
    if document is not None:
        same_run(DOCUMENT, document, path, block)
    return block


def into_counts(kept: Kept, counts: Counts) -> None:
    """Fill a summary's counts from what was kept."""
    counts.games = kept.games
    notes = kept.run.columns
    verdicts = {name: value for name, value in counts.no_verdict.items() if value in notes[name].categories}
    for name in counts.categories:
        counts.enter(name, _marginal(kept, name))
    for name in counts.numbers:
        counts.set_number(name, Tally.of(_marginal(kept, name)), Tally.of(_marginal(kept, name, verdicts)))
    if verdicts:
        found = kept.table(verdicts)
        if found is not None:
            names, cells = found
            counts.undecided = sum(count for cell, count in cells.items() if _is_open(names, cell, verdicts))
    for stem in counts.seats.joints:
        if stem in kept.seats:
            counts.seats.joints[stem] = kept.seats[stem]
            continue
        columns = counts.seats.groups[stem]
        if counts.seats.shares.issuperset(columns):
            counts.seats.joints[stem] = _joint_of_shares(kept, columns)
    counts.seats.standings = {
        stem: standing for stem, standing in kept.standings.items() if stem in counts.seats.standings
    }


def _marginal(kept: Kept, name: str, verdicts: Mapping[str, str] | None = None) -> dict[Any, int]:
    """Return value → games of one column; with `verdicts`, of the games without a verdict only."""
    if verdicts is not None and not verdicts:
        return {}
    found = kept.table([name, *(verdicts or ())])
    if found is None:
        raise LoadError(f"{kept.path} did not count '{name}'")
    names, cells = found
    place = names.index(name)
    told: dict[Any, int] = {}
    for cell, count in cells.items():
        if verdicts is None or _is_open(names, cell, verdicts):
            told[cell[place]] = told.get(cell[place], 0) + count
    return told


def _is_open(names: Sequence[str], cell: Sequence[Any], verdicts: Mapping[str, str]) -> bool:
    return any(cell[names.index(name)] == value for name, value in verdicts.items())


def _joint_of_shares(kept: Kept, columns: Sequence[str]) -> Joint:
    """Return the sums and products of the seats' shares of the win, in units of 1/840."""
    found = kept.table(columns)
    if found is None:
        raise LoadError(f"{kept.path} did not count {', '.join(columns)} together")
    names, cells = found
    joint = Joint(len(columns))
    places = [names.index(name) for name in columns]
    for cell, count in cells.items():
        shares = np.array([round(cell[place] * SHARES) for place in places], object)
        joint.n += count
        joint.sums += count * shares
        joint.products += count * np.outer(shares, shares)
    return joint


def _schema(run: Run) -> pa.Schema:
    """Return the Arrow schema that a run's rows have, from what its document says of its columns."""
    import pyarrow as pa

    fields = []
    for entry in run.document.get("columns") or ():
        is_word = bool(entry.get("categories"))
        kind = pa.dictionary(pa.int8(), pa.string()) if is_word else pa.type_for_alias(entry["dtype"])
        fields.append(pa.field(entry["name"], kind))
    return pa.schema(fields)


def _plain(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return pa.string() if pa.types.is_dictionary(kind) else kind


__all__ = ["KEEP", "Added", "Kept", "into_counts", "is_kept", "open_kept", "open_kept_source", "read_block"]
