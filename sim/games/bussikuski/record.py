"""The record that holds one game of Bussikuski while a kernel plays it.

Cards are numbered with the ace high here: ``4 * rank + suit``, rank 0 the two and rank 12 the ace. Sets of cards are
52-bit words. Eight small counters, one for each seat, lie in the eight bytes of a word (*lanes*).
"""

from __future__ import annotations

import numpy as np

from sim.games.bussikuski.rules import MAX_PLAYERS
from sim.rng import DECK_SIZE, ORDER_DTYPE, STREAM_DTYPE

N_RANKS = 13
HIDDEN = 255  # a card lying face down that nobody has looked at

STATE_DTYPE = np.dtype(
    [
        ("seed", np.uint64),
        ("game", np.uint64),
        # phases 1 and 2
        ("deck", ORDER_DTYPE),
        ("n_dealt", np.int64),  # cards of the deck taken
        ("not_in_stock", np.uint64),  # after a reshuffle for the driver's draw: cards left out
        ("n_draw_reshuffles", np.int64),
        ("in_hands", np.uint64),  # cards nobody has played, once a draw needs to know
        ("face_up", np.uint64, (4 * MAX_PLAYERS,)),  # the first cards of the deck, by their number
        ("drawn", np.int64, (4,)),  # answers drawn by a seat that guesses at random
        ("answers", np.uint8, (MAX_PLAYERS, 4)),
        ("verdicts", np.uint8, (MAX_PLAYERS, 4)),
        ("holders", np.uint64, (N_RANKS,)),  # cards of the rank still held, one lane a seat
        ("wrong", np.int64, (MAX_PLAYERS,)),
        ("right", np.uint64),  # seats that were right, a lane each question
        ("left", np.int64, (MAX_PLAYERS,)),
        ("points", np.int64, (MAX_PLAYERS,)),
        ("before", np.int64, (MAX_PLAYERS,)),  # points before a gift, for telling it
        ("driver", np.int64),
        ("driver_by", np.int64),
        # phase 3
        ("bus", ORDER_DTYPE),
        ("n_taken", np.int64),  # cards of the bus deck taken from the stock (straight, questions)
        ("lying", np.uint64),  # cards kept out of the bus's new stock at its last reshuffle
        ("seen", np.uint64),  # turned since the last shuffle, or lying in the running attempt
        ("running", np.uint64),  # cards of the running attempt
        ("n_bus_orders", np.int64),  # orders after the first bus deck
        ("bus_end", np.int64),
        ("bus_attempts", np.int64),
        ("bus_penalty", np.int64),
        ("bus_turned", np.int64),
        # the diamond by places: the leftmost place of each row
        ("lead_position", np.int64, (DECK_SIZE,)),  # where its card stands in the bus deck
        ("lead_card", np.uint8, (DECK_SIZE,)),  # the card, once decided; else HIDDEN
        ("n_looked", np.int64),
        ("others", np.uint64),  # cards in all the other places, once decided
        ("stock", np.uint8, (DECK_SIZE,)),  # cards of a reshuffled stock
        ("n_stock", np.int64),
        # policies and explicit deals
        ("guess_streams", STREAM_DTYPE, (MAX_PLAYERS,)),
        ("give_streams", STREAM_DTYPE, (MAX_PLAYERS,)),
        ("n_orders_used", np.int64),
    ],
    align=True,
)

# Events for telling a game: see `sim.events`; the kind and its numbers.
ANSWER = 1  # seat, question, answer, card, verdict
GIFT = 2  # giver, recipient, points
PYRAMID = 3  # place, card, row value
PLAY = 4  # seat, number of cards, row value
TIED = 6  # seats tied (bits), 0 = by cards left, 1 = after the tie-break
DRAW = 7  # seat, card
DRAW_RESHUFFLE = 8  # cards in the new stock
DRIVER = 9  # seat, how found
ATTEMPT = 10  # number
TURN = 11  # row, card, 1 = it blocks
BASE = 12  # card
BUS_ANSWER = 13  # guess's number, answer, card, verdict
FAILURE = 14  # cost
REFILL = 15  # places filled, cards left in the stock
BUS_RESHUFFLE = 16  # cards in the new stock
FRESH = 17
END = 18  # how the ride ended

WRONG, RIGHT, FREE = 0, 1, 2
