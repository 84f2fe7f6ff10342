"""The DuckDB engine: finds what breaks the plan, enforces its bounds, and aggregates the records over cells."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.folding import Columns, laid_out, largest
from sfumato.confidential.engines.reading import Fault, Reading
from sfumato.confidential.engines.records import CLOSED, Database
from sfumato.confidential.engines.values import spelling
from sfumato.confidential.sealed import without_values
from sfumato.errors import DataError
from sfumato.schema import (
    Aggregate,
    Box,
    Clipped,
    Influence,
    Largest,
    Level,
    Ragged,
    Rows,
    Sorted,
    Sum,
    SumOfProducts,
    Table,
    Units,
)

MOST_KEPT = 999_999
"""The most rows that DuckDB can choose of one unit; to keep fewer than were promised keeps the promise too."""


class DuckDB(Database):
    """The records of one reading; `coded` has what cells are made of, with no more rows of a unit than promised."""

    def __init__(self, sources: Sequence[Any], reading: Reading, salt: bytes) -> None:
        with without_values("The data could not be read"):
            super().__init__(sources, reading)
            self._several = len(sources) > 1
            names = self._coded_columns + list(self._named)
            self._connection.execute(f"CREATE TABLE coded AS SELECT {', '.join([*names, '0 AS nothing'])} FROM legible")
            self._refuse_multiplied()
            self._faults = self._found_faults()
            if reading.id and not self._faults:
                self._keep_at_most(salt)

    def _refuse_multiplied(self) -> None:
        """Stop should one record have become several, as no price holds for that."""
        ((read,),), ((coded,),) = (self._ask(f"SELECT count(*) FROM {name}") for name in ("records", "coded"))
        if read != coded:
            raise DataError("A record was read as several; no cells are made of such data. Please report this.")

    @property
    def _coded_columns(self) -> list[str]:
        values = [f"value{place}" for place in range(len(self.reading.values))]
        return [f"leaf{place}" for place in self._places] + values

    def _found_faults(self) -> list[Fault]:
        conditions = self._conditions()
        asked = ", ".join(["count(*)", *(f"bool_or({condition})" for condition in conditions)])
        ((_, *broken),) = self._ask(f"SELECT {asked} FROM coded")
        faults = [fault for fault, is_broken in zip(conditions.values(), broken, strict=True) if is_broken]
        more = [fault for fault in self._possible_faults() if self._ask(f"{fault.query} LIMIT 1")]
        return faults + self._misspelt() + self._repeats() + more

    def _misspelt(self) -> list[Fault]:
        """The rule that a unit is written one way: 7, 07, 7.0 and ' 7' would each have rows of their own."""
        found = []
        for name in self._worded:
            unit = f"unit{self.reading.names.index(name)}"
            same = spelling(unit)
            ((broken,),) = self._ask(f"SELECT count(DISTINCT {unit}) > count(DISTINCT {same}) FROM coded")
            rule = "some names of units differ only in spaces, zeros or Unicode form; write each unit one way."
            shared = f"SELECT {same} FROM coded GROUP BY 1 HAVING count(DISTINCT {unit}) > 1"
            query = f"SELECT CAST({unit} AS VARCHAR) AS value FROM coded WHERE {same} IN ({shared})"
            found += [Fault(name, rule, query)] if broken else []
        return found

    def _possible_faults(self) -> list[Fault]:
        """Rules of an engine that reads more, each with the query that lists the values that break it."""
        return []

    def _conditions(self) -> dict[str, Fault]:
        """Every rule about single records, under the condition that breaks it."""
        whole = (place for place in self._places if self.reading.attributes[place].depth is None)
        found = {f"leaf{place} < 0": self._level_fault(place) for place in whole}
        for place, one in enumerate(self.reading.values):
            rule = "some values are no numbers; clean them."
            if one.missing is None:
                rule = "some values are missing or no numbers; declare `missing`, what they stand for, or clean them."
            found[f"value{place} IS NULL"] = Fault(one.column, rule, self._rows(one.column, f"value{place} IS NULL"))
        for place, name in enumerate(self.reading.names):
            rule = "some records name no unit; a record must belong to one, or its unit is not protected."
            found[f"unit{place} IS NULL"] = Fault(name, rule, self._rows(name, f"unit{place} IS NULL"))
        return found | self._impossible()

    def _level_fault(self, place: int) -> Fault:
        attribute = self.reading.attributes[place]
        rule = f"some values are not among the declared levels of '{attribute.name}'" + (
            "." if attribute.missing else ", or are missing and no `missing` level is declared."
        )
        return Fault(attribute.column, rule, self._rows(attribute.column, f"leaf{place} < 0"))

    def _impossible(self) -> dict[str, Fault]:
        """The combinations that cannot be, where all their attributes are read."""
        schema, found = self.reading.schema, {}
        read = {attribute.name for attribute in self.reading.attributes}
        for rule in schema.impossible:
            names = tuple(name for name, _ in rule.where)
            if read.issuperset(names):
                condition = self._inside(schema.table(names).box(dict(rule.where)))
                said = " and ".join(f"{name} in {', '.join(codes)}" for name, codes in rule.where)
                columns = [schema.attribute(name).column for name in names]
                words = f"some records are where the plan says none can be: {said}."
                found[condition] = Fault(", ".join(names), words, self._rows_of(columns, condition))
        return found

    def _rows(self, column: str, condition: str) -> str:
        """The query that lists the value of a column in every record where a condition holds."""
        return f"SELECT nullif({self._text(column)}, '') AS value FROM legible WHERE {condition}"

    def _rows_of(self, columns: Sequence[str], condition: str) -> str:
        texts = ", ".join(self._text(column) for column in columns)
        return f"SELECT concat_ws(', ', {texts}) AS value FROM legible WHERE {condition}"

    def _repeats(self) -> list[Fault]:
        """The rule that a record stands once in all sources, if it is broken."""
        key, columns = self.reading.schema.key, self._columns
        if key:
            rule = "some keys stand twice or are missing; a key names one record, in all files together."
            fault = Fault(key, rule, self._standing([key], "count(*) > 1 OR bool_or(key IS NULL)"))
            ((broken,),) = self._ask("SELECT count(*) > count(DISTINCT key) FROM coded")
            return [fault] if broken else []
        if self.reading.schema.repeated_rows or not columns or not self._several:
            return []
        rule = (
            "the same row stands in more than one source and would count twice; declare [data] key, "
            "or [data] repeated_rows = true if such rows are different records."
        )
        fault = Fault(", ".join(columns), rule, self._standing(columns, "min(source) < max(source)"))
        return [fault] if self._ask(f"{fault.query} LIMIT 1") else []

    def _standing(self, columns: Sequence[str], having: str) -> str:
        """The query that lists the records whose values in some columns, as a group, have a property."""
        texts = ", ".join(self._text(column) for column in columns)
        groups = f"SELECT {texts} FROM records GROUP BY {texts} HAVING {having}"
        return f"SELECT nullif(concat_ws(', ', {texts}), '') AS value FROM records SEMI JOIN ({groups}) USING ({texts})"

    def _keep_at_most(self, salt: bytes) -> None:
        """Of a unit with too many rows keep those with the smallest keyed hash of their content, whatever their order.

        What a unit keeps depends on its own rows alone, so that a unit which comes or goes moves no other unit's.
        """
        most = min(self.reading.at_most, MOST_KEPT)
        self._connection.execute(
            f"CREATE TABLE crowded AS SELECT unit0 FROM coded GROUP BY unit0 HAVING count(*) > {most}"
        )
        content = self._coded_columns + [f"unit{place}" for place in range(1, len(self.reading.names))]
        kept = _chosen("rowid", "coded SEMI JOIN crowded USING (unit0)", content, most, salt)
        self._connection.execute(
            f"DELETE FROM coded WHERE unit0 IN (SELECT unit0 FROM crowded) AND rowid NOT IN ({kept})"
        )

    def faults(self) -> list[Fault]:
        """The rules that the data break, none of them with a value."""
        return self._faults

    def examples(self, fault: Fault, most: int = 10) -> list[tuple[str | None, int]]:
        """The commonest offending values and how many records have each: confidential."""
        counted = (
            f"SELECT CAST(value AS VARCHAR) AS value, count(*) AS rows FROM ({fault.query}) "
            f"GROUP BY value ORDER BY rows DESC, value LIMIT {most}"
        )
        with without_values("The offending values could not be listed"):
            return [(value, rows) for value, rows in self._ask(counted)]

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        """The aggregates of every cell of a table, empty ones included, over the records in a universe."""
        places, found = self.occupied(table, aggregates, universe)
        return {name: laid_out(table, places, column) for name, column in found.items()}

    def occupied(
        self, table: Table, aggregates: Sequence[Aggregate], universe: Box
    ) -> tuple[NDArray[np.int64], Columns]:
        """The places of the cells that hold records of a universe, rising, and the aggregates of these cells alone."""
        if self._faults:
            raise DataError(f"{self._faults[0]} No cells are made of such data, as their bounds are not enforced.")
        rows = f"(SELECT {self._key(table)} AS cell, * FROM coded{self._within(universe)})"
        summed = [one for one in aggregates if type(one) in SUMMED]
        sums = [f"CAST({SUMMED[type(one)](self, one)} AS BIGINT)" for one in summed]
        chosen = ", ".join(["cell", "count(*)", *sums])
        with without_values("The data could not be summed in whole steps of 64 bits"):
            places, lengths, *columns = self._integers(f"SELECT {chosen} FROM {rows} GROUP BY cell ORDER BY cell")
            found: dict[Aggregate, Any] = dict(zip(summed, columns, strict=True))
            for one in aggregates:
                if type(one) not in SUMMED:
                    found[one] = LISTED[type(one)](self, one, rows, places, lengths)
        return places, found

    def _integers(self, query: str) -> list[NDArray[np.int64]]:
        columns = self._connection.execute(query).fetchnumpy().values()
        return [np.asarray(column, dtype=np.int64) for column in columns]

    def value_at(self, value: Clipped) -> str:
        return f"value{self.reading.values.index(value)}"

    def unit_at(self, per: str | None) -> str:
        return f"unit{self.reading.names.index(self.reading.named(per))}"

    def listed(self, values: Sequence[Clipped], rows: str, lengths: NDArray[np.int64]) -> Ragged:
        """Values of the rows of every cell, in rising order."""
        chosen = ", ".join(f"{self.value_at(value)} AS v{place}" for place, value in enumerate(values))
        order = ", ".join(["cell", *(f"v{place}" for place in range(len(values)))])
        _, *columns = self._integers(f"SELECT cell, {chosen} FROM {rows} ORDER BY {order}")
        listed = columns[0] if len(columns) == 1 else np.stack(columns, axis=-1)
        return Ragged(np.concatenate([[0], np.cumsum(lengths)]), listed)

    def largest(self, one: Largest, rows: str, places: NDArray[np.int64]) -> NDArray[np.int64]:
        total = f"CAST(sum({self.value_at(one.of)}) AS BIGINT)" if one.of else "count(*)"
        cells, totals = self._integers(f"SELECT cell, {total} FROM {rows} GROUP BY cell, {self.unit_at(one.per)}")
        return largest(np.searchsorted(places, cells), totals, len(places), one.k)

    def _key(self, table: Table) -> str:
        """The number of a record's cell, the last attribute running fastest."""
        key = "CAST(0 AS BIGINT)"
        for attribute, length in zip(table.attributes, table.shape, strict=True):
            key = f"({key} * {length} + leaf{self.reading.attributes.index(attribute)})"
        return key

    def _inside(self, box: Box) -> str:
        """The condition that a record is in a box."""
        names = [str(Level(one.name, one.depth)) for one in self.reading.attributes]
        leaves = {name: ", ".join(str(leaf) for leaf in np.flatnonzero(mask)) for name, mask in box.masks.items()}
        return " AND ".join(f"leaf{names.index(name)} IN ({listed or '-2'})" for name, listed in leaves.items())

    def _within(self, universe: Box) -> str:
        return f" WHERE {self._inside(universe)}" if universe.masks else ""


def _chosen(row: str, rows: str, columns: Sequence[str], most: int, salt: bytes) -> str:
    """The query that lists so many rows of every unit, those with the smallest keyed hash of their content."""
    # DuckDB's hash of several columns mixes the salt in by exclusive or; a second one makes all orders as likely.
    content = ", ".join(["CAST(unit0 AS VARCHAR)", *columns])
    return f"SELECT unnest(min_by({row}, hash(hash('{salt.hex()}', {content})), {most})) FROM {rows} GROUP BY unit0"


def kept_of(units: Any, content: Sequence[Any], rows: NDArray[np.int64], most: int, salt: bytes) -> NDArray[np.int64]:
    """Which rows of crowded units are kept, chosen as the engine chooses; their content in its order and types."""
    named = {f"c{place}": part for place, part in enumerate(content)}
    import duckdb

    connection = duckdb.connect(config=CLOSED)
    connection.register("crowd", pa.table({"unit0": units, "row": pa.array(rows), **named}))
    kept = _chosen('"row"', "crowd", list(named), most, salt)
    return np.asarray(connection.execute(kept).fetchnumpy().popitem()[1], dtype=np.int64)


SUMMED: dict[type[Aggregate], Callable[[DuckDB, Any], str]] = {
    Rows: lambda _, __: "count(*)",
    Units: lambda engine, one: f"count(DISTINCT {engine.unit_at(one.per)})",
    Sum: lambda engine, one: f"sum({engine.value_at(one.of)})",
    SumOfProducts: lambda engine, one: f"sum(CAST({engine.value_at(one.x)} AS HUGEINT) * {engine.value_at(one.y)})",
}
"""The aggregates that are one number a group."""
LISTED: dict[type[Aggregate], Callable[..., Any]] = {
    Largest: lambda engine, one, rows, places, _: engine.largest(one, rows, places),
    Sorted: lambda engine, one, rows, _, lengths: engine.listed([one.of], rows, lengths),
    Influence: lambda engine, one, rows, _, lengths: engine.listed([one.y, one.x], rows, lengths),
}
"""The aggregates that are more, each by a query of its own."""
