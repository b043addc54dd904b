from typing import Any
from sim.jit import compiled, inlined
@compiled
def plan_placement(state: Any, rules: Any, seat: int) -> int:
    return -1
@compiled
def plan_discard(state: Any, rules: Any, seat: int):
    return -1,0,0
