"""The command ``fairdeal exact``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scripts.answers import Asked, print_answers, ratio, rules_text
from scripts.errors import WrongCall
from scripts.numbers import Count
from scripts.options import (
    examples,
    game_argument,
    json_option,
    policy_options,
    quiet_options,
    read_spec,
    refuse_beside_from,
    rule_options,
    seed_option,
    spec_from,
)
from scripts.progress import Voice
from sim.game import Game

if TYPE_CHECKING:
    from analysis.intervals import Interval
    from sim.quantities import Counts, Exact, Name, Quantity, Section

MOST_GAMES = 10**9
GAMES = 100_000
SHOWN_ROWS, LONG_SECTION = 12, 20
LONGEST_FRACTION = 29


@click.command(
    epilog=examples(
        "fairdeal exact bussikuski",
        "fairdeal exact bussikuski --rule diamond_rows=1,2,3,2,1 --rule blockers=KA --games 1M",
        "fairdeal exact dupa --from results/mine",
        "fairdeal exact bussikuski --card",
        "fairdeal exact bussikuski --hand '5S JD' --known '6C 6H TS'",
    ),
)
@game_argument
@click.option(
    "--games",
    type=Count(0, MOST_GAMES),
    default=GAMES,
    show_default=True,
    metavar="N",
    help="Games that are simulated beside each value; 0 = none.",
)
@seed_option
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Compare with a results folder instead; rules, policies and seed are taken from it.",
)
@click.option("--all", "show_all", is_flag=True, help="Print every value of a long law.")
@click.option("--card", "as_card", is_flag=True, help="Bussikuski: the best answer in every situation, as a table.")
@click.option("--known", metavar="CARDS", help="Bussikuski: cards seen beside your own, for --card and --hand.")
@click.option("--hand", metavar="CARDS", help="Bussikuski: your own cards, none to three: what to answer next.")
@click.option(
    "--gone",
    metavar="CARDS",
    help="Bussikuski: cards turned before on a bus of guesses whose deck runs (--hand: those of the running attempt): "
    "the rest of the ride, once about a dozen cards are left.",
)
@rule_options
@policy_options
@json_option
@quiet_options
def exact(
    game: Game,
    games: int,
    source: Path | None,
    show_all: bool,
    as_card: bool,
    known: str | None,
    hand: str | None,
    gone: str | None,
    as_json: bool,
    quiet: bool,
    no_progress: bool,
    **given: Any,
) -> None:
    """Print what can be known exactly about GAME: as fractions, beside the simulated values.

    What exact computation does not reach is said in a line of its own. --json gives numerators and denominators.
    """
    if source is not None:
        refuse_beside_from()
        if as_card or not {known, hand, gone} <= {None}:
            raise WrongCall("--from goes with none of --card, --known, --hand and --gone")
    spec = spec_from(game, source) if source else read_spec(game, given)
    if as_card or not {known, hand, gone} <= {None}:
        print_answers(spec, Asked(as_card, known, hand, gone), as_json)
        return
    from sim.quantities import exact_of

    sys.set_int_max_str_digits(0)  # of a law's far values; the numbers are ours
    found = exact_of(spec)
    with Voice(quiet).about_compiling():
        counts = _counts_from(found, source, games) if source else _simulated(found, games)
    click.echo(
        json.dumps(_to_json(found, counts, games), ensure_ascii=False)
        if as_json
        else "\n".join(_lines(found, counts, games, source, show_all))
    )


def _simulated(found: Exact, games: int) -> dict[Name, Counts]:
    from sim.quantities import simulate

    return simulate(found, games) if games else {}


def _counts_from(found: Exact, source: Path, games: int) -> dict[Name, Counts]:
    """Return what a results folder shows, as far as its games are those that show it; and its first deals."""
    import numpy as np

    from analysis.load import open_rows, to_numpy
    from sim.quantities import Rows, Seen, count_rows, simulate_deals

    digest = found.spec.digest()
    wanted = [
        ((section.title, quantity.name), quantity.shown)
        for section, quantity in found
        if isinstance(quantity.shown, Seen) and quantity.shown.spec(found.spec).digest() == digest
    ]
    names = sorted({seen.column for _, seen in wanted} | {seen.given[0] for _, seen in wanted if seen.given})
    categories = {column.name: column.categories for column in found.spec.columns}
    counts: dict[Name, Counts] = {}
    n_games = 0
    for batch in open_rows(source).batches(names):
        rows: Rows = {}
        for name in names:
            column = batch.column(name)
            if categories[name]:
                places = np.array([categories[name].index(word.as_py()) for word in column.dictionary] or [0])
                values = places[to_numpy(column.indices)[0]]
            else:
                values = to_numpy(column)[0]
            rows[name] = (categories[name], values)  # type: ignore[index]
        count_rows(counts, wanted, rows)
        n_games += batch.num_rows
    return counts | simulate_deals(found, min(games, n_games))


# -- text -------------------------------------------------------------------------------------------------------------


def _lines(found: Exact, counts: dict[Name, Counts], games: int, source: Path | None, show_all: bool) -> Iterator[str]:
    from reports.table import WIDTH, entry

    yield f"{found.spec.game.title}: what is known exactly"
    yield from entry("Rules", rules_text(found.spec), WIDTH)
    if source is not None:
        yield from entry("Simulated", f"the games in {source}, with 95 % intervals", WIDTH)
    elif games:
        said = f"{games:,} games for each value, seed {found.spec.seed}, with 95 % intervals"
        yield from entry("Simulated", said, WIDTH)
    is_long = False
    for section in found.sections:
        yield from ("", section.title)
        if section.quantities:
            yield from _section(section, counts, show_all)
            is_long |= any(_fraction(quantity) == "…" for quantity in _rows(section, show_all))
        for line in section.missing:
            yield from entry("not exact", line, WIDTH)
    yield ""
    if is_long:
        yield "…: the fraction is too long for the table; --json has it."
    yield from _agreement(found, counts)


def _rows(section: Section, show_all: bool) -> tuple[Quantity, ...]:
    """Return the quantities that are printed: of a long section the first ones."""
    rows = section.quantities
    return rows if show_all or len(rows) <= LONG_SECTION else rows[:SHOWN_ROWS]


def _section(section: Section, counts: dict[Name, Counts], show_all: bool) -> Iterator[str]:
    from reports.table import WIDTH, Cell, Column, cell, table

    rows = _rows(section, show_all)
    columns = [
        Column("exact", [_fraction(quantity) for quantity in rows]),
        Column("", [Cell(*_decimal(quantity)) for quantity in rows]),
    ]
    intervals = [_interval(quantity, counts.get((section.title, quantity.name))) for quantity in rows]
    if any(intervals):
        shown: list[Cell | str] = [
            cell(interval, percent=quantity.kind == "chance") if interval else ""
            for quantity, interval in zip(rows, intervals, strict=True)
        ]
        columns.append(Column("simulated", shown))
    lines = table(Column("", [quantity.name for quantity in rows]), columns, WIDTH)
    yield from (line.rstrip() for line in lines)
    if len(rows) < len(section.quantities):
        yield f"{len(section.quantities) - len(rows)} more values: --all"


def _fraction(quantity: Quantity) -> str:
    """Return the fraction, or … if it is too long."""
    if max(map(abs, quantity.exact.as_integer_ratio())) >= 10**LONGEST_FRACTION:
        return "…"
    text = str(quantity.exact)
    return text if len(text) <= LONGEST_FRACTION else "…"


def _decimal(quantity: Quantity) -> tuple[str, str]:
    """Return the value as a decimal number, and its unit."""
    if quantity.kind == "count":
        return _power(quantity.exact.numerator), ""
    value = float(quantity.exact) * (100 if quantity.kind == "chance" else 1)
    text = f"{value:.4f}" if value >= 0.1 or not quantity.exact else f"{value:.4g}"
    return text, "%" if quantity.kind == "chance" else ""


def _power(number: int) -> str:
    """Return a whole number, or its first digits and the power of ten."""
    text = str(number)
    return f"{number:,}" if len(text) <= 15 else f"{text[0]}.{text[1:5]}e{len(text) - 1}"


def _interval(quantity: Quantity, counts: Counts | None) -> Interval | None:
    """Return what was simulated, with its interval."""
    from analysis.intervals import mean, rate
    from sim.quantities import Seen

    if counts is None or not counts.n:
        return None
    per = quantity.shown.per if isinstance(quantity.shown, Seen) else 1
    is_share = counts.total == counts.squares and per == 1 and counts.total <= counts.n
    if is_share and quantity.kind == "chance":
        return rate(counts.total, counts.n)
    return mean(counts.mean / per, counts.variance / per**2, counts.n)


def _deviations(found: Exact, counts: dict[Name, Counts]) -> list[tuple[float, Section, Quantity]]:
    """Return how many standard errors each simulated value is from the exact one."""
    from sim.quantities import deviation

    deviations = []
    for section, quantity in found:
        seen = counts.get((section.title, quantity.name))
        if seen is not None and seen.n:
            deviations.append((deviation(quantity, seen), section, quantity))
    return deviations


def _agreement(found: Exact, counts: dict[Name, Counts]) -> Iterator[str]:
    """Say how far exact and simulated values lie apart."""
    from reports.table import WIDTH, wrapped

    deviations = _deviations(found, counts)
    if not deviations:
        return
    most, section, quantity = max(deviations, key=lambda deviation: deviation[0])
    far = sum(deviation > 4 for deviation, *_ in deviations)
    said = (
        f"{len(deviations)} values were simulated too; the largest deviation is {most:.1f} standard errors "
        f"({section.title}: {quantity.name})."
    )
    if far:
        said += f" {far} of them deviate by more than 4: exact values and games do not agree."
    yield from wrapped(said, WIDTH)


# -- JSON -------------------------------------------------------------------------------------------------------------


def _to_json(found: Exact, counts: dict[Name, Counts], games: int) -> dict[str, Any]:
    from sim.quantities import Seen

    sections = []
    for section in found.sections:
        quantities = []
        for quantity in section.quantities:
            interval = _interval(quantity, counts.get((section.title, quantity.name)))
            shown = quantity.shown if isinstance(quantity.shown, Seen) else None
            told: dict[str, Any] = {
                "name": quantity.name,
                "kind": quantity.kind,
                **ratio(quantity.exact),
                "simulated": interval.to_json() if interval else None,
            }
            if shown is not None:
                plain = shown.spec(found.spec).plain()
                told["shown_by"] = {
                    "column": shown.column,
                    "condition": shown.condition,
                    "given": shown.given_condition,
                    "per": shown.per,
                    "rules": {n: plain["rules"][n] for n, _ in shown.rules},
                    "policies": {slot: plain["policies"][slot] for slot, _ in shown.policies},
                }
            quantities.append(told)
        sections.append({"title": section.title, "quantities": quantities, "not_exact": list(section.missing)})
    spec = found.spec.plain()
    kept = {name: spec[name] for name in ("game", "rules", "policies", "seed")}
    return kept | {"games": games, "seconds": found.seconds, "sections": sections}
