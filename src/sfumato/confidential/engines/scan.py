"""Scan: the wanted columns of Parquet files and frames, a batch of records at a time, in Arrow's own types."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.frames import frame_table
from sfumato.confidential.engines.sources import place_of

BATCH = 2**17
"""Records at a time: enough that calls cost nothing, few enough that a column stays in the cache."""


def batches(source: Any, columns: Sequence[str], codes: Sequence[str]) -> Iterator[list[Any]]:
    """The columns of every batch, in the order asked for, codes as few texts and the place of each; nothing else."""
    if isinstance(source, (str, Path)):
        yield from _of_parquet(place_of(str(source))[0], columns, codes)
    else:
        for batch in frame_table(source, columns).to_batches(BATCH):
            yield batch.columns


def can_scan(source: Any) -> bool:
    """Whether a source may be read without DuckDB."""
    return not isinstance(source, (str, Path)) or str(source).lower().endswith(".parquet")


def rows_of(source: Any) -> int:
    """How many records a source says it has, 0 where it does not say."""
    if isinstance(source, (str, Path)):
        from pyarrow.parquet import read_metadata

        return int(read_metadata(place_of(str(source))[0]).num_rows)
    return len(source) if hasattr(source, "__len__") else 0


def _of_parquet(path: Path, columns: Sequence[str], codes: Sequence[str]) -> Iterator[list[Any]]:
    from pyarrow.parquet import ParquetFile, read_schema

    if path.suffix.lower() != ".parquet":  # where a link of that name leads elsewhere
        raise ValueError(path.suffix)
    schema = read_schema(path)
    # Names of columns are the same to DuckDB in any case of their letters, and a point may lead into a column.
    plain = [name.lower() for name in schema.names]
    if any(plain.count(column.lower()) != 1 or column not in schema.names or "." in column for column in columns):
        raise KeyError(columns)
    texts = [column for column in codes if is_text(schema.field(column).type)]
    with ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
        for batch in file.iter_batches(BATCH, columns=list(columns), use_threads=False):
            yield [batch.column(column) for column in columns]


def is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
