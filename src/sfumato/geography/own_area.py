"""Own areas: which of a release's areas lie inside one that a reader has drawn, and which its border cuts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from sfumato.errors import PlanError, nearest
from sfumato.geography.locations import metres_from
from sfumato.geography.outlines import joined, read

SLIVER = 1e-6
"""The part of an area that may lie outside, by rounding alone, of one that lies inside."""


@dataclass(frozen=True)
class DrawnArea:
    """The codes of the areas that lie inside what a reader has drawn, and of those that its border cuts."""

    inside: tuple[str, ...]
    cut: tuple[str, ...]


def drawn_area(areas: Path, own: Path, key: str = "code", origin: tuple[float, float] | None = None) -> DrawnArea:
    """The areas of a file inside those of another, whose degrees are taken as metres from an origin, where given."""
    listed = [shape for shape in read(areas).shapes if shape.area is not None]
    if not any(key in shape.properties for shape in listed):
        known = dict.fromkeys(name for shape in listed for name in shape.properties)
        raise PlanError(f"No area of {areas.name} has '{key}'; {nearest(key, known)}")
    mine = joined([shape.area for shape in read(own).shapes if shape.area is not None])
    mine = mine if origin is None else shapely.transform(mine, lambda points: _metres(points, origin))
    shared = [shapely.intersection(shape.area, mine).area / shape.area.area for shape in listed]
    found = [(str(shape.properties.get(key)), part) for shape, part in zip(listed, shared, strict=True)]
    inside = tuple(code for code, part in found if part >= 1 - SLIVER)
    cut = tuple(code for code, part in found if SLIVER < part < 1 - SLIVER)
    if not inside and not cut:
        raise PlanError(
            f"No area of {areas.name} lies in {own.name}; both have the same coordinates, or --origin says from where "
            "degrees are taken as metres."
        )
    return DrawnArea(inside, cut)


def _metres(points: Any, origin: tuple[float, float]) -> Any:
    """Metres east and north of an origin; GeoJSON has the longitude first."""
    return np.column_stack(metres_from(origin, points[:, 1], points[:, 0]))
