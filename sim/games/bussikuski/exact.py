"""What is known exactly about Bussikuski under a rule set; the parts are computed in the modules named below.

`questions`: the four questions. `leftovers`: the cards left and the driver. `rides`: the bus. `straight`: an attempt on
the straight bus. `answers`: the best answer in every situation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sim.game import Spec
from sim.games.bussikuski.leftovers import found_by, left_law
from sim.games.bussikuski.questions import (
    FREE,
    RIGHT,
    attempt_law,
    counting_chance,
    joint_law,
    marginal,
    wrong_law,
)
from sim.games.bussikuski.rides import (
    ATTEMPT_CAP,
    SUCCESS,
    TURN_CAP,
    Ladder,
    Ride,
    diamond_ladder,
    fresh_diamond,
    fresh_ride,
    reshuffled_ride,
    running_ride,
)
from sim.games.bussikuski.rules import (
    Bus,
    BusDeck,
    BussikuskiRules,
    BusStake,
    BusTie,
    DriverTie,
    GuessStake,
    GuessTie,
    StockOut,
)
from sim.games.bussikuski.straight import best_attempt, straight_attempt
from sim.quantities import MEAN, Quantity, Section, Seen

MOST_ROWS_RESHUFFLED = 12
"""Rows of a diamond beyond which a reshuffled ride is not followed: it leaves 2^rows places."""
ROWS = 60
"""Values of each law that are given where a law has no end."""
NEGLIGIBLE = Fraction(1, 10**9)


def sections(spec: Spec) -> Iterator[Section]:
    """Yield what is known exactly, in the order of the game."""
    rules: BussikuskiRules = spec.rules
    yield _questions(rules, spec.policies["guess"])
    for policy in ("own", "random"):
        yield _wrong_answers(rules, policy)
    yield _cards_left(rules)
    yield _driver(rules)
    if rules.bus is Bus.DIAMOND:
        yield from _diamond(rules)
    elif rules.bus is not Bus.NONE:
        yield from _guessing_bus(rules, spec.policies["guess"])


def _law(
    law: Mapping[int, Fraction], shown: Mapping[str, Any] | None, words: str = "{}", **more: Any
) -> list[Quantity]:
    """Return a law's values as quantities, all shown by one column."""
    return [
        Quantity(words.format(value), p, shown=None if shown is None else Seen(**shown, value=value), **more)
        for value, p in law.items()
    ]


# -- phase 1 ----------------------------------------------------------------------------------------------------------


def _questions(rules: BussikuskiRules, guess: Sequence[str]) -> Section:
    n = rules.players
    found = []
    for policy in ("own", "random"):
        law = joint_law(rules, policy)
        shown = {"policies": (("guess", policy),)}
        for number in range(1, 5):
            seen = Seen(f"right_q{number}", per=n, **shown)  # type: ignore[arg-type]
            found.append(Quantity(f"question {number} right, {policy}", marginal(law, number), shown=seen))
            if number == 2 and rules.guess_tie is GuessTie.FREE:
                found.append(Quantity(f"question 2 neither right nor wrong, {policy}", marginal(law, 2, FREE)))
        all_right = law.get((RIGHT, RIGHT, RIGHT, RIGHT), Fraction(0))
        is_seen = rules.guess_tie is not GuessTie.FREE
        seen_all = Seen("wrong_0", value=0, **shown) if is_seen else None  # type: ignore[arg-type]
        found.append(Quantity(f"all four right, {policy}", all_right, shown=seen_all))
    missing = []
    if "counting" in guess:
        for number in range(1, 5):
            chances = [counting_chance(rules, number, n * (number - 1) + seat - (number - 1)) for seat in range(n)]
            seen = Seen(f"right_q{number}", per=n, policies=(("guess", "counting"),))
            name = f"question {number} right, counting, mean of the seats"
            found.append(Quantity(name, sum(chances, Fraction(0)) / n, shown=seen))
        missing.append(
            "counting: the number of wrong answers (what a seat knows at one question depends on everybody's cards "
            "at the ones before)"
        )
    if rules.right_gives:
        missing.append("right_gives: who gets the points (that depends on the points of all)")
    return Section("The four questions", tuple(found), tuple(missing))


def _wrong_answers(rules: BussikuskiRules, policy: str) -> Section:
    law = joint_law(rules, policy)
    wrong = wrong_law(law)
    policies = (("guess", policy),)
    found = _law(wrong, {"column": "wrong_0", "policies": policies}, "{} wrong")
    mean = sum((n * p for n, p in wrong.items()), Fraction(0))
    found.append(Quantity("wrong answers, mean", mean, MEAN, Seen("wrong_0", policies=policies)))
    if rules.guess_stake is GuessStake.BY_ROUND:
        cost = sum((number * marginal(law, number, "wrong") for number in range(1, 5)), Fraction(0))
        found.append(Quantity("points paid for wrong answers, mean", cost, MEAN))
    return Section(f"Wrong answers of a player, {policy}", tuple(found))


# -- the pyramid and the driver ---------------------------------------------------------------------------------------


def _cards_left(rules: BussikuskiRules) -> Section:
    law = left_law(pyramid_size(rules), rules.matches)
    found = _law(law, {"column": "left_0"}, "{} left")
    mean = sum((n * p for n, p in law.items()), Fraction(0))
    return Section("Cards left to a player after the pyramid", (*found, Quantity("mean", mean, MEAN, Seen("left_0"))))


def pyramid_size(rules: BussikuskiRules) -> int:
    """Return the number of cards in the pyramid."""
    return rules.pyramid_rows * (rules.pyramid_rows + 1) // 2


def _driver(rules: BussikuskiRules) -> Section:
    by = found_by(rules.players, pyramid_size(rules), rules.matches)
    found = [Quantity("one seat has most cards", by.most_cards, shown=Seen("driver_by", "most_cards"))]
    missing: tuple[str, ...] = ()
    if rules.driver_tie is DriverTie.DRAW:
        found.append(Quantity("tied: a card is drawn", by.tied, shown=Seen("driver_by", "draw")))
    elif rules.driver_tie is DriverTie.MOST_POINTS:
        found.append(Quantity("tied: the points looked at", by.tied))
        missing = ("driver_tie = most_points: how often the points decide (they depend on all gifts)",)
    else:
        which = "lowest" if rules.driver_tie is DriverTie.LOWEST_CARD else "highest"
        found.append(Quantity(f"tied: {which} card looked at", by.tied))
        if by.broken is None:
            missing = (f"matches = one: how often the {which} card decides (hands keep single cards of many ranks)",)
        else:
            found += [
                Quantity(f"the {which} card decides", by.broken, shown=Seen("driver_by", "tie_break")),
                Quantity("still tied: a card is drawn", by.tied - by.broken, shown=Seen("driver_by", "draw")),
            ]
    found.append(Quantity("nobody has a card: no bus", by.nobody, shown=Seen("driver_by", "nobody")))
    if rules.driver_tie is not DriverTie.MOST_POINTS:
        each = (1 - by.nobody) / rules.players  # the seats are equal in law
        found.append(Quantity("a given seat drives", each, shown=Seen("driver", 0)))
    return Section("How the driver is found", tuple(found), missing)


# -- the bus ----------------------------------------------------------------------------------------------------------

_ONE_FRESH = (("bus_deck", BusDeck.FRESH), ("max_attempts", 1))


def _riders(seats: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    return "driver", tuple(seats)


def _attempt(
    fails: Sequence[Fraction], success: Fraction | None, words: str, seen: Mapping[str, Any]
) -> list[Quantity]:
    """Return an attempt's law. One attempt from a fresh deck is played to show it: by its penalty, a point a step."""
    one: dict[str, Any] = dict(seen, rules=_ONE_FRESH)
    by_step: dict[str, Any] = dict(seen, rules=(*_ONE_FRESH, ("bus_stake", BusStake.BY_ROW)))
    found = [] if success is None else [Quantity("success", success, shown=Seen("bus_end", SUCCESS, **one))]
    for step, p in enumerate(fails, start=1):
        found.append(Quantity(f"fails at {words.format(step)}", p, shown=Seen("bus_penalty", step, **by_step)))
    return found


def _diamond(rules: BussikuskiRules) -> Iterator[Section]:
    n_rows, n_blockers = len(rules.diamond_rows), 4 * len(rules.blockers)
    fails, success = fresh_diamond(n_rows, n_blockers)
    seen: dict[str, Any] = {"given": _riders(range(rules.players))}
    one: dict[str, Any] = dict(seen, rules=_ONE_FRESH)
    found = [Quantity("success", success, shown=Seen("bus_end", SUCCESS, **one))]
    for row, p in enumerate(fails, start=1):  # as many cards are turned; in the last row so they are by success
        shown = Seen("bus_turned", row, **one) if row < n_rows else None
        found.append(Quantity(f"fails at row {row}", p, shown=shown))
    yield Section("The bus: one attempt from a fresh deck", tuple(found))
    by_row = rules.bus_stake is BusStake.BY_ROW
    ladder = diamond_ladder(rules.diamond_rows, by_row)
    if rules.bus_deck is BusDeck.FRESH:
        yield from _ride(rules, fresh_ride(fails, success, ladder, *_cap(rules), rows=ROWS), seen, success)
    elif rules.stock_out is StockOut.STOP:
        yield from _ride(rules, running_ride(rules.diamond_rows, n_blockers, by_row, rules.max_attempts), seen, success)
    elif n_rows > MOST_ROWS_RESHUFFLED:
        why = f"stock_out = reshuffle with more than {MOST_ROWS_RESHUFFLED} rows: the ride (too many places to follow)"
        yield Section("The bus: the ride", (), (why,))
    else:
        yield from _ride(rules, reshuffled_ride(rules.diamond_rows, n_blockers, by_row, *_cap(rules)), seen, success)


def _cap(rules: BussikuskiRules) -> tuple[int, str]:
    """Return the most attempts of a ride that nothing else bounds, and what it is called to reach them."""
    return (rules.max_attempts, ATTEMPT_CAP) if rules.max_attempts else (rules.max_turns, TURN_CAP)


def _ride(
    rules: BussikuskiRules, ride: Ride, seen: Mapping[str, Any], success: Fraction, who: str = ""
) -> Iterator[Section]:
    """Yield a ride's laws."""
    missing = _what_is_missing(rules, ride, success)
    is_cut = ride.without_cap and (1 - success) ** min(_cap(rules)[0], 5000) > NEGLIGIBLE
    found = [Quantity(f"ends by {end.replace('_', ' ')}", p, shown=Seen("bus_end", end, **seen))
             for end, p in sorted(ride.ends.items(), key=lambda item: item[0] != SUCCESS)]  # fmt: skip
    names = {"attempts": "attempts", "penalty": "penalty", "turned": "cards turned"}
    for key, name in names.items():
        if key in ride.means:
            shown = None if is_cut else Seen(f"bus_{key}", **seen)
            what = f"{name}, mean" + (" without a cap" if ride.without_cap else "")
            found.append(Quantity(what, ride.means[key], MEAN, shown))
    yield Section(f"The bus: the ride{who}", tuple(found), missing)
    for key, name in names.items():
        law = getattr(ride, key)
        if not law:
            continue
        rows = _law(law, {"column": f"bus_{key}", **seen})
        more = 1 - sum(law.values(), Fraction(0))
        if more:
            above = max(law)
            only = all(value in law for value in range(min(law), above + 1))
            shown = Seen(f"bus_{key}", above, above=True, **seen) if only and key == "attempts" else None
            rows.append(Quantity(f"more than {above}" if key == "attempts" else "any other", more, shown=shown))
        yield Section(f"The bus: {name} of a ride{who}", tuple(rows))


def _what_is_missing(rules: BussikuskiRules, ride: Ride, success: Fraction) -> tuple[str, ...]:
    """Return what a ride's laws do not reach."""
    if ride.followed is None:
        return ()
    if ride.without_cap and success == 1:
        return ()
    if ride.without_cap:
        cap, _ = _cap(rules)
        name = "max_attempts" if rules.max_attempts else "max_turns"
        digits = -cap * math.log10(1 - success)
        size = f"about 1e-{digits:.0f}" if digits > 4 else f"{10**-digits:.3g}"
        chance = f"({1 - success})^{cap}, {size}"
        return (f"{name} = {cap}: the means leave it out; it cuts a ride off with chance {chance}",)
    if not success:
        return ("the laws of penalty and cards turned: no attempt can succeed, so every ride is cut off",)
    return (
        f"stock_out = reshuffle: means and ends, and the ride after attempt {ride.followed} (it can be in too many "
        "places to be followed further)",
    )


def _guessing_bus(rules: BussikuskiRules, guess: Sequence[str]) -> Iterator[Section]:
    """Yield the straight or the questions bus, for each policy that a driver may have."""
    policies = list(dict.fromkeys(guess))
    for policy in policies:
        who = f", {policy}" if len(policies) > 1 else ""
        seen = {"given": _riders([seat for seat, name in enumerate(guess) if name == policy])}
        plays = "random" if policy == "random" else "own"  # what counting knows more is not there in a fresh deck
        if rules.bus is Bus.STRAIGHT:
            yield from _straight(rules, plays, seen, who)
        else:
            law = attempt_law(joint_law(rules, plays))
            fails, success = [law[number] for number in range(1, 5)], law[0]
            found = _attempt(fails, success, "question {}", seen)
            yield Section(f"The bus: one attempt from a fresh deck{who}", tuple(found))
            stakes = (1, 2, 3, 4) if rules.bus_stake is BusStake.BY_ROW else (1, 1, 1, 1)
            yield from _guessing_ride(rules, fails, success, Ladder(stakes, (1, 2, 3, 4), 4), seen, who)


def _straight(rules: BussikuskiRules, policy: str, seen: Mapping[str, Any], who: str) -> Iterator[Section]:
    length, tie = rules.straight_length, rules.bus_tie is BusTie.RIGHT
    attempt = straight_attempt(length, policy, tie)
    fails = list(attempt.fails.values())
    found = _attempt(fails, attempt.success, "guess {}", seen)
    missing = []
    if attempt.success is None:
        missing.append(f"guess {len(fails) + 1} and later ones, so success too (too many positions to follow)")
    else:
        best = best_attempt(length, tie)
        if best is not None:
            found.append(Quantity("success, with the best answers there are", best))
    yield Section(f"The bus: one attempt from a fresh deck{who}", tuple(found), tuple(missing))
    if attempt.success is None:
        why = "the ride (an attempt is too long to be followed to its end)"
        yield Section(f"The bus: the ride{who}", (), (why,))
        return
    stakes = tuple(range(1, length + 1)) if rules.bus_stake is BusStake.BY_ROW else (1,) * length
    ladder = Ladder(stakes, tuple(range(2, length + 2)), length + 1)
    yield from _guessing_ride(rules, fails, attempt.success, ladder, seen, who)


def _guessing_ride(
    rules: BussikuskiRules,
    fails: Sequence[Fraction],
    success: Fraction,
    ladder: Ladder,
    seen: Mapping[str, Any],
    who: str,
) -> Iterator[Section]:
    """Yield the ride on a bus of guesses: whole with a fresh deck, or with one attempt; else the first attempt."""
    if rules.bus_deck is BusDeck.FRESH:
        yield from _ride(rules, fresh_ride(fails, success, ladder, *_cap(rules), rows=ROWS), seen, success, who)
    elif rules.max_attempts == 1:
        yield from _ride(rules, fresh_ride(fails, success, ladder, 1, ATTEMPT_CAP), seen, success, who)
    else:
        first = Quantity("success at the first attempt", success, shown=Seen("bus_penalty", 0, **seen))
        why = (
            "bus_deck = running: attempts after the first, and the best answers there (they depend on which cards are "
            "gone: too many sets of them); bus_deck = fresh is exact"
        )
        yield Section(f"The bus: the ride{who}", (first,), (why,))


__all__ = ["pyramid_size", "sections"]
