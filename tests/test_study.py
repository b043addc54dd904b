"""The command ``study``: several runs and comparisons from one file."""

import shlex

import pandas as pd
import pytest

from scripts.study import EXAMPLE, read_study
from sim import run
from tests.command_line import call, good, refused

STUDY = """
games = 2_000
seed = 7

[[run]]
game = "dupa"
name = "short"
variant = "table"
rule = { players = 3 }
policy = ["careful", "greedy", "greedy"]

[[run]]
game = "bussikuski"
games = "3k"
keep = "summary"

[[compare]]
game = "dupa"
name = "readings"
vary = { match = ["rank_or_suit", "suit"], several_dupas = [true, false] }
column = "turns"
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(STUDY)
    return tmp_path / "mine.toml"


def test_entries_stand_for_commands(file):
    assert good("study", file, "--dry").splitlines() == [
        "fairdeal run dupa --games 2000 --seed 7 --variant table --rule players=3 --policy careful,greedy,greedy "
        "--out results/mine/short",
        "fairdeal run bussikuski --games 3k --seed 7 --keep summary --out results/mine/run-2",
        "fairdeal compare dupa --games 2000 --seed 7 --vary match=rank_or_suit,suit --vary several_dupas=true,false "
        "--column turns --out results/mine/readings",
    ]


def test_a_study_does_what_is_missing_and_nothing_twice(file, tmp_path):
    first = call("study", file, "--no-progress")
    assert first.exit_code == 0, first.output
    assert first.stderr.count("Playing") == 3
    rows = pd.read_parquet(tmp_path / "results" / "mine" / "short")
    rules, policies = {"players": 3}, {"policy": "careful,greedy,greedy"}
    again = run("dupa", 2_000, seed=7, variant="table", rules=rules, policies=policies).frame()
    pd.testing.assert_frame_equal(rows, again)
    part = next((tmp_path / "results" / "mine" / "short").glob("part-*"))
    n_rows = len(pd.read_parquet(part))
    part.unlink()
    second = call("study", file, "--no-progress")
    assert second.exit_code == 0, second.output
    assert f"Played {n_rows:,} games" in second.stderr
    assert second.stderr.count("Played") == 1
    assert second.stderr.count("nothing to play") >= 1
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "results" / "mine" / "short"), again)
    assert second.stdout == first.stdout


def test_the_example_is_a_study(tmp_path):
    path = tmp_path / "example.toml"
    path.write_text(good("study", "--example"))
    assert path.read_text() == EXAMPLE
    lines = good("study", path, "--dry").splitlines()
    assert [shlex.split(line)[1] for line in lines] == ["run", "compare"]
    assert len(read_study(path, tmp_path)) == 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'game = "dupa"\nname = "short"',
            'game = "dupaa"\nname = "short"',
            "'dupaa' is not a game (did you mean 'dupa'?)",
        ),
        ("players = 3", "player = 3", "did you mean 'players'"),
        ('variant = "table"', 'varient = "table"', "did you mean '--variant'?"),
        ("several_dupas =", "severl_dupas =", "[[compare]] 1 (readings): --vary: dupa has no 'severl_dupas'"),
        ('column = "turns"', 'colum = "turns"', "[[compare]] 1 (readings)"),
        ("games = 2_000", "gmes = 2_000", "'gmes' is not known there"),
        ("[[compare]]", "[[compair]]", "did you mean 'compare'"),
        ("[[compare]]", "[compare]", "compare has to be tables: [[compare]]"),
        ('name = "readings"', 'name = "short"', "another entry has the name 'short'"),
        ('name = "readings"', 'name = "../short"', "is no name of a folder"),
        ("seed = 7", "seed = ", "is not TOML"),
        ('game = "bussikuski"', "", "[[run]] 2: game is missing"),
    ],
)
def test_the_whole_file_is_checked_before_anything_is_played(file, old, new, told):
    assert old in STUDY
    file.write_text(STUDY.replace(old, new, 1))
    assert told in refused("study", file)
    assert not (file.parent / "results").exists()


def test_other_refusals(tmp_path):
    (tmp_path / "empty.toml").write_text("")
    assert "holds nothing to do" in refused("study", tmp_path / "empty.toml")
    assert f"there is no file {tmp_path / 'no.toml'}" in refused("study", tmp_path / "no.toml")
    assert "needs FILE" in refused("study")
