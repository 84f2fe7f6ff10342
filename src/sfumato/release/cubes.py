"""Cubes in a folder: the codes of every cell and its value in steps; of a sparse table, of the cells that are not 0."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.privacy import plain
from sfumato.release.lattice import FITS_32_BITS
from sfumato.release.manifest import ProductLine
from sfumato.release.noisy import Integers
from sfumato.release.products import Cube, Subject
from sfumato.release.sparse import Sparse
from sfumato.release.texts import texts
from sfumato.release.uncertainty import uncertainty_from_dict
from sfumato.schema import Attribute, Rule, Table

KINDS = {Cube: "cube", Sparse: "sparse"}
_PIECE = 1 << 20
"""Cells that are written or read at a time, so that no column but the values ever stands whole in memory."""


def write_cubes(folder: Path, cubes: Sequence[Cube | Sparse]) -> list[ProductLine]:
    """Write each as one file, a piece of the cells after the other."""
    lines = []
    for cube in cubes:
        name = f"products/{cube.subject.name}.parquet"
        codes = [texts(attribute.levels.leaves) for attribute in cube.attributes]
        # Cells stand in the order of the first attribute; statistics of the others would help no reader skip any.
        first = list(cube.table.names[:1])
        with pq.ParquetWriter(folder / name, _schema(cube.table), compression="zstd", write_statistics=first) as file:
            for places, values in _pieces(cube):
                file.write_batch(_batch(cube.table, codes, places, values))
        lines.append(_line(cube, name))
    return lines


def _schema(table: Table) -> pa.Schema:
    coded = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([*((name, coded) for name in table.names), ("value", pa.int64())])


def _pieces(cube: Cube | Sparse) -> Iterator[tuple[NDArray[np.integer], Integers]]:
    """The numbers of the cells that are written, and their values, some at a time."""
    values = cube.values.reshape(-1)
    listed = (
        cube.places if isinstance(cube, Sparse) else np.flatnonzero(cube.table.possible) if cube.table.ruled else None
    )
    length = len(values) if listed is None else len(listed)
    for start in range(0, max(length, 1), _PIECE):
        stop = min(start + _PIECE, length)
        places = np.arange(start, stop, dtype=np.int32) if listed is None else listed[start:stop]
        yield places, values[start:stop] if isinstance(cube, Sparse) else values[places]


def _batch(table: Table, codes: list[pa.Array], places: NDArray[np.integer], values: Integers) -> pa.RecordBatch:
    columns = [
        pa.DictionaryArray.from_arrays(_column(table.leaves_at(places, name).astype(np.int32)), listed)
        for name, listed in zip(table.names, codes, strict=True)
    ]
    return pa.record_batch([*columns, _column(values.astype(np.int64, copy=False))], schema=_schema(table))


def _column(values: NDArray[Any]) -> pa.Array:
    """Integers where they stand in memory; `pa.array` would load pandas first, which takes longer than the writing."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def _line(cube: Cube | Sparse, file: str) -> ProductLine:
    subject = cube.subject
    return ProductLine(
        name=subject.name,
        kind=KINDS[type(cube)],
        statistic=subject.statistic,
        title=subject.title,
        unit=subject.unit,
        step=plain(subject.step),
        additive=subject.additive,
        by=list(cube.table.names),
        universe={name: list(codes) for name, codes in subject.universe.items()},
        impossible=[{name: list(codes) for name, codes in rule.where} for rule in cube.table.impossible],
        mechanism=subject.mechanism,
        note=subject.note,
        uncertainty=cube.uncertainty.to_dict(),
        file=file,
    )


def read_cube(folder: Path, entry: ProductLine, subject: Subject, known: Mapping[str, Attribute]) -> Cube | Sparse:
    """A cube as the manifest describes it."""
    if entry.kind not in KINDS.values():
        raise ReleaseError(
            f"Product '{entry.name}' is of kind '{entry.kind}', which this version does not know; update Sfumato."
        )
    try:
        table = Table(tuple(known[name] for name in entry.by), tuple(Rule.of(where) for where in entry.impossible))
        values = _read_values(folder / entry.file)
        if entry.kind == KINDS[Sparse]:
            # In 64 bits, as sums are: numpy takes ten times as long where it has to cast while it adds.
            places, wide = _read_places(folder / entry.file, table), values.astype(np.int64)
            return Sparse(subject, table, places, wide, uncertainty_from_dict(entry.uncertainty, table, wide))
        cells = _laid_out(values, table)
        return Cube(subject, table, cells, uncertainty_from_dict(entry.uncertainty, table, cells))
    except (KeyError, ValueError, OSError, pa.ArrowException) as error:
        raise ReleaseError(f"Product '{entry.name}' does not fit its manifest: {error}") from None


def _read_values(path: Path) -> NDArray[Any]:
    """The column of values, in 32 bits where no sum of them needs more; read in pieces, so that it stands only once."""
    with pq.ParquetFile(path) as file:
        found: NDArray[Any] = np.empty(file.metadata.num_rows, dtype=np.int32)
        start, sizes = 0, 0.0
        for batch in file.iter_batches(_PIECE, columns=["value"]):
            piece = _integers(batch.column("value"))
            sizes += float(np.abs(piece, dtype=np.float64).sum())
            found = found if sizes <= FITS_32_BITS else found.astype(np.int64, copy=False)
            found[start : start + len(piece)] = piece
            start += len(piece)
    return found


def _integers(column: pa.Array) -> NDArray[np.int64]:
    if not pa.types.is_int64(column.type) or column.null_count:
        raise ValueError("its column 'value' does not hold an integer for every cell")
    # `to_numpy` would load pandas first, which takes longer than reading ten million cells.
    return np.asarray(np.from_dlpack(column), dtype=np.int64)


def _read_places(path: Path, table: Table) -> Integers:
    """The numbers of the listed cells, from their codes."""
    names = list(table.names)
    with pq.ParquetFile(path, read_dictionary=names) as file:
        found, start = np.zeros(file.metadata.num_rows, dtype=np.int64), 0
        for batch in file.iter_batches(_PIECE, columns=names):
            piece = found[start : start + len(batch)]
            for attribute, length in zip(table.attributes, table.shape, strict=True):
                piece *= length
                piece += _leaves(batch.column(attribute.name), attribute)
            start += len(batch)
    if (found[1:] <= found[:-1]).any() or not table.possible_at(found).all():
        raise ValueError("its cells are not listed in their order, each once, or some are impossible")
    return found


def _leaves(column: pa.DictionaryArray, attribute: Attribute) -> NDArray[np.int64]:
    if column.null_count:
        raise ValueError(f"its column '{attribute.name}' does not hold a code for every cell")
    index = attribute.levels.leaf_index
    leaves = np.array([index[code] for code in column.dictionary.to_pylist()], dtype=np.int64)
    return np.asarray(leaves[np.from_dlpack(column.indices)])


def _laid_out(values: NDArray[Any], table: Table) -> NDArray[Any]:
    """The values of the possible cells in their places among all, and 0 in the others."""
    if not table.impossible:
        return values.reshape(table.shape)
    if len(values) != np.count_nonzero(table.possible):
        raise ValueError(f"it has {len(values):,} values for {np.count_nonzero(table.possible):,} possible cells")
    cells = np.zeros(table.shape, dtype=values.dtype)
    cells[table.possible] = values
    return cells
