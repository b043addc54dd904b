"""Tables in, text, figures and pages out.

Names are imported when they are first used, because a command that needs none of them must start at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reports.build import report
    from reports.text import render

_HOME = {"render": "text", "report": "build"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'reports' has no attribute '{name}'")
    return getattr(importlib.import_module(f"reports.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)


__all__ = ["render", "report"]
