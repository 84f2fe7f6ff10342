"""Made areas: levels that `sfumato partition` made from where units are hold for neighbours that keep these alone."""

import json
from collections.abc import Mapping
from pathlib import Path

from sfumato.errors import PlanError, PromiseError
from sfumato.geography.made import FROM_LOCATIONS, REPORT
from sfumato.privacy import Neighbours
from sfumato.schema import Schema


def refuse_moving(schema: Schema, files: Mapping[str, Path], hidden: Neighbours) -> None:
    """Stop a plan whose neighbours may differ in where a unit is, while areas were made from where units are."""
    made = [schema.attribute(name) for name, path in files.items() if _from_locations(path.with_name(REPORT))]
    moving = [attribute.name for attribute in made if attribute.name not in hidden.keeps(schema.attributes)]
    if moving:
        raise PromiseError(
            f"The areas of '{moving[0]}' were made from where every {hidden.unit} is, so that they and their sizes "
            f'tell that, and {hidden.kind} would claim to hide it; give neighbours = "replace-one" and '
            f'fixed = ["{moving[0]}"], or areas of squares (docs/geodata.md).'
        )


def _from_locations(report: Path) -> bool:
    if not report.is_file():
        return False
    try:
        return bool(json.loads(report.read_bytes())["method"] == FROM_LOCATIONS)
    except (OSError, ValueError, LookupError, TypeError):
        raise PlanError(
            f"{report} cannot be read; it says how the areas beside it were made: make them again."
        ) from None


def level_files(levels: Mapping[str, object], folder: Path) -> dict[str, Path]:
    """The attributes whose levels are in a file, and which."""
    return {name: folder / written for name, written in levels.items() if isinstance(written, str)}
