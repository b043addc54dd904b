"""A game of Bussikuski told the way a person would, phase by phase, from what the kernel wrote down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sim.cards import RANKS, SYMBOLS, card_text, from_ace_high
from sim.events import Event, groups
from sim.game import Spec
from sim.games.bussikuski import record as rec
from sim.games.bussikuski.deals import write_deal
from sim.games.bussikuski.kernel import fold
from sim.games.bussikuski.rules import Bus, BussikuskiRules, DriverTie, FourthQuestion, GuessStake
from sim.games.bussikuski.state import BUS_ENDS, DRIVER_BY
from sim.games.bussikuski.watch import Watched, explicit_decks, watch
from sim.outcome import Column
from sim.replays import NO_BREAK, Told, counted, flow
from sim.rules import listed

MOST_ATTEMPTS = 120  # told one by one; of a longer ride the first ones and the last
_LAST_ATTEMPTS = 3

_ACE_HIGH = RANKS[1:] + RANKS[0]
_RANK_WORDS = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}
_SUIT_WORDS = ("spades", "hearts", "diamonds", "clubs")
_ANSWERS = (("red", "black"), ("higher", "lower"), ("inside", "outside"))
_INDENT = "  "


class Teller:
    """Tells games of one specification."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._folded = fold(spec.rules, spec.policies)
        self._columns = spec.columns

    def tell(self, game: int, orders: Sequence[Sequence[int]] | None = None) -> Told:
        """Tell the game of index `game`, or the explicit deal `orders` (its random numbers are those of `game`)."""
        watched = self._watch(game, orders)
        if not watched.finished:
            return Told((), None)
        return Told(tuple(_Story(self.spec.rules, self._columns, watched).lines()), watched.raw)

    def deal(self, game: int) -> str:
        """Return the line of a deals file that equals the seeded game.

        Raises
        ------
        ReplayError
            If the game is too long for that.
        """
        watched = self._watch(game, None)
        return write_deal(explicit_decks(self.spec, game, watched))

    def _watch(self, game: int, orders: Sequence[Sequence[int]] | None) -> Watched:
        return watch(self.spec, self._folded, game, orders)


class _Story:
    """One game while it is told: hands and points as they stand."""

    def __init__(self, rules: BussikuskiRules, columns: Sequence[Column], watched: Watched) -> None:
        self.rules = rules
        self.events = watched.events
        self.is_cut = watched.n_events > len(watched.events)
        self.row = {column.name: raw for column, raw in zip(columns, watched.raw, strict=True)}
        self.hands: list[list[int]] = [[] for _ in range(self.rules.players)]
        self.points = [0] * self.rules.players
        self.driver = self.row["driver"]

    def lines(self) -> list[str]:
        """Return the game, a heading before each phase and a blank line between them."""
        told = [*_between(self.events, None, rec.PYRAMID)]
        lines = ["Phase 1: four questions", *self._questions(told)]
        lines += ["", "Phase 2: the pyramid", *self._pyramid(_between(self.events, rec.PYRAMID, rec.TIED, rec.DRIVER))]
        driving = [event for event in self.events if event[0] in (rec.TIED, rec.DRAW, rec.DRAW_RESHUFFLE, rec.DRIVER)]
        lines += ["", "The driver", *self._driver(driving)]
        if self.driver >= 0 and self.rules.bus is not Bus.NONE:
            lines += ["", *flow(f"Phase 3: {_seat(self.driver)} {self._bus()}"), *self._ride()]
        return [*lines, "", "Score", *self._score()]

    # -- phase 1 --------------------------------------------------------------------------------------------------

    def _questions(self, events: Sequence[Event]) -> Iterable[str]:
        asked = -1
        for (_, seat, question, answer, card, verdict), *gifts in groups(events, rec.ANSWER):
            if question != asked:
                yield f"{_INDENT}{question + 1}. {self._question(question)}"
                asked = question
            text = f"{_title(_seat(seat))} says {self._said(question, answer, self.hands[seat])}, turns {_card(card)}: "
            if verdict == rec.WRONG:
                stake = question + 1 if self.rules.guess_stake is GuessStake.BY_ROUND else 1
                self.points[seat] += stake
                text += f"wrong, {counted(stake, 'point')}"
            else:
                text += "right" if verdict == rec.RIGHT else "a tie, neither right nor wrong"
            self.hands[seat].append(card)
            yield from flow(text + self._gifts(gifts), 2 * _INDENT)

    def _question(self, question: int) -> str:
        if question < 3:
            return ("Red or black?", "Higher or lower?", "Inside or outside?")[question]
        return "Which suit?" if self.rules.fourth_question is FourthQuestion.SUIT else "A suit held, or a new one?"

    def _said(self, question: int, answer: int, cards: Sequence[int]) -> str:
        """Return an answer with the cards that it looks at."""
        word = self._answer(question, answer)
        if question == 1:
            return f"{word} on {_card(cards[0])}"
        if question == 2:
            low, high = sorted(cards[:2])
            return f"{word} {_card(low)}–{_card(high)}"
        if question == 3 and self.rules.fourth_question is FourthQuestion.NEW_OR_HELD:
            return f"{word} (holds {' '.join(SYMBOLS[suit] for suit in sorted({card & 3 for card in cards[:3]}))})"
        return word

    def _answer(self, question: int, answer: int) -> str:
        if question < 3:
            return _ANSWERS[question][answer]
        return _SUIT_WORDS[answer] if self.rules.fourth_question is FourthQuestion.SUIT else ("held", "new")[answer]

    def _gifts(self, events: Iterable[Event]) -> str:
        """Book gifts of one giver and return them as the end of a sentence."""
        parts: list[str] = []
        for _, _, seat, points, *_ in events:
            self.points[seat] += points
            gift = f"{counted(points, 'point') if not parts else points} to {_seat(seat)}"
            parts.append(gift.replace(" ", NO_BREAK))
        return f", gives {', '.join(parts)}" if parts else ""

    # -- phase 2 --------------------------------------------------------------------------------------------------

    def _pyramid(self, events: Sequence[Event]) -> Iterable[str]:
        row = 0
        for (_, _, turned, value, *_), *rest in groups(events, rec.PYRAMID):
            if value != row:
                yield f"{_INDENT}Row {value}: {counted(value, 'point')} a card"
                row = value
            plays = []
            for (_, seat, n_played, *_), *gifts in groups(rest, rec.PLAY):
                cards = [card for card in self.hands[seat] if card >> 2 == turned >> 2][:n_played]
                self.hands[seat] = [card for card in self.hands[seat] if card not in cards]
                plays.append(f"{_seat(seat)} plays {_cards(cards)}{self._gifts(gifts)}")
            yield from flow(f"{_card(turned)}: {'; '.join(plays) or f'nobody has {_a_rank(turned)}'}", 2 * _INDENT)
        yield f"{_INDENT}Left"
        for seat, hand in enumerate(self.hands):
            left = _cards(hand) if hand else "no card"
            yield f"{2 * _INDENT}{_title(_seat(seat))} has {left}, and {counted(self.points[seat], 'point')}"

    # -- the driver -----------------------------------------------------------------------------------------------

    def _driver(self, events: Sequence[Event]) -> Iterable[str]:
        by = DRIVER_BY[self.row["driver_by"]]
        if by == "nobody":
            yield f"{_INDENT}Nobody has a card left: there is no bus to drive."
            return
        most = max(map(len, self.hands))
        ties = [_seats_of(bits) for kind, bits, *_ in events if kind == rec.TIED]
        if by == "most_cards":
            yield f"{_INDENT}{_title(_seat(self.driver))} has the most cards left, {most}, and drives."
        else:
            yield f"{_INDENT}{_title(_seats(ties[0]))} have the most cards left, {most} each."
        if by == "tie_break":
            yield f"{_INDENT}{self._tie_break()}"
        elif by == "draw":
            yield from flow(self._still_tied(ties[1]), _INDENT)
            yield from self._draws(events, ties[1])
        if self.rules.bus is Bus.NONE:
            yield f"{_INDENT}There is no bus to ride (bus = none)."

    def _tie_break(self) -> str:
        """Say how the first tie-break found the driver."""
        who = _seat(self.driver)
        if self.rules.driver_tie is DriverTie.MOST_POINTS:
            return f"The most points so far decide: {who} has {self.points[self.driver]} and drives."
        is_lowest = self.rules.driver_tie is DriverTie.LOWEST_CARD
        card = self._extreme(self.driver)
        return f"The {'lowest' if is_lowest else 'highest'} card decides: {who} holds {_card(card)} and drives."

    def _extreme(self, seat: int) -> int:
        """Return the seat's lowest or highest card, as the tie-break asks."""
        choose: Callable[..., int] = min if self.rules.driver_tie is DriverTie.LOWEST_CARD else max
        return choose(self.hands[seat], key=lambda card: card >> 2)

    def _still_tied(self, seats: Sequence[int]) -> str:
        """Say what the first tie-break left open."""
        if self.rules.driver_tie is DriverTie.DRAW:
            return "They draw."
        if self.rules.driver_tie is DriverTie.MOST_POINTS:
            return f"{_title(_seats(seats))} have the most points so far, {self.points[seats[0]]} each: they draw."
        held = listed([_card(self._extreme(seat)) for seat in seats], "and")
        word = "lowest" if self.rules.driver_tie is DriverTie.LOWEST_CARD else "highest"
        return f"{_title(_seats(seats))} hold equal {word} cards, {held}: they draw."

    def _draws(self, events: Iterable[Event], tied: Sequence[int]) -> Iterable[str]:
        """Tell the draws, a line for each round of them."""
        drawn: dict[int, int] = {}
        for kind, a, b, *_ in events:
            if kind == rec.DRAW_RESHUFFLE:
                yield f"{_INDENT}The deck is used up: {counted(a, 'card')} from the table are shuffled."
            elif kind == rec.DRAW:
                drawn[a] = b
            if kind == rec.DRAW and len(drawn) == len(tied):
                lowest = min(card >> 2 for card in drawn.values())
                tied = [seat for seat, card in drawn.items() if card >> 2 == lowest]
                said = ", ".join(f"{_seat(seat)} draws {_card(card)}" for seat, card in drawn.items())
                verdict = f"{_seat(tied[0])} drives" if len(tied) == 1 else f"{_seats(tied)} draw again"
                yield from flow(f"{_title(said)}: {verdict}.", _INDENT)
                drawn = {}

    # -- phase 3 --------------------------------------------------------------------------------------------------

    def _bus(self) -> str:
        """Return which bus is ridden."""
        if self.rules.bus is Bus.DIAMOND:
            ranks = " ".join(self.rules.blockers)
            stops = f"{ranks} stop{'s' if len(ranks) == 1 else ''} it" if ranks else "nothing stops it"
            return f"rides the diamond, rows of {' '.join(map(str, self.rules.diamond_rows))}; {stops}"
        if self.rules.bus is Bus.STRAIGHT:
            guesses = counted(self.rules.straight_length, "right guess", "right guesses")
            return f"rides the straight bus; {guesses} in a row"
        return "rides on the four questions"

    def _ride(self) -> Iterable[str]:
        attempts = list(groups(_between(self.events, rec.ATTEMPT, rec.END), rec.ATTEMPT))
        n_attempts = self.row["bus_attempts"]
        if n_attempts <= MOST_ATTEMPTS:
            shown = attempts
        else:
            shown = attempts[: MOST_ATTEMPTS - _LAST_ATTEMPTS] + ([] if self.is_cut else attempts[-_LAST_ATTEMPTS:])
        before = 0
        for events in shown:
            number = events[0][1]
            if number > before + 1:
                yield f"{_INDENT}… {counted(number - before - 1, 'attempt')} not shown …"
            before = number
            yield from flow(f"Attempt {number:,}: {self._attempt(events[1:])}", _INDENT)
        if n_attempts > before:
            yield f"{_INDENT}… {counted(n_attempts - before, 'attempt')} not shown"
        yield from flow(self._ride_end(), _INDENT)

    def _attempt(self, events: Sequence[Event]) -> str:
        """Return an attempt: the cards turned, then what came of it."""
        kinds = [event[0] for event in events]
        n_before = kinds.index(rec.FAILURE) if rec.FAILURE in kinds else len(kinds)
        text = self._turns(events) if self.rules.bus is Bus.DIAMOND else self._guesses(events[:n_before])
        for kind, a, b, *_ in events[n_before:]:
            if kind == rec.FAILURE:
                text += f": {counted(a, 'point')}"
            elif kind == rec.REFILL:
                text += f"; {counted(a, 'place')} refilled, {b} in the stock"
            elif kind == rec.BUS_RESHUFFLE:
                text += f"; the stock has too few cards: {counted(a, 'card')} shuffled into a new one"
            elif kind == rec.FRESH:
                text += "; fresh deck"
        return text

    def _turns(self, events: Iterable[Event]) -> str:
        """Return the cards turned in the diamond, and where they led."""
        turns = [event for event in events if event[0] == rec.TURN]
        is_stopped = bool(turns[-1][3])
        outcome = f"stops in row {len(turns)}" if is_stopped else f"gets through all {counted(len(turns), 'row')}"
        return f"{_cards(card for _, _, card, *_ in turns)} {outcome}"

    def _guesses(self, events: Iterable[Event]) -> str:
        """Return the guesses of an attempt on the straight bus or on the questions."""
        parts = []
        n_right = 0
        is_right = True
        for kind, a, b, c, d, _ in events:
            if kind == rec.BASE:
                parts.append(f"base{NO_BREAK}{_card(a)}")
            elif kind == rec.BUS_RESHUFFLE:
                parts.append(f"then {counted(a, 'card')} are shuffled into a new stock")
            elif kind == rec.BUS_ANSWER:
                is_right = bool(d)
                n_right += is_right
                word = _ANSWERS[1][b] if self.rules.bus is Bus.STRAIGHT else self._answer(a, b)
                parts.append(NO_BREAK.join([word, _card(c), "right" if is_right else "wrong"]))
        needed = self.rules.straight_length if self.rules.bus is Bus.STRAIGHT else 4
        if is_right and n_right < needed:
            parts.append("and no card is left")
        return ", ".join(parts)

    def _ride_end(self) -> str:
        row = self.row
        end = BUS_ENDS[row["bus_end"]]
        said = {
            "success": f"{_title(_seat(self.driver))} is off the bus",
            "stock_out": "The stock is too small to go on, and the ride ends",
            "attempt_cap": "No more attempts are allowed (max_attempts), and the ride ends",
            "turn_cap": "The ride is cut off here (max_turns)",
        }[end]
        counts = [counted(row["bus_attempts"], "attempt"), f"{counted(row['bus_turned'], 'card')} turned"]
        return f"{said}: {', '.join(counts)}, {counted(row['bus_penalty'], 'point')} paid."

    # -- the score ------------------------------------------------------------------------------------------------

    def _score(self) -> Iterable[str]:
        points = [self.row[f"points_{seat}"] for seat in range(self.rules.players)]
        for seat, total in enumerate(points):
            on_bus = self.row["bus_penalty"] if seat == self.driver else 0
            share = f", {on_bus:,} of them on the bus" if on_bus else ""
            yield f"{_INDENT}{_title(_seat(seat))}: {counted(total, 'point')}{share}"
        winners = [seat for seat, total in enumerate(points) if total == min(points)]
        if len(winners) == 1:
            yield f"{_INDENT}{_title(_seat(winners[0]))} wins."
        else:
            yield f"{_INDENT}{_title(_seats(winners))} share the win, 1/{len(winners)} each."


def _between(events: Sequence[Event], first: int | None, *ends: int) -> Sequence[Event]:
    """Return the events from the first of kind `first` (or the start) to before the first of kind `ends`."""
    kinds = [event[0] for event in events]
    start = 0 if first is None else kinds.index(first) if first in kinds else len(kinds)
    end = next((i for i in range(start, len(kinds)) if kinds[i] in ends), len(kinds))
    return events[start:end]


def _card(card: int) -> str:
    return card_text(from_ace_high(card), symbols=True)


def _cards(cards: Iterable[int]) -> str:
    return " ".join(map(_card, cards))


def _a_rank(card: int) -> str:
    """Return ``a seven`` or ``an ace`` for the rank of a card."""
    letter = _ACE_HIGH[card >> 2]
    word = _RANK_WORDS.get(letter, letter)
    return f"{'an' if word in ('ace', '8') else 'a'} {word}"


def _seat(seat: int) -> str:
    return f"seat {seat}"


def _seats(seats: Sequence[int]) -> str:
    return f"seats {listed([str(seat) for seat in seats], 'and')}"


def _seats_of(bits: int) -> list[int]:
    return [seat for seat in range(bits.bit_length()) if bits >> seat & 1]


def _title(text: str) -> str:
    return text[:1].upper() + text[1:]
