"""Playing a prepared run from the command line: what is said before, meanwhile, and when it is interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scripts.errors import INTERRUPTED, command_line, complain
from scripts.progress import Progress, Voice, stopping

if TYPE_CHECKING:
    from sim.api import Prepared, Results
    from sim.cluster import DaskEngine


def announce(voice: Voice, prepared: Prepared) -> None:
    """Say what is going to be played, and where it goes."""
    from sim.replays import described

    spec = prepared.spec
    if not prepared.n_missing:
        what = "is complete" if prepared.share is None else f"has its share of {prepared.games:,}"
        voice.say(f"{prepared.folder} {what}: {prepared.n_there:,} games of {spec.game.title}, nothing to play.")
        return
    there = f" ({prepared.n_there:,} are there)" if prepared.n_there else ""
    games = f"{prepared.n_wanted:,}" + ("" if prepared.share is None else f" of {prepared.games:,}")
    voice.say(f"Playing {games} games of {spec.game.title}{there}, seed {spec.seed}, into {prepared.folder}")
    voice.say(described(spec))


def announce_until(voice: Voice, prepared: Prepared, what: str, half_width: float) -> None:
    """Say what is going to be played, and when it stops."""
    from sim.replays import described

    spec = prepared.spec
    there = f" ({prepared.n_there:,} are there)" if prepared.n_there else ""
    voice.say(
        f"Playing {spec.game.title}{there}, seed {spec.seed}, until {what} is known to ± {half_width:g}, at most "
        f"{prepared.games:,} games, into {prepared.folder}"
    )
    voice.say(described(spec))


def play(
    voice: Voice, prepared: Prepared, threads: int | None, *, shown: bool, engine: DaskEngine | None = None
) -> Results:
    """Play what is missing; leave with status 130 if interrupted on the way."""
    results = None
    with Progress(voice, shown=shown) as progress, stopping(progress) as stop:
        try:
            with voice.about_compiling():
                results = prepared.play(threads=threads, progress=progress, stop=stop, engine=engine)
        except KeyboardInterrupt:
            pass
    if results is not None and results.complete:
        return results
    n_there = _n_there(prepared) if results is None else results.n_there
    complain(
        f"interrupted; {n_there:,} of {prepared.n_wanted:,} games are kept in {prepared.folder}. "
        f"To go on, give the same command: {command_line()}"
    )
    click.get_current_context().exit(INTERRUPTED)


def _n_there(prepared: Prepared) -> int:
    """Return how many games the folder holds."""
    from sim.store import look

    assert prepared.folder is not None
    manifest = look(prepared.folder, prepared.spec, prepared.games)
    return manifest.n_there if manifest else 0
