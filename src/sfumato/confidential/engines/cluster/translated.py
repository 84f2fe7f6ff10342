"""Translated: groups of records as leaves of this plan, in DuckDB, and the cells that they sum to."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.engines.engine import MOST_LISTED, Columns
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.queries.rules import Rules, valueless
from sfumato.confidential.engines.request import Fault, Reading
from sfumato.confidential.sealed import Sealed, without_values
from sfumato.schema import Aggregate, Box, Clipped, Extremes, InSteps, Rows, Sum, Table

Integers = NDArray[np.int64]


class Translated(Sealed):
    """RecordGroups of records by the codes of a plan; rules that single records break, and sums over cells."""

    def __init__(self, groups: RecordGroups, tables: Sequence[pa.Table]) -> None:
        self._groups, self._reading = groups, groups.reading
        self.database = Database(tables, local_reading(groups), groups.carried)
        self._ask = self.database.session.ask
        self.database.code()
        ((self.rows,),) = self._ask("SELECT coalesce(sum(counted), 0) FROM coded")

    def faults(self) -> tuple[list[Fault], list[Fault], list[Fault], list[Fault]]:
        """The rules that records break, in this order: about sources, levels, values, and combinations."""
        rules = Rules(self.database)
        return (
            rules.empty(),
            self._broken(rules.of_levels()),
            self._valueless(rules),
            self._broken(rules.of_combinations()),
        )

    def _broken(self, conditions: Any) -> list[Fault]:
        found = [
            (fault, self._ask(f"SELECT 1 FROM coded WHERE {condition} LIMIT 1")) for condition, fault in conditions
        ]
        return [fault for fault, is_broken in found if is_broken]

    def _valueless(self, rules: Rules) -> list[Fault]:
        """The values that lack, in the order in which they are read."""
        found = []
        for place, value in enumerate(self._reading.values):
            assert isinstance(value, Clipped)  # noqa: S101 - others were refused
            if value in self._groups.whole:
                found += self._broken([rules.of_value(self._groups.whole.index(value), value)])
                continue
            query = (
                f"SELECT CAST(NULL AS VARCHAR) AS value, lacking{place} AS counted FROM coded WHERE lacking{place} > 0"
            )
            found += [Fault(value.column, valueless(value), query)] if self._ask(f"{query} LIMIT 1") else []
        return found

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        counted = (
            f"SELECT CAST(value AS VARCHAR) AS value, CAST(sum(counted) AS BIGINT) AS rows FROM ({fault.query}) "
            f"GROUP BY value ORDER BY rows DESC, value LIMIT {MOST_LISTED}"
        )
        with without_values("The offending values could not be listed"):
            return [(value, rows) for value, rows in self._ask(counted)]

    def broken(self, fault: Fault) -> int:
        with without_values("The offending records could not be counted"):
            ((rows,),) = self._ask(f"SELECT CAST(coalesce(sum(counted), 0) AS BIGINT) FROM ({fault.query})")
            return int(rows)

    def occupied(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> tuple[Integers, Columns]:
        """The cells that records are in, rising, with how many these are, their sums and extremes."""
        chosen: dict[Aggregate, list[str]] = {}
        for one in aggregates:
            if isinstance(one, Rows):
                chosen[one] = ["CAST(sum(counted) AS BIGINT)"]
            elif isinstance(one, Sum):
                chosen[one] = [f"CAST(sum({self._sum(one.of)}) AS BIGINT)"]
            elif isinstance(one, Extremes):
                chosen[one] = list(self._ends(one.of))
        asked = ", ".join(["cell", *(term for own in chosen.values() for term in own)])
        rows = f"(SELECT {self.database.key(table)} AS cell, * FROM coded{self.database.within(universe)})"
        with without_values("The data could not be summed in whole steps of 64 bits"):
            cells, *columns = self.database.session.columns(f"SELECT {asked} FROM {rows} GROUP BY cell ORDER BY cell")
        columns = [column.astype(np.int64, copy=False) for column in columns]
        found: dict[Aggregate, Any] = {}
        for one, own in chosen.items():
            taken, columns = columns[: len(own)], columns[len(own) :]
            found[one] = np.stack(taken, axis=-1) if isinstance(one, Extremes) else taken[0]
        return cells.astype(np.int64, copy=False), found

    def _sum(self, value: InSteps) -> str:
        if value in self._groups.whole:
            return f"CAST(value{self._groups.whole.index(value)} AS HUGEINT) * counted"
        return f"CAST(sum{self._reading.values.index(value)} AS HUGEINT)"

    def _ends(self, value: InSteps) -> tuple[str, str]:
        if value in self._groups.whole:
            named = f"value{self._groups.whole.index(value)}"
            return f"min({named})", f"max({named})"
        place = self._reading.values.index(value)
        return f"min(least{place})", f"max(most{place})"

    def close(self) -> None:
        self.database.session.close()


def local_reading(groups: RecordGroups) -> Reading:
    """What is read of groups themselves: no names, and values that were not summed before."""
    return Reading(groups.plain_schema, groups.reading.attributes, tuple(Sum(one) for one in groups.whole))
