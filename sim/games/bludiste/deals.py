"""Explicit deals of Bludiště: the stock, top first; 96 cards, or 48 with one deck."""

from __future__ import annotations

from collections.abc import Sequence

from sim.cards import card_text, check_deck, parse_cards
from sim.games.bludiste.rules import BludisteRules


def stock_pack(rules: BludisteRules, n_ranks: int = 13, n_suits: int = 4) -> list[int]:
    """Return the cards of the stock before it is shuffled, as `sim.cards` numbers them.

    With two decks the first is without its aces and kings, which are the foundations; with one it is without its aces.
    Tests play with smaller packs: the lowest ranks, the first suits.
    """
    ranks = [[4 * rank + suit for suit in range(n_suits)] for rank in range(n_ranks)]
    used = ranks[1:] if rules.decks == 1 else ranks[1:-1] + ranks
    return [card for rank in used for card in rank]


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
