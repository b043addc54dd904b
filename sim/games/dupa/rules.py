"""Dupa biskupa's options, named variants, policies and diagnosis (rule book, section 4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from sim.cards import DECK_SIZE
from sim.diagnosis import favoured_seats, idle_options, percent
from sim.game import Findings, Slot
from sim.rules import Choice, Rules, boolean, integer, one_of

MAX_PLAYERS = 6
MAX_DECKS = 4
MAX_ROUNDS = 100


class Match(Choice):
    """What fits the top card."""

    RANK_OR_SUIT = 0
    RANK = 1
    SUIT = 2


class Dupa(Choice):
    """When a set whose rank is not in the pile is a dupa."""

    AUTOMATIC = 0
    DECLARED = 1
    OFF = 2


class Opening(Choice):
    """What a lead to an empty pile is."""

    PLAIN = 0
    DUPA = 1


class Demand(Choice):
    """How long a dupa asks to be beaten."""

    NEXT_ONLY = 0
    UNTIL_MET = 1


class PassWhen(Choice):
    """When a player may pass."""

    CANNOT = 0
    ANY = 1


class Direction(Choice):
    """The order of play."""

    CLOCKWISE = 0
    COUNTER = 1


@dataclasses.dataclass(frozen=True)
class DupaRules(Rules):
    """A rule set of Dupa biskupa."""

    GAME: ClassVar[str] = "dupa"
    VARIANTS: ClassVar = {
        "letter": ("the document's rules (the defaults)", {}),
        "table": ("one set a move, so that a game lasts longer than two hands", {"several_dupas": False}),
    }

    players: int = integer(4, 2, MAX_PLAYERS, meaning="number of seats")
    decks: int = integer(1, 1, MAX_DECKS, meaning="52-card decks shuffled together", gap=True)
    hand_size: int = integer(
        0, 0, 104, meaning="cards dealt to each seat; 0 = all of them, evenly (what does not divide is the stock)"
    )
    match: Match = one_of(Match.RANK_OR_SUIT, meaning="what fits the top card", gap=True)
    dupa: Dupa = one_of(
        Dupa.AUTOMATIC,
        meaning="a set (no aces) whose rank is not in the pile is always a dupa; only if the player says so; or never",
    )
    opening: Opening = one_of(
        Opening.PLAIN, meaning="a lead to an empty pile is a plain play, or may be a dupa by the same rule", gap=True
    )
    several_dupas: bool = boolean(True, meaning="more than one dupa may be laid in one move")
    demand: Demand = one_of(
        Demand.NEXT_ONLY,
        meaning="the duty to beat a dupa lapses after the next player's turn, or stays until somebody beats it",
    )
    pass_when: PassWhen = one_of(
        PassWhen.CANNOT, meaning="passing, with its draw, only when nothing can be played, or freely"
    )
    play_drawn: bool = boolean(False, meaning="a drawn card that can be played may be played at once")
    keep_top: bool = boolean(
        False, meaning="the top card stays when the pile becomes the stock; otherwise the whole pile goes"
    )
    direction: Direction = one_of(Direction.CLOCKWISE, meaning="order of play: 0, 1, 2, … or 0, n-1, n-2, …")
    winner_points: int = integer(1, 0, 5, meaning="points of a round's winner; the others score 1 a card left")
    rounds: int = integer(1, 1, MAX_ROUNDS, meaning="deals in a match; the start moves one seat on each round")
    max_turns: int = integer(2000, 1, meaning="most turns in a round (then end = turn_cap)")

    @property
    def n_cards(self) -> int:
        """Return how many cards are played with."""
        return DECK_SIZE * self.decks

    @property
    def cards_each(self) -> int:
        """Return how many cards each seat is dealt (`hand_size`)."""
        return self.hand_size or self.n_cards // self.players

    def check(self) -> Iterator[str]:
        """Yield what does not go together."""
        needed = self.players * self.hand_size
        if needed > self.n_cards:
            decks = -(-needed // DECK_SIZE)
            held = f"{self.decks} deck{'s hold' if self.decks > 1 else ' holds'} {self.n_cards}"
            cure = f"it takes decks = {decks}" if decks <= MAX_DECKS else f"even {MAX_DECKS} decks hold too few"
            yield f"hand_size = {self.hand_size} and players = {self.players} need {needed} cards; {held} ({cure})"

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield (option, why) for each option that cannot matter under the others."""
        if self.hand_size and self.hand_size == self.n_cards // self.players:
            yield "hand_size", "an even deal gives as many"
        if self.dupa is Dupa.OFF:
            for name in ("opening", "several_dupas", "demand"):
                yield name, "there are no dupas"
        if self.players == 2:
            yield "direction", "with two players both directions are one"
        if self.max_turns == 1:
            for name in ("match", "several_dupas", "demand", "keep_top"):
                yield name, "a round of one turn is a lead"

    def idle_for(self, policies: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (option, why) for each option that cannot matter under the others and the seats' policies."""
        seen = set()
        for name, why in self.idle():
            seen.add(name)
            yield name, why
        kinds = set(policies)
        if kinds == {"greedy"} and self.dupa is Dupa.DECLARED:
            yield "dupa", "greedy declares a dupa whenever it may, which is automatic"
        if "random" not in kinds:
            yield "pass_when", "only random passes when it could play"
        if kinds == {"random"} and "several_dupas" not in seen:
            yield "several_dupas", "random lays one set a move"


RESHUFFLES = {"reverse": "the pile is turned over, the earliest laid card on top"}
"""How the pile becomes the stock in an explicit deal, if it is not shuffled."""

SLOTS = (
    Slot(
        "policy",
        "how a seat plays",
        {
            "greedy": "the largest set it may play, then the lowest rank, aces last; every dupa it may",
            "random": "any rank it may play and any cards of it, with equal chances; one set a move",
            "careful": "weighs what it keeps, whom it blocks and who is about to go out",
        },
        "greedy",
    ),
)


def needs_random(rules: DupaRules, policies: Mapping[str, Sequence[str]], reshuffle: str | None = None) -> bool:
    """Tell whether a game needs random numbers after an explicit deal: for a policy, or to shuffle the pile."""
    return reshuffle is None or "random" in policies["policy"]


def diagnose(rules: DupaRules, policies: Mapping[str, Sequence[str]], found: Findings) -> list[str]:
    """Return sentences that say where the rule set is degenerate."""
    said = []
    capped, stuck = found.share("end", "turn_cap"), found.share("end", "stuck")
    what = "last rounds" if rules.rounds > 1 else "games"
    if capped > 0.05:
        turns = f"{rules.max_turns:,} turn{'' if rules.max_turns == 1 else 's'}"
        said.append(
            f"{percent(capped)} of the {what} are cut off after {turns} (max_turns), without a winner: "
            "nobody knows how they would have ended."
        )
    if stuck > 0.05:
        said.append(f"{percent(stuck)} of the {what} are stuck: everybody passed and there was nothing to draw.")
    early = found.share_below("turns", rules.players) if rules.rounds == 1 else 0.0
    if early > 0.05:
        said.append(f"{percent(early)} of the games are over before every seat had a turn.")
    said += favoured_seats(found.interval(f"win_share_{seat}") for seat in range(rules.players))
    return [*said, *idle_options(rules, dict(rules.idle_for(policies["policy"])))]
