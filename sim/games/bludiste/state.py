"""The columns of Bludiště."""

from __future__ import annotations

from sim.games.bludiste.rules import BludisteRules
from sim.outcome import Column


def columns(rules: BludisteRules) -> list[Column]:
    """Return the columns of a row under `rules`, in the kernel's order."""
    n = rules.n_stock
    return [
        Column("won", "1 if all foundations are full, else 0", high=1),
        Column("placed", "cards placed on foundations", high=n),
        Column("rows", "rows opened", high=rules.most_rows),
        Column("refilled", "cards put into gaps", high=n - 1),
    ]
