"""The command ``fairdeal race``."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scripts.errors import WrongCall
from scripts.numbers import Count
from scripts.options import (
    examples,
    game_argument,
    json_option,
    policy_options,
    quiet_options,
    read_spec,
    rule_options,
    seed_option,
    threads_option,
)
from scripts.progress import Progress, Voice, stopping
from scripts.variants import build_variants, check_parent, read_factors, read_margins, write_document
from sim.game import Game, Slot, Spec
from sim.rules import listed, nearest

if TYPE_CHECKING:
    from analysis.elimination import Fall, Race
    from analysis.tally import Array
    from sim.api import Sitting

MOST_GAMES = 10**12
MOST_CONTESTANTS = 64
DOCUMENT = "_race.json"


@dataclasses.dataclass(frozen=True)
class Entry:
    """One run of a contestant: what is played, and what of it is its score."""

    spec: Spec
    measure: str


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A contestant, with a run for each seat it takes (a variant has one)."""

    name: str
    entries: tuple[Entry, ...]


@click.command(
    epilog=examples(
        "fairdeal race autobus --policies random,greedy,planner --games 20k",
        "fairdeal race bussikuski --policies own,counting,random --slot guess --games 1M --margin 0.5%",
        "fairdeal race dupa --vary players=3,4,5,6 --best turns --least --games 100k",
        "fairdeal race autobus --vary bus_size=8,10,12 --best 'winner >= 0' --games 1M",
    ),
)
@game_argument
@click.option("--policies", metavar="NAME,NAME,…", help="The policies that race, each in every seat in turn.")
@click.option("--slot", metavar="SLOT", help="With --policies: what they decide, if the game has several slots.")
@click.option(
    "--against",
    metavar="NAME",
    help="With --policies: what the other seats play. Default: the game's default policy.",
)
@click.option(
    "--vary",
    "varied",
    multiple=True,
    metavar="OPTION=V1,V2,…",
    help="The variants that race, as for 'fairdeal compare'; given again, every combination.",
)
@click.option(
    "--best",
    metavar="COLUMN|CONDITION",
    help="What decides: a column's mean or a condition's rate; with --policies the racing seat's column (points for "
    "points_0, …), '{seat}' stands for the seat. Default with --policies: the racing seat's share of wins.",
)
@click.option("--least", is_flag=True, help="The smallest is the best.")
@click.option("--games", "n_games", type=Count(1, MOST_GAMES), required=True, metavar="N", help="The most deals.")
@click.option(
    "--error", default="5%", show_default=True, metavar="P", help="How likely the winner may be the wrong one."
)
@click.option(
    "--margin",
    metavar="X%|X",
    help="A difference this small does not matter: stop when nobody can be better than the leader by more.",
)
@seed_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder of the contestants' results folders, each that of a plain run; without it one under results/. The "
    "same command goes on after an interruption.",
)
@rule_options
@policy_options
@threads_option
@json_option
@quiet_options
def race(
    game: Game,
    policies: str | None,
    slot: str | None,
    against: str | None,
    varied: Sequence[str],
    best: str | None,
    least: bool,
    n_games: int,
    error: str,
    margin: str | None,
    out: Path | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    no_progress: bool,
    **given: Any,
) -> None:
    """Find the best policy or variant by successive elimination, on the same deals, with a stated error.

    Who is worse than another beyond doubt falls and plays no more, so that games go where they are needed. The doubt is
    counted so that one may look as often as one likes: the winner is the wrong one (or, with --margin, worse than the
    best by more than that) with a probability of at most --error.

    With --policies each one plays every deal once in each seat, against the reference policy in the other seats; its
    score of a deal is the mean over the seats. Equally good ones never fall: give --margin, or --games ends the race
    undecided.
    """
    if (policies is None) == (not varied):
        raise WrongCall("race needs --policies A,B,… or --vary OPTION=V1,V2,…" + (", not both" if varied else ""))
    doubt = _fraction("--error", error, 1)
    if policies is not None:
        contestants, said = _of_policies(game, policies, slot, against, best, given)
    else:
        if slot is not None or against is not None:
            raise WrongCall(f"--{'slot' if slot else 'against'} is for --policies")
        contestants, said = _of_variants(game, varied, best, given)
    scoring = Scoring(contestants)
    threshold = _margin(margin, scoring)
    runner = _Running(contestants, n_games, out or _default_folder(contestants), scoring)
    voice = Voice(quiet)
    voice.say(
        f"Racing {listed([contestant.name for contestant in contestants], 'and')} in {game.title} on the same deals, "
        f"seed {given['seed']}, at most {n_games:,} each, into {runner.parent}"
    )
    voice.say(f"Best is {'least' if least else 'most'}: {said}.")
    from analysis.elimination import Race

    found = Race(
        [contestant.name for contestant in contestants],
        error=doubt,
        margin=threshold,
        unit=scoring.unit,
        spread=scoring.spread,
        least=least,
    )
    runner.run(voice, found, threads, shown=not no_progress)
    if as_json:
        told = {
            "game": game.name,
            "seed": given["seed"],
            "measure": said,
            **found.to_json(),
            "games_played": runner.n_games,
            "folder": str(runner.parent),
        }
        click.echo(json.dumps(told, ensure_ascii=False, allow_nan=False))
        return
    from reports.race import render_race

    click.echo(render_race(found, title=game.title, seed=given["seed"], measure=said, percent=scoring.is_rate))
    voice.say(f"{runner.n_games:,} games in all; results in {runner.parent}")


def _fraction(option: str, text: str, most: float) -> float:
    """Return a number written ``5%`` or ``0.05``, between 0 and `most`."""
    amount = text.strip()
    try:
        value = float(amount.removesuffix("%")) / (100 if amount.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 < value < most:
        raise WrongCall(f"{option} {text}: allowed is a number above 0 and below {most:g}, as 5% or 0.05")
    return value


def _margin(text: str | None, scoring: Scoring) -> float | None:
    """Return what is too small to matter, in the score's unit."""
    if text is None:
        return None
    read = read_margins([text])
    if read["columns"]:
        raise WrongCall(f"--margin {text}: a race has one measure; write 0.5% or 0.2")
    if read["rates"] is not None and not scoring.is_rate:
        raise WrongCall(f"--margin {text}: the measure is no rate; write a number in its own unit")
    value: float | None = read["all"] if read["rates"] is None else read["rates"]
    return value


# -- contestants ------------------------------------------------------------------------------------------------------


def _of_policies(
    game: Game, policies: str, slot: str | None, against: str | None, best: str | None, given: Mapping[str, Any]
) -> tuple[list[Contestant], str]:
    """Return a contestant for each policy, with a run for each seat, and the measure in words."""
    names = [name.strip() for name in policies.replace(";", ",").split(",") if name.strip()]
    chosen = _slot(game, names, slot)
    if given[chosen.name] is not None:
        raise WrongCall(
            f"--{chosen.name} cannot be given: the policies race for it; --against says what the others play"
        )
    words = [chosen.spell(*chosen.parse(name)) for name in names]
    _check_number(words, "--policies")
    reference = chosen.spell(*chosen.parse(against if against is not None else chosen.default))
    base = read_spec(game, {**given, chosen.name: reference})
    seats = base.rules.players
    rest = {name: list(own) for name, own in base.policies.items() if name != chosen.name}
    contestants = []
    for word in words:
        entries = []
        for seat in range(seats):
            mixed = [word if k == seat else reference for k in range(seats)]
            spec = Spec.build(game, base.rules, {**rest, chosen.name: mixed}, base.seed)
            entries.append(Entry(spec, _measure_of_seat(spec, best, seat)))
        contestants.append(Contestant(word, tuple(entries)))
    what = best or ("share of games won" if seats == 1 else "share of wins")
    if seats == 1:
        return contestants, what
    return (
        contestants,
        f"{what} of the racing seat, each seat in turn on every deal, the other seats playing {reference}",
    )


def _slot(game: Game, names: Sequence[str], given: str | None) -> Slot:
    """Return the slot that the policies are for."""
    known = [slot.name for slot in game.slots]
    if given is not None:
        slot = next((slot for slot in game.slots if slot.name == given), None)
        if slot is None:
            raise WrongCall(
                f"--slot: {game.name} has no '{given}'{nearest(given, known)}; it has {listed(known, 'and')}"
            )
        return slot
    words = [name.partition(":")[0] for name in names]
    fitting = [slot for slot in game.slots if all(word in slot.choices for word in words)]
    if len(fitting) > 1:
        raise WrongCall(f"--policies {','.join(names)}: for which slot? Give --slot {' or --slot '.join(known)}")
    if fitting:
        return fitting[0]
    slot = max(game.slots, key=lambda slot: sum(word in slot.choices for word in words))
    for name in names:
        slot.parse(name)
    raise AssertionError("some policy is unknown")


def _measure_of_seat(spec: Spec, best: str | None, seat: int) -> str:
    """Return the column or condition that is the score of a seat."""
    names = {column.name for column in spec.columns}
    if best is not None:
        own = f"{best.strip()}_{seat}"
        return own if own in names else best.replace("{seat}", str(seat))
    if f"win_share_{seat}" in names:
        return f"win_share_{seat}"
    if "winner" in names:
        return f"winner == {seat}"
    if "won" in names:
        return "won"
    raise WrongCall(f"--best is needed: {spec.game.name} has no column that says who wins")


def _of_variants(
    game: Game, varied: Sequence[str], best: str | None, given: Mapping[str, Any]
) -> tuple[list[Contestant], str]:
    if best is None:
        raise WrongCall("race --vary needs --best: a column or a condition that decides")
    variants = build_variants(game, read_factors(game, varied), given)
    _check_number([variant.name for variant in variants], "--vary")
    return [Contestant(variant.name, (Entry(variant.spec, best.strip()),)) for variant in variants], best.strip()


def _check_number(names: Sequence[str], option: str) -> None:
    if len(names) < 2:
        raise WrongCall(f"{option}: a race needs two contestants or more")
    for name in names:
        if names.count(name) > 1:
            raise WrongCall(f"{option}: {name} is there twice")
    if len(names) > MOST_CONTESTANTS:
        raise WrongCall(f"{option}: {len(names)} contestants; at most {MOST_CONTESTANTS} can race")


class Scoring:
    """Reads the contestants' scores, as whole numbers of 1/unit.

    Attributes
    ----------
    unit
        Scores are in units of 1/unit.
    is_rate
        Whether percent is the natural unit.
    spread
        The most by which scores can differ, infinite if that is not known.

    Raises
    ------
    ConditionError
        If a measure is neither a condition nor a column of numbers.
    """

    def __init__(self, contestants: Sequence[Contestant]) -> None:
        from analysis.sizes import Reader
        from analysis.sums import SHARES
        from scripts.until import side_of

        self._seats = len(contestants[0].entries)
        self._readers: dict[str, list[Any]] = {}
        kinds, spreads = set(), []
        for contestant in contestants:
            readers = []
            for entry in contestant.entries:
                side = side_of(entry.spec)
                reader = Reader(entry.measure, side)
                column = next((c for c in entry.spec.columns if c.name == entry.measure), None)
                is_share = column is not None and column.share
                kinds.add((is_share, column is None or is_share or (column.low, column.high) == (0, 1)))
                is_one = column is None or is_share
                spreads.append(1.0 if is_one else float(column.high - column.low))  # type: ignore[union-attr]
                readers.append((reader, is_share))
            self._readers[contestant.name] = readers
        self.unit = self._seats * (SHARES if any(share for share, _ in kinds) else 1)
        self.is_rate = all(rate for _, rate in kinds)
        self.spread = max(spreads)

    def columns(self, name: str) -> list[list[str]]:
        """Return the columns that are read of each of a contestant's runs."""
        return [reader.columns for reader, _ in self._readers[name]]

    def scores(self, name: str, batches: Sequence[Any]) -> tuple[Array, Array]:
        """Return a contestant's scores of some deals, in units of 1/unit, and which of them there are."""
        import numpy as np

        from analysis.sums import in_shares

        total = np.zeros(batches[0].num_rows, np.int64)
        known = np.ones(batches[0].num_rows, bool)
        for (reader, is_share), batch in zip(self._readers[name], batches, strict=True):
            numbers, there = reader(batch)
            total += in_shares(name, numbers) if is_share else numbers.astype(np.int64)
            known &= there
        return total, known


# -- playing ----------------------------------------------------------------------------------------------------------


class _Running:
    """Plays the contestants that are left, in step."""

    def __init__(self, contestants: Sequence[Contestant], most: int, parent: Path, scoring: Scoring) -> None:
        from sim.api import prepare

        check_parent(parent, DOCUMENT)
        self.contestants = {contestant.name: contestant for contestant in contestants}
        self.most = most
        self.parent = parent
        self.scoring = scoring
        # A policy that races against itself has the same run in every seat: it is played once.
        self.folders = {
            self._key(entry): f"{_plain(contestant.name)}{f'-seat{k}' if len(contestant.entries) > 1 else ''}"
            for contestant in contestants
            for k, entry in reversed(list(enumerate(contestant.entries)))
        }
        self.prepared = {
            key: prepare(
                entry.spec.game,
                most,
                seed=entry.spec.seed,
                rules=entry.spec.rules,
                policies=entry.spec.policies,
                out=parent / self.folders[key],
            )
            for contestant in contestants
            for entry in contestant.entries
            for key in [self._key(entry)]
        }
        self.n_games = 0

    def _key(self, entry: Entry) -> str:
        return json.dumps(entry.spec.plain(), sort_keys=True)

    def run(self, voice: Voice, found: Race, threads: int | None, *, shown: bool) -> None:
        """Play until the race is decided; leave with status 130 if interrupted on the way."""
        from analysis.sequential import looks
        from scripts.until import Pace, interrupted
        from sim.api import Sitting

        plan = {
            "format": 1,
            "contestants": [
                {
                    "name": name,
                    "runs": [
                        {"folder": self.folders[self._key(entry)], "measure": entry.measure}
                        for entry in contestant.entries
                    ],
                }
                for name, contestant in self.contestants.items()
            ],
        }
        write_document(self.parent, DOCUMENT, plan)
        seen = 0
        with contextlib.ExitStack() as stack:
            progress = stack.enter_context(Progress(voice, shown=shown, foretells=False))
            stop = stack.enter_context(stopping(progress))
            sittings = {key: stack.enter_context(Sitting(run)) for key, run in self.prepared.items()}
            pace = Pace(progress, self.most)
            for games in looks(self.most):
                for name in found.active:
                    for entry in self.contestants[name].entries:
                        with voice.about_compiling():
                            if not sittings[self._key(entry)].play_to(games, threads=threads, progress=pace, stop=stop):
                                interrupted(seen, self.parent)
                self._add(found, sittings, seen, games)
                seen = games
                pace.add(seen)
                for fall in found.look():
                    if shown:
                        voice.say(_fallen(fall, self.scoring.is_rate))
                if found.is_decided:
                    break
            self.n_games = sum(sitting.games for sitting in sittings.values())

    def _add(self, found: Race, sittings: Mapping[str, Sitting], seen: int, games: int) -> None:
        """Take in the scores of the games from `seen` to before `games`."""
        import numpy as np

        from analysis.pairs import aligned
        from scripts.deciding import Reading
        from scripts.until import side_of

        sides, columns, owners = [], [], []
        for name in found.active:
            for entry, own in zip(self.contestants[name].entries, self.scoring.columns(name), strict=True):
                parts = sittings[self._key(entry)].files(seen, games)
                sides.append(dataclasses.replace(side_of(entry.spec), read=Reading(parts, seen, games)))
                columns.append(own)
                owners.append(name)
        for _, batches in aligned(sides, columns):
            told = [
                self.scoring.scores(name, [b for b, owner in zip(batches, owners, strict=True) if owner == name])
                for name in found.active
            ]
            known = np.logical_and.reduce([there for _, there in told])
            found.add(np.stack([scores[known] for scores, _ in told]))


def _plain(name: str) -> str:
    """Return a name that a folder can have: ``bus_size=10+swap=true``."""
    plain = re.sub(r"[^\w.,=+-]+", "-", name.replace(" = ", "=").replace(", ", "+"))
    return plain if len(plain) <= 80 else f"{plain[:70]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _default_folder(contestants: Sequence[Contestant]) -> Path:
    """Return the folder of a race that is given none: the same one for the same contestants."""
    spec = contestants[0].entries[0].spec
    digests = "".join(entry.spec.digest() for contestant in contestants for entry in contestant.entries)
    digest = hashlib.sha256(digests.encode()).hexdigest()[:8]
    return Path("results") / f"{spec.game.name}-race-seed{spec.seed}-{digest}"


def _fallen(fall: Fall, is_rate: bool) -> str:
    from reports.race import difference_text

    return (
        f"{fall.name} falls after {fall.games:,} deals: {fall.by} is {difference_text(fall.difference, is_rate)} better"
    )


__all__ = ["race"]
