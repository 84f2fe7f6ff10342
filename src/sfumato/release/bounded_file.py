"""A Parquet file that anybody may have written: what it says of itself is compared before a page of it is decoded."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from sfumato.schema import LARGEST

CODES, STEPS, NUMBERS = ("BYTE_ARRAY",), ("INT64",), ("DOUBLE", "FLOAT")
"""The physical types of columns of codes, of whole steps, and of other numbers."""
_A_ROW, _A_NAME, _A_GROUP = 16, 256, 1 << 20
"""The most bytes that a number or the place of a code takes, that a row's own name takes, and a column of a group."""


@contextmanager
def bounded_file(
    path: Path, columns: Mapping[str, tuple[str, ...]], rows: int | None = None, dictionary: int = 0
) -> Iterator[pq.ParquetFile]:
    """A file with these columns of these types and so many rows, at most `LARGEST` where it is not known how many.

    Codes are stored once in a group of rows and take so many bytes together.
    """
    with pq.ParquetFile(path, read_dictionary=[name for name, types in columns.items() if types == CODES]) as file:
        held = file.metadata
        if (rows is not None and held.num_rows != rows) or not 0 <= held.num_rows <= LARGEST:
            most = f"at most {LARGEST:,}" if rows is None else f"{rows:,}"
            raise ValueError(f"its file has {held.num_rows:,} rows where there are {most}")
        # Of single columns Arrow would tell more, and end the process where what they state is no statistic.
        groups = [held.row_group(place) for place in range(held.num_row_groups)]
        if sum(group.num_rows for group in groups) != held.num_rows or any(group.num_rows < 0 for group in groups):
            raise ValueError("its file does not hold as many rows as it says")
        a_row, a_group = _A_ROW * held.num_columns + _A_NAME, (_A_GROUP + 2 * dictionary) * held.num_columns
        if any(group.total_byte_size > a_row * group.num_rows + a_group for group in groups):
            raise ValueError(f"its columns take more than {held.num_rows:,} rows can")
        _refuse_other(file.schema, columns)
        yield file


def _refuse_other(schema: pq.ParquetSchema, columns: Mapping[str, tuple[str, ...]]) -> None:
    held = [schema.column(place) for place in range(len(schema))]
    for name, types in columns.items():
        named = [one for one in held if one.path == name]
        if len(named) != 1 or named[0].physical_type not in types or named[0].max_repetition_level:
            raise ValueError(f"its file has no column '{name}' of the kind that it says")


def whole(found: int, rows: int) -> None:
    """Say so where fewer rows were found than a file said that it has."""
    if found != rows:
        raise ValueError(f"its file ends after {found:,} of {rows:,} rows")
