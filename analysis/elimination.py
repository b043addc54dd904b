"""Which of several is best: successive elimination on the same deals, with a stated error.

All contestants play the same deals. At every look the one that is beaten beyond doubt by any other falls and plays no
more, so that games go where they are needed. "Beyond doubt" is a confidence sequence of the paired difference
(`analysis.sequential`): looking often costs nothing. Each pair's error is the stated one over the number of contestants
less one. The truly best one is in so many pairs, and only if one of these errs can it fall, or can another that is
worse by more than the margin be named in its place: so the probability of a wrong winner is at most the stated error.

References
----------
Even-Dar, E., Mannor, S. and Mansour, Y. (2006). Action elimination and stopping conditions for the multi-armed bandit
and reinforcement learning problems. Journal of Machine Learning Research 7, 1079-1105.
Nelson, B. L. and Matejcik, F. J. (1995). Using common random numbers for indifference-zone selection and multiple
comparisons in simulation. Management Science 41, 1935-1945.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.intervals import Interval
from analysis.sequential import ENOUGH, mean_sequence, rate_sequence
from analysis.sums import Joint
from analysis.tally import Array

ERROR = 0.05


@dataclasses.dataclass(frozen=True)
class Fall:
    """How a contestant fell.

    Attributes
    ----------
    name, by
        Who fell, and who was better.
    games
        Deals after which it was clear.
    difference
        The better one's score less the fallen one's, with the interval of the race.
    """

    name: str
    by: str
    games: int
    difference: Interval


class Race:
    """Contestants on the same deals, of whom the worse fall one by one.

    Parameters
    ----------
    names
        The contestants.
    error
        The probability with which the winner may be the wrong one, 0-1.
    margin
        A difference this small does not matter: a leader that nobody left can beat by more wins. None to go on until
        one is left.
    unit
        Scores are handed over in units of 1/unit, as whole numbers.
    spread
        The most by which the scores of a deal can differ (in its own unit); infinite if that is not known.
    least
        The smallest score is the best.

    Attributes
    ----------
    active
        The contestants that are left, in the order given.
    falls
        How the others fell, in their order.
    games
        Deals so far.

    Raises
    ------
    ValueError
        If there are not two contestants with names of their own, or the error is not between 0 and 1.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        error: float = ERROR,
        margin: float | None = None,
        unit: int = 1,
        spread: float = math.inf,
        least: bool = False,
    ) -> None:
        if len(names) < 2 or len(set(names)) < len(names):
            raise ValueError("a race needs two contestants or more, each with a name of its own")
        if not 0 < error < 1:
            raise ValueError(f"error {error} is not between 0 and 1 (5 % is 0.05)")
        self.names = list(names)
        self.active = list(names)
        self.falls: list[Fall] = []
        self.error = error
        self.margin = margin
        self.unit = unit
        self.spread = spread
        self.games = 0
        self._sign = -1 if least else 1
        self._confidence = 1 - error / (len(names) - 1)
        self._joint = Joint(len(names))
        self._differ = np.zeros((len(names), len(names)), np.int64)
        self._last: dict[str, Interval] = {}

    def add(self, scores: Array) -> None:
        """Take in deals: whole numbers of shape (contestants that are left, deals)."""
        self.games += scores.shape[1]
        self._joint.add(scores)
        for a in range(len(scores)):
            for b in range(a):
                n = int(np.count_nonzero(scores[a] != scores[b]))
                self._differ[a, b] += n
                self._differ[b, a] += n

    def look(self) -> list[Fall]:
        """Let those fall that are beaten beyond doubt; return how."""
        fallen = []
        for place, name in enumerate(self.active):
            rivals = [(self.difference(other, name), other) for other in self.active if other != name]
            best, by = max(rivals, key=lambda rival: self._ends(rival[0])[0])
            if self._ends(best)[0] > 0:
                fallen.append(Fall(name, by, self.games, best))
                self._last[name] = self._own(place)
        self.falls += fallen
        gone = {fall.name for fall in fallen}
        left = [place for place, name in enumerate(self.active) if name not in gone]
        if gone:
            self.active = [self.active[place] for place in left]
            self._joint = self._joint.part(*left)
            self._differ = self._differ[np.ix_(left, left)]
        return fallen

    def difference(self, one: str, other: str) -> Interval:
        """Return how much more `one` scores than `other`, of those that are left, with the interval of the race."""
        a, b = self.active.index(one), self.active.index(other)
        average, variance = self._joint.part(b, a).moments((-1, 1), self.unit)
        n, n_differ = self._joint.n, int(self._differ[a, b])
        if n_differ >= ENOUGH:
            return mean_sequence(average, variance, n, self._confidence)
        reach = (
            rate_sequence(n_differ, n, self._confidence).high * self.spread if math.isfinite(self.spread) else math.inf
        )
        low, high = min(-reach, average), max(reach, average)
        return Interval(average, low, high, n, math.nan, "beta_binomial", self._confidence)

    def _ends(self, interval: Interval) -> tuple[float, float]:
        """Return the ends of a difference as better, not as more."""
        return (interval.low, interval.high) if self._sign > 0 else (-interval.high, -interval.low)

    @property
    def leader(self) -> str:
        """Return the one that is ahead."""
        return max(self.active, key=lambda name: self._sign * self.score(name).estimate)

    @property
    def is_decided(self) -> bool:
        """Tell whether one is left, or nobody left can beat the leader by more than the margin."""
        leader = self.leader
        others = [name for name in self.active if name != leader]
        if not others:
            return True
        if self.margin is None or not self.games:
            return False
        return all(self._ends(self.difference(name, leader))[1] < self.margin for name in others)

    def score(self, name: str) -> Interval:
        """Return a contestant's mean score over the deals it played, with an anytime interval for itself alone."""
        if name in self._last:
            return self._last[name]
        return self._own(self.active.index(name))

    def _own(self, place: int) -> Interval:
        average, variance = self._joint.part(place).moments((1,), self.unit)
        if not variance > 0:
            return Interval(average, -math.inf, math.inf, self._joint.n, math.nan, "none", 1 - self.error)
        return mean_sequence(average, variance, self._joint.n, 1 - self.error)

    def ranking(self) -> list[str]:
        """Return the contestants, the best first; those that fell come last, the first of them at the very end."""
        left = sorted(self.active, key=lambda name: -self._sign * self.score(name).estimate)
        return [*left, *(fall.name for fall in reversed(self.falls))]

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints of the race itself."""
        leader = self.leader
        falls = {fall.name: fall for fall in self.falls}
        contestants = []
        for name in self.ranking():
            entry: dict[str, Any] = {"name": name, **self.score(name).to_json(), "fell_after": None}
            if name in falls:
                fall = falls[name]
                entry |= {"fell_after": fall.games, "beaten_by": fall.by, "difference": fall.difference.to_json()}
            elif name != leader:
                entry |= {"beaten_by": None, "difference": self.difference(leader, name).to_json()}
            contestants.append(entry)
        return {
            "decided": self.is_decided,
            "winner": leader if self.is_decided else None,
            "leader": leader,
            "left": list(self.active),
            "error": self.error,
            "margin": self.margin,
            "best_is": "least" if self._sign < 0 else "most",
            "deals": self.games,
            "contestants": contestants,
        }


__all__ = ["Fall", "Race"]
