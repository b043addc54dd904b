"""The results folder: atomic parts, a manifest, resume, refusal to mix.

``DIR/part-<first>-<last>.parquet`` holds rows, ``DIR/_run.json`` (the manifest) says of which run and which parts are
done. Both appear whole or not at all; a part counts once the manifest lists it. Whatever is killed, whenever: the next
`RunFolder` removes what is broken, takes in what is whole and has the rest played.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import itertools
import json
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from sim import kept, storage
from sim import part as parts_on_disk
from sim.game import Spec
from sim.part import Part, PartError
from sim.provenance import FORMAT
from sim.storage import RefusedError, StoreError, reason, telling
from sim.writer import KEEPS, ROWS, SUMMARY, Writer, inspect

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "_run.json"
LOCK = ".lock"
MOST_GAMES = 10**12
# The manifest is rewritten at most this often (seconds); parts it does not list yet are found by name.
COMMIT_EVERY = 0.5
_NAMED = 4
COMMIT_ELSEWHERE_EVERY = 5.0
_AT_ONCE = 16  # files looked at, where each takes a round trip
# Some network file systems have no locks; there a second process is the user's own affair.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What ``_run.json`` says.

    Attributes
    ----------
    games
        Games wanted: indices 0 … games - 1.
    seconds
        Time spent playing, all sittings together.
    document
        The whole document, with the run's provenance.
    keep
        ``rows``, or ``summary`` for a folder of counts.
    joint
        Groups of columns that are counted together, in a folder of counts.
    """

    spec: Mapping[str, Any]
    games: int
    kernel_hash: str
    parts: tuple[Part, ...]
    seconds: float
    document: Mapping[str, Any]
    keep: str = ROWS
    joint: tuple[tuple[str, ...], ...] = ()

    @property
    def n_there(self) -> int:
        """Return the number of games done."""
        return sum(part.games for part in self.parts)

    @property
    def complete(self) -> bool:
        """Tell whether every game wanted is done."""
        return self.n_there == self.games


def default_folder(spec: Spec, games: int, keep: str = ROWS, share: tuple[int, int] | None = None) -> Path:
    """Return the folder of a run that is given none: the same one for the same run."""
    name = f"{spec.game.name}-{games}-seed{spec.seed}-{spec.digest()}"
    kept_as = "" if keep == ROWS else f"-{keep}"
    part_of = "" if share is None else f"-share{share[0]}of{share[1]}"
    return Path("results") / f"{name}{kept_as}{part_of}"


def read_manifest(folder: str | os.PathLike[str]) -> Manifest:
    """Return what a results folder says of itself.

    Raises
    ------
    RefusedError
        If `folder` is not a results folder, or of a format this version does not know.
    StoreError
        If its manifest is damaged or cannot be read.
    """
    home = storage.place(folder)
    path = home / MANIFEST
    try:
        document = json.loads(storage.read(path))
    except NotADirectoryError:
        raise RefusedError(f"{folder} is a file, not a results folder") from None
    except FileNotFoundError:
        if not home.exists():
            raise RefusedError(f"there is no folder {folder}") from None
        raise RefusedError(f"{folder} is not a results folder: it has no {MANIFEST}") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {reason(error)}") from error
    except ValueError as error:
        raise StoreError(f"{path} is cut short or damaged ({error})") from error
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise StoreError(f"{path} is damaged: it is not a run's document")
    if document["format"] != FORMAT:
        raise RefusedError(f"{path} has format {document['format']}; this version of fairdeal knows format {FORMAT}")
    try:
        keep = document.get("keep", ROWS)
        listed = sorted((_read_part(entry, keep) for entry in document["parts"]), key=lambda part: part.first)
        return Manifest(
            spec=dict(document["spec"]),
            games=int(document["games"]),
            kernel_hash=str(document["kernel_hash"]),
            parts=tuple(listed),
            seconds=float(document["seconds"]),
            document=document,
            keep=keep,
            joint=tuple(tuple(group) for group in document.get("joint") or ()),
        )
    except RefusedError as error:
        raise RefusedError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path} is damaged: {error!r}") from error


def _read_part(entry: Mapping[str, Any], keep: str) -> Part:
    if "sha256" not in entry:
        raise RefusedError("the folder was written by an earlier version, without a hash of each file: play it again")
    kind = kept.Kept if keep == SUMMARY else Part
    part = kind(int(entry["first"]), int(entry["games"]), int(entry["size"]), entry["footer"], entry["sha256"])
    if part.name != entry["name"]:
        raise ValueError(f"part {entry['name']} is listed with another range")
    return part


def iter_parts(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the files of the parts that are done, in the order of their games.

    Raises
    ------
    StoreError
        If `folder` cannot be read as results, or a part is missing.
    """
    home = storage.place(folder)
    manifest = read_manifest(home)
    try:
        there = storage.sizes(home)
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {reason(error)}") from error
    for part in manifest.parts:
        path = home / part.name
        if part.name not in there:
            raise StoreError(f"{path} is missing, though {MANIFEST} lists it; the same run command plays it again")
        yield path


def check(folder: str | os.PathLike[str]) -> list[str]:
    """Return what is wrong with a results folder, every part decoded and its checksums verified.

    Raises
    ------
    StoreError
        If it has no manifest that can be read.
    """
    home = storage.place(folder)
    manifest = read_manifest(home)
    problems = []
    for part in manifest.parts:
        path = home / part.name
        try:
            verify(path, part, manifest.spec)
        except (PartError, OSError) as error:
            problems.append(f"{part.name}: {reason(error)}")
    problems += misfits(home, manifest)
    if not manifest.complete:
        problems.append(f"{manifest.n_there:,} of {manifest.games:,} games are done")
    return problems


def misfits(folder: Path, manifest: Manifest) -> list[str]:
    """Return what is wrong with the folder's files taken together: parts that are not listed, games in two parts."""
    listed = {part.name for part in manifest.parts}
    unlisted = sorted(_parts_in(storage.sizes(folder)) - listed)
    problems = [f"{name}: a part that {MANIFEST} does not list" for name in unlisted]
    overlaps = [b.name for a, b in itertools.pairwise(manifest.parts) if b.first < a.end]
    return problems + [f"{name}: its games are in another part too" for name in overlaps]


def verify(path: Path, part: Part, spec: Mapping[str, Any]) -> pa.Table | None:
    """Make sure that the file is the part it should be, checksums and all; return its rows (None: it holds counts).

    Raises
    ------
    PartError
        If it is not.
    OSError
        If it cannot be read.
    """
    import pyarrow.compute as pc

    found, document = inspect(path)
    if document.get("spec") != spec:
        raise PartError(f"it belongs to another run ({differences(document.get('spec'), spec)})")
    if (found.size, found.footer) == (part.size, part.footer) and found.sha256 != part.sha256:
        raise PartError("it is damaged: its bytes are not those that were written")
    if found != part:
        raise PartError(f"it is not the file that {MANIFEST} lists")
    if isinstance(part, kept.Kept):
        return None
    table = parts_on_disk.read(path)
    least_most = pc.min_max(table[parts_on_disk.INDEX]).as_py()
    if (least_most["min"], least_most["max"]) != (part.first, part.end - 1):
        raise PartError("its game indices are not those of its name")
    return table


def differences(theirs: Any, ours: Mapping[str, Any], places: tuple[str, str] = ("there", "here")) -> str:
    """Return how two specifications differ: ``seed 1 there, 2 here; players 4 there, 6 here``."""
    there, here = places
    if not isinstance(theirs, Mapping):
        return "it does not say of which"
    if theirs.get("game") != ours["game"]:
        return f"game {theirs.get('game')} {there}, {ours['game']} {here}"
    keys = ("rules_version", "random_scheme", "seed", "keep_moves")
    pairs = [(key.replace("_", " "), _short(theirs.get(key)), _short(ours.get(key))) for key in keys]
    for group in ("rules", "policies"):
        old, new = theirs.get(group) or {}, ours[group]
        pairs += [(key, _short(old.get(key)), _short(new.get(key))) for key in {**new, **old}]
    named = [f"{name} {old} {there}, {new} {here}" for name, old, new in pairs if old != new] or [
        "in what it says of itself"
    ]
    return "; ".join(named[:_NAMED]) + (f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else "")


def _short(value: Any) -> str:
    """Return an option's value or a slot's policies in a word: one name if all seats have it."""
    if isinstance(value, list):
        words = [str(item) for item in value]
        return words[0] if len(set(words)) == 1 and isinstance(value[0], str) else ",".join(words)
    if isinstance(value, bool):
        return str(value).lower()
    return "not set" if value is None else str(value) or "none"


def as_json(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document as it is read back: tuples are lists, keys are texts."""
    document: dict[str, Any] = json.loads(json.dumps(plain))
    return document


def look(
    folder: Path, spec: Spec, games: int, keep: str = ROWS, joint: Sequence[Sequence[str]] = ()
) -> Manifest | None:
    """Return the manifest of the run that `folder` holds already, or None if it is to be a new one; nothing is changed.

    Parts that are missing or of another size are left out of the manifest's; if none is, so are those in which a single
    byte is not as it was written (otherwise `RunFolder` finds them).

    Raises
    ------
    RefusedError
        If it holds another run, more games than wanted, counts instead of rows or the other way round, or other files.
    StoreError
        If it cannot be read.
    """
    try:
        names = storage.sizes(folder)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise RefusedError(f"{folder} is a file, not a folder") from None
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {reason(error)}") from error
    if MANIFEST not in names:
        foreign = sorted(name for name in names if name != LOCK and not parts_on_disk.is_stray(name))
        if foreign:
            raise RefusedError(
                f"{folder} is not a results folder and not empty: it holds {foreign[0]}; give another one"
            )
        return None
    manifest = read_manifest(folder)
    ours = as_json(spec.plain())
    if manifest.spec != ours:
        raise RefusedError(f"{folder} holds another run: {differences(manifest.spec, ours)}; give another folder")
    if manifest.keep != keep:
        raise RefusedError(
            f"{folder} keeps {manifest.keep}, not {keep}; give --keep {manifest.keep}, or another folder"
        )
    if keep == SUMMARY and manifest.joint != tuple(map(tuple, joint)):
        grouped = " ".join(f"--joint {','.join(group)}" for group in manifest.joint) or "no columns"
        raise RefusedError(f"{folder} counts {grouped} together; give the same, or another folder")
    if games < manifest.games:
        raise RefusedError(
            f"{folder} is a run of {manifest.games:,} games, not of {games:,}; ask for as many, or give another folder"
        )
    there = tuple(part for part in manifest.parts if names.get(part.name) == part.size)
    try:
        if not gaps(there, games) and not storage.is_remote(folder):
            there = tuple(part for part in there if parts_on_disk.is_whole(folder / part.name, part))
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {reason(error)}") from error
    return dataclasses.replace(manifest, parts=there)


def _parts_in(names: Iterable[str]) -> set[str]:
    return {name for name in names if parts_on_disk.range_of(name) or kept.range_of(name)}


class _Span(Protocol):
    """A range of games."""

    @property
    def first(self) -> int: ...

    @property
    def end(self) -> int: ...


def gaps(parts: Iterable[_Span], games: int) -> list[tuple[int, int]]:
    """Return the ranges (first, games) of 0 … games - 1 that no part holds."""
    missing, at = [], 0
    for part in sorted(parts, key=lambda part: part.first):
        if part.first > at:
            missing.append((at, part.first - at))
        at = max(at, part.end)
    return [*missing, (at, games - at)] if at < games else missing


def within(ranges: Iterable[tuple[int, int]], span: tuple[int, int]) -> list[tuple[int, int]]:
    """Return what of some ranges (first, games) lies within `span`."""
    low, high = span[0], span[0] + span[1]
    cut = [(max(first, low), min(first + n, high)) for first, n in ranges]
    return [(first, end - first) for first, end in cut if first < end]


@dataclasses.dataclass(frozen=True)
class Grid:
    """How a run that several processes write into is cut into blocks, as the manifest says.

    A process that finds another grid there, or none, when it has played a block is one of an earlier sitting that
    nobody waits for any more; it writes nothing.

    Attributes
    ----------
    block
        Games in a block: block i holds the games from i * block on, as far as they are not there.
    wanted
        What the sittings play that share the grid.
    name
        Names the grid alone.
    """

    block: int
    wanted: str
    name: str

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Grid | None:
        """Return the grid of a manifest, None if it has none."""
        told = document.get("grid")
        try:
            return cls(int(told["block"]), str(told["wanted"]), str(told["name"])) if told else None
        except (KeyError, TypeError, ValueError):
            return None

    def cut(self, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield the blocks (first, games) of ranges."""
        for first, n_games in ranges:
            at, end = first, first + n_games
            while at < end:
                upto = min(end, (at // self.block + 1) * self.block)
                yield at, upto - at
                at = upto


class RunFolder:
    """A results folder open for writing by this process alone; use it as a context.

    Entering makes the folder or repairs what is there; `missing` is then to be played, `writer` takes blocks
    from any thread, `add` lists them in the manifest.
    """

    def __init__(
        self,
        path: Path,
        spec: Spec,
        games: int,
        kernel_hash: str,
        keep: str = ROWS,
        joint: Sequence[Sequence[str]] = (),
    ) -> None:
        self.path = path
        self.spec = spec
        self.games = games
        self.keep = keep
        self.joint = joint
        self.writer = Writer(path, spec, kernel_hash, keep, joint)
        self.document = self.writer.document
        self.parts: list[Part] = []
        self.grid: Grid | None = None
        self._old_grid: Grid | None = None
        self.seconds = 0.0
        self._began: float | None = None
        self._committed = 0.0
        self._made = False
        self._lock = contextlib.ExitStack()

    @property
    def n_there(self) -> int:
        """Return the number of games done."""
        return sum(part.games for part in self.parts)

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Return the ranges (first, games) still to be played."""
        return gaps(self.parts, self.games)

    def files(self, first: int, end: int) -> list[Path]:
        """Return the files that hold the games first … end - 1 (and maybe others), in the order of their games."""
        found = [part for part in self.parts if first < part.end and part.first < end]
        return [self.path / part.name for part in sorted(found, key=lambda part: part.first)]

    def __enter__(self) -> Self:
        """Lock the folder, look at what is there, put it in order.

        Raises
        ------
        StoreError
            If the folder cannot be used; see `look`.
        """
        with telling(self.path):
            if not storage.is_remote(self.path):
                self._made = not self.path.exists()
            storage.make(self.path)
        try:
            if not storage.is_remote(self.path):
                self._acquire()
            manifest = look(self.path, self.spec, self.games, self.keep, self.joint)
            self._refuse_other_kernels(manifest)
            with telling(self.path):
                self._repair(manifest)
                self.commit()
            self._old_grid = Grid.read(manifest.document) if manifest else None
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """List what is finished and unlock."""
        try:
            with contextlib.nullcontext() if kind is None else contextlib.suppress(StoreError):
                self.commit()
        finally:
            self._release()

    def start_clock(self) -> None:
        """Count the time from now on as time spent playing."""
        self._began = time.monotonic()

    def stop_clock(self) -> None:
        """Count no more time until `start_clock` is called again."""
        if self._began is not None:
            self.seconds += time.monotonic() - self._began
            self._began = None

    def share(self, wanted: str, choose: Callable[[], int]) -> Grid:
        """Let other processes write blocks of a fixed size into the folder, too; return which.

        The size stays what it was when the run was begun by such processes, so that a block always has the same name.

        Parameters
        ----------
        wanted
            What the sitting plays. One that plays the same as the last, with the same size, goes on with its grid.
        choose
            Returns the size of a block for a new run.

        Raises
        ------
        StoreError
            If it cannot be written down.
        """
        old = self._old_grid
        if old is None or old.wanted != wanted:
            old = Grid(old.block if old else choose(), wanted, uuid.uuid4().hex)
        self.grid = self._old_grid = old
        self.commit()
        return old

    def take(self, path: Path, part: Part) -> None:
        """Copy another folder's part of the same run, and count it.

        Raises
        ------
        StoreError
            If it cannot be read or written.
        """
        with telling(self.path):
            storage.replace_file(self.path / part.name, storage.read(path))
        self.add(part)

    def add(self, part: Part) -> None:
        """Count a part that was written; now and then the manifest is brought up to date."""
        self.parts.append(part)
        every = COMMIT_ELSEWHERE_EVERY if storage.is_remote(self.path) else COMMIT_EVERY
        if time.monotonic() - self._committed > every:
            self.commit()

    def commit(self) -> None:
        """Replace the manifest by one that lists every part so far.

        Raises
        ------
        StoreError
            If it cannot be written; the old one stays.
        """
        self.parts.sort(key=lambda part: part.first)
        spent = 0.0 if self._began is None else time.monotonic() - self._began
        document = {
            **self.document,
            "games": self.games,
            "n_there": self.n_there,
            "complete": not self.missing,
            "seconds": round(self.seconds + spent, 3),
            **({"grid": dataclasses.asdict(self.grid)} if self.grid else {}),
            "parts": [part.plain() for part in self.parts],
        }
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        with telling(self.path):
            # The parts' names first: the manifest must never list what a power cut could take back.
            storage.sync(self.path)
            storage.replace_file(self.path / MANIFEST, text.encode())
            storage.sync(self.path)
        self._committed = time.monotonic()

    def _acquire(self) -> None:
        """Lock the folder against other processes."""
        with telling(self.path):
            file = self._lock.enter_context((self.path / LOCK).open("a+b", buffering=0))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read().decode(errors="replace").strip()
                raise RefusedError(
                    f"{self.path} is being written by process {holder or '?'}; wait for it, or give another folder"
                ) from None
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
        with contextlib.suppress(OSError):  # the number is a courtesy
            file.truncate(0)
            file.write(str(os.getpid()).encode())

    def _release(self) -> None:
        """Unlock; a folder that was made for nothing is removed."""
        if self._made and not (self.path / MANIFEST).exists():
            with contextlib.suppress(OSError):
                (self.path / LOCK).unlink()
                self.path.rmdir()
        self._lock.close()

    def _refuse_other_kernels(self, manifest: Manifest | None) -> None:
        ours = self.document["kernel_hash"]
        if manifest is not None and manifest.kernel_hash != ours:
            raise RefusedError(
                f"{self.path} was begun by other kernels ({manifest.kernel_hash} there, {ours} here): it can be read, "
                "but not gone on with; give another folder"
            )

    def _repair(self, manifest: Manifest | None) -> None:
        """Take in every whole part, remove broken ones and stray temporary files."""
        self.seconds = manifest.seconds if manifest else 0.0
        listed = {part.name: part for part in manifest.parts} if manifest else {}
        # Listed parts come first: what overlaps them is then the one to go. Nothing goes before all were looked at.
        sizes = storage.sizes(self.path)
        names = sorted(_parts_in(sizes), key=lambda name: (name not in listed, name))
        broken = [name for name in sizes if parts_on_disk.is_stray(name)]
        is_remote = storage.is_remote(self.path)

        def judge(name: str) -> Part | None:
            part = listed.get(name)
            if is_remote and part is not None and part.size == sizes[name]:
                return part  # an object is whole by nature; its store has checksums of its own
            return self._judge(self.path / name, part)

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            judged = list(pool.map(judge, names) if is_remote else map(judge, names))
        for name, part in zip(names, judged, strict=True):
            if part is None or part.end > self.games or any(part.overlaps(other) for other in self.parts):
                broken.append(name)
            else:
                self.parts.append(part)
        for name in broken:
            storage.remove(self.path / name)

    def _judge(self, path: Path, listed: Part | None) -> Part | None:
        """Return a part found in the folder, or None if it is broken.

        Raises
        ------
        RefusedError
            If it is whole but of another run: somebody put it there, and it is not ours to remove.
        """
        try:
            part, document = inspect(path)
        except PartError:
            return None
        if document.get("spec") != self.document["spec"]:
            how = differences(document.get("spec"), self.document["spec"])
            raise RefusedError(f"{path} belongs to another run ({how}); move it elsewhere")
        if listed is not None:
            return part if part == listed else None
        if not self.writer.is_ours(document):
            return None
        try:
            table = verify(path, part, self.document["spec"])
        except PartError:
            return None
        if table is None:
            return part
        return part if table.schema.remove_metadata() == parts_on_disk.schema(self.spec.columns) else None


__all__ = [
    "FORMAT",
    "KEEPS",
    "MANIFEST",
    "ROWS",
    "SUMMARY",
    "Manifest",
    "RefusedError",
    "RunFolder",
    "StoreError",
    "check",
    "default_folder",
    "gaps",
    "iter_parts",
    "look",
    "read_manifest",
    "reason",
]
