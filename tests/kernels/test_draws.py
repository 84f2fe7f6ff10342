"""The compiled loops give what their twins in plain numpy give, on random and on crafted input."""

import numpy as np
import pytest

from sfumato.kernels import draws as plain
from sfumato.kernels.draws import PREFIX_BITS, UNSETTLED, Grid

pytest.importorskip("numba")
from sfumato.kernels import draws_compiled as compiled

TWINS = (plain, compiled)


def both(call):
    """What `call` returns with either twin."""
    return [call(twin) for twin in TWINS]


def grid(edges, cell_bits):
    """The edges, and how many are at or below the start of each cell, counted one by one."""
    shift = PREFIX_BITS - cell_bits
    first = [sum(edge <= cell << shift for edge in edges.tolist()) for cell in range(1 << cell_bits)]
    return Grid(edges, np.array([*first, len(edges)], dtype=np.int32), shift)


@pytest.mark.parametrize("width", [np.uint8, np.uint16])
def test_leads_are_looked_up_alike(width):
    rng = np.random.default_rng(1)
    numbers = rng.integers(-100, 100, np.iinfo(width).max + 1).astype(np.int32)
    numbers[rng.random(len(numbers)) < 0.2] = UNSETTLED
    leads = rng.integers(0, len(numbers), 10_000).astype(width)

    def call(twin):
        found, places = np.empty(len(leads), dtype=np.int64), np.empty(len(leads), dtype=np.int32)
        count = twin.look_up(leads, numbers, found, places)
        return found, places[:count]

    (found, places), (found_too, places_too) = both(call)
    assert np.array_equal(found, numbers[leads])
    assert np.array_equal(found, found_too)
    assert np.array_equal(places, places_too)
    assert places.tolist() == [i for i, lead in enumerate(leads.tolist()) if numbers[lead] == UNSETTLED]


@pytest.mark.parametrize("cell_bits", [1, 4, 8])
def test_prefixes_are_searched_alike_on_every_edge_and_beside_it(cell_bits):
    rng = np.random.default_rng(2)
    edges = np.unique(rng.integers(0, 2**63 - 1, 60) >> rng.integers(0, 50, 60))[-40:]
    prefixes = np.concatenate([edges + step for step in (-1, 0, 1)] + [rng.integers(0, 2**63 - 1, 1000)])
    prefixes = np.append(np.clip(prefixes, 0, None), [0, 2**63 - 1])
    (counts, unsure), (counts_too, unsure_too) = both(lambda twin: twin.search(prefixes, grid(edges, cell_bits)))
    below = [sum(edge <= prefix for edge in edges.tolist()) for prefix in prefixes.tolist()]
    assert counts.tolist() == counts_too.tolist() == [(len(edges) - one) // 2 for one in below]
    assert unsure.tolist() == unsure_too.tolist() == [i for i, one in enumerate(below) if one % 2 or not one]


@pytest.mark.parametrize(("width", "cell_bits", "sign_bits"), [(np.uint8, 7, 1), (np.uint8, 8, 0), (np.uint16, 15, 1)])
def test_prefixes_are_the_cell_and_then_the_word(width, cell_bits, sign_bits):
    rng = np.random.default_rng(3)
    leads = rng.integers(0, np.iinfo(width).max, 500, endpoint=True).astype(width)
    places = np.flatnonzero(rng.random(500) < 0.3).astype(np.int32)
    words = rng.integers(0, 2**64 - 1, len(places), dtype=np.uint64, endpoint=True)
    one, other = both(lambda twin: twin.extend(leads, places, words, cell_bits, sign_bits))
    by_hand = [
        int(f"{int(leads[place]) >> sign_bits:0{cell_bits}b}{word:064b}"[:PREFIX_BITS], 2)
        for place, word in zip(places, words.tolist(), strict=True)
    ]
    assert one.tolist() == other.tolist() == by_hand


@pytest.mark.parametrize("sign_bits", [0, 1])
def test_counts_are_put_in_their_places_with_their_sign(sign_bits):
    leads, places = np.arange(256).astype(np.uint8), np.array([3, 8, 255], dtype=np.int32)

    def call(twin):
        found = np.zeros(256, dtype=np.int64)
        twin.put(np.array([5, 6, 0]), leads, places, sign_bits, found)
        return found

    one, other = both(call)
    assert np.array_equal(one, other)
    assert one[places].tolist() == ([-5, 6, 0] if sign_bits else [5, 6, 0])
    assert np.count_nonzero(one) == 2


def test_digits_are_joined_alike():
    rng = np.random.default_rng(4)
    highest, low = rng.integers(0, 2**20, 1000), rng.integers(0, 2**30, 1000)

    def call(twin):
        joined = highest.copy()
        twin.join(joined, low, 30)
        return joined.tolist()

    one, other = both(call)
    parts = zip(highest.tolist(), low.tolist(), strict=True)
    assert one == other == [g if not h % 2 else -1 - g for h, g in ((h, h // 2 * 2**30 + d) for h, d in parts)]
