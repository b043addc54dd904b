"""Bludiště (Czech, "the Labyrinth"): a patience of rows that block each other."""

from __future__ import annotations

from sim.game import Game, Solver
from sim.games.bludiste.rules import SLOTS, BludisteRules, diagnose, needs_random
from sim.games.bludiste.state import columns, solver_columns

GAME = Game(
    name="bludiste",
    title="Bludiště",
    origin="Czechia",
    summary="a patience: four suits up on the aces and down on the kings, from rows that block each other",
    rules_version=1,
    rules=BludisteRules,
    slots=SLOTS,
    columns=columns,
    needs_random=needs_random,
    diagnose=diagnose,
    package=__name__,
    solver=Solver("solver", solver_columns, "solver_kernel", ("first", "random", "best"), ({}, {"refill": "at_once"})),
)
