"""The maps of the slides drawn: original beside clusters of 50, 100 and 200, records without weights and with them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import shapely

from sfumato.geography.cluster_outlines import outlines
from sfumato.geography.partition import microaggregated
from sfumato.pictures import Picture, svg
from sfumato.studies.iab_map import EPSILON, SIZES, MappedShares, Say, made, shares
from sfumato.synth.columns import Floats

WIDE, SIDE, TOP = 960, 225, 62
BOUNDS = (0.1, 0.2, 0.3, 0.4)
"""Where one shade ends and the next begins."""
TITLE = "Share of employees with high wages among employees with medium skills"


def picture(runs: int, rows: int, say: Say) -> Picture:  # noqa: ARG001 - one draw is what a map shows
    """Two rows of four maps; an area without a number is left blank."""
    locations, cell = made(rows)
    drawn = [shares(k, microaggregated(locations, k), cell, 1) for k in SIZES]
    say("drawing")
    areas = [[area for _, area in outlines(one.partition)] for one in drawn]
    first = ("original data", areas[0], drawn[0].original)
    panels = [
        [first, *(_panel(one, its, which) for one, its in zip(drawn, areas, strict=True))]
        for which in ("unweighted", "weighted")
    ]
    bounds = shapely.total_bounds(np.array(areas[0]))
    tall = SIDE * (bounds[3] - bounds[1]) / (bounds[2] - bounds[0])
    height = TOP + 2 * (tall + 54) + 40
    parts = [svg.paper(WIDE, height), svg.text(14, 24, TITLE, "value"), svg.text(14, 42, _said(rows), "axis")]
    for row, words in enumerate(("records without weights", "with calibration weights")):
        for column, (title, its, values) in enumerate(panels[row]):
            x, y = 12 + column * (SIDE + 12), TOP + row * (tall + 54)
            parts.append(svg.text(x, y + 14, title if column == 0 else f"{title}, {words}", "axis"))
            parts += [
                svg.area(_points(one, bounds, x, y + 24), _shade(value)) for one, value in zip(its, values, strict=True)
            ]
    parts += _keys(height - 24)
    told = tuple(_told(title, values) for row in panels for title, _, values in row)
    return Picture(TITLE, svg.drawing(height, TITLE, *parts, width=WIDE), told)


def _said(rows: int) -> str:
    return f"{rows:,} synthetic people, one draw of geometric noise, epsilon {EPSILON} for one person replaced"


def _panel(one: MappedShares, areas: list[Any], which: str) -> tuple[str, list[Any], Floats]:
    return f"clusters of {one.k}", areas, getattr(one, which)


def _points(area: Any, bounds: Floats, x: float, y: float) -> list[tuple[float, float]]:
    scale = SIDE / (bounds[2] - bounds[0])
    corners = shapely.get_coordinates(area.exterior)
    return [(x + (east - bounds[0]) * scale, y + (bounds[3] - north) * scale) for east, north in corners]


def _shade(value: float) -> str:
    return f"map-{1 + int(np.searchsorted(BOUNDS, value, 'right'))}" if np.isfinite(value) else "map-none"


def _keys(y: float) -> list[str]:
    ends = ("0%", *(f"{bound:.0%}" for bound in BOUNDS))
    words = [
        *(f"{low} to {high}" for low, high in pairwise(ends)),
        f"{ends[-1]} and more",
        "no number",
    ]
    parts = []
    for place, said in enumerate(words):
        kind = f"map-{place + 1}" if place <= len(BOUNDS) else "map-none"
        parts += [svg.bar(14 + 130 * place, y - 10, 18, 12, kind), svg.text(38 + 130 * place, y, said, "axis")]
    return parts


def _told(title: str, values: Sequence[float] | Floats) -> str:
    known = np.asarray(values)[np.isfinite(values)]
    middle = f"half of the areas are below {np.median(known):.0%}" if known.size else "no area has a number"
    return f"{title}: {known.size:,} of {len(values):,} areas have a number; {middle}."
