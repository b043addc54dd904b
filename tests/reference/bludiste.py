"""Bludiště in plain Python, from rules.md §3 alone: the blind second implementation.

Cards are strings, rank then suit; they really lie in the rows, in the stock or on the foundations. Rows and columns are
counted from 0, row 0 is the oldest. With ``CHECK`` on, it is asserted after every move that no card came or went.

Moves are small tuples:

- ``("up", row, column)``, ``("down", row, column)``: the card of that place goes on the foundation of its suit going up
  (down). When the card is not available this is a grace placement, written the same.
- ``("transfer", suit, "up")``, ``("transfer", suit, "down")``: the top card of the suit's other foundation goes to the
  one going up (down).
- ``("fill",)``: every gap that may be filled is filled, while the stock lasts.
- ``("row",)``: a new row is opened.

Where the rule book leaves room, this is how it is read here:

- Never-dealt places of a short row are gaps like others. A short row means that the stock is empty, so they are never
  filled and no row comes below them; they only matter for ``above_or_below``, where they free the cards above them.
- ``at_once``: after every placement, by grace too, the gap is filled if its row is one of those that ``fill`` names for
  the number of rows there are. This is never a choice, and ``("fill",)`` is no move then, whatever ``deal`` says.
- ``any_time``: a row may be opened while the newest row has gaps, and nothing happens by itself, not even when stuck.
- ``transfer``: when stuck, a free player may make the step that is due (fill, else row) or a transfer; grace is due
  although a transfer is possible, since the rule book names only placement, fill and new row.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypedDict, cast

from .streams import KIND_DEAL, PolicyStream, shuffled

RANKS = "A23456789TJQK"
SUITS = "SHDC"
GAP = ""

CHECK = False
"""Assert after every move that all cards are somewhere once."""

# ------------------------------------------------------------------------------------------------------------- options


class Rules(TypedDict):
    """All options of rules.md §3."""

    columns: int
    refill: str
    available: str
    transfer: bool
    max_rows: int
    decks: int
    fill: str
    deal: str
    grace: int


DEFAULTS: dict[str, object] = {
    "columns": 10,
    "refill": "when_stuck",
    "available": "above",
    "transfer": False,
    "max_rows": 0,
    "decks": 2,
    "fill": "newest",
    "deal": "when_stuck",
    "grace": 0,
}

CHOICES: dict[str, tuple[object, ...]] = {
    "refill": ("when_stuck", "at_once"),
    "available": ("above", "above_or_below", "all"),
    "transfer": (False, True),
    "decks": (1, 2),
    "fill": ("newest", "first", "all"),
    "deal": ("when_stuck", "any_time"),
    "grace": (0, 1, 2, 3),
}

PARALLELS: dict[str, object] = {"available": "above_or_below", "fill": "all", "max_rows": 7}

VARIANTS: dict[str, dict[str, object]] = {
    "letter": {},
    "cadogan": {"available": "above_or_below", "grace": 1},
    "labyrinth": {"decks": 1, "columns": 8, "fill": "first", "available": "above_or_below"},
    "parallels": PARALLELS,
    "blockade": {**PARALLELS, "refill": "at_once"},
}

POLICIES = ("first", "random")


def resolve(rules: Mapping[str, object]) -> Rules:
    """Fill in the defaults.

    Raises
    ------
    ValueError
        For an unknown option or value.
    """
    for name, value in rules.items():
        if name not in DEFAULTS:
            raise ValueError(f"unknown option {name!r}")
        if type(value) is not type(DEFAULTS[name]):
            raise ValueError(f"{name}: {value!r} is of the wrong type")
    full = {**DEFAULTS, **rules}
    for name, choices in CHOICES.items():
        if full[name] not in choices:
            raise ValueError(f"{name}: one of {', '.join(str(choice) for choice in choices)}")
    resolved = cast(Rules, full)
    if not 1 <= resolved["columns"] <= 16 or resolved["max_rows"] < 0:
        raise ValueError("columns: 1-16, max_rows: 0 or more")
    return resolved


def columns(rules: Mapping[str, object]) -> list[str]:
    """Return the names of the columns of a game's row."""
    resolve(rules)
    return ["won", "placed", "rows", "refilled"]


def random_options(rnd: random.Random) -> dict[str, object]:
    """Return a random legal rule set."""
    options = {name: rnd.choice(choices) for name, choices in CHOICES.items()}
    options["columns"] = rnd.randint(1, 16)
    options["max_rows"] = rnd.choice((0, 0, 0, rnd.randint(1, 4), rnd.randint(1, 12), rnd.randint(1, 96)))
    return options


# --------------------------------------------------------------------------------------------------------------- cards


class Pack(NamedTuple):
    """Which cards a deck has; small ones serve for tests."""

    n_ranks: int = 13
    n_suits: int = 4


FULL_PACK = Pack()


def card_of(rank: int, suit: int) -> str:
    """Return the card of a rank (ace 1) and the number of a suit."""
    return RANKS[rank - 1] + SUITS[suit]


@cache
def start_order(decks: int, pack: Pack = FULL_PACK) -> tuple[str, ...]:
    """Return the stock before it is shuffled: all cards but the foundations' bases."""
    if not 2 <= pack.n_ranks <= len(RANKS) or not 1 <= pack.n_suits <= len(SUITS):
        raise ValueError("a pack has 2-13 ranks and 1-4 suits")
    ranks, suits = range(1, pack.n_ranks + 1), range(pack.n_suits)
    if decks == 1:
        return tuple(card_of(rank, suit) for rank in ranks if rank != 1 for suit in suits)
    one = tuple(card_of(rank, suit) for rank in ranks if 1 < rank < pack.n_ranks for suit in suits)
    return one + tuple(card_of(rank, suit) for rank in ranks for suit in suits)


@cache
def stock_count(decks: int, pack: Pack) -> Counter[str]:
    """Return how often each card lies in the stock."""
    return Counter(start_order(decks, pack))


def seeded_stock(rules: Mapping[str, object], seed: int, game: int, pack: Pack = FULL_PACK) -> list[str]:
    """Return the stock of (seed, game), top first."""
    return shuffled(seed, game, KIND_DEAL, 0, start_order(resolve(rules)["decks"], pack))


# ------------------------------------------------------------------------------------------------------------ position


class Position(NamedTuple):
    """Everything that lies on the table.

    ``rows`` holds cards and ``GAP``, each row with as many places as there are columns. ``up`` and ``down`` are the
    ranks of the foundations' top cards (ace 1) by suit; with one deck ``down`` is empty.
    """

    rows: tuple[tuple[str, ...], ...]
    up: tuple[int, ...]
    down: tuple[int, ...]
    stock: tuple[str, ...]
    grace_used: int = 0
    refilled: int = 0


Move = tuple[str | int, ...]
Events = list[tuple[object, ...]]
Policy = Callable[[Position, Sequence[Move]], Move | None]


class IllegalMove(ValueError):  # noqa: N818
    """A line holds a move that the rules do not allow."""


def begin(rules: Rules, stock: Sequence[str], pack: Pack = FULL_PACK) -> Position:
    """Return the position after row 1 is dealt.

    Raises
    ------
    ValueError
        If the stock does not hold the right cards.
    """
    if Counter(stock) != stock_count(rules["decks"], pack):
        raise ValueError("the stock does not hold each of its cards as often as it should")
    up = (1,) * pack.n_suits
    down = (pack.n_ranks,) * pack.n_suits if rules["decks"] == 2 else ()
    return open_row(Position((), up, down, tuple(stock)), rules)


def is_won(position: Position, pack: Pack = FULL_PACK) -> bool:
    """Say whether all foundations are full."""
    return all(rank == pack.n_ranks for rank in position.up) and all(rank == 1 for rank in position.down)


def count_placed(position: Position, pack: Pack = FULL_PACK) -> int:
    """Return the number of cards on the foundations, without the bases."""
    return sum(rank - 1 for rank in position.up) + sum(pack.n_ranks - rank for rank in position.down)


def count_cards(position: Position, pack: Pack = FULL_PACK) -> Counter[str]:
    """Return how often each card is anywhere, the foundations' bases included."""
    cards = Counter(position.stock)
    for row in position.rows:
        cards.update(card for card in row if card != GAP)
    for suit, top in enumerate(position.up):
        cards.update(card_of(rank, suit) for rank in range(1, top + 1))
    for suit, top in enumerate(position.down):
        cards.update(card_of(rank, suit) for rank in range(top, pack.n_ranks + 1))
    return cards


# --------------------------------------------------------------------------------------------------------- legal moves


def is_available(position: Position, row: int, column: int, rules: Rules) -> bool:
    """Say whether the card of a place may be placed without grace."""
    rows = position.rows
    if rules["available"] == "all" or row == 0 or row == len(rows) - 1:
        return True
    if rows[row - 1][column] == GAP:
        return True
    return rules["available"] == "above_or_below" and rows[row + 1][column] == GAP


@cache
def wanted_of_suit(suit: int, up: int, down: int | None, n_ranks: int) -> dict[str, tuple[str, ...]]:
    """Return the cards of one suit that fit, given the top ranks of its foundations, and the directions: up first."""
    wanted: dict[str, tuple[str, ...]] = {}
    if up < n_ranks:
        wanted[card_of(up + 1, suit)] = ("up",)
    if down is not None and down > 1:
        card = card_of(down - 1, suit)
        wanted[card] = (*wanted.get(card, ()), "down")
    return wanted


def wanted_cards(position: Position, pack: Pack = FULL_PACK) -> dict[str, tuple[str, ...]]:
    """Return the cards that fit a foundation, and the directions: up first."""
    wanted: dict[str, tuple[str, ...]] = {}
    for suit, up in enumerate(position.up):
        wanted |= wanted_of_suit(suit, up, position.down[suit] if position.down else None, pack.n_ranks)
    return wanted


def fitting(position: Position, rules: Rules, available: bool, pack: Pack = FULL_PACK) -> Iterator[Move]:
    """Yield the placements of cards that are available, or that are not: oldest row first, left to right, up first."""
    wanted = wanted_cards(position, pack)
    for r, row in enumerate(position.rows):
        if wanted.keys().isdisjoint(row):
            continue
        for c, card in enumerate(row):
            if card in wanted and is_available(position, r, c, rules) == available:
                for direction in wanted[card]:
                    yield (direction, r, c)


def placements(position: Position, rules: Rules, pack: Pack = FULL_PACK) -> list[Move]:
    """Return the placements of available cards."""
    return list(fitting(position, rules, True, pack))


def fillable_rows(n_rows: int, rules: Rules) -> range:
    """Return the rows whose gaps are filled while there are so many rows."""
    if rules["fill"] == "all":
        return range(n_rows)
    if rules["fill"] == "first":
        return range(1 if n_rows == 1 else 0)
    return range(n_rows - 1, n_rows)


def can_fill(position: Position, rules: Rules) -> bool:
    """Say whether there are a card for a gap and a gap for it, and filling it is a step of its own."""
    if rules["refill"] == "at_once" or not position.stock:
        return False
    return any(GAP in position.rows[r] for r in fillable_rows(len(position.rows), rules))


def can_open(position: Position, rules: Rules) -> bool:
    """Say whether the stock and the limit of rows allow a new row."""
    return bool(position.stock) and (rules["max_rows"] == 0 or len(position.rows) < rules["max_rows"])


def stuck_step(position: Position, rules: Rules) -> Move | None:
    """Return what follows when no available card can be placed: fill, else a new row, else nothing."""
    if can_fill(position, rules):
        return ("fill",)
    if can_open(position, rules):
        return ("row",)
    return None


def grace_placements(position: Position, rules: Rules, pack: Pack = FULL_PACK) -> list[Move]:
    """Return the grace placements, for a position in which no placement, fill or new row is possible."""
    if position.grace_used >= rules["grace"]:
        return []
    return list(fitting(position, rules, False, pack))


def transfers(position: Position, rules: Rules, pack: Pack = FULL_PACK) -> list[Move]:
    """Return the transfers; a base card never moves."""
    moves: list[Move] = []
    if not rules["transfer"] or not position.down:
        return moves
    for suit in range(pack.n_suits):
        up, down = position.up[suit], position.down[suit]
        if down == up + 1:
            if down != pack.n_ranks:
                moves.append(("transfer", SUITS[suit], "up"))
            if up != 1:
                moves.append(("transfer", SUITS[suit], "down"))
    return moves


def legal_moves(position: Position, rules: Rules, pack: Pack = FULL_PACK) -> list[Move]:
    """Return every legal move of a free player.

    Placements, then filling and opening, then grace placements, then transfers. Under ``deal = when_stuck`` a step of
    filling or opening is there only when stuck; it is the only move then, but for transfers.
    """
    moves = placements(position, rules, pack)
    if rules["deal"] == "any_time":
        if can_fill(position, rules):
            moves.append(("fill",))
        if can_open(position, rules):
            moves.append(("row",))
    elif not moves:
        step = stuck_step(position, rules)
        if step is not None:
            moves.append(step)
    if not moves:
        moves += grace_placements(position, rules, pack)
    return moves + transfers(position, rules, pack)


# -------------------------------------------------------------------------------------------------------- making moves


def tell(events: Events | None, *event: object) -> None:
    """Append an event, if anybody listens."""
    if events is not None:
        events.append(event)


def open_row(position: Position, rules: Rules, events: Events | None = None) -> Position:
    """Lay out a new row; a short stock fills the leftmost columns."""
    width = rules["columns"]
    cards = position.stock[:width]
    tell(events, "row", len(position.rows), cards)
    row = cards + (GAP,) * (width - len(cards))
    return position._replace(rows=(*position.rows, row), stock=position.stock[width:])


def fill_gap(position: Position, row: int, column: int, events: Events | None = None) -> Position:
    """Put the next card of the stock into a gap."""
    assert position.rows[row][column] == GAP
    tell(events, "fill", row, column, position.stock[0])
    card, stock = position.stock[0], position.stock[1:]
    rows = with_card(position.rows, row, column, card)
    return Position(rows, position.up, position.down, stock, position.grace_used, position.refilled + 1)


def fill_gaps(position: Position, rules: Rules, events: Events | None = None) -> Position:
    """Fill all gaps that may be filled, oldest row first, left to right, while the stock lasts."""
    for r in fillable_rows(len(position.rows), rules):
        for c in range(rules["columns"]):
            if position.stock and position.rows[r][c] == GAP:
                position = fill_gap(position, r, c, events)
    return position


def with_card(rows: tuple[tuple[str, ...], ...], row: int, column: int, card: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows with another card, or a gap, at one place."""
    old = rows[row]
    return (*rows[:row], (*old[:column], card, *old[column + 1 :]), *rows[row + 1 :])


def with_rank(ranks: tuple[int, ...], suit: int, rank: int) -> tuple[int, ...]:
    """Return the foundations' top ranks with another one for a suit."""
    return (*ranks[:suit], rank, *ranks[suit + 1 :])


def place(position: Position, direction: str, row: int, column: int, rules: Rules, events: Events | None) -> Position:
    """Place the card of a place on a foundation; under ``at_once`` its gap is filled."""
    card = position.rows[row][column]
    rank, suit = RANKS.index(card[0]) + 1, SUITS.index(card[1])
    graced = not is_available(position, row, column, rules)
    tell(events, "place", card, direction, row, column, "grace" if graced else "available")
    up, down = position.up, position.down
    if direction == "up":
        assert rank == up[suit] + 1
        up = with_rank(up, suit, rank)
    else:
        assert direction == "down"
        assert rank == down[suit] - 1
        down = with_rank(down, suit, rank)
    rows = with_card(position.rows, row, column, GAP)
    position = Position(rows, up, down, position.stock, position.grace_used + graced, position.refilled)
    if rules["refill"] == "at_once" and position.stock and row in fillable_rows(len(rows), rules):
        position = fill_gap(position, row, column, events)
    return position


def carry_over(position: Position, suit: int, direction: str, events: Events | None) -> Position:
    """Move a top card to the foundation of its suit that goes ``direction``."""
    up, down = position.up[suit], position.down[suit]
    assert down == up + 1
    tell(events, "transfer", card_of(down if direction == "up" else up, suit), direction)
    shift = 1 if direction == "up" else -1
    return position._replace(
        up=with_rank(position.up, suit, up + shift), down=with_rank(position.down, suit, down + shift)
    )


def apply(
    position: Position, move: Move, rules: Rules, pack: Pack = FULL_PACK, events: Events | None = None
) -> Position:
    """Return the position after a legal move; ``legal_moves`` says which ones are."""
    tell(events, "move", move)
    if move[0] == "fill":
        after = fill_gaps(position, rules, events)
    elif move[0] == "row":
        after = open_row(position, rules, events)
    elif move[0] == "transfer":
        after = carry_over(position, SUITS.index(cast(str, move[1])), cast(str, move[2]), events)
    else:
        after = place(position, cast(str, move[0]), cast(int, move[1]), cast(int, move[2]), rules, events)
    if CHECK:
        assert count_cards(after, pack) == count_cards(position, pack)
    return after


# ---------------------------------------------------------------------------------------------------------------- play


def row_of(position: Position, pack: Pack = FULL_PACK) -> dict[str, int]:
    """Return the columns of a game that ends here."""
    return {
        "won": int(is_won(position, pack)),
        "placed": count_placed(position, pack),
        "rows": len(position.rows),
        "refilled": position.refilled,
    }


def choose_thumb(position: Position, rules: Rules, policy_stream: PolicyStream | None, pack: Pack) -> Move | None:
    """Return the next move by the policy ``first`` or, with a stream, ``random``; ``None`` when the game is over."""
    if policy_stream is None:
        move = next(fitting(position, rules, True, pack), None)
        if move is not None:
            return move
        choices = []
    else:
        choices = placements(position, rules, pack)
    if not choices:
        step = stuck_step(position, rules)
        if step is not None:
            return step
        choices = grace_placements(position, rules, pack)
    if not choices:
        return None
    return choices[0 if policy_stream is None else policy_stream.bounded(len(choices))]


def choose_freely(position: Position, rules: Rules, policy: Policy, pack: Pack) -> Move | None:
    """Ask a player who may do anything; a step that is forced is made without asking."""
    moves = legal_moves(position, rules, pack)
    if not moves:
        return None
    if rules["deal"] == "when_stuck" and len(moves) == 1 and moves[0] in (("fill",), ("row",)):
        return moves[0]
    move = policy(position, moves)
    if move is not None and move not in moves:
        raise IllegalMove(f"{move} is not allowed")
    return move


def play(
    rules: Mapping[str, object],
    policy: str | Policy,
    stock: Sequence[str],
    policy_stream: PolicyStream | None = None,
    events: Events | None = None,
    pack: Pack = FULL_PACK,
) -> dict[str, int]:
    """Play one game and return its columns.

    Parameters
    ----------
    rules
        Options by their names in rules.md; those left out take their default.
    policy
        ``first``, ``random``, or a function that is given the position and its legal moves (transfers too) and returns
        one of them, or ``None`` to give up.
    stock
        The stock before row 1 is dealt, top first.
    policy_stream
        The random numbers of the policy ``random``.
    events
        A list that is told every move, as ``("move", move)``, and what it does: ``("row", row, cards)``,
        ``("fill", row, column, card)``, ``("place", card, direction, row, column, "available" or "grace")``,
        ``("transfer", card, direction)``. Row 1 comes without a move.
    pack
        The cards of one deck.

    Raises
    ------
    ValueError
        For wrong rules, stock or policy, or the policy ``random`` without a stream.
    """
    full = resolve(rules)
    if not callable(policy) and policy not in POLICIES:
        raise ValueError(f"unknown policy {policy!r}: one of {', '.join(POLICIES)}")
    if policy == "random" and policy_stream is None:
        raise ValueError("the policy random needs a stream")
    stream = policy_stream if policy == "random" else None
    position = begin(full, stock, pack)
    tell(events, "row", 0, position.rows[0])
    while True:
        if callable(policy):
            move = choose_freely(position, full, policy, pack)
        else:
            move = choose_thumb(position, full, stream, pack)
        if move is None:
            return row_of(position, pack)
        position = apply(position, move, full, pack, events)


def check_line(
    rules: Mapping[str, object], stock: Sequence[str], moves: Sequence[Sequence[str | int]], pack: Pack = FULL_PACK
) -> dict[str, int]:
    """Replay a whole line and return the columns of the game.

    Under ``deal = when_stuck`` filling and opening may be written or left out: a move that is legal is made; when it is
    not and the player is stuck, the step that is due happens by itself first. So a transfer that is meant to come after
    a step needs that step written. Steps still due after the last move happen too.

    Raises
    ------
    IllegalMove
        For the first move that is not legal.
    """
    full = resolve(rules)
    position = begin(full, stock, pack)
    for number, given in enumerate(moves):
        move = tuple(given)
        while move not in legal_moves(position, full, pack):
            step = automatic_step(position, full, pack)
            if step is None:
                raise IllegalMove(f"move {number} (counted from 0), {move}, is not allowed")
            position = apply(position, step, full, pack)
        position = apply(position, move, full, pack)
    while (step := automatic_step(position, full, pack)) is not None:
        position = apply(position, step, full, pack)
    return row_of(position, pack)


def automatic_step(position: Position, rules: Rules, pack: Pack) -> Move | None:
    """Return the fill or new row that happens by itself: only when stuck, never under ``any_time``."""
    if rules["deal"] == "any_time" or placements(position, rules, pack):
        return None
    return stuck_step(position, rules)


# -------------------------------------------------------------------------------------------------------------- solver


def search_plain(
    rules: Mapping[str, object], stock: Sequence[str], max_nodes: int, pack: Pack = FULL_PACK
) -> tuple[str, list[Move]]:
    """Search the whole game tree, depth first, each position once; with the verdict comes the line of a solved deal."""
    full = resolve(rules)
    start = begin(full, stock, pack)
    seen = {start._replace(refilled=0)}
    line: list[Move] = []
    trail = [(start, iter(legal_moves(start, full, pack)))]
    if is_won(start, pack):
        return "solved", line
    while trail:
        position, moves = trail[-1]
        move = next(moves, None)
        if move is None:
            trail.pop()
            if line:
                line.pop()
            continue
        after = apply(position, move, full, pack)
        key = after._replace(refilled=0)
        if key in seen:
            continue
        if is_won(after, pack):
            return "solved", [*line, move]
        if len(seen) >= max_nodes:
            return "unknown", []
        seen.add(key)
        line.append(move)
        trail.append((after, iter(legal_moves(after, full, pack))))
    return "unsolvable", []


def solve_plain(rules: Mapping[str, object], stock: Sequence[str], max_nodes: int, pack: Pack = FULL_PACK) -> str:
    """Return ``solved``, ``unsolvable``, or ``unknown`` when more than ``max_nodes`` positions would be needed."""
    return search_plain(rules, stock, max_nodes, pack)[0]
