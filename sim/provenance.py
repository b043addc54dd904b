"""Where rows come from: the versioned document that is written into every part and every run's manifest."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sim.game import Spec
from sim.games import get_game
from sim.outcome import Column

FORMAT = 1
"""Version of the document, of the parts and of the results folder."""


@cache
def software() -> dict[str, Any]:
    """Return name and version of the software and, in a checkout, the git commit and whether it was changed since."""
    try:
        version = importlib.metadata.version("fairdeal")
    except importlib.metadata.PackageNotFoundError:
        version = "unknown"
    root = Path(__file__).resolve().parent.parent
    commit = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    changes = _git(root, "status", "--porcelain", "--untracked-files=no") if commit else None
    return {
        "name": "fairdeal",
        "version": version,
        "commit": commit,
        "dirty": None if changes is None else bool(changes),
    }


def _git(root: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


@cache
def environment() -> dict[str, str]:
    """Return the versions of what computes the rows, and the machine's kind."""
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "numba", "pyarrow")}
    return {"python": platform.python_version(), **versions, "system": platform.system(), "machine": platform.machine()}


def column_notes(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return what every column means, as JSON has it."""
    return [
        {
            "name": column.name,
            "description": column.description,
            "dtype": "category" if column.categories else "text" if column.text else str(column.storage),
            "low": 0 if column.share or column.categories else column.low,
            "high": 1 if column.share else len(column.categories) - 1 if column.categories else column.high,
            "categories": list(column.categories),
            "share": column.share,
        }
        for column in columns
    ]


def rebuild_spec(plain: Mapping[str, Any]) -> Spec:
    """Return the specification that a results folder names.

    Raises
    ------
    RuleError
        If this version has no such game, rules or policies.
    """
    game = get_game(plain["game"])
    rules = game.rules.build(options=plain["rules"])
    return Spec.build(game, rules, plain["policies"], plain["seed"], keep_moves=bool(plain.get("keep_moves")))


def describe(spec: Spec, kernel_hash: str) -> dict[str, Any]:
    """Return the provenance of a run's rows: everything that decides them, and what they were computed with."""
    return {
        "format": FORMAT,
        "software": software(),
        "spec": spec.plain(),
        "kernel_hash": kernel_hash,
        "environment": environment(),
        "columns": column_notes(spec.columns),
    }
