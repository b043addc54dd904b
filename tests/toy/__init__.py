"""A game with nothing to it, for tests of runner and store: each row is a hash of (seed, game index)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from sim.game import Game, Slot
from sim.outcome import Column, per_seat
from sim.rules import Rules, boolean, integer

ENDS = ("won", "lost", "drawn", "capped", "never")


@dataclasses.dataclass(frozen=True)
class ToyRules(Rules):
    GAME: ClassVar[str] = "toy"
    VARIANTS: ClassVar = {"three": ("three seats", {"players": 3})}

    players: int = integer(2, 1, 6, meaning="seats")
    pace: int = integer(0, 0, meaning="microseconds that a game takes")
    reverse: bool = boolean(False, meaning="nothing")
    broken_at: int = integer(0, 0, meaning="the game index whose row is out of range, 0 for none")


def columns(rules: ToyRules) -> list[Column]:
    return [
        *per_seat("points", "points of seat {seat}", rules.players, high=200),
        Column("balance", "from minus to plus", low=-300, high=300),
        Column("end", "how it ended", categories=ENDS),
        Column("total", "a large number", high=2**31 - 1),
        Column("kind", "one of few", high=3),
        *per_seat("win_share", "share of seat {seat}", rules.players, share=True),
        Column("last", "which seat was last, -1 for none", low=-1, high=rules.players - 1),
    ]


GAME = Game(
    name="toy",
    title="Toy",
    origin="nowhere",
    summary="hashes",
    rules_version=1,
    rules=ToyRules,
    slots=(Slot("policy", "what a seat does", {"calm": "nothing", "wild": "nothing either"}, "calm"),),
    columns=columns,
    needs_random=lambda rules, policies: False,
    diagnose=lambda rules, policies, found: [],
    package=__name__,
)
