"""The loops of `kernels.scatter`, compiled: one pass each, with no array in between; and those that sort into buckets.

Plain numpy takes longer to sort keys than to wait for the memory, so that these have no twin there.

Places are taken without a sign, as a place that could be negative is looked at twice.
"""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# ruff: noqa: ANN001, ANN201 - numba finds the types

import numpy as np

from sfumato.kernels.kept import njit

BUCKET = 2**16
"""The neighbouring cells that are counted together: 512 KB of counts, which a core's own cache holds."""
BITS, ONE = np.uint64(16), np.uint64(1)  # a bucket has 2^16 cells
DIGIT = 8  # bits that are sorted by at a time; more would write to more places than a core keeps addresses of


@njit(cache=True)
def look(values, low, table, lacking, out):
    length, sound = len(table), True
    for i in range(len(values)):
        place = np.int64(values[i]) - low
        if place < 0 or place >= length:
            return False
        found = table[place]
        sound &= found != lacking
        out[i] = found
    return sound


@njit(cache=True)
def shift(values, low, high, by, out):
    # Two loops without a branch, as these are done many values at a time.
    sound = True
    for i in range(len(values)):
        sound &= (values[i] >= low) & (values[i] <= high)
    if sound:
        for i in range(len(values)):
            out[i] = values[i] + by
    return sound


@njit(cache=True)
def extend(keys, length, codes):
    for i in range(len(keys)):
        keys[i] = keys[i] * length + codes[i]


@njit(cache=True)
def count(cells, keys):
    for key in keys:
        cells[np.uint64(key)] += 1


@njit(cache=True)
def total(cells, keys, values):
    for i in range(len(keys)):
        cells[np.uint64(keys[i])] += values[i]


@njit(cache=True)
def part(keys, ends, low):
    """Put the low 16 bits of every key in `low`, bucket after bucket; bucket b is from `ends[b]` to `ends[b + 1]`."""
    for key in keys:
        ends[(np.uint64(key) >> BITS) + ONE] += 1
    start = 0
    for i in range(1, len(ends)):
        rows, ends[i] = ends[i], start
        start += rows
    for key in keys:
        bucket = (np.uint64(key) >> BITS) + ONE
        place = np.uint64(ends[bucket])
        low[place] = np.uint16(key)
        ends[bucket] = place + ONE


@njit(cache=True)
def fill(cells, starts, ends, low):
    """Add 1 to the cell of every key, bucket by bucket; batch j of the keys was parted to `low` from `starts[j]`."""
    for bucket in range(ends.shape[1] - 1):
        here = cells[bucket * BUCKET : (bucket + 1) * BUCKET]
        for batch in range(len(ends)):
            for i in range(starts[batch] + ends[batch, bucket], starts[batch] + ends[batch, bucket + 1]):
                here[np.uint64(low[np.uint64(i)])] += 1


@njit(cache=True)
def ordered(keys, order, bits):
    passes = (bits + DIGIT - 1) // DIGIT
    counts = np.zeros((passes, 1 << DIGIT), dtype=np.int64)
    for key in keys:
        for digit in range(passes):
            counts[digit, (key >> (digit * DIGIT)) & 255] += 1
    to, order_to = np.empty_like(keys), np.empty_like(order)
    for digit in range(passes):
        ends = np.cumsum(counts[digit]) - counts[digit]
        for i in range(len(keys)):
            digits = np.uint64((keys[i] >> (digit * DIGIT)) & 255)
            place = np.uint64(ends[digits])
            to[place] = keys[i]
            if len(order):
                order_to[place] = order[i]
            ends[digits] = place + ONE
        keys, to = to, keys
        order, order_to = order_to, order
    return keys, order


@njit(cache=True)
def runs(ordered):
    different = np.int64(len(ordered) > 0)
    for i in range(1, len(ordered)):
        different += ordered[i] != ordered[i - 1]
    places = np.empty(different, dtype=ordered.dtype)
    first, rows = np.empty(different, dtype=np.int64), np.empty(different, dtype=np.int64)
    run = -1
    for i in range(len(ordered)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            run += 1
            places[run], first[run], rows[run] = ordered[i], i, 0
        rows[run] += 1
    return places, first, rows
