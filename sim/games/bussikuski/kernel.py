"""Bussikuski's kernel: one game, a block of games, an explicit deal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.cards import DECK_SIZE, to_ace_high
from sim.games.bussikuski.lanes import N_LANES, TABLE_DTYPE
from sim.games.bussikuski.moves import (
    begin,
    find_driver,
    fold,
    give_aside,
    guess_four,
    ride,
    turn_pyramid,
    turn_pyramid_aside,
)
from sim.games.bussikuski.record import STATE_DTYPE
from sim.jit import compiled, inlined
from sim.outcome import SHARE_UNIT

__all__ = ["fold", "new_scratch", "play_block", "play_deal", "play_one"]

ACE_HIGH = np.array([to_ace_high(card) for card in range(DECK_SIZE)], np.uint8)


def new_scratch() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return what one thread needs to play: records of games side by side, shape (32,), and their table, shape (1,)."""
    return np.zeros(N_LANES, STATE_DTYPE), np.zeros(1, TABLE_DTYPE)


def play_block(scratch: Any, rules: Any, seed: int, first: int, out: np.ndarray[Any, Any], n_games: int) -> None:
    """Play the games first … first + n_games - 1 into the columns of `out`, int64 of shape (n_columns, >= n_games)."""
    states, table = scratch
    play_games(states, table[0], rules[0], np.uint64(seed), np.uint64(first), out, n_games)


def play_deal(
    scratch: Any, rules: Any, seed: int, game: int, orders: np.ndarray[Any, Any], out: np.ndarray[Any, Any]
) -> bool:
    """Play one explicit deal into `out`; False if it needed a deck more than `orders` holds.

    Parameters
    ----------
    orders : uint8, shape (n_decks, 52)
        Cards as `sim.cards` numbers them, top first.
    out : int64, shape (n_columns, 1)
    """
    states, _ = scratch
    return bool(play_order(states[0], rules[0], np.uint64(seed), np.uint64(game), ACE_HIGH[orders], out))


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
        out[n + question, row] = (state.right >> np.uint64(8 * question)) & np.uint64(0xFF)
    out[left + n, row] = state.driver
    out[left + n + 1, row] = state.driver_by
    out[left + n + 2, row] = state.bus_end
    out[left + n + 3, row] = state.bus_attempts
    out[left + n + 4, row] = state.bus_penalty
    out[left + n + 5, row] = state.bus_turned


@compiled
def play_side_by_side(
    states: Any, table: Any, rules: Any, seed: int, first: int, out: Any, row: int, n_games: int
) -> None:
    """Play up to 32 games whose seats all give to the leader, their gifts side by side; write them from `row` on."""
    for lane in range(n_games):
        state = states[lane]
        begin(state, rules, None, seed, first + np.uint64(lane))
        guess_four(state, rules, None)
        turn_pyramid_aside(state, rules, table, lane)
    give_aside(rules, table)
    for lane in range(n_games):
        state = states[lane]
        for seat in range(rules.n_players):
            state.points[seat] = table.points[seat, lane]
        find_driver(state, rules, None, None)
        ride(state, rules, None, None)
        write_row(state, rules, out, row + lane)


@compiled
def play_games(states: Any, table: Any, rules: Any, seed: int, first: int, out: Any, n_games: int) -> None:
    """Play `n_games` games from `first` on into the columns of `out`."""
    if rules.all_leaders:
        for row in range(0, n_games, N_LANES):
            n_lanes = min(N_LANES, n_games - row)
            play_side_by_side(states, table, rules, seed, first + np.uint64(row), out, row, n_lanes)
    else:
        state = states[0]
        for row in range(n_games):
            play_one(state, rules, None, None, seed, first + np.uint64(row))
            write_row(state, rules, out, row)


@compiled
def play_order(state: Any, rules: Any, seed: int, game: int, orders: Any, out: Any) -> bool:
    """Play one explicit deal into the first column of `out`; False if it lacks a deck."""
    if not play_one(state, rules, orders, None, seed, game):
        return False
    write_row(state, rules, out, 0)
    return True
