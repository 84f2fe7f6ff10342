"""Frame: where the grid of a drawing lies on earth, so that what a reader brings along can be laid over it.

Degrees become places of the grid by a lattice of known ones, so that whoever shows a map needs no projection.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError

Floats = NDArray[np.float64]
Place = Callable[[Floats], Floats]
"""From points to where they lie; longitude and latitude stand in this order."""
SIDES = (9, 17, 33, 65)
"""How many lines of the lattice run each way; the first that is exact enough is taken."""
EXACT = 0.5
"""In grid units: how far the lattice may be off between its lines."""
MARGIN, PIECES = 0.1, 64
"""How far around the map rings are followed, and how many pieces an edge across it has at the least."""
MOST_FOLLOWED = 15_000
"""The most pieces that the edges of one ring are followed in."""
SIMPLER = "draw it more simply, or leave out corners"

TURNS = range(-2, 3)
"""How many turns around the earth longitudes from -360 to 360 may be away from where a map has them."""


@dataclass(frozen=True)
class DegreeLattice:
    """Where the grid has longitudes and latitudes, `side` of each, evenly spaced; row by row from the south."""

    west: float
    south: float
    east: float
    north: float
    side: int
    x: tuple[float, ...]
    y: tuple[float, ...]

    def __call__(self, degrees: Floats) -> Floats:
        """The places of points on the grid, in a straight line between known ones and on beyond the outermost.

        >>> known = DegreeLattice(10, 50, 12, 52, 2, (0, 20, 0, 20), (10, 10, 0, 0))
        >>> known(np.array([[11.0, 51.0], [13.0, 52.0]])).tolist()
        [[10.0, 5.0], [30.0, 0.0]]
        """
        u = (degrees[:, 0] - self.west) / (self.east - self.west) * (self.side - 1)
        v = (degrees[:, 1] - self.south) / (self.north - self.south) * (self.side - 1)
        column, row = (np.clip(np.floor(one), 0, self.side - 2).astype(int) for one in (u, v))
        u, v = u - column, v - row
        start = row * self.side + column
        corners = [(start, (1 - u) * (1 - v)), (start + 1, u * (1 - v))]
        corners += [(start + self.side, (1 - u) * v), (start + self.side + 1, u * v)]
        sides = [sum(np.asarray(known)[at] * weight for at, weight in corners) for known in (self.x, self.y)]
        return np.column_stack(sides)

    def rings(self, degrees: Floats) -> list[Floats]:
        """A closed ring on the grid, as far as it lies near the map; its edges run straight in degrees.

        A little beyond the map it is cut off, as places far from known ones are not known; there is nothing of the map.
        Longitudes that are apart by whole turns are one place, so that some of it may come from either side.
        """
        low, high = np.array([self.west, self.south]), np.array([self.east, self.north])
        margin = MARGIN * (high - low)
        laid = (degrees + np.array([360.0 * turn, 0.0]) for turn in TURNS)
        near = (ring for ring in laid if _meets(ring, low - margin, high + margin))
        cut = [ring for ring in (clipped(one, low - margin, high + margin) for one in near) if len(ring)]
        step = (high - low) / PIECES
        if sum(int(_pieces(ring, step).sum()) for ring in cut) > MOST_FOLLOWED:
            raise QueryError(f"The area has too many corners and turns to be followed: {SIMPLER}.")
        return [self(_dense(ring, step)) for ring in cut]


def clipped(ring: Floats, low: Floats, high: Floats) -> Floats:
    """A closed ring cut off at the sides of a box (Sutherland and Hodgman), empty where it lies outside.

    >>> clipped(np.array([[-9.0, 1.0], [5.0, 1.0], [5.0, 3.0], [-9.0, 3.0]]), np.zeros(2), np.full(2, 4.0)).tolist()
    [[0.0, 1.0], [4.0, 1.0], [4.0, 3.0], [0.0, 3.0]]
    """
    for axis in (0, 1):
        for bound, sign in ((low[axis], 1.0), (high[axis], -1.0)):
            if not len(ring):
                return ring
            ahead = np.roll(ring, -1, axis=0)
            off, then = sign * (ring[:, axis] - bound), sign * (ahead[:, axis] - bound)
            part = np.divide(off, off - then, out=np.zeros(len(off)), where=off != then)
            crossing = ring + part[:, None] * (ahead - ring)
            both = np.stack([ring, crossing], axis=1).reshape(-1, 2)
            ring = both[np.column_stack([off >= 0, (off >= 0) != (then >= 0)]).ravel()]
    return ring


def _meets(ring: Floats, low: Floats, high: Floats) -> bool:
    """Whether the box around a ring meets another."""
    return bool((ring.max(axis=0) >= low).all() and (ring.min(axis=0) <= high).all())


def _pieces(ring: Floats, step: Floats) -> NDArray[np.intp]:
    """How many pieces each edge of a closed ring is followed in."""
    along = np.roll(ring, -1, axis=0) - ring
    return np.asarray(np.maximum(np.ceil((np.abs(along) / step).max(axis=1)), 1), dtype=np.intp)


def _dense(ring: Floats, step: Floats) -> Floats:
    """A closed ring with further corners along its edges, none of which is longer than a step either way."""
    along, count = np.roll(ring, -1, axis=0) - ring, _pieces(ring, step)
    edge = np.repeat(np.arange(len(ring)), count)
    part = (np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)) / count[edge]
    return np.asarray(ring[edge] + part[:, None] * along[edge])


@dataclass(frozen=True)
class MapFrame:
    """The upper left corner of a grid in the coordinates of its plane, its units to one of these, and its lattice."""

    left: float
    top: float
    unit: float
    lattice: DegreeLattice | None = None

    def on_grid(self, ring: Floats) -> list[Floats]:
        """A ring on the grid: of degrees, longitude first, where they can be such and the grid knows any, or of metres.

        >>> [ring.tolist() for ring in MapFrame(1000, 900, 0.1).on_grid(np.array([[1100.0, 800.0]]))]
        [[[10.0, 10.0]]]
        """
        if self.lattice is not None and could_be_degrees(ring):
            return self.lattice.rings(ring)
        return [self.from_plane(ring)]

    def from_plane(self, points: Floats) -> Floats:
        return np.column_stack([points[:, 0] - self.left, self.top - points[:, 1]]) * self.unit


def could_be_degrees(points: Floats) -> bool:
    """Whether all of some points can be longitudes and latitudes."""
    return bool((abs(points[:, 0]) <= 360).all() and (abs(points[:, 1]) <= 90).all())


def lattice_of(grid: Place, bounds: Floats) -> DegreeLattice | None:
    """The lattice over some bounds in degrees, of where points in degrees lie on the grid.

    There is none where straight lines between known places would miss by more than `EXACT`, as where parts of a map
    were moved.
    """
    west, south, east, north = (float(bound) for bound in bounds)
    if not (west < east and south < north):
        return None
    for side in SIDES:
        longitudes, latitudes = np.linspace(west, east, 2 * side - 1), np.linspace(south, north, 2 * side - 1)
        fine = np.stack(np.meshgrid(longitudes, latitudes), axis=-1)
        truly = grid(fine.reshape(-1, 2))
        known = np.round(truly.reshape(*fine.shape)[::2, ::2].reshape(-1, 2), 2)
        found = DegreeLattice(west, south, east, north, side, *(tuple(one) for one in known.T.tolist()))
        if np.isfinite(truly).all() and np.abs(found(fine.reshape(-1, 2)) - truly).max() <= EXACT:
            return found
    return None
