"""The only place that names numba's compile decorator.

Compiled kernels are kept on disk, those of a module in a folder named by a hash of everything that decides what they
do: the sources of the module and of all of ``sim`` that it imports, and numba's version. numba's own check looks at one
file at a time, so an edited helper module would go on running as it was; a new folder's name makes that impossible. An
edit elsewhere, of a text or of another game, leaves the kernels as they are. Folders that were not used for thirty days
are removed when their module is compiled anew.

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
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

_F = TypeVar("_F", bound=Callable[..., Any])

CACHE_VARIABLE = "FAIRDEAL_CACHE"
DAY = 86_400
KEPT_DAYS = 30

ROOT = Path(__file__).parent.parent
# An import of ours: what stands between `from` and `import`, and the names, in brackets or to the line's end.
_IMPORT = re.compile(r"^\s*from (sim[\w.]*) import (\([^)]*\)|[^\n]*)|^\s*import (sim[\w.]*)", re.MULTILINE)


@cache
def _imported(module: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a module's source and the modules of ``sim`` that it names in its imports."""
    source = _path(module).read_bytes()
    found = set()
    for package, names, whole in _IMPORT.findall(source.decode()):
        submodules = {f"{package}.{name}" for name in re.findall(r"\w+", names)}
        found |= {name for name in submodules if _path(name).is_file()} or {package or whole}
    return source, tuple(sorted(found))


def _path(module: str) -> Path:
    """Return the path of a module's source; a package's is its ``__init__``."""
    folder = ROOT.joinpath(*module.split("."))
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


@cache
def sources(module: str) -> tuple[str, ...]:
    """Return the modules of ``sim`` that decide what the kernels of `module` do: itself and all that it imports."""
    found: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= set(_imported(name)[1]) - found
    return tuple(sorted(found))


@cache
def kernel_hash(module: str) -> str:
    """Return the first 16 hex digits of the hash of the sources behind a module's kernels and numba's version."""
    digest = hashlib.sha256(importlib.metadata.version("numba").encode())
    for name in sources(module):
        source, _ = _imported(name)
        digest.update(f"\n{name} {len(source)}\n".encode())
        digest.update(source)
    return digest.hexdigest()[:16]


def _is_ours(folder: Path) -> bool:
    """Tell whether the folder is the user's own: compiled code is run from it, and anybody may write in /tmp."""
    return not hasattr(os, "getuid") or folder.stat().st_uid in (os.getuid(), 0)


@cache
def cache_folder(module: str) -> Path:
    """Return the folder of a module's compiled kernels, made if it is not there.

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
    name = f"{module.removeprefix('sim.')}-{kernel_hash(module)}"
    for parent in parents:
        folder = parent / name
        is_new = not folder.exists()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and _is_ours(parent):
            if time.time() - folder.stat().st_mtime > DAY:
                os.utime(folder)
            if is_new:
                _forget_old(folder)
            return folder
    return parents[-1] / name


def _forget_old(folder: Path) -> None:
    """Remove what was compiled of a module's older sources and has not been used for `KEPT_DAYS`."""
    module, _, _ = folder.name.rpartition("-")
    for other in folder.parent.glob(f"{module}-{'[0-9a-f]' * 16}"):
        with contextlib.suppress(OSError):
            if time.time() - other.stat().st_mtime > KEPT_DAYS * DAY:
                shutil.rmtree(other, ignore_errors=True)


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


class FirstCompilation(event.Listener):
    """Calls a function when something is compiled for the first time; `happened` tells whether it was."""

    def __init__(self, tell: Callable[[], object]) -> None:
        self.tell = tell
        self.happened = False

    def on_start(self, event: event.Event) -> None:
        """Call it, once."""
        if not self.happened:
            self.happened = True
            self.tell()

    def on_end(self, event: event.Event) -> None:
        """Do nothing."""


@contextlib.contextmanager
def on_compiling(tell: Callable[[], object]) -> Iterator[FirstCompilation]:
    """Call `tell` once if anything has to be compiled within; kernels that lie compiled on disk do not count."""
    listener = FirstCompilation(tell)
    with event.install_listener("numba:compile", listener):
        yield listener


def _compile(function: _F, *, inline: bool) -> _F:
    # numba asks for the folder while it decorates. Code that is not ours keeps numba's own folder and check.
    config: Any = numba.config
    usual = config.CACHE_DIR
    if function.__module__.partition(".")[0] == "sim":
        config.CACHE_DIR = str(cache_folder(function.__module__))
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy", forceinline=inline)(function)  # type: ignore[return-value]
    finally:
        config.CACHE_DIR = usual


def compiled(function: _F) -> _F:
    """Compile `function` when it is first called; the result is kept on disk and runs without the GIL.

    numba takes the code of everything that is called into each caller and optimises it there again: of big functions
    that call each other in a long chain all but the ends had better be `inlined`.
    """
    return _compile(function, inline=False)


def inlined(function: _F) -> _F:
    """Compile `function` into each of its callers: a call between kernels costs 5 to 10 ns."""
    return _compile(function, inline=True)
