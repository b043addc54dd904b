"""Autobus (Slovak): a race to empty one's own face-down pile onto shared piles that run from ace to king."""

from __future__ import annotations

from sim.game import Game
from sim.games.autobus.rules import SLOTS, AutobusRules, diagnose, needs_random
from sim.games.autobus.state import columns

GAME = Game(
    name="autobus",
    title="Autobus",
    origin="Slovakia",
    summary="everybody empties a bus of hidden cards onto shared piles from ace to king; the first empty bus wins",
    rules_version=1,
    rules=AutobusRules,
    slots=SLOTS,
    columns=columns,
    needs_random=needs_random,
    diagnose=diagnose,
    package=__name__,
)
