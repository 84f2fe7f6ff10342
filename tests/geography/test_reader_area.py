"""GeoJSON comes from anybody: what is an area is read, and everything else is refused in words, whatever its size."""

import json
from itertools import pairwise

import numpy as np
import pytest
from pyproj import Proj

from sfumato.errors import QueryError
from sfumato.geography.frame import DegreeLattice, MapFrame, lattice_of
from sfumato.geography.parting import Border
from sfumato.geography.reader_area import MOST_BYTES, MOST_CORNERS, ReaderArea, from_geojson
from sfumato.geography.shapes import Shapes

METRES = MapFrame(0, 1000, 1.0)
SQUARE = [[100, 900], [300, 900], [300, 700], [100, 700], [100, 900]]


def brought(content, frame=METRES):
    shapes = Shapes("area", 1000, 1000, {}, {}, frame=frame)
    return from_geojson(content if isinstance(content, bytes) else json.dumps(content).encode(), shapes)


def polygon(*rings):
    return {"type": "Polygon", "coordinates": list(rings)}


def size(rings):
    """The area that rings enclose, holes counted against it."""
    total = 0
    for ring in rings:
        total += sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairwise([*ring, ring[0]])) / 2
    return abs(total)


@pytest.mark.parametrize(
    "content",
    [
        polygon(SQUARE),
        polygon(SQUARE[::-1]),
        {"type": "MultiPolygon", "coordinates": [[SQUARE]]},
        {"type": "Feature", "geometry": polygon(SQUARE), "properties": {"name": "<b>x</b>"}},
        {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": polygon(SQUARE), "properties": {}}]},
        {"type": "GeometryCollection", "geometries": [polygon([[*one, 12.5] for one in SQUARE])]},
    ],
)
def test_a_square_is_a_square_however_it_is_wrapped(content):
    area = brought(content)
    assert sorted(area.rings[0]) == [(100, 100), (100, 300), (300, 100), (300, 300)]
    assert ReaderArea.of(area.outline) == area


def test_a_hole_goes_around_the_other_way():
    hole = [[150, 850], [250, 850], [250, 750], [150, 750], [150, 850]]
    for inner in (hole, hole[::-1]):
        assert size(brought(polygon(SQUARE, inner)).rings) == 200 * 200 - 100 * 100


NESTED = polygon(SQUARE)
for _ in range(9):
    NESTED = {"type": "GeometryCollection", "geometries": [NESTED]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 30_000, "not JSON"),
        (b"[]", "which is no area"),
        (b"null", "which is no area"),
        ({"type": "Point", "coordinates": [1, 2]}, "'Point', which is no area"),
        ({"type": "Feature", "geometry": None}, "holds no area"),
        ({"type": "FeatureCollection", "features": []}, "holds no area"),
        ({"type": "FeatureCollection"}, "where a list is due"),
        ({"type": ["Polygon"]}, "which is no area"),
        (polygon(), "holds no area"),
        (polygon([[0, 0], [1, 1]]), "fewer than three corners"),
        (polygon([[0, 0], [1, "x"], [2, 2]]), "not two numbers"),
        (polygon([[0], [1], [2]]), "not two numbers"),
        (polygon(7), "where a list is due"),
        (b'{"type":"Polygon","coordinates":[[[0,0],[NaN,1],[1,1]]]}', "finite number"),
        (b'{"type":"Polygon","coordinates":[[[0,0],[1e999,1],[1,1]]]}', "finite number"),
        (b'{"type":"Polygon","coordinates":[[[0,0],[1' + b"0" * 400 + b",1],[1,1]]]}", "not two numbers"),
        (polygon([[0, 0], [1, True], [2, 2]]), "not two numbers"),
        (polygon([[0, 0], [1, "2"], [2, 2]]), "not two numbers"),
        (polygon([[0, 0], [1e300, 0], [0, 1e300]]), "nowhere on earth"),
        (polygon([[1, 1], [1.1, 1], [1.1, 1.1]]), "smaller than anything on the map"),
        (polygon([[1, 1], [900, 1], [1, 1]]), "thinner or smaller"),
        (polygon([[4e6, 5e6], [4.1e6, 5e6], [4e6, 5.1e6]]), "4,000,000 to 4,100,000 .*; the map has .* 0 to 1,000"),
        (NESTED, "more than 6 deep"),
        (b" " * (MOST_BYTES + 1), "200,001 bytes"),
        (polygon([[1, 2]] * 10_001), "more than 10,000 points"),
        ({"type": "MultiPolygon", "coordinates": [[SQUARE]] * 200}, "corners"),
    ],
)
def test_what_is_no_area_or_too_much_of_one_is_refused(content, words):
    with pytest.raises(QueryError, match=words):
        brought(content)


def test_a_border_of_many_points_is_drawn_with_few_and_stays_where_it_is():
    turn = np.linspace(0, 2 * np.pi, 4_000)
    ring = np.column_stack([500 + 400 * np.cos(turn), 500 + 400 * np.sin(turn)])
    area = brought(polygon(ring.tolist()))
    assert len(area.rings[0]) <= MOST_CORNERS
    assert size(area.rings) == pytest.approx(np.pi * 400**2, rel=5e-3)


@pytest.mark.parametrize(
    "outline",
    [
        *("", "M0 0 1 1Z", "M0 0 20 0 20 10", "M0 0 20 0 20 1e9Z", "M0 0 20 0 20 1234567Z", "M0 0 20 0 20 ١Z"),
        *('M0 0 20 0 20 10Z"><script>', "M" + "1 2 " * 501 + "3 4Z", "M0 0 1 1 2 2Z" * 200),
    ],
)
def test_an_outline_in_an_address_is_closed_rings_of_numbers_and_not_many(outline):
    with pytest.raises(QueryError, match="corners"):
        ReaderArea.of(outline)


def test_a_map_that_lies_nowhere_takes_no_geojson():
    with pytest.raises(QueryError, match="does not say where on earth it lies"):
        brought(polygon(SQUARE), None)


def test_degrees_are_found_on_the_grid_as_the_projection_has_them():
    metres = Proj(proj="aeqd", lat_0=52, lon_0=10)
    frame = MapFrame(60_000, -270_000, 0.2)

    def grid(degrees):
        return frame.from_plane(np.column_stack(metres(degrees[:, 0], degrees[:, 1])))

    lattice = lattice_of(grid, np.array([10.8, 49.3, 11.1, 49.6]))
    points = np.random.default_rng(1).uniform([10.8, 49.3], [11.1, 49.6], (500, 2))
    known = MapFrame(60_000, -270_000, 0.2, lattice)
    assert np.abs(lattice(points) - grid(points)).max() < 0.5
    plane = np.column_stack(metres(points[:, 0], points[:, 1]))
    assert np.allclose(known.on_grid(plane)[0], grid(points))


def country(degrees):
    """An equal-area cone over the United States, of 2,000 units across."""
    albers = Proj(proj="aea", lon_0=-95, lat_0=37, lat_1=30, lat_2=45)
    return MapFrame(-2_500_000, 1_500_000, 1 / 2_500).from_plane(np.column_stack(albers(degrees[:, 0], degrees[:, 1])))


def test_edges_run_straight_in_degrees_and_what_lies_far_away_is_cut_off():
    """A box of 49° of longitude: its northern edge is a parallel, which a cone bends by 99 units, and no chord."""
    lattice = lattice_of(country, np.array([-120.0, 25.0, -70.0, 49.0]))
    box = np.array([[-119.5, 30.0], [-70.5, 30.0], [-70.5, 45.0], [-119.5, 45.0]])
    (ring,) = lattice.rings(box)
    along = np.column_stack([np.linspace(-119.5, -70.5, 50), np.full(50, 45.0)])
    for place in country(along):
        assert np.hypot(*(ring - place).T).min() < 15
    assert np.abs(country(along[24:25]) - country(box[2:]).mean(axis=0)).max() > 90
    (world,) = lattice.rings(np.array([[-180.0, -85.0], [180.0, -85.0], [180.0, 85.0], [-180.0, 85.0]]))
    edge = country(np.array([[-125.0, 22.6], [-65.0, 51.4]]))
    assert np.abs(world.min(axis=0) - [edge[0, 0], edge[1, 1]]).max() < 300, "no farther than a little beyond the map"
    assert lattice.rings(np.array([[5.0, 45.0], [9.0, 45.0], [9.0, 49.0]])) == []


def test_a_projection_that_tears_the_earth_has_no_lattice():
    assert lattice_of(lambda degrees: np.where(degrees > 10, degrees * 900, degrees), np.array([0, 0, 20, 20])) is None


PACIFIC = DegreeLattice(170, -10, 190, 10, 2, (0, 1000, 0, 1000), (1000, 1000, 0, 0))
ZERO = DegreeLattice(-10, 40, 10, 60, 2, (0, 1000, 0, 1000), (1000, 1000, 0, 0))


def on(lattice):
    """A map of 1,000 by 1,000 units that knows degrees; its own coordinates are thousands of metres away."""
    return MapFrame(50_000, 60_000, 1.0, lattice)


def box(west, south, east, north):
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def test_longitudes_over_the_date_line_are_found():
    east, west = (PACIFIC.rings(np.array([[x, 0.0], [x + 4, 0.0], [x, 5.0]])) for x in (-175.0, 185.0))
    assert np.allclose(east[0], west[0])
    assert east[0][0].tolist() == [750.0, 500.0]


@pytest.mark.parametrize(("west", "east"), [(-180, 180), (0, 360), (-360, 0)])
@pytest.mark.parametrize("lattice", [PACIFIC, ZERO])
def test_what_goes_all_around_the_earth_covers_every_map(lattice, west, east):
    area = brought(polygon(box(west, -89, east, 89)), on(lattice))
    middles = np.array([[x, y] for x in (5.0, 250.0, 499.0, 501.0, 750.0, 995.0) for y in (5.0, 500.0, 995.0)])
    assert Border.of(area.rings).around(middles).all()


def test_an_area_cut_at_the_date_line_is_one_area_and_one_that_is_not_cut_is_asked_for_again():
    halves = {"type": "MultiPolygon", "coordinates": [[box(175, -5, 180, 5)], [box(-180, -5, -175, 5)]]}
    inside, outside = np.array([[300.0, 500.0], [499.5, 500.0], [700.0, 500.0]]), np.array([[100.0, 500.0]])
    mine = Border.of(brought(halves, on(PACIFIC)).rings)
    assert mine.around(inside).all()
    assert not mine.around(outside).any()
    over = Border.of(brought(polygon(box(175, -5, 185, 5)), on(PACIFIC)).rings)
    assert over.around(inside).all()
    with pytest.raises(QueryError, match="more than half around the earth; cut the area in two"):
        brought(polygon(box(175, -5, -175, 5)), on(PACIFIC))


@pytest.mark.parametrize(
    ("ring", "words"),
    [
        (box(45, -5, 55, 5), "if its numbers change places"),
        (box(100, 45, 101, 46), "elsewhere, at longitudes from 100.00 to 101.00 .*the map lies at .*-10.00 to 10.00"),
        (box(500_000, 5_400_000, 510_000, 5_410_000), r"which are no degrees; save it in longitude and latitude \(WGS"),
    ],
)
def test_an_area_that_lies_elsewhere_is_told_where_it_lies_and_where_the_map_does(ring, words):
    with pytest.raises(QueryError, match=words):
        brought(polygon(ring), on(ZERO))


def test_numbers_that_changed_places_are_known_where_they_cannot_be_latitudes():
    with pytest.raises(QueryError, match="if its numbers change places"):
        brought(polygon(box(-5, 172, 5, 178)), on(PACIFIC))


def test_a_ring_that_crosses_itself_has_both_of_its_parts_inside():
    bow = [[100, 900], [300, 700], [300, 900], [100, 700], [100, 900]]
    mine = Border.of(brought(polygon(bow)).rings)
    assert mine.around(np.array([[120.0, 200.0], [280.0, 200.0]])).all()
    assert not mine.around(np.array([[200.0, 120.0], [200.0, 280.0]])).any()
