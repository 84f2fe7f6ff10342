"""Release: a folder of Parquet files and a manifest, written once and read by anyone."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.privacy import plain
from sfumato.release.framed import KINDS, Reader, write_records
from sfumato.release.geography import Shapes
from sfumato.release.lattice import FITS_32_BITS
from sfumato.release.manifest import NAME, AttributeLine, Manifest, ProductLine, digest, line
from sfumato.release.products import Cube, Product, Subject
from sfumato.release.records import Records
from sfumato.release.uncertainty import uncertainty_from_dict
from sfumato.schema import Attribute, Levels, Rule, Table

_PIECE = 1 << 20
"""Rows that are read at a time."""


@dataclass(frozen=True, eq=False)
class Release:
    """What was published: the manifest, its hash, the products that answer, and the shapes they can be drawn on."""

    manifest: Manifest
    id: str
    products: Mapping[str, Product]
    withdrawn: str | None = None
    folder: Path | None = None
    shapes: Mapping[str, Shapes] = field(default_factory=dict)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Every attribute that some product knows, in the order of the manifest."""
        known = {one.name: one for product in self.products.values() for one in product.attributes}
        return tuple(known[entry.name] for entry in self.manifest.attributes if entry.name in known)


def write_products(folder: Path, products: Sequence[Product]) -> list[ProductLine]:
    """Write each product as one Parquet file; of a cube the codes of every possible cell, and its value in steps."""
    (folder / "products").mkdir(parents=True, exist_ok=True)
    lines = write_records(folder, [one for one in products if isinstance(one, Records)])
    for cube in (one for one in products if isinstance(one, Cube)):
        name = f"products/{cube.subject.name}.parquet"
        pq.write_table(_columns(cube), folder / name, compression="zstd")
        lines.append(_product_line(cube, name))
    return lines


def _columns(cube: Cube) -> pa.Table:
    places = np.nonzero(cube.table.possible) if cube.attributes else ()
    columns: dict[str, Any] = {}
    for attribute, place in zip(cube.attributes, places, strict=True):
        codes = pa.array(attribute.levels.leaves, pa.string())
        columns[attribute.name] = pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), codes)
    columns["value"] = pa.array(cube.values[cube.table.possible], pa.int64())
    return pa.table(columns)


def _product_line(cube: Cube, file: str) -> ProductLine:
    subject = cube.subject
    return ProductLine(
        name=subject.name,
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


def write_levels(folder: Path, attributes: Sequence[Attribute]) -> list[AttributeLine]:
    """Write the public levels of each attribute as one Parquet file."""
    (folder / "levels").mkdir(parents=True, exist_ok=True)
    lines = []
    for one in attributes:
        name, levels = f"levels/{one.name}.parquet", one.levels
        listed = {"code": levels.codes, "label": levels.labels, "parent": levels.parents, "note": levels.notes}
        columns = {key: pa.array(values, pa.string()) for key, values in listed.items()}
        pq.write_table(pa.table(columns), folder / name)
        lines.append(AttributeLine(name=one.name, label=one.label, of=one.of, levels=name))
    return lines


def seal(folder: Path, manifest: Manifest) -> str:
    """Add the hash of every file, write the manifest, push it all to disk; the release's id is the manifest's hash."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    sealed = manifest.model_copy(update={"files": {name: line(folder / name) for name in names}})
    content = sealed.to_bytes()
    (folder / NAME).write_bytes(content)
    for path in [*folder.rglob("*"), folder]:
        _sync(path)
    return digest(content)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_products(folder: Path, manifest: Manifest) -> dict[str, Product]:
    """The products as the manifest describes them."""
    known = {one.name: _read_attribute(folder, one) for one in manifest.attributes}
    reader, found = Reader(folder, manifest.unit, known), dict[str, Product]()
    for one in sorted(manifest.products, key=_standing):
        found[one.name] = (
            reader.read(one, _subject(one), found) if one.kind in KINDS else _read_cube(folder, one, known)
        )
    return {one.name: found[one.name] for one in manifest.products}


def _standing(line: ProductLine) -> int:
    """Measures of rows first, then of groups, and what was made of both last."""
    return 2 if line.uncertainty.get("kind") == "adjusted" else int(line.kind != "records")


def _read_attribute(folder: Path, entry: AttributeLine) -> Attribute:
    levels = Levels.read(folder / entry.levels)
    return Attribute(entry.name, levels, of=entry.of, label=entry.label)


def _read_cube(folder: Path, entry: ProductLine, known: Mapping[str, Attribute]) -> Cube:
    if entry.kind != "cube":
        raise ReleaseError(
            f"Product '{entry.name}' is of kind '{entry.kind}', which this version does not know; update Sfumato."
        )
    try:
        attributes = tuple(known[name] for name in entry.by)
        table = Table(attributes, tuple(Rule.of(where) for where in entry.impossible))
        values = _laid_out(_read_values(folder / entry.file), table)
    except (KeyError, ValueError, OSError, pa.ArrowException) as error:
        raise ReleaseError(f"Product '{entry.name}' does not fit its manifest: {error}") from None
    return Cube(_subject(entry), table, values, uncertainty_from_dict(entry.uncertainty, table, values))


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


def _laid_out(values: NDArray[Any], table: Table) -> NDArray[Any]:
    """The values of the possible cells in their places among all, and 0 in the others."""
    if not table.impossible:
        return values.reshape(table.shape)
    if len(values) != np.count_nonzero(table.possible):
        raise ValueError(f"it has {len(values):,} values for {np.count_nonzero(table.possible):,} possible cells")
    cells = np.zeros(table.shape, dtype=values.dtype)
    cells[table.possible] = values
    return cells


def _subject(entry: ProductLine) -> Subject:
    universe = {name: tuple(codes) for name, codes in entry.universe.items()}
    return Subject(
        name=entry.name,
        statistic=entry.statistic,
        title=entry.title,
        unit=entry.unit,
        step=Fraction(entry.step),
        additive=entry.additive,
        universe=universe,
        mechanism=entry.mechanism,
        note=entry.note,
    )
