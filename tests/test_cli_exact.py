"""``fairdeal exact``: what is printed, that it agrees with games, and one clear line for every slip."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim import exact, get_game
from sim.cards import parse_cards
from sim.dealing import shuffled_packs
from sim.game import Spec
from sim.games import GAMES
from sim.quantities import Dealt, Seen, exact_of, simulate
from sim.replays import written_deal
from tests.command_line import call, good, refused


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_agrees_with_its_games(game: str) -> None:
    """Twenty thousand games, a fixed seed: nothing lies far off, and everything that games can show was looked at."""
    told = json.loads(good("exact", game, "--games", "20k", "--json", "--quiet"))
    assert told["game"] == game
    n_shown = 0
    for section in told["sections"]:
        for quantity in section["quantities"]:
            value = Fraction(quantity["numerator"], quantity["denominator"])
            simulated = quantity["simulated"]
            if simulated is None:
                continue
            n_shown += 1
            assert simulated["n"] > 19_000
            if quantity["kind"] == "chance":
                assert 0 <= simulated["low"] <= simulated["mean"] <= simulated["high"] <= 1
            error = max((float(value) / simulated["n"]) ** 0.5, simulated["se"] or 0, 1 / simulated["n"])
            assert abs(simulated["mean"] - float(value)) < 5 * error, (section["title"], quantity["name"])
    assert n_shown == sum(quantity.shown is not None for _, quantity in exact(game))


def test_json_has_fractions_and_what_shows_them() -> None:
    done = call("exact", "bussikuski", "--json", "--quiet", "--games", "2k", "--rule", "boundary=wrong")
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["rules"]["boundary"] == "wrong"
    quantities = {q["name"]: q for section in told["sections"] for q in section["quantities"]}
    right = quantities["all four right, own"]
    assert (right["numerator"], right["denominator"]) == (788, 12495)
    assert right["value"] == 788 / 12495
    assert right["shown_by"]["condition"] == "wrong_0 == 0"
    assert quantities["success"]["shown_by"]["rules"] == {"bus_deck": "fresh", "max_attempts": 1}
    assert quantities["success"]["shown_by"]["given"] == "driver in (0, 1, 2, 3)"
    assert quantities["all four right, random"]["shown_by"]["policies"] == {"guess": ["random"] * 4}
    deals = json.loads(good("exact", "bludiste", "--json", "--games", "0"))["sections"][-1]["quantities"][0]
    assert deals["numerator"] > 10**136
    assert deals["denominator"] == 1
    assert deals["simulated"] is None


def test_the_text() -> None:
    text = good("exact", "bussikuski", "--games", "2k", "--quiet")
    lines = text.splitlines()
    assert lines[0] == "Bussikuski: what is known exactly"
    assert "Rules       by the letter; guess own; give leader" in lines
    assert "Simulated   2,000 games for each value, seed 1, with 95 % intervals" in lines
    row = next(line for line in lines if line.startswith("question 2 right, own"))
    assert row.split()[4:7] == ["160/221", "72.3982", "%"]
    assert "±" in row
    assert max(map(len, lines)) <= 100
    assert "29 more values: --all" in lines
    assert "140 values were simulated too; the largest deviation is " in text
    whole = good("exact", "bussikuski", "--games", "0", "--all", "--quiet")
    assert "more values: --all" not in whole
    assert "simulated" not in whole
    assert len(whole.splitlines()) > len(lines)


def test_what_is_not_exact_has_a_line() -> None:
    text = good("exact", "bussikuski", "--games", "0", "--rule", "matches=one", "--quiet")
    assert "not exact   matches = one: how often the lowest card decides" in text


def test_beside_a_results_folder() -> None:
    good("run", "bussikuski", "--games", "3k", "--seed", "7", "--rule", "players=3", "--out", "mine", "--quiet")
    told = json.loads(good("exact", "bussikuski", "--from", "mine", "--json", "--quiet"))
    assert told["rules"]["players"] == 3
    assert told["seed"] == 7
    by = {(s["title"], q["name"]): q["simulated"] for s in told["sections"] for q in s["quantities"]}
    asked = json.loads(good("ask", "mine", "left_0 == 2", "--json"))
    assert by["Cards left to a player after the pyramid", "2 left"]["mean"] == asked["rate"]
    asked = json.loads(good("ask", "mine", "driver_by == 'draw'", "--json"))
    assert by["How the driver is found", "still tied: a card is drawn"]["mean"] == asked["rate"]
    asked = json.loads(good("ask", "mine", "bus_end == 'success'", "--given", "driver >= 0", "--json"))
    assert by["The bus: the ride", "ends by success"]["mean"] == asked["rate"]
    # What other games would show is left open.
    assert by["The four questions", "question 1 right, random"] is None
    assert by["The bus: one attempt from a fresh deck", "success"] is None
    assert "Simulated   the games in mine" in good("exact", "bussikuski", "--from", "mine")
    assert "--seed cannot be given too" in refused("exact", "bussikuski", "--from", "mine", "--seed", "3")
    assert "mine holds bussikuski, not dupa" in refused("exact", "dupa", "--from", "mine")
    assert "--from goes with none of" in refused("exact", "bussikuski", "--from", "mine", "--card")


def test_deals_of_a_results_folder() -> None:
    good("run", "dupa", "--games", "2k", "--seed", "3", "--out", "mine", "--quiet")
    told = json.loads(good("exact", "dupa", "--from", "mine", "--json", "--quiet"))
    by = {(s["title"], q["name"]): q["simulated"] for s in told["sections"] for q in s["quantities"]}
    assert by["Aces of a seat", "1 ace"]["n"] == 2000
    again = simulate(exact("dupa", seed=3), 2000)["Aces of a seat", "1 ace"]
    assert by["Aces of a seat", "1 ace"]["mean"] == again.mean


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("autobus", {}),
        ("autobus", {"decks": 5}),
        ("bludiste", {}),
        ("bludiste", {"decks": 1}),
        ("dupa", {"decks": 2}),
        ("dupa", {}),
    ],
)
def test_deals_are_those_of_the_games(game: str, options: dict[str, object]) -> None:
    rules = get_game(game).rules.build(options=options)
    spec = Spec.build(get_game(game), rules, seed=9)
    packs = {quantity.shown.pack for _, quantity in exact_of(spec) if isinstance(quantity.shown, Dealt)}
    assert len(packs) == 1
    deals = shuffled_packs(packs.pop(), 9, 3, 3)
    for row, index in enumerate((3, 4, 5)):
        assert list(deals[row]) == parse_cards(written_deal(spec, index))


def test_shown_by_one_number_of_rows_or_another() -> None:
    """Counting goes on from chunk to chunk: the same games in two halves give the same counts."""
    found = exact("bussikuski", rules={"bus": "none"})
    whole, first, second = simulate(found, 9_000), simulate(found, 4_000), simulate(found, 5_000, first=4_000)
    for name, counts in whole.items():
        assert counts.total == first[name].total + second[name].total
        assert counts.n == 9_000
        assert (
            np.isclose(counts.variance, counts.mean * (1 - counts.mean) * 9_000 / 8_999)
            or counts.squares != counts.total
        )
    seen = Seen("wrong_0", value=2, above=True)
    assert (seen.condition, seen.given_condition) == ("wrong_0 > 2", None)


def test_the_card() -> None:
    text = good("exact", "bussikuski", "--card")
    lines = text.splitlines()
    assert "5           higher   70.6 %   12/17" in lines
    assert next(line for line in lines if line.startswith("  2 ")).split()[-2:] == ["in", "100"]
    assert "♠ ♥ ♦        ♣     26.5 %   13/49" in lines
    assert max(map(len, lines)) <= 100
    seen = good("exact", "bussikuski", "--known", "KS KH KD AS AH", "--rule", "fourth_question=new_or_held")
    assert "Known       your own cards and K♠ K♥ K♦ A♠ A♥" in seen
    assert "4  A new suit, or one held?" in seen
    told = json.loads(good("exact", "bussikuski", "--card", "--json", "--known", "2S,2H"))
    assert told["known"] == ["2S", "2H"]
    ace = next(a for a in told["answers"] if (a["question"], a["situation"]) == (2, "A"))
    assert (ace["best"], ace["fits"]["lower"], ace["n_cards"]) == ("lower", 46, 49)
    assert Fraction(ace["numerator"], ace["denominator"]) == Fraction(46, 49)


def test_a_hand() -> None:
    text = good("exact", "bussikuski", "--hand", "5S JD", "--known", "6C 6H TS")
    assert text.splitlines() == [
        "Question 3, inside or outside: say outside.",
        "  inside   right for 23 of 47 cards, 48.94 %",
        "  outside  right for 24 of 47 cards, 51.06 %",
    ]
    assert good("exact", "bussikuski", "--hand", "").startswith("Question 1, red or black: say red.")
    assert good("exact", "bussikuski", "--hand", "2S 2H 2D").startswith("Question 4, the suit: say ♣.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bussikuksi",), "'bussikuksi' is not a game (did you mean 'bussikuski'?)"),
        ((), "exact needs GAME"),
        (("dupa", "--card"), "--card is for bussikuski: dupa asks no questions"),
        (("dupa", "--hand", "2S"), "--hand is for bussikuski"),
        (("bussikuski", "--known", "2S 2X"), "--known: card 2: '2X' is not a card"),
        (("bussikuski", "--known", "2S 2S"), "--known: 2S is named twice"),
        (("bussikuski", "--hand", "2S", "--known", "2S"), "--hand: 2S is named twice"),
        (
            ("bussikuski", "--hand", "2S 3S 4S 5S"),
            "--hand: 4 own cards: the four questions are asked with none to three",
        ),
        (("bussikuski", "--hand", "2S", "--card"), "--card prints every situation, --hand asks for one"),
        (("bussikuski", "--games", "many"), "--games: 'many' is not a whole number"),
        (("bussikuski", "--rule", "boundry=wrong"), "did you mean 'boundary'?"),
        (("bussikuski", "--guess", "owl"), "'owl' is no policy"),
        (("bussikuski", "--from", "nowhere"), "nowhere"),
        (("bussikuski", "--cards"), "exact has no option --cards (did you mean '--card'?)"),
    ],
)
def test_slips(words: tuple[str, ...], said: str) -> None:
    done = call("exact", *words)
    assert done.exit_code in (1, 2), done.output
    assert said in refused("exact", *words, status=done.exit_code)
