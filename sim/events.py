"""What happens in a game while it is watched: rows of six numbers that a kernel writes, the kind of event first.

Row 0 holds the number of rows used; a kernel that runs out of rows goes on and only counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from sim.jit import inlined

FEWEST_EVENTS = 1_024
MOST_EVENTS = 300_000

Event = tuple[int, int, int, int, int, int]

_T = TypeVar("_T")


@inlined
def note(events: Any, kind: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0) -> None:
    """Write down what happened; nothing if `events` is None, for games that are never told."""
    if events is not None:
        row = events[0, 0] + 1
        events[0, 0] = row
        if row < events.shape[0]:
            events[row, 0] = kind
            events[row, 1] = a
            events[row, 2] = b
            events[row, 3] = c
            events[row, 4] = d
            events[row, 5] = e


def no_room() -> np.ndarray[Any, Any]:
    """Return rows for a game that is not told: its events are only counted."""
    return np.zeros((1, 6), np.int64)


def groups(events: Iterable[Event], opener: int) -> Iterator[list[Event]]:
    """Cut events into groups, each of which begins with one of kind `opener`."""
    group: list[Event] = []
    for event in events:
        if event[0] == opener and group:
            yield group
            group = []
        group.append(event)
    if group:
        yield group


def collect_events(play: Callable[[np.ndarray[Any, Any]], _T]) -> tuple[_T, tuple[Event, ...], int]:
    """Play a game, again with more room if need be; return what `play` does, the events, and how many there were.

    Parameters
    ----------
    play
        Plays the game and writes its events into the int64 array of shape (rows, 6) that it is given.
    """
    n_rows = FEWEST_EVENTS
    while True:
        rows = np.zeros((n_rows, 6), np.int64)
        played = play(rows)
        n_events = int(rows[0, 0])
        if n_events < n_rows or n_rows > MOST_EVENTS:
            return played, tuple(map(tuple, rows[1 : n_events + 1].tolist())), n_events
        n_rows = min(n_events, MOST_EVENTS) + 1
