"""Bludiště's solver at full size: its lines replay through the reference, its refutations are proved again."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from sim.game import Player, Spec
from sim.games import get_game
from sim.games.bludiste import solver
from sim.games.bludiste.lines import read_moves
from sim.games.bludiste.rules import BludisteRules
from sim.games.bludiste.solving import TABLE
from sim.games.bludiste.state import STATUS
from tests.reference import bludiste as ref

pytestmark = pytest.mark.validation

UNSOLVABLE, SOLVED, UNKNOWN = range(len(STATUS))


def decided(options: Mapping[str, object], first: int, n: int, nodes: int) -> list[dict[str, object]]:
    """Return the rows of deals of seed 1, moves kept."""
    game = get_game("bludiste")
    spec = Spec.build(game, BludisteRules.build(options=options), {"policy": f"solver:{nodes}"}, 1, keep_moves=True)
    rows = Player(spec).play(first, n)
    return [{c.name: c.value(column[i]) for c, column in zip(spec.columns, rows, strict=True)} for i in range(n)]


@pytest.mark.parametrize("part", range(10))
def test_lines_of_ten_thousand_default_deals_replay(part: int) -> None:
    first = 1000 * part
    solved = 0
    for game, row in enumerate(decided({}, first, 1000, 1_000_000), first):
        assert row["status"] != "unknown"
        if row["status"] == "solved":
            solved += 1
            replayed = ref.check_line({}, ref.seeded_stock({}, 1, game), read_moves(str(row["moves"])))
            assert replayed == {"won": 1} | {name: row[name] for name in ("placed", "rows", "refilled")}
    assert solved > 5


@pytest.mark.parametrize(
    ("options", "n", "nodes"),
    [
        ({"columns": 12, "transfer": True}, 300, 1_000_000),
        ({"columns": 13, "refill": "at_once"}, 100, 10_000),
        ({"available": "above_or_below", "grace": 1}, 100, 10_000),
        ({"fill": "all", "max_rows": 8}, 100, 10_000),
        ({"columns": 12, "deal": "any_time"}, 100, 10_000),
    ],
    ids=str,
)
def test_lines_under_other_rules_replay(options: dict[str, object], n: int, nodes: int) -> None:
    rows = decided(options, 0, n, nodes)
    solved = [game for game, row in enumerate(rows) if row["status"] == "solved"]
    assert len(solved) >= 3
    for game in solved:
        replayed = ref.check_line(options, ref.seeded_stock(options, 1, game), read_moves(str(rows[game]["moves"])))
        assert replayed == {"won": 1} | {name: rows[game][name] for name in ("placed", "rows", "refilled")}


def test_five_hundred_refutations_are_proved_again() -> None:
    """By the search without any shortcut but that a position is not searched twice, where that ends."""
    scratch = solver.new_solver(24)
    found = np.array(solver.solve_block(scratch, solver.fold(BludisteRules()), 1, 0, 520, 1_000_000)[0])
    assert (found == UNSOLVABLE).sum() >= 500
    again = solver.solve_block(scratch, solver.fold(BludisteRules(), shortcuts=TABLE), 1, 0, 520, 1_000_000)[0]
    ended = again != UNKNOWN
    assert (again[ended] == found[ended]).all()
    assert (ended & (found == UNSOLVABLE)).sum() >= 480


@pytest.mark.parametrize("part", range(5))
def test_refutations_are_proved_again_by_the_reference(part: int) -> None:
    scratch = solver.new_solver()
    first = 100 * part
    found = solver.solve_block(scratch, solver.fold(BludisteRules()), 1, first, 100, 1_000_000)[0]
    n_ended = 0
    for i, status in enumerate(found):
        verdict = ref.solve_plain({}, ref.seeded_stock({}, 1, first + i), 1500)
        assert verdict in ("unknown", STATUS[status])
        n_ended += verdict != "unknown"
    assert n_ended >= 10
