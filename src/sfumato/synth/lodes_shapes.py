"""Made-up outlines of counties: jagged cells of one grid that share their borders, states beside each other."""

import json
from collections.abc import Sequence
from math import ceil, isqrt
from pathlib import Path

import numpy as np

from sfumato.synth.columns import Floats
from sfumato.synth.qcew_codes import Level

BENDS = 3
"""How many points bend a border between two corners of the grid."""
SIDE = 100


def write_shapes(path: Path, levels: Sequence[Level]) -> None:
    """One area a county as GeoJSON, its code and its name; the same counties have the same outlines."""
    states = [level["code"] for level in levels if not level["parent"]]
    counties = [[level for level in levels if level["parent"] == state] for state in states]
    rows = max(1, isqrt(min(map(len, counties))))
    grid = _corners(rows, sum(ceil(len(own) / rows) for own in counties))
    features, left = [], 0
    for own in counties:
        wide = ceil(len(own) / rows)
        for number, (row, start, stop) in enumerate(_spans(len(own), rows, wide)):
            ring = _ring(grid, row, left + start, left + stop)
            named = {"code": own[number]["code"], "name": own[number]["label"]}
            geometry = {"type": "Polygon", "coordinates": [ring]}
            features.append({"type": "Feature", "properties": named, "geometry": geometry})
        left += wide
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in features)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"type":"FeatureCollection","features":[\n{lines}\n]}}\n', encoding="utf-8")


def _spans(count: int, rows: int, wide: int) -> list[tuple[int, int, int]]:
    """The row, first and last column of each county; a row with fewer counties has wider ones at its end."""
    spans = []
    for row in range(rows):
        held = count * (row + 1) // rows - count * row // rows
        spans += [(row, column, column + 1) for column in range(held - 1)] + [(row, held - 1, wide)]
    return spans


def _corners(rows: int, columns: int) -> Floats:
    """A point for each place of a grid of corners and of the bends between them, each moved at random."""
    rng = np.random.Generator(np.random.PCG64(rows * 1_000 + columns))
    step = BENDS + 1
    y, x = np.mgrid[0 : rows * step + 1, 0 : columns * step + 1] * (SIDE / step)
    return np.stack([x, y], axis=-1) + rng.uniform(-0.3, 0.3, (*x.shape, 2)) * (SIDE / step)


def _ring(grid: Floats, row: int, left: int, right: int) -> list[list[float]]:
    """Once around some cells of one row of the grid, against the clock, the first point again at the end."""
    step = BENDS + 1
    low, high, west, east = row * step, (row + 1) * step, left * step, right * step
    south, north = grid[low, west : east + 1], grid[high, west : east + 1][::-1]
    rising, falling = grid[low : high + 1, east], grid[low : high + 1, west][::-1]
    around = np.concatenate([south[:-1], rising[:-1], north[:-1], falling])
    return [[round(float(x), 2), round(float(y), 2)] for x, y in around]
