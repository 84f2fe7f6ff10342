"""The loops of `kernels.scatter`, compiled: one pass each, with no array in between."""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# ruff: noqa: ANN001, ANN201 - numba finds the types

import numpy as np
from numba import njit

BITS = 16  # of a place in its bucket
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
        cells[key] += 1


@njit(cache=True)
def total(cells, keys, values):
    for i in range(len(keys)):
        cells[keys[i]] += values[i]


@njit(cache=True)
def part(keys, ends, low):
    for key in keys:
        ends[(key >> BITS) + 1] += 1
    start = 0
    for i in range(1, len(ends)):
        rows, ends[i] = ends[i], start
        start += rows
    for key in keys:
        bucket = (key >> BITS) + 1
        low[ends[bucket]] = key & ((1 << BITS) - 1)
        ends[bucket] += 1


@njit(cache=True)
def fill(cells, starts, ends, low):
    for bucket in range(ends.shape[1] - 1):
        first = bucket << BITS
        for batch in range(len(ends)):
            for i in range(starts[batch] + ends[batch, bucket], starts[batch] + ends[batch, bucket + 1]):
                cells[first + low[i]] += 1


@njit(cache=True)
def ordered(keys, order, bits):
    passes = (bits + DIGIT - 1) // DIGIT
    found = np.zeros((passes, 1 << DIGIT), dtype=np.int64)
    for key in keys:
        for digit in range(passes):
            found[digit, (key >> (digit * DIGIT)) & 255] += 1
    to, order_to = np.empty_like(keys), np.empty_like(order)
    for digit in range(passes):
        ends = np.cumsum(found[digit]) - found[digit]
        for i in range(len(keys)):
            place = (keys[i] >> (digit * DIGIT)) & 255
            to[ends[place]] = keys[i]
            if len(order):
                order_to[ends[place]] = order[i]
            ends[place] += 1
        keys, to = to, keys
        order, order_to = order_to, order
    return keys, order


@njit(cache=True)
def runs(keys):
    different = np.int64(len(keys) > 0)
    for i in range(1, len(keys)):
        different += keys[i] != keys[i - 1]
    first = np.empty(different, dtype=np.int64)
    run = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] != keys[i - 1]:
            first[run] = i
            run += 1
    return keys[first], first, np.append(first[1:], len(keys))[:different] - first
