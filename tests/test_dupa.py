"""Dupa biskupa's kernel: against the blind reference, and its own invariants."""

import random
from fractions import Fraction

import numpy as np
import pytest

from sim.game import Deal, Player, Spec
from sim.games import get_game
from sim.games.dupa.watch import watch
from tests.live import differ, rows_of, untried
from tests.reference import dupa as reference

GAME = get_game("dupa")
CARDS = [rank + suit for rank in "A23456789TJQK" for suit in "SHDC"]


def player(policies=None, seed=1, **options):
    return Player(Spec.build(GAME, GAME.rules.build(options=options), {"policy": policies}, seed))


def reference_row(spec, orders):
    return reference.play(spec.rules.plain(), spec.policies["policy"], orders)


def random_options(rnd, policies=("greedy", "random")):
    """Return rules and policies drawn at random from all there are."""
    while True:
        options = {name: rnd.choice(kind.samples()) for name, kind in GAME.rules.kinds().items() if rnd.random() < 0.6}
        options["max_turns"] = rnd.choice([1, 2, 5, 30, 100, 200])  # the reference is slow
        options["rounds"] = rnd.choice([1, 1, 1, 1, 2, 3, 5])
        if rnd.random() < 0.5:
            options["hand_size"] = rnd.choice([0, 0, 1, 2, 4, 7, 13])
        try:
            rules = GAME.rules.build(options=options)
        except ValueError:
            continue
        kinds = [rnd.choice(policies) for _ in range(rules.players)]
        return rules, {"policy": [kinds[0]] * rules.players if rnd.random() < 0.5 else kinds}


# -- against the reference ------------------------------------------------------------------------------------------


def test_default_agrees_with_the_reference_on_5000_games():
    played = player()
    for game, row in enumerate(rows_of(played, 0, 5000)):
        assert row == reference_row(played.spec, reference.SeededOrders(1, game)), f"game {game}"


@pytest.mark.parametrize("part", range(10))
def test_random_rule_sets_agree_with_the_reference(part):
    """30 rule sets, 20 games each; ten times."""
    rnd = random.Random(part)
    for _ in range(30):
        rules, policies = random_options(rnd)
        spec = Spec.build(GAME, rules, policies, rnd.randrange(2**64))
        first = rnd.randrange(2**63)
        for i, row in enumerate(rows_of(Player(spec), first, 20)):
            expected = reference_row(spec, reference.SeededOrders(spec.seed, first + i, rules.decks))
            assert row == expected, f"{rules.changes()} {spec.policies} seed {spec.seed} game {first + i}"


@pytest.mark.parametrize("reshuffle", [None, "reverse"])
def test_explicit_deals_agree_with_the_reference(reshuffle):
    rnd = random.Random(20)
    for _ in range(60):
        rules, policies = random_options(rnd)
        spec = Spec.build(GAME, rules, policies, rnd.randrange(2**64), reshuffle)
        played = Player(spec)
        pack = list(range(52)) * rules.decks
        for line in range(1, 11):
            decks = [rnd.sample(pack, len(pack)) for _ in range(rules.rounds)]
            raw = played.play_deal(Deal(line, tuple(map(tuple, decks))))
            texts = [[CARDS[card] for card in deck] for deck in decks]
            orders = reference.GivenOrders(texts, spec.seed, line, reshuffle is not None)
            expected = reference_row(spec, orders)
            assert {c.name: c.value(raw[i]) for i, c in enumerate(played.columns)} == expected


def test_several_decks_are_one_deck_where_there_is_one():
    """Told and explicit games go the way of several decks; with one deck it leads to the same rows."""
    rnd = random.Random(30)
    for _ in range(40):
        rules, policies = random_options(rnd, ("greedy", "random", "careful"))
        spec = Spec.build(GAME, rules, policies, rnd.randrange(2**64))
        played = Player(spec)
        for game, row in enumerate(rows_of(played, 0, 10)):
            watched = watch(spec, played._rules, game, None)
            assert {c.name: c.value(raw) for c, raw in zip(played.columns, watched.raw, strict=True)} == row


# -- each option is live --------------------------------------------------------------------------------------------

MANY = {"decks": "4", "players": "2"}
HOPELESS = {"match": "rank", "dupa": "off"}

# option, value, another value, the rest of the rules, the policy, a game (seed 1) whose outcome differs between the two
LIVE = [
    *[("players", str(n), "4" if n != 4 else "3", {}, "greedy", 0) for n in range(2, 7)],
    *[("decks", str(n), "1" if n != 1 else "2", {}, "greedy", 0) for n in range(1, 5)],
    *[("hand_size", str(n), "5" if n != 5 else "6", MANY, "greedy", 0) for n in (0, 1, 2, 5, 8, 26, 60)],
    ("hand_size", "104", "103", MANY, "greedy", 0),
    ("match", "rank_or_suit", "rank", {"max_turns": "60"}, "greedy", 0),
    ("match", "rank", "suit", {"max_turns": "60"}, "greedy", 0),
    ("match", "suit", "rank", {"max_turns": "60"}, "greedy", 0),
    ("dupa", "automatic", "off", {}, "greedy", 0),
    ("dupa", "declared", "automatic", {}, "random", 0),
    ("dupa", "off", "automatic", {"max_turns": "60"}, "greedy", 0),
    ("opening", "plain", "dupa", {}, "greedy", 0),
    ("opening", "dupa", "plain", {}, "greedy", 0),
    ("several_dupas", "true", "false", {}, "greedy", 0),
    ("several_dupas", "false", "true", {}, "greedy", 0),
    ("demand", "next_only", "until_met", {}, "greedy", 13),
    ("demand", "until_met", "next_only", {}, "greedy", 13),
    ("pass_when", "cannot", "any", {}, "random", 0),
    ("pass_when", "any", "cannot", {}, "random", 0),
    ("play_drawn", "false", "true", {}, "greedy", 0),
    ("play_drawn", "true", "false", {}, "greedy", 0),
    ("keep_top", "false", "true", {}, "greedy", 0),
    ("keep_top", "true", "false", {}, "greedy", 0),
    ("direction", "clockwise", "counter", {}, "greedy", 0),
    ("direction", "counter", "clockwise", {}, "greedy", 0),
    *[("winner_points", str(n), "1" if n != 1 else "2", {}, "greedy", 0) for n in range(6)],
    *[("rounds", str(n), "1" if n != 1 else "2", {}, "greedy", 0) for n in (1, 2, 3, 9, 61, 100)],
    *[("max_turns", str(n), "2000" if n != 2000 else "1999", HOPELESS, "greedy", 0) for n in (1, 2, 9, 61, 2000)],
]


@pytest.mark.parametrize(("option", "value", "other", "rest", "policy", "game"), LIVE)
def test_option_is_live(option, value, other, rest, policy, game):
    assert differ(player(policy, **{**rest, option: value}), player(policy, **{**rest, option: other}), game)


def test_every_option_and_every_named_value_stands_in_the_table():
    assert untried(GAME.rules, LIVE) == []


# -- what always holds ----------------------------------------------------------------------------------------------


def turned_round(deck, n_players, n_each):
    """Return the deck in which seat i gets what seat -i got."""
    turned = list(deck)
    for seat in range(n_players):
        other = -seat % n_players
        turned[seat * n_each : (seat + 1) * n_each] = deck[other * n_each : (other + 1) * n_each]
    return turned


@pytest.mark.parametrize("policy", ["greedy", "careful"])
def test_direction_only_relabels_the_seats(policy):
    """The same deals, the hands of seats i and -i exchanged: the same games, their columns exchanged."""
    rnd = random.Random(40)
    for _ in range(25):
        rules, _ = random_options(rnd)
        plain = rules.plain()
        clockwise = player(policy, **{**plain, "direction": "clockwise"})
        counter = player(policy, **{**plain, "direction": "counter"})
        n = rules.players
        pack = list(range(52)) * rules.decks
        names = [column.name for column in clockwise.columns]
        for line in range(1, 6):
            decks = [rnd.sample(pack, len(pack)) for _ in range(rules.rounds)]
            turned = [turned_round(deck, n, rules.cards_each) for deck in decks]
            there = dict(zip(names, counter.play_deal(Deal(line, tuple(map(tuple, turned)))), strict=True))
            here = dict(zip(names, clockwise.play_deal(Deal(line, tuple(map(tuple, decks)))), strict=True))
            for name, value in here.items():
                stem, _, seat = name.rpartition("_")
                if seat.isdigit():
                    assert there[f"{stem}_{-int(seat) % n}"] == value
                elif name == "winner" and value > 0:
                    assert there[name] == n - value
                else:
                    assert there[name] == value


def test_invariants_on_random_rule_sets():
    rnd = random.Random(6)
    for _ in range(150):
        rules, policies = random_options(rnd, ("greedy", "random", "careful"))
        n = rules.players
        for row in rows_of(Player(Spec.build(GAME, rules, policies, rnd.randrange(2**64))), 0, 20):
            left = [row[f"left_{seat}"] for seat in range(n)]
            shares = [Fraction(row[f"win_share_{seat}"]).limit_denominator(n) for seat in range(n)]
            assert sum(shares) in (0, 1)
            assert row["reshuffles"] <= row["draws"] <= row["turns"]
            assert row["draws"] <= row["turns"] <= rules.max_turns * rules.rounds
            assert sum(left) <= rules.n_cards
            assert (row["end"] == "hand_empty") == (min(left) == 0)
            assert (row["winner"] >= 0) == (max(shares) == 1)
            if rules.rounds == 1:
                for seat in range(n):
                    gained = rules.winner_points if seat == row["winner"] else 0
                    assert row[f"points_{seat}"] == left[seat] + gained
                assert (row["winner"] >= 0) == (row["end"] == "hand_empty")
            if row["end"] == "stuck":
                assert rules.pass_when.text == "any"
            if rules.dupa.text == "off":
                assert row["dupas"] == 0


def test_a_policy_that_draws_does_not_move_the_cards():
    """Common random numbers: the hands are the same whoever plays."""
    calm, wild = player("greedy", max_turns=1), player("random", max_turns=1)
    for a, b in zip(rows_of(calm, 0, 100), rows_of(wild, 0, 100), strict=True):
        assert [a[f"left_{seat}"] for seat in (1, 2, 3)] == [b[f"left_{seat}"] for seat in (1, 2, 3)] == [13, 13, 13]


# -- by simulation --------------------------------------------------------------------------------------------------


def means(played, n=200_000):
    return {c.name: float(np.mean(raw)) for c, raw in zip(played.columns, played.play(0, n), strict=True)}


def test_by_the_letter_the_second_seat_wins():
    found = means(player())
    assert found["win_share_1"] == pytest.approx(0.765, abs=0.005)
    assert found["turns"] == pytest.approx(7.3, abs=0.1)


def test_at_the_table_everybody_has_a_chance():
    found = means(player(several_dupas=False))
    shares = [found[f"win_share_{seat}"] for seat in range(4)]
    assert shares == pytest.approx([0.307, 0.269, 0.226, 0.198], abs=0.005)
    assert found["turns"] == pytest.approx(37.2, abs=0.3)


def test_ranks_alone_and_no_dupas_reach_the_cap():
    """Nothing hangs: about 98 % of the games come to `max_turns`."""
    played = player(match="rank", dupa="off")
    ends = played.play(0, 3000)[1]
    assert np.bincount(ends, minlength=3)[2] / 3000 == pytest.approx(0.98, abs=0.01)
