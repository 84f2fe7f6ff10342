"""Release: a folder of Parquet files and a manifest, written once and read by anyone."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.geography import Shapes
from sfumato.release.certificate import Certificate
from sfumato.release.manifest import BESIDE, NAME, AttributeLine, Manifest, ProductLine, digest, line
from sfumato.release.products import Product
from sfumato.release.translator import Translator
from sfumato.schema import Attribute, Levels, Synonyms


@dataclass(frozen=True, eq=False)
class Release:
    """What was published: the manifest, its hash, the products that answer, and the shapes they can be drawn on."""

    manifest: Manifest
    id: str
    products: Mapping[str, Product]
    withdrawn: str | None = None
    folder: Path | None = None
    shapes: Mapping[str, Shapes] = field(default_factory=dict)
    certificate: Certificate | None = None
    """What was checked and attacked of its plan, where that lies beside it."""
    changed: Mapping[str, int] = field(default_factory=dict, repr=False)
    """When each file was last changed before it was verified, in nanoseconds."""
    in_own_language: "Release | None" = field(default=None, repr=False)
    """Where it is told in another language: the release as it was published."""
    translator: Translator | None = field(default=None, repr=False)
    """What says its texts in that language."""

    @property
    def language(self) -> str:
        """The language in which its texts are read."""
        return self.translator.language if self.translator else self.manifest.own_language

    def called(self, unit: str) -> str:
        """What a unit is called in that language."""
        return self.translator.unit(unit) if self.translator else unit

    def says(self, sentence: str) -> str:
        """A sentence of the program's own in that language, where its form is known; else as it is."""
        return self.translator.sentence(sentence) if self.translator else sentence

    def own_words(self, text: str) -> str:
        """A text that its publisher wrote, in its own language alone."""
        return self.translator.stays(text) if self.translator else text

    @property
    def own(self) -> "Release":
        """The release in its own language."""
        return self.in_own_language or self

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Every attribute that some product knows, in the order of the manifest."""
        known: dict[str, Attribute] = {}
        for one in (one for product in self.products.values() for one in product.attributes):
            # Products may be cut off at different depths; the finest holds the levels of all.
            if one.name not in known or len(one.levels.codes) > len(known[one.name].levels.codes):
                known[one.name] = one
        return tuple(known[entry.name] for entry in self.manifest.attributes if entry.name in known)


def write_products(folder: Path, products: Sequence[Product]) -> list[ProductLine]:
    """Write each product as one Parquet file."""
    (folder / "products").mkdir(parents=True, exist_ok=True)
    return [product.write(folder) for product in products]


def write_levels(folder: Path, attributes: Sequence[Attribute]) -> list[AttributeLine]:
    """Write the public levels of each attribute as one Parquet file."""
    from pyarrow import table
    from pyarrow.parquet import write_table

    from sfumato.release.parquet import texts

    (folder / "levels").mkdir(parents=True, exist_ok=True)
    lines = []
    for one in attributes:
        name, levels = f"levels/{one.name}.parquet", one.levels
        listed = {"code": levels.codes, "label": levels.labels, "parent": levels.parents, "note": levels.notes}
        columns = {key: texts(values) for key, values in (listed | dict(levels.texts)).items()}
        write_table(table(columns), folder / name)
        other = _write_synonyms(folder, one)
        lines.append(AttributeLine(name=one.name, label=one.label, of=one.of, levels=name, synonyms=other))
    return lines


def _write_synonyms(folder: Path, attribute: Attribute) -> str:
    """Write the synonyms of an attribute's levels, where there are some; the name of their file."""
    from pyarrow import table
    from pyarrow.parquet import write_table

    from sfumato.release.parquet import texts

    listed = attribute.synonyms
    if not len(listed):
        return ""
    name = f"synonyms/{attribute.name}.parquet"
    (folder / "synonyms").mkdir(exist_ok=True)
    languages = listed.languages or ("",) * len(listed)
    columns = {"code": texts(listed.codes)}
    for language in dict.fromkeys(("", *languages)):
        told = zip(listed.names, languages, strict=True)
        column = [name if said == language else None for name, said in told]
        columns[f"synonym.{language}" if language else "synonym"] = texts(column)
    write_table(table(columns), folder / name)
    return name


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


def read_attributes(folder: Path, manifest: Manifest) -> dict[str, Attribute]:
    """The attributes of a release with their public levels."""
    return {one.name: _read_attribute(folder, one) for one in manifest.attributes}


def _read_attribute(folder: Path, entry: AttributeLine) -> Attribute:
    synonyms = Synonyms.read(folder / entry.synonyms) if entry.synonyms else Synonyms()
    return Attribute(entry.name, Levels.read(folder / entry.levels), of=entry.of, label=entry.label, synonyms=synonyms)
