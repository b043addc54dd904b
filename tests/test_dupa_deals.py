"""Deals files of Dupa biskupa, and `--reshuffle`."""

import json
import random
from pathlib import Path

import pytest

import sim
from sim.cards import CARDS
from sim.deals import DealError, read_deals
from sim.games import get_game
from sim.rules import RuleError
from tests.command_line import good, refused

GAME = get_game("dupa")


def deck(seed: int, decks: int = 1) -> str:
    cards = list(CARDS) * decks
    random.Random(seed).shuffle(cards)
    return " ".join(cards)


def read(line: str, **options: object):
    (deal,) = read_deals([line.encode()], GAME, GAME.rules.build(options=options), name="deals.txt")
    return deal


def test_a_deck_for_each_round_one_after_another() -> None:
    deal = read(f"{deck(1)} {deck(2)} {deck(3)}", rounds=3)
    assert [" ".join(CARDS[card] for card in order) for order in deal.orders] == [deck(1), deck(2), deck(3)]
    assert [len(order) for order in read(deck(4, decks=3), decks=3).orders] == [156]


@pytest.mark.parametrize(
    ("line", "options", "said"),
    [
        (deck(1).rsplit(" ", 1)[0], {}, "line 1: 51 cards instead of 52"),
        (f"{deck(1)} AS", {}, "card 53, AS, occurs twice"),
        (deck(1).replace("2S", "1S"), {}, "'1S' is not a card"),
        (deck(1), {"rounds": 2}, "52 cards instead of 104: 2 rounds of 52 cards are expected"),
        (f"{deck(1)} {deck(2)}", {}, "occurs twice"),
        (f"{deck(1)} {deck(2)}".replace("2S", "2H"), {"rounds": 2}, "deck of round 1: card"),
        (deck(1, decks=2).replace("2S", "2H"), {"decks": 2}, "2H, occurs more than 2 times"),
    ],
)
def test_a_wrong_deal_says_what_was_expected(line: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(DealError, match="^deals.txt, line 1: ") as caught:
        read(line, **options)
    assert said in str(caught.value)


def test_reverse_makes_a_game_a_function_of_the_deal(tmp_path: Path) -> None:
    path = tmp_path / "deals.txt"
    path.write_text("\n".join(deck(seed) for seed in range(30)) + "\n")
    how = ["replay", "dupa", "--deals", str(path), "--jsonl", "--variant", "table"]
    reverse = [json.loads(line) for line in good(*how, "--reshuffle", "reverse").splitlines()]
    again = [json.loads(line) for line in good(*how, "--reshuffle", "reverse", "--seed", "9").splitlines()]
    shuffled = [json.loads(line) for line in good(*how).splitlines()]
    assert reverse == again != shuffled
    assert {record["random"] for record in reverse} == {False}
    assert {record["random"] for record in shuffled} == {True}
    at_random = [json.loads(line) for line in good(*how, "--reshuffle", "reverse", "--policy", "random").splitlines()]
    assert {record["random"] for record in at_random} == {True}


def test_reshuffle_where_there_is_nothing_to_choose() -> None:
    assert "--reshuffle: bussikuski has nothing to choose there" in refused(
        "replay", "bussikuski", "--deals", "-", "--reshuffle", "reverse"
    )
    said = refused("replay", "dupa", "--deals", "-", "--reshuffle", "revers")
    assert "'revers' is no way to reshuffle; choose reverse (did you mean 'reverse'?)" in said
    assert "--reshuffle is for --deals" in refused("replay", "dupa", "--game", "1", "--reshuffle", "reverse")
    with pytest.raises(RuleError, match="nothing to choose"):
        sim.replay_deals("bussikuski", [deck(1)], reshuffle="reverse")
