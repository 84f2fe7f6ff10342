"""The made-up country is the same every time, without gaps, its children inside their parents."""

import json

import pytest
import shapely
from tests.synth.country import STATES, country, write

from sfumato.plan.toml import SHIPPED
from sfumato.schema import Levels

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
