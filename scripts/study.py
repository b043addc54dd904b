"""The command ``fairdeal study``: several runs and comparisons from one file."""

from __future__ import annotations

import dataclasses
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from scripts.errors import COMMAND, WRONG, Commands, fail, say_usage
from scripts.options import examples, quiet_options, read_spec
from sim.rules import RuleError, listed, nearest

KINDS = ("run", "compare", "solve", "race")
"""Commands that a study may hold, each as an array of tables of its name."""

SHARED = ("seed", "games", "threads")
"""Options that may stand above the tables, for all that have none of their own."""

EXAMPLE = """\
title = "Is it fair to begin?"
games = "200k"               # of each, unless it says otherwise

[[run]]
game = "autobus"
name = "table"               # its folder, within that of the study
variant = "table"

[[compare]]
game = "dupa"
name = "readings"
games = 100_000
rule = { max_turns = 500 }
vary = { match = ["rank_or_suit", "suit"], several_dupas = [true, false] }
margin = "0.5%"
"""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One run or comparison of a study.

    Attributes
    ----------
    where
        Its place in the file, for messages.
    words
        The command line that it stands for, without the command's own name.
    """

    where: str
    words: tuple[str, ...]

    @property
    def line(self) -> str:
        """Return the command as one would type it."""
        return shlex.join([COMMAND, *self.words])


@click.command(
    epilog=examples(
        "fairdeal study --example > mine.toml", "fairdeal study mine.toml", "fairdeal study mine.toml --dry"
    ),
)
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="FILE.toml")
@click.option("--example", is_flag=True, help="Print a study file to edit.")
@click.option("--dry", is_flag=True, help="Only print the commands that it stands for.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder of its results folders; without it results/ and the file's name.",
)
@quiet_options
@click.pass_context
def study(
    ctx: click.Context, file: Path | None, example: bool, dry: bool, out: Path | None, quiet: bool, no_progress: bool
) -> None:
    """Do what a study file says and is not done yet; nothing is played twice.

    Each table [[run]] or [[compare]] of the file is that command; its entries are the command's options. The whole file
    is checked before anything is played.
    """
    if example:
        click.echo(EXAMPLE, nl=False)
        return
    if file is None:
        raise click.MissingParameter(ctx=ctx, param=study.params[0])
    entries = read_study(file, out or Path("results") / file.stem)
    manner = [*(["--quiet"] if quiet else []), *(["--no-progress"] if no_progress else [])]
    calls = [_prepare(ctx.find_root(), entry, manner, file) for entry in entries]
    for number, (entry, call) in enumerate(zip(entries, calls, strict=True)):
        if dry:
            click.echo(entry.line)
            continue
        click.echo(("\n\n" if number else "") + f"{entry.where}: {entry.line}\n")
        with call:
            call.command.invoke(call)


def _prepare(root: click.Context, entry: Entry, manner: Sequence[str], file: Path) -> click.Context:
    """Return a call of the entry's command, checked as far as it can be before anything is played."""
    from scripts.variants import build_variants, read_factors

    name, *words = entry.words
    assert isinstance(root.command, Commands)
    command = root.command.load(name)
    try:
        call = command.make_context(name, [*words, *manner], parent=root)
        game = call.params["game"]
        if call.params.get("varied"):
            build_variants(game, read_factors(game, call.params["varied"]), call.params)
        else:
            read_spec(game, call.params)
    except click.UsageError as error:
        fail(WRONG, f"{file}: {entry.where}: {say_usage(error)}")
    except RuleError as error:
        fail(WRONG, f"{file}: {entry.where}: {error}")
    return call


def read_study(file: Path, out: Path) -> list[Entry]:
    """Return what a study file holds, in its order.

    Raises
    ------
    RuleError
        If it is no study file.
    """
    try:
        document = tomllib.loads(file.read_text())
    except FileNotFoundError:
        raise RuleError(f"there is no file {file}") from None
    except OSError as error:
        raise RuleError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RuleError(f"{file} is not TOML: {error}") from None
    shared = {}
    for key, value in document.items():
        if key in SHARED:
            shared[key] = value
        elif key not in KINDS and key != "title":
            known = [*KINDS, *SHARED, "title"]
            raise RuleError(f"{file}: '{key}' is not known there; it takes {listed(known, 'and')}{nearest(key, known)}")
    entries, names = [], set()
    for kind in KINDS:
        tables = document.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise RuleError(f"{file}: {kind} has to be tables: [[{kind}]]")
        for number, table in enumerate(tables, start=1):
            where = f"[[{kind}]] {number}" + (f" ({table['name']})" if "name" in table else "")
            name = str(table.get("name", f"{kind}-{number}"))
            if Path(name).name != name or name.startswith("."):
                raise RuleError(f"{file}: {where}: name = '{name}' is no name of a folder")
            if name in names:
                raise RuleError(f"{file}: {where}: another entry has the name '{name}', too")
            names.add(name)
            entries.append(Entry(where, tuple(_words(kind, {**shared, **table}, out / name, f"{file}: {where}"))))
    if not entries:
        raise RuleError(f"{file} holds nothing to do: it needs tables {listed([f'[[{kind}]]' for kind in KINDS])}")
    return entries


def _words(kind: str, table: Mapping[str, Any], out: Path, where: str) -> Iterator[str]:
    """Yield the command line of a table."""
    if "game" not in table:
        raise RuleError(f"{where}: game is missing")
    yield from (kind, str(table["game"]))
    for key, value in table.items():
        if key in ("game", "name"):
            continue
        option = f"--{key.replace('_', '-')}"
        if isinstance(value, dict):
            for name, given in value.items():
                yield from (option, f"{name}={_text(given)}")
        elif value is True:
            yield option
        elif value is not False:
            yield from (option, _text(value))
    if "out" not in table:
        yield from ("--out", str(out))


def _text(value: Any) -> str:
    """Return a value as it is typed; several ones with commas, or semicolons if one holds a comma."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, Sequence) or isinstance(value, str):
        return str(value)
    words = [_text(one) for one in value]
    return (";" if any("," in word for word in words) else ",").join(words)
