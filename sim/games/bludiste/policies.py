"""Bludiště's policies `first` and `random`: which card is placed where (`best` has a module of its own)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.events import note
from sim.games.bludiste import record as rec
from sim.games.bludiste.moves import ZERO, first_of, place_card, place_of, wanted_places
from sim.games.bludiste.rules import SLOTS
from sim.jit import compiled, inlined
from sim.rng import draw_below

FIRST, RANDOM, BEST = (list(SLOTS[0].choices).index(name) for name in ("first", "random", "best"))


@inlined
def fits_up(state: Any, card: int) -> bool:
    """Tell whether a card fits the foundation going up."""
    return state.wanted[np.uint64(card & 3)] == card


@inlined
def fits_down(state: Any, card: int) -> bool:
    """Tell whether a card fits the foundation going down."""
    return state.wanted[np.uint64((card & 3) + 4)] == card


@inlined
def choose_first(state: Any, low: int, high: int) -> tuple[int, int]:
    """Return the first of a set of places whose cards fit, and the card's foundation, up before down."""
    place = place_of(low, high)
    card = np.int64(state.at[np.uint64(place)])
    suit = card & 3
    return place, suit if fits_up(state, card) else suit + 4


@compiled
def choose_random(state: Any, low: int, high: int) -> tuple[int, int]:
    """Return any placement (place, foundation) of the cards at a set of places, with equal chances."""
    n_placements = 0
    for is_drawn in range(2):
        number = draw_below(state.thinking, n_placements) if is_drawn else np.int64(255)
        n_placements = 0
        rest_low, rest_high = low, high
        while rest_low | rest_high:
            place = place_of(rest_low, rest_high)
            one_low, one_high = first_of(rest_low, rest_high)
            rest_low ^= one_low
            rest_high ^= one_high
            card = np.int64(state.at[np.uint64(place)])
            if fits_up(state, card):
                if n_placements == number:
                    return place, card & 3
                n_placements += 1
            if fits_down(state, card):
                if n_placements == number:
                    return place, (card & 3) + 4
                n_placements += 1
    return -1, -1


# The rule of thumb's weights (`choose_by_thumb`), found by simulation at 12 columns: of fourteen features, each tried
# alone on 200,000 deals, these three gain (1.16 % won becomes 1.97 %); a random search over the weights of all of them,
# on 100,000 deals a step, gained nothing more on fresh deals.
NEXT_FITS = 60
FREED = 60
FROM_NEWEST_ROW = 12


@inlined
def nearness(state: Any, card: int) -> int:
    """Return how soon a card can fit: `FREED` at once, half of it after one more card, and so on."""
    suit = np.uint64(card & 3)
    up = card - state.wanted[suit]
    down = state.wanted[suit + np.uint64(4)] - card
    n_before = up if up >= 0 and (up <= down or down < 0) else down
    return FREED // (1 + (n_before >> 2)) if n_before >= 0 else 0


@compiled
def choose_by_thumb(state: Any, rules: Any, low: int, high: int) -> tuple[int, int]:
    """Return the placement with the highest score, the first among equals.

    It scores if the next card for the foundation is available, by how soon a blocked card that it frees can fit, and a
    little if it leaves a gap in the newest row.
    """
    across = np.uint64(rules.columns)
    back = np.uint64(64) - across
    newest = rules.columns * (state.n_rows - 1)
    blocked_low, blocked_high = state.occupied[0] & ~state.open[0], state.occupied[1] & ~state.open[1]
    best = chosen = chosen_foundation = -1
    while low | high:
        place = place_of(low, high)
        one_low, one_high = first_of(low, high)
        low ^= one_low
        high ^= one_high
        card = np.int64(state.at[np.uint64(place)])
        score = FROM_NEWEST_ROW if place >= newest else 0
        below_low, below_high = one_low << across, (one_high << across) | (one_low >> back)
        above_low, above_high = (one_low >> across) | (one_high << back), one_high >> across
        freed_low = ((below_low & rules.opens_below) | (above_low & rules.opens_above)) & blocked_low
        freed_high = ((below_high & rules.opens_below) | (above_high & rules.opens_above)) & blocked_high
        while freed_low | freed_high:
            score += nearness(state, np.int64(state.at[np.uint64(place_of(freed_low, freed_high))]))
            first_low, first_high = first_of(freed_low, freed_high)
            freed_low ^= first_low
            freed_high ^= first_high
        for way in range(2):
            foundation = (card & 3) + 4 * way
            if state.wanted[np.uint64(foundation)] == card:
                following = np.uint64(card + 4 - 8 * way)
                follows_low = state.laid[following, 0] & state.open[0]
                follows_high = state.laid[following, 1] & state.open[1]
                total = score + (NEXT_FITS if follows_low | follows_high else 0)
                if total > best:
                    best, chosen, chosen_foundation = total, place, foundation
    return chosen, chosen_foundation


@inlined
def choose(state: Any, rules: Any, policy: int, low: int, high: int) -> tuple[int, int]:
    """Return the placement that the policy chooses among the cards that fit at a set of places."""
    if policy == RANDOM:
        return choose_random(state, low, high)
    if policy == BEST:
        return choose_by_thumb(state, rules, low, high)
    return choose_first(state, low, high)


@compiled
def place_until_stuck(state: Any, rules: Any, events: Any, policy: int) -> None:
    """Place cards until none that is available fits."""
    while True:
        low, high = wanted_places(state)
        low &= state.open[0]
        high &= state.open[1]
        if not low | high:
            return
        place, foundation = choose(state, rules, policy, low, high)
        note(events, rec.PLACE, place, np.int64(state.at[np.uint64(place)]), foundation)
        place_card(state, rules, events, place, foundation)


@compiled
def place_by_grace(state: Any, rules: Any, events: Any, policy: int) -> bool:
    """Place a card that fits but is not available, where nothing else is left to do and `grace` allows it."""
    low, high = wanted_places(state)
    if state.n_graces == 0 or low | high == ZERO:
        return False
    state.n_graces -= 1
    place, foundation = choose(state, rules, policy, low, high)
    note(events, rec.GRACE, place, np.int64(state.at[np.uint64(place)]), foundation)
    place_card(state, rules, events, place, foundation)
    return True
