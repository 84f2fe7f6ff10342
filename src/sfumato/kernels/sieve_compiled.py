"""The loops of `kernels.sieve`, compiled: one pass over the texts, and one over the hashes, without sorting them."""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# ruff: noqa: ANN001, ANN201 - numba finds the types

import numpy as np

from sfumato.kernels.kept import njit

EIGHT = np.uint64(8)
FIRST, SECOND, THIRD = np.uint64(30), np.uint64(27), np.uint64(31)
ONE_FACTOR, OTHER_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit(cache=True)
def mixed(number):
    number = (number ^ (number >> FIRST)) * ONE_FACTOR
    number = (number ^ (number >> SECOND)) * OTHER_FACTOR
    return number ^ (number >> THIRD)


@njit(cache=True)
def hash_texts(found, offsets, letters):
    for i in range(len(found)):
        start, end = offsets[i], offsets[i + 1]
        one = mixed(found[i] ^ np.uint64(end - start))
        for at in range(start, end, 8):
            word = np.uint64(0)
            for place in range(min(8, end - at)):
                word |= np.uint64(letters[at + place]) << (EIGHT * np.uint64(place))
            one = mixed(one ^ word)
        found[i] = one


@njit(cache=True)
def count(buckets, hashes, full):
    last, beyond = np.uint64(len(buckets) - 1), 0
    for one in hashes:
        bucket = one & last
        if buckets[bucket] < full:
            buckets[bucket] += np.uint8(1)
        else:
            beyond += 1
    return beyond
