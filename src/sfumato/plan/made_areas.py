"""Made areas: what `sfumato partition` says of how it made levels, held to what a plan claims to hide.

The list of areas and their outlines carry it, so that it goes where they go; so does the report beside them.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import PlanError, PromiseError
from sfumato.geography.made import FROM_LOCATIONS, JOINED_SQUARES, MADE, REPORT, SQUARES
from sfumato.plan.parts import AttributePart, ControlPart, GeographyPart
from sfumato.privacy import Neighbours
from sfumato.schema import Schema

OUTLINED = re.compile(rb'"' + MADE.encode() + rb'"\s*:\s*"([^"]*)"')


@dataclass(frozen=True)
class MadeAreas:
    """The attributes of a plan whose areas were made, and how."""

    methods: Mapping[str, str]

    @classmethod
    def of(
        cls, attributes: Mapping[str, AttributePart], geographies: Mapping[str, GeographyPart], folder: Path
    ) -> "MadeAreas":
        lists = {name: folder / one.levels for name, one in attributes.items() if isinstance(one.levels, str)}
        drawn = {name: folder / one.file for name, one in geographies.items()}
        found = {name: _reported(path) or _listed(path) for name, path in lists.items()}
        found |= {name: found.get(name) or _outlined(path) for name, path in drawn.items()}
        return cls({name: method for name, method in found.items() if method})

    def refuse_moving(self, schema: Schema, hidden: Neighbours) -> None:
        """Stop a plan whose neighbours may differ in where a unit is, while areas were made from where units are."""
        moving = self._moving(schema, hidden, {FROM_LOCATIONS})
        if moving:
            raise PromiseError(
                f"The areas of '{moving[0]}' were made from where every {hidden.unit} is, so that they and their sizes "
                f'tell that, and {hidden.kind} would claim to hide it; give neighbours = "replace-one" and '
                f'fixed = ["{moving[0]}"], or areas of squares (docs/geodata.md).'
            )

    def refuse_sizes(self, schema: Schema, hidden: Neighbours, controls: Iterable[ControlPart]) -> None:
        """Stop totals by squares that no release has protected, where the plan hides who is in which."""
        moving = self._moving(schema, hidden, {SQUARES, JOINED_SQUARES})
        for control in controls:
            by = {name.partition("@")[0] for name in control.by}
            if control.release is None and by & set(moving):
                raise PromiseError(
                    f"[[control]] '{control.name}' has true totals by squares, which tell where every {hidden.unit} "
                    f"is, and {hidden.kind} would claim to hide it; leave it out, or take the totals of a release "
                    '(release = "folder").'
                )

    def _moving(self, schema: Schema, hidden: Neighbours, methods: set[str]) -> list[str]:
        kept = hidden.keeps(schema.attributes)
        return [name for name, method in self.methods.items() if method in methods and name not in kept]


def _reported(path: Path) -> str:
    report = path.with_name(REPORT)
    if not report.is_file():
        return ""
    try:
        return str(json.loads(report.read_bytes())["method"])
    except (OSError, ValueError, LookupError, TypeError):
        raise PlanError(
            f"{report} cannot be read; it says how the areas beside it were made: make them again."
        ) from None


def _listed(path: Path) -> str:
    """What the first row of a list says; a list that cannot be read is refused where levels are."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            named = MADE in file.schema_arrow.names and file.metadata.num_rows > 0
            return str(next(file.iter_batches(1, columns=[MADE]))[MADE][0]) if named else ""
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        return (next(csv.DictReader(file), {}) or {}).get(MADE) or ""


def _outlined(path: Path) -> str:
    """What the first outline says; a file that cannot be read is refused where shapes are."""
    if not path.is_file():
        return ""
    if path.suffix.lower() in {".json", ".geojson", ".topojson"}:
        said = OUTLINED.search(path.read_bytes())
        return said[1].decode("utf-8", "replace") if said else ""
    beside = path.with_suffix(".dbf")
    return _stored(beside) if path.suffix.lower() == ".shp" and beside.is_file() else ""


def _stored(path: Path) -> str:
    """What the first record of a dBASE file says, which holds the properties of a shapefile.

    After 32 bytes of its own a file describes its fields, 32 bytes each, until a carriage return: the name in 11 bytes,
    and at the 17th the length. Records follow, each behind a byte that says whether it was deleted.
    """
    written = path.read_bytes()
    at, start = 1, int.from_bytes(written[8:10], "little")
    for place in range(32, start - 31, 32):
        field = written[place : place + 32]
        if len(field) < 32 or field[:1] == b"\r":
            break
        name, length = field[:11].partition(b"\0")[0], field[16]
        if name.decode("ascii", "replace").lower() == MADE:
            return written[start + at : start + at + length].decode("utf-8", "replace").strip(" \0")
        at += length
    return ""
