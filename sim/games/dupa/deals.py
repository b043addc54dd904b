"""Explicit deals of Dupa biskupa: the shuffled deck, top first; of several rounds, their decks one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sim.cards import CardError, card_text, check_deck, parse_cards
from sim.games.dupa.rules import DupaRules


def read_deal(text: str, rules: DupaRules) -> tuple[tuple[int, ...], ...]:
    """Return the deck of each round written on a line, as card numbers of `sim.cards`.

    Raises
    ------
    CardError
        If there are not as many decks as rounds, or one of them is not whole; the message says which.
    """
    cards = parse_cards(text)
    size = rules.n_cards
    if rules.rounds > 1 and len(cards) != rules.rounds * size:
        expected = f"{rules.rounds} rounds of {size} cards"
        raise CardError(f"{len(cards)} cards instead of {rules.rounds * size}: {expected} are expected")
    decks = [cards[first : first + size] for first in range(0, rules.rounds * size, size)]
    if rules.rounds == 1:
        decks = [cards]
    checked = []
    for number, deck in enumerate(decks, start=1):
        try:
            checked.append(tuple(check_deck(deck, decks=rules.decks)))
        except CardError as error:
            raise CardError(f"deck of round {number}: {error}" if rules.rounds > 1 else str(error)) from None
    return tuple(checked)


def write_deal(decks: Iterable[Sequence[int]]) -> str:
    """Return the line of a deals file for decks of card numbers."""
    return " ".join(card_text(card) for deck in decks for card in deck)
