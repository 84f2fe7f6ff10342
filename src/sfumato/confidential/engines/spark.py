"""Spark: records that stay in a cluster, grouped and summed there by Spark Connect; groups alone come here."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.cluster.foreseen import Values, foreseen
from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.engines.cluster.joins import ClusterJoins
from sfumato.confidential.engines.cluster.session import CHANGED, ClusterSession
from sfumato.confidential.engines.cluster.suspects import Suspects
from sfumato.confidential.engines.cluster.translated import Translated
from sfumato.confidential.engines.cluster.units import ClusterUnits
from sfumato.confidential.engines.cluster.weighed import ClusterWeights
from sfumato.confidential.engines.engine import MOST_LISTED, Columns, Engine, Sources, Unsure
from sfumato.confidential.engines.request import Fault, Reading
from sfumato.confidential.engines.row_aggregates import laid_out
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.confidential.engines.sources.tables import by_table
from sfumato.confidential.sealed import Sealed, without_values
from sfumato.errors import DataError
from sfumato.schema import (
    Aggregate,
    Box,
    Extremes,
    Largest,
    Reported,
    Rows,
    Sum,
    SumOfProducts,
    Table,
    Units,
    UnitSums,
    Weighted,
)

Integers = NDArray[np.int64]


class Judge(Protocol):
    """Who holds the records that break a rule."""

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]: ...

    def broken(self, fault: Fault) -> int: ...

    def close(self) -> None: ...


class Spark(Sealed, Engine):
    """The records of one reading in a cluster, of which groups with counts and sums are here."""

    name: ClassVar[str] = "spark"
    turn: ClassVar[int] = 1000
    knows: ClassVar[frozenset[type[Aggregate]]] = frozenset(
        [Rows, Sum, SumOfProducts, Extremes, Units, Largest, UnitSums, Weighted]
    )
    afar: ClassVar[bool] = True
    ahead: ClassVar[bool] = True

    def __init__(self, sources: Sources, reading: Reading, salt: bytes) -> None:
        tables = by_table(sources, reading.schema)
        every = [one for own in tables.values() for one in own]
        if not all(map(in_cluster, every)):
            raise Unsure("it reads tables of a cluster and frames of Spark, which not all of these data are")
        if reading.register is not None:
            raise Unsure("it sums over cells, and the plan is over a frame of units")
        _refuse_ordered(reading)
        _refuse_unbounded(reading)
        self.reading, self._session = reading, ClusterSession(every)
        self.stated, self._judges = self._session.stated, dict[Fault, Judge]()
        with ExitStack() as undone:
            undone.callback(self._session.close)
            with without_values("The data could not be read"):
                if _is_read_again(reading) or (len(every) > 1 and not reading.schema.repeated_rows):
                    self._session.watch()
                rows = self._join([len(own) for own in tables.values()]) if reading.schema.joined else None
                if not self._judges:
                    self._read(RecordGroups(self._session, reading), salt)
                if rows is not None and self.rows not in {None, rows}:  # no price holds for a record that counts twice
                    raise DataError(CHANGED)
                self._session.refuse_changed()
            undone.pop_all()

    def _join(self, sources: Sequence[int]) -> int:
        """Look the rows up in the other tables, each of so many sources, unless keys break a rule; how many rows."""
        ends = np.cumsum(sources).tolist()
        named = zip(self.reading.schema.tables, ends, sources, strict=True)
        joins = ClusterJoins(self._session, self.reading, {name: range(end - own, end) for name, end, own in named})
        self._judges, self._session.frames = {**joins.judges}, joins.joined()
        return joins.rows

    def _read(self, groups: RecordGroups, salt: bytes) -> None:
        """Count equal records, find what rules are broken, and leave out of crowded units what they do not keep."""
        if (values := foreseen(groups)) and self._read_once(groups, values, salt):
            return
        tables = [groups.fetched(place) for place in range(len(groups.kinds))]
        self._count(groups, tables)
        if self.reading.names and not self._judges:
            self._units = ClusterUnits(groups, tables, salt)
            if self.reading.truncation and not self._units.takes_off:
                self._groups.keep(self._units.grouped())
            elif (dropped := self._units.dropped()) is not None:
                self._groups.leave_out(dropped)

    def _count(self, groups: RecordGroups, tables: Sequence[pa.Table]) -> None:
        """Take groups for the records, and find what rules are broken."""
        self._groups = Translated(groups, tables)
        self.rows = int(self._groups.rows)
        self._weights = ClusterWeights(groups, self.rows)
        self._judges = self._judged(Suspects(groups, self._groups))

    def _read_once(self, groups: RecordGroups, values: Values, salt: bytes) -> bool:
        """Whether all records say what the plan foresees and break no rule, so that one reading tells all of them."""
        self._units = ClusterUnits(groups, [values], salt)
        told = self._units.once()
        if told is None:
            return False
        every, rest = told
        self._count(groups, [every])
        if not self._judges:
            if rest is not None:
                (self._groups.leave_out if self._units.takes_off else self._groups.keep)(rest)
            return True
        for judge in {*self._judges.values(), self._groups}:
            judge.close()
        self._judges = {}
        return False

    def _judged(self, suspects: Suspects) -> dict[Fault, Judge]:
        """All rules that are broken, in the order of the other engines, each with who holds what breaks it."""
        sources, levels, values, combinations = (dict.fromkeys(one, self._groups) for one in self._groups.faults())
        weights = dict.fromkeys(self._weights.faults() if self.reading.weighted else [], self._weights)
        of_records = sources | levels | values | suspects.nameless | combinations
        return {**of_records, **suspects.misspelt, **suspects.repeated, **suspects.misreported, **weights}

    def faults(self) -> list[Fault]:
        return list(self._judges)

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        with without_values("The offending values could not be listed"):
            return self._judges[fault].examples(fault)

    def broken(self, fault: Fault) -> int:
        with without_values("The offending records could not be counted"):
            return self._judges[fault].broken(fault)

    def crowds(self, column: str, at_most: int, most: int = MOST_LISTED) -> tuple[int, list[tuple[str, int]]]:
        with without_values("Those in too many records could not be listed"):
            return self._units.crowds(column, at_most, most)

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        counted = [one for one in aggregates if not isinstance(one, Weighted)]
        found = laid_out(table.shape, *self.occupied(table, counted, universe)) if counted else {}
        with without_values("The data could not be weighed"):
            weighted = [one for one in aggregates if isinstance(one, Weighted)]
            found |= {one: self._weights.over(table, one, universe) for one in weighted}
            self._session.refuse_changed()
        return found

    def occupied(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> tuple[Integers, Columns]:
        if self._judges:
            raise DataError(
                f"{next(iter(self._judges))} No cells are made of such data, as their bounds are not enforced."
            )
        found = dict[Aggregate, Any]()
        cells, counted = self._groups.occupied(table, [one for one in aggregates if not one.names], universe)
        with without_values("The data could not be summed in whole steps of 64 bits"):
            for one in (one for one in aggregates if one.names):
                key, inside = self._groups.database.key(table), self._groups.database.inside(universe)
                own, found[one] = self._units.over(key, inside, one)
                if not np.array_equal(own, cells):
                    raise DataError(CHANGED)
        self._session.refuse_changed()
        return cells, {one: counted[one] if one in counted else found[one] for one in aggregates}

    def reports(self, aggregates: Sequence[Aggregate]) -> Columns:  # noqa: ARG002 - declined as it was opened
        raise DataError("Reports to a frame of units are read by the engine spark-reports.")

    def close(self) -> None:
        for judge in {*self._judges.values(), *([] if self.rows is None else [self._groups])}:
            judge.close()
        self._session.close()


def _is_read_again(reading: Reading) -> bool:
    """Whether the records are needed more than once."""
    reported = any(isinstance(one, Reported) for one in reading.values)
    return bool(reading.weighted or reading.names or reading.schema.key or reading.schema.joined or reported)


def _refuse_ordered(reading: Reading) -> None:
    """Stop where records would have to stand in one order."""
    if reading.weighted and reading.schema.order:
        raise DataError(
            "Replicates built from an order of selection need all records on one machine, which is not done in a "
            "cluster; store replicate weights as columns."
        )


def _refuse_unbounded(reading: Reading) -> None:
    """Stop where products have no bound, as their sums may pass what a cluster holds."""
    products = (one for one in reading.aggregates if isinstance(one, SumOfProducts))
    if any(isinstance(value, Reported) for one in products for value in one.values):
        raise DataError(
            "The plan asks for sums of products without a clip (weighted suppression), which is not done in a cluster. "
            "Where the records may leave it, export the table and give its files."
        )


EXAMPLE = Spark
