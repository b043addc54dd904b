"""What happens in a game while it is watched: rows of six numbers that a kernel writes, the kind of event first.

Row 0 holds the number of rows used; a kernel that runs out of rows goes on and only counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

FEWEST_EVENTS = 1_024
MOST_EVENTS = 300_000

Event = tuple[int, int, int, int, int, int]

_T = TypeVar("_T")


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
