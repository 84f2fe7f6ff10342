"""Whole weights on arrays: the weight and its replicates summed over all cells while the records are read, once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.coded import Integers, Unsure, whole_numbers
from sfumato.confidential.engines.dense import LARGEST_SUM, Dense
from sfumato.confidential.engines.meanings import EXACT
from sfumato.confidential.engines.names import Names
from sfumato.confidential.engines.reading import Reading
from sfumato.schema import Table


class DenseWeights(Dense):
    """The records of a reading and, over all cells of its attributes, the sums of their whole weights.

    Weights that are not whole, or lack, are left to DuckDB, as are replicates that are built from an order.
    """

    _worth = 500_000  # rows; each is added once for every weight

    def __init__(self, sources: Sequence[Any], reading: Reading) -> None:
        schema = reading.schema
        if schema.weight is None or schema.order is not None:
            raise Unsure
        self._weights = [schema.weight, *schema.replicates]
        self._table, self._largest = Table(reading.attributes), 0
        self._summed = np.zeros((len(self._weights), self._table.size), dtype=np.int64)
        super().__init__(sources, replace(reading, aggregates=()), b"")
        if self._largest >= EXACT or self._largest * sum(self._lengths) >= LARGEST_SUM:
            raise Unsure

    @property
    def _columns(self) -> list[str]:
        return list(dict.fromkeys([*super()._columns, *self._weights]))

    def _take(self, batch: Mapping[str, Any], names: Sequence[Names]) -> None:
        super()._take(batch, names)
        keys = self._keys(self._table, len(self._lengths) - 1)
        for column, cells in zip(self._weights, self._summed, strict=True):
            values = _whole(batch[column])
            if len(values):
                self._largest = max(self._largest, -int(values.min()), int(values.max()))
                self._kernel.total(cells, keys, values)

    @property
    def sums(self) -> NDArray[np.int64]:
        """The sums of every cell, the last axis the full sample and then every replicate, side by side in memory."""
        return np.ascontiguousarray(self._summed.T).reshape(*self._table.shape, len(self._weights))


def _whole(array: Any) -> Integers:
    """Weights as whole numbers, which they must be."""
    if array.null_count:
        raise Unsure
    if pa.types.is_integer(array.type):
        return whole_numbers(array)
    if not pa.types.is_float64(array.type):
        raise Unsure
    given = np.asarray(array.to_numpy(zero_copy_only=False))
    if not (np.abs(given) < EXACT).all():
        raise Unsure
    whole = given.astype(np.int64)
    if (whole != given).any():
        raise Unsure
    return whole


def opened_weights(sources: Sequence[Any], reading: Reading) -> DenseWeights | None:
    """The sums of whole weights, where they can be had without DuckDB."""
    try:
        return DenseWeights(sources, reading)
    except Exception:  # noqa: BLE001 - whatever stopped the quick reader, the thorough one says it in words
        return None
