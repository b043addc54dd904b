"""What ``fairdeal exact bussikuski`` says of answers: the card of best answers, one hand, the rest of a ride."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from scripts.errors import WrongCall
from sim.cards import DECK_SIZE, SUITS, SYMBOLS, CardError, card_text, parse_cards, to_ace_high
from sim.game import Spec
from sim.rules import RuleError

if TYPE_CHECKING:
    from sim.games.bussikuski.answers import Answer
    from sim.games.bussikuski.rest import Outlook


@dataclasses.dataclass(frozen=True)
class Asked:
    """What was typed: ``--card``, ``--known``, ``--hand``, ``--gone``."""

    card: bool
    known: str | None
    hand: str | None
    gone: str | None

    @property
    def option(self) -> str:
        """Return one of the options that were typed."""
        return "--card" if self.card else "--gone" if self.gone is not None else "--hand" if self.hand else "--known"


def print_answers(spec: Spec, asked: Asked, as_json: bool) -> None:
    """Print the card, the answer for one hand, or the rest of a ride.

    Raises
    ------
    RuleError
        For cards that cannot be.
    """
    if spec.game.name != "bussikuski":
        raise WrongCall(f"{asked.option} is for bussikuski: {spec.game.name} asks no questions")
    if asked.card and asked.hand is not None:
        raise WrongCall("--card prints every situation, --hand asks for one: give one of them")
    if asked.gone is not None:
        if asked.card or asked.known is not None:
            raise WrongCall("--gone goes with --hand alone")
        _print_rest(spec, asked, as_json)
        return
    from sim.games.bussikuski.answers import answer_for, best_answers

    known = _read_cards("--known", asked.known)
    try:
        if asked.hand is None:
            found = best_answers(spec.rules, known)
        else:
            found = [answer_for(spec.rules, _read_cards("--hand", asked.hand), known)]
    except CardError as error:
        raise RuleError(f"{'--known' if asked.hand is None else '--hand'}: {error}") from None
    if not found:
        raise RuleError("--known: every card is known: none is left to be turned")
    if as_json:
        told = [dataclasses.asdict(answer) | ratio(answer.chance) for answer in found]
        click.echo(_json(spec, {"known": list(map(card_text, known)), "answers": told}))
    else:
        click.echo("\n".join(_card_lines(spec, known, found) if asked.hand is None else _answer_lines(found[0])))


def _json(spec: Spec, told: dict[str, Any]) -> str:
    kept = {name: spec.plain()[name] for name in ("game", "rules")}
    return json.dumps(kept | told, ensure_ascii=False)


def _read_cards(option: str, text: str | None) -> list[int]:
    try:
        return parse_cards((text or "").replace(",", " "))
    except CardError as error:
        raise RuleError(f"{option}: {error}") from None


def _said(answer: str) -> str:
    """Return an answer as it is said."""
    return SYMBOLS[SUITS.index(answer)] if answer in SUITS else answer


def _answer_lines(answer: Answer) -> Iterator[str]:
    from sim.games.bussikuski.answers import QUESTIONS

    yield f"Question {answer.question}, {QUESTIONS[answer.question]}: say {_said(answer.best)}."
    for name, n in answer.fits.items():
        chance = f"{100 * n / answer.n_cards:.4g} %"
        yield f"  {_said(name):8} right for {n} of {answer.n_cards} cards, {chance}"


def _card_lines(spec: Spec, known: list[int], answers: list[Answer]) -> Iterator[str]:
    from reports.table import WIDTH, Cell, Column, entry, table

    yield "Bussikuski: the best answer in every situation"
    yield from entry("Rules", rules_text(spec).partition(";")[0], WIDTH)
    seen = " ".join(card_text(card, symbols=True) for card in known)
    yield from entry("Known", f"your own cards and {seen}" if known else "your own cards only", WIDTH)
    by_question = {number: [answer for answer in answers if answer.question == number] for number in (1, 2, 3, 4)}
    for answer in by_question[1]:
        yield from ("", f"1  Red or black?  {answer.best}: {100 * float(answer.chance):.1f} %")
    for number, head, what in ((2, "2  Higher or lower?", "your card"), (4, "4  Which suit?", "your cards")):
        if number == 4:
            yield from _interval_lines(by_question[3])
        rows = by_question[number]
        if not rows:
            continue
        if rows[0].best in ("held", "new"):
            head = "4  A new suit, or one held?"
        yield from ("", head)
        columns = [
            Column("say", [_said(answer.best) for answer in rows]),
            Column("right", [Cell(f"{100 * float(answer.chance):.1f}", "%") for answer in rows]),
            Column("", [str(answer.chance) for answer in rows]),
        ]
        lines = table(Column(what, [answer.situation for answer in rows]), columns, WIDTH)
        yield from (line.rstrip() for line in lines)


def _interval_lines(answers: list[Answer]) -> Iterator[str]:
    """Return question 3 as a square: a row for the lower card, a column for the higher one."""
    from sim.games.bussikuski.answers import ACE_HIGH

    if not answers:
        return
    yield from ("", "3  Inside or outside?  (rows: the lower card, columns: the higher one; right in % of the cards)")
    cells = {}
    for answer in answers:
        low, high = answer.situation.split()
        cells[low, high] = f"{'in' if answer.best == 'inside' else 'out'} {100 * float(answer.chance):.0f}"
    yield "   " + "".join(f"{rank:>7}" for rank in ACE_HIGH)
    for low in ACE_HIGH:
        yield (f"{low:>3}" + "".join(f"{cells.get((low, high), ''):>7}" for high in ACE_HIGH)).rstrip()


# -- the rest of a ride -----------------------------------------------------------------------------------------------


def _print_rest(spec: Spec, asked: Asked, as_json: bool) -> None:
    from sim.games.bussikuski.rest import BEST, COUNTING, Rest, TooManyPositionsError
    from sim.games.bussikuski.rules import Bus, BusDeck, StockOut

    rules = spec.rules
    is_running = rules.bus_deck is BusDeck.RUNNING and rules.stock_out is StockOut.STOP and not rules.max_attempts
    if rules.bus not in (Bus.STRAIGHT, Bus.QUESTIONS) or not is_running:
        raise WrongCall(
            "--gone is for a bus of guesses whose deck runs out: bus = straight or questions, bus_deck = running, "
            "stock_out = stop, max_attempts = 0"
        )
    hand, gone = _read_cards("--hand", asked.hand), _read_cards("--gone", asked.gone)
    for card in hand + gone:
        if (hand + gone).count(card) > 1:
            raise RuleError(f"--gone: {card_text(card)} is named twice")
    most = rules.straight_length if rules.bus is Bus.STRAIGHT else 3
    if len(hand) > most:
        raise RuleError(f"--hand: {len(hand)} cards: an attempt that goes on has at most {most}")
    stock = [card for card in range(DECK_SIZE) if card not in hand + gone]
    own = [divmod(to_ace_high(card), 4) for card in hand]
    try:
        rests = {name: Rest(rules, (divmod(to_ace_high(card), 4) for card in stock), name) for name in (BEST, COUNTING)}
        outlooks = {name: rest.outlook(own) for name, rest in rests.items()}
        can_answer = bool(stock) and (bool(hand) or rules.bus is Bus.QUESTIONS)
        now = rests[BEST].answers(own) if can_answer else {}
    except TooManyPositionsError as error:
        raise RuleError(f"--gone: {error}; about a dozen cards can be followed") from None
    if as_json:
        told = {
            "stock": list(map(card_text, stock)),
            "policies": {name: _outlook_json(outlook) for name, outlook in outlooks.items()},
            "answers": {answer: _outlook_json(outlook) for answer, outlook in now.items()},
        }
        click.echo(_json(spec, told))
        return
    click.echo("\n".join(_rest_lines(spec, len(stock), outlooks, now)))


def _outlook_json(outlook: Outlook) -> dict[str, Any]:
    return {"success": ratio(outlook.success), "penalty": ratio(outlook.penalty)}


def _rest_lines(spec: Spec, n_left: int, outlooks: dict[str, Outlook], now: dict[str, Outlook]) -> Iterator[str]:
    from reports.table import WIDTH, Cell, Column, entry, table

    def lines(head: str, rows: dict[str, Outlook]) -> Iterator[str]:
        columns = [
            Column("success", [Cell(f"{100 * float(row.success):.2f}", "%") for row in rows.values()]),
            Column("points to pay", [Cell(f"{float(row.penalty):.4f}") for row in rows.values()]),
            Column("", [str(row.penalty) for row in rows.values()]),
        ]
        yield from (line.rstrip() for line in table(Column(head, list(rows)), columns, WIDTH))

    yield f"Bussikuski: the rest of a ride, {n_left} cards in the stock"
    yield from entry("Rules", rules_text(spec).partition("; guess")[0], WIDTH)
    yield ""
    named = {"best": "fewest points (the best answers)", "counting": "the likelier answer each time"}
    yield from lines("", {named[name]: outlook for name, outlook in outlooks.items()})
    if now:
        best = min(now, key=lambda answer: (now[answer].penalty, -now[answer].success))
        yield ""
        yield f"Now say {_said(best)}:"
        yield from lines("", {_said(answer): outlook for answer, outlook in now.items()})


# -- shared with the command ------------------------------------------------------------------------------------------


def rules_text(spec: Spec) -> str:
    """Return rules, as far as they are not the letter's, and policies."""
    from sim.replays import described

    said = described(spec).rstrip(".").removeprefix("Rules by the letter, but ")
    return said.replace("Rules by the letter", "by the letter")


def ratio(value: Fraction) -> dict[str, Any]:
    """Return a fraction as JSON has it, with its value as a number."""
    return {"numerator": value.numerator, "denominator": value.denominator, "value": _float(value)}


def _float(value: Fraction) -> float | None:
    """Return the value as a float; None if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return None
