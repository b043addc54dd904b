"""Autobus's kernel: one game, a block of games, an explicit deal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.events import no_room, note
from sim.games.autobus import record as rec
from sim.games.autobus.counts import deal_counts, play_turn_counts
from sim.games.autobus.moves import (
    TURN_CAP,
    begin,
    bury,
    bus_left,
    bus_top,
    deal,
    discard_is_due,
    draw_up,
    end_turn,
    fold,
    lay,
    leave_hand,
    leave_storage,
    reaches_cap,
    store,
    swap,
    take_deck,
    take_order,
    talon_size,
    win,
)
from sim.games.autobus.policies import choose_discard, choose_placement
from sim.games.autobus.record import (
    BURY,
    BUS,
    COPIES,
    FROM_BUS,
    FROM_HAND,
    FROM_STORAGE,
    HAND,
    MAX_CARDS,
    NO_WAY,
    STATE_DTYPE,
    STOP,
    STORAGE,
    SWAP,
)
from sim.jit import compiled, inlined

__all__ = ["fold", "new_scratch", "play_block", "play_counted", "play_deal", "play_games"]

N_SHARED_COLUMNS = 7  # before those of the seats
SEEDED = np.empty((0, MAX_CARDS), np.uint8)  # in place of explicit deals


def new_scratch() -> np.ndarray[Any, Any]:
    """Return what one thread needs to play: a game's record, shape (1,)."""
    return np.zeros(1, STATE_DTYPE)


def play_block(scratch: Any, rules: Any, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
    """Play the games first … first + n_games - 1; return the columns, each some integers of shape (n_games,)."""
    rows = new_columns(rules, n_games)
    stream = np.uint64(seed), np.uint64(first)
    if rules[0]["only_ranks"]:
        play_counted(scratch[0], rules[0], *stream, rows)
    else:
        play_games(scratch[0], rules[0], SEEDED, no_room(), *stream, rows)
    return list(rows)


def play_deal(
    scratch: Any, rules: Any, seed: int, game: int, orders: np.ndarray[Any, Any]
) -> list[np.ndarray[Any, Any]] | None:
    """Play one explicit deal; return its row as `play_block` does.

    Parameters
    ----------
    orders : uint8, shape (1, n_cards)
        Cards as `sim.cards` numbers them, top first.
    """
    rows = new_columns(rules, 1)
    play_games(scratch[0], rules[0], orders, no_room(), np.uint64(seed), np.uint64(game), rows)
    return list(rows)


def new_columns(rules: Any, n_games: int) -> np.ndarray[Any, Any]:
    """Return room for a block, int64 of shape (n_columns, n_games)."""
    return np.empty((N_SHARED_COLUMNS + 2 * int(rules[0]["n_players"]), n_games), np.int64)


@inlined
def place_cards(state: Any, rules: Any, events: Any, seat: int) -> bool:
    """Place cards as the seat's policy says until it stops; tell whether the bus is empty."""
    state.pass_placed_from_hand = 0
    while True:
        choice = choose_placement(state, rules, seat)
        if choice == STOP:
            return False
        state.turn_placed += 1
        if choice == BUS:
            card = bus_top(state, seat)
            state.bus_head[seat] += 1
            lay(state, rules, events, seat, card, FROM_BUS, 0)
            if bus_left(state, seat) == 0:
                return True
        elif choice >= STORAGE:
            pile = (choice - STORAGE) // COPIES
            card = leave_storage(state, seat, pile, (choice - STORAGE) % COPIES)
            lay(state, rules, events, seat, card, FROM_STORAGE, pile)
        else:
            state.pass_placed_from_hand += 1
            lay(state, rules, events, seat, leave_hand(state, seat, choice - HAND), FROM_HAND, 0)


@inlined
def give_up(state: Any, rules: Any, events: Any, seat: int) -> None:
    """Give up a card as the seat's policy says, if that is possible."""
    how, a, pile = choose_discard(state, rules, seat)
    if how == NO_WAY:
        note(events, rec.PASS, seat)
    elif how == SWAP:
        k = swap(state, seat, a, pile)
        note(events, rec.GIVE_UP, seat, how, 4 * a, pile, k)
    else:
        card = leave_hand(state, seat, a)
        note(events, rec.GIVE_UP, seat, how, card, pile, 1)
        if how == BURY:
            bury(state, seat, card)
        else:
            store(state, seat, pile, card)


@inlined
def play_turn(state: Any, rules: Any, events: Any, seat: int) -> bool:
    """Play a turn; tell whether the game is over."""
    note(events, rec.TURN, seat)
    state.n_turns += 1
    state.turn_placed = 0
    state.turn_began_empty = talon_size(state) == 0
    while True:
        draw_up(state, rules, events, seat)
        state.n_passes += 1
        if place_cards(state, rules, events, seat):
            win(state, seat)
            return True
        if state.n_hand[seat] > 0 or talon_size(state) == 0:
            break
        if reaches_cap(state, rules):
            state.end = TURN_CAP
            return True
    if state.n_hand[seat] > 0 and discard_is_due(rules, state.turn_placed, state.pass_placed_from_hand):
        give_up(state, rules, events, seat)
    state.wanted_left[seat] = state.wanted
    return end_turn(state, rules)


@inlined
def write_row(state: Any, rules: Any, rows: Any, row: int) -> None:
    """Write the finished game in the order of `state.columns`."""
    rows[0, row] = state.winner
    rows[1, row] = state.end
    rows[2, row] = state.n_turns
    rows[3, row] = state.n_plays
    rows[4, row] = state.n_finished
    rows[5, row] = state.n_buries
    rows[6, row] = state.n_swaps
    n = rules.n_players
    total = 0
    for seat in range(n):
        left = bus_left(state, seat)
        rows[N_SHARED_COLUMNS + seat, row] = left
        lost = left if state.winner >= 0 else 0
        rows[N_SHARED_COLUMNS + n + seat, row] = -lost
        total += lost
    if state.winner >= 0:
        rows[N_SHARED_COLUMNS + n + state.winner, row] = total


@compiled
def play_games(state: Any, rules: Any, orders: Any, events: Any, seed: int, first: int, rows: Any) -> None:
    """Play the games from `first` on, one into each column of `rows`, and write down what happens.

    Parameters
    ----------
    orders
        One explicit deal a game (uint8, top first); no rows for seeded games.
    """
    for row in range(rows.shape[1]):
        game = first + np.uint64(row)
        if orders.shape[0] > 0:
            take_order(state, rules, orders[row])
        else:
            take_deck(state, rules, seed, game)
        begin(state, rules, seed, game)
        deal(state, rules)
        seat = np.int64(0)  # a literal would make numba compile everything for it once more
        while not play_turn(state, rules, events, seat):
            seat = seat + 1 if seat + 1 < rules.n_players else 0
        note(events, rec.END, state.end, state.winner)
        write_row(state, rules, rows, row)


@compiled
def play_counted(state: Any, rules: Any, seed: int, first: int, rows: Any) -> None:
    """Play seeded games in which only ranks matter (`moves.only_ranks_matter`) in counts of ranks."""
    for row in range(rows.shape[1]):
        game = first + np.uint64(row)
        take_deck(state, rules, seed, game)
        begin(state, rules, seed, game)
        deal_counts(state, rules)
        seat = np.int64(0)  # a literal would make numba compile everything for it once more
        while not play_turn_counts(state, rules, seat):
            seat = seat + 1 if seat + 1 < rules.n_players else 0
        write_row(state, rules, rows, row)
