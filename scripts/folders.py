"""The commands ``fairdeal merge`` and ``fairdeal verify``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scripts.errors import FAILED, WrongCall, complain
from scripts.numbers import Count
from scripts.options import Folder, examples, json_option, quiet_options
from scripts.progress import Voice
from scripts.variants import variant_folders

if TYPE_CHECKING:
    from sim.folders import Verified

MOST_SEED = 2**64 - 1


@click.command(
    epilog=examples(
        "fairdeal merge results/monday results/tuesday --out results/both",
        "fairdeal merge results/share-* --out results/whole",
    ),
)
@click.argument("folders", nargs=-1, required=True, type=Folder(), metavar="DIR…")
@click.option("--out", required=True, type=Folder(), metavar="DIR", help="The folder of the joined run.")
@json_option
@quiet_options
def merge(folders: tuple[Path, ...], out: Path, as_json: bool, quiet: bool, no_progress: bool) -> None:
    """Join results folders that hold different games of one run, as 'fairdeal run --share 1/4' makes them.

    Every file is checked and copied; the folders stay as they are. The same command goes on after an interruption.
    """
    from sim.folders import merge_folders
    from sim.store import gaps

    if len(folders) < 2:
        raise WrongCall("merge needs two folders or more")
    manifest = merge_folders(folders, out)
    missing = gaps(manifest.parts, manifest.games)
    if as_json:
        told = {"folder": str(out), "games": manifest.games, "n_there": manifest.n_there}
        click.echo(json.dumps({**told, "missing": [{"first": first, "games": n} for first, n in missing]}))
        return
    click.echo(f"{out} holds {manifest.n_there:,} of {manifest.games:,} games, in {len(manifest.parts):,} files.")
    if missing:
        first, n = missing[0]
        more = f", and {len(missing) - 1} more ranges" if len(missing) > 1 else ""
        click.echo(
            f"Missing are the games {first:,} to {first + n - 1:,}{more}; the run's command with --out plays them."
        )


@click.command(
    epilog=examples("fairdeal verify results/mine", "fairdeal verify results/mine --sample 100k --sample-seed 1"),
)
@click.argument("folders", nargs=-1, required=True, type=Folder(), metavar="DIR…")
@click.option(
    "--sample", type=Count(0), default=1_000, show_default=True, metavar="N", help="Games that are played again."
)
@click.option("--sample-seed", type=Count(0, MOST_SEED), metavar="S", help="Of the sample; without it one is drawn.")
@json_option
@quiet_options
def verify(
    folders: tuple[Path, ...], sample: int, sample_seed: int | None, as_json: bool, quiet: bool, no_progress: bool
) -> None:
    """Check results folders: that every file is whole and of this run, and that the games are what the kernels play.

    Says which part is damaged; the run's own command plays it again. Exit status 1 if anything is wrong.
    """
    from sim.folders import verify_folder

    voice = Voice(quiet)
    with voice.about_compiling():
        found = [
            verify_folder(folder, sample=sample, seed=sample_seed)
            for typed in folders
            for folder in variant_folders(typed)
        ]
    if as_json:
        click.echo(json.dumps([one.to_json() for one in found], ensure_ascii=False))
    else:
        click.echo("\n".join(_told(one) for one in found))
    bad = [one for one in found if not one.is_good]
    if bad:
        complain(f"{bad[0].folder} is not as it was written; the run's command with --out plays again what is damaged")
        click.get_current_context().exit(FAILED)


def _told(found: Verified) -> str:
    """Return what was found as lines."""
    there = f"{found.n_there:,} of {found.games:,} games" if found.n_there < found.games else f"{found.games:,} games"
    lines = [f"{found.folder}: {there} in {found.n_parts:,} file{'' if found.n_parts == 1 else 's'}"]
    lines += [f"  {problem}" for problem in found.problems]
    if found.is_good:
        lines.append("  every byte is as it was written")
    played = f"  {found.n_replayed:,} games drawn with sample seed {found.seed} and played again"
    if found.n_replayed:
        lines.append(f"{played}: every value is the same" if found.is_good else played)
    if not found.same_kernels:
        lines.append("  the rows were played by other kernels than this version's")
    return "\n".join(lines)
