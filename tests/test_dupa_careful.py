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


# what is tried, hand, pile (the last set on top), the rest of the position, the move expected
POSITIONS = [
    ("it goes out when it can", "QS QH", ["3H", "4S"], {}, "QS QH"),
    ("aces and high cards are kept", "5H 9C QD KS AS", ["4S", "5D"], {}, "9C"),
    ("on an ace, too", "2S 5H 9D KH AC", ["3H", "AS"], {}, "2S"),
    ("an ace is spent rather than a card drawn", "8C AC KD 7S", ["8S", "4D", "JS", "KS", "7C", "TH"], {}, "AC"),
    ("but not where another card fits", "8H AC KD 7S", ["8S", "4D", "JS", "KS", "7C", "TH"], {}, "8H"),
    ("a lead is low", "2S 5H 5C 9D KH AS", [], {}, "2S"),
    ("a lead is a whole set", "2S 2H 5H 5C 9D KH AS", [], {}, "2S 2H"),
    ("a demand is answered low", "7S QH KD AS 2C 3D", ["5H", "6D"], {"demand": True}, "7S"),
    ("with all cards of the rank", "7S 7H QH KD 2C", ["5H", "6D"], {"demand": True}, "7S 7H"),
    ("with aces when nothing else beats it", "2S 3H 4C AS", ["5H", "6D"], {"demand": True}, "AS"),
    ("a rank that no later card will fit goes first", "9H JC KD", ["9S", "AS"], {}, "9H"),
    ("a seat with one card is blocked", "3S KH 5C 8D", ["4S", "9D"], {"others": (1, 9, 9)}, "KH"),
    ("a seat with many is not worth a king", "3S KH 5C 8D", ["4S", "9D"], {"others": (9, 9, 9)}, "3S"),
    ("blocked by the highest there is", "3S QH", ["4S", "9D"], {"others": (1, 9, 9)}, "QH"),
    ("it is the next seat that counts", "3S QH", ["4S", "9D"], {"others": (9, 1, 9)}, "3S"),
    ("nothing to play is a pass", "8C 7S", ["8S", "7C", "TH"], {}, ""),
]


@pytest.mark.parametrize(("what", "hand", "pile", "more", "move"), POSITIONS, ids=[what for what, *_ in POSITIONS])
def test_position(what, hand, pile, more, move):
    assert played(hand, pile, **more) == move


def test_it_goes_by_what_a_person_sees():
    """Cards that lie face down may change places."""
    where = ("3S 3H KH 5C 8D JC", ["4S", "9D"])
    state, folded = position(*where, stock=10)
    moves = set()
    rnd = np.random.default_rng(1)
    seen = word(where[0]) | sum(map(word, where[1]))
    hidden = [card for card in range(52) if not seen >> card & 1]
    for _ in range(50):
        rnd.shuffle(hidden)
        for seat in (1, 2, 3):
            state["hands"][seat, 0] = sum(1 << int(card) for card in hidden[9 * seat : 9 * seat + 9])
        assert choose_other(state, folded, None, np.uint64(0))
        moves.add(int(state["move"][0]))
    assert len(moves) == 1


def test_a_drawn_ace_is_kept_unless_the_next_seat_is_about_to_go_out():
    where = ("8C 7S AS", ["8S", "7C", "TH"])
    for others, is_played in (((9, 9, 9), False), ((1, 9, 9), True)):
        state, folded = position(*where, others=others, drawn="AS", rules={"play_drawn": True})
        assert bool(choose_drawn(state, folded, None, np.uint64(0))) is is_played
    state, folded = position("8C 7S 4H", where[1], drawn="4H", rules={"play_drawn": True})
    assert choose_drawn(state, folded, None, np.uint64(0))


# -- strength -------------------------------------------------------------------------------------------------------


def wins_against_greedy(n, **options):
    """Return how often one careful seat wins against greedy ones, seats rotated, n games at each; and the error."""
    rules = GAME.rules.build(variant="table", options=options)
    shares = []
    for seat in range(rules.players):
        policies = ["careful" if other == seat else "greedy" for other in range(rules.players)]
        winners = Player(Spec.build(GAME, rules, {"policy": policies})).play(0, n)[0]
        shares.append(float(np.mean(winners == seat)))
    error = sum(share * (1 - share) / n for share in shares) ** 0.5 / len(shares)
    return float(np.mean(shares)), error


@pytest.mark.parametrize(("players", "least"), [(2, 0.85), (3, 0.52), (4, 0.395), (6, 0.22)])
def test_careful_beats_greedy(players, least):
    share, error = wins_against_greedy(20_000, players=players)
    assert share - 4 * error > least
