"""The plain-Python Autobus, on hand-made positions and by what holds in every game."""

import itertools
import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.reference import autobus as ref
from tests.reference import streams as rng
from tests.reference.autobus import BUS_TOP, Choice, Move

# ------------------------------------------------------------------------------------------------------------- helpers


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check every move of every game here."""
    monkeypatch.setattr(ref, "CHECK", True)


def pile_to(top: str) -> list[str]:
    """Return a common pile of one suit from its ace to this card."""
    return [rank + top[1] for rank in ref.RANKS[: ref.RANK[top] + 1]]


def table_of(
    hand: str = "",
    bus: str = "9H 9D",
    storage: Sequence[str] = (),
    piles: str = "",
    talon: str = "",
    others: Sequence[ref.Seat] | None = None,
    orders: ref.Orders | None = None,
    **rules: Any,
) -> ref.Table:
    """Return a table on which seat 0 holds these cards, with two players if not said otherwise.

    ``piles`` names the tops of the common piles, oldest first; each is of one suit.
    """
    others = [ref.Seat(bus=deque(["9S", "9C"]))] if others is None else others
    resolved = ref.resolve({"players": 1 + len(others), **rules})
    me = ref.Seat(hand.split(), deque(bus.split()), [pile.split() for pile in storage])
    return ref.Table(
        resolved,
        [me, *others],
        piles=[pile_to(top) for top in piles.split()],
        talon=deque(talon.split()),
        orders=orders,
        events=[],
        checked=True,
    )


def tops(table: ref.Table) -> str:
    """Return the tops of the common piles, oldest first."""
    return " ".join(pile[-1] for pile in table.piles)


def legal(table: ref.Table) -> dict[str, list[tuple[int, int]]]:
    """Return the legal ways for seat 0 to give up a card, by way."""
    ways: dict[str, list[tuple[int, int]]] = {}
    for way, at, pile in ref.discard_choices(table, 0):
        ways.setdefault(way, []).append((at, pile))
    return ways


def of_kind(events: ref.Events | None, kind: str) -> list[tuple[object, ...]]:
    """Return the events of a kind, without their name."""
    assert events is not None
    return [event[1:] for event in events if event[0] == kind]


def full_deck(top: str, decks: int = 1) -> list[str]:
    """Return a deck with these cards on top, the others after them in the pack's order."""
    rest = Counter(ref.pack_of(decks))
    rest.subtract(top.split())
    assert min(rest.values()) >= 0
    return top.split() + sorted(rest.elements(), key=ref.DECK.index)


class Scripted:
    """A player who does what is written down; it stops placing at each ``None`` and when the script is over."""

    def __init__(self, moves: Sequence[Move | None] = (), choices: Sequence[Choice | None] = ()) -> None:
        self.moves = iter(moves)
        self.choices = iter(choices)

    def place(self, table: ref.Table, seat: int) -> Move | None:
        return next(self.moves, None)

    def discard(self, table: ref.Table, seat: int) -> Choice | None:
        return next(self.choices)


class Stubborn:
    """A player who never places a card and gives one up in the first legal way."""

    def place(self, table: ref.Table, seat: int) -> Move | None:
        return None

    def discard(self, table: ref.Table, seat: int) -> Choice | None:
        return next(iter(ref.discard_choices(table, seat)), None)


# ------------------------------------------------------------------------------------------------------------- options


def test_defaults_are_the_letter() -> None:
    assert ref.resolve({}) == {
        "players": 4,
        "decks": 2,
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


@pytest.mark.parametrize(
    ("players", "hand", "bus", "decks"),
    [
        (2, 5, 8, 1),  # 26 dealt, 26 left
        (2, 5, 9, 2),  # 28 dealt, 24 left of one deck
        (4, 5, 10, 2),
        (6, 5, 8, 2),  # 78 dealt, 26 left
        (8, 5, 10, 3),
        (8, 5, 35, 7),  # 320 dealt, 44 left
        (8, 8, 40, 8),  # 384 dealt, 32 left
        (8, 7, 44, 8),  # 408 dealt, 8 left: no more decks are taken
        (8, 2, 50, 8),  # all 416 dealt
    ],
)
def test_fewest_decks_that_leave_26_cards(players: int, hand: int, bus: int, decks: int) -> None:
    rules = ref.resolve({"players": players, "hand_size": hand, "bus_size": bus})
    assert rules["decks"] == decks


def test_too_few_cards_for_the_deal() -> None:
    with pytest.raises(ValueError, match="424 cards are needed"):
        ref.resolve({"players": 8, "hand_size": 3, "bus_size": 50})
    with pytest.raises(ValueError, match="60 cards are needed"):
        ref.resolve({"decks": 1})
    assert ref.resolve({"decks": 1, "players": 2, "bus_size": 21})["decks"] == 1


@pytest.mark.parametrize(
    "rules",
    [
        {"players": 1},
        {"players": 9},
        {"decks": 9},
        {"bus_size": 0},
        {"bus_size": 61},
        {"hand_size": 0},
        {"hand_size": 11},
        {"storage_piles": -1},
        {"storage_piles": 9},
        {"stalemate_rounds": 101},
        {"max_turns": 0},
        {"players": True},
        {"players": "4"},
        {"swap": 1},
        {"recycle": "top"},
        {"discard_when": "never"},
        {"seats": 4},
    ],
)
def test_nonsense_is_refused(rules: dict[str, object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        ref.resolve(rules)


def test_columns() -> None:
    names = ["winner", "end", "turns", "plays", "finished_piles", "buried", "swaps"]
    assert ref.columns({"players": 2}) == [*names, "bus_left_0", "bus_left_1", "points_0", "points_1"]
    row = ref.play({"players": 3}, ["greedy"] * 3, ref.SeededOrders(1, 2))
    assert list(row) == ref.columns({"players": 3})


# ------------------------------------------------------------------------------------------------------ deal and draws


def test_deal_in_packets_hand_then_bus_top_first() -> None:
    rules = ref.resolve({"players": 2, "decks": 1, "hand_size": 2, "bus_size": 3})
    table = ref.deal(rules, ref.GivenOrders(ref.DECK), checked=True)
    assert [seat.hand for seat in table.seats] == [["AS", "AH"], ["2H", "2D"]]
    assert [list(seat.bus) for seat in table.seats] == [["AD", "AC", "2S"], ["2C", "3S", "3H"]]
    assert list(table.talon) == list(ref.DECK[10:])
    assert all(seat.storage == [[], [], [], []] for seat in table.seats)


def test_given_deck_must_be_the_whole_pack() -> None:
    with pytest.raises(ValueError, match="each card 1 times"):
        ref.play({"players": 2, "bus_size": 5, "decks": 1}, ["greedy"] * 2, ref.GivenOrders(ref.DECK[1:]))


def test_seeded_deck_is_the_named_stream() -> None:
    pack = [rank + suit for _ in range(2) for rank in "A23456789TJQK" for suit in "SHDC"]
    assert ref.SeededOrders(5, 6).deck(ref.resolve({})) == rng.shuffled(5, 6, 0, 0, pack)


def test_draw_until_the_hand_is_full_or_the_talon_is_empty() -> None:
    table = table_of("5S 6S", talon="7S 8S 9S TS", hand_size=5)
    ref.draw(table, 0)
    assert table.seats[0].hand == ["5S", "6S", "7S", "8S", "9S"]
    assert list(table.talon) == ["TS"]
    table.seats[0].hand, table.cards = ["5S", "6S"], Counter(table.cards - Counter(["7S", "8S", "9S"]))
    ref.draw(table, 0)
    assert table.seats[0].hand == ["5S", "6S", "TS"]
    assert not table.talon


# ------------------------------------------------------------------------------------------------------------- placing


def test_placements_are_counted_hand_storage_bus() -> None:
    table = table_of("5S AD 3H 5C", "3C 9D", ["3S 3D", "", "9H", "5H"], piles="4H 2S")
    assert ref.placements(table, 0) == [
        Move("hand", 0),
        Move("hand", 1),
        Move("hand", 2),
        Move("hand", 3),
        Move("storage", 0, 0),
        Move("storage", 1, 0),
        Move("storage", 0, 3),
        BUS_TOP,
    ]


def test_only_the_top_of_the_bus_can_be_placed() -> None:
    assert ref.placements(table_of("9S", "9D AD"), 0) == []


def test_follow_suit() -> None:
    table = table_of("5S 5H AD 3H 3S", "3C 9D", ["3D 3S"], piles="4H 2S", follow_suit=True)
    assert ref.placements(table, 0) == [Move("hand", 1), Move("hand", 2), Move("hand", 4), Move("storage", 1, 0)]


def test_the_oldest_pile_takes_the_card_and_any_number_of_aces_start_piles() -> None:
    table = table_of("5S AH AD", piles="3D 4C 4D")
    ref.place(table, 0, Move("hand", 0))
    assert tops(table) == "3D 5S 4D"
    ref.place(table, 0, Move("hand", 1))
    assert tops(table) == "3D 5S 4D AD"
    ref.place(table, 0, Move("hand", 0))
    assert tops(table) == "3D 5S 4D AD AH"
    assert (table.plays, table.seats[0].hand) == (3, [])


def test_age_of_a_pile_is_from_its_ace_not_its_height() -> None:
    table = table_of("KS 3S 3H", piles="2D QC 2C", recycle="bottom")
    ref.place(table, 0, Move("hand", 0))
    assert (tops(table), table.finished_piles) == ("2D 2C", 1)
    ref.place(table, 0, Move("hand", 0))
    assert tops(table) == "3S 2C"
    ref.place(table, 0, Move("hand", 0))
    assert tops(table) == "3S 3H"


def test_any_card_of_a_storage_pile_can_be_placed() -> None:
    table = table_of("", storage=["3S 3H 3D"], piles="2H 2S")
    ref.place(table, 0, Move("storage", 1, 0))
    assert table.seats[0].storage[0] == ["3S", "3D"]
    assert tops(table) == "3H 2S"


def test_next_bus_card_turns_up_and_the_last_one_wins_at_once() -> None:
    table = table_of("4S AD", "2D 3D", piles="AS", talon="9C 9C 9C")
    assert ref.play_turn(table, 0, ref.Greedy()) == "bus_empty"
    assert table.plays == 2
    assert table.seats[0].hand == ["4S", "AD", "9C", "9C", "9C"]


# ----------------------------------------------------------------------------------------------------------- recycling


def test_recycle_bottom_puts_the_ace_on_top() -> None:
    table = table_of("KS", piles="QS", talon="7D 8D", recycle="bottom")
    ref.place(table, 0, Move("hand", 0))
    assert " ".join(table.talon) == "7D 8D AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS"


def test_recycle_shuffled_bottom() -> None:
    table = table_of("KS KH", piles="QS QH", talon="7D 8D", orders=ref.SeededOrders(3, 4))
    ref.place(table, 0, Move("hand", 1))
    first = rng.shuffled(3, 4, 1, 0, [*pile_to("QS"), "KH"])
    assert list(table.talon) == ["7D", "8D", *first]
    ref.place(table, 0, Move("hand", 0))
    assert list(table.talon) == ["7D", "8D", *first, *rng.shuffled(3, 4, 1, 1, [*pile_to("QH"), "KS"])]
    assert table.finished_piles == 2


def test_recycle_shuffle_all() -> None:
    table = table_of("KS KH", piles="QS QH", talon="7D 8D", recycle="shuffle_all", orders=ref.SeededOrders(3, 4))
    ref.place(table, 0, Move("hand", 1))
    first = rng.shuffled(3, 4, 1, 0, ["7D", "8D", *pile_to("QS"), "KH"])
    assert list(table.talon) == first
    ref.place(table, 0, Move("hand", 0))
    assert list(table.talon) == rng.shuffled(3, 4, 1, 1, [*first, *pile_to("QH"), "KS"])


def test_given_orders_recycle_from_their_seed_or_refuse() -> None:
    cards = pile_to("KS")
    orders = ref.GivenOrders(ref.DECK, 3, 4)
    assert [orders.recycled(cards) for _ in range(2)] == [rng.shuffled(3, 4, 1, number, cards) for number in (0, 1)]
    with pytest.raises(ValueError, match="no seed"):
        ref.GivenOrders(ref.DECK).recycled(cards)


def test_king_that_finishes_and_wins_is_counted() -> None:
    table = table_of("", "KD", piles="QS", recycle="bottom")
    assert ref.play_turn(table, 0, ref.Greedy()) == "bus_empty"
    assert table.finished_piles == 1
    assert table.piles == []


# -------------------------------------------------------------------------------------------------------------- passes


def test_empty_hand_draws_again_in_the_same_turn() -> None:
    table = table_of("AS", talon="2S 8D 8H", hand_size=1)
    assert ref.play_turn(table, 0, ref.Greedy()) == ""
    assert (table.turns, table.passes, table.plays) == (1, 3, 2)
    assert of_kind(table.events, "draw") == [(0, []), (0, ["2S"]), (0, ["8D"])]


def test_bus_and_storage_are_placed_before_the_new_draw() -> None:
    table = table_of("AS", "2D 9D", ["3D"], talon="4S 8S", hand_size=1)
    ref.play_turn(table, 0, ref.Greedy())
    kinds = [event[0] for event in table.events or []]
    assert kinds == ["draw", "place", "place", "place", "draw", "place", "draw", "discard"]


def test_empty_hand_and_empty_talon_end_the_turn_without_a_discard() -> None:
    table = table_of("AS", "9D 9D", ["3D"], hand_size=1)
    assert ref.play_turn(table, 0, ref.Greedy()) == ""
    assert (table.passes, table.plays) == (1, 1)
    assert of_kind(table.events, "discard") == []


def test_pile_finished_from_storage_refills_the_talon_for_the_empty_hand() -> None:
    table = table_of("QS", "9D 9D", ["KS"], piles="JS", recycle="bottom", hand_size=2)
    assert ref.play_turn(table, 0, ref.Greedy()) == ""
    assert of_kind(table.events, "draw")[:2] == [(0, []), (0, ["AS", "2S"])]
    assert table.passes > 1


def test_one_pass_can_start_with_an_empty_hand_and_an_empty_talon() -> None:
    table = table_of("", "KD 9D", piles="QS", recycle="bottom", hand_size=1, max_turns=2)
    assert ref.play_turn(table, 0, ref.Greedy()) == "turn_cap"
    assert (table.passes, table.plays, table.turns) == (2, 2, 1)


# ----------------------------------------------------------------------------------------------------------- must_play


def test_must_play() -> None:
    table = table_of("AS 8S 8H 8D 8C")
    with pytest.raises(ValueError, match="must place at least one"):
        ref.play_turn(table, 0, ref.Supervised(Stubborn()))
    table = table_of("AS 8S 8H 8D 8C", must_play=False)
    assert ref.play_turn(table, 0, ref.Supervised(Stubborn())) == ""
    assert table.seats[0].storage[0] == ["AS"]


def test_one_card_in_the_turn_suffices() -> None:
    table = table_of("AS", "2D 9D", talon="2S", hand_size=1)
    player = ref.Supervised(Scripted([Move("hand", 0), None], [Choice("empty", 0, 0)]))
    assert ref.play_turn(table, 0, player) == ""
    assert table.seats[0].storage[0] == ["2S"]


def test_illegal_decisions_are_refused() -> None:
    for move in (Move("hand", 1), Move("hand", 7), Move("storage", 0, 0), BUS_TOP):
        with pytest.raises(ValueError, match="cannot place"):
            ref.play_turn(table_of("AS 8S"), 0, ref.Supervised(Scripted([move])))
    for choice in (None, Choice("bury", 0), Choice("same", 0, 0), Choice("empty", 1, 0)):
        with pytest.raises(ValueError, match="cannot give up"):
            ref.play_turn(table_of("8S", hand_size=1), 0, ref.Supervised(Scripted([], [choice])))
    with pytest.raises(ValueError, match="cannot place"):
        ref.play({}, [Scripted([BUS_TOP, BUS_TOP, BUS_TOP]), "greedy", "greedy", "greedy"], ref.SeededOrders(1, 1))


# ------------------------------------------------------------------------------------------------------ greedy placing


@pytest.mark.parametrize(
    ("position", "move"),
    [
        ({"hand": "AS 3D", "bus": "3H", "piles": "2S"}, BUS_TOP),
        ({"hand": "5D 3D 4S", "bus": "9H", "piles": "2S 4D"}, Move("hand", 1)),
        ({"hand": "5D AS AH", "bus": "9H", "piles": "4D"}, Move("hand", 1)),
        ({"hand": "9S 5H 5D", "bus": "9H", "storage": ["AS"], "piles": "4D"}, Move("hand", 1)),
        ({"hand": "9S", "storage": ["5H", "3S 3H", "3D"], "piles": "4D 2D"}, Move("storage", 1, 1)),
        ({"hand": "9S", "storage": ["", "4S", "5H"], "piles": "4D 2D"}, Move("storage", 0, 2)),
        ({"hand": "9S", "storage": ["4S"], "piles": "4D 2D"}, None),
        # in suit
        ({"hand": "3H 3S 3S", "piles": "2S", "follow_suit": True}, Move("hand", 1)),
        ({"hand": "9C", "storage": ["3S 3D 3S 3H"], "piles": "2S 2D", "follow_suit": True}, Move("storage", 2, 0)),
        ({"hand": "9C", "storage": ["3H", "5S", "4S"], "piles": "2S 4S", "follow_suit": True}, Move("storage", 0, 1)),
        ({"hand": "9C", "storage": ["5S", "", "3S 3D"], "piles": "2S 4S", "follow_suit": True}, Move("storage", 0, 2)),
        ({"hand": "3H", "bus": "3H", "piles": "2S", "follow_suit": True}, None),
    ],
)  # fmt: skip
def test_greedy_placement(position: dict[str, Any], move: Move | None) -> None:
    assert ref.greedy_placement(table_of(**position), 0) == move


def test_greedy_goes_back_to_the_bus_after_each_card() -> None:
    table = table_of("2H 9S 9S 9S 9S", "3C 9H", ["4H"], piles="AS")
    ref.play_turn(table, 0, ref.Greedy())
    assert [event[2] for event in of_kind(table.events, "place")] == ["2H", "3C", "4H"]


# --------------------------------------------------------------------------------------------------- ways of giving up


def test_empty_and_same_are_free_alternatives() -> None:
    ways = legal(table_of("8S 6H", storage=["6S", "", "6D", ""]))
    assert ways == {"empty": [(0, 1), (0, 3), (1, 1), (1, 3)], "same": [(1, 0), (1, 2)]}


def test_choices_come_in_the_stated_order() -> None:
    table = table_of("8S 6H 8H", storage=["6S", "", "8D", ""])
    assert ref.discard_choices(table, 0) == [
        *(Choice("empty", at, pile) for at in (0, 1, 2) for pile in (1, 3)),
        *(Choice("same", 0, 2), Choice("same", 1, 0), Choice("same", 2, 2)),
    ]
    table = table_of("KS 6H KH 6D 6C", storage=["2S", "3S 3H", "2D 2C 2H", "4S"])
    assert ref.discard_choices(table, 0) == [
        *(Choice("swap", 1, 0), Choice("swap", 1, 1), Choice("swap", 1, 3)),
        *(Choice("swap", 0, 0), Choice("swap", 0, 3)),
        *(Choice("bury", at) for at in range(5)),
    ]


def test_swaps_are_counted_with_the_ace_low() -> None:
    assert legal(table_of("KS AH KH AD", storage=["2S"], storage_piles=1))["swap"] == [(1, 0), (0, 0)]


def test_while_a_pile_is_empty_there_is_no_swap_and_no_burying() -> None:
    full = ["2S", "3S", "4S", "5S"]
    assert set(legal(table_of("8S 8H", storage=full))) == {"swap", "bury"}
    assert set(legal(table_of("8S 8H", storage=full[:3]))) == {"empty"}


def test_no_burying_while_a_pile_of_the_rank_exists_but_swapping() -> None:
    ways = legal(table_of("8S 8H 2H", storage=["2S", "3S", "4S", "5S"]))
    assert ways == {"same": [(2, 0)], "swap": [(0, 0), (0, 1), (0, 2), (0, 3)]}


@pytest.mark.parametrize(
    ("hand", "pile", "possible"),
    [
        ("8S 8H", "2S", True),
        ("8S 7H", "2S", False),
        ("8S 8H", "2S 2H", False),
        ("8S 8H 8D", "2S 2H", True),
        ("8S 8H 8D", "2S", True),  # two of the three
        ("8S 8H 8D", "2S 2H 2D", False),
        ("8S 8H 8D 8C", "2S 2H 2D", True),
        ("8S 8H 8D 8C 8S", "2S 2H 2D 2C", False),  # k is at most 4
        ("8S 8H 8D 8C 8S", "2S 2H 2D", True),
    ],
)
def test_sizes_of_a_swap(hand: str, pile: str, possible: bool) -> None:
    assert ("swap" in legal(table_of(hand, storage=[pile], storage_piles=1))) is possible
    assert "swap" not in legal(table_of(hand, storage=[pile], storage_piles=1, swap=False))


def test_swap_for_a_pile_of_the_same_rank_and_two_piles_of_a_rank() -> None:
    table = table_of("8S 8H", storage=["8D", "3S"], storage_piles=2)
    assert legal(table)["swap"] == [(0, 0), (0, 1)]
    ref.discard(table, 0, Choice("swap", 0, 0))
    assert (table.seats[0].hand, table.seats[0].storage) == (["8D"], [["8S", "8H"], ["3S"]])
    table = table_of("8S 8H", storage=["8D", "3S"], storage_piles=2)
    ref.discard(table, 0, Choice("swap", 0, 1))
    assert (table.seats[0].hand, table.seats[0].storage) == (["3S"], [["8D"], ["8S", "8H"]])


def test_swap_takes_the_earliest_cards_and_appends_the_pile() -> None:
    table = table_of("4S 8S 5S 8H 8D", storage=["2D"], storage_piles=1)
    ref.discard(table, 0, Choice("swap", 1, 0))
    assert (table.seats[0].hand, table.seats[0].storage) == (["4S", "5S", "8D", "2D"], [["8S", "8H"]])
    table = table_of("4S 8S 8S 8H 8D", storage=["2D 2S"], storage_piles=1)
    ref.discard(table, 0, Choice("swap", 1, 0))
    assert (table.seats[0].hand, table.seats[0].storage) == (["4S", "8D", "2D", "2S"], [["8S", "8S", "8H"]])
    assert (table.swaps, table.plays) == (1, 0)


def test_buried_card_goes_to_the_bottom_of_the_bus() -> None:
    table = table_of("8S 7S 6S", "9H 9D", storage_piles=0)
    assert legal(table) == {"bury": [(0, -1), (1, -1), (2, -1)]}
    ref.discard(table, 0, Choice("bury", 1))
    assert (table.seats[0].hand, list(table.seats[0].bus)) == (["8S", "6S"], ["9H", "9D", "7S"])
    assert (table.buried, table.plays) == (1, 0)


def test_stored_cards() -> None:
    table = table_of("8S 7S 6S", storage=["", "6H"], storage_piles=2)
    ref.discard(table, 0, Choice("empty", 1, 0))
    assert (table.seats[0].hand, table.seats[0].storage) == (["8S", "6S"], [["7S"], ["6H"]])
    ref.discard(table, 0, Choice("same", 1, 1))
    assert (table.seats[0].hand, table.seats[0].storage) == (["8S"], [["7S"], ["6H", "6S"]])


def test_without_burying_the_player_may_have_to_pass() -> None:
    table = table_of("8S 7S", storage=["2S"], storage_piles=1, bury=False, hand_size=2, stalemate_rounds=9)
    assert legal(table) == {}
    for player in (ref.Greedy(), ref.Random(rng.PolicyStream(1, 1, 0)), Scripted([], [None])):
        assert ref.play_turn(table, 0, ref.Supervised(player)) == ""
    assert of_kind(table.events, "discard") == []


# ------------------------------------------------------------------------------------------------------- greedy's ways


@pytest.mark.parametrize(
    ("hand", "storage", "choice"),
    [
        # b first, the highest rank, the earliest card, the lowest pile
        ("KS 6H 8D 8C", ["6S", "8S", "8H", ""], Choice("same", 2, 1)),
        ("KS 6H", ["", "6S", "6D"], Choice("same", 1, 1)),
        ("8S 8H 2H", ["2S", "3S", "4S", "5S"], Choice("same", 2, 0)),  # rather than a swap
        # a: the highest rank, the earliest card, the lowest empty pile
        ("5S QS AH QD", ["6S", "", "7S", ""], Choice("empty", 1, 1)),
        ("AS AH", ["6S", "7S", "8S", ""], Choice("empty", 0, 3)),
        # c i: the largest k, the highest rank, the lowest pile
        ("KS 6H KH 6D 6C", ["2S", "3S 3H", "4S 4H", "5S"], Choice("swap", 1, 1)),
        ("KS 6H KH 6D 6C", ["2S", "3S", "4S", "5S"], Choice("swap", 0, 0)),
        ("9S KS KH 9H 9D", ["2S 2H 2D", "3S 3H", "4S", "5S 5H"], Choice("swap", 0, 1)),
        ("9S KS KH 9H QD", ["2S 2H 2D", "3S 3H", "4S", "5S"], Choice("swap", 1, 2)),
        ("9S 9C 9H 9H QD", ["2S", "3S 3H", "4S", "5S 5H 5D"], Choice("swap", 0, 3)),
        # c ii: the highest rank, the earliest card
        ("9S QS 3H QD", ["2S", "4S 4H", "5S", "6S"], Choice("swap", 1, 0)),
        ("9S QS 3H QD", ["2S 2H", "4S 4H", "5S 5H", "6S 6H"], Choice("bury", 1)),
    ],
)
def test_greedy_discard(hand: str, storage: list[str], choice: Choice) -> None:
    assert ref.greedy_discard(table_of(hand, storage=storage), 0) == choice


def test_greedy_without_swaps_or_burying() -> None:
    full = ["2S", "4S", "5S", "6S"]
    assert ref.greedy_discard(table_of("9S QS QD", storage=full, swap=False), 0) == Choice("bury", 1)
    assert ref.greedy_discard(table_of("9S QS QD", storage=full, bury=False), 0) == Choice("swap", 1, 0)
    assert ref.greedy_discard(table_of("9S QS QD", storage=full, swap=False, bury=False), 0) is None
    assert ref.greedy_discard(table_of("9S QS QD", storage_piles=0), 0) == Choice("bury", 1)


# -------------------------------------------------------------------------------------------------- when a card is due


@pytest.mark.parametrize(
    ("position", "untouched", "nothing"),
    [
        ({"hand": "8S", "bus": "9D"}, True, True),
        ({"hand": "8S", "bus": "AD 9D"}, True, False),  # only a bus card was played
        ({"hand": "8S", "bus": "9D", "storage": ["AD"]}, True, False),  # only a storage card
        ({"hand": "8S AS", "bus": "9D"}, False, False),
        ({"hand": "8S AS", "bus": "9D", "talon": "8H 8D"}, False, False),
        ({"hand": "AS AH", "bus": "9D", "talon": "8H 8D"}, True, False),  # the final pass played nothing
        ({"hand": "AS AH", "bus": "9D", "talon": "8H AD"}, False, False),
        ({"hand": "AS AH", "bus": "9D"}, False, False),  # nothing left in the hand
    ],
)
def test_discard_when(position: dict[str, Any], untouched: bool, nothing: bool) -> None:
    for when, due in (("hand_untouched", untouched), ("nothing_played", nothing)):
        table = table_of(**position, hand_size=2, discard_when=when)
        assert ref.play_turn(table, 0, ref.Greedy()) == ""
        assert len(of_kind(table.events, "discard")) == due


def test_discard_is_due_with_a_short_hand() -> None:
    table = table_of("8S 7S", hand_size=5)
    ref.play_turn(table, 0, ref.Greedy())
    assert table.seats[0].hand == ["7S"]


# ---------------------------------------------------------------------------------------------------------- the random


def test_random_placement_is_drawn_from_the_counted_cards() -> None:
    seen = set()
    for game in range(60):
        table = table_of("5S 5H 9S", "5C 9D", ["5D 5S", "", "9H"], piles="4H")
        move = ref.Random(rng.PolicyStream(7, game, 0)).place(table, 0)
        assert move == ref.placements(table, 0)[rng.PolicyStream(7, game, 0).bounded(5)]
        seen.add(move)
    assert len(seen) == 5


def test_random_draws_for_one_choice_but_not_for_none() -> None:
    table = table_of("AS 8S", storage_piles=1, hand_size=2)
    stream, twin = rng.PolicyStream(7, 1, 0), rng.PolicyStream(7, 1, 0)
    player = ref.Random(stream)
    assert player.place(table, 0) == Move("hand", 0)
    twin.bounded(1)
    ref.place(table, 0, Move("hand", 0))
    assert player.place(table, 0) is None
    assert player.discard(table, 0) == Choice("empty", 0, 0)
    twin.bounded(1)
    table.seats[0].hand = []
    assert player.discard(table, 0) is None
    assert stream.next_half() == twin.next_half()


def test_random_discard_is_drawn_from_the_counted_choices() -> None:
    seen = set()
    for game in range(80):
        table = table_of("KS 6H KH 6D 6C", storage=["2S", "3S 3H", "2D 2C 2H", "4S"])
        choice = ref.Random(rng.PolicyStream(7, game, 0)).discard(table, 0)
        assert choice == ref.discard_choices(table, 0)[rng.PolicyStream(7, game, 0).bounded(10)]
        seen.add(choice)
    assert len(seen) == 10


def test_each_seat_has_its_own_stream() -> None:
    by_default = ref.play({}, ["random"] * 4, ref.SeededOrders(9, 9))
    given = [rng.PolicyStream(9, 9, seat) for seat in range(4)]
    assert ref.play({}, ["random"] * 4, ref.SeededOrders(9, 9), given) == by_default
    deck = ref.SeededOrders(9, 9).deck(ref.resolve({}))
    assert ref.play({}, ["random"] * 4, ref.GivenOrders(deck, 9, 9)) == by_default
    other = [rng.PolicyStream(9, 10 + seat, seat) for seat in range(4)]
    events: tuple[ref.Events, ref.Events] = ([], [])
    for streams, told in zip((given, other), events, strict=True):
        ref.play({}, ["random"] * 4, ref.SeededOrders(9, 9), streams, told)
    assert events[0] != events[1]
    with pytest.raises(ValueError, match="needs its stream"):
        ref.play({}, ["random"] * 4, ref.GivenOrders(deck))


def test_wrong_policies_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown policy"):
        ref.play({}, ["greedy", "clever", "greedy", "greedy"], ref.SeededOrders(9, 9))
    with pytest.raises(ValueError, match="one policy for each seat"):
        ref.play({}, ["greedy"] * 3, ref.SeededOrders(9, 9))


# ---------------------------------------------------------------------------------------------------------- how it ends


def test_points() -> None:
    assert ref.points_of([4, 0, 3, 7], 1) == [-4, 14, -3, -7]
    assert ref.points_of([4, 1, 3], -1) == [0, 0, 0]


def stuck_table(turns_with_a_play: Sequence[int], n_turns: int, **rules: Any) -> tuple[str, ref.Table]:
    """Let two players take turns who place an ace in the named turns and nothing in the others."""
    other = ref.Seat(bus=deque(["AD", "AD", "AD", "AD"]))
    table = table_of(bus="AS AS AS AS", others=[other], must_play=False, **rules)
    end = ""
    for turn in range(n_turns):
        assert not end
        script = [BUS_TOP] if turn in turns_with_a_play else []
        end = ref.play_turn(table, turn % 2, ref.Supervised(Scripted(script)))
    return end, table


@pytest.mark.parametrize(
    ("rounds", "plays", "turns"),
    [(1, (), 2), (1, (0,), 3), (1, (1, 2), 5), (1, (0, 2), 5), (2, (), 4), (2, (3,), 8), (3, (0, 4), 11)],
)
def test_stalemate_after_rounds_without_a_placement(rounds: int, plays: Sequence[int], turns: int) -> None:
    """A round is any ``players`` consecutive turns."""
    assert stuck_table(plays, turns - 1, stalemate_rounds=rounds)[0] == ""
    assert stuck_table(plays, turns, stalemate_rounds=rounds)[0] == "stalemate"


def test_stalemate_comes_before_the_cap_and_a_win_before_both() -> None:
    assert stuck_table((), 2, stalemate_rounds=1, max_turns=2)[0] == "stalemate"
    assert stuck_table((1,), 2, stalemate_rounds=1, max_turns=2)[0] == "turn_cap"
    table = table_of(bus="AS", max_turns=1)
    assert ref.play_turn(table, 0, ref.Greedy()) == "bus_empty"
    table = table_of("8S 8D", bus="9S", max_turns=1)
    assert ref.play_turn(table, 0, ref.Greedy()) == "turn_cap"
    assert len(of_kind(table.events, "discard")) == 1  # looked at after the discard


def deadlock_table(talon: str, **rules: Any) -> ref.Table:
    """Return two players who can place nothing and bury a card in each turn, if they may."""
    other = ref.Seat(hand=["8S"], bus=deque(["9S"]))
    return table_of("8H", "9H", [], "", talon, [other], hand_size=1, storage_piles=0, stalemate_rounds=0, **rules)


@pytest.mark.parametrize(
    ("bury", "talon", "turns"), [(False, "", 2), (True, "", 2), (False, "7S", None), (True, "7S", 5)]
)
def test_only_a_true_deadlock(bury: bool, talon: str, turns: int | None) -> None:
    """The talon must be empty before the draw of each turn; the third turn draws the 7 and so does not count."""
    table = deadlock_table(talon, bury=bury)
    n = 0
    end = ""
    while not end and n < 30:
        end = ref.play_turn(table, n % 2, ref.Greedy())
        n += 1
    assert (n, end) == ((turns, "stalemate") if turns else (30, ""))


def test_a_played_card_breaks_the_deadlock() -> None:
    rules: dict[str, Any] = {"hand_size": 1, "storage_piles": 0, "stalemate_rounds": 0, "must_play": False}
    for first, turns in ((Stubborn(), 2), (Scripted([BUS_TOP], [Choice("bury", 0)]), 3)):
        table = table_of("8H", "AH 9H", **rules)
        players: list[ref.Player] = [first, Stubborn(), Stubborn()]
        ends = [ref.play_turn(table, n % 2, players[n]) for n in range(turns)]
        assert ends == [""] * (turns - 1) + ["stalemate"]


ENDLESS = {"players": 2, "decks": 1, "hand_size": 1, "bus_size": 6, "follow_suit": True, "recycle": "bottom"}
"""With the deal below: seat 0 plays the spades, diamonds and clubs round and round in one turn; the hearts lie fast."""

SPADES, DIAMONDS, CLUBS, HEARTS = (" ".join(rank + suit for rank in ref.RANKS) for suit in "SDCH")
ENDLESS_DECK = f"AS 7H 2H 3H 4H 5H 6H KH 8H 9H TH JH QH AH {SPADES[3:]} {DIAMONDS} {CLUBS}".split()


@pytest.mark.parametrize("cap", [1, 12, 13, 14, 500, 3000])
def test_cap_on_passes_ends_an_endless_turn(cap: int) -> None:
    row = ref.play({**ENDLESS, "max_turns": cap}, ["greedy"] * 2, ref.GivenOrders(ENDLESS_DECK))
    assert row == {
        "winner": -1,
        "end": "turn_cap",
        "turns": 1,
        "plays": cap,
        "finished_piles": cap // 13,
        "buried": 0,
        "swaps": 0,
        "bus_left_0": 6,
        "bus_left_1": 6,
        "points_0": 0,
        "points_1": 0,
    }


def test_cap_is_looked_at_before_the_draw_of_the_next_pass() -> None:
    events: ref.Events = []
    ref.play({**ENDLESS, "max_turns": 2}, ["greedy"] * 2, ref.GivenOrders(ENDLESS_DECK), events=events)
    assert [event[0] for event in events] == ["deal", "draw", "place", "draw", "place", "end"]


def test_whole_game_by_hand() -> None:
    """Two players, two cards in the bus, two in the hand.

    Seat 0 holds 9S 8S, bus 2H 5H; seat 1 holds AD 4D, bus 3S 4S. Seat 0 stores the nine. Seat 1 plays AD (4D is left,
    so it draws no more). Seat 0 draws TC, plays 2H from the bus and, no hand card placed, stores the ten. Seat 1 draws
    TD and plays 3S and 4S: its bus is empty, the loser has one card left.
    """
    deck = full_deck("9S 8S 2H 5H AD 4D 3S 4S TC TD")
    events: ref.Events = []
    rules = {"players": 2, "decks": 1, "hand_size": 2, "bus_size": 2}
    row = ref.play(rules, ["greedy"] * 2, ref.GivenOrders(deck), events=events)
    assert [(event[0], event[2]) for event in of_kind(events, "place")] == [(1, "AD"), (0, "2H"), (1, "3S"), (1, "4S")]
    assert [event[2] for event in of_kind(events, "discard")] == [["9S"], ["TC"]]
    assert row == {
        "winner": 1,
        "end": "bus_empty",
        "turns": 4,
        "plays": 4,
        "finished_piles": 0,
        "buried": 0,
        "swaps": 0,
        "bus_left_0": 1,
        "bus_left_1": 0,
        "points_0": -1,
        "points_1": 1,
    }


# ------------------------------------------------------------------------------------------------ what holds in general


def test_deal_and_play_do_not_depend_on_the_checks() -> None:
    for game in range(10):
        rows = [
            ref.play({"players": 3}, ["random", "greedy", "random"], ref.SeededOrders(2, game), check=check)
            for check in (False, True)
        ]
        assert rows[0] == rows[1]


def test_random_options_are_legal_and_various() -> None:
    rnd = random.Random(4)
    drawn = [ref.random_options(rnd) for _ in range(300)]
    for options in drawn:
        assert set(options) == set(ref.DEFAULTS)
        ref.resolve(options)
    for name in ref.DEFAULTS:
        assert len({options[name] for options in drawn}) == len(ref.CHOICES.get(name, (0, 1))) or name in ref.RANGES


@pytest.mark.parametrize("number", range(40))
def test_invariants_on_random_rules(number: int) -> None:
    rnd = random.Random(number)
    options = ref.random_options(rnd)
    options["max_turns"] = min(300, int(str(options["max_turns"])))  # the checks take long
    rules = ref.resolve(options)
    n = rules["players"]
    policies = [rnd.choice(ref.POLICIES) for _ in range(n)]
    events: ref.Events = []
    row = ref.play(options, policies, ref.SeededOrders(11, number), events=events)
    assert list(row) == ref.columns(options)
    assert ref.play(options, policies, ref.SeededOrders(11, number), check=False) == row

    placed = of_kind(events, "place")
    given = of_kind(events, "discard")
    assert row["plays"] == len(placed)
    assert row["finished_piles"] == sum(str(card)[0] == "K" for _, _, card in placed) == len(of_kind(events, "recycle"))
    ways = Counter(choice.way for _, choice, _ in given if isinstance(choice, Choice))
    assert (row["buried"], row["swaps"]) == (ways["bury"], ways["swap"])
    assert rules["swap"] or not ways["swap"]
    assert rules["bury"] or not ways["bury"]
    for seat in range(n):
        out = sum(who == seat and move == BUS_TOP for who, move, _ in placed)
        into = sum(who == seat and isinstance(how, Choice) and how.way == "bury" for who, how, _ in given)
        assert row[f"bus_left_{seat}"] == rules["bus_size"] + into - out

    # every pass draws once, so the passes of each turn can be read off
    passes = [int(str(seat)) for seat, _ in of_kind(events, "draw")]
    assert len(passes) <= rules["max_turns"]
    assert passes[0] == 0
    assert all(after in (before, (before + 1) % n) for before, after in itertools.pairwise(passes))
    assert row["turns"] == 1 + sum(before != after for before, after in itertools.pairwise(passes))
    assert (row["end"] == "turn_cap") <= (len(passes) == rules["max_turns"])

    left = [int(row[f"bus_left_{seat}"]) for seat in range(n)]
    points = [int(row[f"points_{seat}"]) for seat in range(n)]
    assert sum(points) == 0
    if row["end"] == "bus_empty":
        winner = int(row["winner"])
        assert (passes[-1], left[winner], left.count(0)) == (winner, 0, 1)
        assert all(points[seat] == -left[seat] for seat in range(n) if seat != winner)
    else:
        assert row["winner"] == -1
        assert set(points) == {0}
        assert 0 not in left
    if row["end"] == "stalemate":
        rounds = max(1, rules["stalemate_rounds"])
        last = [event for event in events if event[0] in ("draw", "place")][-rounds * n :]
        assert {event[0] for event in last} == {"draw"}
        assert rules["stalemate_rounds"] > 0 or all(event[2] == [] for event in last)


# ---------------------------------------------------------------------------------------- greedy written another way


def slow_greedy(table: ref.Table) -> Move | None:
    """Greedy's placement by sorting all legal placements."""
    me = table.seats[0]
    sources = {"bus": 0, "hand": 1, "storage": 2}

    def card_of(move: Move) -> str:
        if move.source == "bus":
            return me.bus[0]
        return me.hand[move.at] if move.source == "hand" else me.storage[move.pile][move.at]

    def key(move: Move) -> tuple[int, int, int, int]:
        earlier = move.at if move.source == "hand" else -move.at
        return sources[move.source], ref.RANK[card_of(move)], move.pile, earlier

    return min(ref.placements(table, 0), key=key, default=None)


def slow_discard(table: ref.Table) -> Choice | None:
    """Greedy's discard by sorting all legal choices."""
    me = table.seats[0]
    ways = {"same": 0, "empty": 1, "swap": 2, "bury": 3}

    def key(choice: Choice) -> tuple[int, int, int, int, int]:
        k = len(me.storage[choice.pile]) if choice.way == "swap" else 0
        return ways[choice.way], -k, -ref.RANK[me.hand[choice.at]], choice.at, choice.pile

    return min(ref.discard_choices(table, 0), key=key, default=None)


def random_position(rnd: random.Random) -> ref.Table:
    """Return a position with few ranks, so that there is much to choose from."""

    def card() -> str:
        return rnd.choice("A2345") + rnd.choice("SH")

    def pile(rank: str) -> str:
        return " ".join(rank + rnd.choice("SH") for _ in range(rnd.choice((0, 1, 1, 2, 3, 4))))

    return table_of(
        " ".join(card() for _ in range(rnd.randint(0, 6))),
        " ".join(card() for _ in range(rnd.randint(1, 2))),
        [pile(rnd.choice("A2345")) for _ in range(4)],
        " ".join(rnd.choice("A234") + rnd.choice("SH") for _ in range(rnd.randint(0, 3))),
        hand_size=6,
        follow_suit=rnd.random() < 0.5,
        swap=rnd.random() < 0.8,
        bury=rnd.random() < 0.8,
    )


def compare(choose: Callable[[ref.Table, int], object], slow: Callable[[ref.Table], object]) -> None:
    """Compare two ways to choose on many positions."""
    rnd = random.Random(8)
    for _ in range(1500):
        table = random_position(rnd)
        assert choose(table, 0) == slow(table)


def test_greedy_placement_is_the_first_in_its_order() -> None:
    compare(ref.greedy_placement, slow_greedy)


def test_greedy_discard_is_the_first_in_its_order() -> None:
    compare(ref.greedy_discard, slow_discard)
