"""Spark: records that stay in a cluster, grouped and summed there by Spark Connect; groups alone come here."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.engines.cluster.names import ClusterNames
from sfumato.confidential.engines.cluster.session import CHANGED, ClusterSession
from sfumato.confidential.engines.cluster.translated import Translated
from sfumato.confidential.engines.cluster.units import ClusterUnits
from sfumato.confidential.engines.cluster.weighed import ClusterWeights
from sfumato.confidential.engines.engine import MOST_LISTED, Columns, Engine, Sources, Unsure
from sfumato.confidential.engines.queries.weights import UNWEIGHED
from sfumato.confidential.engines.request import Fault, Reading
from sfumato.confidential.engines.row_aggregates import laid_out
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.confidential.engines.sources.tables import by_table
from sfumato.confidential.sealed import Sealed, without_values
from sfumato.errors import DataError
from sfumato.schema import Aggregate, Box, Extremes, Largest, Rows, Sum, Table, Units, UnitSums, Weighted

Integers = NDArray[np.int64]


class Spark(Sealed, Engine):
    """The records of one reading in a cluster, of which groups with counts and sums are here."""

    name: ClassVar[str] = "spark"
    turn: ClassVar[int] = 1000
    knows: ClassVar[frozenset[type[Aggregate]]] = frozenset([Rows, Sum, Extremes, Units, Largest, UnitSums, Weighted])
    afar: ClassVar[bool] = True

    def __init__(self, sources: Sources, reading: Reading, salt: bytes) -> None:
        rows = by_table(sources, reading.schema)[reading.schema.base]
        if not all(map(in_cluster, rows)):
            raise Unsure("it reads tables of a cluster and frames of Spark, which not all of these data are")
        _refuse_unbuilt(reading, len(rows))
        self.reading, self._session = reading, ClusterSession(rows)
        self.stated = self._session.stated
        with ExitStack() as undone:
            undone.callback(self._session.close)
            with without_values("The data could not be read"):
                self._read(RecordGroups(self._session, reading), salt)
            undone.pop_all()

    def _read(self, groups: RecordGroups, salt: bytes) -> None:
        """Count equal records, find what rules are broken, and leave out of crowded units what they do not keep."""
        if self.reading.weighted or groups.named:
            self._session.watch()  # the records are needed more than once
        tables = [groups.fetched(place) for place in range(len(groups.kinds))]
        self._groups = Translated(groups, tables)
        self.rows = int(self._groups.rows)
        self._weights, self._names = ClusterWeights(groups, self.rows), ClusterNames(groups, self._groups)
        self._faults = self._found()
        if self.reading.names and not self._faults:
            self._units = ClusterUnits(groups, tables, salt)
            if self.reading.truncation:
                self._groups.keep(self._units.grouped())
        self._session.refuse_changed()

    def _found(self) -> list[Fault]:
        """All rules that are broken, in the order of the other engines."""
        sources, levels, values, combinations = self._groups.faults()
        of_records = [*sources, *levels, *values, *self._names.nameless, *combinations]
        of_names = [*self._names.misspelt, *self._names.repeated]
        return of_records + of_names + (self._weights.faults() if self.reading.weighted else [])

    def faults(self) -> list[Fault]:
        return self._faults

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        with without_values("The offending values could not be listed"):
            if _of_weights(fault):
                return self._weights.examples(fault)
            return (self._names.judge(fault) or self._groups).examples(fault)

    def broken(self, fault: Fault) -> int:
        with without_values("The offending records could not be counted"):
            if _of_weights(fault):
                return sum(rows for _, rows in self.examples(fault))
            return (self._names.judge(fault) or self._groups).broken(fault)

    def crowds(self, column: str, at_most: int) -> tuple[int, list[tuple[str, int]]]:
        with without_values("Those in too many records could not be listed"):
            return self._units.crowds(column, at_most, MOST_LISTED)

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        counted = [one for one in aggregates if not isinstance(one, Weighted)]
        found = laid_out(table.shape, *self.occupied(table, counted, universe)) if counted else {}
        with without_values("The data could not be weighed"):
            weighted = [one for one in aggregates if isinstance(one, Weighted)]
            found |= {one: self._weights.over(table, one, universe) for one in weighted}
            self._session.refuse_changed()
        return found

    def occupied(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> tuple[Integers, Columns]:
        if self._faults:
            raise DataError(f"{self._faults[0]} No cells are made of such data, as their bounds are not enforced.")
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

    def reports(self, aggregates: Sequence[Aggregate]) -> Columns:  # noqa: ARG002 - refused as it was opened
        raise DataError(REGISTER)

    def close(self) -> None:
        self._groups.close()
        self._names.close()
        self._session.close()


def _of_weights(fault: Fault) -> bool:
    return fault.rule == UNWEIGHED


REGISTER = "The plan is over a frame of units, whose reports are not read from a cluster; export them, one row a unit."


def _refuse_unbuilt(reading: Reading, sources: int) -> None:
    """Stop at what is not done in a cluster, and say what would work."""
    schema = reading.schema
    if schema.joined:
        raise DataError(
            "The plan joins tables, which is not done in a cluster; join them in a view there, and name it."
        )
    if reading.register is not None:
        raise DataError(REGISTER)
    if reading.weighted and schema.order:
        raise DataError(
            "Replicates built from an order of selection need all records on one machine, which is not done in a "
            "cluster; store replicate weights as columns."
        )
    if sources > 1 and not schema.repeated_rows and not schema.key:
        raise DataError(
            "Rows may stand in two tables and would count twice; declare [data] key, name one table or view, or say "
            "[data] repeated_rows = true if such rows are different records."
        )


EXAMPLE = Spark
