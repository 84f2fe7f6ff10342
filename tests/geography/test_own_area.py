"""A reader's own area: the areas inside it, those that its border cuts, and a table of both with their errors."""

import csv
import json
import re

import pytest
from pyproj import Proj
from tests.commands import command

import sfumato as sf
from sfumato.cli.partition import within
from sfumato.confidential import Microdata, Options, run
from sfumato.errors import PlanError
from sfumato.geography.own_area import drawn_area
from sfumato.plan import Plan
from sfumato.synth import write


def box(west, south, east, north):
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def shapes(path, rings, names=None):
    features = [
        {"type": "Feature", "properties": {"code": name}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
        for name, ring in zip(names or [None] * len(rings), rings, strict=True)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


@pytest.fixture
def four(tmp_path):
    """Squares of a kilometre beside each other, from 1,000 km east on: no degrees."""
    return shapes(
        tmp_path / "areas.geojson", [box(x, 0, x + 1000, 1000) for x in range(1_000_000, 1_004_000, 1000)], "abcd"
    )


def test_areas_are_inside_cut_or_neither(four, tmp_path):
    own = shapes(tmp_path / "own.geojson", [box(999_000, -10, 1_002_000, 2_000), box(1_002_000, 0, 1_002_300, 500)])
    found = drawn_area(four, own)
    assert (found.inside, found.cut) == (("a", "b"), ("c",))
    far = shapes(tmp_path / "far.geojson", [box(0, 0, 10, 10)])
    with pytest.raises(PlanError, match=r"No area of areas\.geojson lies in far\.geojson"):
        drawn_area(four, far)
    with pytest.raises(PlanError, match="did you mean 'code'"):
        drawn_area(four, own, "cod")


def test_an_area_is_taken_alone_or_as_a_feature_as_the_query_tool_takes_it(four, tmp_path):
    ring = box(999_000, -10, 1_002_000, 2_000)
    alone = {"type": "Polygon", "coordinates": [ring]}
    parts = {"type": "MultiPolygon", "coordinates": [[ring], [box(1_002_000, 0, 1_002_300, 500)]]}
    for number, (own, cut) in enumerate(
        [(alone, ()), (parts, ("c",)), ({"type": "Feature", "properties": {}, "geometry": alone}, ())]
    ):
        path = tmp_path / f"own{number}.geojson"
        path.write_text(json.dumps(own))
        found = drawn_area(four, path)
        assert (found.inside, found.cut) == (("a", "b"), cut)
    path.write_text(json.dumps({"type": "Point", "coordinates": [1_000_500, 500]}))
    with pytest.raises(PlanError, match="JSON of type 'Point'; areas are a FeatureCollection, a Feature, a Polygon"):
        drawn_area(four, path)


RINGS = "a Polygon is a list of rings, a ring a list of four or more points"
UNREAD = {
    "a letter": ({"type": "Polygon", "coordinates": [[["a", 0], [1, 0], [1, 1], [0, 0]]]}, RINGS),
    "no rings": ({"type": "Polygon", "coordinates": [[0, 0], [1, 0], [1, 1], [0, 0]]}, RINGS),
    "no number": ({"type": "Polygon", "coordinates": [[[0, 0], [1, None], [1, 1], [0, 0]]]}, RINGS),
    "no coordinates": ({"type": "Polygon"}, RINGS),
    "no features": ({"type": "FeatureCollection"}, "without a list of features, which are objects; give one"),
    "a number": ({"type": "FeatureCollection", "features": [3]}, "without a list of features, which are objects"),
    "no type": ([1, 2], "is JSON without a type; areas are a FeatureCollection"),
    "a line": (
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]},
        "encloses no area: its shapes have none",
    ),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_an_area_that_cannot_be_read_is_refused_in_words_of_ours(four, tmp_path, kind):
    written, said = UNREAD[kind]
    path = tmp_path / "own.geojson"
    path.write_text(json.dumps(written))
    with pytest.raises(PlanError, match=re.escape(said)) as refused:
        drawn_area(four, path)
    assert not re.search("float|object|iterable|argument|NoneType", str(refused.value).replace("are objects", ""))


def test_how_many_areas_lie_inside_is_said_of_one_and_of_two(tmp_path, capsys):
    own = shapes(tmp_path / "own.geojson", [box(-100, -100, 1000, 1000)])
    for count, said in ((1, "1 area lies inside, and the border cuts none"), (2, "2 areas lie inside, and the border")):
        areas = [box(100 * place, 0, 100 * place + 50, 50) for place in range(count)]
        path = shapes(tmp_path / f"{count}.geojson", areas, "ab"[:count])
        within(path, own, tmp_path / "own.csv")
        assert said in capsys.readouterr().out


def test_an_area_in_degrees_is_taken_from_the_origin(tmp_path):
    areas = shapes(tmp_path / "areas.geojson", [box(0, 0, 900, 900), box(900, 0, 1800, 900)], "ab")
    metres = Proj(proj="aeqd", lat_0=52, lon_0=10)
    ring = [list(metres(x, y, inverse=True)) for x, y in box(-100, -100, 1000, 1000)]
    found = drawn_area(areas, shapes(tmp_path / "own.geojson", [ring]), origin=(52.0, 10.0))
    assert (found.inside, found.cut) == (("a",), ("b",))


def test_a_mayor_gets_the_number_of_his_own_area_with_its_error(tmp_path):
    folder = write("iab", tmp_path / "iab", rows=3_000).parent
    plan = Plan.read(folder / "iab.toml")
    data = {"people": folder / "people.parquet", "members": folder / "areas" / "members.parquet"}
    release = run(plan, Microdata.open(data, plan.schema), None, tmp_path / "r", Options(rehearsal=1))
    own = shapes(tmp_path / "own.geojson", [box(71_000, -284_000, 74_000, -281_000)])
    done = command("within", folder / "areas" / "areas.geojson", own, "--out", tmp_path / "own.csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "own.csv").read_text().splitlines()))
    inside = [row["code"] for row in rows if row["group"] == "Inside"]
    assert inside
    lie, cut = "area lies" if len(inside) == 1 else "areas lie", len(rows) - len(inside) or "none"
    assert f"{len(inside)} {lie} inside, and the border cuts {cut}" in done.stdout
    engine = sf.QueryEngine(release)
    table = engine.table("area", at={"area": sf.read_groups(tmp_path / "own.csv", engine)["area"]})
    one = engine.total({"area": inside})
    assert table["Inside"].value == one.value
    assert table["Inside"].noise_variance == one.noise_variance == pytest.approx(188 * len(inside) * 7.835, rel=1e-3)
