"""A made-up country: jagged areas that share their borders, one a lowest level, children inside their parents."""

import heapq
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.schema import Levels
from sfumato.synth.columns import Floats

BOX = (-122.0, 27.0, -70.0, 48.0)
"""West, south, east and north of the country, in degrees."""
TILES = 650
STATES = {
    "WA": (-118, 46),
    "CA": (-118, 36),
    "CO": (-106, 39),
    "TX": (-99, 31),
    "IL": (-91, 40),
    "MI": (-87, 45),
    "OH": (-84, 39),
    "GA": (-86, 32),
    "FL": (-80, 29),
    "PA": (-78, 39),
    "NY": (-76, 43),
    "MA": (-72, 44),
}
"""About where the states of the shipped plan lie, so that its west is in the west; their shapes are made up."""


@dataclass(frozen=True)
class Tiles:
    """Small cells that fill the land: where each lies, its border, and its neighbours at a random distance."""

    middles: Floats
    rings: tuple[Floats, ...]
    beside: tuple[tuple[tuple[int, float], ...], ...]


def country(levels: Levels, places: Mapping[str, tuple[float, float]] | None = None, seed: int = 1) -> dict[str, Any]:
    """The areas of the lowest levels as GeoJSON in degrees; the same levels, places and seed make the same country."""
    import shapely

    tiles = _tiles(np.random.default_rng(seed))
    owned = _shared_out(list(range(len(tiles.rings))), _children(levels, None), levels, tiles, places or {})
    features = []
    for code in levels.leaves:
        area = shapely.union_all([shapely.Polygon(tiles.rings[tile]) for tile in owned[code]])
        named = {"code": code, "name": levels.label(code)}
        features.append({"type": "Feature", "properties": named, "geometry": _written(area)})
    return {"type": "FeatureCollection", "features": features}


def write(path: Path, levels: Levels, places: Mapping[str, tuple[float, float]] | None = None, seed: int = 1) -> Path:
    """The path of a GeoJSON file, freshly written: one area a line."""
    made = country(levels, places, seed)["features"]
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in made)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"type":"FeatureCollection","features":[\n{lines}\n]}}\n', encoding="utf-8")
    return path


def _tiles(rng: np.random.Generator) -> Tiles:
    """Voronoi cells on the land, the line between two of them broken by chance."""
    from scipy.spatial import Voronoi

    diagram = Voronoi(_scattered(rng))
    corners = np.clip(diagram.vertices, -0.5, 2.5)
    land = np.flatnonzero(_is_land(diagram.points))
    number = {int(point): tile for tile, point in enumerate(land)}
    sides: list[list[Floats]] = [[] for _ in land]
    beside: list[list[tuple[int, float]]] = [[] for _ in land]
    for (one, other), ends in zip(diagram.ridge_points.tolist(), diagram.ridge_vertices, strict=True):
        if -1 in ends:
            continue
        line, far = _broken(corners[ends], rng), float(rng.uniform(0.3, 1.7))
        for point, neighbour in ((one, other), (other, one)):
            if point in number:
                sides[number[point]].append(line)
                beside[number[point]] += [(number[neighbour], far)] if neighbour in number else []
    rings = tuple(_degrees(_ring(lines)) for lines in sides)
    return Tiles(_degrees(diagram.points[land]), rings, tuple(tuple(one) for one in beside))


def _scattered(rng: np.random.Generator) -> Floats:
    """Points in a box of 2 by 1 and some way round it, on a grid that was shaken."""
    step = (2 / TILES) ** 0.5
    grid = np.stack(np.meshgrid(np.arange(-0.2, 2.2, step), np.arange(-0.2, 1.2, step)), axis=-1).reshape(-1, 2)
    return np.asarray(grid + rng.uniform(-0.42, 0.42, grid.shape) * step)


def _is_land(points: Floats) -> Any:
    """A rounded box with bays: sums of a few waves along the coast."""
    x, y = points[:, 0] - 1, 2 * points[:, 1] - 1
    round_about = np.arctan2(y, x)
    coast = 0.93 + 0.05 * np.sin(3 * round_about + 1) + 0.04 * np.sin(7 * round_about) + 0.03 * np.sin(13 * round_about)
    return (np.abs(x) ** 4 + np.abs(y) ** 4) ** 0.25 < coast


def _broken(ends: Floats, rng: np.random.Generator) -> Floats:
    """A line with its middle moved aside, in the order of its ends."""
    first, last = ends
    aside = np.array([first[1] - last[1], last[0] - first[0]]) * rng.uniform(-0.22, 0.22)
    return np.array([first, (first + last) / 2 + aside, last])


def _ring(lines: Sequence[Floats]) -> Floats:
    """Lines that close, one after another."""
    left = list(lines)
    ring = list(left.pop())
    while left:
        for place, line in enumerate(left):
            way = line if np.array_equal(line[0], ring[-1]) else line[::-1]
            if np.array_equal(way[0], ring[-1]):
                ring += list(way[1:])
                left.pop(place)
                break
        else:
            break
    return np.array(ring)


def _degrees(points: Floats) -> Floats:
    west, south, east, north = BOX
    return np.round(points * [(east - west) / 2, north - south] + [west, south], 2)


def _children(levels: Levels, parent: str | None) -> list[str]:
    return [code for code in levels.codes if levels.parent(code) == parent]


def _shared_out(
    tiles: list[int], codes: list[str], levels: Levels, ground: Tiles, places: Mapping[str, tuple[float, float]]
) -> dict[str, list[int]]:
    """The tiles of every level below some codes: they grow from a seed each, then their children inside them."""
    grown = _grown(tiles, [_seed_place(code, levels, places) for code in codes], ground)
    owned = dict(zip(codes, grown, strict=True))
    for code in codes:
        if below := _children(levels, code):
            owned |= _shared_out(owned[code], below, levels, ground, places)
    return owned


def _seed_place(code: str, levels: Levels, places: Mapping[str, tuple[float, float]]) -> Floats | None:
    under = [leaf for leaf, inside in zip(levels.leaves, levels.mask(code), strict=True) if inside and leaf in places]
    return np.mean([places[leaf] for leaf in under], axis=0) if under else None


def _grown(tiles: list[int], wanted: Sequence[Floats | None], ground: Tiles) -> list[list[int]]:
    """The tiles that each seed reaches first, over neighbours at random distances."""
    seeds = _seeds(tiles, wanted, ground.middles)
    inside, owner = set(tiles), dict[int, int]()
    ahead = [(0.0, tile, number) for number, tile in enumerate(seeds)]
    while ahead:
        far, tile, number = heapq.heappop(ahead)
        if tile in owner:
            continue
        owner[tile] = number
        for neighbour, step in ground.beside[tile]:
            if neighbour in inside and neighbour not in owner:
                heapq.heappush(ahead, (far + step, neighbour, number))
    return [[tile for tile in tiles if owner.get(tile) == number] for number in range(len(seeds))]


def _seeds(tiles: list[int], wanted: Sequence[Floats | None], middles: Floats) -> list[int]:
    """A tile for each: the free one nearest to where it should be, or farthest from all others."""
    here = middles[tiles]
    seeds: list[int] = []
    for place in wanted:
        if place is not None:
            order = np.argsort(((here - place) ** 2).sum(axis=1), kind="stable")
        elif seeds:
            nearest = np.min([((here - middles[seed]) ** 2).sum(axis=1) for seed in seeds], axis=0)
            order = np.argsort(-nearest, kind="stable")
        else:
            order = np.argsort(here.sum(axis=1), kind="stable")
        seeds.append(next(tiles[one] for one in order if tiles[one] not in seeds))
    return seeds


def _written(area: Any) -> dict[str, Any]:
    """The parts of an area as GeoJSON, coordinates to a hundredth of a degree."""
    import shapely

    parts = shapely.get_parts(area)
    rings = [[_coordinates(ring) for ring in (part.exterior, *part.interiors)] for part in parts]
    one = len(rings) == 1
    return {"type": "Polygon" if one else "MultiPolygon", "coordinates": rings[0] if one else rings}


def _coordinates(ring: Any) -> list[list[float]]:
    return [[round(x, 2), round(y, 2)] for x, y in ring.coords]
