"""Numbers with their intervals, and tables of them, in plain text."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from analysis.intervals import Interval

WIDTH = 100
_GAP = "   "
_NARROW_GAP = "  "
_LABEL = 12
_NARROWEST_HEAD = 13
_LONGEST_WORDS = 40


@dataclasses.dataclass(frozen=True)
class Cell:
    """A number and what stands behind it; numbers below each other are aligned at their decimal points."""

    number: str
    tail: str = ""


@dataclasses.dataclass(frozen=True)
class Column:
    """A table's column: text cells are aligned at the left."""

    head: str
    cells: Sequence[Cell | str]

    def lines(self) -> list[str]:
        """Return the cells as lines of one width."""
        numbers = [cell.number for cell in self.cells if isinstance(cell, Cell)]
        before = max((len(number.partition(".")[0]) for number in numbers), default=0)
        after = max((len(number) - len(number.partition(".")[0]) for number in numbers), default=0)
        lines = []
        for cell in self.cells:
            if isinstance(cell, str):
                lines.append(cell)
                continue
            whole, point, rest = cell.number.partition(".")
            number = f"{whole:>{before}}{point + rest:<{after}}"
            lines.append(f"{number} {cell.tail}".rstrip())
        width = max(map(len, lines), default=0)
        return [line.ljust(width) for line in lines]


def cell(interval: Interval, *, percent: bool = False) -> Cell:
    """Return an estimate and its interval: the half-width to two significant digits, the estimate as far.

    A clearly lopsided interval is given by its ends; of never and always the one end that says something.
    """
    unit = 100 if percent else 1
    estimate, low, high = (unit * x for x in (interval.estimate, interval.low, interval.high))
    if interval.n == 0:
        return Cell("-")
    if interval.method == "none":
        return Cell(plain(estimate))
    if interval.method == "constant":
        return Cell(plain(estimate), "always")
    if percent and estimate in (0, 100):  # one end says nothing, the other is rounded outwards
        digits = digits_of(high - low)
        outer = math.ceil(high * 10**digits) if estimate == 0 else math.floor(low * 10**digits)
        return Cell(plain(estimate), f"({'≤' if estimate == 0 else '≥'} {number(outer / 10**digits, digits)})")
    half = (high - low) / 2
    if not math.isfinite(half):
        return Cell(plain(estimate))
    digits = digits_of(half)
    if abs((high + low) / 2 - estimate) <= half / 10:
        return Cell(number(estimate, digits), f"± {number(half, digits)}")
    if percent:  # let the nearer end differ from never or always
        nearest = min(low, 100 - high)
        digits = max(digits, min(digits + 2, -math.floor(math.log10(nearest)))) if nearest > 0 else digits
    return Cell(number(estimate, digits), f"({number(low, digits)} – {number(high, digits)})")


def digits_of(width: float) -> int:
    """Return the decimals that show `width` to two significant digits (negative: rounded to tens and so on)."""
    digits = 1 - math.floor(math.log10(width))
    return digits - int(round(width, digits) >= 10 ** (2 - digits))


def number(value: float, digits: int) -> str:
    """Return a number with so many decimals (negative: rounded to tens and so on)."""
    return f"{round(value, digits) + 0.0:,.{max(0, digits)}f}"


def plain(value: float) -> str:
    """Return a number as it is, or to four digits."""
    return f"{value:,.0f}" if value == round(value) else f"{value:.4g}"


def games_text(n: int) -> str:
    """Return ``1 game``, ``1,000 games``."""
    return f"{n:,} game{'' if n == 1 else 's'}"


def words(name: str) -> str:
    """Return a name or a category's value in words, shortened if it is very long."""
    words = name.replace("_", " ")
    return words if len(words) <= _LONGEST_WORDS else words[: _LONGEST_WORDS - 1] + "…"


def capitalised(text: str) -> str:
    """Return a text with a capital letter."""
    return text[:1].upper() + text[1:]


def option_text(value: Any) -> str:
    """Return an option's value as it is typed."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value) or "none"


def entry(name: str, text: str, width: int) -> list[str]:
    """Return the lines of a named paragraph."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=f"{name:<{_LABEL}}",
        subsequent_indent=" " * _LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    )


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return a paragraph's lines; with an indent, later ones are indented further."""
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent + "  " * bool(indent), break_on_hyphens=False
    )


def table(first: Column, columns: Sequence[Column], width: int) -> list[str]:
    """Return a table; columns that do not fit beside the others go to a further one below it, with the first column."""
    names, *blocks = [_block(column) for column in (first, *columns)]
    room = width - _block_width(names)
    gap = _GAP if sum(len(_GAP) + _block_width(block) for block in blocks) <= room else _NARROW_GAP
    groups: list[list[_Block]] = [[]]
    used = 0
    for block in blocks:
        needed = len(gap) + _block_width(block)
        if groups[-1] and used + needed > room:
            groups.append([])
            used = 0
        groups[-1].append(block)
        used += needed
    lines: list[str] = []
    for group in groups:
        together = [names, *group]
        height = max(len(head) for head, _ in together)
        heads = [[" " * len(body[0])] * (height - len(head)) + head for head, body in together]
        bodies = [body for _, body in together]
        if lines:
            lines.append("")
        lines += [gap.join(parts) for parts in zip(*heads, strict=True)]
        lines.append("─" * len(gap.join(body[0] for body in bodies)))
        lines += [gap.join(parts) for parts in zip(*bodies, strict=True)]
    return lines


_Block = tuple[list[str], list[str]]


def _block_width(block: _Block) -> int:
    return len(block[1][0])


def _block(column: Column) -> _Block:
    """Return the head's lines and the cells' lines, all of one width."""
    body = column.lines()
    wide = max(len(body[0]), min(_NARROWEST_HEAD, len(column.head)))
    head = textwrap.wrap(column.head, wide, break_on_hyphens=False, drop_whitespace=not column.head.startswith(" "))
    wide = max([wide, *map(len, head)])
    return [line.ljust(wide) for line in head], [line.ljust(wide) for line in body]
