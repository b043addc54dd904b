"""Four cards written at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def put_four(typing_context: Any, cards: Any, place: Any, four: Any) -> Any:
    """Write the four low bytes of `four` to the places of `cards` from `place` on, as the machine orders them.

    Parameters
    ----------
    cards : uint8, one-dimensional and contiguous
        At least four from `place` on; nothing checks that.
    place, four : uint64
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        word = builder.trunc(arguments[2], ir.IntType(32))
        at = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(32).as_pointer())
        builder.store(word, at, align=1)
        return context.get_dummy_value()

    return types.void(cards, types.uint64, types.uint64), generate
