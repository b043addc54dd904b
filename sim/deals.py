"""Explicit deals: a file with one deal a line, read and checked as a whole before anything is played.

Lines that start with ``#`` and blank lines are passed over. What a line holds is the game's business: its module
``deals`` offers ``read_deal(text, rules)``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from sim.cards import CardError
from sim.game import Deal, Game


class DealError(ValueError):
    """A deals file with a line that is no deal, or without any."""


def read_deals(lines: Iterable[bytes], game: Game, rules: Any, *, name: str) -> list[Deal]:
    """Return the deals of a file.

    Parameters
    ----------
    lines
        The file's lines, undecoded: what `open(path, "rb")` yields.
    name
        The file's name, for messages.

    Raises
    ------
    DealError
        For a line that is no deal of this game under these rules, with the file, the line and what was expected; for a
        file without a deal.
    """
    read_deal = importlib.import_module(f"{game.package}.deals").read_deal
    deals = []
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise DealError(f"{name}, line {number}: byte {error.start + 1} is not UTF-8 text") from None
        if not text or text.startswith("#"):
            continue
        try:
            deals.append(Deal(number, read_deal(text, rules)))
        except CardError as error:
            raise DealError(f"{name}, line {number}: {error}") from None
    if not deals:
        raise DealError(f"{name} holds no deals; one deal a line is expected, cards separated by spaces")
    return deals


__all__ = ["DealError", "read_deals"]
