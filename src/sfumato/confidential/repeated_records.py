"""Repeated records: rows that are the same as another row in every column, where no key says what one record is.

For the agency alone. A copied record counts twice, and no rule refuses it.
"""
# ruff: noqa: S608 - columns are numbered; no name or value of the data stands in a query

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sfumato.confidential.engines.request import Wanted
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.confidential.engines.sources.files import attach
from sfumato.confidential.engines.sources.tables import by_table
from sfumato.confidential.engines.sql.session import Session
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.errors import how_many
from sfumato.plan import Plan

MOST_RECORDS = 2**25
"""How many records of one source are compared."""
USUAL = 10
"""Where a source names no unit, more than a tenth of its rows may well be alike, and nothing is said."""


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedRecords(Sealed):
    """How many rows of a source repeat another row of it."""

    repeated: int
    rows: int
    columns: int

    @property
    def words(self) -> str:
        return (
            f"{how_many(self.repeated, 'row')} of {self.rows:,} repeat another row in all {self.columns} columns, and "
            "the plan names no key. If records were copied, each copy counts: take the copies away. If such rows are "
            "different records, write [data] repeated_rows = true; else name the record: [data] key."
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {"repeated": self.repeated, "rows": self.rows, "columns": self.columns, "words": self.words}


@dataclass(frozen=True)
class EveryColumn(Wanted):
    """All columns of a source, whichever the plan reads."""

    def of(self, what: str, there: Sequence[str]) -> list[str]:  # noqa: ARG002 - none is missed
        return list(there)


def repeated_records(plan: Plan, microdata: Microdata) -> list[RepeatedRecords]:
    """The sources with rows that repeat; none of a cluster, and none where the plan has a key or allows it."""
    schema = plan.schema
    tables = by_table(microdata.sources, schema)
    if schema.key or schema.repeated_rows or plan.frame or any(map(in_cluster, chain(*tables.values()))):
        return []
    every = EveryColumn((), encoding=schema.encoding)
    found = [scrubbed(_repeated, source, every) for source in tables[schema.base]]
    return [one for one in found if one.repeated and (plan.hidden.id or one.repeated * USUAL <= one.rows)]


def _repeated(source: Any, every: EveryColumn) -> RepeatedRecords:
    session = Session()
    with closing(session):
        columns = attach(session, "source", source, every)
        ((rows,),) = session.ask("SELECT count(*) FROM source")
        if rows > MOST_RECORDS or not columns:
            return RepeatedRecords(0, int(rows), len(columns))
        names = ", ".join(f"c{place}" for place in range(len(columns)))
        alike = f"SELECT count(*) AS standing FROM source GROUP BY hash({names})"
        ((repeated,),) = session.ask(f"SELECT coalesce(sum(standing - 1), 0) FROM ({alike})")
        return RepeatedRecords(int(repeated), int(rows), len(columns))
