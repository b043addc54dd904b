"""Dupa biskupa's kernel: one match, a block of matches, an explicit deal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.events import no_room, note
from sim.games.dupa import record as rec
from sim.games.dupa.moves import (
    DEMANDED,
    NOTHING,
    ONE,
    begin_match,
    begin_round,
    draw,
    fold,
    lay,
    next_seat,
    note_idle,
    put_down,
    round_is_over,
    score_round,
)
from sim.games.dupa.policies import GREEDY, choose_drawn, choose_greedy, choose_other
from sim.games.dupa.record import MOST_CARDS, STATE_DTYPE
from sim.jit import compiled, inlined

__all__ = ["fold", "new_scratch", "play_block", "play_deal", "play_watched"]

N_SMALL = 2  # columns before the counts: winner, end
N_COUNTS = 4  # turns, draws, reshuffles, dupas
LARGEST = 2**15 - 1


def new_scratch() -> np.ndarray[Any, Any]:
    """Return what one thread needs to play: a record, shape (1,)."""
    return np.zeros(1, STATE_DTYPE)


def play_block(scratch: Any, rules: Any, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
    """Play the games first … first + n_games - 1; return the columns, each some integers of shape (n_games,)."""
    decks = None if rules[0]["n_decks"] == 1 else int(rules[0]["n_decks"])
    others = None if decks is None and (rules[0]["policy"] == GREEDY).all() else 1
    kind = np.int16 if decks is None and rules[0]["largest"] <= LARGEST else np.int64
    rows = new_columns(rules, n_games, kind)
    play_games(scratch[0], rules[0], decks, others, np.uint64(seed), np.uint64(first), rows, n_games)
    return list(rows[:, :n_games])


def play_deal(
    scratch: Any, rules: Any, seed: int, game: int, orders: np.ndarray[Any, Any]
) -> list[np.ndarray[Any, Any]] | None:
    """Play one explicit deal; return its row as `play_block` does.

    Parameters
    ----------
    orders : uint8, shape (n_rounds, n_cards)
        Cards as `sim.cards` numbers them, top first.
    """
    rows = new_columns(rules, 1)
    play_watched(scratch[0], rules[0], orders, no_room(), np.uint64(seed), np.uint64(game), rows)
    return list(rows[:, :1])


def new_columns(rules: Any, n_games: int, kind: type[np.signedinteger[Any]] = np.int64) -> np.ndarray[Any, Any]:
    """Return room for a block, a row each column."""
    # An odd number of cache lines a row: rows a power of two apart would all share one set of the cache.
    in_line = 64 // np.dtype(kind).itemsize
    lines = -(-n_games // in_line) | 1
    return np.empty((N_SMALL + N_COUNTS + 3 * int(rules[0]["n_players"]), in_line * lines), kind)


@inlined
def take_turn(
    state: Any, rules: Any, decks: Any, others: Any, events: Any, seat: int, n_turns: int, situation: int, in_pile: int
) -> tuple[int, int]:
    """Let a seat play, or draw and pass; return the pile's situation and ranks, which are in the record too.

    They are handed from turn to turn, because a number takes longer through the record than a greedy seat to decide.
    """
    if events is not None:
        note(events, rec.TURN, seat, situation, state.stock.n_cards - state.stock.n_taken)
    if others is None or rules.policy[seat] == GREEDY:
        if choose_greedy(state, rules, decks, seat, situation, in_pile):
            return make_move(state, rules, decks, events, seat, situation, in_pile, False)
    if others is not None:
        if choose_other(state, rules, decks, seat):
            return make_move(state, rules, decks, events, seat, situation, in_pile, False)
    draw_or_pass(state, rules, decks, events, seat, n_turns)
    return state.situation, state.in_pile


@inlined
def make_move(
    state: Any, rules: Any, decks: Any, events: Any, seat: int, situation: int, in_pile: int, is_drawn: bool
) -> tuple[int, int]:
    """Lay what was chosen; return the pile's situation and ranks."""
    note(events, rec.PLAY, seat, state.as_dupas != 0, is_drawn)
    situation, in_pile = lay(state, rules, decks, seat, situation, in_pile)
    if events is not None:
        note_cards(state, decks, events)
    return situation, in_pile


@compiled
def draw_or_pass(state: Any, rules: Any, decks: Any, events: Any, seat: int, n_turns: int) -> None:
    """Let a seat that plays nothing from its hand draw, and pass unless it plays the card; a demand may lapse."""
    if draw(state, rules, decks, events, seat):
        if rules.play_drawn and choose_drawn(state, rules, decks, seat):
            make_move(state, rules, decks, events, seat, state.situation, state.in_pile, True)
            return
    else:
        note_idle(state, rules, n_turns)
    note(events, rec.PASS, seat)
    if not rules.until_met:
        state.situation &= ~DEMANDED


@compiled
def note_cards(state: Any, decks: Any, events: Any) -> None:
    """Write down the cards of the move just made, in the order they lie."""
    cards = np.zeros(MOST_CARDS + 4, np.uint8)
    for i in range(put_down(state, decks, np.uint64(state.n_laid - 1), cards, np.uint64(0))):
        note(events, rec.CARD, cards[i])


@inlined
def play_round(state: Any, rules: Any, decks: Any, others: Any, orders: Any, events: Any, number: int) -> None:
    """Play round `number` to its end and score it."""
    begin_round(state, rules, decks, orders, number)
    seat = rules.order[np.uint64(number % rules.n_players)]
    note(events, rec.ROUND, number, seat)
    situation, in_pile = state.situation, state.in_pile
    n_turns = np.int64(1)
    while True:
        situation, in_pile = take_turn(state, rules, decks, others, events, seat, n_turns, situation, in_pile)
        if round_is_over(state, rules, decks, seat, n_turns):
            break
        n_turns += 1
        seat = next_seat(rules, seat)
    state.turns += n_turns
    note(events, rec.END, state.end, state.winner)
    score_round(state, rules, decks)


@inlined
def write_row(state: Any, rules: Any, rows: Any, row: int) -> None:
    """Write the finished match in the order of `state.columns`."""
    n = np.uint64(rules.n_players)
    winners, n_winners, winner = find_winners(state, rules)
    rows[0, row] = winner
    rows[1, row] = state.end
    rows[2, row] = state.turns
    rows[3, row] = state.draws
    rows[4, row] = state.reshuffles
    rows[5, row] = state.dupas
    at = np.uint64(N_SMALL + N_COUNTS)
    for seat in range(n):
        rows[at + seat, row] = state.left[seat]
        rows[at + n + seat, row] = state.points[seat]
        rows[at + n + n + seat, row] = n_winners if (winners >> seat) & ONE else 0


@inlined
def find_winners(state: Any, rules: Any) -> tuple[int, int, int]:
    """Return who wins the match (bits), how many they are, and the one who wins alone or -1.

    Of one round that is who emptied its hand; of several, who has fewest points, if any round was won.
    """
    if rules.n_rounds == 1:
        won = np.int64(state.n_won)
        return np.uint64(won) << (np.uint64(state.winner) & np.uint64(63)), won, state.winner
    if state.n_won == 0:
        return NOTHING, 0, -1
    fewest = state.points[0]
    for seat in range(1, rules.n_players):
        fewest = min(fewest, state.points[seat])
    winners, n_winners, winner = NOTHING, 0, -1
    for seat in range(rules.n_players):
        if state.points[seat] == fewest:
            winners |= ONE << np.uint64(seat)
            n_winners += 1
            winner = seat
    return winners, n_winners, winner if n_winners == 1 else -1


@compiled
def play_games(state: Any, rules: Any, decks: Any, others: Any, seed: int, first: int, rows: Any, n_games: int) -> None:
    """Play `n_games` games from `first` on into the columns.

    `others` is None if every seat is greedy; numba drops the other policies then.
    """
    for row in range(n_games):
        begin_match(state, rules, seed, first + np.uint64(row))
        for number in range(rules.n_rounds):
            play_round(state, rules, decks, others, None, None, number)
        write_row(state, rules, rows, row)


@compiled
def play_watched(state: Any, rules: Any, orders: Any, events: Any, seed: Any, game: Any, rows: Any) -> None:
    """Play an explicit deal into row 0 and write down what happens."""
    events[0, 0] = 0
    begin_match(state, rules, seed, game)
    for number in range(rules.n_rounds):
        play_round(state, rules, rules.n_decks, 1, orders, events, number)
    write_row(state, rules, rows, 0)
