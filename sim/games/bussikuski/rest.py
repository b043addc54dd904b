"""The rest of a ride on the straight or the questions bus whose deck runs: exactly, once few cards are left.

Whoever has seen all cards that are gone knows which ones the stock holds, though not their order. So a position is the
stock, the running attempt as far as it matters, and the number of the next guess; from each of them the chance of
success and the mean penalty still to come follow by backward recursion, for the best answers there are and for
`counting`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import factorial
from typing import NamedTuple

from sim.games.bussikuski.questions import RED
from sim.games.bussikuski.rules import Boundary, Bus, BussikuskiRules, BusStake, FourthQuestion

POSITIONS = 60_000
"""Most positions that are looked at, by default: a few seconds."""

MOST_CARDS = 20

BEST, COUNTING = "best", "counting"

Card = tuple[int, int]
"""Rank (from 0, the ace is the highest) and suit (S H D C)."""
Stock = tuple[int, ...]
"""How many cards of each kind it holds."""


class TooManyPositionsError(ValueError):
    """A stock from which too many positions can come."""


@dataclasses.dataclass(frozen=True)
class Outlook:
    """What is to come.

    Attributes
    ----------
    success
        The chance that the ride ends by success.
    penalty
        The mean of the points still to be paid.
    """

    success: Fraction
    penalty: Fraction


class _Attempt(NamedTuple):
    """The running attempt: the number of its next guess (0: no base card yet), and what the guess is about."""

    guess: int
    ranks: tuple[int, ...] = ()
    suits: tuple[int, ...] = ()


class Rest:
    """The rest of a ride.

    Parameters
    ----------
    rules
        With the straight or the questions bus.
    stock
        The cards of the stock, (rank, suit), in any order.
    policy
        ``best`` (the least mean penalty, then the greater chance of success) or ``counting`` (the answer that most
        cards of the stock fit).
    positions
        Positions that may be looked at.

    Raises
    ------
    TooManyPositionsError
        For more than `MOST_CARDS` cards.

    Notes
    -----
    Derivation. The next card is each of the r cards of the stock with chance 1/r. With W = r! times the mean of what is
    to come, W of a position is the sum over the cards of W of the position after it, or (r-1)! times what the card
    decides; so whole numbers are added up. A wrong answer costs its stake and a new attempt begins; a free tie counts
    as wrong here. The ride ends when a card is missing, or by success. Cards that no question can tell apart are one
    kind: on the straight bus those of a rank.
    """

    def __init__(
        self, rules: BussikuskiRules, stock: Iterable[Card], policy: str = BEST, positions: int = POSITIONS
    ) -> None:
        self.rules = rules
        self.policy = policy
        self.positions = positions
        self.is_straight = rules.bus is Bus.STRAIGHT
        cards = list(stock)
        self.kinds: list[Card] = sorted({(rank, 0) for rank, _ in cards} if self.is_straight else set(cards))
        self.stock: Stock = tuple(sum(self._kind(card) == kind for card in cards) for kind in self.kinds)
        if len(cards) > MOST_CARDS:
            raise TooManyPositionsError(
                f"{len(cards)} cards are left: more than {MOST_CARDS} lead to too many positions"
            )
        self._begin = _Attempt(0 if self.is_straight else 1)
        self._known: dict[tuple[Stock, _Attempt], tuple[int, int]] = {}
        self._turned: dict[tuple[_Attempt, int], tuple[tuple[str, ...], _Attempt]] = {}

    def outlook(self, own: Sequence[Card] = ()) -> Outlook:
        """Return what is to come, the running attempt's cards being `own`.

        Raises
        ------
        TooManyPositionsError
            If the stock is too large.
        """
        return self._means(self.stock, self._value(self.stock, self._attempt(own)))

    def answers(self, own: Sequence[Card] = ()) -> dict[str, Outlook]:
        """Return what is to come after each answer to the next question, if all further ones are the policy's.

        Raises
        ------
        TooManyPositionsError
            If the stock is too large.
        ValueError
            If the stock is empty, or the straight bus has no base card yet.
        """
        attempt = self._attempt(own)
        if not sum(self.stock) or not attempt.guess:
            raise ValueError("there is nothing to answer: no card is left, or no base card has been turned")
        found = self._by_answer(self.stock, attempt)
        return {answer: self._means(self.stock, value) for answer, value in found.items()}

    def _means(self, stock: Stock, value: tuple[int, int]) -> Outlook:
        orders = factorial(sum(stock))
        return Outlook(Fraction(value[0], orders), Fraction(value[1], orders))

    def _kind(self, card: Card) -> Card:
        return (card[0], 0) if self.is_straight else card

    def _attempt(self, own: Sequence[Card]) -> _Attempt:
        attempt = self._begin
        for card in own:
            attempt = self._after(attempt, card)
        return attempt

    def _after(self, attempt: _Attempt, card: Card) -> _Attempt:
        """Return the attempt when a card has been turned and was right."""
        guess = attempt.guess + 1
        if guess > 4 and not self.is_straight:
            return attempt
        if self.is_straight:
            return _Attempt(guess, (card[0],))
        ranks = tuple(sorted((*attempt.ranks, card[0]))) if guess < 4 else ()
        is_asked = self.rules.fourth_question is FourthQuestion.NEW_OR_HELD
        return _Attempt(guess, ranks, tuple(sorted({*attempt.suits, card[1]})) if is_asked else ())

    def _value(self, stock: Stock, attempt: _Attempt) -> tuple[int, int]:
        """Return (success, penalty), each times the number of orders of the stock."""
        key = stock, attempt
        if key not in self._known:
            if len(self._known) >= self.positions:
                raise TooManyPositionsError(
                    f"{sum(self.stock)} cards are left: more than {self.positions:,} positions can follow"
                )
            self._known[key] = self._compute(stock, attempt)
        return self._known[key]

    def _compute(self, stock: Stock, attempt: _Attempt) -> tuple[int, int]:
        if not any(stock):
            return 0, 0
        if not attempt.guess:  # the base card
            success = penalty = 0
            for at, n in enumerate(stock):
                if n:
                    more = self._value(_without(stock, at), self._after(attempt, self.kinds[at]))
                    success, penalty = success + n * more[0], penalty + n * more[1]
            return success, penalty
        found = self._by_answer(stock, attempt)
        if self.policy == COUNTING:
            fits = {answer: self._n_right(stock, attempt, answer) for answer in found}
            return found[max(fits, key=lambda answer: fits[answer])]
        return min(found.values(), key=lambda value: (value[1], -value[0]))

    def _n_right(self, stock: Stock, attempt: _Attempt, answer: str) -> int:
        return sum(n for at, n in enumerate(stock) if n and answer in self._if_turned(attempt, at)[0])

    def _by_answer(self, stock: Stock, attempt: _Attempt) -> dict[str, tuple[int, int]]:
        """Return the value after each answer."""
        orders = factorial(sum(stock) - 1)
        last = self.rules.straight_length if self.is_straight else 4
        stake = attempt.guess if self.rules.bus_stake is BusStake.BY_ROW else 1
        success = dict.fromkeys(self._possible(attempt), 0)
        penalty = dict(success)
        for at, n in enumerate(stock):
            if not n:
                continue
            rest = _without(stock, at)
            true, after = self._if_turned(attempt, at)
            anew = self._value(rest, self._begin)
            onward = (orders, 0) if attempt.guess == last else self._value(rest, after) if true else (0, 0)
            for answer in success:
                if answer in true:
                    success[answer] += n * onward[0]
                    penalty[answer] += n * onward[1]
                else:
                    success[answer] += n * anew[0]
                    penalty[answer] += n * (anew[1] + stake * orders)
        return {answer: (success[answer], penalty[answer]) for answer in success}

    def _if_turned(self, attempt: _Attempt, at: int) -> tuple[tuple[str, ...], _Attempt]:
        """Return the answers that a card of this kind makes right, and the attempt after it."""
        key = attempt, at
        if key not in self._turned:
            kind = self.kinds[at]
            self._turned[key] = self._true(attempt, kind), self._after(attempt, kind)
        return self._turned[key]

    def _possible(self, attempt: _Attempt) -> tuple[str, ...]:
        """Return the answers to the next question, in the order in which ties are broken."""
        if self.is_straight or attempt.guess == 2:
            return "higher", "lower"
        if attempt.guess == 4:
            return ("S", "H", "D", "C") if self.rules.fourth_question is FourthQuestion.SUIT else ("held", "new")
        return ("red", "black") if attempt.guess == 1 else ("inside", "outside")

    def _true(self, attempt: _Attempt, card: Card) -> tuple[str, ...]:
        """Return the answers that a card makes right."""
        rank, suit = card
        if self.is_straight or attempt.guess == 2:
            if rank == attempt.ranks[0]:
                tie = self.rules.bus_tie.text if self.is_straight else self.rules.guess_tie.text
                return ("higher", "lower") if tie == "right" else ()
            return ("higher",) if rank > attempt.ranks[0] else ("lower",)
        if attempt.guess == 1:
            return ("red",) if suit in RED else ("black",)
        if attempt.guess == 3:
            low, high = attempt.ranks
            if rank not in (low, high):
                return ("inside",) if low < rank < high else ("outside",)
            both = {Boundary.WRONG: (), Boundary.RIGHT: ("inside", "outside")}
            return both.get(self.rules.boundary, (self.rules.boundary.text,))
        if self.rules.fourth_question is FourthQuestion.SUIT:
            return ("SHDC"[suit],)
        return ("held",) if suit in attempt.suits else ("new",)


def _without(stock: Stock, at: int) -> Stock:
    """Return the stock without one card of a kind."""
    return (*stock[:at], stock[at] - 1, *stock[at + 1 :])


__all__ = ["BEST", "COUNTING", "POSITIONS", "Card", "Outlook", "Rest", "TooManyPositionsError"]
