"""Graduates and veterans: reproducible, within the levels of their plans, lognormal, in small and skewed cells."""

import numpy as np
import pyarrow.compute as pc
import pytest

from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.synth import write
from sfumato.synth.earnings import pseo, veo


@pytest.mark.parametrize(("made", "name"), [(pseo, "pseo"), (veo, "veo")])
def test_the_same_seed_gives_the_same_people_within_the_levels_of_the_plan(made, name):
    plan, people = Plan.read(SHIPPED / f"{name}.toml"), made(5_000, 3)
    assert people.equals(made(5_000, 3))
    assert not people.equals(made(5_000, 4))
    for attribute in plan.schema.attributes:
        if attribute.name != "earnings":
            assert set(people[attribute.name].unique().to_pylist()) <= set(attribute.levels.leaves)
    assert pc.min(people["earnings"]).as_py() > 0


def test_earnings_are_lognormal_within_cells_which_are_small_and_skewed():
    people = pseo(200_000)
    cell = [people[name].to_pylist() for name in ("college", "degree", "field")]
    logs, cells = np.log(people["earnings"].to_numpy()), np.array([" ".join(one) for one in zip(*cell, strict=True)])
    names, place, sizes = np.unique(cells, return_inverse=True, return_counts=True)
    largest = logs[place == sizes.argmax()]
    assert largest.std() == pytest.approx(0.6, rel=0.05)
    assert abs(((largest - largest.mean()) ** 3).mean()) / 0.6**3 < 0.2, "even about its middle"
    assert len(names) > 900
    assert np.sort(sizes)[-len(sizes) // 100 :].sum() > 0.1 * sizes.sum(), "one in a hundred has a tenth"
    assert np.median(sizes) < 200


def test_a_plan_stands_beside_the_people_and_reads_them(tmp_path):
    for name in ("pseo", "veo"):
        path = write(name, tmp_path / name, 500)
        assert path == tmp_path / name / f"{name}.toml"
        assert Plan.read(path).to_toml() == Plan.read(SHIPPED / f"{name}.toml").to_toml()
    with pytest.raises(PlanError, match="at least 1"):
        write("veo", tmp_path / "none", 0)
