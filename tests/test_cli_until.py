"""``--keep summary``, ``--until`` and ``race`` from the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from analysis.sequential import looks
from tests.command_line import call, good, refused

ROOT = Path(__file__).resolve().parent.parent
GAME = "bussikuski"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def rows_of(folder: str) -> pd.DataFrame:
    return pd.read_parquet(folder).sort_values("game", ignore_index=True)


def test_kept_summary_reads_as_that_of_rows() -> None:
    kept = good(
        "run", GAME, "--games", "6k", "--keep", "summary", "--joint", "points_0,driver", "--out", "kept", "--quiet"
    )
    rows = good("run", GAME, "--games", "6k", "--out", "rows", "--quiet")
    assert kept == rows == good("summary", "kept")
    for condition in ("driver == 0 and bus_end == 'success'", "points_0 > 8 and driver == 0"):
        assert good("ask", "kept", condition) == good("ask", "rows", condition)
    line = refused("ask", "kept", "points_0 > points_1", status=1)
    assert line.endswith("play it with --joint points_0,points_1, or without --keep summary")
    assert refused("run", GAME, "--games", "6k", "--out", "kept").startswith("kept keeps summary, not rows")
    for what, width in (("points_0", "1"), ("driver == 0", "1%"), ("win_share_0", "0.01")):
        assert good("plan", "kept", what, "--half-width", width) == good("plan", "rows", what, "--half-width", width)
    assert "did you mean 'driver'" in refused(
        "run", GAME, "--games", "9", "--keep", "summary", "--joint", "drivr,points"
    )


def test_until_stops_where_a_plain_run_of_that_size_ends() -> None:
    command = ("run", GAME, "--games", "200k", "--until", "win_share_0 == 1 +- 1.5%", "--json", "--quiet")
    told = json.loads(good(*command, "--out", "a", "--threads", "1"))
    until = told["until"]
    assert until["reached"]
    assert until["games"] == told["games"] in set(looks(200_000))
    assert (until["high"] - until["low"]) / 2 <= 0.015
    assert until["low"] <= until["mean"] <= until["high"]
    assert until["method"] == "beta_binomial"
    other = json.loads(good(*command, "--out", "b", "--threads", "3"))
    assert other["until"] == until
    good("run", GAME, "--games", until["games"], "--out", "plain", "--quiet")
    pd.testing.assert_frame_equal(rows_of("a"), rows_of("plain"))
    pd.testing.assert_frame_equal(rows_of("b"), rows_of("plain"))
    # A run that has the games already finds the same end, and plays nothing.
    again = call(*command[:-1], "--out", "plain")
    assert json.loads(again.stdout)["until"] == until
    good("run", GAME, "--games", "60k", "--out", "plain", "--quiet")
    assert json.loads(good(*command, "--out", "plain"))["until"] == until
    counted = json.loads(good(*command, "--out", "counts", "--keep", "summary"))
    assert counted["until"] == until
    assert counted["columns"] == told["columns"]
    text = good("run", GAME, "--games", "3k", "--until", "points_0 ± 0.01", "--out", "c", "--quiet")
    assert "Not reached in 3,000 games" in " ".join(text.split())
    assert "asymptotic confidence sequence" in " ".join(text.split())


@pytest.mark.parametrize(
    ("until", "message"),
    [
        ("points_0", "write METRIC±HALFWIDTH"),
        ("point_0 ± 1", "did you mean 'points_0'"),
        ("driver == 0 ± 60%", "every rate is known that well"),
        ("bus_end ± 1%", "a column of words"),
        ("points_0 ± 0", "no positive number"),
    ],
)
def test_until_that_cannot_be(until: str, message: str) -> None:
    assert message in refused("run", GAME, "--games", "5k", "--until", until)
    assert os.listdir() == []


def kill_when(n_parts: int, folder: str, command: list[str]) -> None:
    """Kill a command as soon as so many parts lie in a folder and those in it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "scripts.cli", *command],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + 120
    while len(list(Path(folder).glob("**/part-*"))) < n_parts:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_until_is_resumed_after_a_kill() -> None:
    command = [
        "run",
        "autobus",
        "--games",
        "200k",
        "--until",
        "winner == 0 ± 0.8%",
        "--out",
        "killed",
        "--quiet",
        "--json",
    ]
    kill_when(3, "killed", command)
    told = json.loads(good(*command))
    assert told["until"]["reached"]
    whole = json.loads(good(*command[:6], "--out", "whole", "--quiet", "--json"))
    assert told["until"] == whole["until"]
    pd.testing.assert_frame_equal(rows_of("killed"), rows_of("whole"))


def test_compare_until_decided() -> None:
    command = ("compare", "dupa", "--vary", "players=3,4", "--games", "40k", "--out", "both")
    told = json.loads(
        good(
            *command,
            "--until",
            "decided",
            "--margin",
            "turns=0.5",
            "--margin",
            "2%",
            "--column",
            "turns",
            "--column",
            "winner",
            "--json",
            "--quiet",
        )
    )
    until = told["until"]
    assert until["reached"]
    assert until["games"] == told["games"] < 40_000
    assert {entry["measure"] for entry in until["decisions"]} >= {"turns", "winner == 0"}
    for entry in until["decisions"]:
        assert entry["verdict"] != "not decided yet"
        ordinary = next(found for found in told["differences"] if found["measure"] == entry["measure"])
        assert entry["difference"] == ordinary["difference"]
        assert entry["low"] <= ordinary["low"]
        assert entry["high"] >= ordinary["high"]
    good("run", "dupa", "--games", until["games"], "--rule", "players=3", "--out", "plain", "--quiet")
    pd.testing.assert_frame_equal(rows_of("both/players=3"), rows_of("plain"))
    text = good("compare", "dupa", "--vary", "players=3,4", "--games", "40k", "--until", "turns ± 0.3", "--quiet")
    assert "At any time" in text
    assert "--until decided needs --margin" in refused(*command, "--until", "decided")
    assert "did you mean 'turns'" in refused(*command, "--until", "turn ± 0.1")


def test_compare_keeps_joint_counts() -> None:
    command = ("compare", "autobus", "--vary", "bus_size=8,10", "--vary", "players=2,3", "--games", "3k", "--quiet")
    rows = good(*command, "--out", "rows")
    assert good(*command, "--out", "kept", "--keep", "summary", "--threads", "3") == rows
    names = sorted(os.listdir("kept"))
    assert names[0] == "_compare.json"
    assert all(name.startswith("joint-") for name in names[1:])
    Path("kept", names[1]).unlink()
    Path("kept", names[2]).write_bytes(Path("kept", names[2]).read_bytes()[:-30])
    assert good(*command, "--out", "kept", "--keep", "summary") == rows
    assert json.loads(good(*command, "--out", "kept", "--keep", "summary", "--json"))["games"] == 3_000
    assert "keeps summary, not rows" in refused(*command, "--out", "kept")
    assert "is of another comparison" in refused(*command[:4], "--games", "3k", "--out", "kept", "--keep", "summary")
    assert "--until needs the rows" in refused(*command, "--keep", "summary", "--until", "turns ± 1")


def test_race_of_policies() -> None:
    command = ("race", "dupa", "--policies", "random,greedy", "--games", "3k", "--out", "race")
    done = call(*command)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "The best is greedy"
    assert "share of wins of the racing seat, each seat in turn" in done.stdout
    assert "random falls after 1,024 deals: greedy is" in done.stderr
    told = json.loads(good(*command, "--json", "--quiet"))
    assert told["winner"] == "greedy"
    assert told["contestants"][1]["fell_after"] == 1_024
    # The one that races against itself is one run, and its score is the mean of the seats' shares: a quarter.
    assert sorted(os.listdir("race")) == ["_race.json", "greedy-seat0", *(f"random-seat{k}" for k in range(4))]
    shares = rows_of("race/greedy-seat0")[[f"win_share_{k}" for k in range(4)]]
    assert told["contestants"][0]["mean"] == pytest.approx(shares.mean(axis=1).mean())
    random = [rows_of(f"race/random-seat{k}")[f"win_share_{k}"].mean() for k in range(4)]
    assert told["contestants"][1]["mean"] == pytest.approx(sum(random) / 4)
    assert told["games_played"] == 1_024 * 5
    good("run", "dupa", "--games", 1_024, "--policy", "greedy,greedy,random,greedy", "--out", "plain", "--quiet")
    pd.testing.assert_frame_equal(rows_of("race/random-seat2"), rows_of("plain"))


def test_race_is_gone_on_with_after_a_kill() -> None:
    command = ["race", "autobus", "--vary", "bus_size=10,11,12", "--best", "winner == 0", "--games", "20k", "--json"]
    for n_parts in (4, 12):
        kill_when(n_parts, "killed", [*command, "--quiet", "--threads", "1", "--out", "killed"])
    told = json.loads(good(*command, "--quiet", "--out", "killed"))
    assert told == json.loads(good(*command, "--quiet", "--out", "whole")) | {"folder": "killed"}
    folders = sorted(path.name for path in Path("whole").iterdir() if path.is_dir())
    assert len(folders) == 3
    for name in folders:
        pd.testing.assert_frame_equal(rows_of(f"killed/{name}"), rows_of(f"whole/{name}"))


def test_race_of_variants() -> None:
    command = ("race", "dupa", "--vary", "players=3,4,6", "--best", "turns", "--games", "20k", "--quiet", "--json")
    told = json.loads(good(*command, "--least", "--out", "least"))
    assert told["decided"]
    means = [rows_of(f"least/players={n}")["turns"].mean() for n in (3, 4, 6)]
    assert told["leader"] == f"players = {(3, 4, 6)[means.index(min(means))]}"
    assert {entry["name"] for entry in told["contestants"]} == {"players = 3", "players = 4", "players = 6"}
    fell = [entry for entry in told["contestants"] if entry["fell_after"]]
    assert fell
    assert all(entry["difference"]["high"] < 0 for entry in fell)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policies", "greedy"], "two contestants or more"),
        (["--policies", "greedy,gredy"], "did you mean 'greedy'"),
        (["--policies", "greedy,greedy"], "greedy is there twice"),
        (["--policies", "greedy,planner", "--policy", "greedy"], "--against says what the others play"),
        (["--vary", "bus_size=10,12"], "race --vary needs --best"),
        (["--vary", "bus_size=10,12", "--best", "turn"], "did you mean 'turns'"),
        (["--vary", "bus_size=10,12", "--best", ""], "the condition is empty"),
        (["--vary", "bus_size=10,99", "--best", "turns"], "99 is out of range"),
        (["--policies", "greedy,random", "--error", "0"], "--error 0"),
        (["--policies", "greedy,random", "--slot", "guess"], "has no 'guess'"),
        ([], "race needs --policies A,B,… or --vary"),
    ],
)
def test_races_that_cannot_be(words: list[str], message: str) -> None:
    assert message in refused("race", "autobus", "--games", "2k", *words)
    assert os.listdir() == []
