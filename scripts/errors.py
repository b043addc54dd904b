"""Every error is one line on standard error, with its exit status."""

from __future__ import annotations

import errno
import importlib
import io
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from sim.rules import listed, nearest

FAILED, WRONG, INTERRUPTED = 1, 2, 130  # the work failed; the call was wrong

COMMAND = "fairdeal"


class WrongCall(click.UsageError):
    """Options that do not go together, or one that names nothing; the message says it all."""


def complain(message: str) -> None:
    """Print an error as one line."""
    click.echo(f"{COMMAND}: {' '.join(message.split())}", err=True)


def say_usage(error: click.UsageError) -> str:
    """Return what is wrong with a command line, in our words."""
    if isinstance(error, WrongCall):
        return error.message
    command = error.ctx.command.name if error.ctx and error.ctx.parent else COMMAND
    parameter = error.param if isinstance(error, click.BadParameter) else None
    name = _name(parameter)
    if isinstance(error, click.NoSuchOption):
        known = [option for param in _parameters(error.ctx) for option in param.opts + param.secondary_opts]
        return f"{command} has no option {error.option_name}{nearest(error.option_name, known)}; {_help(error.ctx)}"
    if isinstance(error, click.exceptions.NoSuchCommand):
        known = _commands(error.ctx)
        hint = nearest(error.command_name, known)
        return f"'{error.command_name}' is not a command{hint}; the commands are {listed(known, 'and')}"
    if isinstance(error, click.MissingParameter):
        return f"{command} needs {name}; {_help(error.ctx)}"
    if isinstance(error, click.BadParameter) and isinstance(kind := getattr(parameter, "type", None), click.Choice):
        choices = [str(choice) for choice in kind.choices]
        word = error.message.split("'")[1] if "'" in error.message else ""
        return f"{name}: '{word}' is not allowed; choose {listed(choices)}{nearest(word, choices)}"
    if isinstance(error, click.BadParameter):
        return f"{name}: {error.message}" if parameter else error.message
    if isinstance(error, click.BadOptionUsage) and "requires" in error.message:
        return f"{error.option_name} needs a value; {_help(error.ctx)}"
    message = error.format_message().rstrip(".")
    return f"{command}: {message[:1].lower()}{message[1:]}; {_help(error.ctx)}" if error.ctx else message


def _commands(ctx: click.Context | None) -> list[str]:
    return ctx.command.list_commands(ctx) if ctx and isinstance(ctx.command, click.Group) else []


def _parameters(ctx: click.Context | None) -> Sequence[click.Parameter]:
    return ctx.command.get_params(ctx) if ctx else []


def _name(parameter: click.Parameter | None) -> str:
    """Return ``--games N`` for an option that takes a value, ``GAME`` for an argument."""
    if parameter is None:
        return ""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return (parameter.metavar or parameter.name or "").rstrip(".…")


def _help(ctx: click.Context | None) -> str:
    return f"see '{ctx.command_path if ctx else COMMAND} --help'"


def status_of(error: Exception) -> int | None:
    """Return the exit status of an error of the library; None if it is none of its own."""
    from sim.cluster import EngineError
    from sim.deals import DealError
    from sim.part import PartError
    from sim.replays import ReplayError
    from sim.rules import RuleError
    from sim.store import RefusedError, StoreError

    if isinstance(error, RuleError | DealError | RefusedError):
        return WRONG
    if isinstance(error, StoreError | PartError | ReplayError | EngineError):
        return FAILED
    # These load numpy: they are not asked for unless they are there.
    conditions = sys.modules.get("analysis.conditions")
    if conditions is not None and isinstance(error, conditions.ConditionError):
        return WRONG
    load = sys.modules.get("analysis.load")
    return FAILED if load is not None and isinstance(error, load.LoadError) else None


class Later(click.Command):
    """A command whose module is imported when it is called: ``--help`` lists them all and loads none.

    Parameters
    ----------
    place
        ``module:name`` of the command.
    short_help
        What stands in the list.
    """

    def __init__(self, place: str, short_help: str) -> None:
        super().__init__(place.partition(":")[2], short_help=short_help)
        self.place = place

    def load(self) -> click.Command:
        """Return the command itself."""
        module, _, name = self.place.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        command.short_help = self.short_help
        return command


class Commands(click.Group):
    """A group of commands whose errors are one line each, and that is silent when its reader goes away."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **rest: Any) -> Any:  # type: ignore[override]
        """Run the command line and exit."""
        typed = list(sys.argv[1:] if args is None else args)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is None:  # closed by the shell (>&-)
                setattr(sys, name, open(os.devnull, "w"))
            elif isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that cannot show ♠ still gets the rest
        try:
            status = super().main(typed, COMMAND, **{"obj": typed, **rest, "standalone_mode": False})
        except click.UsageError as error:
            complain(say_usage(error))
            status = WRONG
        except click.ClickException as error:
            complain(error.format_message())
            status = error.exit_code
        except click.Abort:
            status = INTERRUPTED
        except OSError as error:  # help or the version, on a full disk
            complain((error.strerror or str(error)).lower())
            _forget_stdout()
            status = FAILED
        sys.exit(status if isinstance(status, int) else 0)

    def add_later(self, place: str, short_help: str) -> None:
        """Add a command that is imported when it is called; see `Later`."""
        self.add_command(Later(place, short_help))

    def load(self, name: str) -> click.Command:
        """Return a command, imported if it was not yet."""
        command = self.commands[name]
        if isinstance(command, Later):
            self.commands[name] = command = command.load()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else self.load(name), rest

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are needed, not of the alphabet."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn what the library raises into one line."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            _forget_stdout()
            ctx.exit(0)
        except KeyboardInterrupt:
            complain("interrupted")
            ctx.exit(INTERRUPTED)
        except MemoryError:
            complain("there is not enough memory for this")
            ctx.exit(FAILED)
        except OSError as error:
            if error.errno == errno.EPIPE:
                _forget_stdout()
                ctx.exit(0)
            place = f"{error.filename}: " if error.filename else ""
            complain(f"{place}{(error.strerror or str(error)).lower()}")
            ctx.exit(FAILED)
        except ValueError as error:
            status = status_of(error)
            if status is None:
                raise  # a mistake of ours, not of the user's
            complain(str(error))
            ctx.exit(status)
        except Exception as error:
            from sim.storage import of_a_store

            said = of_a_store(error)
            if said is None:
                raise
            complain(said)
            ctx.exit(FAILED)


def _forget_stdout() -> None:
    """Let the interpreter's last flush go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def fail(status: int, message: str) -> NoReturn:
    """Print an error and leave."""
    complain(message)
    click.get_current_context().exit(status)


def command_line() -> str:
    """Return the command as it was typed."""
    return shlex.join([COMMAND, *click.get_current_context().find_root().obj])


__all__ = ["COMMAND", "FAILED", "INTERRUPTED", "WRONG", "Commands", "WrongCall", "command_line", "complain", "fail"]
