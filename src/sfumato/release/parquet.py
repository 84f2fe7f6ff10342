"""Parquet files of products: the codes of every cell, its value in steps, and what its error needs, in pieces."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.release.bounded_file import CODES, NUMBERS, STEPS, bounded_file, whole
from sfumato.release.lattice import FITS_32_BITS, FITS_64_BITS, WRAPS
from sfumato.release.noisy import Integers
from sfumato.release.written import LARGEST_NUMBER
from sfumato.schema import Attribute, Frame, Level, Table

_PIECE = 1 << 20
"""Cells that are written or read at a time, so that no column but the values ever stands whole in memory."""
Columns = Mapping[str, NDArray[Any]]
Written = tuple[NDArray[np.integer], Columns]
"""The numbers of some cells, and what stands in each column for them."""


def laid_out(size: int, listed: NDArray[np.integer] | None, columns: Columns) -> Iterator[Written]:
    """The cells of a table by their numbers, all or those that are listed, some at a time."""
    length = size if listed is None else len(listed)
    for start in range(0, max(length, 1), _PIECE):
        stop = min(start + _PIECE, length)
        places = np.arange(start, stop, dtype=np.int32) if listed is None else listed[start:stop]
        yield places, {name: column[places] for name, column in columns.items()}


def listed_cells(places: Integers, columns: Columns) -> Iterator[Written]:
    """Cells that are listed with their numbers, some at a time."""
    for start in range(0, max(len(places), 1), _PIECE):
        yield places[start : start + _PIECE], {name: one[start : start + _PIECE] for name, one in columns.items()}


def write_cells(path: Path, table: Table, pieces: Iterator[Written]) -> None:
    """Write a table, a piece of its cells after the other."""
    codes = [texts(attribute.levels.leaves) for attribute in table.attributes]
    first = next(pieces)
    coded = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([
        *((level.column, coded) for level in table.by),
        *((name, pa.from_numpy_dtype(_stored(column).dtype)) for name, column in first[1].items()),
    ])  # fmt: skip
    # Cells stand in the order of the first attribute; statistics of the others would help no reader skip any.
    statistics = [level.column for level in table.by[:1]]
    with pq.ParquetWriter(path, schema, compression="zstd", write_statistics=statistics) as file:
        for places, columns in (first, *pieces):
            leaves = [
                _coded(table.leaves_at(places, name).astype(np.int32), listed)
                for name, listed in zip(table.names, codes, strict=True)
            ]
            batch = [*leaves, *(_column(_stored(column)) for column in columns.values())]
            file.write_batch(pa.record_batch(batch, schema=schema))


def _coded(leaves: NDArray[np.int32], listed: pa.Array) -> pa.DictionaryArray:
    """The codes of some cells, of the list from the first to the last of them.

    Cells stand in the order of the first attribute, so that a piece holds few of its codes; were all of them written
    with every piece, a file would grow with the square of a long list.
    """
    first, last = (int(leaves.min()), int(leaves.max())) if len(leaves) else (0, -1)
    return pa.DictionaryArray.from_arrays(_column(leaves - np.int32(first)), listed.slice(first, last - first + 1))


def write_tables(path: Path, tables: Sequence[Table], values: Integers) -> None:
    """Write several tables one after the other; what a table does not tell apart is missing in its rows."""
    levels = list(dict.fromkeys(level for table in tables for level in table.by))
    known = {level: one for table in tables for level, one in zip(table.by, table.attributes, strict=True)}
    codes = {level: texts(known[level].levels.leaves) for level in levels}
    coded = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([*((level.column, coded) for level in levels), ("value", pa.int64())])
    with pq.ParquetWriter(path, schema, compression="zstd", write_statistics=False) as file:
        start = 0
        for some in _some_tables(tables):
            size = sum(table.size for table in some)
            columns = [pa.DictionaryArray.from_arrays(_told_places(some, level), codes[level]) for level in levels]
            columns.append(_column(_stored(values[start : start + size])))
            file.write_batch(pa.record_batch(columns, schema=schema))
            start += size


def _some_tables(tables: Sequence[Table]) -> Iterator[list[Table]]:
    """Tables in their order, so many at a time that few pieces are small."""
    some: list[Table] = []
    for table in tables:
        some.append(table)
        if sum(one.size for one in some) >= _PIECE:
            yield some
            some = []
    if some:
        yield some


def _told_places(tables: Sequence[Table], level: Level) -> pa.Array:
    """The leaf of a level in every cell of some tables, missing where a table does not tell it."""
    told = [np.full(table.size, level in table.by) for table in tables]
    cells = (
        table.leaves_at(np.arange(table.size), level.name) if level in table.by else np.zeros(table.size)
        for table in tables
    )
    places = np.concatenate([one.astype(np.int32) for one in cells])
    there = np.packbits(np.concatenate(told), bitorder="little")
    return pa.Array.from_buffers(pa.int32(), len(places), [pa.py_buffer(there), pa.py_buffer(places)])


def _stored(column: NDArray[Any]) -> NDArray[Any]:
    """Integers in 64 bits, other numbers as they are."""
    return column if column.dtype.kind == "f" else column.astype(np.int64, copy=False)


def _column(values: NDArray[Any]) -> pa.Array:
    """Numbers where they stand in memory; `pa.array` would load pandas first, which takes longer than the writing."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def read_values(path: Path, rows: int | None) -> NDArray[Any]:
    """The column of values, in 32 bits where no sum of them needs more; read in pieces, so that it stands only once."""
    with bounded_file(path, {"value": STEPS}, rows) as file:
        found: NDArray[Any] = np.empty(file.metadata.num_rows, dtype=np.int32)
        start, sizes = 0, 0.0
        for batch in file.iter_batches(_PIECE, columns=["value"]):
            piece = _integers(batch.column("value"))
            sizes += float(np.abs(piece, dtype=np.float64).sum())
            found = found if sizes <= FITS_32_BITS else found.astype(np.int64, copy=False)
            found[start : start + len(piece)] = piece
            start += len(piece)
    whole(start, len(found))
    if sizes > FITS_64_BITS:
        raise ValueError(WRAPS)
    return found


def _integers(column: pa.Array) -> NDArray[np.int64]:
    if not pa.types.is_int64(column.type) or column.null_count:
        raise ValueError("its column 'value' does not hold an integer for every cell")
    # `to_numpy` would load pandas first, which takes longer than reading ten million cells.
    return np.asarray(np.from_dlpack(column), dtype=np.int64)


def read_numbers(path: Path, name: str, rows: int) -> NDArray[Any]:
    """A column of numbers that stands beside the values, none of which is beyond what can be meant."""
    found, start = np.zeros(rows), 0
    with bounded_file(path, {name: NUMBERS}, rows) as file:
        for batch in file.iter_batches(_PIECE, columns=[name]):
            column = batch.column(name)
            if column.null_count or not (pa.types.is_float32(column.type) or pa.types.is_float64(column.type)):
                raise ValueError(f"its column '{name}' does not hold a number for every cell")
            piece = np.asarray(np.from_dlpack(column))
            if not (np.abs(piece, dtype=np.float64) <= LARGEST_NUMBER).all():
                raise ValueError(f"its column '{name}' holds what none can be")
            found = found if found.dtype == piece.dtype else found.astype(piece.dtype)
            found[start : start + len(piece)] = piece
            start += len(piece)
    whole(start, rows)
    return found


def read_places(path: Path, table: Table) -> Integers:
    """The numbers of the listed cells, from their codes."""
    names = [level.column for level in table.by]
    lists = [CodesRead(attribute) for attribute in table.attributes]
    with bounded_file(path, dict.fromkeys(names, CODES), dictionary=_code_bytes(table.attributes)) as file:
        found, start = np.zeros(file.metadata.num_rows, dtype=np.int64), 0
        for batch in file.iter_batches(_PIECE, columns=names):
            before, piece = found[max(start - 1, 0) : start], found[start : start + len(batch)]
            for listed, name, length in zip(lists, names, table.shape, strict=True):
                piece *= length
                piece += listed.leaves(batch.column(name))
            start += len(batch)
            if (np.diff(piece, prepend=before) <= 0).any() or not table.possible_at(piece).all():
                raise ValueError("its cells are not listed in their order, each once, or some are impossible")
    whole(start, len(found))
    return found


@dataclass
class CodesRead:
    """The codes of an attribute as a file has them, piece by piece; a list that comes again is looked up once."""

    attribute: Attribute
    listed: pa.Array | None = None
    known: NDArray[np.int64] | None = None

    def leaves(self, column: pa.DictionaryArray) -> NDArray[np.int64]:
        """The place of each code among the lowest levels of the attribute."""
        if column.null_count:
            raise ValueError(f"its column '{self.attribute.name}' does not hold a code for every cell")
        if self.known is None or not column.dictionary.equals(self.listed):
            index = self.attribute.levels.leaf_index
            self.listed = column.dictionary
            self.known = np.array([index[code] for code in column.dictionary.to_pylist()], dtype=np.int64)
        return np.asarray(self.known[np.from_dlpack(column.indices)])


def write_rows(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of the rows of a frame, or of groups of them, as one file."""
    pq.write_table(pa.table(dict(columns)), path, compression="zstd")


def codes_of(frame: Frame) -> dict[str, Any]:
    """The codes of every row, by the columns that tell them apart."""
    columns = {}
    for level in frame.by:
        held, wanted = frame.attribute(level.name), level.of(frame.attribute(level.name))
        places = held.levels.above(wanted.levels)[frame.places[level.name]].astype(np.int32)
        codes = pa.array(wanted.levels.leaves, pa.string())
        columns[level.column] = pa.DictionaryArray.from_arrays(pa.array(places), codes)
    return columns


def read_frame(path: Path, unit: str, known: Mapping[str, Attribute]) -> Frame:
    """A frame, without the names of its rows, which no question needs."""
    names = [name for name in pq.read_schema(path).names if name in known]
    kept, start = tuple(known[name] for name in names), 0
    with bounded_file(path, dict.fromkeys(names, CODES), dictionary=_code_bytes(kept)) as file:
        rows = file.metadata.num_rows
        places = {name: np.zeros(rows, dtype=np.int32) for name in names}
        lists = {name: CodesRead(known[name]) for name in names}
        for batch in file.iter_batches(_PIECE, columns=names) if names else ():
            for name in names:
                places[name][start : start + len(batch)] = lists[name].leaves(batch.column(name))
            start += len(batch)
    whole(start, rows if names else 0)
    return Frame(unit, kept, places, range(rows))


def _code_bytes(attributes: Sequence[Attribute]) -> int:
    """The most bytes that the codes of one of some attributes take."""
    return max((sum(4 + len(code.encode()) for code in one.levels.leaves) for one in attributes), default=0)


def texts(values: Sequence[str | None]) -> pa.Array:
    """A column of texts, some of which may lack; Arrow's own `array` would load pandas first, which takes long.

    >>> texts(["Zürich", None, ""]).to_pylist()
    ['Zürich', None, '']
    """
    written = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([0, *map(len, written)], dtype=np.int32)
    there = np.packbits(np.array([value is not None for value in values], dtype=bool), bitorder="little")
    return pa.StringArray.from_buffers(len(written), *map(pa.py_buffer, (ends, b"".join(written), there)))
