"""Database: all sources as relations of one session, each read by its own types; how a record becomes whole numbers."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines.engine import Sources
from sfumato.confidential.engines.request import Reading, Wanted
from sfumato.confidential.engines.sources.files import attach
from sfumato.confidential.engines.sources.tables import by_table, refuse_misplaced, wanted
from sfumato.confidential.engines.sql import dialect
from sfumato.confidential.engines.sql.session import Session
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError
from sfumato.schema import Attribute, Box, Clipped, InSteps, Level, Reported, Table

EXACT = 2**53
"""The whole numbers from which on doubles, which is how values are read, pass some over."""
Kinds = Mapping[str, str]


class Database(Sealed):
    """The records of one reading in a session of their own, with these relations.

    `side0`, `side1`, …: of the rows, and of every table that they are looked up in: a text and a number for every
    column that is read of it, the names of units and records, and what it is joined by.
    `records`: all of that, one row a record. `legible`: the records, a leaf for every attribute, -1 where there is
    none, and every value, null where there is none. `coded`: what cells are made of, and nothing else.
    `carried` are columns that stay what they are, as where a row is a group of records: how many these are.
    """

    def __init__(self, sources: Sources, reading: Reading, carried: Sequence[str] = ()) -> None:
        self.reading, self.session, self.carried = reading, Session(), tuple(carried)
        self._columns = reading.columns
        tables = by_table(sources, reading.schema)
        self.sources = tables[reading.schema.base]
        self._kinds: list[Kinds] = []
        self._held_by: dict[int, list[Kinds]] = {}
        columns = {table: self._gather(place, own) for place, (table, own) in enumerate(tables.items())}
        refuse_misplaced(columns, reading)
        self._refuse_mixed()
        joins = [f"LEFT JOIN side{place} ON on{place} = name{place}" for place in self.partners]
        self.session.run(f"CREATE VIEW records AS SELECT * FROM side0 {' '.join(joins)}")

    @property
    def partners(self) -> range:
        return range(1, len(self.reading.schema.joined) + 1)

    @property
    def places(self) -> range:
        return range(len(self.reading.attributes))

    @property
    def named(self) -> dict[str, str]:
        """The columns that name units and records, by what they are called in queries."""
        named = {f"unit{place}": name for place, name in enumerate(self.reading.names)}
        return named | {f"key{place}": column for place, column in enumerate(self.reading.schema.key)}

    @property
    def coded(self) -> list[str]:
        """What a record says, as whole numbers: its leaves and its values."""
        return [f"leaf{place}" for place in self.places] + [
            f"value{place}" for place in range(len(self.reading.values))
        ]

    def _gather(self, place: int, sources: Sequence[Any]) -> list[str]:
        """All sources of one table as one relation; which columns it has."""
        parts, asked, columns = [], wanted(self.reading, self.carried), list[str]()
        for number, source in enumerate(sources):
            name, own = f"source{place}_{number}", Wanted(columns, encoding=asked.encoding)
            columns = attach(self.session, name, source, own if columns else asked)
            self._kinds.append(dict(zip(columns, self.session.kinds(name).values(), strict=False)))
            self._held_by.setdefault(place, []).append(self._kinds[-1])
            parts.append(f"SELECT {self._chosen(place, number, self._kinds[-1])} FROM {name}")
        self.session.run(f"CREATE VIEW side{place} AS {' UNION ALL '.join(parts)}")
        return columns

    def _chosen(self, place: int, number: int, kinds: Kinds) -> str:
        """What is read of a table's source: texts, numbers and names, and what tables are joined by."""
        at, joined = {column: f"c{index}" for index, column in enumerate(kinds)}, self.reading.schema.joined
        keys = (
            {f"name{place}": joined[place - 1].on}
            if place
            else {f"on{one}": joined[one - 1].on for one in self.partners}
        )
        own = [column for column in kinds if not place or all(column != partner.on for partner in joined)]
        chosen = [] if place else [f"{number} AS source"]
        for column in own:
            if column in self._columns:
                index = self._columns.index(column)
                chosen.append(f"{dialect.text(at[column], kinds[column])} AS text{index}")
                chosen.append(f"{dialect.number(at[column], kinds[column])} AS number{index}")
        chosen += [f"{at[column]} AS {column.strip()}" for column in self.carried]
        named = keys | {alias: column for alias, column in self.named.items() if column in own}
        return ", ".join(
            chosen + [f"{dialect.unit(at[column], kinds[column])} AS {alias}" for alias, column in named.items()]
        )

    def kinds_in(self, place: int) -> list[Kinds]:
        """The types of the columns that are read of each source of a table, in their order there."""
        return self._held_by[place]

    def kinds_of(self, column: str) -> list[str]:
        """The types that a column has in the sources that have it."""
        return [kinds[column] for kinds in self._kinds if column in kinds]

    @property
    def worded(self) -> list[str]:
        """The columns of names, joined ones too, that are texts: a number is written in one way."""
        schema = self.reading.schema
        names = dict.fromkeys((*self.reading.names, *schema.key, *(one.on for one in schema.joined)))
        return [name for name in names if not all(dialect.is_number(kind) for kind in self.kinds_of(name))]

    def _refuse_mixed(self) -> None:
        """Stop where 7 and 007 could be one unit: a name is a number in every source, or a text in every one."""
        for name in (*self.named.values(), *(one.on for one in self.reading.schema.joined)):
            refuse_mixed(name, [dialect.name_kind(kind) for kind in self.kinds_of(name)])

    def code(self) -> int:
        """Make every record whole numbers; how many there are."""
        self._list_levels()
        chosen = [f"{self._leaf(place, one)} AS leaf{place}" for place, one in enumerate(self.reading.attributes)]
        chosen += [f"{self._value(one)} AS value{place}" for place, one in enumerate(self.reading.values)]
        texts = [self.text(attribute.column) for attribute in self.reading.attributes]
        joins = [f"LEFT JOIN levels{place} ON levels{place}.raw = {text}" for place, text in enumerate(texts)]
        self.session.run(
            f"CREATE VIEW legible AS SELECT {', '.join(['records.*', *chosen])} FROM records {' '.join(joins)}"
        )
        names = ", ".join([*self.coded, *self.named, *map(str.strip, self.carried), "0 AS nothing"])
        self.session.run(f"CREATE TABLE coded AS SELECT {names} FROM legible")
        ((read,),), ((coded,),) = (self.session.ask(f"SELECT count(*) FROM {name}") for name in ("side0", "coded"))
        if read != coded:  # no price holds for a record that counts twice
            raise DataError("A record was read as several; no cells are made of such data. Please report this.")
        return int(read)

    def text(self, column: str) -> str:
        """The value as text, '' where there is none."""
        return f"text{self._columns.index(column)}"

    def number(self, column: str) -> str:
        """The value as a number, null where it is none or NaN."""
        return f"number{self._columns.index(column)}"

    def given(self, value: Clipped | Reported) -> str:
        """The value as a number, or what a missing one stands for."""
        return dialect.given(self.number(value.column), self.text(value.column), value.missing, value.codes)

    def _list_levels(self) -> None:
        """A table for every attribute: which leaf each text means, no text meaning the missing level."""
        for place, attribute in enumerate(self.reading.attributes):
            codes = ({"": attribute.missing_leaf} if attribute.missing else {}) | attribute.raw_codes
            listed = {"raw": pa.array(list(codes), pa.string()), "leaf": pa.array(list(codes.values()), pa.int32())}
            self.session.register(f"listed{place}", pa.table(listed))
            self.session.run(f"CREATE TABLE levels{place} AS SELECT raw, leaf FROM listed{place}")

    def _leaf(self, place: int, attribute: Attribute) -> str:
        return dialect.leaf(attribute, f"levels{place}.leaf", self.number(attribute.column))

    def _value(self, value: InSteps) -> str:
        """A value in whole steps, null where a rule is broken."""
        if isinstance(value, Clipped):
            return dialect.clipped(self.given(value), value)
        if isinstance(value, Reported):
            steps = f"({self.given(value)} / {dialect.literal(value.step)})"
            sound = f"{steps} >= 0 AND {steps} < {EXACT} AND {dialect.whole(steps)}"
            return f"(CASE WHEN {sound} THEN CAST(round({steps}) AS BIGINT) END)"
        raise DataError(f"DuckDB does not read {type(value).__name__} of '{value.column}'; it clips, or takes reports.")

    def key(self, table: Table) -> str:
        """The number of a record's cell, the last attribute running fastest."""
        key = "CAST(0 AS BIGINT)"
        for attribute, length in zip(table.attributes, table.shape, strict=True):
            key = f"({key} * {length} + leaf{self.reading.attributes.index(attribute)})"
        return key

    def inside(self, box: Box) -> str:
        """The condition that a record is in a box."""
        names = [str(Level(one.name, one.depth)) for one in self.reading.attributes]
        leaves = {name: ", ".join(str(leaf) for leaf in np.flatnonzero(mask)) for name, mask in box.masks.items()}
        return " AND ".join(f"leaf{names.index(name)} IN ({listed or '-2'})" for name, listed in leaves.items())

    def within(self, universe: Box) -> str:
        return f" WHERE {self.inside(universe)}" if universe.masks else ""


def refuse_mixed(name: str, kinds: Sequence[str]) -> None:
    """Stop where a column that names somebody is a number in one source and a text in another."""
    if len(set(kinds)) > 1:
        raise DataError(
            f"Column '{name}' is of one type in one source and of another in another (a number and text, say), "
            "so one that it names could be taken for two; store it alike in all."
        )
