"""How numbers are typed on the command line."""

from __future__ import annotations

from decimal import Decimal

import click

FORMS = "1000000, 1_000_000, 1e6, 1M or 250k"
_FACTORS = {"K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9}
_MOST_DIGITS = 40


def parse_count(text: str) -> int:
    """Return the whole number written as ``1000000``, ``1_000_000``, ``1e6``, ``1M`` or ``250k``.

    Raises
    ------
    ValueError
        If it is none.
    """
    word = text.strip().upper()
    factor = _FACTORS.get(word[-1:], 1)
    if factor != 1:
        word = word[:-1].rstrip()
    try:
        number = Decimal(word) * factor
    except ArithmeticError:
        raise ValueError(f"'{text}' is not a whole number; write for example {FORMS}") from None
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        raise ValueError(f"'{text}' is not a number that can be; write for example {FORMS}")
    if number != number.to_integral_value():
        raise ValueError(f"'{text}' is not a whole number")
    return int(number)


class Count(click.ParamType[int]):
    """A whole number within bounds, in any of the forms of `parse_count`."""

    name = "N"

    def __init__(self, low: int, high: int | None = None) -> None:
        self.low = low
        self.high = high

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number, or fail with what is allowed."""
        if isinstance(value, int):
            return value
        try:
            number = parse_count(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if number < self.low or (self.high is not None and number > self.high):
            allowed = f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}"
            self.fail(f"{value} is out of range; allowed: {allowed}", param, ctx)
        return number


class Share(click.ParamType[tuple[int, int]]):
    """One of several equal shares: ``2/4`` is the second of four."""

    name = "K/N"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Read the two numbers, or fail with what is allowed."""
        if isinstance(value, tuple):
            return value
        number, slash, shares = value.partition("/")
        if not (slash and number.isdecimal() and shares.isdecimal() and 1 <= int(number) <= int(shares)):
            self.fail(f"'{value}' is no share; the second of four is written 2/4", param, ctx)
        return int(number), int(shares)
