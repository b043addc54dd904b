"""The policy planner: positions with the moves it must make, what it may not look at, and that it is strong."""

import random

import numpy as np
import pytest

from sim.cards import card_text, parse_card
from sim.game import Player, Spec
from sim.games import get_game
from sim.games.autobus import kernel, moves, policies
from sim.games.autobus.record import FROM_HAND, RING
from tests.test_autobus import WAYS

GAME = get_game("autobus")


def position(hand, tops, piles=(), storage=(), players=3, **options):
    """Return a state in which seat 0 has the hand and storage, the seats these bus tops, and piles show these cards."""
    rules = GAME.rules.build(options={"players": players, "stalemate_rounds": 0} | options)
    folded = kernel.fold(rules, {"policy": ["planner"] * players})[0]
    state = kernel.new_scratch()[0]
    moves.whole_deck(state, folded, np.uint64(1), np.uint64(0))
    moves.deal(state, folded)
    for top in piles:
        card = parse_card(top)
        for below in range(card & 3, card + 1, 4):
            moves.lay(state, folded, None, 0, below, FROM_HAND, 0)
    state["hand"][0, : len(hand)] = [parse_card(card) for card in hand]
    state["n_hand"][0] = len(hand)
    for pile, held in enumerate(storage):
        state["storage"][0, pile, : len(held)] = [parse_card(card) for card in held]
        state["n_storage"][0, pile] = len(held)
    for seat, top in enumerate(tops):
        state["bus"][seat, state["bus_head"][seat]] = parse_card(top)
    return state, folded


def placed(state, rules):
    """Let seat 0 place until it stops or a bus card has gone; return the cards."""
    cards = []
    while (choice := policies.choose_placement(state, rules, 0)) != policies.STOP:
        state["turn_placed"] += 1
        if choice == policies.BUS:
            return [*cards, "bus"]
        if choice >= policies.STORAGE:
            card = moves.leave_storage(state, 0, (choice - policies.STORAGE) // 32, (choice - policies.STORAGE) % 32)
        else:
            card = moves.leave_hand(state, 0, choice)
            state["pass_placed_from_hand"] += 1
        cards.append(card_text(card))
        moves.lay(state, rules, None, 0, card, FROM_HAND, 0)
    return cards


def discarded(state, rules):
    how, a, pile = policies.choose_discard(state, rules, 0)
    return WAYS[how], card_text(state["hand"][0, a]), pile


def test_it_lays_the_fewest_cards_that_let_the_bus_top_go():
    # 4S 5S 6S under the bus's 7H; the 2H would fit too, and greedy lays it first
    state, rules = position(["2H", "6S", "4S", "KD", "5S"], ["7H", "KS", "QS"], ["3C", "AD"])
    assert placed(state, rules) == ["4S", "5S", "6S", "bus"]


def test_it_uses_storage_to_reach_the_bus_top():
    state, rules = position(["6S", "KD"], ["7H", "KS", "QS"], ["4C"], [["5H", "5D"], ["9C"]])
    assert placed(state, rules) == ["5D", "6S", "bus"]


def test_it_keeps_back_a_card_that_only_helps_the_next_seat():
    # The six would let the next seat's seven go; the ace is played instead, because a card has to be placed.
    state, rules = position(["6S", "AD", "JD", "QD", "KD"], ["9H", "7S", "7D"], ["5C"])
    assert placed(state, rules) == ["AD"]


def test_without_must_play_it_may_stop_at_once():
    hand, tops, piles = ["6S", "9D", "JD", "QD", "KD"], ["KH", "7S", "7D"], ["5C"]
    assert placed(*position(hand, tops, piles, must_play=True)) == ["6S"]
    assert placed(*position(hand, tops, piles, must_play=False)) == []


def test_it_empties_the_hand_for_a_new_one():
    state, rules = position(["4S", "5D"], ["KH", "QS", "QD"], ["3C"])
    assert placed(state, rules) == ["4S", "5D"]


@pytest.mark.parametrize("card", ["7D", "QD"])
def test_it_gives_up_a_card_onto_its_equals(card):
    state, rules = position([card, "8H", "9D"], ["3H", "QS", "JD"], ["AC"], [["7S"], ["QC"], ["JC"], ["TC"]])
    how, given, pile = discarded(state, rules)
    assert how == "same"
    assert given == card
    assert pile == (0 if card == "7D" else 1)


def test_it_buries_or_swaps_when_storage_is_full():
    state, rules = position(["8S", "8H", "9D"], ["3H", "QS", "JD"], ["AC"], [["7S"]], storage_piles=1)
    assert discarded(state, rules)[0] in ("swap", "bury")
    state, rules = position(["8S", "6H", "9D"], ["3H", "QS", "JD"], ["AC"], [["7S"]], storage_piles=1)
    assert discarded(state, rules)[0] == "bury"


def test_it_does_not_look_at_hidden_cards():
    """Whatever lies face down is exchanged at random: what it does stays the same."""
    rnd = random.Random(1)
    n_seen = 0
    for _ in range(300):
        players = rnd.choice([2, 3, 4])
        options = {"players": players, "decks": 2, "stalemate_rounds": 0, "follow_suit": rnd.random() < 0.5}
        spec = Spec.build(GAME, GAME.rules.build(options=options), {"policy": "planner"}, rnd.randrange(2**64))
        rules = kernel.fold(spec.rules, spec.policies)[0]
        state = kernel.new_scratch()[0]
        moves.whole_deck(state, rules, np.uint64(spec.seed), np.uint64(0))
        moves.deal(state, rules)
        turns = rnd.randrange(0, 30)
        if any(kernel.play_turn(state, rules, None, turn % players) for turn in range(turns)):
            continue
        seat = turns % players
        if moves.talon_size(state) == 0 or state["n_decided"] < state["tail"]:
            continue
        moves.draw_up(state, rules, None, seat)
        hidden = [(state["cards"], i) for i in range(state["head"], state["tail"])]
        for other in range(players):
            hidden += [(state["bus"][other], i) for i in range(state["bus_head"][other] + 1, state["bus_tail"][other])]
            if other != seat:
                hidden += [(state["hand"][other], i) for i in range(state["n_hand"][other])]
        assert state["bus_tail"].max() < RING
        before = policies.choose_placement(state, rules, seat), policies.choose_discard(state, rules, seat)
        cards = [int(place[i]) for place, i in hidden]
        rnd.shuffle(cards)
        for (place, i), card in zip(hidden, cards, strict=True):
            place[i] = card
        after = policies.choose_placement(state, rules, seat), policies.choose_discard(state, rules, seat)
        assert before == after
        n_seen += 1
    assert n_seen > 60


@pytest.mark.parametrize(("players", "floor"), [(2, 0.55), (4, 0.30)])
def test_it_beats_greedy(players, floor):
    """Against greedy in every other seat, over all seats: above a floor well below what 20,000 games say."""
    rules = GAME.rules.build(options={"players": players, "stalemate_rounds": 0})
    won = []
    for seat in range(players):
        policy = ["planner" if other == seat else "greedy" for other in range(players)]
        raw = Player(Spec.build(GAME, rules, {"policy": policy}, 5)).play(0, 1_500)
        won.append((raw[0] == seat).mean())
    assert np.mean(won) > floor
