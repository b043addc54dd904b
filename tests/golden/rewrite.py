"""Writes the golden transcripts anew, each from the command on its first line: ``python tests/golden/rewrite.py``.

For after a change that is meant to change them; read the difference before it is kept.
"""

import shlex
from pathlib import Path

from click.testing import CliRunner

from scripts.cli import main

FOLDER = Path(__file__).parent
PROMPT = "$ fairdeal "


def transcript(command: str) -> str:
    """Return a command as typed and what it prints."""
    done = CliRunner().invoke(main, shlex.split(command.removeprefix(PROMPT)))
    assert done.exit_code == 0, done.stderr
    return f"{command}\n{done.stdout}"


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.txt")):
        path.write_text(transcript(path.read_text().splitlines()[0]))
