"""Bludiště's kernel: one game, a block of games, an explicit deal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.bludiste.best import SEARCH_DTYPE, play_best
from sim.games.bludiste.first import TABLE_DTYPE, play_firsts
from sim.games.bludiste.moves import begin, deal, decide_to, fold, write_row
from sim.games.bludiste.policies import BEST, FIRST, place_by_grace, place_until_stuck
from sim.games.bludiste.record import SHIFT, STATE_DTYPE
from sim.jit import compiled, inlined

__all__ = ["fold", "new_scratch", "play_block", "play_deal", "play_one"]


def new_scratch() -> tuple[np.ndarray[Any, Any], ...]:
    """Return what one thread needs to play."""
    return np.zeros(1, STATE_DTYPE), np.zeros(1, SEARCH_DTYPE), np.zeros(1, TABLE_DTYPE)


def play_block(scratch: Any, rules: Any, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
    """Play the games first … first + n_games - 1; return the columns, uint8, each of shape (n_games,)."""
    columns = np.empty((4, n_games), np.uint8)
    state, search, table = scratch
    if rules[0]["policy"] == FIRST and rules[0]["is_plain"]:
        play_firsts(state[0], table[0], rules[0], np.uint64(seed), np.uint64(first), columns)
        return list(columns)
    play_games(state[0], search[0], rules[0], np.uint64(seed), np.uint64(first), columns, n_games)
    return list(columns)


def play_deal(
    scratch: Any, rules: Any, seed: int, game: int, orders: np.ndarray[Any, Any]
) -> list[np.ndarray[Any, Any]]:
    """Play one explicit deal; return its row as `play_block` does.

    Parameters
    ----------
    orders : uint8, shape (1, n_cards)
        The stock as `sim.cards` numbers it, top first.
    """
    columns = np.empty((4, 1), np.uint8)
    play_told(
        scratch[0][0],
        scratch[1][0],
        rules[0],
        orders[0] + np.uint8(SHIFT),
        None,
        np.uint64(seed),
        np.uint64(game),
        columns,
    )
    return list(columns)


@inlined
def play_one(state: Any, search: Any, rules: Any, order: Any, events: Any, seed: int, game: int) -> None:
    """Play one game."""
    begin(state, rules, order, seed, game)
    policy = rules.policy
    if policy == BEST:
        play_best(state, rules, events, search)
        return
    while deal(state, rules, events) or place_by_grace(state, rules, events, policy):
        place_until_stuck(state, rules, events, policy)


@compiled
def play_games(state: Any, search: Any, rules: Any, seed: int, first: int, columns: Any, n_games: int) -> None:
    """Play `n_games` games from `first` on into the columns."""
    for row in range(n_games):
        play_one(state, search, rules, None, None, seed, first + np.uint64(row))
        write_row(state, rules, columns, row)


@compiled
def play_told(state: Any, search: Any, rules: Any, order: Any, events: Any, seed: int, game: int, columns: Any) -> None:
    """Play one game, an explicit deal or one that is told, into row 0."""
    if events is not None:
        events[0, 0] = 0
    play_one(state, search, rules, order, events, seed, game)
    write_row(state, rules, columns, 0)


@compiled
def shuffle_stock(state: Any, rules: Any, seed: int, game: int) -> None:
    """Shuffle the whole stock of a game."""
    begin(state, rules, None, seed, game)
    decide_to(state, rules, rules.n_stock)
