"""Bussikuski (Finnish; also Busfahrer, Ride the Bus): four guesses, the pyramid, the bus."""

from __future__ import annotations

from sim.game import Game
from sim.games.bussikuski.rules import SLOTS, BussikuskiRules, diagnose, needs_random
from sim.games.bussikuski.state import columns

GAME = Game(
    name="bussikuski",
    title="Bussikuski",
    origin="Finland",
    summary="four guesses, a pyramid of gifts, and one seat drives the bus; fewest points win",
    rules_version=1,
    rules=BussikuskiRules,
    slots=SLOTS,
    columns=columns,
    needs_random=needs_random,
    diagnose=diagnose,
    package=__name__,
)
