"""The columns a game writes: each with its range, its categories and its description.

A kernel writes every column as a whole number; `Column` says what the numbers mean. The registry of a game's columns is
the schema of its Parquet files, the documentation of them, and what results are checked against.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# A share of a win is handed over as the number of winners among whom the win is shared, 0 for those who get nothing.
MOST_WINNERS = 8


@dataclasses.dataclass(frozen=True)
class Column:
    """One column of results.

    Attributes
    ----------
    name
        The rule book's name; per-seat columns end in ``_0``, ``_1``, …
    description
        What the number is, in one line.
    low, high
        The range the values lie in under the rules at hand; it decides the integer type on disk.
    categories
        For a category column its values; the kernel writes the index.
    share
        True for a share of a win: the kernel writes the number of winners that share it, 0 for no share.
    optional
        True for a number that a game may lack; the kernel writes ``low - 1`` then.
    text
        True for a text that a game may lack; the kernel writes texts, "" then.
    """

    name: str
    description: str
    low: int = 0
    high: int = 0
    categories: tuple[str, ...] = ()
    share: bool = False
    optional: bool = False
    text: bool = False

    @property
    def storage(self) -> np.dtype[Any]:
        """Return the smallest numpy type: an integer (for a category too), float64 for shares, objects for texts."""
        import numpy as np

        if self.text:
            return np.dtype(object)
        if self.share:
            return np.dtype(np.float64)
        if self.categories:
            return np.dtype(np.int8)
        # Signed, so that the difference of two columns is what it should be in numpy and pandas.
        for name in ("i1", "i2", "i4", "i8"):
            info = np.iinfo(name)
            if info.min <= self.low - self.optional and self.high <= info.max:
                return np.dtype(name)
        raise ValueError(f"column {self.name}: no integer type holds {self.low} to {self.high}")

    def decode(self, raw: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the kernel's numbers in the type of storage (categories stay indices).

        Parameters
        ----------
        raw : any integer type, shape (n,)
        """
        import numpy as np

        if self.share:
            shares = np.array([0.0, *(1 / k for k in range(1, MOST_WINNERS + 1))])
            return shares.take(raw)
        return raw.astype(self.storage, copy=False)

    @property
    def may_lack(self) -> bool:
        """Tell whether a game may have no value in the column."""
        return self.optional or self.text

    def present(self, raw: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
        """Return which of the kernel's values are there, bool, shape (n,); None if none can be lacking."""
        if not self.may_lack:
            return None
        present: np.ndarray[Any, Any] = raw != "" if self.text else raw >= self.low
        return present

    def value(self, raw: Any) -> Any:
        """Return one value as JSON has it; None for what a game lacks."""
        if self.text:
            return raw or None
        number = int(raw)
        if self.optional and number < self.low:
            return None
        if self.share:
            return 1 / number if number else 0.0
        return self.categories[number] if self.categories else number


def per_seat(name: str, description: str, players: int, **rest: Any) -> list[Column]:
    """Return the columns ``name_0 …``, one for each seat; ``{seat}`` in the description is its number."""
    return [Column(f"{name}_{seat}", description.format(seat=seat), **rest) for seat in range(players)]
