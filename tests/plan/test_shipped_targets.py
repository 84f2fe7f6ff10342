"""The split of the survey's budget is what its aims need, and nothing that was chosen by hand."""

from fractions import Fraction

import pytest

from sfumato.plan import Plan
from sfumato.plan.margins import needed
from sfumato.plan.targets import Target
from sfumato.plan.toml import SHIPPED


def test_each_measure_of_the_survey_has_the_least_mu_that_its_aim_needs_to_half_a_percent():
    plan = Plan.read(SHIPPED / "ors.toml")
    assert [measure.name for measure in plan.measures] == ["quotes", "employment"]
    for measure in plan.measures:
        least = needed(plan, measure, Target(measure.name, 1.0, aim=True), within=1e-4)
        assert least <= float(measure.with_.mu) <= least * 1.005
    squares = sum((measure.with_.mu**2 for measure in plan.measures), Fraction(0))
    assert squares <= 4
    assert float(squares) == pytest.approx(4, rel=2e-3)
