"""PostgreSQL: the wanted columns of a table, copied out inside one read-only snapshot."""

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.request import Wanted
from sfumato.errors import DataError

KINDS = {20: pa.int64(), 21: pa.int64(), 23: pa.int64(), 700: pa.float64(), 701: pa.float64()}
"""PostgreSQL's numbers of its integers and floats, which stay numbers; everything else is text."""
DECIMAL = 1700


def postgres_table(address: str, wanted: Wanted) -> tuple[list[str], pa.Table]:
    """The wanted columns of `postgresql://…#schema.table` as they print; decimals lose their last zeros."""
    import psycopg
    from psycopg import sql

    where, _, table = address.partition("#")
    if not where.startswith(("postgresql://", "postgres://")):
        raise DataError("An address with :// must be of PostgreSQL, as in postgresql://host/database#schema.table.")
    if not table:
        raise DataError("A PostgreSQL source needs its table after a #, as in postgresql://host/database#schema.table.")
    name = sql.SQL(".").join(sql.Identifier(part) for part in table.split("."))
    with psycopg.connect(where) as connection:
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        asked = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(name)).description or []
        kinds = {one.name: one.type_code for one in asked}
        named = wanted.of(f"The table {table}", [one.name for one in asked])
        some = named or list(kinds)[:1]
        chosen = sql.SQL(", ").join(_written(column, kinds[column]) for column in some)
        copied = _copied(connection, sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv)").format(chosen, name))
    return named, _parsed(copied, [KINDS.get(kinds[column], pa.string()) for column in some])


def _written(column: str, kind: int) -> Any:
    from psycopg import sql

    form = "trim_scale({})" if kind == DECIMAL else "{}" if kind in KINDS else "CAST({} AS text)"
    return sql.SQL(form).format(sql.Identifier(column))


def _copied(connection: Any, query: Any) -> bytes:
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        return b"".join(copy)


def _parsed(copied: bytes, types: Sequence[Any]) -> pa.Table:
    from pyarrow import csv

    kinds = {f"c{place}": kind for place, kind in enumerate(types)}
    if not copied:
        return pa.schema(kinds).empty_table()
    return csv.read_csv(
        io.BytesIO(copied),
        read_options=csv.ReadOptions(column_names=list(kinds)),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(column_types=kinds, null_values=["", "NaN"], strings_can_be_null=False),
    )
