"""Sources: every kind of place that microdata are kept, made a relation of one in-process DuckDB."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from sfumato.errors import DataError

READSTAT = {".dta": "read_dta", ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport"}  # fmt: skip  # noqa: E501
KINDS = (
    ".csv, .csv.gz, .tsv, .parquet, .dta, .sav, .zsav, .por, .sas7bdat, .xpt, file.duckdb#table, postgresql://…#table"
)


def attach(connection: duckdb.DuckDBPyConnection, name: str, source: Any, columns: list[str]) -> None:
    """Make a source known to the connection under a name; only the columns asked for leave a database."""
    if not isinstance(source, (str, Path)):
        _register_frame(connection, name, source, columns)
        return
    text = str(source)
    if text.startswith(("postgresql://", "postgres://")):
        connection.register(name, _postgres(text, columns))
        return
    path, _, table = text.partition("#")
    if not Path(path).is_file():
        raise DataError(f"There is no file {path}.")
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    _attach_file(connection, name, Path(path), table, suffixes)


def _attach_file(connection: duckdb.DuckDBPyConnection, name: str, path: Path, table: str, suffixes: list[str]) -> None:
    last = suffixes[-1] if suffixes else ""
    place = str(path).replace("'", "''")
    if last == ".parquet":
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{place}')")  # noqa: S608 - quoted above
    elif last in {".csv", ".tsv", ".txt"} or suffixes[-2:] in (([".csv", ".gz"]), ([".tsv", ".gz"])):
        # Every field stays text, so that codes such as 01 and NO are what the file says.
        connection.execute(
            f"CREATE VIEW {name} AS SELECT * FROM read_csv('{place}', header=true, all_varchar=true, strict_mode=true)"  # noqa: S608
        )
    elif last in READSTAT:
        connection.register(name, _readstat(path, last))
    elif last in {".duckdb", ".ddb", ".db"}:
        _attach_duckdb(connection, name, place, table)
    else:
        raise DataError(f"{path} is of no kind that can be read; known: {KINDS}.")


def _attach_duckdb(connection: duckdb.DuckDBPyConnection, name: str, place: str, table: str) -> None:
    if not table:
        raise DataError(f"{place} is a database; name its table after a #, as in file.duckdb#jobs.")
    connection.execute(f"ATTACH '{place}' AS {name}_file (READ_ONLY)")
    parts = ".".join(quoted(part) for part in table.split("."))
    connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {name}_file.{parts}")  # noqa: S608 - quoted above


def _readstat(path: Path, suffix: str) -> Any:
    """A Stata, SPSS or SAS file as an Arrow table; codes stay codes, labels belong in the levels."""
    import pyarrow as pa
    import pyreadstat

    content, _ = getattr(pyreadstat, READSTAT[suffix])(str(path), output_format="dict", apply_value_formats=False)
    return pa.table({column: pa.array(list(values), from_pandas=True) for column, values in content.items()})


def _register_frame(connection: duckdb.DuckDBPyConnection, name: str, frame: Any, columns: list[str]) -> None:
    import narwhals as nw

    try:
        native = nw.from_native(frame)
    except TypeError:
        raise DataError(
            "The data are neither a path nor a frame; give a file, or a pandas, polars or Arrow frame."
        ) from None
    collected = native.collect() if isinstance(native, nw.LazyFrame) else native
    kept = [column for column in collected.columns if column in columns]
    connection.register(name, collected.select(kept).to_arrow())


def _postgres(text: str, columns: list[str]) -> Any:
    """The columns of a PostgreSQL table, streamed in batches inside one read-only snapshot."""
    import psycopg
    import pyarrow as pa
    from psycopg import sql

    address, _, table = text.partition("#")
    if not table:
        raise DataError("A PostgreSQL source needs its table after a #, as in postgresql://host/database#schema.table.")
    name = sql.SQL(".").join(sql.Identifier(part) for part in table.split("."))
    try:
        with psycopg.connect(address) as connection:
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            there = [
                column.name
                for column in connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(name)).description or []
            ]
            kept = [column for column in there if column in columns]
            chosen = sql.SQL(", ").join(sql.Identifier(column) for column in kept)
            batches = list(_batches(connection, sql.SQL("SELECT {} FROM {}").format(chosen, name), kept))
    except psycopg.Error as error:
        raise DataError(
            f"PostgreSQL refused the table {table}: {type(error).__name__}; check address, rights and name."
        ) from None
    return (
        pa.concat_tables(batches, promote_options="permissive")
        if batches
        else pa.table({column: pa.array([], pa.string()) for column in kept})
    )


def _batches(connection: Any, query: Any, columns: list[str]) -> Iterator[Any]:
    import pyarrow as pa

    with connection.cursor(name="sfumato") as cursor:
        cursor.itersize = 100_000
        cursor.execute(query)
        while rows := cursor.fetchmany(100_000):
            yield pa.table(
                {
                    column: pa.array(list(values))
                    for column, values in zip(columns, zip(*rows, strict=True), strict=True)
                }
            )


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'
