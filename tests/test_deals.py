"""Deals files: what is read, and how a wrong one is refused."""

import random

import pytest

from sim.cards import CARDS, RANKS, SUITS, SYMBOLS
from sim.deals import DealError, read_deals
from sim.game import Deal
from sim.games import get_game
from sim.games.bussikuski.deals import read_deal, write_deal

GAME = get_game("bussikuski")
RULES = GAME.rules()
DECK = " ".join(CARDS)
BUS = " ".join(reversed(CARDS))


def read(text: str | bytes) -> list[Deal]:
    """Read the deals of a file with this text."""
    data = text if isinstance(text, bytes) else text.encode()
    return read_deals(data.splitlines(keepends=True), GAME, RULES, name="deals.txt")


def shuffled(seed: int) -> list[str]:
    """Return the cards in an order of their own."""
    cards = list(CARDS)
    random.Random(seed).shuffle(cards)
    return cards


def test_comments_and_blank_lines_are_passed_over_but_counted() -> None:
    deals = read(f"# two deals\n\n   \n{DECK}\n  # and one more\n{BUS} | {DECK}\n")
    assert [deal.line for deal in deals] == [4, 6]
    assert [len(deal.orders) for deal in deals] == [1, 2]
    assert deals[0].orders[0] == tuple(range(52))
    assert deals[1].orders == (tuple(range(51, -1, -1)), tuple(range(52)))


def test_any_number_of_further_orders() -> None:
    (deal,) = read(" | ".join([DECK, BUS, *[DECK] * 7]))
    assert len(deal.orders) == 9


@pytest.mark.parametrize(
    "spell",
    [
        str,
        str.lower,
        lambda card: card.replace("T", "10"),
        lambda card: card[0] + SYMBOLS[SUITS.index(card[1])],
        lambda card: card.replace("T", "10").lower()[:-1] + SYMBOLS[SUITS.index(card[1])],
        lambda card: card[0] + SYMBOLS[SUITS.index(card[1])] + "\ufe0f",
    ],
)
def test_spellings_of_cards(spell) -> None:
    cards = shuffled(1)
    (deal,) = read("  ".join(map(spell, cards)) + "\r\n")
    assert [CARDS[card] for card in deal.orders[0]] == cards


def test_a_byte_order_mark_is_no_card() -> None:
    assert len(read(b"\xef\xbb\xbf" + DECK.encode())) == 1


def test_writing_is_the_inverse_of_reading() -> None:
    line = " | ".join(" ".join(shuffled(seed)) for seed in range(4))
    assert write_deal(read_deal(line, RULES)) == line


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (DECK.removesuffix(" KC"), "deck: 51 cards instead of 52: KC is missing"),
        (DECK.replace("7D", "7H"), "deck: card 27, 7H, occurs twice"),
        (DECK.replace("2S", "1S"), "deck: card 5: '1S' is not a card"),
        (DECK.replace("2S", "1S"), "ranks are A 2 3 4 5 6 7 8 9 T J Q K"),
        (DECK.replace("2S", "2X"), "suit 'X' is not known"),
        (DECK + " 2S", "deck: card 53, 2S, occurs twice"),
        (f"{DECK} {DECK}", "deck: card 53, AS, occurs twice"),
        (f"{DECK} |", "bus deck: it is empty; 52 cards are expected"),
        (f"| {DECK}", "deck: it is empty"),
        (f"{DECK} || {DECK}", "bus deck: it is empty"),
        (f"{DECK} | {BUS} | {DECK} | {DECK.replace('KC', 'KD')}", "further order 2: card 52, KD, occurs twice"),
        (f"{DECK} | {BUS.replace(' 9C', '')}", "bus deck: 51 cards instead of 52: 9C is missing"),
        (DECK.replace(" ", ","), "is not a card"),
        ("AS", "deck: 1 card instead of 52: AH AD AC 2S 2H … are missing"),
    ],
)
def test_a_wrong_deal_is_refused_with_its_line_and_card(line: str, said: str) -> None:
    with pytest.raises(DealError) as caught:
        read(f"{DECK}\n# a comment\n{line}\n{DECK}\n")
    message = str(caught.value)
    assert message.startswith("deals.txt, line 3: ")
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing but this\n"])
def test_a_file_without_deals_is_refused(text: str) -> None:
    with pytest.raises(DealError, match=r"deals\.txt holds no deals; one deal a line is expected"):
        read(text)


def test_a_line_that_is_not_text_is_refused() -> None:
    with pytest.raises(DealError, match=r"deals\.txt, line 2: byte 4 is not UTF-8 text"):
        read(DECK.encode() + b"\n# \xe4\xff\n"[:0] + b"\nAS \xff\n")


def test_all_cards_are_known() -> None:
    assert len(CARDS) == len(RANKS) * len(SUITS) == 52
