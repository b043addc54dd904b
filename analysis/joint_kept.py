"""The joint counts that ``compare --keep summary`` wrote: files of blocks, read and added up."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.load import LoadError

if TYPE_CHECKING:
    from analysis.joint import JointCounts
    from analysis.pairs import Side

DECISIVE = ("variants", "baseline", "compared", "kernel_hash")
"""What all blocks of a comparison have in common."""

_NAME = re.compile(r"joint-(\d{12})-(\d{12})\.json")
_HASH = ',"sha256":"'


class BlockError(LoadError):
    """A file of joint counts that is damaged."""


def name_of(first: int, games: int) -> str:
    """Return the name of a block's file: a function of its range alone."""
    return f"joint-{first:012d}-{first + games - 1:012d}.json"


def range_of(name: str) -> tuple[int, int] | None:
    """Return (first, games) of a block's file name, or None if it is none."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2]) - int(match[1]) + 1) if match and match[2] >= match[1] else None


def encode(document: Mapping[str, Any]) -> bytes:
    """Return a block as its file has it; the last member is a hash of all before."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":"))[:-1]
    return f'{body}{_HASH}{hashlib.sha256(body.encode()).hexdigest()}"}}'.encode()


def read_joint(path: Path) -> dict[str, Any]:
    """Return what stands in a block's file.

    Raises
    ------
    BlockError
        If it is damaged, or not what its name says.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BlockError(f"{path} cannot be read: {error.strerror}") from error
    body, _, mark = data.decode(errors="replace").rpartition(_HASH)
    if mark != hashlib.sha256(body.encode()).hexdigest() + '"}':
        raise BlockError(f"{path} is cut short or damaged; give the comparison's command again: it is played anew")
    document: dict[str, Any] = json.loads(data)
    span = document.get("range") or {}
    if (span.get("first"), span.get("games")) != range_of(path.name):
        raise BlockError(f"{path} does not hold the games of its name")
    return document


def sides_of(folder: str | os.PathLike[str], names: Sequence[str]) -> tuple[list[Side], dict[str, Any]]:
    """Return the variants of a comparison that kept counts, without rows, and the document of its first block.

    Raises
    ------
    LoadError
        If there is no block, or one is damaged.
    """
    from analysis.load import Run
    from analysis.pairs import Side

    found = sorted(name for name in os.listdir(folder) if range_of(name))
    if not found:
        raise LoadError(f"{folder}: nothing is finished yet; the comparison has not written its first block")
    first = read_joint(Path(folder) / found[0])
    sides = []
    for name in names:
        columns = first["columns"][name]
        run = Run.read({"spec": first["variants"][name], "columns": columns})
        sides.append(Side(name, _schema(columns), run, 0, lambda columns, batch_rows: iter(())))
    return sides, first


def add_up(folder: str | os.PathLike[str], counts: JointCounts, first: Mapping[str, Any]) -> None:
    """Add all blocks of a folder to counts that are empty yet.

    Raises
    ------
    LoadError
        If a block is damaged, of another comparison, or holds games that another one has.
    """
    end = 0
    for name in sorted(name for name in os.listdir(folder) if range_of(name)):
        document = read_joint(Path(folder) / name)
        for key in DECISIVE:
            if document.get(key) != first.get(key):
                raise LoadError(f"{Path(folder) / name} is of another comparison ({key} differs)")
        if document["range"]["first"] < end:
            raise LoadError(f"{Path(folder) / name}: its games are in another block too")
        end = document["range"]["first"] + document["range"]["games"]
        counts.merge_json(document["joint"])


def _schema(columns: Sequence[Mapping[str, Any]]) -> Any:
    import pyarrow as pa

    fields = [
        pa.field(
            entry["name"],
            pa.dictionary(pa.int8(), pa.string()) if entry["categories"] else pa.type_for_alias(entry["dtype"]),
        )
        for entry in columns
    ]
    return pa.schema(fields)
