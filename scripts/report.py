"""The command ``fairdeal report``, and what its pages need from the games: titles, diagnosis, replays, commands."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scripts.errors import COMMAND, WRONG, WrongCall, fail
from scripts.options import examples, quiet_options
from scripts.progress import Voice
from scripts.variants import VARIANTS_DOCUMENT, read_margins, variant_folders
from sim.game import Spec
from sim.provenance import rebuild_spec
from sim.rules import RuleError, listed, nearest

if TYPE_CHECKING:
    from analysis.load import Rows
    from reports.gather import Gathered
    from reports.page import Page, Story
    from reports.run_page import About

ENDINGS = (".html", ".pdf", ".md")

page_options = (
    click.option(
        "--margin",
        "margins",
        multiple=True,
        metavar="X%|COLUMN=X|X",
        help="A comparison: what is too small to matter: 0.5% of every rate, points=0.2, or a number for every column.",
    ),
    click.option("--by", metavar="MEASURE", help="A comparison: open with this measure ('turns', 'winner == 0')."),
)


@click.command(
    epilog=examples(
        "fairdeal report results/mine",
        "fairdeal report results/mine -o mine.pdf --open",
        "fairdeal report results/both --margin 0.5%",
        "fairdeal report results/ten results/twelve -o sizes.html",
        "fairdeal report results/mine -o pictures/",
    ),
)
@click.argument("folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="What to write, by its ending: .html (one file that needs nothing else), .pdf, .md (with its pictures beside "
    "it); a folder gets every figure as SVG and PNG. Default: DIR.html beside DIR.",
)
@click.option("--open", "is_opened", is_flag=True, help="Show it in the browser.")
@click.option("--no-replays", is_flag=True, help="Leave out the games worth reading.")
@page_options[0]
@page_options[1]
@quiet_options
def report(
    folders: tuple[Path, ...],
    out: Path | None,
    is_opened: bool,
    no_replays: bool,
    margins: Sequence[str],
    by: str | None,
    quiet: bool,
    no_progress: bool,
) -> None:
    """Write a report on the results of DIR: the answer first, then figures, tables and how to get them again.

    DIR is the results folder of a run, of a solver, or of a comparison; several folders on the same deals are compared.
    The same results give the same file, byte for byte.
    """
    from reports.page import ReportError

    target = _target(folders, out)
    voice = Voice(quiet)
    page = build_page(folders, margins, by, voice if not no_replays else None)
    try:
        written = page.write(target)
    except ReportError as error:
        raise WrongCall(f"--out: {error}") from None
    if not written:
        fail(WRONG, "there is nothing to draw in these results")
    size = sum(path.stat().st_size for path in written)
    where = f"{written[0]}" if len(written) == 1 or target.suffix else f"{len(written)} pictures in {target}"
    voice.say(f"{page.answer}\nWritten: {where} ({size / 1024:,.0f} KiB)")
    if is_opened:
        import webbrowser

        shown = written[0] if target.suffix else target
        if not webbrowser.open(shown.resolve().as_uri()):
            voice.say(f"No browser could be opened; open {shown.resolve()} yourself.")


def _target(folders: Sequence[Path], out: Path | None) -> Path:
    """Return what to write, and refuse what would lie among the rows."""
    if out is None:
        first = folders[0].resolve()
        return first.with_name(f"{first.name}.html")
    if out.suffix.lower() not in (*ENDINGS, ".htm", "") and not out.is_dir():
        near = nearest(out.suffix, ENDINGS)
        raise WrongCall(f"--out {out}: a report ends in {listed(ENDINGS)}, or is a folder; not in '{out.suffix}'{near}")
    for folder in folders:
        parent = out.parent if out.suffix else out
        if folder.resolve() in (parent.resolve(), *parent.resolve().parents):
            raise WrongCall(f"--out {out} lies in {folder}, where readers would take it for rows; choose another place")
    return out


def build_page(folders: Sequence[Path], margins: Sequence[str], by: str | None, voice: Voice | None) -> Page:
    """Return the report of some results folders.

    Parameters
    ----------
    voice
        Says what is done while games are told; None leaves them out.
    """
    for folder in folders:
        if not folder.exists():
            near = nearest(folder.name, [path.name for path in folder.parent.glob("*")])
            fail(WRONG, f"there is no folder {folder}{near}")
    is_comparison = len(folders) > 1 or (folders[0] / VARIANTS_DOCUMENT).exists()
    for option, given in (("--margin", margins), ("--by", by)):
        if given and not is_comparison:
            raise WrongCall(f"{option} is for comparisons; {folders[0]} is one run")
    if is_comparison:
        return _of_comparison(folders, margins, by)
    from analysis.kept import is_kept
    from analysis.load import open_rows
    from reports.build import is_of_solver
    from reports.gather import gather, gather_kept

    if is_kept(folders[0]):
        return _of_run(gather_kept(folders[0]), folders[0], voice)
    rows = open_rows(folders[0])
    if is_of_solver(rows.names):
        return _of_solver(rows)
    return _of_run(gather(rows), rows.path, voice)


def _of_run(found: Gathered, folder: Path, voice: Voice | None) -> Page:
    from reports.run_page import run_page
    from scripts.findings import diagnose

    run = found.summary.run
    spec, diagnosis = diagnose(found.summary)
    stories: list[Story] = []
    if spec is not None and voice is not None:
        with voice.about_compiling():
            stories = [_story(spec, pick.what, pick.index, pick.why) for pick in found.picks]
    command = ""
    if spec is not None:
        command = run_command(spec, run.games or found.summary.games)
        if (kept := run.document.get("keep", "rows")) != "rows":
            command += f" --keep {kept}"
    known = about(spec, folder, command, diagnosis, stories)
    if spec is not None and spec.game.name == "bussikuski":
        from sim.games.bussikuski.answers import answers_frame

        known = dataclasses.replace(known, card=answers_frame(spec.rules))
    return run_page(found, known)


def about(
    spec: Spec | None, folder: Path, command: str, diagnosis: Sequence[str] = (), stories: Sequence[Story] = ()
) -> About:
    """Return what a page needs to know beside the results."""
    from reports.run_page import About

    title, changes = (spec.game.title, spec.rules.changes()) if spec is not None else (None, None)
    return About(title, changes, diagnosis, command, stories, folder.resolve().name)


def _story(spec: Spec, what: str, index: int, why: str) -> Story:
    """Return a game, told."""
    from reports.page import Story
    from sim.replays import replay_game

    played = replay_game(spec, index)
    command = f"{_command('replay', spec)} --game {index}"
    return Story(f"The {what}: game {index}", why, [*played.story, "", played.row_line], command)


def _command(verb: str, spec: Spec) -> str:
    """Return a command for a specification, as it is typed."""
    words = [COMMAND, verb, spec.game.name]
    for name, text in spec.rules.changes().items():
        words += ["--rule", f"{name}={text}"]
    for slot in spec.game.slots:
        names = spec.policies[slot.name]
        if set(names) != {slot.spell(*slot.parse(slot.default))}:
            words += [f"--{slot.name}", names[0] if len(set(names)) == 1 else ",".join(names)]
    return shlex.join([*words, "--seed", str(spec.seed)])


def run_command(spec: Spec, n_games: int) -> str:
    """Return the command that plays a run again."""
    return f"{_command('run', spec)} --games {n_games}"


# -- a solver's results -----------------------------------------------------------------------------------------------


def _of_solver(rows: Rows) -> Page:
    from analysis.load import open_rows
    from analysis.solvability import solvability
    from analysis.summary import summarise
    from reports.solver_page import efforts, solver_page
    from scripts.findings import diagnose
    from scripts.solve import FOLDER
    from sim.store import MANIFEST

    played = [open_rows(path.parent) for path in sorted((rows.path / FOLDER).glob(f"*/{MANIFEST}"))]
    rivals = {next(iter(rival.run.policies.values()))[0]: rival for rival in played}
    summaries = {name: summarise(rival) for name, rival in rivals.items()}
    order = sorted(rivals, key=lambda name: summaries[name].columns["won"].mean.estimate)
    found = solvability(rows.path, {name: rivals[name].path for name in order})
    spec, diagnosis = diagnose(found.summary)
    command, limit = "", None
    if spec is not None and spec.solver is not None:
        limit = next(slot.parse(name)[1] for slot in spec.game.slots for name in spec.policies[slot.name])
        words = [COMMAND, "solve", spec.game.name]
        for name, text in spec.rules.changes().items():
            words += ["--rule", f"{name}={text}"]
        n_games = rows.run.games or rows.n_rows
        command = shlex.join([*words, "--nodes", str(limit), "--seed", str(spec.seed), "--games", str(n_games)])
    return solver_page(
        found,
        efforts(rows),
        {name: summaries[name] for name in order},
        about(spec, rows.path, command, diagnosis),
        limit=limit,
    )


# -- comparisons ------------------------------------------------------------------------------------------------------


def _of_comparison(folders: Sequence[Path], margins: Sequence[str], by: str | None) -> Page:
    from analysis.comparison import Margins
    from reports.build import compared, of_comparison

    single = folders[0] if len(folders) == 1 else None
    sources: Any = single or [folder for typed in folders for folder in variant_folders(typed)]
    found = compared(sources, Margins(**read_margins(margins)))
    names = list(dict.fromkeys(difference.measure.name for difference in found.differences))
    if by is not None and by not in names:
        raise WrongCall(f"--by: there is no measure '{by}'{nearest(by, names)}; there are {listed(names, 'and')}")
    spec = _spec_of(found.run.document)
    command = ""
    if spec is not None and single is not None:
        command = compare_command(spec, found.factors, found.levels[found.baseline], found.run.games or found.games)
    known = about(spec, folders[0] if single else folders[0].parent, command)
    return of_comparison(found, known, by)


def _spec_of(document: Mapping[str, Any]) -> Spec | None:
    """Return a folder's specification; None for anybody's Parquet, or a game this version does not know."""
    try:
        return rebuild_spec(document["spec"]) if document.get("spec") else None
    except RuleError:
        return None


def compare_command(spec: Spec, factors: Mapping[str, Sequence[str]], baseline: Mapping[str, str], n_games: int) -> str:
    """Return the command that plays a comparison again.

    What a variant has of its own is the baseline's in `spec`; what is varied is left out of the rest.
    """
    words = [COMMAND, "compare", spec.game.name]
    for name, values in factors.items():
        separator = ";" if any("," in value for value in values) else ","
        words += ["--vary", f"{name}={separator.join(values)}"]
    if "variant" not in factors:
        for name, text in spec.rules.changes().items():
            if name not in factors:
                words += ["--rule", f"{name}={text}"]
    for slot in spec.game.slots:
        names = spec.policies[slot.name]
        if slot.name not in factors and set(names) != {slot.spell(*slot.parse(slot.default))}:
            words += [f"--{slot.name}", names[0] if len(set(names)) == 1 else ",".join(names)]
    for name, values in factors.items():
        if baseline[name] != values[0]:
            words += ["--baseline", f"{name}={baseline[name]}"]
    return shlex.join([*words, "--seed", str(spec.seed), "--games", str(n_games)])


__all__ = ["about", "build_page", "page_options", "report", "run_command"]
