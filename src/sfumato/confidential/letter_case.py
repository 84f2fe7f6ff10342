"""Letter case: names of units, records and firms that differ in upper and lower case alone, for the agency to look at.

They stay different names, so this is no fault; where they are one unit in two spellings, it counts twice.
"""
# ruff: noqa: S608 - columns are numbered; no name or value of the data stands in a query

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.confidential.engines.sources.tables import by_table
from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.engines.spill.partings import of_spellings
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.confidential.tabulate import reading
from sfumato.plan import Plan

if TYPE_CHECKING:
    from sfumato.confidential.engines.spill.spilling import SpilledParts

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
    need = reading(plan)
    records = Database(microdata.sources, need)
    with closing(records.session):
        if microdata.spill is not None:
            return _of_spilled(records, SpillFolder(microdata.spill))
        return [CasedNames(name, tuple(_listed(records, column))) for column, name in records.named.items()]


def _of_spilled(records: Database, folder: SpillFolder) -> list[CasedNames]:
    """The same of names that are spilled: those that differ in case alone are in one part."""
    from sfumato.confidential.engines.spill.spilling import Spilling

    need = records.reading
    named = dict.fromkeys(records.named.values())
    with closing(Spilling(records, folder, [of_spellings(need, name) for name in named])) as spilling:
        found = {parts.parting.by[0]: list(_of_parts(parts)) for parts in spilling.parts}
    listed = {name: sorted(names, key=lambda one: (one.lower(), one))[:MOST] for name, names in found.items()}
    return [CasedNames(name, tuple(listed[name])) for name in records.named.values()]


def _of_parts(parts: "SpilledParts") -> Iterator[str]:
    for tables in parts.records:
        records = Database(tables, parts.parting.reading)
        with closing(records.session):
            yield from _listed(records, "unit0")


def _listed(records: Database, column: str) -> list[str]:
    """The names of a column that differ in case alone, a few."""
    texts = f"SELECT DISTINCT CAST({column} AS VARCHAR) AS name FROM records WHERE {column} IS NOT NULL"
    alike = f"SELECT lower(name) FROM ({texts}) GROUP BY lower(name) HAVING count(*) > 1"
    listed = f"SELECT name FROM ({texts}) WHERE lower(name) IN ({alike}) ORDER BY lower(name), name LIMIT {MOST}"
    return [one for (one,) in records.session.ask(listed)]


def _alike(column: str, names: Iterable[str]) -> CasedNames:
    by_lower: dict[str, set[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), set()).add(name)
    alike = [one for _, some in sorted(by_lower.items()) if len(some) > 1 for one in sorted(some)]
    return CasedNames(column, tuple(alike[:MOST]))
