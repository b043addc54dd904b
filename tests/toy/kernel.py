"""The toy game's kernel, in numpy."""

from __future__ import annotations

import time

import numpy as np

from tests.toy import ENDS


def fold(rules, policies):
    return [rules]


def new_scratch():
    return None


def hashed(seed, games, purpose):
    word = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + games * np.uint64(0xD1B54A32D192ED03) + np.uint64(purpose)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    return (word >> np.uint64(33)).astype(np.int64)


def play_block(scratch, rules, seed, first, n_games):
    rules, n = rules[0], n_games
    out = np.empty((2 * rules.players + 5, n), np.int64)
    games = np.arange(n, dtype=np.uint64) + np.uint64(first)
    with np.errstate(over="ignore"):
        numbers = [hashed(seed, games, purpose) for purpose in range(rules.players + 6)]
    row = 0
    for seat in range(rules.players):
        out[row] = numbers[seat] % 201
        row += 1
    rest = numbers[rules.players :]
    out[row] = rest[0] % 601 - 300
    out[row + 1] = rest[1] % (len(ENDS) - 1)
    out[row + 2] = rest[2]
    out[row + 3] = rest[3] % 4
    winner = rest[4] % (rules.players + 1)
    for seat in range(rules.players):
        out[row + 4 + seat] = np.where(winner == rules.players, rules.players, winner == seat)
    out[-1] = rest[5] % (rules.players + 1) - 1
    if rules.broken_at:
        out[row + 3][games == rules.broken_at] = 9
    if rules.pace:
        time.sleep(rules.pace * n * 1e-6)
    return list(out)
