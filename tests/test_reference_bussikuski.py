"""The plain-Python Bussikuski and its random scheme, against the document, hand-made deals and independent routes."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from tests.reference import bussikuski as ref
from tests.reference import streams as rng

# ------------------------------------------------------------------------------------------------------------- helpers

WORD = 2**64 - 1


def philox_block(counter: tuple[int, int, int, int], key: tuple[int, int]) -> list[int]:
    """Philox4x64-10 from its definition, without numpy."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0 = 0xD2E7470EE14C6C93 * c0
        p1 = 0xCA5A826395121157 * c2
        c0, c1, c2, c3 = (p1 >> 64) ^ c1 ^ k0, p1 & WORD, (p0 >> 64) ^ c3 ^ k1, p0 & WORD
        k0 = (k0 + 0x9E3779B97F4A7C15) & WORD
        k1 = (k1 + 0xBB67AE8584CAA73B) & WORD
    return [c0, c1, c2, c3]


def full_order(top: str) -> list[str]:
    """Return the 52 cards with the given ones on top, the others after them in the shuffle's start order."""
    cards = top.split()
    assert len(set(cards)) == len(cards)
    return cards + [card for card in rng.CARDS if card not in cards]


def table_of(
    hands: Sequence[str], pyramid: str = "", stock: str | None = None, points: Sequence[int] = ()
) -> ref.Table:
    """Return a table with these cards; the others lie in the stock or, if that is named, in the discards."""
    table = ref.Table(
        stock=(stock or "").split(),
        hands=[hand.split() for hand in hands],
        points=list(points) or [0] * len(hands),
        pyramid=pyramid.split(),
    )
    used = table.stock + table.pyramid + [card for hand in table.hands for card in hand]
    rest = [card for card in rng.CARDS if card not in used]
    if stock is None:
        table.stock = rest
    else:
        table.discards = rest
    table.check()
    return table


def scripted(answers: str) -> ref.Guesser:
    """Return a guesser that gives these answers one after another."""
    left = iter(answers.split())
    return lambda question, own: next(left)


def of_kind(events: ref.Events, kind: str) -> list[tuple[object, ...]]:
    """Return the events of a kind, without their name."""
    return [event[1:] for event in events if event[0] == kind]


def diamond(orders: Sequence[Sequence[str]], events: ref.Events | None = None, **rules: object) -> ref.Ride:
    """Ride a diamond on these bus orders."""
    return ref.ride_diamond(ref.resolve(rules), ref.ExplicitOrders([rng.CARDS, *orders]), events)


def guessing(
    bus: str,
    orders: Sequence[Sequence[str]],
    policy: str | ref.Guesser = "own",
    events: ref.Events | None = None,
    **rules: object,
) -> ref.Ride:
    """Ride the straight or the questions bus on these bus orders."""
    resolved = ref.resolve({"bus": bus, **rules})
    return ref.ride_guessing(resolved, ref.ExplicitOrders([rng.CARDS, *orders]), policy, None, events)


# ------------------------------------------------------------------------------------------------------- random scheme


def test_philox_matches_the_published_vectors() -> None:
    """Random123's known answers for philox4x64-10."""
    assert philox_block((0, 0, 0, 0), (0, 0)) == [
        0x16554D9ECA36314C,
        0xDB20FE9D672D0FDC,
        0xD7E772CEE186176B,
        0x7E68B68AEC7BA23B,
    ]
    assert philox_block((WORD, WORD, WORD, WORD), (WORD, WORD)) == [
        0x87B092C3013FE90B,
        0x438C3C67BE8D0224,
        0x9CC7D7C69CD777B6,
        0xA09CAEBF594F0BA0,
    ]


@pytest.mark.parametrize("seed", [0, 1, 20260707, WORD])
@pytest.mark.parametrize("game", [0, 1, 2**40 + 3, WORD])
@pytest.mark.parametrize(("kind", "number"), [(0, 0), (0, 1), (1, 2), (2, 19), (3, 7)])
def test_word_stream_is_philox_by_blocks(seed: int, game: int, kind: int, number: int) -> None:
    """Block b has the counter (b, game, purpose, 0) and the key (seed, 0)."""
    stream = rng.WordStream(seed, game, kind, number)
    blocks = [philox_block((b, game, kind * 2**32 + number, 0), (seed, 0)) for b in range(3)]
    assert [stream.next_word() for _ in range(12)] == list(itertools.chain(*blocks))


def words(*values: int) -> Callable[[], int]:
    """Return a source of these words, which fails when asked for more."""
    left = iter(values)
    return lambda: next(left)


@pytest.mark.parametrize(
    ("bits", "bounds"),
    [(8, [4, 3, 2]), (8, [7, 6, 5]), (8, [13, 12]), (10, [5, 4, 3, 2]), (10, [8, 7, 6]), (10, [1000]), (8, [1, 256])],
)
def test_batches_are_exactly_uniform(bits: int, bounds: list[int]) -> None:
    """Over every word, each tuple of numbers is accepted equally often, and as often as it can be."""
    n_tuples = 1
    for bound in bounds:
        n_tuples *= bound
    seen: Counter[tuple[int, ...]] = Counter()
    refused = 0
    for word in range(2**bits):
        try:
            seen[tuple(rng.draw_batch(bounds, words(word), bits))] += 1
        except StopIteration:
            refused += 1
    assert set(seen) == set(itertools.product(*(range(bound) for bound in bounds)))
    assert set(seen.values()) == {2**bits // n_tuples}
    assert refused == 2**bits % n_tuples


def test_refused_batch_is_made_again_from_the_next_word() -> None:
    """Word 0 is refused unless the product of the bounds divides 2^64."""
    assert rng.draw_batch([3], words(0, WORD)) == [2]
    assert rng.draw_batch([4, 2], words(0)) == [0, 0]


def test_shuffle_by_hand() -> None:
    """Seven words give the 51 draws; each exchanges its card with one not revealed yet."""
    drawn = []
    stream = rng.WordStream(5, 9, rng.KIND_DEAL, 0)
    for first in range(0, 51, 8):
        x = stream.next_word()
        for bound in [52 - i for i in range(first, min(first + 8, 51))]:
            drawn.append(bound * x // 2**64)
            x = bound * x % 2**64
    order = [rank + suit for rank in "23456789TJQKA" for suit in "SHDC"]
    for i, d in enumerate(drawn):
        order[i], order[i + d] = order[i + d], order[i]
    assert rng.shuffled(5, 9, rng.KIND_DEAL, 0) == order
    assert sorted(order) == sorted(rng.CARDS)


def test_policy_numbers_are_low_half_then_high_half() -> None:
    """Each word gives two 32-bit numbers, scaled by Lemire's method."""
    for number, stream in ((3, rng.PolicyStreams(11, 4).guess(3)), (18, rng.PolicyStreams(11, 4).give(2))):
        block = philox_block((0, 4, 2 * 2**32 + number, 0), (11, 0))
        halves = [half for word in block for half in (word % 2**32, word // 2**32)]
        assert stream.bounded(1) == 0  # uses a number all the same
        assert [stream.bounded(4) for _ in range(7)] == [half >> 30 for half in halves[1:]]


def test_policy_numbers_are_refused_as_lemire_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^32 mod 3 = 1: only a low product of 0 is refused."""
    stream = rng.PolicyStream(0, 0, 0)
    left = iter([0, 1, 2**32 - 1])
    monkeypatch.setattr(stream, "next_half", lambda: next(left))
    assert stream.bounded(3) == 0
    assert stream.bounded(3) == 2


def test_lazy_order_decides_on_the_first_look() -> None:
    """The k-th position looked at gets revealed card k, and keeps it."""
    order = ref.LazyOrder(iter(["AS", "KH", "2C"]))
    assert [order.card_at(position) for position in (9, 0, 9, 30)] == ["AS", "KH", "AS", "2C"]


def test_seeded_orders_use_their_streams() -> None:
    """Kind 0 deals, kind 1 refills the draw, kind 3 serves the bus later, each counted in the game."""
    orders = ref.SeededOrders(3, 8)
    kept = rng.CARDS[::3]
    assert orders.deal() == rng.shuffled(3, 8, 0, 0)
    assert [orders.bus().card_at(i) for i in range(5)] == rng.shuffled(3, 8, 0, 1)[:1] * 5
    for k in range(2):
        assert orders.draw_stock(kept) == [card for card in rng.shuffled(3, 8, 1, k) if card in kept]
    assert orders.bus_stock(kept) == [card for card in rng.shuffled(3, 8, 3, 0) if card in kept]
    fresh = orders.fresh_bus()
    assert [fresh.card_at(i) for i in range(52)] == rng.shuffled(3, 8, 3, 1)


def test_explicit_orders_ask_for_more() -> None:
    """Orders are used one after another; a missing one is an error of its own."""
    first, second = list(rng.CARDS), list(reversed(rng.CARDS))
    orders = ref.ExplicitOrders([first, first, second])
    assert orders.draw_stock(["2S", "AC", "7D"]) == ["AC", "7D", "2S"]
    with pytest.raises(ref.NeedsOrder):
        orders.bus_stock(first)
    with pytest.raises(ref.NeedsOrder):
        ref.ExplicitOrders([first]).bus()
    with pytest.raises(ValueError, match="order 1"):
        ref.ExplicitOrders([first, [*first[:51], "2S"]])


# -------------------------------------------------------------------------------------------------- the document's game

EXAMPLE_DEAL = full_order(
    "9D 2S 3H 4S  4C 6S 5C 6H  7H 8D TD 9S  QS KH AC JD"  # seat by seat, question by question
    "  7D QH TS AH  4D 6C 9C  QD 7S  TC"
)
EXAMPLE_BUS = full_order("5S 8H 2H KD 2D 2C 3S 3C 3D 4H 6D AS AD 7C AH 9H  TH 8S 5D")


def example_giver(giver: int, nth: int, points: list[int]) -> int:
    """Give as the document's players do; Aino's two gifts of one go to Niko, her two of two to Veera."""
    aino_before_row_two = points[1] < 3
    return {0: 1 if aino_before_row_two else 2, 1: 0, 2: 3, 3: 1}[giver]


def test_worked_example() -> None:
    """The document's whole round: 4, 12, 7, 2, and Oona wins."""
    guess = [
        scripted("red higher inside H"),  # right, wrong, right, wrong
        scripted("black higher outside K"),  # one wrong
        scripted("black lower outside S"),  # three wrong
        scripted("black higher outside D"),  # none wrong
    ]
    events: ref.Events = []
    row = ref.play({}, guess, [example_giver] * 4, ref.ExplicitOrders([EXAMPLE_DEAL, EXAMPLE_BUS]), events=events)
    assert row == {
        **{"wrong_0": 2, "wrong_1": 1, "wrong_2": 3, "wrong_3": 0},
        **{"right_q1": 3, "right_q2": 2, "right_q3": 4, "right_q4": 1},
        **{"left_0": 0, "left_1": 3, "left_2": 2, "left_3": 1},
        **{"driver": 1, "driver_by": "most_cards"},
        **{"bus_end": "success", "bus_attempts": 2, "bus_penalty": 3, "bus_turned": 10},
        **{"points_0": 4, "points_1": 12, "points_2": 7, "points_3": 2},
        **{"win_share_0": 0.0, "win_share_1": 0.0, "win_share_2": 0.0, "win_share_3": 1.0},
    }
    assert of_kind(events, "driver") == [(1, "most_cards", [4, 9, 7, 2])]
    assert of_kind(events, "refilled") == [(16, 33, 3)]
    turned = [card for _, card in of_kind(events, "turn")]
    assert turned == "5S 8H KD".split() + "TH 8S 5D 3S 6D 7C 9H".split()


def test_worked_example_phase_by_phase() -> None:
    """The phases on their own: the pyramid from given hands and points."""
    hands = ["9D 4C 7H QS", "2S 6S 8D KH", "3H 5C TD AC", "4S 6H 9S JD"]
    table = table_of(hands, points=[2, 1, 3, 0])
    pyramid = "7D QH TS AH 4D 6C 9C QD 7S TC".split()
    table.stock = pyramid + [card for card in table.stock if card not in pyramid]
    rules = ref.resolve({})
    ref.play_pyramid(table, rules, [example_giver] * 4)
    assert table.points == [4, 9, 7, 2]
    assert table.hands == [[], ["2S", "8D", "KH"], ["3H", "5C"], ["JD"]]
    assert len(table.discards) == 10
    assert ref.find_driver(table, rules, ref.ExplicitOrders([])) == (1, "most_cards")


def test_one_three_out() -> None:
    """Of 51 cards after one 3 is out, 44 are higher, 4 lower, 3 equal."""
    question = ref.Question("higher", ranks=(3,), equal="wrong")
    assert ref.n_fitting_unknown(question, "higher", ["3D"]) == 44
    assert ref.n_fitting_unknown(question, "lower", ["3D"]) == 4
    either = ref.Question("higher", ranks=(3,), equal="right")
    assert ref.n_fitting_unknown(either, "higher", ["3D"]) == 47
    assert ref.n_fitting_unknown(either, "lower", ["3D"]) == 7


# ----------------------------------------------------------------------------------------------------------- questions


@pytest.mark.parametrize("tie", ["wrong", "right", "free"])
@pytest.mark.parametrize("answer", ["higher", "lower"])
def test_guess_tie(tie: str, answer: str) -> None:
    """An equal rank has one result whatever was said."""
    question = ref.question_of(ref.resolve({"guess_tie": tie}), 2, ["AS"])
    assert ref.verdict(question, answer, "AD") == tie
    assert ref.verdict(question, answer, "2D") == ("right" if answer == "lower" else "wrong")


@pytest.mark.parametrize(
    ("boundary", "inside", "outside"),
    [
        ("inside", "right", "wrong"),
        ("outside", "wrong", "right"),
        ("wrong", "wrong", "wrong"),
        ("right", "right", "right"),
    ],
)
@pytest.mark.parametrize("first_two", [["9C", "4D"], ["4D", "9C"], ["9C", "9D"]])
def test_boundary(boundary: str, inside: str, outside: str, first_two: list[str]) -> None:
    """The ends belong where the option says, in either order and for an interval of one rank."""
    question = ref.question_of(ref.resolve({"boundary": boundary}), 3, first_two)
    assert ref.verdict(question, "inside", "9S") == inside
    assert ref.verdict(question, "outside", "9S") == outside
    assert ref.verdict(question, "outside", "TS") == "right"
    assert ref.verdict(question, "outside", "3S") == "right"
    assert ref.verdict(question, "inside", "AS") == "wrong"
    assert ref.verdict(question, "inside", "7S") == ("right" if "4D" in first_two else "wrong")


def test_fourth_question() -> None:
    """The exact suit; or whether it is among the three."""
    suit = ref.question_of(ref.resolve({}), 4, ["2S", "3S", "4H"])
    assert ref.verdict(suit, "H", "9H") == "right"
    assert ref.verdict(suit, "H", "9D") == "wrong"
    held = ref.question_of(ref.resolve({"fourth_question": "new_or_held"}), 4, ["2S", "3S", "4H"])
    results = [ref.verdict(held, "held", card) for card in ("9S", "9H", "9D", "9C")]
    assert results == ["right", "right", "wrong", "wrong"]
    assert [ref.verdict(held, "new", card) for card in ("9S", "9D")] == ["wrong", "right"]


def test_own_and_counting_guesses() -> None:
    """Counting looks at the whole table, own only at the guesser's cards; ties go to the first answer."""
    colour = ref.Question("colour")
    assert ref.choose_answer("own", colour, [], [["2H"]], None) == "red"
    assert ref.choose_answer("counting", colour, [], [["2H"]], None) == "black"
    eight = ref.Question("higher", ranks=(8,), equal="wrong")
    assert ref.choose_answer("own", eight, ["8S"], [["8S"]], None) == "higher"
    assert ref.choose_answer("counting", eight, ["8S"], [["8S", "9S"]], None) == "lower"
    suit = ref.Question("suit")
    assert ref.choose_answer("own", suit, ["2S", "3S", "4H"], [[]], None) == "D"
    assert ref.choose_answer("counting", suit, ["2S"], [["2S", "4H", "5D"]], None) == "C"
    held = ref.Question("new_or_held", suits="SH")
    assert ref.choose_answer("own", held, ["2S", "3S", "4H"], [[]], None) == "new"  # 23 held, 26 new
    assert ref.choose_answer("counting", held, [], [["2S", "3S", "4H", "2D", "3D", "4D"]], None) == "held"  # 23 each


def test_random_guess_order_of_answers() -> None:
    """A random guess is one bounded draw among the answers in their stated order."""
    for kind, answers in ref.ANSWERS.items():
        stream, same = rng.PolicyStreams(1, 2).guess(0), rng.PolicyStreams(1, 2).guess(0)
        question = ref.Question(kind)
        chosen = [ref.choose_answer("random", question, [], [], stream) for _ in range(20)]
        assert chosen == [answers[same.bounded(len(answers))] for _ in range(20)]
    assert list(ref.ANSWERS.values()) == [
        ("red", "black"),
        ("higher", "lower"),
        ("inside", "outside"),
        ("S", "H", "D", "C"),
        ("held", "new"),
    ]


def test_free_tie_counts_neither_way() -> None:
    """No point, no gift, neither wrong nor right."""
    deck = full_order("7H 2S 7S 2H KS KC AS AC")  # both seats tie on question 2
    for tie, wrong, points in (("wrong", 1, [2, 2]), ("free", 0, [0, 0]), ("right", 0, [2, 2])):
        rules = ref.resolve({"players": 2, "guess_tie": tie, "guess_stake": "by_round", "right_gives": True})
        guess = [scripted("red higher outside S"), scripted("black higher outside C")]
        table = ref.new_table(deck, 2)
        result = ref.play_questions(table, rules, guess, ["neighbour", "neighbour"])
        assert result == ([wrong, wrong], [2, 2 if tie == "right" else 0, 2, 2])
        assert table.points == [8 + points[0], 8 + points[1]]


def test_right_gives_before_the_next_seat() -> None:
    """A gift moves the points at once, so the next giver's leader has changed."""
    deck = full_order("2H 3S 4S")
    rules = ref.resolve({"players": 3, "right_gives": True})
    events: ref.Events = []
    guess = [scripted(f"{colour} higher inside S") for colour in ("red", "black", "black")]
    ref.play_questions(ref.new_table(deck, 3), rules, guess, ["leader"] * 3, events=events)
    # 0 gives to 1 (0 and 2 have none); 1 gives to 2; 2 gives to 0
    assert of_kind(events, "gift")[:3] == [(0, [1]), (1, [2]), (2, [0])]


def test_by_round_stakes() -> None:
    """The four questions cost 1, 2, 3 and 4."""
    deck = full_order("2S 2C 9S 9C AS AC 4S 4C")
    rules = ref.resolve({"players": 2, "guess_stake": "by_round"})
    table = ref.new_table(deck, 2)
    guess = [scripted("red lower inside H"), scripted("black lower outside C")]
    assert ref.play_questions(table, rules, guess, ["leader"] * 2) == ([4, 1], [1, 0, 1, 1])
    assert table.points == [10, 2]


# ------------------------------------------------------------------------------------------------------ giving, pyramid


@pytest.mark.parametrize(
    ("policy", "points", "recipients"),
    [
        ("leader", [0, 5, 3, 5], [2, 2, 1, 2, 3, 1]),
        ("leader", [0, 0, 0, 0], [2, 3, 0, 2, 3, 0]),
        ("neighbour", [0, 9, 0, 0], [2, 2, 2, 2, 2, 2]),
        ("spread", [0, 9, 0, 9], [2, 3, 0, 2, 3, 0]),
    ],
)
def test_givers(policy: str, points: list[int], recipients: list[int]) -> None:
    """Seat 1 gives six points; for the leader's first case seat 0 does."""
    giver = 0 if points == [0, 5, 3, 5] else 1
    before = list(points)
    assert ref.give_points(policy, giver, 6, points, None) == recipients
    assert [points[seat] - before[seat] for seat in range(4)] == [recipients.count(seat) for seat in range(4)]


def test_random_giver() -> None:
    """Each point is one bounded draw, counted from the seat after the giver; two players draw too."""
    stream, same = rng.PolicyStreams(6, 1).give(2), rng.PolicyStreams(6, 1).give(2)
    assert ref.give_points("random", 2, 9, [0] * 4, stream) == [(3 + same.bounded(3)) % 4 for _ in range(9)]
    assert ref.give_points("random", 1, 3, [0] * 2, stream) == [0] * 3
    for _ in range(3):
        same.bounded(1)
    assert stream.bounded(1000) == same.bounded(1000)


@pytest.mark.parametrize(("matches", "hand", "points"), [("all", ["2C"], 6), ("one", ["7D", "2C", "7C"], 3)])
def test_matches(matches: str, hand: list[str], points: int) -> None:
    """All sevens on a row of value 3, or only the earliest received."""
    table = table_of(["7H 7D 2C 7C" if matches == "one" else "7H 7D 2C", "3S"])
    pyramid = "8S 8H 8D 8C 9S 9H 9D 7S KH KC".split()
    table.stock = pyramid + [card for card in table.stock if card not in pyramid]
    ref.play_pyramid(table, ref.resolve({"players": 2, "matches": matches}), ["neighbour"] * 2)
    assert table.hands[0] == hand
    assert table.points == [0, points]


def test_pyramid_seats_in_order_and_row_values() -> None:
    """With six rows the top is worth 6; both seats match the same card, the first seat gives first."""
    table = table_of(["AH", "AD"])
    pyramid = [*[card for card in table.stock if card[0] != "A"][:20], "AS"]
    table.stock = pyramid + [card for card in table.stock if card not in pyramid]
    events: ref.Events = []
    ref.play_pyramid(table, ref.resolve({"players": 2, "pyramid_rows": 6}), ["neighbour"] * 2, events=events)
    assert [value for value, _ in of_kind(events, "pyramid")] == [1] * 6 + [2] * 5 + [3] * 4 + [4] * 3 + [5] * 2 + [6]
    assert of_kind(events, "gift") == [(0, [1] * 6), (1, [0] * 6)]


# -------------------------------------------------------------------------------------------------------------- driver


def test_driver_nobody() -> None:
    """Nobody has a card left."""
    assert ref.find_driver(table_of(["", ""]), ref.resolve({"players": 2}), ref.ExplicitOrders([])) == (-1, "nobody")


@pytest.mark.parametrize(
    ("driver_tie", "expected"),
    [
        ("lowest_card", (1, "tie_break")),  # the document's Niko: 3 and king
        ("highest_card", (1, "tie_break")),
        ("most_points", (2, "tie_break")),
        ("draw", (2, "draw")),
    ],
)
def test_driver_tie(driver_tie: str, expected: tuple[int, str]) -> None:
    """Only the tied are compared: seat 0 has one card, a two, and the most points."""
    table = table_of(["2S", "KS 3S", "5S 6S"], stock="TD 9D", points=[9, 1, 2])
    rules = ref.resolve({"players": 3, "driver_tie": driver_tie})
    assert ref.find_driver(table, rules, ref.ExplicitOrders([])) == expected


def test_driver_ace_is_high() -> None:
    """An ace is not the lowest card, but the highest."""
    table = table_of(["AS KS", "QS QH"])
    rules = ref.resolve({"players": 2})
    assert ref.find_driver(table, rules, ref.ExplicitOrders([])) == (1, "tie_break")
    rules = ref.resolve({"players": 2, "driver_tie": "highest_card"})
    assert ref.find_driver(table, rules, ref.ExplicitOrders([])) == (0, "tie_break")


def test_draw_only_among_those_still_tied() -> None:
    """Seat 1 is out by its lowest card, seat 3 by the first draw; the ace drawn is high."""
    table = table_of(["2S", "4S", "2H", "2D"], stock="5S 5H AS 6S 7S")
    events: ref.Events = []
    found = ref.find_driver(table, ref.resolve({}), ref.ExplicitOrders([]), events)
    assert found == (0, "draw")
    assert of_kind(events, "draw") == [(0, "5S"), (2, "5H"), (3, "AS"), (0, "6S"), (2, "7S")]


def test_draw_reshuffles_in_the_middle_of_a_round() -> None:
    """The new stock is what is in no hand and was not drawn in this round; earlier draws are in it again."""
    table = table_of(["2S", "2H", "2D"], pyramid="KS KH KD KC QS QH QD QC JS JH", stock="5S 5H 5D 6S")
    further = full_order("2S 2H 2D 6S 5D 6H KS 7C")
    events: ref.Events = []
    rules = ref.resolve({"players": 3})
    found = ref.find_driver(table, rules, ref.ExplicitOrders([rng.CARDS, rng.CARDS, further]), events)
    # round 1: three fives; round 2: 6S, then the stock is out
    draws = [(0, "5S"), (1, "5H"), (2, "5D"), (0, "6S"), (1, "5D"), (2, "6H")]
    assert of_kind(events, "draw") == draws
    assert found == (1, "draw")
    assert of_kind(events, "draw_reshuffle") == [([c for c in further if c not in ("2S", "2H", "2D", "6S")],)]
    table.check()


def test_draw_needs_an_order() -> None:
    """A game that needs one order more says so; the bus deck is not taken for it."""
    table = table_of(["2S", "2H"], stock="5S")
    with pytest.raises(ref.NeedsOrder):
        ref.find_driver(table, ref.resolve({"players": 2}), ref.ExplicitOrders([rng.CARDS, rng.CARDS]))


def test_several_draw_reshuffles_take_orders_one_after_another() -> None:
    """All four draw the same rank until an order separates them; the bus's reshuffle takes the order after those."""
    table = table_of(["2S", "2H", "2D", "2C"], stock="3S 3H 3D 3C")
    tie_all = full_order(" ".join(f"{rank}{suit}" for rank in "3456789TJQKA" for suit in "SHDC"))
    split = full_order("9S 8S 7S 6S")
    orders = ref.ExplicitOrders([rng.CARDS, rng.CARDS, tie_all, split])
    assert ref.find_driver(table, ref.resolve({}), orders) == (3, "draw")
    with pytest.raises(ref.NeedsOrder):
        orders.bus_stock(rng.CARDS)


# ------------------------------------------------------------------------------------------------------------- diamond


def test_diamond_without_and_with_only_blockers() -> None:
    """No blocker: the first attempt gets through. All thirteen: row 1 fails until the 36 cards are gone."""
    assert diamond([rng.CARDS], blockers="") == ref.Ride("success", 1, 0, 7)
    assert diamond([rng.CARDS], blockers="23456789TJQKA") == ref.Ride("stock_out", 37, 37, 37)
    assert diamond([rng.CARDS], blockers="K3A2Q4J56789T", bus_stake="flat") == ref.Ride("stock_out", 37, 37, 37)


def test_diamond_stock_out_by_the_document() -> None:
    """A failure in row 4 with two cards in the stock: four points stand, the ride ends."""
    rows = (1, 1, 2, 2)  # the leftmost places are 0, 1, 2 and 4 of the deck
    numbers = [card for card in rng.CARDS if card[0] not in "JQKA"]
    blockers = [card for card in rng.CARDS if card[0] in "JQKA"]
    order = [*numbers[:3], blockers[0], blockers[1], blockers[2]]
    for k in range(1, 12):  # eleven refills of 4 from a stock of 46
        order += [*numbers[3 * k : 3 * k + 3], blockers[k + 2]]
    order += blockers[14:]
    events: ref.Events = []
    ride = diamond([order], events, diamond_rows=rows)
    assert [len(of_kind(events, "refilled")), of_kind(events, "refilled")[-1]] == [11, (6, 2, 44)]
    assert ride == ref.Ride("stock_out", 12, 24, 48)
    assert diamond([order], diamond_rows=rows, bus_stake="flat").penalty == 12


def test_diamond_refill_of_exactly_the_last_cards() -> None:
    """A stock that holds just enough refills; unturned cards stay."""
    rows = (1, 8, 8, 8, 8, 8, 8, 1)  # 50 slots: 2 in the stock
    order = ["KS", "QS", *[card for card in rng.CARDS if card not in ("KS", "QS", "3S", "2S")], "3S", "2S"]
    events: ref.Events = []
    ride = diamond([order], events, diamond_rows=rows, blockers="KQ")
    assert of_kind(events, "turn")[:3] == [(0, "KS"), (0, "3S"), (1, "QS")]
    assert of_kind(events, "refilled") == [(50, 1, 1)]
    assert ride == ref.Ride("stock_out", 2, 1 + 8, 3)


def test_diamond_refills_in_row_order() -> None:
    """The next stock card goes to the first row."""
    order = full_order("2S 3S KS 9S 4S 5S 6S")
    events: ref.Events = []
    ride = diamond([order], events, diamond_rows=(1, 1, 1, 1))
    assert [card for _, card in of_kind(events, "turn")] == "2S 3S KS 4S 5S 6S 9S".split()
    assert ride == ref.Ride("success", 2, 1, 7)


def test_attempt_cap_comes_before_the_refill() -> None:
    """The last attempt's failure ends the ride even where the stock could not refill, or an order would be missing."""
    order = full_order("KS")
    rows = (1, 8, 8, 8, 8, 8, 8, 3)
    assert diamond([order], diamond_rows=rows, max_attempts=1) == ref.Ride("attempt_cap", 1, 1, 1)
    assert diamond([order], diamond_rows=rows, max_attempts=2) == ref.Ride("stock_out", 1, 1, 1)
    assert diamond([order], diamond_rows=rows, max_attempts=1, stock_out="reshuffle").end == "attempt_cap"
    assert diamond([order], max_attempts=1, bus_deck="fresh").end == "attempt_cap"
    with pytest.raises(ref.NeedsOrder):
        diamond([order], bus_deck="fresh")


def test_diamond_reshuffle() -> None:
    """All 52 lie in the bus: the turned cards come back in the further order's sequence."""
    rows = (8, 8, 8, 8, 8, 8, 4)
    order = ["2S", *"3C 4C 5C 6C 7C 8C 9C".split(), "KS"]
    order += [card for card in rng.CARDS if card not in order]
    further = full_order("AH 9C KS 3C 2S")  # only KS and 2S are not lying
    events: ref.Events = []
    rules = {"diamond_rows": rows, "stock_out": "reshuffle", "blockers": "K", "max_turns": 3}
    ride = diamond([order, further, further], events, **rules)
    # after the first reshuffle KS lies in row 1, 2S in row 2; then KS alone can only go back to row 1, for ever
    assert of_kind(events, "bus_reshuffle") == [(["KS", "2S"],), (["KS"],)]
    assert of_kind(events, "turn") == [(0, "2S"), (1, "KS"), (0, "KS"), (0, "KS")]
    assert ride == ref.Ride("turn_cap", 3, 24, 4)


def test_diamond_reshuffle_can_go_on_to_the_turn_cap() -> None:
    """One place and one card for it: max_turns ends the ride; max_attempts, if set, comes instead of it."""
    rows = (1, 8, 8, 8, 8, 8, 8, 3)
    order = full_order("KS")
    decks = [order] * 4
    rules: dict[str, object] = {"diamond_rows": rows, "stock_out": "reshuffle"}
    assert diamond(decks, None, max_turns=4, **rules) == ref.Ride("turn_cap", 4, 4, 4)
    assert diamond(decks, None, max_turns=2, max_attempts=3, **rules) == ref.Ride("attempt_cap", 3, 3, 3)
    assert diamond([order], max_turns=1, diamond_rows=rows).end == "stock_out"  # bounded by the stock: not read
    with pytest.raises(ref.NeedsOrder):
        diamond(decks, None, max_turns=5, **rules)


def test_diamond_fresh() -> None:
    """Each attempt lays a whole new deck; the second attempt takes the next order."""
    events: ref.Events = []
    first, second = full_order("2S KS"), full_order("KS")
    third = full_order("9S 8S 8C 7S 7H 7D 6S 6H 6D 6C 5S 5H 5D 4S 4H 3S")
    ride = diamond([first, second, third], events, bus_deck="fresh", stock_out="reshuffle")
    assert ride == ref.Ride("success", 3, 2 + 1, 2 + 1 + 7)
    assert [card for _, card in of_kind(events, "turn")][3:] == "9S 8S 7S 6S 5S 4S 3S".split()


def test_seeded_diamond_reveals_in_order_of_looking() -> None:
    """Until a reshuffle the cards turned are simply the revealed ones; then the face-down places take the next."""
    rows = (1, 2, 3, 4, 3, 2, 1)
    for game in range(40):
        events: ref.Events = []
        rules = ref.resolve({"stock_out": "reshuffle", "blockers": "JQKA9876", "diamond_rows": rows})
        ref.ride_diamond(rules, ref.SeededOrders(77, game), events)
        names = [event[0] for event in events]
        if "bus_reshuffle" not in names:
            continue
        at = names.index("bus_reshuffle")
        revealed = rng.shuffled(77, game, 0, 1)
        turned = [event[2] for event in events[:at] if event[0] == "turn"]
        assert turned == revealed[: len(turned)]
        failed_rows = of_kind(events[:at], "blocked")[-1][0]
        assert isinstance(failed_rows, int)
        n_face_down = 16 - (failed_rows + 1)
        lying = revealed[len(turned) : len(turned) + n_face_down]
        assert events[at][1] == [card for card in rng.shuffled(77, game, 3, 0) if card not in lying]
        break
    else:
        pytest.fail("no game reshuffled")


# -------------------------------------------------------------------------------------------- straight, questions buses


def test_straight_success_and_stakes() -> None:
    """A wrong guess costs its number and starts again with a new base card."""
    order = full_order("2S 5S 4H  3S 9S 2H")
    events: ref.Events = []
    ride = guessing("straight", [order], scripted("higher higher higher lower"), events, straight_length=2)
    assert ride == ref.Ride("success", 2, 2, 6)
    assert of_kind(events, "base") == [("2S",), ("3S",)]
    flat = guessing("straight", [order], scripted("higher higher higher lower"), straight_length=2, bus_stake="flat")
    assert flat.penalty == 1


@pytest.mark.parametrize(("tie", "end", "penalty"), [("wrong", "attempt_cap", 1), ("right", "success", 0)])
def test_bus_tie(tie: str, end: str, penalty: int) -> None:
    """An equal rank on the straight bus; guess_tie says nothing there."""
    ride = guessing(
        "straight",
        [full_order("8S 8H")],
        straight_length=1,
        bus_tie=tie,
        guess_tie="right" if tie == "wrong" else "wrong",
        max_attempts=1,
    )
    assert ride == ref.Ride(end, 1, penalty, 2)


def test_straight_stock_out() -> None:
    """52 cards, 3 an attempt when the second guess fails: 17 failures, and the last base card is cut off at no cost."""
    order: list[str] = []
    left = sorted(rng.CARDS, key=lambda card: ref.RANK[card])
    low, middle, high = left[:17], left[17:34], left[34:51]
    for triple in zip(low, high, middle, strict=True):
        order += triple
    order += left[51:]
    answers = scripted("higher higher " * 17 + "higher")
    ride = guessing("straight", [order], answers)
    assert ride == ref.Ride("stock_out", 18, 17 * 2, 52)
    # nothing left for the base card: the attempt does not count
    assert guessing("straight", [order], scripted("higher higher " * 17), max_attempts=17).end == "attempt_cap"
    two = guessing("straight", [full_order("")], scripted("lower " * 26), straight_length=1)
    assert two == ref.Ride("stock_out", 26, 26, 52)


def test_straight_reshuffle_keeps_the_running_attempt_out() -> None:
    """The 18th attempt's base card stays; what counting knows after the reshuffle is that card and the new turns."""
    order: list[str] = []
    left = sorted(rng.CARDS, key=lambda card: ref.RANK[card])
    for triple in zip(left[:17], left[34:51], left[17:34], strict=True):
        order += triple
    base = left[51]
    order.append(base)
    further = full_order(f"{base} 9S 3S 5S")
    seen: list[list[str]] = []

    def watch(question: ref.Question, own: list[str]) -> str:
        seen.append(list(own))
        return "lower" if len(seen) in (35, 36) else "higher"

    events: ref.Events = []
    ride = guessing("straight", [order, further], watch, events, straight_length=3, stock_out="reshuffle")
    assert ride == ref.Ride("success", 18, 34, 55)
    assert of_kind(events, "bus_reshuffle") == [([card for card in further if card != base],)]
    assert seen[34:] == [[base], [base, "9S"], [base, "9S", "3S"]]


def test_the_guess_comes_before_the_reshuffle() -> None:
    """With no card in the stock every card is known: a counter's answers tie, and the first is taken."""
    for policy, answer in (("counting", "higher"), ("own", "lower")):
        events: ref.Events = []
        rules = ref.resolve({"bus": "straight", "straight_length": 1, "stock_out": "reshuffle"})
        bus = ref.GuessingBus(rules, ref.ExplicitOrders([rng.CARDS] * 3), events)
        bus.stock, bus.discards = bus.stock[51:], bus.stock[:51]  # only the AC is left, it becomes the base card
        ref.try_straight(bus, policy, None)
        assert [event[0] for event in events] == ["base", "bus_reshuffle", "bus_guess"]
        assert of_kind(events, "bus_guess")[0][:3] == (1, answer, "2S")


def test_counting_on_the_straight_bus() -> None:
    """Counting remembers failed attempts until the next shuffle, own only the running attempt."""
    # attempt 1: KS KH fails (tie); then the base is 8: 6 ranks above, 6 below; two kings are known
    order = full_order("KS KH 8S")
    for policy, answer in (("own", "higher"), ("counting", "lower")):
        events: ref.Events = []
        guessing("straight", [order], policy, events, straight_length=1, max_attempts=2)
        assert of_kind(events, "bus_guess")[1][1] == answer
    events = []
    guessing("straight", [order, full_order("8S")], "counting", events, bus_deck="fresh", max_attempts=2)
    assert of_kind(events, "bus_guess")[1][1] == "higher"


def test_fresh_straight_takes_a_new_order_each_attempt() -> None:
    """Nothing of the old deck is left."""
    ride = guessing(
        "straight", [full_order("2S 2H"), full_order("2S 2D"), full_order("2S 3S")], straight_length=1, bus_deck="fresh"
    )
    assert ride == ref.Ride("success", 3, 2, 6)


def test_questions_bus() -> None:
    """Four right answers in a row; a failure costs its number; a free tie is a failure."""
    order = full_order("2S  2H 2D  9H JH TH 3C")
    answers = "red red higher red higher inside C"
    ride = guessing("questions", [order], scripted(answers), guess_tie="free")
    assert ride == ref.Ride("success", 3, 1 + 2, 7)
    ride = guessing("questions", [order], scripted(answers), guess_tie="free", bus_stake="flat")
    assert ride.penalty == 2
    tied = full_order("2H 2D 2C 2S")
    ride = guessing("questions", [tied], scripted("red lower inside S"), guess_tie="right")
    assert ride == ref.Ride("success", 1, 0, 4)
    ride = guessing(
        "questions", [tied], scripted("red lower inside"), boundary="wrong", guess_tie="right", max_attempts=1
    )
    assert ride == ref.Ride("attempt_cap", 1, 3, 3)


def test_questions_bus_new_or_held() -> None:
    """The suits that count are those of the running attempt."""
    order = full_order("2S  9H TH 9D 3S")
    ride = guessing("questions", [order], scripted("red red higher inside new"), fourth_question="new_or_held")
    assert ride == ref.Ride("success", 2, 1, 5)


def test_questions_bus_stock_out_between_and_within_attempts() -> None:
    """52 failures on question 1 use the whole stock; the 53rd attempt never begins."""
    order = [card for card in rng.CARDS if card[1] in "SC"] + [card for card in rng.CARDS if card[1] in "HD"]
    answers = "red " * 26 + "black " * 26 + "red"
    assert guessing("questions", [order], scripted(answers)) == ref.Ride("stock_out", 52, 52, 52)
    assert guessing("questions", [order], scripted(answers), max_attempts=52).end == "attempt_cap"
    cut = "red " * 26 + "black " * 25 + "red higher"
    assert guessing("questions", [order], scripted(cut)) == ref.Ride("stock_out", 52, 51, 52)


# ---------------------------------------------------------------------------------------------------------- whole game


def test_bus_none() -> None:
    """The driver is found as ever; there is no ride, and no bus deck is needed."""
    orders = ref.ExplicitOrders([EXAMPLE_DEAL])
    row = ref.play({"bus": "none"}, ["own"] * 4, [example_giver] * 4, orders)
    assert [row[name] for name in ("driver", "driver_by", "bus_end")] == [1, "most_cards", "no_bus"]
    assert [row[name] for name in ("bus_attempts", "bus_penalty", "bus_turned")] == [0, 0, 0]
    with pytest.raises(ref.NeedsOrder):
        ref.play({}, ["own"] * 4, ["leader"] * 4, ref.ExplicitOrders([EXAMPLE_DEAL]))


def test_ties_share_the_win() -> None:
    """Each of k winners has 1/k."""
    assert ref.share_win([3, 1, 1, 2]) == [0.0, 0.5, 0.5, 0.0]
    assert ref.share_win([0, 0, 0]) == [1 / 3] * 3


def test_wrong_calls_are_refused() -> None:
    """Unknown options, values, policies; too many cards; random without random numbers."""
    for rules in (
        {"stake": 1},
        {"bus": "circle"},
        {"players": 8, "pyramid_rows": 6},
        {"players": 9},
        {"diamond_rows": (9,)},
        {"straight_length": 0},
    ):
        with pytest.raises(ValueError, match=r"unknown|one of|52|2-8|diamond_rows|straight_length"):
            ref.resolve(rules)
    orders = ref.ExplicitOrders([EXAMPLE_DEAL, EXAMPLE_BUS])
    with pytest.raises(ValueError, match="seat"):
        ref.play({}, ["own"] * 3, ["leader"] * 4, orders)
    with pytest.raises(ValueError, match="unknown policy"):
        ref.play({}, ["best"] * 4, ["leader"] * 4, orders)
    with pytest.raises(ValueError, match="streams"):
        ref.play({}, ["random"] * 4, ["leader"] * 4, orders)


def test_the_drivers_random_guesses_go_on_in_the_seats_stream() -> None:
    """Four numbers for phase 1, then the bus."""
    for game in range(5):
        events: ref.Events = []
        rules = {"players": 2, "bus": "straight", "max_attempts": 3}
        row = ref.play(rules, ["random"] * 2, ["leader"] * 2, ref.SeededOrders(2, game), events=events)
        driver = row["driver"]
        assert isinstance(driver, int)
        stream = rng.PolicyStreams(2, game).guess(driver)
        expected = [("red", "black")[stream.bounded(2)], ("higher", "lower")[stream.bounded(2)]]
        expected += [("inside", "outside")[stream.bounded(2)], "SHDC"[stream.bounded(4)]]
        guesses = of_kind(events, "bus_guess")
        expected += [("higher", "lower")[stream.bounded(2)] for _ in guesses]
        said = [event[2] for event in of_kind(events, "guess") if event[1] == driver] + [event[1] for event in guesses]
        assert said == expected


def some_rules(dice: random.Random) -> dict[str, object]:
    """Return a random rule set; rides that nothing bounds end at 60 attempts."""
    rules: dict[str, object] = {name: dice.choice(values) for name, values in ref.CHOICES.items()}
    players = dice.randint(2, 8)
    return rules | {
        "players": players,
        "right_gives": dice.random() < 0.5,
        "pyramid_rows": dice.randint(3, 6 if players < 8 else 5),
        "diamond_rows": tuple(dice.randint(1, 8) for _ in range(dice.randint(1, 6))),
        "blockers": "".join(dice.sample("23456789TJQKA", dice.randint(0, 13))),
        "straight_length": dice.randint(1, 20),
        "max_attempts": dice.choice([0, 0, 1, 4, 40]),
        "max_turns": 60,
    }


@pytest.mark.parametrize("game", range(150))
def test_any_rules_keep_the_books(game: int) -> None:
    """Points come from wrong answers, gifts and the bus, and from nowhere else; everything can be played again."""
    dice = random.Random(game)
    rules = some_rules(dice)
    full = ref.resolve(rules)
    seats = range(full["players"])
    guess = [dice.choice(ref.GUESS_POLICIES) for _ in seats]
    give = [dice.choice(ref.GIVE_POLICIES) for _ in seats]
    events: ref.Events = []
    row = ref.play(rules, guess, give, ref.SeededOrders(13, game), events=events)
    assert row == ref.play(rules, guess, give, ref.SeededOrders(13, game), rng.PolicyStreams(13, game))

    expected = [0.0] * full["players"]
    for number, seat, _, _, result in of_kind(events, "guess"):
        assert isinstance(seat, int)
        if result == "wrong":
            expected[seat] += float(str(number)) if full["guess_stake"] == "by_round" else 1
    for giver, recipients in of_kind(events, "gift"):
        assert isinstance(recipients, list)
        assert giver not in recipients
        for seat in recipients:
            expected[seat] += 1
    driver, penalty, attempts, turned = (
        int(str(row[name])) for name in ("driver", "bus_penalty", "bus_attempts", "bus_turned")
    )
    if driver >= 0:
        expected[driver] += penalty
    assert [row[f"points_{seat}"] for seat in seats] == expected
    assert sum(float(str(row[f"win_share_{seat}"])) for seat in seats) == pytest.approx(1)
    n_turned = sum(len(of_kind(events, kind)) for kind in ("turn", "bus_guess", "base"))
    assert n_turned == turned
    n_failed = len(of_kind(events, "blocked")) + sum(event[3] != "right" for event in of_kind(events, "bus_guess"))
    completed = row["bus_end"] == "success"
    cut_off = row["bus_end"] == "stock_out" and full["bus"] != "diamond" and attempts > n_failed
    assert attempts == n_failed + completed + cut_off
    assert penalty >= n_failed
    if full["max_attempts"]:
        assert row["bus_end"] != "turn_cap"
        assert attempts <= full["max_attempts"]
    if full["bus_deck"] == "fresh":
        assert row["bus_end"] != "stock_out"
