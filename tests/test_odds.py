"""Odds of conditions against pandas; the language of conditions; what is refused; ``fairdeal ask``."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import ConditionError, LoadError, ask, rate
from analysis.conditions import MOST_NODES
from tests import made_up
from tests.command_line import good, refused

GAMES = 5_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_up.write(tmp_path_factory.mktemp("odds") / "run", made_up.rows(GAMES), cuts=(1_300, 4_000))


@pytest.fixture(scope="module")
def frame(folder):
    return pd.read_parquet(folder)


# The language

CONDITIONS = [
    ("dealer == 0", lambda f: f.dealer == 0),
    ("dealer == 0 and end == 'out'", lambda f: (f.dealer == 0) & (f.end == "out")),
    ('dealer == 0 or not end == "out"', lambda f: (f.dealer == 0) | (f.end != "out")),
    ("(dealer == 0) & ~(turns > 40) | slam", lambda f: (f.dealer == 0) & ~(f.turns > 40) | (f.slam == 1)),
    ("10 <= turns < 40", lambda f: (f.turns >= 10) & (f.turns < 40)),
    ("dealer in (0, 2)", lambda f: f.dealer.isin([0, 2])),
    ("end not in ('stalemate', 'turn_cap')", lambda f: ~f.end.isin(["stalemate", "turn_cap"])),
    ("'out' != end", lambda f: f.end != "out"),
    ("end == 'resigned'", lambda f: f.end == "resigned"),
    ("points_0 - points_1 >= 2 * points_2", lambda f: f.points_0.astype(int) - f.points_1 >= 2.0 * f.points_2),
    ("-points_0 > 10", lambda f: f.points_0 < -10),
    ("points_0 * points_1 * 1000 > 0", lambda f: f.points_0.astype(int) * f.points_1 > 0),
    ("turns % 2 == 1 and turns // 10 == 3", lambda f: (f.turns % 2 == 1) & (f.turns // 10 == 3)),
    ("turns / 3 > 7.5", lambda f: f.turns / 3 > 7.5),
    ("max(points_0, points_1, points_2) >= 200", lambda f: f[["points_0", "points_1", "points_2"]].max(axis=1) >= 200),
    ("abs(min(points_0, points_1)) == 5", lambda f: f[["points_0", "points_1"]].min(axis=1).abs() == 5),
    ("win_share_0 == 1/3", lambda f: f.win_share_0 == 1 / 3),
    ("slam", lambda f: f.slam == 1),
    ("slam == true", lambda f: f.slam == 1),
    ("slam + (dealer == 1) == 2", None),
    ("game < 1_000", lambda f: f.game < 1000),
    ("turns > 99999999999999999999", lambda f: f.turns < 0),
    ("true", lambda f: f.turns >= 0),
]


@pytest.mark.parametrize(("text", "mask"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_a_condition_counts_what_pandas_counts(folder, frame, text, mask):
    if mask is None:
        expected = ((frame.slam == 1) & (frame.dealer == 1)).sum()
    else:
        expected = mask(frame).sum()
    tells_flags = "slam" in text and "slam ==" not in text and "slam +" not in text
    for source in (folder,) if tells_flags else (folder, frame):
        found = ask(source, text)
        assert (found.events, found.n) == (expected, GAMES)
        assert found.rate == rate(int(expected), GAMES)


def test_rare_never_and_always_get_clopper_pearson(folder):
    assert ask(folder, "turns < 0").rate.method == "clopper_pearson"
    never = ask(folder, "turns < 0")
    assert never.one_in[0] == never.one_in[2] == np.inf
    assert never.one_in[1] == 1 / never.rate.high
    assert ask(folder, "dealer == 0").rate.method == "wilson"
    assert json.dumps(never.to_json(), allow_nan=False)


def test_given(folder, frame):
    found = ask(folder, "slam", given="end == 'out' and dealer >= 0")
    mask = (frame.end == "out") & (frame.dealer >= 0)
    assert (found.events, found.n, found.games) == ((mask & (frame.slam == 1)).sum(), mask.sum(), GAMES)
    assert ask(folder, "slam", given="turns < 0").n == 0


def test_games_without_a_verdict_are_counted_both_ways(folder, frame):
    found = ask(folder, "dealer == 1")
    capped = frame.end == "turn_cap"
    assert found.undecided == capped.sum()
    lost, won = found.bounds
    assert lost.estimate == ((frame.dealer == 1) & ~capped).mean()
    assert won.estimate == ((frame.dealer == 1) | capped).mean()
    assert ask(folder, "end == 'turn_cap'").bounds is None


def test_empty_values_are_neither_true_nor_false(tmp_path):
    table = pa.table(
        {
            "rows": pa.array([3, None, 5, None, 8], pa.int16()),
            "size": pa.array([1.0, 2.0, float("nan"), 4.0, 0.0]),
            "how": pa.array(["x", None, "y", "x", "y"]),
        }
    )
    pq.write_table(table, tmp_path / "some.parquet")
    path = tmp_path / "some.parquet"
    for text, events, unknown in [
        ("rows > 4", 2, 2),
        ("not rows > 4", 1, 2),
        ("rows > 4 or size >= 2", 4, 0),
        ("rows > 4 and size < 1", 1, 1),  # the second is false already by its size
        ("how == 'x'", 2, 1),
        ("how in ('x', 'y')", 4, 1),
        ("8 / size > 3", 2, 2),
    ]:
        found = ask(path, text)
        assert (found.events, found.unknown) == (events, unknown), text
        assert found.n == 5 - unknown
    found = ask(path, "size < 9", given="rows > 0")
    assert (found.n, found.unknown, found.given_unknown) == (2, 1, 2)
    lost, won = found.bounds
    assert (lost.estimate, won.estimate) == (2 / 3, 1)


# Several results


def test_two_results_on_the_same_deals(tmp_path, folder, frame):
    other = made_up.write(tmp_path / "other", made_up.rows(GAMES, seed=9), cuts=(2_222,))
    b = pd.read_parquet(other)
    found = ask([folder, other], "a.dealer == 0 and b.end != a.end", given="b.turns < a.turns")
    given = b.turns < frame.turns
    events = given & (frame.dealer == 0) & (b.end.astype(str) != frame.end.astype(str))
    assert (found.events, found.n) == (events.sum(), given.sum())
    half = ask([frame.iloc[: GAMES // 2], other], "a.turns > b.turns")
    assert half.games == GAMES // 2
    same = ask([frame, frame.sample(frac=1, random_state=1)], "a.points_0 == b.points_0 and a.end == b.end")
    assert same.events == GAMES


def test_results_of_other_deals_are_refused(tmp_path, folder):
    other = made_up.write(tmp_path / "other", made_up.rows(50), spec={**made_up.SPEC, "seed": 8})
    with pytest.raises(LoadError, match="not the same deals: seed 7 there, 8 here"):
        ask([folder, other], "a.turns > b.turns")


# What is refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the condition is empty"),
        ("   ", "the condition is empty"),
        ("turn > 3", "there is no column 'turn'; did you mean 'turns'?"),
        ("zzz > 3", "there is no column 'zzz'; there are game, points_0"),
        ("end == 'stalmate'", "end has no value 'stalmate'; did you mean 'stalemate'?"),
        ("end == 'zzz'", "end has no value 'zzz'; there are out, stalemate, turn_cap, resigned"),
        ("end == out", "it is a value of end: write end == 'out'"),
        ("turns = 3", "cannot be read: write == to compare"),
        ("turns == 3 && slam", "cannot be read: write and, or, not"),
        ("(turns == 3", "cannot be read: a bracket is missing"),
        ("turns ==", "cannot be read"),
        ("turns", "'turns' is a number, not a condition: compare it, for example turns > 0"),
        ("end", "'end' is a column of words, not a condition: compare it, for example end == 'out'"),
        ("turns and slam", "'turns' is a number, not a condition"),
        ("end > 'out'", "words have no order"),
        ("end == 3", "'end' is a column of words and '3' is a number: they cannot be compared"),
        ("end + 1 > 2", "'end' is a column of words; it cannot be reckoned with"),
        ("turns ** 2 > 4", "only + - * / // % can be reckoned with"),
        ("turns in 3", "after 'in' write values"),
        ("turns is 3", "compare with == != < <= > >= or in"),
        ("turns == None", "'None' is neither a number nor a word"),
        ("a.b.c > 3", "'a.b.c' is no column"),
        ("b.turns > 3", "there is no 'b'; there is a ("),
        ("sum(turns) > 3", "the functions are abs(x)"),
        ("turns.__class__ == 3", "there is no 'turns'"),
        ("__import__('os').system('true')", "the functions are abs(x)"),
        ("(lambda: turns)() > 3", "the functions are abs(x)"),
        ("[x for x in (1, 2)]", "there is no column 'x'"),
        ("turns[0] > 3", "is not part of a condition"),
        ("turns > 3 if slam else turns", "is not part of a condition"),
        ("f'{turns}' == 'x'", "is not part of a condition"),
        ("(turns := 3) > 2", "is not part of a condition"),
        ("not " * (MOST_NODES + 1) + "slam", "the condition is too long"),
        ("(" * 5000 + "slam" + ")" * 5000, "cannot be read"),
    ],
    ids=lambda text: text[:30],
)
def test_what_is_no_condition_is_one_clear_line(folder, text, said):
    with pytest.raises(ConditionError) as caught:
        ask(folder, text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400 or len(text) > 300


def test_a_column_of_several_results_needs_its_letter(folder):
    with pytest.raises(ConditionError, match=r"'turns' of which results\? Write a\.turns or b\.turns"):
        ask([folder, folder], "turns > 3")
    with pytest.raises(ConditionError, match="there is no column 'turn'; did you mean 'turns'"):
        ask([folder, folder], "b.turn > 3")


# The command


@pytest.fixture
def played(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good("run", "bussikuski", "--games", "2k", "--out", "mine", "--quiet")
    return pd.read_parquet("mine")


@pytest.mark.usefixtures("played")
def test_the_command_prints_percent_and_one_in_n(played):
    text = good("ask", "mine", "driver == 0 and bus_end == 'success'")
    events = ((played.driver == 0) & (played.bus_end == "success")).sum()
    lines = text.splitlines()
    assert lines[0] == "driver == 0 and bus_end == 'success'"
    assert f"Games       {events:,} of 2,000 games of Bussikuski, seed 1" in lines
    assert f"1 in {2000 / events:.3g} (" in text
    assert "(95 %, Wilson)" in text
    never = good("ask", "mine", "bus_turned < 0")
    assert "Percent     0 (≤ 0.19) %  (95 %, Clopper-Pearson)" in never
    assert "Odds        never in 2,000 games; at most 1 in 542" in never
    assert "cannot be told: no game fulfils: bus_turned < 0" in good(
        "ask", "mine", "driver == 0", "--given", "bus_turned < 0"
    )
    told = json.loads(good("ask", "mine", "driver == 0", "--given", "bus_end == 'success'", "--json"))
    given = played[played.bus_end == "success"]
    assert (told["events"], told["n"], told["seed"]) == ((given.driver == 0).sum(), len(given), 1)
    assert told["low"] < told["rate"] < told["high"]


@pytest.mark.usefixtures("played")
def test_the_command_asks_about_variants():
    good("compare", "bussikuski", "--vary", "bus_stake=by_row,flat", "--games", "1k", "--out", "both", "--quiet")
    a, b = (pd.read_parquet(f"both/bus_stake={value}") for value in ("by_row", "flat"))
    told = json.loads(good("ask", "both", "a.bus_penalty > b.bus_penalty", "--json"))
    assert told["events"] == (a.bus_penalty > b.bus_penalty).sum()
    assert told["results"] == {"a": "both/bus_stake=by_row", "b": "both/bus_stake=flat"}
    text = good("ask", "both/bus_stake=by_row", "both/bus_stake=flat", "a.win_share_0 == 1 and b.win_share_0 == 0")
    assert "Results     a = both/bus_stake=by_row, b = both/bus_stake=flat" in text


@pytest.mark.usefixtures("played")
def test_wrong_calls_are_one_line():
    assert "ask needs DIR… CONDITION" in refused("ask")
    assert "ask needs DIR and CONDITION; the condition is missing" in refused("ask", "mine")
    assert "ask needs DIR and CONDITION; DIR is missing" in refused("ask", "driver == 0")
    assert "'mine' is a folder" in refused("ask", "mine", "mine")
    assert "there is no folder nothing" in refused("ask", "nothing", "driver == 0")
    assert "did you mean 'driver'?" in refused("ask", "mine", "drivr == 0")
    assert "the condition is empty" in refused("ask", "mine", "")
    assert os.listdir() == ["mine"]
    Path("mine/_run.json").write_text("{")
    assert "mine/_run.json is damaged" in refused("ask", "mine", "driver == 0", status=1)
