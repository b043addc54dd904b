"""From rows to answers: tables in, tables out.

Nothing here knows the games: `analysis` reads results through their file format only, and anybody's Parquet as well.
Names are imported when they are first used, because a command that needs none of them must start at once. No module
has the name of a verb in it: importing the one would hide the other.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.comparison import Comparison, compare
    from analysis.conditions import ConditionError
    from analysis.deciding import Deciding, Decision
    from analysis.effects import Factorial, factorial
    from analysis.elimination import Race
    from analysis.intervals import Interval, clopper_pearson, mean, rate, wilson
    from analysis.kept import Kept, open_kept
    from analysis.load import LoadError, Rows, open_rows
    from analysis.odds import Odds, ask
    from analysis.order_statistics import quantiles
    from analysis.quality import Quality, assess
    from analysis.sequential import Target, Watch, mean_sequence, rate_sequence
    from analysis.sizes import for_half_width, pilot, to_tell_apart
    from analysis.summary import Counts, Summary, summarise

_HOME = {
    "for_half_width": "sizes",
    "pilot": "sizes",
    "to_tell_apart": "sizes",
    "ConditionError": "conditions",
    "Deciding": "deciding",
    "Decision": "deciding",
    "Race": "elimination",
    "Kept": "kept",
    "open_kept": "kept",
    "Quality": "quality",
    "assess": "quality",
    "quantiles": "order_statistics",
    "Target": "sequential",
    "Watch": "sequential",
    "mean_sequence": "sequential",
    "rate_sequence": "sequential",
    "Odds": "odds",
    "ask": "odds",
    "Factorial": "effects",
    "factorial": "effects",
    "Comparison": "comparison",
    "compare": "comparison",
    "Interval": "intervals",
    "clopper_pearson": "intervals",
    "mean": "intervals",
    "rate": "intervals",
    "wilson": "intervals",
    "LoadError": "load",
    "Rows": "load",
    "open_rows": "load",
    "Counts": "summary",
    "Summary": "summary",
    "summarise": "summary",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'analysis' has no attribute '{name}'")
    return getattr(importlib.import_module(f"analysis.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)


__all__ = [
    "Comparison",
    "ConditionError",
    "Counts",
    "Deciding",
    "Decision",
    "Factorial",
    "Interval",
    "Kept",
    "LoadError",
    "Odds",
    "Quality",
    "Race",
    "Rows",
    "Summary",
    "Target",
    "Watch",
    "ask",
    "assess",
    "clopper_pearson",
    "compare",
    "factorial",
    "for_half_width",
    "mean",
    "mean_sequence",
    "open_kept",
    "open_rows",
    "pilot",
    "quantiles",
    "rate",
    "rate_sequence",
    "summarise",
    "to_tell_apart",
    "wilson",
]
