"""A game of Bussikuski as the kernel plays it, with everything that happened, and the explicit deal that equals it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.cards import DECK_SIZE, from_ace_high
from sim.events import Event, collect_events
from sim.game import Spec
from sim.games.bussikuski import record as rec
from sim.games.bussikuski.kernel import ACE_HIGH, as_columns, new_columns, play_watched
from sim.games.bussikuski.record import STATE_DTYPE
from sim.games.bussikuski.rules import Bus, BusDeck, BussikuskiRules
from sim.replays import ReplayError
from sim.rng import DEAL, LATER_ORDER, ORDER_DTYPE, RESHUFFLE, shuffle


@dataclasses.dataclass(frozen=True)
class Watched:
    """A game that was watched.

    Attributes
    ----------
    finished
        False if an explicit deal lacks a deck.
    raw
        The row as the kernel writes it.
    events
        What happened, in order: the kind (`record.ANSWER` …) and its five numbers.
    n_events
        How many there were; more than `events` holds if there were too many to keep.
    n_draw_reshuffles, n_bus_orders
        Orders shuffled after the deck and the bus deck: for the driver's draw, and for the bus.
    """

    finished: bool
    raw: tuple[int, ...]
    events: tuple[Event, ...]
    n_events: int
    n_draw_reshuffles: int
    n_bus_orders: int


def watch(spec: Spec, folded: Any, game: int, orders: Sequence[Sequence[int]] | None) -> Watched:
    """Play the game of index `game`, or the explicit deal `orders`, and watch it.

    Parameters
    ----------
    folded
        The specification as the kernel reads it.
    """
    state = np.zeros(1, STATE_DTYPE)
    small, large = new_columns(folded, 1)
    decks = None if orders is None else ACE_HIGH[np.array(orders, np.uint8)]
    stream = np.uint64(spec.seed), np.uint64(game)
    finished, events, n_events = collect_events(
        lambda rows: play_watched(state[0], folded[0], decks, rows, *stream, small, large)
    )
    return Watched(
        finished=bool(finished),
        raw=tuple(int(column[0]) for column in as_columns(folded, small[:, :1], large)),
        events=events,
        n_events=n_events,
        n_draw_reshuffles=int(state[0]["n_draw_reshuffles"]),
        n_bus_orders=int(state[0]["n_bus_orders"]),
    )


def explicit_decks(spec: Spec, game: int, watched: Watched) -> list[list[int]]:
    """Return the decks of the explicit deal that equals a seeded game: deck, bus deck, further orders (`sim.cards`).

    In a seeded game the places of the diamond get their cards when they are first looked at, so its bus deck is the
    shuffled order put where it was looked at; places nobody looked at get what is left.

    Raises
    ------
    ReplayError
        If the game was too long to be watched to its end.
    """
    if watched.n_events > len(watched.events):
        raise ReplayError(f"game {game} is too long to be written as a deal ({watched.n_events:,} events)")
    order = np.zeros(1, ORDER_DTYPE)
    stream: tuple[Any, Any] = np.uint64(spec.seed), np.uint64(game)

    def shuffled(kind: int, number: int) -> list[int]:
        shuffle(order[0], *stream, kind, number)
        return order[0]["cards"][:DECK_SIZE].tolist()  # type: ignore[no-any-return]

    bus_orders = [shuffled(DEAL, 1), *(shuffled(LATER_ORDER, number) for number in range(watched.n_bus_orders))]
    if spec.rules.bus is Bus.DIAMOND:
        for number, looks in enumerate(_looks(spec.rules, watched.events)):
            bus_orders[number] = _laid(bus_orders[number], looks)
    draws = [shuffled(RESHUFFLE, number) for number in range(watched.n_draw_reshuffles)]
    decks = [shuffled(DEAL, 0), bus_orders[0], *draws, *bus_orders[1:]]
    return [list(map(from_ace_high, deck)) for deck in decks]


def _laid(order: Sequence[int], looks: Sequence[int]) -> list[int]:
    """Return `order` with its first cards at the positions of `looks` and the others in the rest, in order."""
    placed = dict(zip(looks, order, strict=False))
    rest = iter(order[len(looks) :])
    return [placed[position] if position in placed else next(rest) for position in range(len(order))]


def _looks(rules: BussikuskiRules, events: Sequence[Event]) -> list[list[int]]:
    """Return, for the bus deck and each fresh one, the positions that were looked at, in order."""
    rows = rules.diamond_rows
    first_place = [sum(rows[:row]) for row in range(len(rows))]
    lead = list(first_place)
    stock_next = sum(rows)
    looks: list[list[int]] = [[]]
    row = 0
    for kind, a, *_ in events:
        if kind == rec.TURN:
            row = a
            looks[-1].append(lead[row])
        elif kind == rec.REFILL:
            for refilled in range(a):
                lead[refilled] = stock_next
                stock_next += 1
        elif kind == rec.BUS_RESHUFFLE:
            for lying, places in enumerate(rows):
                if lying > row:
                    looks[-1].append(lead[lying])
                looks[-1] += [first_place[lying] + place for place in range(1, places)]
            break  # from here on every card is known
        elif kind == rec.FRESH:
            lead = list(first_place)
            looks.append([])
    assert len(looks) == 1 or rules.bus_deck is BusDeck.FRESH
    return looks
