"""Speed on the machine at hand, as ratios within one run: ``make bench``.

Machines are shared and noisy, so nothing here is compared with a number written down elsewhere: every case is timed in
turn with a 52-card shuffle by the same generator and the best of many short rounds is taken, and the plain-Python
reference of the tests is the other yardstick.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import numpy as np

from sim import rng, runner
from sim.api import prepare
from sim.game import Player, Spec
from sim.games import get_game
from sim.jit import compiled

ROOT = Path(__file__).parent.parent
CHUNK = 4096
ROUNDS = 400

# Game → case → (options, policies).
CASES: dict[str, dict[str, tuple[dict[str, object], dict[str, str]]]] = {
    "bussikuski": {
        "2 players": ({"players": 2}, {}),
        "4 players (default)": ({}, {}),
        "8 players": ({"players": 8}, {}),
        "4 players, counting": ({}, {"guess": "counting"}),
        "4 players, straight bus": ({"bus": "straight"}, {}),
        "4 players, questions bus": ({"bus": "questions"}, {}),
        "4 players, give neighbour": ({}, {"give": "neighbour"}),
        "4 players, all random": ({}, {"guess": "random", "give": "random"}),
        "4 players, fresh deck": ({"bus_deck": "fresh"}, {}),
    },
    "autobus": {
        "4 players (default)": ({}, {}),
        "table, 4 players": ({"stalemate_rounds": 0}, {}),
        "table, 2 players": ({"stalemate_rounds": 0, "players": 2}, {}),
        "suits": ({"stalemate_rounds": 0, "follow_suit": True, "decks": 6}, {}),
        "4 players, random": ({}, {"policy": "random"}),
        "table, 1 planner of 4": ({"stalemate_rounds": 0}, {"policy": "planner,greedy,greedy,greedy"}),
        "table, 4 planners": ({"stalemate_rounds": 0}, {"policy": "planner"}),
    },
    "dupa": {
        "4 players (default)": ({}, {}),
        "table, 4 players": ({"several_dupas": False}, {}),
        "2 players": ({"players": 2}, {}),
        "6 players": ({"players": 6}, {}),
        "2 decks": ({"decks": 2}, {}),
        "4 players, random": ({}, {"policy": "random"}),
        "table, 1 careful of 4": ({"several_dupas": False}, {"policy": "careful,greedy,greedy,greedy"}),
        "table, 4 careful": ({"several_dupas": False}, {"policy": "careful"}),
    },
    "bludiste": {
        "first (default)": ({}, {}),
        "random": ({}, {"policy": "random"}),
        "12 columns": ({"columns": 12}, {}),
        "12 columns, best": ({"columns": 12}, {"policy": "best"}),
        "labyrinth": ({"decks": 1, "columns": 8, "fill": "first", "available": "above_or_below"}, {}),
        "solver": ({}, {"policy": "solver"}),
        "8 columns, solver": ({"columns": 8}, {"policy": "solver"}),
        "12 columns, solver": ({"columns": 12}, {"policy": "solver"}),
    },
}
SOLVED = 2_000  # deals that a solver decides in a round
SLOW = 20_000  # games a second below which a case is measured on fewer games


@compiled
def _shuffles(order: Any, first: int, n: int) -> int:
    last = 0
    for game in range(first, first + n):
        rng.shuffle(order, np.uint64(1), np.uint64(game), rng.DEAL, 0)
        last += order.cards[51]
    return last


@compiled
def _plain_shuffle(cards: Any, game: Any) -> None:
    """Shuffle 52 cards by the same generator, 32 bits a card: the yardstick of design.md (94 ns on its machine)."""
    for i in range(52):
        cards[i] = i
    block, n_used = np.uint64(0), 8
    w0 = w1 = w2 = w3 = np.uint64(0)
    for i in range(51):
        bound = np.uint64(52 - i)
        while True:
            if n_used == 8:
                w0, w1, w2, w3 = rng.philox(np.uint64(1), block, game, np.uint64(0))
                block += np.uint64(1)
                n_used = 0
            word = w0 if n_used < 2 else w1 if n_used < 4 else w2 if n_used < 6 else w3
            half = word >> np.uint64(32) if n_used & 1 else word & np.uint64(0xFFFFFFFF)
            n_used += 1
            product = half * bound
            rest = product & np.uint64(0xFFFFFFFF)
            if rest >= bound or rest >= np.uint64(0x100000000) % bound:
                break
        j = np.uint64(i) + (product >> np.uint64(32))
        cards[np.uint64(i)], cards[j] = cards[j], cards[np.uint64(i)]


@compiled
def _plain_shuffles(cards: Any, first: int, n: int) -> int:
    last = 0
    for game in range(first, first + n):
        _plain_shuffle(cards, np.uint64(game))
        last += cards[51]
    return last


def best(measured: Mapping[str, tuple[Callable[[int, int], object], int]], rounds: int) -> dict[str, float]:
    """Return the best seconds per item of each callable over many rounds, taken in turn.

    Parameters
    ----------
    measured
        Name → what to call with the first item and the number of items, and that number.
    """
    for run, n in measured.values():
        run(0, n)
    shortest = dict.fromkeys(measured, float("inf"))
    for round_ in range(1, rounds):
        for name, (run, n) in measured.items():
            began = time.perf_counter()
            run(round_ * n, n)
            shortest[name] = min(shortest[name], (time.perf_counter() - began) / n)
    return shortest


def reference(game: str) -> ModuleType | None:
    """Import a game's plain-Python reference from the checkout; None where there is none."""
    if not (ROOT / "tests" / "reference" / f"{game}.py").exists():
        return None
    sys.path.insert(0, str(ROOT))
    return importlib.import_module(f"tests.reference.{game}")


def play_reference(module: ModuleType, spec: Spec, game: int) -> None:
    """Play a game of seed 1 in the reference."""
    rules = spec.rules.plain()
    if spec.game.name == "bussikuski":
        rules["diamond_rows"] = spec.rules.diamond_rows
        module.play(rules, spec.policies["guess"], spec.policies["give"], module.SeededOrders(1, game))
    elif spec.game.name == "bludiste":
        module.play(
            rules, spec.policies["policy"][0], module.seeded_stock(rules, 1, game), module.PolicyStream(1, game, 0)
        )
    else:
        module.play(rules, spec.policies["policy"], module.SeededOrders(1, game))


def time_reference(module: ModuleType, spec: Spec, seconds: float = 0.4) -> float | None:
    """Return the reference's seconds per game; None if it does not know a policy."""
    known = {"own", "counting", "random", "leader", "neighbour", "spread", "greedy", "first"}
    if not {name for names in spec.policies.values() for name in names} <= known:
        return None
    shortest, game = float("inf"), 0
    for _ in range(3):
        began, first = time.perf_counter(), game
        while time.perf_counter() - began < seconds:
            play_reference(module, spec, game)
            game += 1
        shortest = min(shortest, (time.perf_counter() - began) / (game - first))
    return shortest


def _again(player: Player) -> Callable[[int, int], object]:
    """Return what plays the same games whichever are asked for."""
    return lambda first, n: player.play(0, n)


def kernels(name: str) -> None:
    """Print a game's games per second for each case on one core, and the ratios to a shuffle and to the reference."""
    game = get_game(name)
    order = np.zeros(1, rng.ORDER_DTYPE)[0]
    cards = np.zeros(52, np.uint8)
    measured: dict[str, tuple[Callable[[int, int], object], int]] = {
        "batched": (lambda first, n: _shuffles(order, first, n), CHUNK),
        "plain": (lambda first, n: _plain_shuffles(cards, first, n), CHUNK),
    }
    specs: dict[str, Spec] = {}
    slow: dict[str, tuple[Callable[[int, int], object], int]] = {}
    for case, (options, policies) in CASES[name].items():
        specs[case] = Spec.build(game, game.rules.build(options=options), policies)
        player = Player(specs[case])
        player.play(0, 1)
        if specs[case].solver:  # deals differ a thousandfold: the same ones each time
            slow[case] = (_again(player), SOLVED)
            continue
        began = time.perf_counter()
        player.play(0, 64)
        rate = 64 / (time.perf_counter() - began)
        if rate < SLOW:
            slow[case] = (player.play, max(int(rate / 50), 1))
        else:  # about 2 ms: the call itself, some 0.1 ms, does not count for more than it does in a run
            measured[case] = (player.play, min(CHUNK, int(rate / 250)))
    seconds = best(measured, ROUNDS)
    seconds |= best(slow, max(ROUNDS // 20, 2))
    batched, plain = seconds.pop("batched"), seconds.pop("plain")
    module = reference(name)
    click.echo(f"\n52-card shuffle as the kernels do it: {batched * 1e9:.0f} ns; 32 bits a card: {plain * 1e9:.0f} ns")
    click.echo(f"\n{'':52}{'shuffles a game':>22}")
    head = f"{f'{name}, one core':28}{'games/s':>14}{'ns/game':>10}"
    click.echo(f"{head}{'as here':>11}{'32 bits':>11}{'x reference':>14}")
    for case in CASES[name]:
        each = seconds[case]
        slower = time_reference(module, specs[case]) if module else None
        ratio = f"{slower / each:.0f}" if slower else "-"
        click.echo(
            f"{case:28}{1 / each:>14,.0f}{each * 1e9:>10.0f}{each / batched:>11.2f}{each / plain:>11.2f}{ratio:>14}"
        )


def writing(n: int = 4_000_000) -> None:
    """Print what writing Parquet adds to playing, by processor time and by the clock."""
    click.echo(f"\n{'writing Parquet':28}{'play only':>14}{'play + write':>14}{'of the run':>12}")
    spec = Spec.build(get_game("bussikuski"))
    for threads in (1, runner.default_threads()):
        times: dict[str, list[tuple[float, float]]] = {"play": [], "write": []}
        for _ in range(3):
            began, used = time.perf_counter(), time.process_time()
            runner.play(runner.ready(spec), [(0, n)], lambda first, arrays: None, threads=threads)
            times["play"].append((time.perf_counter() - began, time.process_time() - used))
            with tempfile.TemporaryDirectory() as folder:
                began, used = time.perf_counter(), time.process_time()
                prepare("bussikuski", n, out=Path(folder) / "run").play(threads=threads)
                times["write"].append((time.perf_counter() - began, time.process_time() - used))
        for what, i in (("clock", 0), ("processor", 1)):
            play, write = min(t[i] for t in times["play"]), min(t[i] for t in times["write"])
            name = f"{threads} thread{'s' if threads > 1 else ''}, {what}"
            per_million = [f"{t / n * 1e9:.0f} ms/M" for t in (play, write)]
            click.echo(f"{name:28}{per_million[0]:>14}{per_million[1]:>14}{100 * (write - play) / write:>10.0f} %")


def memory() -> None:
    """Print the peak memory of runs of different sizes, each in a process of its own."""
    click.echo(f"\n{'peak memory':28}{'MB':>14}")
    for n in (100_000, 1_000_000, 10_000_000):
        with tempfile.TemporaryDirectory() as folder:
            code = (
                "import resource, sys; from sim import run; run('bussikuski', int(sys.argv[1]), out=sys.argv[2]);"
                "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
            )
            command = [sys.executable, "-c", code, str(n), f"{folder}/run"]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        click.echo(f"{n:>18,} games{int(done.stdout) / 1024:>18.0f}")


def threads(n: int = 8_000_000) -> None:
    """Print games per second for one thread and for all."""
    spec = Spec.build(get_game("bussikuski"))
    all_threads = runner.default_threads()
    player = runner.ready(spec)
    rates = {k: 0.0 for k in (1, all_threads)}
    for _ in range(3):
        for k in rates:
            tally = runner.play(player, [(0, n)], lambda first, arrays: None, threads=k)
            rates[k] = max(rates[k], tally.n_played / tally.seconds)
    click.echo(f"\n{'threads':28}{'games/s':>14}")
    for k, rate in rates.items():
        click.echo(f"{k:<28}{rate:>14,.0f}{rate / rates[1]:>10.2f} x")


@click.command()
@click.argument("games", nargs=-1, type=click.Choice(list(CASES)))
def main(games: tuple[str, ...]) -> None:
    """Measure GAMES, or every game and then threads, writing and memory with Bussikuski."""
    for name in games or CASES:
        kernels(name)
    if not games:
        threads()
        writing()
        memory()


if __name__ == "__main__":
    main()
