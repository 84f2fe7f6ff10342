"""Projection: from degrees to a plane in which equal areas look equal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.geography.frame import Place

Floats = NDArray[np.float64]
PLANAR = "planar"
INSETS = "us-insets"


@dataclass(frozen=True, eq=False)
class Plane:
    """Areas in a plane, the projection in words, and where degrees lie in it: none where nothing says so."""

    areas: list[Any]
    words: str
    place: Place | None = None
    bounds: Floats | None = None
    """West, south, east and north of the areas, in degrees."""


def flat(areas: Sequence[Any], projection: str, *, planar: bool | None, crs: str = "") -> Plane:
    """The areas in a plane, which `crs` names where they lie in one already.

    Without a projection, degrees become an equal-area projection fitted to the extent; what lies in a plane already,
    because the file says so or because it cannot be degrees, is taken as it is.
    """
    if projection == PLANAR or (not projection and (planar or (planar is None and not _degrees(areas)))):
        return _as_it_is(areas, crs)
    if planar or not _degrees(areas):
        raise PlanError(
            f"projection is '{projection}', and the coordinates are no degrees; leave projection out, or give a file "
            "in longitude and latitude."
        )
    turned = _unbroken(areas)
    bounds = shapely.total_bounds(np.asarray(turned))
    if projection == INSETS:
        words = "Albers equal-area; Alaska and Hawaii moved, Alaska at a third of its scale"
        return Plane([shapely.transform(area, _with_insets) for area in turned], words)
    proj, words = _named(projection) if projection else fitted(bounds)

    def place(points: Floats) -> Floats:
        return np.column_stack(proj(points[:, 0], points[:, 1]))

    return Plane([_projected(area, place) for area in turned], words, place, bounds)


def _as_it_is(areas: Sequence[Any], crs: str) -> Plane:
    """Areas that lie in a plane; where the file names it, degrees are found in it."""
    words = "as in the file"
    if not crs:
        return Plane(list(areas), words)
    try:
        turn = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
        left, bottom, right, top = shapely.total_bounds(np.asarray(areas)).tolist()
        bounds = turn.transform_bounds(left, bottom, right, top, direction="INVERSE")
    except pyproj.exceptions.ProjError:
        return Plane(list(areas), words)  # a plane that lies nowhere on earth, as of a building

    def place(points: Floats) -> Floats:
        return np.column_stack(turn.transform(points[:, 0], points[:, 1]))

    return Plane(list(areas), words, place, np.asarray(bounds))


def _degrees(areas: Sequence[Any]) -> bool:
    left, bottom, right, top = shapely.total_bounds(np.asarray(areas))
    return bool(left >= -180.0001 and right <= 360.0001 and bottom >= -90.0001 and top <= 90.0001)


def _unbroken(areas: Sequence[Any]) -> list[Any]:
    """The areas with longitudes that do not jump: the circle is cut in its widest empty arc."""
    along = np.unique(np.mod(shapely.get_coordinates(np.asarray(areas))[:, 0], 360))
    gaps = np.diff(np.append(along, along[0] + 360))
    start = along[(int(np.argmax(gaps)) + 1) % len(along)]

    def turn(points: Floats) -> Floats:
        return np.column_stack([np.mod(points[:, 0] - start, 360) + start, points[:, 1]])

    return [shapely.transform(area, turn) for area in areas]


def fitted(bounds: Floats) -> tuple[pyproj.Proj, str]:
    """An equal-area projection for an extent: Albers on two parallels a sixth inside it, cylindrical at the equator.

    >>> fitted(np.array([-120.0, 24.0, -70.0, 48.0]))[1]
    'Albers equal-area, true to scale at 28.0° and 44.0°'
    """
    left, bottom, right, top = (float(bound) for bound in bounds)
    middle, low, high = (left + right) / 2, bottom + (top - bottom) / 6, top - (top - bottom) / 6
    if abs(low + high) < 2:  # the cone of Albers would be flat
        true = max(abs(low), abs(high))
        return pyproj.Proj(
            proj="cea", lon_0=middle, lat_ts=true
        ), f"cylindrical equal-area, true to scale at {true:.1f}°"
    proj = pyproj.Proj(proj="aea", lon_0=middle, lat_0=(bottom + top) / 2, lat_1=low, lat_2=high)
    return proj, f"Albers equal-area, true to scale at {low:.1f}° and {high:.1f}°"


def _named(projection: str) -> tuple[pyproj.Proj, str]:
    try:
        crs = pyproj.CRS.from_user_input(projection)
        if not crs.is_projected:
            raise PlanError(f"projection '{projection}' is not of a plane; for example EPSG:5070, or leave it out.")
        return pyproj.Proj(crs), crs.name if crs.name != "unknown" else projection
    except pyproj.exceptions.ProjError:
        raise PlanError(
            f"projection '{projection}' is not known; give an EPSG code such as EPSG:5070, 'planar' for coordinates "
            f"that lie in a plane already, '{INSETS}' for the United States, or leave it out for a fitted Albers."
        ) from None


def _projected(area: Any, place: Place) -> Any:
    moved = shapely.transform(area, place)
    if not np.isfinite(shapely.get_coordinates(moved)).all():
        raise PlanError("projection: a shape lies outside what the projection can show; leave projection out.")
    return moved


def _with_insets(points: Floats) -> Floats:
    """The states of the United States as atlases print them: Alaska, smaller, and Hawaii under the south-west."""
    main = pyproj.Proj(proj="aea", lon_0=-96, lat_0=37.5, lat_1=29.5, lat_2=45.5)
    alaska = pyproj.Proj(proj="aea", lon_0=-154, lat_0=50, lat_1=55, lat_2=65)
    hawaii = pyproj.Proj(proj="aea", lon_0=-157, lat_0=13, lat_1=8, lat_2=18)
    moved = np.column_stack(main(points[:, 0], points[:, 1]))
    west = np.mod(points[:, 0], 360) < 231  # west of 129° W, and over the date line
    north = west & (points[:, 1] > 50)
    south = west & (points[:, 1] < 30)
    moved[north] = np.column_stack(alaska(points[north, 0], points[north, 1])) / 3 - [1_800_000, 1_600_000]
    moved[south] = np.column_stack(hawaii(points[south, 0], points[south, 1])) - [950_000, 1_950_000]
    return moved
