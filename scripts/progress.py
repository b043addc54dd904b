"""What a run says while it is under way, on standard error, and how it is asked to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from scripts.errors import INTERRUPTED, complain

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

SETTLED = 0.4  # seconds of play after which the speed is known well enough to foretell the end
LONG = 4.0  # shorter runs are not worth foretelling
FIRST_LINE, LATER_LINES = 5.0, 1.5


class Voice:
    """Speaks on standard error, unless told to be quiet."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def say(self, message: str) -> None:
        """Print a message."""
        if not self.quiet:
            with contextlib.suppress(OSError):  # a closed or full standard error is no reason to stop
                click.echo(message, err=True)

    @contextlib.contextmanager
    def about_compiling(self) -> Iterator[None]:
        """Say so, once, when kernels have to be compiled on the way."""
        from sim.jit import on_compiling

        with on_compiling(lambda: self.say("Compiling the kernels; this takes about half a minute, once.")):
            yield


class Progress:
    """Shows how far a run is; called with the games done, the games wanted and the games per second.

    On a terminal it is a bar, else a line now and then, ever more rarely.
    """

    def __init__(self, voice: Voice, *, shown: bool, foretells: bool = True) -> None:
        self.voice = voice
        self.shown = shown and not voice.quiet
        self._began: float | None = None
        self._foretold = not foretells  # of a run that stops by itself, nobody knows when
        self._next_line = FIRST_LINE
        self._bar: tuple[Bar, TaskID] | None = None

    def __call__(self, done: int, wanted: int, rate: float) -> None:
        """Take note of how far the run is."""
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        elapsed = now - self._began
        left = (wanted - done) / rate if rate > 0 else 0.0
        if not self._foretold and elapsed > SETTLED and done < wanted:
            self._foretold = True
            if left > LONG:
                self.voice.say(f"This takes about {duration(left)}, at {rate:,.0f} games a second.")
        if not self.shown or elapsed < SETTLED:
            return
        if sys.stderr.isatty():
            self._show_bar(done, wanted, left)
        elif elapsed > self._next_line and done < wanted:
            self._next_line = elapsed * LATER_LINES
            self.voice.say(f"{done / wanted:4.0%}  {done:,} of {wanted:,} games, about {duration(left)} to go")

    def _show_bar(self, done: int, wanted: int, left: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn
            from rich.progress import Progress as Bar

            bar = Bar(
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[said]}"),
                console=Console(stderr=True),
                transient=True,
            )
            bar.start()
            self._bar = bar, bar.add_task("", total=wanted, said="")
        bar, task = self._bar
        bar.update(task, completed=done, said=f"{done:,} of {wanted:,} games, about {duration(left)} to go")

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None

    def __enter__(self) -> Progress:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.close()

    @property
    def is_playing(self) -> bool:
        """Tell whether games are being played already (kernels compiled)."""
        return self._began is not None


@contextlib.contextmanager
def stopping(progress: Progress) -> Iterator[threading.Event]:
    """Give an event that Ctrl-C and SIGTERM set; pressed again, they interrupt at once.

    Before games are played the process just ends: it may be inside the compiler, which an exception would leave in
    pieces, and files are whole at every moment anyhow.
    """
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if not progress.is_playing:
            complain("interrupted before anything was played")
            os._exit(INTERRUPTED)
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    old: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def duration(seconds: float) -> str:
    """Return ``40 seconds``, ``3 minutes`` or ``2.5 hours``."""
    if seconds < 1:
        return "a second"
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
