"""Plays card games, millions at a time; knows nothing of tables, plots, or the command line.

Nothing heavy is imported before it is used: ``import sim`` loads neither numpy nor numba nor pyarrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.api import Prepared, Results, prepare, run
    from sim.cluster import DaskEngine, EngineError
    from sim.game import Game, Spec
    from sim.games import GAMES, get_game
    from sim.quantities import Exact, exact
    from sim.replays import Replay, replay, replay_deals
    from sim.rules import RuleError
    from sim.solvability import solve
    from sim.store import RefusedError, StoreError, check, default_folder, iter_parts, read_manifest

_HOMES = {
    "DaskEngine": "sim.cluster",
    "EngineError": "sim.cluster",
    "GAMES": "sim.games",
    "Exact": "sim.quantities",
    "Game": "sim.game",
    "Prepared": "sim.api",
    "RefusedError": "sim.store",
    "Replay": "sim.replays",
    "Results": "sim.api",
    "RuleError": "sim.rules",
    "Spec": "sim.game",
    "StoreError": "sim.store",
    "check": "sim.store",
    "default_folder": "sim.store",
    "exact": "sim.quantities",
    "get_game": "sim.games",
    "iter_parts": "sim.store",
    "prepare": "sim.api",
    "read_manifest": "sim.store",
    "replay": "sim.replays",
    "replay_deals": "sim.replays",
    "run": "sim.api",
    "solve": "sim.solvability",
}

__all__ = [
    "GAMES",
    "DaskEngine",
    "EngineError",
    "Exact",
    "Game",
    "Prepared",
    "RefusedError",
    "Replay",
    "Results",
    "RuleError",
    "Spec",
    "StoreError",
    "check",
    "default_folder",
    "exact",
    "get_game",
    "iter_parts",
    "prepare",
    "read_manifest",
    "replay",
    "replay_deals",
    "run",
    "solve",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sim' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
