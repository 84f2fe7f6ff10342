"""Cluster outlines: what lies nearer to the middle of one area than to any other, and not far from it.

Areas of squares are drawn from these alone, whoever lives in them. Those of clusters follow from the middles of areas
and from how far their units live from these, both rounded, so from public locations alone; which units an area holds is
not read off them: some live a little outside. Where nobody lives, empty places on a grid are middles too, and what lies
nearest to those is left blank: borders are shared, to the last digit.
"""

from collections.abc import Iterable
from itertools import count
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from sfumato.geography.made import MADE
from sfumato.geography.partition import Partition, SquareGround

Floats = NDArray[np.float64]
NEAREST = 100
"""In metres: how far an area reaches around its middle at least, and what farther reaches are rounded up to."""
MOST_BLANKS = 200
"""How many empty places a side of the grid has at most."""


def outlines(partition: Partition) -> list[tuple[str, Any]]:
    """The code and the outline of every area; of squares the ground that they cover."""
    if partition.ground is not None:
        return list(zip(partition.codes, _covered(partition.ground), strict=True))
    middles, reaches = _apart(np.rint(partition.middles)), _reaches(partition)
    cells = nearest_to(np.concatenate([middles, _blanks(middles, reaches)]))[: len(middles)]
    return list(zip(partition.codes, shapely.transform(cells, lambda points: np.round(points, 1)), strict=True))


def _covered(ground: SquareGround) -> list[Any]:
    """What the squares of each area cover together, in the order of areas; every area has one at least."""
    west, south = ground.corners.T
    order = np.argsort(ground.area, kind="stable")
    squares = shapely.box(west, south, west + ground.side, south + ground.side)[order]
    parts = np.split(squares, np.cumsum(np.bincount(ground.area))[:-1])
    return [part[0] if len(part) == 1 else shapely.coverage_union_all(part) for part in parts]


def nearest_to(places: Floats) -> NDArray[Any]:
    """For each of some places what lies nearer to it than to the others, in their order."""
    cells = shapely.get_parts(shapely.voronoi_polygons(shapely.MultiPoint(places)))
    inside, cell = shapely.STRtree(cells).query(shapely.points(places), predicate="within")
    order = np.empty(len(places), dtype=np.int64)
    order[inside] = cell
    return np.asarray(cells[order])


def _blanks(middles: Floats, reaches: Floats) -> Floats:
    """Places on a grid that no area reaches, the nearest middle considered, and a frame of them around all."""
    low, high = middles.min(axis=0), middles.max(axis=0)
    step = max(1.5 * float(np.median(reaches)), float((high - low).max()) / MOST_BLANKS)
    sides = [np.arange(start - 3 * step, end + 4 * step, step) for start, end in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    nearest, apart = shapely.STRtree(shapely.points(middles)).query_nearest(
        shapely.points(grid), return_distance=True, all_matches=False
    )
    return np.asarray(grid[nearest[0][apart > np.maximum(reaches[nearest[1]], step)]] + 0.25)


def _reaches(partition: Partition) -> Floats:
    """How far each area reaches: twice as far as its units live from its middle, in hundreds of metres."""
    away = partition.locations.points - partition.middles[partition.area]
    squares = np.bincount(partition.area, (away**2).sum(axis=1), len(partition.codes))
    root = np.sqrt(squares / partition.sizes)
    return np.asarray(NEAREST * np.maximum(np.ceil(2 * root / NEAREST), 1))


def _apart(points: Floats) -> Floats:
    """Points of which no two are one: a house of several clusters has them side by side, a metre apart."""
    moved, seen = points.copy(), set[tuple[float, float]]()
    for place, (east, north) in enumerate(points):
        free = next(one for one in count(east) if (one, north) not in seen)
        seen.add((free, north))
        moved[place] = free, north
    return moved


def features(found: Iterable[tuple[str, Any]], made: str) -> Iterable[dict[str, Any]]:
    """Outlines as GeoJSON has them, in metres, each with how it was made."""
    for code, area in found:
        geometry = shapely.geometry.mapping(area)
        yield {"type": "Feature", "properties": {"code": code, MADE: made}, "geometry": geometry}
