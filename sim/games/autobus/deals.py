"""Explicit deals of Autobus: the shuffled deck, top first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sim.cards import card_text, parse_deck
from sim.games.autobus.rules import AutobusRules


def read_deal(text: str, rules: AutobusRules) -> tuple[tuple[int, ...], ...]:
    """Return the deck written on a line, as card numbers of `sim.cards`.

    Raises
    ------
    CardError
        If it is not the whole pack of `rules.n_decks` decks.
    """
    return (tuple(parse_deck(text, decks=rules.n_decks)),)


def write_deal(decks: Iterable[Sequence[int]]) -> str:
    """Return the line of a deals file for a deck of card numbers."""
    return " ".join(card_text(card) for deck in decks for card in deck)
