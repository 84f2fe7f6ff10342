"""Drawing: areas projected once, simplified with their borders in common, and rounded to a small grid."""

from dataclasses import replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.geography.areas import Areas, Hierarchy
from sfumato.geography.frame import MapFrame, lattice_of
from sfumato.geography.outlines import Outlines, polygons
from sfumato.geography.projection import Plane, flat
from sfumato.geography.shapes import MOST_BYTES, Shapes

TOLERANCE = 1.2
"""In grid units: a corner that would fill less than this squared is cut."""
SPECK = 1.0
"""In square grid units: islands and holes below it are not drawn, unless they are all there is."""


def drawn(name: str, areas: Areas, levels: Hierarchy, projection: str, detail: int, of: Outlines) -> Shapes:
    """The areas of an attribute's levels on a grid; a level without an area has that of its children together."""
    plane = flat(list(areas.values()), projection, planar=of.planar, crs=of.crs)
    gridded, width, height, frame = _gridded(plane, detail)
    simple, notes = _simplified(dict(zip(areas, gridded, strict=True)), levels)
    whole = _with_parents(simple, levels)
    places = {code: _place(area) for code, area in whole.items()}
    outlines = {code: _outline(area, places[code]) for code, area in whole.items()}
    if sum(len(outline) for outline in outlines.values()) > MOST_BYTES * 0.9:
        raise PlanError(f"at detail = {detail} the shapes take over {MOST_BYTES // 10**6} MB; give a lower detail.")
    return Shapes(name, width, height, outlines, places, projection=plane.words, notes=tuple(notes), frame=frame)


def _gridded(plane: Plane, detail: int) -> tuple[list[Any], int, int, MapFrame]:
    """The areas with the longest side `detail` units long, and y down as screens have it."""
    left, bottom, right, top = (float(one) for one in shapely.total_bounds(np.asarray(plane.areas)))
    size = max(right - left, top - bottom)
    if not size > 0:
        raise PlanError("the shapes have no extent.")
    frame = MapFrame(left, top, detail / size)

    def place(points: NDArray[np.float64]) -> NDArray[np.float64]:
        # Neighbours whose common corner differs in a far digit meet again on a fine grid.
        return np.asarray(np.round(frame.from_plane(points), 5))

    sides = [max(int(np.ceil(side * frame.unit)), 1) for side in (right - left, top - bottom)]
    return [_mended(shapely.transform(area, place)) for area in plane.areas], sides[0], sides[1], _known(frame, plane)


def _known(frame: MapFrame, plane: Plane) -> MapFrame:
    """The frame with what it knows of degrees."""
    place, bounds = plane.place, plane.bounds
    if place is None or bounds is None:
        return frame
    return replace(frame, lattice=lattice_of(lambda degrees: frame.from_plane(place(degrees)), bounds))


def _mended(area: Any) -> Any:
    return area if area.is_valid else polygons(shapely.make_valid(area))


def _simplified(areas: Areas, levels: Hierarchy) -> tuple[dict[str, Any], list[str]]:
    """Each tier of areas that lie side by side, simplified together, so that a border stays one border."""
    tiers: dict[int, list[str]] = {}
    leaves = set(levels.leaves)
    for code in areas:
        tiers.setdefault(-1 if code in leaves else levels.depths[code], []).append(code)
    simple: dict[str, Any] = {}
    ragged = False
    for codes in tiers.values():
        group = np.asarray([areas[code] for code in codes])
        ragged |= not shapely.coverage_is_valid(group)
        simple |= dict(zip(codes, shapely.coverage_simplify(group, TOLERANCE), strict=True))
    note = "Some shapes of the file overlap or do not meet; thin gaps may show between them."
    return {code: simple[code] for code in areas}, [note] if ragged else []


def _with_parents(areas: Areas, levels: Hierarchy) -> dict[str, Any]:
    """The areas in the order of the levels, those of parents put together from the deepest up."""
    children: dict[str, list[str]] = {}
    for code, parent in zip(levels.codes, levels.parents, strict=True):
        if parent is not None:
            children.setdefault(parent, []).append(code)
    whole = dict(areas)
    for code in sorted(children, key=lambda one: -levels.depths[one]):
        parts = [_mended(whole[child]) for child in children[code] if child in whole]
        if code not in whole and parts:
            whole[code] = shapely.union_all(parts)
    return {code: whole[code] for code in levels.codes if code in whole}


def _place(area: Any) -> tuple[int, int]:
    """The middle of the largest circle inside the largest part: where a dot or a name stands best."""
    largest = max(shapely.get_parts(area), key=lambda part: part.area)
    middle = shapely.get_coordinates(shapely.maximum_inscribed_circle(largest, tolerance=1.0))[0]
    x, y = np.maximum(np.rint(middle), 0).astype(int).tolist()
    return x, y


def _outline(area: Any, place: tuple[int, int]) -> str:
    """The rings as path data; an area too small for the grid is a speck where it lies."""
    parts = sorted(shapely.get_parts(area), key=lambda part: -part.area)
    kept = [part for number, part in enumerate(parts) if number == 0 or part.area >= SPECK]
    rings = [ring for part in kept for ring in (part.exterior, *_holes(part))]
    written = "".join(_ring(shapely.get_coordinates(ring)) for ring in rings)
    x, y = place
    return written or f"M{x} {y} {x + 1} {y} {x + 1} {y + 1} {x} {y + 1}Z"


def _holes(part: Any) -> list[Any]:
    return [ring for ring in part.interiors if shapely.Polygon(ring).area >= SPECK]


def _ring(points: NDArray[np.float64]) -> str:
    """A closed ring of whole numbers, without points that fall together; nothing where no area is left."""
    grid = np.maximum(np.rint(points), 0).astype(int)
    kept = grid[np.append(True, (grid[1:] != grid[:-1]).any(axis=1))]
    kept = kept[:-1] if len(kept) > 1 and (kept[0] == kept[-1]).all() else kept
    if len(kept) < 3:
        return ""
    return f"M{' '.join(str(number) for number in kept.ravel().tolist())}Z"
