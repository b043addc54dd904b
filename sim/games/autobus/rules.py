"""Autobus's options, named variants, policies and diagnosis (rule book, section 1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from sim.cards import DECK_SIZE
from sim.diagnosis import favoured_seats, idle_options, percent
from sim.game import Findings, Slot
from sim.rules import Choice, Rules, boolean, integer, one_of

MAX_PLAYERS = 8
MAX_DECKS = 8
MAX_HAND = 10
MAX_PILES = 8
LEAST_TALON = 26  # cards that `decks = 0` leaves in the talon


class Recycle(Choice):
    """How a finished pile returns to the talon."""

    SHUFFLED_BOTTOM = 0
    BOTTOM = 1
    SHUFFLE_ALL = 2


class DiscardWhen(Choice):
    """When a card has to be given up."""

    HAND_UNTOUCHED = 0
    NOTHING_PLAYED = 1


@dataclasses.dataclass(frozen=True)
class AutobusRules(Rules):
    """A rule set of Autobus."""

    GAME: ClassVar[str] = "autobus"
    VARIANTS: ClassVar = {
        "letter": ("the document's rules (the defaults)", {}),
        "table": ("no stalemate short of a true deadlock: nearly every game has a winner", {"stalemate_rounds": 0}),
        "suits": (
            "common piles run within one suit, with six decks",
            {"follow_suit": True, "decks": 6, "stalemate_rounds": 0},
        ),
    }

    players: int = integer(4, 2, MAX_PLAYERS, meaning="number of seats", gap=True)
    decks: int = integer(
        0,
        0,
        MAX_DECKS,
        meaning=f"52-card decks shuffled together; 0 = the fewest that leave {LEAST_TALON} cards in the talon",
        gap=True,
    )
    bus_size: int = integer(10, 1, 60, meaning="cards in each bus; the document names 10, 12, 15, 20")
    hand_size: int = integer(5, 1, MAX_HAND, meaning="cards a hand is filled up to")
    storage_piles: int = integer(4, 0, MAX_PILES, meaning="private piles of each player")
    follow_suit: bool = boolean(False, meaning="common piles run within one suit")
    recycle: Recycle = one_of(
        Recycle.SHUFFLED_BOTTOM,
        meaning="a finished pile goes under the talon shuffled, or as it is; or the whole talon is shuffled with it",
    )
    discard_when: DiscardWhen = one_of(
        DiscardWhen.HAND_UNTOUCHED,
        meaning="a card is given up if no hand card was placed in the turn's last pass; or no card at all in the turn",
    )
    swap: bool = boolean(True, meaning="k equal hand cards may be exchanged for a storage pile of k − 1 cards")
    bury: bool = boolean(True, meaning="a hand card may be put under the own bus; if not, the player passes")
    stalemate_rounds: int = integer(
        1, 0, 100, meaning="rounds without a card placed that end the game; 0 = only a true deadlock does"
    )
    must_play: bool = boolean(True, meaning="a player who can place a card must place at least one in the turn")
    max_turns: int = integer(
        5000, 1, meaning="most passes (a turn has one or more); reaching it ends the game without a winner"
    )

    @property
    def cards_dealt(self) -> int:
        """Return how many cards hands and buses take."""
        return self.players * (self.hand_size + self.bus_size)

    @property
    def n_decks(self) -> int:
        """Return the number of decks, `decks = 0` resolved."""
        return self.decks or min(-(-(self.cards_dealt + LEAST_TALON) // DECK_SIZE), MAX_DECKS)

    def check(self) -> Iterator[str]:
        """Yield what does not go together."""
        there_are = self.n_decks * DECK_SIZE
        if self.cards_dealt > there_are:
            held = f"decks = {self.decks} are {there_are}" if self.decks else f"{MAX_DECKS} decks are {there_are}"
            yield (
                f"players = {self.players}, hand_size = {self.hand_size} and bus_size = {self.bus_size} need "
                f"{self.cards_dealt} cards ({self.players} × ({self.hand_size} + {self.bus_size})); {held}"
            )

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield (option, why) for each option that cannot matter under the others."""
        if self.storage_piles == 0:
            yield "swap", "there are no storage piles"
        if self.hand_size == 1:
            yield "swap", "a hand of one card has no two equal cards"


SLOTS = (
    Slot(
        "policy",
        "how a seat plays",
        {
            "greedy": "places whatever it can: the bus first, then the lowest hand card, then storage",
            "random": "places any card that can be placed, and gives up any card, with equal chances",
            "planner": "looks for the order of placements that gets most bus cards out, and keeps what helps others",
        },
        "greedy",
    ),
)


def needs_random(rules: AutobusRules, policies: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a game needs random numbers after an explicit deal."""
    return rules.recycle is not Recycle.BOTTOM or "random" in policies["policy"]


def diagnose(rules: AutobusRules, policies: Mapping[str, Sequence[str]], found: Findings) -> list[str]:
    """Return sentences that say where the rule set is degenerate."""
    said = []
    stalemates, capped = found.share("end", "stalemate"), found.share("end", "turn_cap")
    if stalemates > 0.05:
        why = (
            f"{rules.stalemate_rounds} round{'s' if rules.stalemate_rounds > 1 else ''} without a card placed"
            if rules.stalemate_rounds
            else "a deadlock with an empty talon"
        )
        said.append(f"{percent(stalemates)} of the games end as a stalemate, without a winner: {why}.")
    if found.rate("plays", 0) > 0.01:
        said.append(f"{percent(found.rate('plays', 0))} of the games are over with no card placed at all.")
    if capped > 0.05:
        said.append(
            f"{percent(capped)} of the games are cut off after {rules.max_turns:,} passes (max_turns), without a "
            "winner; nobody knows who would have won."
        )
    seats = ((found.rate("winner", seat), f"winner={seat}") for seat in range(rules.players))
    said += favoured_seats((share, found.lows.get(key, share)) for share, key in seats)
    reasons = dict(rules.idle())
    if "must_play" in rules.changes() and "planner" not in policies["policy"]:
        reasons["must_play"] = "greedy and random place whatever they can"
    return [*said, *idle_options(rules, reasons)]
