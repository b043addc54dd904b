"""The rules machinery: one declaration serves reading, listing, messages, packing and provenance."""

import dataclasses
import random
import tomllib
from typing import ClassVar

import numpy as np
import pytest

from sim.game import RuleError, Spec
from sim.games import GAMES, get_game
from sim.rules import Choice, IntegerList, RankSet, Rules, boolean, integer, one_of, option, pack


class Colour(Choice):
    RED = 0
    DARK_BLUE = 1


@dataclasses.dataclass(frozen=True)
class Toy(Rules):
    GAME: ClassVar[str] = "toy"
    VARIANTS: ClassVar = {"letter": ("as written", {}), "blue": ("all blue", {"colour": Colour.DARK_BLUE, "size": 7})}

    size: int = integer(4, 2, 8, meaning="how many")
    turns: int = integer(10, 1, meaning="how long")
    colour: Colour = one_of(Colour.RED, meaning="which")
    fast: bool = boolean(False, meaning="whether", gap=True)
    rows: tuple[int, ...] = option((1, 2), IntegerList("places", False, 1, 8, 10))
    ranks: str = option("JQKA", RankSet("those", False))

    def check(self):
        if self.size == 8 and self.fast:
            yield "size = 8 cannot be fast"


def test_building_in_layers(tmp_path):
    file = tmp_path / "r.toml"
    file.write_text('game = "toy"\nturns = 5\nrows = [3, 4]\n')
    rules = Toy.build(variant="blue", file=file, assignments=["size=6", "rows=1,1"], options={"rows": [2]})
    assert rules == Toy(size=6, turns=5, colour=Colour.DARK_BLUE, rows=(2,))
    assert rules.changes() == {"size": "6", "turns": "5", "colour": "dark_blue", "rows": "2"}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("size=9", "size: 9 is out of range; allowed: 2 to 8"),
        ("turns=0", "turns: 0 is out of range; allowed: 1 to 2,147,483,647"),
        ("size=x", "size: 'x' is not a whole number"),
        ("size=4.0", "size: '4.0' is not a whole number"),
        ("size=", "size: '' is not a whole number"),
        (
            "colour=drak_blue",
            r"colour: 'drak_blue' is not allowed; choose red or dark_blue \(did you mean 'dark_blue'\?\)",
        ),
        ("fast=maybe", "fast: 'maybe' is neither true nor false"),
        ("rows=", "rows: '' is not a whole number"),
        ("rows=1,9", "rows: number 2 of the list, 9, is out of range; allowed: 1 to 8"),
        ("rows=8,8", "rows: the numbers add up to 16; at most 10 in all are allowed"),
        ("ranks=JX", "ranks: 'X' is not a rank; allowed: any of A23456789TJQK, or nothing"),
        ("ranks=JJ", "ranks: rank J is named twice"),
        ("sise=4", r"toy has no option 'sise' \(did you mean 'size'\?\); its options are size, turns, "),
        ("size", "'size' has no '='; write OPTION=VALUE"),
    ],
)
def test_wrong_values_are_answered_in_one_line(assignment, message):
    with pytest.raises(RuleError, match=f"^{message}") as caught:
        Toy.build(assignments=[assignment])
    assert "\n" not in str(caught.value)


def test_values_that_do_not_go_together():
    with pytest.raises(RuleError, match="size = 8 cannot be fast"):
        Toy.build(assignments=["size=8", "fast=yes"])
    with pytest.raises(RuleError, match="players = 8 and pyramid_rows = 6 need 53 cards .* the deck has 52"):
        get_game("bussikuski").rules(players=8, pyramid_rows=6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"size = ", "rule file .*r.toml is not TOML: "),
        (b"\xff\xfe", "rule file .*r.toml is not TOML: "),
        (b'game = "autobus"', "rule file .*r.toml is for autobus, not for toy"),
        (b"size = 99", "rule file .*r.toml: size: 99 is out of range"),
        (b"size = true", "rule file .*r.toml: size: true is not a whole number"),
        (b"turns = 4.5", "rule file .*r.toml: turns: 4.5 is not a whole number"),
        (b"[size]\na = 1", "rule file .*r.toml: size: "),
        (b"sice = 4", "rule file .*r.toml: toy has no option 'sice'"),
    ],
)
def test_wrong_rule_files(tmp_path, content, message):
    file = tmp_path / "r.toml"
    file.write_bytes(content)
    with pytest.raises(RuleError, match=f"^{message}") as caught:
        Toy.build(file=file)
    assert "\n" not in str(caught.value)


def test_a_variant_and_a_file_may_not_contradict_each_other(tmp_path):
    file = tmp_path / "r.toml"
    file.write_text("size = 5\n")
    with pytest.raises(
        RuleError, match="variant blue has size = 7, but rule file .*r.toml says 5; leave one of them out"
    ):
        Toy.build(variant="blue", file=file)
    file.write_text('size = 7\ncolour = "dark_blue"\nturns = 3\n')
    assert Toy.build(variant="blue", file=file) == Toy(size=7, colour=Colour.DARK_BLUE, turns=3)


def test_missing_rule_file_and_variant(tmp_path):
    with pytest.raises(RuleError, match="rule file .*nothing.toml: No such file or directory"):
        Toy.build(file=tmp_path / "nothing.toml")
    with pytest.raises(
        RuleError, match=r"toy has no variant 'bleu' \(did you mean 'blue'\?\); there are letter and blue"
    ):
        Toy.build(variant="bleu")


@pytest.mark.parametrize("name", GAMES)
def test_every_option_of_every_game(name, tmp_path):
    """Texts, TOML and plain values are read back as they were written, for all sample values."""
    rules_class = get_game(name).rules
    rnd = random.Random(1)
    for option_name, kind in rules_class.kinds().items():
        assert kind.meaning
        assert kind.allowed
        for value in kind.samples():
            assert kind.read(kind.text(value)) == value
            assert kind.read(kind.plain(value)) == value
        assert kind.read(kind.text(rules_class.defaults()[option_name])) == rules_class.defaults()[option_name]
    for _ in range(50):
        options = {key: rnd.choice(kind.samples()) for key, kind in rules_class.kinds().items()}
        try:
            rules = rules_class.build(options=options)
        except RuleError:
            continue
        assert rules_class.build(options=rules.plain()) == rules
        assert rules_class.build(assignments=[f"{key}={text}" for key, text in rules.texts().items()]) == rules
        file = tmp_path / "rules.toml"
        file.write_text(rules.to_toml())
        assert tomllib.loads(rules.to_toml())["game"] == name
        assert rules_class.build(file=file) == rules
    for variant in rules_class.VARIANTS:
        rules_class.build(variant=variant)
    assert "letter" in rules_class.VARIANTS
    assert "table" in rules_class.VARIANTS


def test_packing_for_a_kernel():
    record = pack([*Toy(rows=(3, 1), colour=Colour.DARK_BLUE).record_fields(), ("more", ("u8", (2,)), [1, 2**64 - 1])])
    assert record.shape == (1,)
    row = record[0]
    assert (row["size"], row["turns"], row["colour"], row["fast"]) == (4, 10, 1, 0)
    assert row["n_rows"] == 2
    assert row["rows"][:3].tolist() == [3, 1, 0]
    assert row["ranks"] == sum(1 << "A23456789TJQK".index(rank) for rank in "JQKA")
    np.testing.assert_array_equal(row["more"], np.array([1, 2**64 - 1], np.uint64))


def test_policies():
    game = get_game("bussikuski")
    assert game.policies({"guess": "counting"}, 3) == {"guess": ("counting",) * 3, "give": ("leader",) * 3}
    assert game.policies({"give": "random, leader"}, 2)["give"] == ("random", "leader")
    with pytest.raises(
        RuleError, match=r"--guess: 'cuonting' is no policy; choose own, .* \(did you mean 'counting'\?\)"
    ):
        game.policies({"guess": "cuonting"}, 4)
    with pytest.raises(RuleError, match="--give: 2 policies for 4 seats; give one for all or one per seat"):
        game.policies({"give": "random,leader"}, 4)
    with pytest.raises(RuleError, match="--policy: bussikuski has --guess and --give instead"):
        game.policies({"policy": "own"}, 4)
    with pytest.raises(RuleError, match="seed -1 is out of range"):
        Spec.build(game, seed=-1)


def test_unknown_game():
    with pytest.raises(RuleError, match=r"'busikuski' is not a game \(did you mean 'bussikuski'\?\); the game"):
        get_game("busikuski")
