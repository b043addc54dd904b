"""A game of Autobus told: golden transcripts, and what is told is what happened."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from sim.cards import SYMBOLS
from sim.game import Spec
from sim.games import get_game
from sim.games.autobus import tell
from sim.replays import WIDTH, replay_game
from tests.golden.rewrite import FOLDER, transcript
from tests.reference import autobus as reference

GAME = get_game("autobus")
GOLDEN = sorted(FOLDER.glob("autobus-*.txt"))
CARD = re.compile(rf"[A2-9TJQK][{SYMBOLS}]")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_transcript(path: Path) -> None:
    expected = path.read_text()
    assert transcript(expected.splitlines()[0]).splitlines() == expected.splitlines()


def test_golden_transcripts_show_every_move() -> None:
    text = "\n".join(path.read_text() for path in GOLDEN)
    for said in (
        "starts a new pile",
        "goes onto",
        "from storage pile",
        "the bus turns up",
        "the bus is empty",
        "The pile is finished and returns",
        "The hand is empty: draws",
        "Stores",
        "Swaps",
        "under the bus",
        "no way is open: passes",
        "wins.",
        "A stalemate:",
        "Cut off after",
        "A deadlock:",
    ):
        assert said in text, said


def told(index: int, policy: list[str] | None = None, **rules: object) -> list[str]:
    """Tell a game of seed 1."""
    spec = Spec.build(GAME, GAME.rules.build(options=rules), {"policy": policy})
    return list(replay_game(spec, index).story)


def test_every_move_of_the_reference_is_told() -> None:
    """The same number of cards placed, drawn, stored, buried and swapped, in the same order."""
    rnd = random.Random(1)
    for _ in range(40):
        options = reference.random_options(rnd) | {"max_turns": 60}
        rules = GAME.rules.build(options=options)
        policy = [rnd.choice(["greedy", "random"]) for _ in range(rules.players)]
        lines = "\n".join(told(3, policy, **options))
        row = reference.play(options, policy, reference.SeededOrders(1, 3))
        assert len(re.findall(r"starts a new pile|goes onto", lines)) == row["plays"]
        assert len(re.findall(r"The pile is finished", lines)) == row["finished_piles"]
        assert len(re.findall(r"under the bus\.", lines)) == row["buried"]
        assert len(re.findall(r"Swaps", lines)) == row["swaps"]
        assert len(re.findall(r"^Turn \d+, seat", lines, re.MULTILINE)) == row["turns"]


def test_the_table_holds_the_seats_cards() -> None:
    """After each turn's draw the hand is as large as it can be, and no line is too wide."""
    for line in told(5, stalemate_rounds=0):
        assert len(line) <= WIDTH
        if line.startswith("  hand"):
            assert len(CARD.findall(line)) <= 5
        if line.startswith("  piles"):
            tops = [card[0] for card in re.findall(rf"(?:…)?([A2-9TJQK][{SYMBOLS}])(?:  |$)", line)]
            assert Counter(tops)["K"] == 0


def test_a_long_game_is_told_with_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tell, "MOST_TURNS", 12)
    monkeypatch.setattr(tell, "LAST_TURNS", 4)
    lines = told(5, stalemate_rounds=0)
    turns = [int(line.split()[1].rstrip(",")) for line in lines if line.startswith("Turn ")]
    assert turns[:8] == list(range(1, 9))
    assert len(turns) == 12
    assert turns[8:] == list(range(turns[-1] - 3, turns[-1] + 1))
    assert f"… {turns[-1] - 12} turns more …" in lines
