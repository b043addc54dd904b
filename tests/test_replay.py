"""One game again, and explicit deals: the rows are those of the run."""

import dataclasses
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sim
from sim.deals import DealError, read_deals
from sim.game import Deal, Player, Spec
from sim.games import get_game
from sim.replays import Replay, ReplayError, play_deals, replay_game, written_deal
from sim.rules import RuleError
from tests.reference import bussikuski as reference

GAME = get_game("bussikuski")

RULE_SETS: list[dict[str, Any]] = [
    {},
    {"bus": "straight"},
    {"bus": "questions", "bus_deck": "fresh", "max_turns": 30},
    {"stock_out": "reshuffle", "diamond_rows": "4,5,6,7,8,7", "blockers": "TJQKA", "max_turns": 40},
    {"bus_deck": "fresh", "max_attempts": 7, "players": 6},
    {"bus": "straight", "straight_length": 9, "stock_out": "reshuffle", "max_turns": 60},
    {"players": 7, "pyramid_rows": 6, "driver_tie": "draw"},
    {"players": 2, "pyramid_rows": 6, "bus": "none", "right_gives": True},
]
POLICIES = [{}, {"guess": "counting", "give": "spread"}, {"guess": "random", "give": "random"}]


def spec_of(rules: dict[str, Any], policies: dict[str, str], seed: int = 7) -> Spec:
    """Return a specification of Bussikuski."""
    return Spec.build(GAME, GAME.rules.build(options=rules), policies, seed)


def rows_of(spec: Spec, first: int, n_games: int) -> list[dict[str, Any]]:
    """Return the rows that a run plays."""
    played = Player(spec).play(first, n_games)
    return [
        {column.name: column.value(raw[i]) for column, raw in zip(spec.columns, played, strict=True)}
        for i in range(n_games)
    ]


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_told_row_is_the_run_s_row(rules: dict[str, Any], policies: dict[str, str]) -> None:
    spec = spec_of(rules, policies)
    first = 2**40
    assert [replay_game(spec, first + i).row for i in range(25)] == rows_of(spec, first, 25)


@pytest.mark.parametrize("policies", [POLICIES[0], POLICIES[2]])
def test_last_line_is_the_row_of_the_parquet_file(policies: dict[str, str], tmp_path: Path) -> None:
    sim.run("bussikuski", 40, seed=3, policies=policies, out=tmp_path / "run")
    frame = pd.read_parquet(tmp_path / "run").sort_values("game")
    for index, row in frame.set_index("game").iterrows():
        told = sim.replay("bussikuski", index, seed=3, policies=policies)
        pairs = dict(pair.split("=") for pair in told.lines[-1].split(" "))
        assert pairs == {"game": str(index), **{name: str(value) for name, value in row.items()}}


def test_a_replay_is_a_plain_object() -> None:
    told = sim.replay("bussikuski", 5, variant="straight")
    assert isinstance(told, Replay)
    assert told.index == 5
    assert told.error is None
    assert str(told) == told.text == "\n".join(told.lines)
    assert told.record == {"game": 5, **told.row}
    plain = told.to_json()
    assert plain["row"]["game"] == 5
    assert plain["rules"]["bus"] == "straight"
    assert plain["lines"] == list(told.story)


@pytest.mark.parametrize("index", [-1, 2**64])
def test_an_index_that_cannot_be_is_refused(index: int) -> None:
    with pytest.raises(RuleError, match="is out of range; allowed: 0 to"):
        sim.replay("bussikuski", index)


# -- explicit deals -----------------------------------------------------------------------------------------------


def deal_of(spec: Spec, index: int) -> Deal:
    """Return the explicit deal that equals a seeded game, read from its line; its policies' numbers are the game's."""
    (deal,) = read_deals([written_deal(spec, index).encode()], spec.game, spec.rules, name="line")
    return dataclasses.replace(deal, line=index)


@pytest.mark.parametrize("policies", POLICIES)
@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_written_deal_of_a_seeded_game_equals_it(rules: dict[str, Any], policies: dict[str, str]) -> None:
    spec = spec_of(rules, policies)
    games = [replay_game(spec, index) for index in range(12)]
    deals = [deal_of(spec, index) for index in range(12)]
    assert [played.row for played in play_deals(spec, deals)] == [game.row for game in games]
    told = list(play_deals(spec, deals, tell=True))
    assert [played.row for played in told] == [game.row for game in games]
    assert [played.story for played in told] == [game.story for game in games]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_explicit_deals_are_played_as_the_reference_plays_them(rules: dict[str, Any]) -> None:
    """Also where a reshuffle for the draw takes the first further order, not the bus deck."""
    spec = spec_of(rules, {"guess": "counting", "give": "neighbour"})
    plain = {**spec.rules.plain(), "diamond_rows": spec.rules.diamond_rows}
    source = random.Random(str(rules))
    for _ in range(100):
        decks = [source.sample(reference.CARDS, 52) for _ in range(source.choice([1, 2, 3, 3, 4, 9]))]
        line = " | ".join(map(" ".join, decks))
        (played,) = sim.replay_deals(
            "bussikuski", [line], rules=spec.rules, policies={"guess": "counting", "give": "neighbour"}
        )
        seats = spec.rules.players
        try:
            expected = reference.play(
                plain, ["counting"] * seats, ["neighbour"] * seats, reference.ExplicitOrders(decks)
            )
        except reference.NeedsOrder:
            assert played.error is not None
            assert set(played.row.values()) == {None}
        else:
            assert played.error is None
            assert played.row == expected


def line_of(n_decks: int) -> str:
    """Return a line of a deals file."""
    source = random.Random(1)
    return " | ".join(" ".join(source.sample(reference.CARDS, 52)) for _ in range(n_decks))


def test_a_deal_that_lacks_a_deck_says_so(tmp_path: Path) -> None:
    (tmp_path / "deals.txt").write_text(f"{line_of(1)}\n{line_of(2)}\n")
    short, whole = sim.replay_deals("bussikuski", tmp_path / "deals.txt")
    assert short.error == "the game needs one deck more than the one on the line"
    assert list(short.record) == ["line", *short.row, "random", "error"]
    assert short.lines[-1] == short.error
    assert whole.error is None
    assert whole.record["line"] == 2
    (told, _) = sim.replay_deals("bussikuski", tmp_path / "deals.txt", tell=True)
    assert told.error == short.error


def test_random_numbers_come_from_the_seed_and_the_line() -> None:
    decks = line_of(2)
    policies = {"guess": "random", "give": "random"}
    first, second = sim.replay_deals("bussikuski", [decks, decks], policies=policies)
    again, _ = sim.replay_deals("bussikuski", [decks, decks], policies=policies)
    other, _ = sim.replay_deals("bussikuski", [decks, decks], policies=policies, seed=2)
    assert first.row == again.row
    assert len({str(played.row) for played in (first, second, other)}) == 3
    assert first.random
    assert "random numbers of seed 1" in first.lines[0]
    (plain,) = sim.replay_deals("bussikuski", [decks])
    assert not plain.random


def test_nothing_is_played_if_a_line_is_wrong() -> None:
    with pytest.raises(DealError, match="line 2"):
        sim.replay_deals("bussikuski", [line_of(2), line_of(2) + " AS"])


def test_a_game_too_long_to_be_written_as_a_deal() -> None:
    spec = spec_of({"blockers": "A23456789TJQK", "bus_deck": "fresh", "max_turns": 150_000}, {})
    with pytest.raises(ReplayError, match="game 0 is too long to be written as a deal"):
        written_deal(spec, 0)
