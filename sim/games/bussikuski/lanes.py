"""Gifts of many games side by side.

Giving to the leader goes point by point, each point depending on the one before, and whether anybody gives at a turned
card is a coin toss that a processor cannot foresee: game by game this took a third of the playing time. In the lanes of
a vector, a game each, the same steps need neither branches nor waiting. `policies.give` is the same rule for one game;
the tests hold them equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sim.games.bussikuski.rules import MAX_PLAYERS
from sim.rng import N_BATCHES

N_LANES = 32

# What is known of the games played side by side: penalty points by seat, the cards played at each place (eight counters
# in the bytes of a word, one a seat), and the ride.
TABLE_DTYPE = np.dtype(
    [
        ("points", np.uint16, (MAX_PLAYERS, N_LANES)),
        ("played", np.uint64, (21, N_LANES)),
        ("words", np.uint64, (N_BATCHES, N_LANES)),  # they shuffle the bus deck
        ("holds", np.uint64, (N_LANES,)),  # 0 where one of the words has to be drawn again
        ("blocked", np.uint64, (N_LANES,)),  # bit i: the next card but i of the bus deck is a blocker
        ("bus_end", np.uint64, (N_LANES,)),
        ("bus_attempts", np.uint64, (N_LANES,)),
        ("bus_penalty", np.uint64, (N_LANES,)),
        ("bus_turned", np.uint64, (N_LANES,)),
    ],
    align=True,
)

_LANE = ir.IntType(16)
_LANES = ir.VectorType(_LANE, N_LANES)
_WORDS = ir.VectorType(ir.IntType(64), N_LANES)


def _every(builder: Any, value: Any, kind: Any) -> Any:
    """Return a vector of type `kind` with `value` in every lane."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), N_LANES), [0] * N_LANES)
    return builder.shuffle_vector(first, undefined, zeros)


def _least(builder: Any, keys: list[Any]) -> Any:
    """Return the least key of each lane."""
    while len(keys) > 1:
        pairs = zip(keys[::2], keys[1::2], strict=True)
        keys = [builder.select(builder.icmp_unsigned("<", a, b), a, b) for a, b in pairs]
    return keys[0]


def _hand_out(builder: Any, n_seats: int, points: Any, order: Any, gifts: Any) -> None:
    """Write the loop over the points of one giver's gifts, for the first `n_seats` seats.

    A seat's key is 8 times its points plus its place in the giver's order (0–7), or all ones where it gets nothing, so
    that the least key is the next recipient.
    """
    eight = ir.Constant(_LANES, [3] * N_LANES)
    starts, keys = [], []
    for seat in range(n_seats):
        at = ir.Constant(ir.IntType(64), seat)
        own = builder.load(builder.gep(points, [at]), align=2)
        start = builder.or_(builder.shl(own, eight), _every(builder, builder.load(builder.gep(order, [at])), _LANES))
        starts.append(start)
        keys.append(cgutils.alloca_once_value(builder, start))
    kind = ir.FunctionType(_LANE, [_LANES])
    greatest = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.umax.v{N_LANES}i16")
    most = builder.call(greatest, [gifts])
    with cgutils.for_range(builder, builder.zext(most, ir.IntType(64))) as loop:
        given = _every(builder, builder.trunc(loop.index, _LANE), _LANES)
        is_due = builder.icmp_unsigned(">", gifts, given)
        now = [builder.load(key) for key in keys]
        least = _least(builder, now)
        for key, value in zip(keys, now, strict=True):
            gets = builder.and_(builder.icmp_unsigned("==", value, least), is_due)
            builder.store(builder.add(value, builder.shl(builder.zext(gets, _LANES), eight)), key)
    for seat in range(n_seats):
        place = builder.gep(points, [ir.Constant(ir.IntType(64), seat)])
        raised = builder.lshr(builder.sub(builder.load(keys[seat]), starts[seat]), eight)
        builder.store(builder.add(builder.load(place, align=2), raised), place, align=2)


@intrinsic
def give_side_by_side(
    typing_context: Any, points: Any, played: Any, giver: Any, value: Any, order: Any, n_players: Any
) -> Any:
    """Let the `giver` give `value` points for each card it has `played`, each to the leader, in every lane.

    Parameters
    ----------
    points : uint16, shape (8, 32)
        Penalty points by seat and lane; changed.
    played : uint64, shape (32,)
        Cards played at the place: the giver's are in byte number `giver`.
    giver : int64
        The seat that gives.
    value : int64
        The row's value.
    order : uint16, shape (8,)
        Among equals the seat with the lowest number comes first; 0xFFFF for seats that get nothing.
    n_players : int64
        Seats at the table.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def data(i: int, kind: Any) -> Any:
            array = context.make_array(signature.args[i])(context, builder, arguments[i])
            return builder.bitcast(array.data, kind.as_pointer())

        byte = builder.shl(arguments[2], ir.Constant(ir.IntType(64), 3))
        words = builder.lshr(builder.load(data(1, _WORDS), align=8), _every(builder, byte, _WORDS))
        cards = builder.and_(builder.trunc(words, _LANES), ir.Constant(_LANES, [0xFF] * N_LANES))
        gifts = builder.mul(cards, _every(builder, builder.trunc(arguments[3], _LANE), _LANES))
        few = builder.icmp_signed("<=", arguments[5], ir.Constant(ir.IntType(64), 4))
        with builder.if_else(few) as (then, otherwise):
            with then:
                _hand_out(builder, 4, data(0, _LANES), data(4, _LANE), gifts)
            with otherwise:
                _hand_out(builder, MAX_PLAYERS, data(0, _LANES), data(4, _LANE), gifts)
        return context.get_dummy_value()

    return types.void(points, played, types.int64, types.int64, order, types.int64), generate
