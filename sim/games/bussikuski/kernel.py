"""Bussikuski's kernel: one game, a block of games, an explicit deal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.cards import DECK_SIZE, to_ace_high
from sim.events import no_room
from sim.games.bussikuski.lanes import N_LANES, TABLE_DTYPE
from sim.games.bussikuski.moves import (
    begin,
    diamond_is_walk,
    end_walk,
    find_driver,
    fold,
    give_aside,
    guess_four,
    ride,
    turn_pyramid,
    turn_pyramid_aside,
    walk_diamonds,
)
from sim.games.bussikuski.record import STATE_DTYPE
from sim.jit import compiled, inlined
from sim.rng import DEAL, draw_words

__all__ = ["fold", "new_scratch", "play_block", "play_deal", "play_one", "play_watched"]

ACE_HIGH = np.array([to_ace_high(card) for card in range(DECK_SIZE)], np.uint8)


def new_scratch() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return what one thread needs to play: records of games side by side, shape (32,), and their table, shape (1,)."""
    return _zeros(N_LANES, STATE_DTYPE), _zeros(1, TABLE_DTYPE)


def _zeros(n: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return n records that begin with a cache line: vectors astride two lines cost some 5 % of the time."""
    room = np.zeros(n * dtype.itemsize + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + n * dtype.itemsize].view(dtype)


def play_block(scratch: Any, rules: Any, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
    """Play the games first … first + n_games - 1; return the columns, each some integers of shape (n_games,)."""
    states, table = scratch
    small, large = new_columns(rules, n_games)
    play_games(states, table[0], rules[0], np.uint64(seed), np.uint64(first), small, large, n_games)
    return as_columns(rules, small[:, :n_games], large)


def play_deal(
    scratch: Any, rules: Any, seed: int, game: int, orders: np.ndarray[Any, Any]
) -> list[np.ndarray[Any, Any]] | None:
    """Play one explicit deal; return its row as `play_block` does, or None if it needed one deck more than it has.

    Parameters
    ----------
    orders : uint8, shape (n_decks, 52)
        Cards as `sim.cards` numbers them, top first.
    """
    states, _ = scratch
    small, large = new_columns(rules, 1)
    stream = np.uint64(seed), np.uint64(game)
    if not play_watched(states[0], rules[0], ACE_HIGH[orders], no_room(), *stream, small, large):
        return None
    return as_columns(rules, small[:, :1], large)


def new_columns(rules: Any, n_games: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return room for a block: bytes for every column, and int64 for those that may not fit into them."""
    n = int(rules[0]["n_players"])
    # An odd number of cache lines a row: rows a power of two apart would all share one set of the cache.
    lines = -(-n_games // 64) | 1
    large = n_games if rules[0]["is_large"] else 0
    return np.empty((4 * n + 10, 64 * lines), np.uint8), np.empty((n + 3, large), np.int64)


def as_columns(rules: Any, small: np.ndarray[Any, Any], large: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Return the columns in the order of `state.columns`."""
    n = int(rules[0]["n_players"])
    columns = list(small)
    columns[2 * n + 4] = columns[2 * n + 4].view(np.int8)  # the driver may be nobody, -1
    if rules[0]["is_large"]:
        columns[2 * n + 7 : 3 * n + 10] = list(large)
    return columns


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
def write_row(state: Any, rules: Any, small: Any, large: Any, row: int) -> None:
    """Write the finished game, a byte a column in the order of `state.columns`; counts without bounds into `large`."""
    n = rules.n_players
    fewest = state.points[0]
    for seat in range(1, n):
        fewest = min(fewest, state.points[seat])
    n_winners = 0
    for seat in range(n):
        n_winners += state.points[seat] == fewest
    left = n + 4
    rest = left + n
    for seat in range(n):
        small[seat, row] = state.wrong[seat]
        small[left + seat, row] = state.left[seat]
        small[rest + 6 + seat, row] = state.points[seat]
        small[rest + 6 + n + seat, row] = n_winners * (state.points[seat] == fewest)
    for question in range(4):
        small[n + question, row] = (state.right >> np.uint64(8 * question)) & np.uint64(0xFF)
    small[rest, row] = state.driver
    small[rest + 1, row] = state.driver_by
    small[rest + 2, row] = state.bus_end
    small[rest + 3, row] = state.bus_attempts
    small[rest + 4, row] = state.bus_penalty
    small[rest + 5, row] = state.bus_turned
    if rules.is_large:
        large[0, row] = state.bus_attempts
        large[1, row] = state.bus_penalty
        large[2, row] = state.bus_turned
        for seat in range(n):
            large[3 + seat, row] = state.points[seat]


@compiled
def play_side_by_side(
    states: Any, table: Any, rules: Any, seed: int, first: int, small: Any, large: Any, row: int, n_games: int
) -> None:
    """Play up to 32 games side by side; write them from `row` on."""
    is_walk = diamond_is_walk(rules)
    for lane in range(n_games):
        state = states[lane]
        game = first + np.uint64(lane)
        begin(state, rules, None, seed, game)
        if is_walk:
            draw_words(table.words, lane, seed, game, DEAL, 1)
        guess_four(state, rules, None)
        if rules.all_leaders:
            turn_pyramid_aside(state, rules, table, lane)
        else:
            turn_pyramid(state, rules, None)
    if rules.all_leaders:
        give_aside(rules, table)
    if is_walk:
        walk_diamonds(rules, table)
    for lane in range(n_games):
        state = states[lane]
        if rules.all_leaders:
            for seat in range(rules.n_players):
                state.points[seat] = table.points[seat, lane]
        find_driver(state, rules, None, None)
        if is_walk:
            end_walk(state, rules, table, lane)
        else:
            ride(state, rules, None, None)
        write_row(state, rules, small, large, row + lane)


@compiled
def play_games(
    states: Any, table: Any, rules: Any, seed: int, first: int, small: Any, large: Any, n_games: int
) -> None:
    """Play `n_games` games from `first` on into the columns."""
    for row in range(0, n_games, N_LANES):
        n_lanes = min(N_LANES, n_games - row)
        play_side_by_side(states, table, rules, seed, first + np.uint64(row), small, large, row, n_lanes)


@compiled
def play_watched(
    state: Any, rules: Any, orders: Any, events: Any, seed: Any, game: Any, small: Any, large: Any
) -> bool:
    """Play one game into row 0 and write down what happens; False if an explicit deal lacks a deck."""
    events[0, 0] = 0
    if not play_one(state, rules, orders, events, seed, game):
        return False
    write_row(state, rules, small, large, 0)
    return True
