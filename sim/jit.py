"""The only place that names numba's compile decorator.

Compiled kernels are kept on disk in a folder named by a hash of everything that decides what they do: all of
``sim/``'s sources and numba's version. numba's own check looks at one file at a time, so an edited helper module would
go on running as it was; a new folder name makes that impossible. The folder must be set before any decorator runs,
hence this module is imported by every compiled one.

References
----------
numba's documentation, "Notes on Caching": functions of other modules are not tracked.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.metadata
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

CACHE_VARIABLE = "FAIRDEAL_CACHE"


@cache
def kernel_hash() -> str:
    """Return the first 16 hex digits of the hash of ``sim/``'s sources and numba's version."""
    digest = hashlib.sha256(importlib.metadata.version("numba").encode())
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _is_ours(folder: Path) -> bool:
    """Tell whether the folder is the user's own: compiled code is run from it, and anybody may write in /tmp."""
    return not hasattr(os, "getuid") or folder.stat().st_uid in (os.getuid(), 0)


@cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels, made if it is not there.

    ``FAIRDEAL_CACHE`` names its parent; otherwise ``XDG_CACHE_HOME`` or ``~/.cache`` does, and where that cannot be
    written (a read-only home) the system's temporary folder.
    """
    named = os.environ.get(CACHE_VARIABLE)
    parents = (
        [Path(named)]
        if named
        else [
            Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairdeal",
            Path(tempfile.gettempdir()) / f"fairdeal-{os.getuid() if hasattr(os, 'getuid') else 0}",
        ]
    )
    for parent in parents:
        folder = parent / f"kernels-{kernel_hash()}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and _is_ours(parent):
            return folder
    return parents[-1] / f"kernels-{kernel_hash()}"


os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())

import numba  # noqa: E402  (the cache folder has to be named first)
from numba.core import event  # noqa: E402

numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]


def _load_without_blas() -> None:
    """Import numba's array functions without letting them look for a BLAS.

    They would load scipy's linear algebra (0.3 s of every start), only to know whether `numpy.convolve` may use it.
    """
    from numba.np import linalg

    def find_none() -> None:
        raise ImportError("no BLAS is wanted")

    found = getattr(linalg, "ensure_blas", None)
    if found is None:  # another numba: it starts a little slower
        return
    linalg.ensure_blas = find_none
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = found


_load_without_blas()


class _FirstCompilation(event.Listener):
    """Calls a function when something is compiled for the first time."""

    def __init__(self, tell: Callable[[], object]) -> None:
        self.tell: Callable[[], object] | None = tell

    def on_start(self, happened: event.Event) -> None:
        """Call it, once."""
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell()

    def on_end(self, happened: event.Event) -> None:
        """Do nothing."""


@contextlib.contextmanager
def on_compiling(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` once if anything has to be compiled within; kernels that lie compiled on disk do not count."""
    with event.install_listener("numba:compile", _FirstCompilation(tell)):
        yield


def compiled(function: _F) -> _F:
    """Compile `function` when it is first called; the result is kept on disk and runs without the GIL."""
    return numba.njit(nogil=True, cache=True, error_model="numpy")(function)  # type: ignore[return-value]


def inlined(function: _F) -> _F:
    """Compile a small `function` of a hot path into each of its callers: a call between kernels costs 5 to 10 ns."""
    return numba.njit(nogil=True, cache=True, error_model="numpy", forceinline=True)(function)  # type: ignore[return-value]
