"""Refusals: why a cluster does not open a table, in words of our own; those of Spark may quote values."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sfumato.confidential.sealed import without_values
from sfumato.errors import DataError

UNREAD = "Spark could not read the data"
NO_TABLE = (
    "the cluster knows no such table, catalog or format for this user; tables of Delta and Iceberg are known where it "
    "has the jars of their format"
)
REASONS = {
    "TABLE_OR_VIEW_NOT_FOUND": NO_TABLE,
    "REQUIRES_SINGLE_PART_NAMESPACE": NO_TABLE,
    "SCHEMA_NOT_FOUND": NO_TABLE,
    "CATALOG_NOT_FOUND": NO_TABLE,
    "DATA_SOURCE_NOT_FOUND": NO_TABLE,
    "PARSE_SYNTAX_ERROR": "that is no name of a table; write CATALOG.SCHEMA.TABLE, FORMAT.`PATH`, or a path",
    "PATH_NOT_FOUND": "the cluster sees no such path",
    "UNSUPPORTED_FEATURE.TIME_TRAVEL": "that table keeps no versions; name it without VERSION AS OF",
    "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER": "a file there is no Parquet file, or is torn",
}
"""The conditions of Spark that are about what was asked for, none of them about a value."""
NO_CLASSES = "the cluster lacks what reads such addresses; s3a:// needs the jar hadoop-aws"


@contextmanager
def readable() -> Iterator[None]:
    """Pass on why a table is not opened, where Spark names a condition that is known to quote no record."""
    with without_values(UNREAD):
        try:
            yield
        except Exception as error:
            if not (reason := _reason(error)):
                raise
            raise DataError(f"{UNREAD}: {reason} ({type(error).__name__}).") from None


def is_lacking(session: Any, path: str) -> bool:
    """Whether the cluster sees nothing at a path."""
    try:
        return not session.read.format("binaryFile").load(path).select("path").limit(1).toArrow().num_rows
    except Exception as error:
        if _condition(error) == "PATH_NOT_FOUND":
            return True
        raise


def _condition(error: Exception) -> str:
    return getattr(error, "getCondition", lambda: None)() or ""


def _reason(error: Exception) -> str:
    return REASONS.get(_condition(error), "") or (
        NO_CLASSES if "java.lang.ClassNotFoundException" in str(error) else ""
    )
