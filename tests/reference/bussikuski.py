"""Bussikuski in plain Python, from rules.md §2 alone: the blind second implementation.

Cards are strings, rank then suit. They really lie in places (hands, pyramid, discards, stock, bus), and after every
move it is asserted that all 52 lie somewhere once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, Protocol, TypedDict, cast

from .streams import CARDS, KIND_BUS, KIND_DEAL, KIND_DRAW, PolicyStream, PolicyStreams, WordStream, reveal, shuffled

SUITS = "SHDC"
RANK = {card: "23456789TJQKA".index(card[0]) + 2 for card in CARDS}
SUIT = {card: card[1] for card in CARDS}
ALL_CARDS = frozenset(CARDS)

# ------------------------------------------------------------------------------------------------------------- options


class Rules(TypedDict):
    """All options of rules.md §2."""

    players: int
    guess_tie: str
    boundary: str
    fourth_question: str
    guess_stake: str
    right_gives: bool
    pyramid_rows: int
    matches: str
    driver_tie: str
    bus: str
    diamond_rows: tuple[int, ...]
    blockers: str
    straight_length: int
    bus_tie: str
    bus_stake: str
    stock_out: str
    bus_deck: str
    max_attempts: int
    max_turns: int


DEFAULTS: dict[str, object] = {
    "players": 4,
    "guess_tie": "wrong",
    "boundary": "inside",
    "fourth_question": "suit",
    "guess_stake": "flat",
    "right_gives": False,
    "pyramid_rows": 4,
    "matches": "all",
    "driver_tie": "lowest_card",
    "bus": "diamond",
    "diamond_rows": (1, 2, 3, 4, 3, 2, 1),
    "blockers": "JQKA",
    "straight_length": 5,
    "bus_tie": "wrong",
    "bus_stake": "by_row",
    "stock_out": "stop",
    "bus_deck": "running",
    "max_attempts": 0,
    "max_turns": 10000,
}

CHOICES: dict[str, tuple[str, ...]] = {
    "guess_tie": ("wrong", "right", "free"),
    "boundary": ("inside", "outside", "wrong", "right"),
    "fourth_question": ("suit", "new_or_held"),
    "guess_stake": ("flat", "by_round"),
    "matches": ("all", "one"),
    "driver_tie": ("lowest_card", "highest_card", "most_points", "draw"),
    "bus": ("diamond", "straight", "questions", "none"),
    "bus_tie": ("wrong", "right"),
    "bus_stake": ("by_row", "flat"),
    "stock_out": ("stop", "reshuffle"),
    "bus_deck": ("running", "fresh"),
}

GUESS_POLICIES = ("own", "counting", "random")
GIVE_POLICIES = ("leader", "neighbour", "spread", "random")


def resolve(rules: Mapping[str, object]) -> Rules:
    """Fill in the defaults.

    Raises
    ------
    ValueError
        For an unknown option or value, or more cards than the deck holds.
    """
    for name in rules:
        if name not in DEFAULTS:
            raise ValueError(f"unknown option {name!r}")
    full = cast(Rules, {**DEFAULTS, **rules})
    for name, choices in CHOICES.items():
        if cast(dict[str, object], full)[name] not in choices:
            raise ValueError(f"{name}: one of {', '.join(choices)}")
    if not 2 <= full["players"] <= 8 or not 3 <= full["pyramid_rows"] <= 6:
        raise ValueError("players: 2-8, pyramid_rows: 3-6")
    if 4 * full["players"] + pyramid_size(full) > 52:
        raise ValueError("the hands and the pyramid need more than 52 cards")
    rows = full["diamond_rows"]
    if not rows or not all(1 <= slots <= 8 for slots in rows) or sum(rows) > 52:
        raise ValueError("diamond_rows: each 1-8, at most 52 in all")
    if not 1 <= full["straight_length"] <= 20 or full["max_attempts"] < 0 or full["max_turns"] < 1:
        raise ValueError("straight_length: 1-20, max_attempts: 0 or more, max_turns: 1 or more")
    return full


def pyramid_size(rules: Rules) -> int:
    """Return the number of cards in the pyramid."""
    return rules["pyramid_rows"] * (rules["pyramid_rows"] + 1) // 2


# -------------------------------------------------------------------------------------------------------------- orders


class NeedsOrder(Exception):  # noqa: N818
    """The game needs one order more than the deal holds."""


class Order(Protocol):
    """A bus deck: the card at a position, counted from the top."""

    def card_at(self, position: int) -> str:
        """Look at one position."""
        ...


class GivenOrder:
    """A deck whose cards are written down."""

    def __init__(self, cards: Sequence[str]) -> None:
        self._cards = list(cards)

    def card_at(self, position: int) -> str:
        """Return the given card."""
        return self._cards[position]


class LazyOrder:
    """A deck whose positions get their cards when first looked at: the k-th one looked at gets revealed card k."""

    def __init__(self, revealed: Iterator[str]) -> None:
        self._revealed = revealed
        self._looked_at: dict[int, str] = {}

    def card_at(self, position: int) -> str:
        """Return the card, deciding it on the first look."""
        if position not in self._looked_at:
            self._looked_at[position] = next(self._revealed)
        return self._looked_at[position]


class Orders(Protocol):
    """Where the decks of one game come from."""

    def deal(self) -> list[str]:
        """Return the deck of phases 1-2."""
        ...

    def draw_stock(self, cards: Sequence[str]) -> list[str]:
        """Return these cards shuffled, for the driver's draw."""
        ...

    def bus(self) -> Order:
        """Return the bus deck."""
        ...

    def fresh_bus(self) -> Order:
        """Return the next fresh bus deck."""
        ...

    def bus_stock(self, cards: Sequence[str]) -> list[str]:
        """Return these cards shuffled, for the bus."""
        ...


class ExplicitOrders:
    """Orders written down: phases 1-2, the bus deck, then further orders for whoever reshuffles next."""

    def __init__(self, decks: Sequence[Sequence[str]]) -> None:
        for number, deck in enumerate(decks):
            if len(deck) != 52 or set(deck) != ALL_CARDS:
                raise ValueError(f"order {number} does not hold each of the 52 cards once")
        self._decks = [list(deck) for deck in decks]
        self._further = 2

    def _deck(self, number: int) -> list[str]:
        if number >= len(self._decks):
            raise NeedsOrder(f"the game needs order {number} (counted from 0), the deal holds {len(self._decks)}")
        return list(self._decks[number])

    def _next_further(self) -> list[str]:
        deck = self._deck(self._further)
        self._further += 1
        return deck

    def deal(self) -> list[str]:
        """Return the first order."""
        return self._deck(0)

    def draw_stock(self, cards: Sequence[str]) -> list[str]:
        """Return the next further order without the cards that are not in the new stock."""
        return [card for card in self._next_further() if card in cards]

    def bus(self) -> Order:
        """Return the second order."""
        return GivenOrder(self._deck(1))

    def fresh_bus(self) -> Order:
        """Return the next further order."""
        return GivenOrder(self._next_further())

    def bus_stock(self, cards: Sequence[str]) -> list[str]:
        """Return the next further order without the cards that are not in the new stock."""
        return [card for card in self._next_further() if card in cards]


class SeededOrders:
    """Orders shuffled from the streams of (seed, game)."""

    def __init__(self, seed: int, game: int) -> None:
        self.seed = seed
        self.game = game
        self._n_draw_stocks = 0
        self._n_later_bus = 0

    def deal(self) -> list[str]:
        """Return deck 0."""
        return shuffled(self.seed, self.game, KIND_DEAL, 0)

    def draw_stock(self, cards: Sequence[str]) -> list[str]:
        """Return the next shuffle for the driver's draw, without the cards that are not in the new stock."""
        order = shuffled(self.seed, self.game, KIND_DRAW, self._n_draw_stocks)
        self._n_draw_stocks += 1
        return [card for card in order if card in cards]

    def bus(self) -> Order:
        """Return deck 1, its positions decided when they are looked at."""
        return LazyOrder(reveal(WordStream(self.seed, self.game, KIND_DEAL, 1).next_word))

    def fresh_bus(self) -> Order:
        """Return the next later order of the bus, its positions decided when they are looked at."""
        words = WordStream(self.seed, self.game, KIND_BUS, self._n_later_bus)
        self._n_later_bus += 1
        return LazyOrder(reveal(words.next_word))

    def bus_stock(self, cards: Sequence[str]) -> list[str]:
        """Return the next later order of the bus, without the cards that are not in the new stock."""
        order = shuffled(self.seed, self.game, KIND_BUS, self._n_later_bus)
        self._n_later_bus += 1
        return [card for card in order if card in cards]


# ----------------------------------------------------------------------------------------------------------- questions


class Question(NamedTuple):
    """One question as it stands: what the card is compared with, and what equality means."""

    kind: str
    ranks: tuple[int, ...] = ()
    suits: str = ""
    equal: str = ""


ANSWERS: dict[str, tuple[str, ...]] = {
    "colour": ("red", "black"),
    "higher": ("higher", "lower"),
    "inside": ("inside", "outside"),
    "suit": ("S", "H", "D", "C"),
    "new_or_held": ("held", "new"),
}


def question_of(rules: Rules, number: int, cards: Sequence[str]) -> Question:
    """Return question 1-4 for a player who has these cards so far."""
    if number == 1:
        return Question("colour")
    if number == 2:
        return Question("higher", ranks=(RANK[cards[0]],), equal=rules["guess_tie"])
    if number == 3:
        low, high = sorted((RANK[cards[0]], RANK[cards[1]]))
        return Question("inside", ranks=(low, high), equal=rules["boundary"])
    if rules["fourth_question"] == "suit":
        return Question("suit")
    held = [SUIT[card] for card in cards[:3]]
    return Question("new_or_held", suits="".join(suit for suit in SUITS if suit in held))


def verdict(question: Question, answer: str, card: str) -> str:
    """Say whether the card makes the answer ``right``, ``wrong`` or neither (``free``)."""
    rank, suit = RANK[card], SUIT[card]
    if question.kind == "colour":
        truth = "red" if suit in "HD" else "black"
    elif question.kind == "higher":
        if rank == question.ranks[0]:
            return question.equal
        truth = "higher" if rank > question.ranks[0] else "lower"
    elif question.kind == "inside":
        low, high = question.ranks
        if rank in (low, high):
            if question.equal in ("wrong", "right"):
                return question.equal
            truth = question.equal
        else:
            truth = "inside" if low < rank < high else "outside"
    elif question.kind == "suit":
        truth = suit
    else:
        truth = "held" if suit in question.suits else "new"
    return "right" if answer == truth else "wrong"


@cache
def fitting(question: Question, answer: str) -> frozenset[str]:
    """Return the cards of the 52 that make the answer right."""
    return frozenset(card for card in CARDS if verdict(question, answer, card) == "right")


# ------------------------------------------------------------------------------------------------------------ policies

Guesser = Callable[[Question, list[str]], str]
"""A scripted guess, for tests: (question, own face-up cards) to an answer."""

Giver = Callable[[int, int, list[int]], int]
"""A scripted gift, for tests: (giver, points of this gift given before, points of all) to the next recipient."""


def n_fitting_unknown(question: Question, answer: str, known: Sequence[str]) -> int:
    """Count the cards that fit the answer and are not known."""
    return len(fitting(question, answer).difference(known))


def choose_answer(
    policy: str | Guesser, question: Question, own: list[str], face_up: list[list[str]], stream: PolicyStream | None
) -> str:
    """Return a policy's answer; ``own`` are the guesser's face-up cards, ``face_up`` the places a counter knows."""
    if callable(policy):
        return policy(question, own)
    answers = ANSWERS[question.kind]
    if policy == "random":
        assert stream is not None
        return answers[stream.bounded(len(answers))]
    known = [card for place in face_up for card in place] if policy == "counting" else own
    best, best_n = answers[0], -1
    for answer in answers:
        n = n_fitting_unknown(question, answer, known)
        if n > best_n:
            best, best_n = answer, n
    return best


def give_points(
    policy: str | Giver, giver: int, amount: int, points: list[int], stream: PolicyStream | None
) -> list[int]:
    """Give one gift away, point by point; return who got each."""
    players = len(points)
    others = [(giver + step) % players for step in range(1, players)]
    recipients = []
    for n in range(amount):
        if callable(policy):
            recipient = policy(giver, n, points)
        elif policy == "leader":
            recipient = others[0]
            for seat in others:
                if points[seat] < points[recipient]:
                    recipient = seat
        elif policy == "neighbour":
            recipient = others[0]
        elif policy == "spread":
            recipient = others[n % len(others)]
        else:
            assert stream is not None
            recipient = others[stream.bounded(len(others))]
        assert recipient in others
        points[recipient] += 1
        recipients.append(recipient)
    return recipients


# ---------------------------------------------------------------------------------------------------------- phases 1-2

Events = list[tuple[object, ...]]


@dataclass
class Table:
    """Where the cards of phases 1-2 lie, and the points."""

    stock: list[str]
    hands: list[list[str]]
    points: list[int]
    pyramid: list[str] = field(default_factory=list)
    discards: list[str] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Assert that each of the 52 cards lies somewhere once."""
        cards = self.stock + self.pyramid + self.discards + self.drawn
        for hand in self.hands:
            cards += hand
        assert len(cards) == 52
        assert set(cards) == ALL_CARDS


def new_table(deck: Sequence[str], players: int) -> Table:
    """Return a table before the first question."""
    return Table(stock=list(deck), hands=[[] for _ in range(players)], points=[0] * players)


def tell(events: Events | None, *event: object) -> None:
    """Append an event, if somebody listens."""
    if events is not None:
        events.append(event)


def play_questions(
    table: Table,
    rules: Rules,
    guess: Sequence[str | Guesser],
    give: Sequence[str | Giver],
    streams: PolicyStreams | None = None,
    events: Events | None = None,
) -> tuple[list[int], list[int]]:
    """Play phase 1; return the wrong answers of each seat and the right answers to each question."""
    wrong = [0] * rules["players"]
    right = [0, 0, 0, 0]
    for number in (1, 2, 3, 4):
        stake = number if rules["guess_stake"] == "by_round" else 1
        for seat in range(rules["players"]):
            hand = table.hands[seat]
            question = question_of(rules, number, hand)
            stream = streams.guess(seat) if streams is not None and guess[seat] == "random" else None
            answer = choose_answer(guess[seat], question, hand, table.hands, stream)
            card = table.stock.pop(0)
            hand.append(card)
            result = verdict(question, answer, card)
            tell(events, "guess", number, seat, answer, card, result)
            if result == "wrong":
                wrong[seat] += 1
                table.points[seat] += stake
            elif result == "right":
                right[number - 1] += 1
                if rules["right_gives"]:
                    make_gift(table, seat, stake, give, streams, events)
            table.check()
    return wrong, right


def make_gift(
    table: Table,
    giver: int,
    amount: int,
    give: Sequence[str | Giver],
    streams: PolicyStreams | None,
    events: Events | None,
) -> None:
    """Let a seat give away points by its policy."""
    stream = streams.give(giver) if streams is not None and give[giver] == "random" else None
    recipients = give_points(give[giver], giver, amount, table.points, stream)
    tell(events, "gift", giver, recipients)


def play_pyramid(
    table: Table,
    rules: Rules,
    give: Sequence[str | Giver],
    streams: PolicyStreams | None = None,
    events: Events | None = None,
) -> None:
    """Play phase 2."""
    for _ in range(pyramid_size(rules)):
        table.pyramid.append(table.stock.pop(0))
    table.check()
    row_of = []  # the row value of each place, bottom row first
    for value in range(1, rules["pyramid_rows"] + 1):
        row_of += [value] * (rules["pyramid_rows"] + 1 - value)
    for place, value in enumerate(row_of):
        card = table.pyramid[place]
        tell(events, "pyramid", value, card)
        for seat, hand in enumerate(table.hands):
            matching = [held for held in hand if RANK[held] == RANK[card]]
            if rules["matches"] == "one":
                matching = matching[:1]
            if not matching:
                continue
            for held in matching:
                hand.remove(held)
                table.discards.append(held)
            tell(events, "match", seat, matching)
            make_gift(table, seat, len(matching) * value, give, streams, events)
            table.check()


def find_driver(table: Table, rules: Rules, orders: Orders, events: Events | None = None) -> tuple[int, str]:
    """Return the driver (-1 for nobody) and how it was found."""
    seats = range(rules["players"])
    most = max(len(hand) for hand in table.hands)
    if most == 0:
        return -1, "nobody"
    tied = [seat for seat in seats if len(table.hands[seat]) == most]
    if len(tied) == 1:
        return tied[0], "most_cards"
    if rules["driver_tie"] != "draw":
        if rules["driver_tie"] == "lowest_card":
            worth = {seat: -min(RANK[card] for card in table.hands[seat]) for seat in tied}
        elif rules["driver_tie"] == "highest_card":
            worth = {seat: max(RANK[card] for card in table.hands[seat]) for seat in tied}
        else:
            worth = {seat: table.points[seat] for seat in tied}
        tied = [seat for seat in tied if worth[seat] == max(worth.values())]
        if len(tied) == 1:
            return tied[0], "tie_break"
    while len(tied) > 1:
        tied = draw_round(table, tied, orders, events)
    return tied[0], "draw"


def draw_round(table: Table, tied: Sequence[int], orders: Orders, events: Events | None = None) -> list[int]:
    """Let the tied seats draw one card each; return those with the lowest."""
    rank_drawn = {}
    for seat in tied:
        if not table.stock:
            unused = table.pyramid + table.discards
            table.pyramid, table.discards = [], []
            table.stock = orders.draw_stock(unused)
            tell(events, "draw_reshuffle", list(table.stock))
            table.check()
        card = table.stock.pop(0)
        table.drawn.append(card)
        rank_drawn[seat] = RANK[card]
        tell(events, "draw", seat, card)
        table.check()
    table.discards += table.drawn
    table.drawn = []
    table.check()
    return [seat for seat in tied if rank_drawn[seat] == min(rank_drawn.values())]


# ------------------------------------------------------------------------------------------------------------- phase 3

Hidden = int | str
"""A face-down card: its position in the deck while nobody has looked at it, the card itself afterwards."""


@dataclass
class Ride:
    """The driver's ride so far."""

    end: str = "no_bus"
    attempts: int = 0
    penalty: int = 0
    turned: int = 0


def cap_reached(rules: Rules, attempts: int) -> str:
    """Return the cap that ends the ride after a failed attempt, or nothing."""
    if rules["max_attempts"] > 0:
        return "attempt_cap" if attempts >= rules["max_attempts"] else ""
    unbounded = rules["bus_deck"] == "fresh" or rules["stock_out"] == "reshuffle"
    return "turn_cap" if unbounded and attempts >= rules["max_turns"] else ""


class Diamond:
    """The diamond: rows of places, the stock and the discards. The first card of a row is its leftmost place."""

    def __init__(self, order: Order, rows: Sequence[int]) -> None:
        self.order = order
        self.stock: list[Hidden] = list(range(52))
        self.discards: list[str] = []
        self.rows: list[list[Hidden]] = []
        for slots in rows:
            self.rows.append([self.stock.pop(0) for _ in range(slots)])
        self.check()

    def look(self, hidden: Hidden) -> str:
        """Return which card this is."""
        return self.order.card_at(hidden) if isinstance(hidden, int) else hidden

    def turn(self, row: int) -> str:
        """Turn the leftmost card of a row; it stays lying there."""
        card = self.look(self.rows[row][0])
        self.rows[row][0] = card
        return card

    def discard_turned(self, n_rows: int) -> None:
        """Discard the turned cards of the first rows."""
        for row in self.rows[:n_rows]:
            self.discards.append(cast(str, row.pop(0)))
        self.check()

    def refill(self, n_rows: int) -> None:
        """Refill the leftmost places of the first rows from the stock."""
        for row in self.rows[:n_rows]:
            row.insert(0, self.stock.pop(0))
        self.check()

    def reshuffle(self, orders: Orders) -> None:
        """Make everything that does not lie in the bus a new stock."""
        lying = []
        for row in self.rows:
            for place in range(len(row)):
                row[place] = self.look(row[place])
                lying.append(row[place])
        others = [card for card in CARDS if card not in lying]
        assert len(others) == len(self.stock) + len(self.discards)
        assert set(self.discards) <= set(others)
        self.discards = []
        self.stock = list(orders.bus_stock(others))
        self.check()

    def n_lying(self) -> int:
        """Count the cards in the bus."""
        return sum(len(row) for row in self.rows)

    def check(self) -> None:
        """Assert that 52 different cards lie somewhere (one not looked at yet stands for its position)."""
        cards = self.stock + self.discards
        for row in self.rows:
            cards += row
        assert len(cards) == 52
        assert len(set(cards)) == 52


def ride_diamond(rules: Rules, orders: Orders, events: Events | None = None) -> Ride:
    """Ride the diamond bus."""
    ride = Ride()
    slots = rules["diamond_rows"]
    bus = Diamond(orders.bus(), slots)
    while True:
        ride.attempts += 1
        for row in range(len(slots)):
            card = bus.turn(row)
            ride.turned += 1
            tell(events, "turn", row, card)
            if card[0] in rules["blockers"]:
                break
        else:
            ride.end = "success"
            return ride
        n_turned = row + 1
        stake = slots[row] if rules["bus_stake"] == "by_row" else 1
        ride.penalty += stake
        tell(events, "blocked", row, stake)
        ride.end = cap_reached(rules, ride.attempts)
        if ride.end:
            return ride
        if rules["bus_deck"] == "fresh":
            bus = Diamond(orders.fresh_bus(), slots)
            continue
        bus.discard_turned(n_turned)
        if len(bus.stock) < n_turned:
            if rules["stock_out"] == "stop":
                ride.end = "stock_out"
                return ride
            bus.reshuffle(orders)
            tell(events, "bus_reshuffle", list(bus.stock))
        bus.refill(n_turned)
        tell(events, "refilled", bus.n_lying(), len(bus.stock), len(bus.discards))


class GuessingBus:
    """The cards of the straight and the questions bus: the stock, the running attempt and the discards."""

    def __init__(self, rules: Rules, orders: Orders, events: Events | None) -> None:
        self.rules = rules
        self.orders = orders
        self.events = events
        self.ride = Ride()
        self.lay(orders.bus())

    def lay(self, order: Order) -> None:
        """Start with a whole deck."""
        self.stock = [order.card_at(position) for position in range(52)]
        self.attempt: list[str] = []
        self.discards: list[str] = []
        self.check()

    def turn(self) -> str:
        """Turn the next card; nothing if it is missing."""
        if not self.stock:
            if self.rules["stock_out"] == "stop":
                return ""
            self.stock = self.orders.bus_stock(self.discards)
            self.discards = []
            tell(self.events, "bus_reshuffle", list(self.stock))
            self.check()
        card = self.stock.pop(0)
        if not self.attempt:
            self.ride.attempts += 1
        self.attempt.append(card)
        self.ride.turned += 1
        self.check()
        return card

    def discard_attempt(self) -> None:
        """Discard the cards of a failed attempt."""
        self.discards += self.attempt
        self.attempt = []
        self.check()

    def fail(self, number: int) -> str:
        """Pay for the failed guess."""
        self.ride.penalty += number if self.rules["bus_stake"] == "by_row" else 1
        return "failed"

    def face_up(self) -> list[list[str]]:
        """Return the cards turned since the last shuffle and those of the running attempt."""
        return [self.discards, self.attempt]

    def check(self) -> None:
        """Assert that each of the 52 cards lies somewhere once."""
        cards = self.stock + self.attempt + self.discards
        assert len(cards) == 52
        assert set(cards) == ALL_CARDS


def try_straight(bus: GuessingBus, policy: str | Guesser, stream: PolicyStream | None) -> str:
    """Make one attempt on the straight bus: ``success``, ``failed`` or ``stock_out``."""
    last = bus.turn()
    if not last:
        return "stock_out"
    tell(bus.events, "base", last)
    for number in range(1, bus.rules["straight_length"] + 1):
        question = Question("higher", ranks=(RANK[last],), equal=bus.rules["bus_tie"])
        answer = choose_answer(policy, question, bus.attempt, bus.face_up(), stream)
        card = bus.turn()
        if not card:
            return "stock_out"
        result = verdict(question, answer, card)
        tell(bus.events, "bus_guess", number, answer, card, result)
        if result != "right":
            return bus.fail(number)
        last = card
    return "success"


def try_questions(bus: GuessingBus, policy: str | Guesser, stream: PolicyStream | None) -> str:
    """Make one attempt on the questions bus: ``success``, ``failed`` or ``stock_out``."""
    for number in (1, 2, 3, 4):
        question = question_of(bus.rules, number, bus.attempt)
        answer = choose_answer(policy, question, bus.attempt, bus.face_up(), stream)
        card = bus.turn()
        if not card:
            return "stock_out"
        result = verdict(question, answer, card)
        tell(bus.events, "bus_guess", number, answer, card, result)
        if result != "right":
            return bus.fail(number)
    return "success"


def ride_guessing(
    rules: Rules,
    orders: Orders,
    policy: str | Guesser,
    stream: PolicyStream | None = None,
    events: Events | None = None,
) -> Ride:
    """Ride the straight or the questions bus."""
    bus = GuessingBus(rules, orders, events)
    ride = bus.ride
    make_attempt = try_straight if rules["bus"] == "straight" else try_questions
    while True:
        ride.end = make_attempt(bus, policy, stream)
        if ride.end != "failed":
            return ride
        ride.end = cap_reached(rules, ride.attempts)
        if ride.end:
            return ride
        bus.discard_attempt()
        if rules["bus_deck"] == "fresh":
            bus.lay(orders.fresh_bus())


# ---------------------------------------------------------------------------------------------------------- whole game


def share_win(points: Sequence[int]) -> list[float]:
    """Return the win shares: fewest points wins, ties share."""
    winners = [seat for seat in range(len(points)) if points[seat] == min(points)]
    return [1 / len(winners) if seat in winners else 0.0 for seat in range(len(points))]


def play(
    rules: Mapping[str, object],
    guess: Sequence[str | Guesser],
    give: Sequence[str | Giver],
    orders: Orders,
    streams: PolicyStreams | None = None,
    events: Events | None = None,
) -> dict[str, object]:
    """Play one game and return its columns.

    Parameters
    ----------
    rules
        Options by their names in rules.md; those left out take their default.
    guess, give
        One policy for each seat.
    orders
        Where the decks come from; made for this one game.
    streams
        The policies' random numbers; by default those of the orders' own seed and game, if they have one.
    events
        A list that is told what happens.

    Raises
    ------
    ValueError
        For wrong rules or policies, or a random policy without streams.
    NeedsOrder
        If explicit orders do not suffice.
    """
    full = resolve(rules)
    check_policies(full, guess, give)
    if streams is None and isinstance(orders, SeededOrders):
        streams = PolicyStreams(orders.seed, orders.game)
    if streams is None and ("random" in guess or "random" in give):
        raise ValueError("the policy random needs streams")

    table = new_table(orders.deal(), full["players"])
    wrong, right = play_questions(table, full, guess, give, streams, events)
    play_pyramid(table, full, give, streams, events)
    driver, driver_by = find_driver(table, full, orders, events)
    tell(events, "driver", driver, driver_by, list(table.points))

    ride = Ride()
    if driver >= 0 and full["bus"] == "diamond":
        ride = ride_diamond(full, orders, events)
    elif driver >= 0 and full["bus"] != "none":
        stream = streams.guess(driver) if streams is not None and guess[driver] == "random" else None
        ride = ride_guessing(full, orders, guess[driver], stream, events)
    if driver >= 0:
        table.points[driver] += ride.penalty

    seats = range(full["players"])
    row: dict[str, object] = {f"wrong_{seat}": wrong[seat] for seat in seats}
    row |= {f"right_q{number}": right[number - 1] for number in (1, 2, 3, 4)}
    row |= {f"left_{seat}": len(table.hands[seat]) for seat in seats}
    row |= {"driver": driver, "driver_by": driver_by, "bus_end": ride.end}
    row |= {"bus_attempts": ride.attempts, "bus_penalty": ride.penalty, "bus_turned": ride.turned}
    row |= {f"points_{seat}": table.points[seat] for seat in seats}
    shares = share_win(table.points)
    row |= {f"win_share_{seat}": shares[seat] for seat in seats}
    return row


def check_policies(rules: Rules, guess: Sequence[str | Guesser], give: Sequence[str | Giver]) -> None:
    """Refuse unknown policies, or too few."""
    if len(guess) != rules["players"] or len(give) != rules["players"]:
        raise ValueError("one policy for each seat")
    for policies, known in ((guess, GUESS_POLICIES), (give, GIVE_POLICIES)):
        for policy in policies:
            if not callable(policy) and policy not in known:
                raise ValueError(f"unknown policy {policy!r}: one of {', '.join(known)}")
