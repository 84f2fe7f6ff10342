"""The made-up country is the same every time, without gaps, its children inside their parents."""

import json

import pytest
import shapefile
import shapely
from tests.synth.country import STATES, country, write

from sfumato.cli.demo import _counties, _outlined
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.schema import Attribute, Levels
from sfumato.synth import census_outlines
from sfumato.synth.qcew import Economy

LEVELS = Levels.read(SHIPPED / "codes" / "states.csv")


def areas(made):
    return {one["properties"]["code"]: shapely.geometry.shape(one["geometry"]) for one in made["features"]}


def test_the_shipped_shapes_are_what_the_generator_makes():
    path = SHIPPED / "shapes" / "states.geojson"
    shipped, made = areas(json.loads(path.read_text(encoding="utf-8"))), areas(country(LEVELS, STATES))
    assert path.stat().st_size < 60_000
    assert shipped.keys() == made.keys() == set(LEVELS.leaves)
    assert max(shipped[code].symmetric_difference(made[code]).area for code in made) < 1e-9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_neighbours_share_their_borders_and_every_parent_is_in_one_piece(seed):
    tree = [{"code": f"{top}"} for top in range(4)]
    tree += [{"code": f"{top}{low}", "parent": f"{top}"} for top in range(4) for low in range(5)]
    levels = Levels.of(tree)
    made = areas(country(levels, seed=seed))
    assert shapely.coverage_is_valid(list(made.values()))
    assert all(one.area > 0 for one in made.values())
    for top in levels.at(0):
        below = [one for code, one in made.items() if levels.parent(code) == top]
        assert shapely.union_all(below).geom_type == "Polygon"
    assert shapely.union_all(list(made.values())).geom_type == "Polygon"


def test_another_seed_is_another_country():
    one, other = areas(country(LEVELS, seed=1)), areas(country(LEVELS, seed=2))
    assert not one["TX"].equals(other["TX"])


def test_the_west_lies_in_the_west():
    middles = {code: one.centroid for code, one in areas(country(LEVELS, STATES)).items()}
    assert middles["CA"].x < middles["CO"].x < middles["IL"].x < middles["NY"].x
    assert middles["WA"].y > middles["CA"].y


def test_it_is_written_as_geojson(tmp_path):
    path = write(tmp_path / "new" / "areas.geojson", Levels.of(["a", "b"]))
    assert [one["properties"]["code"] for one in json.loads(path.read_text(encoding="utf-8"))["features"]] == ["a", "b"]


def test_true_outlines_of_states_are_drawn_where_their_package_is_and_made_up_ones_without(tmp_path, monkeypatch):
    """The package is imitated by squares: what is tested is that the plan takes its file, its codes and its source."""
    plan = Plan.read(SHIPPED / "employment.toml")
    monkeypatch.setattr(census_outlines, "PACKAGE", "no_such_package")
    assert _outlined(plan, tmp_path) is plan
    package = tmp_path / "imitated_geo" / "package_data"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    codes = plan.schema.attribute("state").levels.leaves
    with shapefile.Writer(package / f"{census_outlines.STATES}.shp", shapeType=shapefile.POLYGON) as file:
        file.field("STUSPS", "C", 2)
        for place, code in enumerate([*codes, "PR"]):
            file.poly([[[place, 40], [place, 41], [place + 1, 41], [place + 1, 40], [place, 40]]])
            file.record(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(census_outlines, "PACKAGE", "imitated_geo")
    (geography,) = _outlined(plan, tmp_path / "demo").geographies
    shapes = geography.shapes(plan.schema.attribute("state"))
    assert set(codes) < set(shapes.outlines)
    assert shapes.source == census_outlines.SOURCE
    assert "PR" not in shapes.outlines


def test_counties_are_named_and_drawn_by_the_same_file(tmp_path, monkeypatch):
    """Two counties of one state and one of another, imitated by squares."""
    package = tmp_path / "imitated_geo" / "package_data"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    with shapefile.Writer(package / f"{census_outlines.COUNTIES}.shp", shapeType=shapefile.POLYGON) as file:
        for field in ("STATEFP", "GEOID", "NAME"):
            file.field(field, "C", 20)
        for place, (code, name) in enumerate([("44003", "Kent"), ("44001", "Bristol"), ("09001", "Fairfield")]):
            file.poly([[[place, 40], [place, 41], [place + 1, 41], [place + 1, 40], [place, 40]]])
            file.record(code[:2], code, name)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(census_outlines, "PACKAGE", "imitated_geo")
    levels, (geography,) = _counties(tmp_path / "register")
    assert [(one["code"], one["label"], one["parent"]) for one in levels] == [
        ("44", "Rhode Island", ""),
        ("44001", "Bristol, Rhode Island", "44"),
        ("44003", "Kent, Rhode Island", "44"),
    ]
    drawn = geography.shapes(Attribute("county", Levels.of(levels)))
    assert {"44001", "44003"} <= set(drawn.outlines)
    assert "09001" not in drawn.outlines
    assert "public domain" in drawn.source
    assert set(Economy(3_000, named=tuple(levels)).counties) == {"44001", "44003"}
    monkeypatch.setattr(census_outlines, "PACKAGE", "no_such_package")
    assert _counties(tmp_path / "other") == ([], ())
