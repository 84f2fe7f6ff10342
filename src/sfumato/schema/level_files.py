"""Files of levels: the columns of a CSV or Parquet file that a list of levels has."""

import csv
from collections.abc import Sequence
from pathlib import Path

from sfumato.schema.letters import encoding_of

Columns = dict[str, list[object]]


def columns_of(path: Path, fields: Sequence[str], encoding: str | None, rows: int, size: int) -> Columns | None:
    """The columns of a file among some fields; none where it has more rows or bytes than these."""
    if path.suffix == ".parquet":
        return _parquet(path, fields, rows, size)
    with path.open(newline="", encoding=encoding_of(path, encoding)) as file:
        listed = list(csv.DictReader(file))
    return {key: [row[key] for row in listed] for key in fields if listed and key in listed[0]}


def _parquet(path: Path, fields: Sequence[str], rows: int, size: int) -> Columns | None:
    import pyarrow.parquet as pq

    # Read as one file: a reader of folders of files, which `read_table` brings in, takes longer to load than this.
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
        if file.metadata.num_rows > rows or sum(group.total_byte_size for group in groups) > size:
            return None
        found: Columns = file.read([name for name in file.schema_arrow.names if name in fields]).to_pydict()
        return found
