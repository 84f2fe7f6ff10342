"""Rows of files: CSV and Parquet as texts, and their columns; what cannot be told apart is refused, not guessed."""

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import DataError, nearest
from sfumato.suppression.equations import Floats

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[dict[str, str]]


def read_text(path: Path) -> str:
    """The text of a file in UTF-8."""
    if not path.is_file():
        raise DataError(f"There is no file {path}; give the path of a table.")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8; save it as that, 'CSV UTF-8' in a spreadsheet.") from None
    except OSError:
        raise DataError(f"{path} cannot be read; ask for the right to, or copy it.") from None


def read_rows(path: Path, separator: str = ",") -> Rows:
    """The rows of a CSV or Parquet file as texts."""
    rows = _of_parquet(path) if path.suffix == ".parquet" else list(_of_text(path, separator))
    if not rows:
        raise DataError(f"{path} has no rows; a table has one for each cell.")
    return rows


def columns_of(path: Path) -> list[str]:
    """The names of the columns of a CSV or Parquet file."""
    if path.suffix == ".parquet":
        return [str(name) for name in _parquet(path).schema.names]
    return next(csv.reader(io.StringIO(read_text(path), newline="")), [])


def _of_parquet(path: Path) -> Rows:
    return [{name: _text(value) for name, value in row.items()} for row in _parquet(path).to_pylist()]


def _parquet(path: Path) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise DataError(f"There is no file {path}; give the path of a table.")
    try:
        with pq.ParquetFile(path) as file:
            return file.read()
    except (pa.ArrowException, OSError):
        raise DataError(f"{path} cannot be read as Parquet; write it again, or give a CSV file.") from None


def _text(value: object) -> str:
    nobody = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if nobody else str(value)


def _of_text(path: Path, separator: str) -> Iterator[dict[str, str]]:
    """Rows by the names in the first line; one that is longer or shorter would put numbers under wrong names."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), delimiter=separator)
    try:
        heads = next(reader, [])
        _refuse_twice(path, heads)
        for row in reader:
            if not any(field.strip() for field in row):
                continue
            if len(row) < len(heads) or any(row[len(heads) :]):
                raise DataError(
                    f"Line {reader.line_num:,} of {path} has {len(row):,} fields, and {len(heads):,} columns have a "
                    "name; quote fields that hold the separator, and write numbers without one for thousands."
                )
            yield dict(zip(heads, row, strict=False))
    except csv.Error:
        raise DataError(f"Line {reader.line_num:,} of {path} cannot be read as CSV; write the file again.") from None


def _refuse_twice(path: Path, heads: Sequence[str]) -> None:
    twice = next((name for name, times in Counter(heads).items() if name and times > 1), None)
    if twice is not None:
        raise DataError(f"{path} has the column '{twice}' twice; leave one out, or name them apart.")


def column_of(rows: Rows, name: str, path: Path) -> list[str]:
    if not rows:
        raise DataError(f"{path} has no rows that a table could be made of; a table has one for each cell.")
    if name not in rows[0]:
        raise DataError(f"{path} has no column '{name}'; {nearest(name, rows[0])}")
    return [row[name].strip() for row in rows]


def number_of(texts: Sequence[str], name: str) -> Floats:
    """A column of numbers; NaN where there is none."""
    try:
        numbers = np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        raise DataError(
            f"The column '{name}' holds something that is no number; mark missing cells by a flag."
        ) from None
    if np.isinf(numbers).any():
        raise DataError(f"The column '{name}' holds an infinite number; leave a number that is not known empty.")
    return numbers
