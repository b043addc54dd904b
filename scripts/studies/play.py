"""What the studies share: play games without files, and who won them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scripts.options import read_rules
from sim import runner
from sim.game import Game, Spec

Array = np.ndarray[Any, Any]


def win_shares(spec: Spec, n_games: int, threads: int | None = None) -> Array:
    """Return each seat's share of the win in games 0 … n_games - 1, float64 of shape (seats, n_games).

    A game without a winner is nobody's.
    """
    names = [column.name for column in spec.columns]
    seats = range(spec.rules.players)
    shares = np.zeros((len(seats), n_games))
    lock = threading.Lock()

    def take(first: int, arrays: Sequence[Array]) -> None:
        by_name = dict(zip(names, arrays, strict=True))
        for seat in seats:
            if f"win_share_{seat}" in by_name:
                column = spec.columns[names.index(f"win_share_{seat}")]
                won = column.decode(by_name[f"win_share_{seat}"])
            else:
                won = (by_name["winner"] == seat).astype(np.float64)
            with lock:
                shares[seat, first : first + len(won)] = won

    player = runner.ready(spec)
    runner.play(player, [(0, n_games)], take, threads=threads or runner.default_threads())
    return shares


def rules_of(game: Game, given: Mapping[str, Any], **options: object) -> Any:
    """Return the rule set that the command's options give, with some set on top."""
    more = [f"{name}={value}" for name, value in options.items()]
    return read_rules(game, {**given, "assignments": [*given["assignments"], *more]})
