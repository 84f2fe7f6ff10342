"""PostgreSQL: the wanted columns of a table, copied out inside one read-only snapshot."""

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.reading import refuse_lacking
from sfumato.errors import DataError

FLOATS, DECIMAL = (700, 701), 1700
"""PostgreSQL's numbers of its types: these are written with needless letters or zeros, 1e+06 and 1.50."""


def postgres_table(address: str, columns: Sequence[str]) -> pa.Table:
    """The columns of `postgresql://…#schema.table` as they print; floats stay floats, decimals lose their last zeros."""
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
        refuse_lacking(f"The table {table}", columns, [one.name for one in asked])
        wanted = list(columns) or list(kinds)[:1]
        chosen = sql.SQL(", ").join(_written(column, kinds[column]) for column in wanted)
        copied = _copied(connection, sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv)").format(chosen, name))
    return _parsed(copied, [kinds[column] in FLOATS for column in wanted])


def _written(column: str, kind: int) -> Any:
    from psycopg import sql

    form = "trim_scale({})" if kind == DECIMAL else "{}" if kind in FLOATS else "CAST({} AS text)"
    return sql.SQL(form).format(sql.Identifier(column))


def _copied(connection: Any, query: Any) -> bytes:
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        return b"".join(copy)


def _parsed(copied: bytes, floats: Sequence[bool]) -> pa.Table:
    from pyarrow import csv

    kinds = {f"c{place}": pa.float64() if is_float else pa.string() for place, is_float in enumerate(floats)}
    if not copied:
        return pa.schema(kinds).empty_table()
    return csv.read_csv(
        io.BytesIO(copied),
        read_options=csv.ReadOptions(column_names=list(kinds)),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(column_types=kinds, null_values=["", "NaN"], strings_can_be_null=False),
    )
