"""One game again, told move by move; and explicit deals, played."""

from __future__ import annotations

import dataclasses
import importlib
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sim.deals import read_deals
from sim.game import Deal, Game, Player, Spec
from sim.outcome import Column
from sim.rules import RuleError, Rules

if TYPE_CHECKING:
    from sim.api import Policies

WIDTH = 99
MAX_INDEX = 2**64 - 1

NO_BREAK = "\u00a0"  # a space at which `flow` does not break a line
# Spaces at which a line is not broken: before and after a number.
_BINDING = re.compile(r"(?<=\d) (?=[a-z])|(?<=[a-z]) (?=\d+\b)")


@dataclasses.dataclass(frozen=True)
class Told:
    """What a game's teller returns: the game as lines of text, and its row in the kernel's numbers.

    The row is None if an explicit deal lacks a deck.
    """

    lines: tuple[str, ...]
    raw: Sequence[int] | None


class ReplayError(ValueError):
    """A game that cannot be written down as asked."""


class Teller(Protocol):
    """What a game's module `tell` offers under this name, made from a specification."""

    def tell(self, game: int, orders: Sequence[Sequence[int]] | None = None) -> Told:
        """Tell the game of index `game`, or an explicit deal."""

    def deal(self, game: int) -> str:
        """Return the line of a deals file that equals a seeded game."""


@dataclasses.dataclass(frozen=True)
class Replay:
    """One game, played again.

    Attributes
    ----------
    spec
        Game, rules, policies and seed.
    index
        The game's index, or the deal's line number.
    is_deal
        True for an explicit deal.
    row
        The columns' values, categories as texts; None each if the deal lacks a deck.
    story
        The game as lines of text; empty if it was not to be told.
    error
        Why there is no row.
    """

    spec: Spec
    index: int
    is_deal: bool
    row: Mapping[str, Any]
    story: tuple[str, ...] = ()
    error: str | None = None

    @property
    def random(self) -> bool:
        """Tell whether rules or policies need random numbers after an explicit deal."""
        return self.spec.needs_random

    @property
    def record(self) -> dict[str, Any]:
        """Return one flat record: `game` or `line`, the columns, and for a deal whether it needs random numbers."""
        if not self.is_deal:
            return {"game": self.index, **self.row}
        told = {"line": self.index, **self.row, "random": self.random}
        return told if self.error is None else told | {"error": self.error}

    @property
    def row_line(self) -> str:
        """Return the row as ``column=value`` pairs, the index first."""
        pairs = {"line" if self.is_deal else "game": self.index, **self.row}
        return " ".join(f"{name}={value}" for name, value in pairs.items())

    @property
    def lines(self) -> list[str]:
        """Return what was played, the story, and as the last line the row (or the error)."""
        which = f"deal of line {self.index}" if self.is_deal else f"seed {self.spec.seed}, game {self.index}"
        if self.is_deal and self.random:
            which += f", random numbers of seed {self.spec.seed}"
        head = [*heading(self.spec, which), ""]
        if self.error is not None:
            return [*head, self.error]
        return [*head, *self.story, "", self.row_line]

    @property
    def text(self) -> str:
        """Return `lines` as one text."""
        return "\n".join(self.lines)

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        spec = self.spec.plain()
        kept = {name: spec[name] for name in ("game", "rules", "policies", "seed")}
        return kept | {"index": self.index, "row": {"game": self.index, **self.row}, "lines": list(self.story)}


def replay(
    game: str | Game,
    index: int,
    *,
    seed: int = 1,
    rules: Rules | Mapping[str, object] | None = None,
    variant: str | None = None,
    policies: Policies | None = None,
) -> Replay:
    """Play game `index` of a seed again and tell it; the other parameters are those of `sim.run`.

    Raises
    ------
    RuleError
        For an unknown game, option, variant or policy, or a wrong value.

    Examples
    --------
    >>> from sim import replay
    >>> played = replay("bussikuski", 17, rules={"players": 3})
    >>> played.row["driver"] in (-1, 0, 1, 2)
    True
    """
    return replay_game(_spec(game, seed, rules, variant, policies), index)


def replay_deals(
    game: str | Game,
    deals: str | PathLike[str] | Iterable[str],
    *,
    seed: int = 1,
    rules: Rules | Mapping[str, object] | None = None,
    variant: str | None = None,
    policies: Policies | None = None,
    tell: bool = False,
    reshuffle: str | None = None,
) -> list[Replay]:
    """Play explicit deals; the other parameters are those of `sim.run`.

    Parameters
    ----------
    deals
        The path of a deals file, or its lines.
    tell
        Tell each game, too; that takes longer.
    reshuffle
        How a new stock is made, if not by shuffling: ``reverse`` turns Dupa biskupa's pile over, so that the whole game
        is a function of the deal.

    Raises
    ------
    RuleError
        For an unknown game, option, variant or policy, or a wrong value.
    DealError
        For a line that is no deal; nothing is played then.
    OSError
        If the file cannot be read.
    """
    spec = _spec(game, seed, rules, variant, policies).reshuffled(reshuffle)
    if isinstance(deals, str | PathLike):
        with Path(deals).open("rb") as file:
            checked = read_deals(file, spec.game, spec.rules, name=str(deals))
    else:
        checked = read_deals((line.encode() for line in deals), spec.game, spec.rules, name="deals")
    return list(play_deals(spec, checked, tell=tell))


def replay_game(spec: Spec, index: int) -> Replay:
    """Play game `index` of a specification again and tell it.

    Raises
    ------
    RuleError
        If there is no such index.
    """
    _check_index(index)
    told = _teller(spec).tell(index)
    assert told.raw is not None
    return Replay(spec, index, False, _row(spec.columns, told.raw), told.lines)


def written_deal(spec: Spec, index: int) -> str:
    """Return the line of a deals file that equals game `index` of a run.

    Raises
    ------
    RuleError
        If there is no such index.
    ReplayError
        If the game is too long for that.
    """
    _check_index(index)
    return _teller(spec).deal(index)


def play_deals(spec: Spec, deals: Iterable[Deal], *, tell: bool = False) -> Iterator[Replay]:
    """Play explicit deals one after another, and tell them if asked to.

    Random numbers that a policy needs come from the specification's seed and the deal's line number.
    """
    teller = _teller(spec) if tell else None
    player = None if tell else Player(spec)
    columns = spec.columns
    for deal in deals:
        story: tuple[str, ...] = ()
        raw: Sequence[int] | None
        if teller is not None:
            told = teller.tell(deal.line, deal.orders)
            story, raw = told.lines, told.raw
        else:
            assert player is not None
            raw = player.play_deal(deal)
        error = None
        if raw is None:
            held = len(deal.orders)
            error = f"the game needs one deck more than the {'one' if held == 1 else held} on the line"
        yield Replay(spec, deal.line, True, _row(columns, raw), story, error)


def heading(spec: Spec, which: str) -> list[str]:
    """Return the lines that say what was played: the game, its rules where they are not the letter's, the policies."""
    return [f"{spec.game.title}, {which}", *flow(described(spec))]


def described(spec: Spec) -> str:
    """Return a sentence with the rules, as far as they are not the letter's, and the policies."""
    changes = [f"{name} = {text}" for name, text in spec.rules.changes().items()]
    policies = [
        f"{slot} {names[0] if len(set(names)) == 1 else ','.join(names)}" for slot, names in spec.policies.items()
    ]
    rules = f"Rules by the letter, but {', '.join(changes)}" if changes else "Rules by the letter"
    reshuffle = [] if spec.reshuffle is None else [f"reshuffle {spec.reshuffle}"]
    return f"{'; '.join([rules, *policies, *reshuffle])}."


def flow(text: str, indent: str = "") -> list[str]:
    """Break a sentence into indented lines, never at a number or `NO_BREAK`; later lines are indented further."""
    if len(indent) + len(text) <= WIDTH:
        return [indent + text.replace(NO_BREAK, " ")]
    bound = _BINDING.sub(NO_BREAK, text)
    lines = textwrap.wrap(
        bound,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_on_hyphens=False,
    )
    return [line.replace(NO_BREAK, " ") for line in lines]


def counted(n: int, word: str, plural: str | None = None) -> str:
    """Return ``1 point`` or ``2 points``."""
    return f"{n:,} {word if n == 1 else plural or f'{word}s'}"


def _row(columns: Sequence[Column], raw: Sequence[int] | None) -> dict[str, Any]:
    if raw is None:
        return {column.name: None for column in columns}
    return {column.name: column.value(value) for column, value in zip(columns, raw, strict=True)}


def _spec(
    game: str | Game,
    seed: int,
    rules: Rules | Mapping[str, object] | None,
    variant: str | None,
    policies: Policies | None,
) -> Spec:
    from sim.api import prepare

    return prepare(game, 1, seed=seed, rules=rules, variant=variant, policies=policies).spec


def _teller(spec: Spec) -> Teller:
    teller: Teller = importlib.import_module(f"{spec.game.package}.tell").Teller(spec)
    return teller


def _check_index(index: int) -> None:
    if not 0 <= index <= MAX_INDEX:
        raise RuleError(f"game {index} is out of range; allowed: 0 to {MAX_INDEX}")


__all__ = [
    "NO_BREAK",
    "Replay",
    "ReplayError",
    "Teller",
    "Told",
    "counted",
    "described",
    "flow",
    "heading",
    "play_deals",
    "replay",
    "replay_deals",
    "replay_game",
    "written_deal",
]
