"""Translated: groups of records as leaves of this plan, in DuckDB, and the cells that they sum to."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.cluster.counted import CountedGroups
from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.engines.cluster.session import CHANGED
from sfumato.confidential.engines.engine import Columns
from sfumato.confidential.engines.queries.rules import Rules, valueless
from sfumato.confidential.engines.request import Fault, Reading
from sfumato.confidential.sealed import without_values
from sfumato.errors import DataError
from sfumato.schema import Aggregate, Box, Clipped, Extremes, InSteps, Rows, Sum, SumOfProducts, Table

Integers = NDArray[np.int64]


class Translated(CountedGroups):
    """Groups of records by the codes of a plan; rules that single records break, and sums over cells."""

    def __init__(self, groups: RecordGroups, tables: Sequence[pa.Table]) -> None:
        self._groups, self._reading = groups, groups.reading
        super().__init__(tables, local_reading(groups), groups.carried)
        self.database.code()
        ((self.rows,),) = self.ask("SELECT coalesce(sum(counted), 0) FROM coded")

    def total(self, carried: str) -> int:
        """What a number of groups comes to in all."""
        ((total,),) = self.ask(f"SELECT CAST(coalesce(sum({carried}), 0) AS BIGINT) FROM coded")
        return int(total)

    def faults(self) -> tuple[list[Fault], list[Fault], list[Fault], list[Fault]]:
        """The rules that records break, in this order: about sources, levels, values, and combinations."""
        rules = self.rules
        return (
            rules.empty(),
            self.broken_of(rules.of_levels()),
            self._valueless(rules),
            self.broken_of(rules.of_combinations()),
        )

    def _valueless(self, rules: Rules) -> list[Fault]:
        """The values that lack, in the order in which they are read."""
        found = []
        for place, value in enumerate(self._reading.values):
            if not isinstance(value, Clipped):  # a report, of which there are rules of its own
                continue
            if value in self._groups.whole:
                found += self.broken_of([rules.of_value(self._groups.whole.index(value), value)])
                continue
            query = (
                f"SELECT CAST(NULL AS VARCHAR) AS value, lacking{place} AS counted FROM coded WHERE lacking{place} > 0"
            )
            found += [Fault(value.column, valueless(value), query)] if self.ask(f"{query} LIMIT 1") else []
        return found

    def keep(self, kept: pa.Table) -> None:
        """Take other groups for the records: those of the rows that a unit keeps, by their leaves."""
        self.database.session.register("kept", kept)
        self.database.session.run("CREATE OR REPLACE TABLE coded AS SELECT * FROM kept")

    def leave_out(self, dropped: pa.Table) -> None:
        """Take the rows that units do not keep out of the groups, by their leaves."""
        numbers = list(self._groups.sums(self._groups.stepped))
        self.database.session.register("dropped", dropped)
        keys = [one for one in dropped.column_names if one not in numbers]
        both = " UNION ALL ".join(
            f"SELECT {', '.join([*keys, *(f'{sign}CAST({one} AS HUGEINT) AS {one}' for one in numbers)])} FROM {rows}"
            for sign, rows in (("", "coded"), ("-", "dropped"))
        )
        left = [f"CAST(sum({one}) AS HUGEINT) AS {one}" for one in numbers]
        grouped = f"SELECT {', '.join([*keys, *left])} FROM ({both}) GROUP BY {', '.join(keys) or '()'}"
        self.database.session.run(f"CREATE OR REPLACE TABLE coded AS {grouped} HAVING sum(counted) <> 0")
        if self.ask("SELECT 1 FROM coded WHERE counted < 0 LIMIT 1"):
            raise DataError(CHANGED)

    def occupied(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> tuple[Integers, Columns]:
        """The cells that records are in, rising, with how many these are, their sums and extremes."""
        chosen: dict[Aggregate, list[str]] = {}
        for one in aggregates:
            if isinstance(one, Rows):
                chosen[one] = ["CAST(sum(counted) AS BIGINT)"]
            elif isinstance(one, Sum):
                chosen[one] = [f"CAST(sum({self._sum(one.of)}) AS BIGINT)"]
            elif isinstance(one, SumOfProducts):
                chosen[one] = [f"CAST(sum({self._product(one)}) AS BIGINT)"]
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

    def _product(self, aggregate: SumOfProducts) -> str:
        """What a group adds to a sum of products: values by which records are grouped are the same in all of them."""
        whole = self._groups.whole
        if aggregate.x not in whole and aggregate.y not in whole:
            return f"CAST({self._groups.product(aggregate)} AS HUGEINT)"
        x, y = aggregate.x, aggregate.y
        of_group, other = (x, y) if x in whole else (y, x)
        return f"CAST(value{whole.index(of_group)} AS HUGEINT) * ({self._sum(other)})"

    def _ends(self, value: InSteps) -> tuple[str, str]:
        if value in self._groups.whole:
            named = f"value{self._groups.whole.index(value)}"
            return f"min({named})", f"max({named})"
        place = self._reading.values.index(value)
        return f"min(least{place})", f"max(most{place})"


def local_reading(groups: RecordGroups) -> Reading:
    """What is read of groups themselves: no names, and values that were not summed before."""
    return Reading(groups.plain_schema, groups.reading.attributes, tuple(Sum(one) for one in groups.whole))
