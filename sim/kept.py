"""The counts of one block on disk, for a results folder that keeps a summary instead of rows.

``counts-<first>-<last>.json`` holds the provenance of its block and what `sim.counts` counted; its last member is a
hash of all before, so that a damaged file is known. It stands where a part stands in a folder of rows.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim import storage
from sim.part import Part, PartError

if TYPE_CHECKING:
    import numpy as np

    from sim.counts import Counter

_NAME = re.compile(r"counts-(\d{12})-(\d{12})\.json")
_HASH = ',"sha256":"'


@dataclasses.dataclass(frozen=True)
class Kept(Part):
    """A finished block of counts; it has no footer, and `footer` is the SHA-256 of the whole file, too."""

    @property
    def name(self) -> str:
        """Return the file's name: a function of the range alone."""
        return f"counts-{self.first:012d}-{self.end - 1:012d}.json"


def range_of(name: str) -> tuple[int, int] | None:
    """Return (first, games) of the name of a file of counts, or None if it is none."""
    match = _NAME.fullmatch(name)
    if match is None or int(match[2]) < int(match[1]):
        return None
    return int(match[1]), int(match[2]) - int(match[1]) + 1


def encode(
    counter: Counter, document: Mapping[str, Any], first: int, arrays: Sequence[np.ndarray[Any, Any]]
) -> tuple[Kept, bytes]:
    """Count a block; return what it is, and its file.

    Raises
    ------
    ValueError
        If columns that are to be counted together have too many values (see `Counter.count`).
    """
    n_games = len(arrays[0])
    plain = {**document, "range": {"first": first, "games": n_games}, **counter.count(arrays)}
    body = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))[:-1]
    data = f'{body}{_HASH}{hashlib.sha256(body.encode()).hexdigest()}"}}'.encode()
    digest = hashlib.sha256(data).hexdigest()
    return Kept(first, n_games, len(data), digest, digest), data


def inspect(path: Path) -> tuple[Kept, dict[str, Any]]:
    """Return what a file of counts is, and all that stands in it.

    Raises
    ------
    PartError
        If it is damaged or not what its name says; the message says why, without naming it.
    OSError
        If it cannot be read.
    """
    named = range_of(path.name)
    if named is None:
        raise PartError("its name is not that of a file of counts")
    data = storage.read(path)
    body, _, mark = data.decode(errors="replace").rpartition(_HASH)
    if mark != hashlib.sha256(body.encode()).hexdigest() + '"}':
        raise PartError("it is cut short or damaged")
    document: dict[str, Any] = json.loads(data)
    if (document["range"]["first"], document["range"]["games"]) != named:
        raise PartError("its name and its provenance do not agree")
    digest = hashlib.sha256(data).hexdigest()
    return Kept(*named, len(data), digest, digest), document


__all__ = ["Kept", "encode", "inspect", "range_of"]
