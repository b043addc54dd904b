"""What Autobus's diagnosis says."""

from sim.game import Findings, Spec
from sim.games import get_game

GAME = get_game("autobus")


def diagnosis(ends=None, counts=None, lows=None, policy="greedy", games=1000, **options):
    spec = Spec.build(GAME, GAME.rules.build(options=options), {"policy": policy})
    found = Findings(games, {}, {"end": ends or {"bus_empty": games}}, lows or {}, counts or {})
    return " ".join(GAME.diagnose(spec.rules, spec.policies, found))


def test_nothing_is_said_of_a_good_game():
    assert diagnosis(counts={"winner": {seat: 250 for seat in range(4)}, "plays": {50: 1000}}) == ""


def test_stalemates_and_games_without_a_card_placed():
    said = diagnosis({"stalemate": 630, "bus_empty": 370}, {"plays": {0: 113, 40: 887}})
    assert "63.0 % of the games end as a stalemate, without a winner: 1 round without a card placed." in said
    assert "11.3 % of the games are over with no card placed at all." in said
    assert "3 rounds without" in diagnosis({"stalemate": 100}, stalemate_rounds=3)
    assert "a deadlock with an empty talon" in diagnosis({"stalemate": 100}, stalemate_rounds=0)
    assert "stalemate" not in diagnosis({"stalemate": 40})


def test_games_cut_off():
    assert "12.0 % of the games are cut off after 5,000 passes" in diagnosis({"turn_cap": 120})


def test_a_seat_that_wins_too_often_is_named_only_when_it_is_sure():
    counts = {"winner": {-1: 100, 0: 500, 1: 200, 2: 100, 3: 100}}
    said = diagnosis(counts=counts, lows={"winner=0": 0.4})
    assert "Seat 0 wins 50.0 % of the games, 2.0 times its fair share" in said
    assert "Seat 0" not in diagnosis(counts=counts, lows={"winner=0": 0.37})


def test_options_that_cannot_matter_are_named():
    assert "swap = false cannot matter: there are no storage piles." in diagnosis(storage_piles=0, swap=False)
    assert "swap = false cannot matter: a hand of one" in diagnosis(hand_size=1, swap=False)
    said = diagnosis(must_play=False)
    assert "must_play = false cannot matter: greedy and random place whatever they can." in said
    assert "must_play" not in diagnosis(must_play=False, policy="planner")
    assert "swap" not in diagnosis(swap=False)
