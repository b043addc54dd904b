"""Compiles every kernel of every game, so that no first command has to wait: ``make compile``."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

import click

from sim import Spec, get_game
from sim.deals import read_deals
from sim.game import Player
from sim.games import GAMES
from sim.jit import on_compiling
from sim.replays import play_deals, replay_game, written_deal
from sim.solvability import solver_policy


def compile_game(name: str) -> None:
    """Play a game in each of the ways there are: with each policy in a block, told, and as an explicit deal."""
    game = get_game(name)
    began = time.monotonic()
    with on_compiling(lambda: click.echo(f"Compiling {game.title}; this is done once.", err=True)) as compiling:
        spec = Spec.build(game)
        for slot in game.slots:
            for policy in slot.choices:
                Player(Spec.build(game, policies={slot.name: policy})).play(0, 1)
        replay_game(spec, 0)
        line = written_deal(spec, 0).encode()
        list(play_deals(spec, read_deals([line], game, spec.rules, name="deal")))
        for options in game.solver.searches if game.solver else ():
            solving = Spec.build(game, game.rules.build(options=options), solver_policy(game, 1_000))
            replay_game(solving, 0)
            Player(solving).play(0, 1)
    if compiling.happened:
        click.echo(f"{game.title} took {time.monotonic() - began:.0f} s.", err=True)


def main() -> None:
    """Compile the games side by side, a process each."""
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(compile_game, GAMES))


if __name__ == "__main__":
    main()
