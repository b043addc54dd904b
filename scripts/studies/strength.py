"""How strong is a policy? ``python -m scripts.studies strength GAME POLICY --against OTHER [--rule …] [--games N]``.

One seat plays the policy and all the others another one, in each seat in turn on the same deals; its share of the wins
is over all seats together, so that where one sits does not matter. An equal policy has 1 / players.
"""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from analysis.intervals import fraction, mean
from scripts.numbers import Count
from scripts.options import game_argument, rule_options, seed_option
from scripts.studies.play import rules_of, win_shares
from sim.game import Game, Spec
from sim.rules import RuleError


@click.command(name="strength")
@game_argument
@click.argument("policy")
@click.option("--against", default=None, help="What the others play; the game's default policy if it is not given.")
@rule_options
@seed_option
@click.option("--games", type=Count(2), default=20_000, show_default=True, help="Games for each seat.")
def strength(game: Game, policy: str, against: str | None, seed: int, games: int, **given: Any) -> None:
    """Print the share of the wins of one seat that plays POLICY, and what it wins more than the others do there."""
    rules = rules_of(game, given)
    if getattr(rules, "players", 1) == 1:
        raise RuleError(f"{game.name} is played by one person: there is nobody to play against")
    slot = game.slots[0]
    others = against or slot.default
    seats = range(rules.players)
    equal, *specs = (
        Spec.build(game, rules, {slot.name: [policy if seat == one else others for seat in seats]}, seed)
        for one in (None, *seats)
    )
    click.echo(
        f"{game.title}: one {policy} among {rules.players - 1} {others}, {games:,} games for each seat, seed {seed}"
    )
    changes = ", ".join(f"{name} = {text}" for name, text in rules.changes().items()) or "by the letter"
    click.echo(f"rules {changes}; shares in percent, 95 % intervals")
    base = win_shares(equal, games)
    won, gained = [], []
    for seat, spec in enumerate(specs):
        share = win_shares(spec, games)[seat]
        won.append(share)
        gained.append(share - base[seat])
        click.echo(f"  seat {seat}: {_share(share)}   (an equal seat {_share(base[seat])})")
    # The seats play the same deals: a deal's mean over them is one observation.
    by_deal, gain = 100 * np.mean(gained, axis=0), np.concatenate(won)
    found = mean(float(by_deal.mean()), float(by_deal.var(ddof=1)), games)
    click.echo(f"  all seats: {_share(gain)}, fair {100 / rules.players:.2f}")
    click.echo(f"  more than {others} in the same seats and deals: {found.estimate:+.2f} ± {found.half_width:.2f}")


def _share(shares: Any) -> str:
    """Return a mean share of wins in percent with its interval."""
    found = fraction(float(shares.mean()), float(shares.var(ddof=1)), len(shares))
    return f"{100 * found.estimate:.2f} ({100 * found.low:.2f} – {100 * found.high:.2f})"
