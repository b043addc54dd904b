"""Explicit deals of Bussikuski: ``deck | bus deck | further order | …``, each of 52 cards, top first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sim.cards import DECK_SIZE, CardError, card_text, parse_deck
from sim.games.bussikuski.rules import BussikuskiRules

_SEPARATOR = "|"


def read_deal(text: str, rules: BussikuskiRules) -> tuple[tuple[int, ...], ...]:
    """Return the decks written on a line, as card numbers of `sim.cards`.

    The bus deck and the further orders may be left out; a game that needs them cannot be played to its end then.

    Raises
    ------
    CardError
        If one of them is not a whole deck; the message says which, and what is wrong with it.
    """
    decks = []
    for number, part in enumerate(text.split(_SEPARATOR)):
        try:
            if not part.strip():
                raise CardError(f"it is empty; {DECK_SIZE} cards are expected")
            decks.append(tuple(parse_deck(part)))
        except CardError as error:
            raise CardError(f"{_called(number)}: {error}") from None
    return tuple(decks)


def write_deal(decks: Iterable[Sequence[int]]) -> str:
    """Return the line of a deals file for decks of card numbers."""
    return f" {_SEPARATOR} ".join(" ".join(map(card_text, deck)) for deck in decks)


def _called(number: int) -> str:
    return ("deck", "bus deck")[number] if number < 2 else f"further order {number - 1}"
