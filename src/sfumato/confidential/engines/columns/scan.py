"""Scan: the wanted columns of Parquet files and frames, a batch of records at a time, in Arrow's own types."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import Wanted
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.confidential.engines.sources.files import place_of
from sfumato.confidential.engines.sources.frames import frame_table

Batch = dict[str, Any]
BATCH = 2**17
"""Records at a time: enough that calls cost nothing, few enough that a column stays in the cache."""


def batches(source: Any, columns: Sequence[str], codes: Sequence[str]) -> Iterator[Batch]:
    """The columns of every batch, those of codes as few texts and the place of each; nothing else is read."""
    if isinstance(source, (str, Path)):
        yield from _of_parquet(place_of(str(source))[0], columns, codes)
    else:
        _, table = frame_table(source, Wanted(columns))
        for batch in table.to_batches(BATCH):
            yield dict(zip(columns, batch.columns, strict=True))


def can_scan(source: Any) -> bool:
    """Whether a source may be read without DuckDB."""
    if in_cluster(source):
        return False
    return not isinstance(source, (str, Path)) or str(source).lower().endswith(".parquet")


def rows_of(source: Any) -> int:
    """How many records a source says it has, 0 where it does not say."""
    if isinstance(source, (str, Path)):
        from pyarrow.parquet import read_metadata

        return int(read_metadata(place_of(str(source))[0]).num_rows)
    return len(source) if hasattr(source, "__len__") else 0


def _of_parquet(path: Path, columns: Sequence[str], codes: Sequence[str]) -> Iterator[Batch]:
    from pyarrow.parquet import ParquetFile, read_schema

    if path.suffix.lower() != ".parquet":  # where a link of that name leads elsewhere
        raise Unsure(f"{path.name} is no Parquet file")
    schema = read_schema(path)
    # Names of columns are the same to DuckDB in any case of their letters, and a point may lead into a column.
    plain = [name.lower() for name in schema.names]
    if any(plain.count(column.lower()) != 1 or column not in schema.names or "." in column for column in columns):
        raise Unsure(f"{path.name} lacks a column, or has it in several spellings")
    texts = [column for column in codes if is_text(schema.field(column).type)]
    with ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
        for batch in file.iter_batches(BATCH, columns=list(columns), use_threads=False):
            yield {column: batch.column(column) for column in columns}


def is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
