"""A plan as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.table import WIDTH, wrapped


def render_plan(told: Mapping[str, Any], width: int = WIDTH) -> str:
    """Return a plan as text, from what ``--json`` prints, without a line feed at its end."""
    is_rate = told["is_rate"]
    pilots = " and ".join(
        f"{_amount(entry['mean'], is_rate)} ({_amount(entry['low'], is_rate)} – {_amount(entry['high'], is_rate)})"
        for entry in told["pilot"]
    )
    lines = wrapped(f"{told['what']}: {pilots} in the pilot of {told['pilot'][0]['n']:,} games", width)
    if "half_width" in told:
        plan = told["half_width"]
        more = f", {plan['at_most']:,} if the pilot is off" if plan["at_most"] > plan["games"] else ""
        lines += ["", f"For ± {_amount(plan['wanted'], is_rate)} (95 %): {plan['games']:,} games{more}"]
    if "difference" in told:
        plan = told["difference"]
        lines += [
            "",
            f"To tell a difference of {_amount(plan['wanted'], is_rate)} from none (95 %), in {_chance(plan)}:",
        ]
        lines += [f"  {plan['unpaired']:>15,} games of each variant, on deals of its own"]
        if "paired" in plan:
            r = "" if plan["correlation"] is None else f" (correlation {plan['correlation']:.2f})"
            lines += [f"  {plan['paired']:>15,} games of each variant, on the same deals{r}"]
    return "\n".join(lines)


def _chance(plan: Mapping[str, Any]) -> str:
    return f"{100 * plan['power']:.3g} of 100 cases"


def _amount(value: float, is_rate: bool) -> str:
    return f"{100 * value:.4g} %" if is_rate else f"{value:.4g}"


__all__ = ["render_plan"]
