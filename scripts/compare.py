"""The command ``fairdeal compare``."""

from __future__ import annotations

import importlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scripts.deciding import Decided, decided_text, play_until_decided, read_deciding
from scripts.engines import DASK, check_engine, engine_options, engines
from scripts.errors import WrongCall
from scripts.keeping import Keeper
from scripts.numbers import Count
from scripts.options import (
    SLOTS,
    Folder,
    examples,
    game_argument,
    json_option,
    policy_options,
    quiet_options,
    rule_options,
    seed_option,
    threads_option,
)
from scripts.playing import play
from scripts.progress import LONG, Voice, duration
from scripts.together import RowsTogether
from scripts.variants import (
    VARIANT,
    VARIANTS_DOCUMENT,
    Factor,
    Variant,
    build_variants,
    check_parent,
    default_parent,
    find_baseline,
    read_factors,
    read_margins,
    write_document,
)
from sim.game import Game
from sim.rules import listed, nearest

if TYPE_CHECKING:
    from analysis.comparison import Comparison, Plan
    from analysis.effects import Factorial
    from sim.api import Prepared
    from sim.cluster import DaskEngine

MOST_GAMES = 10**12
HARDLY = 1.25
"""Where no difference needs so many times as many games without the same deals, this is said."""


@click.command(
    epilog=examples(
        "fairdeal compare autobus --vary bus_size=10,12,15 --games 100k",
        "fairdeal compare autobus --vary 'policy=greedy;planner,greedy,greedy,greedy' --games 10k",
        "fairdeal compare bussikuski --vary bus=diamond,questions --vary blockers=JQKA,A --games 1M --margin 0.5%",
        "fairdeal compare bussikuski --vary 'diamond_rows=1,2,3,2,1;1,2,1' --games 100k --column bus_penalty",
    ),
)
@game_argument
@click.option(
    "--vary",
    "varied",
    multiple=True,
    required=True,
    metavar="OPTION=V1,V2,…",
    help="What to vary: an option, 'variant', or a policy. Values with commas in them (lists, a policy for each seat) "
    "are separated by semicolons. Given again: every combination.",
)
@click.option("--games", "n_games", type=Count(1, MOST_GAMES), required=True, metavar="N", help="How many deals.")
@seed_option
@click.option(
    "--out",
    type=Folder(),
    metavar="DIR",
    help="The folder of the variants' results folders, each that of a plain run; without it one under results/. The "
    "same command goes on after an interruption; a larger N adds games.",
)
@click.option(
    "--baseline",
    "baseline",
    multiple=True,
    metavar="[OPTION=]VALUE",
    help="What the others are set against. Default: the first value of each option.",
)
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="X%|COLUMN=X|X",
    help="What is too small to matter: 0.5% of every rate, points=0.2, or a number for every column in its unit.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME",
    help="Compare only this column ('points': all seats'); may be repeated. Fewer comparisons are decided sooner.",
)
@click.option(
    "--by",
    metavar="MEASURE",
    help="With several --vary: rank them by this measure, written as in the table ('turns', 'winner == 0').",
)
@click.option(
    "--until",
    metavar="decided|METRIC±H",
    help="Stop as soon as every difference that has a --margin is decided, or each variant's difference in METRIC (as "
    "its name stands in the table) has the half-width H, by anytime-valid intervals; N is then the most deals.",
)
@click.option(
    "--keep",
    type=click.Choice(["rows", "summary"]),
    default="rows",
    show_default=True,
    help="What the folder keeps: every variant's rows, or the joint counts alone, which hardly grow with N.",
)
@rule_options
@policy_options
@threads_option
@engine_options
@json_option
@quiet_options
def compare(
    game: Game,
    varied: Sequence[str],
    n_games: int,
    out: Path | None,
    baseline: Sequence[str],
    margins: Sequence[str],
    columns: Sequence[str],
    by: str | None,
    until: str | None,
    keep: str,
    threads: int | None,
    engine: str | None,
    scheduler: str | None,
    as_json: bool,
    quiet: bool,
    no_progress: bool,
    **given: Any,
) -> None:
    """Play the same deals under each variant and say what differs: bigger, smaller, too small to matter, or open.

    Game number i of a seed is dealt alike under all variants, so differences are taken deal by deal. Their intervals
    hold each for itself, the verdicts all together (Holm). Games without a verdict are shown as bounds.

    With several --vary every combination is played; main effects, interactions and what matters most are shown.
    """
    check_engine(engine, scheduler, threads)
    if by and len(varied) < 2:
        raise WrongCall("--by ranks several options: give --vary more than once")
    factors = read_factors(game, varied)
    variants = build_variants(game, factors, given)
    chosen = find_baseline(variants, factors, baseline)
    margin = read_margins(margins)
    parent = default_parent(variants, n_games) if out is None else out
    if keep != "rows":
        if engine == DASK or scheduler is not None:
            raise WrongCall("compare --keep summary plays on threads of this machine alone: --engine dask keeps rows")
        if until is not None:
            raise WrongCall("--until needs the rows: --keep summary cannot be given too")
        parent = parent.with_name(f"{parent.name}-{keep}") if out is None else parent
    _check_columns(variants, columns, by)
    deciding = None
    if until is not None:
        deciding = read_deciding(until, [variant.name for variant in variants], margin)
        _check_columns(variants, columns, by, deciding.target.what if deciding.target else None)
    check_parent(parent, VARIANTS_DOCUMENT)
    _check_keep(parent, keep)
    prepared = _prepare(variants, n_games, parent) if keep == "rows" else []
    if keep != "rows":
        keeper = Keeper(variants, variants.index(chosen), n_games, columns, parent)
        keeper.there()  # refuses the counts of another comparison before anything is written
    voice = Voice(quiet)
    threading.Thread(target=_import_statistics, daemon=True).start()
    plan = _write_plan(factors, variants, chosen, parent, keep)
    decided = counts = None
    if keep != "rows":
        keeper.play(voice, threads, shown=not no_progress)
    elif deciding is None and engine != DASK and scheduler is None:
        if _announce(voice, variants, prepared, parent):
            rows = RowsTogether(variants, prepared, variants.index(chosen), columns)
            counts = rows.play(voice, threads, parent, shown=not no_progress)
    else:
        with engines(voice, engine, scheduler, threads) as opened:
            if deciding is None:
                _play_all(voice, variants, prepared, threads, parent, shown=not no_progress, opened=opened)
            else:
                decided = play_until_decided(
                    voice,
                    variants,
                    prepared,
                    deciding,
                    variants.index(chosen),
                    columns,
                    threads,
                    parent,
                    shown=not no_progress,
                    engine=opened(),
                )
    began = time.monotonic()
    from analysis.comparison import Margins
    from analysis.comparison import compare as compare_folders

    found = compare_folders(plan, margin=Margins(**margin), columns=columns or None, counts=counts)
    _print(found, chosen, factors, by, as_json, parent, decided)
    voice.say(f"Compared in {time.monotonic() - began:.2g} s; results in {parent}")


def _import_statistics() -> None:
    """Import what the analysis will use, which takes a second, while games are played."""
    for name in ("analysis.comparison", "scipy.special", "analysis.effects", "reports.effects", "reports.comparison"):
        importlib.import_module(name)


def _check_columns(
    variants: Sequence[Variant], columns: Sequence[str], by: str | None, until: str | None = None
) -> None:
    """Refuse columns that not every variant has."""
    from analysis.joint import chosen_columns
    from analysis.load import LoadError

    names = [[column.name for column in variant.spec.columns] for variant in variants]
    shared = [name for name in names[0] if all(name in others for others in names)]
    elsewhere = sorted({name for others in names for name in others} - set(shared))
    wanted = [("--column", list(columns))]
    wanted += [
        (option, [name.partition("==")[0].strip()]) for option, name in (("--by", by), ("--until", until)) if name
    ]
    for option, chosen in wanted:
        try:
            chosen_columns(chosen, shared, elsewhere)
        except LoadError as error:
            raise WrongCall(f"{option}: {error}") from None


def _prepare(variants: Sequence[Variant], n_games: int, parent: Path) -> list[Prepared]:
    """Check the folders before anything is played or written."""
    from sim.api import prepare

    return [
        prepare(
            variant.spec.game,
            n_games,
            seed=variant.spec.seed,
            rules=variant.spec.rules,
            policies=variant.spec.policies,
            out=parent / variant.folder,
        )
        for variant in variants
    ]


def _check_keep(parent: Path, keep: str) -> None:
    """Refuse a folder that keeps something else."""
    from analysis.comparison import Plan
    from sim.store import RefusedError

    if (parent / VARIANTS_DOCUMENT).exists() and (there := Plan.read(parent).keep) != keep:
        raise RefusedError(f"{parent} keeps {there}, not {keep}: give another folder")


def _write_plan(
    factors: Sequence[Factor], variants: Sequence[Variant], chosen: Variant, parent: Path, keep: str
) -> Plan:
    """Write and return what the folder holds."""
    from analysis.comparison import Plan

    plan = Plan(
        {variant.name: parent / variant.folder for variant in variants},
        chosen.name,
        {factor.name: factor.values for factor in factors},
        {variant.name: variant.levels for variant in variants},
        keep,
        parent,
    )
    write_document(parent, VARIANTS_DOCUMENT, plan.to_json())
    return plan


def _announce(voice: Voice, variants: Sequence[Variant], prepared: Sequence[Prepared], parent: Path) -> bool:
    """Say what is going to be played; return whether there is anything."""
    spec, games = variants[0].spec, prepared[0].games
    title = spec.game.title
    if not any(run.n_missing for run in prepared):
        voice.say(f"{parent} is complete: {len(variants)} variants of {games:,} games of {title}, nothing to play.")
        return False
    n_there = sum(run.n_there for run in prepared)
    there = f" ({n_there:,} of {games * len(variants):,} games are there)" if n_there else ""
    voice.say(
        f"Playing {len(variants)} variants of {title} on the same {games:,} deals{there}, seed {spec.seed}, "
        f"into {parent}"
    )
    return True


def _play_all(
    voice: Voice,
    variants: Sequence[Variant],
    prepared: Sequence[Prepared],
    threads: int | None,
    parent: Path,
    *,
    shown: bool,
    opened: Callable[[], DaskEngine | None],
) -> None:
    """Play what is missing of every variant, one after another on a cluster."""
    if not _announce(voice, variants, prepared, parent):
        return
    seconds, n_played = 0.0, 0
    for number, (variant, run) in enumerate(zip(variants, prepared, strict=True), start=1):
        if not run.n_missing:
            continue
        there = f" ({run.n_there:,} games are there)" if run.n_there else ""
        left = ""
        to_go = sum(r.n_missing for r in prepared[number - 1 :]) * seconds / n_played if n_played else 0.0
        if to_go > LONG:
            left = f"; about {duration(to_go)} to go"
        voice.say(f"{number} of {len(variants)}: {variant.name}{there}{left}")
        results = play(voice, run, threads, shown=shown, engine=opened())
        seconds, n_played = seconds + results.seconds, n_played + results.n_played
    voice.say(f"Played {n_played:,} games in {seconds:.3g} s, {n_played / max(seconds, 1e-9):,.0f} a second")


def _print(
    found: Comparison,
    chosen: Variant,
    factors: Sequence[Factor],
    by: str | None,
    as_json: bool,
    parent: Path,
    decided: Decided | None,
) -> None:
    title, notes = chosen.spec.game.title, _notes(chosen, factors)
    result: Comparison | Factorial = found
    if len(factors) > 1:
        from analysis.effects import factorial

        result = factorial(found)
    if as_json:
        told = {**result.to_json(), **({"until": decided.to_json()} if decided else {}), "folder": str(parent)}
        click.echo(json.dumps(told, ensure_ascii=False, allow_nan=False))
        return
    if result is found:
        from reports.comparison import render_comparison

        click.echo(render_comparison(found, title=title, notes=notes))
    else:
        from reports.effects import render_factorial

        _check_measure(found, by)
        click.echo(render_factorial(result, by=by, title=title, notes=notes))  # type: ignore[arg-type]
    if note := _about_pairing(found):
        click.echo(f"\n{note}")
    if decided is not None:
        click.echo(f"\n{decided_text(decided, found)}")


def _about_pairing(found: Comparison) -> str:
    """Return what to say if the same deals hardly narrow any difference; else nothing."""
    from reports.table import WIDTH, wrapped

    cuts = sorted(
        difference.variance_cut for difference in found.differences if 0 < difference.variance_cut < float("inf")
    )
    if not cuts or cuts[-1] >= HARDLY:
        return ""
    said = (
        f"The same deals hardly help here (the largest cut is {cuts[-1]:.2f}). That is so where variants change which "
        "card goes where (a larger bus or hand, another seat: each seat takes all its cards before the next, so all "
        "that follows is shifted), or play differently from the first card on. The figures are as sound as ever, only "
        "not narrower than those of two runs of their own."
    )
    return "\n".join(wrapped(said, WIDTH))


def _check_measure(found: Comparison, by: str | None) -> None:
    names = list(dict.fromkeys(difference.measure.name for difference in found.differences))
    if by is not None and by not in names:
        raise WrongCall(f"--by: there is no measure '{by}'{nearest(by, names)}; there are {listed(names, 'and')}")


def _notes(chosen: Variant, factors: Sequence[Factor]) -> list[tuple[str, str]]:
    """Return rules and policies as far as they are not varied."""
    varied = {factor.name for factor in factors}
    spec = chosen.spec
    if VARIANT in varied:
        notes = []
    else:
        changes = [f"{name} = {text}" for name, text in spec.rules.changes().items() if name not in varied]
        notes = [("Rules", f"by the letter, but {', '.join(changes)}" if changes else "by the letter otherwise")]
    policies = [
        f"{slot if slot != SLOTS[0] else ''} {names[0] if len(set(names)) == 1 else ','.join(names)}".strip()
        for slot, names in spec.policies.items()
        if slot not in varied
    ]
    return [*notes, *([("Policies", ", ".join(policies))] if policies else [])]
