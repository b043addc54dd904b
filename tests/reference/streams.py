"""The random scheme ``philox4x64-10/v1``, written a second time with numpy's Philox as the oracle.

A stream of 64-bit words is named by (seed, game, kind, number). Shuffled orders are made from its words in batches of
draws, policies take 32-bit halves of them.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

KIND_DEAL = 0
KIND_DRAW = 1
KIND_POLICY = 2
KIND_BUS = 3

CARDS = tuple(rank + suit for rank in "23456789TJQKA" for suit in "SHDC")
"""The order every shuffle starts from."""

BATCH = 8
"""Draws made from one word while the bounds are at most 128."""

LARGE_BATCH = 6
"""Draws made from one word while the bounds are larger."""


class WordStream:
    """The 64-bit words of one named stream, in order."""

    def __init__(self, seed: int, game: int, kind: int, number: int) -> None:
        purpose = (kind << 32) | number
        first_block = (purpose << 128) | (game << 64)  # the words (0, game, purpose, 0), lowest first
        # numpy steps the counter before its first block
        self._source = np.random.Philox(key=seed, counter=(first_block - 1) % 2**256)

    def next_word(self) -> int:
        """Return the next word."""
        return int(self._source.random_raw())


def draw_batch(bounds: Sequence[int], next_word: Callable[[], int], bits: int = 64) -> list[int]:
    """Return one number below each bound, all made from one word of ``bits`` bits."""
    refused_below = 2**bits % math.prod(bounds)
    while True:
        x = next_word()
        numbers = []
        for bound in bounds:
            product = bound * x
            numbers.append(product >> bits)
            x = product & (2**bits - 1)
        if x >= refused_below:
            return numbers


def reveal(next_word: Callable[[], int], cards: Sequence[str] = CARDS) -> Iterator[str]:
    """Yield ``cards`` in a shuffled order, one after another."""
    order = list(cards)
    n = len(order)
    first = 0
    while n - first > 1:
        size = BATCH if n - first <= 128 else LARGE_BATCH
        places = range(first, min(first + size, n - 1))
        drawn = draw_batch([n - i for i in places], next_word)
        for i, d in zip(places, drawn, strict=True):
            order[i], order[i + d] = order[i + d], order[i]
            yield order[i]
        first = places.stop
    yield from order[first:]


def shuffled(seed: int, game: int, kind: int, number: int, cards: Sequence[str] = CARDS) -> list[str]:
    """Return ``cards`` in the shuffled order of a named stream."""
    return list(reveal(WordStream(seed, game, kind, number).next_word, cards))


class PolicyStream:
    """The 32-bit numbers of one policy: of each word the low half first, then the high half."""

    def __init__(self, seed: int, game: int, number: int) -> None:
        self._words = WordStream(seed, game, KIND_POLICY, number)
        self._high_half: int | None = None

    def next_half(self) -> int:
        """Return the next 32-bit number."""
        if self._high_half is not None:
            half, self._high_half = self._high_half, None
            return half
        word = self._words.next_word()
        self._high_half = word >> 32
        return word & (2**32 - 1)

    def bounded(self, bound: int) -> int:
        """Return a uniform number below ``bound``; a draw is made even when there is only one."""
        while True:
            product = self.next_half() * bound
            if product % 2**32 >= 2**32 % bound:
                return product >> 32


class PolicyStreams:
    """The policy streams of one game, each opened when it is first used and then kept."""

    def __init__(self, seed: int, game: int) -> None:
        self._seed = seed
        self._game = game
        self._open: dict[int, PolicyStream] = {}

    def _stream(self, number: int) -> PolicyStream:
        if number not in self._open:
            self._open[number] = PolicyStream(self._seed, self._game, number)
        return self._open[number]

    def guess(self, seat: int) -> PolicyStream:
        """Return the stream of a seat's guesses."""
        return self._stream(seat)

    def give(self, seat: int) -> PolicyStream:
        """Return the stream of a seat's gifts."""
        return self._stream(16 + seat)
