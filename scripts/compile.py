"""Compiles every kernel of every game, so that no first command has to wait: ``make compile``."""

from __future__ import annotations

import click

from sim import Spec, get_game
from sim.deals import read_deals
from sim.game import Player
from sim.games import GAMES
from sim.jit import on_compiling
from sim.replays import play_deals, replay_game, written_deal


def main() -> None:
    """Play a game in each of the ways there are: in a block, told, and as an explicit deal."""
    with on_compiling(lambda: click.echo("Compiling the kernels; this takes about a minute, once.", err=True)):
        for name in GAMES:
            spec = Spec.build(get_game(name))
            Player(spec).play(0, 1)
            replay_game(spec, 0)
            line = written_deal(spec, 0).encode()
            list(play_deals(spec, read_deals([line], spec.game, spec.rules, name="deal")))


if __name__ == "__main__":
    main()
