"""Explicit deals of Bludiště: the stock, top first; 96 cards, or 48 with one deck."""

from __future__ import annotations

from collections.abc import Sequence

from sim.cards import DECK_SIZE, card_text, check_deck, parse_cards
from sim.games.bludiste.rules import BludisteRules


def stock_pack(rules: BludisteRules) -> list[int]:
    """Return the cards of the stock before it is shuffled, as `sim.cards` numbers them.

    With two decks the first is without its aces and kings, which are the foundations; with one it is without its aces.
    """
    deck = list(range(DECK_SIZE))
    return deck[4:] if rules.decks == 1 else deck[4:-4] + deck


def read_deal(text: str, rules: BludisteRules) -> tuple[tuple[int, ...], ...]:
    """Return the stock written on a line, as card numbers of `sim.cards`.

    Raises
    ------
    CardError
        If it is not the whole stock; the message says what is wrong with it.
    """
    return (tuple(check_deck(parse_cards(text), pack=stock_pack(rules))),)


def write_deal(stock: Sequence[int]) -> str:
    """Return the line of a deals file for a stock."""
    return " ".join(map(card_text, stock))
