"""Counted: groups of records in DuckDB, each with how many it is: what of them breaks a rule, judged as by DuckDB."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Iterable, Sequence

from sfumato.confidential.engines.engine import MOST_LISTED, Sources
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.queries.rules import Rules
from sfumato.confidential.engines.request import Fault, Reading
from sfumato.confidential.sealed import Sealed, without_values

COUNTED = " counted"
"""What columns are called that no source has: they begin with a space."""


class CountedGroups(Sealed):
    """The groups of every source as one reading sees them."""

    def __init__(self, tables: Sources, reading: Reading, carried: Sequence[str] = (COUNTED,)) -> None:
        self.database = Database(tables, reading, carried)
        self.ask = self.database.session.ask
        self.rules = Rules(self.database)

    def broken_of(self, conditions: Iterable[tuple[str, Fault]]) -> list[Fault]:
        """The rules that some group breaks."""
        found = [(fault, self.ask(f"SELECT 1 FROM coded WHERE {condition} LIMIT 1")) for condition, fault in conditions]
        return [fault for fault, is_broken in found if is_broken]

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        counted = (
            f"SELECT CAST(value AS VARCHAR) AS value, CAST(sum(counted) AS BIGINT) AS rows FROM ({fault.query}) "
            f"GROUP BY value ORDER BY rows DESC, value LIMIT {MOST_LISTED}"
        )
        with without_values("The offending values could not be listed"):
            return [(value, rows) for value, rows in self.ask(counted)]

    def broken(self, fault: Fault) -> int:
        with without_values("The offending records could not be counted"):
            ((rows,),) = self.ask(f"SELECT CAST(coalesce(sum(counted), 0) AS BIGINT) FROM ({fault.query})")
            return int(rows)

    def close(self) -> None:
        self.database.session.close()
