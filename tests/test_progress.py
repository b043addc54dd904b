"""Numbers as they are typed, and what a run says while it is under way."""

import sys
from collections.abc import Callable

import click
import pytest

from scripts.numbers import Count, parse_count
from scripts.progress import Progress, Voice, duration

# -- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1000000", 10**6),
        ("1_000_000", 10**6),
        ("1e6", 10**6),
        ("1E6", 10**6),
        ("1M", 10**6),
        ("1m", 10**6),
        ("250k", 250_000),
        ("250K", 250_000),
        ("2.5M", 2_500_000),
        ("1.5e3", 1500),
        ("1G", 10**9),
        (" 7 ", 7),
        ("0", 0),
        ("18446744073709551615", 2**64 - 1),
    ],
)
def test_numbers_in_every_form(text: str, number: int) -> None:
    assert parse_count(text) == number


@pytest.mark.parametrize(
    "text", ["", "k", "1x", "1e", "M1", "one", "1.5", "1e-3", "nan", "inf", "1e999999999", "1,000", "0x10"]
)
def test_texts_that_are_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse_count(text)


@pytest.mark.parametrize("text", ["2", "11", "-3"])
def test_bounds_of_a_number(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is out of range; allowed: 3 to 10"):
        Count(3, 10).convert(text, None, None)


# -- progress -----------------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that sets the time."""
    now = [100.0]
    monkeypatch.setattr("scripts.progress.time.monotonic", lambda: now[0])

    def set_to(seconds: float) -> None:
        now[0] = 100.0 + seconds

    return set_to


def test_progress_in_plain_lines(clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(Voice(quiet=False), shown=True) as progress:
        for tenth in range(400):
            clock(tenth / 10)
            progress(10 * tenth, 4000, 100.0)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "This takes about 40 seconds, at 100 games a second."
    assert lines[1] == " 13%  510 of 4,000 games, about 35 seconds to go"
    assert 4 <= len(lines) <= 8


@pytest.mark.parametrize(("quiet", "shown", "n_lines"), [(True, True, 0), (True, False, 0), (False, False, 1)])
def test_progress_is_not_shown(
    quiet: bool, shown: bool, n_lines: int, clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress(Voice(quiet), shown=shown) as progress:
        for second in range(40):
            clock(second)
            progress(100 * second, 4000, 100.0)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == n_lines


def test_progress_bar_on_a_terminal(
    clock: Callable[[float], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress(Voice(quiet=False), shown=True) as progress:
        for second in range(3):
            clock(second)
            progress(1000 * second, 4000, 100.0)
    shown = capsys.readouterr().err
    assert "2,000 of 4,000 games" in shown
    assert "\x1b[3" not in shown  # no colour


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "a second"), (40, "40 seconds"), (200, "3 minutes"), (9000, "2.5 hours")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
