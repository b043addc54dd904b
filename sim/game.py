"""What a game must provide, and a run's specification.

A game's folder fills a `Game`: names and texts that cost nothing to import, and the name of its kernel module, which is
imported (and compiled) only when something is played.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sim.outcome import Column
from sim.rules import RuleError, Rules, listed, nearest

if TYPE_CHECKING:
    import numpy as np

RANDOM_SCHEME = "philox4x64-10/v1"
MAX_SEED = 2**64 - 1


@dataclasses.dataclass(frozen=True)
class Slot:
    """A kind of decision that a policy takes, with the policies there are.

    Attributes
    ----------
    name
        The command's option without dashes: ``policy``; Bussikuski has ``guess`` and ``give``.
    choices
        Policy name → what it does. The order is the kernel's numbering.
    """

    name: str
    meaning: str
    choices: Mapping[str, str]
    default: str

    def read(self, given: str | Sequence[str] | None, seats: int) -> tuple[str, ...]:
        """Return one policy name per seat from ``a`` (every seat) or ``a,b,…`` (one each).

        Raises
        ------
        RuleError
            If a name is not known or their number is not the number of seats.
        """
        if given is None:
            given = self.default
        names = [word.strip() for word in given.split(",")] if isinstance(given, str) else list(given)
        for name in names:
            if name not in self.choices:
                known = list(self.choices)
                raise RuleError(f"--{self.name}: '{name}' is no policy; choose {listed(known)}{nearest(name, known)}")
        if len(names) == 1:
            names *= seats
        if len(names) != seats:
            raise RuleError(f"--{self.name}: {len(names)} policies for {seats} seats; give one for all or one per seat")
        return tuple(names)


@dataclasses.dataclass(frozen=True)
class Deal:
    """One explicit deal of a deals file.

    Attributes
    ----------
    line
        Its line number in the file, from 1.
    orders
        The decks on the line, as card numbers of `sim.cards`, top first.
    """

    line: int
    orders: tuple[tuple[int, ...], ...]


class Kernel(Protocol):
    """What a game's kernel module offers."""

    def fold(self, rules: Any, policies: Mapping[str, Sequence[str]]) -> Any:
        """Return a rule set and the seats' policies as the kernel reads them."""

    def new_scratch(self) -> Any:
        """Return what one thread needs to play."""

    def play_block(self, scratch: Any, rules: Any, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
        """Play the games first, first + 1, …; return the columns, each of shape (n_games,) in some integer type."""

    def play_deal(
        self, scratch: Any, rules: Any, seed: int, game: int, orders: np.ndarray[Any, Any]
    ) -> list[np.ndarray[Any, Any]] | None:
        """Play one explicit deal; return its row as columns, or None if it needed a deck more than `orders` holds.

        `orders` is uint8 of shape (n_decks, n_cards) in the numbers of `sim.cards`.
        """


@dataclasses.dataclass(frozen=True)
class Game:
    """Everything the toolkit knows of a game.

    Attributes
    ----------
    rules_version
        Raised when outcomes can change; never for speed.
    columns
        The columns of a row, given the rules.
    needs_random
        Says whether a game is not a function of an explicit deal, given rules and policies.
    diagnose
        Sentences about a degenerate rule set, from rules, policies and what `analysis` counted (see `Findings`).
    package
        The game's package; its modules ``kernel``, ``deals`` and ``tell`` are imported when needed.
    """

    name: str
    title: str
    origin: str
    summary: str
    rules_version: int
    rules: type[Rules]
    slots: tuple[Slot, ...]
    columns: Callable[[Any], list[Column]]
    needs_random: Callable[[Any, Mapping[str, Sequence[str]]], bool]
    diagnose: Callable[[Any, Mapping[str, Sequence[str]], Findings], list[str]]
    package: str

    def policies(self, given: Mapping[str, str | Sequence[str] | None], seats: int) -> dict[str, tuple[str, ...]]:
        """Return one policy per seat for each slot.

        Raises
        ------
        RuleError
            For a slot or policy that the game does not have, or a wrong number of policies.
        """
        known = [slot.name for slot in self.slots]
        for name, value in given.items():
            if value is not None and name not in known:
                raise RuleError(f"--{name}: {self.name} has {listed([f'--{slot}' for slot in known], 'and')} instead")
        return {slot.name: slot.read(given.get(slot.name), seats) for slot in self.slots}

    def kernel(self) -> Kernel:
        """Import the game's kernel (which loads numba)."""
        return importlib.import_module(f"{self.package}.kernel")


@dataclasses.dataclass(frozen=True)
class Findings:
    """What was counted in a run, for a game's diagnosis.

    Attributes
    ----------
    games
        Rows counted.
    means
        Column → mean, for the numeric columns.
    ends
        Category column → value → count.
    lows
        Column → lower end of the mean's interval, so that a small sample is not called degenerate by chance; where it
        is missing, the mean stands for it. For a value of a column (see `counts`) the key is ``column=value``.
    counts
        Column → value → games, for the numeric columns with few values.
    """

    games: int
    means: Mapping[str, float]
    ends: Mapping[str, Mapping[str, int]]
    lows: Mapping[str, float] = dataclasses.field(default_factory=dict)
    counts: Mapping[str, Mapping[float, int]] = dataclasses.field(default_factory=dict)

    def rate(self, column: str, value: float) -> float:
        """Return the share of games in which a counted numeric column has this value (0–1)."""
        return self.counts.get(column, {}).get(value, 0) / self.games if self.games else 0.0

    def share(self, column: str, value: str) -> float:
        """Return the share of games whose category `column` is `value` (0–1)."""
        return self.ends.get(column, {}).get(value, 0) / self.games if self.games else 0.0


@dataclasses.dataclass(frozen=True)
class Spec:
    """What decides a run's rows, apart from which games are played: game, rules, policies and seed, all resolved."""

    game: Game
    rules: Any
    policies: Mapping[str, tuple[str, ...]]
    seed: int

    @classmethod
    def build(
        cls,
        game: Game,
        rules: Any = None,
        policies: Mapping[str, str | Sequence[str] | None] | None = None,
        seed: int = 1,
    ) -> Spec:
        """Return the specification with defaults filled in.

        Raises
        ------
        RuleError
            For a wrong policy or seed.
        """
        if not 0 <= seed <= MAX_SEED:
            raise RuleError(f"seed {seed} is out of range; allowed: 0 to {MAX_SEED}")
        rules = game.rules() if rules is None else rules
        return cls(game, rules, game.policies(policies or {}, rules.players), seed)

    @functools.cached_property
    def columns(self) -> list[Column]:
        """Return the columns of a row."""
        return self.game.columns(self.rules)

    def plain(self) -> dict[str, Any]:
        """Return the specification as JSON has it."""
        return {
            "game": self.game.name,
            "rules_version": self.game.rules_version,
            "rules": self.rules.plain(),
            "policies": {slot: list(names) for slot, names in self.policies.items()},
            "seed": self.seed,
            "random_scheme": RANDOM_SCHEME,
        }

    def digest(self) -> str:
        """Return eight hex digits that name the specification."""
        return hashlib.sha256(json.dumps(self.plain(), sort_keys=True).encode()).hexdigest()[:8]


class Player:
    """Plays games of one specification; safe to share between threads."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.columns = spec.columns
        self.kernel = spec.game.kernel()
        self._rules = self.kernel.fold(spec.rules, spec.policies)
        self._own = threading.local()

    @property
    def scratch(self) -> Any:
        """Return the calling thread's scratch."""
        if not hasattr(self._own, "scratch"):
            self._own.scratch = self.kernel.new_scratch()
        return self._own.scratch

    def play(self, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
        """Return the columns of the games first … first + n_games - 1, as the kernel writes them (see `Column`)."""
        return self.kernel.play_block(self.scratch, self._rules, self.spec.seed, first, n_games)

    def play_deal(self, deal: Deal) -> list[int] | None:
        """Return the row of an explicit deal, a number a column; None if it needed one more deck."""
        import numpy as np

        orders = np.array(deal.orders, np.uint8)
        row = self.kernel.play_deal(self.scratch, self._rules, self.spec.seed, deal.line, orders)
        return None if row is None else [int(column[0]) for column in row]


__all__ = ["RANDOM_SCHEME", "Deal", "Findings", "Game", "Kernel", "Player", "RuleError", "Slot", "Spec"]
