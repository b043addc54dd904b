"""Reports: the numbers in the page are those of the data; nothing is fetched, injected, or different the next time."""

import json
import re
import subprocess
import sys
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from analysis import compare, factorial
from analysis.comparison import Plan
from analysis.load import open_rows
from analysis.solvability import solvability
from reports import report
from reports.comparison_page import comparison_page
from reports.gather import gather
from reports.page import Command, Page, ReportError, Section, Story, Table, Terms, Text, write_picture
from reports.run_page import About, run_page
from reports.solver_page import efforts, solver_page
from tests import made_up

GAMES = 4_000
ROOT = Path(__file__).parent.parent
ENV = {"TZ": "UTC+5"}
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


class Parsed(HTMLParser):
    """What a browser would make of a page: its elements, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts, self.rows = [], [], [], []
        self._silent = False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        self._silent = tag == "style"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self._silent:
            return
        self.texts.append(data)
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()

    def handle_endtag(self, tag):
        self._silent = False
        if tag == "tr":
            self.rows.append([])

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def values(self, attribute):
        return [value for _, name, value in self.attributes if name == attribute]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    data = made_up.rows(GAMES, seed=3)
    return made_up.write(tmp_path_factory.mktemp("run") / "run", data, cuts=(900, 2_500))


@pytest.fixture(scope="module")
def rows(folder):
    return pd.read_parquet(folder)


@pytest.fixture(scope="module")
def page(folder):
    return run_page(
        gather(open_rows(folder)), About(title="Whist", diagnosis=("one", "two"), command="fairdeal run whist")
    )


def number(text):
    """Return the number a cell begins with."""
    return float(re.match(r"[-\d,.]+", text)[0].replace(",", ""))


def agrees(text, value):
    """Tell whether the number a text begins with is a value, rounded."""
    decimals = len(re.match(r"[-\d,]+\.?(\d*)", text)[1])
    return abs(number(text) - value) <= 0.501 * 10**-decimals


# -- a run ------------------------------------------------------------------------------------------------------------


def test_seat_shares_in_the_page_are_those_of_the_rows(page, rows):
    frame = page.picture("seats").frame
    means = [rows[f"win_share_{k}"].mean() for k in range(3)]
    assert list(frame["share"]) == pytest.approx(means, rel=1e-12)
    parsed = Parsed(page.html())
    for mean, text in zip(means, frame["text"], strict=True):
        assert agrees(text, 100 * mean)
        assert text in parsed.text  # in the figure
        assert any(text in label for label in parsed.values("aria-label"))  # and in its words


def test_every_column_is_in_the_table(page, rows):
    cells = {row[-1]: row for row in Parsed(page.html()).rows if len(row) == 4}
    for name in ("points_0", "points_1", "points_2", "turns"):
        assert agrees(cells[name][1], rows[name].mean())
        assert cells[name][2] == f"{rows[name].min():,} – {rows[name].max():,}"
    assert agrees(cells["slam"][1], 100 * rows["slam"].mean())


def test_endings_lengths_and_points(page, rows):
    counts = rows["end"].value_counts()
    frame = page.picture("end").frame
    assert dict(zip(frame["label"], frame["share"], strict=True)) == pytest.approx(
        {
            "Out": counts["out"] / GAMES,
            "Stalemate": counts["stalemate"] / GAMES,
            "Stopped at the limit of turns": counts["turn_cap"] / GAMES,
        }
    )
    assert "Never: resigned." in page.picture("end").caption
    lengths = page.picture("length").frame
    assert dict(zip(lengths["value"], lengths["games"], strict=True)) == dict(rows["turns"].value_counts())
    points = page.picture("points").frame
    for k in range(3):
        wanted = np.quantile(rows[f"points_{k}"], [0.05, 0.25, 0.5, 0.75, 0.95], method="inverted_cdf")
        assert list(points.loc[k, ["q05", "q25", "q50", "q75", "q95"]]) == list(wanted)
        assert points.loc[k, "mean"] == pytest.approx(rows[f"points_{k}"].mean())


def test_games_without_a_verdict_are_counted_both_ways(page, rows):
    capped = rows["end"] == "turn_cap"
    table = next(
        row
        for row in Parsed(page.html()).rows
        if row and row[0].startswith("seat 0's share of the win") and len(row) == 3
    )
    known = rows["win_share_0"].where(~capped, 0)
    assert agrees(table[1], 100 * known.mean())
    assert agrees(table[2], 100 * (known.mean() + capped.mean()))
    assert f"{capped.sum():,} of {GAMES:,} games" in page.html()


def test_estimates_settle_as_the_rows_came(folder, rows):
    frame = gather(open_rows(folder)).settling
    assert frame["games"].max() == GAMES
    assert frame["games"].is_monotonic_increasing or frame["label"].nunique() == 3
    for row in frame.itertuples():
        first = rows[row.label][: row.games]
        assert row.estimate == pytest.approx(first.mean(), rel=1e-9)
        if row.games > 200 and row.low > 0:
            assert row.high - row.low == pytest.approx(2 * 1.96 * first.std() / np.sqrt(row.games), rel=0.02)


def test_the_answer_names_the_best_and_the_worst_seat(tmp_path):
    data = made_up.rows(GAMES)
    data["win_share_0"], data["win_share_1"], data["win_share_2"] = (np.full(GAMES, x) for x in (1.0, 0.0, 0.0))
    page = report(made_up.write(tmp_path / "one", data))
    assert page.answer.startswith("It matters who plays how and where: seat 0 (leader) wins most, 100 ")
    assert "seat 1 (spread) least, 0 " in page.answer
    even = np.arange(GAMES) % 3
    for k in range(3):
        data[f"win_share_{k}"] = (even == k).astype(float)
    page = report(made_up.write(tmp_path / "two", data))
    assert page.answer.startswith("No seat is shown to be better off: every one wins")


@pytest.mark.parametrize("games", [1, 2, 30])
def test_few_games_make_a_page_too(tmp_path, games):
    page = report(made_up.write(tmp_path / "few", made_up.rows(games)))
    html = page.html()
    assert Parsed(html).tags.count("h1") == 1
    assert "nan" not in Parsed(html).text.lower().replace("finance", "")
    if games == 1:
        assert "says nothing about the rules" in page.answer
    assert page.pdf().startswith(b"%PDF")


def test_anybodys_parquet_makes_a_page(tmp_path):
    pd.DataFrame({"a": [1, 2, 3], "kind": ["x", "y", "x"]}).to_parquet(tmp_path / "mine.parquet")
    page = report(tmp_path / "mine.parquet")
    assert page.answer == "3 rows, each column by itself."
    assert [picture.name for picture in page.pictures] == ["kind"]


# -- games worth reading ----------------------------------------------------------------------------------------------


def game_folder(path, game, rows, columns):
    spec = {**made_up.SPEC, "game": game, "policies": {}, "rules": {}}
    path.mkdir()
    table = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata(
        {"fairdeal": json.dumps({"format": 1, "spec": spec, "kernel_hash": "0"})}
    )
    pa.parquet.write_table(table, path / "part-0.parquet", row_group_size=300)
    document = {"format": 1, "spec": spec, "kernel_hash": "0", "games": len(rows), "columns": columns}
    (path / "_run.json").write_text(json.dumps({**document, "parts": [{"name": "part-0.parquet"}], "complete": True}))
    return path


def test_the_median_the_longest_and_the_closest_game(tmp_path):
    rng = np.random.default_rng(5)
    n = 2_000
    left = rng.integers(1, 9, (3, n)).astype(np.int8)
    winner = rng.integers(-1, 3, n).astype(np.int8)
    for seat in range(3):
        left[seat][winner == seat] = 0
    rows = pd.DataFrame({"game": np.arange(n, dtype=np.uint64), "winner": winner, "turns": rng.integers(4, 90, n)})
    rows = rows.assign(**{f"bus_left_{k}": left[k] for k in range(3)})
    columns = [
        made_up.column("winner", "seat that wins; -1 for nobody", -1, 2),
        made_up.column("turns", "turns begun, by all seats", 0, 100),
        *[made_up.column(f"bus_left_{k}", f"cards left in the bus of seat {k}", 0, 9) for k in range(3)],
    ]
    path = game_folder(tmp_path / "autobus", "autobus", rows, columns)
    picks = {pick.what: pick for pick in gather(open_rows(path)).picks}
    ordered = rows["turns"].sort_values(ignore_index=True)
    assert rows.loc[picks["median"].index, "turns"] == ordered[(n + 1) // 2 - 1]
    assert rows.loc[picks["longest"].index, "turns"] == rows["turns"].max()
    behind = rows[[f"bus_left_{k}" for k in range(3)]].sum(axis=1).where(rows["winner"] >= 0)
    closest = rows[behind == behind.min()]
    assert picks["closest"].index in closest["game"].to_numpy()
    assert rows.loc[picks["closest"].index, "turns"] == closest["turns"].max()
    assert f"{behind.min():g} behind" in picks["closest"].why


def test_a_patience_was_closest_where_most_was_placed_without_winning(tmp_path):
    rows = pd.DataFrame(
        {
            "game": np.arange(5, dtype=np.uint64),
            "won": np.array([0, 1, 0, 0, 0], np.int8),
            "placed": np.array([40, 96, 88, 88, 12], np.int8),
            "rows": np.array([7, 9, 6, 8, 5], np.int8),
        }
    )
    columns = [
        made_up.column("won", "1 if all foundations are full, else 0", 0, 1),
        made_up.column("placed", "cards placed on foundations", 0, 96),
        made_up.column("rows", "rows opened", 0, 10),
    ]
    found = gather(open_rows(game_folder(tmp_path / "patience", "bludiste", rows, columns)))
    assert {pick.what: pick.index for pick in found.picks} == {"median": 0, "longest": 1, "closest": 3}
    page = run_page(found)
    assert page.answer.startswith("20.0 (0.5 – 71.6) % of the deals are won")


def test_long_stories_lose_their_middle():
    story = Story("a", "b", [str(k) for k in range(5_000)], "fairdeal replay")
    shown = story.shown()
    assert len(shown) == 400
    assert shown[0] == "0"
    assert shown[-1] == "4999"
    assert "4,601 lines left out; the command above prints them" in shown[299]


# -- a comparison -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    """Return a folder of 2 × 3 variants; turns grow with the size, and the end changes with the swap."""
    parent = tmp_path_factory.mktemp("compare")
    folders, levels = {}, {}
    for size in ("5", "10", "20"):
        for swap in ("false", "true"):
            data = made_up.rows(1_500, seed=1)
            data["turns"] = (data["turns"] % 50 + int(size)).astype(np.uint32)
            if swap == "true":
                data["end"] = np.where(np.arange(1_500) % 4 == 0, 1, data["end"]).astype(np.int8)
            name = f"size = {size}, swap = {swap}"
            spec = {**made_up.SPEC, "rules": {**made_up.SPEC["rules"], "size": int(size), "swap": swap == "true"}}
            folders[name] = made_up.write(parent / f"{size}-{swap}", data, spec=spec)
            levels[name] = {"size": size, "swap": swap}
    return Plan(folders, "size = 5, swap = false", {"size": ("5", "10", "20"), "swap": ("false", "true")}, levels)


def test_a_comparisons_figures_are_the_paired_differences(variants):
    found = compare(variants, margin={"turns": 7.0})
    page = comparison_page(found, factorial=factorial(found), by="turns")
    rows = {name: pd.read_parquet(folder) for name, folder in variants.folders.items()}
    base = rows[variants.baseline]
    means = {name: frame["turns"].mean() for name, frame in rows.items()}
    forest = page.picture("forest").frame
    assert page.picture("forest").title == "Differences: turns played"
    assert set(forest["kind"]) == {name for name in rows if not name.startswith("size = 5")}  # the swap changes no turn
    for row in forest.itertuples():
        assert row.estimate == pytest.approx(means[row.kind] - means[variants.baseline])
        assert row.margin == 7.0
    parting = page.picture("differing").frame
    for row in parting.itertuples():
        differs = (rows[row.kind].astype(str) != base.astype(str)).any(axis=1)
        assert row.share == pytest.approx(differs.mean())
    assert list(page.picture("ranking").frame["label"]) == ["size", "swap"]
    heat = page.picture("heatmap").frame
    assert len(heat) == 6
    for row in heat.itertuples():
        assert row.value == pytest.approx(means[f"size = {row.row}, swap = {row.column}"])
        assert agrees(row.text, row.value)
    low, high = min(means.values()), max(means.values())
    told = re.match(
        r"What changes most is turns played: from ([\d.]+) under size = 5.* to ([\d.]+) under size = 20", page.answer
    )
    assert agrees(told[1], low)
    assert agrees(told[2], high)
    assert page.html().count("<figure") == len(page.pictures)


def test_two_variants_are_told_in_one_sentence(variants):
    names = list(variants.folders)
    found = compare({name: variants.folders[name] for name in (names[0], names[2])})
    page = comparison_page(found)
    assert page.answer.startswith("What changes most is ")
    difference = found.of("turns").difference.estimate
    table = next(row for row in Parsed(page.html()).rows if row and row[0] == "turns played")
    assert number(table[3]) == pytest.approx(difference, abs=1e-6)
    assert table[4] == "bigger"
    same = comparison_page(compare({"a": variants.folders[names[0]], "b": variants.folders[names[0]]}))
    assert same.answer == "It changes nothing: all 1,500 games end alike under every variant."
    assert same.html()


# -- a solver's results -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_unknown", [0, 60])
def test_a_solvers_page_counts_unknown_deals_both_ways(tmp_path, n_unknown):
    n = 400
    status = np.array(["unsolvable"] * (300 - n_unknown) + ["unknown"] * n_unknown + ["solved"] * 100)
    nodes = np.random.default_rng(1).integers(1, 900, n)
    nodes[status == "unknown"] = 1_000
    solved = pd.DataFrame(
        {
            "game": np.arange(n, dtype=np.uint64),
            "won": (status == "solved").astype(np.int8),
            "placed": np.full(n, 50, np.int8),
            "status": pd.Categorical(status, ["unsolvable", "solved", "unknown"]),
            "nodes": nodes,
        }
    )
    notes = [
        made_up.column("won", "1 if the deal was solved, else 0", 0, 1),
        made_up.column("placed", "most cards placed", 0, 96),
        made_up.column("status", "whether the deal can be won", categories=("unsolvable", "solved", "unknown")),
        made_up.column("nodes", "positions searched", 0, 10**6),
    ]
    path = game_folder(tmp_path / "solver", "bludiste", solved, notes)
    played = solved[["game"]].assign(won=(np.arange(n) >= 390).astype(np.int8), placed=np.int8(40))
    rival = game_folder(tmp_path / "rival", "bludiste", played, notes[:2])
    found = solvability(path, {"best": rival})
    effort = efforts(open_rows(path))
    from analysis import summarise

    page = solver_page(found, effort, {"best": summarise(rival)}, limit=1_000)
    verdicts = page.picture("verdicts").frame
    assert list(verdicts["share"]) == pytest.approx([0.25, n_unknown / n, 0.75 - n_unknown / n])
    assert (verdicts["low"].iloc[0], verdicts["high"].iloc[0]) == (found.low, found.high)
    for row in effort.itertuples():
        kind = "solved" if row.label == "proved that it can be won" else "unsolvable"
        assert row.share == pytest.approx(((status == kind) & (nodes <= row.nodes)).mean())
    gap = page.picture("gap").frame
    assert list(gap["label"]) == ["best", "perfect play"]
    assert list(gap["share"]) == pytest.approx([10 / n, 0.25])
    assert list(gap["open"]) == pytest.approx([0, n_unknown / n])
    assert page.answer.startswith("Between" if n_unknown else "25.0")
    assert page.picture("placed").frame["label"].unique() == ["best"]
    assert page.pdf()


# -- what every page is -----------------------------------------------------------------------------------------------


def test_a_page_needs_nothing_else(page):
    html = page.html()
    parsed = Parsed(html)
    assert len(html) < 1_500_000
    assert not {"script", "link", "img", "iframe", "object"} & set(parsed.tags)
    for _, name, value in parsed.attributes:
        if name in ("src", "href", "xlink:href", "action"):
            assert value.startswith("#")
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert parsed.values("lang") == ["en"]


def test_every_figure_is_told_in_words_and_drawn_for_both_widths(page):
    html = page.html()
    parsed = Parsed(html)
    figures = parsed.tags.count("figure")
    assert figures == len(page.pictures) > 4
    assert parsed.tags.count("svg") == 2 * figures
    assert parsed.values("role").count("img") == 2 * figures
    assert all(len(label) > 30 for label in parsed.values("aria-label"))
    ids = parsed.values("id")
    assert len(ids) == len(set(ids))
    referred = set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", html))
    assert referred <= set(ids)


def test_nothing_can_be_injected(tmp_path):
    data = made_up.rows(50)
    spec = {**made_up.SPEC, "rules": {"players": 3, EVIL: EVIL}, "policies": {"guess": [EVIL, "own", "own"]}}
    path = made_up.write(tmp_path / "evil", data, spec=spec, software={"name": EVIL, "version": EVIL})
    document = json.loads((path / "_run.json").read_text())
    for note in document["columns"]:
        note["description"] = f"{EVIL} {note['description']}"
    (path / "_run.json").write_text(json.dumps(document))
    known = About(
        EVIL,
        {EVIL: EVIL},
        [EVIL],
        f"fairdeal {EVIL}",
        [Story(EVIL, EVIL, [EVIL, "```", "</pre>"], EVIL)],
        f"results/{EVIL}",
    )
    page = run_page(gather(open_rows(path)), known)
    check_harmless(page)
    other = {**spec, "rules": {**spec["rules"], "swap": EVIL}}
    found = compare(
        {f"{EVIL} a": path, f"{EVIL} b": made_up.write(tmp_path / "other", made_up.rows(50, seed=2), spec=other)}
    )
    check_harmless(comparison_page(found, known))
    told = [Text([EVIL]), Text([EVIL] * 2), Terms([(EVIL, EVIL)]), Table([EVIL], [[EVIL]], folded=EVIL), Command(EVIL)]
    check_harmless(Page(EVIL, EVIL, [(EVIL, EVIL)], [Section(EVIL, told)]))


def check_harmless(page):
    parsed = Parsed(page.html())
    assert not {"script", "img"} & set(parsed.tags)
    assert not [name for _, name, _ in parsed.attributes if name.startswith("on")]
    assert "alert(1)" in parsed.text  # it is shown, as text
    outside = re.sub(r"^(`{3,})\n.*?\n\1$", "", page.markdown("x"), flags=re.DOTALL | re.MULTILINE)
    assert "<script" not in outside
    assert "<img" not in outside
    for picture in page.pictures:
        assert b"<script" not in picture.draw()


def test_the_same_results_give_the_same_bytes(folder, tmp_path):
    code = "from reports import report; import sys\nfor name in sys.argv[2:]: report(sys.argv[1]).write(name)"
    for seed in ("1", "2"):
        targets = [tmp_path / seed / name for name in ("a.html", "a.pdf", "a.md", "pictures")]
        command = [sys.executable, "-c", code, folder, *targets]
        subprocess.run(command, check=True, cwd=ROOT, env=ENV | {"PYTHONHASHSEED": seed})
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*") if path.is_file())
    assert len(files) > 20
    for name in files:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_markdown_names_the_pictures_that_lie_beside_it(page, tmp_path):
    written = page.write(tmp_path / "my report.md")
    text = written[0].read_text()
    pictures = re.findall(r"\]\(([^)]+\.svg)\)", text)
    assert len(pictures) == len(page.pictures)
    for name in pictures:
        assert (tmp_path / name.replace("%20", " ")).is_file()
    assert page.picture("seats").frame["text"][0] in text.replace("\\", "")


def test_a_pdf_has_all_pages_and_the_answer(page, tmp_path):
    data = page.pdf()
    assert data.startswith(b"%PDF")
    assert data.count(b"/Type /Page\n") >= 3
    assert b"(D:20000101" in data  # no date of today


def test_wrong_targets_are_refused(page, tmp_path):
    with pytest.raises(
        ReportError, match=r"a report is not written as '.docx'; allowed: .html, .pdf, .md, or a folder"
    ):
        page.write(tmp_path / "a.docx")
    with pytest.raises(ReportError, match=r"a figure is not written as '.html'; allowed: .svg, .png, .pdf"):
        write_picture(page.picture("seats"), tmp_path / "a.html")
    with pytest.raises(ReportError, match=r"no figure 'seets'.*did you mean 'seats'.*seats, end, length"):
        page.picture("seets")
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_rows(tmp_path):
    data = made_up.rows(400_000)
    path = made_up.write(tmp_path / "big", data, row_group=50_000)
    gather(open_rows(made_up.write(tmp_path / "small", made_up.rows(10))))
    tracemalloc.start()
    gather(open_rows(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
