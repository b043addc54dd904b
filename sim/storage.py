"""Where results lie: a folder of this machine, or any address that fsspec knows, such as ``s3://bucket/run``.

An address is a `Path` here or, beside it, a path of universal_pathlib, which offers the same methods. What differs
stands in this module: how a file appears whole or not at all, what is listed, and what goes wrong.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

EXTRA = "pip install 'fairdeal[cluster]'"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_NEARLY = re.compile(r"(s3|s3a|gs|gcs|az|abfs|adl|hdfs|memory|file|https?|ftp|sftp|smb|webdav):")  # slashes forgotten
# Systems without hard links (or where they are forbidden) say so in one of these ways.
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK, errno.EACCES}


class StoreError(ValueError):
    """Results that cannot be written or read: a full disk, a folder without permission, a damaged file."""


class RefusedError(StoreError):
    """A folder that is not the one for this call: another run's, not a results folder, in use; no address at all."""


def place(address: str | os.PathLike[str]) -> Path:
    """Return the path of a folder or file, given its name here or its address elsewhere.

    Raises
    ------
    RefusedError
        If the address is of no known kind, or its packages are missing.
    """
    if is_remote(address):
        return cast(Path, address)
    text = os.fspath(address)
    if not _ADDRESS.match(text):
        if _NEARLY.match(text) and not os.path.exists(text):
            scheme, _, rest = text.partition(":")
            raise RefusedError(
                f"'{text}' is neither a folder nor an address; did you mean '{scheme}://{rest.lstrip('/')}'?"
            )
        return Path(text)
    try:
        from upath import UPath
    except ImportError as error:
        raise RefusedError(f"{text} needs packages that are not installed: {EXTRA}") from error
    try:
        # A listing must not be older than the question: other machines write into the folder.
        path = UPath(text, use_listings_cache=False)
        path.fs  # noqa: B018 - imports what this kind of address needs
    except ImportError as error:
        raise RefusedError(f"{text} needs a package that is not installed: {_first_line(error)}") from error
    except ValueError as error:
        raise RefusedError(f"{text} is no address that is known here: {_first_line(error).lower()}") from error
    if path.protocol in ("file", "local"):
        return Path(path.path)
    return cast(Path, path)


def is_remote(path: object) -> bool:
    """Tell whether a path is one elsewhere, not of this machine's file system."""
    return not isinstance(path, str | os.PathLike) and hasattr(path, "fs")


def absolute(path: Path) -> Path:
    """Return a path as other processes and machines find it, too."""
    return path if is_remote(path) else path.absolute()


@contextlib.contextmanager
def one_kind_of_error(path: Path) -> Iterator[None]:
    """Turn what a store elsewhere raises of its own into the `OSError` that it is.

    Raises
    ------
    OSError
        If the store cannot be reached, does not know this user, or answers with an error.
    """
    if not is_remote(path):
        yield
        return
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.strerror:
            raise
        kind = type(error) if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError) else OSError
        raise kind(error.errno or 0, _first_line(error), str(path)) from error
    except Exception as error:
        said = of_a_store(error)
        if said is None:
            raise
        raise OSError(0, said, str(path)) from error


def of_a_store(error: Exception) -> str | None:
    """Return what a store elsewhere says, if the error is one of its library's own; else None."""
    is_one = type(error).__module__.partition(".")[0] in ("botocore", "aiohttp", "s3fs", "fsspec", "google", "azure")
    return _first_line(error) if is_one else None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


@contextlib.contextmanager
def telling(folder: Path) -> Iterator[None]:
    """Turn what the system says about writing into a folder into one line.

    Raises
    ------
    StoreError
        If it says anything.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {reason(error)}{advice(error)}") from error


def reason(error: Exception) -> str:
    """Return why, in the system's words."""
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)


def advice(error: OSError) -> str:
    """Return what can be done about it, to be put behind the reason."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "; what is finished is kept: make room and give the same command again"
    return ""


def sizes(folder: Path) -> dict[str, int]:
    """Return the names in a folder and the bytes that each has; elsewhere a folder that is not there is an empty one.

    Raises
    ------
    FileNotFoundError
        If there is no such folder here.
    NotADirectoryError
        If it is a file.
    OSError
        If it cannot be read.
    """
    if not is_remote(folder):
        with os.scandir(folder) as entries:
            return {entry.name: entry.stat(follow_symlinks=False).st_size for entry in entries}
    there: Any = folder
    with one_kind_of_error(folder):
        try:
            found = there.fs.ls(there.path, detail=True)
        except FileNotFoundError:
            return {}
        if [entry["name"].rstrip("/") for entry in found] == [there.path.rstrip("/")] and found[0]["type"] == "file":
            raise NotADirectoryError(errno.ENOTDIR, "it is a file", str(folder))
    names = {entry["name"].rstrip("/").rpartition("/")[2]: int(entry["size"] or 0) for entry in found}
    return {name: size for name, size in names.items() if name and name != folder.name}


def read(path: Path) -> bytes:
    """Return what a file holds.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    with one_kind_of_error(path):
        return path.read_bytes()


def source(path: Path) -> Any:
    """Return what pyarrow reads a whole file from: its path, or what it holds."""
    if not is_remote(path):
        return path
    import pyarrow as pa

    return pa.BufferReader(read(path))


def make(folder: Path) -> None:
    """Make a folder of this machine with its parents; elsewhere names make folders.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    if not is_remote(folder):
        folder.mkdir(parents=True, exist_ok=True)


def replace_file(path: Path, data: bytes | memoryview) -> None:
    """Write a file so that it appears whole or not at all.

    Here that is a temporary name, fsync, rename; the folder itself is left to the caller to sync. Elsewhere objects
    appear whole by nature.

    Raises
    ------
    OSError
        If it cannot be written; the temporary file is removed.
    """
    begin_file(path, data)()


def begin_file(path: Path, data: bytes | memoryview) -> Callable[[], None]:
    """Do the part of `replace_file` that takes a processor; return the rest, which waits for a disk or a network.

    Raises
    ------
    OSError
        If it cannot be written, now or when the rest is called; the temporary file is removed.
    """
    if is_remote(path):
        return functools.partial(_write_elsewhere, path, data)
    return functools.partial(_appear, _write_beside(path, data), path)


def _write_elsewhere(path: Path, data: bytes | memoryview) -> None:
    with one_kind_of_error(path):
        path.write_bytes(data)


def _appear(temporary: Path, path: Path) -> None:
    with _outliving(temporary):
        temporary.replace(path)


def write_once(path: Path, data: bytes | memoryview) -> bool:
    """Write a file as `replace_file` does, unless there is one of this name; tell whether it was written.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with one_kind_of_error(path):
        if path.exists():
            return False
    if is_remote(path):
        replace_file(path, data)
        return True
    temporary = _write_beside(path, data)
    with _outliving(temporary):
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            temporary.replace(path)
    sync(path.parent)
    return True


def _write_beside(path: Path, data: bytes | memoryview) -> Path:
    """Return a temporary file beside `path` that holds the data, as far as the system is concerned."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


@contextlib.contextmanager
def _outliving(temporary: Path) -> Iterator[None]:
    """Make sure that what a temporary file holds outlives a power cut; afterwards the file is gone."""
    try:
        sync(temporary)
        yield
    finally:
        temporary.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file if it is there.

    Raises
    ------
    OSError
        If it cannot be removed.
    """
    with one_kind_of_error(path):
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make sure that what a file holds, or the names in a folder, outlive a power cut."""
    if is_remote(path):
        return
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


__all__ = [
    "EXTRA",
    "RefusedError",
    "StoreError",
    "absolute",
    "advice",
    "begin_file",
    "is_remote",
    "make",
    "of_a_store",
    "one_kind_of_error",
    "place",
    "read",
    "reason",
    "remove",
    "replace_file",
    "sizes",
    "source",
    "sync",
    "telling",
    "write_once",
]
