"""The policy `careful`: weighs every set it may play by what it keeps, whom it blocks, and who is about to go out.

It goes by what a person sees: its own hand, the pile since the last reshuffle, the number of cards in each hand and in
the stock. All other cards are as likely to be in one place as in another, so the chance that the next seat holds none
of the g cards that would let it play is hypergeometric; it is read from tables of logarithms, in whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.games.dupa.moves import (
    ALL_CARDS,
    DEMANDED,
    NOTHING,
    ONE,
    count_cards,
    dupa_cards,
    further_dupas,
    n_words,
    next_seat,
    plain_cards,
    ranks_of,
    united,
    unpacked,
    whole_ranks,
)
from sim.games.dupa.weights import CERTAIN, N_POWERS
from sim.jit import compiled, inlined
from sim.rng import count_ones, highest_one, lowest_one

ACES = np.uint64(0xF) << np.uint64(48)


@compiled
def choose_careful(state: Any, rules: Any, decks: Any, seat: int) -> bool:
    """Put the move worth most into the record; among equals the lowest rank. False if nothing may be played."""
    held = united(state.hands[seat], decks)
    dupas = dupa_cards(rules, state.situation, state.in_pile, held)
    plain = plain_cards(rules, state.situation, held)
    may = ranks_of(plain | dupas)
    if may == NOTHING:
        return False
    see(state, rules, decks, seat)
    best = np.int64(-(2**62))
    while may:
        rank = whole_ranks(may & (~may + ONE))
        may &= may - ONE
        if rank & dupas:
            best = consider(state, rules, decks, seat, rank, rank, best)
            best = consider_one(state, rules, decks, seat, rank, rank, best)
        if rank & plain and (rules.may_declare or not rank & dupas):
            best = consider(state, rules, decks, seat, rank, NOTHING, best)
            best = consider_one(state, rules, decks, seat, rank & plain, NOTHING, best)
    further = further_dupas(rules, state.situation, state.in_pile) & whole_ranks(ranks_of(dupas))
    while further:  # all dupas, then all but the highest, and so on
        best = consider(state, rules, decks, seat, further, further, best)
        further &= ~(np.uint64(0xF) << (np.uint64(highest_one(further)) & np.uint64(60)))
    for deck in range(n_words(decks)):
        state.move[deck] = state.best[deck]
    state.as_dupas = state.best_dupas
    return True


@inlined
def see(state: Any, rules: Any, decks: Any, seat: int) -> None:
    """Find the cards that are neither in the seat's hand nor in the pile."""
    for deck in range(n_words(decks)):
        seen = state.hands[seat, deck]
        for at in range(np.uint64(state.n_laid)):
            seen |= state.laid[at, deck]
        state.unseen[deck] = ALL_CARDS & ~seen if deck < rules.n_decks else NOTHING


@inlined
def consider(state: Any, rules: Any, decks: Any, seat: int, ranks: int, as_dupas: int, best: int) -> int:
    """Keep all cards of `ranks` as the best move if they are worth more; return the best move's worth."""
    for deck in range(n_words(decks)):
        state.move[deck] = state.hands[seat, deck] & ranks
    return keep_better(state, rules, decks, seat, as_dupas, best)


@inlined
def consider_one(state: Any, rules: Any, decks: Any, seat: int, cards: int, as_dupas: int, best: int) -> int:
    """Keep the first one of `cards` as the best move if it is worth more; return the best move's worth.

    The first by suit, from whatever deck: copies of a card are alike.
    """
    own = united(state.hands[seat], decks) & cards
    left = own & (~own + ONE)
    for deck in range(n_words(decks)):
        state.move[deck] = state.hands[seat, deck] & left
        left &= ~state.move[deck]
    return keep_better(state, rules, decks, seat, as_dupas, best)


@compiled
def keep_better(state: Any, rules: Any, decks: Any, seat: int, as_dupas: int, best: int) -> int:
    """Keep `state.move` as the best move if it is worth more; return the best move's worth."""
    worth = worth_of(state, rules, decks, seat, as_dupas)
    if worth <= best:
        return best
    for deck in range(n_words(decks)):
        state.best[deck] = state.move[deck]
    state.best_dupas = as_dupas & united(state.move, decks)
    return worth


@inlined
def worth_of(state: Any, rules: Any, decks: Any, seat: int, as_dupas: int) -> int:
    """Return what a move is worth: cards laid, what stays in the hand, the chance that the next seat cannot play."""
    suited = rules.suited[state.situation] & ~as_dupas
    cards = rest = left = NOTHING
    n_left = n_laid = 0
    for deck in range(n_words(decks)):
        word = state.move[deck]
        first = word & suited
        suited &= ~first
        cards |= word
        rest |= word ^ first
        kept = state.hands[seat, deck] & ~word
        left |= kept
        n_left += count_ones(kept)
        n_laid += count_ones(word)
    if n_left == 0:
        return 2**60
    in_pile = state.in_pile | whole_ranks(ranks_of(cards))
    situation = np.uint64(highest_one(rest if rest else cards))
    if as_dupas:
        situation += DEMANDED
    after = next_seat(rules, seat)
    n_next = count_cards(state.hands[after], decks)
    lets = rules.fits[situation] | (rules.dupable[situation] & ~in_pile)
    blocked = chance_of_none(state, rules, decks, lets, n_next)
    weight = rules.w_block
    if n_next < 4:
        weight += rules.w_block_one if n_next == 1 else rules.w_block_two if n_next == 2 else rules.w_block_three
    if state.stock.n_taken == state.stock.n_cards and not rules.keep_top:
        third = next_seat(rules, after)
        weight += rules.w_block_fresh
        if third != seat:
            weight += rules.w_block_third // count_cards(state.hands[third], decks)
    worth = rules.w_laid * n_laid + (blocked * weight) // CERTAIN - cost_of(rules, left, in_pile, n_left)
    return worth + (rules.w_dupa if as_dupas else 0)


@inlined
def cost_of(rules: Any, left: int, in_pile: int, n_left: int) -> int:
    """Return what the cards left in a hand cost: by rank, whether the pile has the rank, and more for the last one."""
    ranks = ranks_of(left)
    n_groups = count_ones(ranks)
    cost = rules.w_spare * (n_left - n_groups)
    n_new = count_ones(ranks & ~in_pile & ~ACES)
    if n_new < 3:
        cost += rules.w_no_new if n_new == 0 else rules.w_one_new if n_new == 1 else rules.w_two_new
    if n_groups == 2:
        cost += rules.w_two_groups
    elif n_groups == 3:
        cost += rules.w_three_groups
    cost -= rules.w_suits * count_ones(suits_of(left))
    cost -= rules.w_highest * (highest_one(left & ~ACES) >> 2)
    if left & ACES:
        cost -= rules.w_ace
    while ranks:
        bit = lowest_one(ranks)
        ranks &= ranks - ONE
        is_old = (in_pile >> np.uint64(bit)) & ONE
        cost += rules.group_cost[is_old, np.uint64(bit >> 2)]
        if n_groups == 1:
            cost += rules.last_cost[is_old, np.uint64(bit >> 2)]
    return cost


@inlined
def suits_of(cards: int) -> int:
    """Return the suits that occur in a word of cards (four bits)."""
    cards |= cards >> np.uint64(32)
    cards |= cards >> np.uint64(16)
    cards |= cards >> np.uint64(8)
    cards |= cards >> np.uint64(4)
    return cards & np.uint64(15)


@inlined
def chance_of_none(state: Any, rules: Any, decks: Any, wanted: int, n_held: int) -> int:
    """Return the chance (of 1024) that a hand of `n_held` unseen cards has none of `wanted`."""
    n_unseen = count_cards(state.unseen, decks)
    n_wanted = 0
    for deck in range(n_words(decks)):
        n_wanted += count_ones(state.unseen[deck] & wanted)
    n_other = n_unseen - n_wanted
    if n_other < n_held:
        return 0
    logs = rules.log_factorial
    log = logs[n_unseen] + logs[n_other - n_held] - logs[n_other] - logs[n_unseen - n_held]
    step = log >> 10
    return rules.power[step] if step < N_POWERS else 0


@inlined
def keeps_drawn(state: Any, rules: Any, decks: Any, seat: int) -> bool:
    """Keep a drawn ace for a demand, unless the next seat is about to go out."""
    _, word = unpacked(state.drawn)
    return (word & ACES) != NOTHING and count_cards(state.hands[next_seat(rules, seat)], decks) > 1
