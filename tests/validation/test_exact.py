"""Every exact value against ten million games: within 4 standard errors, at a fixed seed.

The columns show a quantity where they can; otherwise it is looked up in the deals of as many games.
"""

import dataclasses

import pytest

from sim import exact
from sim.quantities import deviation, simulate

pytestmark = pytest.mark.validation

N = 10_000_000

ON_THE_BUS = ("bus", "bus_deck", "stock_out", "max_attempts", "diamond_rows", "blockers")

CASES = [
    ("bussikuski", {}, None),
    ("bussikuski", {}, {"guess": "counting"}),
    (
        "bussikuski",
        {"players": 8, "pyramid_rows": 5, "boundary": "wrong", "guess_tie": "right", "fourth_question": "new_or_held"},
        {"guess": "counting"},
    ),
    (
        "bussikuski",
        {"players": 3, "pyramid_rows": 3, "guess_tie": "free", "boundary": "outside", "driver_tie": "highest_card"},
        None,
    ),
    (
        "bussikuski",
        {"players": 2, "pyramid_rows": 6, "boundary": "right", "driver_tie": "draw", "matches": "one"},
        None,
    ),
    ("bussikuski", {"diamond_rows": [2, 8, 8, 8, 8, 2, 5, 6], "blockers": "2A", "bus_stake": "flat"}, None),
    ("bussikuski", {"diamond_rows": [1, 1, 1], "blockers": "23456789TJQ"}, None),
    ("bussikuski", {"max_attempts": 3}, None),
    ("bussikuski", {"bus_deck": "fresh"}, None),
    ("bussikuski", {"stock_out": "reshuffle"}, None),
    ("bussikuski", {"stock_out": "reshuffle", "max_attempts": 9, "bus_stake": "flat"}, None),
    (
        "bussikuski",
        {"stock_out": "reshuffle", "max_attempts": 4, "diamond_rows": [4, 8, 8, 8, 8, 8, 5], "blockers": "A2345"},
        None,
    ),
    ("bussikuski", {"bus": "straight"}, {"guess": "counting"}),
    (
        "bussikuski",
        {"bus": "straight", "bus_deck": "fresh", "bus_tie": "right", "straight_length": 3, "bus_stake": "flat"},
        {"guess": "random,own,own,own"},
    ),
    ("bussikuski", {"bus": "straight", "bus_deck": "fresh", "max_attempts": 5}, None),
    (
        "bussikuski",
        {"bus": "questions", "bus_deck": "fresh", "guess_tie": "free", "max_turns": 40},
        {"guess": "random,own,own,own"},
    ),
    ("bussikuski", {"bus": "questions", "max_attempts": 1}, None),
    ("dupa", {}, None),
    ("dupa", {"players": 6, "hand_size": 5, "opening": "dupa"}, None),
    ("dupa", {"players": 3, "hand_size": 3, "opening": "dupa", "dupa": "declared", "decks": 2}, None),
    ("dupa", {"hand_size": 2, "several_dupas": False}, None),
    ("dupa", {"players": 3, "hand_size": 4, "direction": "counter", "rounds": 3, "match": "rank"}, None),
    ("bludiste", {}, None),
    ("bludiste", {"columns": 16}, None),
    ("bludiste", {"decks": 1, "columns": 14}, None),
    ("bludiste", {"refill": "at_once", "columns": 12}, None),
    ("autobus", {}, None),
    ("autobus", {"players": 2, "bus_size": 1, "hand_size": 1, "stalemate_rounds": 3}, None),
    ("autobus", {"decks": 8, "players": 3, "must_play": False, "stalemate_rounds": 0}, None),
]


@pytest.mark.parametrize(("game", "options", "policies"), CASES, ids=str)
def test_exact_values_are_those_of_the_games(game, options, policies):
    found = exact(game, rules=options, policies=policies)
    if not options.keys().isdisjoint(ON_THE_BUS):  # what comes before is the first cases' matter
        sections = [section for section in found.sections if section.title.startswith("The bus")]
        found = dataclasses.replace(found, sections=tuple(sections))
    counts = simulate(found, N)
    assert len(counts) == sum(quantity.shown is not None for _, quantity in found)
    far = {}
    for section, quantity in found:
        if quantity.shown is None:
            continue
        seen = counts[section.title, quantity.name]
        off = deviation(quantity, seen)
        if off > 4:
            far[section.title, quantity.name] = (float(quantity.exact), seen.mean, off)
    assert not far
