"""Playing a prepared run from the command line: what is said before, meanwhile, and when it is interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scripts.errors import INTERRUPTED, command_line, complain
from scripts.progress import Progress, Voice, stopping

if TYPE_CHECKING:
    from sim.api import Prepared, Results


def announce(voice: Voice, prepared: Prepared) -> None:
    """Say what is going to be played, and where it goes."""
    from sim.replays import described

    spec = prepared.spec
    if not prepared.n_missing:
        voice.say(f"{prepared.folder} is complete: {prepared.games:,} games of {spec.game.title}, nothing to play.")
        return
    there = f" ({prepared.n_there:,} are there)" if prepared.n_there else ""
    voice.say(f"Playing {prepared.games:,} games of {spec.game.title}{there}, seed {spec.seed}, into {prepared.folder}")
    voice.say(described(spec))


def play(voice: Voice, prepared: Prepared, threads: int | None, *, shown: bool) -> Results:
    """Play what is missing; leave with status 130 if interrupted on the way."""
    results = None
    with Progress(voice, shown=shown) as progress, stopping(progress) as stop:
        try:
            with voice.about_compiling():
                results = prepared.play(threads=threads, progress=progress, stop=stop)
        except KeyboardInterrupt:
            pass
    if results is not None and results.complete:
        return results
    n_there = _n_there(prepared) if results is None else results.n_there
    complain(
        f"interrupted; {n_there:,} of {prepared.games:,} games are kept in {prepared.folder}. "
        f"To go on, give the same command: {command_line()}"
    )
    click.get_current_context().exit(INTERRUPTED)


def _n_there(prepared: Prepared) -> int:
    """Return how many games the folder holds."""
    from sim.store import look

    assert prepared.folder is not None
    manifest = look(prepared.folder, prepared.spec, prepared.games)
    return manifest.n_there if manifest else 0
