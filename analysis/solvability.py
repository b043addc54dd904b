"""What share of deals can be won, and how much of it policies win that do not know the stock.

Deals that a search left unknown are counted both ways, apart from the sampling interval.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.intervals import CONFIDENCE, Interval
from analysis.odds import Odds, ask
from analysis.summary import Bounds, Summary, summarise

if TYPE_CHECKING:
    from analysis.pairs import Source

SOLVED, UNSOLVABLE, UNKNOWN = "solved", "unsolvable", "unknown"


@dataclasses.dataclass(frozen=True)
class Rival:
    """What a policy wins of the deals that were decided.

    Attributes
    ----------
    games
        Deals that were both played and decided or tried.
    won
        The share of them that the policy wins.
    of_solvable
        The share that it wins of those proved solvable.
    missed
        The share proved solvable that it loses all the same: as a policy wins no unsolvable deal, that is the paired
        difference of the two shares.
    missed_at_most
        The same with every unknown deal that it loses counted as solvable.
    n_surprises
        Deals that the search left unknown and the policy wins: they can be won.
    """

    policy: str
    games: int
    won: Interval
    of_solvable: Interval
    missed: Interval
    missed_at_most: Interval
    n_surprises: int

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "policy": self.policy,
            "games": self.games,
            "won": self.won.to_json(),
            "of_solvable": self.of_solvable.to_json(),
            "missed": self.missed.to_json(),
            "missed_at_most": self.missed_at_most.to_json(),
            "unknown_but_won": self.n_surprises,
        }


@dataclasses.dataclass(frozen=True)
class Solvability:
    """What share of deals can be won.

    Attributes
    ----------
    summary
        Of the deals' rows.
    counts
        ``solved``, ``unsolvable``, ``unknown`` → deals.
    bounds
        The share solvable, with every unknown deal counted as unsolvable and as solvable; both ends are the same count
        where none is unknown.
    rivals
        Policies on the same deals.
    """

    summary: Summary
    counts: Mapping[str, int]
    bounds: Bounds
    rivals: tuple[Rival, ...]

    @property
    def low(self) -> float:
        """Return the lowest share that chance and the unknown deals together leave open."""
        return self.bounds.lost.low

    @property
    def high(self) -> float:
        """Return the highest one."""
        return self.bounds.won.high

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            **self.counts,
            "solvable": {
                "lost": self.bounds.lost.to_json(),
                "won": self.bounds.won.to_json(),
                "low": self.low,
                "high": self.high,
            },
            "rivals": [rival.to_json() for rival in self.rivals],
        }


def solvability(
    source: Source, rivals: Mapping[str, Source] | None = None, *, confidence: float = CONFIDENCE
) -> Solvability:
    """Return what share of deals can be won.

    Parameters
    ----------
    source
        Results of a solver: rows with ``status`` and ``won``.
    rivals
        Policy → its results on the same deals, or on some of them.
    confidence
        Of every interval, 0-1.

    Raises
    ------
    LoadError
        If results cannot be read or are not of the same deals.
    ValueError
        If `source` is not a solver's.
    """
    found = summarise(source, confidence=confidence)
    if "status" not in found.categories or "won" not in found.columns:
        raise ValueError("these are not a solver's results: they have no columns 'status' and 'won'")
    counts = found.categories["status"].counts
    return Solvability(
        found,
        {name: counts.get(name, 0) for name in (SOLVED, UNSOLVABLE, UNKNOWN)},
        found.bounds("won"),
        tuple(_rival(source, name, played, confidence) for name, played in (rivals or {}).items()),
    )


def _rival(source: Source, name: str, played: Source, confidence: float) -> Rival:
    """Set a policy beside the solver, deal by deal."""

    def of(condition: str, given: str | None = None) -> Odds:
        return ask([source, played], condition, given=given, confidence=confidence)

    won = of("b.won == 1")
    return Rival(
        name,
        won.games,
        won.rate,
        of("b.won == 1", f"a.status == '{SOLVED}'").rate,
        of(f"a.status == '{SOLVED}' and b.won == 0").rate,
        of(f"a.status != '{UNSOLVABLE}' and b.won == 0").rate,
        of(f"a.status == '{UNKNOWN}' and b.won == 1").events,
    )


__all__ = ["Rival", "Solvability", "solvability"]
