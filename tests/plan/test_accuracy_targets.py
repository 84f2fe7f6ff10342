"""Budgets by percentage differences, of means too, and by shares of a tail: met, and by the least that meets them.

Chances of geometric noise are summed here from its law, a^|k| (1 − a) / (1 + a); tails are those of scipy's bivariate
normal law, and of a simulation by numpy alone.
"""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from tests.cli.test_cli import sfumato

from sfumato.confidential.assessment.utility import right_tail
from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.plan.right_tail import ratio_for, right_tail_chance
from sfumato.plan.toml import SHIPPED

PLAN = """
name = "pay"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "9"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "wages"
of = { statistic = "total", column = "wage", clip = ["0", "1000"] }
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
"""


@pytest.fixture
def plan():
    return Plan.parse(PLAN, Path("pay.toml"))


def needed(found) -> dict[str, float]:
    return {share.measure: float(share.after) for share in found.shares}


def within(epsilon: float, steps: int) -> float:
    """The chance that geometric noise is so many steps at most: 1 − 2 a^(k + 1) / (1 + a)."""
    a = math.exp(-epsilon)
    return 1 - 2 * a ** (steps + 1) / (1 + a)


@pytest.mark.parametrize(("written", "level"), [("apd:5%", 0.9), ("apd:5%@95%", 0.95), ("apd:0.05@0.99", 0.99)])
def test_a_percentage_difference_is_met_as_often_as_asked_and_by_no_more(plan, written, level):
    """Of 400 jobs 5% are 20: noise is within 20 in so many cells; at 98% of the epsilon it is not."""
    epsilon = needed(plan.budget({"jobs": written}, {"jobs": 400}))["jobs"]
    assert within(epsilon, 20) >= level
    assert within(0.98 * epsilon, 20) < level


def test_a_mean_is_within_its_percentage_and_no_other_split_is_cheaper(plan):
    """20,000 draws of both: an error of 0.2 points in 90%. Splits are compared by the normal law's relative error."""
    jobs, wage = 300, 400
    found = needed(plan.budget({"wages/jobs": "apd:5%"}, {"wages": jobs * wage, "jobs": jobs}))
    rng = np.random.default_rng(1)

    def noise(epsilon, scale):
        a = 1 - math.exp(-epsilon / scale)
        return rng.geometric(a, 20_000) - rng.geometric(a, 20_000)

    means = (jobs * wage + noise(found["wages"], 1000)) / (jobs + noise(found["jobs"], 1))
    assert np.mean(np.abs(means / wage - 1) <= 0.05) == pytest.approx(0.9, abs=0.012)
    spread = [1000 / (jobs * wage), 1 / jobs]  # of the wages and of the jobs, relative, at an epsilon of 1
    reached = sum((one / epsilon) ** 2 for one, epsilon in zip(spread, (found["wages"], found["jobs"]), strict=True))
    others = np.linspace(0.05, 9, 5_000)
    left = reached - (spread[1] / others) ** 2
    cheapest = np.min(others[left > 0] + spread[0] / np.sqrt(left[left > 0]))
    assert sum(found.values()) == pytest.approx(cheapest, rel=0.02)


@pytest.mark.parametrize("ratio", [0.05, 0.3, 1.0, 3.0])
def test_the_chance_of_a_right_tail_is_that_of_a_bivariate_normal_law(ratio):
    """P(X > q, Z > q) of two standard normal numbers of correlation 1 / √(1 + r²), over a fifth."""
    q, rho = norm.ppf(0.8), 1 / math.hypot(1, ratio)
    both = multivariate_normal([0, 0], [[1, rho], [rho, 1]], allow_singular=True).cdf([-q, -q])
    assert right_tail_chance(ratio) == pytest.approx(both / 0.2, abs=1e-4)
    assert ratio_for(right_tail_chance(ratio), "p25") == pytest.approx(ratio, rel=1e-5)


def test_a_tail_is_told_as_often_as_asked(plan):
    """200,000 cells of 500 jobs, 60 apart: an error of 0.2 points; geometric noise is near enough to normal."""
    epsilon = needed(plan.budget({"jobs": "tail:90%"}, spreads={"jobs": 60}))["jobs"]
    rng = np.random.default_rng(2)
    true = np.rint(rng.normal(500, 60, 200_000))
    a = 1 - math.exp(-epsilon)
    noisy = true + rng.geometric(a, len(true)) - rng.geometric(a, len(true)) + rng.uniform(0, 1e-6, len(true))
    assert right_tail(true + rng.uniform(0, 1e-6, len(true)), noisy) == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize(
    ("target", "sizes", "spreads", "said"),
    [
        ({"jobs": "apd:5%"}, {}, {}, "state the typical size"),
        ({"jobs": "tail:90%"}, {}, {}, "--spread jobs="),
        ({"jobs": "tail:10%"}, {}, {"jobs": 60}, "by pure chance"),
        ({"jobs": "apd:five"}, {"jobs": 5}, {}, "apd:5%@95%"),
        ({"jobs": "apd:5%@130%"}, {"jobs": 5}, {}, "between 0 and 1"),
        ({"wages/jobs": "5%"}, {"jobs": 5, "wages": 9}, {}, "wages/jobs=apd:5%"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_would_work(plan, target, sizes, spreads, said):
    with pytest.raises(PlanError, match=said):
        plan.budget(target, sizes, spreads=spreads)


def test_what_claims_no_loss_has_no_budget_and_it_is_said_what_would():
    plan = Plan.read(SHIPPED / "umetrics-mose.toml")
    with pytest.raises(PlanError, match="'mean_earnings' with mose claims no loss") as refused:
        plan.budget({"employed": "apd:5%"}, {"employed": 300})
    assert "means as a clipped total over a count" in str(refused.value)
    assert "put 'employed' into a plan without the others" in str(refused.value)


def test_the_command_prints_what_was_wanted_and_what_it_comes_to():
    plan = SHIPPED / "umetrics.toml"
    sizes = ("--size", "employed=300", "--size", "earnings=18000000")
    told = sfumato("budget", plan, "--target", "earnings/employed=apd:5%", *sizes).stdout
    assert "APD 4.14%" in told
    assert "APD 2.80%" in told, "4.14² and 2.80² are 25"
    tails = sfumato("budget", plan, "--target", "employed=tail:90%", "--spread", "employed=60").stdout
    assert "90.0% of a tail in it" in tails
