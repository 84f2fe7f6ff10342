"""Files: every kind of place that microdata are kept, made a relation of one session."""
# ruff: noqa: S608 - every name and text in a query is quoted or numbered here

import csv
import io
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyarrow.parquet import read_schema

from sfumato.confidential.engines.encodings import refuse_foreign, unpacked
from sfumato.confidential.engines.request import Wanted
from sfumato.confidential.engines.sources.frames import frame_table, readstat_labels, readstat_table
from sfumato.confidential.engines.sources.parts import foldered
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
    with without_values(f"{path.name} could not be read; it must be whole, and of the kind that its name says"):
        return _attach_file(session, name, path, table, wanted)


def told_columns(source: Any, wanted: Wanted) -> list[str] | None:
    """The wanted columns that a file has, told without reading a record; nothing is said of databases and frames.

    No such file and no known kind are refused here.
    """
    path = file_of(source)
    if path is None:
        return None
    kind = path.name.lower()
    with without_values(f"{path.name} could not be read; it must be whole, and of the kind that its name says"):
        if kind.endswith(".parquet"):
            return wanted.of(path.name, [*(own := read_schema(path).names), *foldered(path, own, wanted.columns)])
        if kind.endswith(DELIMITED):
            return wanted.of(path.name, _header(path, wanted)[0])
        if not kind.endswith((*READSTAT, *DATABASES)):
            raise DataError(f"{path.name} is of no kind that can be read; known: {KINDS}.")
    return None


def value_labels(source: Any, encoding: str | None) -> dict[str, dict[str, str]]:
    """What a Stata or SPSS file calls the values of its columns; other sources call them nothing.

    That a file is not there is said when it is opened.
    """
    path = Path(source) if isinstance(source, (str, Path)) and Path(source).is_file() else None
    reader = READSTAT.get(path.suffix.lower()) if path else None
    if path is None or reader is None:
        return {}
    with without_values(f"{path.name} could not be read; it must be whole, and of the kind that its name says"):
        return readstat_labels(path, reader, encoding)


def file_of(source: Any) -> Path | None:
    """The file that a source is; none of frames and of databases elsewhere."""
    return place_of(str(source))[0] if isinstance(source, (str, Path)) and "://" not in str(source) else None


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
        return _attach_parquet(session, name, path, wanted)
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


def _attach_parquet(session: Session, name: str, path: Path, wanted: Wanted) -> list[str]:
    # DuckDB's own reading of state=01 in a path would replace a column of that name in the file.
    file = f"read_parquet({quoted_text(str(path))}, hive_partitioning=false)"
    more = foldered(path, read_schema(path).names, wanted.columns)
    texts = [
        f"CAST({'NULL' if text is None else quoted_text(text)} AS VARCHAR) AS {quoted(one)}"
        for one, text in more.items()
    ]
    return _choose(session, name, f"(SELECT {', '.join(['*', *texts])} FROM {file})", path.name, wanted)


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
    names, delimiter = _header(path, wanted)
    encoding, packed = wanted.encoding or "utf-8", "gzip" if path.suffix.lower() == ".gz" else "none"
    columns = wanted.of(path.name, names)
    chosen = ", ".join(f"f{names.index(column)} AS c{place}" for place, column in enumerate(columns))
    fields = ", ".join(f"'f{place}': 'VARCHAR'" for place in range(len(names)))
    options = f"auto_detect=false, header=true, strict_mode=true, skip=0, comment='', quote='\"', escape='\"', delim='{delimiter}'"  # noqa: E501
    options += f", encoding='{encoding}', hive_partitioning=false, compression='{packed}', columns={{{fields}}}"
    relation = f"read_csv({quoted_text(str(path))}, {options})"
    session.texts[path] = encoding
    session.run(f"CREATE VIEW {name} AS SELECT {chosen or '0 AS nothing'} FROM {relation}")
    return columns


def _header(path: Path, wanted: Wanted) -> tuple[list[str], str]:
    """The names in the first line, and the delimiter that finds most of the wanted columns there."""
    encoding, head = wanted.encoding or "utf-8", ""
    marked = "utf-8-sig" if encoding == "utf-8" else encoding
    with io.TextIOWrapper(unpacked(path), encoding=marked, newline="") as file, suppress(UnicodeDecodeError):
        head = file.read(HEADER)
    if not head:
        refuse_foreign({path: encoding})
    if not head.strip():
        raise DataError(f"{path.name} is empty; its first line must name the columns.")
    read = {one: next(csv.reader(io.StringIO(head, newline=""), delimiter=one)) for one in (",", ";", "\t", "|")}
    best = max(read, key=lambda one: (len(set(wanted.columns) & set(read[one])), len(read[one])))
    return read[best], best
