"""Successive elimination: who falls, who wins, and what is promised."""

import numpy as np
import pytest

from analysis import Race
from analysis.sequential import looks


def raced(means, *, games=60_000, seed=1, **how):
    """Race contestants that win with these probabilities, on deals that they share half of the luck of."""
    rng = np.random.default_rng(seed)
    race = Race([f"c{k}" for k in range(len(means))], spread=1.0, **how)
    seen = 0
    for n in looks(games):
        shared, own = rng.random(n - seen), rng.random((len(means), n - seen))
        luck = np.where(rng.random((len(means), n - seen)) < 0.5, shared, own)
        left = [int(name[1:]) for name in race.active]
        race.add((luck < np.array(means)[:, None])[left].astype(np.int8))
        race.look()
        seen = n
        if race.is_decided:
            break
    return race


def test_the_best_is_found_and_the_worst_fall_first():
    race = raced([0.2, 0.5, 0.3, 0.45])
    assert race.active == ["c1"]
    assert race.is_decided
    assert race.ranking() == ["c1", "c3", "c2", "c0"]
    assert [fall.games for fall in race.falls] == sorted(fall.games for fall in race.falls)
    assert race.falls[-1].games > race.falls[0].games
    assert race.falls[-1].by == "c1"
    assert race.falls[-1].difference.low > 0
    assert race.score("c1").estimate == pytest.approx(0.5, abs=0.02)
    assert race.score("c0").n == race.falls[0].games


def test_the_least_can_be_the_best():
    race = raced([0.2, 0.5, 0.3], least=True)
    assert race.active == ["c0"]
    assert race.ranking() == ["c0", "c2", "c1"]
    assert all(fall.difference.high < 0 for fall in race.falls)


def test_equal_ones_stay_open_unless_a_margin_says_that_it_does_not_matter():
    race = raced([0.4, 0.4, 0.2])
    assert set(race.active) == {"c0", "c1"}
    assert not race.is_decided
    told = race.to_json()
    assert told["winner"] is None
    assert told["left"] == ["c0", "c1"]
    race = raced([0.4, 0.4, 0.2], margin=0.03)
    assert race.is_decided
    assert len(race.active) == 2
    assert race.to_json()["winner"] == race.leader
    assert race.games < 60_000


def test_contestants_that_never_differ_do_not_fall():
    race = Race(["a", "b"], spread=1.0, margin=0.01)
    race.add(np.zeros((2, 200), np.int8))
    assert race.look() == []
    assert not race.is_decided
    race.add(np.zeros((2, 5_000), np.int8))
    assert race.is_decided
    assert race.active == ["a", "b"]


def test_scores_in_other_units():
    rng = np.random.default_rng(2)
    scores = np.stack([rng.integers(0, 841, 20_000), rng.integers(0, 800, 20_000)])
    race = Race(["a", "b"], unit=840, spread=1.0)
    race.add(scores)
    race.look()
    assert race.active == ["a"]
    assert race.score("a").estimate == pytest.approx(scores[0].mean() / 840)
    assert race.falls[0].difference.estimate == pytest.approx((scores[0] - scores[1]).mean() / 840)


@pytest.mark.parametrize(("names", "error"), [(["a"], 0.05), (["a", "a"], 0.05), (["a", "b"], 0), (["a", "b"], 1)])
def test_what_is_no_race(names, error):
    with pytest.raises(ValueError, match="a race needs|is not between 0 and 1"):
        Race(names, error=error)
