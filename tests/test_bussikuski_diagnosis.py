"""What Bussikuski's diagnosis says, and that what it calls idle does not matter."""

import numpy as np
import pytest

from sim.game import Findings, Player, Spec
from sim.games import get_game

GAME = get_game("bussikuski")


def diagnosis(ends=None, means=None, lows=None, games=1000, **options):
    spec = Spec.build(GAME, GAME.rules.build(options=options))
    found = Findings(games, means or {}, {"bus_end": ends or {"success": games}}, lows or {})
    return " ".join(GAME.diagnose(spec.rules, spec.policies, found))


def test_nothing_is_said_of_the_letter():
    assert diagnosis() == ""


def test_rides_cut_off():
    fresh = {"bus_deck": "fresh", "max_turns": 1}
    assert "20.0 % of the rides are cut off after 1 attempt (max_turns)" in diagnosis({"turn_cap": 200}, **fresh)
    assert "cut off" not in diagnosis({"turn_cap": 40}, **fresh)
    assert "82.0 % of the rides end at the limit of 3 attempts." in diagnosis({"attempt_cap": 820}, max_attempts=3)


def test_rides_that_cannot_succeed():
    said = diagnosis({"turn_cap": 1000}, blockers="23456789TJQKA", bus_deck="fresh")
    assert "no ride can succeed" in said
    assert "nobody knows" not in said
    said = diagnosis({"turn_cap": 1000}, blockers="A23456789TJQ", diamond_rows=[1] * 5, stock_out="reshuffle")
    assert "No ride can succeed: it takes 5 cards that do not block, a deck has 4." in said
    assert "first attempt and costs nothing" in diagnosis(blockers="")


def test_a_seat_that_wins_too_often_is_named_only_when_it_is_sure():
    assert "Seat 3 wins 40.0 % of the games, 1.6 times its fair share of 25.0 %." in diagnosis(
        means={"win_share_3": 0.4}, lows={"win_share_3": 0.39}
    )
    assert "Seat" not in diagnosis(means={"win_share_3": 1.0}, lows={"win_share_3": 0.1}, games=1)
    assert "Seat" not in diagnosis(means={"win_share_3": 1.0}, lows={"win_share_3": float("nan")}, games=1)


# rules under which an option is idle, and values of it that may not make a difference
IDLE = [
    ({"bus": "none"}, "bus_stake", ["by_row", "flat"]),
    ({"bus": "none"}, "max_attempts", [0, 1]),
    ({"bus": "straight"}, "blockers", ["", "JQKA"]),
    ({"bus": "straight"}, "diamond_rows", [(1,), (2, 2)]),
    ({}, "straight_length", [1, 9]),
    ({"bus": "questions"}, "bus_tie", ["wrong", "right"]),
    ({"bus_deck": "fresh", "max_turns": 50}, "stock_out", ["stop", "reshuffle"]),
    ({}, "max_turns", [1, 10_000]),
    ({"max_attempts": 2, "bus_deck": "fresh"}, "max_turns", [1, 10_000]),
    ({"blockers": "", "bus_deck": "fresh"}, "max_turns", [1, 10_000]),
    ({"blockers": ""}, "bus_stake", ["by_row", "flat"]),
    ({"diamond_rows": (1, 1, 1)}, "bus_stake", ["by_row", "flat"]),
    ({"bus": "straight", "straight_length": 1}, "bus_stake", ["by_row", "flat"]),
    ({"max_attempts": 1}, "stock_out", ["stop", "reshuffle"]),
    ({"max_attempts": 1, "bus": "straight"}, "bus_deck", ["running", "fresh"]),
]


@pytest.mark.parametrize(("rest", "option", "values"), IDLE)
def test_idle_options_do_not_matter(rest, option, values):
    played = []
    for value in values:
        rules = GAME.rules.build(options={**rest, option: value})
        assert option in dict(rules.idle())
        columns = Player(Spec.build(GAME, rules)).play(0, 20_000)
        played.append(np.array([np.asarray(column, np.int64) for column in columns]))
    np.testing.assert_array_equal(played[0], played[1])


def test_an_idle_option_that_was_set_is_named():
    assert "straight_length = 9 cannot matter: the bus is not the straight one." in diagnosis(straight_length=9)
