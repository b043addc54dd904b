"""A card is a small integer; this module is its text form and the parsing of explicit decks.

Cards are numbered rank-major: ``4 * rank + suit`` with the ranks A 2 3 … T J Q K and the suits S H D C. Games in which
the ace is high count from the two instead; `to_ace_high` and `from_ace_high` convert.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

RANKS = "A23456789TJQK"
SUITS = "SHDC"
SYMBOLS = "♠♥♦♣"
DECK_SIZE = 52

CARDS = tuple(rank + suit for rank in RANKS for suit in SUITS)

_RANK_OF = {rank: i for i, rank in enumerate(RANKS)} | {"10": 9}
_SUIT_OF = {suit: i for i, suit in enumerate(SUITS)} | {symbol: i for i, symbol in enumerate(SYMBOLS)}
_CARD_OF = {rank + suit: 4 * i + j for rank, i in _RANK_OF.items() for suit, j in _SUIT_OF.items()}


class CardError(ValueError):
    """A text that is no card, or cards that are no deck."""


def parse_card(text: str) -> int:
    """Return the number of the card written `text`.

    ``10`` is read as ``T``, the symbols ♠ ♥ ♦ ♣ as the suits, and lower case as upper case.

    Raises
    ------
    CardError
        If `text` is no card.
    """
    word = text.strip().upper().rstrip("\ufe0e\ufe0f")
    rank, suit = _RANK_OF.get(word[:-1]), _SUIT_OF.get(word[-1:])
    if rank is None or suit is None:
        part = f"rank '{word[:-1]}'" if rank is None and suit is not None else f"suit '{word[-1:]}'"
        if len(word) < 2 or (rank is None and suit is None):
            part = f"'{text}'"
        raise CardError(
            f"'{text}' is not a card ({part} is not known): ranks are {' '.join(RANKS)} (or 10), "
            f"suits {' '.join(SUITS)} (or {' '.join(SYMBOLS)})"
        )
    return 4 * rank + suit


def card_text(card: int, *, symbols: bool = False) -> str:
    """Return ``KD``, or with `symbols` ``K♦``, for a card's number."""
    rank, suit = divmod(int(card), 4)
    return RANKS[rank] + (SYMBOLS if symbols else SUITS)[suit]


def to_ace_high(card: int) -> int:
    """Return the number of `card` where ranks count 2 3 … K A."""
    return (int(card) + 48) % DECK_SIZE


def from_ace_high(card: int) -> int:
    """Return the ordinary number of a card whose ranks count 2 3 … K A."""
    return (int(card) + 4) % DECK_SIZE


def parse_deck(text: str, *, decks: int = 1) -> list[int]:
    """Return the cards of one shuffled deck (or of several together), top first.

    Raises
    ------
    CardError
        If a word is no card, a card occurs more than `decks` times, or one is missing.
    """
    return check_deck(parse_cards(text), decks=decks)


def parse_cards(text: str) -> list[int]:
    """Return the numbers of cards separated by spaces.

    Raises
    ------
    CardError
        If a word is no card; the message names its place, from 1.
    """
    words = text.split()
    try:
        return [_CARD_OF[word] for word in words]
    except KeyError:
        pass
    cards = []
    for place, word in enumerate(words, start=1):
        try:
            cards.append(parse_card(word))
        except CardError as error:
            raise CardError(f"card {place}: {error}") from None
    return cards


def check_deck(cards: Sequence[int], *, decks: int = 1, pack: Iterable[int] = range(DECK_SIZE)) -> list[int]:
    """Return `cards` if they are exactly `decks` copies of `pack` (in which a card may occur more than once).

    Raises
    ------
    CardError
        Naming the first card too many, or the missing ones.
    """
    pack = list(pack)
    if len(cards) == decks * len(pack) and sorted(cards) == sorted(pack * decks):
        return list(cards)
    expected = Counter(pack * decks)
    total = expected.total()
    left = dict(expected)
    for place, card in enumerate(cards, start=1):
        if card not in left:
            raise CardError(f"card {place}, {card_text(card)}, does not belong to this deck")
        if left[card] == 0:
            copies = "twice" if expected[card] == 1 else f"more than {expected[card]} times"
            raise CardError(f"card {place}, {card_text(card)}, occurs {copies} (a deck of {total} cards was expected)")
        left[card] -= 1
    missing = [card_text(card) for card, copies in left.items() for _ in range(copies)]
    if missing:
        named = " ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        verb = "is" if len(missing) == 1 else "are"
        raise CardError(f"{len(cards)} card{'' if len(cards) == 1 else 's'} instead of {total}: {named} {verb} missing")
    return list(cards)
