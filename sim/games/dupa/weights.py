"""What the policy `careful` goes by, as data: weights fitted by simulation, and the tables for its chances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sim.games.dupa.record import MOST_CARDS, N_RANKS
from sim.games.dupa.rules import DupaRules

CERTAIN = 1024  # a chance of 1
_LOG_UNIT = 65536
_STEPS = 64  # of a factor two
N_POWERS = 12 * _STEPS

# Factors of what `careful` adds up (see `careful.worth`), in thousandths of a card laid.
NAMES = (
    "group_new",
    "group_new_rank",
    "group_new_ace",
    "group_old",
    "group_old_rank",
    "group_old_ace",
    "last_new",
    "last_new_rank",
    "last_new_ace",
    "last_old",
    "last_old_rank",
    "last_old_ace",
    "spare",
    "laid",
    "block",
    "block_few",
    "block_fresh",
    "block_third",
    "dupa",
    "highest",
    "ace",
    "suits",
    "no_new",
    "one_new",
    "two_new",
    "two_groups",
    "three_groups",
)
TABLE = dict.fromkeys(NAMES, 0) | {
    "group_new": 800,
    "group_old": 1500,
    "group_old_rank": 0,
    "group_new_ace": -500,
    "group_old_ace": -1000,
    "laid": 1000,
    "block": 800,
    "block_few": 1000,
    "group_new_rank": -30,
}


def weights(rules: DupaRules) -> Mapping[str, int]:
    """Return the weights for a rule set."""
    return TABLE


def costs(w: Mapping[str, int], kind: str) -> list[list[int]]:
    """Return the cost of a group left in the hand, by whether its rank lies in the pile and by rank."""
    return [
        [w[f"{kind}_{age}"] + w[f"{kind}_{age}_rank"] * rank for rank in range(N_RANKS - 1)] + [w[f"{kind}_{age}_ace"]]
        for age in ("new", "old")
    ]


def fold_careful(rules: DupaRules) -> list[tuple[str, Any, Any]]:
    """Return the fields of the kernel's record that `careful` reads."""
    w = weights(rules)
    logs = [0] * (MOST_CARDS + 1)
    for n in range(2, MOST_CARDS + 1):
        logs[n] = logs[n - 1] + round(_LOG_UNIT * math.log2(n))
    powers = [round(CERTAIN * 2 ** (-i / _STEPS)) for i in range(N_POWERS)]
    return [
        ("group_cost", ("i8", (2, N_RANKS)), costs(w, "group")),
        ("last_cost", ("i8", (2, N_RANKS)), costs(w, "last")),
        *[(f"w_{name}", "i8", w[name]) for name in NAMES[12:]],
        ("log_factorial", ("i8", (MOST_CARDS + 1,)), logs),
        ("power", ("i8", (N_POWERS,)), powers),
    ]
