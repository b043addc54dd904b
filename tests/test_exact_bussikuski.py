"""Bussikuski's exact values: against the enumeration of small decks, known values, and each option that they honour."""

import itertools
import math
import random
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from math import comb

import pytest

from sim import exact, get_game
from sim.cards import CARDS, parse_cards
from sim.games.bussikuski.answers import answer_for, answers_frame, best_answers
from sim.games.bussikuski.leftovers import found_by, left_law, ranks_in_pyramid
from sim.games.bussikuski.questions import attempt_law, counting_chance, joint_law, marginal, wrong_law
from sim.games.bussikuski.rides import (
    Ladder,
    diamond_ladder,
    fresh_diamond,
    fresh_ride,
    reshuffled_ride,
    running_ride,
)
from sim.games.bussikuski.rules import Matches
from sim.games.bussikuski.straight import best_attempt, straight_attempt
from tests.reference import bussikuski as reference

BUILD = get_game("bussikuski").rules.build


def rules(**options):
    return BUILD(options=options)


# -- known values -----------------------------------------------------------------------------------------------------


def test_known_values():
    assert fresh_diamond(7, 16)[1] == Fraction(6138, 98371)
    law = joint_law(rules(boundary="wrong"), "own")
    assert wrong_law(law)[0] == attempt_law(law)[0] == Fraction(788, 12495)
    assert marginal(law, 2) == straight_attempt(1, "own", False).success == Fraction(160, 221)
    assert exact("bussikuski")["The bus: one attempt from a fresh deck: success"] == Fraction(6138, 98371)
    assert exact("bussikuski", rules={"boundary": "wrong"})["all four right, own"] == Fraction(788, 12495)
    assert exact("bussikuski")["question 2 right, own"] == Fraction(160, 221)


# -- the four questions on 8 and 12 cards -----------------------------------------------------------------------------


def truths(rule, number, own, card):
    """Return the answers that a card makes right, or None if it counts neither way; straight from the rule book."""
    rank, suit = card
    if number == 1:
        return {"red"} if suit in (1, 2) else {"black"}
    if number == 2:
        if rank == own[0][0]:
            return {"wrong": set(), "right": {"higher", "lower"}, "free": None}[rule.guess_tie.text]
        return {"higher"} if rank > own[0][0] else {"lower"}
    if number == 3:
        low, high = sorted((own[0][0], own[1][0]))
        if rank in (low, high):
            both = {"wrong": set(), "right": {"inside", "outside"}}
            return both.get(rule.boundary.text, {rule.boundary.text})
        return {"inside"} if low < rank < high else {"outside"}
    if rule.fourth_question.text == "suit":
        return {suit}
    return {"held"} if suit in {own_suit for _, own_suit in own} else {"new"}


def answers(rule, number, suits):
    last = list(range(suits)) if rule.fourth_question.text == "suit" else ["held", "new"]
    return [["red", "black"], ["higher", "lower"], ["inside", "outside"], last][number - 1]


def chosen(rule, number, own, known, deck, suits):
    """Return the answer that most cards not known fit."""
    left = [card for card in deck if card not in known]
    possible = answers(rule, number, suits)
    counts = [sum(answer in (truths(rule, number, own, card) or ()) for card in left) for answer in possible]
    return possible[counts.index(max(counts))]


def enumerated(rule, policy, ranks, suits):
    """Return the law of the four verdicts over all ordered draws."""
    deck = tuple(itertools.product(range(ranks), range(suits)))
    law = Counter()
    for drawn in itertools.permutations(deck, 4):
        each = []
        for number in range(1, 5):
            own = drawn[: number - 1]
            said = answers(rule, number, suits) if policy == "random" else [best(rule, number, own, deck, suits)]
            right = truths(rule, number, own, drawn[number - 1])
            each.append(Counter("free" if right is None else "right" if a in right else "wrong" for a in said))
        for verdicts in itertools.product(*each):
            law[verdicts] += math.prod(counts[verdict] for counts, verdict in zip(each, verdicts, strict=True))
    total = sum(law.values())
    return {verdicts: Fraction(n, total) for verdicts, n in law.items()}


@cache
def best(rule, number, own, deck, suits):
    return chosen(rule, number, own, own, deck, suits)


OPTIONS = [
    {"guess_tie": tie, "boundary": boundary, "fourth_question": fourth}
    for tie in ("wrong", "right", "free")
    for boundary in ("inside", "outside", "wrong", "right")
    for fourth in ("suit", "new_or_held")
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options.values()))
def test_questions_on_eight_cards(options):
    rule = rules(**options)
    assert joint_law(rule, "own", ranks=4, suits=2) == enumerated(rule, "own", 4, 2)
    assert joint_law(rule, "random", ranks=2, suits=4) == enumerated(rule, "random", 2, 4)


@pytest.mark.parametrize(
    "options", [OPTIONS[0], OPTIONS[13], OPTIONS[22]], ids=lambda options: "-".join(options.values())
)
def test_questions_on_twelve_cards(options):
    rule = rules(**options)
    assert joint_law(rule, "own", ranks=3, suits=4) == enumerated(rule, "own", 3, 4)


def test_every_option_of_the_questions_matters():
    laws = {
        policy: [tuple(sorted(joint_law(rules(**o), policy).items())) for o in OPTIONS] for policy in ("own", "random")
    }
    assert len(set(laws["own"])) == len(OPTIONS)
    # At random the boundary is a coin's toss wherever it lies.
    assert len(set(laws["random"])) == 3 * 3 * 2


@pytest.mark.parametrize("options", OPTIONS[::5], ids=lambda options: "-".join(options.values()))
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_counting_on_eight_cards(options, number):
    rule = rules(**options)
    ranks, suits, n_others = 4, 2, 2
    deck = list(itertools.product(range(ranks), range(suits)))
    right = total = 0
    for drawn in itertools.permutations(deck, number - 1 + n_others + 1):
        own, known, card = drawn[: number - 1], drawn[:-1], drawn[-1]
        answer = chosen(rule, number, own, known, deck, suits)
        right += answer in (truths(rule, number, own, card) or ())
        total += 1
    assert counting_chance(rule, number, n_others, ranks, suits) == Fraction(right, total)


def test_counting_with_nothing_counted_is_own():
    for options in OPTIONS:
        law = joint_law(rules(**options), "own")
        for number in range(1, 5):
            assert counting_chance(rules(**options), number, 0) == marginal(law, number)
    with pytest.raises(ValueError, match="leave none of 8"):
        counting_chance(rules(), 3, 6, ranks=4, suits=2)


# -- the diamond on 8 and 12 cards ------------------------------------------------------------------------------------


def ridden(rows, order, by_row, max_attempts, shuffles):
    """Ride the diamond on a deck of True (blockers) and False; yield (weight, end, attempts, penalty, turned).

    Every order that `shuffles` gives for a new stock is gone through.
    """
    bus, deck = [], list(order)
    for places in rows:
        bus.append([deck.pop(0) for _ in range(places)])
    yield from _attempt(rows, bus, deck, [], (0, 0, 0), by_row, max_attempts, shuffles)


def _attempt(rows, bus, stock, discards, so_far, by_row, max_attempts, shuffles):
    attempts, penalty, turned = so_far
    bus = [list(row) for row in bus]
    attempts += 1
    number = next((at for at, row in enumerate(bus, start=1) if row[0]), 0)
    turned += number or len(bus)
    if not number:
        yield Fraction(1), "success", attempts, penalty, turned
        return
    penalty += rows[number - 1] if by_row else 1
    if attempts == max_attempts:
        yield Fraction(1), "attempt_cap", attempts, penalty, turned
        return
    discards = discards + [row.pop(0) for row in bus[:number]]
    stocks = [(Fraction(1), stock, discards)]
    if len(stock) < number:
        if shuffles is None:
            yield Fraction(1), "stock_out", attempts, penalty, turned
            return
        orders = shuffles(stock + discards)
        stocks = [(Fraction(1, len(orders)), list(order), []) for order in orders]
    for weight, new, gone in stocks:
        lying = [[new[at], *row] if at < number else list(row) for at, row in enumerate(bus)]
        for p, *rest in _attempt(
            rows, lying, new[number:], gone, (attempts, penalty, turned), by_row, max_attempts, shuffles
        ):
            yield weight * p, *rest


def all_orders(cards):
    """Return every order of blockers and others, each as often as any."""
    n = len(cards)
    return [[at in chosen for at in range(n)] for chosen in itertools.combinations(range(n), sum(cards))]


def laws_of(rides):
    ends, laws = defaultdict(Fraction), [defaultdict(Fraction) for _ in range(3)]
    for weight, end, *values in rides:
        ends[end] += weight
        for law, value in zip(laws, values, strict=True):
            law[value] += weight
    return dict(ends), *map(dict, laws)


RIDES = [((1, 2, 1), 4, 8), ((2, 1, 2, 1), 3, 8), ((1, 1), 6, 8), ((3, 2), 2, 8), ((1, 2, 1), 5, 12), ((8,), 3, 8)]


@pytest.mark.parametrize(("rows", "n_blockers", "n_cards"), RIDES)
@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize("max_attempts", [0, 2])
def test_running_diamond(rows, n_blockers, n_cards, by_row, max_attempts):
    orders = all_orders([True] * n_blockers + [False] * (n_cards - n_blockers))
    rides = [
        (weight / len(orders), *rest)
        for order in orders
        for weight, *rest in ridden(rows, order, by_row, max_attempts, None)
    ]
    ride = running_ride(rows, n_blockers, by_row, max_attempts, n_cards)
    assert (ride.ends, ride.attempts, ride.penalty, ride.turned) == laws_of(rides)
    assert ride.followed is None
    assert ride.means["penalty"] == sum(p * x for p, _, _, x, _ in rides)


@pytest.mark.parametrize(("rows", "n_blockers", "n_cards"), [r for r in RIDES if r[2] == 8])
@pytest.mark.parametrize("by_row", [True, False])
def test_reshuffled_diamond(rows, n_blockers, n_cards, by_row):
    cap = 4
    orders = all_orders([True] * n_blockers + [False] * (n_cards - n_blockers))
    rides = [
        (weight / len(orders), *rest)
        for order in orders
        for weight, *rest in ridden(rows, order, by_row, cap, all_orders)
    ]
    ends, *laws = laws_of(rides)
    ride = reshuffled_ride(rows, n_blockers, by_row, cap, "attempt_cap", n_cards)
    assert {end: p for end, p in ride.ends.items() if p} == ends
    assert [ride.attempts, ride.penalty, ride.turned] == laws
    # Followed in part, what is named is the same.
    part = reshuffled_ride(rows, n_blockers, by_row, 100, "turn_cap", n_cards, steps=60)
    assert part.followed is not None
    assert not part.ends
    whole = reshuffled_ride(rows, n_blockers, by_row, 30, "turn_cap", n_cards, steps=10**7)
    for name in ("attempts", "penalty", "turned"):
        for value, p in getattr(part, name).items():
            if name != "attempts" or value < 30:
                assert getattr(whole, name).get(value, 0) == p, (name, value)


@pytest.mark.parametrize(("rows", "n_blockers", "n_cards"), RIDES)
@pytest.mark.parametrize("cap", [1, 3])
def test_fresh_diamond(rows, n_blockers, n_cards, cap):
    """A ride on fresh decks: the product of enumerated attempts."""
    fails, success = fresh_diamond(len(rows), n_blockers, n_cards)
    orders = all_orders([True] * n_blockers + [False] * (n_cards - n_blockers))
    once = Counter(next(ridden(rows, order, True, 1, None))[1:] for order in orders)
    assert Fraction(sum(n for (end, *_), n in once.items() if end == "success"), len(orders)) == success
    rides = [(Fraction(1), "", 0, 0, 0)]
    for _ in range(cap):
        rides = [
            new
            for weight, end, *values in rides
            for new in (
                [(weight, end, *values)]
                if end == "success"
                else [
                    (weight * n / len(orders), one_end, *(a + b for a, b in zip(values, more, strict=True)))
                    for (one_end, *more), n in once.items()
                ]
            )
        ]
    ride = fresh_ride(fails, success, diamond_ladder(rows, True), cap, "attempt_cap")
    ends, *laws = laws_of(rides)
    assert {end: p for end, p in ride.ends.items() if p} == ends
    assert [ride.attempts, ride.penalty, ride.turned] == laws


def test_without_a_cap_a_fresh_ride_is_the_limit():
    fails, success = fresh_diamond(3, 4, 8)
    ladder = diamond_ladder((1, 2, 1), True)
    far = fresh_ride(fails, success, ladder, 40, "turn_cap", rows=40)
    ride = fresh_ride(fails, success, ladder, 10_000, "turn_cap", rows=30)
    assert ride.without_cap
    for name in ("attempts", "penalty", "turned"):
        assert all(getattr(far, name)[value] == p for value, p in getattr(ride, name).items() if value < 30)
        gap = ride.means[name] - far.means[name]
        assert 0 < gap < 200 * (1 - success) ** 40
    never = fresh_ride([Fraction(1)], Fraction(0), Ladder((3,), (1,), 1), 10_000, "turn_cap")
    assert never.means == {"attempts": 10_000, "penalty": 30_000, "turned": 10_000}
    assert never.ends == {"success": 0, "turn_cap": 1}
    assert fresh_ride([Fraction(0)], Fraction(1), Ladder((3,), (1,), 1), 10_000, "turn_cap").attempts == {1: 1}


# -- the straight bus on 8 and 12 cards -------------------------------------------------------------------------------


def played_straight(length, policy, tie, deck):
    """Return the law of the failed guess over all ordered draws of cards (ranks, with repetition)."""
    fails = defaultdict(Fraction)
    draws = list(itertools.permutations(range(len(deck)), length + 1))
    for draw in draws:
        cards = [deck[at] for at in draw]
        alive = Fraction(1, len(draws))
        for guess in range(1, length + 1):
            last, card = cards[guess - 1], cards[guess]
            if policy == "random":
                right = Fraction(1, 2) if card != last else Fraction(tie)
            else:
                left = [deck[at] for at in range(len(deck)) if at not in draw[:guess]]
                higher, lower = (sum(s * (x - last) > 0 for x in left) for s in (1, -1))
                right = Fraction(tie if card == last else (card > last) == (higher >= lower))
            fails[guess] += alive * (1 - right)
            alive *= right
    return dict(fails)


@pytest.mark.parametrize("tie", [False, True])
@pytest.mark.parametrize("policy", ["own", "random"])
@pytest.mark.parametrize(("ranks", "copies", "length"), [(4, 2, 4), (3, 4, 3)])
def test_straight(policy, tie, ranks, copies, length):
    deck = [rank for rank in range(ranks) for _ in range(copies)]
    attempt = straight_attempt(length, policy, tie, ranks, copies)
    assert attempt.fails == played_straight(length, policy, tie, deck)
    assert attempt.success == 1 - sum(attempt.fails.values())


def best_straight(deck, last, length, tie):
    """Return the best chance of `length` right guesses in a row, by looking at every answer and every card."""
    if not length:
        return Fraction(1)
    found = []
    for sign in (1, -1):
        chance = Fraction(0)
        for at, card in enumerate(deck):
            if sign * (card - last) > 0 or (card == last and tie):
                chance += Fraction(1, len(deck)) * best_straight(deck[:at] + deck[at + 1 :], card, length - 1, tie)
        found.append(chance)
    return max(found)


@pytest.mark.parametrize("tie", [False, True])
@pytest.mark.parametrize(("ranks", "copies", "length"), [(4, 2, 4), (3, 3, 3), (6, 2, 2)])
def test_best_answers_on_the_straight_bus(tie, ranks, copies, length):
    deck = [rank for rank in range(ranks) for _ in range(copies)]
    chances = [best_straight(deck[:at] + deck[at + 1 :], card, length, tie) for at, card in enumerate(deck)]
    assert best_attempt(length, tie, ranks, copies) == sum(chances) / len(deck)


def test_the_likelier_answer_is_the_best_one_on_the_straight_bus():
    for length in (1, 2, 3, 4):
        assert best_attempt(length, False) == straight_attempt(length, "own", False).success


def test_a_straight_bus_too_long_is_followed_in_part():
    whole, part = straight_attempt(4, "own", False), straight_attempt(4, "own", False, positions=500)
    assert part.success is None
    assert part.fails == {guess: p for guess, p in whole.fails.items() if guess in part.fails}
    assert 1 <= len(part.fails) < 4
    assert best_attempt(4, False, positions=500) is None


# -- leftovers on 8 and 12 cards --------------------------------------------------------------------------------------


def dealt_out(ranks, suits, hand, players, pyramid):
    """Yield (hands, pyramid) as lists of cards (rank, suit), each as often as any."""
    deck = list(itertools.product(range(ranks), range(suits)))

    def deal(left, n):
        if not n:
            yield from (([], list(cards)) for cards in itertools.combinations(left, pyramid))
            return
        for cards in itertools.combinations(left, hand):
            rest = [card for card in left if card not in cards]
            for hands, laid in deal(rest, n - 1):
                yield [list(cards), *hands], laid

    yield from deal(deck, players)


def remaining(hand, laid, matches):
    hand = list(hand)
    for rank, _ in laid:
        same = [card for card in hand if card[0] == rank]
        for card in same if matches is Matches.ALL else same[:1]:
            hand.remove(card)
    return hand


DECKS = [(4, 2, 2, 2, 3), (3, 4, 2, 2, 2), (4, 2, 1, 3, 2), (4, 3, 1, 2, 3)]


@pytest.mark.parametrize("matches", list(Matches))
@pytest.mark.parametrize(("ranks", "suits", "hand", "players", "pyramid"), DECKS)
def test_cards_left(ranks, suits, hand, players, pyramid, matches):
    lefts = Counter(
        len(remaining(hands[0], laid, matches)) for hands, laid in dealt_out(ranks, suits, hand, 1, pyramid)
    )
    law = left_law(pyramid, matches, ranks, suits, hand)
    assert law == {n: Fraction(lefts[n], lefts.total()) for n in range(hand + 1)}


@pytest.mark.parametrize("matches", list(Matches))
@pytest.mark.parametrize(
    ("ranks", "suits", "hand", "players", "pyramid"), [*DECKS, (2, 4, 3, 2, 1), (3, 4, 3, 2, 1), (2, 4, 2, 3, 2)]
)
def test_driver(ranks, suits, hand, players, pyramid, matches):
    found = Counter()
    for hands, laid in dealt_out(ranks, suits, hand, players, pyramid):
        left = [remaining(one, laid, matches) for one in hands]
        most = max(map(len, left))
        tied = [one for one in left if len(one) == most]
        found["all"] += 1
        if most == 0:
            found["nobody"] += 1
        elif len(tied) == 1:
            found["most_cards"] += 1
        else:
            found["tied"] += 1
            for name, end in (("lowest", min), ("highest", max)):
                ends = [end(rank for rank, _ in one) for one in tied]
                found[name] += ends.count(end(ends)) == 1
    by = found_by(players, pyramid, matches, ranks, suits, hand)
    counted = {name: Fraction(found[name], found["all"]) for name in ("most_cards", "tied", "nobody")}
    assert counted == {name: getattr(by, name) for name in counted}
    if matches is Matches.ALL:
        assert by.broken == Fraction(found["lowest"], found["all"]) == Fraction(found["highest"], found["all"])
    else:
        assert by.broken is None


def test_ranks_in_the_pyramid():
    deck = list(itertools.product(range(4), range(2)))
    counts = Counter(len({rank for rank, _ in cards}) for cards in itertools.combinations(deck, 3))
    assert ranks_in_pyramid(3, 4, 2) == {k: Fraction(n, comb(8, 3)) for k, n in counts.items()}


# -- the best answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS[::3], ids=lambda options: "-".join(options.values()))
def test_best_answers_are_those_of_the_reference(options):
    rule, full = rules(**options), reference.resolve(options)
    chance = random.Random(1)
    for _ in range(150):
        cards = chance.sample(CARDS, chance.randint(0, 45) + 4)
        number = chance.randint(1, 4)
        own, known = cards[: number - 1], cards[3:-1]
        question = reference.question_of(full, number, own)
        found = answer_for(rule, parse_cards(" ".join(own)), parse_cards(" ".join(known)))
        assert found.best == reference.choose_answer("counting", question, own, [own, known], None)
        assert found.n_cards == 52 - len(own) - len(known)
        for answer, n in found.fits.items():
            assert n == reference.n_fitting_unknown(question, answer, [*own, *known])


def test_the_card_holds_every_situation_that_can_be():
    rule = rules()
    fresh = best_answers(rule)
    assert Counter(answer.question for answer in fresh) == {1: 1, 2: 13, 3: 91, 4: 20}
    by = {(answer.question, answer.situation): answer for answer in fresh}
    assert by[2, "8"].chance == Fraction(24, 51)
    assert by[2, "2"].best == "higher"
    assert by[3, "2 A"].chance == 1
    assert by[4, "♠ ♠ ♥"].best == "D"
    known = parse_cards("AS AH AD AC KS KH KD " + " ".join(card for card in CARDS if card.endswith("C"))[3:])
    some = best_answers(rule, known)
    situations = {(answer.question, answer.situation) for answer in some}
    assert (2, "A") not in situations  # all aces are seen
    assert not [s for q, s in situations if q == 3 and s.split().count("K") == 2]  # no king is left
    assert not [s for q, s in situations if q == 4 and "♣" in s]
    assert {answer.n_cards for answer in some if answer.question == 2} == {52 - len(known) - 1}
    with pytest.raises(ValueError, match="AS is named twice"):
        best_answers(rule, parse_cards("AS AS"))
    with pytest.raises(ValueError, match="AS is named twice"):
        answer_for(rule, parse_cards("AS"), parse_cards("AS"))


def test_what_the_card_says_is_right_as_often_as_the_questions_say():
    """Summed over the situations, weighed by how often they come about, the card gives the chance of being right."""
    for options in OPTIONS:
        rule = rules(**options)
        card = {(answer.question, answer.situation): answer.chance for answer in best_answers(rule)}
        law = joint_law(rule, "own")
        order = "23456789TJQKA"
        assert marginal(law, 2) == sum(card[2, rank] for rank in order) / 13
        pairs = [(a, b) for a in range(52) for b in range(52) if a != b]
        total = sum(card[3, " ".join(order[rank] for rank in sorted((a // 4, b // 4)))] for a, b in pairs)
        assert marginal(law, 3) == total / len(pairs)


def test_the_card_as_a_frame():
    frame = answers_frame(rules(), parse_cards("2S"))
    assert list(frame.columns) == ["question", "situation", "best", "chance", "right", "cards", "first", "second"]
    square = frame[frame["question"] == 3].pivot(index="first", columns="second", values="chance")
    assert square.shape == (13, 13)
    assert square.loc["2", "A"] == pytest.approx(1.0)
    assert (frame["chance"] == frame["right"] / frame["cards"]).all()


# -- the whole ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"matches": "one"}, "matches = one"),
        ({"driver_tie": "most_points"}, "driver_tie = most_points"),
        ({"right_gives": True}, "right_gives"),
        ({"stock_out": "reshuffle"}, "stock_out = reshuffle"),
        ({"stock_out": "reshuffle", "diamond_rows": [1] * 20}, "more than 12 rows"),
        ({"bus": "straight"}, "bus_deck = running"),
        ({"bus": "questions"}, "bus_deck = running"),
        ({"bus": "straight", "straight_length": 12}, "later ones"),
        ({"bus_deck": "fresh"}, "max_turns = 10000: the means leave it out"),
    ],
)
def test_what_is_not_exact_is_said(options, words):
    found = exact("bussikuski", rules=options)
    assert any(words in line for section in found.sections for line in section.missing)


@pytest.mark.parametrize(
    "options",
    [
        {"bus": "none"},
        {"blockers": ""},
        {"blockers": "23456789TJQKA"},
        {"blockers": "", "bus_deck": "fresh"},
        {"blockers": "23456789TJQKA", "bus_deck": "fresh"},
        {"diamond_rows": [1] * 52},
        {"diamond_rows": [8, 8, 8, 8, 8, 8, 4]},
        {"stock_out": "reshuffle", "max_attempts": 4, "blockers": "23456789TJQK"},
        {"bus": "straight", "bus_deck": "fresh", "straight_length": 2, "max_turns": 7},
        {"bus": "questions", "max_attempts": 1, "guess_tie": "free"},
        {"players": 8, "pyramid_rows": 5},
    ],
    ids=str,
)
def test_laws_add_up_to_one(options):
    for section in exact("bussikuski", rules=options).sections:
        if " of a ride" in section.title:
            assert sum(quantity.exact for quantity in section.quantities) == 1
        if section.title.startswith("Wrong answers") or section.title.startswith("Cards left"):
            assert sum(quantity.exact for quantity in section.quantities if quantity.kind == "chance") == 1
        assert all(0 <= quantity.exact <= 1 for quantity in section.quantities if quantity.kind == "chance")
        names = [quantity.name for quantity in section.quantities]
        assert len(set(names)) == len(names)


def test_each_option_of_the_bus_matters():
    base = exact("bussikuski")
    for options in (
        {"diamond_rows": [1, 2, 3, 2, 1]},
        {"blockers": "KA"},
        {"bus_stake": "flat"},
        {"stock_out": "reshuffle"},
        {"bus_deck": "fresh"},
        {"max_attempts": 5},
        {"pyramid_rows": 5},
        {"players": 3},
        {"driver_tie": "draw"},
    ):
        other = exact("bussikuski", rules=options)
        assert [q.exact for _, q in other] != [q.exact for _, q in base], options


def test_policies_decide_the_guessing_bus():
    mixed = exact("bussikuski", variant="straight", policies={"guess": "random,own,own,own"})
    own = mixed["The bus: one attempt from a fresh deck, own: success"]
    assert own == straight_attempt(5, "own", False).success
    assert (
        mixed["The bus: one attempt from a fresh deck, random: success"] == straight_attempt(5, "random", False).success
    )
    counting = exact("bussikuski", policies={"guess": "counting"})
    assert counting["question 4 right, counting, mean of the seats"] > counting["question 4 right, own"]


def test_found_by_name_and_as_a_frame():
    found = exact("bussikuski")
    frame = found.frame()
    assert len(frame) == sum(1 for _ in found)
    row = frame[frame["name"] == "all four right, own"].iloc[0]
    assert Fraction(row["numerator"], row["denominator"]) == found["all four right, own"]
    with pytest.raises(KeyError, match="3 quantities are called '7'"):
        found["7"]
    assert repr(found).startswith("<Exact bussikuski: ")
