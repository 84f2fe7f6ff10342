"""Which areas lie inside a reader's drawing and which its border cuts, beside what shapely says of the same."""

import numpy as np
import pytest
import shapely

from sfumato.geography import Shapes
from sfumato.geography.parting import SLACK, parted
from sfumato.geography.reader_area import ReaderArea

SIDE = 1_000
FOUR = {"a": 0, "b": 100, "c": 200, "d": 300}


def path(polygon):
    rings = [polygon.exterior, *polygon.interiors]
    corners = [np.rint(shapely.get_coordinates(ring)[:-1]).astype(int) for ring in rings]
    return "".join(f"M{' '.join(map(str, one.ravel().tolist()))}Z" for one in corners)


def shapes(polygons):
    outlines = {f"a{place}": path(polygon) for place, polygon in enumerate(polygons)}
    return Shapes("area", SIDE, SIDE, outlines, dict.fromkeys(outlines, (1, 1)))


def polygons(drawn):
    return {code: shapely.Polygon(*_rings(drawn.rings(code))) for code in drawn.outlines}


def _rings(rings):
    return rings[0], rings[1:]


@pytest.fixture(scope="module")
def mosaic():
    places = shapely.MultiPoint(np.random.default_rng(3).uniform(0, SIDE, (150, 2)))
    square = shapely.box(0, 0, SIDE, SIDE)
    cells = shapely.get_parts(shapely.voronoi_polygons(places, extend_to=square))
    return shapes([shapely.intersection(cell, square) for cell in cells])


def star(seed, corners=30):
    """A ring that may cross itself: angles are sorted, distances from the middle are not."""
    rng = np.random.default_rng(seed)
    angles, far = np.sort(rng.uniform(0, 2 * np.pi, corners)), rng.uniform(40, 550, corners)
    ring = np.rint(np.column_stack([500 + far * np.cos(angles), 500 + far * np.sin(angles)])).astype(int)
    return ReaderArea((tuple(map(tuple, ring.tolist())),))


@pytest.mark.parametrize("seed", range(8))
def test_areas_are_parted_as_shapely_parts_them_up_to_the_slack(mosaic, seed):
    area = star(seed)
    found = parted(mosaic, list(mosaic.outlines), area)
    mine = shapely.make_valid(shapely.Polygon(area.rings[0]))
    inner, outer = mine.buffer(-SLACK / 2), mine.buffer(SLACK / 2)
    least, most = mine.buffer(-1.5 * SLACK), mine.buffer(1.5 * SLACK)
    assert found.inside
    assert found.cut
    for code, polygon in polygons(mosaic).items():
        if outer.covers(polygon):
            assert code in found.inside
        elif not inner.intersects(polygon):
            assert code not in {*found.inside, *found.cut}
        elif not most.covers(polygon) and shapely.intersection(least, polygon).area > 0:
            assert code in found.cut


@pytest.mark.parametrize(
    ("drawn", "inside", "cut"),
    [
        ("M0 0 400 0 400 100 0 100Z", "abcd", ""),
        ("M0 0 201 0 201 99 0 99Z", "ab", ""),  # a unit off the border cuts nothing
        ("M0 0 210 0 210 100 0 100Z", "ab", "c"),
        ("M110 10 190 10 190 90 110 90Z", "", "b"),  # all of it in one area
        ("M-9 -9 409 -9 409 109 -9 109ZM120 20 120 80 180 80 180 20Z", "acd", "b"),  # a hole inside one area
        ("M-9 -9 409 -9 409 109 -9 109ZM140 -20 140 120 160 120 160 -20Z", "acd", "b"),  # a corridor across it
        ("M-9 -9 150 -9 150 109 -9 109ZM150 -9 409 -9 409 109 150 109Z", "abcd", ""),  # two parts that meet in an area
        ("M-9 -9 250 -9 250 109 -9 109ZM150 -9 409 -9 409 109 150 109Z", "abcd", ""),  # two that lie over each other
        ("M-9 -9 -9 109 409 109 409 -9Z", "abcd", ""),  # the other way around
        ("M500 500 600 500 600 600Z", "", ""),
        ("M100 0 200 0 200 100 100 100Z", "b", ""),  # the outline of an area itself
        ("M101 1 199 1 199 99 101 99Z", "b", ""),
        ("M-9 -9 409 -9 409 109 -9 109ZM100 0 100 100 200 100 200 0Z", "acd", ""),  # a hole that is one area
    ],
)
def test_a_row_of_four_squares(drawn, inside, cut):
    outlines = {name: f"M{x} 0 {x + 100} 0 {x + 100} 100 {x} 100Z" for name, x in FOUR.items()}
    four = Shapes("area", 400, 100, outlines, {name: (x + 50, 50) for name, x in FOUR.items()})
    found = parted(four, list(outlines), ReaderArea.of(drawn))
    assert (found.inside, found.cut) == (tuple(inside), tuple(cut))


def test_what_lies_in_the_hole_of_an_area_is_not_in_it():
    ring = Shapes("area", 100, 100, {"ring": "M0 0 100 0 100 100 0 100ZM20 20 80 20 80 80 20 80Z"}, {"ring": (10, 10)})
    assert parted(ring, ["ring"], ReaderArea.of("M30 30 70 30 70 70 30 70Z")).cut == ()
    assert parted(ring, ["ring"], ReaderArea.of("M5 5 15 5 15 15 5 15Z")).cut == ("ring",)
