"""Bussikuski, phase by phase: the rules folded into tables, and the moves that use them.

Every function takes the game's record first. `orders` is None for a seeded game, else the decks of an explicit deal
(uint8, one row a deck); `events` is None, or the rows in which a game to be told is written down. numba drops the
branches that a None rules out, so a game that is only counted pays for neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.cards import DECK_SIZE, RANKS
from sim.events import note
from sim.games.bussikuski import record as rec
from sim.games.bussikuski.lanes import N_LANES, give_side_by_side
from sim.games.bussikuski.policies import GUESS_RANDOM, answer_suit, answer_two, draw_answer, give, known_cards
from sim.games.bussikuski.record import HIDDEN, N_RANKS, RIGHT, WRONG
from sim.games.bussikuski.rules import (
    SLOTS,
    Boundary,
    Bus,
    BusDeck,
    BussikuskiRules,
    BusStake,
    BusTie,
    DriverTie,
    FourthQuestion,
    GuessStake,
    GuessTie,
    Matches,
    StockOut,
)
from sim.games.bussikuski.state import BUS_ENDS, DRIVER_BY, columns
from sim.jit import compiled, inlined
from sim.rng import (
    DEAL,
    LATER_ORDER,
    RESHUFFLE,
    card_at,
    count_ones,
    highest_one,
    known_card,
    lowest_one,
    reveal_to,
    shuffle_set,
    start_order,
    start_stream,
)
from sim.rng import POLICY as POLICY_STREAM
from sim.rules import LARGEST_COUNT, pack

NO_CARD = -1  # the stock lacks a card, and is not shuffled again
NO_ORDER = -2  # an explicit deal lacks a deck

_SUIT = [sum(1 << (4 * rank + suit) for rank in range(N_RANKS)) for suit in range(4)]
_RANK = [0xF << (4 * rank) for rank in range(N_RANKS)]
RED = np.uint64(_SUIT[1] | _SUIT[2])
BLACK = np.uint64(_SUIT[0] | _SUIT[3])
ONE = np.uint64(1)
LANE_ONES = np.uint64(0x0101010101010101)
LANE_SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)

MOST_CARDS, TIE_BREAK, DRAW, NOBODY = (DRIVER_BY.index(name) for name in ("most_cards", "tie_break", "draw", "nobody"))
SUCCESS, STOCK_OUT, ATTEMPT_CAP, TURN_CAP, NO_BUS = (
    BUS_ENDS.index(name) for name in ("success", "stock_out", "attempt_cap", "turn_cap", "no_bus")
)
RIDING = len(BUS_ENDS)  # the ride has not ended

LOWEST_CARD, HIGHEST_CARD, MOST_POINTS = (int(tie) for tie in DriverTie if tie is not DriverTie.DRAW)


# -- the rules as tables: each option is read in the one function named after it ----------------------------------


def _ranks(low: int, high: int) -> int:
    """Return the cards with low <= rank <= high."""
    return sum(_RANK[low : high + 1])


def _higher_lower(tie_is_right: bool) -> tuple[list[int], list[int]]:
    """Return, by the rank to compare with, the cards that make *higher* and *lower* right."""
    tie = [_RANK[rank] if tie_is_right else 0 for rank in range(N_RANKS)]
    higher = [_ranks(rank + 1, N_RANKS - 1) | tie[rank] for rank in range(N_RANKS)]
    lower = [sum(_RANK[:rank]) | tie[rank] for rank in range(N_RANKS)]
    return higher, lower


def guess_tie(rules: BussikuskiRules) -> tuple[list[int], list[int], list[int]]:
    """Return, by the first card's rank, the cards that make *higher*, *lower* and neither of them right (free)."""
    free = [_RANK[rank] if rules.guess_tie is GuessTie.FREE else 0 for rank in range(N_RANKS)]
    return *_higher_lower(rules.guess_tie is GuessTie.RIGHT), free


def boundary(rules: BussikuskiRules) -> tuple[list[int], list[int]]:
    """Return, by 13 times the first card's rank plus the second's, the cards that make *inside* and *outside* right."""
    inside, outside = [], []
    for first in range(N_RANKS):
        for second in range(N_RANKS):
            low, high = sorted((first, second))
            ends = _RANK[low] | _RANK[high]
            within = _ranks(low, high) & ~ends
            without = _ranks(0, N_RANKS - 1) & ~within & ~ends
            inside.append(within | (ends if rules.boundary in (Boundary.INSIDE, Boundary.RIGHT) else 0))
            outside.append(without | (ends if rules.boundary in (Boundary.OUTSIDE, Boundary.RIGHT) else 0))
    return inside, outside


def fourth_question(rules: BussikuskiRules) -> tuple[bool, list[int]]:
    """Return whether a suit is asked for, and by the set of suits held (four bits) the cards of those suits."""
    held = [sum(_SUIT[suit] for suit in range(4) if suits >> suit & 1) for suits in range(16)]
    return rules.fourth_question is FourthQuestion.SUIT, held


def guess_stake(rules: BussikuskiRules) -> list[int]:
    """Return what a wrong answer to each question costs."""
    return [1, 2, 3, 4] if rules.guess_stake is GuessStake.BY_ROUND else [1, 1, 1, 1]


def pyramid_rows(rules: BussikuskiRules) -> list[int]:
    """Return the row value of each place of the pyramid, bottom row first."""
    n = rules.pyramid_rows
    return [row + 1 for row in range(n) for _ in range(n - row)]


def blockers(rules: BussikuskiRules) -> int:
    """Return the cards that stop an attempt on the diamond."""
    return sum(_RANK[(RANKS.index(rank) - 1) % N_RANKS] for rank in rules.blockers)


def bus_tie(rules: BussikuskiRules) -> tuple[list[int], list[int]]:
    """Return, by the last card's rank, the cards that make *higher* and *lower* right on the straight bus."""
    return _higher_lower(rules.bus_tie is BusTie.RIGHT)


def bus_stake(rules: BussikuskiRules) -> list[int]:
    """Return what a failure costs: by row of the diamond, or by the number of the guess less one."""
    steps = rules.diamond_rows if rules.bus is Bus.DIAMOND else range(1, 21)
    return [1 if rules.bus_stake is BusStake.FLAT else step for step in steps]


def attempt_limit(rules: BussikuskiRules) -> tuple[int, int]:
    """Return the attempts after which a ride ends, and the end that this is (`max_attempts`, `max_turns`)."""
    if rules.max_attempts:
        return rules.max_attempts, ATTEMPT_CAP
    return (rules.max_turns if rules.capped else LARGEST_COUNT), TURN_CAP


def fold(rules: BussikuskiRules, policies: Mapping[str, Sequence[str]]) -> np.ndarray[Any, Any]:
    """Return the kernel's record of a rule set and the seats' policies, shape (1,)."""
    higher, lower, free = guess_tie(rules)
    inside, outside = boundary(rules)
    asks_suit, held = fourth_question(rules)
    values = pyramid_rows(rules)
    straight_higher, straight_lower = bus_tie(rules)
    costs = bus_stake(rules)
    limit, limit_end = attempt_limit(rules)
    leads = [sum(rules.diamond_rows[:row]) for row in range(len(rules.diamond_rows))]
    n = rules.players
    # `leader`'s order among equals: the way round the table; 0xFFFF where there is no gift
    nearest = [
        [(seat - giver) % n if seat < n and seat != giver else 0xFFFF for seat in range(8)] for giver in range(8)
    ]
    kinds = {slot.name: [list(slot.choices).index(name) for name in policies[slot.name]] for slot in SLOTS}

    def padded(numbers: Sequence[int], length: int) -> list[int]:
        return [*numbers, *[0] * (length - len(numbers))]

    return pack(
        [
            ("n_players", "i8", n),
            ("higher", ("u8", (N_RANKS,)), higher),
            ("lower", ("u8", (N_RANKS,)), lower),
            ("free", ("u8", (N_RANKS,)), free),
            ("inside", ("u8", (N_RANKS**2,)), inside),
            ("outside", ("u8", (N_RANKS**2,)), outside),
            ("asks_suit", "i8", asks_suit),
            ("n_answers", ("i8", (4,)), [2, 2, 2, 4 if asks_suit else 2]),
            ("suit", ("u8", (4,)), _SUIT),
            ("held", ("u8", (16,)), held),
            ("stake", ("u8", (4,)), guess_stake(rules)),
            ("right_gives", "i8", rules.right_gives),
            ("is_large", "i8", max(column.high for column in columns(rules)) > 255),
            ("n_pyramid", "i8", len(values)),
            ("row_value", ("i8", (21,)), padded(values, 21)),
            ("plays_all", "i8", rules.matches is Matches.ALL),
            ("driver_tie", "i8", rules.driver_tie),
            ("bus", "i8", rules.bus),
            ("n_rows", "i8", len(rules.diamond_rows)),
            ("n_places", "i8", sum(rules.diamond_rows)),
            ("row_places", ("i8", (DECK_SIZE,)), padded(rules.diamond_rows, DECK_SIZE)),
            ("first_place", ("i8", (DECK_SIZE,)), padded(leads, DECK_SIZE)),
            ("blockers", "u8", blockers(rules)),
            ("straight_length", "i8", rules.straight_length),
            ("straight_higher", ("u8", (N_RANKS,)), straight_higher),
            ("straight_lower", ("u8", (N_RANKS,)), straight_lower),
            ("cost", ("i8", (DECK_SIZE,)), padded(costs, DECK_SIZE)),
            ("reshuffles", "i8", rules.stock_out is StockOut.RESHUFFLE),
            ("fresh", "i8", rules.bus_deck is BusDeck.FRESH),
            ("attempt_limit", "i8", limit),
            ("limit_end", "i8", limit_end),
            ("guess", ("i8", (8,)), padded(kinds["guess"], 8)),
            ("give", ("i8", (8,)), padded(kinds["give"], 8)),
            ("any_counting", "i8", "counting" in policies["guess"]),
            ("n_random", "i8", n if any("random" in policies[slot.name] for slot in SLOTS) else 0),
            ("nearest", ("u2", (8, 8)), nearest),
            ("all_leaders", "i8", set(policies["give"]) == {"leader"}),
        ]
    )


# -- the deal ---------------------------------------------------------------------------------------------------------


@inlined
def take_order(state: Any, order: Any, orders: Any, kind: int, number: int) -> bool:
    """Shuffle a new order, or take the explicit deal's next deck; False if it has none left."""
    if orders is None:
        start_order(order, state.seed, state.game, kind, number)
        return True
    else:
        which = number  # 0 the deck of phases 1 and 2, 1 the bus deck; a reshuffle takes the next of the further orders
        if kind != DEAL:
            which = 2 + state.n_orders_used
            state.n_orders_used += 1
        if which >= orders.shape[0]:
            return False
        for i in range(DECK_SIZE):
            order.cards[i] = orders[which, i]
        order.n_revealed = DECK_SIZE
        return True


@compiled
def begin(state: Any, rules: Any, orders: Any, seed: int, game: int) -> bool:
    """Clear the table and shuffle the deck of phases 1 and 2."""
    state.seed = seed
    state.game = game
    state.n_orders_used = 0
    state.n_dealt = 0
    state.not_in_stock = 0
    state.n_draw_reshuffles = 0
    state.n_bus_orders = 0
    state.holders[:] = 0
    state.right = 0
    state.points[:] = 0
    for seat in range(rules.n_random):
        start_stream(state.guess_streams[seat], seed, game, POLICY_STREAM, seat)
        start_stream(state.give_streams[seat], seed, game, POLICY_STREAM, 16 + seat)
    dealt = take_order(state, state.deck, orders, DEAL, 0)
    if orders is None and (rules.bus == STRAIGHT or rules.bus == QUESTIONS):
        # Started here, its latency hides behind the deck's.
        start_order(state.bus, seed, game, DEAL, 1)
    reveal_to(state.deck, 4 * rules.n_players + rules.n_pyramid)
    return dealt


@inlined
def next_card(state: Any) -> int:
    """Take the next card of the deck of phases 1 and 2."""
    card = card_at(state.deck, state.n_dealt)
    state.n_dealt += 1
    return card


# -- phase 1: four questions ------------------------------------------------------------------------------------------


@inlined
def ask_colour(policy: int, drawn: int, known: int) -> tuple[int, int]:
    """Question 1: return the answer (0 red, 1 black) and the cards that make it right."""
    answer = answer_two(policy, drawn, known, RED, BLACK)
    return answer, BLACK if answer else RED


@inlined
def ask_higher(rules: Any, policy: int, drawn: int, known: int, first: int) -> tuple[int, int]:
    """Question 2: return the answer (0 higher, 1 lower) and the cards that make it right."""
    higher = rules.higher[first >> 2]
    lower = rules.lower[first >> 2]
    answer = answer_two(policy, drawn, known, higher, lower)
    return answer, lower if answer else higher


@inlined
def ask_inside(rules: Any, policy: int, drawn: int, known: int, first: int, second: int) -> tuple[int, int]:
    """Question 3: return the answer (0 inside, 1 outside) and the cards that make it right."""
    pair = N_RANKS * (first >> 2) + (second >> 2)
    inside = rules.inside[pair]
    outside = rules.outside[pair]
    answer = answer_two(policy, drawn, known, inside, outside)
    return answer, outside if answer else inside


@inlined
def ask_fourth(rules: Any, policy: int, drawn: int, known: int, first: int, second: int, third: int) -> tuple[int, int]:
    """Question 4: return the answer (a suit; or 0 held, 1 new) and the cards that make it right."""
    if rules.asks_suit:
        answer = answer_suit(policy, drawn, known, rules.suit)
        return answer, rules.suit[0] << np.uint64(answer)  # the suits are one pattern, a bit apart
    held = rules.held[(1 << (first & 3)) | (1 << (second & 3)) | (1 << (third & 3))]
    new = rules.held[15] & ~held
    answer = answer_two(policy, drawn, known, held, new)
    return answer, new if answer else held


@inlined
def give_points(state: Any, rules: Any, events: Any, giver: int, points: int) -> None:
    """Let `giver` make one gift of `points`."""
    if events is not None:
        state.before[:] = state.points
    give(state, rules, giver, points)
    if events is not None:
        for step in range(1, rules.n_players):
            seat = (giver + step) % rules.n_players
            if state.points[seat] > state.before[seat]:
                note(events, rec.GIFT, giver, seat, state.points[seat] - state.before[seat])


@compiled
def draw_answers(state: Any, rules: Any, seat: int) -> None:
    """Draw the answers to the four questions of a seat that guesses at random."""
    for question in range(4):
        state.drawn[question] = draw_answer(state, rules, seat, rules.n_answers[question])


@inlined
def table_or_own(state: Any, policy: int, own: int, n_cards: int) -> int:
    """Return what a guesser knows when `n_cards` of the deck are face up, of which it holds `own`."""
    return known_cards(policy, own, state.face_up[np.uint64(n_cards)])


@inlined
def judge_four(rules: Any, policy: int, drawn: Any, known: Any, cards: Any) -> tuple[Any, Any]:
    """Return the answers to the four questions on four cards, and for each whether it is right (0 or 1).

    `known` are the cards that the guesser knows at each question; `drawn` its answers if it guesses at random.
    """
    first, second, third, fourth = cards
    answer_1, fits_1 = ask_colour(policy, drawn[0], known[0])
    answer_2, fits_2 = ask_higher(rules, policy, drawn[1], known[1], first)
    answer_3, fits_3 = ask_inside(rules, policy, drawn[2], known[2], first, second)
    answer_4, fits_4 = ask_fourth(rules, policy, drawn[3], known[3], first, second, third)
    right_1, right_2 = (fits_1 >> np.uint64(first)) & ONE, (fits_2 >> np.uint64(second)) & ONE
    right_3, right_4 = (fits_3 >> np.uint64(third)) & ONE, (fits_4 >> np.uint64(fourth)) & ONE
    return (answer_1, answer_2, answer_3, answer_4), (right_1, right_2, right_3, right_4)


@inlined
def held_before(first: int, second: int, third: int) -> tuple[int, int, int, int]:
    """Return the guesser's own cards at each of its four questions."""
    one = ONE << np.uint64(first)
    two = one | (ONE << np.uint64(second))
    return np.uint64(0), one, two, two | (ONE << np.uint64(third))


@inlined
def answer_four(state: Any, rules: Any, events: Any, seat: int) -> None:
    """Let one seat answer its four questions and take its four cards.

    Answers do not depend on points, so a seat's four can be found together; the points are booked here, unless their
    order matters (`book_in_order`).
    """
    n = rules.n_players
    deck = state.deck
    policy = rules.guess[seat]
    first = known_card(deck, seat)
    second = known_card(deck, n + seat)
    third = known_card(deck, 2 * n + seat)
    fourth = known_card(deck, 3 * n + seat)
    own = held_before(first, second, third)
    known = (
        table_or_own(state, policy, own[0], seat),
        table_or_own(state, policy, own[1], n + seat),
        table_or_own(state, policy, own[2], 2 * n + seat),
        table_or_own(state, policy, own[3], 3 * n + seat),
    )
    if policy == GUESS_RANDOM:
        draw_answers(state, rules, seat)
    said, rights = judge_four(rules, policy, state.drawn, known, (first, second, third, fourth))
    right_1, right_2, right_3, right_4 = rights
    free_2 = (rules.free[first >> 2] >> np.uint64(second)) & ONE
    lane = ONE << np.uint64(8 * seat)
    holders = state.holders
    holders[first >> 2] += lane
    holders[second >> 2] += lane
    holders[third >> 2] += lane
    holders[fourth >> 2] += lane
    state.right += right_1 | right_2 << np.uint64(8) | right_3 << np.uint64(16) | right_4 << np.uint64(24)
    wrong_1, wrong_2, wrong_3, wrong_4 = ONE - right_1, ONE - right_2 - free_2, ONE - right_3, ONE - right_4
    state.wrong[seat] = wrong_1 + wrong_2 + wrong_3 + wrong_4
    if events is None and not rules.right_gives:
        stake = rules.stake
        cost = stake[0] * wrong_1 + stake[1] * wrong_2 + stake[2] * wrong_3 + stake[3] * wrong_4
        state.points[seat] = np.int64(cost)
    else:
        answers, verdicts = state.answers, state.verdicts
        answers[seat, 0], answers[seat, 1], answers[seat, 2], answers[seat, 3] = said
        verdicts[seat, 0], verdicts[seat, 1] = right_1, right_2 + 2 * free_2
        verdicts[seat, 2], verdicts[seat, 3] = right_3, right_4


@compiled
def book_in_order(state: Any, rules: Any, events: Any) -> None:
    """Book stakes and gifts round by round and seat by seat, where the order matters (`right_gives`)."""
    n = rules.n_players
    for question in range(4):
        stake = rules.stake[question]
        for seat in range(n):
            said = np.int64(state.verdicts[seat, question])
            note(
                events,
                rec.ANSWER,
                seat,
                question,
                state.answers[seat, question],
                known_card(state.deck, question * n + seat),
                said,
            )
            if said == WRONG:
                state.points[seat] += np.int64(stake)
            elif said == RIGHT and rules.right_gives:
                give_points(state, rules, events, seat, np.int64(stake))


@compiled
def guess_four(state: Any, rules: Any, events: Any) -> None:
    """Phase 1: four rounds; in each the seats answer in order and take the next card."""
    n = rules.n_players
    if rules.any_counting:
        table = np.uint64(0)
        for i in range(4 * n):
            state.face_up[i] = table
            table |= ONE << np.uint64(known_card(state.deck, i))
    for seat in range(n):
        answer_four(state, rules, events, seat)
    state.n_dealt = 4 * n
    if events is not None or rules.right_gives:
        book_in_order(state, rules, events)


# -- phase 2: the pyramid ---------------------------------------------------------------------------------------------


@inlined
def play_rank(state: Any, rules: Any, rank: int) -> int:
    """Let every seat play its hand cards of `rank` (`matches`: all, or one); return the cards played (lanes)."""
    held = state.holders[rank]
    played = held if rules.plays_all else lanes_not_zero(held)
    state.holders[rank] = held - played
    return played


@inlined
def turn_place(state: Any, rules: Any, events: Any, place: int) -> tuple[int, int]:
    """Turn one card of the pyramid; return the cards each seat plays on it (lanes), and its rank."""
    card = known_card(state.deck, state.n_dealt + place)
    note(events, rec.PYRAMID, place, card, rules.row_value[place])
    return play_rank(state, rules, card >> 2), card >> 2


@compiled
def turn_pyramid(state: Any, rules: Any, events: Any) -> None:
    """Phase 2: turn the pyramid's cards; at each the seats in order play equal cards and give points away."""
    for place in range(rules.n_pyramid):
        played, rank = turn_place(state, rules, events, place)
        play_place(state, rules, events, played, rank, rules.row_value[place])
    state.n_dealt += rules.n_pyramid


@inlined
def turn_pyramid_aside(state: Any, rules: Any, table: Any, lane: int) -> None:
    """Turn the pyramid's cards and write down in `table` what the seats play; `give_aside` makes the gifts."""
    first = state.n_dealt
    for place in range(rules.n_pyramid):
        rank = known_card(state.deck, first + place) >> 2
        table.played[place, lane] = play_rank(state, rules, rank)
    state.n_dealt = first + rules.n_pyramid
    for seat in range(rules.n_players):
        table.points[seat, lane] = state.points[seat]


@compiled
def give_aside(rules: Any, table: Any) -> None:
    """Make the gifts of the pyramid in all the games of `table`, where every seat gives to the leader."""
    n = rules.n_players
    for place in range(rules.n_pyramid):
        for giver in range(n):
            give_side_by_side(table.points, table.played[place], giver, rules.row_value[place], rules.nearest[giver], n)


@inlined
def play_place(state: Any, rules: Any, events: Any, played: int, rank: int, value: int) -> None:
    """Let each seat in order give away what it has played (lanes) at one place."""
    while played:
        lane = np.uint64(lowest_one(played) & 56)
        n_played = np.int64((played >> lane) & np.uint64(0xFF))
        played &= ~(np.uint64(0xFF) << lane)
        seat = np.int64(lane >> np.uint64(3))
        note(events, rec.PLAY, seat, n_played, value, rank)
        give_points(state, rules, events, seat, n_played * value)


@inlined
def lanes_not_zero(lanes: int) -> int:
    """Return 1 in each lane that is not zero (lanes hold less than 128)."""
    return ((lanes + LANE_SEVENS) >> np.uint64(7)) & LANE_ONES


# -- the driver -------------------------------------------------------------------------------------------------------


@compiled
def lanes_to_bits(lanes: int) -> int:
    """Return the seats of a lane mask as bits."""
    bits = 0
    while lanes:
        lane = lowest_one(lanes)
        bits |= 1 << (lane >> 3)
        lanes &= lanes - ONE
    return bits


@inlined
def count_left(state: Any, rules: Any) -> int:
    """Count the cards left to each seat; return the seats that have the most (lanes; 0 if nobody has any)."""
    total = np.uint64(0)
    for rank in range(N_RANKS):
        total += state.holders[rank]
    for seat in range(rules.n_players):
        state.left[seat] = (total >> np.uint64(8 * seat)) & np.uint64(0xFF)
    # A count is 4 at most; the seats with 4, else those with 3, 2, 1.
    fours, twos, ones = total >> np.uint64(2) & LANE_ONES, total >> ONE & LANE_ONES, total & LANE_ONES
    tied = twos if twos else ones
    tied = twos & ones if twos & ones else tied
    return fours if fours else tied


@inlined
def driver_tie(state: Any, rules: Any, tied: int) -> int:
    """Return the seats (lanes) still tied after the first tie-break."""
    if rules.driver_tie == LOWEST_CARD or rules.driver_tie == HIGHEST_CARD:
        in_lanes = tied * np.uint64(0xFF)
        held = np.uint64(0)  # ranks that those tied hold
        for rank in range(N_RANKS):
            held |= np.uint64((state.holders[rank] & in_lanes) != 0) << np.uint64(rank)
        best = lowest_one(held) if rules.driver_tie == LOWEST_CARD else highest_one(held)
        return lanes_not_zero(state.holders[best] & in_lanes)
    elif rules.driver_tie == MOST_POINTS:
        most = np.int64(-1)
        still = np.uint64(0)
        for seat in range(rules.n_players):
            lane = tied & (ONE << np.uint64(8 * seat))
            if lane and state.points[seat] > most:
                most = state.points[seat]
                still = lane
            elif lane and state.points[seat] == most:
                still |= lane
        return still
    return tied


@compiled
def cards_in_hands(state: Any, rules: Any) -> int:
    """Return the cards still held by anybody: of each rank the latest ones, since the earliest are played first."""
    n = rules.n_players
    cards = np.uint64(0)
    for seat in range(n):
        for i in range(4):
            card = known_card(state.deck, i * n + seat)
            later = 0
            for j in range(i + 1, 4):
                later += known_card(state.deck, j * n + seat) >> 2 == card >> 2
            held = np.int64((state.holders[card >> 2] >> np.uint64(8 * seat)) & np.uint64(0xFF))
            if later < held:
                cards |= ONE << np.uint64(card)
    return cards


@compiled
def draw_card(state: Any, rules: Any, orders: Any, events: Any, drawn: int) -> int:
    """Draw a card for the tie; when none is left, shuffle all that are in no hand and not drawn in this round."""
    while True:
        if state.n_dealt == DECK_SIZE:
            if state.n_draw_reshuffles == 0:
                state.in_hands = cards_in_hands(state, rules)
            if not take_order(state, state.deck, orders, RESHUFFLE, state.n_draw_reshuffles):
                return NO_ORDER
            state.n_draw_reshuffles += 1
            state.not_in_stock = state.in_hands | drawn
            state.n_dealt = 0
            note(events, rec.DRAW_RESHUFFLE, DECK_SIZE - count_ones(state.not_in_stock))
        card = next_card(state)
        if not (state.not_in_stock >> np.uint64(card)) & ONE:
            return card


@compiled
def draw_for_driver(state: Any, rules: Any, orders: Any, events: Any, tied: int) -> int:
    """Let those tied draw until one has the lowest card alone; return that seat."""
    while tied & (tied - ONE):
        lowest = N_RANKS
        still = np.uint64(0)
        drawn = np.uint64(0)
        for seat in range(rules.n_players):
            lane = tied & (ONE << np.uint64(8 * seat))
            if lane:
                card = draw_card(state, rules, orders, events, drawn)
                if card < 0:
                    return card
                drawn |= ONE << np.uint64(card)
                note(events, rec.DRAW, seat, card)
                if card >> 2 < lowest:
                    lowest = card >> 2
                    still = lane
                elif card >> 2 == lowest:
                    still |= lane
        tied = still
    return lowest_one(tied) >> 3


@compiled
def find_driver(state: Any, rules: Any, orders: Any, events: Any) -> bool:
    """Find the driver: most cards left, the tie-break, the draw; False if an explicit deal lacks a deck."""
    tied = count_left(state, rules)
    if tied == 0:
        state.driver = -1
        state.driver_by = NOBODY
    else:
        state.driver_by = MOST_CARDS
        if tied & (tied - ONE):
            note(events, rec.TIED, lanes_to_bits(tied))
            tied = driver_tie(state, rules, tied)
            state.driver_by = TIE_BREAK
        state.driver = lowest_one(tied) >> 3
        if tied & (tied - ONE):
            note(events, rec.TIED, lanes_to_bits(tied), 1)
            state.driver_by = DRAW
            state.driver = draw_for_driver(state, rules, orders, events, tied)
            if state.driver < 0:
                return False
    note(events, rec.DRIVER, state.driver, state.driver_by)
    return True


# -- phase 3: the bus -------------------------------------------------------------------------------------------------


@inlined
def begin_ride(state: Any) -> None:
    """Clear the bus."""
    state.bus_end = NO_BUS
    state.bus_attempts = 0
    state.bus_penalty = 0
    state.bus_turned = 0


@inlined
def fail(state: Any, rules: Any, events: Any, step: int) -> bool:
    """Book a failure at row or guess `step` (from 0); True if the ride may go on (`max_attempts`, `max_turns`)."""
    state.bus_penalty += rules.cost[step]
    note(events, rec.FAILURE, rules.cost[step])
    if state.bus_attempts >= rules.attempt_limit:
        state.bus_end = rules.limit_end
        return False
    return True


@inlined
def is_blocker(rules: Any, card: int) -> int:
    """Return 1 if the card stops an attempt on the diamond (`blockers`), else 0."""
    return (rules.blockers >> np.uint64(card)) & ONE


@inlined
def diamond_is_walk(rules: Any) -> bool:
    """Tell whether the bus is a diamond whose deck runs and is never shuffled again, of at most eight rows.

    Every card turned is then one that nobody has seen, so the ride is a walk along the bus deck from blocker to
    blocker, and what has been turned has also been replaced from the stock. (The costs of eight rows fill a word.)
    """
    return rules.bus == DIAMOND and not rules.reshuffles and not rules.fresh and rules.n_rows <= 8


@inlined
def place_blockers(rules: Any, table: Any) -> None:
    """Shuffle the bus decks of all the games of `table` as far as a walk needs them: where the blockers lie."""
    blockers = rules.blockers
    for lane in range(N_LANES):
        table.blocked[lane], table.holds[lane] = shuffle_set(table.words, lane, blockers)


@compiled
def walk_diamonds(rules: Any, table: Any) -> None:
    """Ride the diamonds of all the games of `table` where they are walks (`diamond_is_walk`), attempt by attempt.

    `ride_diamond_by_places` is the same ride with each card in its place.
    """
    place_blockers(rules, table)
    n_rows = np.uint64(rules.n_rows)
    in_stock = np.uint64(DECK_SIZE - rules.n_places)
    costs = np.uint64(0)  # a byte a row
    for row in range(rules.n_rows):
        costs |= np.uint64(rules.cost[row]) << np.uint64(8 * row)
    for lane in range(N_LANES):
        table.bus_end[lane] = RIDING
        table.bus_attempts[lane] = 0
        table.bus_penalty[lane] = 0
        table.bus_turned[lane] = 0
    n_attempts = 0
    n_riding = np.uint64(N_LANES)
    while n_riding:
        n_attempts += 1
        end_of_failure = np.uint64(rules.limit_end if n_attempts >= rules.attempt_limit else RIDING)
        n_riding = np.uint64(0)
        for lane in range(N_LANES):
            rides = np.uint64(table.bus_end[lane] == RIDING)
            row = min(np.uint64(lowest_one(table.blocked[lane])), n_rows)
            fails = np.uint64(row < n_rows)
            turned = table.bus_turned[lane] + rides * (row + fails)
            end = end_of_failure
            if turned > in_stock and end == RIDING:
                end = np.uint64(STOCK_OUT)
            if not fails:
                end = np.uint64(SUCCESS)
            table.bus_end[lane] = end if rides else table.bus_end[lane]
            table.bus_attempts[lane] += rides
            table.bus_penalty[lane] += rides * fails * (costs >> (row & np.uint64(7)) * np.uint64(8) & np.uint64(0xFF))
            table.bus_turned[lane] = turned
            table.blocked[lane] >>= row + ONE
            n_riding += np.uint64(table.bus_end[lane] == RIDING)


@inlined
def end_walk(state: Any, rules: Any, table: Any, lane: int) -> None:
    """Book the walk of a game of `table`."""
    if state.driver >= 0 and table.holds[lane]:
        state.bus_end = table.bus_end[lane]
        state.bus_attempts = table.bus_attempts[lane]
        state.bus_penalty = table.bus_penalty[lane]
        state.bus_turned = table.bus_turned[lane]
        state.points[state.driver] += state.bus_penalty
    else:
        ride(state, rules, None, None)


@compiled
def lay_diamond(state: Any, rules: Any) -> None:
    """Lay the bus face down from the top of the bus deck."""
    state.n_looked = 0
    for row in range(rules.n_rows):
        state.lead_position[row] = rules.first_place[row]
        state.lead_card[row] = HIDDEN


@compiled
def look(state: Any, orders: Any, position: int) -> int:
    """Look at a face-down card: of a seeded game it is decided now, else it lies at `position` of the bus deck."""
    if orders is None:
        state.n_looked += 1
        return card_at(state.bus, state.n_looked - 1)
    else:
        return np.int64(state.bus.cards[position])


@compiled
def look_at_all(state: Any, rules: Any, orders: Any, n_turned: int) -> None:
    """Look at every card lying in the bus, row by row; the leftmost places of the first `n_turned` rows are empty."""
    state.others = 0
    for row in range(rules.n_rows):
        if row >= n_turned:
            state.lead_card[row] = look(state, orders, state.lead_position[row])
        for place in range(1, rules.row_places[row]):
            state.others |= ONE << np.uint64(look(state, orders, rules.first_place[row] + place))


@compiled
def shuffle_rest(state: Any, rules: Any, orders: Any, events: Any, n_turned: int) -> bool:
    """Shuffle all that does not lie in the bus into a new stock (`stock_out = reshuffle`); False if no deck is left."""
    if state.n_stock < 0:  # the first time: what lies in the bus is not known yet
        look_at_all(state, rules, orders, n_turned)
    lying = state.others
    for row in range(n_turned, rules.n_rows):
        lying |= ONE << np.uint64(state.lead_card[row])
    if not take_order(state, state.bus, orders, LATER_ORDER, state.n_bus_orders):
        return False
    state.n_bus_orders += 1
    state.n_stock = 0
    for i in range(DECK_SIZE):
        card = card_at(state.bus, i)
        if not (lying >> np.uint64(card)) & ONE:
            state.stock[state.n_stock] = card
            state.n_stock += 1
    note(events, rec.BUS_RESHUFFLE, state.n_stock)
    return True


@compiled
def ride_diamond_by_places(state: Any, rules: Any, orders: Any, events: Any) -> bool:
    """Ride the diamond with every card in its place; False if an explicit deal lacks a deck."""
    if not take_order(state, state.bus, orders, DEAL, 1):
        return False
    lay_diamond(state, rules)
    state.n_stock = -1  # the stock is the rest of the bus deck, from `stock_next`
    stock_next = rules.n_places
    while True:
        state.bus_attempts += 1
        note(events, rec.ATTEMPT, state.bus_attempts)
        row = 0
        while row < rules.n_rows:
            card = np.int64(state.lead_card[row])
            if card == HIDDEN:
                card = look(state, orders, state.lead_position[row])
            state.bus_turned += 1
            blocks = np.int64(is_blocker(rules, card))
            note(events, rec.TURN, row, card, blocks)
            if blocks:
                break
            row += 1
        if row == rules.n_rows:
            state.bus_end = SUCCESS
            return True
        if not fail(state, rules, events, row):
            return True
        n_turned = row + 1
        if rules.fresh:
            if not take_order(state, state.bus, orders, LATER_ORDER, state.n_bus_orders):
                return False
            state.n_bus_orders += 1
            note(events, rec.FRESH)
            lay_diamond(state, rules)
            continue
        n_stock = state.n_stock if state.n_stock >= 0 else DECK_SIZE
        if n_stock - stock_next < n_turned:
            if not rules.reshuffles:
                state.bus_end = STOCK_OUT
                return True
            if not shuffle_rest(state, rules, orders, events, n_turned):
                return False
            stock_next = 0
            n_stock = state.n_stock
        for refilled in range(n_turned):
            if state.n_stock >= 0:
                state.lead_card[refilled] = state.stock[stock_next]
            else:
                state.lead_position[refilled] = stock_next
            stock_next += 1
        note(events, rec.REFILL, n_turned, n_stock - stock_next)


@compiled
def take_from_stock(state: Any, rules: Any, orders: Any, events: Any) -> int:
    """Turn the stock's next card for the running attempt; NO_CARD when there is none, NO_ORDER when no deck is left."""
    while True:
        if state.n_taken == DECK_SIZE:
            if not rules.reshuffles:
                return NO_CARD
            if not take_order(state, state.bus, orders, LATER_ORDER, state.n_bus_orders):
                return NO_ORDER
            state.n_bus_orders += 1
            state.n_taken = 0
            state.lying = state.running
            state.seen = state.running
            note(events, rec.BUS_RESHUFFLE, DECK_SIZE - count_ones(state.lying))
        card = card_at(state.bus, state.n_taken)
        state.n_taken += 1
        bit = ONE << np.uint64(card)
        if not state.lying & bit:
            state.seen |= bit
            state.running |= bit
            state.bus_turned += 1
            return card


@compiled
def begin_attempt(state: Any, rules: Any, orders: Any, events: Any) -> bool:
    """Clear the way for an attempt of the straight or the questions bus; False if an explicit deal lacks a deck."""
    state.running = 0
    if state.bus_attempts == 0:
        state.n_bus_orders = 0
        state.n_taken = 0
        state.lying = 0
        state.seen = 0
        return orders is None or take_order(state, state.bus, orders, DEAL, 1)
    if rules.fresh:
        if not take_order(state, state.bus, orders, LATER_ORDER, state.n_bus_orders):
            return False
        state.n_bus_orders += 1
        state.n_taken = 0
        state.lying = 0
        state.seen = 0
        note(events, rec.FRESH)
    return True


@compiled
def ride_straight(state: Any, rules: Any, orders: Any, events: Any) -> bool:
    """Ride the straight bus: higher or lower than the card turned last, `straight_length` times right in a row."""
    seat = state.driver
    policy = rules.guess[seat]
    while True:
        if not begin_attempt(state, rules, orders, events):
            return False
        last = take_from_stock(state, rules, orders, events)
        if last < 0:
            state.bus_end = STOCK_OUT
            return last == NO_CARD
        state.bus_attempts += 1
        note(events, rec.ATTEMPT, state.bus_attempts)
        note(events, rec.BASE, last)
        step = 0
        while step < rules.straight_length:
            higher = rules.straight_higher[last >> 2]
            lower = rules.straight_lower[last >> 2]
            known = known_cards(policy, state.running, state.seen)
            drawn = draw_answer(state, rules, seat, 2)
            answer = answer_two(policy, drawn, known, higher, lower)
            card = take_from_stock(state, rules, orders, events)
            if card < 0:
                state.bus_end = STOCK_OUT
                return card == NO_CARD
            is_right = ((lower if answer else higher) >> np.uint64(card)) & ONE
            note(events, rec.BUS_ANSWER, step, answer, card, np.int64(is_right))
            if not is_right:
                break
            last = card
            step += 1
        if step == rules.straight_length:
            state.bus_end = SUCCESS
            return True
        if not fail(state, rules, events, step):
            return True


@compiled
def ride_questions_by_four(state: Any, rules: Any) -> None:
    """Ride the questions bus of a seeded game whose deck runs and is never shuffled again, no answer being drawn.

    Whether an answer is right is a coin toss that a processor cannot foresee, so all four of an attempt are judged, and
    the first wrong one counts. `ride_questions` is the same ride question by question.
    """
    bus = state.bus
    policy = rules.guess[state.driver]
    seen = np.uint64(0)
    turned = n_attempts = penalty = 0
    end = STOCK_OUT
    reveal_to(bus, DECK_SIZE)
    while turned < DECK_SIZE:
        # At the deck's end some of the four are no cards; what is judged on them does not count.
        cards = (
            known_card(bus, turned),
            known_card(bus, turned + 1),
            known_card(bus, turned + 2),
            known_card(bus, turned + 3),
        )
        own = held_before(cards[0], cards[1], cards[2])
        known = (
            known_cards(policy, own[0], seen),
            known_cards(policy, own[1], seen | own[1]),
            known_cards(policy, own[2], seen | own[2]),
            known_cards(policy, own[3], seen | own[3]),
        )
        _, right = judge_four(rules, policy, state.drawn, known, cards)
        step = lowest_one(~(right[0] | right[1] << ONE | right[2] << np.uint64(2) | right[3] << np.uint64(3)))
        n_attempts += 1
        if turned + min(step, 3) >= DECK_SIZE:
            turned = DECK_SIZE
            break
        if step == 4:
            turned += 4
            end = SUCCESS
            break
        turned += step + 1
        for i in range(4):
            seen |= np.uint64(i <= step) << np.uint64(cards[i])
        penalty += rules.cost[step]
        if n_attempts >= rules.attempt_limit:
            end = rules.limit_end
            break
    state.bus_end = end
    state.bus_attempts = n_attempts
    state.bus_penalty = penalty
    state.bus_turned = turned


@compiled
def ride_questions(state: Any, rules: Any, orders: Any, events: Any) -> bool:
    """Ride the questions bus: the four questions of phase 1 on cards of the stock, all right in one attempt."""
    seat = state.driver
    policy = rules.guess[seat]
    first = second = third = 0
    while True:
        if not begin_attempt(state, rules, orders, events):
            return False
        step = 0
        while step < 4:
            drawn = draw_answer(state, rules, seat, rules.n_answers[step])
            known = known_cards(policy, state.running, state.seen)
            if step == 0:
                answer, fits = ask_colour(policy, drawn, known)
            elif step == 1:
                answer, fits = ask_higher(rules, policy, drawn, known, first)
            elif step == 2:
                answer, fits = ask_inside(rules, policy, drawn, known, first, second)
            else:
                answer, fits = ask_fourth(rules, policy, drawn, known, first, second, third)
            card = take_from_stock(state, rules, orders, events)
            if card < 0:
                state.bus_end = STOCK_OUT
                return card == NO_CARD
            if step == 0:
                state.bus_attempts += 1
                note(events, rec.ATTEMPT, state.bus_attempts)
            is_right = (fits >> np.uint64(card)) & ONE  # a free tie is not right: a failure
            note(events, rec.BUS_ANSWER, step, answer, card, np.int64(is_right))
            if not is_right:
                break
            if step == 0:
                first = card
            elif step == 1:
                second = card
            else:
                third = card
            step += 1
        if step == 4:
            state.bus_end = SUCCESS
            return True
        if not fail(state, rules, events, step):
            return True


@compiled
def ride(state: Any, rules: Any, orders: Any, events: Any) -> bool:
    """Phase 3: ride the bus, if there is a driver and a bus; False if an explicit deal lacks a deck."""
    begin_ride(state)
    finished = True
    if state.driver >= 0:
        if rules.bus == DIAMOND:
            finished = ride_diamond_by_places(state, rules, orders, events)
        elif rules.bus == STRAIGHT:
            finished = ride_straight(state, rules, orders, events)
        elif rules.bus == QUESTIONS:
            is_by_four = not rules.reshuffles and not rules.fresh and rules.guess[state.driver] != GUESS_RANDOM
            if orders is None and events is None and is_by_four:
                ride_questions_by_four(state, rules)
            else:
                finished = ride_questions(state, rules, orders, events)
        state.points[state.driver] += state.bus_penalty
    note(events, rec.END, state.bus_end)
    return finished


DIAMOND, STRAIGHT, QUESTIONS = (int(bus) for bus in (Bus.DIAMOND, Bus.STRAIGHT, Bus.QUESTIONS))
