"""The record that holds one game of Autobus while a kernel plays it.

Cards are numbered as in `sim.cards`, ``4 * rank + suit`` with the ace at rank 0, so that a set of ranks and suits is a
52-bit word. Piles that accept the same cards are alike: a *class* is the card a pile shows, or without `follow_suit`
its rank's first card.
"""

from __future__ import annotations

import numpy as np

from sim.cards import DECK_SIZE
from sim.games.autobus.rules import MAX_DECKS, MAX_HAND, MAX_PILES, MAX_PLAYERS
from sim.rng import STREAM_DTYPE

N_RANKS = 13
MAX_CARDS = MAX_DECKS * DECK_SIZE
RING = 512  # more than all cards: room for a queue of them
ROOM = 1024  # for the deck and what returns, before what is left is moved to the front
COPIES = 4 * MAX_DECKS  # of a rank: the most cards of a storage pile, the most common piles

# What a seat with the policy `planner` sees and tries out. Arrays of 64 are by class; those of seats are in the order
# of their turns, the next one first and the planner itself last.
N_SINGLE, N_BASE = 21, 10  # the terms of the own strength that stand alone, and those multiplied with each other too
N_OWN, N_OTHER = N_SINGLE + N_BASE, 10
PLAN_DTYPE = np.dtype(
    [
        ("step", np.int64),  # from one class to the next: 4 where only ranks matter
        ("wanted", np.uint64),  # classes that a common pile accepts
        ("n_accepting", np.int64, (64,)),  # common piles that accept a class
        ("n_unseen", np.int64, (64,)),
        ("share", np.float64, (64,)),  # of a class among the unseen cards
        ("none_of", np.float64, (MAX_HAND + 4, 64)),  # chance that so many unseen cards hold none of a class
        # the own cards
        ("held", np.uint64),  # classes in hand or storage
        ("n_in_hand", np.int64, (64,)),
        ("n_in_storage", np.int64, (64,)),
        ("n_stored", np.int64, (N_RANKS,)),
        ("n_hand", np.int64),
        ("n_all_stored", np.int64),
        ("n_empty", np.int64),  # storage piles
        ("bus_left", np.int64),
        ("top", np.int64),
        # the seats
        ("stored", np.uint64, (MAX_PLAYERS,)),  # classes in storage
        ("n_empty_of", np.int64, (MAX_PLAYERS,)),
        ("left", np.int64, (MAX_PLAYERS,)),
        ("tops", np.int64, (MAX_PLAYERS,)),
        ("chance", np.float64, (MAX_PLAYERS, 64)),  # to have a card of a class at the next turn
        ("number", np.float64, (MAX_PLAYERS, 64)),  # of such cards, on average
        ("later_chance", np.float64, (MAX_PLAYERS, 64)),  # the same a round later
        ("later_number", np.float64, (64,)),
        ("own_chance", np.float64, (64,)),
        ("own_number", np.float64, (64,)),
        # playing ahead
        ("flow", np.float64, (64,)),  # common piles that accept a class, on average
        ("fits", np.float64, (64,)),  # chance that a class was accepted in the turn played last
        ("own", np.float64, (N_OWN,)),
        ("other", np.float64, (N_OTHER,)),
        ("strength", np.float64, (MAX_PLAYERS,)),
        # the search: the classes held, and what is placed of them
        ("kinds", np.int64, (64,)),
        ("n_placed", np.int64, (64,)),
        ("n_from_hand", np.int64, (64,)),
    ],
    align=True,
)

STATE_DTYPE = np.dtype(
    [
        ("seed", np.uint64),
        ("game", np.uint64),
        # the deck as shuffled, then what has returned; the talon is what lies from `head` to `tail`
        ("cards", np.uint8, (ROOM,)),
        ("head", np.int64),
        ("tail", np.int64),
        ("n_decided", np.int64),  # cards whose places are known; the others are shuffled when they are reached
        ("deck_stream", STREAM_DTYPE),
        ("recycle_stream", STREAM_DTYPE),
        ("n_shuffles", np.int64),  # of finished piles
        # the table
        ("wanted", np.uint64),  # cards that a common pile accepts, aces included
        ("n_showing", np.int32, (64,)),  # common piles by class + 4
        ("piles", np.uint8, (COPIES, N_RANKS)),  # their cards, oldest pile first
        ("pile_height", np.int64, (COPIES,)),
        ("n_piles", np.int64),
        # the seats
        ("hand", np.uint8, (MAX_PLAYERS, 16)),  # in the order drawn
        ("n_hand", np.int64, (MAX_PLAYERS,)),
        ("bus", np.uint8, (MAX_PLAYERS, RING)),  # from the top; what is buried goes to the end
        ("bus_head", np.int64, (MAX_PLAYERS,)),
        ("bus_tail", np.int64, (MAX_PLAYERS,)),
        ("storage", np.uint8, (MAX_PLAYERS, MAX_PILES, COPIES)),
        ("n_storage", np.int64, (MAX_PLAYERS, MAX_PILES)),
        # the same in counts, for games in which only ranks matter
        ("sums", np.uint64, (ROOM,)),  # of the cards before this one, modulo 2**64, as far as they are decided
        ("n_summed", np.int64),
        ("hand_counts", np.uint64, (MAX_PLAYERS,)),  # a nibble a rank, at the class's bit
        ("storage_kinds", np.uint64, (MAX_PLAYERS,)),  # a byte a pile: its class + 1, 0 for an empty one
        ("storage_counts", np.uint64, (MAX_PLAYERS,)),  # a byte a pile: its number of cards
        ("storage_ranks", np.uint64, (MAX_PLAYERS,)),  # their ranks, the highest bit of each nibble
        # the turn
        ("pass_placed_from_hand", np.int64),
        ("turn_placed", np.int64),
        ("turn_began_empty", np.int64),  # the talon was empty before the turn's draw
        ("n_idle_turns", np.int64),  # turns in a row without a card placed
        ("n_dead_turns", np.int64),  # of them, those in a row that began with an empty talon
        ("swapped", np.uint8, (4,)),  # the hand cards of a swap
        # policies
        ("streams", STREAM_DTYPE, (MAX_PLAYERS,)),
        # the row
        ("winner", np.int64),
        ("end", np.int64),
        ("n_passes", np.int64),
        ("n_turns", np.int64),
        ("n_plays", np.int64),
        ("n_finished", np.int64),
        ("n_buries", np.int64),
        ("n_swaps", np.int64),
        # the planner
        ("wanted_left", np.uint64, (MAX_PLAYERS,)),  # what the common piles accepted at the end of a seat's last turn
        ("plan", PLAN_DTYPE),
    ],
    align=True,
)

# Where a card comes from, and how it is given up.
FROM_HAND, FROM_STORAGE, FROM_BUS = 0, 1, 2
TO_EMPTY, TO_EQUAL, SWAP, BURY = 0, 1, 2, 3

# What a policy answers: `HAND` + place in the hand, `STORAGE` + `COPIES` × pile + place in the pile, `BUS`, or `STOP`;
# and in place of a way to give up a card that there is none.
STOP, HAND, STORAGE, BUS = -1, 0, 64, 1024
NO_WAY = -1

# Events for telling a game: see `sim.events`; the kind and its numbers.
TURN = 1  # seat
DRAW = 2  # seat, card
PLACE = 3  # seat, card, from where, storage pile, number of the common pile (oldest first; their number = a new one)
FINISH = 4  # number of the common pile, cards in the talon
GIVE_UP = 5  # seat, how, card, storage pile, number of cards (a swap's k)
PASS = 6  # seat: nothing could be given up
END = 7  # how, winner
