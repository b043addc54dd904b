"""How good a position of Autobus looks to a seat that has finished its turn: the eyes of the policy `planner`.

`look` notes what the seat may know: its own hand, all storage piles, bus tops and common piles, and from these how many
cards of each class are still unseen. It also keeps in mind that nobody who stopped placing held a card that was
accepted then, and that finished piles lie at the bottom of the talon.

`worth` estimates the seat's chance to win if its turn ended here. Every seat has a strength, and the chance is the
share of exp(strength). The strengths come from playing two rounds ahead on average, where piles and cards are expected
numbers (`play_ahead`). That takes about a microsecond. Play-outs on guessed cards bring little more, for their noise
drowns the differences between moves (about 3 in 100 of the chance to win): one round, 64 times for each of the best
three ends and judged by such an estimate, won 0.2 ± 0.8 points more in 12,000 games, and took forty times as long.

The weights come from forked games. In games of `planner` against three `greedy` (variant `table`) a decision was taken
in two ways, both games were played to the end with the same hidden cards, and the difference of the two results was
regressed on the difference of the two estimates. These are Gauss-Newton steps: the next games were played with the new
weights, and all steps together used 2.5 million forks. Terms without effect were dropped.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sim.cards import DECK_SIZE
from sim.games.autobus.moves import ONE, bus_left, bus_top, class_of, talon_size
from sim.games.autobus.record import N_BASE, N_OTHER, N_RANKS, N_SINGLE
from sim.jit import compiled, inlined
from sim.rng import count_ones, highest_one, lowest_one

# fmt: off
OWN_WEIGHTS = np.array(
    [
        -1.193, 0.7792, -1.618, -0.05513, -0.01899, -0.02821, 0.04129, 0.03049, 0.5921, 0.679, -0.04998, -0.02641,
        -0.0324, -0.03241, 0.01201, 0.03021, 0.03084, 0.03122, 0.001707, 0.005354, 0.01711, 0.192, -0.9014, 0.2562,
        -1.481, 0.1951, -0.2289, 0.3069, 0.05715, 0, 0.14,
    ]
)
PRODUCT_WEIGHTS = np.array(
    [
        -0.3628, 0.6949, -0.7608, 0.3766, 0.2852, -0.2805, -0.273, 1.438, -0.2169, -0.6998, 0.06539, 0.2745,
        -0.001903, 0.02402, -0.02129, 0.06279, -0.05408, 0.03294, 0.1728, -0.1932, 0.2394, -0.1421, -0.188,
        -0.1185, -0.1266, 0.006202, -0.1994, 0.3069, 0.12, 0.1471, 0.1728, 0.1456, -0.1113, 0.4362, 0.03897,
        -0.01813, 0.02801, -0.09343, 0.05081, -0.2261, -0.05893, -0.06914, 0, 0.2773, 0.01916, 0.01339, 0.03534,
        0.08355, 0.1851, -0.305, 0.4024, -0.6186, 0.08069, -0.3131, -0.05157,
    ]
)
OTHER_WEIGHTS = np.array(
    [
        -0.1709, -0.8856, 0.1947, -0.1698, -0.03204, -0.277, 1.884, 1.551, -0.3366, -0.05529,
    ]
)
# fmt: on

RANK_CLASSES = np.uint64(0x1111111111111)
ALL_CLASSES = np.uint64(0xFFFFFFFFFFFFF)
LANES = np.array([(0x1111111111111 << (kind % 4)) & ((2 << kind) - 1) for kind in range(DECK_SIZE)], np.uint64)
NO_LIMIT = 1000  # of piles begun with aces
NO_TOP = -1
FIRST_JACK = 40
FIRST_DISTANCE = 10  # of the terms
LATER_NEW = 3  # unseen cards that a seat is taken to have in the second round
LATER_HAND = 0.6  # share of a hand that is then still there to be placed
FAR = 12  # bus cards from which on more make no difference to the products


@inlined
def bit(kind: int) -> int:
    """Return the set of one class."""
    return ONE << np.uint64(kind)


@compiled
def missing_below(wanted: int, kind: int) -> int:
    """Return the classes that have to be placed before one of class `kind` is accepted."""
    lane = LANES[np.uint64(kind)]
    first = highest_one(lane & wanted)
    return lane & (bit(kind) - ONE) & ~(bit(first) - ONE)


@compiled
def look(state: Any, rules: Any, seat: int) -> None:
    """Note what `seat` sees; the others are numbered in the order of their turns, from 0 for the next."""
    plan = state.plan
    ranks_only = rules.group != ONE
    plan.step = 4 if ranks_only else 1
    plan.wanted = state.wanted & (RANK_CLASSES if ranks_only else ALL_CLASSES)
    look_at_piles(state, rules)
    for j in range(rules.n_players):
        look_at_seat(state, rules, (seat + 1 + j) % rules.n_players, j)
    look_at_own_cards(state, rules, seat)
    step = plan.step
    total = 0
    for kind in range(0, DECK_SIZE, step):
        plan.n_unseen[kind] = max(plan.n_unseen[kind], 0)
        total += plan.n_unseen[kind]
    for kind in range(0, DECK_SIZE, step):
        share = plan.n_unseen[kind] / max(total, 1)
        plan.share[kind] = share
        chance = 1.0
        for n in range(rules.hand_size + LATER_NEW + 1):
            plan.none_of[n, kind] = chance
            chance *= 1.0 - share
        plan.later_number[kind] = LATER_HAND * rules.hand_size * share
    for j in range(rules.n_players - 1):
        guess_cards(state, rules, (seat + 1 + j) % rules.n_players, j)


@compiled
def look_at_piles(state: Any, rules: Any) -> None:
    """Count what accepts each class, and the cards that are not on common piles nor known to lie under the talon."""
    plan = state.plan
    step = plan.step
    n_under = 0  # finished piles under the talon; without `follow_suit` each is one card of each class
    if step == 4 and rules.recycle_takes_talon == 0:
        n_under = min(state.n_finished, talon_size(state) // N_RANKS)
    n_unlaid = 0
    for kind in range(DECK_SIZE - 1 - (step - 1), -1, -step):
        if kind + 4 < DECK_SIZE:
            n_unlaid = plan.n_unseen[kind + 4] - plan.n_accepting[kind + 4]
        else:
            n_unlaid = rules.n_cards // DECK_SIZE * step - n_under
        plan.n_unseen[kind] = n_unlaid
        plan.n_accepting[kind] = state.n_showing[kind] if kind >= 4 else NO_LIMIT


@compiled
def look_at_seat(state: Any, rules: Any, other: int, j: int) -> None:
    """Note a seat's storage and bus."""
    plan = state.plan
    stored = np.uint64(0)
    n_empty = 0
    for pile in range(rules.n_storage_piles):
        n = state.n_storage[other, pile]
        n_empty += n == 0
        for i in range(n):
            kind = class_of(rules, state.storage[other, pile, i])
            plan.n_unseen[kind] -= 1
            stored |= bit(kind)
    top = class_of(rules, bus_top(state, other))
    plan.n_unseen[top] -= 1
    plan.stored[j] = stored
    plan.n_empty_of[j] = n_empty
    plan.left[j] = bus_left(state, other)
    plan.tops[j] = top


@compiled
def look_at_own_cards(state: Any, rules: Any, seat: int) -> None:
    """Count the seat's own cards, hand and storage."""
    plan = state.plan
    own = rules.n_players - 1
    for kind in range(DECK_SIZE):
        plan.n_in_hand[kind] = 0
        plan.n_in_storage[kind] = 0
    for rank in range(N_RANKS):
        plan.n_stored[rank] = 0
    plan.held = plan.stored[own]
    plan.n_hand = state.n_hand[seat]
    for i in range(plan.n_hand):
        kind = class_of(rules, state.hand[seat, i])
        plan.n_in_hand[kind] += 1
        plan.n_unseen[kind] -= 1
        plan.held |= bit(kind)
    plan.n_all_stored = 0
    for pile in range(rules.n_storage_piles):
        for i in range(state.n_storage[seat, pile]):
            kind = class_of(rules, state.storage[seat, pile, i])
            plan.n_in_storage[kind] += 1
            plan.n_stored[kind >> np.uint64(2)] += 1
            plan.n_all_stored += 1
    plan.n_empty = plan.n_empty_of[own]
    plan.bus_left = plan.left[own]
    plan.top = plan.tops[own]


@compiled
def guess_cards(state: Any, rules: Any, other: int, j: int) -> None:
    """Guess which cards another seat can place at its next turn, and at the one after."""
    plan = state.plan
    n_kept = state.n_hand[other]
    n_new = rules.hand_size - n_kept
    # What it held when it stopped was not accepted then: it is spread over the other classes.
    share_kept = 0.0
    for kind in range(0, DECK_SIZE, plan.step):
        if state.wanted_left[other] & bit(kind) == 0:
            share_kept += plan.share[kind]
    for kind in range(0, DECK_SIZE, plan.step):
        none = plan.none_of[n_new, kind]
        number = n_new * plan.share[kind]
        if share_kept > 0.0 and state.wanted_left[other] & bit(kind) == 0:
            share = plan.share[kind] / share_kept
            number += n_kept * share
            for _ in range(n_kept):
                none *= 1.0 - share
        has = 1.0 - none
        has_later = 1.0 - plan.none_of[LATER_NEW, kind]
        if plan.stored[j] & bit(kind) != 0:
            has = 1.0
            has_later = 0.5 + 0.5 * has_later
            number += 1.0
        plan.chance[j, kind] = has
        plan.number[j, kind] = number
        plan.later_chance[j, kind] = has_later


@compiled
def openness(plan: Any, held: int) -> float:
    """Return the chance that an unseen card is accepted once the cards held below it are placed."""
    reach = plan.wanted
    while True:
        more = (reach | ((reach & held) << np.uint64(4))) & ALL_CLASSES
        if more == reach:
            break
        reach = more
    share = 0.0
    while reach != 0:
        share += plan.share[lowest_one(reach)]
        reach &= reach - ONE
    return share


@compiled
def guess_own_cards(plan: Any, n_new: int) -> None:
    """Note which cards the own seat can place when it has drawn `n_new`."""
    for kind in range(0, DECK_SIZE, plan.step):
        n = plan.n_in_hand[kind] + plan.n_in_storage[kind]
        plan.own_chance[kind] = 1.0 if n > 0 else 1.0 - plan.none_of[n_new, kind]
        plan.own_number[kind] = n + n_new * plan.share[kind]


@compiled
def play_ahead(plan: Any, chance: Any, number: Any, top: int) -> tuple[float, float]:
    """Let a seat place what it can, on average; return the chance that its bus top goes, and how many others do.

    Parameters
    ----------
    chance, number
        By class: the chance that it has such a card, and how many it has.
    """
    step = plan.step
    flow = plan.flow
    fits = plan.fits
    out = 0.0
    placed = 0.0
    for kind in range(0, 4, step):
        taken = number[kind]
        placed += taken
        if kind == top:
            out = 1.0
            taken += 1.0
        flow[kind + 4] += taken
        fits[kind] = 1.0
    for kind in range(4, DECK_SIZE, step):
        n = flow[kind]
        first = min(n, 1.0)
        second = min(n - first, 1.0)
        fits[kind] = first
        if kind == top:
            out = first
            taken = second * chance[kind]
            placed += taken
            taken += first
        else:
            taken = first * chance[kind] + second * min(max(number[kind] - chance[kind], 0.0), 1.0)
            placed += taken
        flow[kind] = n - taken
        flow[kind + 4] += taken
    return out, placed


@compiled
def share_accepted(plan: Any) -> float:
    """Return the chance that an unseen card is accepted by the piles as they are on average."""
    share = 0.0
    for kind in range(0, DECK_SIZE, plan.step):
        share += plan.share[kind] * (min(plan.flow[kind], 1.0) if kind >= 4 else 1.0)
    return share


@compiled
def strength_of_other(plan: Any, j: int) -> float:
    """Let seat `j` of the others play its next turn, and return its strength."""
    left = np.float64(plan.left[j])
    top = plan.tops[j]
    now = openness(plan, plan.stored[j])
    n_missing = 0
    if plan.wanted & bit(top) == 0:
        n_missing = count_ones(missing_below(plan.wanted, top) & ~plan.stored[j])
    out, placed = play_ahead(plan, plan.chance[j], plan.number[j], top)
    then = share_accepted(plan)
    terms = plan.other
    terms[0] = left
    terms[1] = math.log(left)
    terms[2] = now
    terms[3] = plan.n_empty_of[j]
    terms[4] = n_missing
    terms[5] = out
    terms[6] = out / left
    terms[7] = out * then
    terms[8] = out if left == 1.0 else 0.0
    terms[9] = placed
    strength = 0.0
    for i in range(N_OTHER):
        strength += OTHER_WEIGHTS[i] * terms[i]
    return strength


@compiled
def worth(plan: Any, rules: Any, draws_again: bool) -> float:
    """Return the chance to win if the seat's placing ends here.

    Parameters
    ----------
    draws_again
        The hand is empty and the talon is not: the turn goes on with a new hand.
    """
    step = plan.step
    hand_size = rules.hand_size
    n_others = rules.n_players - 1
    left = np.float64(plan.bus_left)
    n_new = hand_size - plan.n_hand
    n_piles = 0
    for kind in range(4, DECK_SIZE, step):
        n_piles += plan.n_accepting[kind]
        plan.flow[kind] = plan.n_accepting[kind]
    open_now = openness(plan, plan.held)
    needed = missing_below(plan.wanted, plan.top)

    for j in range(n_others):
        plan.strength[j] = strength_of_other(plan, j)
    guess_own_cards(plan, n_new)
    out, placed = play_ahead(plan, plan.own_chance, plan.own_number, plan.top)
    then = share_accepted(plan)
    all_placed, n_stuck = empty_hand(plan, n_new)
    for j in range(n_others):
        play_ahead(plan, plan.later_chance[j], plan.later_number, NO_TOP)
    guess_own_cards(plan, n_new + LATER_NEW - 1)
    out_later, _ = play_ahead(plan, plan.own_chance, plan.own_chance, plan.top)

    terms = plan.own
    terms[0] = math.log(left)
    terms[1] = open_now
    terms[2] = open_now / left
    terms[3] = n_piles
    terms[4] = count_ones(needed & plan.held)
    terms[5] = plan.n_in_hand[0] + plan.n_in_hand[1] + plan.n_in_hand[2] + plan.n_in_hand[3]
    terms[6] = plan.n_all_stored
    terms[7] = plan.n_empty
    terms[8] = 1.0 / left if draws_again else 0.0
    terms[9] = chance_to_draw(plan, needed & ~plan.held, hand_size) if draws_again else 0.0
    count_by_distance(plan, terms)
    base = plan.own[N_SINGLE:]
    base[0] = out
    base[1] = then
    base[2] = out + (1.0 - out) * out_later
    base[3] = 0.1 * min(left, FAR)
    base[4] = 0.3 * placed
    base[5] = all_placed
    base[6] = 1.0 if draws_again else 0.0
    base[7] = 0.1 * min(count_ones(plan.held), N_RANKS)
    base[8] = plan.n_hand / hand_size
    base[9] = n_stuck / hand_size
    strength = 0.0
    for i in range(N_SINGLE + N_BASE):
        strength += OWN_WEIGHTS[i] * terms[i]
    k = 0
    for i in range(N_BASE):
        for j in range(i + 1):
            strength += PRODUCT_WEIGHTS[k] * base[i] * base[j]
            k += 1
    total = 1.0
    for j in range(n_others):
        total += math.exp(plan.strength[j] - strength)
    return 1.0 / total


@compiled
def chance_to_draw(plan: Any, missing: int, n_new: int) -> float:
    """Return the chance that `n_new` cards hold all the missing classes."""
    chance = 1.0
    while missing != 0:
        chance *= 1.0 - plan.none_of[n_new, lowest_one(missing)]
        missing &= missing - ONE
    return chance


@compiled
def count_by_distance(plan: Any, terms: Any) -> None:
    """Count hand cards and stored classes by the number of cards missing below them (3 or more: 3), and what clogs."""
    for i in range(FIRST_DISTANCE, N_SINGLE):
        terms[i] = 0.0
    rest = plan.held
    while rest != 0:
        kind = lowest_one(rest)
        rest &= rest - ONE
        n_missing = 0
        if plan.wanted & bit(kind) == 0:
            n_missing = min(count_ones(missing_below(plan.wanted, kind) & ~plan.held), 3)
        terms[FIRST_DISTANCE + n_missing] += plan.n_in_hand[kind]
        n_stored = plan.n_in_storage[kind]
        if n_stored > 0:
            terms[FIRST_DISTANCE + 4 + n_missing] += 1.0
            terms[FIRST_DISTANCE + 8] += 1.0 if kind >= FIRST_JACK else 0.0
            terms[FIRST_DISTANCE + 9] += n_stored - 1
            terms[FIRST_DISTANCE + 10] += plan.n_in_hand[kind]


@compiled
def empty_hand(plan: Any, n_new: int) -> tuple[float, float]:
    """Return the chance that the own seat's next turn empties its hand, and how many cards stay in it on average."""
    chance = 1.0
    n_stuck = 0.0
    accepted = 0.0
    for kind in range(0, DECK_SIZE, plan.step):
        fits = plan.fits[kind]
        accepted += fits * plan.share[kind]
        for _ in range(plan.n_in_hand[kind]):
            chance *= fits
            n_stuck += 1.0 - fits
    for _ in range(n_new):
        chance *= accepted
    return chance, n_stuck + n_new * (1.0 - accepted)
