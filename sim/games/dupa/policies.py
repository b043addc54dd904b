"""Dupa biskupa's policies: each puts its move into the record, or passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.dupa.careful import choose_careful, keeps_drawn
from sim.games.dupa.moves import (
    LOW_BITS,
    NOTHING,
    ONE,
    dupa_cards,
    further_dupas,
    n_words,
    plain_cards,
    ranks_of,
    united,
    unpacked,
    whole_ranks,
)
from sim.games.dupa.rules import SLOTS
from sim.jit import compiled, inlined
from sim.rng import count_ones, draw_below, either, lowest_one

GREEDY, RANDOM, CAREFUL = (list(SLOTS[0].choices).index(name) for name in ("greedy", "random", "careful"))


@inlined
def choose_greedy(state: Any, rules: Any, decks: Any, seat: int, situation: int, in_pile: int) -> bool:
    """Choose the largest set, then the lowest rank, aces last; with a dupa, every dupa that may be laid."""
    held = united(state.hands[seat], decks)
    dupas = dupa_cards(rules, situation, in_pile, held)
    may = plain_cards(rules, situation, held) | dupas
    if may == NOTHING:
        return False
    chosen = largest_rank(state.hands[seat], decks, may)
    chosen |= either((chosen & dupas) != NOTHING, further_dupas(rules, situation, in_pile), NOTHING)
    state.as_dupas = dupas & chosen
    for deck in range(n_words(decks)):
        state.move[deck] = state.hands[seat, deck] & chosen
    return True


@inlined
def largest_rank(words: Any, decks: Any, may: int) -> int:
    """Return all four cards of that rank of `may` of which most cards are held, the lowest among equals."""
    if decks is None:
        word = words[0]
        pairs = word - ((word >> ONE) & np.uint64(0x5555555555555))
        counts = (pairs & np.uint64(0x3333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333))
        two, four = (counts >> ONE) & LOW_BITS, (counts >> np.uint64(2)) & LOW_BITS
        twos, threes, fours = may & whole_ranks(two), may & whole_ranks(two & counts), may & whole_ranks(four)
        best = either(twos != NOTHING, twos, may)
        best = either(threes != NOTHING, threes, best)
        best = either(fours != NOTHING, fours, best)
        return np.uint64(0xF) << (np.uint64(lowest_one(best)) & np.uint64(60))
    else:
        ranks = ranks_of(may)
        best, most = NOTHING, 0
        while ranks:
            rank = whole_ranks(ranks & (~ranks + ONE))
            ranks &= ranks - ONE
            n = 0
            for deck in range(n_words(decks)):
                n += count_ones(words[deck] & rank)
            if n > most:
                best, most = rank, n
        return best


@compiled
def choose_other(state: Any, rules: Any, decks: Any, seat: int) -> bool:
    """Put the move of a seat that is not greedy into `state.move` and `state.as_dupas`; False if it passes."""
    policy = rules.policy[seat]
    if policy == RANDOM:
        return choose_random(state, rules, decks, seat)
    return policy == CAREFUL and choose_careful(state, rules, decks, seat)


@inlined
def choose_random(state: Any, rules: Any, decks: Any, seat: int) -> bool:
    """Choose a uniform rank (or passing, where that is free), then a uniform legal set of its cards."""
    held = united(state.hands[seat], decks)
    plain = plain_cards(rules, state.situation, held)
    dupas = dupa_cards(rules, state.situation, state.in_pile, held)
    may = ranks_of(plain | dupas)
    if may == NOTHING:
        return False
    stream = state.policy_streams[seat]
    n_ranks = count_ones(may)
    choice = draw_below(stream, n_ranks + rules.passes_freely)
    if choice == n_ranks:
        return False
    for _ in range(choice):
        may &= may - ONE
    rank = whole_ranks(may & (~may + ONE))
    n = 0
    for deck in range(n_words(decks)):
        n += count_ones(state.hands[seat, deck] & rank)
    while True:
        take_cards(state, decks, seat, rank, draw_below(stream, (1 << n) - 1) + 1)
        cards = united(state.move, decks)
        is_plain = (cards & plain) != NOTHING
        is_dupa = (cards & dupas) != NOTHING
        if is_plain or is_dupa:
            break
    state.as_dupas = cards if declares_at_random(stream, rules, is_plain, is_dupa) else NOTHING
    return True


@inlined
def take_cards(state: Any, decks: Any, seat: int, rank: int, chosen: int) -> None:
    """Make a move of the seat's cards of `rank`: bit i of `chosen` takes card i, by suit, copies together."""
    for deck in range(n_words(decks)):
        state.move[deck] = NOTHING
    i = 0
    left = united(state.hands[seat], decks) & rank
    while left:
        card = left & (~left + ONE)
        left ^= card
        for deck in range(n_words(decks)):
            if state.hands[seat, deck] & card:
                if (chosen >> i) & 1:
                    state.move[deck] |= card
                i += 1


@inlined
def declares_at_random(stream: Any, rules: Any, is_plain: bool, is_dupa: bool) -> bool:
    """Return whether the set is a dupa: the rule says so, or it can be nothing else, or a fair coin."""
    if is_dupa and is_plain and rules.may_declare:
        return draw_below(stream, 2) == 1
    return is_dupa


@compiled
def choose_drawn(state: Any, rules: Any, decks: Any, seat: int) -> bool:
    """Make a move of the card just drawn, if it may be played and the seat's policy wants to; else False."""
    deck_drawn, word = unpacked(state.drawn)
    is_plain = plain_cards(rules, state.situation, word) != NOTHING
    is_dupa = dupa_cards(rules, state.situation, state.in_pile, word) != NOTHING
    if not (is_plain or is_dupa):
        return False
    for deck in range(n_words(decks)):
        state.move[deck] = word if deck == deck_drawn else NOTHING
    policy = rules.policy[seat]
    if policy == RANDOM:
        stream = state.policy_streams[seat]
        if rules.passes_freely and draw_below(stream, 2) == 0:
            return False
        state.as_dupas = word if declares_at_random(stream, rules, is_plain, is_dupa) else NOTHING
        return True
    state.as_dupas = word if is_dupa else NOTHING
    return policy == GREEDY or not keeps_drawn(state, rules, decks, seat)
