"""Tally: what the records add to each cell of a table, from keys that come batch after batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.columns.codebook import EXACT
from sfumato.confidential.engines.columns.coded_column import whole_numbers
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import TableRequest
from sfumato.confidential.engines.row_aggregates import LARGEST_SUM
from sfumato.kernels import scatter
from sfumato.schema import Aggregate, Rows, Sum, SumOfProducts, Weighted

Integers = NDArray[np.integer]
Counted = NDArray[np.signedinteger[Any]]
Mask = NDArray[np.bool_]
WIDE = 2**22
"""The cells from which on their counts are more than a cache holds, so that keys are sorted into buckets first."""
COUNTED = (Rows, Sum, SumOfProducts)
"""What is added up record by record; every other aggregate needs the records of a cell together."""
SPREAD = 16
"""The most cells a record for that to pay; fewer records are counted sooner than they are sorted."""


class Scattered:
    """The cells of one table while they are counted: each key of a batch where its cell stands."""

    def __init__(self, kernel: Any, size: int, rows: int) -> None:
        self._kernel, self._cells = kernel, np.zeros(size, dtype=_count_type(rows))

    def add(self, keys: Integers) -> None:
        self._kernel.count(self._cells, keys)

    def cells(self) -> Counted:
        return self._cells


class Parted:
    """The same, where each batch is sorted into buckets of neighbouring cells; a bucket is counted whole, in the cache.

    Of a key only the place in its bucket is held, 16 bits a record.
    """

    def __init__(self, kernel: Any, size: int, rows: int) -> None:
        self._kernel, self._size = kernel, size
        self._low = np.empty(rows, dtype=np.uint16)
        self._starts, self._ends = [0], [np.zeros(-(-size // kernel.BUCKET) + 1, dtype=np.int32)]

    def add(self, keys: Integers) -> None:
        ends, start = np.zeros_like(self._ends[0]), self._starts[-1]
        low = self._low[start : start + len(keys)]
        if len(low) < len(keys):
            raise ValueError("More records came than were announced.")
        self._kernel.part(keys, ends, low)
        self._starts.append(start + len(keys))
        self._ends.append(ends)

    def cells(self) -> Counted:
        cells = np.zeros(self._size, dtype=_count_type(len(self._low)))
        self._kernel.fill(cells, np.array([0, *self._starts]), np.stack(self._ends), self._low)
        return cells


def counts(kernel: Any, size: int, rows: int) -> Scattered | Parted:
    """The way to count so many records at most over so many cells that suits the cache."""
    parted = kernel is not scatter and WIDE <= size <= SPREAD * rows
    return Parted(kernel, size, rows) if parted else Scattered(kernel, size, rows)


def _count_type(rows: int) -> Any:
    """32 bits where no count needs more: half the memory, and most of the time for many cells goes into clearing it."""
    return np.int32 if 0 < rows < 2**31 else np.int64


class Tally:
    """The cells of one question while records are added to them: what is asked for, and nothing else."""

    def __init__(self, kernel: Any, question: TableRequest, rows: int, weights: Sequence[str] = ()) -> None:
        self.question, self._kernel, size = question, kernel, question.table.size
        self._counts = counts(kernel, size, rows) if Rows() in question.aggregates else None
        summed = [one for one in question.aggregates if isinstance(one, Sum | SumOfProducts)]
        self.sums = {one: np.zeros(size, dtype=np.int64) for one in summed}
        self._weighted, self._largest = Weighted() in question.aggregates, 0
        self._weights = dict(zip(weights, np.zeros((len(weights), size), dtype=np.int64), strict=True))

    def add(
        self,
        keys: Integers,
        values: Mapping[Sum | SumOfProducts, Integers],
        batch: Mapping[str, Any],
        within: Mask | None = None,
    ) -> None:
        """The keys and values of the next batch, of which only the records within count where that is said."""
        keys = keys if within is None else keys[within]
        if self._counts:
            self._counts.add(keys)
        for one, cells in self.sums.items():
            self._kernel.total(cells, keys, values[one] if within is None else values[one][within])
        for column, cells in self._weights.items() if self._weighted else ():
            weights = whole_weights(column, batch[column])
            if len(weights):
                self._largest = max(self._largest, -int(weights.min()), int(weights.max()))
                self._kernel.total(cells, keys, weights if within is None else weights[within])

    def refuse_inexact(self, rows: int) -> None:
        """Decline weights whose sums may pass what doubles, or 64 bits, hold exactly."""
        if self._largest >= EXACT or self._largest * rows >= LARGEST_SUM:
            raise Unsure("sums of the weights may pass 64 bits")

    def answers(self, asked: TableRequest) -> bool:
        """Whether these are the cells of a question."""
        return self.question.answers(asked)

    def columns(self) -> dict[Aggregate, Any]:
        """The aggregates of every cell, empty ones included; weights side by side in memory."""
        shape = self.question.table.shape
        found: dict[Aggregate, Any] = {one: cells.reshape(shape) for one, cells in self.sums.items()}
        if self._counts:
            found[Rows()] = self._counts.cells().reshape(shape)
        if self._weighted:
            summed = np.stack(list(self._weights.values()), axis=-1)
            found[Weighted()] = summed.reshape((*shape, len(self._weights)))
        return found


def whole_weights(column: str, array: Any) -> Integers:
    """Weights as whole numbers, which they must be."""
    if not array.null_count and pa.types.is_integer(array.type):
        return whole_numbers(array)
    if not array.null_count and pa.types.is_float64(array.type):
        given = np.asarray(array.to_numpy(zero_copy_only=False))
        if (np.abs(given) < EXACT).all() and (given == np.rint(given)).all():
            return given.astype(np.int64)
    raise Unsure(f"column '{column}' has weights that are not whole, or lack")
