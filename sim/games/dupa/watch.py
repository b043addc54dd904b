"""A match of Dupa biskupa as the kernel plays it, with everything that happened, and its decks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.cards import DECK_SIZE
from sim.events import Event, collect_events
from sim.game import Spec
from sim.games.dupa.kernel import new_columns, new_scratch, play_watched
from sim.games.dupa.record import STOCK_DTYPE
from sim.rng import DEAL, shuffle_cards, start_stream


@dataclasses.dataclass(frozen=True)
class Watched:
    """A match that was watched.

    Attributes
    ----------
    raw
        The row as the kernel writes it.
    decks
        The shuffled deck of each round, as card numbers of `sim.cards`.
    events
        What happened, in order: the kind (`record.ROUND` …) and its five numbers.
    n_events
        How many there were; more than `events` holds if there were too many to keep.
    """

    raw: tuple[int, ...]
    decks: tuple[tuple[int, ...], ...]
    events: tuple[Event, ...]
    n_events: int

    @property
    def is_cut(self) -> bool:
        """Tell whether the end of the match was not kept."""
        return self.n_events > len(self.events)


def watch(spec: Spec, folded: Any, game: int, orders: Sequence[Sequence[int]] | None) -> Watched:
    """Play the match of index `game`, or the explicit deal `orders`, and watch it.

    Parameters
    ----------
    folded
        The specification as the kernel reads it.
    """
    decks = shuffled_decks(spec, game) if orders is None else np.array(orders, np.uint8)
    rows = new_columns(folded, 1)
    scratch = new_scratch()
    stream = np.uint64(spec.seed), np.uint64(game)
    _, events, n_events = collect_events(
        lambda events: play_watched(scratch[0], folded[0], decks, events, *stream, rows)
    )
    return Watched(
        raw=tuple(int(column[0]) for column in rows),
        decks=tuple(map(tuple, decks.tolist())),
        events=events,
        n_events=n_events,
    )


def shuffled_decks(spec: Spec, game: int) -> np.ndarray[Any, Any]:
    """Return the deck of each round of a seeded match: uint8, shape (n_rounds, n_cards), numbers of `sim.cards`."""
    n_cards = spec.rules.n_cards
    decks = np.zeros((spec.rules.rounds, n_cards), np.uint8)
    stock = np.zeros(1, STOCK_DTYPE)[0]
    names: tuple[Any, Any] = np.uint64(spec.seed), np.uint64(game)
    for number, deck in enumerate(decks):
        stock["cards"][:n_cards] = np.arange(n_cards)
        start_stream(stock["stream"], *names, DEAL, number)
        shuffle_cards(stock["stream"], stock["cards"], n_cards)
        deck[:] = stock["cards"][:n_cards] % DECK_SIZE
    return decks
