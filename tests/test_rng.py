"""Random streams: known answers, numpy as the oracle, exact uniformity of the numbers, uniformity of the shuffle."""

import random

import numpy as np
import pytest
from scipy import stats

from sim import rng
from sim.game import RANDOM_SCHEME
from sim.jit import compiled
from tests.reference import streams


def numpy_words(seed, game, purpose, n):
    """Return n words of the stream; numpy steps its counter before the first block."""
    counter = (game << 64 | purpose << 128) - 1
    words = [counter >> 64 * i & 2**64 - 1 for i in range(4)]
    generator = np.random.Philox(key=np.array([seed, 0], np.uint64), counter=np.array(words, np.uint64))
    return [int(word) for word in generator.random_raw(n)]


def new_stream(seed, game, kind, number):
    stream = np.zeros(1, rng.STREAM_DTYPE)[0]
    rng.start_stream(stream, np.uint64(seed), np.uint64(game), kind, number)
    return stream


def new_order(seed, game, kind=rng.DEAL, number=0):
    order = np.zeros(1, rng.ORDER_DTYPE)[0]
    rng.shuffle(order, np.uint64(seed), np.uint64(game), kind, number)
    return order["cards"][:52].tolist()


def test_the_scheme_is_pinned():
    """These numbers may never change: a changed stream needs a new name of the scheme."""
    assert rng.SCHEME == RANDOM_SCHEME == "philox4x64-10/v1"
    assert [int(word) for word in rng.philox(np.uint64(7), np.uint64(0), np.uint64(5), np.uint64(3))] == [
        3633146606693543265,
        13161321250370945577,
        11887858755019980840,
        7176098965499367272,
    ]
    assert new_order(1, 0) == PINNED_ORDER
    stream = new_stream(1, 0, rng.POLICY, 0)
    assert [rng.draw_below(stream, 6) for _ in range(12)] == PINNED_DRAWS


# fmt: off
PINNED_ORDER = [
    41, 18, 5, 47, 46, 27, 7, 39, 36, 11, 49, 8, 1, 6, 10, 43, 48, 15, 21, 33, 30, 40, 35, 51, 29, 44, 9, 24, 19, 28,
    45, 23, 38, 34, 12, 0, 50, 2, 14, 26, 13, 17, 42, 20, 32, 4, 31, 37, 16, 3, 22, 25,
]
# fmt: on
PINNED_DRAWS = [0, 1, 1, 1, 2, 1, 2, 4, 1, 1, 5, 5]


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("game", [0, 1, 2**64 - 1])
@pytest.mark.parametrize("purpose", [0, 1, 2 << 32 | 17, 2**64 - 1])
def test_philox_is_numpys(seed, game, purpose):
    words = numpy_words(seed, game, purpose, 12)
    for block in range(3):
        made = rng.philox(np.uint64(seed), np.uint64(block), np.uint64(game), np.uint64(purpose))
        assert [int(word) for word in made] == words[4 * block : 4 * block + 4]


def test_single_numbers_are_the_references():
    rnd = random.Random(1)
    for _ in range(200):
        seed, game, number = rnd.randrange(2**64), rnd.randrange(2**64), rnd.randrange(32)
        stream = new_stream(seed, game, rng.POLICY, number)
        other = streams.PolicyStream(seed, game, number)
        bounds = [rnd.choice([1, 2, 3, 4, 7, 52, 2**31 + 1, 2**32 - 1]) for _ in range(40)]
        assert [rng.draw_below(stream, bound) for bound in bounds] == [other.bounded(bound) for bound in bounds]


def test_orders_are_the_references():
    rnd = random.Random(2)
    for _ in range(300):
        seed, game, kind, number = rnd.randrange(2**64), rnd.randrange(2**64), rnd.choice([0, 1, 3]), rnd.randrange(9)
        ours = new_order(seed, game, kind, number)
        theirs = streams.shuffled(seed, game, kind, number)
        assert [streams.CARDS[card] for card in ours] == theirs


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 9, 10, 13, 48, 52, 96, 104, 128, 129, 130, 134, 135, 208, 416])
def test_shuffles_of_other_packs_are_the_references(n):
    rnd = random.Random(n)
    pack = [f"{i}" for i in range(n)]
    for _ in range(30):
        seed, game, kind, number = rnd.randrange(2**64), rnd.randrange(2**64), rnd.choice([0, 1, 3]), rnd.randrange(9)
        cards = np.arange(n + 8, dtype=np.uint16)
        rng.shuffle_cards(new_stream(seed, game, kind, number), cards, n)
        assert cards[n:].tolist() == [n + i for i in range(8)]
        assert [pack[card] for card in cards[:n]] == streams.shuffled(seed, game, kind, number, pack)


def test_a_pack_of_52_is_shuffled_as_an_order():
    cards = np.arange(60, dtype=np.uint16)
    rng.shuffle_cards(new_stream(7, 3, rng.DEAL, 0), cards, 52)
    assert cards[:52].tolist() == new_order(7, 3)


def test_cards_decided_so_far_are_those_of_the_whole_shuffle():
    whole = np.arange(216, dtype=np.uint16)
    rng.shuffle_cards(new_stream(5, 9, rng.DEAL, 0), whole, 208)
    stream, cards, n_decided = new_stream(5, 9, rng.DEAL, 0), np.arange(216, dtype=np.uint16), 0
    while n_decided < 208:
        n_decided = rng.decide_next(stream, cards, 208, n_decided)
        assert cards[:n_decided].tolist() == whole[:n_decided].tolist()
    assert sorted(whole[:208]) == list(range(208))


@pytest.mark.parametrize("n_cards", [1, 2, 3, 9, 17, 52, 129, 208])
def test_an_order_decided_few_cards_at_a_time_is_the_same(n_cards):
    whole = np.arange(216, dtype=np.uint8)
    rng.shuffle_cards(new_stream(5, 9, rng.RESHUFFLE, 3), whole, n_cards)
    stream, cards, n_decided = new_stream(5, 9, rng.RESHUFFLE, 3), np.arange(216, dtype=np.uint8), 0
    while n_decided < n_cards:
        before, n_decided = n_decided, rng.decide_few(stream, cards, n_cards, n_decided)
        assert before < n_decided <= before + 8
        assert cards[:n_decided].tolist() == whole[:n_decided].tolist()


@compiled
def _either(condition, a, b):
    return rng.either(condition > 0, a, b)


def test_either_is_the_one_or_the_other():
    assert [_either(condition, np.uint64(5), np.uint64(2**64 - 1)) for condition in (1, 0)] == [5, 2**64 - 1]


@pytest.mark.parametrize("decided", [0, 32])
def test_an_order_whose_words_are_refused_together_is_finished_one_by_one(decided):
    """A block of words is tried as a whole; where it is refused, the cards come word by word, and are the same."""
    order = np.zeros(1, rng.ORDER_DTYPE)[0]
    rng.start_order(order, np.uint64(1), np.uint64(0), rng.DEAL, 0)
    whole = new_order(1, 0)
    if decided == 0:  # as after a refusal of the first block
        order["cards"][:52] = np.arange(52)
        order["n_revealed"] = 0
        order["stream"]["n_used"] = 0
    while order["n_revealed"] < 52:
        rng.reveal(order)
    assert order["cards"][:52].tolist() == whole


def test_revealing_is_the_same_in_any_steps():
    whole = new_order(5, 9)
    for step in (1, 7, 8, 33):
        order = np.zeros(1, rng.ORDER_DTYPE)[0]
        rng.start_order(order, np.uint64(5), np.uint64(9), rng.DEAL, 0)
        assert [rng.card_at(order, i) for i in range(0, 52, step)] == whole[::step]


def place_set(words, cards):
    table = np.array([words], np.uint64).T.copy()
    bits, holds = rng.shuffle_set(table, 0, np.uint64(cards))
    return int(bits), bool(holds)


def test_a_shuffled_set_lies_where_its_cards_lie():
    rnd = random.Random(3)
    words = np.zeros((7, 1), np.uint64)
    for _ in range(300):
        seed, game, kind, number = rnd.randrange(2**64), rnd.randrange(2**64), rnd.choice([0, 1, 3]), rnd.randrange(9)
        cards = rnd.randrange(2**52)
        rng.draw_words(words, 0, np.uint64(seed), np.uint64(game), kind, number)
        order = new_order(seed, game, kind, number)
        assert place_set(words[:, 0], cards) == (sum((cards >> card & 1) << i for i, card in enumerate(order)), True)


@pytest.mark.parametrize("refused", range(7))
def test_a_shuffled_set_does_not_hold_where_a_word_is_refused(refused):
    """The low half after a batch is the word times the product of its bounds: at the threshold the word counts."""
    bounds = list(range(52, 1, -1))[8 * refused : 8 * refused + 8]
    product = int(np.prod(bounds, dtype=object))
    threshold = 2**64 % product
    odd = product & -product  # the low half is a multiple of this
    least = -(-threshold // odd) * odd
    inverse = pow(product // odd, -1, 2**64 // odd)
    for low_half, holds in ((least - odd, False), (least, True)):
        words = [2**63 + 12345] * 7
        words[refused] = low_half // odd * inverse % (2**64 // odd)
        assert words[refused] * product % 2**64 == low_half
        assert place_set(words, 7)[1] == holds


def test_thresholds():
    bounds = list(range(52, 1, -1))
    for batch, threshold in enumerate(rng.THRESHOLDS):
        product = 1
        for bound in bounds[8 * batch : 8 * batch + 8]:
            product *= bound
        assert product < 2**64
        assert int(threshold) == 2**64 % product


def test_the_shuffle_is_uniform():
    """Goodness of fit at a fixed seed: each card in each place, pairs of neighbours, the order of the first three."""
    n = 200_000
    orders = np.empty((n, 52), np.uint8)
    fill_orders(orders)
    in_place = np.zeros((52, 52), np.int64)
    for place in range(52):
        in_place[place] = np.bincount(orders[:, place], minlength=52)
    # Each row and each column is a multinomial; the whole table has 51 * 51 degrees of freedom.
    statistic = ((in_place - n / 52) ** 2 / (n / 52)).sum()
    assert 1e-4 < stats.chi2.sf(statistic, 51 * 51) < 1 - 1e-4
    for place in (0, 7, 8, 31, 32, 47, 50):
        pairs = np.bincount(orders[:, place].astype(np.int64) * 52 + orders[:, place + 1], minlength=2704).reshape(
            52, 52
        )
        assert pairs.trace() == 0
        off = pairs[~np.eye(52, dtype=bool)]
        assert 1e-4 < stats.chisquare(off).pvalue < 1 - 1e-4
    first = np.argsort(orders[:, [0, 20, 51]], axis=1)
    patterns = np.unique(first, axis=0, return_counts=True)[1]
    assert len(patterns) == 6
    assert 1e-4 < stats.chisquare(patterns).pvalue < 1 - 1e-4


def fill_orders(orders):
    order = np.zeros(1, rng.ORDER_DTYPE)[0]
    for game in range(len(orders)):
        rng.shuffle(order, np.uint64(11), np.uint64(game), rng.DEAL, 0)
        orders[game] = order["cards"][:52]


def test_purposes_do_not_share_numbers():
    orders = {tuple(new_order(1, game, kind, number)) for game in range(20) for kind in range(4) for number in range(5)}
    assert len(orders) == 400


@pytest.mark.parametrize("bound", [2, 3, 6, 52])
def test_single_numbers_are_uniform(bound):
    stream = new_stream(3, 1, rng.POLICY, 4)
    counts = np.bincount([rng.draw_below(stream, bound) for _ in range(50_000)], minlength=bound)
    assert 1e-4 < stats.chisquare(counts).pvalue < 1 - 1e-4
