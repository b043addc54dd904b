"""The summary's text: a whole one, its parts, and that it fits at every size."""

import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import mean, rate, summarise
from analysis.intervals import fraction
from reports import render
from reports.text import WIDTH, cell
from tests import made_up


def _regular(games):
    """Return rows without chance, so that the whole text can be written down."""
    index = np.arange(games)
    points = np.stack([(index * step) % 101 for step in (7, 11, 13)]).astype(np.int16)
    best = points == points.max(axis=0)
    shares = best / best.sum(axis=0)
    return {
        "game": index.astype(np.uint64),
        **{f"points_{k}": points[k] for k in range(3)},
        **{f"win_share_{k}": shares[k] for k in range(3)},
        "dealer": np.where(index % 500 == 0, -1, index % 3).astype(np.int8),
        "turns": (20 + index % 1_200).astype(np.uint32),
        "slam": (index % 20 == 0).astype(np.uint8),
        "end": np.where(index % 250 == 0, 2, np.where(index % 3 == 0, 1, 0)).astype(np.int8),
    }


WHOLE = """\
Whist: 4,000 games, seed 7
Rules       by the letter, but table = round, stakes = 1,2
Policies    guess own, give by seat (see the table)
Intervals   95 %, each for itself; ± is half the width

                share of the
                win, %          points at the
Seat   give     (fair: 33.3)    end             deals, %
──────────────────────────────────────────────────────────
0      leader   34.9 ± 1.5      49.97 ± 0.90    33.3 ± 1.5
1      spread   28.0 ± 1.4      49.98 ± 0.90    33.3 ± 1.5
2      leader   37.1 ± 1.5      49.98 ± 0.90    33.2 ± 1.5
Share of the win: 1/k for each of k.
Points at the end: most win.
Deals: nobody in 0.20 (0.09 – 0.39) % of the games.

                     share, %              games
────────────────────────────────────────────────
How the game ended
  out                66.4  ± 1.5           2,656
  stalemate          33.2  ± 1.5           1,328
  turn cap            0.40 (0.25 – 0.65)      16
  never: resigned (≤ 0.093 %)

Per game          mean              least – most
────────────────────────────────────────────────
Turns played      580    ± 11       20 – 1,219
A slam was made     5.00 ± 0.68 %

No verdict (turn cap): 16 of 4,000 games. The figures above take them as they stand; here they are
counted once as lost, once as won, to show what they leave open.

No verdict counted as      all lost, %    all won, %
──────────────────────────────────────────────────────
Share of the win, seat 0   34.7  ± 1.5    35.1  ± 1.5
Share of the win, seat 1   27.9  ± 1.4    28.3  ± 1.4
Share of the win, seat 2   37.0  ± 1.5    37.4  ± 1.5
A slam was made             4.80 ± 0.66    5.20 ± 0.69

Diagnosis
  - Seat 2 wins often.
  - Nothing else is odd. Nothing else is odd. Nothing else is odd. Nothing else is odd. Nothing else
    is odd. Nothing else is odd.
"""


def test_the_whole_text(tmp_path):
    summary = summarise(made_up.write(tmp_path / "run", _regular(4_000)))
    sentences = ["Seat 2 wins often.", "Nothing else is odd. " * 6]
    text = render(summary, title="Whist", changes={"table": "round", "stakes": "1,2"}, diagnosis=sentences)
    assert text + "\n" == WHOLE


def _made_up(tmp_path, seats, games, **options):
    data = made_up.rows(games, seats, **options)
    policies = {"guess": ["counting"] * seats, "give": [("leader", "neighbour")[k % 2] for k in range(seats)]}
    spec = made_up.SPEC | {"policies": policies}
    return summarise(made_up.write(tmp_path / "run", data, seats=seats, spec=spec, row_group=100_000))


@pytest.mark.parametrize("games", [1, 2, 10, 300, 50_000])
@pytest.mark.parametrize("seats", [2, 3, 4, 8])
def test_it_fits(tmp_path, seats, games):
    lines = render(_made_up(tmp_path, seats, games), diagnosis=["word " * 60]).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert all(line == line.rstrip() and line.isprintable() for line in lines)
    for seat in range(seats):
        assert any(line.startswith(f"{seat}  ") for line in lines)
    assert sum("95 %" in line for line in lines) == 1
    assert lines[0] == f"Whist: {games:,} game{'s' if games > 1 else ''}, seed 7"
    assert not any(word in line for line in lines for word in ("nan", "inf", "_", "\xa0"))


def test_columns_that_do_not_fit_go_below(tmp_path):
    lines = render(_made_up(tmp_path, 4, 3_000), width=50).splitlines()
    assert max(map(len, lines)) <= 50
    assert sum(line.startswith("Seat ") for line in lines) == 2
    assert sum(line.startswith("3  ") for line in lines) == 2


@pytest.mark.parametrize(
    ("interval", "number", "tail"),
    [
        (mean(12.34567, 4.0, 10_000), "12.346", "± 0.039"),
        (mean(-12.34567, 4.0, 10_000), "-12.346", "± 0.039"),
        (mean(-1e-9, 4.0, 10_000), "0.000", "± 0.039"),
        (mean(1234567.0, 3e12, 10_000), "1,235,000", "± 34,000"),
        (mean(5.0, (0.0996 / 1.96) ** 2 * 10_000, 10_000), "5.00", "± 0.10"),
        (mean(3.0, 0.0, 10), "3", "always"),
        (mean(2.5, 0.0, 10), "2.5", "always"),
        (mean(7.0, math.nan, 1), "7", ""),
        (mean(math.nan, math.nan, 0), "-", ""),
        (mean(1.0, math.inf, 5_000), "1", ""),
    ],
)
def test_means_are_shown_as_far_as_they_are_known(interval, number, tail):
    found = cell(interval)
    assert (found.number, found.tail) == (number, tail)


@pytest.mark.parametrize(
    ("interval", "number", "tail"),
    [
        (rate(250_000, 10**6), "25.000", "± 0.085"),
        (rate(5, 10), "50", "± 31"),
        (rate(0, 10**6), "0", "(≤ 0.00037)"),
        (rate(10**6, 10**6), "100", "(≥ 99.99963)"),
        (rate(0, 1), "0", "(≤ 98)"),
        (rate(1, 1), "100", "(≥ 2)"),
        (rate(0, 10**9), "0", "(≤ 0.00000037)"),
        (rate(1, 10**6), "0.000100", "(0.000003 – 0.000557)"),
        (rate(30, 10**6), "0.0030", "(0.0021 – 0.0043)"),
        (rate(10**6 - 30, 10**6), "99.9970", "(99.9957 – 99.9979)"),
        (fraction(0.5, math.nan, 1), "50", "± 50"),
        (rate(0, 0), "-", ""),
    ],
)
def test_rates_are_shown_in_percent_as_far_as_they_are_known(interval, number, tail):
    found = cell(interval, percent=True)
    assert (found.number, found.tail) == (number, tail)


def test_ends_of_one_side_are_rounded_outwards():
    for n in range(1, 300):
        shown = float(cell(rate(0, n), percent=True).tail.strip("(≤ )"))
        assert shown >= 100 * rate(0, n).high
        shown = float(cell(rate(n, n), percent=True).tail.strip("(≥ )"))
        assert shown <= 100 * rate(n, n).low


def test_a_range_is_never_shown_as_touching_never_or_always():
    for n in (10, 1_000, 10**6):
        for events in range(1, 10):
            few = cell(rate(events, n), percent=True)
            if few.tail.startswith("("):
                low, high = (float(part) for part in few.tail.strip("()").split(" – "))
                assert 0 < low < float(few.number) < high < 100


def test_without_the_callers_help_every_rule_is_listed(tmp_path):
    text = render(summarise(made_up.write(tmp_path / "run", _regular(100))))
    assert "Rules       players = 3, stakes = 1,2, table = round, swap = false\n" in text
    assert "Diagnosis" not in text


def test_the_rules_by_the_letter(tmp_path):
    assert "Rules       by the letter\n" in render(summarise(made_up.write(tmp_path / "run", _regular(50))), changes={})


def test_an_unfinished_run_says_so(tmp_path):
    text = render(summarise(made_up.write(tmp_path / "run", _regular(100), games=10**6)))
    assert "Unfinished  100 of 1,000,000 games are played\n" in text


def test_a_game_for_one(tmp_path):
    """Bludiště: no seats, a win or not, empty values, and deals that nobody could decide."""
    statuses = ["solved", "unsolvable", "unknown"]
    codes = np.arange(300) % 3
    solved = codes == 0
    rows_opened = pa.array([5 + k % 7 if ok else None for k, ok in enumerate(solved)], pa.uint8())
    table = pa.table(
        {
            "game": pa.array(np.arange(300, dtype=np.uint64)),
            "won": pa.array(solved.astype(np.uint8)),
            "placed": pa.array(np.where(solved, 96, codes * 20).astype(np.uint8)),
            "rows": rows_opened,
            "status": pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(statuses)),
        }
    )
    notes = [
        made_up.column("won", "the deal was won", 0, 1),
        made_up.column("placed", "cards placed on the foundations", 0, 96),
        made_up.column("rows", "rows opened", 0, 20),
        made_up.column("status", "what the solver found", categories=statuses),
    ]
    spec = made_up.SPEC | {"game": "bludiste", "policies": {"policy": ["solver"]}}
    folder = made_up.write(tmp_path / "run", _regular(10), spec=spec, columns=notes, parts=["p.parquet"], games=300)
    pq.write_table(table, folder / "p.parquet")
    text = render(summarise(folder), title="Bludiště", changes={})
    assert text.startswith("Bludiště: 300 games, seed 7\nRules       by the letter\nPolicies    solver\n")
    assert "Seat" not in text
    assert re.search(r"^The deal was won +33\.3 +± 5\.3 %$", text, re.MULTILINE)
    assert re.search(r"^Rows opened \(of 100 games\) +7\.97 ± 0\.40 +5 – 11$", text, re.MULTILINE)
    assert re.search(r"^  unsolvable +33\.3 ± 5\.3 +100$", text, re.MULTILINE)
    assert "No verdict (unknown): 100 of 300 games." in text
    assert re.search(r"^The deal was won +33\.3 ± 5\.3 +66\.7 ± 5\.3$", text, re.MULTILINE)


def test_a_game_whose_winner_is_a_seat(tmp_path):
    """Autobus: no shares of a win, but a column that names the winner."""
    games = 4_000
    winner = (np.arange(games) % 5 - 1).astype(np.int8)
    data = {
        "game": np.arange(games, dtype=np.uint64),
        "winner": winner,
        "end": np.where(winner < 0, 1, 0).astype(np.int8),
        **{f"points_{k}": np.where(winner == k, 20, -5).astype(np.int16) for k in range(4)},
    }
    notes = [
        made_up.column("winner", "seat that wins, -1 for nobody", -1, 3),
        *[made_up.column(f"points_{k}", f"points of seat {k}", -99, 99) for k in range(4)],
        made_up.column("end", "how the game ended", categories=made_up.ENDS),
    ]
    text = render(summarise(made_up.write(tmp_path / "run", data, columns=notes)), changes={})
    assert re.search(r"^Seat +\(fair: 25\) +points$", text, re.MULTILINE)
    assert re.search(r"^3 +20\.0 ± 1\.2 +0\.00 ± 0\.31$", text, re.MULTILINE)
    assert "Wins: nobody in 20.0 ± 1.2 % of the games." in text
    assert "No verdict" not in text


def test_parquet_of_unknown_origin(tmp_path):
    frame = pa.table({"speed": [1.5, 2.5, 9.0], "ok": [True, False, True], "kind": ["a", "b" * 200, "a"]})
    pq.write_table(frame, tmp_path / "x.parquet")
    lines = render(summarise(tmp_path)).splitlines()
    assert lines[0] == "3 rows"
    assert max(map(len, lines)) <= WIDTH
    assert any(re.fullmatch(r"Speed +4 +± 10 +1\.5 – 9", line) for line in lines)
    assert any(re.fullmatch(r"Ok +66\.7 \(9\.4 – 99\.2\) %", line) for line in lines)


def test_no_rows_at_all(tmp_path):
    empty = made_up.table({name: values[:0] for name, values in made_up.rows(5).items()})
    pq.write_table(empty, tmp_path / "x.parquet")
    summary = summarise(tmp_path)
    assert summary.games == 0
    assert render(summary).startswith("Whist: 0 games, seed 7\n")
    assert summary.to_json()["columns"]["turns"]["mean"] is None
