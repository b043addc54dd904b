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

# What `careful` adds up (see `careful.worth_of`), in thousandths of a card laid. A group is all cards of one rank left
# in the hand; it is new while the pile has no card of its rank. Costs: group_… to spare, and no_new to three_groups;
# the others are gains, those named block in proportion to the chance that the next seat can play nothing.
#
# Found by the cross-entropy method: 60 rounds or more of 24 weight sets, each tried in some 32,000 to 48,000 games
# against greedy seats (seats rotated), the six best deciding where the next 24 lie; for the variants `table` and
# `letter`, each with four players and with two.
WEIGHTS = {
    # name: (table, table with two players, letter, letter with two players)
    "group_new": (1735, 1672, 1634, 2249),  # a group left in the hand
    "group_new_rank": (-124, -113, -186, -43),  # … for each rank above the two
    "group_new_ace": (-991, -997, 51, -680),  # … of aces
    "group_old": (1719, 1632, 421, 561),  # a group whose rank the pile has
    "group_old_rank": (-27, -109, -32, -119),
    "group_old_ace": (-641, -735, -492, -935),
    "last_new": (95, 232, 210, -361),  # in addition, where one group is left
    "last_new_rank": (-36, 85, -23, 32),
    "last_new_ace": (-761, -199, -508, -369),
    "last_old": (785, 357, 358, 200),  # the same, where the pile has its rank
    "last_old_rank": (20, 76, -11, 79),
    "last_old_ace": (-490, 357, 359, -692),
    "spare": (-1387, -1254, -1831, -1736),  # each further card of a group
    "laid": (1000, 1000, 1000, 1000),  # each card laid
    "block": (-202, 465, 326, 1678),  # the next seat can play nothing
    "block_one": (4043, 4119, 1815, 1796),  # … and holds one card
    "block_two": (1270, 1059, 915, 467),  # … two
    "block_three": (456, 808, 685, 614),  # … three
    "block_fresh": (-282, -306, -1014, 208),  # … and the pile will be reshuffled
    "block_third": (58, 207, -1002, -22),  # … for a third seat, over its cards
    "dupa": (1098, 320, -400, -105),  # the move is a dupa
    "highest": (55, 107, -347, 11),  # rank of the highest card left, aces aside
    "ace": (-317, -361, -969, 563),  # an ace is left
    "suits": (156, -120, -339, -203),  # each suit left
    "no_new": (445, -158, 844, -15),  # no new group is left
    "one_new": (-21, -168, -104, 275),  # … one
    "two_new": (-409, -76, 272, -184),  # … two
    "two_groups": (840, 610, 285, 27),  # two groups are left
    "three_groups": (463, -278, 834, 1883),  # … three
}


def weights(rules: DupaRules) -> dict[str, int]:
    """Return the weights for a rule set."""
    lays_several = rules.several_dupas and rules.dupa is not Dupa.OFF
    which = 2 * lays_several + (rules.players == 2)
    return {name: values[which] for name, values in WEIGHTS.items()}


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
        *[(f"w_{name}", "i8", w[name]) for name in list(WEIGHTS)[12:]],
        ("log_factorial", ("i8", (MOST_CARDS + 1,)), logs),
        ("power", ("i8", (N_POWERS,)), powers),
    ]
