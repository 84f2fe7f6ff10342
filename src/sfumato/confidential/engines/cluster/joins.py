"""Joins: rows looked up in other tables of the cluster; keys that break a rule come here, judged as by DuckDB."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.counted import COUNTED, CountedGroups
from sfumato.confidential.engines.cluster.groups import MOST, Kinds
from sfumato.confidential.engines.cluster.session import ClusterSession
from sfumato.confidential.engines.cluster.spellings import TOO_MANY, spelt, spelt_alike
from sfumato.confidential.engines.queries.database import refuse_mixed
from sfumato.confidential.engines.request import Fault, Reading, Wanted
from sfumato.confidential.engines.sources.tables import refuse_misplaced, wanted
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError
from sfumato.schema import Partner

NAMED = " name"
"""What rows are looked up by; no source has a column that begins with a space."""


class ClusterJoins(Sealed):
    """The tables of one reading: its rows, and those that these are looked up in."""

    def __init__(self, session: ClusterSession, reading: Reading, places: Mapping[str, Sequence[int]]) -> None:
        self._session, self._reading, schema = session, reading, reading.schema
        self._kinds = {name: self._gathered(own) for name, own in places.items()}
        refuse_misplaced({name: list(kinds[0]) for name, kinds in self._kinds.items()}, reading)
        for partner in schema.joined:
            both = [*self._kinds[schema.base], *self._kinds[partner.name]]
            refuse_mixed(partner.on, [dialect.name_kind(kinds[partner.on]) for kinds in both])
        self._rows = [
            self._chosen(place, kinds)
            for place, kinds in zip(places[schema.base], self._kinds[schema.base], strict=True)
        ]
        self._partners = {one.name: self._united(one, places[one.name]) for one in schema.joined}
        broken = (self._broken(partner) for partner in schema.joined)
        self.judges = {fault: judge for own in broken for fault, judge in own.items()}

    def _gathered(self, places: Sequence[int]) -> list[Kinds]:
        """The columns that are read of the sources of one table, all of which have those of the first."""
        asked, found = wanted(self._reading), list[Kinds]()
        for place in places:
            columns, kinds = asked.of(f"Source {place + 1}", self._session.names(place)), self._session.kinds(place)
            for column in columns:
                dialect.refuse_foreign(column, kinds[column])
            asked = Wanted(columns)
            found.append({column: kinds[column] for column in columns})
        return found

    def _chosen(self, place: int, kinds: Kinds) -> Any:
        return self._session.chosen(place, list(kinds))

    def _united(self, partner: Partner, places: Sequence[int]) -> Any:
        """All rows of a table that rows are looked up in, with the names that they are found by."""
        kinds = self._kinds[partner.name]
        for column, kind in kinds[0].items():
            if any(own[column] != kind for own in kinds):
                raise DataError(
                    f"Column '{column}' has several types in the sources of the table {partner.name}; store it alike."
                )
        together = self._session.together([self._chosen(place, kinds[0]) for place in places])
        return together.selectExpr("*", f"{dialect.unit(partner.on, kinds[0][partner.on])} AS `{NAMED}`")

    def joined(self) -> list[Any]:
        """The rows of every source with what they find in the other tables."""
        of_rows = zip(self._rows, self._kinds[self._reading.schema.base], strict=True)
        return [reduce(partial(self._looked_up, kinds), self._reading.schema.joined, frame) for frame, kinds in of_rows]

    @property
    def rows(self) -> int:
        """How many rows there are to look up."""
        counted = [self._session.rows(self._session.summed(one, [], {"rows": "count(*)"})) for one in self._rows]
        return sum(rows for ((rows,),) in counted)

    def _looked_up(self, kinds: Kinds, rows: Any, partner: Partner) -> Any:
        keys = [one.on for one in self._reading.schema.joined]
        own = [one for one in self._kinds[partner.name][0] if one not in keys]
        there = self._partners[partner.name].selectExpr(*map(dialect.quoted, [NAMED, *own]))
        named = rows.selectExpr("*", f"{dialect.unit(partner.on, kinds[partner.on])} AS `{NAMED}`")
        return named.join(there, NAMED, "left").drop(NAMED)

    def _broken(self, partner: Partner) -> dict[Fault, CountedGroups]:
        """The rules that keys of a table break, or of the rows that are looked up in it."""
        schema = self._reading.schema
        keys = [
            frame.selectExpr(f"{on} AS raw0", f"{dialect.unit(partner.on, kinds[partner.on])} AS name0")
            for on in [dialect.quoted(partner.on)]
            for frame, kinds in zip(
                [*self._rows, self._partners[partner.name]],
                [*self._kinds[schema.base], self._kinds[partner.name][0]],
                strict=True,
            )
        ]
        *rows, there = self._suspected(keys, partner)
        tables = [self._fetched(frame, partner) for frame in (*rows, there)]
        if not any(map(len, tables)):
            return {}
        reading = Reading(replace(schema, key=(), joined=(partner,)), ())
        judge = CountedGroups({schema.base: tables[:-1], partner.name: tables[-1:]}, reading)
        return dict.fromkeys(judge.rules.of_joins(), judge)

    def _suspected(self, keys: Sequence[Any], partner: Partner) -> list[Any]:
        """Of the keys of rows, and last of the table, those that lack, stand twice, find nothing or are spelt anew."""
        if dialect.name_kind(self._kinds[partner.name][0][partner.on]) == "number":
            frames = [frame.selectExpr("*", "false AS alike") for frame in keys]
        else:
            named = spelt(self._session, keys, partner.on)
            alike = spelt_alike(self._session, named).selectExpr("spelling", "true AS alike")
            frames = [frame.join(alike, "spelling", "left") for frame in named]
        *rows, there = frames
        standing = self._session.summed(keys[-1], ["name0"], {"standing": "count(*)"})
        found = [frame.join(standing, "name0", "left").where("standing IS NULL OR alike") for frame in rows]
        return [*found, there.join(standing, "name0", "left").where("name0 IS NULL OR standing > 1 OR alike")]

    def _fetched(self, frame: Any, partner: Partner) -> Any:
        grouped = self._session.summed(frame, ["raw0"], {"counted": "count(*)"})
        refusal = f"Column '{partner.on}': keys stand twice, lack or find no row in {partner.name}. {TOO_MANY}"
        return self._session.table(grouped, MOST, refusal).rename_columns([partner.on, COUNTED])
