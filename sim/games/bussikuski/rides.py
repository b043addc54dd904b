"""Rides on the bus exactly: the laws of attempts, penalty, cards turned and end.

An attempt either succeeds or fails at some step; what one step costs and how many cards it turns is the `Ladder`. How
the attempts hang together depends on the deck:

- `fresh_ride`: each attempt has a fresh deck, so attempts are independent: any bus.
- `running_ride`: the diamond whose deck runs until it is used up.
- `reshuffled_ride`: the diamond whose turned cards are shuffled into a new stock.

In the diamond the driver turns the leftmost card of a row, so one place a row is ever looked at; the cards in the other
places are never seen and count only as cards that the stock lacks. A card matters only by being a blocker or not.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb, perm

from sim.quantities import mean_of

SUCCESS, STOCK_OUT, ATTEMPT_CAP, TURN_CAP = "success", "stock_out", "attempt_cap", "turn_cap"

STEPS = 60_000
"""Most transitions of `reshuffled_ride`, by default, for each of the three laws."""

Law = dict[int, Fraction]


@dataclasses.dataclass(frozen=True)
class Ladder:
    """What the steps of an attempt cost.

    Attributes
    ----------
    stakes
        The penalty for failing at step 1, 2, ….
    cards
        The cards turned when an attempt fails there.
    all_cards
        The cards turned when it succeeds.
    """

    stakes: tuple[int, ...]
    cards: tuple[int, ...]
    all_cards: int


@dataclasses.dataclass(frozen=True)
class Ride:
    """The exact laws of a ride.

    Attributes
    ----------
    attempts, penalty, turned
        Value → probability; each value named is exact, and if `followed` is None all values are named.
    ends
        How the ride ends → probability, for the ends that are known.
    means
        Of attempts, penalty and turned, where they are known; see `without_cap`.
    followed
        How many attempts were followed; None for whole rides.
    without_cap
        True: the means are those of a ride that is never cut off.
    """

    attempts: Law
    penalty: Law
    turned: Law
    ends: dict[str, Fraction]
    means: dict[str, Fraction]
    followed: int | None = None
    without_cap: bool = False


# -- the diamond's attempt --------------------------------------------------------------------------------------------


def diamond_ladder(rows: Sequence[int], by_row: bool) -> Ladder:
    """Return the costs of the diamond: row k turns k cards, and costs its places or 1."""
    stakes = tuple(rows) if by_row else (1,) * len(rows)
    return Ladder(stakes, tuple(range(1, len(rows) + 1)), len(rows))


def fail_ways(n_clear: int, n_blockers: int, steps: int) -> list[int]:
    """Return, for each step k, the ways in which k ordered cards are clear but for the last one, which blocks."""
    return [perm(n_clear, k - 1) * n_blockers for k in range(1, steps + 1)]


def fresh_diamond(n_rows: int, n_blockers: int, n_cards: int = 52) -> tuple[list[Fraction], Fraction]:
    """Return the chances of failing in row 1, 2, … and of success, from a fresh deck.

    Derivation. The cards turned are the first of a shuffled deck of B blockers and G others: k - 1 others and then a
    blocker, with chance G (G-1) … (G-k+2) · B / (N (N-1) … (N-k+1)); n others in a row, with G!/(G-n)! · (N-n)!/N!.
    """
    n_clear = n_cards - n_blockers
    fails = [Fraction(ways, perm(n_cards, k)) for k, ways in enumerate(fail_ways(n_clear, n_blockers, n_rows), start=1)]
    return fails, Fraction(perm(n_clear, n_rows), perm(n_cards, n_rows))


# -- rides ------------------------------------------------------------------------------------------------------------


def fresh_ride(
    fails: Sequence[Fraction], success: Fraction, ladder: Ladder, cap: int, end: str, rows: int = 60
) -> Ride:
    """Return the laws of a ride whose attempts are independent.

    Derivation. With q = 1 - p the chance of failure, attempt j is the last one with chance q^(j-1) p, the cap c is
    reached with q^c, and the mean number of attempts is (1 - q^c)/p. A failure costs s_k with chance f_k/q
    whatever went before, so by Wald's identity the mean penalty is the mean number of failures times the mean of that.
    The law w of a sum of failures' costs follows from the last one: w(0) = 1 and w(x) = Σ f_k w(x - s_k); the ride ends
    with penalty x by success with chance p w(x). Costs are at least 1, so a ride that ends with x below the cap had
    fewer than c failures, and the cap does not enter.

    Parameters
    ----------
    cap
        Most attempts.
    end
        What a ride that reaches it is called.
    rows
        How many values of each law are given, at most; a cap of at most as many attempts makes the laws whole.

    Returns
    -------
    Ride
        With a larger cap the means are those without it (with it, if no attempt can succeed).
    """
    q = 1 - success
    if cap <= rows:
        return _capped_ride(fails, success, ladder, cap, end)
    stake, cards = (
        sum((f * cost for f, cost in zip(fails, costs, strict=True)), Fraction(0)) / (q or 1)
        for costs in (ladder.stakes, ladder.cards)
    )
    if not success:
        means = {"attempts": Fraction(cap), "penalty": cap * stake, "turned": cap * cards}
        return Ride({cap: Fraction(1)}, {}, {}, {SUCCESS: Fraction(0), end: Fraction(1)}, means, followed=rows)
    failures = q / success
    means = {"attempts": 1 / success, "penalty": failures * stake, "turned": failures * cards + ladder.all_cards}
    attempts = {j: q ** (j - 1) * success for j in range(1, rows + 1) if q or j == 1}
    penalty = _success_law(fails, success, ladder.stakes, 0, rows)
    turned = _success_law(fails, success, ladder.cards, ladder.all_cards, rows)
    return Ride(attempts, penalty, turned, {}, means, followed=rows, without_cap=True)


def _success_law(fails: Sequence[Fraction], success: Fraction, costs: Sequence[int], last: int, most: int) -> Law:
    """Return the law of the sum of the failures' costs and `last`, up to `most`, of rides that end by success."""
    ways = [Fraction(1)]
    for x in range(1, most - last + 1):
        ways.append(sum((f * ways[x - s] for f, s in zip(fails, costs, strict=True) if s <= x), Fraction(0)))
    return {x + last: success * w for x, w in enumerate(ways) if w and success}


def _capped_ride(fails: Sequence[Fraction], success: Fraction, ladder: Ladder, cap: int, end: str) -> Ride:
    """Return the whole laws of a ride of at most `cap` independent attempts, attempt by attempt."""
    q = 1 - success
    attempts = {j: q ** (j - 1) * success for j in range(1, cap + 1)}
    attempts[cap] += q**cap
    attempts = _sorted(attempts)
    laws = []
    for costs, last in ((ladder.stakes, 0), (ladder.cards, ladder.all_cards)):
        found: defaultdict[int, Fraction] = defaultdict(Fraction)
        running: dict[int, Fraction] = {0: Fraction(1)}
        for _ in range(cap):
            later: defaultdict[int, Fraction] = defaultdict(Fraction)
            for x, p in running.items():
                found[x + last] += p * success
                for f, cost in zip(fails, costs, strict=True):
                    later[x + cost] += p * f
            running = later
        for x, p in running.items():
            found[x] += p
        laws.append(_sorted(found))
    penalty, turned = laws
    return Ride(attempts, penalty, turned, {SUCCESS: 1 - q**cap, end: q**cap}, _means(attempts, penalty, turned))


def running_ride(rows: Sequence[int], n_blockers: int, by_row: bool, max_attempts: int = 0, n_cards: int = 52) -> Ride:
    """Return the laws of a ride on the diamond with one deck, which is never shuffled again.

    Derivation. Whatever lies where, the cards turned one after another are a uniform ordered sample of the deck. After
    t cards with b failures, b blockers and t - b others are out, so with N cards, B blockers and G others the next
    attempt fails in row k in (G-t+b)!/(G-t+b-k+1)! · (B-b) of the (N-t)!/(N-t-k)! ways. Weights are kept as whole
    numbers of ordered ways; a weight after t cards stands for itself over N!/(N-t)!. A ride has at most one failure a
    blocker, so the sum is finite. Before the attempt, t cards have been taken from the stock of N - Σ rows: if it holds
    fewer than the k that the failure in row k has to replace, the ride ends.
    """
    ladder = diamond_ladder(rows, by_row)
    n_clear, n_rows, stock = n_cards - n_blockers, len(rows), n_cards - sum(rows)
    found: defaultdict[tuple[str, int, int, int], int] = defaultdict(int)
    states: dict[tuple[int, int], int] = {(0, 0): 1}  # (cards turned, penalty) → ways
    failures = 0
    while states:
        later: defaultdict[tuple[int, int], int] = defaultdict(int)
        for (t, penalty), ways in states.items():
            clear = n_clear - t + failures
            if won := perm(clear, n_rows):
                found[SUCCESS, failures + 1, penalty, t + n_rows] += ways * won
            for k, lost in enumerate(fail_ways(clear, n_blockers - failures, n_rows), start=1):
                if not lost:
                    continue
                now = t + k, penalty + ladder.stakes[k - 1]
                if failures + 1 == max_attempts:
                    found[ATTEMPT_CAP, failures + 1, now[1], now[0]] += ways * lost
                elif stock - t < k:
                    found[STOCK_OUT, failures + 1, now[1], now[0]] += ways * lost
                else:
                    later[now] += ways * lost
        states = later
        failures += 1
    return _whole_ride(found, n_cards)


def _whole_ride(found: Mapping[tuple[str, int, int, int], int], n_cards: int) -> Ride:
    """Return the laws from (end, attempts, penalty, cards turned) → number of orders of the cards turned."""
    longest = max(turned for *_, turned in found)
    total = perm(n_cards, longest)
    ends: defaultdict[str, int] = defaultdict(int)
    laws: list[defaultdict[int, int]] = [defaultdict(int) for _ in range(3)]
    for (end, *values), ways in found.items():
        orders = ways * perm(n_cards - values[-1], longest - values[-1])
        ends[end] += orders
        for law, value in zip(laws, values, strict=True):
            law[value] += orders
    attempts, penalty, turned = ({x: Fraction(n, total) for x, n in sorted(law.items())} for law in laws)
    shares = {end: Fraction(n, total) for end, n in ends.items()}
    return Ride(attempts, penalty, turned, shares, _means(attempts, penalty, turned))


def reshuffled_ride(
    rows: Sequence[int],
    n_blockers: int,
    by_row: bool,
    cap: int,
    end: str,
    n_cards: int = 52,
    steps: int = STEPS,
) -> Ride:
    """Return the laws of a ride on the diamond whose turned cards make a new stock whenever the stock is short.

    Derivation. The cards in places that are never turned are out of play for the whole ride; given how many blockers
    are among them (a hypergeometric law), the rest is a diamond of one place a row. Let `fixed` be the rows that lay
    unturned at the last reshuffle: what lies there is known to the sum, a blocker or not. All other cards not seen
    since then are exchangeable: u of them, v blockers. An attempt goes through the other rows as in a fresh deck of u
    cards, then along `fixed` up to its first blocker. If the stock cannot replace the turned cards, the rows not turned
    become fixed, in each of the ways they can be, and all other cards in play are exchangeable again. So (fixed, u, v)
    is a Markov chain. Attempt by attempt the weights are multiplied by one common denominator, and stay whole.

    Parameters
    ----------
    cap
        Most attempts.
    end
        What a ride that reaches it is called.
    steps
        Most transitions; when they are used up the rest of the ride is not followed.

    Returns
    -------
    Ride
        With `followed` set if the steps did not reach the cap: the attempts named are exact, and so are the penalties
        and cards turned that no later attempt could add to.
    """
    ladder = diamond_ladder(rows, by_row)
    chain = _Chain(rows, n_blockers, n_cards)
    won, lost, followed = _follow(chain, [0] * len(rows), 0, cap, steps)
    attempts = {j: sum(law.values(), Fraction(0)) for j, law in enumerate(won, start=1)}
    penalties, penalty_left, n_penalties = _follow(chain, ladder.stakes, 0, cap, steps)
    cards, cards_left, n_cards_followed = _follow(chain, ladder.cards, ladder.all_cards, cap, steps)
    penalty, turned = _joined(penalties), _joined(cards)
    if min(followed, n_penalties, n_cards_followed) == cap:
        attempts[cap] += lost.get(0, Fraction(0))
        attempts = _sorted(attempts)
        penalty, turned = _joined([penalty, penalty_left]), _joined([turned, cards_left])
        ends = {SUCCESS: 1 - lost.get(0, Fraction(0)), end: lost.get(0, Fraction(0))}
        return Ride(attempts, penalty, turned, ends, _means(attempts, penalty, turned))
    # After j failures the penalty is j or more, and a ride that succeeds later turns j cards and a success's.
    penalty = {x: p for x, p in penalty.items() if x < n_penalties}
    turned = {x: p for x, p in turned.items() if x < n_cards_followed + ladder.all_cards}
    return Ride(attempts, penalty, turned, {}, {}, followed=followed)


def _follow(chain: _Chain, costs: Sequence[int], last: int, cap: int, steps: int) -> tuple[list[Law], Law, int]:
    """Follow a ride attempt by attempt, with the sum of what its failures cost.

    Returns
    -------
    tuple
        For each attempt the law of the sum, and `last` added, of rides that succeed then; that of rides not over; and
        how many attempts were followed.
    """
    states: dict[_Place, dict[int, int]] = {place: {0: weight} for place, weight in chain.beginnings()}
    scale = chain.beginnings_scale
    won: list[Law] = []
    used = 0
    while len(won) < cap and used < steps:
        scale *= chain.scale
        later: defaultdict[_Place, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
        reached: defaultdict[int, int] = defaultdict(int)
        for place, law in states.items():
            success, fails = chain.moves(place)
            used += len(law) * len(fails)
            if success:
                for x, weight in law.items():
                    reached[x + last] += weight * success
            for row, after, ways in fails:
                at, cost = later[after], costs[row - 1]
                for x, weight in law.items():
                    at[x + cost] += weight * ways
        won.append({x: Fraction(weight, scale) for x, weight in reached.items() if weight})
        states = later  # type: ignore[assignment]
    left: defaultdict[int, int] = defaultdict(int)
    for law in states.values():
        for x, weight in law.items():
            left[x] += weight
    return won, {x: Fraction(weight, scale) for x, weight in left.items()}, len(won)


def _joined(laws: Sequence[Law]) -> Law:
    """Return the sum of laws."""
    found: defaultdict[int, Fraction] = defaultdict(Fraction)
    for law in laws:
        for x, p in law.items():
            found[x] += p
    return _sorted(found)


_Place = tuple[tuple[bool, ...], int, int, int]
"""Blockers in the fixed rows, exchangeable cards not seen, blockers among them, blockers in play."""


class _Chain:
    """The chain of `reshuffled_ride`: from each place the attempt's outcomes, in whole numbers over `scale`."""

    def __init__(self, rows: Sequence[int], n_blockers: int, n_cards: int) -> None:
        self.n_rows = len(rows)
        self.n_blockers = n_blockers
        self.n_cards = n_cards
        self.n_dead = sum(rows) - len(rows)
        self.n_live = n_cards - self.n_dead
        self.scale = math.lcm(*(perm(u, min(u, self.n_rows)) for u in range(1, self.n_live + 1)))
        self.beginnings_scale = comb(n_cards, self.n_dead)
        self._known: dict[_Place, tuple[int, list[tuple[int, _Place, int]]]] = {}

    def beginnings(self) -> list[tuple[_Place, int]]:
        """Return the places a ride begins at, one for each number of blockers out of play, with their weights."""
        found: list[tuple[_Place, int]] = []
        for dead in range(min(self.n_dead, self.n_blockers) + 1):
            weight = comb(self.n_blockers, dead) * comb(self.n_cards - self.n_blockers, self.n_dead - dead)
            live = self.n_blockers - dead
            if weight:
                found.append((((), self.n_live, live, live), weight))
        return found

    def moves(self, place: _Place) -> tuple[int, list[tuple[int, _Place, int]]]:
        """Return the weight of success, and (row, place after, weight) for each way to fail."""
        if place not in self._known:
            self._known[place] = self._moves(place)
        return self._known[place]

    def _moves(self, place: _Place) -> tuple[int, list[tuple[int, _Place, int]]]:
        fixed, u, v, live = place
        free = self.n_rows - len(fixed)
        stock = u - free
        fails = []
        for row, ways in enumerate(fail_ways(u - v, v, free), start=1):
            if not ways:
                continue
            if stock >= row:
                fails.append((row, (fixed, u - row, v - 1, live), ways * (self.scale // perm(u, row))))
                continue
            unit = ways * (self.scale // perm(u, free))
            for laid in itertools.product((False, True), repeat=free - row):
                n = sum(laid)
                shapes = perm(v - 1, n) * perm(u - row - v + 1, len(laid) - n)
                if shapes:
                    fails.append((row, self._anew(laid + fixed, live), unit * shapes))
        through = perm(u - v, free) * (self.scale // perm(u, free))
        if not any(fixed):
            return through, fails
        if through:
            further = fixed.index(True) + 1
            row = free + further
            after = (fixed[further:], u - free, v, live) if stock >= row else self._anew(fixed[further:], live)
            fails.append((row, after, through))
        return 0, fails

    def _anew(self, fixed: tuple[bool, ...], live: int) -> _Place:
        """Return the place after a reshuffle."""
        return fixed, self.n_live - len(fixed), live - sum(fixed), live


def _sorted(law: Mapping[int, Fraction]) -> Law:
    return {value: law[value] for value in sorted(law) if law[value]}


def _means(attempts: Law, penalty: Law, turned: Law) -> dict[str, Fraction]:
    laws = {"attempts": attempts, "penalty": penalty, "turned": turned}
    return {name: mean_of(law) for name, law in laws.items()}


__all__ = [
    "ATTEMPT_CAP",
    "STEPS",
    "STOCK_OUT",
    "SUCCESS",
    "TURN_CAP",
    "Ladder",
    "Law",
    "Ride",
    "diamond_ladder",
    "fresh_diamond",
    "fresh_ride",
    "reshuffled_ride",
    "running_ride",
]
