"""The studies: their figures against the results folder's own, and what they refuse."""

import re

import pytest
from click.testing import CliRunner

from scripts.studies.__main__ import main
from sim import run


def call(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_seats_prints_the_shares_of_each_seat():
    done = call("seats", "bussikuski", "--games", "3k", "--rule", "pyramid_rows=3", "--seed", 5)
    assert done.exit_code == 0, done.output
    lines = {int(line.split()[0]): line for line in done.stdout.splitlines()[2:]}
    assert list(lines) == list(range(2, 9))
    rows = run("bussikuski", 3_000, seed=5, rules={"players": 3, "pyramid_rows": 3}).frame()
    shares = [100 * rows[f"win_share_{seat}"].mean() for seat in range(3)]
    assert [float(share) for share in lines[3].split()[4:]] == pytest.approx(shares, abs=0.0051)
    gap = 100 * (rows["win_share_0"] - (rows["win_share_1"] + rows["win_share_2"]) / 2)
    assert float(lines[3].split()[1]) == pytest.approx(gap.mean(), abs=0.00051)
    assert float(lines[3].split()[3]) == pytest.approx(1.96 * gap.sem(), abs=0.0051)


def test_strength_plays_the_policy_in_each_seat():
    done = call("strength", "dupa", "random", "--games", 500, "--rule", "players=2", "--seed", 3)
    assert done.exit_code == 0, done.output
    shares = [float(share) for share in re.findall(r"seat \d: (\S+)", done.stdout)]
    rows = [run("dupa", 500, seed=3, rules={"players": 2}, policies={"policy": names}).frame()
            for names in ("random,greedy", "greedy,random")]  # fmt: skip
    assert shares == pytest.approx([100 * rows[seat][f"win_share_{seat}"].mean() for seat in (0, 1)], abs=0.0051)


def test_equal_policies_are_equally_strong():
    done = call("strength", "autobus", "greedy", "--games", 300, "--variant", "table")
    assert done.exit_code == 0, done.output
    assert "+0.00 ± 0.00" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["seats", "dupaa"], "did you mean 'dupa'"),
        (["seats", "bludiste"], "bludiste has no option players: one person plays it"),
        (["seats", "dupa", "--rule", "mtch=suit"], "did you mean 'match'"),
        (["seats", "dupa", "--policy", "carefull"], "did you mean 'careful'"),
        (["strength", "dupa", "carefull"], "did you mean 'careful'"),
        (["strength", "dupa", "careful", "--against", "gredy"], "did you mean 'greedy'"),
        (["strength", "bludiste", "best"], "bludiste is played by one person"),
        (["seat", "dupa"], "did you mean 'seats'"),
    ],
)
def test_refusals_are_one_line(words, told):
    done = call(*words)
    assert done.exit_code == 2, done.output
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
