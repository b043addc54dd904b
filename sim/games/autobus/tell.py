"""A game of Autobus told the way a person would, turn by turn, from what the kernel wrote down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sim.cards import card_text
from sim.events import Event, collect_events, groups
from sim.game import Spec
from sim.games.autobus import record as rec
from sim.games.autobus.deals import write_deal
from sim.games.autobus.kernel import SEEDED, fold, new_columns, new_scratch, play_games
from sim.games.autobus.moves import whole_deck
from sim.games.autobus.rules import AutobusRules
from sim.games.autobus.state import ENDS
from sim.replays import Told, counted, flow

MOST_TURNS = 400  # told one by one; of a longer game the first ones and the last
LAST_TURNS = 20

_INDENT = "  "


class Teller:
    """Tells games of one specification."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._folded = fold(spec.rules, spec.policies)
        self._columns = spec.columns

    def tell(self, game: int, orders: Sequence[Sequence[int]] | None = None) -> Told:
        """Tell the game of index `game`, or the explicit deal `orders` (its random numbers are those of `game`)."""
        state, rows = new_scratch(), new_columns(self._folded, 1)
        decks = SEEDED if orders is None else np.array(orders, np.uint8)
        stream: tuple[Any, Any] = np.uint64(self.spec.seed), np.uint64(game)
        _, events, n_events = collect_events(
            lambda events: play_games(state[0], self._folded[0], decks, events, *stream, rows)
        )
        raw = tuple(rows[:, 0].tolist())
        deck = self._deck(game) if orders is None else orders[0]
        row = {column.name: number for column, number in zip(self._columns, raw, strict=True)}
        return Told(tuple(_Story(self.spec.rules, deck, events, n_events, row).lines()), raw)

    def deal(self, game: int) -> str:
        """Return the line of a deals file that equals the seeded game."""
        return write_deal([self._deck(game)])

    def _deck(self, game: int) -> list[int]:
        state = new_scratch()
        stream: tuple[Any, Any] = np.uint64(self.spec.seed), np.uint64(game)
        whole_deck(state[0], self._folded[0], *stream)
        return state[0]["cards"][: self.spec.rules.n_decks * 52].tolist()  # type: ignore[no-any-return]


class _Story:
    """One game while it is told: the table as it stands."""

    def __init__(
        self, rules: AutobusRules, deck: Sequence[int], events: Sequence[Event], n_events: int, row: dict[str, Any]
    ) -> None:
        self.rules = rules
        self.events = events
        self.n_untold = n_events - len(events)
        self.row = row
        cards = iter(deck)
        self.hands: list[list[int]] = []
        self.buses: list[list[int]] = []
        for _ in range(rules.players):
            self.hands.append([next(cards) for _ in range(rules.hand_size)])
            self.buses.append([next(cards) for _ in range(rules.bus_size)])
        self.storage: list[list[list[int]]] = [[[] for _ in range(rules.storage_piles)] for _ in range(rules.players)]
        self.piles: list[list[int]] = []
        self.talon = len(deck) - rules.cards_dealt

    def lines(self) -> Iterator[str]:
        """Yield the deal, the turns with the table before each, and the end."""
        yield from self._deal()
        turns = list(groups(self.events, rec.TURN))
        for number, turn in enumerate(turns, start=1):
            told = list(self._turn(number, turn))
            if number <= MOST_TURNS - LAST_TURNS or number > len(turns) - LAST_TURNS:
                yield ""
                yield from told
            elif number == len(turns) - LAST_TURNS:
                yield from ("", f"… {counted(number - MOST_TURNS + LAST_TURNS, 'turn')} more …")
        if self.n_untold:
            yield from ("", f"… {counted(self.n_untold, 'event')} more, too many to tell …")
        yield from ("", "The end", *self._end())

    def _deal(self) -> Iterator[str]:
        rules = self.rules
        yield from flow(
            f"{counted(rules.n_decks, 'deck')}; each of {rules.players} seats gets {counted(rules.hand_size, 'card')} "
            f"into the hand and {rules.bus_size} into the bus; {counted(self.talon, 'card')} in the talon."
        )

    def _turn(self, number: int, events: Sequence[Event]) -> Iterator[str]:
        """Tell a turn, and move the cards."""
        seat = events[0][1]
        yield f"Turn {number}, seat {seat}"
        drawn = 0
        while 1 + drawn < len(events) and events[1 + drawn][0] == rec.DRAW:
            self._draw(seat, events[1 + drawn][2])
            drawn += 1
        yield from self._table(seat, drawn)
        rest = events[1 + drawn :]
        i = 0
        while i < len(rest):
            kind, _, a, b, c, d = rest[i]
            if kind == rec.DRAW:
                again = []
                while i < len(rest) and rest[i][0] == rec.DRAW:
                    again.append(rest[i][2])
                    self._draw(seat, rest[i][2])
                    i += 1
                yield from flow(f"The hand is empty: draws {_cards(again)} and goes on.", _INDENT)
                continue
            if kind == rec.PLACE:
                yield from flow(self._place(seat, a, b, c, d), _INDENT)
            elif kind == rec.FINISH:
                self.piles.pop(rest[i][1])
                self.talon = a
                yield from flow(f"The pile is finished and returns: {counted(a, 'card')} in the talon.", _INDENT)
            elif kind == rec.GIVE_UP:
                yield from flow(self._give_up(seat, a, b, c, d), _INDENT)
            elif kind == rec.PASS:
                yield f"{_INDENT}Has to give up a card, but no way is open: passes."
            i += 1
        if not any(event[0] in (rec.PLACE, rec.GIVE_UP, rec.PASS) for event in events):
            yield f"{_INDENT}Does nothing: the hand is empty, and so is the talon."

    def _draw(self, seat: int, card: int) -> None:
        self.hands[seat].append(card)
        self.talon -= 1

    def _table(self, seat: int, n_drawn: int) -> Iterator[str]:
        """Yield the table as the seat sees it before it plays; the last cards of its hand are just drawn."""
        piles = "  ".join(
            _card(pile[-1]) if len(pile) == 1 else f"{_card(pile[0])}…{_card(pile[-1])}" for pile in self.piles
        )
        yield from flow(f"piles    {piles or '–'}", _INDENT)
        buses = "   ".join(
            f"{'*' if other == seat else ''}{other}: {_card(bus[0])} +{len(bus) - 1}"
            for other, bus in enumerate(self.buses)
            if bus
        )
        yield from flow(f"buses    {buses}   talon: {self.talon}", _INDENT)
        if self.rules.storage_piles:
            stored = "   ".join(f"{number}: {_cards(pile) or '–'}" for number, pile in enumerate(self.storage[seat]))
            yield from flow(f"storage  {stored}", _INDENT)
        hand = self.hands[seat]
        held, drawn = _cards(hand[: len(hand) - n_drawn]), _cards(hand[len(hand) - n_drawn :])
        yield from flow(f"hand     {held}{'   draws ' if drawn else ''}{drawn}" if hand else "hand     –", _INDENT)

    def _place(self, seat: int, card: int, source: int, storage_pile: int, number: int) -> str:
        """Move a placed card; say from where and onto what."""
        start = "starts a new pile" if number == len(self.piles) else ""
        onto = start or f"goes onto {_card(self.piles[number][-1])}"
        if source == rec.FROM_BUS:
            bus = self.buses[seat]
            bus.pop(0)
            after = f"; the bus turns up {_card(bus[0])}, {len(bus) - 1} under it" if bus else "; the bus is empty"
            text = f"The bus's {_card(card)} {onto}{after}."
        elif source == rec.FROM_STORAGE:
            self.storage[seat][storage_pile].remove(card)
            text = f"{_card(card)} from storage pile {storage_pile} {onto}."
        else:
            self.hands[seat].remove(card)
            text = f"{_card(card)} {onto}."
        if start:
            self.piles.append([])
        self.piles[number].append(card)
        return text

    def _give_up(self, seat: int, how: int, card: int, pile: int, k: int) -> str:
        """Move a card that is given up; say how."""
        hand, storage = self.hands[seat], self.storage[seat]
        if how == rec.SWAP:
            given = [other for other in hand if other >> 2 == card >> 2][:k]
            for other in given:
                hand.remove(other)
            taken, storage[pile] = storage[pile], given
            hand += taken
            return f"Swaps {_cards(given)} for storage pile {pile}: {_cards(taken)}."
        hand.remove(card)
        if how == rec.BURY:
            self.buses[seat].append(card)
            return f"Puts {_card(card)} under the bus."
        text = f"Stores {_card(card)} on pile {pile}" + (f" with {_cards(storage[pile])}." if storage[pile] else ".")
        storage[pile].append(card)
        return text

    def _end(self) -> Iterator[str]:
        end = ENDS[self.row["end"]]
        if end == "bus_empty":
            yield f"{_INDENT}Seat {self.row['winner']} has emptied its bus and wins."
        elif end == "turn_cap":
            yield f"{_INDENT}Cut off after {counted(self.rules.max_turns, 'pass', 'passes')}: nobody wins."
        elif self.rules.stalemate_rounds:
            rounds = counted(self.rules.stalemate_rounds, "round")
            yield f"{_INDENT}A stalemate: no card was placed for {rounds}, and nobody wins."
        else:
            yield f"{_INDENT}A deadlock: no card was placed for a round, and the talon was empty. Nobody wins."
        for seat in range(self.rules.players):
            left = counted(self.row[f"bus_left_{seat}"], "card")
            points = self.row[f"points_{seat}"]
            yield f"{_INDENT}Seat {seat}: {left} left in the bus, {points:+,} points"


def _card(card: int) -> str:
    return card_text(card, symbols=True)


def _cards(cards: Iterable[int]) -> str:
    return " ".join(map(_card, cards))
