"""Counting: how many records each cell holds, from keys that come batch after batch."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.scatter import BUCKET

Integers = NDArray[np.integer]
Cells = NDArray[np.int64]
WIDE = 2**22
"""The cells from which on their counts are more than a cache holds, so that keys are sorted into buckets first."""


class Counts(Protocol):
    """The cells of one table while they are counted."""

    def add(self, keys: Integers) -> None:
        """The keys of the next batch."""

    def cells(self) -> Cells:
        """All cells, when every batch was added."""


class Scattered:
    """Each key is counted where its cell stands."""

    def __init__(self, kernel: Any, size: int) -> None:
        self._kernel, self._cells = kernel, np.zeros(size, dtype=np.int64)

    def add(self, keys: Integers) -> None:
        self._kernel.count(self._cells, keys)

    def cells(self) -> Cells:
        return self._cells


class Parted:
    """Each batch is sorted into buckets of neighbouring cells; a bucket is counted whole, while it is in the cache.

    Of a key only the place in its bucket is held, 16 bits a record.
    """

    def __init__(self, kernel: Any, size: int, lengths: Sequence[int]) -> None:
        self._kernel, self._size, self._batch = kernel, size, 0
        self._starts = np.cumsum([0, *lengths])
        self._low = np.empty(self._starts[-1], dtype=np.uint16)
        self._ends = np.zeros((len(lengths), -(-size // BUCKET) + 1), dtype=np.int32)

    def add(self, keys: Integers) -> None:
        low = self._low[self._starts[self._batch] : self._starts[self._batch + 1]]
        self._kernel.part(keys, self._ends[self._batch], low)
        self._batch += 1

    def cells(self) -> Cells:
        cells = np.zeros(self._size, dtype=np.int64)
        self._kernel.fill(cells, self._starts, self._ends, self._low)
        return cells


def counts(kernel: Any, size: int, lengths: Sequence[int]) -> Counts:
    """The way to count batches of so many records at most over so many cells that suits the cache."""
    return Parted(kernel, size, lengths) if size >= WIDE else Scattered(kernel, size)
