"""What is known exactly about Dupa biskupa: the deal, and who can go out in one move.

Ranks count from 0, the two, to 12, the ace. With d decks each rank has c = 4 d cards. Polynomials are lists of
coefficients: that of x^n counts the ways to choose n cards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import comb
from typing import TYPE_CHECKING, Any

from sim.cards import DECK_SIZE
from sim.game import Spec
from sim.games.dupa.rules import Dupa, DupaRules, Match, Opening, PassWhen
from sim.quantities import MEAN, Dealt, Quantity, Section, Seen, hypergeometric

if TYPE_CHECKING:
    import numpy as np

RANKS, COPIES = 13, 4
Poly = list[int]


def multiply(a: Sequence[int], b: Sequence[int], most: int) -> Poly:
    """Return the product of two polynomials, up to x^most."""
    found = [0] * (most + 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b[: most + 1 - i]):
                found[i + j] += x * y
    return found


def power(a: Sequence[int], n: int, most: int) -> Poly:
    """Return the n-th power of a polynomial, up to x^most."""
    found = [1] + [0] * most
    for _ in range(n):
        found = multiply(found, a, most)
    return found


# -- the deal ---------------------------------------------------------------------------------------------------------


def largest_set_law(hand: int, copies: int = COPIES, ranks: int = RANKS) -> dict[int, Fraction]:
    """Return the law of the number of cards of the commonest rank in a hand.

    Derivation. Hands with at most m cards of each rank: the coefficient of x^hand in (Σ_{j ≤ m} C(c, j) x^j)^ranks.
    """
    total = comb(ranks * copies, hand)
    at_most = [power([comb(copies, j) for j in range(m + 1)], ranks, hand)[hand] for m in range(min(copies, hand) + 1)]
    law = {m: Fraction(at_most[m] - at_most[m - 1], total) for m in range(1, len(at_most))}
    return {m: p for m, p in law.items() if p}


def every_seat_has_an_ace(players: int, hand: int, n_aces: int, n_cards: int) -> Fraction:
    """Return the chance that every seat is dealt an ace.

    Derivation. Inclusion and exclusion over the seats without one: j given hands hold none with chance
    C(N-A, j h)/C(N, j h).
    """
    return sum(
        (
            (-1) ** j * comb(players, j) * Fraction(comb(n_cards - n_aces, j * hand), comb(n_cards, j * hand))
            for j in range(players + 1)
        ),
        Fraction(0),
    )


# -- going out in one move --------------------------------------------------------------------------------------------


def one_set(hand: int, copies: int = COPIES, ranks: int = RANKS) -> Fraction:
    """Return the chance that a hand is one set, so that it goes out with a lead."""
    return Fraction(ranks * comb(copies, hand), comb(ranks * copies, hand))


def second_goes_out(
    hand: int, several: bool, demands: bool, copies: int = COPIES, ranks: int = RANKS, *, dupas: bool = True
) -> Fraction:
    """Return the chance that the second player can go out in its first move, after a greedy lead.

    Derivation. The lead is the leader's largest set, of the lowest such rank, the ace last: s cards of rank r lead if
    no lower rank has s or more, and no higher one (nor the ace) more than s. That bounds the leader's cards of each
    other rank, so leaders' hands are coefficients of products of (Σ_{j ≤ bound} C(c, j) x^j). See `_answers` for the
    hands of the second player that count.

    Parameters
    ----------
    several
        Several dupas may be laid in one move.
    demands
        The lead is a dupa unless it is of aces, so that it has to be beaten.
    dupas
        There are dupas at all.
    """
    ace = ranks - 1
    total = comb(ranks * copies, hand) * comb(ranks * copies - hand, hand)
    found = 0
    for lead in range(ranks):
        for n_lead in range(1, min(copies, hand) + 1):
            if n_lead == hand:
                continue  # the leader is out
            bounds = [
                0 if rank == lead else min(copies, n_lead - (rank < lead or lead == ace)) for rank in range(ranks)
            ]
            choices = [[comb(copies, j) for j in range(bound + 1)] for bound in bounds]
            found += comb(copies, n_lead) * _answers(
                hand, lead, n_lead, choices, several, demands and lead != ace, copies, dupas=dupas
            )
    return Fraction(found, total)


def _answers(
    hand: int,
    lead: int,
    n_lead: int,
    choices: Sequence[Sequence[int]],
    several: bool,
    demands: bool,
    copies: int,
    *,
    dupas: bool,
) -> int:
    """Return the number of (rest of the leader's hand, second hand) in which the second player can go out at once.

    Derivation. It goes out by dupas alone, or by one set. Dupas (several of them, or one): its ranks are neither the
    ace nor the lead's, which is in the pile, and higher than a lead that demands it. If the leader holds e cards of
    these m ranks, C(c m - e, h) hands are of them. One set of another kind: aces; or the lead's rank, which fits,
    unless the lead has to be beaten.

    Parameters
    ----------
    choices
        For each rank the ways in which the leader holds 0, 1, … cards of it (of the lead's rank, beside the lead).
    """
    ace = len(choices) - 1
    may = [rank for rank in range(ace) if rank != lead and (rank > lead or not demands)] if dupas else []
    rest = hand - n_lead
    found = 0
    if several and may:
        within = _product([choices[rank] for rank in may], rest)
        without = _product([choices[rank] for rank in range(ace + 1) if rank not in may and rank != lead], rest)
        found += sum(
            within[e] * without[rest - e] * comb(copies * len(may) - e, hand) for e in range(rest + 1) if within[e]
        )
    if hand > copies:
        return found  # no set is as large
    sets = [ace, *(() if demands or lead == ace else (lead,)), *(() if several else may)]
    for rank in sets:
        if rank == lead:
            marked = [comb(copies - n_lead, hand)]
        else:
            marked = [ways * comb(copies - held, hand) for held, ways in enumerate(choices[rank])]
        others = _product([choices[other] for other in range(ace + 1) if other not in (rank, lead)], rest)
        found += sum(ways * others[rest - held] for held, ways in enumerate(marked) if held <= rest)
    return found


def _product(factors: Sequence[Sequence[int]], most: int) -> Poly:
    found = [1] + [0] * most
    for factor in factors:
        found = multiply(found, factor, most)
    return found


def second_goes_out_at_random(
    hand: int, several: bool, demand: Fraction, copies: int = COPIES, ranks: int = RANKS, *, dupas: bool = True
) -> Fraction:
    """Return the chance that the second player can go out in its first move, after a random lead.

    Derivation. The lead is of each of the k ranks of the leader's hand with chance 1/k = ∫ z^(k-1) dz from 0 to 1. With
    a factor z for every other rank held, the number of pairs of hands that count is a polynomial in z of a degree below
    the number of ranks; its values at 0, 1, … give the integral exactly. A hand of one rank is led as a whole, and the
    leader is out, with chance 1/(2^h - 1).

    Parameters
    ----------
    demand
        The chance that a lead that is not of aces has to be beaten.
    """
    ace = ranks - 1
    total = comb(ranks * copies, hand) * comb(ranks * copies - hand, hand)
    found = Fraction(0)
    for z, weight in enumerate(_integral(ranks)):
        choice = [1, *(z * comb(copies, j) for j in range(1, min(copies, hand) + 1))]
        for lead in range(ranks):
            choices = [[1] if rank == lead else choice for rank in range(ranks)]
            for n_lead in range(1, min(copies, hand) + 1):
                stays = 1 - Fraction(1, 2**hand - 1) if n_lead == hand else Fraction(1)
                for demands, chance in ((False, 1 - demand), (True, demand)):
                    chance = chance if lead != ace else Fraction(not demands)
                    if chance and stays:
                        ways = _answers(hand, lead, n_lead, choices, several, demands, copies, dupas=dupas)
                        found += weight * stays * chance * comb(copies, n_lead) * ways
    return found / total


@cache
def _integral(n: int) -> tuple[Fraction, ...]:
    """Return w such that Σ w_i f(i), i = 0 … n - 1, is the integral from 0 to 1 of a polynomial f of degree < n."""
    weights = []
    for i in range(n):
        basis = [Fraction(1)]  # Lagrange's polynomial, 1 at i and 0 at the other nodes
        for other in range(n):
            if other != i:
                shifted = [Fraction(0), *basis]
                for at, coefficient in enumerate(basis):
                    shifted[at] -= other * coefficient
                basis = [coefficient / (i - other) for coefficient in shifted]
        weights.append(sum((coefficient / (at + 1) for at, coefficient in enumerate(basis)), Fraction(0)))
    return tuple(weights)


# -- what is printed --------------------------------------------------------------------------------------------------


def sections(spec: Spec) -> Iterator[Section]:
    """Yield what is known exactly."""
    rules: DupaRules = spec.rules
    hand, n_cards, n_aces = rules.cards_each, rules.n_cards, COPIES * rules.decks
    pack = tuple(range(DECK_SIZE)) * rules.decks
    sets = largest_set_law(hand, n_aces)
    yield Section(
        f"The largest set in a hand of {hand}",
        tuple(
            Quantity(f"{m} cards" if m > 1 else "1 card", p, shown=Dealt(_statistic("set", 1, hand), m, pack))
            for m, p in sets.items()
        ),
    )
    aces = hypergeometric(hand, n_aces, n_cards)
    found = [
        Quantity(f"{k} aces" if k != 1 else "1 ace", p, shown=Dealt(_statistic("aces", 1, hand), k, pack))
        for k, p in aces.items()
    ]
    mean = Fraction(hand * n_aces, n_cards)
    found.append(Quantity("mean", mean, MEAN, Dealt(_statistic("aces", 1, hand), None, pack)))
    every = every_seat_has_an_ace(rules.players, hand, n_aces, n_cards)
    shown = Dealt(_statistic("fewest", rules.players, hand), 0, pack)
    found.append(Quantity("some seat has none", 1 - every, shown=shown))
    if hand >= n_aces:
        shown = Dealt(_statistic("most", rules.players, hand), n_aces, pack)
        found.append(Quantity("some seat has all", rules.players * aces.get(n_aces, Fraction(0)), shown=shown))
    yield Section("Aces of a seat", tuple(found))
    yield _going_out(rules, spec.policies["policy"][0])


def _going_out(rules: DupaRules, leader: str) -> Section:
    """Return who goes out in one move."""
    hand, copies = rules.cards_each, COPIES * rules.decks
    title = "Going out in one move"
    first = "the leader: its hand is one set"
    one_round = (("rounds", 1), ("max_turns", max(3, rules.max_turns)))
    greedy = (("policy", "greedy"),)
    found = [Quantity(first, one_set(hand, copies), shown=Seen("turns", 1, rules=one_round, policies=greedy))]
    if 2 * hand > rules.n_cards:
        return Section(title, tuple(found))
    if hand <= copies and (rules.dupa is Dupa.OFF or rules.match is Match.SUIT):
        why = "the second player's first move (hands so small can be one set, and whether it fits is a matter of suits)"
        return Section(title, tuple(found), (why,))
    dupas = rules.dupa is not Dupa.OFF
    several = rules.several_dupas and dupas
    demands = rules.opening is Opening.DUPA and dupas
    name = "the second player, after a {} lead"
    chance = second_goes_out(hand, several, demands, copies, dupas=dupas)
    seen = Seen("turns", 2, rules=one_round, policies=greedy)
    found.append(Quantity(name.format("greedy"), chance, shown=seen))
    missing = []
    if leader == "careful":
        missing.append("after a lead of the policy careful (what it leads depends on more than these counts)")
    if rules.pass_when is PassWhen.ANY:
        missing.insert(0, "pass_when = any: after a random lead (it may pass instead)")
    else:
        demand = Fraction(int(demands), 2 if rules.dupa is Dupa.DECLARED else 1)
        chance = second_goes_out_at_random(hand, several, demand, copies, dupas=dupas)
        mixed = ",".join(["random", *["greedy"] * (rules.players - 1)])
        seen = Seen("turns", 2, rules=one_round, policies=(("policy", mixed),))
        found.append(Quantity(name.format("random"), chance, shown=seen))
    return Section(title, tuple(found), tuple(missing))


@cache
def _statistic(what: str, players: int, hand: int) -> Any:
    """Return the function from deals to a number a game: of the first hand, or the fewest or most aces of a seat."""

    def of_deals(deals: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        import numpy as np

        if what == "set":
            ranks = deals[:, :hand] // COPIES
            return np.asarray(np.max([(ranks == rank).sum(axis=1) for rank in range(RANKS)], axis=0))
        aces = [(deals[:, seat * hand : (seat + 1) * hand] < COPIES).sum(axis=1) for seat in range(players)]
        return np.asarray(np.max(aces, axis=0) if what in ("aces", "most") else np.min(aces, axis=0))

    return of_deals


__all__ = [
    "every_seat_has_an_ace",
    "largest_set_law",
    "one_set",
    "second_goes_out",
    "second_goes_out_at_random",
    "sections",
]
