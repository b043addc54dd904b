"""Dupa biskupa's kernel: against the blind reference, and its own invariants."""

import random

import pytest

from sim.game import Deal, Player, Spec
from sim.games import get_game
from tests.reference import dupa as reference

GAME = get_game("dupa")
CARDS = [rank + suit for rank in "A23456789TJQK" for suit in "SHDC"]


def player(policies=None, seed=1, **options):
    return Player(Spec.build(GAME, GAME.rules.build(options=options), {"policy": policies}, seed))


def rows_of(played, first, n):
    """Play n games and return a dict for each."""
    raw = played.play(first, n)
    return [{c.name: c.value(raw[i][game]) for i, c in enumerate(played.columns)} for game in range(n)]


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
        for i, row in enumerate(rows_of(Player(spec), first, N_EACH)):
            expected = reference_row(spec, reference.SeededOrders(spec.seed, first + i, rules.decks))
            assert row == expected, f"{rules.changes()} {spec.policies} seed {spec.seed} game {first + i}"


N_EACH = 20


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
