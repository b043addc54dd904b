"""When a comparison may stop: every difference decided, or known well enough, at any time.

The verdicts of `analysis.comparison` hold for a number of games chosen beforehand. Here every difference has a
confidence sequence (`analysis.sequential`), so that they hold however often one looks; the error is shared among all
differences that are followed (Bonferroni), so that they hold together.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from analysis.comparison import BIGGER, OPEN, SMALLER, TOO_SMALL, Margins
from analysis.conditions import ConditionError
from analysis.intervals import CONFIDENCE, Interval
from analysis.joint import Counted, JointCounts, Measure
from analysis.sequential import GUARANTEES, Target, difference_sequence

DECIDED = "decided"


@dataclasses.dataclass(frozen=True)
class Decision:
    """A difference with the interval that holds at any time, and what it says.

    Attributes
    ----------
    measure, variant
        What of which variant, less the baseline's.
    difference
        With the interval that holds at every look, together with all others.
    margin
        What is too small to matter; None if nothing is.
    verdict
        ``bigger``, ``smaller``, ``too small to matter`` or ``not decided yet``.
    is_done
        Whether there is nothing left to wait for.
    """

    measure: Measure
    variant: str
    difference: Interval
    margin: float | None
    verdict: str
    is_done: bool

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told = {("difference" if key == "mean" else key): value for key, value in self.difference.to_json().items()}
        return {
            "measure": self.measure.name,
            "variant": self.variant,
            **told,
            "method": self.difference.method,
            "guarantee": GUARANTEES.get(self.difference.method),
            "margin": self.margin,
            "verdict": self.verdict,
            "done": self.is_done,
        }


class Deciding:
    """Follows the differences that are waited for.

    Parameters
    ----------
    names
        The variants' names, in the order of the counts.
    margins
        What is too small to matter.
    target
        A measure, as its name stands in the table, and how well each variant's difference in it is to be known; None to
        wait until every difference that has a margin is decided.

    Raises
    ------
    ConditionError
        Without a target, if there is no margin: some differences might never be decided.
    """

    def __init__(
        self, names: Sequence[str], margins: Margins, target: Target | None = None, confidence: float = CONFIDENCE
    ) -> None:
        self.names = list(names)
        self.margins = margins
        self.target = target
        self.confidence = confidence
        if target is None and margins.all is None and margins.rates is None and not margins.columns:
            raise ConditionError(
                "--until decided needs --margin: a difference of nothing at all is never decided without; write for "
                "example --margin 0.5%"
            )

    def check(self, counts: JointCounts) -> None:
        """Make sure that the target is one of the measures.

        Raises
        ------
        ConditionError
            If it is none; the message lists them.
        """
        import difflib

        known = [measure.name for measure, _ in counts.measures()]
        if self.target is not None and not self._followed(counts):
            near = difflib.get_close_matches(self.target.what, known, n=1, cutoff=0.5)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
            raise ConditionError(f"--until: there is no measure '{self.target.what}' to compare; {hint}")

    def decisions(self, counts: JointCounts) -> list[Decision]:
        """Return what can be said of each difference that is waited for."""
        followed = self._followed(counts)
        others = [v for v in range(len(self.names)) if v != counts.baseline]
        each = 1 - (1 - self.confidence) / max(1, len(followed) * len(others))
        found = []
        for v in others:
            for measure, counted in followed:
                ends = difference_sequence(measure, counted.pair(v), counted.unit, counted.changed[v], each)
                found.append(
                    self._decision(measure, self.names[v], dataclasses.replace(ends, confidence=self.confidence))
                )
        return found

    def _followed(self, counts: JointCounts) -> list[tuple[Measure, Counted]]:
        if self.target is None:
            return [
                (measure, counted) for measure, counted in counts.measures() if self.margins.of(measure) is not None
            ]
        wanted = _squeezed(self.target.what)
        return [(measure, counted) for measure, counted in counts.measures() if _squeezed(measure.name) == wanted]

    def _decision(self, measure: Measure, variant: str, ends: Interval) -> Decision:
        margin = self.margins.of(measure)
        if margin is not None and -margin < ends.low and ends.high < margin:
            said = TOO_SMALL
        elif ends.low > 0 or ends.high < 0:
            said = BIGGER if ends.low > 0 else SMALLER
        else:
            said = OPEN
        is_done = said != OPEN if self.target is None else ends.half_width <= self.target.half_width
        return Decision(measure, variant, ends, margin, said, is_done and math.isfinite(ends.half_width))


def _squeezed(name: str) -> str:
    """Return a measure's name without spaces and with one kind of quotes: ``end=='stuck'``."""
    return "".join(name.split()).replace('"', "'")


__all__ = ["DECIDED", "Deciding", "Decision"]
