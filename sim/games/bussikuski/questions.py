"""The four questions exactly: how often each answer is right, for a deck of any number of ranks and suits.

Suits are numbered S H D C; H and D are red. Ranks count from 0, the ace is the highest. With `suits` below 4 the first
ones are played with.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import comb

from sim.games.bussikuski.rules import Boundary, BussikuskiRules, FourthQuestion, GuessTie

RED = (1, 2)

RIGHT, WRONG, FREE = "right", "wrong", "free"
Verdicts = tuple[str, str, str, str]

_Split = dict[str, int]
"""Verdict → how many of the equally likely (answer, card) pairs have it."""


def higher_or_lower(rules: BussikuskiRules, n_higher: int, n_lower: int, n_equal: int) -> tuple[int, int]:
    """Return how many cards make `higher` right, and `lower`, from how many are higher, lower and equal."""
    both = n_equal if rules.guess_tie is GuessTie.RIGHT else 0
    return n_higher + both, n_lower + both


def inside_or_outside(rules: BussikuskiRules, n_inside: int, n_outside: int, n_boundary: int) -> tuple[int, int]:
    """Return how many cards make `inside` right, and `outside`, from how many lie inside, outside and on an end."""
    counts_inside = rules.boundary in (Boundary.INSIDE, Boundary.RIGHT)
    counts_outside = rules.boundary in (Boundary.OUTSIDE, Boundary.RIGHT)
    return n_inside + n_boundary * counts_inside, n_outside + n_boundary * counts_outside


def _two_answers(first: int, second: int, n_cards: int, n_free: int, policy: str) -> _Split:
    """Return the verdicts on a question of two answers that `first` and `second` of `n_cards` cards make right.

    Under ``random`` each card counts twice, once for each answer; otherwise the better answer is given, the first among
    equals.
    """
    right, copies = (first + second, 2) if policy == "random" else (max(first, second), 1)
    return {RIGHT: right, WRONG: copies * (n_cards - n_free) - right, FREE: copies * n_free}


@cache
def joint_law(rules: BussikuskiRules, policy: str, ranks: int = 13, suits: int = 4) -> dict[Verdicts, Fraction]:
    """Return the law of the four verdicts of one player who knows its own cards only.

    Derivation. The player's cards are four draws without replacement, whatever the seat. Questions 1 and 4 look at
    suits only, questions 2 and 3 at ranks only, and the fourth card matters by its suit alone. Suits and ranks of the
    first three cards are tied to each other only by this: cards of one rank differ in suit. So for each pattern of
    equal ranks among the three cards, the suits are enumerated once (at most 4³ ways, with the number of fourth cards
    that make the last answer right), then the ranks (13³ ways), and the counts are multiplied. The sum over everything
    is divided by 52 · 51 · 50 · 49, and under ``random`` by the number of answers to each question, which are all
    equally likely.

    Parameters
    ----------
    policy
        ``own`` (the answer that most unknown cards fit; ``counting`` knows no more where only these four cards have
        been seen) or ``random``.

    Returns
    -------
    dict
        (verdict of question 1, …, 4) → probability; a verdict is ``right``, ``wrong`` or ``free``.
    """
    by_pattern = {
        pattern: _suits_law(rules, policy, pattern, ranks, suits)
        for pattern in {_pattern(triple) for triple in itertools.product(range(min(3, ranks)), repeat=3)}
    }
    weights: Counter[Verdicts] = Counter()
    for triple in itertools.product(range(ranks), repeat=3):
        of_suits = by_pattern[_pattern(triple)]
        if not of_suits:
            continue
        seconds = second_verdicts(rules, policy, triple[0], triple[1], ranks, suits)
        thirds = third_verdicts(rules, policy, triple, ranks, suits)
        for second, third in itertools.product(seconds.items(), thirds.items()):
            weight = second[1] * third[1]
            for (first, fourth), n in of_suits.items():
                weights[first, second[0], third[0], fourth] += weight * n
    total = sum(weights.values())
    return {verdicts: Fraction(weight, total) for verdicts, weight in weights.items() if weight}


def _pattern(triple: Sequence[int]) -> tuple[bool, bool, bool]:
    """Return which of three ranks are equal."""
    a, b, c = triple
    return a == b, a == c, b == c


def _suits_law(
    rules: BussikuskiRules, policy: str, pattern: tuple[bool, bool, bool], ranks: int, suits: int
) -> Counter[tuple[str, str]]:
    """Return (verdict of question 1, of question 4) → number of suits of three cards and fourth cards (and answers)."""
    n_red = sum(suit in RED for suit in range(suits))
    says_red = n_red >= suits - n_red
    law: Counter[tuple[str, str]] = Counter()
    for a, b, c in itertools.product(range(suits), repeat=3):
        if (pattern[0] and a == b) or (pattern[1] and a == c) or (pattern[2] and b == c):
            continue
        first = {RIGHT: 1, WRONG: 1} if policy == "random" else {RIGHT if (a in RED) == says_red else WRONG: 1}
        left = [ranks - (a, b, c).count(suit) for suit in range(suits)]
        for verdict, n in first.items():
            for last, n_cards in _fourth_verdicts(rules, policy, left, {a, b, c}).items():
                law[verdict, last] += n * n_cards
    return law


def _fourth_verdicts(rules: BussikuskiRules, policy: str, left: Sequence[int], held: set[int]) -> _Split:
    """Return the verdicts on question 4 from how many cards of each suit are left, and which suits are held."""
    n_cards = sum(left)
    if rules.fourth_question is FourthQuestion.NEW_OR_HELD:
        n_held = sum(left[suit] for suit in held)
        return _two_answers(n_held, n_cards - n_held, n_cards, 0, policy)
    if policy == "random":
        return {RIGHT: n_cards, WRONG: (len(left) - 1) * n_cards}
    return {RIGHT: max(left), WRONG: n_cards - max(left)}


def second_verdicts(rules: BussikuskiRules, policy: str, first: int, second: int, ranks: int, suits: int) -> _Split:
    """Return the verdicts on question 2 for two ranks: verdict → number of answers that have it."""
    if first == second:
        return {rules.guess_tie.text: 2 if policy == "random" else 1}
    if policy == "random":
        return {RIGHT: 1, WRONG: 1}
    higher, lower = higher_or_lower(rules, suits * (ranks - 1 - first), suits * first, suits - 1)
    return {RIGHT if (second > first) == (higher >= lower) else WRONG: 1}


def interval_counts(first: int, second: int, ranks: int, suits: int) -> tuple[int, int, int]:
    """Return how many other cards lie inside, outside and on an end of the interval of two cards' ranks."""
    low, high = sorted((first, second))
    n_inside = suits * max(0, high - low - 1)
    n_boundary = suits - 2 if low == high else 2 * suits - 2
    return n_inside, ranks * suits - 2 - n_inside - n_boundary, n_boundary


def third_verdicts(rules: BussikuskiRules, policy: str, triple: Sequence[int], ranks: int, suits: int) -> _Split:
    """Return the verdicts on question 3 for three ranks: verdict → number of answers that have it."""
    low, high = sorted(triple[:2])
    copies = 2 if policy == "random" else 1
    if triple[2] in (low, high) and rules.boundary in (Boundary.WRONG, Boundary.RIGHT):
        return {rules.boundary.text: copies}
    if policy == "random":
        return {RIGHT: 1, WRONG: 1}
    on_end = triple[2] in (low, high)
    lies_inside = rules.boundary is Boundary.INSIDE if on_end else low < triple[2] < high
    inside, outside = inside_or_outside(rules, *interval_counts(low, high, ranks, suits))
    return {RIGHT if lies_inside == (inside >= outside) else WRONG: 1}


def marginal(law: dict[Verdicts, Fraction], question: int, verdict: str = RIGHT) -> Fraction:
    """Return the chance of a verdict on one question (1–4)."""
    return sum((p for verdicts, p in law.items() if verdicts[question - 1] == verdict), Fraction(0))


def wrong_law(law: dict[Verdicts, Fraction]) -> dict[int, Fraction]:
    """Return the law of the number of wrong answers, 0–4."""
    found = dict.fromkeys(range(5), Fraction(0))
    for verdicts, p in law.items():
        found[verdicts.count(WRONG)] += p
    return found


def attempt_law(law: dict[Verdicts, Fraction]) -> dict[int, Fraction]:
    """Return the law of the first question of an attempt on the bus that is not right; 0 if all four are."""
    found = dict.fromkeys(range(5), Fraction(0))
    for verdicts, p in law.items():
        failed = next((number for number, verdict in enumerate(verdicts, start=1) if verdict != RIGHT), 0)
        found[failed] += p
    return found


# -- knowing the others' cards ----------------------------------------------------------------------------------------


def counting_chance(rules: BussikuskiRules, question: int, n_others: int, ranks: int = 13, suits: int = 4) -> Fraction:
    """Return the chance that a player who knows `n_others` cards beside its own is right on a question (1–4).

    Derivation. Given the player's own cards, the other known cards are a uniform sample of the rest, so how many of
    them would make each answer right follows a multivariate hypergeometric law; the answer chosen is right with the
    larger of the numbers left, over the cards left. The sum runs over the own ranks (questions 2 and 3) or suits
    (question 4).

    Raises
    ------
    ValueError
        If no card is left to be turned.
    """
    n_left = ranks * suits - (question - 1) - n_others
    if n_left < 1:
        raise ValueError(f"{n_others} other cards and {question - 1} own ones leave none of {ranks * suits}")
    total = Fraction(0)
    for weight, groups, fits in _situations(rules, question, ranks, suits):
        best = 0
        for seen, ways in samples(groups, n_others):
            left = [size - n for size, n in zip(groups, seen, strict=True)]
            best += ways * max(sum(left[i] for i in group) for group in fits)
        total += Fraction(weight * best, comb(sum(groups), n_others) * n_left)
    return total / sum(weight for weight, _, _ in _situations(rules, question, ranks, suits))


def samples(groups: Sequence[int], n: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield (cards of each group, number of ways) for the samples of `n` cards from groups of these sizes."""
    if len(groups) == 1:
        if n <= groups[0]:
            yield (n,), comb(groups[0], n)
        return
    for k in range(max(0, n - sum(groups[1:])), min(groups[0], n) + 1):
        ways = comb(groups[0], k)
        for rest, more in samples(groups[1:], n - k):
            yield (k, *rest), ways * more


_Situation = tuple[int, tuple[int, ...], tuple[tuple[int, ...], ...]]


def _situations(rules: BussikuskiRules, question: int, ranks: int, suits: int) -> Iterator[_Situation]:
    """Yield (weight, sizes of the groups of cards not the own, the groups that each answer is right for)."""
    if question == 1:
        n_red = ranks * sum(suit in RED for suit in range(suits))
        yield 1, (n_red, ranks * suits - n_red), ((0,), (1,))
    elif question == 2:
        both = (2,) if rules.guess_tie is GuessTie.RIGHT else ()
        for rank in range(ranks):
            yield suits, (suits * (ranks - 1 - rank), suits * rank, suits - 1), ((0, *both), (1, *both))
    elif question == 3:
        ends_inside = (2,) if rules.boundary in (Boundary.INSIDE, Boundary.RIGHT) else ()
        ends_outside = (2,) if rules.boundary in (Boundary.OUTSIDE, Boundary.RIGHT) else ()
        for low, high in itertools.combinations_with_replacement(range(ranks), 2):
            pairs = comb(suits, 2) if low == high else suits**2
            yield pairs, interval_counts(low, high, ranks, suits), ((0, *ends_inside), (1, *ends_outside))
    else:
        for held in itertools.product(range(4), repeat=suits):
            if sum(held) == 3 and max(held) <= ranks:
                weight = 1
                for n in held:
                    weight *= comb(ranks, n)
                left = tuple(ranks - n for n in held)
                if rules.fourth_question is FourthQuestion.SUIT:
                    yield weight, left, tuple((suit,) for suit in range(suits))
                else:
                    n_held = sum(size for size, n in zip(left, held, strict=True) if n)
                    yield weight, (n_held, sum(left) - n_held), ((0,), (1,))


__all__ = [
    "FREE",
    "RED",
    "RIGHT",
    "WRONG",
    "Verdicts",
    "attempt_law",
    "counting_chance",
    "higher_or_lower",
    "inside_or_outside",
    "interval_counts",
    "joint_law",
    "marginal",
    "samples",
    "second_verdicts",
    "third_verdicts",
    "wrong_law",
]
