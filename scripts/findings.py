"""What a game says about a summary of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.game import Findings, Spec
from sim.provenance import rebuild_spec
from sim.rules import RuleError

if TYPE_CHECKING:
    from analysis.summary import Summary


def diagnose(found: Summary) -> tuple[Spec | None, list[str]]:
    """Return the run's specification, and what its game says about what was found; nothing for anybody's Parquet."""
    plain = found.run.document.get("spec")
    if not plain:
        return None, []
    try:
        spec = rebuild_spec(plain)
    except RuleError as error:
        return None, [f"This version of fairdeal does not know these rules ({error})."]
    lows = {name: number.mean.low for name, number in found.columns.items()}
    for name, number in found.columns.items():
        if number.names_a_seat:
            lows |= {f"{name}={seat:g}": share.low for seat, share in number.shares().items()}
    counts = {name: number.moments.counts for name, number in found.columns.items() if number.moments.counts}
    findings = Findings(found.games, found.means, found.ends, lows, counts)
    return spec, spec.game.diagnose(spec.rules, spec.policies, findings)
