"""``fairdeal report`` and ``fairdeal figure``: what is written where, and one clear line for every slip."""

import re
import shlex
import webbrowser
from pathlib import Path

import pandas as pd
import pytest

from tests.command_line import call, good, refused
from tests.test_report import Parsed

RUN = ("run", "bussikuski", "--games", "400", "--rule", "players=3", "--guess", "own,counting,own", "--seed", "7")


@pytest.fixture(scope="module", autouse=True)
def _results(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Play once for all tests here."""
    global HOME
    HOME = tmp_path_factory.mktemp("results")
    good(*RUN, "--out", HOME / "mine", "--quiet")
    vary = ("--vary", "bus_stake=by_row,flat")
    good("compare", "bussikuski", *vary, "--games", "300", "--out", HOME / "both", "--quiet")


HOME = Path()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def test_a_report_lies_beside_its_results_and_tells_three_games() -> None:
    done = call("report", HOME / "mine")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    written = HOME / "mine.html"
    assert f"Written: {written.resolve()} (" in done.stderr
    parsed = Parsed(written.read_text())
    stories = [text for text in parsed.texts if re.match(r"The (median|longest|closest): game \d+", text)]
    assert len(stories) == 3
    rows = pd.read_parquet(HOME / "mine")
    for story in stories:
        index = int(story.split()[-1])
        told = good("replay", "bussikuski", "--from", HOME / "mine", "--game", index)
        assert told.splitlines()[-1] in parsed.text  # the row, told as replay tells it
    longest = int(next(story for story in stories if "longest" in story).split()[-1])
    assert rows.loc[longest, "bus_turned"] == rows["bus_turned"].max()
    assert not list((HOME / "mine").glob("*.html"))
    assert len(pd.read_parquet(HOME / "mine")) == 400  # the folder is still nothing but rows


def test_the_command_in_the_page_gives_the_same_rows() -> None:
    good("report", HOME / "mine", "-o", "a.html", "--no-replays", "--quiet")
    command = re.search(r'<pre class="command">(fairdeal run .*?)</pre>', Path("a.html").read_text())
    assert command is not None
    words = shlex.split(command[1])
    assert words[:3] == ["fairdeal", "run", "bussikuski"]
    good(*words[1:], "--out", "again", "--quiet")
    pd.testing.assert_frame_equal(pd.read_parquet("again"), pd.read_parquet(HOME / "mine"))
    good("report", "again", "-o", "b.html", "--no-replays", "--quiet")
    pages = [Path(name).read_text() for name in ("a.html", "b.html")]
    assert pages[0].replace("<dd>mine</dd>", "<dd>again</dd>") == pages[1]


def test_a_comparisons_command_is_the_one_that_was_given() -> None:
    done = call("report", HOME / "both", "-o", "both.html", "--margin", "5%", "--by", "bus_penalty")
    assert done.exit_code == 0, done.output
    text = Parsed(Path("both.html").read_text()).text
    assert "What changes most is points the driver paid on the bus" in done.stderr
    assert "fairdeal compare bussikuski --vary bus_stake=by_row,flat --seed 1 --games 300" in text
    assert "differences below 5 % of a rate" in text
    folders = (HOME / "both" / "bus_stake=by_row", HOME / "both" / "bus_stake=flat")
    good("report", *folders, "-o", "two.html")
    assert "bus_stake=flat" in Path("two.html").read_text()


@pytest.mark.parametrize("ending", ["pdf", "md"])
def test_other_forms(ending: str) -> None:
    good("report", HOME / "mine", "-o", f"new/mine.{ending}", "--no-replays", "--quiet")
    assert Path(f"new/mine.{ending}").stat().st_size > 2_000


def test_a_folder_gets_every_figure() -> None:
    done = call("report", HOME / "mine", "-o", "pictures")
    assert re.search(r"Written: \d+ pictures in pictures", done.stderr)
    listed = good("figure", "list", HOME / "mine").splitlines()
    names = [line.split()[0] for line in listed]
    assert {"seats", "length", "survival", "points", "convergence", "card"} <= set(names)
    assert {path.stem[3:] for path in Path("pictures").glob("*.svg")} == set(names)
    assert {path.stem[3:] for path in Path("pictures").glob("*.png")} == set(names)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_single_figure(ending: str) -> None:
    done = call("figure", "seats", HOME / "mine", "-o", f"x.{ending}")
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(f"Written: x.{ending} (")
    wide = Path(f"x.{ending}").read_bytes()
    good("figure", "seats", HOME / "mine", "-o", f"x.{ending}", "--narrow", "--quiet")
    assert Path(f"x.{ending}").read_bytes() != wide


@pytest.mark.parametrize("works", [True, False])
def test_open_shows_it_in_the_browser(monkeypatch: pytest.MonkeyPatch, works: bool) -> None:
    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda address: shown.append(address) or works)
    done = call("report", HOME / "mine", "-o", "a b.html", "--no-replays", "--open")
    assert done.exit_code == 0
    assert shown == [(Path.cwd() / "a b.html").resolve().as_uri()]
    assert ("No browser could be opened; open " in done.stderr) is not works


def test_slips_get_one_line() -> None:
    mine, both = HOME / "mine", HOME / "both"
    assert refused("report", HOME / "mien") == f"there is no folder {HOME / 'mien'} (did you mean 'mine'?)"
    assert refused("report") == "report needs DIR; see 'fairdeal report --help'"
    assert "a report ends in .html, .pdf or .md, or is a folder; not in '.htlm' (did you mean '.html'?)" in refused(
        "report", mine, "-o", "a.htlm"
    )
    assert "where readers would take it for rows" in refused("report", mine, "-o", mine / "a.html")
    assert "where readers would take it for rows" in refused("report", mine, "-o", mine)
    assert refused("report", mine, "--margin", "1%") == f"--margin is for comparisons; {mine} is one run"
    assert refused("report", mine, "--by", "turns") == f"--by is for comparisons; {mine} is one run"
    assert "--by: there is no measure 'bus_penalt' (did you mean 'bus_penalty'?)" in refused(
        "report", both, "--by", "bus_penalt"
    )
    assert "'x' is not a positive number" in refused("report", both, "--margin", "x")
    assert "there is no figure 'seets' of this (did you mean 'seats'?); there are seats" in refused(
        "figure", "seets", mine
    )
    assert "a figure ends in .svg, .png or .pdf; not in '.jpg'" in refused("figure", "seats", mine, "-o", "a.jpg")
    assert "figure needs DIR" in refused("figure", "seats")
    assert not list(Path().iterdir())


def test_what_is_no_results_folder_fails() -> None:
    Path("empty").mkdir()
    assert "holds no Parquet file" in refused("report", "empty", status=1)
    Path("cut").mkdir()
    for path in (HOME / "mine").iterdir():
        (Path("cut") / path.name).write_bytes(path.read_bytes())
    part = next(Path("cut").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-100])
    assert part.name in refused("report", "cut", status=1)
