"""Options that several commands share, and the specification of a run that they add up to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from scripts.errors import WRONG, WrongCall, fail
from scripts.numbers import Count
from sim.game import MAX_EFFORT, MAX_SEED, Game, Spec
from sim.games import GAMES, get_game
from sim.rules import RuleError, Rules

_F = TypeVar("_F", bound=Callable[..., Any])

SLOTS = ("policy", "guess", "give")
MOST_THREADS = 1024


def examples(*commands: str) -> str:
    """Return the end of a command's help, line by line as it stands."""
    return "\b\n" + "\n".join(
        [f"Example{'s' if len(commands) > 1 else ''}:", *(f"  {command}" for command in commands)]
    )


class GameName(click.ParamType[Game]):
    """The name of a game."""

    name = "GAME"

    def convert(self, value: str | Game, param: click.Parameter | None, ctx: click.Context | None) -> Game:
        """Return the game; `RuleError` lists those there are."""
        return value if isinstance(value, Game) else get_game(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Offer the games."""
        return [CompletionItem(name) for name in GAMES if name.startswith(incomplete)]


class Folder(click.ParamType[Path]):
    """A folder, here or at an address such as ``s3://bucket/run``."""

    name = "DIR"

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return its path; `RefusedError` says what is wrong with an address."""
        if isinstance(value, str) and not value.strip():
            self.fail("it is empty", param, ctx)
        from sim.storage import place

        return place(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Have the shell offer folders."""
        return [CompletionItem(incomplete, type="dir")]


def _all(*options: Callable[[_F], _F]) -> Callable[[_F], _F]:
    def decorate(command: _F) -> _F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


game_argument = click.argument("game", type=GameName(), metavar="GAME")

rule_options = _all(
    click.option("--variant", metavar="NAME", help="A named rule set; single options go on top."),
    click.option(
        "--rules",
        "rule_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="A TOML rule file (see 'fairdeal rules GAME --toml').",
    ),
    click.option("--rule", "assignments", metavar="OPTION=VALUE", multiple=True, help="One option; may be repeated."),
)

policy_options = _all(
    click.option(
        "--effort",
        type=Count(1, MAX_EFFORT),
        metavar="N",
        help="How long the policy best thinks, 1 by default; kept with the results as the policy best:N.",
    ),
    click.option("--policy", metavar="NAME[,NAME…]", help="How to play: one policy for every seat, or one a seat."),
    click.option("--guess", metavar="NAME[,NAME…]", help="Bussikuski: how to answer, for every seat or one a seat."),
    click.option(
        "--give", metavar="NAME[,NAME…]", help="Bussikuski: to whom to give points, for every seat or one a seat."
    ),
)

seed_option = click.option(
    "--seed",
    type=Count(0, MAX_SEED),
    default=1,
    show_default=True,
    metavar="S",
    help="Names the shuffles: the same seed gives the same games.",
)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, on standard output."
)

quiet_options = _all(
    click.option("--quiet", is_flag=True, help="No messages and no progress; errors only."),
    click.option("--no-progress", is_flag=True, help="Messages, but no progress."),
)

keep_options = _all(
    click.option(
        "--keep",
        type=click.Choice(["rows", "summary"]),
        default="rows",
        show_default=True,
        help="What the results folder keeps: every game's row, or exact counts alone, which hardly grow with N.",
    ),
    click.option(
        "--joint",
        "joint",
        multiple=True,
        metavar="COLUMN,COLUMN…",
        help="With --keep summary: count these columns together too, so that 'ask' can join them in a condition.",
    ),
)

until_option = click.option(
    "--until",
    metavar="METRIC±H",
    help="Stop as soon as the anytime-valid interval of METRIC (a condition or a column) has the half-width H, as in "
    "'winner == 0 ± 0.1%' (or '+-'); N is then the most games.",
)

threads_option = click.option(
    "--threads",
    type=Count(1, MOST_THREADS),
    metavar="N",
    help="Threads; they never change a row. Default: the processors there are.",
)


def read_rules(game: Game, given: Mapping[str, Any]) -> Rules:
    """Return the rule set that `rule_options` give.

    Raises
    ------
    RuleError
        If it cannot be.
    """
    return game.rules.build(variant=given["variant"], file=given["rule_file"], assignments=given["assignments"])


def read_spec(game: Game, given: Mapping[str, Any]) -> Spec:
    """Return the specification that the options for rules, policies and the seed give.

    Raises
    ------
    RuleError
        If it cannot be.
    """
    return Spec.build(game, read_rules(game, given), _read_policies(game, given), given["seed"])


def _read_policies(game: Game, given: Mapping[str, Any]) -> dict[str, str | None]:
    """Return slot → policies, with the effort if one is given."""
    policies = {slot: given[slot] for slot in SLOTS}
    if given["effort"] is not None:
        thinking = [slot for slot in game.slots if slot.efforts]
        if not thinking:
            raise RuleError(f"--effort: no policy of {game.name} takes an effort")
        for slot in thinking:
            policies[slot.name] = slot.with_effort(policies[slot.name], given["effort"])
    return policies


def refuse_beside_from() -> None:
    """Refuse options that ``--from`` gives.

    Raises
    ------
    WrongCall
        If one of them was typed.
    """
    ctx = click.get_current_context()
    for name in ("seed", "variant", "rule_file", "assignments", "effort", *SLOTS):
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = {"rule_file": "rules", "assignments": "rule"}.get(name, name)
            raise WrongCall(f"--from gives rules, policies and the seed: --{option} cannot be given too")


def spec_from(game: Game, source: Path) -> Spec:
    """Return the specification of a results folder, which must be of this game; leave with a message if it is not."""
    from sim.provenance import rebuild_spec
    from sim.store import read_manifest

    spec = rebuild_spec(read_manifest(source).spec)
    if spec.game is not game:
        fail(WRONG, f"{source} holds {spec.game.name}, not {game.name}")
    return spec
