"""A game of Dupa biskupa told: golden transcripts, and everything told is what the reference says happened."""

import random
from pathlib import Path

import pytest

from sim.cards import CARDS
from sim.game import Spec
from sim.games import get_game
from sim.games.dupa import record as rec
from sim.games.dupa.kernel import fold
from sim.games.dupa.state import ENDS
from sim.games.dupa.watch import watch
from sim.replays import WIDTH, replay_deals, replay_game, written_deal
from tests.golden.rewrite import FOLDER, transcript
from tests.reference import dupa as reference
from tests.test_dupa import random_options

GAME = get_game("dupa")
GOLDEN = sorted(FOLDER.glob("dupa-*.txt"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_transcript(path: Path) -> None:
    """Written by ``python tests/golden/rewrite.py`` from the command on the first line."""
    expected = path.read_text()
    assert transcript(expected.splitlines()[0]).splitlines() == expected.splitlines()


# -- every event, against the reference ---------------------------------------------------------------------------


def facts_of(watched):
    """Return the kernel's events as facts in the reference's words."""
    facts, number, is_same_move = [], -1, False
    for kind, a, b, *_ in watched.events:
        if kind == rec.ROUND:
            number = a
        elif kind == rec.PLAY:
            word, seat = "dupa" if b else "plain", a
        elif kind == rec.CARD:
            text = CARDS[a % 52]
            last = facts[-1] if facts else ("",)
            if last[0] == word and last[1] == seat and last[2][0] == text[0] and is_same_move:
                facts[-1] = (*last, text)
            else:
                facts.append((word, seat, text))
        elif kind == rec.RESHUFFLE:
            facts.append(("reshuffle",))
        elif kind == rec.DRAW:
            facts.append(("draw", a, CARDS[b % 52]))
        elif kind == rec.PASS:
            facts.append(("pass", a))
        elif kind == rec.END:
            facts.append(("end", number, ENDS[a], b))
        is_same_move = kind == rec.CARD
    return facts


def facts_of_reference(events):
    """Return the reference's events without what the kernel's do not hold."""
    kept = {"reshuffle": 1, "end": 4}
    return [tuple(event[: kept.get(event[0], len(event))]) for event in events if event[0] != "round"]


class Played:
    """A policy of the reference that makes the moves the kernel made; the reference refuses an illegal one."""

    def __init__(self, watched) -> None:
        self.moves: dict[tuple[int, int], reference.Move] = {}
        number = turn = -1
        for kind, a, b, *_ in watched.events:
            if kind == rec.ROUND:
                number, turn = a, -1
            elif kind == rec.TURN:
                turn += 1
            elif kind == rec.PLAY:
                self.moves[number, turn] = reference.Move((), bool(b))
            elif kind == rec.CARD:
                move, card = self.moves[number, turn], CARDS[a % 52]
                sets = [list(cards) for cards in move.sets]
                if not sets or sets[-1][0][0] != card[0]:
                    sets.append([])
                sets[-1].append(card)
                self.moves[number, turn] = reference.Move(tuple(map(tuple, sets)), move.dupa)

    def __call__(self, table, seat, drawn=None):
        return self.moves.get((table.round, table.turns), reference.Move())


@pytest.mark.parametrize("number", range(60))
def test_what_is_told_is_what_happened(number: int) -> None:
    rules, policies = random_options(random.Random(number))
    spec = Spec.build(GAME, rules, policies, 11)
    folded = fold(spec.rules, spec.policies)
    for index in range(3):
        watched = watch(spec, folded, index, None)
        events: list[tuple[object, ...]] = []
        orders = reference.SeededOrders(spec.seed, index, rules.decks)
        row = reference.play(rules.plain(), spec.policies["policy"], orders, events=events)
        assert facts_of(watched) == facts_of_reference(events)
        played = replay_game(spec, index)
        assert played.row == row
        assert all(len(line) <= WIDTH for line in played.lines[:-1])


@pytest.mark.parametrize("number", range(60))
def test_careful_plays_by_the_rules(number: int) -> None:
    """The reference, which refuses an illegal move, makes the moves that careful made, and comes to the same row."""
    rules, policies = random_options(random.Random(number), ("careful", "careful", "greedy"))
    spec = Spec.build(GAME, rules, policies, 12)
    folded = fold(spec.rules, spec.policies)
    for index in range(3):
        watched = watch(spec, folded, index, None)
        orders = reference.SeededOrders(spec.seed, index, rules.decks)
        row = reference.play(rules.plain(), [Played(watched)] * rules.players, orders)
        assert {c.name: c.value(raw) for c, raw in zip(spec.columns, watched.raw, strict=True)} == row


# -- single sentences ---------------------------------------------------------------------------------------------


def told(index, policy="greedy", **rules):
    return replay_game(Spec.build(GAME, GAME.rules.build(options=rules), {"policy": policy}), index).lines


def test_a_long_game_is_told_in_part() -> None:
    lines = told(0, dupa="off", match="rank", max_turns=1000)
    assert sum(line.lstrip()[:1].isdigit() and "Seat" in line for line in lines) == 400
    assert "  … 600 turns not shown …" in lines
    assert any(line.startswith("  1000. Seat 3 ") for line in lines)
    assert any("The round is cut off here (max_turns): 1,000 turns, and nobody wins it." in line for line in lines)
    assert "  Nobody wins." in lines


def test_a_match_too_long_to_be_watched_still_says_who_won() -> None:
    lines = told(0, dupa="off", match="rank", max_turns=200_000, rounds=2)
    assert "… the rest of the match is not shown …" in lines
    assert "Score of the match" in lines


def test_a_round_that_is_stuck_says_so() -> None:
    stuck = dict(hand_size=26, players=2, pass_when="any", dupa="off", keep_top=True)
    spec = Spec.build(GAME, GAME.rules.build(options=stuck), {"policy": "random"})
    for index in range(3000):
        played = replay_game(spec, index)
        if played.row["end"] == "stuck":
            assert any("the round is stuck, and nobody wins it." in line for line in played.lines)
            assert any("passes, nothing to draw" in line for line in played.lines)
            return
    raise AssertionError("no round was stuck")


def test_a_pile_turned_over() -> None:
    spec = Spec.build(GAME, GAME.rules.build(variant="table"))
    line = written_deal(spec, 0)
    (played,) = replay_deals("dupa", [line], variant="table", tell=True, reshuffle="reverse")
    (other,) = replay_deals("dupa", [line], variant="table", tell=True, reshuffle="reverse", seed=5)
    assert played.story == other.story
    assert not played.random
    assert any("are turned over into a new stock" in text for text in played.lines)
    assert "reshuffle reverse." in " ".join(played.lines[:3])
    (shuffled,) = replay_deals("dupa", [line], variant="table", tell=True)
    assert shuffled.random
    assert shuffled.story != played.story
