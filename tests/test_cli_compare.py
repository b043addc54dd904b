"""``fairdeal compare``: what is played where, what is printed, and one clear line for every slip."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from analysis import compare
from scripts.progress import Progress
from scripts.variants import read_factors
from sim.games import get_game
from tests.command_line import call, good, refused

ROOT = Path(__file__).resolve().parent.parent
BASE = ("compare", "bussikuski", "--games", "2k")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def sorted_rows(folder: str) -> pd.DataFrame:
    return pd.read_parquet(folder).sort_values("game", ignore_index=True)


def test_each_variant_is_the_folder_of_a_plain_run() -> None:
    done = call(*BASE, "--vary", "bus_stake=by_row,flat", "--rule", "players=3", "--seed", "5", "--out", "both")
    assert done.exit_code == 0, done.output
    assert "Playing 2 variants of Bussikuski on the same 2,000 deals, seed 5, into both\n" in done.stderr
    assert "Played 4,000 games in " in done.stderr
    assert "counted meanwhile" in done.stderr
    assert sorted(os.listdir("both")) == ["_compare.json", "bus_stake=by_row", "bus_stake=flat"]
    rules = ("--rule", "players=3", "--rule", "bus_stake=flat")
    good("run", "bussikuski", "--games", "2k", "--seed", "5", *rules, "--out", "plain", "--quiet")
    pd.testing.assert_frame_equal(sorted_rows("both/bus_stake=flat"), sorted_rows("plain"))
    again = call(*BASE, "--vary", "bus_stake=by_row,flat", "--rule", "players=3", "--seed", "5", "--out", "both")
    assert again.stdout == done.stdout
    assert "both is complete: 2 variants of 2,000 games of Bussikuski, nothing to play." in again.stderr
    a, b = (sorted_rows(f"both/bus_stake={value}") for value in ("by_row", "flat"))
    found = compare("both")
    penalty = found.of("bus_penalty").difference
    assert penalty.estimate == pytest.approx((b["bus_penalty"] * 1.0 - a["bus_penalty"]).mean(), rel=1e-12)
    # The ride itself is the same: only what it costs differs.
    assert found.of("bus_attempts").verdict == "no deal differs"


def test_the_text_says_what_was_compared() -> None:
    text = good(
        *BASE, "--vary", "bus=diamond,straight", "--guess", "counting", "--margin", "50%", "--column", "bus_end"
    )
    lines = text.splitlines()
    assert lines[0] == "Bussikuski: 2 variants on the same 2,000 deals, seed 1"
    assert lines[1].split() == ["Varied", "bus", "=", "diamond;", "straight"]
    assert "Policies    guess counting, give leader" in lines
    assert "Too small   to matter: differences below 50 % of a rate" in lines
    assert "hold together for all 2 comparisons" in text
    row = next(line for line in lines if line.startswith("bus_end == 'success'"))
    assert "too small to matter" in row
    assert max(map(len, lines)) <= 100


def test_json_and_nothing_else() -> None:
    done = call(*BASE, "--vary", "players=3,4", "--json", "--quiet", "--out", "both")
    told = json.loads(done.stdout)
    assert done.stderr == ""
    assert told["baseline"] == "players = 3"
    assert told["factors"] == {"players": ["3", "4"]}
    assert told["variants"]["players = 4"]["levels"] == {"players": "4"}
    assert {entry["measure"] for entry in told["differences"]} >= {"points_2", "driver == 2", "bus_end == 'success'"}
    assert "points_3" in told["left_out"]
    for entry in told["differences"]:
        assert entry["low"] <= entry["difference"] <= entry["high"]
    assert told["folder"] == "both"


def test_values_with_commas_are_separated_by_semicolons() -> None:
    factors = read_factors(
        get_game("bussikuski"),
        ["diamond_rows=1,2,3,2,1;1, 2 ,1", "guess=own;counting,own,own,own", "blockers=akqj,none"],
    )
    assert [dataclasses.astuple(factor)[1] for factor in factors] == [
        ("1,2,3,2,1", "1,2,1"),
        ("own", "counting,own,own,own"),
        ("JQKA", "none"),
    ]
    told = json.loads(good(*BASE, "--vary", "guess=own;random,own,own,own", "--json", "--quiet", "--out", "both"))
    assert told["variants"]["guess = random,own,own,own"]["policies"]["guess"] == ["random", "own", "own", "own"]
    assert next(entry for entry in told["differences"] if entry["measure"] == "wrong_0")["verdict"] == "bigger"


def test_policies_and_named_variants_can_be_varied() -> None:
    told = json.loads(good(*BASE, "--vary", "variant=letter,straight", "--json", "--quiet", "--rule", "players=2"))
    assert told["variants"]["variant = straight"]["rules"]["bus"] == "straight"
    assert told["variants"]["variant = straight"]["rules"]["players"] == 2
    told = json.loads(
        good(*BASE, "--vary", "give=leader,random", "--baseline", "random", "--json", "--quiet", "--out", "g")
    )
    assert told["baseline"] == "give = random"
    assert {entry["variant"] for entry in told["differences"]} == {"give = leader"}


def test_several_options_give_main_effects_and_a_ranking() -> None:
    vary = ("--vary", "bus_stake=by_row,flat", "--vary", "players=3,4", "--out", "four")
    text = good(*BASE, *vary, "--by", "bus_penalty")
    assert "What matters most: bus_stake (from flat to by_row, bus_penalty goes from" in text
    assert "players = 4 against 3, averaged over the rest" in text.splitlines()
    assert sorted(os.listdir("four"))[1] == "bus_stake=by_row+players=3"
    told = json.loads(good(*BASE, *vary, "--json", "--quiet"))
    assert told["ranking_by"]["bus_penalty"][0]["factor"] == "bus_stake"
    effects = {entry["effect"] for entry in told["effects"]}
    assert effects == {"bus_stake = flat", "players = 4", "bus_stake = flat × players = 4"}
    said = refused(*BASE, *vary, "--by", "bus_penaltis")
    assert "--by: there is no column 'bus_penaltis'; did you mean 'bus_penalty'?" in said


def test_more_games_and_another_value_use_what_is_there() -> None:
    good(*BASE, "--vary", "bus_stake=by_row,flat", "--out", "both", "--quiet")
    more = call("compare", "bussikuski", "--games", "3k", "--vary", "bus_stake=by_row,flat", "--out", "both")
    assert "on the same 3,000 deals (4,000 of 6,000 games are there), seed 1" in more.stderr
    assert "Played 2,000 games" in more.stderr
    assert "on the same 3,000 deals" in more.stdout


def test_an_interrupted_comparison_goes_on_with_the_same_command(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["compare", "bussikuski", "--vary", "bus_stake=by_row,flat", "--games", "20k", "--threads", "1"]
    with monkeypatch.context() as patched:
        real = Progress.__call__

        def interrupt(progress: Progress, done: int, wanted: int, rate: float) -> None:
            real(progress, done, wanted, rate)
            if done > wanted // 3:
                os.kill(os.getpid(), signal.SIGINT)

        patched.setattr(Progress, "__call__", interrupt)
        stopped = call(*words, "--out", "stopped")
        assert stopped.exit_code == 130
        assert stopped.stdout == ""
        assert "To go on, give the same command: fairdeal compare bussikuski" in stopped.stderr.splitlines()[-1]
    assert good(*words, "--out", "stopped", "--quiet") == good(*words, "--out", "whole", "--quiet")
    for name in ("bus_stake=by_row", "bus_stake=flat"):
        pd.testing.assert_frame_equal(sorted_rows(f"stopped/{name}"), sorted_rows(f"whole/{name}"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "compare needs --vary"),
        (("--vary", "bus"), "--vary 'bus' has no '='; write OPTION=VALUE,VALUE,…"),
        (("--vary", "bux=none,diamond"), "--vary: bussikuski has no 'bux' (did you mean 'bus'?); it has guess, give,"),
        (("--vary", "bus=none"), "--vary bus=none: two values or more are needed"),
        (("--vary", "bus=none,diamont"), "--vary bus: 'diamont' is not allowed; choose diamond, straight"),
        (("--vary", "bus=none,none"), "--vary bus=none,none: none is there twice"),
        (("--vary", "players=3,9"), "--vary players: 9 is out of range; allowed: 2 to 8"),
        (("--vary", "diamond_rows=1,2"), "separate lists by semicolons: --vary 'diamond_rows=1,2,3;2,2'"),
        (("--vary", "guess=own,count"), "--guess: 'count' is no policy; choose own, counting or random"),
        (("--vary", "guess=own;own,own"), "variant guess = own,own: --guess: 2 policies for 4 seats"),
        (("--vary", "variant=letter,strait"), "bussikuski has no variant 'strait' (did you mean 'straight'?)"),
        (("--vary", "policy=a,b"), "--vary: bussikuski has no 'policy'"),
        (("--vary", "bus=none,diamond", "--rule", "bus=none"), "bus is varied: --rule bus cannot be given too"),
        (("--vary", "give=leader,random", "--give", "random"), "give is varied: --give cannot be given too"),
        (("--vary", "bus=none,diamond", "--vary", "bus=straight,none"), "--vary bus is given twice"),
        (
            ("--vary", "players=4,8", "--rule", "pyramid_rows=6"),
            "variant players = 8: players = 8 and pyramid_rows = 6",
        ),
        (("--vary", "variant=letter,questions", "--rule", "bus=none"), "are the same rules and policies"),
        (("--vary", "bus=none,diamond", "--baseline", "straight"), "'straight' is no value of bus; they are none and"),
        (("--vary", "bus=none,diamond", "--baseline", "players=3"), "--baseline players=3: players is not varied; bus"),
        (("--vary", "bus=none,diamond", "--by", "bus_penalty"), "--by ranks several options: give --vary more than"),
        (("--vary", "bus=none,diamond", "--margin", "0"), "--margin 0: '0' is not a positive number; write 0.5%"),
        (("--vary", "bus=none,diamond", "--margin", "points=x%"), "--margin points=x%: 'x%' is not a positive"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_call_is_one_line_and_leaves_nothing(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*BASE, *words)
    assert os.listdir() == []


def test_an_unknown_column_is_named_with_the_nearest() -> None:
    words = (*BASE, "--vary", "bus=none,diamond", "--column", "bus_penatly")
    assert "there is no column 'bus_penatly'; did you mean 'bus_penalty'?" in refused(*words)
    words = (*BASE, "--vary", "players=3,4", "--column", "points_3")
    assert "not every variant has a column 'points_3'" in refused(*words)
    assert os.listdir() == []


def test_a_comparison_killed_at_any_moment_goes_on() -> None:
    words = ["compare", "bussikuski", "--vary", "bus_stake=by_row,flat", "--games", "30k", "--quiet", "--threads", "1"]
    good(*words, "--out", "whole")
    program = "import sys; from scripts.cli import main; main(sys.argv[1:])"
    for wait in (0.6, 1.0):
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words, "--out", "killed"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
        )
        time.sleep(wait)
        process.kill()
        process.wait()
    Path("killed").mkdir(exist_ok=True)
    Path("killed/._compare.json.0.tmp").touch()
    assert good(*words, "--out", "killed") == good(*words, "--out", "whole")
    for name in ("bus_stake=by_row", "bus_stake=flat"):
        pd.testing.assert_frame_equal(sorted_rows(f"killed/{name}"), sorted_rows(f"whole/{name}"))


def test_folders_that_are_not_for_it() -> None:
    vary = ("--vary", "bus_stake=by_row,flat")
    good("run", "bussikuski", "--games", "100", "--out", "single", "--quiet")
    assert "single is the results folder of a single run" in refused(*BASE, *vary, "--out", "single")
    Path("notes").mkdir()
    Path("notes/a.txt").touch()
    assert "notes is not a folder of variants and not empty: it holds a.txt" in refused(*BASE, *vary, "--out", "notes")
    good(*BASE, *vary, "--out", "both", "--quiet")
    said = refused(*BASE, *vary, "--out", "both", "--rule", "players=3")
    assert "both/bus_stake=by_row holds another run: players 4 there, 3 here" in said
    assert "both/bus_stake=by_row is a run of 2,000 games, not of 1,000" in refused(
        "compare", "bussikuski", "--games", "1k", *vary, "--out", "both"
    )
