"""The command ``fairdeal figure``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from scripts.errors import WrongCall
from scripts.options import examples, quiet_options
from scripts.progress import Voice
from scripts.report import build_page, page_options
from sim.rules import listed, nearest

PICTURES = (".svg", ".png", ".pdf")


@click.command(
    epilog=examples(
        "fairdeal figure seats results/mine -o seats.svg",
        "fairdeal figure forest results/both --margin 0.5% -o differences.png",
        "fairdeal figure list results/mine",
    ),
)
@click.argument("kind", metavar="KIND")
@click.argument("folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What to write: .svg, .png, .pdf. Default: KIND.svg.",
)
@click.option("--narrow", is_flag=True, help="As on a phone: half as wide, labels above the rows.")
@click.option("--title", default="", metavar="TEXT", help="Stands above the figure.")
@page_options[0]
@page_options[1]
@quiet_options
def figure(
    kind: str,
    folders: tuple[Path, ...],
    out: Path | None,
    narrow: bool,
    title: str,
    margins: Sequence[str],
    by: str | None,
    quiet: bool,
    no_progress: bool,
) -> None:
    """Draw a single figure of the report on DIR. KIND 'list' prints the figures there are."""
    from reports.page import ReportError, write_picture

    target = Path(f"{kind}.svg") if out is None else out
    if target.suffix.lower() not in PICTURES:
        near = nearest(target.suffix, PICTURES)
        raise WrongCall(f"--out {target}: a figure ends in {listed(PICTURES)}; not in '{target.suffix}'{near}")
    page = build_page(folders, margins, by, None)
    if kind == "list":
        width = max((len(picture.name) for picture in page.pictures), default=0)
        for picture in page.pictures:
            click.echo(f"{picture.name:<{width}}  {picture.title}")
        return
    try:
        written = write_picture(page.picture(kind), target, narrow=narrow, title=title)
    except ReportError as error:
        raise WrongCall(f"figure: {error}") from None
    Voice(quiet).say(f"Written: {written} ({written.stat().st_size / 1024:,.0f} KiB)")
