"""The columns of Autobus."""

from __future__ import annotations

from sim.cards import DECK_SIZE
from sim.games.autobus.rules import AutobusRules
from sim.outcome import Column, per_seat

ENDS = ("bus_empty", "stalemate", "turn_cap")


def columns(rules: AutobusRules) -> list[Column]:
    """Return the columns of a row under `rules`, in the kernel's order."""
    n, cards, passes = rules.players, DECK_SIZE * rules.n_decks, rules.max_turns
    # Every card placed was dealt or drawn; a pass draws no more than a hand.
    plays = cards + passes * rules.hand_size
    return [
        Column("winner", "seat that wins: its bus is empty; -1 for nobody", low=-1, high=n - 1),
        Column("end", "how the game ended", categories=ENDS),
        Column("turns", "turns begun, by all seats", high=passes),
        Column("plays", "cards placed on common piles, by all seats", high=plays),
        Column("finished_piles", "common piles that reached the king", high=plays // 13),
        Column("buried", "cards put under a bus", high=passes),
        Column("swaps", "equal hand cards exchanged for a storage pile", high=passes),
        *per_seat("bus_left", "cards left in the bus of seat {seat}", n, high=cards),
        *per_seat(
            "points", "points of seat {seat}: cards left in its bus are lost to the winner", n, low=-cards, high=cards
        ),
    ]
