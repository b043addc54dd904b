"""Opening results: a results folder, or anybody's Parquet file or folder of them.

`open_rows` looks at the run's document and at every part's footer before a row is read, refuses what does not belong
together, and gives a `Rows` that hands the rows out in batches, so that memory is bounded by the largest row group and
not by the number of rows.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import TypeIs

DOCUMENT = "_run.json"
INDEX = "game"
BATCH_ROWS = 131_072

_ENDINGS = (".parquet", ".parq", ".pq")
_FORMAT = 1
_MEND = "delete it and give the run's command again: its games are played anew"
# What decides a run's rows; parts that differ here are of different runs.
_IDENTITY = ("game", "rules_version", "rules", "policies", "seed", "random_scheme", "kernel_hash")


class LoadError(ValueError):
    """Results that cannot be read, or not as one run."""


@dataclasses.dataclass(frozen=True)
class ColumnNote:
    """What the run's document says of a column.

    Attributes
    ----------
    low, high
        The range its values can lie in; None if nothing is said.
    categories
        The values of a category column, also those that never occurred.
    share
        True for a fraction of a win.
    text
        True for texts that are no categories.
    """

    name: str
    description: str = ""
    low: float | None = None
    high: float | None = None
    categories: tuple[str, ...] = ()
    share: bool = False
    text: bool = False


@dataclasses.dataclass(frozen=True)
class Run:
    """What was played, from the run's document or a part's footer.

    Attributes
    ----------
    rules
        Option → value, every one.
    policies
        Slot → one policy a seat.
    games
        How many were asked for; the rows may be fewer when a run was interrupted.
    complete
        False for a run that was interrupted.
    document
        The whole document, as read.
    """

    game: str | None = None
    rules: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    policies: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    seed: int | None = None
    games: int | None = None
    complete: bool = True
    columns: Mapping[str, ColumnNote] = dataclasses.field(default_factory=dict)
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Run:
        """Return what a document says; what it lacks stays unsaid."""
        spec = _identity(document)
        return cls(
            game=spec.get("game"),
            rules=spec.get("rules") or {},
            policies=spec.get("policies") or {},
            seed=spec.get("seed"),
            games=document.get("games"),
            complete=bool(document.get("complete", True)),
            columns={note.name: note for note in map(_note, document.get("columns") or ())},
            document=document,
        )


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows on disk, of one run or of unknown origin.

    Attributes
    ----------
    path
        The folder or file that was opened.
    parts
        The Parquet files, in order of name.
    schema
        The Arrow schema that all of them share.
    n_rows
        Rows in all of them.
    run
        What was played; empty for Parquet that says nothing of it.
    """

    path: Path
    parts: tuple[Path, ...]
    schema: pa.Schema
    n_rows: int
    run: Run

    @property
    def names(self) -> list[str]:
        """Return the columns' names."""
        return list(self.schema.names)

    def check(self, names: Iterable[str]) -> None:
        """Make sure that there are such columns.

        Raises
        ------
        LoadError
            For a name that is none; the message gives the nearest one.
        """
        for name in names:
            if name not in self.names:
                near = difflib.get_close_matches(name, self.names, n=1, cutoff=0.5)
                hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.names)}"
                raise LoadError(f"{self.path} has no column '{name}'; {hint}")

    def batches(self, columns: Sequence[str] | None = None, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, at most `batch_rows` at a time.

        Raises
        ------
        LoadError
            For a column that does not exist, or a part that cannot be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = self.names if columns is None else list(columns)
        self.check(columns)
        for part in self.parts:
            try:
                with pq.ParquetFile(opened(part), page_checksum_verification=True) as file:
                    yield from file.iter_batches(batch_size=batch_rows, columns=columns)
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error


def open_rows(source: str | os.PathLike[str], *, run_only: bool = False) -> Rows:
    """Open a results folder, a Parquet file, or a folder of Parquet files.

    Names that begin with ``.`` or ``_`` are passed over. Of a results folder exactly the parts that its document lists
    are read, so that an unfinished block never counts.

    Parameters
    ----------
    source
        The folder or file (or the ``_run.json`` of a results folder).
    run_only
        Accept results folders only.

    Raises
    ------
    LoadError
        If there is nothing to read, a file is damaged or missing, or the parts are not of one run.
    """
    path = path_of(source)
    if path.name == DOCUMENT:
        path = path.parent
    if not path.exists():
        raise LoadError(f"no such folder or file: {path}{_nearest_sibling(path)}")
    document = read_document(path / DOCUMENT) if path.is_dir() else None
    if document is not None and document.get("keep") == "summary":
        raise LoadError(f"{path} kept a summary (--keep summary), no rows: this needs the rows")
    if document is None and run_only:
        raise LoadError(f"{path} is not a results folder: it has no {DOCUMENT}")
    parts = _parts(path, document)
    schema, n_rows, footer = _read_footers(parts, document)
    return Rows(path, parts, schema, n_rows, Run.read(document or footer))


def path_of(source: str | os.PathLike[str]) -> Path:
    """Return the path of a folder or file here, or of one at an address that fsspec knows (``s3://bucket/run``).

    Raises
    ------
    LoadError
        If the address is of no known kind, or its packages are not installed.
    """
    if not isinstance(source, str):
        return (
            cast(Path, source) if hasattr(source, "fs") else Path(source)
        )  # a path of universal_pathlib is none of ours
    if "://" not in source:
        return Path(source)
    try:
        from upath import UPath

        return cast(Path, UPath(source, use_listings_cache=False))
    except (ImportError, ValueError) as error:
        raise LoadError(f"{source} cannot be read ({error}); pip install 'fairdeal[cluster]'") from error


def is_path(source: object) -> TypeIs[str | os.PathLike[str]]:
    """Tell whether a source is the name or the path of something, here or at an address."""
    return isinstance(source, str | os.PathLike) or hasattr(source, "fs")


def opened(part: Path) -> Any:
    """Return what pyarrow reads a file from: its path, or the open file at an address."""
    return part if isinstance(part, Path) else part.open("rb")


def to_numpy(column: pa.Array) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any] | None]:
    """Return a column of whole numbers, floats or booleans as numpy (booleans as 0 and 1), and which values there are.

    The second is None if no value is missing. Nothing is copied but booleans. (pyarrow's own ``to_numpy`` imports
    pandas, 0.4 s; ``pyarrow.array`` and ``fill_null`` do too.)
    """
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    valid = None
    if column.null_count:
        valid = to_numpy(column.is_valid())[0].astype(bool)
    name = str(column.type)
    dtype = np.dtype({"double": "float64", "float": "float32", "halffloat": "float16"}.get(name, name))
    buffer = column.buffers()[1]
    if buffer is None or not len(column):
        return np.zeros(len(column), dtype), valid
    return np.frombuffer(buffer, dtype, len(column), column.offset * dtype.itemsize), valid


def _parts(path: Path, document: Mapping[str, Any] | None) -> tuple[Path, ...]:
    """Return the Parquet files to read."""
    if not path.is_dir():
        return (path,)
    listed = None if document is None else document.get("parts")
    if listed is not None:
        names = sorted(_part_name(entry) for entry in listed)
        if not names:
            raise LoadError(f"{path}: nothing is finished yet; the run has not written its first part")
        there = {entry.name for entry in path.iterdir()}
        for name in names:
            if name not in there:
                raise LoadError(f"{path / name} is missing, though {DOCUMENT} lists it; run the same command again")
        return tuple(path / name for name in names)
    found = sorted(
        entry
        for entry in path.iterdir()
        if entry.name.lower().endswith(_ENDINGS) and not entry.name.startswith((".", "_")) and entry.is_file()
    )
    if not found and document is not None:
        raise LoadError(f"{path}: nothing is finished yet; the run has not written its first part")
    if not found:
        raise LoadError(f"{path} holds no Parquet file")
    return tuple(found)


def _part_name(entry: Any) -> str:
    """Return the file name in an entry of the document's list of parts: the name itself, or an object with it."""
    if isinstance(entry, Mapping):
        entry = next((entry[key] for key in ("name", "file", "path") if key in entry), None)
    if not isinstance(entry, str) or Path(entry).name != entry:
        raise LoadError(f"{DOCUMENT} lists a part that is not a file name: {entry!r}")
    return entry


def _read_footers(
    parts: Sequence[Path], document: Mapping[str, Any] | None
) -> tuple[pa.Schema, int, Mapping[str, Any]]:
    """Return the parts' common schema, their rows and the first footer's provenance, after comparing them all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema: pa.Schema = None
    first: Mapping[str, Any] = {}
    n_rows = 0
    listed = {_part_name(entry): entry for entry in (document or {}).get("parts") or () if isinstance(entry, Mapping)}
    for part in parts:
        try:
            with pq.ParquetFile(opened(part)) as file:
                own, n_own = file.schema_arrow, file.metadata.num_rows
            _same_file(part, listed.get(part.name, {}), n_own)
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(part, error) from error
        provenance = provenance_of(own)
        span = provenance.get("range")
        if isinstance(span, Mapping) and part.name in listed and span.get("first") != listed[part.name].get("first"):
            raise LoadError(
                f"{part} holds the games from {span.get('first')} on, not those that {DOCUMENT} says; {_MEND}"
            )
        if schema is None:
            schema, first = own, provenance
        else:
            _same_columns(parts[0], schema, part, own)
            same_run(parts[0].name, first, part, provenance)
        if document is not None and provenance:
            same_run(DOCUMENT, document, part, provenance)
        n_rows += n_own
    return schema, n_rows, first


def _same_file(part: Path, entry: Mapping[str, Any], n_rows: int) -> None:
    """Refuse a part that is not the file in the document's entry, by its rows, its size or its footer's hash."""
    with part.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little") + 8
        file.seek(max(0, size - length))
        footer = hashlib.sha256(file.read()).hexdigest()
    for key, value in (("games", n_rows), ("size", size), ("footer", footer)):
        if entry.get(key, value) != value:
            raise LoadError(f"{part} is not the file that {DOCUMENT} lists (its {key} differs); {_MEND}")


def _same_columns(first: Path, schema: pa.Schema, part: Path, own: pa.Schema) -> None:
    for name in {**dict.fromkeys(schema.names), **dict.fromkeys(own.names)}:
        kinds = [str(s.field(name).type) if name in s.names else "missing" for s in (schema, own)]
        if kinds[0] != kinds[1]:
            raise LoadError(f"{part}: column '{name}' is {kinds[1]}, in {first.name} {kinds[0]}: not one table")


def same_run(name: str, document: Mapping[str, Any], part: Path, provenance: Mapping[str, Any]) -> None:
    """Refuse a part that says it is of another run than `document`."""
    ours, theirs = _identity(document), _identity(provenance)
    for key in _IDENTITY:
        if ours.get(key) != theirs.get(key):
            difference = f"{key} is {_short(theirs.get(key))}, there {_short(ours.get(key))}"
            if isinstance(ours.get(key), Mapping) and isinstance(theirs.get(key), Mapping):
                options = {**theirs[key], **ours[key]}
                option = next(o for o in options if theirs[key].get(o) != ours[key].get(o))
                difference = f"{option} is {_short(theirs[key].get(option))}, there {_short(ours[key].get(option))}"
            raise LoadError(f"{part} is of another run than {name} ({difference}); different runs are never mixed")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:39] + "…"


def _identity(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what decides the rows: a document's specification and its kernels' hash."""
    spec = document.get("spec")
    return {**document, **spec} if isinstance(spec, Mapping) else document


def provenance_of(schema: pa.Schema) -> Mapping[str, Any]:
    """Return the run's document in a footer: the entry that is a JSON object with a specification; else nothing."""
    for key, value in (schema.metadata or {}).items():
        if key in (b"pandas", b"ARROW:schema") or not value.lstrip().startswith(b"{"):
            continue
        try:
            document = json.loads(value)
        except ValueError:
            continue
        if "game" in _identity(document):
            return dict(document)
    return {}


def read_document(path: Path) -> Mapping[str, Any] | None:
    """Return the run's document, or None if there is none."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise LoadError(f"{path} is damaged: {error}") from error
    if not isinstance(document, dict):
        raise LoadError(f"{path} is damaged: it is not a JSON object")
    if isinstance(document.get("format"), int) and document["format"] > _FORMAT:
        raise LoadError(f"{path} has format {document['format']}; this version of fairdeal knows format {_FORMAT}")
    return document


def _note(entry: Mapping[str, Any]) -> ColumnNote:
    categories = tuple(entry.get("categories") or ())
    low, high = entry.get("low"), entry.get("high")
    share = bool(entry.get("share", False))
    if categories or share:
        low = high = None
    is_text = entry.get("dtype") == "text"
    return ColumnNote(entry["name"], entry.get("description") or "", low, high, categories, share, is_text)


def _unreadable(part: Path, error: Exception) -> LoadError:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    advice = f"; {_MEND}" if (part.parent / DOCUMENT).exists() else ""
    return LoadError(f"{part} cannot be read as Parquet: {reason.rstrip('.')}{advice}")


def _nearest_sibling(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f" (did you mean {path.parent / near[0]}?)" if near else ""
