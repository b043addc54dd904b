"""The policy `careful`."""

from __future__ import annotations

from typing import Any

from sim.jit import compiled


@compiled
def choose_careful(state: Any, rules: Any, decks: Any, seat: int) -> bool:
    """Placeholder while the rest is built."""
    return False


@compiled
def keeps_drawn(state: Any, rules: Any, decks: Any, seat: int, is_plain: bool, is_dupa: bool) -> bool:
    """Placeholder while the rest is built."""
    return False
