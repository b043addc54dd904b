"""Bludiště's solver: verdicts against plain search, lines against the reference, shortcuts against none."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sim.games.bludiste import solver
from sim.games.bludiste.lines import as_moves, read_moves, write_moves
from sim.games.bludiste.rules import BludisteRules
from sim.games.bludiste.solver import ALL_SHORTCUTS, COLUMNS, new_solver, solve_block, solve_deal, solve_game
from sim.games.bludiste.state import LIMITS, STATUS
from tests.reference import bludiste as ref

SHORTCUTS = [1 << i for i in range(7)]
TABLE = 4


@pytest.fixture(scope="module")
def scratch() -> Any:
    return new_solver(20)


def fold(options: Mapping[str, object], *pack: int, shortcuts: int = ALL_SHORTCUTS) -> Any:
    """Return a rule set, named by its options, as the solver reads it."""
    return solver.fold(BludisteRules.build(options=options), *pack, shortcuts=shortcuts)


def numbers(cards: str | list[str] | tuple[str, ...]) -> list[int]:
    """Return card numbers of a deal's text."""
    names = cards.split() if isinstance(cards, str) else cards
    return [4 * ref.RANKS.index(card[0]) + ref.SUITS.index(card[1]) for card in names]


def decide(
    scratch: Any,
    options: dict[str, object],
    stock: list[str],
    pack: ref.Pack = ref.FULL_PACK,
    shortcuts: int = ALL_SHORTCUTS,
    limit: int = 200_000,
    probes_from: int | None = None,
) -> str:
    """Return the verdict; a line that wins is replayed through the reference."""
    rules = fold(options, *pack, shortcuts=shortcuts)
    if probes_from is not None:
        rules[0]["probes_from"] = probes_from
    row, line = solve_deal(scratch, rules, numbers(stock), limit)
    assert (row["status"] == 2) == (row["limit"] > 0)
    if line is None:
        assert row["placed"] < len(stock)
        assert (row["rows"], row["refilled"], row["choice_points"]) == (0, 0, 0)
    else:
        replayed = ref.check_line(options, stock, as_moves(rules, line), pack)
        assert replayed == {"won": 1} | {name: row[name] for name in ("placed", "rows", "refilled")}
        assert row["choice_points"] <= row["depth"] <= row["nodes"]
    return STATUS[row["status"]]


# ----------------------------------------------------------------------------------------------------- named positions

NAMED: list[tuple[str, str, dict[str, object], str, tuple[int, int]]] = [
    # one column: every card lies below the one before it
    ("straight up", "2S 3S 4S", {"decks": 1, "columns": 1}, "solved", (4, 1)),
    ("upside down", "4S 3S 2S", {"decks": 1, "columns": 1}, "unsolvable", (4, 1)),
    (
        "upside down, free from below",
        "4S 3S 2S",
        {"decks": 1, "columns": 1, "available": "above_or_below"},
        "solved",
        (4, 1),
    ),
    ("upside down, one grace", "4S 3S 2S", {"decks": 1, "columns": 1, "grace": 1}, "solved", (4, 1)),
    ("upside down in one row", "4S 3S 2S", {"decks": 1, "columns": 3}, "solved", (4, 1)),
    ("one row too few", "4S 3S 2S", {"decks": 1, "columns": 2, "max_rows": 1}, "unsolvable", (4, 1)),
    ("wrong twin first", "2S AS 4S 2S 3S 3S", {"columns": 1}, "unsolvable", (4, 1)),
    ("a row before it is due", "2S AS 4S 2S 3S 3S", {"columns": 1, "deal": "any_time"}, "solved", (4, 1)),
    ("piles meet at the wrong rank", "4S 3S 3S AS 2S 2S", {"columns": 1}, "unsolvable", (4, 1)),
    ("and are moved", "4S 3S 3S AS 2S 2S", {"columns": 1, "transfer": True}, "solved", (4, 1)),
    ("no gap is filled", "4S 3S 3S AS 2S 2S", {"columns": 1, "fill": "first"}, "solved", (4, 1)),
    ("three rows are too few", "4S 2S 2S 3S AS 3S", {"columns": 1, "max_rows": 3}, "unsolvable", (4, 1)),
    ("as many as are needed", "4S 2S 2S 3S AS 3S", {"columns": 1}, "solved", (4, 1)),
]


@pytest.mark.parametrize(
    ("stock", "options", "verdict", "pack"), [case[1:] for case in NAMED], ids=[c[0] for c in NAMED]
)
def test_named_positions(
    scratch: Any, stock: str, options: dict[str, object], verdict: str, pack: tuple[int, int]
) -> None:
    cards = stock.split()
    for shortcuts in (ALL_SHORTCUTS, 0):
        assert decide(scratch, options, cards, ref.Pack(*pack), shortcuts) == verdict
    assert ref.solve_plain(options, cards, 10_000, ref.Pack(*pack)) == verdict


def test_one_deck_leaves_no_choice(scratch: Any) -> None:
    stock = [f"{rank}{suit}" for rank in "23456789TJQK" for suit in "SHDC"]
    row, line = solve_deal(scratch, fold({"decks": 1}), numbers(stock), 0)
    assert STATUS[row["status"]] == "solved"
    assert (row["nodes"], row["refilled"]) == (0, 38)
    assert line is not None
    nodes = solve_block(scratch, fold({"decks": 1, "columns": 6}), 1, 0, 100, 0)[2]
    assert (nodes == 0).all()


def test_a_deal_in_order(scratch: Any) -> None:
    stock = [f"{rank}{suit}" for rank in "23456789TJQK" for suit in "SHDC"]
    stock += [f"{rank}{suit}" for rank in "QJT98765432A" for suit in "SHDC"]
    assert decide(scratch, {}, stock) == "solved"


def test_one_long_column_cannot_be_won(scratch: Any) -> None:
    stock = [f"{rank}{suit}" for rank in "KQJT98765432A" for suit in "SHDC" for _ in range(1 if rank in "KA" else 2)]
    assert decide(scratch, {"columns": 1}, stock) == "unsolvable"


# -------------------------------------------------------------------------------------------------- against brute force


def random_small(rnd: random.Random) -> tuple[dict[str, object], ref.Pack]:
    """Return a rule set and a small pack of which about half the deals can be won."""
    options = ref.random_options(rnd) | {
        "columns": rnd.randint(1, 5),
        "available": rnd.choice(["above", "above", "above", "above_or_below", "all"]),
        "max_rows": rnd.choice([0, 0, 0, 2, 3, 4]),
        "grace": rnd.choice([0, 0, 0, 1, 2]),
    }
    n_suits = rnd.randint(1, 4)
    pack = ref.Pack(rnd.randint(2, {1: 13, 2: 10, 3: 7, 4: 5}[n_suits]), n_suits)
    return options, pack


def compare_with_brute_force(scratch: Any, n: int, seed: int, forced: dict[str, object]) -> set[tuple[str, object]]:
    """Compare verdicts on `n` small deals; return which values of options were met with both verdicts."""
    rnd = random.Random(seed)
    met: dict[tuple[str, object], set[str]] = {}
    for _ in range(n):
        options, pack = random_small(rnd)
        options |= forced
        stock = list(ref.start_order(int(str(options["decks"])), pack))
        rnd.shuffle(stock)
        verdict = ref.solve_plain(options, stock, 800, pack)
        found = decide(scratch, options, stock, pack)
        assert found != "unknown"
        rules = decide(scratch, options, stock, pack, rnd.randrange(ALL_SHORTCUTS + 1), 20_000, probes_from=0)
        assert rules in ("unknown", found), (options, pack, stock)
        if verdict != "unknown":
            assert found == verdict, (options, pack, stock)
            for item in options.items():
                met.setdefault(item, set()).add(verdict)
    return {item for item, verdicts in met.items() if len(verdicts) == 2}


def test_small_packs_against_brute_force(scratch: Any) -> None:
    both = compare_with_brute_force(scratch, 250, 1, {})
    for name, choices in ref.CHOICES.items():
        for choice in choices:
            if (name, choice) not in (("available", "all"), ("grace", 3)):
                assert (name, choice) in both


@pytest.mark.parametrize(
    "forced",
    [
        {
            "refill": "at_once",
            "available": "above",
            "fill": "newest",
            "deal": "when_stuck",
            "transfer": False,
            "grace": 0,
        },
        {"transfer": True, "decks": 2, "deal": "when_stuck", "available": "above"},
        {"decks": 2, "deal": "when_stuck", "available": "above", "fill": "newest", "grace": 0},
    ],
    ids=["at_once", "transfer", "default"],
)
def test_small_packs_of_the_rules_with_most_shortcuts(scratch: Any, forced: dict[str, object]) -> None:
    compare_with_brute_force(scratch, 200, 2, forced)


# -------------------------------------------------------------------------------------------------------- full packs

FULL: list[tuple[dict[str, object], int, int, int]] = [
    ({"columns": 12}, 400, 1_000_000, 0),
    ({"columns": 12, "transfer": True}, 60, 20_000, 60),
    ({"refill": "at_once"}, 12, 3_000, 12),
    ({"columns": 12, "refill": "at_once"}, 12, 3_000, 12),
    (ref.VARIANTS["cadogan"], 15, 3_000, 15),
    (ref.VARIANTS["labyrinth"], 60, 1_000, 60),
    (ref.VARIANTS["parallels"], 15, 3_000, 15),
    (ref.VARIANTS["blockade"], 15, 3_000, 15),
    ({"columns": 12, "deal": "any_time"}, 8, 2_000, 8),
]


@pytest.mark.parametrize(("options", "n", "limit", "most_unknown"), FULL, ids=[str(case[0]) for case in FULL])
def test_lines_replay(scratch: Any, options: dict[str, object], n: int, limit: int, most_unknown: int) -> None:
    rules = fold(options)
    columns = dict(zip(COLUMNS, solve_block(scratch, rules, 3, 0, n, limit), strict=True))
    assert (columns["status"] == 2).sum() <= most_unknown
    for game in np.flatnonzero(columns["status"] == 1):
        row, line = solve_game(scratch, rules, 3, int(game), limit)
        assert row == {name: column[game] for name, column in columns.items()}
        assert line is not None
        stock = ref.seeded_stock(options, 3, int(game))
        replayed = ref.check_line(options, stock, as_moves(rules, line))
        assert replayed == {"won": 1} | {name: row[name] for name in ("placed", "rows", "refilled")}


@pytest.mark.parametrize(
    "options", [{"columns": 7}, {"columns": 5, "transfer": True}, {"columns": 5, "refill": "at_once"}]
)
def test_verdicts_without_shortcuts(scratch: Any, options: dict[str, object]) -> None:
    n = 30
    verdicts = solve_block(scratch, fold(options), 5, 0, n, 1_000_000)[0]
    assert (verdicts < 2).all()
    for shortcuts in (0, TABLE, *(ALL_SHORTCUTS - shortcut for shortcut in SHORTCUTS)):
        others = solve_block(scratch, fold(options, shortcuts=shortcuts), 5, 0, n, 10_000)[0]
        assert (others < 2).sum() >= (3 if shortcuts in (0, TABLE) else 20)
        assert (others == verdicts)[others < 2].all()


def test_unsolvable_again_by_the_reference(scratch: Any) -> None:
    options = {"columns": 7}
    verdicts = solve_block(scratch, fold(options), 7, 0, 40, 1_000_000)[0]
    again = [ref.solve_plain(options, ref.seeded_stock(options, 7, game), 400) for game in range(40)]
    assert sum(verdict != "unknown" for verdict in again) >= 15
    for game, verdict in enumerate(again):
        assert verdict in ("unknown", STATUS[verdicts[game]])


def test_share_of_default_deals_that_can_be_won(scratch: Any) -> None:
    status = solve_block(scratch, fold({}), 1, 0, 4000, 1_000_000)[0]
    assert (status == 2).sum() == 0
    assert abs((status == 1).mean() - 0.0244) < 4 * (0.0244 / 4000) ** 0.5  # 100,000 deals: 2.44 %


# ------------------------------------------------------------------------------------------------- limits and plumbing


def test_limits_are_told_and_do_not_change_the_search(scratch: Any) -> None:
    options = {"columns": 14}
    full = np.array(solve_block(scratch, fold(options), 2, 0, 60, 1_000_000))
    short = np.array(solve_block(scratch, fold(options), 2, 0, 60, 50))
    is_cut = full[2] > 50
    assert is_cut.any()
    assert (short[0] == np.where(is_cut, 2, full[0])).all()
    assert {LIMITS[code] for code in short[1][is_cut]} == {"nodes"}
    assert (short[:, ~is_cut] == full[:, ~is_cut]).all()


@pytest.mark.parametrize("options", [{"columns": 13}, {"columns": 6, "refill": "at_once"}])
def test_a_small_table_only_costs_time(scratch: Any, options: dict[str, object]) -> None:
    small = new_solver(12)
    want = np.array(solve_block(scratch, fold(options), 4, 0, 20, 1_000_000))
    got = np.array(solve_block(small, fold(options), 4, 0, 20, 20_000))
    assert (want[0] < 2).all()
    assert (got[0] == want[0])[got[0] < 2].all()
    assert got[2].sum() > want[2].sum()
    hardest = int(want[2].argmax())
    cut = solve_game(small, fold(options), 4, hardest, int(want[2][hardest]) // 2)[0]
    assert LIMITS[cut["limit"]] == "nodes_and_table"


@pytest.mark.parametrize("options", [{}, {"refill": "at_once"}])
def test_a_row_is_a_function_of_seed_and_game(scratch: Any, options: dict[str, object]) -> None:
    rules = fold(options)
    block = np.array(solve_block(scratch, rules, 9, 0, 12, 2_000))
    again = np.array(solve_block(new_solver(20), rules, 9, 5, 4, 2_000))
    assert (block[:, 5:9] == again).all()


def test_the_stock_is_the_references(scratch: Any) -> None:
    for options in ({}, {"decks": 1}):
        for pack in (ref.FULL_PACK, ref.Pack(5, 3)):
            rules = fold(options, *pack)
            solve_block(scratch, rules, 8, 3, 1, 10)
            stock = scratch[0][0]["stock"][: int(rules[0]["n_stock"])].tolist()
            assert stock == numbers(ref.seeded_stock(options, 8, 3, pack))


def test_moves_as_text(scratch: Any) -> None:
    row, line = solve_game(scratch, fold({"columns": 12, "transfer": True}), 3, 0, 20_000)
    assert STATUS[row["status"]] == "solved"
    moves = as_moves(fold({"columns": 12, "transfer": True}), line)
    assert {move[0] for move in moves} >= {"up", "down", "fill", "row"}
    text = write_moves([*moves, ("transfer", "S", "up")])
    assert read_moves(text) == [*moves, ("transfer", "S", "up")]
    assert text.startswith(f"{moves[0][0]}:{int(moves[0][1]) + 1}.{int(moves[0][2]) + 1} ")
    for wrong in ("up:0.1", "up:1", "left:1.1", "transfer:X:up", "row:1.1"):
        with pytest.raises(ValueError, match=f"'{wrong}' is no move"):
            read_moves(f"fill {wrong}")
