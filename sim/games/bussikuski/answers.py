"""The best answer in every situation: with a fresh deck, or when some cards are known."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sim.cards import DECK_SIZE, RANKS, SUITS, SYMBOLS, CardError, card_text
from sim.games.bussikuski.questions import RED, higher_or_lower, inside_or_outside
from sim.games.bussikuski.rules import BussikuskiRules, FourthQuestion

if TYPE_CHECKING:
    import pandas as pd

ACE_HIGH = RANKS[1:] + RANKS[0]
QUESTIONS = {1: "red or black", 2: "higher or lower", 3: "inside or outside", 4: "the suit"}


@dataclasses.dataclass(frozen=True)
class Answer:
    """The best answer in one situation.

    Attributes
    ----------
    question
        1-4.
    situation
        The own cards, as far as they matter: ``''``, ``5``, ``5 J`` (ranks), ``♠ ♥ ♥`` (suits).
    best
        The answer that most cards fit; ties: red, higher, inside, the suits in the order S H D C, held.
    fits
        Answer → how many of the cards that may come make it right.
    n_cards
        How many cards may come: neither own nor known.
    """

    question: int
    situation: str
    best: str
    fits: dict[str, int]
    n_cards: int

    @property
    def chance(self) -> Fraction:
        """Return the chance that the best answer is right (0-1)."""
        return Fraction(self.fits[self.best], self.n_cards)


def best_answers(rules: BussikuskiRules, known: Iterable[int] = ()) -> list[Answer]:
    """Return the best answer in every situation that can be, question by question.

    Parameters
    ----------
    known
        The cards seen beside the own, in the numbers of `sim.cards`. The own cards are others: a situation that needs
        more cards of a rank or suit than are not known is left out.

    Raises
    ------
    CardError
        If a known card is there twice.
    """
    pack = _Pack(known)
    return [answer for number in (1, 2, 3, 4) for answer in _of_question(rules, number, pack) if answer.n_cards > 0]


def answer_for(rules: BussikuskiRules, own: Sequence[int], known: Iterable[int] = ()) -> Answer:
    """Return the best answer to the next question for a player with these own cards, none to three.

    Raises
    ------
    CardError
        If a card is there twice, there are more than three own ones, or no card is left.
    """
    if len(own) > 3:
        raise CardError(f"{len(own)} own cards: the four questions are asked with none to three")
    known = list(known)
    _Pack([*known, *own])  # no card twice
    pack = _Pack(known)
    if len(own) < 3:
        ranks = sorted(ACE_HIGH.index(card_text(card)[0]) for card in own)
        found = _ANSWERS[len(own)](rules, pack, ranks)
    else:
        found = _fourth(rules, pack, sorted(card % 4 for card in own))
    if found.n_cards < 1:
        raise CardError("every card is known: none is left to be turned")
    return found


def answers_frame(rules: BussikuskiRules, known: Iterable[int] = ()) -> pd.DataFrame:
    """Return `best_answers` as a table.

    Returns
    -------
    DataFrame
        A row a situation: ``question`` (1-4), ``situation``, ``best``, ``chance`` (float, 0-1), ``right`` and ``cards``
        (its numerator and denominator, not reduced), and ``first``, ``second``: of question 2 and 3 the rank of the
        cards, ``2`` … ``A``, else empty.
    """
    import pandas as pd

    rows = []
    for answer in best_answers(rules, known):
        ranks = [*answer.situation.split(), "", ""] if answer.question in (2, 3) else ["", ""]
        rows.append(
            {
                "question": answer.question,
                "situation": answer.situation,
                "best": answer.best,
                "chance": float(answer.chance),
                "right": answer.fits[answer.best],
                "cards": answer.n_cards,
                "first": ranks[0],
                "second": ranks[1],
            }
        )
    return pd.DataFrame(rows)


class _Pack:
    """The cards that are not known, counted by rank (ace high) and suit."""

    def __init__(self, known: Iterable[int]) -> None:
        out = set()
        for card in known:
            if card in out:
                raise CardError(f"{card_text(card)} is named twice")
            out.add(card)
        left = [card for card in range(DECK_SIZE) if card not in out]
        self.n_cards = len(left)
        self.ranks = [sum(ACE_HIGH[rank] == card_text(card)[0] for card in left) for rank in range(len(RANKS))]
        self.suits = [sum(card % 4 == suit for card in left) for suit in range(len(SUITS))]


def _answer(question: int, situation: str, fits: dict[str, int], n_cards: int) -> Answer:
    return Answer(question, situation, max(fits, key=lambda answer: fits[answer]), fits, n_cards)


def _first(rules: BussikuskiRules, pack: _Pack, ranks: Sequence[int]) -> Answer:
    n_red = sum(pack.suits[suit] for suit in RED)
    return _answer(1, "", {"red": n_red, "black": pack.n_cards - n_red}, pack.n_cards)


def _second(rules: BussikuskiRules, pack: _Pack, ranks: Sequence[int]) -> Answer:
    rank = ranks[0]
    equal = pack.ranks[rank] - 1
    higher, lower = higher_or_lower(rules, sum(pack.ranks[rank + 1 :]), sum(pack.ranks[:rank]), equal)
    return _answer(2, ACE_HIGH[rank], {"higher": higher, "lower": lower}, pack.n_cards - 1)


def _third(rules: BussikuskiRules, pack: _Pack, ranks: Sequence[int]) -> Answer:
    low, high = ranks
    n_cards = pack.n_cards - 2
    n_inside = sum(pack.ranks[low + 1 : high])
    n_ends = pack.ranks[low] - 2 if low == high else pack.ranks[low] + pack.ranks[high] - 2
    inside, outside = inside_or_outside(rules, n_inside, n_cards - n_inside - n_ends, n_ends)
    return _answer(3, f"{ACE_HIGH[low]} {ACE_HIGH[high]}", {"inside": inside, "outside": outside}, n_cards)


def _fourth(rules: BussikuskiRules, pack: _Pack, suits: Sequence[int]) -> Answer:
    n_cards = pack.n_cards - 3
    left = [n - suits.count(suit) for suit, n in enumerate(pack.suits)]
    situation = " ".join(SYMBOLS[suit] for suit in suits)
    if rules.fourth_question is FourthQuestion.SUIT:
        return _answer(4, situation, dict(zip(SUITS, left, strict=True)), n_cards)
    n_held = sum(left[suit] for suit in set(suits))
    return _answer(4, situation, {"held": n_held, "new": n_cards - n_held}, n_cards)


_ANSWERS: tuple[Callable[[BussikuskiRules, _Pack, Sequence[int]], Answer], ...] = (_first, _second, _third)


def _of_question(rules: BussikuskiRules, number: int, pack: _Pack) -> Iterator[Answer]:
    """Yield the situations of a question that can be."""
    if number == 1:
        yield _first(rules, pack, ())
    elif number == 2:
        for rank in range(len(RANKS)):
            if pack.ranks[rank]:
                yield _second(rules, pack, (rank,))
    elif number == 3:
        for low, high in itertools.combinations_with_replacement(range(len(RANKS)), 2):
            if min(pack.ranks[low], pack.ranks[high]) >= 1 + (low == high):
                yield _third(rules, pack, (low, high))
    else:
        for suits in itertools.combinations_with_replacement(range(len(SUITS)), 3):
            if all(pack.suits[suit] >= suits.count(suit) for suit in suits):
                yield _fourth(rules, pack, suits)


__all__ = ["QUESTIONS", "Answer", "answer_for", "answers_frame", "best_answers"]
