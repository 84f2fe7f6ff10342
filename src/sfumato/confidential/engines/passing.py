"""Passing: one table counted while the records are read, so that none of them is held; and which engine reads what."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.counting import COUNTED, Columns, Tally
from sfumato.confidential.engines.dense import Dense
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.names import Names
from sfumato.confidential.engines.reading import Reading, TableRequest
from sfumato.schema import LARGEST, Aggregate, Box, Table


class Passing(Dense):
    """The cells of the one table that a reading is for; for any other table the records are read again, and held."""

    def __init__(self, sources: Sequence[Any], reading: Reading, salt: bytes) -> None:
        self._sources = sources
        self._counted: Tally | None = None
        super().__init__(sources, reading, salt)

    @staticmethod
    def suits(reading: Reading) -> bool:
        """Whether one dense table is asked; which rows of a unit are kept is chosen only when all were read."""
        asked = reading.only
        counted = asked is not None and all(isinstance(one, COUNTED) for one in asked.aggregates)
        return counted and not reading.names and asked is not None and asked.table.size <= LARGEST

    def _take(self, batch: Mapping[str, Any], names: Sequence[Names]) -> None:
        super()._take(batch, names)
        if self._counted is None:
            assert self.reading.only is not None  # noqa: S101 - the reading suits
            self._counted = Tally(self._kernel, self.reading.only, self._expected)
        self._count(self._counted, len(self._lengths) - 1)
        for coded in (*self._leaves, *self._values):
            coded.parts[-1] = np.empty(0, dtype=coded.meaning.dtype)

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        """The aggregates of every cell; those that were counted are handed out once, as nothing else holds them."""
        counted, asked = self._counted, TableRequest(table, tuple(aggregates), universe)
        if counted is None or not counted.answers(asked):
            return self._held.aggregate(table, aggregates, universe)
        self._counted = None
        return counted.columns()

    def occupied(
        self, table: Table, aggregates: Sequence[Aggregate], universe: Box
    ) -> tuple[NDArray[np.int64], Columns]:
        return self._held.occupied(table, aggregates, universe)

    @cached_property
    def _held(self) -> Dense:
        """The records themselves."""
        return Dense(self._sources, replace(self.reading, only=None), b"")


def opened(sources: Sequence[Any], reading: Reading, salt: bytes) -> Dense | DuckDB:
    """The engine that holds these data, or counts them as they pass: a dense one where it can, else DuckDB."""
    quick = Passing if Passing.suits(reading) else Dense
    try:
        return quick(sources, reading, salt)
    except Exception:  # noqa: BLE001 - whatever stopped the quick reader, the thorough one says it in words
        return DuckDB(sources, reading, salt)
