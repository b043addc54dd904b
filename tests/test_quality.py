"""Quantiles of summaries, policies by seat and game quality, against pandas over the same rows."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import assess, summarise
from analysis.order_statistics import QUANTILES
from reports.quality import render_quality
from sim import run
from tests import made_up

GAMES = 4_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quality") / "run"
    run("autobus", GAMES, policies="planner,greedy,random,greedy", out=folder)
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    return pd.read_parquet(folder)


def test_quantiles_are_scipys(folder, rows):
    summary = summarise(folder)
    measured = {column.name: column for column in summary.measured}
    assert {"turns", "points_0", "bus_left_3"} <= set(measured)
    assert "winner" not in measured
    for name in ("turns", "plays", "points_1"):
        for level, found in measured[name].quantiles().items():
            assert found.estimate == np.quantile(rows[name], level, method="inverted_cdf")
            ends = stats.quantile_test(rows[name], p=level).confidence_interval(0.95)
            assert (found.low, found.high) == (ends.low, ends.high)
    told = summary.to_json()["quantiles"]["turns"]
    assert list(told) == [f"{level:g}" for level in QUANTILES]
    assert told["0.5"]["value"] == rows["turns"].median()


def test_policies_are_the_means_of_their_seats(folder, rows):
    found = summarise(folder).by_policy()["policy"]
    assert list(found) == ["planner", "greedy", "random"]
    for policy, seats in (("planner", [0]), ("greedy", [1, 3]), ("random", [2])):
        left = rows[[f"bus_left_{seat}" for seat in seats]].mean(axis=1)
        assert found[policy]["bus_left"].estimate == pytest.approx(left.mean(), rel=1e-12)
        assert found[policy]["bus_left"].se == pytest.approx(stats.sem(left), rel=1e-9)
        wins = rows["winner"].isin(seats).mean() / len(seats)
        assert found[policy]["winner"].estimate == pytest.approx(wins, rel=1e-12)
    assert summarise(rows).by_policy() == {}


def test_balance_allows_for_the_choice(folder, rows):
    balance = assess(summarise(folder)).balance
    wins = rows["winner"].value_counts()
    assert (balance.best, balance.worst) == (wins[[0, 1, 2, 3]].idxmax(), wins[[0, 1, 2, 3]].idxmin())
    apart = (rows["winner"] == balance.best) * 1.0 - (rows["winner"] == balance.worst)
    assert balance.gap.estimate == pytest.approx(apart.mean())
    z = stats.norm.ppf(1 - 0.05 / 6 / 2)
    assert balance.gap.half_width == pytest.approx(z * stats.sem(apart), rel=1e-9)
    assert balance.fair == pytest.approx((rows["winner"] >= 0).mean() / 4)


def test_closeness_and_decisiveness_and_luck(folder, rows):
    found = assess(summarise(folder))
    won = rows[rows["winner"] >= 0]
    assert found.decisive.estimate == pytest.approx(len(won) / GAMES)
    assert found.alone.estimate == found.decisive.estimate
    assert [(close.stem, close.end) for close in found.closeness] == [("bus_left", "low"), ("points", "high")]
    for close in found.closeness:
        values = np.sort(won[[f"{close.stem}_{seat}" for seat in range(4)]].to_numpy(), axis=1)
        gaps = values[:, 1] - values[:, 0] if close.end == "low" else values[:, 3] - values[:, 2]
        assert close.gap.estimate == pytest.approx(gaps.mean(), rel=1e-12)
        assert close.median.estimate == np.quantile(gaps, 0.5, method="inverted_cdf")
        assert close.close.estimate == pytest.approx((gaps <= 1).mean())
    (luck,) = found.luck
    assert (luck.weaker, luck.stronger) == ("random", "planner")
    assert luck.wins.estimate == pytest.approx((won["winner"] == 2).mean())
    assert luck.seats == 0.25
    assert found.length.column.name == "turns"
    json.dumps(found.to_json(), allow_nan=False)


def test_text_has_every_measure(folder):
    text = render_quality(summarise(folder))
    assert max(map(len, text.splitlines())) <= 100
    for word in (
        "Quantiles",
        "median",
        "planner",
        "Seat balance: uneven",
        "Decisiveness",
        "Length",
        "Closeness",
        "Luck",
    ):
        assert word in text
    assert "Lead changes and drama are not told" in text


def test_shares_of_a_win_and_fair_seats(tmp_path):
    data = made_up.rows(6_000, seed=3)
    found = assess(summarise(made_up.write(tmp_path / "run", data, cuts=(1_000,))))
    shares = pd.DataFrame({k: data[f"win_share_{k}"] for k in range(3)})
    assert found.decisive.estimate == 1
    assert found.alone.estimate == pytest.approx((shares == 1).any(axis=1).mean())
    assert not found.balance.is_uneven
    assert [share.estimate for share in found.balance.shares] == pytest.approx(shares.mean().tolist())
    assert [(close.stem, close.end) for close in found.closeness] == [("points", "high")]
    assert {luck.slot for luck in found.luck} == {"give"}


def test_nothing_to_tell(tmp_path):
    frame = pd.DataFrame({"game": range(50), "x": 3})
    found = assess(summarise(frame))
    assert (found.balance, found.decisive, found.length, found.closeness, found.luck) == (None, None, None, (), ())
    assert "How good" not in render_quality(summarise(frame))
