"""The columns of Dupa biskupa."""

from __future__ import annotations

from sim.games.dupa.rules import DupaRules
from sim.outcome import Column, per_seat

ENDS = ("hand_empty", "stuck", "turn_cap")
MOST_RANKS = 12  # dupas in one move


def columns(rules: DupaRules) -> list[Column]:
    """Return the columns of a row under `rules`, in the kernel's order."""
    n = rules.players
    turns = rules.max_turns * rules.rounds
    points = rules.rounds * max(rules.n_cards, rules.winner_points)
    winner = "seat that emptied its hand" if rules.rounds == 1 else "seat with fewest points alone"
    return [
        Column("winner", f"{winner}, -1 for nobody", low=-1, high=n - 1),
        Column("end", "how the round ended" if rules.rounds == 1 else "how the last round ended", categories=ENDS),
        Column("turns", "turns of all seats, passes included", high=turns),
        Column("draws", "cards drawn from the stock", high=turns),
        Column("reshuffles", "times the pile became the stock", high=turns),
        Column("dupas", "dupa sets laid", high=MOST_RANKS * turns),
        *per_seat("left", "cards left to seat {seat} at the end of the round", n, high=rules.n_cards),
        *per_seat("points", "points of seat {seat}; fewest win a match of several rounds", n, high=points),
        *per_seat("win_share", "seat {seat}'s share of the win: 1/k for each of k winners", n, share=True),
    ]
