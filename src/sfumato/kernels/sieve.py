"""Hash texts and count hashes in buckets, in plain numpy."""

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
WORD = 8
WITHIN = (np.uint64(1) << (np.arange(WORD, dtype=np.uint64) * np.uint64(8))) - np.uint64(1)
"""The bits of a word that fewer letters fill."""


def hash_texts(found: Hashes, offsets: NDArray[np.int64], letters: NDArray[np.uint8]) -> None:
    """Go on with the hash of every text: its length, then eight letters at a time of those that have so many."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    padded = np.concatenate([letters, np.zeros(WORD, dtype=np.uint8)])
    every = np.ndarray(len(padded) - WORD + 1, dtype="<u8", buffer=padded, strides=(1,))
    found[:] = mixed(found ^ lengths.astype(np.uint64))
    for at in range(0, int(lengths.max(initial=0)), WORD):
        longer = lengths > at
        left, words = lengths[longer] - at, every[starts[longer] + at]
        found[longer] = mixed(found[longer] ^ np.where(left >= WORD, words, words & WITHIN[left % WORD]))


def mixed(numbers: Hashes) -> Hashes:
    """Numbers whose every bit depends on all bits of those given (the finisher of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def count(buckets: NDArray[np.uint8], hashes: Hashes, full: int) -> int:
    """Add 1 to the bucket of every hash, up to so many; how many were beyond. There are 2^n buckets."""
    places, rows = np.unique(hashes & np.uint64(len(buckets) - 1), return_counts=True)
    counts = buckets[places] + rows
    buckets[places] = np.minimum(counts, full)
    return int(np.maximum(counts - full, 0).sum())
