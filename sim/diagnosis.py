"""Sentences that every game's diagnosis uses: where a rule set is degenerate, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sim.rules import Rules


def percent(share: float) -> str:
    """Return a share (0–1) as percent."""
    return f"{100 * share:.1f} %"


def favoured_seats(shares: Iterable[tuple[float, float]]) -> Iterator[str]:
    """Name each seat that wins more than one and a half times its fair share, beyond what chance explains.

    Parameters
    ----------
    shares
        Seat by seat the share of wins (0–1) and its interval's lower end.
    """
    given = list(shares)
    fair = 1 / len(given)
    for seat, (share, low) in enumerate(given):
        if low > 1.5 * fair:
            times = f"{share / fair:.1f} times its fair share of {percent(fair)}"
            yield f"Seat {seat} wins {percent(share)} of the games, {times}."


def idle_options(rules: Rules, reasons: Mapping[str, str]) -> Iterator[str]:
    """Name each option that is set to something but cannot matter.

    Parameters
    ----------
    reasons
        Option → why it cannot.
    """
    for name, text in rules.changes().items():
        if name in reasons:
            yield f"{name} = {text} cannot matter: {reasons[name]}."
