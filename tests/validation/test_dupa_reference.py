"""Dupa biskupa's kernel against the blind reference on 60,000 games (the default run plays a tenth of them)."""

import random

import pytest

from sim.game import Player, Spec
from tests.reference import dupa as reference
from tests.test_dupa import GAME, random_options, reference_row, rows_of

pytestmark = pytest.mark.validation


@pytest.mark.parametrize("part", range(10))
def test_random_rule_sets_agree_with_the_reference(part, monkeypatch):
    """30 rule sets, 200 games each; ten times."""
    monkeypatch.setattr(reference, "CHECK", False)
    rnd = random.Random(1000 + part)
    for _ in range(30):
        rules, policies = random_options(rnd)
        spec = Spec.build(GAME, rules, policies, rnd.randrange(2**64))
        first = rnd.randrange(2**63)
        for i, row in enumerate(rows_of(Player(spec), first, 200)):
            expected = reference_row(spec, reference.SeededOrders(spec.seed, first + i, rules.decks))
            assert row == expected, f"{rules.changes()} {spec.policies} seed {spec.seed} game {first + i}"
