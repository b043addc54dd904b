"""`fairdeal solve`, and `fairdeal replay` with the solver."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from sim.games.bludiste.lines import read_moves
from tests.command_line import call, good, refused
from tests.reference import bludiste as ref


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


SOLVE = ("solve", "bludiste", "--games", "400", "--rule", "columns=12", "--quiet")


def test_solve_prints_the_share_and_what_policies_win_of_it() -> None:
    text = good(*SOLVE, "--out", "mine", "--paired", "200")
    rows = pd.read_parquet("mine")
    n = int((rows["status"] == "solved").sum())
    assert text.splitlines()[0] == "Bludiště: 400 deals, seed 1"
    assert "Rules       by the letter, but columns = 12" in text
    assert re.search(rf"^Can be won .* {n}$", text, re.MULTILINE)
    assert re.search(rf"^Cannot be won .* {400 - n}$", text, re.MULTILINE)
    assert "No deal is unknown: nothing but chance is left open." in text
    assert "on the same 200 deals (the first ones)" in text
    assert re.findall(r"^(first|random|best) ", text, re.MULTILINE) == ["first", "random", "best"]
    assert good("summary", "mine") == text
    for policy in ("first", "random", "best"):
        played = pd.read_parquet(f"mine/_policies/{policy}")
        good(
            "run", "bludiste", "--games", "200", "--rule", "columns=12", "--policy", policy, "--out", policy, "--quiet"
        )
        pd.testing.assert_frame_equal(played, pd.read_parquet(policy))
        won = rows.merge(played, on="game", suffixes=("", "_played"))
        assert (won["won"] >= won["won_played"]).all(), "a policy wins a deal that is unsolvable"


def test_solve_json_counts_the_unknown_both_ways() -> None:
    told = json.loads(good(*SOLVE, "--nodes", "30", "--json", "--policies", "first", "--out", "mine"))
    rows = pd.read_parquet("mine")
    counts = rows["status"].value_counts()
    found = told["solvability"]
    assert {name: found[name] for name in counts.index} == dict(counts)
    assert counts["unknown"] > 10
    ends = found["solvable"]
    assert ends["lost"]["mean"] == counts["solved"] / 400
    assert ends["won"]["mean"] == (counts["solved"] + counts["unknown"]) / 400
    assert ends["low"] == ends["lost"]["low"] < ends["lost"]["mean"] < ends["won"]["mean"] < ends["won"]["high"]
    assert ends["high"] == ends["won"]["high"]
    (rival,) = found["rivals"]
    first = pd.read_parquet("mine/_policies/first")
    assert (rival["policy"], rival["games"]) == ("first", 400)
    assert rival["won"]["mean"] == first["won"].mean()
    lost = first["won"] == 0
    assert rival["missed"]["mean"] == pytest.approx((lost & (rows["won"] == 1)).mean())
    assert rival["missed_at_most"]["mean"] == pytest.approx((lost & (rows["status"] != "unsolvable")).mean())
    assert rival["unknown_but_won"] == ((rows["status"] == "unknown") & ~lost).sum()
    both = ((rows["won"] == 1) & (first["won"] == 1)).sum()
    assert rival["of_solvable"]["mean"] == pytest.approx(both / counts["solved"])
    assert told["nodes"] == 30
    assert told["ends"]["limit"]["nodes"] == counts["unknown"]
    text = good("summary", "mine")
    assert f"if none of the {counts['unknown']} unknown deals can be won" in text
    asked = json.loads(good("ask", "mine", "status == 'unknown' and nodes == 30", "--json"))
    assert asked["events"] == counts["unknown"]


def test_solve_goes_on_and_keeps_moves() -> None:
    good(*SOLVE, "--keep-moves", "--paired", "0", "--out", "mine")
    assert not Path("mine/_policies").exists()
    rows = pd.read_parquet("mine")
    moves = rows["moves"].dropna()
    assert len(moves) == (rows["status"] == "solved").sum() > 20
    game = int(moves.index[0])
    assert ref.check_line({"columns": 12}, ref.seeded_stock({"columns": 12}, 1, game), read_moves(moves[game]))["won"]
    more = ["500" if word == "400" else word for word in SOLVE]
    good(*more, "--keep-moves", "--paired", "0", "--out", "mine")
    assert len(pd.read_parquet("mine")) == 500
    told = good("replay", "bludiste", "--from", "mine", "--game", game)
    assert "The deal can be won" in told
    assert f"moves={moves[game]}" in told


def test_escalate_tries_the_unknown_again() -> None:
    done = call(*SOLVE[:-1], "--nodes", "10", "--escalate", "--paired", "0", "--out", "mine", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert [stage["nodes"] for stage in told["stages"]] == [10, 100, 1000]
    assert [stage["folder"] for stage in told["stages"]] == ["mine", "mine-100-nodes", "mine-1000-nodes"]
    unknown = [stage["unknown"] for stage in told["stages"]]
    assert unknown == sorted(unknown, reverse=True)
    assert told["folder"] == "mine-1000-nodes"
    assert f"{unknown[0]:,} deals are unknown; they are tried again with 100 nodes each." in done.stderr
    good(*SOLVE, "--nodes", "1000", "--paired", "0", "--out", "direct")
    pd.testing.assert_frame_equal(pd.read_parquet("mine-1000-nodes"), pd.read_parquet("direct"))


def test_solve_refuses() -> None:
    assert refused("solve", "dupa", "--games", "10") == "dupa has no solver; bludiste has one"
    assert refused("solve", "bludiste") == "solve needs --games; see 'fairdeal solve --help'"
    assert "did you mean 'best'?" in refused(*SOLVE, "--policies", "bst")
    assert refused(*SOLVE, "--paired", "401") == "--paired: 401 deals are more than the 400 of --games"
    assert "not more than the first limit, 100 nodes" in refused(*SOLVE, "--nodes", "100", "--escalate", "100")
    assert "'many' is not a whole number" in refused(*SOLVE, "--escalate", "many")
    assert "--nodes: 0 is out of range" in refused(*SOLVE, "--nodes", "0")
    assert not Path("results").exists()


def test_replay_shows_a_line_that_wins() -> None:
    text = good("replay", "bludiste", "--game", "3", "--solve")
    assert "The deal can be won; the search took " in text
    assert "Won: all 96 cards are placed, in 5 rows." in text
    assert len(re.findall(r"\(row \d+, column \d+\)", " ".join(text.split()))) == 96
    assert text.splitlines()[-1].startswith("game=3 won=1 placed=96 rows=5 refilled=46 status=solved limit=none ")
    assert good("replay", "bludiste", "--game", "3", "--policy", "solver") == text


@pytest.mark.parametrize(
    ("options", "game"),
    [
        ({}, 1),
        ({"available": "above_or_below", "max_rows": 3}, 0),
        ({"refill": "at_once", "columns": 5}, 1),
        ({"transfer": "true", "columns": 6}, 2),
        ({"deal": "any_time", "columns": 2}, 5),
        ({"decks": "1", "columns": 6}, 0),
        ({"grace": "1", "columns": 6}, 0),
    ],
    ids=str,
)
def test_replay_shows_where_every_line_ends(options: dict[str, object], game: int) -> None:
    rules = [word for name, value in options.items() for word in ("--rule", f"{name}={value}")]
    text = good("replay", "bludiste", "--game", game, "--solve", *rules)
    whole = " ".join(text.split())
    assert "The deal cannot be won: every line was followed until it ends. The proof has " in whole
    assert re.search(r"(A line ends 1 time|Lines end [\d,]+ times): ", whole)
    placed = int(re.search(r" placed=(\d+) ", text)[1])
    assert f"The line that places most cards, {placed} of " in whole
    told = len(re.findall(r"\(row \d+, column \d+\)(?: by grace)?[.,;]", whole.split("The line that places")[1]))
    assert told >= placed
    assert re.search(
        r"can never be placed|no card can be placed|searched to its end without a win", whole.split("The line that")[1]
    )
    assert max(map(len, text.splitlines()[:-1])) <= 99


def test_explicit_deals_are_decided() -> None:
    lines = [good("replay", "bludiste", "--game", game, "--deal") for game in (3, 1)]
    Path("deals.txt").write_text("# two\n" + "".join(lines))
    how = ("replay", "bludiste", "--deals", "deals.txt", "--policy", "solver", "--jsonl")
    solved, lost = map(json.loads, good(*how).splitlines())
    assert list(solved) == [
        *("line", "won", "placed", "rows", "refilled", "status", "limit", "nodes", "depth", "choice_points", "random")
    ]
    assert (solved["line"], solved["status"], solved["won"], solved["placed"]) == (2, "solved", 1, 96)
    assert solved["random"] is False
    assert (lost["line"], lost["status"], lost["rows"], lost["choice_points"]) == (3, "unsolvable", None, None)
    short, _ = map(json.loads, good(*how, "--nodes", "5").splitlines())
    assert (short["status"], short["limit"], short["nodes"], short["won"]) == ("unknown", "nodes", 5, 0)
    text = good("replay", "bludiste", "--deals", "deals.txt", "--solve")
    assert text.count("Bludiště, deal of line") == 2
    assert "The deal can be won" in text
    assert "The deal cannot be won" in text


def test_replay_refuses() -> None:
    replay = ("replay", "bludiste", "--game", "1")
    assert refused("replay", "dupa", "--game", "1", "--solve") == "dupa has no solver; bludiste has one"
    assert refused(*replay, "--solve", "--policy", "best").endswith("are for the policy solver, not for best")
    assert "give it once" in refused(*replay, "--policy", "solver:5", "--nodes", "5")
    assert "give it once" in refused(*replay, "--solve", "--nodes", "5", "--effort", "5")
