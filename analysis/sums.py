"""Sums of numbers that belong together, and of their products: exact for whole numbers, whatever the order."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.load import LoadError

Array = np.ndarray[Any, Any]

SHARES = 840  # the least common multiple of 1, …, 8: a share of a win is a whole number of these
STEP = 131_072
"""Games that are added up at a time."""

# Games whose products are added up in single precision before they are taken over: fewer for larger numbers, so that
# the sums are whole; more would have the matrix library start threads of its own beside those that play.
_MOST, _FEWEST = 2_048, 256


class Joint:
    """Sums of k numbers that belong together, and of their products."""

    def __init__(self, k: int, n: int = 0) -> None:
        self.n = n
        self.sums = np.zeros(k, object)
        self.products = np.zeros((k, k), object)

    def add(self, numbers: Array, scale: int = 1, largest: int | None = None) -> None:
        """Add `scale` times an array of shape (k, games), of numbers of at most `largest` if that is known."""
        self.n += numbers.shape[1]
        self._add(numbers, scale, largest)

    def _add(self, numbers: Array, scale: int, largest: int | None = None) -> None:
        if numbers.shape[1]:
            sums, products = exact_sums(numbers, largest)
            self.sums += sums * scale
            self.products += products * scale**2

    def replace(self, old: Array, new: Array, scale: int = 1) -> None:
        """Put new numbers in the place of old ones that were added, of the same games."""
        taken = Joint(len(self.sums))
        taken._add(old, scale)
        self.sums -= taken.sums
        self.products -= taken.products
        self._add(new, scale)

    def merge(self, other: Joint) -> None:
        """Add what another has added up, of other games."""
        self.n += other.n
        self.sums += other.sums
        self.products += other.products

    def tile(self, other: Joint) -> None:
        """Add another's numbers to the first and again to the second half of these."""
        self.n += other.n
        self.sums += np.tile(other.sums, 2)
        self.products += np.tile(other.products, (2, 2))

    def moments(self, weights: Sequence[int] | Mapping[int, int], unit: int = 1) -> tuple[float, float]:
        """Return the mean and the variance (divisor n - 1) of Σ weight · number / unit over the games.

        The weights are one a number, or those of some numbers by their places.
        """
        used = list(weights) if isinstance(weights, Mapping) else [i for i, weight in enumerate(weights) if weight]
        total = sum(weights[i] * self.sums[i] for i in used)
        squares = sum(weights[i] * weights[j] * self.products[i, j] for i in used for j in used)
        if self.n == 0:
            return math.nan, math.nan
        if isinstance(total, float) or isinstance(squares, float):
            mean = total / self.n / unit
            variance = (squares - total * total / self.n) / max(1, self.n - 1) / unit**2
            return float(mean), max(0.0, float(variance)) if self.n > 1 else math.nan
        mean = float(Fraction(total, self.n * unit))
        if self.n < 2:
            return mean, math.nan
        return mean, float(Fraction(self.n * squares - total * total, self.n * (self.n - 1) * unit**2))

    def part(self, *places: int) -> Joint:
        """Return the sums of some of the numbers."""
        found, chosen = Joint(0, self.n), list(places)
        found.sums, found.products = self.sums[chosen], self.products[chosen][:, chosen]
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the sums as JSON has them."""
        return {"n": self.n, "sums": self.sums.tolist(), "products": self.products.tolist()}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Joint:
        """Return the sums that `to_json` wrote."""
        found = cls(len(plain["sums"]), int(plain["n"]))
        found.sums = np.array(plain["sums"], object)
        found.products = np.array(plain["products"], object).reshape(found.products.shape)
        return found


def in_shares(name: str, numbers: Array) -> Array:
    """Return shares of a win as whole numbers of 1/840.

    Raises
    ------
    LoadError
        If there is something else among them.
    """
    scaled = numbers * SHARES
    whole = np.rint(scaled)
    scaled -= whole
    if max(scaled.max(initial=0), -scaled.min(initial=0)) > 1e-6:
        raise LoadError(f"column '{name}' holds something that is no share of a win (1/k for each of k winners)")
    return np.asarray(whole, np.int16)


def exact_sums(numbers: Array, largest: int | None = None) -> tuple[Array, Array]:
    """Return the sums and products of an array of shape (k, games), exact for whole numbers and truth values.

    `largest` is the largest absolute value, if it is known.
    """
    if numbers.dtype.kind == "f":
        return numbers.sum(axis=1).astype(object), np.dot(numbers, numbers.T).astype(object)
    k, n_games = numbers.shape
    sums, products = np.zeros(k, object), np.zeros((k, k), object)
    if not n_games:
        return sums, products
    if numbers.dtype == bool:
        for at in range(0, n_games, STEP):
            products += _both(numbers[:, at : at + STEP])
        return np.diagonal(products).copy(), products  # the square of 0 or 1 is itself
    if largest is None:
        largest = max(abs(int(numbers.max())), abs(int(numbers.min())))
    if largest >= 2**19:
        wide = numbers.astype(np.int64)
        sums, products = exact_sums(np.concatenate([wide >> 16, wide & 0xFFFF]))
        mixed = products[:k, k:] + products[k:, :k]
        return (sums[:k] << 16) + sums[k:], (products[:k, :k] << 32) + (mixed << 16) + products[k:, k:]
    # Whole numbers stay exact in a floating point type as long as their sums do.
    kind: Any = np.float32
    piece = min(_MOST, 2 ** int(math.log2(2**24 / max(1, largest) ** 2)))
    if piece < _FEWEST:
        kind, piece = np.float64, _MOST
    # A row of ones before the numbers has the products give the sums as well.
    rows = scratch("rows", (k + 1, -(-min(STEP, n_games) // piece) * piece), kind)
    rows[0] = 1
    pieces = rows.reshape(k + 1, -1, piece).swapaxes(0, 1)
    for at in range(0, n_games, STEP):
        block = numbers[:, at : at + STEP]
        rows[1:, : block.shape[1]] = block
        rows[1:, block.shape[1] :] = 0
        # Each piece's sums are whole numbers; of many pieces together they need not be in floating point.
        whole = np.matmul(pieces, pieces[:, 1:].swapaxes(1, 2)).astype(np.int64).sum(axis=0).astype(object)
        sums += whole[0]
        products += whole[1:]
    return sums, products


_own = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array of the calling thread to be written over: fresh memory for each would cost more than its use."""
    key = (name, shape, np.dtype(dtype))
    kept: dict[Any, Array] = _own.__dict__.setdefault("kept", {})
    if key not in kept:
        for old in [other for other in kept if other[0] == name and other[2] == key[2]]:
            del kept[old]
        kept[key] = np.empty(shape, dtype)
    return kept[key]


def _both(truths: Array) -> Array:
    """Return in how many games two truth values hold at once, for all pairs of rows."""
    k, n_games = truths.shape
    padded = -(-n_games // 64) * 64
    bits = np.zeros((k, padded // 8), np.uint8)
    bits[:, : -(-n_games // 8)] = np.packbits(truths, axis=1)
    words = bits.view(np.uint64)
    both = np.zeros((k, k), np.int64)
    for v in range(k):
        both[v, v:] = both[v:, v] = np.bitwise_count(words[v:] & words[v]).sum(axis=1, dtype=np.int64)
    return both.astype(object)


def distinct(numbers: Array) -> tuple[list[int], list[int]]:
    """Return the rows that differ from each other, and for each row the place of the one among these that it equals."""
    found: list[int] = []
    places: list[int] = []
    alike: dict[bytes, list[int]] = {}
    for v, row in enumerate(numbers):
        others = alike.setdefault(row[:64].tobytes(), [])
        place = next((place for place in others if np.array_equal(numbers[found[place]], row)), None)
        if place is None:
            place = len(found)
            others.append(place)
            found.append(v)
        places.append(place)
    return found, places
