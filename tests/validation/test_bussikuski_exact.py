"""Ten million games against values that are known exactly, each within 4 standard errors at a fixed seed."""

from fractions import Fraction

import numpy as np
import pytest

from sim.game import Player, Spec
from sim.games import get_game

pytestmark = pytest.mark.validation

GAME = get_game("bussikuski")
N, CHUNK = 10_000_000, 100_000
ONE_FRESH_ATTEMPT = {"bus_deck": "fresh", "max_attempts": 1}

# The rest of the rules, the column, the value looked for, its exact share of the games (of the rides, for the bus).
KNOWN = [
    # seven cards without a blocker from a fresh deck
    ({"bus": "diamond", **ONE_FRESH_ATTEMPT}, "bus_end", "success", Fraction(6138, 98371)),
    # the better answer of higher and lower on one card, an equal one being wrong
    ({"bus": "straight", "straight_length": 1, **ONE_FRESH_ATTEMPT}, "bus_end", "success", Fraction(160, 221)),
    # all four questions, ties and ends of the interval being wrong: on the bus, and in phase 1
    ({"bus": "questions", "boundary": "wrong", **ONE_FRESH_ATTEMPT}, "bus_end", "success", Fraction(788, 12495)),
    ({"boundary": "wrong"}, "wrong_0", 0, Fraction(788, 12495)),
    ({"boundary": "wrong"}, "wrong_3", 0, Fraction(788, 12495)),
]


def shares(spec, column, value):
    """Return how many games have `value` in `column`, and how many have a ride."""
    player = Player(spec)
    names = [c.name for c in player.columns]
    at, ride = names.index(column), names.index("driver")
    found = player.columns[at].categories.index(value) if player.columns[at].categories else value
    n_found = n_rides = 0
    for first in range(0, N, CHUNK):
        columns = player.play(first, CHUNK)
        n_found += int(np.count_nonzero(columns[at] == found))
        n_rides += int(np.count_nonzero(columns[ride] >= 0))
    return n_found, n_rides


@pytest.mark.parametrize(("options", "column", "value", "exact"), KNOWN)
def test_known_shares(options, column, value, exact):
    n_found, n_rides = shares(Spec.build(GAME, GAME.rules.build(options=options)), column, value)
    n = n_rides if column == "bus_end" else N
    p = float(exact)
    error = (p * (1 - p) / n) ** 0.5
    assert abs(n_found / n - p) < 4 * error, f"{n_found / n:.6f} against {p:.6f} ± {error:.6f}"


@pytest.mark.parametrize("give", ["random", "spread"])
def test_seats_are_equal_in_law_where_gifts_are(give):
    """With gifts at random the seats are exchangeable: each has a quarter of the wins, and of the rides.

    Gifts round the table begin with the next seat for everybody, which is no advantage to anybody either.
    """
    player = Player(Spec.build(GAME, policies={"give": give}))
    columns = player.columns
    at = [i for i, c in enumerate(columns) if c.name.startswith("win_share_")]
    total, square = np.zeros(4), np.zeros(4)
    drives = np.zeros(4, np.int64)
    driver = next(i for i, c in enumerate(columns) if c.name == "driver")
    for first in range(0, N, CHUNK):
        played = player.play(first, CHUNK)
        won = np.array([columns[i].decode(played[i]) for i in at])
        total += won.sum(axis=1)
        square += (won**2).sum(axis=1)
        drives += np.bincount(played[driver][played[driver] >= 0], minlength=4)
    mean = total / N
    error = np.sqrt((square / N - mean**2) / N)
    assert (abs(mean - 0.25) < 4 * error).all(), f"{mean} ± {error}"
    share = drives / drives.sum()
    assert (abs(share - 0.25) < 4 * (0.25 * 0.75 / drives.sum()) ** 0.5).all(), share
