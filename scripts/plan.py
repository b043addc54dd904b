"""The command ``fairdeal plan``."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import click

from scripts.errors import WRONG, WrongCall, fail
from scripts.options import examples, json_option, quiet_options
from scripts.variants import variant_folders
from sim.storage import place

if TYPE_CHECKING:
    from analysis.sizes import Pilot


@click.command(
    epilog=examples(
        "fairdeal plan results/pilot 'winner == 0' --half-width 0.1%",
        "fairdeal plan results/pilot turns --half-width 0.05",
        "fairdeal plan results/ten results/twelve 'winner == 0' --difference 0.5%",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="DIR… WHAT")
@click.option("--half-width", "half_width", metavar="H", help="The interval's half-width wanted: 0.1%, or a number.")
@click.option("--difference", metavar="D", help="The difference between two variants that is to be told from none.")
@click.option("--power", default=0.8, show_default=True, help="The chance of telling it.")
@json_option
@quiet_options
def plan(
    words: tuple[str, ...],
    half_width: str | None,
    difference: str | None,
    power: float,
    as_json: bool,
    quiet: bool,
    no_progress: bool,
) -> None:
    """Say how many games are needed, from a pilot in DIR of a few thousand games.

    WHAT is a column of numbers, or a condition as for 'fairdeal ask'. With two folders on the same deals (or that of a
    comparison of two variants), as a plain condition on either, the plan is told with and without the same deals.
    """
    *typed, what = words
    if not typed:
        raise WrongCall("plan needs DIR and WHAT: a column or a condition")
    if half_width is None and difference is None:
        raise WrongCall("plan needs --half-width H or --difference D")
    if not 0 < power < 1:
        raise WrongCall(f"--power {power:g} is out of range; allowed: between 0 and 1")
    folders = [folder for name in typed for folder in variant_folders(place(name))]
    for folder in folders:
        if not folder.exists():
            fail(WRONG, f"there is no folder {folder}")
    if len(folders) > 2:
        raise WrongCall(f"plan is from one pilot, or from two variants; here are {len(folders)}")
    from analysis.sizes import pilot

    told = _told(pilot(folders, what), half_width, difference, power)
    click.echo(json.dumps(told, ensure_ascii=False, allow_nan=False) if as_json else _text(told))


def _amount(option: str, text: str, found: Pilot) -> float:
    """Return what was typed as a number; percent are of a rate."""
    try:
        value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value == 0 or (option == "--half-width" and value < 0):
        raise WrongCall(f"{option}: '{text}' is not {'a positive' if option == '--half-width' else 'a'} number")
    if text.strip().endswith("%") and not found.is_rate:
        raise WrongCall(f"{option}: {text} is for rates; {found.what} is a column of numbers")
    return value


def _told(found: Pilot, half_width: str | None, difference: str | None, power: float) -> dict[str, object]:
    """Return the plan for JSON."""
    from analysis.sizes import for_half_width, to_tell_apart

    told: dict[str, object] = {
        "what": found.what,
        "is_rate": found.is_rate,
        "pilot": [estimate.to_json() for estimate in found.estimates],
    }
    try:
        if half_width is not None:
            wanted = _amount("--half-width", half_width, found)
            size = for_half_width(found, wanted)
            told["half_width"] = {"wanted": wanted, "games": size.games, "at_most": size.at_most}
        if difference is not None:
            wanted = _amount("--difference", difference, found)
            entry = {"wanted": wanted, "power": power}
            entry["unpaired"] = to_tell_apart(found, wanted, paired=False, power=power).games
            if found.difference is not None:
                entry["paired"] = to_tell_apart(found, wanted, paired=True, power=power).games
                entry["correlation"] = found.correlation if math.isfinite(found.correlation) else math.nan
            told["difference"] = {key: None if math.isnan(value) else value for key, value in entry.items()}
    except ValueError as error:
        raise WrongCall(str(error)) from None
    return told


def _text(told: dict[str, object]) -> str:
    from reports.sizes import render_plan

    return render_plan(told)
