"""Autobus's kernel against the blind reference at full size: 200 deals on each of 300 random rule sets."""

import pytest

from tests.test_autobus import compare_random_rule_sets

pytestmark = pytest.mark.validation


def test_300_random_rule_sets_of_200_games():
    seen = compare_random_rule_sets(seed=7, n_sets=300, n_games=200, max_turns=3000)
    assert (
        min(seen[name] for name in ("bus_empty", "stalemate", "turn_cap", "buried", "swaps", "finished_piles")) > 1000
    )
