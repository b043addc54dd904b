"""Comparisons against pandas, scipy and statsmodels on the same rows; planted truths; results that do not pair."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from analysis import LoadError, compare
from analysis.comparison import BIGGER, OPEN, SAME, SMALLER, TOO_SMALL, Margins
from analysis.intervals import clopper_pearson, paired_rates, wilson
from reports.comparison import render_comparison
from tests import made_up

GAMES = 3_000


@pytest.fixture(scope="module")
def data():
    """Return two results on the same deals: about a third of the games go another way under the second rules."""
    base, other = made_up.rows(GAMES, seed=1), made_up.rows(GAMES, seed=1)
    fresh = made_up.rows(GAMES, seed=2)
    changed = np.random.default_rng(3).random(GAMES) < 0.3
    for name in other:
        if name not in ("game", "slam"):
            other[name] = np.where(changed, fresh[name], other[name]).astype(other[name].dtype)
    return base, other


@pytest.fixture
def folders(tmp_path, data):
    changed_spec = {**made_up.SPEC, "rules": {**made_up.SPEC["rules"], "swap": True}}
    return [
        made_up.write(tmp_path / "false", data[0], cuts=(700, 1_900)),
        made_up.write(tmp_path / "true", data[1], cuts=(1_000,), spec=changed_spec),
    ]


def frames(folders):
    return [pd.read_parquet(folder).sort_values("game", ignore_index=True) for folder in folders]


@pytest.fixture
def _quick(monkeypatch):
    """Spare `multipletests` its garbage collection, a tenth of a second each time."""
    monkeypatch.setattr("gc.collect", lambda: 0)


def number(frame, measure):
    """Return a measure as pandas has it."""
    if measure.value is None:
        return frame[measure.column].astype(float)
    return (frame[measure.column] == measure.value).astype(float)


# Figures


def test_every_number_is_that_of_pandas(folders):
    found = compare(folders)
    a, b = frames(folders)
    assert (found.baseline, list(found.variants), found.games) == ("false", ["false", "true"], GAMES)
    names = [difference.measure.name for difference in found.differences]
    assert "dealer == 2" in names
    assert "end == 'stalemate'" in names
    assert "dealer" not in names
    assert "game" not in names
    for difference in found.differences:
        x, y = number(a, difference.measure), number(b, difference.measure)
        d = y - x
        assert difference.base == pytest.approx(x.mean(), rel=1e-12)
        assert difference.other == pytest.approx(y.mean(), rel=1e-12)
        assert difference.difference.estimate == pytest.approx(d.mean(), abs=1e-12)
        assert difference.n_changed == (d != 0).sum()
        if not difference.n_changed:
            assert difference.verdict == SAME
            continue
        assert difference.correlation == pytest.approx(x.corr(y), rel=1e-9)
        assert difference.variance_cut == pytest.approx((x.var() + y.var()) / d.var(), rel=1e-9)
        if difference.measure.is_binary:
            table = [[(x * y).sum(), (x > y).sum()], [(y > x).sum(), ((1 - x) * (1 - y)).sum()]]
            exact = difference.n_changed < 1_000
            assert difference.p == pytest.approx(mcnemar(table, exact=exact, correction=False).pvalue, rel=1e-9)
            assert difference.test == "mcnemar"
        else:
            assert difference.p == pytest.approx(stats.ttest_rel(y, x).pvalue, rel=1e-9)
            low, high = stats.norm.interval(0.95, d.mean(), stats.sem(d))
            assert (difference.difference.low, difference.difference.high) == pytest.approx((low, high), rel=1e-9)
    family = [difference for difference in found.differences if difference.n_changed]
    expected = multipletests([difference.p for difference in family], method="holm")[1]
    assert [difference.p_adjusted for difference in family] == pytest.approx(list(expected), rel=1e-12)
    assert found.n_comparisons == len(family)


def test_the_share_of_deals_that_differ_at_all(folders):
    a, b = frames(folders)
    differs = (a.astype({"end": str}) != b.astype({"end": str})).any(axis=1).sum()
    share = compare(folders).differing["true"]
    assert share.estimate == differs / GAMES
    assert (share.low, share.high) == (wilson(differs, GAMES).low, wilson(differs, GAMES).high)


def test_games_without_a_verdict_are_bounded_both_ways(folders):
    found = compare(folders)
    a, b = frames(folders)
    capped = [frame["end"] == "turn_cap" for frame in (a, b)]
    assert list(found.undecided.values()) == [mask.sum() for mask in capped]
    for name in ("slam", "win_share_1", "end == 'out'"):
        difference = found.of(name)
        x, y = number(a, difference.measure), number(b, difference.measure)
        low = y.where(~capped[1], 0) - x.where(~capped[0], 1)
        high = y.where(~capped[1], 1) - x.where(~capped[0], 0)
        for bound, d in ((difference.bounds.low, low), (difference.bounds.high, high)):
            assert bound.estimate == pytest.approx(d.mean(), abs=1e-12)
            assert bound.se == pytest.approx(stats.sem(d), rel=1e-9)
    assert found.of("turns").bounds is None
    assert found.of("end == 'turn_cap'").bounds is None


def test_empty_values_count_where_both_have_one():
    rng = np.random.default_rng(5)
    frames = [pd.DataFrame({"game": range(500), "moves": rng.normal(size=500)}) for _ in range(3)]
    for k, frame in enumerate(frames):
        frame.loc[k * 100 : k * 100 + 50, "moves"] = np.nan
    found = compare(dict(zip("abc", frames, strict=True)))
    for name, frame in zip("bc", frames[1:], strict=True):
        d = (frame["moves"] - frames[0]["moves"]).dropna()
        difference = found.of("moves", name)
        assert difference.difference.n == len(d)
        assert difference.difference.estimate == pytest.approx(d.mean(), rel=1e-9)
        assert difference.difference.se == pytest.approx(stats.sem(d), rel=1e-9)


def test_cuts_and_order_change_nothing(tmp_path, data, folders):
    order = np.random.default_rng(1).permutation(GAMES)
    shuffled = pd.read_parquet(folders[1]).iloc[order]
    told = compare(folders).to_json()["differences"]
    in_memory = compare({"false": pd.read_parquet(folders[0]), "true": shuffled})
    whole = made_up.write(tmp_path / "one" / "true", data[1], spec=made_up.SPEC)
    assert compare([folders[0], whole]).to_json()["differences"] == told
    ours = {entry["measure"]: entry for entry in in_memory.to_json()["differences"]}
    for entry in told:
        if entry["column"] not in ("dealer", "end", "win_share_0", "win_share_1", "win_share_2"):
            assert ours[entry["measure"]]["difference"] == pytest.approx(entry["difference"], abs=1e-12)


def test_only_games_that_all_have_are_compared(folders):
    a, b = frames(folders)
    found = compare({"a": a.iloc[:2_000], "b": b.iloc[500:]}, columns=["turns"])
    d = b["turns"].iloc[500:2_000].astype(float) - a["turns"].iloc[500:2_000]
    assert (found.games, found.unmatched) == (1_500, {"a": 500, "b": 1_000})
    assert found.of("turns").difference.estimate == pytest.approx(d.mean(), rel=1e-12)


def test_large_numbers_are_added_up_exactly():
    rng = np.random.default_rng(0)
    a, b = (10**9 + rng.integers(0, 50, 5_000) for _ in range(2))
    found = compare([pd.DataFrame({"game": range(5_000), "ticks": x}) for x in (a, b)]).of("ticks")
    assert found.difference.estimate == pytest.approx((b - a).mean(), rel=1e-12)
    assert found.difference.se == pytest.approx(stats.sem(b - a), rel=1e-9)


# Verdicts


def planted(n, shift, seed, flips=0.2):
    """Return a table of games won at a half, and the same with `flips` of them drawn again at 0.5 + shift / flips."""
    rng = np.random.default_rng(seed)
    won = rng.random(n) < 0.5
    again = np.where(rng.random(n) < flips, rng.random(n) < 0.5 + shift / flips, won)
    return [pd.DataFrame({"game": range(n), "won": x.astype(np.int8)}) for x in (won, again)]


def test_verdicts_in_words():
    assert compare(planted(20_000, 0.05, 1)).of("won").verdict == BIGGER
    assert compare(planted(20_000, -0.05, 2)).of("won").verdict == SMALLER
    assert compare(planted(20_000, 0, 3), margin=0.02).of("won").verdict == TOO_SMALL
    assert compare(planted(20_000, 0, 3), margin={"won": 0.0001}).of("won").verdict == OPEN
    same = compare(planted(1_000, 0, 4, flips=1e-9)).of("won")
    assert (same.verdict, same.p, same.games_needed) == (SAME, 1, None)


@pytest.mark.usefixtures("_quick")
def test_the_games_needed_decide_it_at_the_stated_chance():
    pilot = compare(planted(2_000, 0.01, 8)).of("won")
    assert pilot.verdict == OPEN
    d = pilot.difference
    expected = d.n * ((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * d.se / abs(d.estimate)) ** 2
    assert pilot.games_needed == pytest.approx(expected)
    needed = int(((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) / 0.01) ** 2 * (0.1 - 0.01**2))
    decided = sum(compare(planted(needed, 0.01, seed)).of("won").verdict == BIGGER for seed in range(100))
    assert 65 <= decided <= 92  # 80 ± 3 standard errors


def test_margins_of_rates_and_of_columns(folders):
    found = compare(folders, margin=Margins(rates=0.5, columns={"points": 1_000, "turns": 0.001}))
    verdicts = {difference.measure.name: difference.verdict for difference in found.differences}
    assert verdicts["win_share_0"] == verdicts["points_1"] == verdicts["end == 'out'"] == TOO_SMALL
    assert verdicts["turns"] != TOO_SMALL
    assert found.of("turns").margin == 0.001


def test_a_difference_that_never_varies():
    frame = pd.DataFrame({"game": range(100), "turns": np.arange(100) % 7 + 10})
    found = compare([frame, frame.assign(turns=frame.turns + 2)]).of("turns")
    assert (found.verdict, found.p, found.difference.method) == (BIGGER, 0, "constant")
    assert found.variance_cut == np.inf
    json.dumps(found.to_json(), allow_nan=False)


def test_few_deals_that_differ_are_not_taken_for_certainty(tmp_path, data):
    other = {name: values.copy() for name, values in data[0].items()}
    other["turns"][:3] += 1
    folders = [made_up.write(tmp_path / name, rows) for name, rows in (("a", data[0]), ("b", other))]
    found = compare(folders).of("turns").difference
    assert found.method == "clopper_pearson"
    assert found.high == pytest.approx(clopper_pearson(3, GAMES).high * 100_000)


# Paired rates


def test_the_score_interval_leaves_out_zero_when_mcnemar_rejects():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(40, 2_000))
        gained, lost = (int(x) for x in rng.multinomial(n, [0.2, 0.15, 0.65])[:2])
        if gained + lost < 10:
            continue
        found = paired_rates(gained, lost, n)
        p = mcnemar([[n - gained - lost, lost], [gained, 0]], exact=False, correction=False).pvalue
        assert (found.low > 0 or found.high < 0) == (p < 0.05)
        turned = paired_rates(lost, gained, n)
        assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=1e-12)
        assert -1 <= found.low <= found.estimate <= found.high <= 1


def test_the_score_interval_s_ends_are_where_the_score_test_turns():
    gained, lost, n = 30, 18, 120
    found = paired_rates(gained, lost, n)
    for delta in (found.low, found.high):
        # The likeliest share of games lost, given the difference, by search over a fine grid.
        p = np.linspace(max(0, -delta) + 1e-9, (1 - delta) / 2 - 1e-9, 2_000_001)
        likelihood = lost * np.log(p) + gained * np.log(p + delta) + (n - gained - lost) * np.log(1 - delta - 2 * p)
        p_lost = p[likelihood.argmax()]
        z = (gained - lost - n * delta) / np.sqrt(n * (2 * p_lost + delta - delta**2))
        assert abs(z) == pytest.approx(stats.norm.ppf(0.975), rel=1e-5)


@pytest.mark.parametrize(("gained", "lost", "n"), [(100, 0, 100), (0, 100, 100), (50, 50, 100), (0, 0, 50), (0, 0, 0)])
def test_the_score_interval_at_the_ends(gained, lost, n):
    found = paired_rates(gained, lost, n)
    assert -1 <= found.low <= found.high <= 1
    assert n == 0 or found.low <= found.estimate <= found.high
    assert found.low < found.high


# Seats, categories, variants


def test_seats_that_exist_under_all_variants(tmp_path):
    three = made_up.write(tmp_path / "three", made_up.rows(200, seats=3), seats=3)
    four_rows = made_up.rows(200, seats=4, seed=1)
    four_spec = {**made_up.SPEC, "rules": {**made_up.SPEC["rules"], "players": 4}}
    four = made_up.write(tmp_path / "four", four_rows, seats=4, spec=four_spec)
    found = compare([three, four])
    names = [difference.measure.name for difference in found.differences]
    assert "points_2" in names
    assert "points_3" not in names
    assert "points_3" in found.left_out
    assert "dealer == 2" in names
    d = (pd.read_parquet(four)["dealer"] == 2).mean() - (pd.read_parquet(three)["dealer"] == 2).mean()
    assert found.of("dealer == 2").difference.estimate == pytest.approx(d, abs=1e-12)


def test_values_that_appear_late_or_under_one_variant_only():
    n = 300_000
    a = pd.DataFrame({"game": range(n), "how": pd.Categorical(["x"] * n, categories=["x"])})
    words = ["x"] * (n - 10) + ["late"] * 10
    found = compare([a, a.assign(how=pd.Categorical(words))])
    assert found.of("how == 'late'").other == 10 / n
    assert found.of("how == 'late'").difference.n == n
    assert found.of("how == 'x'").n_changed == 10


def test_a_chosen_baseline_and_columns(folders):
    there, back = compare(folders, columns=["points"]), compare(folders, columns=["points"], baseline="true")
    assert [difference.measure.name for difference in there.differences] == ["points_0", "points_1", "points_2"]
    for one, other in zip(there.differences, back.differences, strict=True):
        assert one.difference.estimate == -other.difference.estimate
        assert one.p == other.p
    assert there.frame().shape[0] == 3
    json.dumps(there.to_json(), allow_nan=False)


def test_the_text_shows_what_games_without_a_verdict_leave_open(tmp_path, data):
    capped = {**data[1], "end": np.where(np.arange(GAMES) % 4 == 0, 2, data[1]["end"]).astype(np.int8)}
    folders = [made_up.write(tmp_path / name, rows) for name, rows in (("few", data[0]), ("many", capped))]
    found = compare(folders, margin=Margins(rates=0.5))
    lines = render_comparison(found).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0] == "Whist: 2 variants on the same 3,000 deals, seed 7"
    assert any(line.startswith("many against few: ") for line in lines)
    (start,) = [number for number, line in enumerate(lines) if line.startswith("No verdict: ")]
    assert f"No verdict: {(capped['end'] == 2).sum()} games under many, 2" in lines[start]
    bounds = found.of("win_share_0").bounds
    row = next(line for line in lines[start:] if line.startswith("win_share_0, %"))
    assert f"{100 * bounds.low.estimate:.1f}" in row
    assert f"{100 * bounds.high.estimate:.1f}" in row
    table = [line for line in lines[:start] if "too small to matter" in line]
    assert any(line.startswith("win_share_0, %") for line in table)


# What cannot be compared


def test_results_that_do_not_pair(tmp_path, folders, data):
    other_seed = made_up.write(tmp_path / "seed", data[0], spec={**made_up.SPEC, "seed": 8})
    with pytest.raises(LoadError, match="are not the same deals: seed 7 there, 8 here"):
        compare([folders[0], other_seed])
    other_game = made_up.write(tmp_path / "game", data[0], spec={**made_up.SPEC, "game": "skat"})
    with pytest.raises(LoadError, match="are not the same deals: game whist there, skat here"):
        compare([folders[0], other_game])
    a, b = frames(folders)
    with pytest.raises(LoadError, match="have no game in common"):
        compare([a.iloc[:100], b.iloc[100:]])
    with pytest.raises(LoadError, match="not in ascending order, each once"):
        compare([a, pd.concat([b, b])])
    with pytest.raises(LoadError, match="no column 'game' of whole numbers"):
        compare([a, b.drop(columns="game")])
    with pytest.raises(LoadError, match="there is no column 'turn'; did you mean 'turns'"):
        compare([a, b], columns=["turn"])
    with pytest.raises(ValueError, match="two variants or more"):
        compare([a])
    with pytest.raises(ValueError, match="no variant 'c' to be the baseline; there are a, b"):
        compare({"a": a, "b": b}, baseline="c")
    with pytest.raises(ValueError, match="margin -1 is not a positive number"):
        compare([a, b], margin=-1)
    with pytest.raises(LoadError, match=r"no folder of variants: it has no _compare\.json"):
        compare(tmp_path)


# Error rates (quick; the coverage of every kind of interval is in tests/validation)


@pytest.mark.usefixtures("_quick")
def test_holm_keeps_the_family_wise_error_when_nothing_differs():
    rng = np.random.default_rng(11)
    n, n_columns, wrong = 400, 10, 0
    for _ in range(120):
        tables = []
        shared = rng.normal(size=(n, n_columns))
        for _ in range(3):
            noise = rng.normal(size=(n, n_columns))
            tables.append(pd.DataFrame(shared + noise, columns=[f"x{k}" for k in range(n_columns)]))
            tables[-1]["game"] = range(n)
        wrong += any(found.verdict != OPEN for found in compare(tables).differences)
    assert wrong <= stats.binom.ppf(0.999, 120, 0.05)
