"""Cards: text form and the checking of decks."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cards import CARDS, CardError, card_text, check_deck, from_ace_high, parse_card, parse_deck, to_ace_high


@pytest.mark.parametrize(
    ("text", "card"), [("AS", 0), ("as", 0), ("A♠", 0), ("TD", 38), ("10D", 38), ("10♦", 38), ("K♣", 51), (" 2h ", 5)]
)
def test_reading(text, card):
    assert parse_card(text) == card


@given(st.integers(0, 51), st.booleans())
def test_text_and_back(card, symbols):
    assert parse_card(card_text(card, symbols=symbols)) == card


@given(st.integers(0, 51))
def test_ace_high_and_back(card):
    assert from_ace_high(to_ace_high(card)) == card
    assert "23456789TJQKA"[to_ace_high(card) // 4] + "SHDC"[to_ace_high(card) % 4] == CARDS[card]


@pytest.mark.parametrize("text", ["1S", "11S", "S", "A", "", "AX", "XS", "♠A", "10", "TDD"])
def test_what_is_no_card_is_named(text):
    with pytest.raises(CardError, match=f"'{text}' is not a card"):
        parse_card(text)


def test_a_wrong_deck_is_named():
    deck = list(range(52))
    random.Random(1).shuffle(deck)
    assert parse_deck(" ".join(CARDS[card] for card in deck)) == deck
    with pytest.raises(CardError, match=f"51 cards instead of 52: {CARDS[deck[-1]]} is missing"):
        check_deck(deck[:-1])
    with pytest.raises(CardError, match=f"card 52, {CARDS[deck[3]]}, occurs twice"):
        check_deck([*deck[:-1], deck[3]])
    with pytest.raises(CardError, match="card 53, AS, occurs twice"):
        check_deck([*deck, 0])
    with pytest.raises(CardError, match="card 3, AS, does not belong to this deck"):
        check_deck([4, 5, 0], pack=range(4, 52))
    with pytest.raises(CardError, match="occurs more than 2 times"):
        check_deck([0, 0, 0], decks=2)


def test_two_decks():
    deck = [*range(52), *range(52)]
    assert check_deck(deck, decks=2) == deck
    with pytest.raises(CardError, match="0 cards instead of 104: AS AS AH AH AD … are missing"):
        check_deck([], decks=2)
