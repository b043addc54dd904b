"""The columns of Bussikuski, and the record that holds a game while it is played."""

from __future__ import annotations

from sim.cards import DECK_SIZE
from sim.games.bussikuski.rules import Bus, BusDeck, BussikuskiRules, BusStake, StockOut
from sim.outcome import Column, per_seat
from sim.rules import LARGEST_COUNT

DRIVER_BY = ("most_cards", "tie_break", "draw", "nobody")
BUS_ENDS = ("success", "stock_out", "attempt_cap", "turn_cap", "no_bus")


def columns(rules: BussikuskiRules) -> list[Column]:
    """Return the columns of a row under `rules`, in the kernel's order."""
    n = rules.players
    attempts = _most_attempts(rules)
    penalty = attempts * _dearest_failure(rules)
    turned = DECK_SIZE if _deck_is_fixed(rules) else attempts * _longest_attempt(rules)
    given = 4 * n * rules.pyramid_rows + (10 * n if rules.right_gives else 0)
    return [
        *per_seat("wrong", "wrong answers of seat {seat} in phase 1", n, high=4),
        *[
            Column(f"right_q{question}", f"seats that were right on question {question}", high=n)
            for question in range(1, 5)
        ],
        *per_seat("left", "cards left to seat {seat} after the pyramid", n, high=4),
        Column("driver", "seat that drives the bus, -1 for nobody", low=-1, high=n - 1),
        Column("driver_by", "how the driver was found", categories=DRIVER_BY),
        Column("bus_end", "how the ride ended", categories=BUS_ENDS),
        Column("bus_attempts", "attempts on the bus", high=attempts),
        Column("bus_penalty", "points the driver paid on the bus", high=penalty),
        Column("bus_turned", "cards the driver turned, base cards included", high=turned),
        *per_seat("points", "penalty points of seat {seat} at the end; fewest win", n, high=penalty + given + 10),
        *per_seat("win_share", "seat {seat}'s share of the win: 1/k for each of k winners", n, share=True),
    ]


def _most_attempts(rules: BussikuskiRules) -> int:
    """Return a bound on the attempts of a ride."""
    if rules.bus is Bus.NONE:
        return 0
    limit = rules.max_attempts or LARGEST_COUNT
    if _deck_is_fixed(rules):
        # Each attempt takes a card of its own; in the diamond each failed one a blocker.
        blockers = 4 * len(rules.blockers) + 1 if rules.bus is Bus.DIAMOND else DECK_SIZE
        return min(limit, blockers, DECK_SIZE)
    return rules.max_attempts or rules.max_turns


def _deck_is_fixed(rules: BussikuskiRules) -> bool:
    """Tell whether the ride never sees a card twice."""
    return rules.stock_out is StockOut.STOP and rules.bus_deck is BusDeck.RUNNING


def _dearest_failure(rules: BussikuskiRules) -> int:
    """Return the most points a failed attempt can cost."""
    if rules.bus_stake is BusStake.FLAT:
        return 1
    return {Bus.DIAMOND: max(rules.diamond_rows), Bus.STRAIGHT: rules.straight_length, Bus.QUESTIONS: 4, Bus.NONE: 0}[
        rules.bus
    ]


def _longest_attempt(rules: BussikuskiRules) -> int:
    """Return the most cards an attempt can turn."""
    return {
        Bus.DIAMOND: len(rules.diamond_rows),
        Bus.STRAIGHT: rules.straight_length + 1,
        Bus.QUESTIONS: 4,
        Bus.NONE: 0,
    }[rules.bus]
