"""Targets of noise in whole steps: what only no noise would meet is refused, and what uses a limit up is named."""

from pathlib import Path

import pytest
from tests.commands import sfumato

import sfumato as sf
from sfumato.plan import Plan

PLAN = """
name = "places"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "LIMIT"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "wages"
of = { statistic = "total", column = "wage", clip = ["0", "60000"], step = "100", unit = "dollars" }
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
"""


def plan(limit: str = "2") -> Plan:
    return Plan.parse(PLAN.replace("LIMIT", limit), Path("places.toml"))


@pytest.mark.parametrize("margin", ["1", "99"])
def test_a_target_below_one_step_is_refused_in_words(margin):
    """It was "met" by an epsilon of 1,767 and a margin of 0."""
    with pytest.raises(sf.PlanError, match=r"less than one step of it, 100: its noise is whole steps"):
        plan().budget({"*": margin})


def test_a_target_of_one_step_is_met_by_one_step():
    """P(|K| <= 1) = 1 − 2a²/(1 + a) is 0.9 at a = 0.25, epsilon = 1.3863 a step, and a wage moves 600 steps."""
    found = {one.measure: one for one in plan("1000").budget({"jobs": "1", "wages": "100"}).shares}
    assert (found["jobs"].margin, found["wages"].margin) == (1, 100)
    assert float(found["jobs"].after) == pytest.approx(1.3863, abs=1e-4)
    assert float(found["wages"].after) == pytest.approx(600 * 1.386294, rel=1e-4)


def test_what_uses_the_limit_up_is_named(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.replace("LIMIT", "1"))
    said = sfumato("budget", tmp_path / "plan.toml", "--target", "jobs=5")
    assert "No targets fit the limit beside what wages, without a target, cost" in said
    (tmp_path / "plan.toml").write_text(PLAN.replace("LIMIT", "0.0001"))
    said = sfumato("budget", tmp_path / "plan.toml", "--target", "jobs=5", "--target", "wages=1000")
    assert "without a target" not in said, "all have one"
    assert "No targets fit the limit, not even 10,000 times as wide" in said
