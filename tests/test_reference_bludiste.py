"""The plain-Python Bludiště, against the document, hand-made positions and a third, tiny implementation."""

import copy
import random
from collections import Counter
from collections.abc import Sequence
from typing import cast

import pytest

from tests.reference import bludiste as ref
from tests.reference import streams as rng

# ------------------------------------------------------------------------------------------------------------- helpers


@pytest.fixture(autouse=True)
def _check_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every move of every test assert that no card came or went."""
    monkeypatch.setattr(ref, "CHECK", True)


def position_of(rows: Sequence[str], stock: str = "", tops: str = "", grace_used: int = 0) -> ref.Position:
    """Return a position; ``--`` is a gap, ``tops`` names foundations above their base, like ``+5S`` and ``-9H``."""
    up, down = [1] * 4, [13] * 4
    for top in tops.split():
        rank, suit = ref.RANKS.index(top[1]) + 1, ref.SUITS.index(top[2])
        (up if top[0] == "+" else down)[suit] = rank
    laid = tuple(tuple(card.replace("--", ref.GAP) for card in row.split()) for row in rows)
    return ref.Position(laid, tuple(up), tuple(down), tuple(stock.split()), grace_used)


def rules_for(position: ref.Position, **options: object) -> ref.Rules:
    """Return rules whose rows are as long as those of the position."""
    return ref.resolve({"columns": len(position.rows[0]), **options})


def legal(position: ref.Position, **options: object) -> list[ref.Move]:
    """Return the legal moves."""
    return ref.legal_moves(position, rules_for(position, **options))


def after(position: ref.Position, *moves: ref.Move, **options: object) -> ref.Position:
    """Make moves, each of which must be legal."""
    rules = rules_for(position, **options)
    for move in moves:
        assert move in ref.legal_moves(position, rules)
        position = ref.apply(position, move, rules)
    return position


def shown(position: ref.Position) -> list[str]:
    """Return the rows as ``position_of`` takes them."""
    return [" ".join(card or "--" for card in row) for row in position.rows]


def stock_of(top: str, decks: int = 2, pack: ref.Pack = ref.FULL_PACK, last: str = "") -> list[str]:
    """Return the whole stock with these cards on top, ``last`` at the bottom and the others between."""
    between = Counter(ref.start_order(decks, pack))
    between.subtract(top.split() + last.split())
    assert min(between.values()) >= 0
    return [*top.split(), *between.elements(), *last.split()]


def moves_of(events: ref.Events) -> list[ref.Move]:
    """Return the moves among the events."""
    return [cast(ref.Move, event[1]) for event in events if event[0] == "move"]


def placed_cards(events: ref.Events) -> str:
    """Return the cards placed, in order."""
    return " ".join(str(event[1]) for event in events if event[0] == "place")


class ScriptedStream(rng.PolicyStream):
    """A policy stream with written numbers, which remembers its bounds."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = list(numbers)
        self.bounds: list[int] = []

    def bounded(self, bound: int) -> int:
        """Return the next written number, or 0."""
        self.bounds.append(bound)
        return self.numbers.pop(0) if self.numbers else 0


# ------------------------------------------------------------------------------------------------------------- options


def test_defaults_are_the_letter() -> None:
    assert ref.resolve({}) == {
        "columns": 10,
        "refill": "when_stuck",
        "available": "above",
        "transfer": False,
        "max_rows": 0,
        "decks": 2,
        "fill": "newest",
        "deal": "when_stuck",
        "grace": 0,
    }


@pytest.mark.parametrize(
    ("variant", "differences"),
    [
        ("letter", {}),
        ("cadogan", {"available": "above_or_below", "grace": 1}),
        ("labyrinth", {"decks": 1, "columns": 8, "fill": "first", "available": "above_or_below"}),
        ("parallels", {"available": "above_or_below", "fill": "all", "max_rows": 7}),
        ("blockade", {"available": "above_or_below", "fill": "all", "max_rows": 7, "refill": "at_once"}),
    ],
)
def test_variants(variant: str, differences: dict[str, object]) -> None:
    assert ref.resolve(ref.VARIANTS[variant]) == ref.resolve(differences)
    assert len(ref.VARIANTS) == 5


@pytest.mark.parametrize(
    "nonsense",
    [
        {"colums": 10},
        {"columns": 0},
        {"columns": 17},
        {"columns": True},
        {"columns": "10"},
        {"refill": "never"},
        {"available": "below"},
        {"transfer": 1},
        {"max_rows": -1},
        {"decks": 3},
        {"decks": 0},
        {"fill": "last"},
        {"deal": "at_once"},
        {"grace": 4},
        {"grace": -1},
        {"grace": True},
    ],
)
def test_nonsense_is_refused(nonsense: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(nonsense))):
        ref.resolve(nonsense)


def test_random_options_are_legal_and_reach_every_value() -> None:
    rnd = random.Random(5)
    seen: dict[str, set[object]] = {name: set() for name in ref.DEFAULTS}
    for _ in range(500):
        options = ref.random_options(rnd)
        ref.resolve(options)
        for name, value in options.items():
            seen[name].add(value)
    for name, choices in ref.CHOICES.items():
        assert seen[name] == set(choices)
    assert seen["columns"] == set(range(1, 17))
    assert {0, 1, 2, 3, 7} <= seen["max_rows"]


def test_columns_are_those_of_a_row() -> None:
    row = ref.play({}, "first", ref.seeded_stock({}, 1, 1))
    assert list(row) == ref.columns({}) == ["won", "placed", "rows", "refilled"]


def test_wrong_calls_are_refused() -> None:
    stock = ref.seeded_stock({}, 1, 1)
    with pytest.raises(ValueError, match="unknown policy"):
        ref.play({}, "greedy", stock)
    with pytest.raises(ValueError, match="needs a stream"):
        ref.play({}, "random", stock)
    with pytest.raises(ValueError, match="stock"):
        ref.play({}, "first", stock[1:])
    with pytest.raises(ValueError, match="stock"):
        ref.play({"decks": 1}, "first", stock)
    with pytest.raises(ValueError, match="a pack has"):
        ref.play({}, "first", [], pack=ref.Pack(1, 4))
    with pytest.raises(ref.IllegalMove):
        ref.play({}, lambda position, moves: ("up", 99, 0), stock_of("2S"))


# ---------------------------------------------------------------------------------------------------------------- deal


def test_stock_of_two_decks() -> None:
    """Four aces and four kings of one deck are the foundations; the other 96 cards are the stock."""
    order = ref.start_order(2)
    assert len(order) == 96
    assert order[:5] == ("2S", "2H", "2D", "2C", "3S")
    assert order[43:49] == ("QC", "AS", "AH", "AD", "AC", "2S")
    assert order[-1] == "KC"
    counts = Counter(order)
    assert all(count == (1 if card[0] in "AK" else 2) for card, count in counts.items())
    assert len(counts) == 52


def test_stock_of_one_deck() -> None:
    order = ref.start_order(1)
    assert len(set(order)) == len(order) == 48
    assert (order[0], order[-1]) == ("2S", "KC")
    assert not any(card[0] == "A" for card in order)


def test_stock_of_a_small_pack() -> None:
    assert ref.start_order(2, ref.Pack(3, 2)) == ("2S", "2H", "AS", "AH", "2S", "2H", "3S", "3H")
    assert ref.start_order(1, ref.Pack(3, 2)) == ("2S", "2H", "3S", "3H")


@pytest.mark.parametrize("decks", [1, 2])
def test_seeded_stock_is_shuffled_from_the_deal_stream(decks: int) -> None:
    stock = ref.seeded_stock({"decks": decks}, 20260707, 3)
    assert stock == rng.shuffled(20260707, 3, 0, 0, ref.start_order(decks))
    assert Counter(stock) == Counter(ref.start_order(decks))
    assert stock != ref.seeded_stock({"decks": decks}, 20260707, 4)


def test_row_one_is_dealt() -> None:
    stock = ref.seeded_stock({}, 1, 1)
    position = ref.begin(ref.resolve({}), stock)
    assert position.rows == (tuple(stock[:10]),)
    assert position.stock == tuple(stock[10:])
    assert (position.up, position.down) == ((1, 1, 1, 1), (13, 13, 13, 13))
    assert ref.count_cards(position) == Counter(2 * [rank + suit for rank in ref.RANKS for suit in ref.SUITS])


def test_one_deck_has_only_the_aces() -> None:
    position = ref.begin(ref.resolve({"decks": 1}), ref.seeded_stock({"decks": 1}, 1, 1))
    assert (position.up, position.down) == ((1, 1, 1, 1), ())
    assert ref.count_cards(position) == Counter([rank + suit for rank in ref.RANKS for suit in ref.SUITS])


# --------------------------------------------------------------------------------------------------------- foundations


def test_foundations_go_up_from_the_ace_and_down_from_the_king_in_suit() -> None:
    position = position_of(["2S QS 2H 3S JS KH AH QC"])
    assert legal(position) == [("up", 0, 0), ("down", 0, 1), ("up", 0, 2), ("down", 0, 7)]
    position = after(position, ("up", 0, 0), ("down", 0, 1))
    assert (position.up, position.down) == ((2, 1, 1, 1), (12, 13, 13, 13))
    assert legal(position) == [("up", 0, 2), ("up", 0, 3), ("down", 0, 4), ("down", 0, 7)]


def test_a_card_may_fit_both_foundations_and_either_copy_may_go() -> None:
    position = position_of(["7D 2H 7D"], tops="+6D -8D")
    both = [("up", 0, 0), ("down", 0, 0), ("up", 0, 1), ("up", 0, 2), ("down", 0, 2)]
    assert legal(position) == both
    assert legal(after(position, ("down", 0, 0))) == [("up", 0, 1), ("up", 0, 2)]
    assert legal(after(position, ("up", 0, 2))) == [("down", 0, 0), ("up", 0, 1)]


def test_full_foundations_take_nothing_and_all_eight_win() -> None:
    full = "+KS -AS +KH -AH +KD -AD +KC"
    position = position_of(["AC --"], tops=full + " -2C")
    assert not ref.is_won(position)
    assert legal(position) == [("down", 0, 0)]
    position = after(position, ("down", 0, 0))
    assert ref.is_won(position)
    assert ref.count_placed(position) == 96
    assert legal(position, transfer=True, deal="any_time", grace=3) == []
    assert not ref.is_won(position_of(["KC --"], tops=full.replace("+KC", "+QC") + " -AC"))


def test_the_last_cards_of_each_direction_may_be_king_and_ace() -> None:
    position = position_of(["KS AS AH"], tops="+QS -2S")
    assert legal(position) == [("up", 0, 0), ("down", 0, 1)]


# -------------------------------------------------------------------------------------------------------- availability

GRID = ["2S -- 9S", "2H 2D 2C", "-- QS QH", "QD -- QC"]


@pytest.mark.parametrize(
    ("available", "cards"),
    [
        ("above", "2S 2D QD QC"),  # row 1, a gap above, the newest row
        ("above_or_below", "2S 2H 2D QS QD QC"),  # 2H and QS have a gap below
        ("all", "2S 2H 2D 2C QS QH QD QC"),
    ],
)
def test_available(available: str, cards: str) -> None:
    position = position_of(GRID)
    moves = legal(position, available=available)
    assert [position.rows[cast(int, r)][cast(int, c)] for _, r, c in moves] == cards.split()


def test_a_gap_further_up_frees_nothing() -> None:
    position = position_of(["--", "9S", "2S", "8H"])
    assert legal(position) == []
    assert legal(position, available="above_or_below") == []


def test_places_never_dealt_count_as_empty_below() -> None:
    position = position_of(["9S 9H", "9D 2S", "9C --"])
    assert legal(position) == []
    assert legal(position, available="above_or_below") == [("up", 1, 1)]


def test_row_one_stays_available_under_everything() -> None:
    position = position_of(["2S 9H", "9D 9D", "9C 9C"])
    assert legal(position) == [("up", 0, 0)]


# ------------------------------------------------------------------------------------------------- stuck: fill and rows


def test_no_step_before_being_stuck() -> None:
    position = position_of(["2S 2H --"], "9S 9H 9D 9C")
    assert legal(position) == [("up", 0, 0), ("up", 0, 1)]


def test_stuck_fills_the_newest_row_left_to_right_and_then_opens_a_row() -> None:
    position = position_of(["-- 9S --", "-- 9H --"], "8S 8H 8D 8C 7S 7H")
    assert legal(position) == [("fill",)]
    position = after(position, ("fill",))
    assert shown(position) == ["-- 9S --", "8S 9H 8H"]
    assert position.refilled == 2
    assert legal(position) == [("row",)]
    position = after(position, ("row",))
    assert shown(position) == ["-- 9S --", "8S 9H 8H", "8D 8C 7S"]
    assert position.stock == ("7H",)
    position = after(position, ("row",))
    assert shown(position)[3] == "7H -- --"
    assert legal(position) == []


def test_filling_ends_with_the_stock() -> None:
    position = after(position_of(["-- 9S -- --"], "8S 8H"), ("fill",))
    assert shown(position) == ["8S 9S 8H --"]
    assert legal(position) == []


def test_row_one_is_the_newest_while_it_is_alone() -> None:
    assert legal(position_of(["-- 9S"], "8S 8H")) == [("fill",)]


def test_max_rows_counts_row_one() -> None:
    position = position_of(["9S 9H"], "8S 8H 8D 8C")
    assert legal(position, max_rows=1) == []
    position = after(position, ("row",), max_rows=2)
    assert legal(position, max_rows=2) == []
    assert legal(position, max_rows=3) == [("row",)]
    assert legal(position_of(["9S --"], "8S 8H 8D"), max_rows=1) == [("fill",)]


def test_at_once_fills_the_gap_of_a_placement_from_the_newest_row() -> None:
    position = position_of(["2S 9H", "9D 2H"], "8S 8H 8D")
    position = after(position, ("up", 1, 1), refill="at_once")
    assert shown(position) == ["2S 9H", "9D 8S"]
    position = after(position, ("up", 0, 0), refill="at_once")
    assert shown(position) == ["-- 9H", "9D 8S"]
    assert position.refilled == 1
    assert legal(position, refill="at_once") == [("row",)]
    assert legal(position, refill="at_once", max_rows=2) == []


def test_at_once_fills_while_the_stock_lasts() -> None:
    position = after(position_of(["2S 2H"], "8S"), ("up", 0, 0), ("up", 0, 1), refill="at_once")
    assert shown(position) == ["8S --"]
    assert legal(position, refill="at_once") == []
    # no game comes here, with a gap beside a stock; when stuck there is only a new row
    assert legal(position_of(["9S --"], "8S"), refill="at_once") == [("row",)]


@pytest.mark.parametrize("refill", ["when_stuck", "at_once"])
def test_fill_first_only_while_it_is_the_only_row(refill: str) -> None:
    position = position_of(["2S 9H"], "8S 8H 8D 8C 7S")
    alone = after(position, ("up", 0, 0), refill=refill, fill="first")
    if refill == "when_stuck":
        assert legal(alone, fill="first") == [("fill",)]
        alone = after(alone, ("fill",), fill="first")
    assert shown(alone) == ["8S 9H"]
    two = position_of(["2S 9H", "2H 9D"], "8S 8H 8D")
    two = after(two, ("up", 0, 0), ("up", 1, 0), refill=refill, fill="first")
    assert shown(two) == ["-- 9H", "-- 9D"]
    assert legal(two, refill=refill, fill="first") == [("row",)]
    assert legal(two, refill=refill, fill="first", max_rows=2) == []


def test_fill_all_begins_with_the_oldest_row() -> None:
    position = position_of(["9S --", "-- --", "9H --"], "8S 8H 8D")
    position = after(position, ("fill",), fill="all")
    assert shown(position) == ["9S 8S", "8H 8D", "9H --"]


def test_fill_all_at_once_fills_any_row() -> None:
    position = position_of(["2S 9H", "3S 9D"], "8S 8H")
    position = after(position, ("up", 0, 0), ("up", 1, 0), fill="all", refill="at_once")
    assert shown(position) == ["8S 9H", "8H 9D"]


def test_a_filled_gap_covers_the_card_below_again() -> None:
    position = position_of(["9S 9H", "-- 9D", "3S 9C", "2H 9C"], "8S 8H 8D")
    position = after(position, ("up", 3, 0), ("fill",), fill="all")
    assert shown(position) == ["9S 9H", "8S 9D", "3S 9C", "8H 9C"]
    position = position._replace(up=(2, 2, 1, 1))
    assert legal(position, fill="all", available="above_or_below") == [("row",)]
    assert ("up", 2, 0) in legal(position, fill="all", available="all")


# ------------------------------------------------------------------------------------------------------------ any time


def test_any_time_may_fill_or_open_whenever_wanted() -> None:
    position = position_of(["2S --", "9S --"], "8S 8H 8D 8C")
    assert legal(position, deal="any_time") == [("up", 0, 0), ("fill",), ("row",)]
    opened = after(position, ("row",), deal="any_time")
    assert shown(opened) == ["2S --", "9S --", "8S 8H"]
    assert legal(opened, deal="any_time") == [("up", 0, 0), ("row",)]
    filled = after(position, ("fill",), deal="any_time")
    assert shown(filled) == ["2S --", "9S 8S"]
    assert legal(position, deal="any_time", max_rows=2) == [("up", 0, 0), ("fill",)]
    assert legal(position, deal="any_time", fill="first") == [("up", 0, 0), ("row",)]


def test_any_time_when_stuck_still_leaves_the_choice() -> None:
    assert legal(position_of(["9S --"], "8S 8H"), deal="any_time") == [("fill",), ("row",)]


def test_any_time_fills_all_gaps_in_order() -> None:
    position = position_of(["2S --", "9S --"], "8S 8H 8D 8C")
    assert shown(after(position, ("fill",), deal="any_time", fill="all")) == ["2S 8S", "9S 8H"]


def test_any_time_at_once_is_only_about_rows() -> None:
    position = position_of(["2S 9H"], "8S 8H")
    assert legal(position, deal="any_time", refill="at_once") == [("up", 0, 0), ("row",)]


def test_rules_of_thumb_play_any_time_as_when_stuck() -> None:
    for game in range(10):
        stock = ref.seeded_stock({}, 4, game)
        rows = [ref.play({"deal": deal}, "first", stock) for deal in ("when_stuck", "any_time")]
        assert rows[0] == rows[1]
        rows = [
            ref.play({"deal": deal}, "random", stock, rng.PolicyStream(4, game, 0))
            for deal in ("when_stuck", "any_time")
        ]
        assert rows[0] == rows[1]


# --------------------------------------------------------------------------------------------------------------- grace

COVERED = ["9S 9H", "2S 9D", "9C 9C"]


def test_grace_places_a_card_that_is_not_available() -> None:
    position = position_of(COVERED)
    assert legal(position) == []
    assert legal(position, grace=1) == [("up", 1, 0)]
    events: ref.Events = []
    position = ref.apply(position, ("up", 1, 0), rules_for(position, grace=1), events=events)
    assert events[-1] == ("place", "2S", "up", 1, 0, "grace")
    assert shown(position) == ["9S 9H", "-- 9D", "9C 9C"]
    assert position.grace_used == 1


def test_grace_is_counted_over_the_whole_game() -> None:
    assert legal(position_of(COVERED, grace_used=1), grace=1) == []
    assert legal(position_of(COVERED, grace_used=1), grace=2) == [("up", 1, 0)]


def test_grace_only_when_no_placement_fill_or_row_is_possible() -> None:
    assert legal(position_of(["2H 9H", *COVERED[1:]]), grace=1) == [("up", 0, 0)]
    assert legal(position_of([*COVERED[:2], "9C --"], "8S"), grace=1, max_rows=3) == [("fill",)]
    assert legal(position_of(COVERED, "8S"), grace=1) == [("row",)]
    assert legal(position_of(COVERED, "8S"), grace=1, max_rows=3) == [("up", 1, 0)]
    assert legal(position_of(COVERED, "8S"), grace=1, deal="any_time") == [("row",)]


def test_an_ordinary_placement_uses_no_grace() -> None:
    position = after(position_of(["9S --", "9D 2S", "9C 9C"]), ("up", 1, 1), grace=1)
    assert position.grace_used == 0


def test_the_gap_that_grace_leaves_is_ordinary() -> None:
    position = after(position_of([*COVERED[:2], "3S 9C", "9C 9H"]), ("up", 1, 0), grace=1)
    assert legal(position, grace=1) == [("up", 2, 0)]  # it frees the card below
    position = position_of(COVERED, "8S 8H")
    filled = after(position, ("up", 1, 0), grace=1, max_rows=3, fill="all", refill="at_once")
    assert shown(filled)[1] == "8S 9D"
    filled = after(position, ("up", 1, 0), ("fill",), grace=1, max_rows=3, fill="all")
    assert shown(filled)[1] == "8S 9D"
    left = after(position, ("up", 1, 0), grace=1, max_rows=3, refill="at_once")
    assert shown(left)[1] == "-- 9D"
    assert legal(left, grace=2, max_rows=3) == []


GRACE_PACK = ref.Pack(4, 1)
GRACE_STOCK = ["4S", "3S", "2S"]
GRACE_RULES: dict[str, object] = {"columns": 1, "decks": 1}
"""In the one column 2S goes, then 3S lies between 4S and the gap of the newest row, and is not available."""


def test_first_and_random_use_grace() -> None:
    lost = {"won": 0, "placed": 1, "rows": 3, "refilled": 0}
    assert ref.play(GRACE_RULES, "first", GRACE_STOCK, pack=GRACE_PACK) == lost
    won = {"won": 1, "placed": 3, "rows": 3, "refilled": 0}
    graced = {**GRACE_RULES, "grace": 1}
    events: ref.Events = []
    assert ref.play(graced, "first", GRACE_STOCK, events=events, pack=GRACE_PACK) == won
    assert [event[-1] for event in events if event[0] == "place"] == ["available", "grace", "available"]
    stream = ScriptedStream()
    assert ref.play(graced, "random", GRACE_STOCK, stream, pack=GRACE_PACK) == won
    assert stream.bounds == [1, 1, 1]


def test_a_free_player_may_do_without_grace() -> None:
    asked: list[Sequence[ref.Move]] = []

    def policy(position: ref.Position, moves: Sequence[ref.Move]) -> ref.Move | None:
        asked.append(moves)
        return None if len(asked) == 2 else moves[0]

    assert ref.play({**GRACE_RULES, "grace": 1}, policy, GRACE_STOCK, pack=GRACE_PACK)["placed"] == 1
    assert asked == [[("up", 2, 0)], [("up", 1, 0)]]


def test_random_draws_among_the_grace_placements() -> None:
    position = position_of(["9S 9H", "2S QD", "9C 9C"])
    rules = rules_for(position, grace=1)
    stream = ScriptedStream(1)
    assert ref.choose_thumb(position, rules, stream, ref.FULL_PACK) == ("down", 1, 1)
    assert stream.bounds == [2]
    assert ref.choose_thumb(position, rules, None, ref.FULL_PACK) == ("up", 1, 0)


# ------------------------------------------------------------------------------------------------------------ transfer


@pytest.mark.parametrize(
    ("tops", "directions"),
    [
        ("+6D -7D", ["up", "down"]),
        ("+6D -8D", []),
        ("+6D -6D", []),
        ("+9D -7D", []),
        ("+QD -KD", ["down"]),  # the king is a base
        ("+AD -2D", ["up"]),  # the ace is a base
        ("+KD -AD", []),
    ],
)
def test_transfers(tops: str, directions: list[str]) -> None:
    position = position_of(["9S"], tops=tops)
    assert legal(position, transfer=True) == [("transfer", "D", direction) for direction in directions]
    assert legal(position) == []


def test_a_transfer_moves_the_top_card() -> None:
    position = position_of(["9S"], tops="+6D -7D")
    up = after(position, ("transfer", "D", "up"), transfer=True)
    assert (up.up[2], up.down[2]) == (7, 8)
    down = after(position, ("transfer", "D", "down"), transfer=True)
    assert (down.up[2], down.down[2]) == (5, 6)
    assert after(up, ("transfer", "D", "down"), transfer=True) == position


def test_one_deck_has_no_transfer() -> None:
    position = position_of(["9S"], tops="+6D")._replace(down=())
    assert legal(position, transfer=True, decks=1) == []


def test_transfers_are_optional_and_do_not_count_for_being_stuck() -> None:
    both = [("transfer", "D", "up"), ("transfer", "D", "down")]
    position = position_of(["8D --"], "9S 9H", tops="+6D -7D")
    assert legal(position, transfer=True) == [("fill",), *both]
    assert legal(after(position, ("transfer", "D", "up"), transfer=True), transfer=True)[0] == ("up", 0, 0)
    assert legal(position_of(["2S --"], "9S", tops="+6D -7D"), transfer=True) == [("up", 0, 0), *both]
    assert legal(position_of(COVERED, tops="+6D -7D"), transfer=True, grace=1) == [("up", 1, 0), *both]


def test_rules_of_thumb_never_transfer() -> None:
    for game in range(10):
        stock = ref.seeded_stock({}, 6, game)
        assert ref.play({"transfer": True}, "first", stock) == ref.play({}, "first", stock)
        with_it = ref.play({"transfer": True}, "random", stock, rng.PolicyStream(6, game, 0))
        assert with_it == ref.play({}, "random", stock, rng.PolicyStream(6, game, 0))


# ------------------------------------------------------------------------------------------------------------ policies


def test_first_scans_again_from_the_oldest_row() -> None:
    events: ref.Events = []
    ref.play({"columns": 4}, "first", stock_of("4S 3S 5C 2H 9H 2S QH QS"), events=events)
    assert placed_cards(events).startswith("2H 2S 3S 4S QH QS")


def test_first_prefers_the_foundation_going_up() -> None:
    pack = ref.Pack(3, 1)
    events: ref.Events = []
    ref.play({"columns": 4}, "first", "2S 2S AS 3S".split(), events=events, pack=pack)
    assert moves_of(events) == [("up", 0, 0), ("down", 0, 1), ("down", 0, 2), ("up", 0, 3)]


def test_random_draws_over_placements_also_when_there_is_one() -> None:
    pack = ref.Pack(3, 1)
    stream = ScriptedStream(3, 0, 0, 0)
    events: ref.Events = []
    row = ref.play({"columns": 4}, "random", "2S 3S 2S AS".split(), stream, events, pack)
    assert stream.bounds == [4, 2, 2, 1]
    assert moves_of(events) == [("down", 0, 2), ("up", 0, 0), ("up", 0, 1), ("down", 0, 3)]
    assert row == {"won": 1, "placed": 4, "rows": 1, "refilled": 0}


def test_random_draws_nothing_for_steps() -> None:
    stream = ScriptedStream()
    row = ref.play({"columns": 1}, "random", "AS 3S 2S 2S".split(), stream, pack=ref.Pack(3, 1))
    # row 3 brings 2S, which fits both; 3S is covered by AS; the other 2S fills the gap; AS goes, then 3S
    assert row == {"won": 1, "placed": 4, "rows": 3, "refilled": 1}
    assert stream.bounds == [2, 1, 1, 1]


def test_a_free_player_is_not_asked_about_forced_steps() -> None:
    seen: list[ref.Move] = []

    def last(position: ref.Position, moves: Sequence[ref.Move]) -> ref.Move:
        seen.extend(moves)
        return moves[-1]

    ref.play({}, last, ref.seeded_stock({}, 3, 3))
    assert seen
    assert not {("fill",), ("row",)} & set(seen)
    ref.play({"deal": "any_time"}, last, ref.seeded_stock({}, 3, 3))
    assert ("row",) in seen


# ------------------------------------------------------------------------------------------------------- the document

ROW_1 = "6S 5S 7H TC TD QC 9D JS 6C 5C"
ROW_2 = "2S 5H QS 4S 5D TS 4D 3D 2D 4C"
FILLS = "8H 9H 8C JD JC 7C QH 8H"  # the document lists seven for eight gaps


def test_worked_example() -> None:
    stock = stock_of(f"{ROW_1} 3S {ROW_2} {FILLS}")
    rules = ref.resolve({})
    position = ref.begin(rules, stock)
    assert shown(position) == [ROW_1]

    def place_all() -> Counter[str]:
        nonlocal position
        placed: Counter[str] = Counter()
        while moves := ref.placements(position, rules):
            assert ref.legal_moves(position, rules) == moves
            _, row, column = cast(tuple[str, int, int], moves[0])
            placed[position.rows[row][column]] += 1
            position = ref.apply(position, moves[0], rules)
        return placed

    assert place_all() == Counter(["QC"])
    position = after(position, ("fill",))
    assert shown(position) == ["6S 5S 7H TC TD 3S 9D JS 6C 5C"]
    assert place_all() == Counter()
    position = after(position, ("row",))
    assert shown(position)[1] == ROW_2
    assert place_all() == Counter("2S 3S 4S 5S 6S 2D 3D 4D 5D QS JS TS".split())
    assert shown(position) == ["-- -- 7H TC TD -- 9D -- 6C 5C", "-- 5H -- -- -- -- -- -- -- 4C"]
    assert (position.up, position.down) == ((6, 1, 5, 1), (10, 13, 13, 12))
    position = after(position, ("fill",))
    assert shown(position) == ["-- -- 7H TC TD -- 9D -- 6C 5C", "8H 5H 9H 8C JD JC 7C QH 8H 4C"]
    assert position.refilled == 9
    assert place_all() == Counter(["JC", "QH", "TC"])

    events: ref.Events = []
    ref.play({}, "first", stock, events=events)
    assert placed_cards(events).startswith("QC 2S 3S QS JS 4S 5S 6S TS 2D 3D 4D 5D JC TC QH")


def test_worked_example_at_once_differs() -> None:
    """Under ``at_once`` the 3S comes at the same place, but row 2 is refilled card by card."""
    events: ref.Events = []
    ref.play({"refill": "at_once"}, "first", stock_of(f"{ROW_1} 3S {ROW_2} {FILLS}"), events=events)
    fills = [event for event in events if event[0] == "fill"]
    assert fills[:3] == [("fill", 0, 5, "3S"), ("fill", 1, 0, "8H"), ("fill", 1, 2, "9H")]


def test_third_row_of_the_document() -> None:
    """With three rows, cards of the second go only where the place above them in the first is free."""
    position = position_of(["-- 9S", "2S 2H", "9C 9D"])
    assert legal(position) == [("up", 1, 0)]


# ---------------------------------------------------------------------------------------------------------- check_line


def test_check_line_makes_the_steps_by_itself() -> None:
    pack = ref.Pack(3, 1)
    stock = "AS 3S 2S 2S".split()
    rules: dict[str, object] = {"columns": 1}
    line: list[ref.Move] = [("up", 2, 0), ("down", 2, 0), ("down", 0, 0), ("up", 1, 0)]
    won = {"won": 1, "placed": 4, "rows": 3, "refilled": 1}
    assert ref.check_line(rules, stock, line, pack) == won
    written = [("row",), ("row",), line[0], ("fill",), *line[1:]]
    assert ref.check_line(rules, stock, written, pack) == won
    assert ref.check_line(rules, stock, [list(move) for move in line], pack) == won
    freely = {**rules, "deal": "any_time"}
    assert ref.check_line(freely, stock, written, pack) == won
    with pytest.raises(ref.IllegalMove, match="move 0 .*not allowed"):
        ref.check_line(freely, stock, line, pack)


@pytest.mark.parametrize(
    ("bad", "number"),
    [
        ([("down", 0, 0)], 0),
        ([("up", 0, 0), ("up", 0, 0)], 1),
        ([("up", 0, 0), ("row",)], 1),
        ([("up", 0, 0), ("fill",)], 1),
        ([("up", 0, 0), ("up", 0, 2)], 1),
        ([("up", 0, -1)], 0),
        ([("up", 0, 0), ("transfer", "S", "down")], 1),
        ([("nonsense",)], 0),
        ([()], 0),
    ],
)
def test_check_line_names_the_first_illegal_move(bad: list[ref.Move], number: int) -> None:
    with pytest.raises(ref.IllegalMove, match=f"move {number} "):
        ref.check_line({"columns": 3}, stock_of("2S 2H 9S", last="2S 2H"), bad)


def test_check_line_ends_like_the_player_who_stops() -> None:
    for game in range(5):
        stock = ref.seeded_stock({}, 9, game)
        events: ref.Events = []
        row = ref.play({}, "first", stock, events=events)
        assert ref.check_line({}, stock, [move for move in moves_of(events) if len(move) == 3]) == row


def test_check_line_makes_a_transfer_before_a_step_unless_the_step_is_written() -> None:
    pack = ref.Pack(4, 1)
    stock = "2S 3S AS 4S 2S 3S".split()
    rules: dict[str, object] = {"columns": 2, "transfer": True}
    start: list[ref.Move] = [("up", 0, 0), ("down", 0, 1)]  # 2 up, 3 down, both places empty; AS and 4S come next
    carried = [*start, ("transfer", "S", "up")]
    assert ref.check_line(rules, stock, [*carried, ("up", 0, 1)], pack)["placed"] == 3
    assert ref.check_line(rules, stock, [*carried, ("fill",), ("up", 0, 1)], pack)["placed"] == 3
    late = [*start, ("fill",), ("transfer", "S", "up"), ("up", 0, 1)]
    assert ref.check_line(rules, stock, late, pack)["placed"] == 3
    # after the fill 4S can go up, so a row opened after the transfer would not be allowed; before it is
    assert ref.check_line(rules, stock, [*late[:3], ("row",), *late[3:]], pack)["rows"] == 2
    with pytest.raises(ref.IllegalMove, match="move 4 "):
        ref.check_line(rules, stock, [*late[:4], ("row",)], pack)


def test_check_line_allows_grace_only_by_the_rules() -> None:
    graced = {**GRACE_RULES, "grace": 1}
    line: list[ref.Move] = [("up", 2, 0), ("up", 1, 0), ("up", 0, 0)]
    assert ref.check_line(graced, GRACE_STOCK, line, GRACE_PACK)["won"] == 1
    with pytest.raises(ref.IllegalMove, match="move 1 "):
        ref.check_line(GRACE_RULES, GRACE_STOCK, line, GRACE_PACK)
    # the gap is filled by itself before grace is due
    after_fill = ref.check_line(graced, [*GRACE_STOCK, "5S"], [*line, ("up", 2, 0)], ref.Pack(5, 1))
    assert after_fill == {"won": 1, "placed": 4, "rows": 3, "refilled": 1}
    # the gap is filled with a card that can be placed: no grace yet
    with pytest.raises(ref.IllegalMove, match="move 1 "):
        ref.check_line(graced, [*GRACE_STOCK, "2H", "3H", "4H"], line, ref.Pack(4, 2))


# ---------------------------------------------------------------------------------------------------------- invariants


def test_invariants_on_random_rule_sets() -> None:
    """Every move conserves the cards (``CHECK``); a game's own moves are a legal line with the same end."""
    rnd = random.Random(11)
    ends: Counter[int] = Counter()
    for game in range(60):
        options = ref.random_options(rnd)
        stock = ref.seeded_stock(options, 11, game)
        for policy in ref.POLICIES:
            events: ref.Events = []
            row = ref.play(options, policy, stock, rng.PolicyStream(11, game, 0), events)
            assert row["won"] == (row["placed"] == len(stock))
            assert row["refilled"] == sum(event[0] == "fill" for event in events)
            assert row["rows"] == sum(event[0] == "row" for event in events)
            assert row["placed"] == sum(event[0] == "place" for event in events)
            assert options["max_rows"] == 0 or row["rows"] <= cast(int, options["max_rows"])
            graces = sum(event[-1] == "grace" for event in events)
            assert graces <= cast(int, options["grace"])
            lines = [moves_of(events)]
            if options["deal"] == "when_stuck":
                lines.append([move for move in lines[0] if len(move) == 3])
                assert ref.check_line(options, stock, lines[1]) == row
            elif graces == 0:  # a free player may do what a rule of thumb does
                assert ref.check_line(options, stock, lines[0]) == row
            ends[row["won"]] += 1
    assert ends[0]
    assert ends[1]


def test_free_players_conserve_the_cards() -> None:
    rnd = random.Random(12)
    for game in range(30):
        options = ref.random_options(rnd)
        asked: list[int] = []

        def policy(position: ref.Position, moves: Sequence[ref.Move], asked: list[int] = asked) -> ref.Move | None:
            asked.append(len(moves))
            return rnd.choice(moves) if len(asked) < 150 else None  # transfers could go on for ever

        stock = ref.seeded_stock(options, 12, game)
        events: ref.Events = []
        row = ref.play(options, policy, stock, events=events)
        assert 0 <= row["placed"] <= len(stock)
        end = ref.check_line(options, stock, moves_of(events))
        assert end["placed"] == row["placed"]


# -------------------------------------------------------------------------------------------------------------- solver


class Tiny:
    """The rules once more, on mutable lists, as directly as they can be said."""

    def __init__(self, options: dict[str, object], stock: Sequence[str], pack: ref.Pack) -> None:
        self.o = {**ref.DEFAULTS, **options}
        self.n = pack.n_ranks
        self.up = {suit: 1 for suit in ref.SUITS[: pack.n_suits]}
        self.down = {suit: self.n for suit in self.up}
        self.stock = list(stock)
        self.grid: list[list[str]] = []
        self.graces = 0
        self.open()

    def open(self) -> None:
        width = cast(int, self.o["columns"])
        cards = [self.stock.pop(0) if self.stock else "" for _ in range(width)]
        self.grid.append(cards)

    def gap(self, r: int, c: int) -> bool:
        return 0 <= r < len(self.grid) and not self.grid[r][c]

    def free(self, r: int, c: int) -> bool:
        below = self.o["available"] == "above_or_below" and self.gap(r + 1, c)
        ends = r in (0, len(self.grid) - 1)
        return ends or self.gap(r - 1, c) or below or self.o["available"] == "all"

    def filled(self, r: int) -> bool:
        if self.o["fill"] == "first":
            return len(self.grid) == 1
        return self.o["fill"] == "all" or r == len(self.grid) - 1

    def gaps(self) -> list[tuple[int, int]]:
        places = [(r, c) for r, row in enumerate(self.grid) for c in range(len(row))]
        return [(r, c) for r, c in places if self.gap(r, c) and self.filled(r)]

    def moves(self) -> list[ref.Move]:
        fits: list[tuple[bool, ref.Move]] = []
        for r, row in enumerate(self.grid):
            for c, card in enumerate(row):
                if card:
                    rank, suit = "A23456789TJQK".index(card[0]) + 1, card[1]
                    if rank - self.up[suit] == 1:
                        fits.append((self.free(r, c), ("up", r, c)))
                    if self.o["decks"] == 2 and self.down[suit] - rank == 1:
                        fits.append((self.free(r, c), ("down", r, c)))
        moves = [move for free, move in fits if free]
        steps: list[ref.Move] = []
        if self.stock and self.o["refill"] == "when_stuck" and self.gaps():
            steps.append(("fill",))
        limit = cast(int, self.o["max_rows"])
        if self.stock and not 0 < limit <= len(self.grid):
            steps.append(("row",))
        if self.o["deal"] == "any_time":
            moves += steps
        elif not moves:
            moves += steps[:1]
        if not moves and self.graces < cast(int, self.o["grace"]):
            moves += [move for _, move in fits]
        if self.o["transfer"] and self.o["decks"] == 2:
            for suit in self.up:
                if self.up[suit] + 1 == self.down[suit] < self.n:
                    moves.append(("transfer", suit, "up"))
                if self.up[suit] + 1 == self.down[suit] > 2:
                    moves.append(("transfer", suit, "down"))
        return moves

    def make(self, move: ref.Move) -> "Tiny":
        other = copy.deepcopy(self)
        other.change(move)
        return other

    def change(self, move: ref.Move) -> None:
        if move == ("row",):
            self.open()
        elif move == ("fill",):
            for r, c in self.gaps():
                if self.stock:
                    self.grid[r][c] = self.stock.pop(0)
        elif move[0] == "transfer":
            step = 1 if move[2] == "up" else -1
            self.up[cast(str, move[1])] += step
            self.down[cast(str, move[1])] += step
        else:
            _, r, c = cast(tuple[str, int, int], move)
            self.graces += not self.free(r, c)
            foundation, step = (self.up, 1) if move[0] == "up" else (self.down, -1)
            foundation[self.grid[r][c][1]] += step
            self.grid[r][c] = ""
            if self.o["refill"] == "at_once" and self.stock and self.filled(r):
                self.grid[r][c] = self.stock.pop(0)

    def empty(self) -> bool:
        return not self.stock and not any(card for row in self.grid for card in row)

    def solvable(self, seen: set[str] | None) -> bool:
        """Try everything; ``seen`` is only needed where moves can go round in circles or the tree is too large."""
        if self.empty():
            return True
        if seen is not None:
            key = repr((self.grid, self.up, self.down, self.stock, self.graces))
            if key in seen:
                return False
            seen.add(key)
        return any(self.make(move).solvable(seen) for move in self.moves())


SMALL = [(ref.Pack(3, 1), 2), (ref.Pack(4, 1), 2), (ref.Pack(5, 2), 1), (ref.Pack(3, 2), 2), (ref.Pack(4, 2), 2)]


def small_deal(rnd: random.Random) -> tuple[dict[str, object], list[str], ref.Pack]:
    """Return random rules and a deal of a small pack."""
    pack, decks = rnd.choice(SMALL)
    options = ref.random_options(rnd) | {"columns": rnd.randint(1, 4), "max_rows": rnd.choice((0, 1, 2, 2, 3, 3, 4))}
    options |= {"decks": decks, "deal": rnd.choice(("when_stuck", "when_stuck", "any_time"))}
    stock = list(ref.start_order(decks, pack))
    rnd.shuffle(stock)
    return options, stock, pack


def test_solve_plain_against_brute_force() -> None:
    rnd = random.Random(13)
    verdicts: Counter[str] = Counter()
    for _ in range(250):
        options, stock, pack = small_deal(rnd)
        verdict, line = ref.search_plain(options, stock, 10**6, pack)
        plain = not options["transfer"] and len(stock) <= 6
        assert (verdict == "solved") == Tiny(options, stock, pack).solvable(None if plain else set())
        if verdict == "solved":
            assert ref.check_line(options, stock, line, pack)["won"] == 1
        verdicts[verdict] += 1
    assert min(verdicts["solved"], verdicts["unsolvable"]) > 40
    assert set(verdicts) == {"solved", "unsolvable"}


def test_legal_moves_along_random_lines() -> None:
    """The positions and moves of both implementations agree all along, on larger packs too."""
    rnd = random.Random(14)
    for _ in range(60):
        options = ref.random_options(rnd)
        pack = ref.Pack(rnd.randint(3, 13), rnd.randint(1, 4))
        stock = list(ref.start_order(cast(int, options["decks"]), pack))
        rnd.shuffle(stock)
        rules = ref.resolve(options)
        position, tiny = ref.begin(rules, stock, pack), Tiny(options, stock, pack)
        for _ in range(150):
            moves = ref.legal_moves(position, rules, pack)
            assert moves == tiny.moves()
            assert [list(row) for row in position.rows] == tiny.grid
            if not moves:
                break
            move = rnd.choice(moves)
            position = ref.apply(position, move, rules, pack)
            tiny.change(move)
        assert ref.is_won(position, pack) == tiny.empty()


def test_a_rule_of_thumb_that_wins_proves_solvable() -> None:
    rnd = random.Random(15)
    n_won = 0
    for game in range(100):
        options, stock, pack = small_deal(rnd)
        row = ref.play(options, "random", stock, rng.PolicyStream(15, game, 0), pack=pack)
        if row["won"]:
            n_won += 1
            assert ref.solve_plain(options, stock, 10**6, pack) == "solved"
    assert n_won > 10


def test_freedom_never_loses_a_solvable_deal() -> None:
    """Without grace, more freedom to deal and transfers can only help."""
    rnd = random.Random(16)
    for _ in range(60):
        options, stock, pack = small_deal(rnd)
        options |= {"deal": "when_stuck", "transfer": False, "grace": 0}
        if ref.solve_plain(options, stock, 10**6, pack) == "solved":
            for more in ({"deal": "any_time"}, {"transfer": True}):
                assert ref.solve_plain(options | more, stock, 10**6, pack) == "solved"


def test_the_limit_of_positions_is_never_guessed_over() -> None:
    rnd = random.Random(17)
    for _ in range(40):
        options, stock, pack = small_deal(rnd)
        verdict = ref.solve_plain(options, stock, 10**6, pack)
        assert ref.solve_plain(options, stock, 3, pack) in (verdict, "unknown")
    options = {"columns": 1, "decks": 1, "max_rows": 1}
    assert ref.solve_plain(options, "3S 2S".split(), 1, ref.Pack(3, 1)) == "unsolvable"
    assert ref.solve_plain({}, ref.seeded_stock({}, 1, 1), 5) == "unknown"
