"""Columns, values and measures in words, and the games' own terms explained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from analysis.intervals import Interval
from analysis.joint import Measure
from analysis.load import ColumnNote, Run
from analysis.summary import Number, Summary
from reports.table import capitalised, cell, words

VALUES = {
    "bus_empty": "a bus is empty",
    "hand_empty": "a hand is empty",
    "stalemate": "stalemate",
    "turn_cap": "stopped at the limit of turns",
    "attempt_cap": "stopped at the limit of attempts",
    "success": "the driver got through",
    "stock_out": "the stock ran out",
    "no_bus": "no ride",
    "stuck": "everybody passed, nothing to draw",
    "most_cards": "most cards left",
    "tie_break": "by the tie-break",
    "draw": "by drawing a card",
    "nobody": "nobody had a card left",
    "unknown": "unknown: the search's limit was reached",
}
"""A category's value → what it means, where the word alone does not say it."""

LENGTH = {
    "bussikuski": ("bus_turned", "cards turned on the bus"),
    "bludiste": ("rows", "rows opened"),
}
"""Game → the column that says how long a game was, and what it counts; ``turns`` for the rest."""

CLOSEST = {"autobus": ("bus_left", -1), "bussikuski": ("points", -1), "dupa": ("left", -1), "bludiste": ("placed", 1)}
"""Game → the column (or the seats' columns) that says how close a game was, and whether more (1) or less (-1) wins."""

TERMS: Mapping[str, Mapping[str, str]] = {
    "autobus": {
        "bus": "each seat's face-down pile; whoever empties it first wins",
        "talon": "the face-down cards that everybody draws from",
        "common pile": "a shared pile that runs from ace to king",
        "storage pile": "a seat's own piles, of one rank each, that cards are put aside on",
        "stalemate": "the game ends because nobody places a card any more",
        "burying": "putting a hand card under one's own bus, when nothing else is possible",
    },
    "bussikuski": {
        "penalty points": "what wrong answers, gifts and the bus cost; fewest win",
        "gift": "points that a seat gives to others when its card is turned up in the pyramid",
        "pyramid": "rows of cards turned one by one; equal hand cards are played on them",
        "driver": "the seat with most cards left after the pyramid; it rides the bus",
        "bus": "the last phase: the driver has to get through a row of cards, and pays for each failure",
        "blocker": "a card that stops an attempt on the diamond (jack to ace by the letter)",
        "stock": "the cards that the bus is filled up from; when they run out, the ride is over",
    },
    "bludiste": {
        "foundation": "one of the piles that the cards have to go on: up from the ace, down from the king",
        "row": "ten cards (by the letter) laid side by side; the newest one is filled up from the stock",
        "gap": "the place of a card that has been placed",
        "stock": "the cards that are still to be dealt",
    },
    "dupa": {
        "set": "one or more cards of one rank, laid together",
        "dupa": "a set of a rank that is not in the pile; it needs no fit and must be beaten",
        "demand": "the duty to beat a dupa with a higher set or aces",
        "stock": "the cards that a seat that cannot play draws from",
        "reshuffle": "the pile becomes the new stock",
    },
}
"""Game → term → what it means."""


def value(text: str) -> str:
    """Return a category's value in words."""
    return VALUES.get(text, words(text))


def column(note: ColumnNote) -> str:
    """Return a column's name in words: the beginning of its description, up to the first comma or bracket."""
    if found := re.fullmatch(r"1 if (.+), else 0", note.description):
        return found[1]
    return re.split(r"[,;:(]", note.description)[0].strip() or words(note.name)


def seats(note: ColumnNote) -> str:
    """Return what the columns of one kind, one a seat, say: ``penalty points at the end``."""
    return re.sub(
        r"^seat \d+'s | (?:of|to|by|for|from|in|at) seat \d+(?:'s)?\b|\bseat \d+\b ?", "", column(note)
    ).strip()


def seat(number: float, names: Sequence[str] = ()) -> str:
    """Return ``seat 2``, with the policy's name if one is given."""
    return f"seat {number:g}" + (f" ({names[int(number)]})" if names else "")


def who(note: ColumnNote, number: float) -> str:
    """Return a value of a column of seats as a sentence: ``seat 2 wins``, ``nobody drives the bus``."""
    told = re.sub(r"^(the )?seat that ", "", column(note))
    return f"{'nobody' if number == -1 else seat(number)} {told}"


def measure(found: Measure) -> str:
    """Return a measure of a comparison in words."""
    note = found.note
    if found.value is None:
        return column(note)
    if note.low == -1 and note.high is not None and isinstance(found.value, int | float):
        return who(note, found.value)
    return f"{re.sub(r'^how (the )?', '', column(note))}: {value(str(found.value))}"


def category(note: ColumnNote) -> str:
    """Return a category's name in words: ``how the game ended``."""
    return column(note)


def interval(found: Interval, *, percent: bool = False) -> str:
    """Return an estimate with its interval as it stands in a sentence."""
    told = cell(found, percent=percent)
    return f"{told.number} {told.tail}".strip() + (" %" if percent else "")


def rules(run: Run, changes: Mapping[str, str] | None) -> str:
    """Return the rules in one line: what differs from the letter if that is known, else every option."""
    from reports.table import option_text

    if changes is not None:
        said = ", ".join(f"{name} = {text}" for name, text in changes.items())
        return f"by the letter, but {said}" if said else "by the letter"
    return ", ".join(f"{name} = {option_text(setting)}" for name, setting in run.rules.items())


def policies(run: Run) -> str:
    """Return the policies in one line."""
    told = []
    for slot, names in run.policies.items():
        short = names[0] if len(set(names)) == 1 else ", ".join(f"{name} (seat {k})" for k, name in enumerate(names))
        told.append(short if slot == "policy" else f"{slot}: {short}")
    return "; ".join(told)


def title(run: Run, given: str | None) -> str:
    """Return the game's name."""
    return given or capitalised(run.game or "Results")


def seat_policies(run: Run, n_seats: int) -> tuple[str, ...]:
    """Return each seat's policy if they differ; of several slots, the first whose policies do."""
    for names in run.policies.values():
        if len(names) == n_seats and len(set(names)) > 1:
            return tuple(names)
    return ()


def length_column(summary: Summary) -> tuple[Number, str] | None:
    """Return the column that says how long the games were, and what it counts."""
    name, told = LENGTH.get(summary.run.game or "", ("turns", ""))
    found = summary.columns.get(name)
    if found is None or not found.n or found.moments.counts is None:
        return None
    return found, told or column(found.note)


def win_columns(summary: Summary) -> list[Interval]:
    """Return each seat's share of the wins; nothing for a patience."""
    from reports.text import seat_groups

    shares = seat_groups(summary).get("win_share")
    if shares:
        return [found.mean for found in shares]
    winner = summary.columns.get("winner")
    if winner is not None and winner.names_a_seat and winner.n and winner.note.high is not None:
        return [winner.share(k) for k in range(int(winner.note.high) + 1)]
    return []
