"""Budgets of noise in proportion: as much as the law needs, and never less than an error that is stated takes.

A cell that is published as 100 has a 90% margin of 110 (e^(l ln 10) / (1 − l²) − 1), l = 1.001 ln 11 / epsilon on a
curve with bend 10 at 100 jobs. There is a variance where l is below 1/2, epsilon above 4.8008, and a mean where it is
below 1.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.optimize import brentq
from tests.cli.test_cli import sfumato

from sfumato.errors import PlanError
from sfumato.mechanisms import Typical
from sfumato.plan import Plan

PLAN = """
name = "workforce"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south"]
of = "establishment"
[hidden]
neighbours = "loss-by-size"
unit = "establishment"
id = "employer"
bend = "10"
at = 100
[limit]
epsilon = "LIMIT"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "curve-laplace", epsilon = "OWN" }
"""
LEAST = 2 * 1.001 * math.log(11)


def text(limit: str = "6", own: str = "6") -> str:
    return PLAN.replace("LIMIT", limit).replace("OWN", own)


def plan(limit: str = "6", own: str = "6") -> Plan:
    return Plan.parse(text(limit, own), Path("workforce.toml"))


def closed_form(margin: float) -> float:
    """The epsilon at which a cell of 100 has a margin."""

    def too_wide(epsilon: float) -> float:
        scale = 1.001 * math.log(11) / epsilon
        return 110 * (math.exp(scale * math.log(10)) / (1 - scale**2) - 1) - margin

    return float(brentq(too_wide, 2.5, 1_000))


@pytest.mark.parametrize("own", ["6", "3", "100"])
@pytest.mark.parametrize("margin", [10, 100, 219, 340])
def test_a_target_gets_the_epsilon_of_the_closed_form_from_whatever_the_plan_has(margin, own):
    (share,) = plan(limit="100", own=own).budget({"jobs": str(margin)}, {"jobs": 100.0}).shares
    assert float(share.after) == pytest.approx(closed_form(margin), rel=1e-3)
    assert share.margin <= margin
    assert share.why == "meets its target"


@pytest.mark.parametrize("epsilon", ["4.9", "5.1234", "12"])
def test_a_target_that_a_printed_budget_meets_just_so_gets_that_budget(epsilon):
    """And one that is a hair narrower gets the next."""
    stated = plan(limit="100", own=epsilon)
    (measure,) = stated.measures
    margin = measure.with_.margin(stated.move(measure), Typical(size=100.0))
    (just,), (next_up,) = (
        plan(limit="100").budget({"jobs": repr(wanted)}, {"jobs": 100.0}).shares
        for wanted in (margin, margin * (1 - 1e-9))
    )
    assert just.after == Fraction(epsilon)
    assert next_up.after == Fraction(epsilon) + Fraction(1, 10**4)


def test_what_was_said_to_be_over_the_limit_is_within_it():
    """± 350 was said at epsilon 6, where ± 219 is true."""
    assert plan().budget({"jobs": "220"}, {"jobs": 100.0}).fits
    assert not plan().budget({"jobs": "218"}, {"jobs": 100.0}).fits


@pytest.mark.parametrize("margin", ["400", "100000"])
def test_however_wide_a_margin_may_be_it_is_one_that_is_stated(margin):
    (share,) = plan().budget({"jobs": margin}, {"jobs": 100.0}).shares
    assert float(share.after) == pytest.approx(LEAST, abs=5e-4)
    assert share.why == "the least at which an error is stated"


def test_limits_below_what_an_error_takes_are_said_to_fit_nothing(tmp_path):
    found = plan(limit="4").budget({"jobs": "400"}, {"jobs": 100.0})
    assert found.wider == math.inf
    (tmp_path / "plan.toml").write_text(text(limit="4"), encoding="utf-8")
    said = sfumato("budget", tmp_path / "plan.toml", "--target", "jobs=400", "--size", "jobs=100").stdout
    assert "the least at which an error is stated" in said
    assert "No targets fit the limit, not even 10,000 times as wide" in said


def test_margins_that_would_fit_are_not_rounded_down():
    found = plan().budget({"jobs": "100"}, {"jobs": 100.0})
    assert found.wider == pytest.approx(2.19, rel=2e-3)
    assert plan().budget({"jobs": str(100 * found.wider)}, {"jobs": 100.0}).fits


@pytest.mark.parametrize("own", ["6", "3"])
def test_without_a_size_it_is_asked_for(own):
    with pytest.raises(PlanError, match=r"its noise grows .* with --size MEASURE=1500\.$"):
        plan(own=own).budget({"jobs": "100"})


def test_numbers_left_as_drawn_have_no_margin_at_any_budget():
    other = text().replace('neighbours = "loss-by-size"', 'neighbours = "size-within"\nalpha = "0.1"')
    other = other.replace('bend = "10"\nat = 100\n', "").replace(
        'mechanism = "curve-laplace", epsilon = "6"',
        'mechanism = "log-laplace", epsilon = "1", factor = 2, estimate = "as drawn"',
    )
    with pytest.raises(
        PlanError, match=r"No margin of 'jobs' can be told, as numbers are left as drawn, 3\.8% too high"
    ):
        Plan.parse(other, Path("workforce.toml")).budget({"jobs": "100"}, {"jobs": 100.0})


def test_price_says_why_no_error_is_stated_and_what_can_be_said(tmp_path):
    (tmp_path / "plan.toml").write_text(text(own="3"), encoding="utf-8")
    said = sfumato("price", tmp_path / "plan.toml").stdout
    assert "± –" not in said
    assert "No ± of a cell of jobs can be told beforehand, as noise in proportion has no variance" in said
    assert "0.44 to 17.6 times what is published, with 10 added to both" in said
    (tmp_path / "plan.toml").write_text(text(), encoding="utf-8")
    assert "± 220 at 100 " in sfumato("price", tmp_path / "plan.toml").stdout, "219.007, rounded up"


def test_price_tells_machines_the_margins_by_size_that_it_tells_people(tmp_path):
    """219.007 at 100 is the closed form's; where nothing is stated the reason stands at every size."""
    (tmp_path / "plan.toml").write_text(text(), encoding="utf-8")
    (found,) = json.loads(sfumato("price", tmp_path / "plan.toml", "--json").stdout)["measures"]
    told = found["margins_by_size"]
    assert told["by"] == "size"
    assert [one["size"] for one in told["margins"]] == [10, 100, 1_000, 10_000]
    assert closed_form(told["margins"][1]["moe90"]) == pytest.approx(6, rel=1e-3)
    (tmp_path / "plan.toml").write_text(text(own="3"), encoding="utf-8")
    (found,) = json.loads(sfumato("price", tmp_path / "plan.toml", "--json").stdout)["measures"]
    assert all("has no variance" in one["no_margin"] for one in found["margins_by_size"]["margins"])
