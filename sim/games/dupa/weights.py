"""What the policy `careful` goes by, as data: weights fitted by simulation, and the tables for its chances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sim.games.dupa.record import MOST_CARDS, N_RANKS
from sim.games.dupa.rules import Dupa, DupaRules

CERTAIN = 1024  # a chance of 1
_LOG_UNIT = 65536
_STEPS = 64  # of a factor two
N_POWERS = 12 * _STEPS

# Factors of what `careful` adds up (see `careful.worth_of`), in thousandths of a card laid. A group is all cards of one
# rank left in the hand; it is new while the pile has no card of its rank. The third is the seat after the next.
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
    "block_one",
    "block_two",
    "block_three",
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

# Found by the cross-entropy method: 40 rounds or more of 24 weight sets, each tried in some 32,000 games against greedy
# seats (seats rotated), the six best deciding where the next 24 lie. `weights` says which rules a set was fitted to.
TABLE = dict(
    zip(
        NAMES,
        (
            1692,
            -120,
            -1000,
            1712,
            -28,
            -844,
            68,
            -39,
            -719,
            788,
            1,
            -428,
            -1466,
            1000,
            -190,
            4050,
            1535,
            422,
            -339,
            -87,
            1053,
            66,
            -365,
            151,
            418,
            -50,
            -493,
            934,
            379,
        ),
        strict=True,
    )
)
TABLE_OF_TWO = dict(
    zip(
        NAMES,
        (
            1617,
            -127,
            -829,
            1331,
            -119,
            -881,
            268,
            83,
            -91,
            284,
            60,
            337,
            -1294,
            1000,
            319,
            1904,
            1063,
            528,
            -114,
            467,
            210,
            78,
            -386,
            -139,
            -130,
            -50,
            -162,
            666,
            45,
        ),
        strict=True,
    )
)
LETTER = dict(
    zip(
        NAMES,
        (
            1642,
            -201,
            -262,
            945,
            -20,
            -659,
            2,
            4,
            -514,
            255,
            -5,
            588,
            -1818,
            1000,
            145,
            1510,
            755,
            503,
            -762,
            -247,
            -140,
            -331,
            -892,
            -199,
            792,
            -220,
            381,
            231,
            551,
        ),
        strict=True,
    )
)
LETTER_OF_TWO = dict(
    zip(
        NAMES,
        (
            1994,
            -50,
            -650,
            920,
            -93,
            -836,
            -407,
            48,
            -279,
            253,
            92,
            -484,
            -1734,
            1000,
            1701,
            1355,
            677,
            451,
            476,
            227,
            68,
            -15,
            446,
            -101,
            90,
            257,
            -29,
            72,
            1802,
        ),
        strict=True,
    )
)


def weights(rules: DupaRules) -> Mapping[str, int]:
    """Return the weights for a rule set: fitted to the variants `letter` and `table` with two players or four."""
    lays_several = rules.several_dupas and rules.dupa is not Dupa.OFF
    if rules.players == 2:
        return LETTER_OF_TWO if lays_several else TABLE_OF_TWO
    return LETTER if lays_several else TABLE


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
