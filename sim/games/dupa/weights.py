"""The weights of the policy `careful`, as data."""

from __future__ import annotations

from typing import Any

from sim.games.dupa.rules import DupaRules


def fold_careful(rules: DupaRules) -> list[tuple[str, Any, Any]]:
    """Return the fields of the kernel's record that `careful` reads."""
    return []
