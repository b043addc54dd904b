"""What the diagnosis of Dupa biskupa says, and that what it calls idle does not matter."""

import numpy as np
import pytest

from sim.game import Findings, Player, Spec
from sim.games import get_game
from sim.rules import RuleError

GAME = get_game("dupa")


def diagnosis(ends=None, means=None, lows=None, games=1000, policy="greedy", counts=None, **options):
    spec = Spec.build(GAME, GAME.rules.build(options=options), {"policy": policy})
    means = {"turns": 40.0 * spec.rules.rounds} | (means or {})
    found = Findings(games, means, {"end": ends or {"hand_empty": games}}, lows or {}, counts or {})
    return " ".join(GAME.diagnose(spec.rules, spec.policies, found))


def test_nothing_is_said_where_there_is_nothing_to_say():
    assert diagnosis() == ""


def test_games_cut_off():
    said = diagnosis({"turn_cap": 980, "hand_empty": 20}, match="rank", dupa="off")
    assert "98.0 % of the games are cut off after 2,000 turns (max_turns), without a winner" in said
    assert "cut off" not in diagnosis({"turn_cap": 40, "hand_empty": 960})
    assert "of the last rounds are cut off after 1 turn" in diagnosis({"turn_cap": 1000}, rounds=2, max_turns=1)


def test_games_stuck():
    said = diagnosis({"stuck": 100, "hand_empty": 900}, pass_when="any", policy="random")
    assert "10.0 % of the games are stuck: everybody passed and there was nothing to draw." in said


def test_games_over_before_every_seat_had_a_turn():
    said = diagnosis(counts={"turns": {2: 300, 3: 100, 4: 500, 9: 100}})
    assert "40.0 % of the games are over before every seat had a turn." in said
    assert diagnosis(counts={"turns": {3: 40, 4: 960}}) == ""


def test_a_seat_that_wins_too_often_is_named_only_when_it_is_sure():
    said = diagnosis(means={"win_share_1": 0.76}, lows={"win_share_1": 0.75})
    assert "Seat 1 wins 76.0 % of the games, 3.0 times its fair share of 25.0 %." in said
    assert "Seat" not in diagnosis(means={"win_share_1": 1.0}, lows={"win_share_1": 0.1}, games=1)


# rules and policy under which an option is idle, and values of it that may not make a difference
IDLE = [
    ({}, "greedy", "hand_size", [0, 13]),
    ({"dupa": "off", "max_turns": 50}, "greedy", "opening", ["plain", "dupa"]),
    ({"dupa": "off", "max_turns": 50}, "random", "several_dupas", [False, True]),
    ({"dupa": "off", "max_turns": 50}, "random", "demand", ["next_only", "until_met"]),
    ({"players": 2, "rounds": 3}, "random", "direction", ["clockwise", "counter"]),
    ({"max_turns": 1}, "random", "match", ["rank_or_suit", "rank", "suit"]),
    ({"max_turns": 1, "opening": "dupa"}, "greedy", "several_dupas", [False, True]),
    ({"max_turns": 1, "opening": "dupa"}, "random", "demand", ["next_only", "until_met"]),
    ({"max_turns": 1, "pass_when": "any"}, "random", "keep_top", [False, True]),
    ({"opening": "dupa"}, "greedy", "dupa", ["automatic", "declared"]),
    ({"hand_size": 5, "play_drawn": True}, "greedy", "dupa", ["automatic", "declared"]),
    ({"hand_size": 5, "play_drawn": True}, "greedy", "pass_when", ["cannot", "any"]),
    ({"hand_size": 5, "play_drawn": True}, "greedy,careful,greedy,careful", "pass_when", ["cannot", "any"]),
    ({}, "random", "several_dupas", [False, True]),
]


@pytest.mark.parametrize(("rest", "policy", "option", "values"), IDLE)
def test_idle_options_do_not_matter(rest, policy, option, values):
    played = []
    for value in values:
        rules = GAME.rules.build(options={**rest, option: value})
        spec = Spec.build(GAME, rules, {"policy": policy})
        if option in rules.changes():
            said = diagnosis(policy=policy, **{**rest, option: value})
            assert f"{option} = {rules.texts()[option]} cannot matter: " in said
        columns = Player(spec).play(0, 3_000)
        played.append(np.array([np.asarray(column, np.int64) for column in columns]))
    for other in played[1:]:
        np.testing.assert_array_equal(played[0], other)


def test_an_option_that_matters_to_one_seat_is_not_called_idle():
    assert "cannot matter" not in diagnosis(pass_when="any", policy="greedy,greedy,greedy,random")
    assert "cannot matter" not in diagnosis(dupa="declared", policy="greedy,greedy,greedy,random")
    assert "cannot matter" not in diagnosis(several_dupas=False, policy="random,random,random,greedy")
    assert "direction" not in diagnosis(direction="counter")


def test_hands_larger_than_the_decks_are_an_error_that_says_what_would_do():
    with pytest.raises(RuleError, match="hand_size = 14 and players = 4 need 56 cards; 1 deck holds 52 .it takes deck"):
        GAME.rules.build(options={"hand_size": 14})
    with pytest.raises(RuleError, match="even 4 decks hold too few"):
        GAME.rules.build(options={"hand_size": 104, "players": 3, "decks": 2})
