"""The command ``fairdeal``: parse, call one function of the library, print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scripts.engines import check_engine, engine_options, engines
from scripts.errors import COMMAND, FAILED, WRONG, Commands, WrongCall, fail
from scripts.numbers import Count, Share
from scripts.options import (
    Folder,
    examples,
    game_argument,
    json_option,
    keep_options,
    policy_options,
    quiet_options,
    read_rules,
    read_spec,
    refuse_beside_from,
    rule_options,
    seed_option,
    spec_from,
    threads_option,
    until_option,
)
from scripts.playing import announce, announce_until, play
from scripts.progress import Voice
from scripts.solve import nodes_option, print_solvability, solver_options, solver_spec
from sim.game import Deal, Game, Spec
from sim.provenance import rebuild_spec
from sim.rules import RuleError

if TYPE_CHECKING:
    from scripts.until import Stopped
    from sim.api import Results

MOST_GAMES = 10**12
MAX_INDEX = 2**64 - 1


def _print_version(ctx: click.Context, parameter: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from importlib import metadata

        try:
            version = metadata.version(COMMAND)
        except metadata.PackageNotFoundError:
            version = "(not installed)"
        click.echo(f"{COMMAND} {version}")
        ctx.exit()


@click.group(
    cls=Commands,
    name=COMMAND,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "fairdeal games",
        "fairdeal run bussikuski --games 1M",
        "fairdeal compare autobus --vary bus_size=10,12 --games 100k",
        "fairdeal ask results/mine 'winner == 0 and turns < 20'",
        "fairdeal replay bussikuski --seed 1 --game 17",
    ),
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Which house rules are a fair deal? Plays card games, millions at a time, and says what the rules make of them.

    Numbers may be written 1000000, 1_000_000, 1e6, 1M or 250k. Exit status: 0 done; 1 the work failed; 2 the call was
    wrong; 130 interrupted, and what was finished is kept.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


# -- games, rules -----------------------------------------------------------------------------------------------------


@main.command(
    short_help="The games, with their policies.",
    epilog=examples(
        "fairdeal games",
    ),
)
@json_option
def games(as_json: bool) -> None:
    """List the games, one line each, with their policies."""
    from scripts import listing

    click.echo(listing.games_json() if as_json else listing.games_text())


@main.command(
    short_help="Every option of a game; a rule file to edit.",
    epilog=examples(
        "fairdeal rules bussikuski",
        "fairdeal rules bussikuski --variant straight --rule players=6",
        "fairdeal rules bussikuski --toml > mine.toml",
    ),
)
@game_argument
@rule_options
@click.option("--toml", "as_toml", is_flag=True, help="Print a rule file to edit and give to --rules.")
@json_option
def rules(game: Game, as_toml: bool, as_json: bool, **given: Any) -> None:
    """Print every option of GAME: its value, what is allowed, and what it means.

    With --variant, --rules or --rule the values are those of that rule set.
    """
    from scripts import listing

    if as_toml and as_json:
        raise WrongCall("--toml and --json exclude each other")
    chosen = read_rules(game, given)
    if as_toml:
        click.echo(chosen.to_toml(), nl=False)
    else:
        click.echo(listing.rules_json(game, chosen) if as_json else listing.rules_text(game, chosen))


# -- run, summary -----------------------------------------------------------------------------------------------------


@main.command(
    short_help="Play N games, write a results folder, print the summary.",
    epilog=examples(
        "fairdeal run bussikuski --games 1M",
        "fairdeal run bussikuski --games 250k --variant straight --rule players=6 --guess counting",
        "fairdeal run bussikuski --games 1e6 --seed 7 --out results/mine --json",
    ),
)
@game_argument
@click.option("--games", "n_games", type=Count(1, MOST_GAMES), required=True, metavar="N", help="How many games.")
@seed_option
@click.option(
    "--out",
    type=Folder(),
    metavar="DIR",
    help="The results folder, or an address such as s3://bucket/run; without it one under results/, named by what is "
    "played, N included. What lies there of the same run is kept: the same command goes on after an interruption, and "
    "with --out a larger N adds games.",
)
@keep_options
@until_option
@click.option(
    "--share",
    type=Share(),
    metavar="K/N",
    help="Play only the K-th of N equal shares of the games, as on one of N machines; 'fairdeal merge' joins them.",
)
@rule_options
@policy_options
@threads_option
@engine_options
@json_option
@quiet_options
def run(
    game: Game,
    n_games: int,
    out: Path | None,
    keep: str,
    joint: tuple[str, ...],
    until: str | None,
    share: tuple[int, int] | None,
    threads: int | None,
    engine: str | None,
    scheduler: str | None,
    as_json: bool,
    quiet: bool,
    no_progress: bool,
    **given: Any,
) -> None:
    """Play N games of GAME, write a results folder, print the summary with 95 % intervals.

    Game number i of a seed is always the same game, on any machine and with any number of threads.
    """
    from sim.api import prepare
    from sim.store import SUMMARY, default_folder

    check_engine(engine, scheduler, threads)
    voice = Voice(quiet)
    spec = read_spec(game, given)
    groups = [[name.strip() for name in group.split(",")] for group in joint]
    watch = None
    if until is not None and share is not None:
        raise WrongCall("--until looks at all games, --share plays a part of them: give one of them")
    if until is not None:
        from analysis.sequential import Target, Watch
        from scripts.until import play_until, side_of, until_folder

        watch = Watch(Target.read(until), side_of(spec))
        out = until_folder(spec, watch.target, keep) if out is None else out
        groups += [watch.columns] * (keep == SUMMARY and len(watch.columns) > 1 and watch.columns not in groups)
    prepared = prepare(
        game,
        n_games,
        seed=spec.seed,
        rules=spec.rules,
        policies=spec.policies,
        out=default_folder(spec, n_games, keep, share) if out is None else out,
        keep=keep,
        joint=groups,
        share=share,
    )
    results, stopped = None, None
    if watch is not None:
        announce_until(voice, prepared, watch.target.what, watch.target.half_width)
        with engines(voice, engine, scheduler, threads) as opened:
            results, stopped = play_until(voice, prepared, watch, threads, shown=not no_progress, engine=opened())
    else:
        announce(voice, prepared)
        if prepared.n_missing:
            with engines(voice, engine, scheduler, threads) as opened:
                results = play(voice, prepared, threads, shown=not no_progress, engine=opened())
    assert prepared.folder is not None
    _print_summary(prepared.folder, as_json, results, stopped)
    if results is not None:
        voice.say(
            f"Played {results.n_played:,} games in {results.seconds:.3g} s, {results.games_per_second:,.0f} a second; "
            f"results in {prepared.folder}"
        )


@main.command(
    short_help="The summary again, from a results folder.",
    epilog=examples(
        "fairdeal summary results/mine",
    ),
)
@click.argument("folder", type=Folder(), metavar="DIR")
@json_option
@quiet_options
def summary(folder: Path, as_json: bool, quiet: bool, no_progress: bool) -> None:
    """Print the summary of a results folder again.

    DIR may be any folder or file of Parquet, too: every column is summarised.
    """
    from sim.store import MANIFEST, iter_parts

    if (folder / MANIFEST).exists():
        for _ in iter_parts(folder):
            pass  # says which part is missing
    elif not folder.exists():
        fail(WRONG, f"there is no folder {folder}")
    elif folder.is_dir() and not any(folder.glob("*.parq*")):
        fail(WRONG, f"{folder} is not a results folder: it has no {MANIFEST}, and no Parquet files")
    _print_summary(folder, as_json)


def _is_solved(folder: Path) -> bool:
    """Tell whether a folder holds deals decided by a solver."""
    from sim.store import MANIFEST, read_manifest

    if not (folder / MANIFEST).exists():
        return False
    try:
        return rebuild_spec(read_manifest(folder).spec).solver is not None
    except RuleError:
        return False


def _print_summary(folder: Path, as_json: bool, results: Results | None = None, stopped: Stopped | None = None) -> None:
    """Print the summary of a folder; speed and time are the last sitting's, or those of the whole run."""
    if _is_solved(folder):
        print_solvability(folder, as_json, results)
        return
    from analysis.quality import assess
    from analysis.summary import summarise
    from scripts.findings import diagnose

    found = summarise(folder)
    spec, diagnosis = diagnose(found)
    if not as_json:
        from reports.quality import render_quality
        from reports.text import render

        title, changes = (spec.game.title, spec.rules.changes()) if spec else (None, None)
        texts = [render(found, title=title, changes=changes, diagnosis=diagnosis), render_quality(found)]
        if stopped is not None:
            from scripts.until import until_text

            texts.append(until_text(stopped))
        click.echo("\n\n".join(text for text in texts if text))
        return
    seconds = results.seconds if results else found.run.document.get("seconds")
    n_played = results.n_played if results else found.games
    speed = n_played / seconds if seconds else None
    told = {
        **found.to_json(),
        "quality": assess(found).to_json(),
        "diagnosis": diagnosis,
        "seconds": seconds,
        "games_per_second": speed,
    } | ({"until": stopped.to_json()} if stopped else {})
    click.echo(json.dumps({**told, "folder": str(folder)}, ensure_ascii=False))


main.add_later("scripts.compare:compare", "The same deals under each variant, paired differences with intervals.")
main.add_later("scripts.ask:ask", "The odds of any condition on the columns, with an interval.")
main.add_later("scripts.plan:plan", "How many games are needed, from a pilot.")
main.add_later("scripts.solve:solve", "What share of the deals can be won, with proof.")
main.add_later("scripts.race:race", "The best of several policies or variants, by elimination.")
main.add_later("scripts.report:report", "A report with figures, from results.")
main.add_later("scripts.figure:figure", "A single figure of a report.")
main.add_later("scripts.exact:exact", "What can be known exactly: fractions, beside simulated values.")


# -- replay -----------------------------------------------------------------------------------------------------------


@main.command(
    short_help="One game told move by move; explicit deals played.",
    epilog=examples(
        "fairdeal replay bussikuski --seed 1 --game 17",
        "fairdeal replay bussikuski --from results/mine --game 17",
        "fairdeal replay bussikuski --game 17 --deal > deals.txt",
        "fairdeal replay bussikuski --deals deals.txt --jsonl",
        "fairdeal replay dupa --deals deals.txt --reshuffle reverse",
        "fairdeal replay bludiste --game 3 --solve",
        "fairdeal replay bludiste --deals deals.txt --policy solver --nodes 100k --jsonl",
    ),
)
@game_argument
@click.option("--game", "index", type=Count(0, MAX_INDEX), metavar="I", help="Which game of the seed, from 0.")
@seed_option
@click.option(
    "--from",
    "source",
    type=Folder(),
    metavar="DIR",
    help="Take rules, policies and seed from a results folder.",
)
@click.option(
    "--deal",
    "as_deal",
    is_flag=True,
    help="Print the line of a deals file that equals the game, instead of telling it.",
)
@click.option("--deals", metavar="FILE", help="Play explicit deals, one a line ('-': standard input).")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Deals: print one JSON object a line, with the columns.")
@click.option(
    "--reshuffle",
    metavar="HOW",
    help="Deals of Dupa biskupa: 'reverse' turns the pile over for a new stock instead of shuffling it.",
)
@click.option("--solve", "is_solved", is_flag=True, help="Show a line that wins, or where every line ends.")
@nodes_option
@rule_options
@policy_options
@click.option("--threads", type=Count(1), expose_value=False, hidden=True)
@json_option
@quiet_options
def replay(
    game: Game,
    index: int | None,
    source: Path | None,
    as_deal: bool,
    deals: str | None,
    as_jsonl: bool,
    reshuffle: str | None,
    is_solved: bool,
    nodes: int | None,
    as_json: bool,
    quiet: bool,
    no_progress: bool,
    **given: Any,
) -> None:
    """Tell one game of a seed move by move; or play explicit deals from a file.

    The last line is the game's row, as it stands in the results.

    A deals file has one deal a line: cards separated by spaces, top first; '#' begins a comment line. Bussikuski's
    deals are the deck of phases 1 and 2, ' | ', the bus deck, then ' | ' and a further deck of 52 for each reshuffle.
    Dupa biskupa's are the shuffled deck, or for several rounds that many decks one after another.
    If a deal lacks a deck that its game needs, its record says so, and the exit status is 1 after all lines are done.
    """
    from sim import replays

    _check_replay(index, source, as_deal, deals, as_jsonl, as_json)
    if reshuffle is not None and deals is None:
        raise WrongCall("--reshuffle is for --deals")
    is_solved = is_solved or nodes is not None
    if is_solved:
        given |= solver_options(game, nodes, given, from_folder=source is not None)
    spec = (spec_from(game, source) if source else read_spec(game, given)).reshuffled(reshuffle)
    if source and is_solved:
        spec = solver_spec(spec, nodes)
    voice = Voice(quiet)
    if deals is not None:
        _replay_deals(voice, spec, deals, as_jsonl, as_json)
        return
    assert index is not None
    with voice.about_compiling():
        if as_deal:
            click.echo(replays.written_deal(spec, index))
            if spec.needs_random:
                voice.say("This game draws random numbers after the deal: played from its line it draws others.")
            return
        played = replays.replay_game(spec, index)
    click.echo(json.dumps(played.to_json(), ensure_ascii=False) if as_json else played.text)


def _check_replay(
    index: int | None, source: Path | None, as_deal: bool, deals: str | None, as_jsonl: bool, as_json: bool
) -> None:
    """Refuse options that do not go together."""
    if (index is None) == (deals is None):
        if deals is not None:
            raise WrongCall("--game and --deals exclude each other")
        raise WrongCall("replay needs --game I (one game of a seed) or --deals FILE")
    if as_jsonl and deals is None:
        raise WrongCall("--jsonl is for --deals; --json prints one game")
    if as_jsonl and as_json:
        raise WrongCall("--jsonl and --json exclude each other")
    if as_deal and (deals is not None or as_json):
        raise WrongCall("--deal is for --game, and prints a line of a deals file")
    if source is not None:
        refuse_beside_from()


def _read_deals(spec: Spec, path: str) -> list[Deal]:
    """Return the deals of a file or of standard input, all of them checked."""
    from sim.deals import read_deals

    if path == "-":
        return read_deals(sys.stdin.buffer, spec.game, spec.rules, name="standard input")
    try:
        with Path(path).open("rb") as file:
            return read_deals(file, spec.game, spec.rules, name=path)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise WrongCall(f"--deals: {path}: {(error.strerror or '').lower()}") from None


def _replay_deals(voice: Voice, spec: Spec, path: str, as_jsonl: bool, as_json: bool) -> None:
    """Play explicit deals and print a record each."""
    from sim.replays import play_deals

    deals = _read_deals(spec, path)
    lacking = []
    records = []
    is_data = as_jsonl or as_json
    with voice.about_compiling():
        for number, played in enumerate(play_deals(spec, deals, tell=not is_data)):
            if played.error is not None:
                lacking.append(played.index)
            if as_json:
                records.append(played.record)
            elif as_jsonl:
                sys.stdout.write(json.dumps(played.record) + "\n")
            else:
                sys.stdout.write(("\n\n" if number else "") + played.text + "\n")
    if as_json:
        plain = spec.plain()
        told = {name: plain[name] for name in ("game", "rules", "policies", "seed")}
        click.echo(json.dumps({**told, "deals": records}, ensure_ascii=False))
    if lacking:
        lack = "lacks a deck that its game needs" if len(lacking) == 1 else "lack a deck that their game needs"
        fail(FAILED, f"{len(lacking):,} of {len(deals):,} deals {lack}; the first is in line {lacking[0]}")


# -- folders, files, the installation ---------------------------------------------------------------------------------


main.add_later("scripts.study:study", "Several runs and comparisons from one file.")
main.add_later("scripts.folders:merge", "Runs of different games of one specification joined.")
main.add_later(
    "scripts.folders:verify", "A results folder checked: every byte, and a sample of its games played again."
)
main.add_later("scripts.doctor:doctor", "The installation checked.")


if __name__ == "__main__":
    main()
