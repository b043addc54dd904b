"""The command ``fairdeal solve``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scripts.engines import check_engine, engine_options, engines
from scripts.errors import WrongCall
from scripts.numbers import Count, parse_count
from scripts.options import (
    Folder,
    examples,
    game_argument,
    json_option,
    quiet_options,
    read_rules,
    rule_options,
    seed_option,
    threads_option,
)
from scripts.playing import announce, play
from scripts.progress import Voice
from sim.game import MAX_EFFORT, Game, Spec
from sim.rules import RuleError, listed, nearest

if TYPE_CHECKING:
    from analysis.solvability import Solvability
    from sim.api import Prepared, Results
    from sim.cluster import DaskEngine

MOST_GAMES = 10**12
PAIRED = 10_000  # deals that the policies play, if not said: they are there to be compared, the solver's share is not
AS_FAR_AS_USUAL = "0"
FOLDER = "_policies"  # the underscore keeps readers of the results folder from taking these for its rows

nodes_option = click.option(
    "--nodes",
    type=Count(1, MAX_EFFORT),
    metavar="L",
    help="The most positions with a choice that are searched for a deal. Default: 10M for bludiste.",
)


@click.command(
    epilog=examples(
        "fairdeal solve bludiste --games 10k",
        "fairdeal solve bludiste --games 1000 --rule columns=12 --keep-moves --out results/twelve",
        "fairdeal solve bludiste --games 200 --rule refill=at_once --nodes 10k --escalate 1M",
    ),
)
@game_argument
@click.option("--games", "n_games", type=Count(1, MOST_GAMES), required=True, metavar="N", help="How many deals.")
@nodes_option
@seed_option
@click.option(
    "--out",
    type=Folder(),
    metavar="DIR",
    help="The results folder; without it one under results/, named by what is solved. The same command goes on after "
    "an interruption, and with --out a larger N adds deals.",
)
@click.option("--keep-moves", is_flag=True, help="Keep the moves of every solved deal, as text, in the column 'moves'.")
@click.option(
    "--escalate",
    "escalated",
    is_flag=False,
    flag_value=AS_FAR_AS_USUAL,
    metavar="[MOST]",
    help="Try the deals that stay unknown again with ten times the nodes, and so on up to MOST nodes (not said: the "
    "first limit a hundredfold). Each limit's results are a folder of their own.",
)
@click.option(
    "--paired",
    type=Count(0, MOST_GAMES),
    metavar="K",
    help=f"On how many of these deals the policies play, for comparison; 0 for none. Default: all, up to {PAIRED:,}.",
)
@click.option(
    "--policies", "policies", metavar="NAME[,NAME…]", help="Which policies play. Default: first, random and best."
)
@rule_options
@threads_option
@engine_options
@json_option
@quiet_options
def solve(
    game: Game,
    n_games: int,
    nodes: int | None,
    seed: int,
    out: Path | None,
    keep_moves: bool,
    escalated: str | None,
    paired: int | None,
    policies: str | None,
    threads: int | None,
    engine: str | None,
    scheduler: str | None,
    as_json: bool,
    quiet: bool,
    no_progress: bool,
    **given: Any,
) -> None:
    """Decide of N deals of GAME whether they can be won by a player who knows the whole stock.

    A deal is solved (the moves were found), unsolvable (every line was refuted) or unknown (the limit of nodes was
    reached). Prints the share solvable, with the unknown deals counted both ways, and what policies that do not know
    the stock win of the same deals. Rows are kept, gone on with and asked about as those of 'run'.
    """
    from sim.solvability import escalated_folder, find_solver, limits, n_unknown, prepare_solve
    from sim.store import default_folder

    check_engine(engine, scheduler, threads)
    voice = Voice(quiet)
    solver, _ = find_solver(game)
    tried = limits(game, nodes, None if escalated is None else _most(escalated))
    rivals = _rivals(game, policies, solver.rivals)
    rules = read_rules(game, given)
    n_paired = min(n_games, PAIRED) if paired is None else paired
    if n_paired > n_games:
        raise WrongCall(f"--paired: {n_paired:,} deals are more than the {n_games:,} of --games")
    results: Results | None = None
    prepared: Prepared | None = None
    stages: list[dict[str, Any]] = []
    with engines(voice, engine, scheduler, threads) as opened:
        for number, limit in enumerate(tried):
            how = {"seed": seed, "rules": rules, "nodes": limit, "keep_moves": keep_moves}
            folder = out if out is None or not number else escalated_folder(out, limit)
            if folder is None:
                folder = default_folder(prepare_solve(game, n_games, **how).spec, n_games)  # type: ignore[arg-type]
            prepared = prepare_solve(game, n_games, **how, out=folder, known=results)  # type: ignore[arg-type]
            if number:
                voice.say(
                    f"{stages[-1]['unknown']:,} deals are unknown; they are tried again with {limit:,} nodes each."
                )
            announce(voice, prepared)
            results = (
                play(voice, prepared, threads, shown=not no_progress, engine=opened())
                if prepared.n_missing
                else prepared.play()
            )
            stages.append({"nodes": limit, "unknown": n_unknown(results), "folder": str(folder)})
            if not stages[-1]["unknown"]:
                break
        assert prepared is not None
        assert results is not None
        if n_paired:
            _play_rivals(voice, prepared, rivals, n_paired, threads, opened, shown=not no_progress)
    print_solvability(prepared.folder or Path(), as_json, results, stages=stages)
    if results.n_played:
        voice.say(
            f"Tried {results.n_played:,} deals in {results.seconds:.3g} s, {results.games_per_second:,.0f} a second; "
            f"results in {prepared.folder}"
        )


def solver_options(game: Game, nodes: int | None, given: Mapping[str, Any], *, from_folder: bool) -> dict[str, str]:
    """Return the policy that replay's --solve and --nodes stand for.

    Raises
    ------
    RuleError
        If the game has no solver.
    WrongCall
        If another policy or limit is named too.
    """
    from sim.solvability import find_solver, solver_policy

    solver, slot = find_solver(game)
    named = given[slot.name]
    if named is not None and named.partition(":")[0] != solver.policy:
        raise WrongCall(f"--solve and --nodes are for the policy {solver.policy}, not for {named}")
    if nodes is not None and (given["effort"] is not None or named not in (None, solver.policy)):
        raise WrongCall(f"--nodes is the effort of {solver.policy}: give it once")
    return {} if from_folder or (nodes is None and named is not None) else solver_policy(game, nodes)


def solver_spec(spec: Spec, nodes: int | None) -> Spec:
    """Return the same deals and rules, decided."""
    from sim.solvability import solver_policy

    if spec.solver is not None and nodes is None:
        return spec
    return Spec.build(spec.game, spec.rules, solver_policy(spec.game, nodes), spec.seed)


def _most(text: str) -> int:
    try:
        most = parse_count(text)
    except ValueError as error:
        raise WrongCall(f"--escalate: {error}") from None
    if not 0 <= most <= MAX_EFFORT:
        raise WrongCall(f"--escalate: {text} is out of range; allowed: 1 to {MAX_EFFORT:,}")
    return most


def _rivals(game: Game, given: str | None, default: tuple[str, ...]) -> list[str]:
    """Return the policies that play the same deals."""
    if given is None:
        return list(default)
    names = list(dict.fromkeys(word.strip() for word in given.split(",")))
    known = [*default]
    for name in names:
        if name.partition(":")[0] not in known:
            raise RuleError(f"--policies: '{name}' is none of them; choose {listed(known)}{nearest(name, known)}")
    return names


def _play_rivals(
    voice: Voice,
    prepared: Prepared,
    names: list[str],
    n_games: int,
    threads: int | None,
    opened: Callable[[], DaskEngine | None],
    *,
    shown: bool,
) -> None:
    """Play the first of the same deals by policies that do not know the stock."""
    from sim.api import prepare

    assert prepared.folder is not None
    spec = prepared.spec
    for name in names:
        out = prepared.folder / FOLDER / name.replace(":", "-")
        there = _there(out)
        run = prepare(spec.game, max(n_games, there), seed=spec.seed, rules=spec.rules, policies=name, out=out)
        if run.n_missing:
            voice.say(f"Playing {run.games:,} of the same deals by {name}")
            play(voice, run, threads, shown=shown, engine=opened())


def _there(folder: Path) -> int:
    """Return how many games a results folder is of; 0 if there is none."""
    from sim.store import MANIFEST, read_manifest

    return read_manifest(folder).games if (folder / MANIFEST).exists() else 0


def print_solvability(
    folder: Path, as_json: bool, results: Results | None = None, *, stages: list[dict[str, Any]] | None = None
) -> None:
    """Print what a solver's results folder holds; speed and time are the last sitting's, or those of the whole run."""
    from analysis.solvability import solvability
    from scripts.findings import diagnose
    from sim.store import MANIFEST, read_manifest

    played = sorted((folder / FOLDER).glob(f"*/{MANIFEST}")) if (folder / FOLDER).is_dir() else []
    names = {path.parent: read_manifest(path.parent).spec["policies"] for path in played}
    rivals = {next(iter(policies.values()))[0]: path for path, policies in names.items()}
    found = solvability(folder, _ordered(rivals))
    spec, diagnosis = diagnose(found.summary)
    limit = None if spec is None else _limit(spec)
    if as_json:
        click.echo(json.dumps(_as_json(found, diagnosis, folder, limit, stages, results), ensure_ascii=False))
        return
    from reports.solvability import render_solvability

    title, changes = (spec.game.title, spec.rules.changes()) if spec else (None, None)
    click.echo(render_solvability(found, title=title, changes=changes, most_nodes=limit, diagnosis=diagnosis))
    if stages and len(stages) > 1:
        told = ", ".join(f"{stage['nodes']:,}: {stage['unknown']:,}" for stage in stages)
        click.echo(f"\nUnknown by the limit of nodes: {told}")


def _ordered(rivals: dict[str, Path]) -> dict[str, Path]:
    """Return policies in the order in which they are usually named."""
    from sim.games import GAMES, get_game

    usual = [name for game in GAMES for name in getattr(get_game(game).solver, "rivals", ())]
    return dict(sorted(rivals.items(), key=lambda item: (usual.index(item[0].partition(":")[0]), item[0])))


def _limit(spec: Spec) -> int | None:
    """Return the most nodes of a deal."""
    if spec.solver is None:
        return None
    efforts = [slot.parse(name) for slot in spec.game.slots for name in spec.policies[slot.name]]
    return next(effort for name, effort in efforts if name == spec.solver.policy)


def _as_json(
    found: Solvability,
    diagnosis: list[str],
    folder: Path,
    limit: int | None,
    stages: list[dict[str, Any]] | None,
    results: Results | None,
) -> dict[str, Any]:
    document = found.summary.run.document
    seconds = results.seconds if results else document.get("seconds")
    n_played = results.n_played if results else found.summary.games
    return {
        **found.summary.to_json(),
        "nodes": limit,
        "solvability": found.to_json(),
        **({"stages": stages} if stages else {}),
        "diagnosis": diagnosis,
        "seconds": seconds,
        "games_per_second": n_played / seconds if seconds else None,
        "folder": str(folder),
    }
