"""Counter-based random streams: every number is a function of (seed, game, purpose).

A stream's block ``b`` of four 64-bit words is Philox4x64-10 [1]_ with key ``(seed, 0)`` and counter
``(b, game, purpose, 0)``. One purpose serves one shuffle or one seat's policy, so a policy that draws more never moves
a later shuffle, and two rule sets see the same cards for the same purpose (common random numbers).

Shuffles are lazy: cards of an order are decided as they are revealed, eight to a random word. A word ``x`` and the
bounds ``m1 … m8`` of eight Fisher-Yates steps give eight exactly uniform numbers by repeated 128-bit products, the
high half being the number and the low half the next ``x``; the batch is thrown away when the last low half is below
``2**64 mod (m1 … m8)`` [2]_. That takes 7 words for 52 cards where one 32-bit number a step takes 26.

Single numbers below ``m`` come from 32-bit halves of a word, low half first, by Lemire's method with rejection [3]_.
Integers only, so every platform agrees.

References
----------
.. [1] Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
.. [2] Brackett-Rozinsky, Lemire, "Batched ranged random integer generation", Software: Practice and Experience, 2024.
.. [3] Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sim.jit import compiled, inlined

SCHEME = "philox4x64-10/v1"

# Kinds of purposes; a purpose is (kind << 32) | number.
DEAL = 0
RESHUFFLE = 1
POLICY = 2
LATER_ORDER = 3

MAX_SEED = 2**64 - 1

DECK_SIZE = 52
DRAWS_PER_WORD = 8
N_BATCHES = 7  # 8 + 8 + 8 + 8 + 8 + 8 + 3 draws; the last card needs none


def _thresholds() -> tuple[int, ...]:
    """Return ``2**64 mod B`` for the product B of each batch's bounds."""
    bounds = [DECK_SIZE - draw for draw in range(DECK_SIZE - 1)]
    batches = [bounds[start : start + DRAWS_PER_WORD] for start in range(0, len(bounds), DRAWS_PER_WORD)]
    return tuple(2**64 % math.prod(batch) for batch in batches)


THRESHOLDS = np.array(_thresholds(), dtype=np.uint64)
_LEAST = tuple(np.uint64(threshold) for threshold in _thresholds())  # the same, as constants of compiled code

LOW_HALF = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)

# Packs of other sizes: eight draws a word while the bounds are at most 128 (so that a batch is thrown away less than
# once in 250 times), six while they are larger.
MOST_CARDS = 416  # eight decks
LARGE_BOUND = 128
LARGE_DRAWS_PER_WORD = 6


def _batch_size(bound: int) -> int:
    """Return how many draws the word takes whose first bound is `bound`; the last card of a pack needs none."""
    return min(DRAWS_PER_WORD if bound <= LARGE_BOUND else LARGE_DRAWS_PER_WORD, bound - 1)


THRESHOLD_FROM = np.array(
    [0, 0] + [2**64 % math.prod(bound - i for i in range(_batch_size(bound))) for bound in range(2, MOST_CARDS + 1)],
    dtype=np.uint64,
)

# One random stream: its name, its current block of words, and how much of the block is used up (in words by a shuffle,
# in half-words by single draws).
STREAM_DTYPE = np.dtype(
    [
        ("seed", np.uint64),
        ("game", np.uint64),
        ("purpose", np.uint64),
        ("block", np.uint64),
        ("words", np.uint64, (4,)),
        ("n_used", np.int64),
    ],
    align=True,
)

# A shuffled order of 52 cards: the first `n_revealed` are decided.
ORDER_DTYPE = np.dtype([("stream", STREAM_DTYPE), ("n_revealed", np.int64), ("cards", np.uint8, (56,))], align=True)


@intrinsic
def multiply_wide(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the high and the low 64 bits of the product of two uint64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = context.get_value_type(types.uint64).__class__(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        word = context.get_value_type(types.uint64)
        high = builder.trunc(builder.lshr(product, wide(64)), word)
        low = builder.trunc(product, word)
        return cgutils.pack_array(builder, [high, low])

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), generate


@intrinsic
def count_ones(typing_context: Any, word: Any) -> Any:
    """Return the number of set bits of a uint64 as int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def leading_zeros(typing_context: Any, word: Any) -> Any:
    """Return how many bits of a uint64 stand above the highest set bit, as int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def lowest_one(typing_context: Any, word: Any) -> Any:
    """Return the place (0–63) of the lowest set bit of a uint64 as int64; 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def either(typing_context: Any, condition: Any, a: Any, b: Any) -> Any:
    """Return the uint64 `a` if the boolean `condition` holds, else `b`: without a branch, for what none can foresee."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        chosen = builder.select(context.cast(builder, arguments[0], types.boolean, types.boolean), *arguments[1:])
        chosen.set_metadata("unpredictable", builder.module.add_metadata([]))
        return chosen

    return types.uint64(types.boolean, types.uint64, types.uint64), generate


@inlined
def highest_one(word: int) -> int:
    """Return the place (0–63) of the highest set bit of a uint64; -1 for zero."""
    return 63 - leading_zeros(word)


_MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
_WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
_WEYL_1 = np.uint64(0xBB67AE8584CAA73B)


@inlined
def philox(seed: Any, block: Any, game: Any, purpose: Any) -> tuple[Any, Any, Any, Any]:
    """Return one block of four uint64 words."""
    key_0, key_1 = np.uint64(seed), np.uint64(0)
    x0, x1, x2, x3 = np.uint64(block), np.uint64(game), np.uint64(purpose), np.uint64(0)
    for _ in range(10):
        high_0, low_0 = multiply_wide(_MULTIPLIER_0, x0)
        high_1, low_1 = multiply_wide(_MULTIPLIER_1, x2)
        x0, x1, x2, x3 = high_1 ^ x1 ^ key_0, low_1, high_0 ^ x3 ^ key_1, low_0
        key_0 += _WEYL_0
        key_1 += _WEYL_1
    return x0, x1, x2, x3


@compiled
def refill(stream: Any) -> None:
    """Put the stream's next block into its words."""
    w0, w1, w2, w3 = philox(stream.seed, stream.block, stream.game, stream.purpose)
    words = stream.words
    words[0] = w0
    words[1] = w1
    words[2] = w2
    words[3] = w3
    stream.block += np.uint64(1)
    stream.n_used = 0


@inlined
def purpose_of(kind: int, number: int) -> int:
    """Return the purpose of a kind and number."""
    return (np.uint64(kind) << np.uint64(32)) | np.uint64(number)


@inlined
def start_stream(stream: Any, seed: int, game: int, kind: int, number: int) -> None:
    """Begin the stream of (seed, game, purpose); no word is made yet."""
    stream.seed = seed
    stream.game = game
    stream.purpose = purpose_of(kind, number)
    stream.block = 0
    stream.n_used = 8


@compiled
def draw_below(stream: Any, bound: int) -> int:
    """Return a uniform number below `bound` (1 to 2**32 - 1) from the stream's next 32 bits."""
    m = np.uint64(bound)
    low_half = np.uint64(0xFFFFFFFF)
    while True:
        if stream.n_used >= 8:
            refill(stream)
        word = stream.words[np.uint64(stream.n_used >> 1)]
        x = (word >> np.uint64(32)) if stream.n_used & 1 else (word & low_half)
        stream.n_used += 1
        product = x * m
        rest = product & low_half
        if rest >= m or rest >= np.uint64(0x100000000) % m:
            return np.int64(product >> np.uint64(32))


@compiled
def start_order(order: Any, seed: int, game: int, kind: int, number: int) -> None:
    """Begin a freshly shuffled order of the 52 cards; its first 32 cards, one block of words, are decided at once."""
    stream = order.stream
    start_stream(stream, seed, game, kind, number)
    refill(stream)
    words = stream.words
    a = _eight(words[0], 52)
    b = _eight(words[1], 44)
    c = _eight(words[2], 36)
    d = _eight(words[3], 28)
    cards = order.cards
    for i in range(DECK_SIZE):
        cards[i] = i
    order.n_revealed = 0
    if (a[8] < THRESHOLDS[0]) | (b[8] < THRESHOLDS[1]) | (c[8] < THRESHOLDS[2]) | (d[8] < THRESHOLDS[3]):
        stream.n_used = 0
        return  # once in 500,000 orders: `reveal` takes it word by word
    _exchange_eight(cards, 0, a)
    _exchange_eight(cards, 8, b)
    _exchange_eight(cards, 16, c)
    _exchange_eight(cards, 24, d)
    order.n_revealed = 32
    stream.n_used = 4


@inlined
def _next_word(stream: Any) -> int:
    if stream.n_used >= 4:
        refill(stream)
    word = stream.words[np.uint64(stream.n_used)]
    stream.n_used += 1
    return word


@inlined
def _eight(word: int, bound: int) -> tuple[int, int, int, int, int, int, int, int, int]:
    """Return eight numbers below bound, bound - 1, … and the low half that decides whether they count."""
    m = np.uint64(bound)
    j0, x = multiply_wide(word, m)
    j1, x = multiply_wide(x, m - np.uint64(1))
    j2, x = multiply_wide(x, m - np.uint64(2))
    j3, x = multiply_wide(x, m - np.uint64(3))
    j4, x = multiply_wide(x, m - np.uint64(4))
    j5, x = multiply_wide(x, m - np.uint64(5))
    j6, x = multiply_wide(x, m - np.uint64(6))
    j7, x = multiply_wide(x, m - np.uint64(7))
    return j0, j1, j2, j3, j4, j5, j6, j7, x


@inlined
def draw_words(words: Any, lane: int, seed: int, game: int, kind: int, number: int) -> None:
    """Put the seven words that shuffle 52 cards into `words`, one a row, in the column `lane`."""
    purpose = purpose_of(kind, number)
    a, b, c, d = philox(seed, 0, game, purpose)
    e, f, g, _ = philox(seed, 1, game, purpose)
    words[0, lane], words[1, lane], words[2, lane], words[3, lane] = a, b, c, d
    words[4, lane], words[5, lane], words[6, lane] = e, f, g


@inlined
def _exchange_bits(bits: int, word: int, first: int, n_draws: int) -> tuple[int, int]:
    """Take Fisher-Yates steps on a set of places; return it, and the low half that decides whether they count.

    The word is kept in halves of 32 bits, for a vector's lanes have no product of 128.
    """
    high, low = word >> HALF, word & LOW_HALF
    for i in range(first, first + n_draws):
        bound = np.uint64(DECK_SIZE - i)
        product = low * bound
        upper = high * bound + (product >> HALF)
        high, low = upper & LOW_HALF, product & LOW_HALF
        here = np.uint64(i)
        there = here + (upper >> HALF)
        differ = ((bits >> here) ^ (bits >> there)) & np.uint64(1)
        bits ^= differ << here ^ differ << there
    return bits, high << HALF | low


@inlined
def shuffle_set(words: Any, lane: int, cards: int) -> tuple[int, int]:
    """Return where a set of cards lies in the order that `words` shuffle (bit i: card i of it), and whether that holds.

    It does but once in 500,000 orders, when a word has to be drawn again. Where the cards matter only by being in the
    set or not, this is `shuffle` without memory, so that the lanes of a vector can do it, a game each.
    """
    bits, a = _exchange_bits(cards, words[0, lane], 0, 8)
    bits, b = _exchange_bits(bits, words[1, lane], 8, 8)
    bits, c = _exchange_bits(bits, words[2, lane], 16, 8)
    bits, d = _exchange_bits(bits, words[3, lane], 24, 8)
    bits, e = _exchange_bits(bits, words[4, lane], 32, 8)
    bits, f = _exchange_bits(bits, words[5, lane], 40, 8)
    bits, g = _exchange_bits(bits, words[6, lane], 48, 3)
    holds = (
        (a >= _LEAST[0])
        & (b >= _LEAST[1])
        & (c >= _LEAST[2])
        & (d >= _LEAST[3])
        & (e >= _LEAST[4])
        & (f >= _LEAST[5])
        & (g >= _LEAST[6])
    )
    return bits, holds


@inlined
def _exchange(cards: Any, i: int, offset: int) -> None:
    j = i + offset
    card = cards[i]
    cards[i] = cards[j]
    cards[j] = card


@inlined
def _exchange_eight(cards: Any, first: int, offsets: Any) -> None:
    i = np.uint64(first)
    _exchange(cards, i, offsets[0])
    _exchange(cards, i + np.uint64(1), offsets[1])
    _exchange(cards, i + np.uint64(2), offsets[2])
    _exchange(cards, i + np.uint64(3), offsets[3])
    _exchange(cards, i + np.uint64(4), offsets[4])
    _exchange(cards, i + np.uint64(5), offsets[5])
    _exchange(cards, i + np.uint64(6), offsets[6])
    _exchange(cards, i + np.uint64(7), offsets[7])


@compiled
def reveal(order: Any) -> None:
    """Decide the next eight cards of `order` (the last batch decides four)."""
    first = order.n_revealed
    if first < 48:
        threshold = THRESHOLDS[np.uint64(first >> 3)]
        while True:
            drawn = _eight(_next_word(order.stream), DECK_SIZE - first)
            if drawn[8] >= threshold:
                break
        _exchange_eight(order.cards, first, drawn)
        order.n_revealed = first + DRAWS_PER_WORD
    else:
        while True:
            j0, x = multiply_wide(_next_word(order.stream), np.uint64(4))
            j1, x = multiply_wide(x, np.uint64(3))
            j2, x = multiply_wide(x, np.uint64(2))
            if x >= THRESHOLDS[6]:
                break
        _exchange(order.cards, np.uint64(48), j0)
        _exchange(order.cards, np.uint64(49), j1)
        _exchange(order.cards, np.uint64(50), j2)
        order.n_revealed = DECK_SIZE


@compiled
def reveal_rest(order: Any) -> None:
    """Decide the cards after the first 32, which take one more block of words."""
    stream = order.stream
    refill(stream)
    words = stream.words
    a = _eight(words[0], 20)
    b = _eight(words[1], 12)
    j0, x = multiply_wide(words[2], np.uint64(4))
    j1, x = multiply_wide(x, np.uint64(3))
    j2, x = multiply_wide(x, np.uint64(2))
    if (a[8] < THRESHOLDS[4]) | (b[8] < THRESHOLDS[5]) | (x < THRESHOLDS[6]):
        while order.n_revealed < DECK_SIZE:
            reveal(order)
        return
    cards = order.cards
    _exchange_eight(cards, 32, a)
    _exchange_eight(cards, 40, b)
    _exchange(cards, np.uint64(48), j0)
    _exchange(cards, np.uint64(49), j1)
    _exchange(cards, np.uint64(50), j2)
    stream.n_used = 3
    order.n_revealed = DECK_SIZE


@compiled
def reveal_to(order: Any, n_cards: int) -> None:
    """Decide at least the first `n_cards` cards of `order`."""
    if order.n_revealed == 32 and order.stream.n_used == 4 and n_cards > 32:
        reveal_rest(order)
    while order.n_revealed < n_cards:
        reveal(order)


@inlined
def known_card(order: Any, i: int) -> int:
    """Return card number `i` of `order`, which has been decided."""
    return np.int64(order.cards[np.uint64(i)])


@inlined
def card_at(order: Any, i: int) -> int:
    """Return card number `i` (0–51) of `order`, deciding up to it."""
    if order.n_revealed <= i:
        reveal_to(order, i + 1)
    return known_card(order, i)


@inlined
def _up_to_eight(word: int, bound: int) -> tuple[int, int, int, int, int, int, int, int, int]:
    """Return what `_eight` does, with zeros for the steps that a bound below 9 does not have."""
    j0, x = multiply_wide(word, np.uint64(max(bound, 1)))
    j1, x = multiply_wide(x, np.uint64(max(bound - 1, 1)))
    j2, x = multiply_wide(x, np.uint64(max(bound - 2, 1)))
    j3, x = multiply_wide(x, np.uint64(max(bound - 3, 1)))
    j4, x = multiply_wide(x, np.uint64(max(bound - 4, 1)))
    j5, x = multiply_wide(x, np.uint64(max(bound - 5, 1)))
    j6, x = multiply_wide(x, np.uint64(max(bound - 6, 1)))
    j7, x = multiply_wide(x, np.uint64(max(bound - 7, 1)))
    return j0, j1, j2, j3, j4, j5, j6, j7, x


@compiled
def _decide_six(stream: Any, cards: Any, n_decided: int, bound: int) -> None:
    """Decide six cards of a large pack."""
    threshold = THRESHOLD_FROM[np.uint64(bound)]
    m = np.uint64(bound)
    while True:
        j0, x = multiply_wide(_next_word(stream), m)
        j1, x = multiply_wide(x, m - np.uint64(1))
        j2, x = multiply_wide(x, m - np.uint64(2))
        j3, x = multiply_wide(x, m - np.uint64(3))
        j4, x = multiply_wide(x, m - np.uint64(4))
        j5, x = multiply_wide(x, m - np.uint64(5))
        if x >= threshold:
            break
    i = np.uint64(n_decided)
    _exchange(cards, i, j0)
    _exchange(cards, i + np.uint64(1), j1)
    _exchange(cards, i + np.uint64(2), j2)
    _exchange(cards, i + np.uint64(3), j3)
    _exchange(cards, i + np.uint64(4), j4)
    _exchange(cards, i + np.uint64(5), j5)


@compiled
def _decide_eight(stream: Any, cards: Any, n_decided: int, bound: int) -> None:
    """Decide the next eight cards, or all of fewer."""
    threshold = THRESHOLD_FROM[np.uint64(bound)]
    while True:
        drawn = _up_to_eight(_next_word(stream), bound)
        if drawn[8] >= threshold:
            break
    _exchange_eight(cards, n_decided, drawn)


@compiled
def _decide_block(stream: Any, cards: Any, n_decided: int, bound: int) -> bool:
    """Decide up to 32 cards by the four words of the next block; False, with the block unused, if one is refused.

    The four chains of products run side by side in the processor; word by word they wait for each other.
    """
    refill(stream)
    words = stream.words
    a = _up_to_eight(words[0], bound)
    b = _up_to_eight(words[1], bound - 8)
    limit = THRESHOLD_FROM
    if (a[8] < limit[np.uint64(bound)]) | (b[8] < limit[np.uint64(max(bound - 8, 0))]):
        return False
    if bound > 17:
        c = _up_to_eight(words[2], bound - 16)
        d = _up_to_eight(words[3], bound - 24)
        if (c[8] < limit[np.uint64(bound - 16)]) | (d[8] < limit[np.uint64(max(bound - 24, 0))]):
            return False
        _exchange_eight(cards, n_decided, a)
        _exchange_eight(cards, n_decided + 8, b)
        _exchange_eight(cards, n_decided + 16, c)
        if bound > 25:
            _exchange_eight(cards, n_decided + 24, d)
    else:
        _exchange_eight(cards, n_decided, a)
        if bound > 9:
            _exchange_eight(cards, n_decided + 8, b)
    stream.n_used = min(4, (bound + 6) >> 3)
    return True


@compiled
def decide_next(stream: Any, cards: Any, n_cards: int, n_decided: int) -> int:
    """Shuffle on: decide the next few of the first `n_cards` (at most 416) of `cards`; return how many are decided now.

    The words are the stream's next ones, so a whole shuffle is the same in any steps. `cards` must have room for eight
    more: the last steps exchange them with themselves.
    """
    bound = n_cards - n_decided
    if bound < 2:
        return n_cards
    if bound > LARGE_BOUND:
        _decide_six(stream, cards, n_decided, bound)
        return n_decided + LARGE_DRAWS_PER_WORD
    if stream.n_used >= 4 and _decide_block(stream, cards, n_decided, bound):
        return min(n_decided + 32, n_cards)
    _decide_eight(stream, cards, n_decided, bound)
    return min(n_decided + DRAWS_PER_WORD, n_cards)


@compiled
def decide_few(stream: Any, cards: Any, n_cards: int, n_decided: int) -> int:
    """Do as `decide_next`, but decide eight cards at most: for an order of which few cards are looked at."""
    bound = n_cards - n_decided
    if bound < 2:
        return n_cards
    if bound > LARGE_BOUND:
        _decide_six(stream, cards, n_decided, bound)
        return n_decided + LARGE_DRAWS_PER_WORD
    _decide_eight(stream, cards, n_decided, bound)
    return min(n_decided + DRAWS_PER_WORD, n_cards)


@compiled
def shuffle_cards(stream: Any, cards: Any, n_cards: int) -> None:
    """Shuffle the first `n_cards` of `cards` at once; see `decide_next`."""
    n_decided = 0
    while n_decided < n_cards:
        n_decided = decide_next(stream, cards, n_cards, n_decided)


@compiled
def shuffle(order: Any, seed: Any, game: Any, kind: int, number: int) -> None:
    """Shuffle all 52 cards at once."""
    start_order(order, seed, game, kind, number)
    reveal_to(order, DECK_SIZE)
