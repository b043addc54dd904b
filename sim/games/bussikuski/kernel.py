"""Bussikuski's kernel: one game, a block of games, an explicit deal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.cards import CardError, parse_deck, to_ace_high
from sim.games.bussikuski.moves import begin, find_driver, fold, guess_four, ride, turn_pyramid
from sim.games.bussikuski.record import STATE_DTYPE
from sim.jit import compiled, inlined
from sim.outcome import SHARE_UNIT

__all__ = ["fold", "new_state", "play_block", "play_deal", "play_one", "read_deal"]


def new_state() -> np.ndarray[Any, Any]:
    """Return scratch for one thread, shape (1,)."""
    return np.zeros(1, STATE_DTYPE)


@inlined
def play_one(state: Any, rules: Any, orders: Any, events: Any, seed: int, game: int) -> bool:
    """Play one game; False if an explicit deal lacks a deck."""
    if not begin(state, rules, orders, seed, game):
        return False
    guess_four(state, rules, events)
    turn_pyramid(state, rules, events)
    if not find_driver(state, rules, orders, events):
        return False
    return ride(state, rules, orders, events)


@inlined
def write_row(state: Any, rules: Any, out: Any, row: int) -> None:
    """Write the finished game as column `row` of `out`, in the order of `state.columns`."""
    n = rules.n_players
    fewest = state.points[0]
    for seat in range(1, n):
        fewest = min(fewest, state.points[seat])
    n_winners = 0
    for seat in range(n):
        n_winners += state.points[seat] == fewest
    share = SHARE_UNIT // n_winners
    left = n + 4
    rest = left + n + 6
    for seat in range(n):
        out[seat, row] = state.wrong[seat]
        out[left + seat, row] = state.left[seat]
        out[rest + seat, row] = state.points[seat]
        out[rest + n + seat, row] = share * (state.points[seat] == fewest)
    for question in range(4):
        out[n + question, row] = state.right[question]
    out[left + n, row] = state.driver
    out[left + n + 1, row] = state.driver_by
    out[left + n + 2, row] = state.bus_end
    out[left + n + 3, row] = state.bus_attempts
    out[left + n + 4, row] = state.bus_penalty
    out[left + n + 5, row] = state.bus_turned


@compiled
def play_block(state: Any, rules: Any, seed: int, first: int, out: Any) -> None:
    """Play the games first, first + 1, … into the columns of `out`, int64 of shape (n_columns, n_games)."""
    for row in range(out.shape[1]):
        play_one(state, rules, None, None, seed, first + np.uint64(row))
        write_row(state, rules, out, row)


@compiled
def play_deal(state: Any, rules: Any, seed: int, game: int, orders: Any, out: Any) -> bool:
    """Play one explicit deal into `out`, int64 of shape (n_columns, 1); False if it needed a deck more than `orders` holds."""
    if not play_one(state, rules, orders, None, seed, game):
        return False
    write_row(state, rules, out, 0)
    return True
