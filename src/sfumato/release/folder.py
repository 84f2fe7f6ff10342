"""Release: a folder of Parquet files and a manifest, written once and read by anyone."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from sfumato.geography import Shapes
from sfumato.release.manifest import BESIDE, NAME, AttributeLine, Manifest, ProductLine, digest, line
from sfumato.release.products import Cube, Product, Subject
from sfumato.release.records import Records
from sfumato.release.sparse import Sparse
from sfumato.schema import Attribute, Levels


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
    """Write each product as one Parquet file."""
    from sfumato.release.cubes import write_cubes
    from sfumato.release.framed import write_records

    (folder / "products").mkdir(parents=True, exist_ok=True)
    lines = write_records(folder, [one for one in products if isinstance(one, Records)])
    return lines + write_cubes(folder, [one for one in products if isinstance(one, (Cube, Sparse))])


def write_levels(folder: Path, attributes: Sequence[Attribute]) -> list[AttributeLine]:
    """Write the public levels of each attribute as one Parquet file."""
    from pyarrow import table
    from pyarrow.parquet import write_table

    from sfumato.release.texts import texts

    (folder / "levels").mkdir(parents=True, exist_ok=True)
    lines = []
    for one in attributes:
        name, levels = f"levels/{one.name}.parquet", one.levels
        listed = {"code": levels.codes, "label": levels.labels, "parent": levels.parents, "note": levels.notes}
        columns = {key: texts(values) for key, values in listed.items()}
        write_table(table(columns), folder / name)
        lines.append(AttributeLine(name=one.name, label=one.label, of=one.of, levels=name))
    return lines


def seal(folder: Path, manifest: Manifest) -> str:
    """Add the hash of every file, write the manifest, push it all to disk; the release's id is the manifest's hash."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    listed = {name: line(folder / name) for name in names if name not in BESIDE}
    sealed = manifest.model_copy(update={"files": listed})
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
    from sfumato.release.cubes import read_cube
    from sfumato.release.framed import KINDS, Reader

    known = {one.name: _read_attribute(folder, one) for one in manifest.attributes}
    reader, found = Reader(folder, manifest.unit, known), dict[str, Product]()
    for one in sorted(manifest.products, key=_standing):
        found[one.name] = (
            reader.read(one, _subject(one), found)
            if one.kind in KINDS
            else read_cube(folder, one, _subject(one), known)
        )
    return {one.name: found[one.name] for one in manifest.products}


def _standing(line: ProductLine) -> int:
    """Measures of rows first, then of groups, and what was made of both last."""
    return 2 if line.uncertainty.get("kind") == "adjusted" else int(line.kind != "records")


def _read_attribute(folder: Path, entry: AttributeLine) -> Attribute:
    levels = Levels.read(folder / entry.levels)
    return Attribute(entry.name, levels, of=entry.of, label=entry.label)


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
