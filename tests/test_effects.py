"""Main effects, interactions and rankings against contrasts made by pandas deal by deal; planted truths."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis import compare, factorial
from analysis.comparison import BIGGER, OPEN, SMALLER, TOO_SMALL, Plan
from reports.effects import render_factorial

GAMES = 4_000
FACTORS = {"bus": ("10", "12", "15"), "swap": ("true", "false"), "tie": ("a", "b")}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Write a full factorial: bus moves turns by 0, 1, 3, swap by -0.5 and only with bus 15 by 1 more; tie nothing."""
    parent = tmp_path_factory.mktemp("factorial")
    rng = np.random.default_rng(4)
    luck = rng.normal(20, 4, GAMES)
    folders, levels = {}, {}
    for number, values in enumerate(itertools.product(*FACTORS.values())):
        cell = dict(zip(FACTORS, values, strict=True))
        turns = luck + rng.normal(0, 1, GAMES) + {"10": 0, "12": 1, "15": 3}[cell["bus"]]
        if cell["swap"] == "false":
            turns += -0.5 + (cell["bus"] == "15")
        name = ", ".join(f"{factor} = {value}" for factor, value in cell.items())
        won = rng.random(GAMES) < 0.5
        frame = pd.DataFrame({"game": range(GAMES), "turns": np.round(turns).astype(np.int16), "won": won})
        frame.to_parquet(parent / f"v{number}.parquet")
        folders[name], levels[name] = parent / f"v{number}.parquet", cell
    plan = Plan(folders, next(iter(folders)), FACTORS, levels)
    return plan, factorial(compare(plan))


def numbers(plan, measure, **cell):
    """Return each deal's mean over the combinations with these values."""
    chosen = [name for name, levels in plan.levels.items() if cell.items() <= levels.items()]
    return sum(pd.read_parquet(plan.folders[name])[measure].astype(float) for name in chosen) / len(chosen)


def test_main_effects_are_those_of_pandas(planted):
    plan, found = planted
    for factor, values in FACTORS.items():
        for value in values[1:]:
            for measure in ("turns", "won"):
                effect = found.of(measure, f"{factor} = {value}")
                base, other = (numbers(plan, measure, **{factor: level}) for level in (values[0], value))
                d = other - base
                assert effect.difference.estimate == pytest.approx(d.mean(), abs=1e-12)
                assert effect.difference.se == pytest.approx(stats.sem(d), rel=1e-9)
                assert effect.p == pytest.approx(stats.ttest_rel(other, base).pvalue, rel=1e-8)
                assert (effect.base, effect.other) == pytest.approx((base.mean(), other.mean()), rel=1e-12)
                assert effect.correlation == pytest.approx(base.corr(other), abs=1e-9)


def test_interactions_are_those_of_pandas(planted):
    plan, found = planted
    effect = found.of("turns", "bus = 15 × swap = false")
    cells = {
        (bus, swap): numbers(plan, "turns", bus=bus, swap=swap) for bus in ("10", "15") for swap in ("true", "false")
    }
    d = (cells["15", "false"] - cells["15", "true"]) - (cells["10", "false"] - cells["10", "true"])
    assert effect.difference.estimate == pytest.approx(d.mean(), abs=1e-12)
    assert effect.difference.se == pytest.approx(stats.sem(d), rel=1e-9)
    three = found.of("turns", "bus = 12 × swap = false × tie = b")
    d = sum(
        (-1) ** sum(sign) * numbers(plan, "turns", bus=bus, swap=swap, tie=tie)
        for sign in itertools.product((0, 1), repeat=3)
        for bus, swap, tie in [(("12", "10")[sign[0]], ("false", "true")[sign[1]], ("b", "a")[sign[2]])]
    )
    assert three.difference.estimate == pytest.approx(d.mean(), abs=1e-12)
    assert three.difference.se == pytest.approx(stats.sem(d), rel=1e-9)


def test_planted_effects_are_found_and_nothing_else(planted):
    _, found = planted
    verdicts = {effect.variant: effect.verdict for effect in found.effects if effect.measure.name == "turns"}
    assert verdicts["bus = 12"] == verdicts["bus = 15"] == verdicts["bus = 15 × swap = false"] == BIGGER
    assert verdicts["swap = false"] == SMALLER
    assert verdicts["tie = b"] == verdicts["bus = 12 × tie = b"] == OPEN
    assert all(effect.verdict == OPEN for effect in found.effects if effect.measure.name == "won")
    expected = multipletests([effect.p for effect in found.effects], method="holm")[1]
    assert [effect.p_adjusted for effect in found.effects] == pytest.approx(list(expected))


def test_what_matters_most_is_ranked(planted):
    plan, found = planted
    assert [rank.factor for rank in found.ranking] == ["bus", "swap", "tie"]
    first = found.ranking[0]
    assert (first.measure.name, first.low_value, first.high_value) == ("turns", "10", "15")
    deviation = np.sqrt(np.mean([pd.read_parquet(path)["turns"].var() for path in plan.folders.values()]))
    assert first.size.estimate == pytest.approx(first.difference.estimate / deviation, rel=1e-9)
    by_turns = found.rank("turns")
    assert [rank.factor for rank in by_turns] == ["bus", "swap", "tie"]
    assert [rank.ahead for rank in by_turns] == [True, True, None]
    assert by_turns[1].low_value == "false"
    by_won = found.rank("won")
    assert by_won[0].ahead is False
    with pytest.raises(KeyError, match="no measure 'x'; there are turns, won"):
        found.rank("x")


def test_a_margin_and_another_baseline(planted):
    plan, _ = planted
    found = factorial(compare(plan, margin=0.2, baseline="bus = 12, swap = true, tie = a"))
    assert found.of("turns", "tie = b").verdict == TOO_SMALL
    assert found.of("turns", "bus = 10").verdict == SMALLER


def test_text_and_json(planted):
    _, found = planted
    lines = render_factorial(found, by="turns").splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.startswith("What matters most: bus (from 10 to 15, turns goes from") for line in lines)
    assert any("ahead of the next" in line for line in lines)
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["ranking"][0]["factor"] == "bus"
    assert len(told["effects"]) == 2 * (2 * 2 * 3 - 1)
    assert "swap = false against true, averaged over the rest" in lines


def test_what_is_not_factorial(planted):
    plan, _ = planted
    names = list(plan.folders)
    with pytest.raises(ValueError, match="need two options or more"):
        factorial(compare({name: plan.folders[name] for name in names[:2]}))
    folders = {name: plan.folders[name] for name in names[:-1]}
    with pytest.raises(ValueError, match="not every combination"):
        factorial(compare(Plan(folders, names[0], FACTORS, plan.levels)))
