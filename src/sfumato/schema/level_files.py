"""Files of levels: the columns of a CSV or Parquet file that a list of levels has."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import PlanError
from sfumato.schema.languages import in_further_languages
from sfumato.schema.letters import encoding_of

Columns = dict[str, list[object]]


MOST, MOST_BYTES = 2_000_000, 2**28
"""The most levels of one list, and the most bytes that they take."""
TOO_MANY = f"{{}} lists more than {MOST:,} levels, or in more than {MOST_BYTES:,} bytes; use a coarser classification."


def columns_of(path: Path, fields: Sequence[str], again: Sequence[str], encoding: str | None) -> Columns:
    """The columns of a file among some fields, and those that say some `again` in further languages, as `label.de`."""
    if not os.path.isfile(path):  # noqa: PTH113 - of a name that no file can have, a path raises
        raise PlanError(f"The list of levels {path} is not there; a path is taken from the plan's own folder.")
    try:
        columns = _columns(path, fields, again, encoding)
    except (ValueError, TypeError, LookupError, NotImplementedError, OSError, MemoryError, csv.Error):
        said = "a list of levels is a CSV file in UTF-8, or as [data] encoding says, or a Parquet file."
        raise PlanError(f"{path} cannot be read; {said}") from None
    if not columns.get("code"):
        raise PlanError(f"{path} has no column 'code'; a list of levels has code, and may have label, parent, note.")
    return columns


def _columns(path: Path, fields: Sequence[str], again: Sequence[str], encoding: str | None) -> Columns:
    if path.suffix == ".parquet":
        return _parquet(path, fields, again)
    with path.open(newline="", encoding=encoding_of(path, encoding)) as file:
        listed = list(csv.DictReader(file))
    names = list(listed[0]) if listed else []
    return {key: [row[key] for row in listed] for key in (*fields, *in_further_languages(names, again)) if key in names}


def _parquet(path: Path, fields: Sequence[str], again: Sequence[str]) -> Columns:
    import pyarrow.parquet as pq

    # Read as one file: a reader of folders of files, which `read_table` brings in, takes longer to load than this.
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
        if file.metadata.num_rows > MOST or sum(group.total_byte_size for group in groups) > MOST_BYTES:
            raise PlanError(TOO_MANY.format(path))
        names = file.schema_arrow.names
        wanted = {*fields, *in_further_languages(names, again)}
        found: Columns = file.read([name for name in names if name in wanted]).to_pydict()
        return found
