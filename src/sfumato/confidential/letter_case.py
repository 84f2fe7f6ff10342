"""Letter case: names of units, records and firms that differ in upper and lower case alone, for the agency to look at.

They stay different names, so this is no fault; where they are one unit in two spellings, it counts twice.
"""
# ruff: noqa: S608 - columns are numbered; no name or value of the data stands in a query

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.confidential.engines.sources.tables import by_table
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.confidential.tabulate import reading
from sfumato.plan import Plan

MOST = 20
"""How many names of a column are listed."""


@dataclass(frozen=True, eq=False, repr=False)
class CasedNames(Sealed):
    """Names of one column that differ in case alone, those that do beside one another."""

    column: str
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        listed = ", ".join(map(repr, self.names))
        return (
            f"In '{self.column}' some names differ in upper and lower case alone: {listed}. They count as different "
            "ones; where they are not, write each in one way."
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {"column": self.column, "names": list(self.names), "words": self.words}


def cased_names(plan: Plan, microdata: Microdata) -> list[CasedNames]:
    """Every column of names, of the data and of firms in the frame, in which some differ in case alone."""
    found = scrubbed(_of_data, plan, microdata)
    found += [_alike(firm, names) for firm, names in plan.over.firm_names().items()]
    return [one for one in found if one.names]


def _of_data(plan: Plan, microdata: Microdata) -> list[CasedNames]:
    if any(map(in_cluster, chain(*by_table(microdata.sources, plan.schema).values()))):
        return []  # names stay there
    records = Database(microdata.sources, reading(plan))
    found = []
    with closing(records.session) as session:
        for column, name in records.named.items():
            texts = f"SELECT DISTINCT CAST({column} AS VARCHAR) AS name FROM records WHERE {column} IS NOT NULL"
            alike = f"SELECT lower(name) FROM ({texts}) GROUP BY lower(name) HAVING count(*) > 1"
            listed = (
                f"SELECT name FROM ({texts}) WHERE lower(name) IN ({alike}) ORDER BY lower(name), name LIMIT {MOST}"
            )
            found.append(CasedNames(name, tuple(one for (one,) in session.ask(listed))))
    return found


def _alike(column: str, names: Iterable[str]) -> CasedNames:
    by_lower: dict[str, set[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), set()).add(name)
    alike = [one for _, some in sorted(by_lower.items()) if len(some) > 1 for one in sorted(some)]
    return CasedNames(column, tuple(alike[:MOST]))
