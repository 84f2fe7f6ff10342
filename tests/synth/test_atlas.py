"""Synthetic children by tract: reproducible, within the levels of the plan, in small cells; the lists as shipped."""

import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.synth.atlas import MOST_DRAWN, Tracts, write_atlas


def test_the_same_seed_gives_the_same_children_within_the_levels():
    place, plan = Tracts(60_000), Plan.read(SHIPPED / "atlas.toml")
    children = place.children()
    assert children.equals(Tracts(60_000).children())
    for name in ("tract", "race", "gender"):
        assert set(children[name].unique().to_pylist()) <= set(plan.schema.attribute(name).levels.leaves)
    ranks = np.stack([children[name].to_numpy() for name in ("kid_rank", "parent_rank")])
    assert 0 <= ranks.min() < ranks.max() <= 1
    slope = np.polyfit(ranks[1], ranks[0], 1)[0]
    assert 0.25 < slope < 0.45, "children of richer parents are richer, by about a third"


def test_a_plan_stands_beside_the_children_with_tracts_and_outlines_as_shipped(tmp_path):
    path = write_atlas(tmp_path / "few")
    for name in ("codes/tracts.csv", "shapes/tracts.geojson"):
        assert (path.parent / name).read_bytes() == (SHIPPED / name).read_bytes()
    assert Plan.read(path).to_toml() == Plan.read(SHIPPED / "atlas.toml").to_toml()
    many = write_atlas(tmp_path / "many", rows=2_000, tracts=MOST_DRAWN + 1)
    assert not Plan.read(many).geographies, "so many are not drawn"
    with pytest.raises(PlanError, match="at least 1"):
        Tracts(0)
