"""What is known exactly about Bludiště: what the first row offers, and how many deals there are.

With two decks the stock holds each card twice but the aces and kings, which it holds once; a suit is built up from its
ace and down from its king. With one deck it holds all cards but the aces once, and suits are built up only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, factorial
from typing import TYPE_CHECKING, Any

from sim.game import Spec
from sim.games.bludiste.deals import stock_pack
from sim.games.bludiste.rules import BludisteRules, Refill
from sim.quantities import COUNT, MEAN, Dealt, Quantity, Section, Seen, hypergeometric, mean_of

if TYPE_CHECKING:
    import numpy as np

SUITS = 4
WAYS = Sequence[int]  # at index c: the ways to choose c copies of one card


def offers_law(columns: int, n_kinds: int, copies: int, n_stock: int) -> dict[int, Fraction]:
    """Return the law of the foundations that take a card of the first row, each of them one kind of card.

    Derivation. j given kinds all occur and the others do not: the coefficient of x^n in
    ((1 + x)^copies - 1)^j (1 + x)^(N - copies · kinds).
    """
    total = comb(n_stock, columns)
    others = n_stock - copies * n_kinds
    law = {}
    ways = [1] + [0] * columns
    for j in range(n_kinds + 1):
        count = sum(ways[n] * comb(others, columns - n) for n in range(columns + 1))
        if count:
            law[j] = Fraction(comb(n_kinds, j) * count, total)
        ways = [sum(comb(copies, c) * ways[n - c] for c in range(1, min(copies, n) + 1)) for n in range(columns + 1)]
    return law


def placed_law(columns: int, decks: int = 2, ranks: int = 13) -> dict[int, Fraction]:
    """Return the law of the most cards of the first row that can be placed before a gap is filled.

    Derivation. The suits are alike and apart, so the ways to choose the cards of a suit are summed by (cards in the
    row, cards placed), and four suits are multiplied. See `_suit_ways`.

    Parameters
    ----------
    ranks
        13, or fewer for a smaller deck, whose lowest card is the ace and whose highest the king.
    """
    of_suit = _suit_ways(columns, decks, ranks)
    ways: dict[tuple[int, int], int] = {(0, 0): 1}
    for _ in range(SUITS):
        later: dict[tuple[int, int], int] = {}
        for (n, placed), count in ways.items():
            for (more, put), here in of_suit.items():
                if n + more <= columns:
                    key = n + more, placed + put
                    later[key] = later.get(key, 0) + count * here
        ways = later
    n_stock = SUITS * (ranks - 1) if decks == 1 else SUITS * (2 * ranks - 2)
    total = comb(n_stock, columns)
    return {placed: Fraction(count, total) for (n, placed), count in sorted(ways.items()) if n == columns}


def _suit_ways(columns: int, decks: int, ranks: int) -> dict[tuple[int, int], int]:
    """Return (cards of one suit in the row, cards of it that can be placed) → ways to choose them.

    Derivation. One deck: u cards 2, 3, … in a row lie there and the next does not; the others are free. Two decks: let
    the run up from the two be u cards long, that down from the queen v. If not all ranks from two to queen lie there,
    the runs do not meet, and u + v cards are placed: the ranks of the runs occur once or twice (2 x + x^2), the one
    that ends each does not (it may be the same), all other cards are free. If all ranks lie there, see `_most_placed`.
    """
    found: dict[tuple[int, int], int] = {}

    def add(ways: WAYS, placed: int) -> None:
        for n, count in enumerate(ways):
            if count and n <= columns:
                found[n, placed] = found.get((n, placed), 0) + count

    if decks == 1:
        n_ranks = ranks - 1
        for run in range(n_ranks + 1):
            free = max(0, n_ranks - run - 1)
            add([0] * run + [comb(free, n) for n in range(free + 1)], run)
        return found
    n_ranks = ranks - 2  # from the two to the queen
    for up in range(n_ranks):
        for down in range(n_ranks - up):
            runs = up + down
            free = 2 * (n_ranks - runs - (1 if runs == n_ranks - 1 else 2)) + 2  # and the ace and the king
            ways = [0] * (2 * runs + free + 1)
            for twice in range(runs + 1):
                for n in range(free + 1):
                    ways[runs + twice + n] += comb(runs, twice) * 2 ** (runs - twice) * comb(free, n)
            add(ways, runs)
    if columns >= n_ranks:
        for doubled in product((False, True), repeat=n_ranks):
            weight = 2 ** (n_ranks - sum(doubled))
            for ace, king in product((0, 1), repeat=2):
                n = n_ranks + sum(doubled) + ace + king
                if n <= columns:
                    add([0] * n + [weight], _most_placed(doubled, ace, king))
    return found


def _most_placed(twice: Sequence[bool], ace: int, king: int) -> int:
    """Return how many cards of a suit can be placed if all ranks from two to queen lie there, some of them twice.

    The cards up to any rank may go up; then those of the ranks above go down, and on as long as there is a second copy.
    The king can follow on the way up if the queen has gone there, the ace on the way down after the two.
    """
    n_ranks = len(twice)
    best = 0
    for up in range(n_ranks + 1):
        down = n_ranks - up
        while down < n_ranks and twice[n_ranks - 1 - down]:
            down += 1
        best = max(best, up + (king if up == n_ranks else 0) + down + (ace if down == n_ranks else 0))
    return best


def distinct_deals(decks: int = 2, ranks: int = 13) -> int:
    """Return the number of orders of the stock that differ.

    Derivation. Two equal cards may change places: (8 ranks - 8)! orders over 2 for each of the 4 (ranks - 2) cards that
    are there twice; with one deck all cards differ.
    """
    if decks == 1:
        return factorial(SUITS * (ranks - 1))
    return factorial(SUITS * (2 * ranks - 2)) // (1 << SUITS * (ranks - 2))


def distinct_rows(columns: int, decks: int = 2, ranks: int = 13) -> int:
    """Return the number of first rows that differ in their cards, not in their order.

    Derivation. The coefficient of x^columns in (1 + x + x^2)^(4 (ranks - 2)) (1 + x)^8; with one deck a binomial.
    """
    if decks == 1:
        return comb(SUITS * (ranks - 1), columns)
    ways = [comb(2 * SUITS, n) for n in range(columns + 1)]
    for _ in range(SUITS * (ranks - 2)):
        ways = [sum(ways[max(0, n - 2) : n + 1]) for n in range(columns + 1)]
    return ways[columns]


# -- what is printed --------------------------------------------------------------------------------------------------


def sections(spec: Spec) -> Iterator[Section]:
    """Yield what is known exactly."""
    rules: BludisteRules = spec.rules
    pack = tuple(stock_pack(rules))
    columns, decks = rules.columns, rules.decks
    n_kinds, copies = (8, 2) if decks == 2 else (4, 1)

    def dealt(what: str, value: int | None = None) -> Dealt:
        return Dealt(_statistic(what, columns, decks), value, pack)

    # The twos fit the aces and, with two decks, the queens the kings.
    law = hypergeometric(columns, n_kinds * copies, len(pack))
    # If the first row is the only one there may be, a game in which no card of it fits is over without one placed.
    only_row = Seen("placed", 0, rules=(("max_rows", 1),), policies=(("policy", "first"),))
    found = [Quantity("no card can be placed", law.get(0, Fraction(0)), shown=only_row)]
    found += [Quantity(f"{k} card{'s' * (k > 1)} fit{'s' * (k == 1)}", p, shown=dealt("fitting", k))
              for k, p in law.items() if k]  # fmt: skip
    found.append(
        Quantity("cards that fit, mean", Fraction(columns * n_kinds * copies, len(pack)), MEAN, dealt("fitting"))
    )
    yield Section("The first row as it is dealt: cards that fit a foundation", tuple(found))
    offers = offers_law(columns, n_kinds, copies, len(pack))
    yield Section(
        "Foundations that take a card of the first row (equal cards count once)",
        tuple(Quantity(str(j), p, shown=dealt("offers", j)) for j, p in offers.items()),
    )
    yield _placed(rules, dealt)
    deals = distinct_deals(decks)
    yield Section(
        "How many deals there are",
        (
            Quantity("orders of the stock that differ", Fraction(deals), COUNT),
            # Every card is in the stock, so no renaming of the suits leaves an order as it is.
            Quantity("… if suits may be renamed", Fraction(deals, factorial(SUITS)), COUNT),
            Quantity("first rows that differ in their cards", Fraction(distinct_rows(columns, decks)), COUNT),
        ),
    )


def _placed(rules: BludisteRules, dealt: Any) -> Section:
    """Return the law of the cards placed from the first row before a gap is filled."""
    title = "Cards of the first row that can be placed, one after another, before a gap is filled"
    if rules.refill is Refill.AT_ONCE:
        return Section(
            title, (), ("refill = at_once: every gap is filled at once, so this is a matter of the whole stock",)
        )
    if rules.transfer and rules.decks == 2 and rules.columns > 11:
        return Section(title, (), ("transfer with more than 11 columns: what moving cards between foundations adds",))
    law = placed_law(rules.columns, rules.decks)
    found = [Quantity(str(n), p, shown=dealt("placed", n)) for n, p in law.items()]
    return Section(title, (*found, Quantity("mean", mean_of(law), MEAN, dealt("placed"))))


@cache
def _statistic(what: str, columns: int, decks: int) -> Any:
    """Return the function from stocks to a number a game; what it counts, see `sections`."""

    def of_deals(deals: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        import numpy as np

        row = deals[:, :columns]
        counts = np.stack([(row == card).sum(axis=1) for card in range(52)], axis=1).reshape(len(row), 13, SUITS)
        fits = [counts[:, 1], counts[:, 11]] if decks == 2 else [counts[:, 1]]  # the twos, the queens
        if what == "fitting":
            return np.asarray(sum(fit.sum(axis=1) for fit in fits))
        if what == "offers":
            return np.asarray(sum((fit > 0).sum(axis=1) for fit in fits))
        return np.asarray(sum(_placed_of_suit(counts[:, :, suit], decks) for suit in range(SUITS)))

    return of_deals


def _placed_of_suit(counts: np.ndarray[Any, Any], decks: int) -> np.ndarray[Any, Any]:
    """Return the most cards of a suit that can be placed, from counts of shape (n_games, 13), by playing it out."""
    import numpy as np

    lies = counts > 0
    if decks == 1:
        return np.asarray(np.cumprod(lies[:, 1:], axis=1).sum(axis=1))
    up = np.cumprod(lies[:, 1:12], axis=1).sum(axis=1)
    down = np.cumprod(lies[:, 11:0:-1], axis=1).sum(axis=1)
    placed = up + down
    for row in np.flatnonzero(up == 11):
        placed[row] = _played_out(counts[row])
    return np.asarray(placed)


def _played_out(counts: Sequence[int]) -> int:
    """Return the most cards of one suit that can be placed: every order of going up and down is tried."""

    @cache
    def most(up: int, down: int) -> int:
        """Return how many can follow when the foundations are at these ranks (0 to 12)."""

        def left(rank: int) -> int:
            return int(counts[rank]) - (1 <= rank <= up) - (12 > rank >= down)

        best = 0
        if up < 12 and left(up + 1) > 0:
            best = 1 + most(up + 1, down)
        if down > 0 and left(down - 1) > 0:
            best = max(best, 1 + most(up, down - 1))
        return best

    return most(0, 12)


__all__ = ["distinct_deals", "distinct_rows", "offers_law", "placed_law", "sections"]
