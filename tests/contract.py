"""What every game must satisfy. A new game names itself in `test_contract.py` and inherits all of it."""

import dataclasses
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim import replays
from sim.deals import read_deals
from sim.game import Findings, Player, RuleError, Spec
from sim.games import get_game

ROOT = Path(__file__).parent.parent
FILES = ("__init__.py", "rules.py", "state.py", "moves.py", "policies.py", "kernel.py", "deals.py", "tell.py")


class GameContract:
    """The tests; `name` is the game's, `small` are options that keep games short.

    Under the options `calm`, with policies that draw nothing, a game is a function of the deal.
    """

    name: str
    small: dict[str, object] = {}  # noqa: RUF012
    calm: dict[str, object] = {}  # noqa: RUF012

    @pytest.fixture
    def game(self):
        return get_game(self.name)

    def spec(self, game, rnd, *, policies=None, fixed=None):
        """Return a random rule set with the `fixed` options, policies and seed."""
        while True:
            kinds = game.rules.kinds()
            options = {name: rnd.choice(kind.samples()) for name, kind in kinds.items() if rnd.random() < 0.5}
            try:
                rules = game.rules.build(options=options | self.small | (fixed or {}))
            except RuleError:
                continue
            chosen = policies or {
                slot.name: [rnd.choice(list(slot.choices)) for _ in range(rules.players)] for slot in game.slots
            }
            return Spec.build(game, rules, chosen, rnd.randrange(2**64)).brief()

    def draws(self, game, rules, slot, name):
        """Tell whether a policy draws random numbers."""
        calm = Spec.build(game, rules).policies
        return game.needs_random(rules, calm | {slot.name: (name,) * rules.players})

    def rows(self, spec, first, n):
        columns = Player(spec).play(first, n)
        return [{c.name: c.value(columns[i][row]) for i, c in enumerate(spec.columns)} for row in range(n)]

    def test_its_folder_has_the_files_of_every_game(self, game):
        folder = ROOT.joinpath(*game.package.split("."))
        assert [name for name in FILES if not (folder / name).exists()] == []
        assert (ROOT / "tests" / "reference" / f"{self.name}.py").exists()
        assert list((ROOT / "tests" / "golden").glob(f"{self.name}-*")), "a golden transcript"

    def test_it_introduces_itself(self, game):
        assert game.name == self.name
        assert game.title
        assert game.origin
        assert game.summary
        assert game.rules_version >= 1
        assert game.rules.GAME == self.name
        for slot in game.slots:
            assert slot.meaning
            assert slot.default in slot.choices
            assert all(slot.choices.values())

    def test_its_variants(self, game):
        assert {"letter", "table"} <= set(game.rules.VARIANTS)
        assert game.rules.build(variant="letter") == game.rules()
        for name, (description, _) in game.rules.VARIANTS.items():
            assert description
            Spec.build(game, game.rules.build(variant=name))

    def test_columns_are_described_and_hold_what_is_played(self, game):
        rnd = random.Random(1)
        for _ in range(40):
            spec = self.spec(game, rnd)
            names = [column.name for column in spec.columns]
            assert len(set(names)) == len(names)
            assert "game" not in names
            columns = Player(spec).play(rnd.randrange(2**40), 40)
            assert len(columns) == len(names)
            for column, numbers in zip(spec.columns, columns, strict=True):
                assert column.description
                assert len(numbers) == 40
                top = (
                    len(column.categories) - 1
                    if column.categories
                    else spec.rules.players
                    if column.share
                    else column.high
                )
                assert min(0, column.low) - column.optional <= numbers.min()
                assert numbers.max() <= top, (column, spec.rules.changes())
                assert column.decode(numbers).dtype == column.storage

    def test_win_shares_add_up_to_one_or_nothing(self, game):
        rnd = random.Random(2)
        for _ in range(20):
            spec = self.spec(game, rnd)
            shares = [column.name for column in spec.columns if column.share]
            for row in self.rows(spec, 0, 20):
                total = sum(Fraction(row[name]).limit_denominator(spec.rules.players) for name in shares)
                assert total in (0, 1) if shares else True

    def test_rows_do_not_depend_on_how_games_are_cut(self, game):
        rnd = random.Random(3)
        for _ in range(10):
            spec = self.spec(game, rnd)
            first = rnd.randrange(2**63)
            player = Player(spec)
            whole = player.play(first, 130)
            at, pieces = 0, []
            for n in (1, 31, 33, 64, 1):
                pieces.append([column.copy() for column in Player(spec).play(first + at, n)])
                at += n
            for i, column in enumerate(whole):
                np.testing.assert_array_equal(np.concatenate([piece[i] for piece in pieces]), column)

    def test_seed_and_index_name_the_game(self, game):
        spec = Spec.build(game, seed=1)
        assert self.rows(spec, 0, 50) != self.rows(Spec.build(game, seed=2), 0, 50)
        assert self.rows(spec, 0, 50) != self.rows(spec, 50, 50)
        assert self.rows(spec, 10, 5) == self.rows(spec, 0, 50)[10:15]

    def test_a_replay_is_the_row(self, game):
        rnd = random.Random(4)
        for _ in range(15):
            spec = self.spec(game, rnd)
            index = rnd.randrange(2**40)
            played = replays.replay_game(spec, index)
            assert played.row == self.rows(spec, index, 1)[0]
            assert played.story
            assert played.lines[-1] == played.row_line

    def test_a_seeded_game_is_its_explicit_deal(self, game):
        """A deal's random numbers are those of (seed, line): on the line of its index it is the seeded game."""
        rnd = random.Random(5)
        for _ in range(30):
            spec = self.spec(game, rnd)
            index = rnd.randrange(2**40)
            line = replays.written_deal(spec, index).encode()
            (deal,) = read_deals([line], game, spec.rules, name="line")
            (played,) = replays.play_deals(spec, [dataclasses.replace(deal, line=index)])
            assert played.error is None
            assert played.row == self.rows(spec, index, 1)[0], (spec.rules.changes(), index)
            assert played.random == spec.needs_random

    def test_a_deal_that_needs_no_random_numbers_depends_on_nothing_else(self, game):
        rnd = random.Random(7)
        n_tried = 0
        for _ in range(30):
            spec = self.spec(game, rnd, fixed=self.calm)
            calm = {
                slot.name: [
                    slot.default if self.draws(game, spec.rules, slot, name) else name
                    for name in spec.policies[slot.name]
                ]
                for slot in game.slots
            }
            line = replays.written_deal(spec, rnd.randrange(2**40)).encode()
            deals = read_deals([line], game, spec.rules, name="line")
            for reshuffle in (None, *game.reshuffles):
                calm_spec = Spec.build(game, spec.rules, calm, spec.seed, reshuffle)
                if calm_spec.needs_random:
                    continue
                n_tried += 1
                (played,) = replays.play_deals(calm_spec, deals)
                other = Spec.build(game, spec.rules, calm, 99, reshuffle)
                (again,) = replays.play_deals(other, [dataclasses.replace(deals[0], line=77)])
                (told,) = replays.play_deals(other, deals, tell=True)
                assert again.row == told.row == played.row, "a deal's record may not depend on the seed"
        assert n_tried >= 30

    def test_a_deal_with_a_random_policy_says_so_and_uses_the_seed(self, game):
        wild = {slot.name: "random" for slot in game.slots if "random" in slot.choices}
        spec = Spec.build(game, policies=wild)
        assert spec.needs_random
        line = replays.written_deal(spec, 0).encode()
        deals = read_deals([line] * 20, game, spec.rules, name="line")
        played = list(replays.play_deals(spec, deals))
        assert all(one.random for one in played)
        assert len({tuple(one.row.items()) for one in played}) > 1

    def test_every_policy_plays(self, game):
        for slot in game.slots:
            for name in slot.choices:
                self.rows(Spec.build(game, policies={slot.name: name}), 0, 5)

    def test_the_diagnosis_is_sentences(self, game):
        rnd = random.Random(6)
        for _ in range(40):
            spec = self.spec(game, rnd)
            for name, why in spec.rules.idle():
                assert name in game.rules.kinds()
                assert why
            ends = {c.name: {c.categories[-1]: 10} for c in spec.columns if c.categories}
            means = {c.name: float(c.low) for c in spec.columns if not c.categories}
            for sentence in game.diagnose(spec.rules, spec.policies, Findings(10, means, ends)):
                assert sentence.endswith(".")
