"""Bludiště's options, named variants, policies and diagnosis (rule book, section 3)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from sim.diagnosis import idle_options
from sim.game import Findings, Slot
from sim.rules import Choice, Rules, boolean, integer, one_of

MAX_COLUMNS = 16


class Refill(Choice):
    """When gaps are filled."""

    WHEN_STUCK = 0
    AT_ONCE = 1


class Available(Choice):
    """Which laid-out cards may be placed."""

    ABOVE = 0
    ABOVE_OR_BELOW = 1
    ALL = 2


class Fill(Choice):
    """Gaps of which rows are filled."""

    NEWEST = 0
    FIRST = 1
    ALL = 2


class DealWhen(Choice):
    """When the player may fill gaps or open a row."""

    WHEN_STUCK = 0
    ANY_TIME = 1


_PARALLELS = {"available": Available.ABOVE_OR_BELOW, "fill": Fill.ALL, "max_rows": 7}


@dataclasses.dataclass(frozen=True)
class BludisteRules(Rules):
    """A rule set of Bludiště."""

    GAME: ClassVar[str] = "bludiste"
    VARIANTS: ClassVar = {
        "letter": ("the document's rules (the defaults)", {}),
        "table": (
            "a card is also free from below: with this one change best wins one deal in three, not one in 200",
            {"available": Available.ABOVE_OR_BELOW},
        ),
        "cadogan": (
            "a card is also free from below, and once a blocked card may be placed",
            {"available": Available.ABOVE_OR_BELOW, "grace": 1},
        ),
        "labyrinth": (
            "one deck on the four aces, rows of eight, and only a first row that lies alone is filled",
            {"decks": 1, "columns": 8, "fill": Fill.FIRST, "available": Available.ABOVE_OR_BELOW},
        ),
        "parallels": ("every gap is filled, a card is also free from below, and seven rows at most", _PARALLELS),
        "blockade": ("parallels, and a gap is filled at once", _PARALLELS | {"refill": Refill.AT_ONCE}),
    }

    columns: int = integer(10, 1, MAX_COLUMNS, meaning="cards in a row")
    refill: Refill = one_of(
        Refill.WHEN_STUCK, meaning="gaps are filled only when no card can be placed, or after every placement"
    )
    available: Available = one_of(
        Available.ABOVE,
        meaning="cards that may be placed: in the newest row, in row 1, or with the place above empty; also with the "
        "place below empty; or every one",
    )
    transfer: bool = boolean(
        False, meaning="the top card of a foundation may move to the other one of its suit (best and solver do)"
    )
    max_rows: int = integer(0, 0, meaning="most rows that may be opened, 0 = no limit")
    decks: int = integer(2, 1, 2, meaning="1: one deck, the four aces are the only foundations, built up")
    fill: Fill = one_of(
        Fill.NEWEST,
        meaning="rows whose gaps are filled: the newest; the first, while it is the only one; or every row",
    )
    deal: DealWhen = one_of(
        DealWhen.WHEN_STUCK,
        meaning="gaps are filled and rows opened only when no card can be placed, or whenever wanted (best and solver "
        "do)",
    )
    grace: int = integer(0, 0, 3, meaning="how often a card that is not available may be placed when all else fails")

    @property
    def players(self) -> int:
        """Return the number of seats: it is a patience."""
        return 1

    @property
    def n_stock(self) -> int:
        """Return the number of cards that are not foundations from the start."""
        return 96 if self.decks == 2 else 48

    @property
    def most_rows(self) -> int:
        """Return the most rows that can be opened: the stock is used up then, or `max_rows` reached."""
        in_stock = -(-self.n_stock // self.columns)
        return min(self.max_rows or in_stock, in_stock)

    @property
    def always_won(self) -> bool:
        """Tell whether no deal can be lost: in the end all cards lie there, and every one is available."""
        return self.available is Available.ALL and self.most_rows * self.columns >= self.n_stock

    @property
    def decides_itself(self) -> bool:
        """Tell whether nothing is left to the player: every card fits one foundation, and must go there if it can."""
        return (
            self.decks == 1
            and self.refill is Refill.WHEN_STUCK
            and self.deal is DealWhen.WHEN_STUCK
            and (self.grace == 0 or "grace" in dict(self.idle()))
        )

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield (option, why) for each option that cannot matter under the others."""
        if self.max_rows and self.max_rows * self.columns >= self.n_stock:
            yield "max_rows", f"{self.max_rows} rows hold the whole stock"
        if self.most_rows <= 2:
            yield "available", "every card of one or two rows is available"
        if self.most_rows <= 2 or self.available is Available.ALL:
            yield "grace", "every card is available"
        if self.most_rows == 1:
            yield "fill", "there is only one row"
        if self.decks == 1:
            yield "transfer", "with one deck a suit has one foundation"


SLOTS = (
    Slot(
        "policy",
        "which card is placed where",
        {
            "first": "the first available card that fits, oldest row first, left to right; up before down",
            "random": "any placement, with equal chances",
            "best": "looks ahead: every order of placements up to the next deal, then play-outs on shuffled stocks",
            "solver": "knows the stock and decides, with proof, if the deal can be won; solver:N in at most N nodes",
        },
        "first",
        efforts={"best": 1, "solver": 10_000_000},
    ),
)


def needs_random(rules: BludisteRules, policies: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a game needs random numbers after an explicit deal."""
    return SLOTS[0].parse(policies["policy"][0])[0] not in ("first", "solver")


def _one_in(share: float) -> str:
    return f"1 in {round(1 / share):,}" if share else "none"


def diagnose(rules: BludisteRules, policies: Mapping[str, Sequence[str]], found: Findings) -> list[str]:
    """Return sentences that say where the rule set is degenerate."""
    said = []
    won = found.means.get("won", 0.0)
    n_won = round(won * found.games)
    if rules.always_won:
        said.append("Every game is won: in the end all cards lie on the table, and every one of them is available.")
    elif n_won + 2 * n_won**0.5 + 3 < 0.01 * found.games:
        said.append(f"Hardly any game is won: {100 * won:.2g} % ({_one_in(won)}).")
    elif found.lows.get("won", won) > 0.99 and found.games > n_won > 0:
        said.append(f"Hardly any game is lost: {_one_in(1 - won)}.")
    if rules.decides_itself:
        said.append("There is nothing to decide: each card fits one foundation only, so all policies play alike.")
    reasons = dict(rules.idle())
    if policies["policy"][0] in ("first", "random"):
        never = f"the policy {policies['policy'][0]} never uses that freedom"
        reasons = {"transfer": never, "deal": never} | reasons
    return [*said, *idle_options(rules, reasons)]
