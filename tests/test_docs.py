"""What users read: every command has help and stands in the README, and every command line there can be called."""

import itertools
import re
import shlex
from pathlib import Path

import click
import pytest

from scripts.cli import main

README = (Path(__file__).parent.parent / "README.md").read_text()
SHOWN = sorted(set(re.findall(r"`(fairdeal [^`\n]+)`", README)) | set(re.findall(r"^(fairdeal [^#\n]+)", README, re.M)))


@pytest.mark.parametrize("name", list(main.commands))
def test_every_command_has_help_examples_and_a_place_in_the_readme(name):
    command = main.load(name)
    assert command.help
    assert command.short_help
    assert f"fairdeal {name}" in README
    if command.epilog:
        assert f"fairdeal {name}" in command.epilog
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.help, parameter.opts


def examples():
    """Yield every command line that the help of a command or the README shows."""
    yield from SHOWN
    for command in map(main.load, list(main.commands)):
        for line in (command.epilog or "").splitlines():
            if line.strip().startswith("fairdeal "):
                yield line.strip()


@pytest.mark.parametrize("line", [line for line in examples() if "COMMAND" not in line])
def test_every_command_line_that_is_shown_can_be_called(line):
    _, name, *words = itertools.takewhile(lambda word: word not in {">", "|"}, shlex.split(line))
    main.load(name).make_context(name, words, parent=click.Context(main, info_name="fairdeal", **main.context_settings))


def test_the_readme_shows_commands():
    assert len(SHOWN) > 20
