"""The plain-Python Dupa biskupa against the rule book: hand-made positions, and invariants of random rule sets."""

import itertools
import random
from collections.abc import Iterator, Sequence

import pytest

from tests.reference import dupa as ref
from tests.reference import streams as rng
from tests.reference.dupa import PASS, Move, Table, dupas, plain

# ------------------------------------------------------------------------------------------------------------- helpers


class Turned:
    """Orders that turn the pile over, and know no decks."""

    def deck(self, round: int) -> list[str]:
        raise AssertionError(round)

    def reshuffled(self, cards: Sequence[str], round: int) -> list[str]:
        return list(cards)


def table(
    *hands: str, pile: str = "", stock: str = "", demand: bool = False, turn: int = 0, **rules: object
) -> ref.Table:
    """Return a table in mid-game with these cards; three players unless hands are named."""
    named = hands or ("2S", "2S", "2S")
    return Table(
        ref.resolve({"players": len(named), **rules}),
        hands=[hand.split() for hand in named],
        pile=pile.split(),
        stock=stock.split(),
        demand=demand,
        turn=turn,
        orders=Turned(),
        events=[],
    )


def kinds(at: Table, cards: str) -> str:
    """Say how a set may be played: ``plain``, ``dupa``, ``both`` or ``no``."""
    may = (at.is_plain_legal(cards.split()), at.is_dupa_legal(cards.split()))
    return {(True, True): "both", (True, False): "plain", (False, True): "dupa", (False, False): "no"}[may]


def scripted(*moves: Move) -> ref.Policy:
    """Return a policy that makes these moves one after another."""
    left = iter(moves)
    return lambda table, seat, drawn: next(left)


def never(table: Table, seat: int, drawn: str | None) -> Move:
    """Fail: nothing is to be chosen."""
    raise AssertionError((seat, drawn))


class Numbers:
    """Random numbers written down, as pairs of the bound and the number; each must be asked for as it stands."""

    def __init__(self, *pairs: tuple[int, int]) -> None:
        self._pairs = list(pairs)

    def bounded(self, bound: int) -> int:
        expected, number = self._pairs.pop(0)
        assert bound == expected
        return number

    def is_used_up(self) -> bool:
        return not self._pairs


def deck_of(top: str, decks: int = 1) -> list[str]:
    """Return a deck with the given cards on top, then the others."""
    cards, rest = top.split(), ref.pack(decks)
    for card in cards:
        rest.remove(card)
    return cards + rest


# ------------------------------------------------------------------------------------------------------------- options


def test_defaults_are_the_rule_books() -> None:
    assert ref.resolve({}) == {
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


@pytest.mark.parametrize(
    "wrong",
    [
        {"player": 3},
        {"players": 1},
        {"players": 7},
        {"decks": 0},
        {"decks": 5},
        {"hand_size": -1},
        {"hand_size": 14},
        {"hand_size": 105, "decks": 4, "players": 2},
        {"match": "both"},
        {"dupa": True},
        {"several_dupas": 1},
        {"rounds": 0},
        {"rounds": 101},
        {"max_turns": 0},
        {"winner_points": 6},
        {"winner_points": True},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=":|unknown"):
        ref.resolve(wrong)


def test_columns_of_the_rule_book() -> None:
    assert ref.columns({"players": 2}) == (
        "winner end turns draws reshuffles dupas left_0 left_1 points_0 points_1 win_share_0 win_share_1".split()
    )


def test_pack_starts_with_the_aces() -> None:
    assert ref.pack(2)[:6] == "AS AH AD AC 2S 2H".split()
    assert ref.pack(2)[51:53] == ["KC", "AS"]
    assert len(ref.pack(3)) == 156


# ---------------------------------------------------------------------------------------------------------------- deal


@pytest.mark.parametrize(("players", "size", "left"), [(2, 26, 0), (3, 17, 1), (5, 10, 2), (6, 8, 4)])
def test_deal_evenly_and_the_rest_is_the_stock(players: int, size: int, left: int) -> None:
    at = ref.deal(ref.resolve({"players": players}), ref.GivenOrders([ref.pack(1)]))
    assert [len(hand) for hand in at.hands] == [size] * players
    assert at.stock == ref.pack(1)[players * size :]
    assert len(at.stock) == left
    assert at.pile == []


def test_deal_in_packets_by_seat() -> None:
    at = ref.deal(ref.resolve({"players": 3, "hand_size": 2}), ref.GivenOrders([ref.pack(1)]))
    assert at.hands == [["AS", "AH"], ["AD", "AC"], ["2S", "2H"]]
    assert at.stock[0] == "2D"
    assert at.turn == 0


def test_a_deck_with_wrong_cards_is_refused() -> None:
    wrong = [*ref.pack(1)[:-1], "AS"]
    with pytest.raises(ValueError, match="does not hold"):
        ref.play({}, ["greedy"] * 4, ref.GivenOrders([wrong]))
    with pytest.raises(ValueError, match="does not hold"):
        ref.play({"decks": 2}, ["greedy"] * 4, ref.GivenOrders([ref.pack(1)]))
    with pytest.raises(ValueError, match="has no deck"):
        ref.play({"rounds": 2}, ["greedy"] * 4, ref.GivenOrders([ref.pack(1)]))


@pytest.mark.parametrize(("direction", "starts"), [("clockwise", [0, 1, 2, 0, 1]), ("counter", [0, 2, 1, 0, 2])])
def test_who_starts_each_round(direction: str, starts: list[int]) -> None:
    """The start moves one seat on in the order of play; the cards are always dealt from seat 0."""
    rules = ref.resolve({"players": 3, "direction": direction, "rounds": 5})
    orders = ref.GivenOrders([ref.pack(1)] * 5)
    tables = [ref.deal(rules, orders, round) for round in range(5)]
    assert [at.turn for at in tables] == starts
    assert all(at.hands[0][0] == "AS" for at in tables)


@pytest.mark.parametrize(("direction", "seats"), [("clockwise", [0, 1, 2, 3, 0]), ("counter", [0, 3, 2, 1, 0])])
def test_direction(direction: str, seats: list[int]) -> None:
    at = table("3S 4S", "3S 4S", "3S 4S", "3S 4S", pile="AS", direction=direction, pass_when="any")
    seen = []
    for _ in range(5):
        seen.append(at.turn)
        at.take_turn(scripted(PASS))
    assert seen == seats


# --------------------------------------------------------------------------------------------- what fits, without dupas


@pytest.mark.parametrize("cards", ["2S", "KH KD", "AS", "AS AH AD AC", "9S 9S"])
def test_any_set_leads(cards: str) -> None:
    assert table(dupa="off").plain_reason(cards.split()) == "lead"
    assert kinds(table(), cards) == "plain"  # the automatic dupa does not reach an opening that is plain


@pytest.mark.parametrize("match", ["rank_or_suit", "rank", "suit"])
def test_aces_always(match: str) -> None:
    at = table(pile="9H", match=match, dupa="off")
    assert at.plain_reason(["AS"]) == "aces"
    assert at.plain_reason("AS AH AC".split()) == "aces"


@pytest.mark.parametrize("match", ["rank_or_suit", "rank", "suit"])
def test_any_set_on_an_ace(match: str) -> None:
    at = table(pile="9H AH", match=match, dupa="off")
    assert at.plain_reason(["2S"]) == "on_ace"
    assert at.plain_reason(["9S", "9C"]) == "on_ace"


@pytest.mark.parametrize(
    ("match", "reasons"),
    [("rank_or_suit", ["rank", "suit", "suit", "rank", "", ""]), ("rank", ["rank", "", "", "rank", "", ""]),
     ("suit", ["", "suit", "suit", "suit", "", ""])],
)  # fmt: skip
def test_fit_by_match(match: str, reasons: list[str]) -> None:
    """On the nine of hearts. With ``suit`` a set of the top card's rank needs a card of its suit too."""
    at = table(pile="2S 9H", match=match, dupa="off")
    sets = ["9S 9C", "4H", "KS KH", "9S 9H", "4S", "KD KC"]
    assert [at.plain_reason(cards.split()) for cards in sets] == reasons


def test_a_lower_rank_may_fit() -> None:
    assert kinds(table(pile="9H", dupa="off"), "3H") == "plain"


def test_a_set_has_one_rank() -> None:
    with pytest.raises(ValueError, match="no set"):
        table().is_legal(["2S", "3S"])
    with pytest.raises(ValueError, match="no set"):
        table().is_legal([])


# --------------------------------------------------------------------------------------------------------------- dupas


def test_dupa_is_a_rank_that_is_not_in_the_pile_and_needs_no_fit() -> None:
    at = table(pile="9S 4C 9H")
    assert kinds(at, "5C") == "dupa"
    assert kinds(at, "5S 5C 5D") == "dupa"
    assert kinds(at, "4S") == "no"
    assert kinds(at, "4H") == "plain"


def test_automatic_a_fitting_set_of_a_new_rank_is_a_dupa() -> None:
    assert kinds(table(pile="9H"), "5H") == "dupa"
    assert kinds(table(pile="9H AS"), "5H") == "dupa"
    assert kinds(table(pile="9H AS"), "9C") == "plain"


def test_declared_both_are_possible() -> None:
    at = table(pile="9H", dupa="declared")
    assert [kinds(at, cards) for cards in ("5H", "5S", "5S 5H", "9C", "AS")] == [
        "both", "dupa", "both", "plain", "plain"
    ]  # fmt: skip
    assert kinds(table(pile="AS", dupa="declared"), "5H") == "both"


def test_off_there_are_no_dupas() -> None:
    at = table(pile="9H", dupa="off", opening="dupa")
    assert [kinds(at, cards) for cards in ("5H", "5S", "9C", "AS")] == ["plain", "no", "plain", "plain"]
    assert kinds(table(dupa="off", opening="dupa"), "5S") == "plain"


def test_aces_are_never_dupas() -> None:
    for opening, pile in itertools.product(("plain", "dupa"), ("", "9H")):
        assert kinds(table(pile=pile, opening=opening), "AS AD") == "plain"


@pytest.mark.parametrize(
    ("dupa", "opening", "kind"),
    [("automatic", "plain", "plain"), ("declared", "plain", "plain"), ("automatic", "dupa", "dupa"),
     ("declared", "dupa", "both")],
)  # fmt: skip
def test_opening(dupa: str, opening: str, kind: str) -> None:
    assert kinds(table(dupa=dupa, opening=opening), "7S 7D") == kind


def test_a_lead_is_one_set() -> None:
    at = table("2S 3S 4S", "2H", opening="dupa")
    with pytest.raises(ValueError, match="one set only"):
        at.check_move(0, dupas("2S", "3S"))
    assert ref.greedy(at, 0) == dupas("2S")
    at.take_turn(ref.greedy)
    assert (at.dupas, at.demand, at.pile) == (1, True, ["2S"])


def test_several_dupas_are_laid_in_ascending_rank_and_the_last_is_on_top() -> None:
    at = table("KD KS 3C TD TH 9C", "2H", pile="9H")
    at.take_turn(scripted(dupas("TD TH", "KD KS", "3C")))
    assert at.pile == "9H 3C TH TD KS KD".split()
    assert (at.dupas, at.demand, at.hands[0]) == (3, True, ["9C"])


def test_only_dupas_after_a_dupa() -> None:
    at = table("3C KS 9C AS 3D", "2H", pile="9H")
    for move in (dupas("3C", "9C"), dupas("3C", "AS"), plain("9C AS"), dupas("3C", "3D"), plain("3C")):
        with pytest.raises(ValueError, match="set|dupa"):
            at.check_move(0, move)
    with pytest.raises(ValueError, match="one set only"):
        at.check_move(0, Move((("9C",), ("AS",))))
    at.check_move(0, dupas("3C", "KS"))


def test_one_dupa_only_without_several() -> None:
    at = table("3C KS", "2H", pile="9H", several_dupas=False)
    with pytest.raises(ValueError, match="one set only"):
        at.check_move(0, dupas("3C", "KS"))
    at.check_move(0, dupas("KS"))


def test_only_cards_of_the_hand() -> None:
    with pytest.raises(ValueError, match="not in the hand"):
        table("9S", "2H", pile="9H").check_move(0, plain("9S 9S"))


# -------------------------------------------------------------------------------------------------------------- demand


def test_a_demand_asks_for_a_higher_rank_or_aces_and_no_fit() -> None:
    at = table(pile="JS TS 9H", demand=True, dupa="off")
    expected = {"9C": "", "8H": "", "TC": "beats", "JD JC": "beats", "AS": "aces", "TH": "beats", "2H": ""}
    assert {cards: at.plain_reason(cards.split()) for cards in expected} == expected


def test_a_demand_may_be_beaten_with_a_dupa() -> None:
    at = table(pile="JS 9H", demand=True)
    assert [kinds(at, cards) for cards in ("TC", "8C", "JC", "KH KS", "AS")] == ["dupa", "no", "plain", "dupa", "plain"]
    at = table(pile="JS 9H", demand=True, dupa="declared")
    assert [kinds(at, cards) for cards in ("TC", "8C", "8H", "JC", "AS")] == ["both", "no", "no", "plain", "plain"]


def test_each_of_several_dupas_must_beat_the_demand() -> None:
    at = table("TC QC 8D 5S", "2H", pile="JS 9H", demand=True)
    with pytest.raises(ValueError, match="8D may not be played as a dupa"):
        at.check_move(0, dupas("8D", "TC"))
    assert ref.greedy(at, 0) == dupas("TC", "QC")
    at.take_turn(scripted(dupas("QC", "TC")))
    assert at.pile[-2:] == ["TC", "QC"]
    assert at.demand


def test_beating_with_a_plain_set_meets_the_demand() -> None:
    for option in ("next_only", "until_met"):
        at = table("JC 2C", "2H 3H", pile="JS 9H", demand=True)
        at.rules["demand"] = option
        at.take_turn(scripted(plain("JC")))
        assert not at.demand
        assert kinds(at, "9C") == "plain"


@pytest.mark.parametrize(("option", "standing"), [("next_only", False), ("until_met", True)])
def test_whether_a_demand_outlives_the_next_turn(option: str, standing: bool) -> None:
    rules = ref.resolve({"players": 3, "demand": option})
    at = Table(rules, [["9C"], ["8H"], ["8D", "9S"]], pile=["JS", "9H"], stock=["2S", "2H"], demand=True)
    at.take_turn(never)
    assert at.hands[0] == ["9C", "2S"]
    assert at.demand == standing
    assert kinds(at, "8H") == ("no" if standing else "dupa")


def dupa_then(option: str, *policies: ref.Policy) -> Table:
    """A dupa of seat 0, then these turns."""
    rules = ref.resolve({"players": 3, "demand": option, "pass_when": "any"})
    at = Table(rules, [["TC", "2C"], ["KS", "8H"], ["QD", "9S"]], pile=["KH", "9H"], stock=["2S", "2H", "2D"])
    for policy in (scripted(dupas("TC")), *policies):
        at.take_turn(policy)
    return at


def test_a_voluntary_pass_lets_a_demand_lapse_or_not() -> None:
    assert dupa_then("next_only").demand
    assert not dupa_then("next_only", scripted(PASS)).demand
    assert dupa_then("until_met", scripted(PASS)).demand
    assert not dupa_then("until_met", scripted(plain("KS"))).demand
    beaten_by_a_dupa = dupa_then("until_met", scripted(PASS), scripted(dupas("QD")))
    assert beaten_by_a_dupa.demand
    assert beaten_by_a_dupa.pile[-1] == "QD"


# -------------------------------------------------------------------------------------------------------- laying order


@pytest.mark.parametrize(
    ("pile", "cards", "laid", "rules"),
    [
        ("", "7C 7S 7D 7H", "7S 7H 7D 7C", {}),
        ("", "7D 7S 7D 7H 7S", "7S 7S 7H 7D 7D", {}),
        ("7D 9H", "7C 7H 7S 7D", "7H 7S 7D 7C", {}),  # fits by suit alone: that suit first
        ("7D 9D", "7H 7S 7D 7D", "7D 7S 7H 7D", {}),  # exactly one card of it
        ("7D 9D", "7S 7S 7D 7D 7C", "7D 7S 7S 7D 7C", {}),
        ("7D 9H", "9C 9H 9S", "9S 9H 9C", {}),  # fits by rank too
        ("7D 9H", "9C 9H 9S", "9H 9S 9C", {"match": "suit"}),
        ("7D AH", "7C 7H 7S", "7S 7H 7C", {}),  # any set on an ace
        ("7D 9H", "AC AH AS", "AS AH AC", {}),
        ("9H", "7C 7H 7S", "7S 7H 7C", {}),  # a dupa
        ("9H", "7C 7H 7S", "7H 7S 7C", {"dupa": "off"}),
    ],
)
def test_laying_order(pile: str, cards: str, laid: str, rules: dict[str, object]) -> None:
    at = table(cards + " 2S", "2C", pile=pile, **rules)
    at.take_turn(scripted(Move((tuple(cards.split()),), at.is_dupa_legal(cards.split()))))
    assert at.pile == pile.split() + laid.split()
    assert at.hands[0] == ["2S"]


def test_laying_order_when_a_demand_is_beaten() -> None:
    at = table(pile="JS 9H", demand=True)
    assert at.laying_order(["JC", "JH", "JS"], dupa=False) == ["JS", "JH", "JC"]


def test_laying_order_when_both_kinds_are_possible() -> None:
    """As a plain set it is allowed by its suit alone, as a dupa it needs no fit."""
    at = table(pile="9H", dupa="declared")
    assert at.laying_order(["7C", "7H", "7S"], dupa=False) == ["7H", "7S", "7C"]
    assert at.laying_order(["7C", "7H", "7S"], dupa=True) == ["7S", "7H", "7C"]


# ------------------------------------------------------------------------------------------------- passing and drawing


def test_who_cannot_play_draws_one_card_and_passes() -> None:
    at = table("2C", "2H", pile="2S 9H", stock="9S 9D")
    at.take_turn(never)
    assert at.hands[0] == ["2C", "9S"]
    assert (at.draws, at.reshuffles, at.turns, at.turn, at.idle) == (1, 0, 1, 1, 0)


def test_who_can_play_must_not_pass() -> None:
    with pytest.raises(ValueError, match="must not pass"):
        table("9C", "2H", pile="9H").take_turn(scripted(PASS))
    at = table("9C", "2H", pile="9H", stock="3S", pass_when="any")
    at.take_turn(scripted(PASS))
    assert at.hands[0] == ["9C", "3S"]


def test_the_whole_pile_becomes_the_stock() -> None:
    """It ends a demand, and the next player leads to an empty pile."""
    at = table("2C", "2H", pile="2S 9S 9H", demand=True)
    at.rules["demand"] = "until_met"
    at.take_turn(never)
    assert (at.hands[0], at.stock, at.pile) == (["2C", "2S"], ["9S", "9H"], [])
    assert (at.draws, at.reshuffles, at.demand) == (1, 1, False)
    assert kinds(at, "2H") == "plain"


def test_a_pile_of_one_card_goes_too() -> None:
    at = table("2C", "2H", pile="9H", dupa="off")
    at.take_turn(never)
    assert (at.hands[0], at.stock, at.pile, at.reshuffles) == (["2C", "9H"], [], [], 1)


def test_keep_top() -> None:
    at = table("2C", "2H", pile="2S 9S 9H", keep_top=True, demand=True)
    at.rules["demand"] = "until_met"
    at.take_turn(never)
    assert (at.hands[0], at.stock, at.pile) == (["2C", "2S"], ["9S"], ["9H"])
    assert (at.draws, at.reshuffles, at.demand) == (1, 1, True)
    assert kinds(at, "2H") == "no"


def test_keep_top_with_a_pile_of_one_card() -> None:
    """There is nothing to draw, and no reshuffle is counted."""
    at = table("2C", "2H", pile="9S", keep_top=True, dupa="off")
    at.take_turn(never)
    assert (at.hands[0], at.stock, at.pile) == (["2C"], [], ["9S"])
    assert (at.draws, at.reshuffles, at.turns, at.idle) == (0, 0, 1, 1)


def test_nothing_to_draw_without_a_pile() -> None:
    at = table("2C", "2H", pass_when="any")
    at.take_turn(scripted(PASS))
    assert (at.draws, at.reshuffles, at.idle, at.hands[0]) == (0, 0, 1, ["2C"])


def test_a_reshuffle_of_all_but_the_top_forgets_ranks() -> None:
    """With ``keep_top`` the ranks that went into the stock are no longer in the pile."""
    at = table("2C", "9D 3H", pile="2S 3S 9H", keep_top=True)
    assert kinds(at, "3D") == "no"
    at.take_turn(never)
    assert kinds(at, "3D") == "dupa"


# ---------------------------------------------------------------------------------------------------------- play_drawn


def test_a_drawn_card_may_be_played_at_once() -> None:
    at = table("2C", "2H", pile="2S 9S 9H", stock="9C 3H", play_drawn=True)
    at.take_turn(ref.greedy)
    assert (at.pile[-1], at.hands[0], at.draws, at.turns, at.demand) == ("9C", ["2C"], 1, 1, False)


def test_a_drawn_card_may_be_a_dupa() -> None:
    at = table("2C", "2H", pile="2S 9S 9H", stock="5C 3H", play_drawn=True)
    at.take_turn(ref.greedy)
    assert (at.pile[-1], at.dupas, at.demand) == ("5C", 1, True)


def test_the_drawn_card_alone_is_played() -> None:
    at = table("KD 3C", "2H", pile="3S KS 9H", stock="KC", play_drawn=True, demand=True, pass_when="any")
    with pytest.raises(ValueError, match="only the drawn card"):
        at.take_turn(scripted(PASS, plain("KD KC")))
    at = table("KD 3C", "2H", pile="3S KS 9H", stock="KC", play_drawn=True, demand=True, pass_when="any")
    at.take_turn(scripted(PASS, plain("KC")))
    assert at.hands[0] == ["KD", "3C"]


def test_a_drawn_card_that_does_not_fit_stays() -> None:
    at = table("2C", "2H", pile="2S 9S 9H", stock="2D 3H", play_drawn=True)
    at.take_turn(never)
    assert at.hands[0] == ["2C", "2D"]


def test_a_drawn_card_after_a_reshuffle_that_emptied_the_pile() -> None:
    """The demand is lifted, so the drawn card leads."""
    at = table("2C", "2H", pile="2S 9S TH", demand=True, play_drawn=True)
    assert not at.can_play(0)
    at.take_turn(ref.greedy)
    assert (at.pile, at.hands[0], at.stock) == (["2S"], ["2C"], ["9S", "TH"])
    assert (at.draws, at.reshuffles, at.dupas, at.demand) == (1, 1, 0, False)


def test_a_drawn_card_that_leads_may_be_a_dupa_under_opening() -> None:
    at = table("2C", "2H", pile="2S 9S TH", demand=True, play_drawn=True, opening="dupa")
    at.take_turn(ref.greedy)
    assert (at.pile, at.dupas, at.demand) == (["2S"], 1, True)


def test_a_drawn_card_after_a_reshuffle_under_keep_top() -> None:
    """The demand stands: the drawn card must beat it, and may be a dupa once its rank has left the pile."""
    at = table("2C", "2H", pile="2S 9S TH", demand=True, play_drawn=True, keep_top=True)
    at.take_turn(never)
    assert (at.pile, at.hands[0]) == (["TH"], ["2C", "2S"])
    at = table("2C", "2H", pile="QS 9S TH", demand=True, play_drawn=True, keep_top=True)
    assert kinds(at, "QS") == "plain"
    at.take_turn(ref.greedy)
    assert (at.pile, at.dupas, at.demand) == (["TH", "QS"], 1, True)


def test_a_drawn_card_may_be_kept() -> None:
    at = table("2C", "2H", pile="2S 9H", stock="9C", play_drawn=True)
    at.take_turn(scripted(PASS))
    assert (at.hands[0], at.turn) == (["2C", "9C"], 1)


# -------------------------------------------------------------------------------------------------------- end and score


def test_first_empty_hand_wins() -> None:
    at = table("9C", "2H", pile="9H", max_turns=1)
    at.take_turn(ref.greedy)
    assert (at.end(), at.winner()) == ("hand_empty", 0)  # a win comes before the cap


def test_a_dupa_may_win() -> None:
    at = table("5C 6C", "2H", pile="9H")
    at.take_turn(ref.greedy)
    assert (at.end(), at.winner()) == ("hand_empty", 0)


def test_turn_cap() -> None:
    at = table("3C 9C", "2H", pile="9H", max_turns=1)
    at.take_turn(scripted(plain("9C")))
    assert (at.end(), at.winner()) == ("turn_cap", -1)


def test_stuck_when_all_pass_in_a_row_without_a_card_drawn() -> None:
    at = table("3C", "3D", "3H", pass_when="any", max_turns=3)
    ends = []
    for _ in range(3):
        at.take_turn(scripted(PASS))
        ends.append(at.end())
    assert ends == ["", "", "stuck"]  # stuck comes before the cap


def test_a_play_or_a_drawn_card_starts_the_count_again() -> None:
    at = table("3C 3S", "3D 4D", "3H 4H", pass_when="any")
    for move in (PASS, PASS, plain("3H"), PASS):  # the last draws the pile
        at.take_turn(scripted(move))
    assert (at.idle, at.hands[0], at.pile) == (0, ["3C", "3S", "3H"], [])
    for _ in range(3):
        assert at.end() == ""
        at.take_turn(scripted(PASS))
    assert at.end() == "stuck"


def test_the_stuck_match() -> None:
    row = ref.play(
        {"players": 2, "hand_size": 26, "pass_when": "any"}, [lambda *_: PASS] * 2, ref.GivenOrders([ref.pack(1)])
    )
    assert row == {
        "winner": -1, "end": "stuck", "turns": 2, "draws": 0, "reshuffles": 0, "dupas": 0, "left_0": 26, "left_1": 26,
        "points_0": 26, "points_1": 26, "win_share_0": 0.0, "win_share_1": 0.0,
    }  # fmt: skip


def test_one_round_the_empty_hand_wins_whatever_the_points() -> None:
    """Also when the winner's points are not the fewest."""
    row = ref.play(
        {"players": 3, "hand_size": 1, "winner_points": 5},
        ["greedy"] * 3,
        ref.GivenOrders([deck_of("2S 3S 4S")]),
    )
    assert row == {
        "winner": 0, "end": "hand_empty", "turns": 1, "draws": 0, "reshuffles": 0, "dupas": 0,
        "left_0": 0, "left_1": 1, "left_2": 1, "points_0": 5, "points_1": 1, "points_2": 1,
        "win_share_0": 1.0, "win_share_1": 0.0, "win_share_2": 0.0,
    }  # fmt: skip


def test_a_match_goes_to_the_fewest_points_even_without_an_empty_hand() -> None:
    """Seat 0 wins round 0 and seat 1 round 1, at five points each; seat 2 has a card left twice."""
    row = ref.play(
        {"players": 3, "hand_size": 1, "winner_points": 5, "rounds": 2},
        ["greedy"] * 3,
        ref.GivenOrders([deck_of("2S 3S 4S"), deck_of("2S 3S 4S")]),
    )
    assert [row[f"points_{seat}"] for seat in range(3)] == [6, 6, 2]
    assert [row[f"left_{seat}"] for seat in range(3)] == [1, 0, 1]
    assert (row["winner"], row["win_share_2"], row["turns"], row["end"]) == (2, 1.0, 2, "hand_empty")


def test_ties_share_a_match() -> None:
    row = ref.play(
        {"players": 3, "hand_size": 1, "winner_points": 0, "rounds": 2},
        ["greedy"] * 3,
        ref.GivenOrders([deck_of("2S 3S 4S"), deck_of("2S 3S 4S")]),
    )
    assert [row[f"points_{seat}"] for seat in range(3)] == [1, 1, 2]
    assert [row[f"win_share_{seat}"] for seat in range(3)] == [0.5, 0.5, 0.0]
    assert row["winner"] == -1


def test_a_match_without_a_won_round_has_no_winner() -> None:
    rules: dict[str, object] = {"players": 2, "hand_size": 3, "rounds": 2, "max_turns": 1}
    row = ref.play(rules, ["greedy"] * 2, ref.GivenOrders([deck_of("2S 3S 4S 5H 6H 7H")] * 2))
    assert [row["points_0"], row["points_1"]] == [5, 5]
    assert [row["winner"], row["win_share_0"], row["win_share_1"], row["end"]] == [-1, 0.0, 0.0, "turn_cap"]
    full = ref.resolve(rules)
    assert ref.share_win(full, [2, 9], [-1, -1]) == [0.0, 0.0]
    assert ref.share_win(full, [2, 9], [-1, 1]) == [1.0, 0.0]
    assert ref.share_win(full, [2, 9], [1, -1]) == [1.0, 0.0]


def test_the_cap_counts_each_round_for_itself() -> None:
    decks = [deck_of("2S 3S 4S")] * 3
    row = ref.play({"hand_size": 3, "players": 2, "rounds": 3, "max_turns": 1}, ["greedy"] * 2, ref.GivenOrders(decks))
    assert row["turns"] == 3


# -------------------------------------------------------------------------------------------------------------- greedy


@pytest.mark.parametrize(
    ("hand", "pile", "rules", "move"),
    [
        ("2S 5C 5D 9C", "9H 5H", {}, plain("5C 5D")),  # larger than the dupa 2S
        ("3S 2S 9C KD", "9H", {"dupa": "off"}, plain("9C")),
        ("3H 2H 9C KD", "9H", {"dupa": "off"}, plain("2H")),  # ties: the lowest rank
        ("AS AC 3H 3C", "9H", {"dupa": "off"}, plain("3H 3C")),  # aces last
        ("AS AC 3H KC", "9H", {"dupa": "off"}, plain("AS AC")),
        ("AS 4C 9S 9D KD", "9H", {}, plain("9S 9D")),
        ("AS 4C 4D 9C KD", "9H", {}, dupas("4D 4C", "KD")),  # every dupa set with it
        ("AS 4C 4D 9C KD", "9H", {"several_dupas": False}, dupas("4D 4C")),
        ("4C 4D 4H 9C KD", "9H 4S 9D", {}, plain("4H 4D 4C")),
        ("4H 9C 8S", "9H", {"dupa": "declared"}, dupas("4H", "8S")),  # declares whenever it may
        ("4H 9C 9D", "9H", {"dupa": "declared"}, plain("9D 9C")),
        ("4H 3S", "", {"dupa": "declared", "opening": "dupa"}, dupas("3S")),
        ("4H 3S", "", {}, plain("3S")),
        ("4C 9C", "4H 9H 5S", {}, PASS),
    ],
)
def test_greedy(hand: str, pile: str, rules: dict[str, object], move: Move) -> None:
    at = table(hand, "2S", pile=pile, **rules)
    chosen = ref.greedy(at, 0)
    assert ([sorted(cards) for cards in chosen.sets], chosen.dupa) == (
        [sorted(cards) for cards in move.sets],
        move.dupa,
    )
    at.check_move(0, chosen)


def test_greedy_under_a_demand() -> None:
    at = table("2S 2C TC KD KC 5S", "2S", pile="KS 9H", demand=True)
    assert ref.greedy(at, 0) == plain("KD KC")
    at = table("2S 2C TC KD 5S AC AD", "2S", pile="KS 9H", demand=True)
    assert ref.greedy(at, 0) == plain("AD AC")
    at = table("2S 2C TC KD 5S QS", "2S", pile="KS 9H", demand=True)
    assert ref.greedy(at, 0) == dupas("TC", "QS")  # the ten is the lowest; the king is no dupa


# -------------------------------------------------------------------------------------------------------------- random


def random_move(at: Table, *pairs: tuple[int, int], drawn: str | None = None) -> Move:
    """Return what ``random`` does with these numbers, all of which must be drawn."""
    numbers = Numbers(*pairs)
    move = ref.RandomPolicy(numbers)(at, 0, drawn)
    assert numbers.is_used_up()
    at.check_move(0, move, drawn)
    return move


def test_random_chooses_a_rank_then_a_subset() -> None:
    hand = "AS 9C 9S 3H 5D"
    at = table(hand, "2S", pile="5H 9H")
    assert random_move(at, (3, 0), (1, 0)) == dupas("3H")
    assert random_move(at, (3, 1), (3, 2)) == plain("9S 9C")
    assert random_move(at, (3, 1), (3, 1)) == plain("9C")  # the second bit
    assert random_move(at, (3, 1), (3, 0)) == plain("9S")
    assert random_move(at, (3, 2), (1, 0)) == plain("AS")


def test_random_draws_even_for_a_single_choice() -> None:
    assert random_move(table("3H", "2S", pile="3S 9H"), (1, 0), (1, 0)) == plain("3H")


def test_random_draws_nothing_without_a_playable_rank() -> None:
    assert random_move(table("3C", "2S", pile="3S 9H", pass_when="any")) == PASS


def test_random_draws_subsets_until_one_is_legal() -> None:
    at = table("3S 3H 3C", "2S", pile="3D 9H")
    assert random_move(at, (1, 0), (7, 0), (7, 4), (7, 3), (7, 5)) == plain("3H 3C")


def test_random_passing_is_the_last_choice() -> None:
    at = table("AS 9C", "2S", pile="9H", pass_when="any")
    assert random_move(at, (3, 2)) == PASS
    assert random_move(at, (3, 1), (1, 0)) == plain("AS")


def test_random_tosses_a_coin_where_both_kinds_are_legal() -> None:
    at = table("3H 3S", "2S", pile="9H", dupa="declared")
    assert random_move(at, (1, 0), (3, 1), (2, 1)) == dupas("3H")
    assert random_move(at, (1, 0), (3, 1), (2, 0)) == plain("3H")
    assert random_move(at, (1, 0), (3, 0)) == dupas("3S")  # as a dupa only
    lead = table("3H AS", "2S", dupa="declared", opening="dupa")
    assert random_move(lead, (2, 0), (1, 0), (2, 1)) == dupas("3H")
    assert random_move(lead, (2, 1), (1, 0)) == plain("AS")
    assert random_move(table("3H", "2S", opening="dupa"), (1, 0), (1, 0)) == dupas("3H")


def test_random_with_a_drawn_card() -> None:
    at = table("3H", "2S", pile="9H", play_drawn=True)
    assert random_move(at, drawn="3H") == dupas("3H")
    at = table("3H", "2S", pile="9H", play_drawn=True, dupa="declared")
    assert random_move(at, (2, 1), drawn="3H") == dupas("3H")
    at = table("3H", "2S", pile="9H", play_drawn=True, dupa="declared", pass_when="any")
    assert random_move(at, (2, 0), drawn="3H") == PASS
    assert random_move(at, (2, 1), (2, 0), drawn="3H") == plain("3H")


def test_random_uses_one_stream_for_each_seat() -> None:
    rules = {"players": 3, "rounds": 3, "dupa": "declared", "pass_when": "any"}
    streams = [rng.PolicyStream(5, 8, seat) for seat in range(3)]
    row = ref.play(rules, ["random"] * 3, ref.SeededOrders(5, 8))
    assert ref.play(rules, ["random"] * 3, ref.SeededOrders(5, 8), streams) == row
    assert ref.play(rules, ["random"] * 3, ref.SeededOrders(5, 9)) != row


# -------------------------------------------------------------------------------------------------------------- orders


def test_seeded_orders() -> None:
    orders = ref.SeededOrders(3, 4, decks=2)
    pile = "9H 2S KD 5C 7D".split()
    assert orders.deck(2) == rng.shuffled(3, 4, 0, 2, ref.pack(2))
    assert orders.reshuffled(pile, 0) == rng.shuffled(3, 4, 1, 0, pile)
    assert orders.reshuffled(pile, 0) == rng.shuffled(3, 4, 1, 128, pile)
    assert orders.reshuffled(pile, 1) == rng.shuffled(3, 4, 1, 1, pile)
    assert orders.reshuffled(pile, 0) == rng.shuffled(3, 4, 1, 256, pile)
    assert orders.reshuffled(pile, 1) == rng.shuffled(3, 4, 1, 129, pile)


def test_given_orders() -> None:
    pile = "9H 2S KD 5C 7D".split()
    assert ref.GivenOrders([], 3, 4).reshuffled(pile, 0) == rng.shuffled(3, 4, 1, 0, pile)
    assert ref.GivenOrders([], 3, 4, reverse=True).reshuffled(pile, 0) == pile


def test_a_given_deal_of_the_seeded_deck_is_the_same_game() -> None:
    for seed in range(20):
        rules = {"rounds": 2, "hand_size": 5, "several_dupas": False, "keep_top": seed % 2 == 0}
        seeded = ref.SeededOrders(seed, 1)
        given = ref.GivenOrders([seeded.deck(0), seeded.deck(1)], seed, 1)
        policies = ["greedy", "random"] * 2
        assert ref.play(rules, policies, seeded) == ref.play(rules, policies, given)


def test_a_reverse_reshuffle_in_a_game() -> None:
    """Rank only, no dupas: two hands without a match draw the stock, then the pile from its earliest card on."""
    deck = deck_of("2S 3S 4S 5S 6S 7S 8S")
    events: ref.Events = []
    row = ref.play(
        {"players": 2, "hand_size": 25, "match": "rank", "dupa": "off", "max_turns": 300},
        ["greedy"] * 2,
        ref.GivenOrders([deck], reverse=True),
        events=events,
    )
    laid: list[str] = []
    n_reshuffles = 0
    for kind, *rest in events:
        if kind == "plain":
            laid += [str(card) for card in rest[1:]]
        if kind == "reshuffle":
            assert rest == laid
            laid, n_reshuffles = [], n_reshuffles + 1
    assert n_reshuffles == row["reshuffles"] > 0


def test_a_whole_small_match_by_hand() -> None:
    """Two players, four cards each, dupas by the letter."""
    events: ref.Events = []
    deck = deck_of("4S 4H 9D KC 5S 9C AD 2H 4D 7S")
    row = ref.play({"players": 2, "hand_size": 4}, ["greedy"] * 2, ref.GivenOrders([deck], reverse=True), events=events)
    assert events[1:] == [
        ("plain", 0, "4S", "4H"),  # leads with the largest set
        ("dupa", 1, "2H"),  # lowest of three dupas and the ace
        ("dupa", 1, "5S"),
        ("dupa", 1, "9C"),
        ("dupa", 0, "KC"),  # beats the nine
        ("plain", 1, "AD"),  # beats the king, and the hand is empty
        ("end", 0, "hand_empty", 1, [1, 1]),
    ]
    assert row == {
        "winner": 1, "end": "hand_empty", "turns": 4, "draws": 0, "reshuffles": 0, "dupas": 4, "left_0": 1, "left_1": 0,
        "points_0": 1, "points_1": 1, "win_share_0": 0.0, "win_share_1": 1.0,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------ whole matches


def random_matches(n: int) -> Iterator[tuple[ref.Rules, list[str], int]]:
    """Yield random rule sets with policies and a seed."""
    rnd = random.Random(20260707)
    for seed in range(n):
        rules = ref.resolve(ref.random_options(rnd))
        rules["max_turns"] = min(rules["max_turns"], 150)
        yield rules, [rnd.choice(("greedy", "random")) for _ in range(rules["players"])], seed


class Watch:
    """Checks a policy's table before each of its choices."""

    def __init__(self, policy: ref.Policy, rules: ref.Rules) -> None:
        self._policy = policy
        self._rules = rules

    def __call__(self, table: Table, seat: int, drawn: str | None) -> Move:
        cards = table.pile + table.stock + [card for hand in table.hands for card in hand]
        assert sorted(cards) == sorted(ref.pack(self._rules["decks"]))
        assert seat == table.turn
        assert all(table.hands)
        if table.demand:
            assert table.pile[-1][0] != "A"
            assert self._rules["dupa"] != "off"
        for held in table.sets_held(seat) if drawn is None else ():
            legal = [
                size for size in range(1, len(held) + 1)
                if any(table.is_legal(some) for some in itertools.combinations(held, size))
            ]  # fmt: skip
            assert table.is_legal(held) == bool(legal)  # more cards of a rank never forbid it
        return self._policy(table, seat, drawn)


def test_invariants_of_random_rule_sets() -> None:
    for rules, names, seed in random_matches(60):
        policies: list[ref.Policy] = [
            Watch(ref.greedy if name == "greedy" else ref.RandomPolicy(rng.PolicyStream(seed, 1, seat)), rules)
            for seat, name in enumerate(names)
        ]
        events: ref.Events = []
        row = ref.play(rules, policies, ref.SeededOrders(seed, 1), events=events)
        assert row == ref.play(rules, names, ref.SeededOrders(seed, 1))
        assert list(row) == ref.columns(rules)
        seats = range(rules["players"])
        counts = {kind: sum(event[0] == kind for event in events) for kind in ("dupa", "draw", "reshuffle", "end")}
        assert counts == {
            "dupa": row["dupas"], "draw": row["draws"], "reshuffle": row["reshuffles"], "end": rules["rounds"]
        }  # fmt: skip
        assert row["turns"] <= rules["rounds"] * rules["max_turns"]
        shares = [row[f"win_share_{seat}"] for seat in seats]
        assert sum(float(share) for share in shares) == pytest.approx(0) or sum(map(float, shares)) == pytest.approx(1)
        assert (row["winner"] == -1) == (1.0 not in shares)
        assert row["end"] != "stuck" or rules["pass_when"] == "any"
        assert (row["end"] == "hand_empty") == any(row[f"left_{seat}"] == 0 for seat in seats)
        if rules["dupa"] == "off":
            assert row["dupas"] == 0
        if rules["rounds"] == 1 and row["end"] == "hand_empty":
            assert row[f"left_{row['winner']}"] == 0
            assert row[f"points_{row['winner']}"] == rules["winner_points"]


def test_direction_only_relabels_seats() -> None:
    """Greedy draws nothing: the same hands around the table the other way give the same game."""
    for seed in range(20):
        players = 2 + seed % 5
        rules = {"players": players, "hand_size": 6, "several_dupas": seed % 2 == 0, "play_drawn": seed % 3 == 0}
        deck = rng.shuffled(seed, 0, 0, 0, ref.pack(1))
        hands = [deck[6 * seat : 6 * seat + 6] for seat in range(players)]
        mirrored = [card for seat in range(players) for card in hands[-seat % players]] + deck[6 * players :]
        row = ref.play(rules, ["greedy"] * players, ref.GivenOrders([deck], 7, 7))
        other = ref.play({**rules, "direction": "counter"}, ["greedy"] * players, ref.GivenOrders([mirrored], 7, 7))
        assert [row[name] for name in ("end", "turns", "draws", "reshuffles", "dupas")] == [
            other[name] for name in ("end", "turns", "draws", "reshuffles", "dupas")
        ]
        assert [row[f"left_{seat}"] for seat in range(players)] == [
            other[f"left_{-seat % players}"] for seat in range(players)
        ]


def test_by_the_letter_the_second_seat_wins_most_games() -> None:
    """The rule book: 76 %."""
    n_won = sum(ref.play({}, ["greedy"] * 4, ref.SeededOrders(1, game))["winner"] == 1 for game in range(400))
    assert 0.68 < n_won / 400 < 0.84


@pytest.mark.parametrize("policies", [["greedy"] * 3, ["greedy"] * 3 + ["careless"], "greedy"])
def test_wrong_policies_are_refused(policies: Sequence[str]) -> None:
    with pytest.raises(ValueError, match="policy"):
        ref.play({}, policies, ref.SeededOrders(1, 1))
