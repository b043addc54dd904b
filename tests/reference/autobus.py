"""Autobus in plain Python, from rules.md §1 alone: the blind second implementation.

Cards are strings, rank then suit. They really lie in places (hands, buses, storage, common piles, talon); when asked,
it is asserted after every move that all of them still lie somewhere.
"""

import random
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypedDict, cast

from .streams import KIND_DEAL, KIND_DRAW, PolicyStream, shuffled

RANKS = "A23456789TJQK"
SUITS = "SHDC"
DECK = tuple(rank + suit for rank in RANKS for suit in SUITS)
RANK = {card: RANKS.index(card[0]) for card in DECK}
ACES = frozenset(card for card in DECK if card[0] == "A")

NEXT_IN_RANK = {top: frozenset(card for card in DECK if RANK[card] == RANK[top] + 1) for top in DECK}
NEXT_IN_SUIT = {top: frozenset(card for card in NEXT_IN_RANK[top] if card[1] == top[1]) for top in DECK}

CHECK = False
"""Whether every game is checked after every move, even if its caller did not ask."""

# ------------------------------------------------------------------------------------------------------------- options


class Rules(TypedDict):
    """All options of rules.md §1; ``decks`` is never 0 here."""

    players: int
    decks: int
    bus_size: int
    hand_size: int
    storage_piles: int
    follow_suit: bool
    recycle: str
    discard_when: str
    swap: bool
    bury: bool
    stalemate_rounds: int
    must_play: bool
    max_turns: int


DEFAULTS: dict[str, object] = {
    "players": 4,
    "decks": 0,
    "bus_size": 10,
    "hand_size": 5,
    "storage_piles": 4,
    "follow_suit": False,
    "recycle": "shuffled_bottom",
    "discard_when": "hand_untouched",
    "swap": True,
    "bury": True,
    "stalemate_rounds": 1,
    "must_play": True,
    "max_turns": 5000,
}

CHOICES: dict[str, tuple[str, ...]] = {
    "recycle": ("shuffled_bottom", "bottom", "shuffle_all"),
    "discard_when": ("hand_untouched", "nothing_played"),
}

RANGES: dict[str, tuple[int, int]] = {
    "players": (2, 8),
    "decks": (0, 8),
    "bus_size": (1, 60),
    "hand_size": (1, 10),
    "storage_piles": (0, 8),
    "stalemate_rounds": (0, 100),
    "max_turns": (1, 2**62),
}

POLICIES = ("greedy", "random")


def resolve(rules: Mapping[str, object]) -> Rules:
    """Fill in the defaults and the number of decks.

    Raises
    ------
    ValueError
        For an unknown option or value, or if the decks do not hold the cards that are dealt.
    """
    for name in rules:
        if name not in DEFAULTS:
            raise ValueError(f"unknown option {name!r}")
    values = {**DEFAULTS, **rules}
    for name, value in values.items():
        if name in CHOICES:
            if value not in CHOICES[name]:
                raise ValueError(f"{name}: one of {', '.join(CHOICES[name])}")
        elif name in RANGES:
            low, high = RANGES[name]
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise ValueError(f"{name}: a whole number from {low} to {high}")
        elif not isinstance(value, bool):
            raise ValueError(f"{name}: true or false")
    full = cast(Rules, values)
    dealt = full["players"] * (full["hand_size"] + full["bus_size"])
    if full["decks"] == 0:
        full["decks"] = next((decks for decks in range(1, 8) if 52 * decks - dealt >= 26), 8)
    if 52 * full["decks"] < dealt:
        raise ValueError(f"{dealt} cards are needed for the deal, {full['decks']} decks hold {52 * full['decks']}")
    return full


def columns(rules: Mapping[str, object]) -> list[str]:
    """Return the names of the columns."""
    seats = range(resolve(rules)["players"])
    names = ["winner", "end", "turns", "plays", "finished_piles", "buried", "swaps"]
    return names + [f"bus_left_{seat}" for seat in seats] + [f"points_{seat}" for seat in seats]


def random_options(rnd: random.Random) -> dict[str, object]:
    """Return a random legal set of options, all of them named."""
    while True:
        options: dict[str, object] = {
            "players": rnd.randint(2, 8),
            "decks": rnd.choice((0, rnd.randint(0, 8))),
            "bus_size": rnd.choice((rnd.randint(1, 60), rnd.randint(1, 12))),
            "hand_size": rnd.randint(1, 10),
            "storage_piles": rnd.randint(0, 8),
            "follow_suit": rnd.random() < 0.5,
            "recycle": rnd.choice(CHOICES["recycle"]),
            "discard_when": rnd.choice(CHOICES["discard_when"]),
            "swap": rnd.random() < 0.7,
            "bury": rnd.random() < 0.7,
            "stalemate_rounds": rnd.choice((0, 0, 1, 2, 3, rnd.randint(0, 100))),
            "must_play": rnd.random() < 0.5,
            "max_turns": rnd.choice((rnd.randint(1, 60), *(rnd.randint(200, 3000) for _ in range(4)))),
        }
        try:
            resolve(options)
        except ValueError:
            continue
        return options


# -------------------------------------------------------------------------------------------------------------- orders


def pack_of(decks: int) -> list[str]:
    """Return the unshuffled cards of some decks, deck after deck."""
    return list(DECK) * decks


class Orders(Protocol):
    """Where the deck and the shuffles of one game come from."""

    def deck(self, rules: Rules) -> list[str]:
        """Return the deck, top first."""
        ...

    def recycled(self, cards: list[str]) -> list[str]:
        """Return these cards shuffled, for the next finished pile."""
        ...


class SeededOrders:
    """Orders shuffled from the streams of (seed, game)."""

    def __init__(self, seed: int, game: int) -> None:
        self.seed = seed
        self.game = game
        self._n_recycled = 0

    def deck(self, rules: Rules) -> list[str]:
        """Return the shuffled pack."""
        return shuffled(self.seed, self.game, KIND_DEAL, 0, pack_of(rules["decks"]))

    def recycled(self, cards: list[str]) -> list[str]:
        """Return the cards in the order of the next recycling."""
        order = shuffled(self.seed, self.game, KIND_DRAW, self._n_recycled, cards)
        self._n_recycled += 1
        return order


class GivenOrders:
    """A deck written down; the recyclings are shuffled from the streams of (seed, game), if these are given."""

    def __init__(self, deck: Sequence[str], seed: int | None = None, game: int | None = None) -> None:
        self._deck = list(deck)
        self.seed = seed
        self.game = game
        self._later = None if seed is None or game is None else SeededOrders(seed, game)

    def deck(self, rules: Rules) -> list[str]:
        """Return the given deck."""
        if Counter(self._deck) != Counter(pack_of(rules["decks"])):
            raise ValueError(f"the deck does not hold each card {rules['decks']} times")
        return list(self._deck)

    def recycled(self, cards: list[str]) -> list[str]:
        """Return the cards in the order of the next recycling."""
        if self._later is None:
            raise ValueError("a finished pile must be shuffled, and no seed and game were given")
        return self._later.recycled(cards)


def streams_of(seed: int, game: int, players: int) -> list[PolicyStream]:
    """Return the policy stream of each seat."""
    return [PolicyStream(seed, game, seat) for seat in range(players)]


# --------------------------------------------------------------------------------------------------------------- table

Events = list[tuple[object, ...]]


class Move(NamedTuple):
    """One card that can be placed.

    ``source`` is ``hand``, ``storage`` or ``bus``; ``at`` is the card's place in the hand or in the storage pile
    ``pile``, both 0 where they say nothing.
    """

    source: str
    at: int = 0
    pile: int = 0


BUS_TOP = Move("bus")


class Choice(NamedTuple):
    """One way to give up a card: ``empty`` (a), ``same`` (b), ``swap`` (c i) or ``bury`` (c ii).

    ``at`` is the hand card's place, for a swap that of the earliest card of the rank; ``pile`` is the storage pile,
    −1 when burying.
    """

    way: str
    at: int
    pile: int = -1


@dataclass
class Seat:
    """The cards of one player: hand in the order drawn, bus top first, storage piles in the order put in."""

    hand: list[str] = field(default_factory=list)
    bus: deque[str] = field(default_factory=deque)
    storage: list[list[str]] = field(default_factory=list)


@dataclass
class Table:
    """Where all cards lie, and what is counted; can be made in mid-game."""

    rules: Rules
    seats: list[Seat]
    piles: list[list[str]] = field(default_factory=list)
    """Common piles, oldest first, each from its ace up."""
    talon: deque[str] = field(default_factory=deque)
    orders: Orders | None = None
    events: Events | None = None
    checked: bool = False

    turns: int = 0
    passes: int = 0
    plays: int = 0
    finished_piles: int = 0
    buried: int = 0
    swaps: int = 0
    idle_turns: int = 0
    """How many turns in a row placed nothing."""
    dead_turns: int = 0
    """How many turns in a row placed nothing and began with an empty talon."""
    placed_in_turn: int = 0
    hand_placed_in_pass: int = 0

    def __post_init__(self) -> None:
        """Complete the storage and remember which cards there are."""
        self.next_cards = NEXT_IN_SUIT if self.rules["follow_suit"] else NEXT_IN_RANK
        for seat in self.seats:
            seat.storage += [[] for _ in range(self.rules["storage_piles"] - len(seat.storage))]
        self.cards = Counter(self.all_cards())

    def all_cards(self) -> list[str]:
        """Return the cards of all places."""
        cards = [*self.talon]
        for pile in self.piles:
            cards += pile
        for seat in self.seats:
            cards += [*seat.hand, *seat.bus]
            for pile in seat.storage:
                cards += pile
        return cards

    def check(self) -> None:
        """Assert that no card was lost or made and that every place is in order."""
        assert Counter(self.all_cards()) == self.cards
        for pile in self.piles:
            assert 1 <= len(pile) <= 12
            assert "".join(card[0] for card in pile) == RANKS[: len(pile)]
            assert not self.rules["follow_suit"] or len({card[1] for card in pile}) == 1
        for seat in self.seats:
            assert len(seat.hand) <= self.rules["hand_size"]
            assert len(seat.storage) == self.rules["storage_piles"]
            assert all(len({card[0] for card in pile}) <= 1 for pile in seat.storage)

    def moved(self, *event: object) -> None:
        """Tell of a finished move, and check."""
        if self.events is not None:
            self.events.append(event)
        if self.checked:
            self.check()


def deal(rules: Rules, orders: Orders, events: Events | None = None, checked: bool = False) -> Table:
    """Return the table before the first turn."""
    deck = orders.deck(rules)
    if checked:
        assert Counter(deck) == Counter(pack_of(rules["decks"]))
    seats = []
    first = 0
    for _ in range(rules["players"]):
        middle = first + rules["hand_size"]
        last = middle + rules["bus_size"]
        seats.append(Seat(hand=deck[first:middle], bus=deque(deck[middle:last])))
        first = last
    table = Table(rules, seats, talon=deque(deck[first:]), orders=orders, events=events, checked=checked)
    table.moved("deal")
    return table


# ------------------------------------------------------------------------------------------------- drawing and placing


def draw(table: Table, seat: int) -> None:
    """Fill the hand from the talon: step 1."""
    hand, talon = table.seats[seat].hand, table.talon
    drawn = []
    while talon and len(hand) < table.rules["hand_size"]:
        drawn.append(talon.popleft())
        hand.append(drawn[-1])
    table.moved("draw", seat, drawn)


def accepted(table: Table) -> set[str]:
    """Return the cards that could be placed now."""
    return set(ACES).union(*[table.next_cards[pile[-1]] for pile in table.piles])


def placements(table: Table, seat: int) -> list[Move]:
    """Return every card that can be placed: hand, storage pile by pile, bus."""
    me = table.seats[seat]
    fitting = accepted(table)
    moves = [Move("hand", i) for i, card in enumerate(me.hand) if card in fitting]
    for number, pile in enumerate(me.storage):
        moves += [Move("storage", i, number) for i, card in enumerate(pile) if card in fitting]
    if me.bus and me.bus[0] in fitting:
        moves.append(BUS_TOP)
    return moves


def place(table: Table, seat: int, move: Move) -> None:
    """Place one card on the oldest common pile that accepts it, or start a pile with it; recycle a finished pile."""
    me = table.seats[seat]
    if move.source == "hand":
        card = me.hand.pop(move.at)
        table.hand_placed_in_pass += 1
    elif move.source == "storage":
        card = me.storage[move.pile].pop(move.at)
    else:
        card = me.bus.popleft()
    table.plays += 1
    table.placed_in_turn += 1

    if card[0] == "A":
        table.piles.append([card])
        table.moved("place", seat, move, card)
        return
    pile = next(pile for pile in table.piles if card in table.next_cards[pile[-1]])
    pile.append(card)
    if card[0] == "K":
        table.piles = [other for other in table.piles if other is not pile]
        recycle(table, pile)
    table.moved("place", seat, move, card)


def recycle(table: Table, pile: list[str]) -> None:
    """Return a finished pile to the talon."""
    table.finished_piles += 1
    how = table.rules["recycle"]
    if how == "bottom":
        table.talon.extend(pile)
    elif table.orders is None:
        raise ValueError("a finished pile must be shuffled, and the table has no orders")
    elif how == "shuffled_bottom":
        table.talon.extend(table.orders.recycled(pile))
    else:
        table.talon = deque(table.orders.recycled([*table.talon, *pile]))
    table.moved("recycle", pile)


def greedy_placement(table: Table, seat: int) -> Move | None:
    """Return the bus top, else the lowest hand card, else the lowest storage pile."""
    me = table.seats[seat]
    fitting = accepted(table)
    if me.bus and me.bus[0] in fitting:
        return BUS_TOP
    lowest = 13
    move = None
    for i, card in enumerate(me.hand):
        if card in fitting and RANK[card] < lowest:
            lowest = RANK[card]
            move = Move("hand", i)
    if move is not None:
        return move
    for number, pile in enumerate(me.storage):
        if pile and RANK[pile[0]] < lowest:
            for i in reversed(range(len(pile))):
                if pile[i] in fitting:
                    lowest = RANK[pile[i]]
                    move = Move("storage", i, number)
                    break
    return move


# ---------------------------------------------------------------------------------------------------------- discarding


def discard_due(table: Table, seat: int) -> bool:
    """Say whether a card must be given up at the end of the final pass."""
    if not table.seats[seat].hand:
        return False
    if table.rules["discard_when"] == "hand_untouched":
        return table.hand_placed_in_pass == 0
    return table.placed_in_turn == 0


def discard_choices(table: Table, seat: int) -> list[Choice]:
    """Return every legal way to give up a card, in the order the random policy counts them."""
    hand, storage = table.seats[seat].hand, table.seats[seat].storage
    empty = [number for number, pile in enumerate(storage) if not pile]
    onto_empty = [Choice("empty", i, number) for i in range(len(hand)) for number in empty]
    onto_same = [
        Choice("same", i, number)
        for i, card in enumerate(hand)
        for number, pile in enumerate(storage)
        if pile and pile[0][0] == card[0]
    ]
    choices = onto_empty + onto_same
    if empty:
        return choices
    if table.rules["swap"]:
        held = [card[0] for card in hand]
        for rank in sorted(set(held), key=RANKS.index):
            for number, pile in enumerate(storage):
                k = len(pile) + 1
                if k in (2, 3, 4) and held.count(rank) >= k:
                    choices.append(Choice("swap", held.index(rank), number))
    if table.rules["bury"] and not onto_same:
        choices += [Choice("bury", i) for i in range(len(hand))]
    return choices


def discard(table: Table, seat: int, choice: Choice) -> None:
    """Give up a card in a legal way."""
    me = table.seats[seat]
    given: list[str] = []
    if choice.way in ("empty", "same"):
        given.append(me.hand.pop(choice.at))
        me.storage[choice.pile] += given
    elif choice.way == "bury":
        given.append(me.hand.pop(choice.at))
        me.bus += given
        table.buried += 1
    else:
        rank = me.hand[choice.at][0]
        taken = me.storage[choice.pile]
        kept = []
        for card in me.hand:
            if card[0] == rank and len(given) <= len(taken):
                given.append(card)
            else:
                kept.append(card)
        me.storage[choice.pile] = given
        me.hand = kept + taken
        table.swaps += 1
    table.moved("discard", seat, choice, list(given))


def greedy_discard(table: Table, seat: int) -> Choice | None:
    """Return the greedy way to give up a card, nothing if there is no legal way."""
    hand, storage = table.seats[seat].hand, table.seats[seat].storage
    choices = discard_choices(table, seat)

    def first_highest(way: str) -> Choice | None:
        return max((choice for choice in choices if choice.way == way), key=rank_given, default=None)

    def rank_given(choice: Choice) -> int:
        return RANK[hand[choice.at]]

    def k_then_rank(choice: Choice) -> tuple[int, int]:
        return len(storage[choice.pile]) + 1, rank_given(choice)

    # of equal choices max returns the first: the earliest hand card, then the lowest-numbered pile
    swap = max((choice for choice in choices if choice.way == "swap"), key=k_then_rank, default=None)
    return first_highest("same") or first_highest("empty") or swap or first_highest("bury")


# ------------------------------------------------------------------------------------------------------------- players


class Player(Protocol):
    """A way of playing."""

    def place(self, table: Table, seat: int) -> Move | None:
        """Return the next card to place, or nothing to stop placing in this pass."""
        ...

    def discard(self, table: Table, seat: int) -> Choice | None:
        """Return the way to give up a card; nothing only if there is no legal way."""
        ...


class Greedy:
    """The policy ``greedy``."""

    def place(self, table: Table, seat: int) -> Move | None:
        """Place what greedy places."""
        return greedy_placement(table, seat)

    def discard(self, table: Table, seat: int) -> Choice | None:
        """Discard what greedy discards."""
        return greedy_discard(table, seat)


class Random:
    """The policy ``random``."""

    def __init__(self, stream: PolicyStream) -> None:
        self._stream = stream

    def place(self, table: Table, seat: int) -> Move | None:
        """Place any card that can be placed."""
        moves = placements(table, seat)
        return moves[self._stream.bounded(len(moves))] if moves else None

    def discard(self, table: Table, seat: int) -> Choice | None:
        """Give up a card in any legal way."""
        choices = discard_choices(table, seat)
        return choices[self._stream.bounded(len(choices))] if choices else None


class Supervised:
    """A player whose every decision is checked."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def place(self, table: Table, seat: int) -> Move | None:
        """Pass a legal placement on."""
        move = self._player.place(table, seat)
        legal = placements(table, seat)
        if move is None:
            if legal and table.rules["must_play"] and table.placed_in_turn == 0:
                raise ValueError(f"seat {seat} can place a card and must place at least one")
        elif move not in legal:
            raise ValueError(f"seat {seat} cannot place {move}")
        return move

    def discard(self, table: Table, seat: int) -> Choice | None:
        """Pass a legal choice on."""
        choice = self._player.discard(table, seat)
        legal = discard_choices(table, seat)
        if choice not in legal and (choice is not None or legal):
            raise ValueError(f"seat {seat} cannot give up a card by {choice}")
        return choice


def players_of(
    policies: Sequence[str | Player], streams: Sequence[PolicyStream | None] | None, checked: bool
) -> list[Player]:
    """Return a player for each seat."""
    players: list[Player] = []
    for seat, policy in enumerate(policies):
        if not isinstance(policy, str):
            players.append(Supervised(policy))
            continue
        player: Player
        if policy == "greedy":
            player = Greedy()
        elif policy == "random":
            stream = None if streams is None else streams[seat]
            if stream is None:
                raise ValueError("the policy random needs its stream")
            player = Random(stream)
        else:
            raise ValueError(f"unknown policy {policy!r}: one of {', '.join(POLICIES)}")
        players.append(Supervised(player) if checked else player)
    return players


# ---------------------------------------------------------------------------------------------------------- whole game


def play_turn(table: Table, seat: int, player: Player) -> str:
    """Play one turn; return how the game ended, nothing if it goes on."""
    rules = table.rules
    me = table.seats[seat]
    table.turns += 1
    table.placed_in_turn = 0
    talon_was_empty = not table.talon
    while True:
        draw(table, seat)
        table.hand_placed_in_pass = 0
        while True:
            move = player.place(table, seat)
            if move is None:
                break
            place(table, seat, move)
            if not me.bus:
                return "bus_empty"
        table.passes += 1
        if me.hand or not table.talon:
            break
        if table.passes >= rules["max_turns"]:
            return "turn_cap"

    if discard_due(table, seat):
        choice = player.discard(table, seat)
        if choice is not None:
            discard(table, seat, choice)

    table.idle_turns = 0 if table.placed_in_turn else table.idle_turns + 1
    table.dead_turns = 0 if table.placed_in_turn or not talon_was_empty else table.dead_turns + 1
    if is_stalemate(table):
        return "stalemate"
    return "turn_cap" if table.passes >= rules["max_turns"] else ""


def is_stalemate(table: Table) -> bool:
    """Say whether the turns played so far make a stalemate."""
    rounds = table.rules["stalemate_rounds"]
    if rounds == 0:
        return table.dead_turns >= table.rules["players"]
    return table.idle_turns >= rounds * table.rules["players"]


def points_of(bus_left: Iterable[int], winner: int) -> list[int]:
    """Return the points of each seat."""
    left = list(bus_left)
    if winner < 0:
        return [0] * len(left)
    points = [-n for n in left]
    points[winner] = sum(left) - left[winner]
    return points


def play(
    rules: Mapping[str, object],
    policies: Sequence[str | Player],
    orders: Orders,
    policy_streams: Sequence[PolicyStream | None] | None = None,
    events: Events | None = None,
    check: bool | None = None,
) -> dict[str, int | str]:
    """Play one game and return its columns.

    Parameters
    ----------
    rules
        Options by their names in rules.md; those left out take their default.
    policies
        For each seat ``greedy``, ``random`` or a `Player`, whose decisions are checked.
    orders
        Where the deck and the shuffles come from; made for this one game.
    policy_streams
        The random numbers of each seat; by default those of the orders' own seed and game, if they have one.
    events
        A list that is told what happens.
    check
        Whether the cards are checked after every move; by default the module's ``CHECK``.

    Raises
    ------
    ValueError
        For wrong rules, policies or decisions, or if random numbers are needed and there are none.
    """
    full = resolve(rules)
    checked = CHECK if check is None else check
    if len(policies) != full["players"]:
        raise ValueError("one policy for each seat")
    if policy_streams is None and "random" in policies and isinstance(orders, SeededOrders | GivenOrders):
        if orders.seed is not None and orders.game is not None:
            policy_streams = streams_of(orders.seed, orders.game, full["players"])
    players = players_of(policies, policy_streams, checked)
    table = deal(full, orders, events, checked)

    end = ""
    seat = full["players"] - 1
    while not end:
        seat = (seat + 1) % full["players"]
        end = play_turn(table, seat, players[seat])
    winner = seat if end == "bus_empty" else -1
    table.moved("end", end, winner)

    left = [len(player.bus) for player in table.seats]
    row: dict[str, int | str] = {"winner": winner, "end": end, "turns": table.turns, "plays": table.plays}
    row |= {"finished_piles": table.finished_piles, "buried": table.buried, "swaps": table.swaps}
    row |= {f"bus_left_{i}": n for i, n in enumerate(left)}
    row |= {f"points_{i}": n for i, n in enumerate(points_of(left, winner))}
    return row
