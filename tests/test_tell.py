"""A game of Bussikuski told: golden transcripts, and everything told is what the reference says happened."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sim.cards import card_text, from_ace_high
from sim.game import Spec
from sim.games import get_game
from sim.games.bussikuski import record as rec
from sim.games.bussikuski.kernel import fold
from sim.games.bussikuski.rules import Bus
from sim.games.bussikuski.watch import Event, watch
from sim.replays import WIDTH, Replay, replay_game
from tests.golden.rewrite import FOLDER, transcript
from tests.reference import bussikuski as reference

GAME = get_game("bussikuski")
GOLDEN = sorted(FOLDER.glob("bussikuski-*.txt"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_transcript(path: Path) -> None:
    """Written by ``python tests/golden/rewrite.py`` from the command on the first line."""
    expected = path.read_text()
    assert transcript(expected.splitlines()[0]).splitlines() == expected.splitlines()


@pytest.mark.parametrize("bus", [bus.text for bus in Bus])
def test_every_bus_has_a_golden_transcript(bus: str) -> None:
    assert [path for path in GOLDEN if path.stem.startswith(f"bussikuski-{bus}-")]


def told(index: int, policies: dict[str, str] | None = None, **rules: object) -> Replay:
    """Tell a game of seed 1."""
    return replay_game(Spec.build(GAME, GAME.rules.build(options=rules), policies), index)


# -- every event, against the reference ---------------------------------------------------------------------------


def text(card: int) -> str:
    return card_text(from_ace_high(card))


ANSWERS = [("red", "black"), ("higher", "lower"), ("inside", "outside")]
VERDICTS = {rec.WRONG: "wrong", rec.RIGHT: "right", rec.FREE: "free"}


def answer_of(spec: Spec, question: int, answer: int) -> str:
    """Return the reference's word for an answer of the kernel."""
    if question < 3:
        return ANSWERS[question][answer]
    return "SHDC"[answer] if spec.rules.fourth_question.text == "suit" else ("held", "new")[answer]


def ours(spec: Spec, events: tuple[Event, ...]) -> list[Any]:
    """Return the kernel's events as facts; gifts of one giver are one fact."""
    facts: list[Any] = []
    last = rec.END
    for kind, a, b, c, d, e in events:
        if kind == rec.ANSWER:
            facts.append(("guess", b + 1, a, answer_of(spec, b, c), text(d), VERDICTS[e]))
        elif kind == rec.GIFT:
            if last != rec.GIFT:
                facts.append(("gift", a, Counter()))
            facts[-1][2][b] += c
        elif kind == rec.PYRAMID:
            facts.append(("pyramid", c, text(b)))
        elif kind == rec.PLAY:
            facts.append(("match", a, b))
        elif kind == rec.DRAW:
            facts.append(("draw", a, text(b)))
        elif kind == rec.DRAW_RESHUFFLE:
            facts.append(("draw_reshuffle", a))
        elif kind == rec.TURN:
            facts.append(("turn", a, text(b)))
        elif kind == rec.BASE:
            facts.append(("base", text(a)))
        elif kind == rec.BUS_ANSWER:
            word = ANSWERS[1][b] if spec.rules.bus is Bus.STRAIGHT else answer_of(spec, a, b)
            facts.append(("bus_guess", a + 1, word, text(c), bool(d)))
        elif kind == rec.BUS_RESHUFFLE:
            facts.append(("bus_reshuffle", a))
        elif kind == rec.REFILL:
            facts.append(("stock", b))
        last = kind
    return facts


def theirs(events: reference.Events) -> list[Any]:
    """Return the reference's events as facts."""
    facts: list[Any] = []
    for kind, *rest in events:
        values: list[Any] = list(rest)
        if kind == "gift":
            facts.append(("gift", values[0], Counter(values[1])))
        elif kind == "match":
            facts.append(("match", values[0], len(values[1])))
        elif kind in ("draw_reshuffle", "bus_reshuffle"):
            facts.append((kind, len(values[0])))
        elif kind == "bus_guess":
            facts.append((kind, *values[:3], values[3] == "right"))
        elif kind == "refilled":
            facts.append(("stock", values[1]))
        elif kind not in ("driver", "blocked"):
            facts.append((kind, *values))
    return facts


def random_spec(source: random.Random) -> Spec:
    """Return a specification with about a third of the options changed."""
    while True:
        kinds = GAME.rules.kinds().items()
        options = {name: source.choice(kind.samples()) for name, kind in kinds if source.random() < 0.35}
        options["max_turns"] = source.randint(1, 40)
        policies = {slot.name: [source.choice(list(slot.choices)) for _ in range(8)] for slot in GAME.slots}
        try:
            rules = GAME.rules.build(options=options)
        except ValueError:
            continue
        return Spec.build(GAME, rules, {slot: names[: rules.players] for slot, names in policies.items()}, 11)


@pytest.mark.parametrize("number", range(60))
def test_what_is_told_is_what_happened(number: int) -> None:
    spec = random_spec(random.Random(number))
    plain = {**spec.rules.plain(), "diamond_rows": spec.rules.diamond_rows}
    folded = fold(spec.rules, spec.policies)
    for index in range(4):
        watched = watch(spec, folded, index, None)
        events: reference.Events = []
        row = reference.play(
            plain, spec.policies["guess"], spec.policies["give"], reference.SeededOrders(spec.seed, index), None, events
        )
        assert ours(spec, watched.events) == theirs(events)
        played = replay_game(spec, index)
        assert played.row == row
        assert all(len(line) <= WIDTH for line in played.lines[:-1])


# -- single sentences ---------------------------------------------------------------------------------------------


def test_a_long_ride_is_told_in_part() -> None:
    lines = told(0, bus_deck="fresh", blockers="A23456789TJQK").lines
    attempts = [line for line in lines if line.startswith("  Attempt ")]
    assert len(attempts) == 120
    assert "  … 9,880 attempts not shown …" in lines
    assert attempts[-1].startswith("  Attempt 10,000: ")
    assert any("The ride is cut off here (max_turns): 10,000 attempts" in line for line in lines)


def test_a_ride_too_long_to_be_watched_still_says_how_it_ended() -> None:
    lines = told(0, bus_deck="fresh", blockers="A23456789TJQK", max_turns=100_000).lines
    assert "  … 99,883 attempts not shown" in lines
    assert any("The ride is cut off here (max_turns): 100,000 attempts" in line for line in lines)


def test_a_wide_diamond_stays_within_the_page() -> None:
    lines = told(0, diamond_rows=",".join("1" * 52), blockers="none").lines
    assert all(len(line) <= WIDTH for line in lines[:-1])
    assert any("gets through all 52 rows" in line for line in lines)


@pytest.mark.parametrize(
    ("blockers", "said"), [("none", "nothing stops it"), ("K", "K stops it"), ("JQ", "J Q stop it")]
)
def test_what_stops_a_ride(blockers: str, said: str) -> None:
    assert any(said in line for line in told(0, blockers=blockers).lines)
