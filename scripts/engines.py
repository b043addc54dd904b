"""``--engine`` and ``--scheduler``: what plays, threads of this process or a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scripts.errors import WrongCall
from scripts.progress import Voice

if TYPE_CHECKING:
    from sim.cluster import DaskEngine

_F = TypeVar("_F", bound=Callable[..., Any])

THREADS, DASK = "threads", "dask"


def engine_options(command: _F) -> _F:
    """Add the options that say what plays."""
    command = click.option(
        "--scheduler",
        metavar="HOST:PORT",
        help="The Dask scheduler whose workers play (implies --engine dask). They need the same fairdeal, and the "
        "results folder must be shared with them, or an address: --out s3://bucket/run.",
    )(command)
    return click.option(
        "--engine",
        type=click.Choice([THREADS, DASK]),
        help="What plays: threads of this process, or a Dask cluster; without --scheduler one of --threads processes "
        "on this machine. It never changes a row.",
    )(command)


def check_engine(engine: str | None, scheduler: str | None, threads: int | None) -> None:
    """Refuse options that do not go together.

    Raises
    ------
    WrongCall
        If they do not.
    """
    if scheduler is None:
        return
    if engine == THREADS:
        raise WrongCall("--scheduler is for --engine dask, not for --engine threads")
    if threads is not None:
        raise WrongCall("--threads: the threads of a cluster are chosen where its workers are started (--nthreads)")
    from sim.cluster import EngineError, check_address

    try:
        check_address(scheduler)
    except EngineError as error:
        raise WrongCall(f"--scheduler: {error}") from None


@contextlib.contextmanager
def engines(
    voice: Voice, engine: str | None, scheduler: str | None, threads: int | None
) -> Iterator[Callable[[], DaskEngine | None]]:
    """Give what returns the cluster that is to play, None for threads of this process.

    It is connected or started when it is first asked for: not if nothing is to be played.
    """
    with contextlib.ExitStack() as stack:

        @functools.cache
        def opened() -> DaskEngine | None:
            if engine != DASK and scheduler is None:
                return None
            from sim.cluster import DaskEngine

            return stack.enter_context(DaskEngine(scheduler, workers=threads, tell=voice.say))

        yield opened
