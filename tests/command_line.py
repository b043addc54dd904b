"""What the tests of the command line share: calling it, and what must be true of a refusal."""

import random

from click.testing import CliRunner, Result

from scripts.cli import main
from sim.cards import CARDS

DECKS = [" ".join(random.Random(seed).sample(CARDS, 52)) for seed in range(6)]


def call(*words: object, stdin: str | None = None) -> Result:
    """Run the command with these arguments."""
    return CliRunner().invoke(main, [str(word) for word in words], input=stdin)


def good(*words: object, stdin: str | None = None) -> str:
    """Run the command, which must succeed; return its standard output."""
    done = call(*words, stdin=stdin)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*words: object, status: int = 2, stdin: str | None = None) -> str:
    """Run the command, which must fail with one line; return the line without the command's name."""
    done = call(*words, stdin=stdin)
    assert done.exit_code == status, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("fairdeal: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("fairdeal: ").rstrip("\n")
