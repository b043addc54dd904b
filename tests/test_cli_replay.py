"""`fairdeal replay`: one game told, and deals files."""

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.command_line import DECKS, call, good, refused


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def test_replay_from_a_results_folder_tells_the_row_in_it() -> None:
    how = "--seed 9 --guess random --rule players=3".split()
    good("run", "bussikuski", "--games", "50", "--out", "mine", *how, "--quiet")
    frame = pd.read_parquet("mine").set_index("game")
    text = good("replay", "bussikuski", "--from", "mine", "--game", "17")
    pairs = dict(pair.split("=") for pair in text.splitlines()[-1].split(" "))
    assert pairs == {"game": "17", **{name: str(value) for name, value in frame.loc[17].items()}}
    assert text == good("replay", "bussikuski", "--game", "17", *how)


def test_replay_json() -> None:
    told = json.loads(good("replay", "bussikuski", "--game", "3", "--json", "--variant", "quick"))
    assert list(told) == ["game", "rules", "policies", "seed", "index", "row", "lines"]
    assert told["rules"]["max_attempts"] == 3
    assert told["row"]["game"] == 3
    assert told["lines"][0] == "Phase 1: four questions"


def test_a_deal_written_out_and_played_again() -> None:
    line = good("replay", "bussikuski", "--game", "8", "--deal")
    Path("deals.txt").write_text(f"# game 8 of seed 1\n\n{line}")
    (record,) = map(json.loads, good("replay", "bussikuski", "--deals", "deals.txt", "--jsonl").splitlines())
    row = json.loads(good("replay", "bussikuski", "--game", "8", "--json"))["row"]
    assert record == {"line": 3, **{name: value for name, value in row.items() if name != "game"}, "random": False}
    assert list(record)[1:-1] == list(row)[1:]
    told = good("replay", "bussikuski", "--game", "8").splitlines()
    explicit = good("replay", "bussikuski", "--deals", "deals.txt").splitlines()
    assert explicit[1:-1] == told[1:-1]
    assert explicit[-1] == told[-1].replace("game=8", "line=3")


def test_deals_from_standard_input_in_all_forms() -> None:
    deals = f"{DECKS[0]} | {DECKS[1]}\n{DECKS[2]} | {DECKS[3]}\n"
    lines = good("replay", "bussikuski", "--deals", "-", "--jsonl", "--give", "random", stdin=deals).splitlines()
    assert [json.loads(line)["line"] for line in lines] == [1, 2]
    assert all(json.loads(line)["random"] for line in lines)
    whole = json.loads(good("replay", "bussikuski", "--deals", "-", "--json", "--give", "random", stdin=deals))
    assert whole["deals"] == list(map(json.loads, lines))
    text = good("replay", "bussikuski", "--deals", "-", "--give", "random", stdin=deals)
    assert text.count("Phase 1: four questions") == 2
    other = good("replay", "bussikuski", "--deals", "-", "--jsonl", "--give", "random", "--seed", "2", stdin=deals)
    assert other.splitlines() != lines


def test_a_deal_without_a_bus_deck_is_an_error_of_its_record_only() -> None:
    deals = f"{DECKS[0]}\n{DECKS[0]} | {DECKS[1]}\n"
    done = call("replay", "bussikuski", "--deals", "-", "--jsonl", stdin=deals)
    assert done.exit_code == 1
    short, whole = map(json.loads, done.stdout.splitlines())
    assert short["error"] == "the game needs one deck more than the one on the line"
    assert {short[name] for name in short if name not in ("line", "random", "error")} == {None}
    assert list(short)[: len(whole)] == list(whole)
    assert "error" not in whole
    assert done.stderr == "fairdeal: 1 of 2 deals lacks a deck that its game needs; the first is in line 1\n"
    assert good("replay", "bussikuski", "--deals", "-", "--jsonl", "--rule", "bus=none", stdin=f"{DECKS[0]}\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (DECKS[1].rsplit(" ", 1)[0], "line 3: deck: 51 cards instead of 52"),
        (DECKS[1].replace("2S", "1S"), "'1S' is not a card"),
        (DECKS[1].replace("2S", "2H"), "2H, occurs twice"),
        (f"{DECKS[1]} | {DECKS[2]} AS", "line 3: bus deck: card 53, AS, occurs twice"),
    ],
)
@pytest.mark.parametrize("form", [[], ["--jsonl"], ["--json"]])
def test_a_wrong_deal_is_refused_before_anything_is_printed(line: str, said: str, form: list[str]) -> None:
    Path("deals.txt").write_text(f"{DECKS[0]} | {DECKS[1]}\n# next\n{line}\n")
    message = refused("replay", "bussikuski", "--deals", "deals.txt", *form)
    assert message.startswith("deals.txt, line 3: ")
    assert said in message


def test_a_folder_of_another_game_cannot_be_replayed_as_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    good("run", "bussikuski", "--games", "10", "--out", "mine", "--quiet")
    manifest = json.loads(Path("mine/_run.json").read_text())
    manifest["spec"]["game"] = "chess"
    Path("mine/_run.json").write_text(json.dumps(manifest))
    assert "'chess' is not a game" in refused("replay", "bussikuski", "--from", "mine", "--game", "1")
