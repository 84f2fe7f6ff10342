"""Sources: every kind of place that microdata are kept, made a relation of one in-process DuckDB."""
# ruff: noqa: S608 - every name and text in a query is quoted or numbered here

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyarrow.parquet import read_schema

from sfumato.confidential.engines.frames import frame_table, readstat_table
from sfumato.confidential.engines.postgres import postgres_table
from sfumato.confidential.engines.reading import refuse_lacking
from sfumato.confidential.engines.values import quoted, quoted_text
from sfumato.confidential.sealed import without_values
from sfumato.errors import DataError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READSTAT = {".dta": "read_dta", ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport"}  # fmt: skip  # noqa: E501
DELIMITED = ((".csv",), (".tsv",), (".txt",), (".csv", ".gz"), (".tsv", ".gz"), (".txt", ".gz"))
DATABASES = (".duckdb", ".ddb", ".db")
KINDS = (
    ".csv, .csv.gz, .tsv, .parquet, .dta, .sav, .zsav, .por, .sas7bdat, .xpt, file.duckdb#table, postgresql://…#table"
)
HEADER = 1_000_000
"""The characters within which the names of the columns of a text file must stand."""


def attach(connection: "DuckDBPyConnection", name: str, source: Any, columns: Sequence[str]) -> None:
    """Make a source a relation whose columns are c0, c1, … in the order asked for; nothing else of it is read."""
    if not isinstance(source, (str, Path)):
        with without_values("The frame could not be read"):
            connection.register(name, frame_table(source, columns))
    elif "://" in str(source):
        with without_values("PostgreSQL gave no data; check address, rights and table"):
            connection.register(name, postgres_table(str(source), columns))
    else:
        path, table = place_of(str(source))
        with without_values(
            f"{path.name} could not be read; it must be whole, of the kind that its name says, and in UTF-8"
        ):
            _attach_file(connection, name, path, table, columns)


def refuse_unreadable(source: Any, columns: Sequence[str]) -> None:
    """Stop at what can be told without reading a record: no such file, no known kind, no such column."""
    if not isinstance(source, (str, Path)) or "://" in str(source):
        return
    path, _ = place_of(str(source))
    suffixes = tuple(suffix.lower() for suffix in path.suffixes)
    with without_values(f"{path.name} could not be read; it must be whole, and of the kind that its name says"):
        if suffixes[-1:] == (".parquet",):
            refuse_lacking(path.name, columns, read_schema(path).names)
        elif suffixes[-1:] in DELIMITED or suffixes[-2:] in DELIMITED:
            refuse_lacking(path.name, columns, _header(path, path.suffix.lower() == ".gz", columns)[0])
        elif not suffixes or suffixes[-1] not in (*READSTAT, *DATABASES):
            raise DataError(f"{path.name} is of no kind that can be read; known: {KINDS}.")


def place_of(text: str) -> tuple[Path, str]:
    """The file and, in a database, the table; a # is part of a file's name where there is such a file."""
    path, _, table = (text, "", "") if Path(text).is_file() else text.partition("#")
    if not Path(path).is_file():
        raise DataError(f"There is no file {path}.")
    # DuckDB takes these letters for a pattern, and would read every file that fits it.
    if any(letter in path for letter in "*?["):
        raise DataError(f"The name {path} holds *, ? or [, which would be taken for a pattern of names; rename it.")
    return Path(path).resolve(), table


def _attach_file(connection: "DuckDBPyConnection", name: str, path: Path, table: str, columns: Sequence[str]) -> None:
    suffixes = tuple(suffix.lower() for suffix in path.suffixes)
    place = quoted_text(str(path))
    if suffixes[-1:] == (".parquet",):
        # Hive partitioning would put parts of the path, state=NY, in the place of the column of that name.
        _choose(connection, name, f"read_parquet({place}, hive_partitioning=false)", path.name, columns)
    elif suffixes[-1:] in DELIMITED or suffixes[-2:] in DELIMITED:
        connection.execute(f"CREATE VIEW {name} AS {_csv(path, columns)}")
    elif suffixes and suffixes[-1] in READSTAT:
        connection.register(name, readstat_table(path, READSTAT[suffixes[-1]], columns))
    elif suffixes and suffixes[-1] in DATABASES:
        if not table:
            raise DataError(f"{path.name} is a database; name its table after a #, as in file.duckdb#jobs.")
        connection.execute(f"ATTACH {place} AS {name}_file (READ_ONLY, TYPE duckdb)")
        parts = ".".join(quoted(part) for part in table.split("."))
        _choose(connection, name, f"{name}_file.{parts}", path.name, columns)
    else:
        raise DataError(f"{path.name} is of no kind that can be read; known: {KINDS}.")


def _choose(connection: "DuckDBPyConnection", name: str, relation: str, what: str, columns: Sequence[str]) -> None:
    there = [column for column, *_ in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
    refuse_lacking(what, columns, there)
    chosen = ", ".join(f"{quoted(column)} AS c{place}" for place, column in enumerate(columns))
    connection.execute(f"CREATE VIEW {name} AS SELECT {chosen or '0 AS nothing'} FROM {relation}")


def _csv(path: Path, columns: Sequence[str]) -> str:
    """The query that reads a text file; its form is settled by its first line alone, never guessed from the records.

    Every field stays text, so that codes such as 01 and NO are what the file says.
    """
    packed = path.suffix.lower() == ".gz"
    names, delimiter = _header(path, packed, columns)
    refuse_lacking(path.name, columns, names)
    chosen = ", ".join(f"f{names.index(column)} AS c{place}" for place, column in enumerate(columns))
    fields = ", ".join(f"'f{place}': 'VARCHAR'" for place in range(len(names)))
    options = f"auto_detect=false, header=true, strict_mode=true, skip=0, comment='', quote='\"', escape='\"', delim='{delimiter}'"  # noqa: E501
    options += f", hive_partitioning=false, compression='{'gzip' if packed else 'none'}', columns={{{fields}}}"
    return f"SELECT {chosen or '0 AS nothing'} FROM read_csv({quoted_text(str(path))}, {options})"


def _header(path: Path, packed: bool, columns: Sequence[str]) -> tuple[list[str], str]:
    """The names in the first line, and the delimiter that finds most of the wanted columns there."""
    raw: Any = gzip.open(path) if packed else path.open("rb")  # noqa: SIM115 - closed by the wrapper
    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
        head = file.read(HEADER)
    if not head.strip():
        raise DataError(f"{path.name} is empty; its first line must name the columns.")
    read = {one: next(csv.reader(io.StringIO(head, newline=""), delimiter=one)) for one in (",", ";", "\t", "|")}
    best = max(read, key=lambda one: (len(set(columns) & set(read[one])), len(read[one])))
    return read[best], best
