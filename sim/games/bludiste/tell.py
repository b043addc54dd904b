"""A game of Bludiště told: each placement by name, and the rows with their gaps wherever the player is stuck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.cards import card_text
from sim.events import Event, collect_events
from sim.game import Spec
from sim.games.bludiste import record as rec
from sim.games.bludiste.deals import write_deal
from sim.games.bludiste.kernel import fold, new_columns, new_scratch, play_games, shuffle_stock
from sim.games.bludiste.record import SHIFT
from sim.games.bludiste.rules import Available, BludisteRules, Refill
from sim.replays import NO_BREAK, Told, counted, flow

if TYPE_CHECKING:
    from sim.games.bludiste.account import Decider

_GAP = "·"
_INDENT = "  "


class Teller:
    """Tells games of one specification."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._folded = fold(spec.rules, spec.policies)
        self._state, self._search, _ = new_scratch()
        self._decider = None if spec.solver is None else _decider(spec)

    def tell(self, game: int, orders: Sequence[Sequence[int]] | None = None) -> Told:
        """Tell the game of index `game`, or the explicit deal `orders` (its random numbers are those of `game`)."""
        stock = self._stock(game) if orders is None else list(orders[0])
        if self._decider is not None:
            return self._decide(self._decider, stock)
        events, raw = self._watch(game, stock)
        return Told(tuple(_Story(self.spec.rules, stock).lines(events)), raw)

    def _decide(self, decider: Decider, stock: list[int]) -> Told:
        """Tell the line that wins, or where all lines end."""
        decided = decider.decide(stock)
        story = _Story(self.spec.rules, stock)
        lines = [line for sentence in decided.verdict() for line in flow(sentence)]
        lines += ["", *decided.histogram()] if not decided.is_solved else []
        if not decided.is_solved:
            lines += ["", *flow(f"The line that places most cards, {decided.row['placed']} of {len(stock)}:")]
        lines += ["", *story.lines(decided.events, None if decided.is_solved else decided.reasons())]
        return Told(tuple(lines), decided.raw)

    def deal(self, game: int) -> str:
        """Return the line of a deals file that equals the seeded game."""
        return write_deal(self._stock(game))

    def _stock(self, game: int) -> list[int]:
        """Return the seeded game's stock."""
        stream: tuple[Any, Any] = np.uint64(self.spec.seed), np.uint64(game)
        shuffle_stock(self._state[0], self._folded[0], *stream)
        cards = self._state[0]["stock"][: self.spec.rules.n_stock]
        return [int(card) - SHIFT for card in cards]

    def _watch(self, game: int, stock: Sequence[int]) -> tuple[Sequence[Event], tuple[int, ...]]:
        """Play the game; return what happened and the row."""
        columns = new_columns(1)
        order = np.array(stock, np.uint8) + np.uint8(SHIFT)
        stream: tuple[Any, Any] = np.uint64(self.spec.seed), np.uint64(game)
        _, events, _ = collect_events(
            lambda events: play_games(self._state[0], self._search[0], self._folded[0], order, events, *stream, columns)
        )
        return events, tuple(map(int, columns[:, 0]))


def _decider(spec: Spec) -> Decider:
    from sim.games.bludiste.account import Decider

    return Decider(spec)


class _Story:
    """One game while it is told: rows and foundations as they stand."""

    def __init__(self, rules: BludisteRules, stock: Sequence[int]) -> None:
        self.rules = rules
        self.stock = stock
        self.n_dealt = 0
        self.rows: list[list[int | None]] = []
        self.tops: list[int] = [*range(4), *(range(48, 52) if rules.decks == 2 else [])]
        self.n_placed = 0

    def lines(self, events: Sequence[Event], end: Iterable[str] | None = None) -> Iterator[str]:
        """Tell the events: what is dealt, what is placed, and the table where the player is stuck.

        Parameters
        ----------
        end
            Sentences to end with, where the events are not a whole game.
        """
        moves: list[str] = []
        filled: list[int] = []
        for kind, *numbers in events:
            if kind == rec.FILL and self.rules.refill is Refill.AT_ONCE:
                moves[-1] += _bound(f"; {_card(self._fill(*numbers[:2]))} fills the gap")
            elif kind == rec.FILL:
                if moves:
                    yield from self._stuck(moves)
                    moves = []
                filled.append(self._fill(*numbers[:2]))
            else:
                if filled:
                    yield from flow(f"{counted(len(filled), 'gap')} filled: {_cards(filled)}.")
                    filled = []
                if kind == rec.ROW:
                    if self.rows:
                        yield from self._stuck(moves)
                        moves = []
                    yield from flow(f"Row {len(self.rows) + 1} is opened: {_cards(self._open(numbers[0]))}.")
                else:
                    moves.append(_bound(self._move(kind, *numbers[:3])))
        if filled:
            yield from flow(f"{counted(len(filled), 'gap')} filled: {_cards(filled)}.")
        if moves or end is None:
            yield from self._stuck(moves)
        else:
            yield from [*self._table(), ""]
        for sentence in [self._end()] if end is None else end:
            yield from flow(sentence)

    # -- what happens -------------------------------------------------------------------------------------------------

    def _open(self, n_cards: int) -> list[int]:
        """Open a row; return its cards."""
        cards = list(self.stock[self.n_dealt : self.n_dealt + n_cards])
        self.n_dealt += n_cards
        self.rows.append([*cards, *[None] * (self.rules.columns - n_cards)])
        return cards

    def _fill(self, place: int, card: int) -> int:
        """Lay a card into a gap; return it."""
        row, column = divmod(place, self.rules.columns)
        assert self.rows[row][column] is None
        assert self.stock[self.n_dealt] == card - SHIFT
        self.rows[row][column] = card - SHIFT
        self.n_dealt += 1
        return card - SHIFT

    def _move(self, kind: int, where: int, card: int, foundation: int) -> str:
        """Carry out a placement or a transfer; return it as words."""
        card -= SHIFT
        on = self.tops[foundation]
        self.tops[foundation] = card
        if kind == rec.TRANSFER:
            self.tops[where] = _below(card, where)
            return f"{_card(card)} is transferred to {_card(on)}"
        row, column = divmod(where, self.rules.columns)
        assert self.rows[row][column] == card
        self.rows[row][column] = None
        self.n_placed += 1
        grace = " by grace" if kind == rec.GRACE else ""
        return f"{_card(card)} on {_card(on)}{grace} (row {row + 1}, column {column + 1})"

    # -- how it stands ------------------------------------------------------------------------------------------------

    def _stuck(self, moves: Sequence[str]) -> Iterator[str]:
        """Say what was placed, and draw the table."""
        yield from flow(f"{', '.join(moves)}." if moves else "No card can be placed.", _INDENT)
        yield from self._table()
        yield ""

    def _table(self) -> Iterator[str]:
        """Draw the foundations and the rows: gaps as dots, cards that are not available in brackets."""
        up, down = self.tops[:4], self.tops[4:]
        both = f"up {_cards(up)}" + (f"   down {_cards(down)}" if down else "")
        left = self.rules.n_stock - self.n_dealt
        yield f"{2 * _INDENT}{both}   stock {left or 'empty'}"
        for number, row in enumerate(self.rows):
            places = "".join(f"{self._place(number, column):5}" for column in range(len(row)))
            yield f"{2 * _INDENT}{number + 1:2} {places}".rstrip()

    def _place(self, row: int, column: int) -> str:
        card = self.rows[row][column]
        if card is None:
            return f" {_GAP}"
        return f" {_card(card)}" if self._is_available(row, column) else f"[{_card(card)}]"

    def _is_available(self, row: int, column: int) -> bool:
        rule = self.rules.available
        if rule is Available.ALL or row in (0, len(self.rows) - 1) or self.rows[row - 1][column] is None:
            return True
        return rule is Available.ABOVE_OR_BELOW and self.rows[row + 1][column] is None

    def _end(self) -> str:
        n_all = self.rules.n_stock
        if self.n_placed == n_all:
            return f"Won: all {n_all} cards are placed, in {counted(len(self.rows), 'row')}."
        said = f"Lost: {self.n_placed} of {n_all} cards are placed, in {counted(len(self.rows), 'row')}."
        left = counted(n_all - self.n_dealt, "card is", "cards are")
        if self.n_dealt < n_all:
            said += f" No row may be opened any more (max_rows), {left} left in the stock."
        return said


def _below(card: int, foundation: int) -> int:
    """Return the card under `card` on a foundation."""
    return card - 4 if foundation < 4 else card + 4


def _bound(text: str) -> str:
    return text.replace(" ", NO_BREAK)


def _card(card: int) -> str:
    return card_text(card, symbols=True)


def _cards(cards: Iterable[int]) -> str:
    return " ".join(map(_card, cards))
