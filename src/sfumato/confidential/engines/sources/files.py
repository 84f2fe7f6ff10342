"""Files: every kind of place that microdata are kept, made a relation of one session."""
# ruff: noqa: S608 - every name and text in a query is quoted or numbered here

import csv
import gzip
import io
from pathlib import Path
from typing import Any

from pyarrow.parquet import read_schema

from sfumato.confidential.engines.request import Wanted
from sfumato.confidential.engines.sources.frames import frame_table, readstat_table
from sfumato.confidential.engines.sources.postgres import postgres_table
from sfumato.confidential.engines.sql.dialect import quoted, quoted_text
from sfumato.confidential.engines.sql.session import Session
from sfumato.confidential.sealed import without_values
from sfumato.errors import DataError

READSTAT = {".dta": "read_dta", ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport"}  # fmt: skip  # noqa: E501
DELIMITED = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
DATABASES = (".duckdb", ".ddb", ".db")
KINDS = (
    ".csv, .csv.gz, .tsv, .parquet, .dta, .sav, .zsav, .por, .sas7bdat, .xpt, file.duckdb#table, postgresql://…#table"
)
HEADER = 1_000_000
"""The characters within which the names of the columns of a text file must stand."""


def attach(session: Session, name: str, source: Any, wanted: Wanted) -> list[str]:
    """Make a source a relation whose columns are c0, c1, …; which these are is told, and nothing else is read."""
    if not isinstance(source, (str, Path)):
        with without_values("The frame could not be read"):
            return _registered(session, name, *frame_table(source, wanted))
    if "://" in str(source):
        with without_values("PostgreSQL gave no data; check address, rights and table"):
            return _registered(session, name, *postgres_table(str(source), wanted))
    path, table = place_of(str(source))
    with without_values(
        f"{path.name} could not be read; it must be whole, of the kind that its name says, and in UTF-8"
    ):
        return _attach_file(session, name, path, table, wanted)


def told_columns(source: Any, wanted: Wanted) -> list[str] | None:
    """The wanted columns that a file has, told without reading a record; nothing is said of databases and frames.

    No such file and no known kind are refused here.
    """
    if not isinstance(source, (str, Path)) or "://" in str(source):
        return None
    path, _ = place_of(str(source))
    kind = path.name.lower()
    with without_values(f"{path.name} could not be read; it must be whole, and of the kind that its name says"):
        if kind.endswith(".parquet"):
            return wanted.of(path.name, read_schema(path).names)
        if kind.endswith(DELIMITED):
            return wanted.of(path.name, _header(path, path.suffix.lower() == ".gz", wanted)[0])
        if not kind.endswith((*READSTAT, *DATABASES)):
            raise DataError(f"{path.name} is of no kind that can be read; known: {KINDS}.")
    return None


def place_of(text: str) -> tuple[Path, str]:
    """The file and, in a database, the table; a # is part of a file's name where there is such a file."""
    path, _, table = (text, "", "") if Path(text).is_file() else text.partition("#")
    if not Path(path).is_file():
        raise DataError(f"There is no file {path}.")
    # DuckDB takes these letters for a pattern, and would read every file that fits it.
    if any(letter in path for letter in "*?["):
        raise DataError(f"The name {path} holds *, ? or [, which would be taken for a pattern of names; rename it.")
    return Path(path).resolve(), table


def _attach_file(session: Session, name: str, path: Path, table: str, wanted: Wanted) -> list[str]:
    kind = path.name.lower()
    if kind.endswith(".parquet"):
        # Hive partitioning would put parts of the path, state=NY, in the place of the column of that name.
        relation = f"read_parquet({quoted_text(str(path))}, hive_partitioning=false)"
        return _choose(session, name, relation, path.name, wanted)
    if kind.endswith(DELIMITED):
        return _attach_csv(session, name, path, wanted)
    if kind.endswith(tuple(READSTAT)):
        return _registered(session, name, *readstat_table(path, READSTAT[path.suffix.lower()], wanted))
    if kind.endswith(DATABASES):
        if not table:
            raise DataError(f"{path.name} is a database; name its table after a #, as in file.duckdb#jobs.")
        session.run(f"ATTACH {quoted_text(str(path))} AS {name}_file (READ_ONLY, TYPE duckdb)")
        parts = ".".join(quoted(part) for part in table.split("."))
        return _choose(session, name, f"{name}_file.{parts}", path.name, wanted)
    raise DataError(f"{path.name} is of no kind that can be read; known: {KINDS}.")


def _registered(session: Session, name: str, columns: list[str], table: Any) -> list[str]:
    session.register(name, table)
    return columns


def _choose(session: Session, name: str, relation: str, what: str, wanted: Wanted) -> list[str]:
    columns = wanted.of(what, [column for column, *_ in session.ask(f"DESCRIBE SELECT * FROM {relation}")])
    chosen = ", ".join(f"{quoted(column)} AS c{place}" for place, column in enumerate(columns))
    session.run(f"CREATE VIEW {name} AS SELECT {chosen or '0 AS nothing'} FROM {relation}")
    return columns


def _attach_csv(session: Session, name: str, path: Path, wanted: Wanted) -> list[str]:
    """A text file; its form is settled by its first line alone, never guessed from the records.

    Every field stays text, so that codes such as 01 and NO are what the file says.
    """
    packed = path.suffix.lower() == ".gz"
    names, delimiter = _header(path, packed, wanted)
    columns = wanted.of(path.name, names)
    chosen = ", ".join(f"f{names.index(column)} AS c{place}" for place, column in enumerate(columns))
    fields = ", ".join(f"'f{place}': 'VARCHAR'" for place in range(len(names)))
    options = f"auto_detect=false, header=true, strict_mode=true, skip=0, comment='', quote='\"', escape='\"', delim='{delimiter}'"  # noqa: E501
    options += f", hive_partitioning=false, compression='{'gzip' if packed else 'none'}', columns={{{fields}}}"
    relation = f"read_csv({quoted_text(str(path))}, {options})"
    session.texts.append(path)
    session.run(f"CREATE VIEW {name} AS SELECT {chosen or '0 AS nothing'} FROM {relation}")
    return columns


def _header(path: Path, packed: bool, wanted: Wanted) -> tuple[list[str], str]:
    """The names in the first line, and the delimiter that finds most of the wanted columns there."""
    raw: Any = gzip.open(path) if packed else path.open("rb")  # noqa: SIM115 - closed by the wrapper
    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
        head = file.read(HEADER)
    if not head.strip():
        raise DataError(f"{path.name} is empty; its first line must name the columns.")
    read = {one: next(csv.reader(io.StringIO(head, newline=""), delimiter=one)) for one in (",", ";", "\t", "|")}
    best = max(read, key=lambda one: (len(set(wanted.columns) & set(read[one])), len(read[one])))
    return read[best], best
