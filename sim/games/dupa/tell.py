"""A match of Dupa biskupa told the way a person would, turn by turn, from what the kernel wrote down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sim.cards import DECK_SIZE, card_text, from_ace_high, to_ace_high
from sim.events import Event, groups
from sim.game import Spec
from sim.games.dupa import record as rec
from sim.games.dupa.deals import write_deal
from sim.games.dupa.kernel import fold
from sim.games.dupa.rules import DupaRules, PassWhen
from sim.games.dupa.state import ENDS
from sim.games.dupa.watch import Watched, shuffled_decks, watch
from sim.outcome import Column
from sim.replays import NO_BREAK, Told, counted, flow
from sim.rules import listed

MOST_TURNS = 400  # told one by one; of a longer round the first ones and the last
_LAST_TURNS = 20
_INDENT = "  "


class Teller:
    """Tells matches of one specification."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._folded = fold(spec.rules, spec.policies, *spec.how)
        self._columns = spec.columns

    def tell(self, game: int, orders: Sequence[Sequence[int]] | None = None) -> Told:
        """Tell the match of index `game`, or the explicit deal `orders` (its random numbers are those of `game`)."""
        watched = watch(self.spec, self._folded, game, orders)
        return Told(tuple(_Story(self.spec, self._columns, watched).lines()), watched.raw)

    def deal(self, game: int) -> str:
        """Return the line of a deals file with the decks of the seeded match."""
        return write_deal(shuffled_decks(self.spec, game).tolist())


class _Story:
    """One match while it is told: hands and the pile as they lie, and points as they stand."""

    def __init__(self, spec: Spec, columns: Sequence[Column], watched: Watched) -> None:
        self.rules: DupaRules = spec.rules
        self.turns_over = spec.reshuffle == "reverse"
        self.watched = watched
        self.row = {column.name: raw for column, raw in zip(columns, watched.raw, strict=True)}
        self.points = [0] * self.rules.players
        self.hands: list[list[int]] = []

    def lines(self) -> list[str]:
        """Return the match, round by round, a blank line between the parts."""
        lines: list[str] = []
        for events in groups(self.watched.events, rec.ROUND):
            lines += [*self._round(events), ""]
        if self.watched.is_cut:
            lines += ["… the rest of the match is not shown …", ""]
        if self.rules.rounds > 1 or self.watched.is_cut:
            lines += ["Score of the match", *self._match_score()]
        return lines[:-1] if not lines[-1] else lines

    # -- a round --------------------------------------------------------------------------------------------------

    def _round(self, events: Sequence[Event]) -> Iterable[str]:
        """Tell one round: the deal, the turns, how it ended, and its score."""
        number = events[0][1]
        is_one_of_many = self.rules.rounds > 1
        yield f"The deal of round {number + 1}" if is_one_of_many else "The deal"
        yield from self._deal(self.watched.decks[number])
        yield ""
        yield "Play"
        turns = [list(turn) for turn in groups(events[1:], rec.TURN)]
        skipped = range(MOST_TURNS - _LAST_TURNS, len(turns) - _LAST_TURNS) if len(turns) > MOST_TURNS else range(0)
        for i, turn in enumerate(turns):
            told = f"{i + 1}. {self._turn(turn)}"
            if i == skipped.start and skipped:
                yield f"{_INDENT}… {counted(len(skipped), 'turn')} not shown …"
            if i not in skipped:
                yield from flow(told, _INDENT)
        if events[-1][0] != rec.END:
            return
        yield from flow(self._end(events[-1], len(turns)), _INDENT)
        yield ""
        yield f"Score of round {number + 1}" if is_one_of_many else "Score"
        yield from self._round_score(events[-1])

    def _deal(self, deck: Sequence[int]) -> Iterable[str]:
        n, each = self.rules.players, self.rules.cards_each
        self.hands = [[to_ace_high(card) for card in deck[seat * each : (seat + 1) * each]] for seat in range(n)]
        for seat, hand in enumerate(self.hands):
            yield from flow(f"{_title(_seat(seat))} has {_cards(sorted(hand))}", _INDENT)
        n_left = len(deck) - n * each
        yield f"{_INDENT}{counted(n_left, 'card') if n_left else 'No card'} in the stock"

    def _turn(self, events: Sequence[Event]) -> str:
        """Return a turn: who, on what, what is laid or drawn, and how many cards are left."""
        _, seat, situation, _, *_ = events[0]
        top, is_demanded = situation % rec.DEMANDED, situation >= rec.DEMANDED
        where = "on the empty pile" if top == rec.NO_TOP else f"on {_card(top)}"
        if is_demanded:
            where = f"must beat {_card(top)}"
        parts = []
        hand = self.hands[seat]
        n_before = len(hand)
        is_first_act = True
        for kind, a, b, c, *_ in events[1:]:
            if kind == rec.PLAY:
                cards = [_from_pack(event[1]) for event in events if event[0] == rec.CARD]
                for card in cards:
                    hand.remove(card)
                parts.append(f"{'plays it: ' if c else ''}{_laid(cards, bool(b))}")
            elif kind == rec.RESHUFFLE:
                how = "turned over" if self.turns_over else "shuffled"
                parts.append(f"{counted(a, 'card')} of the pile {'is' if a == 1 else 'are'} {how} into a new stock")
            elif kind == rec.DRAW:
                hand.append(_from_pack(b))
                parts.append(f"draws {_card(_from_pack(b))}")
            elif kind == rec.PASS:
                parts.append("passes" if any(event[0] == rec.DRAW for event in events) else "passes, nothing to draw")
            if is_first_act and kind != rec.PLAY and self.rules.pass_when is PassWhen.CANNOT:
                parts.insert(0, "cannot play")
            is_first_act = False
        return f"{_title(_seat(seat))} ({n_before}) {where}: {', '.join(parts)}; {len(hand)} left"

    def _end(self, event: Event, n_turns: int) -> str:
        end = ENDS[event[1]]
        if end == "hand_empty":
            return f"{_title(_seat(event[2]))} has no card left and wins the round in {counted(n_turns, 'turn')}."
        if end == "stuck":
            return "Everybody passed and there was nothing to draw: the round is stuck, and nobody wins it."
        return f"The round is cut off here (max_turns): {counted(n_turns, 'turn')}, and nobody wins it."

    # -- the score ------------------------------------------------------------------------------------------------

    def _round_score(self, event: Event) -> Iterable[str]:
        winner = event[2]
        for seat, hand in enumerate(self.hands):
            scored = len(hand) + (self.rules.winner_points if seat == winner else 0)
            self.points[seat] += scored
            total = f", {self.points[seat]} in all" if self.rules.rounds > 1 else ""
            left = counted(len(hand), "card") if hand else "no card"
            yield f"{_INDENT}{_title(_seat(seat))}: {left} left, {counted(scored, 'point')}{total}"
        if self.rules.rounds == 1:
            yield f"{_INDENT}{_title(_seat(winner))} wins." if winner >= 0 else f"{_INDENT}Nobody wins."

    def _match_score(self) -> Iterable[str]:
        seats = range(self.rules.players)
        for seat in seats:
            yield f"{_INDENT}{_title(_seat(seat))}: {counted(self.row[f'points_{seat}'], 'point')}"
        winners = [seat for seat in seats if self.row[f"win_share_{seat}"]]
        if not winners:
            yield f"{_INDENT}No round was won, and nobody wins."
        elif len(winners) == 1:
            yield f"{_INDENT}{_title(_seat(winners[0]))} wins."
        else:
            who = listed([str(seat) for seat in winners], "and")
            yield f"{_INDENT}Seats {who} share the win, 1/{len(winners)} each."


def _laid(cards: Sequence[int], is_dupa: bool) -> str:
    """Return what was laid: ``7♠ 7♥``, or ``dupa 2♠, dupa 9♦ 9♣``."""
    sets: list[list[int]] = []
    for card in cards:
        if not sets or sets[-1][0] >> 2 != card >> 2:
            sets.append([])
        sets[-1].append(card)
    word = f"dupa{NO_BREAK}" if is_dupa else ""
    return ", ".join(f"{word}{_cards(one).replace(' ', NO_BREAK)}" for one in sets)


def _from_pack(number: int) -> int:
    """Return the ace-high card of a pack number."""
    return to_ace_high(number % DECK_SIZE)


def _card(card: int) -> str:
    return card_text(from_ace_high(card), symbols=True)


def _cards(cards: Iterable[int]) -> str:
    return " ".join(map(_card, cards))


def _seat(seat: int) -> str:
    return f"seat {seat}"


def _title(text: str) -> str:
    return text[:1].upper() + text[1:]
