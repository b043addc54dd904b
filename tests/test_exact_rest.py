"""The rest of a ride on a bus of guesses: against plain recursion and against every order of the stock."""

import itertools
from fractions import Fraction

import pytest

from sim import get_game
from sim.games.bussikuski.rest import BEST, COUNTING, Rest, TooManyPositionsError
from tests.command_line import good, refused
from tests.reference import bussikuski as reference

BUILD = get_game("bussikuski").rules.build
SUITS = "SHDC"
RANKS = "23456789TJQKA"

STOCKS = ["5S 9H", "2S 5H 9D KC", "5S 5H 6D 9C 9S", "2S 2H 2D 8C QS", "7S 7H AD 3C"]
RULES = [
    {"bus": "straight", "straight_length": 2},
    {"bus": "straight", "straight_length": 3, "bus_tie": "right", "bus_stake": "flat"},
    {"bus": "questions", "boundary": "outside"},
    {
        "bus": "questions",
        "guess_tie": "free",
        "boundary": "right",
        "fourth_question": "new_or_held",
        "bus_stake": "flat",
    },
    {"bus": "questions", "guess_tie": "right", "boundary": "wrong"},
]


def question(full, attempt, number):
    if full["bus"] == "straight":
        return reference.Question("higher", ranks=(reference.RANK[attempt[-1]],), equal=full["bus_tie"])
    return reference.question_of(full, number, attempt)


def outlook(full, stock, attempt, choose):
    """Return (mean penalty, chance of success) by looking at every card that may come; no position is kept.

    `choose` takes answer → (penalty, minus success) and answer → cards that fit, and returns the answer.
    """
    if not stock:
        return Fraction(0), Fraction(0)
    number = len(attempt) + (full["bus"] == "questions")
    n = len(stock)
    if number == 0:
        after = [outlook(full, stock[:at] + stock[at + 1 :], [card], choose) for at, card in enumerate(stock)]
        return sum(p for p, _ in after) / n, sum(s for _, s in after) / n
    last = full["straight_length"] if full["bus"] == "straight" else 4
    asked = question(full, attempt, number)
    stake = number if full["bus_stake"] == "by_row" else 1
    found, fits = {}, {}
    for answer in reference.ANSWERS[asked.kind]:
        penalty = success = Fraction(0)
        fits[answer] = 0
        for at, card in enumerate(stock):
            rest = stock[:at] + stock[at + 1 :]
            if reference.verdict(asked, answer, card) == "right":
                fits[answer] += 1
                more = (0, 1) if number == last else outlook(full, rest, [*attempt, card], choose)
                penalty, success = penalty + more[0], success + more[1]
            else:
                more = outlook(full, rest, [], choose)
                penalty, success = penalty + more[0] + stake, success + more[1]
        found[answer] = penalty / n, success / n
    return found[choose(found, fits)]


def least(found, fits):
    return min(found, key=lambda answer: (found[answer][0], -found[answer][1]))


def likeliest(found, fits):
    return max(fits, key=lambda answer: fits[answer])


def numbers(text):
    return [(RANKS.index(card[0]), SUITS.index(card[1])) for card in text.split()]


@pytest.mark.parametrize("options", RULES, ids=str)
@pytest.mark.parametrize("stock", STOCKS)
def test_by_plain_recursion(options, stock):
    rules, full = BUILD(options=options), reference.resolve(options)
    for policy, choose in ((BEST, least), (COUNTING, likeliest)):
        found = Rest(rules, numbers(stock), policy).outlook()
        assert (found.penalty, found.success) == outlook(full, stock.split(), [], choose)
    own = ["6S"]
    found = Rest(rules, numbers(stock)).outlook(numbers("6S"))
    assert (found.penalty, found.success) == outlook(full, stock.split(), own, least)


@pytest.mark.parametrize("options", RULES, ids=str)
def test_counting_by_every_order_of_the_stock(options):
    """The reference rides each order of the last cards, having turned all the others before."""
    rules, full = BUILD(options=options), reference.resolve(options)
    stock = ["3S", "5H", "5D", "8C", "QS", "AD"]
    gone = [card for card in reference.CARDS if card not in stock]
    totals = [0, 0]
    orders = list(itertools.permutations(stock))
    for order in orders:
        bus = reference.GuessingBus(full, reference.ExplicitOrders([reference.CARDS, [*gone, *order]]), None)
        bus.discards, bus.stock = list(gone), list(order)
        attempt = reference.try_straight if full["bus"] == "straight" else reference.try_questions
        while (end := attempt(bus, "counting", None)) == "failed":
            bus.discard_attempt()
        totals[0] += bus.ride.penalty
        totals[1] += end == "success"
    found = Rest(rules, numbers(" ".join(stock)), COUNTING).outlook()
    assert (found.penalty, found.success) == (Fraction(totals[0], len(orders)), Fraction(totals[1], len(orders)))


def test_the_best_answers_cost_no_more_than_the_likeliest():
    stock = numbers("2S 2H 5D 6C 6S 9H KD")
    gains = []
    for options in RULES:
        rules = BUILD(options=options)
        best, counting = (Rest(rules, stock, policy).outlook() for policy in (BEST, COUNTING))
        assert best.penalty <= counting.penalty
        gains.append(best.penalty < counting.penalty)
    assert any(gains)


def test_too_many_cards_are_refused():
    rules = BUILD(options={"bus": "straight"})
    deck = list(itertools.product(range(13), range(4)))
    with pytest.raises(TooManyPositionsError, match="21 cards are left"):
        Rest(rules, deck[:21])
    with pytest.raises(TooManyPositionsError, match="20 cards are left: more than 500 positions"):
        Rest(rules, deck[:20], positions=500).outlook()
    with pytest.raises(ValueError, match="nothing to answer"):
        Rest(rules, deck[:5]).answers()


def test_the_command():
    gone = " ".join(card for card in reference.CARDS if card[0] not in "5K")
    text = good("exact", "bussikuski", "--variant", "straight", "--gone", gone, "--hand", "5S")
    lines = text.splitlines()
    assert lines[0] == "Bussikuski: the rest of a ride, 7 cards in the stock"
    assert "Now say lower:" in lines  # to fail soon is cheap, and the stock runs out
    told = good("exact", "bussikuski", "--variant", "questions", "--gone", gone, "--json")
    assert '"stock": ["5S", "5H", "5D", "5C", "KS", "KH", "KD", "KC"]' in told
    assert "--gone is for a bus of guesses" in refused("exact", "bussikuski", "--gone", gone)
    assert "51 cards are left" in refused("exact", "bussikuski", "--variant", "straight", "--gone", "2S")
    assert "--gone: 2S is named twice" in refused(
        "exact", "bussikuski", "--variant", "straight", "--gone", "2S", "--hand", "2S"
    )
    assert "--gone goes with --hand alone" in refused(
        "exact", "bussikuski", "--variant", "straight", "--gone", "2S", "--card"
    )
