"""DuckDB: reads every kind of source, names every rule that is broken, and sums the records over cells by queries."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.engine import MOST_LISTED, Columns, Engine, Sources
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.queries.rules import Rules
from sfumato.confidential.engines.queries.weights import Weights
from sfumato.confidential.engines.request import Fault, Reading
from sfumato.confidential.engines.row_aggregates import DIGITS, FOLDS, Runs, laid_out
from sfumato.confidential.engines.sql import dialect
from sfumato.confidential.sealed import Sealed, without_values
from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import Aggregate, Box, Extremes, InSteps, Rows, Sum, SumOfProducts, Table, Weighted

Integers = NDArray[np.int64]


class DuckDB(Sealed, Engine):
    """The records of one reading in DuckDB, with no more rows of a unit than promised."""

    name: ClassVar[str] = "duckdb"
    turn: ClassVar[int] = 100
    knows: ClassVar[frozenset[type[Aggregate]]] = frozenset([*FOLDS, Weighted])

    def __init__(self, sources: Sources, reading: Reading, salt: bytes) -> None:
        with without_values("The data could not be read"):
            self.reading, self._records = reading, Database(sources, reading)
            self._session, rules = self._records.session, Rules(self._records)
            self._weights = Weights(self._records)
            if reading.register is not None:
                names = pa.array(reading.register.ids).cast(pa.string())
                self._session.register("register", pa.table({"name": names, "cell": np.arange(len(names))}))
            self._faults = rules.of_joins()
            if self._faults:
                return
            self.rows = self._records.code()
            self._faults = rules.of_records() + (self._weights.faults() if reading.weighted else [])
            if reading.truncation and not self._faults:
                self._truncate(reading.truncation, salt)

    def _truncate(self, kept: Truncate, salt: bytes) -> None:
        """Of a unit with too many rows keep those with the least digests, as `crowded` defines them."""
        units = [f"unit{place}" for place in range(len(self.reading.names))]
        unit = units[self.reading.names.index(kept.column)]
        content = [unit, *self._records.coded, *(other for other in units if other != unit)]
        crowded = f"SELECT {unit} FROM coded GROUP BY {unit} HAVING count(*) > {kept.at_most}"
        order = f"PARTITION BY {unit} ORDER BY {dialect.digest(salt, content)}"
        turns = f"SELECT rowid AS standing, row_number() OVER ({order}) AS turn FROM coded WHERE {unit} IN ({crowded})"
        self._session.run(
            f"DELETE FROM coded WHERE rowid IN (SELECT standing FROM ({turns}) WHERE turn > {kept.at_most})"
        )

    def faults(self) -> list[Fault]:
        return self._faults

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        with without_values("The offending values could not be listed"):
            return [(value, rows) for value, rows in self._session.ask(dialect.commonest(fault.query, MOST_LISTED))]

    def offending(self, fault: Fault, turn: int, turns: int) -> list[tuple[str | None, int]]:
        texts = f"SELECT CAST(value AS VARCHAR) AS value FROM ({fault.query})"
        chosen = f"SELECT value, count(*) FROM ({texts}) WHERE hash(value) % {turns} = {turn} GROUP BY value"
        return [(value, rows) for value, rows in self._session.ask(chosen)]

    def broken(self, fault: Fault) -> int:
        with without_values("The offending records could not be counted"):
            ((rows,),) = self._session.ask(f"SELECT count(*) FROM ({fault.query})")
            return int(rows)

    def crowds(self, column: str, at_most: int, most: int = MOST_LISTED) -> tuple[int, list[tuple[str, int]]]:
        crowded = (
            f"SELECT {self._unit(column)} AS name, count(*) AS rows FROM coded GROUP BY name HAVING rows > {at_most}"
        )
        with without_values("Those in too many records could not be listed"):
            ((rows,),) = self._session.ask(f"SELECT coalesce(sum(rows), 0) FROM ({crowded})")
            few = f"SELECT CAST(name AS VARCHAR), rows FROM ({crowded}) ORDER BY rows DESC, 1 LIMIT {most}"
            return int(rows), [(name, int(many)) for name, many in self._session.ask(few)]

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        counted = [one for one in aggregates if not isinstance(one, Weighted)]
        found = laid_out(table.shape, *self.occupied(table, counted, universe)) if counted else {}
        with without_values("The data could not be weighed"):
            weighted = [one for one in aggregates if isinstance(one, Weighted)]
            return found | {one: self._weights.over(table, one, universe) for one in weighted}

    def occupied(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> tuple[Integers, Columns]:
        key = self._records.key(table)
        return self._grouped(f"(SELECT {key} AS cell, * FROM coded{self._records.within(universe)})", aggregates)

    def reports(self, aggregates: Sequence[Aggregate]) -> Columns:
        assert self.reading.register is not None  # noqa: S101 - asked of readings over a register
        unit = self._unit(None)
        rows = f"(SELECT cell, coded.* FROM coded JOIN register ON CAST({unit} AS VARCHAR) = register.name)"
        return laid_out((self.reading.register.size,), *self._grouped(rows, aggregates))

    def close(self) -> None:
        self._session.close()

    def _grouped(self, rows: str, aggregates: Sequence[Aggregate]) -> tuple[Integers, Columns]:
        """The cells that some rows are in, rising, and the aggregates of these."""
        if self._faults:
            raise DataError(f"{self._faults[0]} No cells are made of such data, as their bounds are not enforced.")
        summed = [one for one in aggregates if isinstance(one, Sum | SumOfProducts)]
        sums = {one: f"CAST(sum({self._term(one)}) AS BIGINT)" for one in summed}
        ends = [one for one in aggregates if isinstance(one, Extremes)]
        asked = [f"{end}({self._value(one.of)})" for one in ends for end in ("min", "max")]
        chosen = ", ".join(["cell", "count(*)", *sums.values(), *asked])
        with without_values("The data could not be summed in whole steps of 64 bits"):
            cells, lengths, *columns = self._integers(f"SELECT {chosen} FROM {rows} GROUP BY cell ORDER BY cell")
            found: dict[Aggregate, Any] = {Rows(): lengths, **dict(zip(sums, columns, strict=False))}
            found |= {one: np.stack(columns[len(sums) + 2 * i :][:2], axis=-1) for i, one in enumerate(ends)}
            for one in set(aggregates) - set(found):
                runs = self._units(rows, one) if one.names else self._runs(rows, one, lengths)
                found[one] = FOLDS[type(one)](runs, one)
            return cells, {one: found[one] for one in aggregates}

    def _term(self, aggregate: Sum | SumOfProducts) -> str:
        """What one record adds to a sum; a product in 128 bits, so that it never wraps."""
        if isinstance(aggregate, Sum):
            return self._value(aggregate.of)
        return f"CAST({self._value(aggregate.x)} AS HUGEINT) * {self._value(aggregate.y)}"

    def _runs(self, rows: str, one: Aggregate, lengths: Integers) -> Runs:
        """The rows in the order of their cells, with all values that an aggregate needs of them."""
        values = [self._value(value) for value in one.values]
        held = dict(zip(values, self._integers(f"SELECT {', '.join(values)} FROM {rows} ORDER BY cell"), strict=True))
        first, none = np.cumsum(lengths) - lengths, lambda _: lengths[:0]  # no unit is told apart
        return Runs(first, lengths, lambda one: held[self._value(one)], none, none)

    def _units(self, rows: str, one: Aggregate) -> Runs:
        """The same of an aggregate that tells units apart, the rows of a unit in a cell summed by the query.

        So no more is held than units have cells, and that is how many numbers are handed out.
        """
        (unit,) = (self._unit(per) for per in one.names)
        values = [self._value(value) for value in one.values]
        sums = ", ".join(
            [f"cell, {unit} AS unit, count(*) AS counted", *(f"sum({value}) AS {value}" for value in values)]
        )
        digest = f"CAST('0x' || sha256(CAST(unit AS VARCHAR))[:{DIGITS}] AS BIGINT)"
        chosen = ", ".join(
            [
                "cell",
                "dense_rank() OVER (ORDER BY unit)",
                digest,
                "counted",
                *(f"CAST({one} AS BIGINT)" for one in values),
            ]
        )
        grouped = f"(SELECT {sums} FROM {rows} GROUP BY cell, {unit})"
        cells, units, digests, counts, *found = self._integers(f"SELECT {chosen} FROM {grouped} ORDER BY cell")
        held, (_, first, lengths) = dict(zip(values, found, strict=True)), _starts(cells)
        return Runs(first, lengths, lambda one: held[self._value(one)], lambda _: units, lambda _: digests, counts)

    def _integers(self, query: str) -> list[Integers]:
        return [column.astype(np.int64, copy=False) for column in self._session.columns(query)]

    def _value(self, value: InSteps) -> str:
        return f"value{self.reading.values.index(value)}"

    def _unit(self, per: str | None) -> str:
        return f"unit{self.reading.names.index(self.reading.named(per))}"


def _starts(cells: Integers) -> tuple[Integers, Integers, Integers]:
    """The cells that are there, rising, where each begins, and how many rows it has."""
    found, first, lengths = np.unique(cells, return_index=True, return_counts=True)
    return found, first, lengths


EXAMPLE = DuckDB
