"""A game of Bludiště told: golden transcripts, and everything told is what the kernel did."""

import random
import re
from pathlib import Path

import pytest

from sim.game import Spec
from sim.games import get_game
from sim.games.bludiste.tell import Teller
from sim.replays import WIDTH, replay_game
from tests.golden.rewrite import FOLDER, transcript

GAME = get_game("bludiste")
GOLDEN = sorted(FOLDER.glob("bludiste-*.txt"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_transcript(path: Path) -> None:
    """Written by ``python tests/golden/rewrite.py`` from the command on the first line."""
    expected = path.read_text()
    assert transcript(expected.splitlines()[0]).splitlines() == expected.splitlines()


def test_every_variant_has_a_golden_transcript() -> None:
    assert {path.stem.split("-")[1] for path in GOLDEN} >= set(GAME.rules.VARIANTS)


@pytest.mark.parametrize("number", range(40))
def test_what_is_told_adds_up(number: int) -> None:
    """The teller asserts that each card lies where it is taken from; here, that nothing is left out."""
    source = random.Random(number)
    kinds = GAME.rules.kinds().items()
    options = {name: source.choice(kind.samples()) for name, kind in kinds if source.random() < 0.5}
    policy = source.choice(["first", "random", "best"])
    played = replay_game(Spec.build(GAME, GAME.rules.build(options=options), {"policy": policy}, 11), number)
    text = " ".join(line.strip() for line in played.story)
    assert len(re.findall(r"\(row \d+, column \d+\)", text)) == played.row["placed"]
    assert len(re.findall(r"Row \d+ is opened", text)) == played.row["rows"]
    at_once = len(re.findall(r"fills the gap", text))
    together = sum(int(n) for n in re.findall(r"(\d+) gaps? filled", text))
    assert at_once + together == played.row["refilled"]
    assert text.endswith(".")
    assert ("Won: all" in text) == (played.row["won"] == 1)
    assert all(len(line) <= WIDTH for line in played.lines[:-1])


def test_the_deal_of_a_seeded_game() -> None:
    line = Teller(Spec.build(GAME)).deal(3)
    assert line.startswith("6S 8S 2C 5D TC 5H TD 4D 5S 2H ")
    assert len(line.split()) == 96
    assert len(Teller(Spec.build(GAME, GAME.rules.build(options={"decks": 1}))).deal(3).split()) == 48
