"""Dupa biskupa in plain Python, from rules.md §4 alone: the blind second implementation.

Cards are strings, rank then suit. They really lie in places (hands, pile, stock), and after every move it is asserted
that every card lies somewhere once (``CHECK``).
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypedDict, cast

from .streams import KIND_DEAL, KIND_DRAW, PolicyStream, shuffled

CHECK = True
"""Whether it is asserted after every move that all cards are there; off where only speed counts."""

RANKS = "23456789TJQKA"
SUITS = "SHDC"
HEIGHT = {rank: height for height, rank in enumerate(RANKS, 2)}
PLACE = {rank + suit: (HEIGHT[rank], place) for rank in RANKS for place, suit in enumerate(SUITS)}
ONE_DECK = tuple(rank + suit for rank in "A23456789TJQK" for suit in SUITS)

# ------------------------------------------------------------------------------------------------------------- options


class Rules(TypedDict):
    """All options of rules.md §4."""

    players: int
    decks: int
    hand_size: int
    match: str
    dupa: str
    opening: str
    several_dupas: bool
    demand: str
    pass_when: str
    play_drawn: bool
    keep_top: bool
    direction: str
    winner_points: int
    rounds: int
    max_turns: int


DEFAULTS: dict[str, object] = {
    "players": 4,
    "decks": 1,
    "hand_size": 0,
    "match": "rank_or_suit",
    "dupa": "automatic",
    "opening": "plain",
    "several_dupas": True,
    "demand": "next_only",
    "pass_when": "cannot",
    "play_drawn": False,
    "keep_top": False,
    "direction": "clockwise",
    "winner_points": 1,
    "rounds": 1,
    "max_turns": 2000,
}

CHOICES: dict[str, tuple[str, ...]] = {
    "match": ("rank_or_suit", "rank", "suit"),
    "dupa": ("automatic", "declared", "off"),
    "opening": ("plain", "dupa"),
    "demand": ("next_only", "until_met"),
    "pass_when": ("cannot", "any"),
    "direction": ("clockwise", "counter"),
}

RANGES: dict[str, tuple[int, float]] = {
    "players": (2, 6),
    "decks": (1, 4),
    "hand_size": (0, 104),
    "winner_points": (0, 5),
    "rounds": (1, 100),
    "max_turns": (1, float("inf")),
}

SWITCHES = ("several_dupas", "play_drawn", "keep_top")


def resolve(rules: Mapping[str, object]) -> Rules:
    """Fill in the defaults.

    Raises
    ------
    ValueError
        For an unknown option or value, or larger hands than the decks hold.
    """
    for name in rules:
        if name not in DEFAULTS:
            raise ValueError(f"unknown option {name!r}")
    values = {**DEFAULTS, **rules}
    for name, choices in CHOICES.items():
        if values[name] not in choices:
            raise ValueError(f"{name}: one of {', '.join(choices)}")
    for name, (low, high) in RANGES.items():
        value = values[name]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"{name}: a whole number, {low} to {high}")
    for name in SWITCHES:
        if not isinstance(values[name], bool):
            raise ValueError(f"{name}: true or false")
    full = cast(Rules, values)
    if full["players"] * full["hand_size"] > 52 * full["decks"]:
        raise ValueError(f"hand_size: the hands need more than {52 * full['decks']} cards")
    return full


def columns(rules: Mapping[str, object]) -> list[str]:
    """Return the names of the columns in the rule book's order."""
    seats = range(resolve(rules)["players"])
    return ["winner", "end", "turns", "draws", "reshuffles", "dupas"] + [
        f"{name}_{seat}" for name in ("left", "points", "win_share") for seat in seats
    ]


def random_options(rnd: random.Random) -> dict[str, object]:
    """Return a random legal rule set."""
    options: dict[str, object] = {name: rnd.choice(choices) for name, choices in CHOICES.items()}
    options |= {name: rnd.random() < 0.5 for name in SWITCHES}
    players, decks = rnd.randint(2, 6), rnd.choice((1, 1, 1, 2, 2, 3, 4))
    most = min(104, 52 * decks // players)
    options["players"], options["decks"] = players, decks
    options["hand_size"] = rnd.choice((0, rnd.randint(1, 7), rnd.randint(1, most)))
    options["winner_points"] = rnd.randint(0, 5)
    options["rounds"] = rnd.choice((1, 1, rnd.randint(2, 5)))
    options["max_turns"] = rnd.choice((rnd.randint(1, 12), 50, 200, 500, 2000))
    return options


# -------------------------------------------------------------------------------------------------------------- orders


def pack(decks: int) -> list[str]:
    """Return the cards in the order every shuffle of a deal starts from."""
    return list(ONE_DECK) * decks


class Orders(Protocol):
    """Where the decks and the reshuffled stocks of one match come from. Top first."""

    def deck(self, round: int) -> list[str]:
        """Return the deck of a round, counted from 0."""
        ...

    def reshuffled(self, cards: Sequence[str], round: int) -> list[str]:
        """Return the new stock made of the pile's cards, which come in the order they were laid."""
        ...


class SeededOrders:
    """Orders shuffled from the streams of (seed, game), for a number of decks."""

    def __init__(self, seed: int, game: int, decks: int = 1) -> None:
        self.seed = seed
        self.game = game
        self.decks = decks
        self._n_reshuffles: Counter[int] = Counter()

    def deck(self, round: int) -> list[str]:
        """Return the shuffled pack."""
        return shuffled(self.seed, self.game, KIND_DEAL, round, pack(self.decks))

    def reshuffled(self, cards: Sequence[str], round: int) -> list[str]:
        """Return the cards shuffled by the round's next stream."""
        number = self._n_reshuffles[round] * 128 + round
        self._n_reshuffles[round] += 1
        return shuffled(self.seed, self.game, KIND_DRAW, number, cards)


class GivenOrders(SeededOrders):
    """Decks written down, one for each round; reshuffles from (seed, game), or the pile turned over."""

    def __init__(self, decks: Sequence[Sequence[str]], seed: int = 0, game: int = 0, reverse: bool = False) -> None:
        super().__init__(seed, game)
        self._decks = [list(deck) for deck in decks]
        self._reverse = reverse

    def deck(self, round: int) -> list[str]:
        """Return the given deck."""
        if round >= len(self._decks):
            raise ValueError(f"round {round} (counted from 0) has no deck")
        return list(self._decks[round])

    def reshuffled(self, cards: Sequence[str], round: int) -> list[str]:
        """Return the cards shuffled, or as they lie when the pile is turned over: the earliest laid is the top."""
        return list(cards) if self._reverse else super().reshuffled(cards, round)


# --------------------------------------------------------------------------------------------------------------- table

Events = list[tuple[object, ...]]


@dataclass(frozen=True)
class Move:
    """One or more sets, all of them dupas or a single plain one; no set is a pass."""

    sets: tuple[tuple[str, ...], ...] = ()
    dupa: bool = False


PASS = Move()


def plain(cards: str) -> Move:
    """Return a plain play of the cards."""
    return Move((tuple(cards.split()),))


def dupas(*sets: str) -> Move:
    """Return a move of dupa sets."""
    return Move(tuple(tuple(cards.split()) for cards in sets), True)


def in_order(cards: Sequence[str]) -> list[str]:
    """Return the cards by rank, 2 first and aces last, and within a rank in the order S, H, D, C."""
    return sorted(cards, key=PLACE.__getitem__)


@dataclass
class Table:
    """Where every card of a round lies, whose turn it is, and what happened so far.

    A table may be built in mid-game: ``pile`` in the order laid (the last is the top card), ``stock`` top first.
    ``demand`` says whether the top card is a dupa that is still to be beaten.
    """

    rules: Rules
    hands: list[list[str]]
    pile: list[str] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)
    demand: bool = False
    turn: int = 0
    orders: Orders | None = None
    round: int = 0
    events: Events | None = None
    turns: int = 0
    draws: int = 0
    reshuffles: int = 0
    dupas: int = 0
    idle: int = 0
    """Passes in a row without a card drawn, up to now."""

    def __post_init__(self) -> None:
        self._all_cards = sorted(self._everywhere())

    def _everywhere(self) -> list[str]:
        return self.pile + self.stock + [card for hand in self.hands for card in hand]

    def check(self) -> None:
        """Assert that all cards lie somewhere once."""
        if CHECK:
            assert sorted(self._everywhere()) == self._all_cards

    def tell(self, *event: object) -> None:
        """Add to the events."""
        if self.events is not None:
            self.events.append(event)

    # which sets are legal

    def is_dupa_legal(self, cards: Sequence[str]) -> bool:
        """Say whether the set may be laid as a dupa."""
        rank = rank_of(cards)
        if self.rules["dupa"] == "off" or rank == "A":
            return False
        if not self.pile:
            return self.rules["opening"] == "dupa"
        if rank in "".join(self.pile):  # no suit is written like a rank
            return False
        return not self.demand or HEIGHT[rank] > HEIGHT[self.pile[-1][0]]

    def plain_reason(self, cards: Sequence[str]) -> str:
        """Say why the set may be played as a plain one; nothing if it may not."""
        if self.rules["dupa"] == "automatic" and self.is_dupa_legal(cards):
            return ""
        return self._fit(cards)

    def _fit(self, cards: Sequence[str]) -> str:
        """Say why the set may be played, dupas aside."""
        rank = rank_of(cards)
        if not self.pile:
            return "lead"
        if rank == "A":
            return "aces"
        top_rank, top_suit = self.pile[-1][0], self.pile[-1][1]
        if self.demand:
            return "beats" if HEIGHT[rank] > HEIGHT[top_rank] else ""
        if top_rank == "A":
            return "on_ace"
        if self.rules["match"] != "suit" and rank == top_rank:
            return "rank"
        if self.rules["match"] != "rank" and any(card[1] == top_suit for card in cards):
            return "suit"
        return ""

    def is_plain_legal(self, cards: Sequence[str]) -> bool:
        """Say whether the set may be played as a plain one."""
        return self.plain_reason(cards) != ""

    def is_legal(self, cards: Sequence[str]) -> bool:
        """Say whether the set may be played at all."""
        return self._fit(cards) != "" or self.is_dupa_legal(cards)

    def sets_held(self, seat: int) -> list[list[str]]:
        """Return all cards of each rank the seat holds, 2 first and aces last, each in the order of the suits."""
        held: dict[str, list[str]] = {}
        for card in in_order(self.hands[seat]):
            held.setdefault(card[0], []).append(card)
        return list(held.values())

    def can_play(self, seat: int) -> bool:
        """Say whether the seat holds a rank that may be played."""
        return any(self.is_legal(cards) for cards in self.sets_held(seat))

    def playable(self, seat: int) -> list[list[str]]:
        """Return those of the sets held whose rank may be played. (More cards of a rank never forbid it.)"""
        return [cards for cards in self.sets_held(seat) if self.is_legal(cards)]

    def check_move(self, seat: int, move: Move, drawn: str | None = None) -> None:
        """Refuse an illegal move, on the turn itself or (``drawn``) with the card just drawn.

        Raises
        ------
        ValueError
            If the rules forbid the move.
        """
        if not move.sets:
            if drawn is None and self.rules["pass_when"] == "cannot" and self.can_play(seat):
                raise ValueError("a player who can play must not pass")
            return
        cards_laid = [card for cards in move.sets for card in cards]
        if any(cards_laid.count(card) > self.hands[seat].count(card) for card in cards_laid):
            raise ValueError("cards that are not in the hand")
        if drawn is not None and move.sets != ((drawn,),):
            raise ValueError("only the drawn card may be played")
        if len(move.sets) > 1:
            if not move.dupa or not self.rules["several_dupas"] or not self.pile:
                raise ValueError("one set only")
            if len({cards[0][0] for cards in move.sets if cards}) < len(move.sets):
                raise ValueError("one set of each rank")
        for cards in move.sets:
            if not (self.is_dupa_legal(cards) if move.dupa else self.is_plain_legal(cards)):
                raise ValueError(f"{' '.join(cards)} may not be played as a {'dupa' if move.dupa else 'plain set'}")

    # what happens

    def laying_order(self, cards: Sequence[str], dupa: bool) -> list[str]:
        """Return the cards of a set in the order they are laid."""
        order = in_order(cards)
        if not dupa and self.plain_reason(cards) == "suit":
            first = next(card for card in order if card[1] == self.pile[-1][1])
            order.remove(first)
            order.insert(0, first)
        return order

    def lay(self, seat: int, move: Move) -> None:
        """Lay the sets of a legal move, in ascending rank, and let the demand be what it now is."""
        orders = [self.laying_order(cards, move.dupa) for cards in move.sets]
        for cards in sorted(orders, key=lambda cards: HEIGHT[cards[0][0]]):
            for card in cards:
                self.hands[seat].remove(card)
                self.pile.append(card)
            self.tell("dupa" if move.dupa else "plain", seat, *cards)
        if move.dupa:
            self.dupas += len(move.sets)
        self.demand = move.dupa
        self.check()

    def draw(self, seat: int) -> str | None:
        """Let the seat draw a card, after a reshuffle if the stock is empty; nothing if there is nothing to draw."""
        if not self.stock:
            n_kept = 1 if self.rules["keep_top"] and self.pile else 0
            n_cards = len(self.pile) - n_kept
            if not n_cards:
                return None
            if self.orders is None:
                raise ValueError("a reshuffle needs orders")
            self.stock = self.orders.reshuffled(self.pile[:n_cards], self.round)
            self.pile = self.pile[n_cards:]
            self.reshuffles += 1
            if not self.pile:
                self.demand = False
            self.tell("reshuffle", *self.stock)
            self.check()
        card = self.stock.pop(0)
        self.hands[seat].append(card)
        self.draws += 1
        self.tell("draw", seat, card)
        self.check()
        return card

    def take_turn(self, policy: "Policy") -> None:
        """Let the seat whose turn it is play or pass, and go to the next seat."""
        seat = self.turn
        move, drawn = PASS, None
        if self.can_play(seat):
            move = policy(self, seat, None)
            self.check_move(seat, move)
        if not move.sets:
            drawn = self.draw(seat)
            if drawn is not None and self.rules["play_drawn"] and self.is_legal([drawn]):
                move = policy(self, seat, drawn)
                self.check_move(seat, move, drawn)
        if move.sets:
            self.lay(seat, move)
        else:
            self.tell("pass", seat)
            if self.rules["demand"] == "next_only":
                self.demand = False
        self.idle = self.idle + 1 if not move.sets and drawn is None else 0
        self.turns += 1
        self.turn = (seat + step(self.rules)) % self.rules["players"]

    def end(self) -> str:
        """Say how the round has ended after a turn; nothing if it goes on."""
        if self.winner() >= 0:
            return "hand_empty"
        if self.idle >= self.rules["players"]:
            return "stuck"
        return "turn_cap" if self.turns >= self.rules["max_turns"] else ""

    def winner(self) -> int:
        """Return the seat with an empty hand, or -1."""
        return next((seat for seat, hand in enumerate(self.hands) if not hand), -1)


def rank_of(cards: Sequence[str]) -> str:
    """Return the rank of a set.

    Raises
    ------
    ValueError
        If the cards are not one or more of one rank.
    """
    rank = cards[0][0] if cards else ""
    if not cards or "".join(cards).count(rank) != len(cards):  # no suit is written like a rank
        raise ValueError(f"no set: {' '.join(cards)}")
    return rank


def step(rules: Rules) -> int:
    """Return what is added to a seat to get the next one."""
    return 1 if rules["direction"] == "clockwise" else -1


# ------------------------------------------------------------------------------------------------------------ policies


class Policy(Protocol):
    """Chooses a move.

    It is asked on its turn (``drawn`` is None) when at least one rank may be played, and after a draw under
    ``play_drawn`` when the drawn card, which is in the hand already, may be played; then the move is that card alone or
    ``PASS``. It must not change the table. The move is checked: an illegal one is a ValueError.
    """

    def __call__(self, table: Table, seat: int, drawn: str | None) -> Move:
        """Return the move."""
        ...


class Draws(Protocol):
    """Random numbers for one seat."""

    def bounded(self, bound: int) -> int:
        """Return a uniform number below ``bound``."""
        ...


def greedy(table: Table, seat: int, drawn: str | None = None) -> Move:
    """Play the largest set, and every dupa set with it when it is a dupa."""
    if drawn is not None:
        return Move(((drawn,),), table.is_dupa_legal([drawn]))
    sets = table.playable(seat)
    if not sets:
        return PASS
    largest = max(sets, key=len)  # the first of equals, and aces come last
    if not table.is_dupa_legal(largest):
        return Move((tuple(largest),))
    if not table.rules["several_dupas"] or not table.pile:
        return Move((tuple(largest),), True)
    return Move(tuple(tuple(cards) for cards in sets if table.is_dupa_legal(cards)), True)


class RandomPolicy:
    """The policy ``random`` of one seat."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def __call__(self, table: Table, seat: int, drawn: str | None) -> Move:
        """Return the move."""
        may_pass = table.rules["pass_when"] == "any"
        if drawn is not None:
            if may_pass and self._draws.bounded(2) == 0:
                return PASS
            return self._as_plain_or_dupa(table, (drawn,))
        sets = table.playable(seat)
        if not sets:
            return PASS
        choice = self._draws.bounded(len(sets) + may_pass)
        if choice == len(sets):
            return PASS
        held = sets[choice]
        while True:
            mask = self._draws.bounded(2 ** len(held) - 1) + 1
            subset = tuple(card for bit, card in enumerate(held) if mask >> bit & 1)
            if table.is_legal(subset):
                return self._as_plain_or_dupa(table, subset)

    def _as_plain_or_dupa(self, table: Table, cards: tuple[str, ...]) -> Move:
        dupa = table.is_dupa_legal(cards)
        if dupa and table.is_plain_legal(cards):
            dupa = self._draws.bounded(2) == 1
        return Move((cards,), dupa)


# --------------------------------------------------------------------------------------------------------------- match


def deal(rules: Rules, orders: Orders, round: int = 0, events: Events | None = None) -> Table:
    """Return the table at the start of a round.

    Raises
    ------
    ValueError
        If the deck does not hold the cards it must.
    """
    deck = orders.deck(round)
    if sorted(deck) != sorted(pack(rules["decks"])):
        raise ValueError(f"the deck of round {round} does not hold the cards of {rules['decks']} deck(s)")
    players = rules["players"]
    size = rules["hand_size"] or len(deck) // players
    return Table(
        rules,
        hands=[deck[seat * size : (seat + 1) * size] for seat in range(players)],
        stock=deck[players * size :],
        turn=round * step(rules) % players,
        orders=orders,
        round=round,
        events=events,
    )


def choose_policies(
    rules: Rules, policies: Sequence[str | Policy], orders: Orders, policy_streams: Sequence[Draws] | None
) -> list[Policy]:
    """Return one policy object for each seat."""
    if isinstance(policies, str) or len(policies) != rules["players"]:
        raise ValueError("one policy for each seat")
    chosen: list[Policy] = []
    for seat, policy in enumerate(policies):
        if callable(policy):
            chosen.append(policy)
        elif policy == "greedy":
            chosen.append(greedy)
        elif policy != "random":
            raise ValueError(f"unknown policy {policy!r}")
        elif policy_streams is not None:
            chosen.append(RandomPolicy(policy_streams[seat]))
        elif isinstance(orders, SeededOrders):
            chosen.append(RandomPolicy(PolicyStream(orders.seed, orders.game, seat)))
        else:
            raise ValueError("the policy random needs streams")
    return chosen


def share_win(rules: Rules, points: Sequence[int], round_winners: Sequence[int]) -> list[float]:
    """Return the win shares of a match, from its points and the winner of each round (-1: nobody)."""
    seats = range(rules["players"])
    if all(winner < 0 for winner in round_winners):
        return [0.0 for _ in seats]
    if rules["rounds"] == 1:
        return [1.0 if seat == round_winners[0] else 0.0 for seat in seats]
    best = [seat for seat in seats if points[seat] == min(points)]
    return [1 / len(best) if seat in best else 0.0 for seat in seats]


def play(
    rules: Mapping[str, object],
    policies: Sequence[str | Policy],
    orders: Orders,
    policy_streams: Sequence[Draws] | None = None,
    events: Events | None = None,
) -> dict[str, int | float | str]:
    """Play one match and return its columns.

    Parameters
    ----------
    rules
        Options by their names in rules.md; those left out take their default.
    policies
        ``greedy``, ``random`` or an object like ``Policy`` for each seat.
    orders
        Where decks and reshuffles come from; made for this one match.
    policy_streams
        The random numbers of each seat; by default those of the orders' own seed and game.
    events
        A list that is told what happens.

    Raises
    ------
    ValueError
        For wrong rules, policies or decks, or an illegal move.
    """
    full = resolve(rules)
    if isinstance(orders, SeededOrders):
        orders.decks = full["decks"]
    chosen = choose_policies(full, policies, orders, policy_streams)
    seats = range(full["players"])
    points = [0 for _ in seats]
    tables: list[Table] = []
    end = ""
    for round in range(full["rounds"]):
        table = deal(full, orders, round, events)
        table.tell("round", round, [list(hand) for hand in table.hands], list(table.stock))
        end = ""
        while not end:
            table.take_turn(chosen[table.turn])
            end = table.end()
        for seat in seats:
            points[seat] += full["winner_points"] if seat == table.winner() else len(table.hands[seat])
        table.tell("end", round, end, table.winner(), list(points))
        tables.append(table)

    shares = share_win(full, points, [table.winner() for table in tables])
    row: dict[str, int | float | str] = {
        "winner": shares.index(1.0) if 1.0 in shares else -1,
        "end": end,
        "turns": sum(table.turns for table in tables),
        "draws": sum(table.draws for table in tables),
        "reshuffles": sum(table.reshuffles for table in tables),
        "dupas": sum(table.dupas for table in tables),
    }
    row |= {f"left_{seat}": len(tables[-1].hands[seat]) for seat in seats}
    row |= {f"points_{seat}": points[seat] for seat in seats}
    row |= {f"win_share_{seat}": shares[seat] for seat in seats}
    return row
