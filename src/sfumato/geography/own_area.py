"""Own areas: which of a release's areas lie inside one that a reader has drawn, and which its border cuts."""

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely

from sfumato.errors import PlanError, nearest
from sfumato.geography.frame import could_be_degrees
from sfumato.geography.locations import from_origin
from sfumato.geography.outlines import joined, read
from sfumato.geography.parting import DrawnArea

SLIVER = 1e-6
"""The part of an area that may lie outside, by rounding alone, of one that lies inside."""


def drawn_area(areas: Path, own: Path, key: str = "code", origin: tuple[float, float] | None = None) -> DrawnArea:
    """The areas of a file inside those of another, whose degrees are taken to the plane that the first file names.

    Where it names none, they are taken as metres from an origin, if that is given.
    """
    outlines = read(areas)
    listed = [shape for shape in outlines.shapes if shape.area is not None]
    if not any(key in shape.properties for shape in listed):
        known = dict.fromkeys(name for shape in listed for name in shape.properties)
        raise PlanError(f"No area of {areas.name} has '{key}'; {nearest(key, known)}")
    brought = [shape.area for shape in read(own).shapes if shape.area is not None]
    if not sum(area.area for area in brought):
        raise PlanError(f"{own.name} encloses no area: its shapes have none, or are lines; draw one of some width.")
    mine = joined(brought)
    named = outlines.crs if could_be_degrees(shapely.get_coordinates(mine)) else ""
    if crs := from_origin(origin) if origin else named:
        mine = shapely.transform(mine, lambda points: _plane(points, crs))
    shared = [shapely.intersection(shape.area, mine).area / shape.area.area for shape in listed]
    found = [(str(shape.properties.get(key)), part) for shape, part in zip(listed, shared, strict=True)]
    inside = tuple(code for code, part in found if part >= 1 - SLIVER)
    cut = tuple(code for code, part in found if SLIVER < part < 1 - SLIVER)
    if not inside and not cut:
        raise PlanError(
            f"No area of {areas.name} lies in {own.name}. Give both in the same coordinates, longitude before latitude "
            "where these are degrees; areas in metres must name their plane, or --origin say where they start."
        )
    return DrawnArea(inside, cut)


def _plane(points: Any, crs: str) -> Any:
    """Degrees, the longitude first, as coordinates of a plane."""
    turn = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
    return np.column_stack(turn.transform(points[:, 0], points[:, 1]))
