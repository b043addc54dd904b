"""Exact counts and sums of a column, whatever the order its values come in.

A `Tally` counts how often each value occurs; when a column has more than `MOST_VALUES` of them it keeps exact sums of
the values and of their squares instead. All of it is whole-number arithmetic, also for floats (a float is a whole
number times a power of two): the same rows give the same figures to the last bit in any order, batching and split.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

MOST_VALUES = 65_536

Array = np.ndarray[Any, Any]

# A finite float is m × 2^(e - 53) with a whole m of 53 bits and e ≥ -1073: in units of 2^-SCALE it is a whole number.
_SCALE = 1073 + 53
_FEW_VALUES = 8


@dataclasses.dataclass(frozen=True)
class Moments:
    """What a tally adds up to.

    Attributes
    ----------
    n
        Values counted.
    total, squares
        Their exact sum, and the exact sum of their squares.
    low, high
        The least and the largest; None if there is none.
    counts
        Value → how often, in ascending order; None if there are more than `MOST_VALUES` values.
    """

    n: int
    total: Fraction
    squares: Fraction
    low: float | None
    high: float | None
    counts: Mapping[float, int] | None

    @property
    def mean(self) -> float:
        """Return the mean, rounded once; nan if there are no values."""
        return _rounded(self.total / self.n) if self.n else math.nan

    @property
    def variance(self) -> float:
        """Return the variance with divisor n - 1, rounded once; nan below two values."""
        if self.n < 2:
            return math.nan
        return _rounded((self.n * self.squares - self.total**2) / (self.n * (self.n - 1)))


def _rounded(number: Fraction) -> float:
    """Return the nearest float, infinite where there is none."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


class Tally:
    """Counts the values of one column, batch by batch."""

    def __init__(self) -> None:
        self._counts: dict[float, int] | None = {}
        self._n = 0
        self._total = 0  # read once there are too many values to count; in units of 2^-_SCALE
        self._squares = 0  # likewise, in units of 2^-2·_SCALE
        self._low: float | None = None
        self._high: float | None = None

    @classmethod
    def of(cls, counts: Mapping[float, int]) -> Tally:
        """Return the tally of values of which each occurred so often."""
        found = cls()
        found._n = sum(counts.values())
        if counts:
            found._widen(min(counts), max(counts))
            found._enter(counts)
        return found

    def add(self, values: Array) -> None:
        """Count an array of whole numbers, booleans or floats; nan counts as missing.

        Raises
        ------
        ValueError
            If a value is infinite.
        """
        if values.dtype.kind == "b":
            values = values.view(np.uint8)
        elif values.dtype.kind == "f":
            values = _finite(values)
        if not len(values):
            return
        self._n += len(values)
        if self._counts is None:
            self._widen(values.min().item(), values.max().item())
            self._sum(values)
        else:
            found = self._count(values)
            self._widen(min(found), max(found))
            self._enter(found)

    def merge(self, other: Tally) -> None:
        """Add what another tally has counted."""
        self._n += other._n
        self._widen(other._low, other._high)
        if self._counts is not None and other._counts is not None:
            self._enter(other._counts)
        else:
            (total, squares), (more, more_squares) = self._sums(), other._sums()
            self._total, self._squares, self._counts = total + more, squares + more_squares, None

    def moments(self) -> Moments:
        """Return what was counted so far."""
        total, squares = self._sums()
        counts = None if self._counts is None else dict(sorted(self._counts.items()))
        unit = 2**_SCALE
        return Moments(self._n, Fraction(total, unit), Fraction(squares, unit**2), self._low, self._high, counts)

    def _widen(self, low: float | None, high: float | None) -> None:
        """Let the range take in `low` and `high`."""
        self._low = min((bound for bound in (self._low, low) if bound is not None), default=None)
        self._high = max((bound for bound in (self._high, high) if bound is not None), default=None)

    def _count(self, values: Array) -> dict[float, int]:
        """Return how often each value occurs in a batch: first those seen before, if few, then any others."""
        known = self._counts or {}
        found: dict[float, int] = {}
        if len(known) <= _FEW_VALUES:
            found = {value: int(np.count_nonzero(values == value)) for value in known}
            found = {value: count for value, count in found.items() if count}
            if sum(found.values()) == len(values):
                return found
        return count_values(values)

    def _enter(self, found: Mapping[float, int]) -> None:
        """Add counts; with too many values, turn to sums."""
        assert self._counts is not None
        for value, count in found.items():
            self._counts[value] = self._counts.get(value, 0) + count
        if len(self._counts) > MOST_VALUES:
            self._total, self._squares = self._sums()
            self._counts = None

    def _sum(self, values: Array) -> None:
        """Add a batch to the sums."""
        if values.dtype.kind != "f":
            groups = [(0, values)]
        else:
            parts, exponents = np.frexp(values)
            whole = np.ldexp(parts, 53).astype(np.int64)
            groups = [(exponent - 53, whole[exponents == exponent]) for exponent in np.unique(exponents).tolist()]
        for exponent, numbers in groups:
            total, squares = _integer_sums(numbers)
            self._total += total << _SCALE + exponent
            self._squares += squares << 2 * (_SCALE + exponent)

    def _sums(self) -> tuple[int, int]:
        """Return the sums so far, in units of 2^-_SCALE and of its square."""
        if self._counts is None:
            return self._total, self._squares
        total = squares = 0
        for value, count in self._counts.items():
            whole = _whole(value)
            total += count * whole
            squares += count * whole * whole
        return total, squares


def _finite(values: Array) -> Array:
    """Return floats as float64 without nan."""
    values = np.asarray(values, np.float64)
    finite = np.isfinite(values)
    if finite.all():
        return values
    if np.isinf(values).any():
        raise ValueError("an infinite value has no mean")
    return np.asarray(values[finite])


def _whole(value: float) -> int:
    """Return a number in units of 2^-_SCALE."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << _SCALE + 1 - denominator.bit_length()


def count_values(values: Array) -> dict[float, int]:
    """Return how often each value occurs in an array of whole numbers, or of floats without nan."""
    if values.dtype.kind != "f" and values.dtype.itemsize <= 2:
        return _narrow_counts(values)
    if values.dtype.kind != "f" and len(values):
        low = int(values.min())
        if int(values.max()) - low < MOST_VALUES:
            counts = np.bincount((values - values.dtype.type(low)).astype(np.intp))
            found = np.flatnonzero(counts)
            return {low + step: count for step, count in zip(found.tolist(), counts[found].tolist(), strict=True)}
    # Adding 0.0 makes -0.0 a 0.0 (and changes no other number).
    distinct, counts = np.unique(values + values.dtype.type(0), return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


def _narrow_counts(values: Array) -> dict[float, int]:
    """Count whole numbers of 8 or 16 bits; those of 8 in pairs, which halves the time."""
    if values.dtype.itemsize == 1:
        even = len(values) // 2 * 2
        pairs = np.bincount(np.ascontiguousarray(values[:even]).view(np.uint16), minlength=2**16).reshape(256, 256)
        counts = pairs.sum(axis=0) + pairs.sum(axis=1)
        if len(values) > even:
            counts[values[even:].view(np.uint8)] += 1
    else:
        counts = np.bincount(values.view(np.uint16), minlength=2**16)
    found = np.flatnonzero(counts)
    numbers = found.astype(f"u{values.dtype.itemsize}").view(values.dtype)
    return dict(zip(numbers.tolist(), counts[found].tolist(), strict=True))


def _integer_sums(values: Array) -> tuple[int, int]:
    """Return the exact sum of whole numbers and of their squares, by limbs of 16 bits above the least number."""
    low = int(values.min())
    unsigned = values.astype(np.uint64) - np.uint64(low % 2**64)  # modulo 2^64 both ways: the distance from `low`
    n_limbs = -(-int(unsigned.max()).bit_length() // 16)
    limbs = [((unsigned >> np.uint64(16 * k)) & np.uint64(0xFFFF)).astype(np.int64) for k in range(n_limbs)]
    total = sum(int(limb.sum()) << 16 * k for k, limb in enumerate(limbs))
    squares = sum(int(a @ b) << 16 * (i + j) for i, a in enumerate(limbs) for j, b in enumerate(limbs))
    n = len(values)
    return total + n * low, squares + 2 * low * total + n * low * low
