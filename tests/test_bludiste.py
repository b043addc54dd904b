"""Bludiště's kernel: against the blind reference, the document's example, known rates, and its own invariants."""

import random
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

from sim.cards import CardError, card_text, parse_cards
from sim.events import collect_events
from sim.game import Deal, Player, Spec
from sim.games import get_game
from sim.games.bludiste import kernel
from sim.games.bludiste import record as rec
from sim.games.bludiste.deals import read_deal, stock_pack
from sim.rules import RuleError
from tests import live
from tests.live import differ, untried
from tests.reference import bludiste as reference
from tests.reference.streams import PolicyStream

GAME = get_game("bludiste")


def specification(policy="first", seed=1, **options):
    return Spec.build(GAME, GAME.rules.build(options=options), {"policy": policy}, seed)


def rows_of(spec, first, n):
    return live.rows_of(Player(spec), first, n)


def reference_row(spec, game, stock=None):
    rules, (policy,) = spec.rules.plain(), spec.policies["policy"]
    stock = reference.seeded_stock(rules, spec.seed, game) if stock is None else stock
    stream = PolicyStream(spec.seed, game, 0) if policy == "random" else None
    return reference.play(rules, policy, stock, stream)


def random_spec(rnd, policies=("first", "random")):
    kinds = GAME.rules.kinds().items()
    options = {name: rnd.choice(kind.samples()) for name, kind in kinds if rnd.random() < 0.6}
    return specification(rnd.choice(policies), rnd.randrange(2**64), **options)


def watched(spec, game, stock=None):
    """Play a game and return its events, its row and its stock."""
    state, search, _ = kernel.new_scratch()
    folded = kernel.fold(spec.rules, spec.policies)[0]
    stream = np.uint64(spec.seed), np.uint64(game)
    if stock is None:
        kernel.shuffle_stock(state[0], folded, *stream)
        stock = (state[0]["stock"][: spec.rules.n_stock] - rec.SHIFT).tolist()
    columns = kernel.new_columns(1)
    order = np.array(stock, np.uint8) + np.uint8(rec.SHIFT)
    _, events, n_events = collect_events(
        lambda events: kernel.play_games(state[0], search[0], folded, order, events, *stream, columns)
    )
    assert n_events == len(events)
    row = dict(zip([column.name for column in spec.columns], columns[:, 0].tolist(), strict=True))
    return [event[:4] for event in events], row, stock


@pytest.fixture
def unchecked(monkeypatch):
    """Let the reference leave out its own counting of cards, which the tests of the reference do."""
    monkeypatch.setattr(reference, "CHECK", False)


# -- against the reference ------------------------------------------------------------------------------------------


def test_default_agrees_with_the_reference_on_5000_games(unchecked):
    spec = specification()
    for game, row in enumerate(rows_of(spec, 0, 5000)):
        assert row == reference_row(spec, game), f"game {game}"


def check_random_rule_sets(part, n_rule_sets, n_games):
    rnd = random.Random(part)
    for _ in range(n_rule_sets):
        spec = random_spec(rnd)
        first = rnd.randrange(2**63)
        for i, row in enumerate(rows_of(spec, first, n_games)):
            expected = reference_row(spec, first + i)
            assert row == expected, f"{spec.rules.changes()} {spec.policies} seed {spec.seed} game {first + i}"


@pytest.mark.parametrize("part", range(10))
def test_random_rule_sets_agree_with_the_reference(unchecked, part):
    """30 rule sets, 15 games each; ten times."""
    check_random_rule_sets(part, 30, 15)


@pytest.mark.validation
@pytest.mark.parametrize("part", range(10))
def test_random_rule_sets_agree_with_the_reference_on_200_games(unchecked, part):
    """30 rule sets, 200 games each; ten times."""
    check_random_rule_sets(100 + part, 30, 200)


def test_explicit_deals_agree_with_the_reference(unchecked):
    rnd = random.Random(20)
    for line in range(1, 301):
        spec = random_spec(rnd)
        stock = rnd.sample(stock_pack(spec.rules), spec.rules.n_stock)
        played = Player(spec)
        raw = played.play_deal(Deal(line, (tuple(stock),)))
        row = dict(zip([c.name for c in played.columns], raw, strict=True))
        assert row == reference_row(spec, line, [card_text(card) for card in stock])


def as_move(event, columns):
    """Return an event as the reference's move."""
    kind, a, _, foundation = event
    direction = "up" if foundation < 4 else "down"
    if kind == rec.ROW:
        return ("row",)
    if kind == rec.TRANSFER:
        return ("transfer", "SHDC"[a % 4], direction)
    return (direction, *divmod(a, columns))


def moves_of(spec, events):
    """Return the moves of a game, without row 1 and what is filled at once; gaps filled together are one move."""
    moves = []
    for before, event in zip([None, *events], events, strict=False):
        if event[0] != rec.FILL:
            moves.append(as_move(event, spec.rules.columns))
        elif spec.rules.refill.text == "when_stuck" and before[0] != rec.FILL:
            moves.append(("fill",))
    return moves[1:]


@pytest.mark.parametrize("part", range(4))
def test_what_best_plays_is_allowed(part):
    """Every move of `best` under random rule sets is one of the reference's legal moves, and the row is the same."""
    rnd = random.Random(30 + part)
    for _ in range(40):
        spec = random_spec(rnd, ["best"])
        game = rnd.randrange(2**40)
        events, row, stock = watched(spec, game)
        cards = [card_text(card) for card in stock]
        expected = reference.check_line(spec.rules.plain(), cards, moves_of(spec, events))
        assert row == expected, (spec.rules.changes(), spec.seed, game)
        assert row == rows_of(spec, game, 1)[0]


# -- the document's example -------------------------------------------------------------------------------------------

EXAMPLE = (
    "6S 5S 7H TC TD QC 9D JS 6C 5C  3S  2S 5H QS 4S 5D TS 4D 3D 2D 4C"  # row 1, its gap, row 2
    "  8H 9H 8C JD JC 7C QH  8H"  # the document fills seven of row 2's eight gaps; any card that does not fit is eighth
)


def test_the_documents_example():
    """The document's example (rules.md, end of section 3).

    It places QC; then twelve cards from both rows, after which eight places of row 2 are empty. It lists only seven
    cards for them (its slip); 8H is taken here for the missing one. Then JC, QH and TC are placed.
    """
    spec = specification()
    begun = parse_cards(EXAMPLE)
    rest = Counter(stock_pack(spec.rules)) - Counter(begun)
    events, _, _ = watched(spec, 0, begun + sorted(rest.elements()))

    def placed(first, last):
        return {card_text(card - rec.SHIFT) for kind, _, card, _ in events[first:last] if kind == rec.PLACE}

    kinds = [event[0] for event in events]
    stages = [i for i, kind in enumerate(kinds) if kind == rec.ROW or (kind == rec.FILL and kinds[i - 1] != rec.FILL)]
    assert placed(stages[0], stages[1]) == {"QC"}
    assert events[stages[1]][:3] == (rec.FILL, 5, parse_cards("3S")[0] + rec.SHIFT)
    row_2 = next(i for i in stages[1:] if events[i][0] == rec.ROW)
    filled = next(i for i in stages if i > row_2)
    assert placed(row_2, filled) == {*"2S 3S 4S 5S 6S 2D 3D 4D 5D QS JS TS".split()}
    places = [place for kind, place, _, _ in events[filled : filled + 8] if kind == rec.FILL]
    assert places == [10, 12, 13, 14, 15, 16, 17, 18]  # all but 5H and 4C
    after = next(i for i in stages if i > filled)
    assert placed(filled, after) == {"JC", "QH", "TC"}


# -- each option is live --------------------------------------------------------------------------------------------

# option, value, another value, the rest of the rules, the policy, a game (seed 1) whose outcome differs
LIVE = [
    *[("columns", str(n), "10" if n != 10 else "9", {}, "first", 0) for n in range(1, 17)],
    ("refill", "when_stuck", "at_once", {}, "first", 0),
    ("refill", "at_once", "when_stuck", {}, "first", 0),
    ("available", "above", "above_or_below", {}, "first", 1),
    ("available", "above_or_below", "above", {}, "first", 1),
    ("available", "all", "above", {}, "first", 0),
    ("transfer", "false", "true", {"columns": "12"}, "best", 0),
    ("transfer", "true", "false", {"columns": "12"}, "best", 0),
    ("max_rows", "0", "1", {}, "first", 0),
    *[("max_rows", str(n), "0", {}, "first", {6: 1, 7: 9}.get(n, 0)) for n in range(1, 8)],
    *[("max_rows", str(n), "0", {"columns": "1"}, "first", 0) for n in (8, 60)],
    ("decks", "1", "2", {}, "first", 0),
    ("decks", "2", "1", {}, "first", 0),
    ("fill", "newest", "first", {}, "first", 0),
    ("fill", "first", "newest", {}, "first", 0),
    ("fill", "all", "newest", {}, "first", 0),
    ("deal", "when_stuck", "any_time", {"columns": "12"}, "best", 0),
    ("deal", "any_time", "when_stuck", {"columns": "12"}, "best", 0),
    ("grace", "0", "1", {}, "first", 0),
    *[("grace", str(n), str(n - 1), {}, "first", 0) for n in (1, 2, 3)],
]


@pytest.mark.parametrize(("option", "value", "other", "rest", "policy", "game"), LIVE)
def test_option_is_live(option, value, other, rest, policy, game):
    assert differ(
        Player(specification(policy, **rest, **{option: value})),
        Player(specification(policy, **rest, **{option: other})),
        game,
    )


def test_every_option_and_every_value_stands_in_the_table():
    assert untried(GAME.rules, LIVE, every_number=True) == []


# -- what always holds -------------------------------------------------------------------------------------------------


def check_cards(spec, events, row, stock):
    """Follow every card from the stock to its place and to its foundation."""
    n = spec.rules.columns
    stock = iter(card + rec.SHIFT for card in stock)
    table, piles = {}, {f: [f + rec.SHIFT] if f < 4 else [f + 44 + rec.SHIFT] for f in range(8)}
    n_rows = n_filled = 0
    for kind, a, b, c in events:
        if kind == rec.ROW:
            table.update((n * n_rows + i, next(stock)) for i in range(a))
            n_rows += 1
        elif kind == rec.FILL:
            assert a not in table
            table[a] = next(stock)
            assert table[a] == b
            n_filled += 1
        elif kind == rec.TRANSFER:
            assert piles[a].pop() == b
            assert piles[a]
            piles[c].append(b)
        else:
            assert table.pop(a) == b
            piles[c].append(b)
    for foundation, pile in piles.items():
        step = 4 if foundation < 4 else -4
        assert pile == list(range(pile[0], pile[0] + step * len(pile), step))
    laid = [card for pile in piles.values() for card in pile[1:]]
    everything = Counter([*laid, *table.values(), *stock])
    assert everything == Counter(card + rec.SHIFT for card in stock_pack(spec.rules))
    won = len(laid) == spec.rules.n_stock
    assert row == {"won": won, "placed": len(laid), "rows": n_rows, "refilled": n_filled}


def test_no_card_comes_or_goes():
    rnd = random.Random(6)
    for _ in range(150):
        spec = random_spec(rnd, ["first", "random", "best"])
        events, row, stock = watched(spec, rnd.randrange(2**40))
        check_cards(spec, events, row, stock)


def test_the_fast_first_is_the_general_one():
    """`first.play_first` and `policies.place_until_stuck` play the same games, for all rules that the first knows."""
    for columns in range(1, 17):
        for options in ({}, {"fill": "first"}, {"decks": 1}, {"max_rows": 5}, {"decks": 1, "fill": "first"}):
            fast = Player(specification(columns=columns, **options))
            general = Player(fast.spec)
            assert fast._rules[0]["is_plain"]
            general._rules[0]["is_plain"] = 0
            np.testing.assert_array_equal(np.array(fast.play(7, 200)), np.array(general.play(7, 200)))


def test_a_policy_that_draws_does_not_move_the_cards():
    _, _, stock = watched(specification(), 5)
    for policy in ("random", "best"):
        assert watched(specification(policy), 5)[2] == stock


# -- known rates ------------------------------------------------------------------------------------------------------


@cache
def rates(n, **options):
    raw = Player(specification(**options)).play(0, n)
    return float(raw[0].mean()), float(raw[1].mean())


def test_rates_of_first():
    """By the letter 1 deal in 900 and 46.9 cards; 68.5 % with all cards available in six rows (independent figures)."""
    won, placed = rates(1_000_000)
    assert 1 / 1000 < won < 1 / 820
    assert abs(placed - 46.93) < 0.1
    assert abs(rates(40_000, available="all", max_rows=6)[0] - 0.685) < 0.01
    assert abs(rates(200_000, columns=12)[0] - 0.0116) < 0.001


def test_with_every_card_available_every_game_is_won():
    for policy in ("first", "random"):
        for decks in (1, 2):
            assert all(row["won"] for row in rows_of(specification(policy, available="all", decks=decks), 0, 2000))


# -- best -----------------------------------------------------------------------------------------------------------


def test_best_plays_better():
    """At 12 columns, on the same deals: nearly four times as many won (at least 2.5 times of 1,500), 5 cards more."""
    first = np.array(Player(specification(columns=12)).play(0, 1500), int)
    best = np.array(Player(specification("best", columns=12)).play(0, 1500), int)
    assert best[0].sum() > 2.5 * first[0].sum()
    assert best[1].mean() > first[1].mean() + 5


def test_best_is_determined_by_the_seed():
    spec = specification("best", columns=12)
    assert rows_of(spec, 10, 20) == rows_of(spec, 0, 30)[10:]


def test_best_does_not_look_into_the_stock():
    """What it does before a card is turned over does not depend on that card, or any after it."""
    rnd = random.Random(9)
    for options in ({}, {"columns": 12}, {"refill": "at_once"}, {"deal": "any_time"}, {"grace": 2, "fill": "all"}):
        spec = specification("best", **options)
        for game in range(8):
            events, _, stock = watched(spec, game)
            n_known = rnd.randrange(spec.rules.columns, spec.rules.n_stock - 1)
            hidden = stock[n_known:]
            rnd.shuffle(hidden)
            again, _, _ = watched(spec, game, stock[:n_known] + hidden)
            n_dealt = 0
            for one, other in zip(events, again, strict=False):
                n_dealt += one[1] if one[0] == rec.ROW else one[0] == rec.FILL
                if n_dealt > n_known:
                    break
                assert one == other


def test_best_takes_an_effort():
    assert specification("best:1").policies == {"policy": ("best",)}
    spec = specification("best:3", columns=12)
    assert spec.plain()["policies"] == {"policy": ["best:3"]}
    assert rows_of(spec, 0, 30) != rows_of(specification("best", columns=12), 0, 30)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("best:0", "the effort is a whole number from 1 to 1,000,000"),
        ("best:x", "the effort is a whole number"),
        ("first:2", "first takes no effort"),
        ("bset:2", "did you mean 'best'?"),
    ],
)
def test_wrong_efforts(given, said):
    with pytest.raises(RuleError, match=re.escape(said)):
        specification(given)


def test_effort_on_the_command_line():
    slot = GAME.slots[0]
    assert slot.with_effort("best", 4) == "best:4"
    assert slot.with_effort("best:2", 4) == "best:2"
    with pytest.raises(RuleError, match="--effort: first takes no effort; best and solver do"):
        slot.with_effort(None, 4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda cards: cards[1:], "95 cards instead of 96"),
        (lambda cards: [*cards, "2S"], "2S, occurs more than 2 times (a deck of 96 cards was expected)"),
        (lambda cards: [*cards, "KS"], "KS, occurs twice (a deck of 96 cards was expected)"),
    ],
)
def test_a_stock_that_is_none(change, said):
    cards = [card_text(card) for card in stock_pack(GAME.rules())]
    with pytest.raises(CardError, match=re.escape(said)):
        read_deal(" ".join(change(cards)), GAME.rules())
