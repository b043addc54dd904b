"""The summary against numpy, pandas and exact fractions; order of rows; damaged input."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis import LoadError, open_rows, summarise
from analysis.load import BATCH_ROWS
from analysis.summary import Counts
from analysis.tally import MOST_VALUES, Tally
from tests import made_up

GAMES = 5_000


@pytest.fixture(scope="module")
def data():
    return made_up.rows(GAMES)


@pytest.fixture
def folder(tmp_path, data):
    return made_up.write(tmp_path / "run", data, cuts=(1_300, 4_000))


# Figures


def test_means_and_errors_are_those_of_numpy(folder, data):
    summary = summarise(folder)
    assert summary.games == GAMES
    assert "game" not in summary.columns
    for name in ("points_0", "points_2", "turns", "win_share_1"):
        column, values = summary.columns[name], data[name].astype(float)
        assert column.mean.estimate == pytest.approx(values.mean(), rel=1e-13)
        assert column.mean.se == pytest.approx(stats.sem(values), rel=1e-12)
        low, high = stats.norm.interval(0.95, values.mean(), stats.sem(values))
        assert (column.mean.low, column.mean.high) == pytest.approx((low, high), rel=1e-12)
        assert (column.moments.low, column.moments.high, column.n) == (values.min(), values.max(), GAMES)


def test_shares_of_the_win_add_up(folder):
    summary = summarise(folder)
    assert sum(summary.means[f"win_share_{k}"] for k in range(3)) == pytest.approx(1, abs=1e-15)


def test_zeros_and_ones_get_wilson(folder, data):
    column = summarise(folder, confidence=0.99).columns["slam"]
    low, high = proportion_confint(int(data["slam"].sum()), GAMES, alpha=0.01, method="wilson")
    assert column.is_rate
    assert (column.mean.low, column.mean.high) == pytest.approx((low, high), rel=1e-12)
    assert column.mean.confidence == 0.99


def test_categories_are_counted_with_those_that_never_occurred(folder, data):
    category = summarise(folder).categories["end"]
    counts = np.bincount(data["end"], minlength=4)
    assert list(category.counts) == list(made_up.ENDS)
    assert list(category.counts.values()) == counts.tolist()
    assert category.shares["out"].method == "wilson"
    never = category.shares["resigned"]
    assert (never.estimate, never.low, never.method) == (0, 0, "clopper_pearson")
    assert never.high == pytest.approx(proportion_confint(0, GAMES, method="beta")[1], rel=1e-12)


def test_the_values_of_a_column_have_shares(folder, data):
    summary = summarise(folder)
    dealer = summary.columns["dealer"]
    assert dealer.names_a_seat
    assert not summary.columns["points_0"].names_a_seat
    shares = dealer.shares()
    assert list(shares) == [-1, 0, 1, 2]
    for seat, share in shares.items():
        assert share.estimate == np.mean(data["dealer"] == seat)
    fives = summary.columns["points_1"].share(5)
    assert fives.estimate == np.mean(data["points_1"] == 5)
    assert summary.columns["points_1"].share(1_000).estimate == 0


def test_games_without_a_verdict_are_bounded_both_ways(folder, data):
    summary = summarise(folder)
    capped = data["end"] == 2
    assert summary.undecided == capped.sum() > 0
    assert summary.undecided_by == {("end", "turn_cap"): capped.sum()}
    for name in ("slam", "win_share_0"):
        values = data[name].astype(float)
        bounds = summary.bounds(name)
        for bound, filled in ((bounds.lost, np.where(capped, 0, values)), (bounds.won, np.where(capped, 1, values))):
            assert bound.estimate == pytest.approx(filled.mean(), rel=1e-13)
            assert bound.n == GAMES
        assert bounds.lost.estimate <= summary.columns[name].mean.estimate <= bounds.won.estimate
    dealt = summary.bounds("dealer", 1)
    decided = (data["dealer"] == 1) & ~capped
    assert dealt.lost.estimate == decided.mean()
    assert dealt.won.estimate == (decided | capped).mean()
    assert dealt.lost.low == pytest.approx(proportion_confint(decided.sum(), GAMES, method="wilson")[0])
    with pytest.raises(ValueError, match="turns is not a rate"):
        summary.bounds("turns")
    with pytest.raises(LoadError, match="no numeric column 'won'"):
        summary.bounds("won")


def test_the_solvers_unknown_is_no_verdict_and_empty_values_count_in_no_mean(tmp_path):
    status = pa.array(["solved", "unknown", "unsolvable", "unknown", "solved"]).dictionary_encode()
    table = pa.table(
        {
            "won": pa.array([1, None, 0, None, 1], pa.uint8()),
            "rows": pa.array([3, None, None, None, 5], pa.uint8()),
            "status": status,
        }
    )
    pq.write_table(table, tmp_path / "solved.parquet")
    summary = summarise(tmp_path)
    assert summary.undecided == 2
    assert (summary.columns["rows"].n, summary.means["rows"]) == (2, 4.0)
    won = summary.columns["won"]
    assert (won.n, won.mean.estimate) == (3, 2 / 3)
    bounds = summary.bounds("won")
    assert (bounds.lost.estimate, bounds.won.estimate) == (2 / 5, 4 / 5)


def test_json_is_the_contracts(folder, data):
    told = json.loads(json.dumps(summarise(folder).to_json(), allow_nan=False))
    for key in ("game", "rules", "policies", "seed"):
        assert told[key] == made_up.SPEC[key]
    assert told["games"] == GAMES
    assert told["columns"]["turns"].keys() == {"mean", "se", "low", "high", "n"}
    assert told["ends"] == {"end": dict(zip(made_up.ENDS, np.bincount(data["end"], minlength=4).tolist(), strict=True))}
    assert told["undecided"] == int(np.sum(data["end"] == 2))
    assert told["shares"]["dealer"]["-1"].keys() == {"share", "se", "low", "high", "n"}
    assert told["bounds"]["slam"]["lost"]["mean"] < told["bounds"]["slam"]["won"]["mean"]


def test_one_game_has_no_interval_of_a_mean(tmp_path):
    summary = summarise(made_up.write(tmp_path / "one", made_up.rows(1)))
    told = json.loads(json.dumps(summary.to_json(), allow_nan=False))
    assert told["columns"]["turns"]["se"] is told["columns"]["turns"]["low"] is None
    assert told["columns"]["slam"]["high"] is not None
    assert told["games"] == 1


def test_any_parquet_and_any_table_in_memory(tmp_path):
    frame = pd.DataFrame(
        {
            "x": [1.5, math.nan, 2.5, -1.0],
            "flag": [True, False, True, True],
            "won": [0, 1, 1, 0],
            "word": ["a", "b", "a", "a"],
            "when": pd.to_datetime(["2020-01-01"] * 4),
        }
    )
    frame.to_parquet(tmp_path / "frame.parquet")
    by_file, by_frame = summarise(tmp_path / "frame.parquet"), summarise(frame)
    assert by_file.to_json() == by_frame.to_json() == summarise(pa.Table.from_pandas(frame)).to_json()
    assert by_file.columns["x"].n == 3
    assert by_file.means == {"x": 1.0, "flag": 0.75, "won": 0.5}
    assert by_file.columns["flag"].is_rate
    assert by_file.columns["won"].is_rate
    assert not by_file.columns["x"].is_rate
    assert by_file.ends == {"word": {"a": 3, "b": 1}}
    assert by_file.left_out == ("when",)
    assert by_file.run.game is None


def test_an_arrow_table_keeps_its_provenance(folder, data):
    table = made_up.table(data)
    document = {"format": 1, "spec": made_up.SPEC, "columns": made_up.columns()}
    table = table.replace_schema_metadata({"fairdeal": json.dumps(document)})
    assert summarise(table).to_json() == summarise(folder).to_json()


def test_a_text_column_of_names_is_no_category(tmp_path):
    words = [f"w{k % 1_100}" for k in range(3_000)]
    summary = summarise(pa.table({"name": words, "x": range(3_000)}))
    assert summary.categories == {}
    assert summary.left_out == ("name",)


# Order


@pytest.mark.parametrize("cuts", [(), (1,), (17, 18, 2_500), tuple(range(500, GAMES, 500))])
def test_the_same_figures_whatever_parts_batches_and_order(tmp_path, folder, data, cuts):
    told = summarise(folder).to_json()
    order = np.random.default_rng(len(cuts)).permutation(GAMES)
    other = made_up.write(tmp_path / "other", data, cuts, order=order, row_group=333)
    assert summarise(other).to_json() == told
    rows = open_rows(other)
    for size in (97, 1_000):
        counts = Counts(rows.schema, rows.run)
        for batch in rows.batches(batch_rows=size):
            counts.add(batch)
        assert counts.summary().to_json() == told


def test_counts_of_disjoint_rows_merge(folder, data):
    rows = open_rows(folder)
    halves = [Counts(rows.schema, rows.run) for _ in range(2)]
    for number, batch in enumerate(rows.batches(batch_rows=400)):
        halves[number % 2].add(batch)
    halves[0].merge(halves[1])
    assert halves[0].summary() == summarise(folder)


def _exactly(values):
    """Return n, sum, sum of squares by fractions."""
    exact = [Fraction(value) for value in values]
    return len(exact), sum(exact, Fraction()), sum((x * x for x in exact), Fraction())


def _tally(batches, dtype):
    tally = Tally()
    for batch in batches:
        tally.add(np.array(batch, dtype))
    found = tally.moments()
    return found.n, found.total, found.squares


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_whole_numbers_are_summed_exactly(kind):
    info = np.iinfo(kind)

    @given(st.lists(st.lists(st.integers(int(info.min), int(info.max)), max_size=20), max_size=4))
    @settings(max_examples=60)
    def check(batches):
        values = [value for batch in batches for value in batch]
        assert _tally(batches, kind) == _exactly(values)

    check()


@given(st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20), max_size=4))
def test_floats_are_summed_exactly(batches):
    assert _tally(batches, float) == _exactly([value for batch in batches for value in batch])


@pytest.mark.parametrize("kind", ["i8", "u8", "u4", "f8", "f4"])
def test_sums_stay_exact_beyond_the_values_that_are_counted(monkeypatch, kind):
    monkeypatch.setattr("analysis.tally.MOST_VALUES", 50)
    rng = np.random.default_rng(5)
    if kind[0] == "f":
        values = (rng.normal(size=700) * 10.0 ** rng.integers(-30, 30, 700)).astype(kind)
        values[:9] = [0, -0.0, 5e-324, 1e30, -1e30, 1, 1 / 3, 2**-1074, -5]
    else:
        info = np.iinfo(kind)
        values = rng.integers(info.min, info.max, 700, kind, endpoint=True)
        values[:2] = info.min, info.max
    expected = _exactly(values.tolist())
    for cuts in ((), (20, 21, 400), (1, 2, 3), (690,)):
        tallies = [Tally(), Tally()]
        for number, batch in enumerate(np.split(values, list(cuts))):
            tallies[number % 2].add(batch)
        tallies[0].merge(tallies[1])
        found = tallies[0].moments()
        assert (found.n, found.total, found.squares) == expected
        assert (found.low, found.high) == (values.min(), values.max())
        assert found.counts is None


def test_a_wide_column_is_summed_when_it_has_too_many_values(tmp_path):
    values = np.random.default_rng(1).normal(1e3, 1, MOST_VALUES + 5)
    pq.write_table(pa.table({"x": values}), tmp_path / "x.parquet")
    column = summarise(tmp_path).columns["x"]
    assert column.moments.counts is None
    assert column.mean.estimate == math.fsum(values) / len(values)
    assert column.mean.se == pytest.approx(math.sqrt(math.fsum((values - 1e3) ** 2) / len(values) ** 2), rel=0.02)
    with pytest.raises(ValueError, match="x has too many values"):
        column.share(1e3)


def test_infinity_is_refused(tmp_path):
    pq.write_table(pa.table({"x": [1.0, math.inf]}), tmp_path / "x.parquet")
    with pytest.raises(LoadError, match="column 'x': an infinite value has no mean"):
        summarise(tmp_path)


# Reading


def test_memory_is_bounded_by_batches(folder):
    rows = open_rows(folder)
    sizes = [batch.num_rows for batch in rows.batches(["turns"], batch_rows=256)]
    assert sum(sizes) == rows.n_rows == GAMES
    assert max(sizes) <= 256 < BATCH_ROWS
    assert next(rows.batches(["slam", "turns"])).schema.names == ["slam", "turns"]


def test_the_document_is_read(folder):
    for source in (folder, folder / "_run.json", str(folder)):
        run = open_rows(source).run
        assert (run.game, run.seed, run.games, run.complete) == ("whist", 7, GAMES, True)
        assert run.columns["turns"].description == "turns played"
        assert run.columns["turns"].high == 100_000
        assert run.columns["end"].categories == made_up.ENDS
    part = open_rows(folder / "part-000001.parquet")
    assert (part.run.game, part.n_rows) == ("whist", 2_700)


def test_stray_and_unlisted_files_are_passed_over(folder):
    told = summarise(folder).to_json()
    for name in (".part-000009.parquet", "_part.parquet", "notes.txt", "part-000003.parquet"):
        (folder / name).write_bytes(b"half a file")
    assert summarise(folder).to_json() == told


def test_an_unfinished_run_is_summarised_as_far_as_it_is(tmp_path, data):
    folder = made_up.write(tmp_path / "run", data, games=10**6, complete=False)
    summary = summarise(folder)
    assert (summary.games, summary.run.games, summary.run.complete) == (GAMES, 10**6, False)


def _refused(source, **options):
    with pytest.raises(LoadError) as caught:
        summarise(open_rows(source, **options))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_wrong_path_is_named_with_its_neighbour(folder, tmp_path):
    assert _refused(tmp_path / "rum") == f"no such folder or file: {tmp_path / 'rum'} (did you mean {folder}?)"
    assert _refused("/nowhere/at/all") == "no such folder or file: /nowhere/at/all"


def test_a_folder_without_results(tmp_path):
    assert _refused(tmp_path) == f"{tmp_path} holds no Parquet file"
    assert "is not a results folder: it has no _run.json" in _refused(tmp_path, run_only=True)


def test_nothing_finished_yet(folder):
    document = json.loads((folder / "_run.json").read_text())
    (folder / "_run.json").write_text(json.dumps(document | {"parts": []}))
    assert "nothing is finished yet" in _refused(folder)
    for part in folder.glob("*.parquet"):
        part.unlink()
    (folder / "_run.json").write_text(json.dumps({"spec": made_up.SPEC}))
    assert "nothing is finished yet" in _refused(folder)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", None])
def test_a_damaged_part_is_named(folder, content):
    part = folder / "part-000001.parquet"
    part.write_bytes(part.read_bytes()[:-100] if content is None else content)
    assert _refused(folder).startswith(f"{part} cannot be read as Parquet: ")


def test_damage_in_the_middle_of_a_part_is_named(folder):
    part = folder / "part-000002.parquet"
    whole = bytearray(part.read_bytes())
    start = pq.read_metadata(part).row_group(0).column(1).data_page_offset
    whole[start + 100] ^= 1  # one bit of a page: only its checksum tells
    part.write_bytes(whole)
    assert _refused(folder).startswith(f"{part} cannot be read as Parquet: ")


def test_a_missing_part_is_named(folder):
    (folder / "part-000001.parquet").unlink()
    assert f"{folder / 'part-000001.parquet'} is missing" in _refused(folder)


@pytest.mark.parametrize("content", ["{", "[1]", '"x"'])
def test_a_damaged_document_is_named(folder, content):
    (folder / "_run.json").write_text(content)
    assert _refused(folder).startswith(f"{folder / '_run.json'} is damaged: ")


def test_a_later_format_is_refused(tmp_path, data):
    assert "has format 2; this version of fairdeal knows format 1" in _refused(made_up.write(tmp_path, data, format=2))


def test_a_part_outside_the_folder_is_refused(folder):
    document = json.loads((folder / "_run.json").read_text())
    (folder / "_run.json").write_text(json.dumps(document | {"parts": ["../x.parquet"]}))
    assert "lists a part that is not a file name" in _refused(folder)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"seed": 8}, "seed is 8, there 7"),
        ({"game": "bridge"}, 'game is "bridge", there "whist"'),
        ({"rules": made_up.SPEC["rules"] | {"table": "square"}}, 'table is "square", there "round"'),
        ({"policies": {"guess": ["own"] * 3}}, 'give is null, there ["leader", "spread", "leader"]'),
        ({"rules_version": 2}, "rules_version is 2, there 1"),
        ({"kernel_hash": "1"}, 'kernel_hash is "1", there "0"'),
    ],
)
def test_runs_that_differ_are_never_mixed(folder, data, change, difference):
    other = made_up.table({name: values[:10] for name, values in data.items()}, made_up.SPEC | change)
    pq.write_table(other, folder / "part-000002.parquet")
    assert difference in _refused(folder)
    (folder / "_run.json").unlink()
    assert "different runs are never mixed" in _refused(folder)


def test_tables_that_differ_are_never_mixed(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1], "b": [1.0]}), tmp_path / "2.parquet")
    assert "2.parquet: column 'b' is double, in 1.parquet int64" in _refused(tmp_path)
    pq.write_table(pa.table({"a": [1], "c": [1]}), tmp_path / "2.parquet")
    assert "2.parquet: column 'b' is missing, in 1.parquet int64" in _refused(tmp_path)


def test_an_unknown_column_is_answered_with_the_nearest(folder):
    rows = open_rows(folder)
    with pytest.raises(LoadError, match="has no column 'win_shar_1'; did you mean 'win_share_1'"):
        rows.check(["turns", "win_shar_1"])
    with pytest.raises(LoadError, match="there are game, points_0"):
        next(rows.batches(["zzz"]))


# Start-up


def test_summaries_do_not_load_slow_libraries(folder):
    code = (
        "import sys, analysis, reports\n"
        "assert not {'numpy', 'pyarrow', 'scipy'} & sys.modules.keys()\n"
        f"print(reports.render(analysis.summarise({str(folder)!r})))\n"
        "loaded = {'pandas', 'statsmodels', 'scipy.stats', 'matplotlib', 'scipy.special'} & sys.modules.keys()\n"
        "assert not loaded, loaded\n"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Whist: 5,000 games")


def test_lazy_names_are_there():
    import analysis
    import reports

    for module in (analysis, reports):
        for name in module.__all__:
            assert name in dir(module)
            assert getattr(module, name) is not None
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            module.nonsense  # noqa: B018
