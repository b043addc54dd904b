"""Dupa biskupa (Polish, "the bishop's bottom"): shed your cards; a rank the pile has not seen asks for a higher one."""

from __future__ import annotations

from sim.game import Game
from sim.games.dupa.rules import RESHUFFLES, SLOTS, DupaRules, diagnose, needs_random
from sim.games.dupa.state import columns

GAME = Game(
    name="dupa",
    title="Dupa biskupa",
    origin="Poland",
    summary="a shedding game: sets of equal cards, and a rank new to the pile must be beaten; first empty hand wins",
    rules_version=1,
    rules=DupaRules,
    slots=SLOTS,
    columns=columns,
    needs_random=needs_random,
    diagnose=diagnose,
    package=__name__,
    reshuffles=RESHUFFLES,
)
