"""Named: how a table of a cluster is asked for: by its name, in one of its versions, or as Parquet files by a path."""

import re
from typing import Any

from sfumato.confidential.engines.cluster.refusals import is_lacking
from sfumato.confidential.engines.sources.cluster import ClusterTable
from sfumato.confidential.engines.sources.parts import LAKES, table_folders
from sfumato.errors import DataError

WORD = r"(`[^`]+`|\w+)"
NAME = re.compile(rf"{WORD}(\.{WORD})*")
"""What names a table in Spark's SQL: no query stands there."""


def frame_of(session: Any, table: ClusterTable) -> Any:
    """The records of a table as a frame; files of a table that keeps versions are refused, as some were replaced."""
    if table.version is not None:
        # An option that says the version is passed over by tables that have none; the words of SQL are not.
        return session.sql(f"SELECT * FROM {_plain_name(table)} VERSION AS OF {table.version}")  # noqa: S608 - a name
    if not table.is_path:
        return session.table(table.name)
    _refuse_lake(session, table.name)
    return session.read.parquet(table.name)


def _plain_name(table: ClusterTable) -> str:
    if table.is_path or not NAME.fullmatch(table.name):
        raise DataError(
            "Versions are of tables; write CATALOG.SCHEMA.TABLE VERSION AS OF NUMBER, or "
            "delta.`PATH` VERSION AS OF NUMBER."
        )
    return table.name


def _refuse_lake(session: Any, path: str) -> None:
    every = "{" + ",".join(LAKES) + "}"
    for folder in table_folders(path):
        if is_lacking(session, f"{folder}/{every}"):
            continue
        kind = next(kind for mark, kind in LAKES.items() if not is_lacking(session, f"{folder}/{mark}"))
        raise DataError(
            f"The path is in a table of {kind}: some of its files may be of versions that were replaced, and records "
            f"would count again. Name the table, as {kind.lower()}.`{folder}` or by its catalog."
        )
