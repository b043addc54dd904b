"""``--until`` for ``compare``: plays all variants in step, on the same deals, until their differences are decided."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.progress import Progress, Voice, stopping
from scripts.until import Pace, interrupted, side_of
from scripts.variants import Variant

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.comparison import Comparison
    from analysis.deciding import Deciding, Decision
    from analysis.joint import JointCounts
    from sim.api import Prepared
    from sim.cluster import DaskEngine


@dataclasses.dataclass(frozen=True)
class Decided:
    """Where a comparison with ``--until`` stopped.

    Attributes
    ----------
    games
        At the last look.
    reached
        Whether all that was waited for is known.
    decisions
        What can be said of each difference, at any time.
    """

    games: int
    reached: bool
    decisions: tuple[Decision, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "reached": self.reached,
            "games": self.games,
            "decisions": [decision.to_json() for decision in self.decisions],
        }


def read_deciding(until: str, names: Sequence[str], margin: dict[str, Any]) -> Deciding:
    """Return what ``--until`` waits for: ``decided``, or ``METRIC±HALFWIDTH`` of a measure.

    Raises
    ------
    ConditionError
        If it is neither, or ``decided`` without a margin.
    """
    from analysis.comparison import Margins
    from analysis.deciding import DECIDED, Deciding
    from analysis.sequential import Target

    target = None if until.strip().lower() == DECIDED else Target.read(until)
    return Deciding(names, Margins(**margin), target)


def play_until_decided(
    voice: Voice,
    variants: Sequence[Variant],
    prepared: Sequence[Prepared],
    deciding: Deciding,
    baseline: int,
    columns: Sequence[str],
    threads: int | None,
    parent: Path,
    *,
    shown: bool,
    engine: DaskEngine | None = None,
) -> Decided:
    """Play until all is decided, or all games are played; leave with status 130 if interrupted on the way."""
    from analysis.joint import JointCounts
    from analysis.sequential import looks
    from sim.api import Sitting

    most, spec = prepared[0].games, variants[0].spec
    voice.say(
        f"Playing {len(variants)} variants of {spec.game.title} on the same deals, seed {spec.seed}, until "
        f"{'all is decided' if deciding.target is None else f'{deciding.target.what} is known well enough'}, at most "
        f"{most:,} each, into {parent}"
    )
    counts = JointCounts([side_of(variant.spec) for variant in variants], baseline, columns or None)
    games = seen = 0
    decisions: list[Decision] = []
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(Progress(voice, shown=shown, foretells=False))
        stop = stack.enter_context(stopping(progress))
        sittings = [stack.enter_context(Sitting(run, engine)) for run in prepared]
        pace = Pace(progress, most)
        for games in looks(most):
            with voice.about_compiling():
                is_there = all(
                    sitting.play_to(games, threads=threads, progress=pace, stop=stop) for sitting in sittings
                )
            if not is_there:
                interrupted(seen, parent)
            pace.add(sum(sitting.n_played for sitting in sittings) // len(sittings))
            add_games(counts, [sitting.files for sitting in sittings], seen, games)
            if not seen:
                deciding.check(counts)
            seen = games
            decisions = deciding.decisions(counts)
            if all(decision.is_done for decision in decisions):
                break
    return Decided(games, all(decision.is_done for decision in decisions), tuple(decisions))


def add_games(counts: JointCounts, folders: Sequence[Callable[[int, int], list[Path]]], seen: int, games: int) -> None:
    """Count the games from `seen` to before `games`; `folders` say in which files each variant's lie."""
    from analysis.pairs import aligned

    sides = [
        dataclasses.replace(side, read=Reading(parts(seen, games), seen, games))
        for side, parts in zip(counts.sides, folders, strict=True)
    ]
    for _, batches in aligned(sides, [counts.read] * len(sides)):
        counts.add(batches)


@dataclasses.dataclass(frozen=True)
class Reading:
    """Reads a range of games from some parts."""

    parts: Sequence[Path]
    first: int
    end: int

    def __call__(self, columns: Sequence[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        from analysis.pairs import rows_between

        return rows_between(self.parts, columns, self.first, self.end, batch_rows)


def decided_text(found: Decided, comparison: Comparison) -> str:
    """Return in words what was decided, and what may be relied on."""
    from analysis.sequential import GUARANTEES
    from reports.comparison import percent
    from reports.table import WIDTH, Column, cell, table, wrapped

    start = "Decided after" if found.reached else "Not all decided in"
    methods = dict.fromkeys(decision.difference.method for decision in found.decisions)
    guarantees = "; ".join(GUARANTEES[method] for method in methods if method in GUARANTEES)
    lines = wrapped(
        f"{start} {found.games:,} games. These intervals and verdicts hold at every look, all together, with "
        f"{100 * comparison.confidence:g} %: {guarantees or 'too few deals differ for any'}. Those above are ordinary "
        "ones, as for a number of games chosen beforehand.",
        WIDTH,
    )
    names = [
        f"{decision.measure.name}{', %' if decision.measure.is_rate else ''}"
        + (f" ({decision.variant})" if len(comparison.variants) > 2 else "")
        for decision in found.decisions
    ]
    columns = [
        Column("difference", [cell(percent(decision.difference, decision.measure)) for decision in found.decisions]),
        Column("verdict", [decision.verdict for decision in found.decisions]),
    ]
    return "\n".join([*lines, "", *(line.rstrip() for line in table(Column("At any time", names), columns, WIDTH))])
