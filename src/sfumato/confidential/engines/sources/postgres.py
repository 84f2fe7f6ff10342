"""PostgreSQL: the wanted columns of a table, read as they come inside one read-only snapshot."""

import io
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.request import Wanted
from sfumato.errors import DataError

KINDS = {20: pa.int64(), 21: pa.int64(), 23: pa.int64(), 700: pa.float64(), 701: pa.float64()}
"""PostgreSQL's numbers of its integers and floats, which stay numbers; everything else is text."""
DECIMAL = 1700
BLOCK = 2**24
"""Bytes that are taken apart at once; no record may be longer."""


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
        query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv)").format(chosen, name)
        with connection.cursor() as cursor, cursor.copy(query) as copy:
            return named, _parsed(_Copied(copy), [KINDS.get(kinds[column], pa.string()) for column in some])


def _written(column: str, kind: int) -> Any:
    from psycopg import sql

    form = "trim_scale({})" if kind == DECIMAL else "{}" if kind in KINDS else "CAST({} AS text)"
    return sql.SQL(form).format(sql.Identifier(column))


class _Copied(io.RawIOBase):
    """What a table prints, as a file that is read while it comes: no more than a block is held beside its columns."""

    def __init__(self, pieces: Iterable[Any]) -> None:
        self._pieces, self._left = iter(pieces), memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, space: Any) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        taken = min(len(space), len(self._left))
        space[:taken], self._left = self._left[:taken], self._left[taken:]
        return taken


def _parsed(copied: io.RawIOBase, types: Sequence[Any]) -> pa.Table:
    from pyarrow import csv

    kinds = {f"c{place}": kind for place, kind in enumerate(types)}
    file = io.BufferedReader(copied, BLOCK)
    if not file.peek(1):
        return pa.schema(kinds).empty_table()
    read = csv.open_csv(
        file,
        read_options=csv.ReadOptions(column_names=list(kinds), block_size=BLOCK),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(column_types=kinds, null_values=["", "NaN"], strings_can_be_null=False),
    )
    return pa.Table.from_batches(list(read), read.schema)
