"""Plans: the number of games named is the one that does it, against statsmodels and by simulation."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import power_proportions_2indep

from analysis import ConditionError, LoadError, for_half_width, pilot, to_tell_apart, wilson
from tests import made_up
from tests.command_line import good, refused

GAMES = 5_000


@pytest.fixture
def folders(tmp_path):
    base, other = made_up.rows(GAMES, seed=1), made_up.rows(GAMES, seed=1)
    redrawn = np.random.default_rng(3).random(GAMES) < 0.1
    for name in ("turns", "slam"):
        other[name] = np.where(redrawn, made_up.rows(GAMES, seed=2)[name], other[name]).astype(other[name].dtype)
    return [made_up.write(tmp_path / name, rows) for name, rows in (("a", base), ("b", other))]


def test_the_fewest_games_for_a_half_width(folders):
    found = pilot(folders[0], "slam == 1")
    for half_width in (0.01, 0.001):
        size = for_half_width(found, half_width)
        p = found.estimates[0].estimate
        assert wilson(p * size.games, size.games).half_width <= half_width
        assert wilson(p * (size.games - 1), size.games - 1).half_width > half_width
        assert size.at_most > size.games
    turns = pd.read_parquet(folders[0])["turns"].astype(float)
    wanted = (stats.norm.ppf(0.975) * turns.std() / 0.1) ** 2
    assert for_half_width(pilot(folders[0], "turns"), 0.1).games == np.ceil(wanted)


def test_two_rates_on_deals_of_their_own_against_statsmodels(folders):
    found = pilot(folders[0], "slam == 1")
    p = found.estimates[0].estimate
    for difference in (0.01, -0.01):
        games = to_tell_apart(found, difference, paired=False).games
        low = min(p, p + difference)
        assert power_proportions_2indep(0.01, low, games).power == pytest.approx(0.8, abs=2e-3)


def test_pairs_need_fewer_games(folders):
    a, b = (pd.read_parquet(folder)["turns"].astype(float) for folder in folders)
    found = pilot(folders, "turns")
    assert found.paired_deviation == pytest.approx((b - a).std(), rel=1e-9)
    assert found.correlation == pytest.approx(a.corr(b), rel=1e-9)
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.9)
    paired = to_tell_apart(found, 0.5, paired=True, power=0.9).games
    unpaired = to_tell_apart(found, 0.5, paired=False, power=0.9).games
    assert paired == np.ceil((z * (b - a).std() / 0.5) ** 2)
    assert unpaired == np.ceil(z**2 * (a.var() + b.var()) / 0.25)
    assert paired < unpaired / 3


def test_a_paired_plan_keeps_its_promise():
    rng = np.random.default_rng(5)

    def draw(n, shift):
        luck = rng.normal(0, 3, n)
        return [pd.DataFrame({"game": range(n), "x": luck + rng.normal(s, 1, n)}) for s in (0, shift)]

    games = to_tell_apart(pilot(draw(20_000, 0.3), "x"), 0.3, paired=True).games
    told = 0
    for _ in range(400):
        a, b = draw(games, 0.3)
        told += stats.ttest_rel(b["x"], a["x"]).pvalue < 0.05
    assert 0.74 <= told / 400 <= 0.86


def test_what_cannot_be_planned(folders):
    with pytest.raises(ConditionError, match="did you mean 'turns'"):
        pilot(folders[0], "turn")
    with pytest.raises(LoadError, match="3 results: a pilot is of one, or of two"):
        pilot([folders[0]] * 3, "turns")
    found = pilot(folders[0], "slam == 1")
    with pytest.raises(ValueError, match="needs a pilot of two results"):
        to_tell_apart(found, 0.1, paired=True)
    with pytest.raises(ValueError, match="it would leave 0 to 1"):
        to_tell_apart(found, -0.9, paired=False)
    with pytest.raises(ValueError, match="half-width 0.6 is out of range"):
        for_half_width(found, 0.6)


def test_the_command(folders):
    a, b = folders
    text = good("plan", a, "slam == 1", "--half-width", "0.1%")
    games = for_half_width(pilot(a, "slam == 1"), 0.001).games
    assert f"For ± 0.1 % (95 %): {games:,} games" in text
    told = json.loads(good("plan", a, b, "slam == 1", "--difference", "1%", "--json"))
    assert told["difference"]["paired"] < told["difference"]["unpaired"]
    text = good("plan", a, b, "turns", "--difference", "0.5")
    assert "games of each variant, on the same deals (correlation 0.9" in text
    assert "plan needs --half-width H or --difference D" in refused("plan", a, "turns")
    assert "0.1% is for rates; turns is a column of numbers" in refused("plan", a, "turns", "--half-width", "0.1%")
    assert "--half-width: 'x' is not a positive number" in refused("plan", a, "turns", "--half-width", "x")
    assert "did you mean 'slam'?" in refused("plan", a, "slan == 1", "--half-width", "1%")
    assert "there is no folder none" in refused("plan", "none", "slam", "--half-width", "1%")
    assert "--power 2 is out of range" in refused("plan", a, "turns", "--difference", "1", "--power", "2")
