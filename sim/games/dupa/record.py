"""The record that holds one round of Dupa biskupa while a kernel plays it, and what is written down to tell it.

Cards are numbered with the ace high here: ``4 * rank + suit``, rank 0 the two and rank 12 the ace. A set of cards is
one 52-bit word a deck: every card belongs to one of the decks (1 to 4), so that equal cards are told apart. The order
of the bits is the order in which cards are laid: ranks ascending, then suits S, H, D, C.
"""

from __future__ import annotations

import numpy as np

from sim.games.dupa.rules import MAX_DECKS, MAX_PLAYERS
from sim.rng import STREAM_DTYPE

N_RANKS = 13
MOST_CARDS = 52 * MAX_DECKS
NO_TOP = 52  # in place of a top card: the pile is empty
DEMANDED = 64  # added to the top card while it has to be beaten
N_SITUATIONS = 128

# Cards in a shuffled order: the first `n_revealed` are decided. They are *pack numbers*: 52 times the deck plus the
# number of `sim.cards`. (Room for eight more than there are: see `sim.rng.decide_next`.)
STOCK_DTYPE = np.dtype(
    [
        ("stream", STREAM_DTYPE),
        ("n_revealed", np.int64),
        ("n_cards", np.int64),
        ("n_taken", np.int64),
        ("cards", np.uint8, (MOST_CARDS + 8,)),
    ],
    align=True,
)

STATE_DTYPE = np.dtype(
    [
        ("seed", np.uint64),
        ("game", np.uint64),
        ("round", np.int64),
        ("hands", np.uint64, (MAX_PLAYERS, MAX_DECKS)),
        ("stock", STOCK_DTYPE),
        # the pile
        ("situation", np.uint64),  # the top card (or NO_TOP), plus DEMANDED while it has to be beaten
        ("in_pile", np.uint64),  # ranks in the pile, all four cards of each
        ("n_laid", np.int64),  # the moves that made it, the earliest first:
        ("laid", np.uint64, (MOST_CARDS, MAX_DECKS)),  # the cards of each, a word a deck
        ("laid_first", np.uint64, (MOST_CARDS,)),  # the one that was laid before the others, if any
        ("first_from", np.uint64, (MOST_CARDS,)),  # and its deck
        # the move being made
        ("move", np.uint64, (MAX_DECKS,)),
        ("as_dupas", np.uint64),  # cards of the move that are laid as dupas: all of them or none
        ("best", np.uint64, (MAX_DECKS,)),  # the best move `careful` has found so far
        ("best_dupas", np.uint64),
        ("unseen", np.uint64, (MAX_DECKS,)),  # cards neither in its hand nor in the pile
        ("drawn", np.int64),  # pack number of the card drawn last
        # the round so far, and the match
        ("last_turn", np.int64),  # the turn after which the round is over: the cap, or the one that made it stuck
        ("n_idle", np.int64),  # passes in a row without a draw,
        ("idle_turn", np.int64),  # and the turn of the last of them
        ("n_reshuffles", np.int64),
        ("winner", np.int64),
        ("end", np.int64),
        ("n_won", np.int64),
        ("turns", np.int64),
        ("draws", np.int64),
        ("reshuffles", np.int64),
        ("dupas", np.int64),
        ("left", np.int64, (MAX_PLAYERS,)),
        ("points", np.int64, (MAX_PLAYERS,)),
        ("policy_streams", STREAM_DTYPE, (MAX_PLAYERS,)),
    ],
    align=True,
)

# Events for telling a game: see `sim.events`; the kind and its numbers.
ROUND = 1  # number, first seat
TURN = 2  # seat, top card, 1 = it has to be beaten, cards in the stock
PLAY = 3  # seat, 1 = a dupa, 1 = the drawn card
CARD = 4  # pack number, as it is laid
RESHUFFLE = 5  # cards in the new stock
DRAW = 6  # seat, pack number
PASS = 7  # seat
END = 8  # how the round ended, winner
