"""Bussikuski's kernel: against the blind reference, the document's example, exact values, and its own invariants."""

import dataclasses
import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from sim.game import Deal, Player, Spec
from sim.games import get_game
from sim.games.bussikuski import kernel, moves
from sim.games.bussikuski import record as rec
from tests.live import differ, rows_of, untried
from tests.reference import bussikuski as reference
from tests.reference.streams import PolicyStreams

GAME = get_game("bussikuski")
RANKS = "23456789TJQKA"
CARDS = [rank + suit for rank in RANKS for suit in "SHDC"]


def player(policies=None, seed=1, **options):
    return Player(Spec.build(GAME, GAME.rules.build(options=options), policies or {}, seed))


def written_row(state, rules, columns):
    """Return the row that the kernel writes for a finished game."""
    small, large = kernel.new_columns([rules], 1)
    kernel.write_row(state, rules, small, large, 0)
    numbers = kernel.as_columns([rules], small, large)
    return {c.name: c.value(numbers[i][0]) for i, c in enumerate(columns)}


def reference_rules(rules):
    plain = rules.plain()
    return plain | {"diamond_rows": tuple(plain["diamond_rows"])}


def reference_row(spec, orders, streams=None):
    return reference.play(reference_rules(spec.rules), spec.policies["guess"], spec.policies["give"], orders, streams)


def random_options(rnd):
    """Return rules and policies drawn at random from all there are."""
    while True:
        options = {name: rnd.choice(kind.samples()) for name, kind in GAME.rules.kinds().items() if rnd.random() < 0.6}
        options["max_turns"] = rnd.choice([1, 2, 5, 30, 200])  # the reference is slow
        if "max_attempts" in options:
            options["max_attempts"] = rnd.choice([0, 0, 0, 1, 2, 5])
        try:
            rules = GAME.rules.build(options=options)
        except ValueError:
            continue
        policies = {
            slot.name: [rnd.choice(list(slot.choices))] * rules.players
            if rnd.random() < 0.5
            else [rnd.choice(list(slot.choices)) for _ in range(rules.players)]
            for slot in GAME.slots
        }
        return rules, policies


# -- against the reference ------------------------------------------------------------------------------------------


def test_default_agrees_with_the_reference_on_5000_games():
    played = player()
    for game, row in enumerate(rows_of(played, 0, 5000)):
        assert row == reference_row(played.spec, reference.SeededOrders(1, game)), f"game {game}"


@pytest.mark.parametrize("part", range(10))
def test_random_rule_sets_agree_with_the_reference(part):
    """30 rule sets, 200 games each; ten times."""
    rnd = random.Random(part)
    for _ in range(30):
        rules, policies = random_options(rnd)
        spec = Spec.build(GAME, rules, policies, rnd.randrange(2**64))
        first = rnd.randrange(2**63)
        for i, row in enumerate(rows_of(Player(spec), first, 200)):
            expected = reference_row(spec, reference.SeededOrders(spec.seed, first + i))
            assert row == expected, f"{rules.changes()} {spec.policies} seed {spec.seed} game {first + i}"


def test_explicit_deals_agree_with_the_reference():
    """Random rule sets on explicit decks, with and without enough of them."""
    rnd = random.Random(20)
    n_lacking = 0
    for i in range(150):
        rules, policies = random_options(rnd)
        if i % 3 == 0:  # few cards are left for the driver's draw, which therefore often shuffles
            rules = dataclasses.replace(rules, players=8, pyramid_rows=5)
            policies = {slot: [names[0]] * 8 for slot, names in policies.items()}
        spec = Spec.build(GAME, rules, policies, rnd.randrange(2**64))
        played = Player(spec)
        for line in range(1, 21):
            decks = [rnd.sample(range(52), 52) for _ in range(rnd.choice([1, 2, 3, 8, 40]))]
            raw = played.play_deal(Deal(line, tuple(map(tuple, decks))))
            texts = [["A23456789TJQK"[card // 4] + "SHDC"[card % 4] for card in deck] for deck in decks]
            streams = PolicyStreams(spec.seed, line)
            try:
                expected = reference_row(spec, reference.ExplicitOrders(texts), streams)
            except reference.NeedsOrder:
                n_lacking += 1
                assert raw is None
            else:
                assert raw is not None
                assert {c.name: c.value(raw[i]) for i, c in enumerate(played.columns)} == expected
    assert 100 < n_lacking < 2900


def test_side_by_side_is_one_by_one():
    """Where all seats give to the leader, gifts are made in 32 games at once; the rows are those of single games."""
    for players in range(2, 9):
        played = player(players=players, pyramid_rows=5 if players == 8 else 4, matches="one" if players % 2 else "all")
        assert played._rules[0]["all_leaders"]
        together = played.play(0, 100)
        played._rules[0]["all_leaders"] = 0
        np.testing.assert_array_equal(np.array(played.play(0, 100)), np.array(together))


@pytest.mark.parametrize("rows", [(1,) * 8 + (2, 4, 8, 6), (1, 2, 3) * 6, (8, 7, 6, 5, 4, 3, 2, 1), (1,) * 52])
@pytest.mark.parametrize("blockers", ["A", "JQKA"])
def test_diamonds_of_many_rows(rows, blockers):
    played = player(diamond_rows=rows, blockers=blockers)
    for game, row in enumerate(rows_of(played, 0, 100)):
        assert row == reference_row(played.spec, reference.SeededOrders(1, game))


@pytest.mark.parametrize("game", [238705, 932978, 944144])
def test_a_bus_deck_that_needs_a_word_more_is_ridden_alone(game):
    """Once in 500,000 games the blockers cannot be placed side by side, because a word of the shuffle is refused."""
    played = player()
    rows = rows_of(played, game - 40, 64)
    assert rows[40] == reference_row(played.spec, reference.SeededOrders(1, game))


# -- the document's example -------------------------------------------------------------------------------------------


def deck(*texts):
    """Return the cards' ace-high numbers; where only ranks are given, suits are taken as they come."""
    left = list(range(52))
    cards = []
    for text in texts:
        card = next(c for c in left if CARDS[c].startswith(text))
        left.remove(card)
        cards.append(card)
    return cards + left


def test_the_documents_example():
    """Points 4, 12, 7, 2; seat 1 drives; 16 + 33 + 3 cards after the first failure (rules.md, end of section 2)."""
    rules = kernel.fold(GAME.rules(), GAME.policies({}, 4))[0]
    state = kernel.new_scratch()[0][0]
    hands = ["947Q", "268K", "35TA", "469J"]
    pyramid = ["7QTA", "469", "Q7", "T"]
    first = deck(*[hand[i] for i in range(4) for hand in hands], *"".join(pyramid))
    bus = deck("5", *"8J", *"K2", *"2222"[:2], *"3334", *"444", *"55", "6", *"5", *"8", *"6667")
    # rows of 1 2 3 4 3 2 1 places: 5 | 8 J | K … then the refills 5, 8, 6 for the first three rows
    orders = np.array([first, bus], np.uint8)
    assert moves.begin(state, rules, orders, np.uint64(0), np.uint64(0))
    moves.guess_four(state, rules, None)
    state["points"][:4] = 2, 1, 3, 0

    gifts_to = {(0, 1): [1], (2, 1): [3], (0, 2): [2], (1, 2): [0], (3, 2): [1]}  # (giver, row value) → recipient
    given = {}
    for place in range(10):
        value = int(rules["row_value"][place])
        played, _ = moves.turn_place(state, rules, None, place)
        for seat in range(4):
            points = value * (int(played) >> 8 * seat & 0xFF)
            if points:
                recipient = gifts_to[seat, value][0]
                state["points"][recipient] += points
                given[seat, value, recipient] = given.get((seat, value, recipient), 0) + points
    state["n_dealt"] += 10
    assert given == {(0, 1, 1): 2, (2, 1, 3): 2, (0, 2, 2): 4, (1, 2, 0): 2, (3, 2, 1): 6}
    assert list(state["points"][:4]) == [4, 9, 7, 2]

    assert moves.find_driver(state, rules, orders, None)
    assert list(state["left"][:4]) == [0, 3, 2, 1]
    assert state["driver"] == 1
    assert moves.DRIVER_BY[state["driver_by"]] == "most_cards"

    events = np.zeros((100, 6), np.int64)
    assert moves.ride(state, rules, orders, events)
    told = events[1 : 1 + events[0, 0]]
    refills = told[told[:, 0] == rec.REFILL]
    assert refills[:, 1:3].tolist() == [[3, 33]]  # three places filled, 33 cards in the stock: 16 + 33 + 3
    assert state["bus_attempts"] == 2
    assert state["bus_penalty"] == 3
    assert moves.BUS_ENDS[state["bus_end"]] == "success"
    assert list(state["points"][:4]) == [4, 12, 7, 2]

    row = written_row(state, rules, GAME.columns(GAME.rules()))
    assert [row[f"win_share_{seat}"] for seat in range(4)] == [0, 0, 0, 1]


def test_counts_after_a_three():
    """Of 51 cards after one 3 is out, 44 are higher, 4 lower, 3 equal."""
    higher, lower, _ = moves.guess_tie(GAME.rules())
    three = CARDS.index("3S")
    rest = ~(1 << three)
    assert (higher[1] & rest).bit_count() == 44
    assert (lower[1] & rest).bit_count() == 4
    assert 51 - 44 - 4 == 3


# -- each option is live --------------------------------------------------------------------------------------------

STRAIGHT = {"bus": "straight"}
HOPELESS = {"bus_deck": "fresh", "blockers": "23456789TJQKA"}

# option, value, another value, the rest of the rules, a game (seed 1) whose outcome differs between the two
LIVE = [
    ("players", "2", "4", {}, 0),
    ("players", "3", "4", {}, 0),
    ("players", "4", "2", {}, 0),
    ("players", "5", "4", {}, 0),
    ("players", "6", "4", {}, 0),
    ("players", "7", "4", {}, 0),
    ("players", "8", "4", {}, 0),
    ("guess_tie", "wrong", "right", {}, 0),
    ("guess_tie", "right", "wrong", {}, 0),
    ("guess_tie", "free", "wrong", {}, 0),
    ("boundary", "inside", "outside", {}, 2),
    ("boundary", "outside", "inside", {}, 2),
    ("boundary", "wrong", "inside", {}, 1),
    ("boundary", "right", "inside", {}, 4),
    ("fourth_question", "suit", "new_or_held", {}, 0),
    ("fourth_question", "new_or_held", "suit", {}, 0),
    ("guess_stake", "flat", "by_round", {}, 0),
    ("guess_stake", "by_round", "flat", {}, 0),
    ("right_gives", "false", "true", {}, 0),
    ("right_gives", "true", "false", {}, 0),
    ("pyramid_rows", "3", "4", {}, 0),
    ("pyramid_rows", "4", "3", {}, 0),
    ("pyramid_rows", "5", "4", {}, 0),
    ("pyramid_rows", "6", "4", {}, 0),
    ("matches", "all", "one", {}, 2),
    ("matches", "one", "all", {}, 2),
    ("driver_tie", "lowest_card", "highest_card", {}, 1),
    ("driver_tie", "highest_card", "lowest_card", {}, 1),
    ("driver_tie", "most_points", "lowest_card", {}, 4),
    ("driver_tie", "draw", "lowest_card", {}, 4),
    ("bus", "diamond", "straight", {}, 0),
    ("bus", "straight", "diamond", {}, 0),
    ("bus", "questions", "diamond", {}, 0),
    ("bus", "none", "diamond", {}, 0),
    ("diamond_rows", "1,2,3,4,3,2,1", "1", {}, 0),
    ("diamond_rows", "1", "1,2,3,4,3,2,1", {}, 0),
    ("diamond_rows", "8,8,8,8,8,8", "1,2,3,4,3,2,1", {}, 0),
    ("blockers", "JQKA", "none", {}, 0),
    ("blockers", "none", "JQKA", {}, 0),
    ("blockers", "A", "JQKA", {}, 0),
    ("blockers", "23456789TJQKA", "JQKA", {}, 0),
    *[("straight_length", str(n), "5" if n != 5 else "6", STRAIGHT, 0) for n in (1, 2, 3, 4, 5, 6, 20)],
    ("bus_tie", "wrong", "right", STRAIGHT, 1),
    ("bus_tie", "right", "wrong", STRAIGHT, 1),
    ("bus_stake", "by_row", "flat", {}, 0),
    ("bus_stake", "flat", "by_row", {}, 0),
    ("stock_out", "stop", "reshuffle", {}, 3),
    ("stock_out", "reshuffle", "stop", {}, 3),
    ("bus_deck", "running", "fresh", {}, 0),
    ("bus_deck", "fresh", "running", {}, 0),
    *[("max_attempts", str(n), "0" if n else "1", {}, 0 if n < 5 else 3) for n in (0, 1, 2, 3, 5, 8)],
    *[("max_turns", str(n), "10000" if n != 10000 else "9999", HOPELESS, 0) for n in (1, 2, 7, 61, 10000)],
]


@pytest.mark.parametrize(("option", "value", "other", "rest", "game"), LIVE)
def test_option_is_live(option, value, other, rest, game):
    assert differ(player(**rest, **{option: value}), player(**rest, **{option: other}), game)


def test_every_option_and_every_named_value_stands_in_the_table():
    assert untried(GAME.rules, LIVE) == []


# -- what always holds -------------------------------------------------------------------------------------------------


def told_game(spec, game):
    """Play one game with its events; return the state and the events."""
    state = kernel.new_scratch()[0][0]
    rules = kernel.fold(spec.rules, spec.policies)[0]
    events = np.zeros((20_000, 6), np.int64)
    assert kernel.play_one(state, rules, None, events, np.uint64(spec.seed), np.uint64(game))
    assert events[0, 0] < len(events)
    return state, rules, events[1 : 1 + events[0, 0]].tolist()


def check_cards(events, rules, n_players):
    """Follow every card: no card is in two places, and each place has what the rules say."""
    seen, drawing, tied, in_stock = set(), {}, 0, 0
    hands = [[] for _ in range(n_players)]
    pyramid = []
    for kind, a, b, _, d, _ in events:
        if kind == rec.ANSWER:
            assert d not in seen
            seen.add(d)
            hands[a].append(d)
        elif kind == rec.PYRAMID:
            assert b not in seen
            seen.add(b)
            pyramid.append(b)
        elif kind == rec.PLAY:
            equal = [card for card in hands[a] if card // 4 == d]
            assert b == (len(equal) if rules["plays_all"] else min(1, len(equal)))
            for card in equal[:b]:
                hands[a].remove(card)
            assert pyramid[-1] // 4 == d
        elif kind == rec.DRAW_RESHUFFLE:
            in_stock = a
        elif kind == rec.TIED:
            tied = a
        elif kind == rec.DRAW:
            assert tied >> a & 1
            if a in drawing:  # a new round, of those who drew the lowest
                tied = sum(1 << seat for seat, card in drawing.items() if card // 4 == min(drawing.values()) // 4)
                assert tied >> a & 1
                drawing = {}
            if in_stock:
                seen = {card for hand in hands for card in hand} | set(drawing.values())
                assert in_stock == 52 - len(seen)
                in_stock = 0
            assert b not in seen, "a card drawn that lies elsewhere"
            seen.add(b)
            drawing[a] = b
        assert len(seen) <= 52
    return hands


def check_bus(events, rules):
    """Follow the diamond: 52 cards in the bus, the stock and the discard at every refill."""
    turned, in_stock = set(), 52 - int(rules["n_places"])
    for kind, a, b, *_ in events:
        if kind == rec.TURN:
            assert b not in turned, "a card turned twice without a shuffle"
            turned.add(b)
        elif kind == rec.REFILL:
            in_stock -= a
            assert b == in_stock
            assert int(rules["n_places"]) + in_stock + len(turned) == 52
        elif kind == rec.BUS_RESHUFFLE:
            turned, in_stock = set(), a
        elif kind == rec.FRESH:
            turned, in_stock = set(), 52 - int(rules["n_places"])


def test_invariants_on_random_rule_sets():
    """Gifts are row value times cards played; 52 cards; win shares sum to 1; left and played cards are four a seat."""
    rnd = random.Random(6)
    for _ in range(120):
        rules, policies = random_options(rnd)
        spec = Spec.build(GAME, rules, policies, rnd.randrange(2**64))
        rows = rows_of(Player(spec), 0, 5)
        for game, row in enumerate(rows):
            state, folded, events = told_game(spec, game)
            n = rules.players
            in_pyramid = False
            played, given, owed = [0] * n, 0, 0
            for kind, a, b, c, *_ in events:
                in_pyramid = in_pyramid or kind == rec.PYRAMID
                if kind == rec.PLAY:
                    played[a] += b
                    owed += b * c
                elif kind == rec.GIFT:
                    assert a != b
                    given += c if in_pyramid else 0
            assert given == owed
            assert [row[f"left_{seat}"] + played[seat] for seat in range(n)] == [4] * n
            assert sum(Fraction(row[f"win_share_{seat}"]).limit_denominator(8) for seat in range(n)) == 1
            hands = check_cards(events, folded, n)
            assert [len(hand) for hand in hands] == [row[f"left_{seat}"] for seat in range(n)]
            if rules.bus.text == "diamond":
                check_bus(events, folded)
            fewest = min(row[f"points_{seat}"] for seat in range(n))
            assert all((row[f"win_share_{seat}"] > 0) == (row[f"points_{seat}"] == fewest) for seat in range(n))
            assert all(0 <= row[f"right_q{question}"] <= n for question in range(1, 5))
            assert written_row(state, folded, spec.columns) == row


def test_values_lie_in_their_columns_ranges():
    rnd = random.Random(8)
    for _ in range(100):
        rules, policies = random_options(rnd)
        played = Player(Spec.build(GAME, rules, policies, rnd.randrange(2**64)))
        raw = played.play(0, 200)
        for column, numbers in zip(played.columns, raw, strict=True):
            if column.categories:
                assert numbers.min() >= 0
                assert numbers.max() < len(column.categories)
            elif not column.share:
                assert column.low <= numbers.min(), (column, rules.changes())
                assert numbers.max() <= column.high, (column, rules.changes())
            decoded = column.decode(numbers)
            assert decoded.dtype == column.storage
            if column.share:
                assert set(numbers) <= set(range(rules.players + 1))
            else:
                np.testing.assert_array_equal(decoded, numbers)


def test_same_rows_for_any_split():
    played = player({"guess": "random", "give": "random"}, seed=2**64 - 1, stock_out="reshuffle")
    whole = played.play(2**40, 500)
    parts = [played.play(2**40 + first, n) for first, n in ((0, 1), (1, 32), (33, 400), (433, 67))]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), np.array(whole))


def test_a_policy_that_draws_does_not_move_the_cards():
    """Common random numbers: the driver, the hands left and the bus are the same whoever guesses and gives."""
    calm = rows_of(player(), 0, 300)
    wild = rows_of(player({"guess": "random,own,counting,random", "give": "random"}), 0, 300)
    for a, b in zip(calm, wild, strict=True):
        for name in ("left_0", "left_3", "driver", "driver_by", "bus_end", "bus_penalty", "bus_turned"):
            assert a[name] == b[name]


# -- exact -------------------------------------------------------------------------------------------------------------


@cache
def diamond_from(turned, blocked, rows, n_blockers=16):
    """Return (P(success), mean penalty, mean squared penalty) of the rest of a ride that stops when the stock is out.

    A ride is a sequence of cards drawn without replacement from 52: wherever the driver turns, the card is one that
    nobody has seen, so by exchangeability only the numbers of cards and blockers turned so far count. Every card turned
    in a failed attempt has been replaced from the stock, which therefore holds 52 - places - turned.
    """
    success = mean = square = Fraction(0)
    reach = Fraction(1)
    for row, places in enumerate(rows):
        left = 52 - turned - row
        p_block = Fraction(n_blockers - blocked, left)
        p = reach * p_block
        if 52 - sum(rows) - turned < row + 1:
            rest = (Fraction(0), Fraction(0), Fraction(0))
        elif p:
            rest = diamond_from(turned + row + 1, blocked + 1, rows, n_blockers)
        else:
            rest = (Fraction(0), Fraction(0), Fraction(0))
        success += p * rest[0]
        mean += p * (places + rest[1])
        square += p * (places**2 + 2 * places * rest[1] + rest[2])
        reach *= 1 - p_block
    return success + reach, mean, square


def test_the_diamond_against_its_exact_law():
    """Shares of success and stock_out and the mean penalty within 4 standard errors of exact at 10^7 games."""
    rows = GAME.rules().diamond_rows
    success, mean, square = map(float, diamond_from(0, 0, rows))
    assert Fraction(6138, 98371) == _clear_run(7)
    played = player()
    names = [column.name for column in played.columns]
    end, penalty = names.index("bus_end"), names.index("bus_penalty")
    n_success = n_out = total = n_rides = 0
    chunk = 100_000
    for first in range(0, 10_000_000, chunk):
        raw = played.play(first, chunk)
        ends = np.bincount(raw[end], minlength=5)
        n_success += int(ends[0])
        n_out += int(ends[1])
        n_rides += chunk - int(ends[4])
        total += int(raw[penalty].sum())
    se = (success * (1 - success) / n_rides) ** 0.5
    assert abs(n_success / n_rides - success) < 4 * se
    assert abs(n_out / n_rides - (1 - success)) < 4 * se
    assert abs(total / n_rides - mean) < 4 * ((square - mean**2) / n_rides) ** 0.5


def _clear_run(n):
    """Return the chance of n cards without a blocker from a fresh deck."""
    chance = Fraction(1)
    for i in range(n):
        chance *= Fraction(36 - i, 52 - i)
    return chance
