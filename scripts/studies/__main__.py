"""The command of the studies: ``python -m scripts.studies NAME …``."""

from __future__ import annotations

import click

from scripts.errors import Commands
from scripts.studies.seats import seats
from scripts.studies.strength import strength


@click.group(cls=Commands, invoke_without_command=True, commands=[seats, strength])
@click.pass_context
def main(ctx: click.Context) -> None:
    """Answer a question about a game that takes more than one run."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


if __name__ == "__main__":
    main()
