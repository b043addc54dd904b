"""Many shuffled packs at once: the very deals that games are played with, for what only the deal decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.jit import compiled
from sim.rng import DEAL, STREAM_DTYPE, shuffle_cards, start_stream

_ROOM = 8  # `shuffle_cards` exchanges up to eight places beyond the pack with themselves


@compiled
def _shuffle_many(stream: Any, pack: Any, n_cards: int, seed: Any, first: Any, deals: Any) -> None:
    """Shuffle the pack for the games first, first + 1, …, one a row."""
    for row in range(deals.shape[0]):
        cards = deals[row]
        for i in range(n_cards):
            cards[i] = pack[i]
        game: Any = first + np.uint64(row)
        start_stream(stream, seed, game, DEAL, 0)
        shuffle_cards(stream, cards, n_cards)


def shuffled_packs(pack: Sequence[int], seed: int, first: int, n_games: int) -> np.ndarray[Any, Any]:
    """Return the deals of the games first, first + 1, …: uint8 of shape (n_games, n_cards), top first."""
    deals = np.zeros((n_games, len(pack) + _ROOM), np.uint8)
    stream = np.zeros(1, STREAM_DTYPE)
    _shuffle_many(stream[0], np.array(pack, np.uint8), len(pack), np.uint64(seed), np.uint64(first), deals)
    return deals[:, : len(pack)]


__all__ = ["shuffled_packs"]
