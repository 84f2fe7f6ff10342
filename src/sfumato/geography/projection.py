"""Projection: from degrees to a plane in which equal areas look equal."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from sfumato.errors import PlanError

Floats = NDArray[np.float64]
PLANAR = "planar"
INSETS = "us-insets"


def flat(areas: Sequence[Any], projection: str, *, planar: bool | None) -> tuple[list[Any], str]:
    """The areas in a plane, and the projection in words.

    Without a projection, degrees become an equal-area projection fitted to the extent; what lies in a plane already,
    because the file says so or because it cannot be degrees, is taken as it is.
    """
    if projection == PLANAR or (not projection and (planar or (planar is None and not _degrees(areas)))):
        return list(areas), "as in the file"
    if planar or not _degrees(areas):
        raise PlanError(
            f"projection is '{projection}', and the coordinates are no degrees; leave projection out, or give a file "
            "in longitude and latitude."
        )
    turned = _unbroken(areas)
    if projection == INSETS:
        return _with_insets(turned), "Albers equal-area; Alaska and Hawaii moved, Alaska at a third of its scale"
    proj, words = _named(projection) if projection else fitted(shapely.total_bounds(np.asarray(turned)))
    return [_projected(area, proj) for area in turned], words


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


def _projected(area: Any, proj: pyproj.Proj) -> Any:
    def place(points: Floats) -> Floats:
        return np.column_stack(proj(points[:, 0], points[:, 1]))

    moved = shapely.transform(area, place)
    if not np.isfinite(shapely.get_coordinates(moved)).all():
        raise PlanError("projection: a shape lies outside what the projection can show; leave projection out.")
    return moved


def _with_insets(areas: Sequence[Any]) -> list[Any]:
    """The states of the United States as atlases print them: Alaska, smaller, and Hawaii under the south-west."""
    main = pyproj.Proj(proj="aea", lon_0=-96, lat_0=37.5, lat_1=29.5, lat_2=45.5)
    alaska = pyproj.Proj(proj="aea", lon_0=-154, lat_0=50, lat_1=55, lat_2=65)
    hawaii = pyproj.Proj(proj="aea", lon_0=-157, lat_0=13, lat_1=8, lat_2=18)

    def place(points: Floats) -> Floats:
        moved = np.column_stack(main(points[:, 0], points[:, 1]))
        west = np.mod(points[:, 0], 360) < 231  # west of 129° W, and over the date line
        north = west & (points[:, 1] > 50)
        south = west & (points[:, 1] < 30)
        moved[north] = np.column_stack(alaska(points[north, 0], points[north, 1])) / 3 - [1_800_000, 1_600_000]
        moved[south] = np.column_stack(hawaii(points[south, 0], points[south, 1])) - [950_000, 1_950_000]
        return moved

    return [shapely.transform(area, place) for area in areas]
