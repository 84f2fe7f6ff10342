"""Misplaced: what a reader is told of an area that does not lie on the map, by where it lies and where the map does."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.geography.frame import DegreeLattice, MapFrame, could_be_degrees
from sfumato.geography.shapes import Shapes

Floats = NDArray[np.float64]
HALF_ROUND = 180
"""Degrees of longitude: an edge that is longer has a shorter way around the other side of the earth."""


def turned_over(ring: Floats) -> bool:
    """Whether an edge of a ring of degrees runs more than half around the earth and less than all around it.

    >>> turned_over(np.array([[170.0, 1.0], [-170.0, 1.0], [-170.0, 9.0]]))
    True
    >>> turned_over(np.array([[-180.0, -90.0], [180.0, -90.0], [180.0, 90.0], [-180.0, 90.0]]))
    False
    """
    along = np.abs(ring[:, 0] - np.roll(ring[:, 0], -1))
    return bool(((along > HALF_ROUND) & (along < 2 * HALF_ROUND)).any())


def meets_grid(rings: Sequence[Floats], shapes: Shapes) -> bool:
    """Whether some ring on the grid comes over the map."""
    side = np.array([shapes.width, shapes.height])
    return any(bool((ring.max(axis=0) >= 0).all() and (ring.min(axis=0) <= side).all()) for ring in rings)


def misplaced(rings: Sequence[Floats], shapes: Shapes, frame: MapFrame) -> str:
    """Why an area does not lie on a map, told from its coordinates as they were given.

    >>> known = DegreeLattice(10, 50, 12, 52, 2, (0, 20, 0, 20), (10, 10, 0, 0))
    >>> frame = MapFrame(0, 100, 0.1, known)
    >>> misplaced([np.array([[51.0, 11.0], [51.5, 11.0], [51.5, 11.5]])], Shapes("a", 20, 10, {}, {}), frame)
    'The area lies on the map if its numbers change places: give the longitude first and then the latitude.'
    """
    points, lattice = np.concatenate(list(rings)), frame.lattice
    if lattice is None:
        return f"The area has {_extent(points)}; the map has {_extent(_plane(shapes, frame))}: give those."
    turned = [laid for ring in rings if could_be_degrees(ring[:, ::-1]) for laid in lattice.rings(ring[:, ::-1])]
    if meets_grid(turned, shapes):
        return "The area lies on the map if its numbers change places: give the longitude first and then the latitude."
    if not could_be_degrees(points):
        return (
            f"The area has {_extent(points)}, which are no degrees; save it in longitude and latitude (WGS 84), "
            f"or in metres of the map, which has {_extent(_plane(shapes, frame))}."
        )
    return f"The area lies elsewhere, at {_degrees(points)}; the map lies at {_degrees(_corners(lattice))}."


def _plane(shapes: Shapes, frame: MapFrame) -> Floats:
    right, bottom = frame.left + shapes.width / frame.unit, frame.top - shapes.height / frame.unit
    return np.array([[frame.left, bottom], [right, frame.top]])


def _corners(lattice: DegreeLattice) -> Floats:
    return np.array([[lattice.west, lattice.south], [lattice.east, lattice.north]])


def _extent(points: Floats) -> str:
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    return f"coordinates from {left:,.0f} to {right:,.0f} and from {bottom:,.0f} to {top:,.0f}"


def _degrees(points: Floats) -> str:
    (west, south), (east, north) = points.min(axis=0), points.max(axis=0)
    return f"longitudes from {west:.2f} to {east:.2f} and latitudes from {south:.2f} to {north:.2f}"
