"""Shapes are read from public files, fitted to the levels, projected true to area, and simplified without gaps."""

import json
from pathlib import Path

import pyproj
import pytest
import shapefile
import shapely
from tests.conftest import SMALL
from tests.synth.country import country

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.geography import outlines
from sfumato.plan import Geography, Plan
from sfumato.schema import Attribute, Levels, Missing

GEOGRAPHY = '[geography.place]\nfile = "places.geojson"\nid = "code"\n'
PLACES = Levels.of(["north", "south", "east"])


def square(x, y, side=1.0, high=None):
    far, top = x + side, y + (side if high is None else high)
    return [[x, y], [far, y], [far, top], [x, top], [x, y]]


def feature(code, *rings, key="code", **more):
    geometry = {"type": "Polygon", "coordinates": list(rings)}
    return {"type": "Feature", "properties": {key: code, **more}, "geometry": geometry}


def collection(*features):
    return {"type": "FeatureCollection", "features": list(features)}


def three():
    return collection(
        feature("north", square(10, 51)), feature("south", square(10, 50)), feature("east", square(11, 50))
    )


def drawn(folder, content, attribute=None, name="places.geojson", **how):
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    attribute = attribute or Attribute("place", PLACES)
    return Geography(attribute.name, name, how.pop("id", "code"), folder=folder, **how).shapes(attribute)


def area(shapes, code):
    """The polygon that an outline draws, by the even-odd rule."""
    found = shapely.Polygon()
    for ring in shapes.outlines[code][1:-1].split("ZM"):
        numbers = [int(one) for one in ring.split()]
        one = shapely.Polygon(list(zip(numbers[::2], numbers[1::2], strict=True)))
        found = found.symmetric_difference(one if one.is_valid else one.buffer(0))
    return found


def test_a_geography_reads_back_equal_and_stands_in_the_plan():
    plan = Plan.parse(
        SMALL + GEOGRAPHY + 'projection = "EPSG:3035"\ndetail = 500\npartial = true\n', Path("small.toml")
    )
    assert plan.geographies == (Geography("place", "places.geojson", "code", "EPSG:3035", 500, partial=True),)
    again = Plan.parse(plan.to_toml(), Path("elsewhere/plan.toml"))
    assert again == plan
    assert Plan.parse(again.to_toml(), Path("x.toml")) == plan


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (GEOGRAPHY.replace("file", "flie"), "did you mean 'file'"),
        (GEOGRAPHY.replace('id = "code"\n', ""), "lacks 'id'"),
        (GEOGRAPHY.replace(".place", ""), "write [geography.state]"),
        (GEOGRAPHY.replace(".place", ".plaice"), "did you mean 'place'"),
        (GEOGRAPHY + "detail = 5\n", "100 to 10,000"),
        (GEOGRAPHY.replace("places", "/home/me/places"), "published with the release"),
    ],
)
def test_a_wrong_geography_is_answered_with_what_would_work(written, said):
    with pytest.raises(sf.PlanError) as error:
        Plan.parse(SMALL + written, Path("small.toml"))
    assert said in str(error.value)


def test_a_geography_that_no_measure_uses_is_refused():
    text = SMALL.replace('by = ["trade", "place", "age"]', 'by = ["trade", "age"]') + GEOGRAPHY
    with pytest.raises(sf.PlanError, match="no measure is by 'place'"):
        Plan.parse(text, Path("small.toml"))


def test_a_plan_without_its_file_is_read_and_priced_and_says_so_when_drawn():
    plan = Plan.parse(SMALL + GEOGRAPHY, Path("/nowhere/small.toml"))
    assert plan.price()
    with pytest.raises(sf.PlanError, match=r"\[geography.place\] /nowhere/places.geojson is not there"):
        plan.geographies[0].shapes(plan.schema.attribute("place"))


def test_every_level_has_a_closed_outline_and_a_place_inside_it(tmp_path):
    shapes = drawn(tmp_path, three())
    assert list(shapes.outlines) == ["north", "south", "east"]
    for code, place in shapes.places.items():
        assert area(shapes, code).contains(shapely.Point(place))
    # North is up: its place stands above that of the south, and y grows downwards on a screen.
    assert shapes.places["north"][1] < shapes.places["south"][1] == shapes.places["east"][1]
    assert max(shapes.width, shapes.height) == 2000


def test_the_same_file_makes_the_same_bytes(tmp_path):
    assert drawn(tmp_path, three()).to_bytes() == drawn(tmp_path, three()).to_bytes()


def test_projected_areas_keep_the_ratios_of_the_areas_on_the_ellipsoid(tmp_path):
    """Albers is equal-area; pyproj's geodesic areas are the judge, Mercator the arm that must fail."""
    cells = {"tropic": (0, 12), "middle": (20, 40), "cold": (5, 65)}
    fine = collection(*(feature(code, square(*place, 6)) for code, place in cells.items()))
    levels = Attribute("place", Levels.of(list(cells)))
    geod = pyproj.Geod(ellps="WGS84")
    true = {code: abs(geod.geometry_area_perimeter(shapely.Polygon(square(*at, 6)))[0]) for code, at in cells.items()}

    def worst(projection):
        shapes = drawn(tmp_path, fine, levels, detail=10_000, projection=projection)
        scale = {code: area(shapes, code).area / true[code] for code in cells}
        return max(scale.values()) / min(scale.values()) - 1

    assert worst("") < 0.005  # an edge is a chord in one and a geodesic in the other
    assert worst("EPSG:3857") > 1


def test_simplified_neighbours_leave_no_gap_and_no_overlap(tmp_path):
    """The union is as large as the sum and has no hole; each area simplified alone, the other arm, has gaps."""
    levels = Levels.of([f"{number}" for number in range(12)])
    made = country(levels)
    shapes = drawn(tmp_path, made, Attribute("place", levels), detail=400)
    areas = [area(shapes, code) for code in levels.leaves]
    together = shapely.union_all(areas)
    assert together.area == pytest.approx(sum(one.area for one in areas), rel=1e-4)
    assert sum(len(part.interiors) for part in shapely.get_parts(together)) == 0
    assert len(shapely.get_parts(together)) == 1

    alone = [shapely.simplify(shapely.geometry.shape(one["geometry"]), 0.6) for one in made["features"]]
    gaps = shapely.union_all(alone)
    assert abs(gaps.area / sum(one.area for one in alone) - 1) > 1e-3 or len(shapely.get_parts(gaps)[0].interiors) > 0


def test_a_parent_without_a_shape_is_its_children_together_and_one_with_a_shape_keeps_it(tmp_path):
    levels = Levels.of(
        [
            {"code": "up", "parent": "all"},
            "all",
            *({"code": code, "parent": "up"} for code in ("north", "south")),
            {"code": "east", "parent": "all"},
        ]
    )
    shapes = drawn(tmp_path, three(), Attribute("place", levels))
    assert list(shapes.outlines) == ["up", "all", "north", "south", "east"]
    assert area(shapes, "up").area == pytest.approx(area(shapes, "north").area + area(shapes, "south").area, rel=1e-3)
    assert area(shapes, "all").area == pytest.approx(area(shapes, "up").area + area(shapes, "east").area, rel=1e-3)
    own = collection(*three()["features"], feature("all", square(9, 49, 4)))
    whole = drawn(tmp_path, own, Attribute("place", levels))
    assert area(whole, "all").area > 3 * area(whole, "up").area


def test_areas_on_both_sides_of_the_date_line_stay_neighbours(tmp_path):
    levels = Attribute("place", Levels.of(["west", "east"]))
    shapes = drawn(tmp_path, collection(feature("west", square(178, 0)), feature("east", square(-179, 0))), levels)
    # From 178° to 182°: the middles are 3 of 4 degrees apart, and the picture is four times as wide as high.
    assert shapes.places["east"][0] - shapes.places["west"][0] == pytest.approx(1500, abs=5)
    assert shapes.width / shapes.height == pytest.approx(4, abs=0.1)


def test_coordinates_that_lie_in_a_plane_are_taken_as_they_are(tmp_path):
    meters = collection(
        feature("north", square(500_000, 200_000, 1000)), feature("south", square(501_000, 200_000, 1000))
    )
    levels = Attribute("place", Levels.of(["north", "south"]))
    shapes = drawn(tmp_path, meters, levels)
    assert (shapes.width, shapes.height, shapes.projection) == (2000, 1000, "as in the file")
    assert area(shapes, "north").equals(shapely.box(0, 0, 1000, 1000))
    said = drawn(
        tmp_path,
        collection(feature("north", square(0, 0)), feature("south", square(1, 0))),
        levels,
        projection="planar",
    )
    assert (said.width, said.height) == (2000, 1000)
    with pytest.raises(sf.PlanError, match="no degrees"):
        drawn(tmp_path, meters, levels, projection="EPSG:3035")


def test_a_topology_is_decoded_as_its_specification_says(tmp_path):
    """Two squares share arc 0, which the right one walks backwards (~0 = -1); steps of a hundredth from (10, 50)."""
    content = {
        "type": "Topology",
        "transform": {"scale": [0.01, 0.01], "translate": [10, 50]},
        "arcs": [
            [[100, 0], [0, 100]],
            [[100, 100], [-100, 0], [0, -100], [100, 0]],
            [[100, 0], [100, 0], [0, 100], [-100, 0]],
        ],
        "objects": {
            "areas": {
                "type": "GeometryCollection",
                "geometries": [
                    {"type": "Polygon", "arcs": [[0, 1]], "properties": {"code": "left"}},
                    {"type": "MultiPolygon", "arcs": [[[2, -1]]], "properties": {"code": "right"}},
                    {"type": None, "properties": {"code": "nowhere"}},
                ],
            }
        },
    }
    path = tmp_path / "areas.topojson"
    path.write_text(json.dumps(content), encoding="utf-8")
    left, right, nowhere = outlines.read(path).shapes
    assert left.area.equals(shapely.box(10, 50, 11, 51))
    assert right.area.equals(shapely.box(11, 50, 12, 51))
    assert nowhere.area is None


def test_islets_and_ponds_that_a_coarse_grid_has_shrunk_to_a_point_are_left_out(tmp_path):
    """As in files that many people draw maps of the United States from; a shape that is nothing else is refused."""
    square = [[0, 0], [10, 0], [0, 10], [-10, 0], [0, -10]]
    content = {
        "type": "Topology", "transform": {"scale": [0.1, 0.1], "translate": [10, 50]},
        "arcs": [square, [[5, 5], [0, 0]], [[4, 4], [1, 0], [-1, 0]]],
        "objects": {"areas": {"type": "GeometryCollection", "geometries": [
            {"type": "MultiPolygon", "arcs": [[[0]], [[1]]], "id": "islet"},
            {"type": "Polygon", "arcs": [[0], [2]], "id": "pond"},
        ]}},
    }  # fmt: skip
    path = tmp_path / "areas.topojson"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert all(one.area.equals(shapely.box(10, 50, 11, 51)) for one in outlines.read(path).shapes)
    content["objects"]["areas"]["geometries"] = [{"type": "MultiPolygon", "arcs": [[[1]]], "id": "nothing"}]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(PlanError, match="cannot be read as an area"):
        list(outlines.read(path).shapes)


def test_the_worked_example_of_the_topojson_specification_is_decoded(tmp_path):
    """Section 1.1 of the specification: the square from (100, 0) to (101, 1), quantised."""
    content = {
        "type": "Topology",
        "transform": {"scale": [0.0005000500050005, 0.00010001000100010001], "translate": [100, 0]},
        "objects": {"example": {"type": "Polygon", "properties": {"code": "a"}, "arcs": [[1]]}},
        "arcs": [
            [[4000, 0], [1999, 9999], [2000, -9999], [2000, 9999]],
            [[0, 0], [0, 9999], [2000, 0], [0, -9999], [-2000, 0]],
        ],
    }
    path = tmp_path / "areas.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    (one,) = outlines.read(path).shapes
    assert one.area.symmetric_difference(shapely.box(100, 0, 101, 1)).area < 2e-4


@pytest.mark.parametrize("projected", [False, True])
def test_a_shapefile_is_read_with_its_codes_and_its_projection(tmp_path, projected):
    with shapefile.Writer(str(tmp_path / "places")) as file:
        file.field("CODE", "C", 5)
        for code, (x, y) in {"north": (10, 51), "south": (10, 50), "east": (11, 50)}.items():
            file.poly([square(x, y)[::-1]])
            file.record(code)
    crs = pyproj.CRS("EPSG:3035" if projected else "EPSG:4269")
    (tmp_path / "places.prj").write_text(crs.to_wkt("WKT1_ESRI"), encoding="utf-8")
    shapes = Geography("place", "places.shp", "CODE", folder=tmp_path).shapes(Attribute("place", PLACES))
    assert set(shapes.outlines) == {"north", "south", "east"}
    assert shapes.projection.startswith("as in the file" if projected else "Albers")


def test_a_level_without_a_shape_is_an_error_that_names_it_unless_the_map_is_partial(tmp_path):
    two = collection(*three()["features"][:2], feature("abroad", square(20, 50)))
    with pytest.raises(
        sf.PlanError, match=r"east has no shape in places.geojson, whose codes are abroad; .*partial = true"
    ):
        drawn(tmp_path, two)
    shapes = drawn(tmp_path, two, partial=True)
    assert set(shapes.outlines) == {"north", "south"}
    assert "of no level: 1 shape of places.geojson, abroad" in " ".join(shapes.notes)
    assert "Only in the table, without a shape: 1 level, east." in " ".join(shapes.notes)


def test_the_level_of_no_answer_needs_no_shape(tmp_path):
    levels = Levels.of(["north", "south", "east", "unknown"])
    assert "unknown" not in drawn(tmp_path, three(), Attribute("place", levels, missing=Missing("unknown")))
    with pytest.raises(sf.PlanError, match="unknown has no shape"):
        drawn(tmp_path, three(), Attribute("place", levels))


def test_codes_spelt_another_way_are_pointed_out(tmp_path):
    content = collection(feature(1, square(10, 50)), feature(2.0, square(11, 50)))
    with pytest.raises(sf.PlanError, match="it writes '1' where the level is '01'"):
        drawn(tmp_path, content, Attribute("place", Levels.of(["01", "02"])))
    assert set(drawn(tmp_path, content, Attribute("place", Levels.of(["1", "2"]))).outlines) == {"1", "2"}


def test_shapes_without_a_code_are_noted_and_parts_of_one_code_are_one_area(tmp_path):
    content = collection(*three()["features"], feature(None, square(13, 50)), feature("east", square(12, 50)))
    shapes = drawn(tmp_path, content)
    assert shapes.notes == ("Not drawn, without a 'code': 1 shape of places.geojson.",)
    assert area(shapes, "east").area == pytest.approx(2 * area(shapes, "south").area, rel=0.01)


def test_the_id_of_a_feature_itself_may_be_the_code(tmp_path):
    features = [{**one, "id": one["properties"]["code"], "properties": None} for one in three()["features"]]
    assert set(drawn(tmp_path, collection(*features), id="id").outlines) == {"north", "south", "east"}


HOSTILE = {
    "an unknown property": (three(), {"id": "cod"}, "did you mean 'code'"),
    "a point": (
        collection(
            {"type": "Feature", "properties": {"code": "north"}, "geometry": {"type": "Point", "coordinates": [1, 2]}}
        ),
        {},
        "a map needs Polygon",
    ),
    "no number": (collection(feature("north", [["a", 0], [1, 0], [1, 1], ["a", 0]])), {}, "cannot be read as an area"),
    "infinite": (collection(feature("north", [[0, 0], [1e999, 0], [1, 1], [0, 0]])), {}, "cannot be read as an area"),
    "a short ring": (collection(feature("north", [[0, 0], [1, 1]])), {}, "shape 1 cannot be read as an area"),
    "no features": (collection(), {}, "holds no shapes"),
    "features that are none": ({"type": "FeatureCollection", "features": 7}, {}, "without a list of features"),
    "another type": ({"type": "Point", "coordinates": [0, 0]}, {}, "are a FeatureCollection, a Feature"),
    "a list": ([1, 2], {}, "are a FeatureCollection, a Feature"),
    "a false projection": (three(), {"projection": "EPSG:99"}, "EPSG:5070"),
    "a projection of degrees": (three(), {"projection": "EPSG:4326"}, "not of a plane"),
    "arcs out of range": (
        {"type": "Topology", "arcs": [], "objects": {"a": {"type": "Polygon", "arcs": [[9]]}}},
        {},
        "cannot be read as an area",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_cannot_be_drawn_is_refused_in_words(tmp_path, case):
    content, how, said = HOSTILE[case]
    with pytest.raises(sf.PlanError) as error:
        drawn(tmp_path, content, **how)
    assert said in str(error.value)
    assert str(error.value).startswith("[geography.place]")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.geojson", b"[" * 100_000, "not JSON"),
        ("a.geojson", b"\xff\xfe", "not JSON"),
        ("a.shp", b"\x00\x00\x27\x0a" + bytes(200), "shapefile"),
        ("a.shp", bytes(range(256)) * 20, "shapefile"),
        ("a.kml", b"<kml/>", "of no kind that is read"),
    ],
)
def test_garbage_is_refused_in_words(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "a.dbf").write_bytes(content)
    with pytest.raises(sf.PlanError, match=said):
        outlines.read(tmp_path / name)


@pytest.mark.parametrize(("limit", "value"), [("MOST_BYTES", 100), ("MOST_SHAPES", 2), ("MOST_POINTS", 12)])
def test_a_file_too_large_to_draw_is_refused(tmp_path, monkeypatch, limit, value):
    monkeypatch.setattr(outlines, limit, value)
    with pytest.raises(sf.PlanError, match="cartographic"):
        drawn(tmp_path, three())


def test_an_area_too_small_for_the_grid_is_still_there(tmp_path):
    content = collection(feature("north", square(0, 0, 10)), feature("south", square(10.0, 0, 0.001)))
    shapes = drawn(tmp_path, content, Attribute("place", Levels.of(["north", "south"])), detail=100)
    assert area(shapes, "south").area == 1
