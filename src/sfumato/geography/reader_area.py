"""A reader's area: what a reader has drawn on a map or brought as GeoJSON, as closed rings on the map's grid.

It comes from anybody, so that all of it is bounded before any work: its bytes, its depth, its corners. Inside is
whatever its rings go around, as the same path is filled in a picture.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.geography.frame import MOST_FOLLOWED, SIMPLER, MapFrame, could_be_degrees
from sfumato.geography.misplaced import meets_grid, misplaced, turned_over
from sfumato.geography.shapes import Shapes

Floats = NDArray[np.float64]
Rings = tuple[tuple[tuple[int, int], ...], ...]
MOST_BYTES, MOST_POINTS, DEEPEST = 200_000, 10_000, 6
"""What GeoJSON may have at the most; the depth is that of collections within collections."""
MOST_CORNERS = 500
"""What is kept of it: borders on a map are known to about a unit of its grid, so that more would say nothing."""
MOVED = (0.3, 1.0)
"""In grid units: how far a border may be moved, and how far where it has too many corners else."""
FARTHEST = 999_999
_OUTLINE = re.compile(r"(?:M-?[0-9]{1,6} -?[0-9]{1,6}(?: -?[0-9]{1,6} -?[0-9]{1,6}){2,}Z)+")
_WANTED = "give a Polygon or MultiPolygon, alone, as a Feature or in a FeatureCollection"


@dataclass(frozen=True)
class ReaderArea:
    """Closed rings of whole numbers on the grid of a map."""

    rings: Rings

    def __post_init__(self) -> None:
        corners = sum(map(len, self.rings))
        if corners > MOST_CORNERS:
            raise QueryError(f"The area has {corners:,} corners; at most {MOST_CORNERS} are read: draw it more simply.")

    @classmethod
    def of(cls, outline: str) -> "ReaderArea":
        """The area of path data, as addresses have it.

        >>> ReaderArea.of("M0 0 20 0 20 -10Z").rings
        (((0, 0), (20, 0), (20, -10)),)
        """
        if len(outline) > 15 * MOST_CORNERS or not _OUTLINE.fullmatch(outline):
            raise QueryError(
                "An area is written as closed rings of at least three corners on the map's grid and of "
                f"{MOST_CORNERS} in all, for example M100 100 300 100 200 250Z; got '{outline[:60]}'."
            )
        listed = [[int(one) for one in ring.split(" ")] for ring in outline[1:-1].split("ZM")]
        return cls(tuple(tuple(zip(one[::2], one[1::2], strict=True)) for one in listed))

    @property
    def outline(self) -> str:
        return "".join(f"M{' '.join(f'{x} {y}' for x, y in ring)}Z" for ring in self.rings)


def from_geojson(written: bytes, shapes: Shapes) -> ReaderArea:
    """The area of a GeoJSON file: degrees where the map knows them, or the coordinates that the map was made from."""
    frame = shapes.frame
    if frame is None:
        raise QueryError(
            "This map does not say where on earth it lies, so that GeoJSON cannot be laid over it; draw on the map."
        )
    given = _rings(written)
    _refuse_around(given, frame)
    rings = _laid(given, frame)
    if not meets_grid(rings, shapes) or any(np.abs(ring).max() > FARTHEST for ring in rings):
        raise QueryError(misplaced(given, shapes, frame))
    tried = (_corners(rings, moved) for moved in MOVED)
    corners = next((some for some in tried if some is not None), None)
    if corners is None:
        raise QueryError(f"The area has more than {MOST_CORNERS} corners, the most that are read: {SIMPLER}.")
    if not corners:
        raise QueryError(
            "The area is thinner or smaller than anything on the map, whose grid has a unit of "
            f"{1 / frame.unit:,.3g} in the coordinates that it was made from; draw a larger one."
        )
    return ReaderArea(corners)


def _corners(rings: Sequence[Floats], moved: float) -> Rings | None:
    """The corners that are left of some rings on the grid; None where there are too many, which stops the work."""
    corners: list[tuple[tuple[int, int], ...]] = []
    count = 0
    for ring in rings:
        simpler = _simplified(ring, moved)
        whole = () if simpler is None else _whole(simpler)
        count += len(whole) if len(whole) >= 3 else 0
        if simpler is None or count > MOST_CORNERS:
            return None
        corners += [whole] if len(whole) >= 3 else []
    return tuple(corners)


def _laid(given: Sequence[Floats], frame: MapFrame) -> list[Floats]:
    """The rings on the grid of the map; refused where so many pieces of them would have to be followed."""
    rings, count = list[Floats](), 0
    for ring in given:
        laid = frame.on_grid(ring)
        count += sum(map(len, laid))
        if count > MOST_FOLLOWED:
            raise QueryError(f"The area has too many corners and turns to be followed: {SIMPLER}.")
        rings += laid
    return rings


def _refuse_around(rings: Sequence[Floats], frame: MapFrame) -> None:
    """Refuse degrees that may be meant to cross the date line, or the earth: which of them, nobody can tell."""
    if frame.lattice is not None and any(could_be_degrees(ring) and turned_over(ring) for ring in rings):
        raise QueryError(
            "An edge of the area runs more than half around the earth; cut the area in two at a longitude of 180, as "
            "GeoJSON has it (RFC 7946, section 3.1.9), or set a corner on the way."
        )


def _whole(ring: Floats) -> tuple[tuple[int, int], ...]:
    """The corners of a ring on the grid, those that fall together once."""
    grid = np.rint(ring).astype(np.int64)
    kept = grid[np.append(True, (grid[1:] != grid[:-1]).any(axis=1))]
    kept = kept[:-1] if len(kept) > 1 and (kept[0] == kept[-1]).all() else kept
    return tuple((x, y) for x, y in kept.tolist())


def _rings(written: bytes) -> list[Floats]:
    """The rings of all polygons, outer ones one way around and holes the other, so that some may overlap."""
    if len(written) > MOST_BYTES:
        raise QueryError(f"The GeoJSON has {len(written):,} bytes; at most {MOST_BYTES:,} are read: leave out corners.")
    try:
        content = json.loads(written)
    except (ValueError, RecursionError):
        raise QueryError(f"What was given is not JSON; {_WANTED}.") from None
    rings, points = [], 0
    for polygon in _polygons(content, DEEPEST):
        for place, ring in enumerate(polygon):
            points += len(ring) if isinstance(ring, list) else 0
            if points > MOST_POINTS:
                raise QueryError(f"The GeoJSON has more than {MOST_POINTS:,} points; at most that many are read.")
            rings.append(_turned(_ring(ring), outer=place == 0))
    if not rings:
        raise QueryError(f"The GeoJSON holds no area; {_WANTED}.")
    return rings


def _polygons(part: Any, deeper: int) -> Iterator[list[Any]]:
    """The polygons of whatever GeoJSON has them in, each a list of rings."""
    kind = str(part.get("type")) if isinstance(part, Mapping) else "no object"
    if deeper < 0:
        raise QueryError(f"The GeoJSON has collections within collections, more than {DEEPEST} deep; {_WANTED}.")
    if kind in {"FeatureCollection", "GeometryCollection"}:
        for one in _list(part.get("features" if kind == "FeatureCollection" else "geometries")):
            yield from _polygons(one, deeper - 1)
    elif kind == "Feature":
        yield from () if part.get("geometry") is None else _polygons(part["geometry"], deeper - 1)
    elif kind == "Polygon":
        yield _list(part.get("coordinates"))
    elif kind == "MultiPolygon":
        yield from (_list(one) for one in _list(part.get("coordinates")))
    else:
        raise QueryError(f"The GeoJSON has a part of type '{kind[:40]}', which is no area; {_WANTED}.")


def _list(part: Any) -> list[Any]:
    if not isinstance(part, list):
        raise QueryError(f"The GeoJSON has something else where a list is due; {_WANTED}.")
    return part


def _ring(points: Any) -> Floats:
    try:
        found = np.array([[_number(x), _number(y)] for x, y, *_ in _list(points)], dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise QueryError("The GeoJSON has a corner that is not two numbers, longitude and latitude.") from None
    if len(found) < 3 or not np.isfinite(found).all():
        raise QueryError("The GeoJSON has a ring of fewer than three corners, or with one that is no finite number.")
    if np.abs(found).max() > FARTHEST**2:
        raise QueryError("The GeoJSON has a corner that lies nowhere on earth; give longitude and latitude in degrees.")
    return found


def _number(written: Any) -> float:
    if isinstance(written, bool) or not isinstance(written, int | float):
        raise TypeError
    return float(written)


def _turned(ring: Floats, *, outer: bool) -> Floats:
    x, y = ring.T
    positive = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) > 0
    return ring if positive == outer else ring[::-1]


def _simplified(ring: Floats, most: float) -> Floats | None:
    """A ring without the corners that lie within some distance of the line between others (Douglas and Peucker).

    It is None as soon as more are left than any area may have, even if half of them fell together on the grid.
    """
    kept = np.zeros(len(ring), dtype=bool)
    far = int(np.argmax(((ring - ring[0]) ** 2).sum(axis=1)))
    kept[[0, far, -1]] = True
    open_ones, count = [(0, far), (far, len(ring) - 1)], 3
    while open_ones:
        first, last = open_ones.pop()
        if last - first < 2:
            continue
        away = _from_line(ring[first + 1 : last], ring[first], ring[last])
        if away.max() > most:
            middle = first + 1 + int(np.argmax(away))
            kept[middle] = True
            count += 1
            if count > 2 * MOST_CORNERS:
                return None
            open_ones += [(first, middle), (middle, last)]
    return ring[kept]


def _from_line(points: Floats, start: Floats, end: Floats) -> Floats:
    along, off = end - start, points - start
    length = float(np.hypot(*along))
    return np.asarray(np.abs(along[0] * off[:, 1] - along[1] * off[:, 0]) / length if length else np.hypot(*off.T))
