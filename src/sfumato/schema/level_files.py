"""Files of levels: the columns of a CSV or Parquet file that a list of levels has."""

import csv
from collections.abc import Sequence
from pathlib import Path

from sfumato.schema.languages import spoken
from sfumato.schema.letters import encoding_of

Columns = dict[str, list[object]]


def columns_of(
    path: Path, fields: Sequence[str], again: Sequence[str], encoding: str | None, most: tuple[int, int]
) -> Columns | None:
    """The columns of a file among some fields, and those that say some `again` in further languages, as `label.de`.

    None where it has more rows or bytes than the most.
    """
    if path.suffix == ".parquet":
        return _parquet(path, fields, again, most)
    with path.open(newline="", encoding=encoding_of(path, encoding)) as file:
        listed = list(csv.DictReader(file))
    names = list(listed[0]) if listed else []
    return {key: [row[key] for row in listed] for key in (*fields, *spoken(names, again)) if key in names}


def _parquet(path: Path, fields: Sequence[str], again: Sequence[str], most: tuple[int, int]) -> Columns | None:
    import pyarrow.parquet as pq

    # Read as one file: a reader of folders of files, which `read_table` brings in, takes longer to load than this.
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
        if file.metadata.num_rows > most[0] or sum(group.total_byte_size for group in groups) > most[1]:
            return None
        names = file.schema_arrow.names
        wanted = {*fields, *spoken(names, again)}
        found: Columns = file.read([name for name in names if name in wanted]).to_pydict()
        return found
