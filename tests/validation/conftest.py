"""The table of measured coverage that ``make validate`` prints at its end, and that the docs carry."""

from __future__ import annotations

import pytest

TABLE: list[tuple[str, str, str]] = []
HEADS = ("what", "promised", "measured")


@pytest.fixture
def record():
    """Return what notes a line of the table."""

    def note(what, promised, measured):
        TABLE.append((what, promised, f"{100 * measured:.2f} %"))
        print(f"{what}: {100 * measured:.2f} % (promised {promised})")

    return note


@pytest.fixture
def measured():
    """Return what tells the table so far, as Markdown."""
    return lines


def lines():
    """Return the table as Markdown."""
    rows = [HEADS, ("---", "---", "---"), *TABLE]
    return [f"| {' | '.join(row)} |" for row in rows]


def pytest_terminal_summary(terminalreporter):
    """Print the table."""
    if TABLE:
        terminalreporter.section("Measured coverage and errors")
        for line in lines():
            terminalreporter.write_line(line)
