"""The sweep of budgets: priced exactly, rehearsed on the true cells, refused with the reason."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import Sweep, assess
from sfumato.confidential.assessment.sweep import rescaled, scaled, shared, size
from sfumato.errors import PlanError
from sfumato.mechanisms import DiscreteGaussian, Geometric, RoundedGaussian, TruncatedGeometricNoise
from sfumato.plan import Plan


def plan_of(text: str) -> sf.Plan:
    return Plan.parse(text, Path("plan.toml"))


def with_mechanisms(jobs: str, pay: str, limit: str) -> sf.Plan:
    first, second, third = SMALL.split('with = { mechanism = "geometric", epsilon = "1" }')
    text = first + f"with = {{ {jobs} }}" + second + f"with = {{ {pay} }}" + third
    return plan_of(text.replace('epsilon = "2"', limit))


GAUSS = 'mechanism = "rounded-gaussian", mu = "0.6"'
DISCRETE = 'mechanism = "discrete-gaussian", rho = "0.1"'
GEOMETRIC = 'mechanism = "geometric", epsilon = "0.5"'
PLANS = {
    "epsilon": with_mechanisms(GEOMETRIC, GEOMETRIC, 'epsilon = "2"'),
    "mu": with_mechanisms(GAUSS, GAUSS, 'mu = "2"'),
    "rho": with_mechanisms(DISCRETE, GAUSS, 'rho = "2"'),
    "mixed mu": with_mechanisms(GAUSS, GEOMETRIC, 'mu = "3"'),
    "epsilon with a delta": with_mechanisms(GAUSS, GEOMETRIC, 'epsilon = "9"\ndelta = "1e-6"'),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("total", ["0.25", "1", "8"])
def test_budgets_are_scaled_until_they_cost_the_total(plan, total):
    tried, priced = rescaled(plan, Fraction(total))
    assert float(size(priced.total)) == pytest.approx(float(total), rel=2e-4)
    before = [one.with_ for one in plan.measures]
    after = [one.with_ for one in tried.measures]
    factors = {_factor(one, other) for one, other in zip(before, after, strict=True)}
    assert len({round(factor, 6) for factor in factors}) == 1, "all are scaled alike"


def _factor(one, other) -> float:
    for name in ("epsilon", "mu"):
        if hasattr(one, name):
            return float(getattr(other, name) / getattr(one, name))
    return float(other.rho / one.rho) ** 0.5


def test_pure_budgets_scale_exactly():
    tried, priced = rescaled(PLANS["epsilon"], Fraction("0.3"))
    assert priced.total == sf.Approximate("0.3")
    assert [one.with_.epsilon for one in tried.measures] == [Fraction("0.15")] * 2


def test_each_mechanism_scales_in_its_own_currency():
    assert scaled(Geometric(1), Fraction(3)) == Geometric(3)
    assert scaled(RoundedGaussian(1), Fraction(3)) == RoundedGaussian(3)
    assert scaled(DiscreteGaussian(1), Fraction(3)) == DiscreteGaussian(9)
    assert scaled(TruncatedGeometricNoise(1, cap=5), Fraction(2)) == TruncatedGeometricNoise(2, cap=5)
    assert scaled(TruncatedGeometricNoise(1, cap=5), Fraction(2), cap=9) == TruncatedGeometricNoise(2, cap=9)


def capped(at_most: int = 1) -> sf.Plan:
    text = SMALL[: SMALL.rindex("[[measure]]")].replace(
        'mechanism = "geometric", epsilon = "1"', 'mechanism = "truncated-geometric", epsilon = "2", cap = 7'
    )
    text = text.replace('epsilon = "2"\n[[measure]]', 'epsilon = "2"\ndelta = "1e-6"\n[[measure]]')
    if at_most > 1:
        text = text.replace('unit = "job"\n[limit]', f'unit = "firm"\nid = "place"\nat_most = {at_most}\n[limit]')
    return plan_of(text)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    def sweep(plan: sf.Plan, **given: str):
        folder = tmp_path_factory.mktemp("sweep") / "release"
        microdata = Microdata.open(small_rows(), plan.schema)
        run(plan, microdata, None, folder, Options(rehearsal=3))
        asked = Sweep.read(plan, {name: values.split(",") for name, values in given.items()}, draws=4)
        return assess(plan, microdata, folder, sweep=asked)

    return sweep


def test_caps_are_swept_with_the_delta_that_they_cost(swept):
    found = swept(capped(), epsilon="2", cap="3,7").numbers["sweep"]["points"]
    assert [point["cap"] for point in found] == [3, 7]
    assert found[1]["words"] == "epsilon 2, delta 6.3e-07"  # SCIENCE 2.3
    assert found[0]["power"] > found[1]["power"]


def test_a_cap_that_promises_nothing_is_refused_with_the_reason_and_the_rest_goes_on():
    plan = capped(at_most=4)
    with pytest.raises(sf.PromiseError, match="promises nothing"):
        rescaled(plan, Fraction(2), cap=1)
    assert rescaled(plan, Fraction(2), cap=40)[1].total.epsilon == 2


def test_the_page_says_which_budget_was_refused(swept):
    found = swept(capped(), epsilon="1e-14,2")
    refused, kept = found.numbers["sweep"]["points"]
    assert refused["refused"]
    assert refused["utilities"] == []
    assert kept["utilities"][0]["product"] == "jobs"
    assert "epsilon 1e-14 was refused" in found.to_html()


def test_more_loss_buys_more_utility_and_costs_the_known_power(swept):
    found = swept(plan_of(SMALL), epsilon="0.5,1,2,4").numbers["sweep"]
    points = found["points"]
    assert [round(point["power"], 4) for point in points] == [0.0824, 0.1359, 0.3695, 0.9826]  # SCIENCE 1
    assert [round(point["right_guess"], 3) for point in points] == [0.622, 0.731, 0.881, 0.982]
    jobs = [point["utilities"][0] for point in points]
    assert all(one["relative"] > other["relative"] for one, other in pairwise(jobs))
    assert all(one["grade_a"] <= other["grade_a"] for one, other in pairwise(jobs))
    assert all(one["least"] <= one["relative"] <= one["most"] for one in jobs)
    assert jobs[0]["relative"] / jobs[2]["relative"] == pytest.approx(4, rel=0.5), "noise goes with 1/epsilon"


def test_a_sweep_is_the_same_when_run_again(swept):
    plan = plan_of(SMALL)
    assert swept(plan, epsilon="1").numbers["sweep"] == swept(plan, epsilon="1").numbers["sweep"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mu": ["1"]}, "budget is in epsilon"),
        ({"cap": ["3"]}, "budget is in epsilon"),
        ({"epsilon": ["-1"]}, "must be above 0"),
        ({"epsilon": ["much"]}, "not a number"),
    ],
)
def test_what_cannot_be_swept_is_refused(given, said):
    with pytest.raises(PlanError, match=said):
        Sweep.read(plan_of(SMALL), given)
    with pytest.raises(PlanError, match="whole number"):
        Sweep.read(capped(), {"cap": ["2.5"]})


CONTROLLED = (
    SMALL.replace("[publish]", "")
    + """
[[measure]]
name = "by_trade"
of = "count"
by = ["trade"]
with = { mechanism = "geometric", epsilon = "0.5" }
[[then]]
step = "least-squares"
name = "calibrated"
table = "jobs"
to = ["by_trade"]
"""
)


@pytest.mark.parametrize("share", ["0.1", "0.5", "0.9"])
@pytest.mark.parametrize("limit", ['epsilon = "3"', 'mu = "3"', 'rho = "3"'])
def test_the_share_of_the_loss_on_controls_is_the_one_asked_for(share, limit):
    text = CONTROLLED.replace('epsilon = "2"', limit)
    if "epsilon" not in limit:
        text = text.replace('mechanism = "geometric", epsilon', 'mechanism = "rounded-gaussian", mu')
    plan = plan_of(text)
    tried, priced = rescaled(shared(plan, Fraction(share)), Fraction(1))
    spent = {one.measure: one.loss for one in priced.spends}
    cost = {name: float(loss.epsilon if "epsilon" in limit else loss.mu_squared) for name, loss in spent.items()}
    assert cost["by_trade"] / sum(cost.values()) == pytest.approx(float(share), rel=1e-3)
    assert float(size(priced.total)) == pytest.approx(1.0, rel=2e-4)
    assert tried.then == plan.then


def test_controls_are_swept_and_said(swept):
    found = swept(plan_of(CONTROLLED.replace('epsilon = "2"', 'epsilon = "3"')), epsilon="3", controls="0.1,0.6")
    points = found.numbers["sweep"]["points"]
    assert [point["controls"] for point in points] == [0.1, 0.6]
    assert "60% of it on controls" in points[1]["words"]


def test_controls_of_a_plan_without_steps_are_not_swept():
    with pytest.raises(PlanError, match="cannot be swept"):
        Sweep.read(plan_of(SMALL), {"controls": ["0.5"]})
