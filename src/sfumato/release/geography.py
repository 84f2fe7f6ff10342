"""Geography: the files of shapes in a release, written and read as the manifest names them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sfumato.errors import ReleaseError
from sfumato.geography import MOST_BYTES, Shapes
from sfumato.release.manifest import GeographyLine, Manifest
from sfumato.schema import Attribute


def write_shapes(folder: Path, shapes: Sequence[Shapes]) -> list[GeographyLine]:
    """Write the shapes of each attribute as one JSON file."""
    lines = []
    for shape in shapes:
        name = f"geography/{shape.attribute}.json"
        (folder / "geography").mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(shape.to_bytes())
        lines.append(GeographyLine(attribute=shape.attribute, file=name))
    return lines


def read_shapes(folder: Path, manifest: Manifest, attributes: Mapping[str, Attribute]) -> dict[str, Shapes]:
    """The shapes that the manifest names, by attribute; each belongs to a level of its attribute."""
    return {geography.attribute: _read(folder, geography, attributes) for geography in manifest.geographies}


def _read(folder: Path, entry: GeographyLine, attributes: Mapping[str, Attribute]) -> Shapes:
    if entry.attribute not in attributes:
        raise ReleaseError(f"The release has shapes for '{entry.attribute}', which is no attribute of it.")
    path = folder / entry.file
    if path.stat().st_size > MOST_BYTES:
        raise ReleaseError(f"{entry.file} is larger than {MOST_BYTES:,} bytes; prepare it with a lower detail.")
    shapes = Shapes.from_bytes(path.read_bytes())
    known = set(attributes[entry.attribute].levels.codes)
    strange = [code for code in shapes.outlines if code not in known]
    if shapes.attribute != entry.attribute or strange:
        raise ReleaseError(
            f"{entry.file} does not belong to '{entry.attribute}': "
            + (f"'{strange[0]}' is none of its levels." if strange else f"it is of '{shapes.attribute}'.")
        )
    return shapes
