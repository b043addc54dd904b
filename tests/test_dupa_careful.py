"""What the policy `careful` does in positions set up by hand, and how often it wins."""

import numpy as np
import pytest

from sim.cards import CARDS, parse_cards, to_ace_high
from sim.game import Player, Spec
from sim.games import get_game
from sim.games.dupa import record as rec
from sim.games.dupa.kernel import fold, new_scratch
from sim.games.dupa.policies import choose_drawn, choose_other

GAME = get_game("dupa")
ACE_HIGH = {to_ace_high(card): text for card, text in enumerate(CARDS)}


def word(text):
    return sum(1 << to_ace_high(card) for card in parse_cards(text))


def position(hand, pile=(), *, demand=False, others=(9, 9, 9), stock=0, drawn=None, rules=None):
    """Return the state and rules of seat 0 with a hand, a pile of sets and the other seats' numbers of cards."""
    rules = {"players": len(others) + 1, "several_dupas": False} | (rules or {})
    folded = fold(GAME.rules.build(options=rules), {"policy": ["careful"] * rules["players"]})[0]
    state = new_scratch()[0]
    state["hands"][0, 0] = word(hand)
    laid = [word(cards) for cards in pile]
    rest = [1 << card for card in range(52) if not (word(hand) | sum(laid)) >> card & 1]
    rest = rest[::5] + rest[1::5] + rest[2::5] + rest[3::5] + rest[4::5]
    for seat, n in enumerate(others, start=1):
        state["hands"][seat, 0] = sum(rest[:n])
        rest = rest[n:]
    for at, cards in enumerate(laid):
        state["laid"][at, 0] = cards
        state["in_pile"] |= sum(0xF << 4 * rank for rank in range(13) if cards >> 4 * rank & 0xF)
    state["n_laid"] = len(laid)
    state["situation"] = laid[-1].bit_length() - 1 + (rec.DEMANDED if demand else 0) if laid else rec.NO_TOP
    state["stock"]["n_cards"] = stock
    if drawn:
        state["drawn"] = parse_cards(drawn)[0]
    return state, folded


def played(*where, **more):
    """Return the cards that `careful` plays in a position; nothing if it passes."""
    state, folded = position(*where, **more)
    if not choose_other(state, folded, None, np.uint64(0)):
        return ""
    cards = int(state["move"][0])
    return " ".join(text for card, text in sorted(ACE_HIGH.items()) if cards >> card & 1)


if __name__ == "__main__":
    print("keep ace", played("5H 9C QD KS AS", ["4S", "5D"]))
    print("demand low", played("7S QH KD AS 2C 3D", ["5H", "6D"], demand=True))
    print("demand ace only", played("2S 3H 4C AS AH", ["5H", "6D"], demand=True))
    print("demand with pair", played("7S 7H QH KD 2C", ["5H", "6D"], demand=True))
    for k in (1,2,3,9): print("block", k, played("3S KH 5C 8D", ["4S", "9D"], others=(k, 9, 9)))
    for k in (1,2,3,9): print("block2", k, played("3S QH", ["4S", "9D"], others=(k, 9, 9)))
    print("old fits vs new", played("5S 8H KD 3C", ["8S", "5H", "TH"]))
    print("old", played("9H 4C 7D", ["9S", "2H"]))
    print("lead", played("2S 5H 5C 9D KH AS"))
    print("lead", played("2S 2H 5H 5C 9D KH AS"))
    print("lead few", played("2S 5H 5C 9D KH AS",others=(1,9,9)))
    print("on ace", played("2S 5H 9D KH AC", ["3H","AS"]))
    print("on ace few", played("2S 5H 9D KH AC", ["3H","AS"], others=(1,5,5)))
    print("win", played("QS QH", ["3H","4S"]))
