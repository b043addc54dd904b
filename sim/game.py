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
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sim.outcome import Column
from sim.rules import RuleError, Rules, listed, nearest

if TYPE_CHECKING:
    import numpy as np

RANDOM_SCHEME = "philox4x64-10/v1"
MAX_SEED = 2**64 - 1
MAX_EFFORT = 10**9


@dataclasses.dataclass(frozen=True)
class Slot:
    """A kind of decision that a policy takes, with the policies there are.

    Attributes
    ----------
    name
        The command's option without dashes: ``policy``; Bussikuski has ``guess`` and ``give``.
    choices
        Policy name → what it does. The order is the kernel's numbering.
    efforts
        Policy name → its default effort, for policies that think as long as they are told to: ``best`` may be written
        ``best:4`` too, and a specification keeps it so.
    """

    name: str
    meaning: str
    choices: Mapping[str, str]
    default: str
    efforts: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def read(self, given: str | Sequence[str] | None, seats: int) -> tuple[str, ...]:
        """Return one policy name per seat from ``a`` (every seat) or ``a,b,…`` (one each).

        Raises
        ------
        RuleError
            If a name is not known or their number is not the number of seats.
        """
        if given is None:
            given = self.default
        words = [word.strip() for word in given.split(",")] if isinstance(given, str) else list(given)
        names = [self.spell(*self.parse(word)) for word in words]
        if len(names) == 1:
            names *= seats
        if len(names) != seats:
            raise RuleError(f"--{self.name}: {len(names)} policies for {seats} seats; give one for all or one per seat")
        return tuple(names)

    def parse(self, word: str) -> tuple[str, int]:
        """Return the policy written `word` (``best``, ``best:4``) and its effort; 0 for a policy that has none.

        Raises
        ------
        RuleError
            If there is no such policy, or it does not take this effort.
        """
        name, colon, effort = word.partition(":")
        if name not in self.choices:
            known = list(self.choices)
            raise RuleError(f"--{self.name}: '{name}' is no policy; choose {listed(known)}{nearest(name, known)}")
        if not colon:
            return name, self.efforts.get(name, 0)
        if name not in self.efforts:
            raise RuleError(f"--{self.name}: '{word}': {name} takes no effort")
        if not effort.isdecimal() or not 1 <= int(effort) <= MAX_EFFORT:
            raise RuleError(f"--{self.name}: '{word}': the effort is a whole number from 1 to {MAX_EFFORT:,}")
        return name, int(effort)

    def with_effort(self, given: str | None, effort: int) -> str:
        """Return the policies `given` (the default if None) with this effort for those that take one and have none.

        Raises
        ------
        RuleError
            If none of them takes an effort, or there is no such policy.
        """
        words = [word.strip() for word in (self.default if given is None else given).split(",")]
        names = [self.parse(word)[0] for word in words]
        if not any(name in self.efforts for name in names):
            do = "does" if len(self.efforts) == 1 else "do"
            takes = f"; {listed(list(self.efforts), 'and')} {do}" if self.efforts else ""
            raise RuleError(f"--effort: {listed(names, 'and')} takes no effort{takes}")
        return ",".join(
            f"{word}:{effort}" if name in self.efforts and ":" not in word else word
            for name, word in zip(names, words, strict=True)
        )

    def spell(self, name: str, effort: int) -> str:
        """Return a policy with its effort as it is written; the default effort is left out."""
        return name if effort == self.efforts.get(name, 0) else f"{name}:{effort}"


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

    def fold(self, rules: Any, policies: Mapping[str, Sequence[str]], *how: Any) -> Any:
        """Return a rule set and the seats' policies as the kernel reads them (`how`: see `Spec.folding`)."""

    def new_scratch(self) -> Any:
        """Return what one thread needs to play."""

    def play_block(self, scratch: Any, rules: Any, seed: int, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
        """Play the games first, first + 1, …; return the columns, each of shape (n_games,) in some integer type.

        Where games take long it may return after fewer than `n_games`, but one at least.
        """

    def play_deal(
        self, scratch: Any, rules: Any, seed: int, game: int, orders: np.ndarray[Any, Any]
    ) -> list[np.ndarray[Any, Any]] | None:
        """Play one explicit deal; return its row as columns, or None if it needed a deck more than `orders` holds.

        `orders` is uint8 of shape (n_decks, n_cards) in the numbers of `sim.cards`.
        """


@dataclasses.dataclass(frozen=True)
class Solver:
    """How a patience is decided by a policy that knows the whole stock.

    Attributes
    ----------
    policy
        The policy's name; its effort is the most nodes of a deal's search.
    columns
        The columns of a row, given the rules and whether the moves that win are to be kept.
    module
        The module of the game's package that plays this policy; it offers what a kernel does, but for its `fold`, which
        takes `keep_moves` as its last argument.
    rivals
        Policies without that knowledge that the solver is set beside.
    searches
        Options of rule sets that between them need every search there is.
    """

    policy: str
    columns: Callable[[Any, bool], list[Column]]
    module: str
    rivals: tuple[str, ...]
    searches: tuple[Mapping[str, object], ...] = ({},)


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
    reshuffles
        Ways in which an explicit deal makes a new stock other than by shuffling (``--reshuffle``): name → what it does.
        A game that has some takes the one chosen as a last argument of `needs_random` and of its kernel's `fold`.
    solver
        What decides deals, for a game that has it.
    """

    name: str
    title: str
    origin: str
    summary: str
    rules_version: int
    rules: type[Rules]
    slots: tuple[Slot, ...]
    columns: Callable[[Any], list[Column]]
    needs_random: Callable[..., bool]
    diagnose: Callable[[Any, Mapping[str, Sequence[str]], Findings], list[str]]
    package: str
    reshuffles: Mapping[str, str] = dataclasses.field(default_factory=dict)
    solver: Solver | None = None

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle a game as the name of its package, which has it at the other end, too."""
        module = sys.modules.get(self.package)
        return (_game_of, (self.package,)) if getattr(module, "GAME", None) is self else super().__reduce__()

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

    def check_reshuffle(self, name: str | None) -> None:
        """Check that explicit deals can be reshuffled in the way called `name` (None: by shuffling).

        Raises
        ------
        RuleError
            If the game has no such way, or none at all.
        """
        if name is None or name in self.reshuffles:
            return
        if not self.reshuffles:
            raise RuleError(f"--reshuffle: {self.name} has nothing to choose there")
        known = list(self.reshuffles)
        raise RuleError(f"--reshuffle: '{name}' is no way to reshuffle; choose {listed(known)}{nearest(name, known)}")

    def kernel(self) -> Kernel:
        """Import the game's kernel (which loads numba)."""
        return importlib.import_module(f"{self.package}.kernel")


def _game_of(package: str) -> Game:
    game: Game = importlib.import_module(package).GAME
    return game


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

    def interval(self, column: str) -> tuple[float, float]:
        """Return a numeric column's mean and the lower end of its interval."""
        mean = self.means.get(column, 0.0)
        return mean, self.lows.get(column, mean)

    def rate(self, column: str, value: float) -> float:
        """Return the share of games in which a counted numeric column has this value (0–1)."""
        return self.counts.get(column, {}).get(value, 0) / self.games if self.games else 0.0

    def share(self, column: str, value: str) -> float:
        """Return the share of games whose category `column` is `value` (0–1)."""
        return self.ends.get(column, {}).get(value, 0) / self.games if self.games else 0.0

    def share_below(self, column: str, limit: float) -> float:
        """Return the share of games in which `column` is less than `limit` (0–1); 0 if its values were not counted."""
        counts = self.counts.get(column, {})
        return sum(n for value, n in counts.items() if value < limit) / self.games if self.games else 0.0


@dataclasses.dataclass(frozen=True)
class Spec:
    """What decides a run's rows, apart from which games are played: game, rules, policies and seed, all resolved.

    Attributes
    ----------
    reshuffle
        For explicit deals alone: one of the game's `reshuffles`, or None to shuffle.
    keep_moves
        True if the rows of the game's solver are to hold the moves that win.
    """

    game: Game
    rules: Any
    policies: Mapping[str, tuple[str, ...]]
    seed: int
    reshuffle: str | None = None
    keep_moves: bool = False

    @classmethod
    def build(
        cls,
        game: Game,
        rules: Any = None,
        policies: Mapping[str, str | Sequence[str] | None] | None = None,
        seed: int = 1,
        reshuffle: str | None = None,
        keep_moves: bool = False,
    ) -> Spec:
        """Return the specification with defaults filled in.

        Raises
        ------
        RuleError
            For a wrong policy, seed or way to reshuffle, or moves to be kept where nothing is solved.
        """
        game.check_reshuffle(reshuffle)
        if not 0 <= seed <= MAX_SEED:
            raise RuleError(f"seed {seed} is out of range; allowed: 0 to {MAX_SEED}")
        rules = game.rules() if rules is None else rules
        spec = cls(game, rules, game.policies(policies or {}, rules.players), seed, reshuffle, keep_moves)
        if keep_moves and spec.solver is None:
            raise RuleError("moves are kept of solved deals only: by a game's solver")
        return spec

    def reshuffled(self, name: str | None) -> Spec:
        """Return the specification with another way to make a new stock in explicit deals.

        Raises
        ------
        RuleError
            If the game has no such way.
        """
        self.game.check_reshuffle(name)
        return dataclasses.replace(self, reshuffle=name)

    @property
    def how(self) -> tuple[str, ...]:
        """Return what `needs_random` and `fold` are told after rules and policies: the reshuffle, if one is chosen."""
        return () if self.reshuffle is None else (self.reshuffle,)

    @property
    def needs_random(self) -> bool:
        """Tell whether an explicit deal is played with random numbers."""
        return self.game.needs_random(self.rules, self.policies, *self.how)

    @functools.cached_property
    def columns(self) -> list[Column]:
        """Return the columns of a row."""
        if self.solver is not None:
            return self.solver.columns(self.rules, self.keep_moves)
        return self.game.columns(self.rules)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is derived: another process can derive it, too."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @functools.cached_property
    def solver(self) -> Solver | None:
        """Return the game's solver if it is the policy."""
        solver = self.game.solver
        is_played = solver is not None and any(
            slot.parse(name)[0] == solver.policy for slot in self.game.slots for name in self.policies[slot.name]
        )
        return solver if is_played else None

    def brief(self) -> Spec:
        """Return the specification with the least effort: it needs the same kernels."""
        policies = {
            slot.name: [
                f"{name.partition(':')[0]}:1" if slot.parse(name)[1] else name for name in self.policies[slot.name]
            ]
            for slot in self.game.slots
        }
        return dataclasses.replace(self, policies=self.game.policies(policies, self.rules.players))

    @property
    def kernel_module(self) -> str:
        """Return the module that plays it."""
        return f"{self.game.package}.{'kernel' if self.solver is None else self.solver.module}"

    def kernel(self) -> Kernel:
        """Import what plays it (which loads numba)."""
        return importlib.import_module(self.kernel_module)

    @property
    def folding(self) -> tuple[Any, ...]:
        """Return the arguments of the kernel's `fold`."""
        if self.solver is not None:
            return self.rules, self.policies, self.keep_moves
        return self.rules, self.policies, *self.how

    def plain(self) -> dict[str, Any]:
        """Return the specification as JSON has it."""
        return {
            "game": self.game.name,
            "rules_version": self.game.rules_version,
            "rules": self.rules.plain(),
            "policies": {slot: list(names) for slot, names in self.policies.items()},
            "seed": self.seed,
            "random_scheme": RANDOM_SCHEME,
            **({"keep_moves": True} if self.keep_moves else {}),
        }

    def digest(self) -> str:
        """Return eight hex digits that name the specification."""
        return hashlib.sha256(json.dumps(self.plain(), sort_keys=True).encode()).hexdigest()[:8]


class Player:
    """Plays games of one specification; safe to share between threads."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.columns = spec.columns
        self.kernel = spec.kernel()
        self._rules = self.kernel.fold(*spec.folding)
        self._own = threading.local()

    @property
    def scratch(self) -> Any:
        """Return the calling thread's scratch."""
        if not hasattr(self._own, "scratch"):
            self._own.scratch = self.kernel.new_scratch()
        return self._own.scratch

    def play(self, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
        """Return the columns of the games first … first + n_games - 1, as the kernel writes them (see `Column`)."""
        import numpy as np

        pieces = [self.play_some(first, n_games)]
        while (there := sum(len(piece[0]) for piece in pieces)) < n_games:
            pieces.append(self.play_some(first + there, n_games - there))
        return pieces[0] if len(pieces) == 1 else [np.concatenate(column) for column in zip(*pieces, strict=True)]

    def play_some(self, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
        """Return the columns of the first of these games, at least one: a kernel may stop where games are long."""
        return self.kernel.play_block(self.scratch, self._rules, self.spec.seed, first, n_games)

    def play_deal(self, deal: Deal) -> list[Any] | None:
        """Return the row of an explicit deal, a number a column; None if it needed one more deck."""
        import numpy as np

        orders = np.array(deal.orders, np.uint8)
        row = self.kernel.play_deal(self.scratch, self._rules, self.spec.seed, deal.line, orders)
        return None if row is None else [column[0] if column.dtype == object else int(column[0]) for column in row]


__all__ = ["RANDOM_SCHEME", "Deal", "Findings", "Game", "Kernel", "Player", "RuleError", "Slot", "Solver", "Spec"]
