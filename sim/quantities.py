"""Quantities that are known exactly: fractions, where results show them, and what exact computation does not reach.

A game's module ``exact`` offers ``sections(spec)``; `exact` collects them. Each quantity says how games show it, so
that the same list is printed beside a simulation and is what the kernels are tested against.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from sim.game import Game, Player, Spec

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from sim.api import Policies
    from sim.rules import Rules

CHANCE, MEAN, COUNT = "chance", "mean", "count"

CHUNK = 2**13
LEAST_EVENTS = 100


@dataclasses.dataclass(frozen=True)
class Seen:
    """How the columns of results show a quantity.

    Attributes
    ----------
    column
        The column looked at.
    value
        The value whose share is taken; None for the column's mean.
    above
        True: the share of the values above `value`.
    given
        (column, values): only games count in which the column has one of these values.
    per
        A mean is divided by this.
    rules, policies
        What differs from the rule set and the policies asked about: the quantity shows in such games.
    """

    column: str
    value: int | str | None = None
    above: bool = False
    given: tuple[str, tuple[int, ...]] | None = None
    per: int = 1
    rules: tuple[tuple[str, Any], ...] = ()
    policies: tuple[tuple[str, str], ...] = ()

    def spec(self, spec: Spec) -> Spec:
        """Return the specification of games that show the quantity."""
        if not self.rules and not self.policies:
            return spec
        rules = dataclasses.replace(spec.rules, **dict(self.rules))
        return Spec.build(spec.game, rules, {**spec.policies, **dict(self.policies)}, spec.seed)

    @property
    def condition(self) -> str | None:
        """Return what to `ask` results for; None for a mean."""
        if self.value is None:
            return None
        value = f"'{self.value}'" if isinstance(self.value, str) else self.value
        return f"{self.column} {'>' if self.above else '=='} {value}"

    @property
    def given_condition(self) -> str | None:
        """Return the condition under which games count."""
        if self.given is None:
            return None
        column, values = self.given
        return f"{column} == {values[0]}" if len(values) == 1 else f"{column} in ({', '.join(map(str, values))})"


@dataclasses.dataclass(frozen=True)
class Dealt:
    """How a quantity that no column holds shows in the deal.

    Attributes
    ----------
    statistic
        From deals, uint8 of shape (n_games, n_cards) in the numbers of `sim.cards`, top first, to a number a game.
    value
        The value whose share is taken; None for the mean.
    pack
        The cards before they are shuffled, in the order in which the game's kernel takes them.
    """

    statistic: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]
    value: int | None
    pack: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Quantity:
    """One quantity that is known exactly.

    Attributes
    ----------
    name
        What it is, in words; unique within its section.
    exact
        Its value.
    kind
        `CHANCE` (0-1), `MEAN` or `COUNT` (of deals; nothing is simulated).
    shown
        How games show it; None if they do not.
    """

    name: str
    exact: Fraction
    kind: str = CHANCE
    shown: Seen | Dealt | None = None


@dataclasses.dataclass(frozen=True)
class Section:
    """Quantities that belong together.

    Attributes
    ----------
    title
        What they are about.
    missing
        One line for each thing that is not computed exactly, and why.
    """

    title: str
    quantities: tuple[Quantity, ...]
    missing: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Exact:
    """What is known exactly about a game under a rule set.

    Attributes
    ----------
    seconds
        Time the computation took.
    """

    spec: Spec
    sections: tuple[Section, ...]
    seconds: float

    def __iter__(self) -> Iterator[tuple[Section, Quantity]]:
        """Go through the quantities, each with its section."""
        for section in self.sections:
            for quantity in section.quantities:
                yield section, quantity

    def __getitem__(self, name: str) -> Fraction:
        """Return the value of the quantity called ``section: name``, or ``name`` if only one section has it.

        Raises
        ------
        KeyError
            If there is none, or several.
        """
        found = [q.exact for section, q in self if name in (q.name, f"{section.title}: {q.name}")]
        if len(found) != 1:
            raise KeyError(f"{len(found)} quantities are called '{name}'")
        return found[0]

    def __repr__(self) -> str:
        """Say how much is known of what."""
        n = sum(1 for _ in self)
        return f"<Exact {self.spec.game.name}: {n} quantities in {len(self.sections)} sections>"

    def frame(self) -> pd.DataFrame:
        """Return a row a quantity: section, name, kind, numerator and denominator (Python integers), value (float)."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "section": section.title,
                    "name": quantity.name,
                    "kind": quantity.kind,
                    "numerator": quantity.exact.numerator,
                    "denominator": quantity.exact.denominator,
                    "value": float(quantity.exact),
                }
                for section, quantity in self
            ],
            columns=["section", "name", "kind", "numerator", "denominator", "value"],
        )


def exact(
    game: str | Game,
    *,
    rules: Rules | Mapping[str, object] | None = None,
    variant: str | None = None,
    policies: Policies | None = None,
    seed: int = 1,
) -> Exact:
    """Return what is known exactly about a game; the parameters are those of `sim.run`.

    Raises
    ------
    RuleError
        For an unknown game, option, variant or policy, or a wrong value.

    Examples
    --------
    >>> from sim import exact
    >>> exact("bussikuski", rules={"boundary": "wrong"})["all four right, own"]
    Fraction(788, 12495)
    """
    from sim.api import prepare

    return exact_of(prepare(game, 1, seed=seed, rules=rules, variant=variant, policies=policies).spec)


def exact_of(spec: Spec) -> Exact:
    """Return what is known exactly about a specification."""
    began = time.perf_counter()
    module = importlib.import_module(f"{spec.game.package}.exact")
    sections = tuple(module.sections(spec))
    return Exact(spec, sections, time.perf_counter() - began)


# -- laws -------------------------------------------------------------------------------------------------------------


def hypergeometric(drawn: int, marked: int, n_cards: int) -> dict[int, Fraction]:
    """Return the law of the marked cards among `drawn` cards of a shuffled pack.

    Derivation. Of the equally likely sets of n of the N cards, C(M, k) C(N-M, n-k) hold k of the M marked ones.
    """
    total = comb(n_cards, drawn)
    return {
        k: Fraction(comb(marked, k) * comb(n_cards - marked, drawn - k), total)
        for k in range(max(0, drawn - n_cards + marked), min(marked, drawn) + 1)
    }


def mean_of(law: Mapping[int, Fraction]) -> Fraction:
    """Return the mean of a law."""
    return sum((value * p for value, p in law.items()), Fraction(0))


# -- simulated beside it ----------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Counts:
    """What games show of one quantity: exact sums.

    Attributes
    ----------
    n
        Games that count.
    total, squares
        Sum and sum of squares of the quantity over them (for a share: how often it held, twice).
    """

    n: int = 0
    total: int = 0
    squares: int = 0

    def add(self, values: np.ndarray[Any, Any]) -> None:
        """Add the quantity's value in some games."""
        import numpy as np

        if values.dtype == bool:
            held = int(np.count_nonzero(values))
            self.total += held
            self.squares += held
        else:
            wide = values.astype(np.int64)
            self.total += int(wide.sum())
            self.squares += int((wide * wide).sum())
        self.n += len(values)

    @property
    def mean(self) -> float:
        """Return the mean over the games that count."""
        return self.total / self.n

    @property
    def variance(self) -> float:
        """Return the variance over the games that count, divided by n - 1."""
        if self.n < 2:
            return 0.0
        return (self.squares * self.n - self.total**2) / (self.n * (self.n - 1))


def deviation(quantity: Quantity, counts: Counts) -> float:
    """Return how many standard errors what games show lies from the exact value; the error follows from the latter.

    Where fewer than `LEAST_EVENTS` events (or their opposites) are expected, the count is not normal: then the chance
    of one so far off or farther, by Poisson's law, is written as the number of standard errors that are as rare.
    """
    per = quantity.shown.per if isinstance(quantity.shown, Seen) else 1
    value, n = float(quantity.exact), counts.n
    if quantity.kind != CHANCE or per != 1:
        gap, error = abs(counts.mean / per - value), (counts.variance / n) ** 0.5 / per
        return gap / error if error else gap * 1e9  # what never varies has to be right to the last digit
    few, expected = (counts.total, n * value) if value <= 0.5 else (n - counts.total, n * (1 - value))
    if expected >= LEAST_EVENTS:
        return abs(few - expected) / math.sqrt(expected * (1 - expected / n))
    if not expected:
        return few * 1e9
    terms = [math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) for k in range(few + 1)]
    at_most = math.fsum(terms)
    tail = min(at_most, 1 - at_most + terms[-1])
    if few > expected and tail < 1e-9:  # the difference is all rounding
        tail = terms[-1]
    return max(0.0, -NormalDist().inv_cdf(min(0.5, max(tail, 1e-300))))


Name = tuple[str, str]
"""A section's title and a quantity's name."""


def simulate(known: Exact, games: int, first: int = 0) -> dict[Name, Counts]:
    """Play `games` games for each specification that shows a quantity, and count what they show.

    Parameters
    ----------
    first
        The index of the first game.

    Returns
    -------
    dict
        (section, name) → counts, for the quantities that games show.
    """
    counts: dict[Name, Counts] = {}
    by_spec: dict[str, tuple[Spec, list[tuple[Name, Seen]]]] = {}
    for section, quantity in known:
        if isinstance(quantity.shown, Seen):
            spec = quantity.shown.spec(known.spec)
            by_spec.setdefault(spec.digest(), (spec, []))[1].append(((section.title, quantity.name), quantity.shown))
    for spec, wanted in by_spec.values():
        player = Player(spec)
        for at in range(first, first + games, CHUNK):
            rows = player.play(at, min(CHUNK, first + games - at))
            count_rows(counts, wanted, {c.name: (c.categories, row) for c, row in zip(spec.columns, rows, strict=True)})
    return counts | simulate_deals(known, games, first)


def simulate_deals(known: Exact, games: int, first: int = 0) -> dict[Name, Counts]:
    """Count what only the deals of `games` games show; see `simulate`."""
    counts: dict[Name, Counts] = {}
    by_pack: dict[tuple[int, ...], list[tuple[Name, Dealt]]] = {}
    for section, quantity in known:
        if isinstance(quantity.shown, Dealt):
            by_pack.setdefault(quantity.shown.pack, []).append(((section.title, quantity.name), quantity.shown))
    for pack, dealt in by_pack.items():
        from sim.dealing import shuffled_packs

        for at in range(first, first + games, CHUNK):
            deals = shuffled_packs(pack, known.spec.seed, at, min(CHUNK, first + games - at))
            count_deals(counts, dealt, deals)
    return counts


Rows = Mapping[str, tuple[Sequence[str], "np.ndarray[Any, Any]"]]
"""Column → its categories (empty for numbers) and its values."""


def count_rows(counts: dict[Name, Counts], wanted: Iterable[tuple[Name, Seen]], rows: Rows) -> None:
    """Count what some rows show; categories are given by their indices."""
    import numpy as np

    masks: dict[tuple[str, tuple[int, ...]] | None, np.ndarray[Any, Any] | None] = {None: None}
    cut: dict[tuple[Any, str], np.ndarray[Any, Any]] = {}
    for name, seen in wanted:
        if seen.given not in masks:
            assert seen.given is not None
            masks[seen.given] = np.isin(rows[seen.given[0]][1], seen.given[1])
        categories, column = rows[seen.column]
        place = seen.given, seen.column
        if place not in cut:
            mask = masks[seen.given]
            cut[place] = column if mask is None else column[mask]
        values = cut[place]
        if seen.value is not None:
            value = categories.index(seen.value) if isinstance(seen.value, str) else seen.value
            values = values > value if seen.above else values == value
        counts.setdefault(name, Counts()).add(values)


def count_deals(counts: dict[Name, Counts], wanted: Iterable[tuple[Name, Dealt]], deals: np.ndarray[Any, Any]) -> None:
    """Count what some deals show."""
    found: dict[Any, np.ndarray[Any, Any]] = {}
    for name, dealt in wanted:
        if dealt.statistic not in found:
            found[dealt.statistic] = dealt.statistic(deals)
        values = found[dealt.statistic]
        counts.setdefault(name, Counts()).add(values if dealt.value is None else values == dealt.value)


__all__ = [
    "CHANCE",
    "COUNT",
    "MEAN",
    "Counts",
    "Dealt",
    "Exact",
    "Name",
    "Quantity",
    "Section",
    "Seen",
    "count_deals",
    "count_rows",
    "deviation",
    "exact",
    "exact_of",
    "hypergeometric",
    "mean_of",
    "simulate",
    "simulate_deals",
]
