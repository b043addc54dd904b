"""What Bludiště's diagnosis says, and that what it calls idle does not matter."""

import numpy as np
import pytest

from sim.game import Findings, Player, Spec
from sim.games import get_game

GAME = get_game("bludiste")


def diagnosis(won=0.2, games=10_000, policy="first", low=None, **options):
    spec = Spec.build(GAME, GAME.rules.build(options=options), {"policy": policy})
    lows = {} if low is None else {"won": low}
    return " ".join(GAME.diagnose(spec.rules, spec.policies, Findings(games, {"won": won}, {}, lows)))


def test_nothing_is_said_of_a_game_worth_playing():
    assert diagnosis() == ""


def test_hardly_any_game_is_won():
    assert diagnosis(0.0011) == "Hardly any game is won: 0.11 % (1 in 909)."
    assert diagnosis(0.0) == "Hardly any game is won: 0 % (none)."
    assert diagnosis(0.0, games=200) == ""  # too few to say so
    assert diagnosis(0.009, games=500) == ""


def test_hardly_any_game_is_lost():
    assert diagnosis(0.998, low=0.996) == "Hardly any game is lost: 1 in 500."
    assert diagnosis(0.998, low=0.98) == ""


def test_every_game_is_won():
    said = "Every game is won: in the end all cards lie on the table, and every one of them is available."
    assert diagnosis(1.0, available="all") == said
    assert diagnosis(1.0, available="all", max_rows=10).startswith(said)
    assert said not in diagnosis(0.7, available="all", max_rows=6)


def test_nothing_to_decide():
    said = "There is nothing to decide: each card fits one foundation only, so all policies play alike."
    assert diagnosis(decks=1) == said
    assert diagnosis(decks=1, max_rows=2, grace=1).startswith(said)
    assert diagnosis(decks=1, grace=1) == ""
    assert diagnosis(decks=1, refill="at_once") == ""


@pytest.mark.parametrize("options", [{}, {"available": "above_or_below", "fill": "all"}, {"max_rows": 2, "grace": 3}])
def test_where_nothing_is_to_be_decided_all_policies_play_alike(options):
    rules = GAME.rules.build(options={"decks": 1, **options})
    assert rules.decides_itself
    rows = [np.array(Player(Spec.build(GAME, rules, {"policy": p})).play(0, 1000)) for p in ("first", "random", "best")]
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


def test_freedom_that_a_policy_does_not_use():
    said = "transfer = true cannot matter: the policy first never uses that freedom."
    assert diagnosis(transfer=True) == said
    assert diagnosis(transfer=True, policy="best:2") == ""
    assert "deal = any_time cannot matter: the policy random" in diagnosis(deal="any_time", policy="random")


# rules under which an option is idle, and values of it that may not make a difference
IDLE = [
    ({"columns": 16}, "max_rows", [6, 7]),
    ({"decks": 1, "columns": 8}, "max_rows", [6, 60]),
    ({"max_rows": 2}, "available", ["above", "above_or_below", "all"]),
    ({"max_rows": 1}, "available", ["above", "all"]),
    ({"max_rows": 2}, "grace", [0, 3]),
    ({"available": "all", "max_rows": 6}, "grace", [0, 3]),
    ({"max_rows": 1}, "fill", ["newest", "first", "all"]),
    ({"decks": 1}, "transfer", [False, True]),
]


@pytest.mark.parametrize("policy", ["first", "random", "best"])
@pytest.mark.parametrize(("rest", "option", "values"), IDLE)
def test_idle_options_do_not_matter(rest, option, values, policy):
    played = []
    for value in values:
        rules = GAME.rules.build(options={**rest, option: value})
        assert option in dict(rules.idle())
        columns = Player(Spec.build(GAME, rules, {"policy": policy})).play(0, 60 if policy == "best" else 5_000)
        played.append(np.array(columns))
    for others in played[1:]:
        np.testing.assert_array_equal(played[0], others)


def test_an_idle_option_that_was_set_is_named():
    assert "grace = 2 cannot matter: every card is available." in diagnosis(grace=2, available="all", max_rows=6)
