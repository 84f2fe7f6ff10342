"""The DuckDB engine: reads microdata into leaf numbers and lattice values once, then aggregates them over cells."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.reading import Fault, Reading
from sfumato.confidential.engines.sources import attach, quoted
from sfumato.errors import DataError
from sfumato.schema import Aggregate, Attribute, Bands, Box, Rows, Sum, Table

Columns = Mapping[Aggregate, NDArray[np.int64]]


class DuckDB:
    """One private in-memory database; it writes nothing to disk and loads no extension."""

    def __init__(self, sources: Sequence[Any], reading: Reading, salt: bytes) -> None:
        self.reading = reading
        self._connection = duckdb.connect(
            config={"autoinstall_known_extensions": False, "autoload_known_extensions": False, "temp_directory": ""}
        )
        try:
            self._types = self._attach(sources)
            self._faults = self._read(salt)
        except duckdb.Error as error:
            # The message of the database may quote a value, so only its kind is passed on.
            raise DataError(
                f"The data could not be read ({type(error).__name__}); `sfumato check` lists what does not fit."
            ) from None

    def _ask(self, query: str) -> list[Any]:
        return self._connection.execute(query).fetchall()

    def _attach(self, sources: Sequence[Any]) -> dict[str, str]:
        parts = []
        for place, source in enumerate(sources):
            attach(self._connection, f"source{place}", source, self.reading.columns)
            self._refuse_lacking(f"source{place}", place if len(sources) > 1 else None)
            chosen = ", ".join(quoted(column) for column in self.reading.columns)
            parts.append(f"SELECT {chosen}{', ' if chosen else ''}{place} AS source_file FROM source{place}")  # noqa: S608
        self._connection.execute(f"CREATE VIEW records AS {' UNION ALL BY NAME '.join(parts)}")
        return {name: kind for name, kind, *_ in self._ask("DESCRIBE records")}

    def _refuse_lacking(self, name: str, place: int | None) -> None:
        there = {column for column, *_ in self._ask(f"DESCRIBE {name}")}
        lacking = [column for column in self.reading.columns if column not in there]
        if lacking:
            which = "" if place is None else f" (source {place + 1})"
            raise DataError(
                f"The data{which} have no column '{lacking[0]}', which the plan reads; "
                f"name the right one with `from`. Lacking in all: {', '.join(lacking)}."
            )

    def _read(self, salt: bytes) -> list[Fault]:
        """Turn every record into leaf numbers and lattice values; keep at most so many of a unit's rows."""
        chosen = [f"{self._leaf(place)} AS leaf{place}" for place in range(len(self.reading.attributes))]
        chosen += [f"{self._value(one)} AS value{place}" for place, one in enumerate(self.reading.sums)]
        chosen += [f"{self._text(self.reading.id)} AS unit"] if self.reading.id else []
        joins = "".join(self._join(place) for place in range(len(self.reading.attributes)))
        self._connection.execute(
            f"CREATE TABLE coded AS SELECT {', '.join([*chosen, '0 AS none'])} FROM records{joins}"
        )  # noqa: S608
        faults = self._found_faults()
        if self.reading.id and not faults:
            self._keep_at_most(salt)
        return faults

    def _join(self, place: int) -> str:
        """Register which leaf each value means, and join it by the value's text."""
        attribute = self.reading.attributes[place]
        codes = attribute.raw_codes
        listed = pa.table(
            {"raw": pa.array(list(codes), pa.string()), "leaf": pa.array(list(codes.values()), pa.int32())}
        )
        self._connection.register(f"levels{place}", listed)
        return f" LEFT JOIN levels{place} ON levels{place}.raw = {self._text(attribute.column)}"

    def _text(self, column: str | None) -> str:
        """The text of a value; whole numbers lose their .0, NaN is null."""
        name = f"records.{quoted(column or '')}"
        kind = self._types[column or ""].split("(")[0]
        if kind in {"FLOAT", "DOUBLE", "DECIMAL"}:
            number = f"CAST({name} AS DOUBLE)"
            whole = f"{number} = floor({number}) AND abs({number}) < 9e15"
            return f"(CASE WHEN isnan({number}) THEN NULL WHEN {whole} THEN CAST(CAST({number} AS BIGINT) AS VARCHAR) ELSE CAST({name} AS VARCHAR) END)"  # noqa: E501
        return f"CAST({name} AS VARCHAR)"

    def _number(self, column: str) -> str:
        """The value as a number, null where it is none or NaN."""
        number = f"TRY_CAST(records.{quoted(column)} AS DOUBLE)"
        return f"(CASE WHEN isnan({number}) THEN NULL ELSE {number} END)"

    def _leaf(self, place: int) -> str:
        """The number of the leaf, -1 where the value breaks the declared levels."""
        attribute = self.reading.attributes[place]
        parts = [f"WHEN levels{place}.leaf IS NOT NULL THEN levels{place}.leaf"]
        if attribute.missing:
            parts.append(
                f"WHEN {self._text(attribute.column)} IS NULL THEN {attribute.levels.leaf_index[attribute.missing.level]}"
            )
        if isinstance(attribute.read, Bands):
            parts += self._bands(attribute, attribute.read)
        return f"CAST(CASE {' '.join(parts)} ELSE -1 END AS INTEGER)"

    def _bands(self, attribute: Attribute, bands: Bands) -> list[str]:
        number = self._number(attribute.column)
        missing = attribute.missing.level if attribute.missing else None
        leaves = [place for place, leaf in enumerate(attribute.levels.leaves) if leaf != missing]
        pairs = list(zip(bands.edges, leaves, strict=True))
        return [f"WHEN {number} >= {_literal(edge)} THEN {leaf}" for edge, leaf in reversed(pairs)]

    def _value(self, one: Sum) -> str:
        """The value in whole steps: held within the clip, rounded half up, held again."""
        number = self._number(one.column)
        if one.missing is not None:
            number = f"coalesce({number}, {_literal(one.missing)})"
        low, high = int(one.low / one.step), int(one.high / one.step)
        held = f"greatest(least({number}, {_literal(one.high)}), {_literal(one.low)})"
        steps = f"CAST(floor({held} / {_literal(one.step)} + 0.5) AS BIGINT)"
        # greatest and least pass over nulls, so a missing value is kept null by hand.
        return f"(CASE WHEN {number} IS NULL THEN NULL ELSE greatest(least({steps}, {high}), {low}) END)"

    def _found_faults(self) -> list[Fault]:
        faults = [fault for fault in self._possible_faults() if self._ask(f"{fault.query} LIMIT 1")]
        return faults

    def _possible_faults(self) -> list[Fault]:
        """Every rule that the data may break, with the query that finds the rows that do."""
        faults = [self._level_fault(place) for place in range(len(self.reading.attributes))]
        for one in self.reading.sums:
            if one.missing is None:
                rule = (
                    "some values are missing or no numbers; declare `missing`, the value they stand for, or clean them."
                )
                faults.append(Fault(one.column, rule, self._rows(one.column, f"{self._number(one.column)} IS NULL")))
        if self.reading.id:
            rule = "some records name no unit; a record must belong to one, or its unit is not protected."
            faults.append(
                Fault(self.reading.id, rule, self._rows(self.reading.id, f"{self._text(self.reading.id)} IS NULL"))
            )
        return faults + self._repeats()

    def _level_fault(self, place: int) -> Fault:
        attribute = self.reading.attributes[place]
        rule = f"some values are not among the declared levels of '{attribute.name}'" + (
            "." if attribute.missing else ", or are missing and no `missing` level is declared."
        )
        joined = f"FROM records{self._join(place)} WHERE {self._leaf(place)} < 0"
        return Fault(attribute.column, rule, f"SELECT {self._text(attribute.column)} AS value {joined}")

    def _rows(self, column: str, condition: str) -> str:
        return f"SELECT CAST(records.{quoted(column)} AS VARCHAR) AS value FROM records WHERE {condition}"  # noqa: S608

    def _repeats(self) -> list[Fault]:
        key = self.reading.schema.key
        if key:
            query = (
                f"SELECT {self._text(key)} AS value FROM records GROUP BY value HAVING count(*) > 1 OR value IS NULL"  # noqa: S608
            )
            return [
                Fault(
                    key, "some keys stand twice or are missing; a key names one record, in all files together.", query
                )
            ]
        if self.reading.schema.repeated_rows or not self.reading.columns:
            return []
        chosen = ", ".join(quoted(column) for column in self.reading.columns)
        query = f"SELECT 'a whole row' AS value FROM records GROUP BY {chosen} HAVING count(DISTINCT source_file) > 1"  # noqa: S608
        rule = (
            "the same row stands in more than one source and would count twice; declare [data] key, "
            "or [data] repeated_rows = true if such rows are different records."
        )
        return [Fault(", ".join(self.reading.columns), rule, query)]

    def _keep_at_most(self, salt: bytes) -> None:
        """Of a unit with too many rows keep those with the smallest keyed hash, whatever their order."""
        names = [name for name, *_ in self._ask("DESCRIBE coded")]
        content = ", '|', ".join(f"coalesce(CAST({name} AS VARCHAR), '')" for name in names)
        hashed = f"sha256(concat('{salt.hex()}', {content}))"
        self._connection.execute(
            f"CREATE TABLE kept AS SELECT {', '.join(names)} FROM coded "  # noqa: S608
            f"QUALIFY count(*) OVER (PARTITION BY unit) <= {self.reading.at_most} "
            f"OR row_number() OVER (PARTITION BY unit ORDER BY {hashed}) <= {self.reading.at_most}"
        )
        self._connection.execute("DROP TABLE coded")
        self._connection.execute("ALTER TABLE kept RENAME TO coded")

    def faults(self) -> list[Fault]:
        """The rules that the data break, none of them with a value."""
        return self._faults

    def examples(self, fault: Fault, most: int = 10) -> list[tuple[str | None, int]]:
        """The commonest offending values and how many rows have each: confidential."""
        counted = (
            f"SELECT value, count(*) AS rows FROM ({fault.query}) GROUP BY value ORDER BY rows DESC, value LIMIT {most}"  # noqa: S608
        )
        return [(value, rows) for value, rows in self._ask(counted)]

    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        """The aggregates of every cell of a table, empty ones included, over the records in a universe."""
        wanted = [aggregate for aggregate in aggregates if isinstance(aggregate, Sum)]
        sums = ", ".join(f"CAST(sum(value{self.reading.sums.index(one)}) AS BIGINT)" for one in wanted)
        query = f"SELECT {self._key(table)} AS cell, count(*){', ' if sums else ''}{sums} FROM coded{self._within(universe)} GROUP BY cell"  # noqa: S608, E501
        try:
            found = self._connection.execute(query).fetchnumpy()
        except duckdb.Error as error:
            raise DataError(f"The data could not be summed ({type(error).__name__}).") from None
        places, *columns = found.values()
        named: list[Aggregate] = [Rows(), *wanted]
        return {name: _dense(table, places, column) for name, column in zip(named, columns, strict=True)}

    def _key(self, table: Table) -> str:
        """The number of a record's cell, the last attribute running fastest."""
        key = "0"
        for attribute, length in zip(table.attributes, table.shape, strict=True):
            key = f"({key} * {length} + leaf{self.reading.attributes.index(attribute)})"
        return f"CAST({key} AS BIGINT)"

    def _within(self, universe: Box) -> str:
        names = [attribute.name for attribute in self.reading.attributes]
        conditions = [
            f"leaf{names.index(name)} IN ({', '.join(str(leaf) for leaf in np.flatnonzero(mask)) or '-1'})"
            for name, mask in universe.masks.items()
        ]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _dense(table: Table, places: NDArray[np.int64], column: NDArray[Any]) -> NDArray[np.int64]:
    cells = np.zeros(table.size, dtype=np.int64)
    cells[np.asarray(places, dtype=np.int64)] = np.asarray(column, dtype=np.int64)
    return cells.reshape(table.shape)


def _literal(number: Fraction) -> str:
    return f"CAST({float(number)!r} AS DOUBLE)"
