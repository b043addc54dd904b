"""Dupa biskupa, turn by turn: the rules folded into tables, and the moves that use them.

Every function takes the game's record first. `decks` is None where one deck is played with, so that a hand is one word
and numba drops every loop over decks; else anything (the number of decks). `orders` is None for a seeded game, else the
decks of an explicit deal (uint8, one row a round); `events` is None, or the rows in which a game to be told is written
down.

What may be played depends on the pile's *situation*: its top card and whether that has to be beaten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.cards import DECK_SIZE
from sim.events import note
from sim.games.dupa import record as rec
from sim.games.dupa.lanes import put_four
from sim.games.dupa.record import N_RANKS, N_SITUATIONS
from sim.games.dupa.rules import (
    MAX_DECKS,
    MAX_PLAYERS,
    SLOTS,
    Demand,
    Direction,
    Dupa,
    DupaRules,
    Match,
    Opening,
    PassWhen,
)
from sim.games.dupa.state import ENDS, columns
from sim.games.dupa.weights import fold_careful
from sim.jit import compiled, inlined
from sim.rng import (
    DEAL,
    RESHUFFLE,
    count_ones,
    decide_few,
    either,
    highest_one,
    lowest_one,
    reveal,
    start_order,
    start_stream,
)
from sim.rng import POLICY as POLICY_STREAM
from sim.rules import pack

ONE = np.uint64(1)
NOTHING = np.uint64(0)
LOW_BITS = np.uint64(sum(1 << (4 * rank) for rank in range(N_RANKS)))
NO_TOP = np.uint64(rec.NO_TOP)
DEMANDED = np.uint64(rec.DEMANDED)
ALL_CARDS = np.uint64(2**DECK_SIZE - 1)

HAND_EMPTY, STUCK, TURN_CAP = (ENDS.index(name) for name in ("hand_empty", "stuck", "turn_cap"))

FOUR_BYTES = np.uint64(0x01010101)
# By 16 times the suit that goes first plus the suits of a set (bits): a byte for each suit, in the order they are laid.
LAY_ORDER = np.array(
    [
        int.from_bytes(
            sorted((suit for suit in range(4) if suits >> suit & 1), key=lambda suit: (not first >> suit & 1, suit)),
            "little",
        )
        for first in range(16)
        for suits in range(16)
    ],
    np.uint64,
)

_SUIT = [sum(1 << (4 * rank + suit) for rank in range(N_RANKS)) for suit in range(4)]
_RANK = [0xF << (4 * rank) for rank in range(N_RANKS)]
_ACES = _RANK[-1]
_ALL = 2**DECK_SIZE - 1


# -- the rules as tables: each option is read in the one function named after it ----------------------------------


def match(rules: DupaRules, top: int) -> tuple[int, int]:
    """Return the ranks of which any set fits the top card, and the cards that let their set fit by suit."""
    by_rank = 0 if rules.match is Match.SUIT else _RANK[top >> 2]
    by_suit = 0 if rules.match is Match.RANK else _SUIT[top & 3]
    return by_rank, by_suit & ~by_rank


def dupa(rules: DupaRules) -> tuple[bool, bool]:
    """Return whether there are dupas, and whether the player may play a dupa's set as a plain one."""
    return rules.dupa is not Dupa.OFF, rules.dupa is Dupa.DECLARED


def opening(rules: DupaRules) -> bool:
    """Tell whether a lead may be a dupa."""
    return rules.opening is Opening.DUPA


def _higher(rank: int) -> int:
    """Return the cards of higher rank, aces included."""
    return sum(_RANK[rank + 1 :])


def situations(rules: DupaRules) -> tuple[list[int], list[int], list[int]]:
    """Return, by situation, the ranks of which any set is a plain play, cards that let their set fit, possible dupas.

    A possible dupa is one if its rank is not in the pile.
    """
    free, suited, dupable = ([0] * N_SITUATIONS for _ in range(3))
    there_are_dupas, _ = dupa(rules)
    for top in range(DECK_SIZE):
        rank = top >> 2
        if rank == N_RANKS - 1:
            free[top] = _ALL
        else:
            by_rank, by_suit = match(rules, top)
            free[top], suited[top] = by_rank | _ACES, by_suit & ~_ACES
            free[rec.DEMANDED + top] = _higher(rank)
            dupable[rec.DEMANDED + top] = _higher(rank) & ~_ACES if there_are_dupas else 0
        dupable[top] = _ALL & ~_ACES if there_are_dupas else 0
    free[rec.NO_TOP] = _ALL
    dupable[rec.NO_TOP] = _ALL & ~_ACES if there_are_dupas and opening(rules) else 0
    return free, suited, dupable


def several_dupas(rules: DupaRules, dupable: Sequence[int]) -> list[int]:
    """Return, by situation, the possible dupas that may be laid with another one; a lead is always one set."""
    return [cards if rules.several_dupas and at != rec.NO_TOP else 0 for at, cards in enumerate(dupable)]


def direction(rules: DupaRules) -> list[int]:
    """Return the order of play, from seat 0."""
    seats = range(rules.players)
    return list(seats) if rules.direction is Direction.CLOCKWISE else [-seat % rules.players for seat in seats]


def fold(rules: DupaRules, policies: Mapping[str, Sequence[str]], reshuffle: str | None = None) -> np.ndarray[Any, Any]:
    """Return the kernel's record of a rule set and the seats' policies, shape (1,).

    Parameters
    ----------
    reshuffle
        ``reverse`` to turn the pile over instead of shuffling it.
    """
    free, suited, dupable = situations(rules)
    names = list(SLOTS[0].choices)
    kinds = [names.index(name) for name in policies["policy"]]
    order, n = direction(rules), rules.players

    def padded(numbers: Sequence[int]) -> list[int]:
        return [*numbers, *[0] * (MAX_PLAYERS - n)]

    return pack(
        [
            ("n_players", "i8", rules.players),
            ("n_decks", "i8", rules.decks),
            ("n_cards", "i8", rules.n_cards),
            ("n_each", "i8", rules.cards_each),
            ("fits", ("u8", (N_SITUATIONS,)), [a | b for a, b in zip(free, suited, strict=True)]),
            ("suited", ("u8", (N_SITUATIONS,)), suited),
            ("dupable", ("u8", (N_SITUATIONS,)), dupable),
            ("may_declare", "i8", dupa(rules)[1]),
            ("several_dupas", ("u8", (N_SITUATIONS,)), several_dupas(rules, dupable)),
            ("until_met", "i8", rules.demand is Demand.UNTIL_MET),
            ("passes_freely", "i8", rules.pass_when is PassWhen.ANY),
            ("play_drawn", "i8", rules.play_drawn),
            ("keep_top", "i8", rules.keep_top),
            ("order", ("u8", (MAX_PLAYERS,)), padded(order)),
            ("next_seat", ("u8", (MAX_PLAYERS,)), padded([order[(order.index(s) + 1) % n] for s in range(n)])),
            ("winner_points", "i8", rules.winner_points),
            ("n_rounds", "i8", rules.rounds),
            ("max_turns", "i8", rules.max_turns),
            ("largest", "i8", max(column.high for column in columns(rules))),
            ("turns_over", "i8", reshuffle == "reverse"),
            ("policy", ("i8", (MAX_PLAYERS,)), padded(kinds)),
            ("n_random", "i8", rules.players if "random" in policies["policy"] else 0),
            *fold_careful(rules),
        ]
    )


# -- sets of cards ----------------------------------------------------------------------------------------------------


@inlined
def ranks_of(cards: int) -> int:
    """Return the lowest bit of each rank that occurs in a word of cards."""
    cards |= cards >> np.uint64(2)
    return (cards | cards >> ONE) & LOW_BITS


@inlined
def whole_ranks(low_bits: int) -> int:
    """Return all four cards of each rank given by its lowest bit."""
    return (low_bits << np.uint64(4)) - low_bits


@inlined
def n_words(decks: Any) -> int:
    """Return how many words of a set of cards are looked at: a fixed number; words of decks there are not are empty."""
    if decks is None:
        return 1
    else:
        return MAX_DECKS


@inlined
def united(words: Any, decks: Any) -> int:
    """Return the cards of which there is a copy in one of the words."""
    cards = words[0]
    for deck in range(1, n_words(decks)):
        cards |= words[deck]
    return cards


@inlined
def count_cards(words: Any, decks: Any) -> int:
    """Return how many cards there are."""
    n = count_ones(words[0])
    for deck in range(1, n_words(decks)):
        n += count_ones(words[deck])
    return n


# -- the deal ---------------------------------------------------------------------------------------------------------


@compiled
def begin_match(state: Any, rules: Any, seed: int, game: int) -> None:
    """Clear the score."""
    state.seed = seed
    state.game = game
    state.n_won = 0
    state.turns = 0
    state.draws = 0
    state.reshuffles = 0
    state.dupas = 0
    state.points[:] = 0
    for seat in range(rules.n_random):
        start_stream(state.policy_streams[seat], seed, game, POLICY_STREAM, seat)


@inlined
def clear_pile(state: Any) -> None:
    """Take the whole pile away, and with it a standing demand."""
    state.n_laid = 0
    state.in_pile = NOTHING
    state.situation = NO_TOP


@inlined
def ace_high(cards: int) -> int:
    """Return a word of cards numbered as in `sim.cards` in the numbers used here."""
    return (cards >> np.uint64(4)) | ((cards & np.uint64(0xF)) << np.uint64(48))


@inlined
def deal_one_deck(state: Any, rules: Any) -> None:
    """Shuffle one deck and deal it; what is left is the stock, decided when it is looked at.

    If there is no stock, the last hand is what the others do not hold, in whatever order it would come.
    """
    stock = state.stock
    n_each = rules.n_each
    last = rules.n_players - 1
    n_dealt = rules.n_players * n_each
    start_order(stock, state.seed, state.game, DEAL, state.round)
    n_looked = n_dealt if n_dealt < DECK_SIZE else DECK_SIZE - n_each
    while stock.n_revealed < n_looked:
        reveal(stock)
    cards = stock.cards
    others = NOTHING
    i = np.uint64(0)
    for seat in range(last):
        hand = NOTHING
        for _ in range(n_each):
            hand |= ONE << np.uint64(cards[i])
            i += ONE
        others |= hand
        state.hands[seat, 0] = ace_high(hand)
    if n_dealt < DECK_SIZE:
        hand = NOTHING
        for _ in range(n_each):
            hand |= ONE << np.uint64(cards[i])
            i += ONE
    else:
        hand = ALL_CARDS & ~others
    state.hands[last, 0] = ace_high(hand)
    stock.n_cards = DECK_SIZE
    stock.n_taken = n_dealt


@compiled
def deal_pack(state: Any, rules: Any, orders: Any) -> None:
    """Shuffle the decks (or take them from an explicit deal) and deal them; what is left is the stock."""
    stock = state.stock
    n_cards = rules.n_cards
    if orders is None:
        start_stream(stock.stream, state.seed, state.game, DEAL, state.round)
        for i in range(n_cards):
            stock.cards[i] = i
        stock.n_revealed = 0
    else:
        n_seen = np.zeros(DECK_SIZE, np.uint8)
        for i in range(n_cards):
            card = orders[state.round, i]
            stock.cards[i] = DECK_SIZE * n_seen[card] + card
            n_seen[card] += 1
        stock.n_revealed = n_cards
    stock.n_cards = n_cards
    stock.n_taken = 0
    state.hands[:] = 0
    for seat in range(np.uint64(rules.n_players)):
        for _ in range(rules.n_each):
            add_card(state, rules.n_decks, seat, next_card(stock))


@inlined
def begin_round(state: Any, rules: Any, decks: Any, orders: Any, number: int) -> None:
    """Deal, with an empty pile."""
    state.round = number
    state.last_turn = rules.max_turns
    state.n_idle = 0
    state.idle_turn = 0
    state.winner = -1
    state.n_reshuffles = 0
    clear_pile(state)
    if decks is None:
        deal_one_deck(state, rules)
    else:
        deal_pack(state, rules, orders)


@inlined
def next_card(stock: Any) -> int:
    """Take the next card of the stock, which is not empty; return its pack number."""
    if stock.n_taken >= stock.n_revealed:
        stock.n_revealed = decide_few(stock.stream, stock.cards, stock.n_cards, stock.n_revealed)
    card = np.int64(stock.cards[np.uint64(stock.n_taken)])
    stock.n_taken += 1
    return card


@inlined
def unpacked(number: int) -> tuple[int, int]:
    """Return the deck of a pack number, and its card as a word."""
    deck = np.uint64(number) // np.uint64(DECK_SIZE)
    return deck, ace_high(ONE << (np.uint64(number) - deck * np.uint64(DECK_SIZE)))


@inlined
def add_card(state: Any, decks: Any, seat: int, number: int) -> None:
    """Put a card into a hand."""
    if decks is None:
        state.hands[seat, 0] |= ace_high(ONE << np.uint64(number))
    else:
        deck, word = unpacked(number)
        state.hands[seat, deck] |= word


# -- a move -----------------------------------------------------------------------------------------------------------


@inlined
def plain_cards(rules: Any, situation: int, cards: int) -> int:
    """Return those of `cards` that let the set they are in be a plain play."""
    return cards & rules.fits[situation]


@inlined
def dupa_cards(rules: Any, situation: int, in_pile: int, cards: int) -> int:
    """Return those of `cards` whose rank may be laid as a dupa."""
    return cards & rules.dupable[situation] & ~in_pile


@inlined
def further_dupas(rules: Any, situation: int, in_pile: int) -> int:
    """Return the ranks that may be laid as further dupas of a move."""
    return rules.several_dupas[situation] & ~in_pile


@inlined
def lay(state: Any, rules: Any, decks: Any, seat: int, situation: int, in_pile: int) -> tuple[int, int]:
    """Lay the cards of `state.move` on the pile, as dupas if `state.as_dupas` has them; return the pile as it is then.

    Where fitting by suit is the only reason a set is allowed, one card of that suit goes first.
    """
    at = np.uint64(state.n_laid)
    suited = rules.suited[situation] & ~state.as_dupas
    cards = state.move[0]
    first = cards & suited
    rest = cards ^ first
    state.hands[seat, 0] ^= cards
    state.laid[at, 0] = cards
    if decks is not None:
        state.first_from[at] = 0
        for deck in range(1, n_words(decks)):
            word = state.move[deck]
            state.hands[seat, deck] ^= word
            state.laid[at, deck] = word
            cards |= word
            if first == NOTHING:
                first = word & suited
                state.first_from[at] = deck
                word ^= first
            rest |= word
    state.laid_first[at] = first
    state.n_laid += 1
    ranks = ranks_of(cards)
    are_dupas = state.as_dupas != NOTHING
    state.dupas += count_ones(either(are_dupas, ranks, NOTHING))
    top = np.uint64(highest_one(either(rest != NOTHING, rest, cards)))
    situation = either(are_dupas, top + DEMANDED, top)
    in_pile |= whole_ranks(ranks)
    state.situation, state.in_pile = situation, in_pile
    return situation, in_pile


# -- the pile, card by card -------------------------------------------------------------------------------------------


@inlined
def put_down(state: Any, decks: Any, at: int, cards: Any, n: int) -> int:
    """Write the cards of move number `at` of the pile in the order they lie, from place `n` on; return the end."""
    if decks is None:
        return put_ranks(state.laid[at, 0], state.laid_first[at], cards, n)
    else:
        return put_copies(state.laid[at], decks, state.laid_first[at], state.first_from[at], cards, n)


@inlined
def put_ranks(left: int, first: int, cards: Any, n: int) -> int:
    """Write cards of one deck rank by rank, in each the `first` before the others (and up to three places more)."""
    while left:
        bit = np.uint64(lowest_one(left)) & np.uint64(60)
        suits = (left >> bit) & np.uint64(15)
        base = bit + np.uint64(4) if bit < np.uint64(48) else NOTHING
        order = LAY_ORDER[np.uint64(16) * ((first >> bit) & np.uint64(15)) + suits]
        put_four(cards, n, order + base * FOUR_BYTES)
        n += np.uint64(count_ones(suits))
        left ^= suits << bit
    return n


@compiled
def put_copies(words: Any, decks: int, first: int, first_from: int, cards: Any, n: int) -> int:
    """Write cards of several decks: the `first`, of its deck, then the others, copies together."""
    if first:
        cards[n] = pack_number(first_from, first)
        n += ONE
    left = united(words, decks)
    while left:
        card = left & (~left + ONE)
        left ^= card
        for deck in range(np.uint64(MAX_DECKS)):
            if words[deck] & card and not (deck == first_from and first & card):
                cards[n] = pack_number(deck, card)
                n += ONE
    return n


@inlined
def pack_number(deck: int, card: int) -> int:
    """Return the pack number of a card (a word of one)."""
    number = np.uint64(lowest_one(card))
    return np.uint64(DECK_SIZE) * deck + (number + np.uint64(4) if number < np.uint64(48) else number - np.uint64(48))


# -- the stock --------------------------------------------------------------------------------------------------------


@compiled
def gather_pile(state: Any, decks: Any) -> int:
    """Put the pile into the stock's cards, in the order it was laid; return how many cards it has."""
    n = NOTHING
    for at in range(np.uint64(state.n_laid)):
        n = put_down(state, decks, at, state.stock.cards, n)
    return np.int64(n)


@compiled
def keep_top(state: Any, decks: Any, top: int) -> None:
    """Leave the top card, of pack number `top`, as the whole pile; a demand stands on."""
    from_deck, word = unpacked(top)
    for deck in range(n_words(decks)):
        state.laid[0, deck] = word if deck == from_deck else NOTHING
    state.laid_first[0] = NOTHING
    state.first_from[0] = NOTHING
    state.n_laid = 1
    state.in_pile = whole_ranks(ranks_of(word))


@compiled
def reshuffle(state: Any, rules: Any, decks: Any, events: Any) -> bool:
    """Make the pile a new stock; False if there is none to be made."""
    stock = state.stock
    n = gather_pile(state, decks)
    if rules.keep_top and n > 0:
        n -= 1
    if n == 0:
        return False
    if rules.keep_top:
        keep_top(state, decks, stock.cards[n])
    else:
        clear_pile(state)
    stock.n_cards = n
    stock.n_taken = 0
    if rules.turns_over:
        stock.n_revealed = n
    else:
        start_stream(stock.stream, state.seed, state.game, RESHUFFLE, 128 * state.n_reshuffles + state.round)
        stock.n_revealed = 0
    state.n_reshuffles += 1
    state.reshuffles += 1
    note(events, rec.RESHUFFLE, n)
    return True


@inlined
def draw(state: Any, rules: Any, decks: Any, events: Any, seat: int) -> bool:
    """Draw one card, shuffling the pile if the stock is empty; False if there is nothing to draw."""
    stock = state.stock
    if stock.n_taken == stock.n_cards and not reshuffle(state, rules, decks, events):
        return False
    card = next_card(stock)
    add_card(state, decks, seat, card)
    state.drawn = card
    state.draws += 1
    note(events, rec.DRAW, seat, card)
    return True


# -- the end ----------------------------------------------------------------------------------------------------------


@inlined
def note_idle(state: Any, rules: Any, n_turns: int) -> None:
    """Count a pass without a draw; when all players have passed so in a row, the round goes no further."""
    state.n_idle = state.n_idle + 1 if state.idle_turn == n_turns - 1 else 1
    state.idle_turn = n_turns
    if state.n_idle == rules.n_players:
        state.last_turn = n_turns


@inlined
def round_is_over(state: Any, rules: Any, decks: Any, seat: int, n_turns: int) -> bool:
    """Say whether the round ends after this turn, and how: a win, then stuck, then the cap."""
    if united(state.hands[seat], decks) == NOTHING:
        state.end = HAND_EMPTY
        state.winner = seat
        return True
    if n_turns < state.last_turn:
        return False
    state.end = STUCK if state.n_idle == rules.n_players and state.idle_turn == n_turns else TURN_CAP
    return True


@inlined
def next_seat(rules: Any, seat: int) -> int:
    """Return the seat that plays after `seat`."""
    return rules.next_seat[seat]


@inlined
def score_round(state: Any, rules: Any, decks: Any) -> None:
    """Book the round's points: the winner's, and one a card left to every other seat."""
    for seat in range(MAX_PLAYERS):  # a fixed number, and seats that are not there hold nothing
        left = count_cards(state.hands[seat], decks)
        state.left[seat] = left
        state.points[seat] += left
    if state.end == HAND_EMPTY:
        state.points[state.winner] += rules.winner_points
        state.n_won += 1
