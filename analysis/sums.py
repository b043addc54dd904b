"""Sums of numbers that belong together, and of their products: exact for whole numbers, whatever the order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.load import LoadError

Array = np.ndarray[Any, Any]

SHARES = 840  # the least common multiple of 1, …, 8: a share of a win is a whole number of these
_BLOCK = 32_768  # games that are multiplied at a time: they stay in the cache


class Joint:
    """Sums of k numbers that belong together, and of their products."""

    def __init__(self, k: int, n: int = 0) -> None:
        self.n = n
        self.sums = np.zeros(k, object)
        self.products = np.zeros((k, k), object)

    def add(self, numbers: Array) -> None:
        """Add an array of shape (k, games)."""
        if not numbers.shape[1]:
            return
        self.n += numbers.shape[1]
        sums, products = exact_sums(numbers)
        self.sums += sums
        self.products += products

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

    def moments(self, weights: Sequence[int], unit: int = 1) -> tuple[float, float]:
        """Return the mean and the variance (divisor n - 1) of Σ weight · number / unit over the games."""
        used = [i for i, weight in enumerate(weights) if weight]
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
        found = Joint(len(places), self.n)
        found.sums = self.sums[list(places)].copy()
        found.products = self.products[np.ix_(places, places)].copy()
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


def exact_sums(numbers: Array) -> tuple[Array, Array]:
    """Return the sums and products of an array of shape (k, games), exact for whole numbers."""
    if numbers.dtype.kind == "f":
        return numbers.sum(axis=1).astype(object), np.dot(numbers, numbers.T).astype(object)
    k = len(numbers)
    are_truths = numbers.dtype == bool
    largest = 1 if are_truths else max(abs(int(numbers.max())), abs(int(numbers.min())))
    if largest >= 2**19:
        wide = numbers.astype(np.int64)
        sums, products = exact_sums(np.concatenate([wide >> 16, wide & 0xFFFF]))
        mixed = products[:k, k:] + products[k:, :k]
        return (sums[:k] << 16) + sums[k:], (products[:k, :k] << 32) + (mixed << 16) + products[k:, k:]
    # Whole numbers stay exact in a floating point type as long as their sums do.
    kind = np.float32 if largest**2 * _BLOCK < 2**24 else np.float64
    sums, products = np.zeros(k, object), np.zeros((k, k), object)
    for at in range(0, numbers.shape[1], _BLOCK):
        block = numbers[:, at : at + _BLOCK].astype(kind)
        if not are_truths:
            sums += block.sum(axis=1, dtype=np.float64).astype(np.int64).astype(object)
        products += np.dot(block, block.T).astype(np.int64).astype(object)
    return np.diagonal(products).copy() if are_truths else sums, products  # the square of 0 or 1 is itself
