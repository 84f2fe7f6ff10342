"""Arrays: records as small integers in memory, scattered over the cells of a table; the engine that is asked first.

It reads Parquet files and frames of plain types that break no rule, and gives the cells that DuckDB gives. All other
data it declines with a reason: DuckDB reads them again, and names the rule.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.columns.codebook import leaf_meaning, value_meaning
from sfumato.confidential.engines.columns.coded_column import CodedColumn, Integers, inside
from sfumato.confidential.engines.columns.grounds import by_arrow, decline, is_counted
from sfumato.confidential.engines.columns.names import refuse_repeats
from sfumato.confidential.engines.columns.naming import naming
from sfumato.confidential.engines.columns.partner_table import partners_of
from sfumato.confidential.engines.columns.scan import batches, rows_of
from sfumato.confidential.engines.columns.tally import COUNTED, Tally
from sfumato.confidential.engines.engine import MOST_LISTED, Columns, Engine, Sources, Unsure
from sfumato.confidential.engines.request import Fault, Reading, TableRequest
from sfumato.confidential.engines.row_aggregates import FOLDS, LARGEST_SUM, Runs, laid_out
from sfumato.confidential.engines.sources.tables import by_table
from sfumato.confidential.sealed import Sealed
from sfumato.kernels.choose import loops
from sfumato.schema import (
    Aggregate,
    Attribute,
    Box,
    InSteps,
    Level,
    Rows,
    Sum,
    SumOfProducts,
    Table,
    Weighted,
)

LARGEST_SHORT = 2**31
"""The most cells whose keys take 32 bits, which is half the memory and half the time."""
WORTH_LOADING, WORTH_SORTING, WORTH_WEIGHING = 40_000_000, 5_000_000, 500_000
"""The rows from which on the compiled loops save more than it takes to load them: counted, sorted, or weighed.

They save more of a sort, and most of rows that are added once for every weight.
"""
Mask = NDArray[np.bool_]


class Arrays(Sealed, Engine):
    """The records of one reading that breaks no rule, with no more rows of a unit than promised.

    Where one table is asked, its cells are counted while the records are read, and none of them is held.
    """

    name: ClassVar[str] = "arrays"
    turn: ClassVar[int] = 10
    in_passing: ClassVar[bool] = True
    knows: ClassVar[frozenset[type[Aggregate]]] = frozenset([*FOLDS, Weighted])

    def __init__(self, sources: Sources, reading: Reading, salt: bytes) -> None:
        self.reading, self._sources = reading, sources
        tables = by_table(sources, reading.schema)
        rows = tables[reading.schema.base]
        decline(rows, [one for own in tables.values() for one in own if own is not rows], reading)
        with by_arrow():
            expected = sum(rows_of(source) for source in rows)
            kernel = loops("scatter", worth=expected >= (WORTH_WEIGHING if reading.weighted else WORTH_LOADING))
            self._kernel = kernel
            self._leaves = {
                _called(one): CodedColumn(one.column, leaf_meaning(one), kernel) for one in reading.attributes
            }
            self._values = {one: CodedColumn(one.column, value_meaning(one), kernel) for one in reading.values}
            counted = reading.only if is_counted(reading) else None
            self._counted = Tally(kernel, counted, expected, reading.weights) if counted else None
            self._held = self._counted is None or bool(reading.weighted)
            self._lengths: list[int] = []
            self._partners, columns = partners_of(tables, reading, self._coded, kernel)
            codes = [one.column for one in reading.attributes if one.column in columns]
            self._naming = naming(reading, rows, columns, expected)
            for source in rows:
                before = len(self._lengths)
                for batch in batches(source, self._naming.columns, codes):
                    self._take(batch)
                if len(rows) > 1 and not sum(self._lengths[before:]):
                    raise Unsure("a source holds no rows")
            self._settle(salt)

    @property
    def _coded(self) -> tuple[CodedColumn, ...]:
        return (*self._leaves.values(), *self._values.values())

    def _take(self, batch: Mapping[str, Any]) -> None:
        """The next batch, column by column, and what its records find in other tables."""
        self._lengths.append(len(next(iter(batch.values()))))
        part, elsewhere = len(self._lengths) - 1, [one for own in self._partners.values() for one in own]
        for table, own in self._partners.items():
            table.look_up(own, batch[table.on])
        for coded in self._coded:
            if coded not in elsewhere:
                coded.add(batch[coded.column])
        self._naming.add(batch)
        for rule in self.reading.rules:
            box = self.reading.schema.table([name for name, _ in rule.where]).box(dict(rule.where))
            if inside(box, self._named(part)).any():
                raise Unsure("some records are where none can be")
        if self._counted:
            self._count(self._counted, part, batch)
        if not self._held:
            for coded in self._coded:
                coded.parts[-1] = np.empty(0, dtype=coded.meaning.dtype)

    def _settle(self, salt: bytes) -> None:
        """What can be told only when all records were read: sums that fit, keys that stand once, rows that are kept."""
        reading, rows = self.reading, sum(self._lengths)
        self.rows = rows
        if self._largest * (1 if reading.register else rows) >= LARGEST_SUM:
            raise Unsure("sums may pass 64 bits")
        if self._counted:
            self._counted.refuse_inexact(rows)
        self._keep(self._naming.kept(self._content, salt))
        if reading.register is not None:
            units = self._naming.units(None)
            refuse_repeats([units])
            self._cells = units.places_in(pa.array(reading.register.ids).cast(pa.string()))

    def _content(self, records: Integers) -> list[Integers]:
        """What some records say, rising by their number."""
        starts = np.cumsum([0, *self._lengths])
        cuts = np.searchsorted(records, starts)
        own = [records[first:last] - start for first, last, start in zip(cuts, cuts[1:], starts, strict=False)]
        return [np.concatenate([part[at] for part, at in zip(one.parts, own, strict=True)]) for one in self._coded]

    @property
    def _largest(self) -> float:
        """How large what one record adds can be, in steps."""
        largest = {one: float(meaning.largest) for one in self.reading.values if (meaning := value_meaning(one))}
        added = [one for one in self.reading.aggregates if one.summed]
        return max([prod(largest[value] for value in one.values) for one in added], default=0.0)

    def _keep(self, kept: Mask | None) -> None:
        if kept is None:
            return
        for part, mask in enumerate(np.split(kept, np.cumsum(self._lengths)[:-1])):
            for coded in self._coded:
                coded.parts[part] = coded.parts[part][mask]
            self._lengths[part] = int(mask.sum())

    def _named(self, part: int) -> dict[str, Integers]:
        return {name: coded.parts[part] for name, coded in self._leaves.items()}

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        asked, counted = TableRequest(table, tuple(aggregates), universe), self._counted
        if counted is not None and counted.answers(asked):
            self._counted = None  # handed out once, as nothing else holds them
            return counted.columns()
        if any(one.weighted for one in aggregates):
            return Arrays(self._sources, replace(self.reading, only=asked), b"").aggregate(table, aggregates, universe)
        if not self._held:
            return self._again.aggregate(table, aggregates, universe)
        others = [one for one in aggregates if not isinstance(one, COUNTED)]
        added = tuple(one for one in aggregates if one not in others)
        summed = Tally(self._kernel, replace(asked, aggregates=added), sum(self._lengths))
        for part in range(len(self._lengths)) if added else ():
            self._count(summed, part, {})
        return summed.columns() | (laid_out(table.shape, *self.occupied(table, others, universe)) if others else {})

    def _count(self, cells: Tally, part: int, batch: Mapping[str, Any]) -> None:
        """Add the records of one batch to the cells of a table."""
        asked = cells.question
        within = inside(asked.universe, self._named(part)) if asked.universe.masks else None
        values = {one: self._summed(one, part) for one in cells.sums}
        cells.add(self._keys(asked.table, part), values, batch, within)

    def _summed(self, aggregate: Sum | SumOfProducts, part: int) -> Integers:
        """What every record of a batch adds to a sum."""
        if isinstance(aggregate, Sum):
            return self._values[aggregate.of].parts[part]
        x, y = (self._values[value].parts[part] for value in (aggregate.x, aggregate.y))
        return x.astype(np.int64) * y

    @cached_property
    def _again(self) -> "Arrays":
        """The records themselves, read once more and held."""
        return Arrays(self._sources, replace(self.reading, only=None), b"")

    def occupied(
        self, table: Table, aggregates: Sequence[Aggregate], universe: Box
    ) -> tuple[NDArray[np.int64], Columns]:
        if not self._held:
            return self._again.occupied(table, aggregates, universe)
        parts = range(len(self._lengths))
        within = [inside(universe, self._named(part)) for part in parts] if universe.masks else None
        keys = self._joined((self._keys(table, part) for part in parts), within, _key_type(table))
        return self._folded(keys, table.size, aggregates, within)

    def reports(self, aggregates: Sequence[Aggregate]) -> Columns:
        register = self.reading.register
        assert register is not None  # noqa: S101 - asked of readings over a register
        return laid_out((register.size,), *self._folded(self._cells.copy(), register.size, aggregates, None))

    def _folded(
        self, keys: Integers, size: int, aggregates: Sequence[Aggregate], within: Sequence[Mask] | None
    ) -> tuple[NDArray[np.int64], Columns]:
        """The cells that keys are of, rising, and the aggregates of these; the records are those within."""
        kernel = loops("scatter", worth=len(keys) >= WORTH_SORTING)
        only_rows = all(isinstance(one, Rows) for one in aggregates)
        order = np.arange(0 if only_rows else len(keys), dtype=np.min_scalar_type(len(keys)))
        keys, order = kernel.ordered(keys, order, size.bit_length())
        places, first, rows = kernel.runs(keys)

        def value(one: InSteps) -> Any:
            return self._joined(self._values[one].parts, within)[order]

        def unit(per: str | None) -> Any:
            codes = self._naming.units(per).codes
            return codes[order] if within is None else codes[np.concatenate(within)][order]

        def digest(per: str | None) -> Any:
            digests = self._naming.units(per).digests
            return digests[order] if within is None else digests[np.concatenate(within)][order]

        runs = Runs(first, rows, value, unit, digest)
        return places.astype(np.int64, copy=False), {one: FOLDS[type(one)](runs, one) for one in aggregates}

    def _joined(self, parts: Iterable[Integers], within: Sequence[Mask] | None, kind: Any = np.int64) -> Integers:
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
            self._kernel.extend(keys, length, self._leaves[_called(attribute)].parts[part])
        return keys

    def faults(self) -> list[Fault]:
        """None: data that break a rule are declined."""
        return []

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:  # noqa: ARG002 - there are no faults
        return []

    def crowds(self, column: str, at_most: int, most: int = MOST_LISTED) -> tuple[int, list[tuple[str, int]]]:
        names = self._naming.units(column)
        every, first, rows = names.crowds(at_most)
        texts = names.texts_of(first).cast(pa.string()).to_pylist()
        listed = sorted(zip(texts, rows.tolist(), strict=True), key=lambda one: (-one[1], one[0]))
        return every, listed[:most]

    def close(self) -> None:
        vars(self).clear()


def _called(attribute: Attribute) -> str:
    return str(Level(attribute.name, attribute.depth))


def _key_type(table: Table) -> Any:
    return np.int32 if table.size <= LARGEST_SHORT else np.int64


EXAMPLE = Arrays
