"""The command ``fairdeal ask``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from scripts.errors import WRONG, WrongCall, fail
from scripts.options import examples, json_option, quiet_options
from scripts.variants import variant_folders
from sim.storage import place


@click.command(
    epilog=examples(
        "fairdeal ask results/mine 'winner == 0 and turns < 20'",
        "fairdeal ask results/mine \"end == 'stalemate'\" --given 'swaps > 0'",
        "fairdeal ask results/mine 'max(points_0, points_1) >= 2 * points_2'",
        "fairdeal ask results/ten results/twelve 'a.winner == 0 and b.winner == 1'",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="DIR… CONDITION")
@click.option("--given", metavar="CONDITION", help="Count only games in which this holds.")
@json_option
@quiet_options
def ask(words: tuple[str, ...], given: str | None, as_json: bool, quiet: bool, no_progress: bool) -> None:
    """Print how often CONDITION holds in the results of DIR: as percent with an interval, and as "1 in N".

    A condition compares columns with == != < <= > >=, 'in (…)' and 'not in (…)', joined by and, or, not; words are
    quoted. + - * / // %, abs(), min() and max() are understood. 'fairdeal rules GAME' lists the columns.

    With several folders on the same deals their columns are a.…, b.… in the order given; the folder of a comparison
    stands for its variants.
    """
    *typed, condition = words
    if not typed:
        missing = "the condition" if Path(condition).exists() else "DIR"
        raise WrongCall(f"ask needs DIR and CONDITION; {missing} is missing")
    if condition.strip() and Path(condition).exists():
        raise WrongCall(f"ask needs a condition after the folders; '{condition}' is a folder")
    folders = [folder for name in typed for folder in variant_folders(place(name))]
    for folder in folders:
        if not folder.exists():
            fail(WRONG, f"there is no folder {folder}")
    from analysis.odds import ask as ask_results

    found = ask_results(folders if len(folders) > 1 else folders[0], condition, given=given)
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False))
        return
    from reports.odds import render_odds

    click.echo(render_odds(found, title=_title(found.runs[0].game)))


def _title(name: str | None) -> str | None:
    from sim.games import GAMES, get_game

    return get_game(name).title if name in GAMES else None
