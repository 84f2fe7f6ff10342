"""Stream: the columns of all records as their sources have them, batch by batch, and what they find in others."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.columns.scan import BATCH, batches, can_scan
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.request import Wanted
from sfumato.confidential.engines.sources.files import place_of
from sfumato.confidential.engines.sources.frames import frame_table
from sfumato.confidential.engines.sql import dialect
from sfumato.errors import DataError

Records = Iterator[tuple[int, Any]]
"""Batches of records, each with the number of its source."""


def streamed(database: Database, columns: Sequence[str]) -> Records:
    """Some columns of the records of every source."""
    for number, source in enumerate(database.sources):
        for batch in _of_source(database, number, source, columns):
            yield number, pa.RecordBatch.from_arrays([_laid_out(one) for one in batch], list(columns))


def _of_source(database: Database, number: int, source: Any, columns: Sequence[str]) -> Iterator[list[Any]]:
    if database.reading.schema.joined:
        yield from _queried(database, _joined(database, number, columns), columns)
    elif not isinstance(source, (str, Path)):
        _, table = frame_table(source, Wanted(columns))
        yield from (batch.columns for batch in table.to_batches(BATCH))
    elif can_scan(source) and _is_plain(source, columns):
        yield from (list(batch.values()) for batch in batches(source, columns, ()))
    else:
        own = {column: f"c{place}" for place, column in enumerate(database.kinds_in(0)[number])}
        yield from _queried(database, f"SELECT {', '.join(own[one] for one in columns)} FROM source0_{number}", columns)


def _queried(database: Database, query: str, columns: Sequence[str]) -> Iterator[list[Any]]:
    for batch in database.session.batches(query, BATCH):
        yield [batch.column(place) for place in range(len(columns))]


def _laid_out(column: Any) -> Any:
    """A column whose values stand in it themselves, not in a list beside it."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_plain(source: Any, columns: Sequence[str]) -> bool:
    """Whether Arrow reads the columns of a Parquet file as DuckDB does."""
    from pyarrow.parquet import read_schema

    path = place_of(str(source))[0]
    schema, plain = read_schema(path), [name.lower() for name in read_schema(path).names]
    if path.suffix.lower() != ".parquet":
        return False
    return all(
        column in schema.names and plain.count(column.lower()) == 1 and "." not in column and _is_plain_type(kind)
        for column in columns
        for kind in ([schema.field(column).type] if column in schema.names else [pa.null()])
    )


def _is_plain_type(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_plain_type(kind.value_type)
    tests = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean)
    return kind in {pa.float32(), pa.float64()} or any(test(kind) for test in tests)


def _joined(database: Database, number: int, columns: Sequence[str]) -> str:
    """The query for columns of a source with what its records find in other tables; each finds one row."""
    own, joins = database.kinds_in(0)[number], []
    chosen = {column: f"own.c{place}" for place, column in enumerate(own)}
    for place, partner in enumerate(database.reading.schema.joined, start=1):
        parts = database.kinds_in(place)
        if any(list(one.items()) != list(parts[0].items()) for one in parts):
            raise DataError(
                f"The files of the table {partner.name} have columns of different types, which are not joined where "
                "records are spilled; store them alike, or leave --spill out."
            )
        there = {column: f"c{index}" for index, column in enumerate(parts[0])}
        named = f"*, {dialect.unit(there[partner.on], parts[0][partner.on])} AS name"
        rows = " UNION ALL ".join(f"SELECT {named} FROM source{place}_{part}" for part in range(len(parts)))
        on = dialect.unit(chosen[partner.on], own[partner.on])
        joins.append(f"LEFT JOIN ({rows}) AS side{place} ON {on} = side{place}.name")
        chosen = {column: f"side{place}.{at}" for column, at in there.items()} | chosen
    return f"SELECT {', '.join(chosen[one] for one in columns)} FROM source0_{number} AS own {' '.join(joins)}"
