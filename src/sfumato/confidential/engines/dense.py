"""The dense engine: records as small integers in memory, scattered over the cells of a table.

It reads Parquet files and frames of plain types that break no rule, and gives the cells that DuckDB gives. Of all other
data it says nothing: DuckDB reads them again, and names the rule.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.coded import WORTH_LOADING, WORTH_SORTING, Coded, Integers, Unsure, inside, loops
from sfumato.confidential.engines.counting import COUNTED, Tally
from sfumato.confidential.engines.folding import FOLDS, Columns, Runs, laid_out
from sfumato.confidential.engines.meanings import Stepped, leaf_meaning, value_meaning
from sfumato.confidential.engines.names import Names
from sfumato.confidential.engines.reading import Fault, Reading, TableRequest
from sfumato.confidential.engines.scan import batches, can_scan, rows_of
from sfumato.confidential.sealed import Sealed
from sfumato.schema import Aggregate, Box, Clipped, Rows, Table

LARGEST_SUM = 2**62
LARGEST_SHORT = 2**31
"""The most cells whose keys take 32 bits, which is half the memory and half the time."""


class Dense(Sealed):
    """The records of one reading that breaks no rule, with no more rows of a unit than promised."""

    _worth = WORTH_LOADING

    def __init__(self, sources: Sequence[Any], reading: Reading, salt: bytes) -> None:
        _refuse_unsettled(sources, reading)
        self.reading = reading
        self._expected = sum(rows_of(source) for source in sources)
        self._kernel = loops(self._expected, self._worth)
        self._leaves = [self._coded(leaf_meaning(one)) for one in reading.attributes]
        self._values = [self._coded(value_meaning(one)) for one in reading.values]
        self._names = {column: Names(column) for column in reading.names}
        key = Names(reading.schema.key) if reading.schema.key else None
        self._lengths: list[int] = []
        for source in sources:
            self._read(source, [*self._names.values(), *([key] if key else [])])
        self._refuse_beyond_64_bits()
        if key:
            key.refuse_repeats()
        if reading.id:
            named = [one for column, one in self._names.items() if column != reading.id]
            self._keep(self._names[reading.id].kept(reading.at_most, salt, [*self._leaves, *self._values], named))

    def _coded(self, meaning: Any) -> Coded:
        if meaning is None:
            raise Unsure
        return Coded(meaning, self._kernel)

    @property
    def _columns(self) -> list[str]:
        return self.reading.columns

    def _read(self, source: Any, names: Sequence[Names]) -> None:
        columns = self._columns
        for batch in batches(source, columns, [one.column for one in self.reading.attributes]):
            self._take(dict(zip(columns, batch, strict=True)), names)

    def _take(self, batch: Mapping[str, Any], names: Sequence[Names]) -> None:
        """The next batch, column by column."""
        self._lengths.append(len(next(iter(batch.values()))))
        for attribute, leaves in zip(self.reading.attributes, self._leaves, strict=True):
            leaves.add(batch[attribute.column])
        for one, values in zip(self.reading.values, self._values, strict=True):
            values.add(batch[one.column])
        for name in names:
            name.add(batch[name.column])
        self._refuse_impossible(len(self._lengths) - 1)

    def _refuse_beyond_64_bits(self) -> None:
        largest = [prod(Stepped(value).largest for value in one.values) for one in self.reading.aggregates]
        if max(largest, default=0) * sum(self._lengths) >= LARGEST_SUM:
            raise Unsure

    def _refuse_impossible(self, part: int) -> None:
        """Leave the data to DuckDB where a record of a batch is where none can be."""
        schema = self.reading.schema
        read = {attribute.name for attribute in self.reading.attributes}
        for rule in schema.impossible:
            names = tuple(name for name, _ in rule.where)
            if read.issuperset(names) and inside(schema.table(names).box(dict(rule.where)), self._named(part)).any():
                raise Unsure

    def _named(self, part: int) -> dict[str, Integers]:
        coded = zip(self.reading.attributes, self._leaves, strict=True)
        return {one.name: leaves.parts[part] for one, leaves in coded if one.depth is None}

    def _keep(self, kept: list[NDArray[np.bool_]] | None) -> None:
        for part, mask in enumerate(kept or ()):
            for coded in (*self._leaves, *self._values):
                coded.parts[part] = coded.parts[part][mask]
            self._lengths[part] = int(mask.sum())
        if kept is not None:
            for name in self._names.values():
                name.keep(np.concatenate(kept))

    def faults(self) -> list[Fault]:
        """None: data that break a rule are not held here."""
        return []

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:  # noqa: ARG002 - there are none
        return []

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        """The aggregates of every cell of a table, empty ones included, over the records in a universe."""
        counted = [one for one in aggregates if type(one) in COUNTED]
        cells = Tally(self._kernel, TableRequest(table, tuple(counted), universe), sum(self._lengths))
        for part in range(len(self._lengths)) if counted else ():
            self._count(cells, part)
        others = [one for one in aggregates if type(one) not in COUNTED]
        places, found = self.occupied(table, others, universe) if others else (np.empty(0, dtype=np.int64), {})
        return cells.columns() | {one: laid_out(table, places, column) for one, column in found.items()}

    def _count(self, cells: Tally, part: int) -> None:
        """Add the records of one batch to the cells of a table."""
        asked = cells.question
        within = inside(asked.universe, self._named(part)) if asked.universe.masks else None
        values = {one: self._values[self.reading.values.index(one.of)].parts[part] for one in cells.sums}
        cells.add(self._keys(asked.table, part), values, within)

    def occupied(
        self, table: Table, aggregates: Sequence[Aggregate], universe: Box
    ) -> tuple[NDArray[np.int64], Columns]:
        """The places of the cells that hold records of a universe, rising, and the aggregates of these cells alone."""
        keys, within = self._packed(table, universe)
        kernel = loops(len(keys), WORTH_SORTING)
        only_rows = all(isinstance(one, Rows) for one in aggregates)
        order = np.arange(0 if only_rows else len(keys), dtype=np.min_scalar_type(len(keys)))
        keys, order = kernel.ordered(keys, order, table.size.bit_length())
        places, first, rows = kernel.runs(keys)

        def value(one: Clipped) -> Any:
            return self._joined(self._values[self.reading.values.index(one)].parts, within)[order]

        def unit(per: str | None) -> Any:
            codes = self._names[self.reading.named(per)].codes
            return codes[order] if within is None else codes[np.concatenate(within)][order]

        runs = Runs(first, rows, value, unit)
        return places.astype(np.int64, copy=False), {one: FOLDS[type(one)](runs, one) for one in aggregates}

    def _packed(self, table: Table, universe: Box) -> tuple[Integers, list[NDArray[np.bool_]] | None]:
        """The keys of all records in a universe, and which records of each batch these are; all where none is said."""
        parts = range(len(self._lengths))
        within = [inside(universe, self._named(part)) for part in parts] if universe.masks else None
        keys = (self._keys(table, part) for part in parts)
        return self._joined(keys, within, _key_type(table)), within

    def _joined(
        self, parts: Iterable[Integers], within: Sequence[NDArray[np.bool_]] | None, kind: Any = np.int64
    ) -> Integers:
        """All batches as one array, of the records that are within."""
        lengths = self._lengths if within is None else [int(mask.sum()) for mask in within]
        joined, end = np.empty(sum(lengths), dtype=kind), 0
        for place, part in enumerate(parts):
            start, end = end, end + lengths[place]
            joined[start:end] = part if within is None else part[within[place]]
        return joined

    def _keys(self, table: Table, part: int) -> Integers:
        """The number of every record's cell, the last attribute running fastest."""
        keys: Integers = np.zeros(self._lengths[part], dtype=_key_type(table))
        for attribute, length in zip(table.attributes, table.shape, strict=True):
            self._kernel.extend(keys, length, self._leaves[self.reading.attributes.index(attribute)].parts[part])
        return keys


def _key_type(table: Table) -> Any:
    return np.int32 if table.size <= LARGEST_SHORT else np.int64


def _refuse_unsettled(sources: Sequence[Any], reading: Reading) -> None:
    """Leave to DuckDB what is not of one pass over columns: other sources, and rows that may stand in two of them."""
    several = len(sources) > 1 and not (reading.schema.key or reading.schema.repeated_rows)
    if several or not reading.columns or reading.weighted or not all(can_scan(source) for source in sources):
        raise Unsure
