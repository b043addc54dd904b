"""Bludiště's kernel: one game, a block of games, an explicit deal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.events import no_room
from sim.games.bludiste.best import SEARCH_DTYPE, play_best
from sim.games.bludiste.first import TABLE_DTYPE, play_firsts
from sim.games.bludiste.moves import begin, deal, decide_to, fold, write_row
from sim.games.bludiste.policies import BEST, FIRST, place_by_grace, place_until_stuck
from sim.games.bludiste.record import SHIFT, STATE_DTYPE
from sim.jit import compiled

__all__ = ["fold", "new_scratch", "play_block", "play_deal", "play_games"]

SEEDED = np.empty(0, np.uint8)  # in place of an explicit deal


def new_scratch() -> tuple[np.ndarray[Any, Any], ...]:
    """Return what one thread needs to play."""
    return np.zeros(1, STATE_DTYPE), np.zeros(1, SEARCH_DTYPE), np.zeros(1, TABLE_DTYPE)


def play_block(scratch: Any, rules: Any, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
    """Play the games first … first + n_games - 1; return the columns, uint8, each of shape (n_games,)."""
    columns = new_columns(n_games)
    state, search, table = scratch
    stream = np.uint64(seed), np.uint64(first)
    if rules[0]["policy"] == FIRST and rules[0]["is_plain"]:
        play_firsts(state[0], table[0], rules[0], *stream, columns)
    else:
        play_games(state[0], search[0], rules[0], SEEDED, no_room(), *stream, columns)
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
    columns = new_columns(1)
    state, search, _ = scratch
    stream = np.uint64(seed), np.uint64(game)
    play_games(state[0], search[0], rules[0], orders[0] + np.uint8(SHIFT), no_room(), *stream, columns)
    return list(columns)


def new_columns(n_games: int) -> np.ndarray[Any, Any]:
    """Return room for a block, uint8 of shape (4, n_games)."""
    return np.empty((4, n_games), np.uint8)


@compiled
def play_games(
    state: Any, search: Any, rules: Any, order: Any, events: Any, seed: int, first: int, columns: Any
) -> None:
    """Play the games from `first` on, one into each of the columns' places, and write down what happens.

    Parameters
    ----------
    order
        The explicit deal as the record numbers cards, of which every game is played; empty for seeded games.
    """
    policy = rules.policy
    for row in range(columns.shape[1]):
        begin(state, rules, order, seed, first + np.uint64(row))
        if policy == BEST:
            play_best(state, rules, events, search)
        else:
            while deal(state, rules, events) or place_by_grace(state, rules, events, policy):
                place_until_stuck(state, rules, events, policy)
        write_row(state, rules, columns, row)


@compiled
def shuffle_stock(state: Any, rules: Any, seed: int, game: int) -> None:
    """Shuffle the whole stock of a game."""
    begin(state, rules, SEEDED, seed, game)
    decide_to(state, rules, rules.n_stock)
