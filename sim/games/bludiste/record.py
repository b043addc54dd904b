"""The record that holds one game of Bludiště while a kernel plays it.

A *place* is `columns` times its row plus its column, so that the stock fills places 0, 1, 2 … when rows are opened: as
every row but the last is whole, there are never more places than cards in the stock. Sets of places are two words, the
low one for places 0–63. Cards are numbered four higher than in `sim.cards`, so that ``wanted[suit] - 4`` below the ace
and ``+ 4`` above the king are numbers too: of cards that no place ever holds.
"""

from __future__ import annotations

import numpy as np

from sim.rng import STREAM_DTYPE

MAX_STOCK = 96
MAX_ROWS = 96  # of one card each
N_PLACES = 128
SHIFT = 4  # what is added to a card's number in `sim.cards`
N_CARDS = 60
N_FOUNDATIONS = 8  # 0–3 going up by suit, 4–7 going down

STATE_DTYPE = np.dtype(
    [
        ("occupied", np.uint64, (2,)),  # places with a card
        ("open", np.uint64, (2,)),  # places where a card is available, or would be
        ("laid", np.uint64, (N_CARDS, 2)),  # by card the places it lies at
        ("wanted", np.int64, (N_FOUNDATIONS,)),  # the card each foundation takes next
        ("at", np.uint8, (N_PLACES,)),  # by place the card laid there last
        ("stock", np.uint8, (MAX_STOCK + 8,)),
        ("n_decided", np.int64),  # cards of the stock that are decided
        ("n_dealt", np.int64),
        ("n_rows", np.int64),
        ("n_placed", np.int64),
        ("n_laid", np.int64),  # cards dealt into rows; the others of those dealt went into gaps
        ("n_graces", np.int64),  # uses of grace that are left
        ("shuffling", STREAM_DTYPE),
        ("thinking", STREAM_DTYPE),  # the policy's random numbers
    ],
    align=True,
)

# Events for telling a game: see `sim.events`; the kind and its numbers.
ROW = 1  # number of cards, the next ones of the stock
FILL = 2  # place, card
PLACE = 3  # place, card, foundation
GRACE = 4  # place, card, foundation
TRANSFER = 5  # card, from foundation, to foundation
