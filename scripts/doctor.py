"""The command ``fairdeal doctor``."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.metadata
import json
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scripts.errors import FAILED, complain
from scripts.options import examples, json_option
from scripts.progress import Voice

if TYPE_CHECKING:
    from sim.game import Player

# A hash of the first games of seed 1 by the letter, as every installation must play them.
KNOWN = {
    "autobus": "65e2b7a6f484",
    "bludiste": "a6f6587a2f05",
    "bussikuski": "db3fbc42ac3e",
    "dupa": "fcf11de60b70",
}
N_KNOWN = 200
"""Games of seed 1 behind each known value."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    is_good: bool
    found: str


@click.command(epilog=examples("fairdeal doctor", "fairdeal doctor --json"))
@json_option
def doctor(as_json: bool) -> None:
    """Check the installation: packages, the folder of compiled kernels, each game, and that results can be written.

    Exit status 1 if anything is wrong.
    """
    with Voice(as_json).about_compiling():
        findings = list(_examine())
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        for finding in findings:
            click.echo(f"{'ok    ' if finding.is_good else 'WRONG '} {finding.what}: {finding.found}")
    bad = [finding.what for finding in findings if not finding.is_good]
    if bad:
        complain(f"wrong: {', '.join(bad)}")
        click.get_current_context().exit(FAILED)


def _examine() -> Iterator[Finding]:
    from sim.games import GAMES
    from sim.runner import default_threads

    yield Finding("Python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.machine()}")
    yield _try("packages", _packages)
    yield _try("compiled kernels", _cache)
    for name in GAMES:
        yield _try(name, lambda name=name: _play(name))  # type: ignore[misc]
    yield _try("results here", _write)
    yield Finding("threads", True, str(default_threads()))
    encoding = sys.stdout.encoding or "unknown"
    with contextlib.suppress(LookupError):
        can = "4♠ ± ½ ž".encode(encoding, errors="ignore").decode(encoding) == "4♠ ± ½ ž"
        yield Finding("terminal", True, f"{encoding}{'' if can else '; card symbols are shown as ?'}")


def _try(what: str, look: Callable[[], str]) -> Finding:
    """Look at one thing; whatever goes wrong is what was found."""
    try:
        return Finding(what, True, look())
    except Exception as error:  # the doctor has to survive every illness
        return Finding(what, False, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")


def _packages() -> str:
    """Return the packages that the project needs, with their versions."""
    needed = [text for text in importlib.metadata.requires("fairdeal") or [] if "extra ==" not in text]
    names = [re.split(r"[^A-Za-z0-9_.-]", text)[0] for text in needed]
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def _cache() -> str:
    """Return the folder of compiled kernels, which has to be writable."""
    from sim.jit import cache_folder

    folder = cache_folder("sim.rng").parent
    with tempfile.TemporaryFile(dir=folder):
        pass
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return f"in {folder}, {size / 2**20:,.0f} MB"


def _play(name: str) -> str:
    """Play a game's first games, which are the same everywhere."""
    from sim import Spec, get_game
    from sim.game import Player

    player = Player(Spec.build(get_game(name)))
    found = digest(player)
    if found != KNOWN[name]:
        raise RuntimeError(f"plays its first {N_KNOWN} games of seed 1 otherwise ({found}, not {KNOWN[name]})")
    began, n = time.perf_counter(), 0
    while time.perf_counter() - began < 0.1:
        n += len(player.play(n, 1_000)[0])
    return f"plays as it must, {n / (time.perf_counter() - began):,.0f} games a second on one core"


def digest(player: Player) -> str:
    """Return twelve hex digits that name a player's first games."""
    rows = zip(*(column.tolist() for column in player.play(0, N_KNOWN)), strict=True)
    return hashlib.sha256(repr(list(rows)).encode()).hexdigest()[:12]


def _write() -> str:
    """Write a small results folder where results go by default."""
    from sim import run
    from sim.store import check

    where = Path("results") if Path("results").is_dir() else Path()
    with tempfile.TemporaryDirectory(dir=where, prefix=".doctor-") as folder:
        run("bussikuski", 1_000, out=Path(folder) / "run")
        problems = check(Path(folder) / "run")
    if problems:
        raise RuntimeError(problems[0])
    return f"can be written in {where.resolve()}"
