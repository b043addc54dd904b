"""What makes a game a good one, as far as its columns know, each with an interval.

=============  ========================================================================================================
seat balance   each seat's share of wins against a fair one; the widest gap between two seats, taken game by game, with
               an interval that allows for its having been chosen among all pairs (Bonferroni)
decisiveness   the share of games that somebody won (of a patience: that were won); and that one seat alone won
length         the quantiles of the column that counts turns or moves, and how many times as long the long games are
closeness      how far the second seat was behind the winner at the end, by a column in which every winner is first
luck           if policies differ by seat: the share of wins that go to the weaker policy
=============  ========================================================================================================

Lead changes and drama are not told: for them the kernels would have to record the standing round by round, which none
of them does.

Browne, C. (2008), Automatic Generation and Evaluation of Recombination Games (PhD thesis, QUT), has the vocabulary
(completion, duration, drama, lead change); the definitions here are our own and stand above.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from analysis.intervals import Interval, mean, rate
from analysis.summary import Number, Summary
from analysis.sums import SHARES, Joint

LENGTHS = ("turns", "rounds", "moves")
"""Columns that count how long a game was; the first that is there is taken."""

NOT_TOLD = "Lead changes and drama are not told: no column records the standing round by round."


@dataclasses.dataclass(frozen=True)
class Balance:
    """How evenly the seats win.

    Attributes
    ----------
    shares
        Seat by seat: its share of the wins, over all games.
    fair
        What each would have.
    best, worst
        The seats with the largest and the smallest share.
    gap
        Of these two, with the interval that allows for the choice.
    """

    shares: tuple[Interval, ...]
    fair: float
    best: int
    worst: int
    gap: Interval

    @property
    def is_uneven(self) -> bool:
        """Tell whether the seats clearly do not win alike."""
        return self.gap.low > 0


@dataclasses.dataclass(frozen=True)
class Length:
    """How long the games are.

    Attributes
    ----------
    column
        The column that counts it.
    quantiles
        0.05, 0.5 and 0.95.
    ratio
        The 95 % quantile over the 5 % one, from the ends of their intervals (each as wide as said: cautious); nan if
        the lower one can be 0.
    """

    column: Number
    quantiles: dict[float, Interval]
    ratio: Interval


@dataclasses.dataclass(frozen=True)
class Closeness:
    """How far the second seat was behind.

    Attributes
    ----------
    stem
        The seats' columns that it is read from.
    end
        ``low`` if the winner has the least of it, ``high`` if the most.
    gap
        The mean distance of the first two seats, over the games that somebody won.
    median
        Its median.
    close
        The share of these games in which the distance is at most 1.
    """

    stem: str
    end: str
    gap: Interval
    median: Interval
    close: Interval


@dataclasses.dataclass(frozen=True)
class Luck:
    """How often the weaker policy wins.

    Attributes
    ----------
    slot, weaker, stronger
        The policies with the smallest and the largest share of wins a seat.
    weaker_share, stronger_share
        What a seat that plays it wins.
    wins
        The share of all wins that go to the seats of the weaker policy.
    seats
        The share of the seats that play it: what it would win if only luck decided.
    """

    slot: str
    weaker: str
    stronger: str
    weaker_share: Interval
    stronger_share: Interval
    wins: Interval
    seats: float


@dataclasses.dataclass(frozen=True)
class Quality:
    """The measures that the columns of a run allow; None for what they do not know.

    Attributes
    ----------
    decisive
        The share of games that somebody won.
    alone
        The share that one seat alone won.
    """

    balance: Balance | None
    decisive: Interval | None
    alone: Interval | None
    length: Length | None
    closeness: tuple[Closeness, ...]
    luck: tuple[Luck, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        told: dict[str, Any] = {"balance": None, "decisive": None, "alone": None, "length": None}
        if self.balance:
            told["balance"] = {
                "shares": [share.to_json() for share in self.balance.shares],
                "fair": self.balance.fair,
                "best": self.balance.best,
                "worst": self.balance.worst,
                "gap": self.balance.gap.to_json(),
                "uneven": self.balance.is_uneven,
            }
        for name in ("decisive", "alone"):
            found = getattr(self, name)
            told[name] = found.to_json() if found else None
        if self.length:
            told["length"] = {
                "column": self.length.column.name,
                "quantiles": {f"{level:g}": ends.to_json() for level, ends in self.length.quantiles.items()},
                "ratio": self.length.ratio.to_json(),
            }
        told["closeness"] = [
            {
                "column": close.stem,
                "winner_has": {"low": "least", "high": "most"}[close.end],
                "gap": close.gap.to_json(),
                "median": close.median.to_json(),
                "at_most_1": close.close.to_json(),
            }
            for close in self.closeness
        ]
        told["luck"] = [
            {
                "slot": luck.slot,
                "weaker": luck.weaker,
                "stronger": luck.stronger,
                "weaker_seat": luck.weaker_share.to_json(),
                "stronger_seat": luck.stronger_share.to_json(),
                "wins_of_weaker": luck.wins.to_json(),
                "seats_of_weaker": luck.seats,
            }
            for luck in self.luck
        ]
        return told


def assess(found: Summary) -> Quality:
    """Return the measures of game quality that a summary allows.

    Examples
    --------
    ``assess(summarise("results/mine")).balance.gap`` is by how much the luckiest seat beats the unluckiest.
    """
    wins = _wins(found)
    decisive = alone = None
    if wins is not None and wins.n:
        total = sum(wins.sums) // wins.unit
        decisive = rate(int(total), wins.n, found.confidence)
        alone = rate(wins.alone, wins.n, found.confidence)
    elif "won" in found.columns and found.columns["won"].is_rate:
        decisive = found.columns["won"].mean
    return Quality(
        _balance(found, wins),
        decisive,
        alone,
        _length(found),
        tuple(_closeness(found)),
        tuple(_luck(found, wins)),
    )


class _Wins:
    """Each seat's wins: sums and products over the seats, in units of 1/unit; and the games that one seat won alone."""

    def __init__(self, joint: Joint, unit: int, alone: int) -> None:
        self.joint, self.unit, self.alone = joint, unit, alone
        self.n, self.sums = joint.n, joint.sums


def _wins(found: Summary) -> _Wins | None:
    """Return the seats' wins, from shares of a win or from the column ``winner``."""
    for stem, joint in found.seats.joints.items():
        names = found.seats.groups[stem]
        if found.seats.shares.issuperset(names):
            alone = sum((found.columns[name].moments.counts or {}).get(1, 0) for name in names)
            return _Wins(joint, SHARES, alone)
    winner = found.columns.get("winner")
    if winner is None or not winner.names_a_seat or not (winner.note.high or 0) >= 1:
        return None
    n_seats = int(winner.note.high or 0) + 1
    joint = Joint(n_seats, winner.n)
    for seat in range(n_seats):
        joint.sums[seat] = (winner.moments.counts or {}).get(seat, 0)
        joint.products[seat, seat] = joint.sums[seat]
    return _Wins(joint, 1, sum(joint.sums))


def _balance(found: Summary, wins: _Wins | None) -> Balance | None:
    if wins is None or wins.n < 2:
        return None
    k = len(wins.sums)
    shares = []
    for seat in range(k):
        average, variance = wins.joint.part(seat).moments((1,), wins.unit)
        if wins.unit == 1:
            shares.append(rate(int(wins.sums[seat]), wins.n, found.confidence))
        else:
            from analysis.intervals import fraction

            shares.append(fraction(average, variance, wins.n, found.confidence))
    order = sorted(range(k), key=lambda seat: shares[seat].estimate)
    worst, best = order[0], order[-1]
    average, variance = wins.joint.part(worst, best).moments((-1, 1), wins.unit)
    pairs = k * (k - 1) // 2
    gap = mean(average, variance, wins.n, 1 - (1 - found.confidence) / pairs)
    fair = sum(share.estimate for share in shares) / k
    return Balance(tuple(shares), fair, best, worst, dataclasses.replace(gap, confidence=found.confidence))


def _length(found: Summary) -> Length | None:
    measured = {column.name: column for column in found.measured}
    column = next((measured[name] for name in LENGTHS if name in measured), None)
    if column is None:
        return None
    levels = column.quantiles((0.05, 0.5, 0.95))
    short, long = levels[0.05], levels[0.95]
    if short.low > 0:
        ratio = Interval(
            long.estimate / short.estimate,
            long.low / short.high,
            long.high / short.low,
            column.n,
            math.nan,
            long.method,
            found.confidence,
        )
    else:
        ratio = Interval(math.nan, 0.0, math.inf, column.n, math.nan, "none", found.confidence)
    return Length(column, levels, ratio)


def _closeness(found: Summary) -> list[Closeness]:
    from analysis.order_statistics import quantiles

    told = []
    for stem, standing in found.seats.standings.items():
        if standing.end is None:
            continue
        gaps = standing.gaps[standing.end].moments()
        if gaps.n < 2 or gaps.counts is None:
            continue
        near = sum(count for gap, count in gaps.counts.items() if gap <= 1)
        told.append(
            Closeness(
                stem,
                standing.end,
                mean(gaps.mean, gaps.variance, gaps.n, found.confidence),
                quantiles(gaps.counts, (0.5,), confidence=found.confidence, low=0)[0.5],
                rate(near, gaps.n, found.confidence),
            )
        )
    return told


def _luck(found: Summary, wins: _Wins | None) -> list[Luck]:
    told = []
    for slot, groups in found.by_policy().items():
        stem = next((name for name in ("winner", "win_share") if all(name in g for g in groups.values())), None)
        if stem is None or wins is None or len(groups) < 2:
            continue
        shares = {policy: group[stem] for policy, group in groups.items()}
        order = sorted(shares, key=lambda policy: shares[policy].estimate)
        names = found.run.policies[slot]
        seats = [k for k, name in enumerate(names) if name == order[0]]
        total = sum(wins.sums)
        if not total:
            continue
        n_won = int(total // wins.unit)
        weights = [int(seat in seats) for seat in range(len(wins.sums))]
        # Over the games that somebody won; in the others every seat's number is 0.
        won = Joint(len(wins.sums), n_won)
        won.sums, won.products = wins.joint.sums, wins.joint.products
        average, variance = won.moments(weights, wins.unit)
        share = (
            rate(round(average * n_won), n_won, found.confidence)
            if wins.unit == 1
            else mean(average, variance, n_won, found.confidence)
        )
        told.append(
            Luck(slot, order[0], order[-1], shares[order[0]], shares[order[-1]], share, len(seats) / len(names))
        )
    return told


__all__ = ["Balance", "Closeness", "Length", "Luck", "Quality", "assess"]
