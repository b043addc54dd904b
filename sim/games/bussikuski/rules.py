"""Bussikuski's options, named variants, policies and diagnosis (rule book, section 2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from sim.cards import DECK_SIZE, RANKS
from sim.diagnosis import favoured_seats, idle_options, percent
from sim.game import Findings, Slot
from sim.rules import Choice, IntegerList, RankSet, Rules, boolean, integer, one_of, option

MAX_PLAYERS = 8


class GuessTie(Choice):
    """Question 2, equal rank."""

    WRONG = 0
    RIGHT = 1
    FREE = 2


class Boundary(Choice):
    """Question 3, equal to an end of the interval."""

    INSIDE = 0
    OUTSIDE = 1
    WRONG = 2
    RIGHT = 3


class FourthQuestion(Choice):
    """What is asked last."""

    SUIT = 0
    NEW_OR_HELD = 1


class GuessStake(Choice):
    """What a wrong answer costs."""

    FLAT = 0
    BY_ROUND = 1


class Matches(Choice):
    """How many equal cards a turned pyramid card takes from a hand."""

    ALL = 0
    ONE = 1


class DriverTie(Choice):
    """First tie-break among those with most cards left."""

    LOWEST_CARD = 0
    HIGHEST_CARD = 1
    MOST_POINTS = 2
    DRAW = 3


class Bus(Choice):
    """What the driver rides."""

    DIAMOND = 0
    STRAIGHT = 1
    QUESTIONS = 2
    NONE = 3


class BusTie(Choice):
    """Equal rank on the straight bus."""

    WRONG = 0
    RIGHT = 1


class BusStake(Choice):
    """What a failure on the bus costs."""

    BY_ROW = 0
    FLAT = 1


class StockOut(Choice):
    """What happens when the bus needs cards that the stock lacks."""

    STOP = 0
    RESHUFFLE = 1


class BusDeck(Choice):
    """Whether the bus keeps its deck from attempt to attempt."""

    RUNNING = 0
    FRESH = 1


@dataclasses.dataclass(frozen=True)
class BussikuskiRules(Rules):
    """A rule set of Bussikuski."""

    GAME: ClassVar[str] = "bussikuski"
    VARIANTS: ClassVar = {
        "letter": ("the document's rules (the defaults)", {}),
        "table": ("the same: the letter makes a game worth playing", {}),
        "five_rows": ("a pyramid of five rows, 15 cards", {"pyramid_rows": 5}),
        "straight": ("the straight bus: higher or lower, five right in a row", {"bus": Bus.STRAIGHT}),
        "questions": ("the bus asks the four questions again", {"bus": Bus.QUESTIONS}),
        "quick": ("three attempts on the bus at most", {"max_attempts": 3}),
    }

    players: int = integer(4, 2, MAX_PLAYERS, meaning="number of seats; one 52-card deck serves eight at most")
    guess_tie: GuessTie = one_of(
        GuessTie.WRONG,
        meaning="question 2, equal rank: wrong or right whatever was said; or free: neither penalty nor gift",
    )
    boundary: Boundary = one_of(
        Boundary.INSIDE,
        meaning="question 3, equal to an end of the interval: inside, outside, or wrong or right for both answers",
    )
    fourth_question: FourthQuestion = one_of(
        FourthQuestion.SUIT,
        meaning="name the suit; or say whether the suit is new or already held among the first three cards",
    )
    guess_stake: GuessStake = one_of(GuessStake.FLAT, meaning="a wrong answer costs 1, or the question's number 1–4")
    right_gives: bool = boolean(False, meaning="a right answer in phase 1 gives the stake away at once")
    pyramid_rows: int = integer(4, 3, 6, meaning="rows of n, n-1, … 1 cards")
    matches: Matches = one_of(
        Matches.ALL, meaning="all equal hand cards are played on a turned pyramid card, or one per player"
    )
    driver_tie: DriverTie = one_of(
        DriverTie.LOWEST_CARD,
        meaning="first tie-break among those with most cards left; then always the draw of a card",
    )
    bus: Bus = one_of(
        Bus.DIAMOND, meaning="what the driver rides: the diamond, the straight bus, the four questions, or nothing"
    )
    diamond_rows: tuple[int, ...] = option(
        (1, 2, 3, 4, 3, 2, 1), IntegerList("diamond: places in each row", False, 1, 8, DECK_SIZE)
    )
    blockers: str = option("JQKA", RankSet("diamond: ranks that stop an attempt", False))
    straight_length: int = integer(5, 1, 20, meaning="straight bus: right guesses in a row that are needed", gap=True)
    bus_tie: BusTie = one_of(BusTie.WRONG, meaning="straight bus: equal rank", gap=True)
    bus_stake: BusStake = one_of(
        BusStake.BY_ROW, meaning="a failure costs the places of its row (straight, questions: the guess's number), or 1"
    )
    stock_out: StockOut = one_of(
        StockOut.STOP,
        meaning="when the stock lacks cards for the bus: the ride ends, or all cards not in the bus are shuffled",
    )
    bus_deck: BusDeck = one_of(
        BusDeck.RUNNING,
        meaning="the bus keeps its deck; or all 52 cards are shuffled and laid anew before each attempt",
    )
    max_attempts: int = integer(0, 0, meaning="most attempts on the bus, 0 = no limit")
    max_turns: int = integer(
        10_000, 1, meaning="most attempts where nothing else bounds the ride (then bus_end = turn_cap)"
    )

    def check(self) -> Iterator[str]:
        """Yield what does not go together."""
        in_pyramid = self.pyramid_rows * (self.pyramid_rows + 1) // 2
        needed = 4 * self.players + in_pyramid
        if needed > DECK_SIZE:
            yield (
                f"players = {self.players} and pyramid_rows = {self.pyramid_rows} need {needed} cards "
                f"(4 × {self.players} in hands, {in_pyramid} in the pyramid); the deck has {DECK_SIZE}"
            )

    @property
    def capped(self) -> bool:
        """Tell whether `max_turns` is read: nothing else bounds the ride."""
        endless = self.stock_out is StockOut.RESHUFFLE or self.bus_deck is BusDeck.FRESH
        return endless and self.max_attempts == 0 and self.bus is not Bus.NONE

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield (option, why) for each option that cannot matter under the others."""
        if self.bus is Bus.NONE:
            for name in ("bus_stake", "stock_out", "bus_deck", "max_attempts"):
                yield name, "there is no bus"
        if self.bus is not Bus.DIAMOND:
            for name in ("diamond_rows", "blockers"):
                yield name, "the bus is not the diamond"
        if self.bus is not Bus.STRAIGHT:
            for name in ("straight_length", "bus_tie"):
                yield name, "the bus is not the straight one"
        if self.bus_deck is BusDeck.FRESH and self.bus is not Bus.NONE:
            yield "stock_out", "a fresh deck never runs out"
        if not self.capped:
            yield "max_turns", "something else bounds the ride"
        if self.bus is Bus.DIAMOND and not self.blockers:
            for name in ("bus_stake", "stock_out", "bus_deck", "max_attempts", "max_turns"):
                yield name, "without blockers the first attempt succeeds"
            return
        longest = {Bus.DIAMOND: max(self.diamond_rows), Bus.STRAIGHT: self.straight_length}.get(self.bus, 0)
        if longest == 1:
            yield "bus_stake", "every failure costs 1 anyway"
        if self.max_attempts == 1 and self.bus is not Bus.NONE:
            if self.bus_deck is BusDeck.RUNNING:
                yield "stock_out", "one attempt needs no more than a deck"
            yield "bus_deck", "there is only one attempt"

    @property
    def can_succeed(self) -> bool:
        """Tell whether a ride on the diamond can get through: a deck must hold a free card for each row."""
        return len(self.diamond_rows) <= 4 * (len(RANKS) - len(self.blockers))


SLOTS = (
    Slot(
        "guess",
        "how a seat answers",
        {
            "own": "the likelier answer, knowing only the seat's own face-up cards",
            "counting": "the likelier answer, knowing every card that has been face up",
            "random": "any answer, with equal chances",
        },
        "own",
    ),
    Slot(
        "give",
        "to whom a seat gives points",
        {
            "leader": "one at a time to the opponent with the fewest points (ties: the next seat first)",
            "neighbour": "all to the next seat",
            "spread": "one at a time round the table, the next seat first",
            "random": "each to any opponent, with equal chances",
        },
        "leader",
    ),
)


def _attempts(n: int) -> str:
    return f"{n:,} attempt{'' if n == 1 else 's'}"


def needs_random(rules: BussikuskiRules, policies: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a game needs random numbers after an explicit deal."""
    return any("random" in policies[slot.name] for slot in SLOTS)


def diagnose(rules: BussikuskiRules, policies: Mapping[str, Sequence[str]], found: Findings) -> list[str]:
    """Return sentences that say where the rule set is degenerate."""
    said = []
    rides = found.games - found.ends.get("bus_end", {}).get("no_bus", 0)
    capped = found.ends.get("bus_end", {}).get("turn_cap", 0)
    stopped = found.ends.get("bus_end", {}).get("attempt_cap", 0)
    if rides and stopped / rides > 0.05:
        said.append(f"{percent(stopped / rides)} of the rides end at the limit of {_attempts(rules.max_attempts)}.")
    if rides and capped / rides > 0.05 and (rules.bus is not Bus.DIAMOND or rules.can_succeed):
        said.append(
            f"{percent(capped / rides)} of the rides are cut off after {_attempts(rules.max_turns)} (max_turns): "
            "their points are counted as they stand, and nobody knows how the rides would have ended."
        )
    if rules.bus is Bus.DIAMOND:
        if not rules.blockers:
            said.append("Without blockers every ride succeeds at the first attempt and costs nothing.")
        if len(rules.blockers) == len(RANKS):
            said.append(
                "All thirteen ranks are blockers: every attempt ends at its first card, and no ride can succeed."
            )
        elif not rules.can_succeed:
            free = 4 * (len(RANKS) - len(rules.blockers))
            said.append(
                f"No ride can succeed: it takes {len(rules.diamond_rows)} cards that do not block, a deck has {free}."
            )
    said += favoured_seats(found.interval(f"win_share_{seat}") for seat in range(rules.players))
    return [*said, *idle_options(rules, dict(rules.idle()))]
