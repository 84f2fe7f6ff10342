"""A Parquet file that anybody may have written: what it says of itself is compared before a page of it is decoded."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from sfumato.schema import LARGEST

CODES, STEPS, NUMBERS = ("BYTE_ARRAY",), ("INT64",), ("DOUBLE", "FLOAT")
"""The physical types of columns of codes, of whole steps, and of other numbers."""
_A_ROW, _A_GROUP = 16, 1 << 20
"""The most bytes that a number or the place of a code takes, and what a group of rows may take besides."""


@contextmanager
def bounded_file(
    path: Path, columns: Mapping[str, tuple[str, ...]], rows: int | None = None, dictionary: int = 0
) -> Iterator[pq.ParquetFile]:
    """A file with these columns of these types and so many rows, at most `LARGEST` where it is not known how many.

    Codes are stored once in a group of rows and take so many bytes together.
    """
    with pq.ParquetFile(path, read_dictionary=[name for name, types in columns.items() if types == CODES]) as file:
        held = file.metadata
        if (rows is not None and held.num_rows != rows) or held.num_rows > LARGEST:
            most = f"at most {LARGEST:,}" if rows is None else f"{rows:,}"
            raise ValueError(f"its file has {held.num_rows:,} rows where there are {most}")
        groups = [held.row_group(place) for place in range(held.num_row_groups)]
        if sum(group.num_rows for group in groups) != held.num_rows:
            raise ValueError("its file does not hold as many rows as it says")
        for name, types in columns.items():
            _refuse_other(groups, name, types, dictionary)
        yield file


def _refuse_other(groups: list[pq.RowGroupMetaData], name: str, types: tuple[str, ...], dictionary: int) -> None:
    for group in groups:
        held = [group.column(place) for place in range(group.num_columns)]
        named = [one for one in held if one.path_in_schema == name]
        if len(named) != 1 or named[0].physical_type not in types or named[0].num_values != group.num_rows:
            raise ValueError(f"its file has no column '{name}' of the kind that it says")
        if named[0].total_uncompressed_size > _A_ROW * group.num_rows + _A_GROUP + 2 * dictionary:
            raise ValueError(f"its column '{name}' takes more than {group.num_rows:,} rows can")


def whole(found: int, rows: int) -> None:
    """Say so where fewer rows were found than a file said that it has."""
    if found != rows:
        raise ValueError(f"its file ends after {found:,} of {rows:,} rows")
