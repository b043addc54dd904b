"""The odds of any condition on the columns, with an interval."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.conditions import LETTERS, Condition, mentioned
from analysis.intervals import CONFIDENCE, Interval, rate
from analysis.kept import open_kept_source
from analysis.load import LoadError, Rows, Run, is_path
from analysis.pairs import Array, Side, aligned, check_pairing, open_side
from analysis.summary import NO_VERDICT

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.pairs import Source


@dataclasses.dataclass(frozen=True)
class Odds:
    """How often a condition holds.

    Attributes
    ----------
    names
        The results asked, as they are called in the condition.
    runs
        What was played.
    games
        Games looked at: all, or with several results those that all have.
    n
        Those in which `given` holds (all, without it) and the condition can be told.
    events
        Those of `n` in which it holds.
    unknown
        Games in which `given` holds but the condition cannot be told, for want of a value.
    given_unknown
        Games left out because `given` cannot be told.
    undecided
        Games of `n` that ended without a verdict, if the condition does not itself ask how games ended.
    rate
        The share of `n`, with Wilson's interval, or Clopper and Pearson's for rare and for never and always.
    bounds
        The share of all games in which `given` holds, with the unknown and the undecided counted as not holding, and
        as holding; None if there are none.
    """

    condition: str
    given: str | None
    names: tuple[str, ...]
    runs: tuple[Run, ...]
    games: int
    n: int
    events: int
    unknown: int
    given_unknown: int
    undecided: int
    rate: Interval
    bounds: tuple[Interval, Interval] | None

    @property
    def one_in(self) -> tuple[float, float, float]:
        """Return N such that it happens once in N games, and the ends of its interval; infinite for never."""
        return tuple(1 / p if p > 0 else math.inf for p in (self.rate.estimate, self.rate.high, self.rate.low))  # type: ignore[return-value]

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints; what is not a number, or infinite, is None."""
        one_in = {key: _plain(value) for key, value in zip(("estimate", "low", "high"), self.one_in, strict=True)}
        told: dict[str, Any] = {
            "condition": self.condition,
            "given": self.given,
            "results": dict(zip(LETTERS, self.names, strict=False)),
            "game": self.runs[0].game,
            "seed": self.runs[0].seed,
            "games": self.games,
            "n": self.n,
            "events": self.events,
            "unknown": self.unknown,
            "given_unknown": self.given_unknown,
            "undecided": self.undecided,
            "rate": _plain(self.rate.estimate),
            "se": _plain(self.rate.se),
            "low": self.rate.low,
            "high": self.rate.high,
            "method": self.rate.method,
            "confidence": self.rate.confidence,
            "one_in": one_in,
        }
        if self.bounds:
            told["bounds"] = {key: end.to_json() for key, end in zip(("lost", "won"), self.bounds, strict=True)}
        return told


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def ask(
    sources: Source | Sequence[Source],
    condition: str,
    *,
    given: str | None = None,
    confidence: float = CONFIDENCE,
) -> Odds:
    """Return how often a condition on the columns holds.

    Parameters
    ----------
    sources
        A results folder (also one that kept a summary, for columns that were counted together), Parquet or DataFrame;
        or several on the same deals, whose columns the condition calls ``a.…``, ``b.…`` in their order.
    condition, given
        See `analysis.conditions`: ``winner == 0 and end != 'stalemate'``. Only games in which `given` holds count.
    confidence
        Of the interval, 0-1.

    Raises
    ------
    ConditionError
        If a condition cannot be read or names what there is not; the message gives the nearest name.
    LoadError
        If results cannot be read, or several are not of the same deals.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"game": range(8), "turns": [3, 5, 5, 9, 2, 7, 7, 8]})
    >>> ask(rows, "turns > 5").events
    4
    """
    several = isinstance(sources, Sequence) and not isinstance(sources, str)
    kept = None if several else open_kept_source(sources)
    if kept is not None:
        sides = [kept.side()]
    else:
        sides = [open_side(source) for source in sources] if several else [_single(sources)]  # type: ignore[union-attr]
    if not 1 <= len(sides) <= len(LETTERS):
        raise LoadError(f"{len(sides)} results: one to {len(LETTERS)} can be asked")
    check_pairing(sides)
    asked = Condition(condition, sides)
    wanted = Condition(given, sides) if given is not None else None
    verdicts = [_verdict_columns(side) for side in sides]
    if mentioned(asked, NO_VERDICT) or any(mentioned(asked, columns) for columns in verdicts):
        verdicts = [{} for _ in sides]  # how a game ended is known whatever it would have become
    columns = [
        list(dict.fromkeys([*asked.columns[k], *(wanted.columns[k] if wanted else ()), *verdicts[k]]))
        for k in range(len(sides))
    ]
    count = dict.fromkeys(("games", "n", "events", "unknown", "given_unknown", "undecided", "sure"), 0)
    if kept is not None:
        batch, weights = kept.batch(columns[0] or kept.schema.names[:1])
        _count(count, [batch], asked, wanted, verdicts, weights)
    for batches in _batches(sides, columns) if kept is None else ():
        _count(count, batches, asked, wanted, verdicts)
    if several and len(sides) > 1 and not count["games"]:
        raise LoadError(f"{' and '.join(side.name for side in sides)} have no game in common: nothing can be paired")
    open_games = count["unknown"] + count["undecided"]
    bounds = None
    if open_games:
        whole = count["n"] + count["unknown"]
        lost, won = (rate(count["sure"] + more, whole, confidence) for more in (0, open_games))
        bounds = lost, won
    return Odds(
        condition=asked.text,
        given=wanted.text if wanted else None,
        names=tuple(side.name for side in sides),
        runs=tuple(side.run for side in sides),
        games=count["games"],
        n=count["n"],
        events=count["events"],
        unknown=count["unknown"],
        given_unknown=count["given_unknown"],
        undecided=count["undecided"],
        rate=rate(count["events"], count["n"], confidence),
        bounds=bounds,
    )


def _single(source: Source) -> Side:
    """Return one source to be read alone; it needs no game index then."""
    import pyarrow as pa

    from analysis.load import open_rows, provenance_of

    if is_path(source):
        source = open_rows(source)
    if isinstance(source, Rows):
        return Side(str(source.path), source.schema, source.run, source.n_rows, source.batches)
    table = source if isinstance(source, pa.Table) else pa.Table.from_pandas(source, preserve_index=False)

    def read(columns: Sequence[str], batch_rows: int) -> Any:
        return table.select(list(columns)).to_batches(max_chunksize=batch_rows)

    return Side("the table", table.schema, Run.read(provenance_of(table.schema)), table.num_rows, read)


def _batches(sides: Sequence[Side], columns: Sequence[Sequence[str]]) -> Any:
    """Yield rows of the same games, one batch for each of the results."""
    from analysis.load import BATCH_ROWS

    if len(sides) > 1:
        for _, batches in aligned(sides, columns):
            yield batches
    else:
        for batch in sides[0].read(columns[0] or sides[0].schema.names[:1], BATCH_ROWS):
            yield [batch]


def _verdict_columns(side: Side) -> dict[str, str]:
    """Return the columns that say that a game has no verdict, and the value that says so."""
    return {
        name: value
        for name in side.schema.names
        for end, value in NO_VERDICT.items()
        if name == end or name.endswith(f"_{end}")
        if (note := side.run.columns.get(name)) is None or not note.categories or value in note.categories
    }


def _count(
    count: dict[str, int],
    batches: Sequence[pa.RecordBatch],
    asked: Condition,
    wanted: Condition | None,
    verdicts: Sequence[dict[str, str]],
    weights: Array | None = None,
) -> None:
    """Count a batch of games; with `weights`, each row stands for so many."""

    def n_games(where: Array) -> int:
        return int(where.sum() if weights is None else weights[where].sum())

    holds, unknown = asked(batches)
    counts = np.ones(len(holds), bool)
    if wanted is not None:
        counts, given_unknown = wanted(batches)
        count["given_unknown"] += n_games(given_unknown)
    undecided = _undecided(batches, verdicts)
    told = counts & ~unknown
    count["games"] += n_games(np.ones(len(holds), bool))
    count["n"] += n_games(told)
    count["events"] += n_games(told & holds)
    count["sure"] += n_games(told & holds & ~undecided)
    count["unknown"] += n_games(counts & unknown)
    count["undecided"] += n_games(told & undecided)


def _undecided(batches: Sequence[pa.RecordBatch], verdicts: Sequence[dict[str, str]]) -> Array:
    """Return which games ended without a verdict in any of the results."""
    import pyarrow as pa

    from analysis.load import to_numpy

    found = np.zeros(batches[0].num_rows, bool)
    for batch, columns in zip(batches, verdicts, strict=True):
        for name, value in columns.items():
            column = batch.column(name)
            column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            words = [word.as_py() for word in column.dictionary]
            if value in words:
                codes, valid = to_numpy(column.indices)
                found |= (codes == words.index(value)) & (True if valid is None else valid)
    return found


__all__ = ["Odds", "ask"]
