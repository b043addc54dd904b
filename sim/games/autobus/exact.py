"""What is known exactly about Autobus: the first round, in which only an ace can be placed as long as none lies.

In its first turn a seat has a whole hand and sees the top card of its bus, `hand_size` + 1 cards; it draws nothing, and
storage is empty. So the first card placed is an ace among them, and all of these cards together are the first
`players` · (`hand_size` + 1) in law of a shuffled pack.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import comb
from typing import TYPE_CHECKING, Any

from sim.cards import DECK_SIZE
from sim.game import Spec
from sim.games.autobus.rules import AutobusRules
from sim.quantities import MEAN, Dealt, Quantity, Section, Seen, hypergeometric

if TYPE_CHECKING:
    import numpy as np

ACES = 4  # in a deck, and the numbers of the first four cards of `sim.cards`


def none_seen(n_seen: int, n_aces: int, n_cards: int) -> Fraction:
    """Return the chance that none of `n_seen` cards is an ace."""
    return Fraction(comb(n_cards - n_aces, n_seen), comb(n_cards, n_seen))


def first_able(seat: int, n_each: int, n_aces: int, n_cards: int) -> Fraction:
    """Return the chance that `seat` is the first that can place a card, each seeing `n_each` cards.

    Derivation. The seats before it see no ace among seat · n_each cards, and not all seats up to it see none.
    """
    return none_seen(seat * n_each, n_aces, n_cards) - none_seen((seat + 1) * n_each, n_aces, n_cards)


def sections(spec: Spec) -> Iterator[Section]:
    """Yield what is known exactly."""
    rules: AutobusRules = spec.rules
    n, n_each = rules.players, rules.hand_size + 1
    n_cards, n_aces = DECK_SIZE * rules.n_decks, ACES * rules.n_decks
    pack = tuple(range(DECK_SIZE)) * rules.n_decks

    def dealt(what: str, value: int | None = None) -> Dealt:
        return Dealt(_statistic(what, n, rules.hand_size, rules.bus_size), value, pack)

    none = none_seen(n * n_each, n_aces, n_cards)
    # Under these rules the first idle round ends the game, and the column `plays` shows it.
    is_over = rules.stalemate_rounds == 1 and rules.max_turns >= n
    # Whoever plays; but a planner takes its time, and without `must_play` it may hold a card back.
    policies = (("policy", "greedy"),) if "planner" in spec.policies["policy"] else ()
    idle = Seen("plays", 0, policies=policies) if is_over else dealt("first", n)
    first = [Quantity("nobody can place a card", none, shown=idle)]
    first += [
        Quantity(
            f"seat {seat} is the first that can", first_able(seat, n_each, n_aces, n_cards), shown=dealt("first", seat)
        )
        for seat in range(n)
    ]
    missing: tuple[str, ...] = ()
    if not rules.must_play:
        missing = (
            "must_play = false: how often a planner that could place a card holds it back (greedy and random place "
            "whatever they can)",
        )
    yield Section("The first round", tuple(first), missing)
    law = hypergeometric(n * n_each, n_aces, n_cards)
    seen = [Quantity(f"{k} aces" if k != 1 else "1 ace", p, shown=dealt("aces", k)) for k, p in law.items()]
    mean = Fraction(n * n_each * n_aces, n_cards)
    yield Section("Aces in all hands and on top of the buses", (*seen, Quantity("mean", mean, MEAN, dealt("aces"))))
    one = hypergeometric(n_each, n_aces, n_cards)
    of_seat = [Quantity(f"{k} aces" if k != 1 else "1 ace", p, shown=dealt("own", k)) for k, p in one.items()]
    yield Section("Aces that one seat sees: its hand and the top of its bus", tuple(of_seat))


@cache
def _statistic(what: str, players: int, hand_size: int, bus_size: int) -> Any:
    """Return the function from deals to a number a game: the first seat with an ace, the aces of all, or of seat 0."""
    starts = [seat * (hand_size + bus_size) for seat in range(players)]
    places = [[*range(start, start + hand_size + 1)] for start in starts]

    def of_deals(deals: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        import numpy as np

        aces = np.stack([(deals[:, seen] < ACES).sum(axis=1) for seen in places], axis=1)
        if what == "aces":
            return np.asarray(aces.sum(axis=1))
        if what == "own":
            return np.asarray(aces[:, 0])
        able = aces > 0
        return np.where(able.any(axis=1), able.argmax(axis=1), players)

    return of_deals


__all__ = ["first_able", "none_seen", "sections"]
