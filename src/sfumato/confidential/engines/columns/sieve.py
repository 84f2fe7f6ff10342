"""Sieve: how often names may stand, counted in buckets of their hash; none ever stands more often than its bucket says.

So a name in a bucket of few records is of few records, and need not be held to know it. Names that share a bucket are
taken for more than they are, and looked at themselves.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.columns.coded_column import whole_numbers
from sfumato.confidential.engines.columns.scan import is_text
from sfumato.kernels.choose import loops
from sfumato.kernels.sieve import mixed
from sfumato.schema.memory import buckets_for

Hashes = NDArray[np.uint64]
FULL = 255
"""The most that a bucket counts."""
AT_ONCE = 2**20
"""Buckets that are counted at once."""
WORTH_LOADING = 5_000_000
"""The records from which on the compiled loops save more than it takes to load them."""


class Sieve:
    """Buckets for so many records, a byte each."""

    def __init__(self, records: int) -> None:
        self._kernel = loops("sieve", worth=records >= WORTH_LOADING)
        self._buckets = np.zeros(buckets_for(records), dtype=np.uint8)
        self._last, self._beyond = np.uint64(len(self._buckets) - 1), 0

    def add(self, hashes: Hashes) -> None:
        """The names of the next batch, by their hashes."""
        self._beyond += int(self._kernel.count(self._buckets, hashes, FULL))

    def crowded(self, hashes: Hashes, at_most: int) -> NDArray[np.bool_]:
        """Which names may stand in more than so many records."""
        return np.asarray(self._buckets[hashes & self._last] > at_most)

    def records(self, at_most: int) -> int:
        """How many records there are in buckets of more than so many."""
        counts = np.zeros(FULL + 1, dtype=np.int64)
        for start in range(0, len(self._buckets), AT_ONCE):  # they are counted as numbers of eight bytes
            counts += np.bincount(self._buckets[start : start + AT_ONCE], minlength=FULL + 1)
        return int(counts[at_most + 1 :] @ np.arange(at_most + 1, FULL + 1)) + self._beyond


def hashed(columns: Sequence[Any]) -> Hashes:
    """Of every row of some columns, whole numbers or texts without gaps, a number that is the same where they are.

    >>> one, same, other = hashed([pa.array(["ab", "ab", "ba"]), pa.array([7, 7, 7])])
    >>> bool(one == same), bool(one == other)
    (True, False)
    """
    found = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        if is_text(column.type):
            _go_on_with_texts(found, column)
        else:
            found = mixed(found ^ np.asarray(whole_numbers(column), dtype=np.int64).view(np.uint64))
    return found


def _go_on_with_texts(found: Hashes, column: Any) -> None:
    texts = column.cast(pa.string())
    _, places, letters = texts.buffers()
    offsets = np.frombuffer(places, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    loops("sieve").hash_texts(found, offsets, np.frombuffer(letters or b"", dtype=np.uint8))
