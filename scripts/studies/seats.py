"""Does the first seat have an advantage? ``python -m scripts.studies seats GAME [--rule …] [--games N]``.

For each number of players: every seat's share of the wins, and the first seat's share less the mean of the others',
a difference within each game, so that its interval is that of the paired differences.
"""

from __future__ import annotations

from typing import Any

import click

from analysis.intervals import mean
from scripts.numbers import Count
from scripts.options import game_argument, rule_options, seed_option
from scripts.studies.play import rules_of, win_shares
from sim.game import Game, Spec
from sim.rules import RuleError


@click.command(name="seats")
@game_argument
@rule_options
@seed_option
@click.option("--games", type=Count(2), default=200_000, show_default=True, help="Games for each number of players.")
@click.option("--policy", help="One policy for every seat.")
def seats(game: Game, seed: int, games: int, policy: str | None, **given: Any) -> None:
    """Print each seat's share of the wins by number of players, and the first seat's advantage."""
    if "players" not in game.rules.kinds():
        raise RuleError(f"{game.name} has no option players: one person plays it")
    specs = {}
    for players in game.rules.kinds()["players"].samples():
        try:
            specs[players] = Spec.build(game, rules_of(game, given, players=players), {"policy": policy}, seed)
        except RuleError as error:  # these rules cannot be dealt to so many
            refused = error
    if not specs:
        raise refused
    click.echo(f"{game.title}, {games:,} games each, seed {seed}; shares in percent, 95 % intervals")
    click.echo(f"{'players':>8}{'first less the others':>26}   seats 0, 1, …")
    for players, spec in specs.items():
        shares = 100 * win_shares(spec, games)
        gap = shares[0] - shares[1:].mean(axis=0)
        found = mean(float(gap.mean()), float(gap.var(ddof=1)), games)
        by_seat = "  ".join(f"{share:.2f}" for share in shares.mean(axis=1))
        click.echo(f"{players:>8}{found.estimate:>+16.3f} ± {found.half_width:.3f}   {by_seat}")
