"""Budgets by percentage differences, of means too, and by shares of a tail: met, and by the least that meets them.

Chances of geometric noise are summed here from its law, a^|k| (1 − a) / (1 + a); tails are those of scipy's bivariate
normal law, of an integral over Laplace's, and of a simulation by numpy alone.
"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm
from tests.cli.test_cli import sfumato

from sfumato.confidential.assessment.utility import right_tail
from sfumato.errors import PlanError
from sfumato.mechanisms.published_law import PublishedLaw
from sfumato.plan import Plan
from sfumato.plan.right_tail import right_tail_chance
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


PRINTED = 1e-4
"""Budgets are printed to four decimal places."""
LEVELS = [("apd:5%", 0.9), ("apd:5%@95%", 0.95), ("apd:0.05@0.99", 0.99), ("apd:5%@50%", 0.5), ("apd:5%@30%", 0.3)]


@pytest.mark.parametrize(("written", "level"), LEVELS)
def test_a_percentage_difference_is_met_as_often_as_asked_and_by_no_more(plan, written, level):
    """Of 400 jobs 5% are 20: noise is within 20 in so many cells; at what is printed less one place it is not."""
    epsilon = needed(plan.budget({"jobs": written}, {"jobs": 400}))["jobs"]
    assert within(epsilon, 20) >= level > within(epsilon - PRINTED, 20)


@pytest.mark.parametrize(("written", "level"), LEVELS)
def test_of_a_total_the_steps_are_many(plan, written, level):
    """Of 120,000 5% are 6,000 steps, and one row moves 1,000 of them."""
    epsilon = needed(plan.budget({"wages": written}, {"wages": 120_000}))["wages"]
    assert within(epsilon / 1_000, 6_000) >= level > within((epsilon - PRINTED) / 1_000, 6_000)


def rounded_normal(mu: float) -> float:
    """floor(Z / mu + 1/2) is within 20 where |Z| / mu is below 20.5."""
    return 2 * norm.cdf(20.5 * mu) - 1


def discrete_normal(rho: float) -> float:
    bell = np.exp(-rho * np.arange(-4_000, 4_001) ** 2.0)
    return float(bell[3_980:4_021].sum() / bell.sum())


@pytest.mark.parametrize(
    ("mechanism", "currency", "chance"),
    [("rounded-gaussian", "mu", rounded_normal), ("discrete-gaussian", "rho", discrete_normal)],
)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_of_normal_noise_too_the_budget_is_the_least(mechanism, currency, chance, level):
    text = PLAN.replace('mechanism = "geometric", epsilon', f'mechanism = "{mechanism}", {currency}')
    plan = Plan.parse(text.replace('epsilon = "9"', f'{currency} = "9"'), Path("pay.toml"))
    budget = needed(plan.budget({"jobs": f"apd:5%@{level}"}, {"jobs": 400}))["jobs"]
    assert chance(budget) >= level > chance(budget - PRINTED)


def mean_within(wages: float, jobs: float) -> float:
    """Of 120,000 over 300 jobs, 5% either way, summed over both laws; a row moves wages by 1,000."""
    k = np.arange(-299, 2_000)
    a, b = math.exp(-jobs), math.exp(-wages / 1_000)

    def up_to(m):
        """P(K <= m) = 1 − b^(m + 1) / (1 + b) from 0 on."""
        steps = np.floor(m)
        return np.where(steps >= 0, 1 - b ** np.maximum(steps + 1, 0) / (1 + b), b ** np.maximum(-steps, 0) / (1 + b))

    middle = 400 * (300 + k)
    both = up_to(1.05 * middle - 120_000 + 1e-6) - up_to(np.ceil(0.95 * middle - 120_000 - 1e-6) - 1)
    return float((1 - a) / (1 + a) * a ** np.abs(k) @ both)


def test_a_mean_is_within_its_percentage_and_no_other_split_is_cheaper(plan):
    """By both laws; every split of two printed places less misses. 20,000 draws of both: an error of 0.2 points."""
    jobs, wage = 300, 400
    found = needed(plan.budget({"wages/jobs": "apd:5%"}, {"wages": jobs * wage, "jobs": jobs}))
    assert mean_within(found["wages"], found["jobs"]) >= 0.9
    spent = sum(found.values())
    splits = [*np.linspace(0.05, spent - 0.05, 200), *np.linspace(0.98, 1.02, 200) * found["jobs"]]
    assert max(mean_within(spent - 2 * PRINTED - one, one) for one in splits) < 0.9
    rng = np.random.default_rng(1)

    def noise(epsilon, scale):
        a = 1 - math.exp(-epsilon / scale)
        return rng.geometric(a, 20_000) - rng.geometric(a, 20_000)

    means = (jobs * wage + noise(found["wages"], 1000)) / (jobs + noise(found["jobs"], 1))
    assert np.mean(np.abs(means / wage - 1) <= 0.05) == pytest.approx(0.9, abs=0.012)


def test_a_mean_and_its_parts_are_not_allotted_twice(plan):
    sizes = {"wages": 120_000, "jobs": 300}
    for targets in ({"jobs": "apd:5%", "wages/jobs": "apd:5%"}, {"wages/jobs": "apd:5%", "jobs": "apd:5%"}):
        with pytest.raises(PlanError, match="'jobs' has a target already"):
            plan.budget(targets, sizes)


@pytest.mark.parametrize("even", [True, False], ids=["over noise", "over numbers"])
@pytest.mark.parametrize("ratio", [0.05, 0.3, 1.0, 3.0])
def test_the_chance_of_a_right_tail_is_that_of_a_bivariate_normal_law(ratio, even):
    """P(X > q, Z > q) of two standard normal numbers of correlation 1 / √(1 + r²), over a fifth."""
    q, rho = norm.ppf(0.8), 1 / math.hypot(1, ratio)
    both = multivariate_normal([0, 0], [[1, rho], [rho, 1]], allow_singular=True).cdf([-q, -q])
    law = replace(PublishedLaw.normal(ratio), even=even)
    assert right_tail_chance(law, 7.0, 1.0, ratio) == pytest.approx(both / 0.2, abs=1e-6)


def laplace_tail(scale: float) -> float:
    """The same of Laplace noise: x normal, P(x + e > t) by the trapezoid rule over x, t where it is a fifth."""
    x = np.linspace(-12, 12, 48_001)
    weight = norm.pdf(x) * (x[1] - x[0])

    def put(t):
        return weight * np.where(x < t, np.exp((x - t) / scale) / 2, 1 - np.exp(-np.abs(x - t) / scale) / 2)

    t = brentq(lambda t: put(t).sum() - 0.2, 0.1, 20)
    inside = np.interp(x, norm.ppf(0.8) + np.array([-0.5, 0.5]) * (x[1] - x[0]), [0, 1])
    return float(inside @ put(t)) / 0.2


@pytest.mark.parametrize("share", [0.9, 0.6])
def test_the_budget_of_a_tail_is_the_least_by_the_law_of_its_noise(plan, share):
    """Wages 60,000 apart in steps of 1, of which a row moves 1,000: Laplace's law of scale 1,000 / epsilon."""
    epsilon = needed(plan.budget({"wages": f"tail:{share}"}, spreads={"wages": 60_000}))["wages"]
    assert laplace_tail(1_000 / 60_000 / epsilon) >= share - 1e-6
    assert laplace_tail(1_000 / 60_000 / (epsilon - PRINTED)) < share


def test_a_tail_is_told_as_often_as_asked(plan):
    """200,000 cells of 500 jobs, 4 apart, so that whole steps show: an error of 0.2 points."""
    epsilon = needed(plan.budget({"jobs": "tail:80%"}, spreads={"jobs": 4}))["jobs"]
    rng = np.random.default_rng(2)
    true = rng.normal(500, 4, 200_000)
    a = 1 - math.exp(-epsilon)
    noisy = true + rng.geometric(a, len(true)) - rng.geometric(a, len(true))
    assert right_tail(true, noisy) == pytest.approx(0.8, abs=0.009)
    assert right_tail(true, true + 1.1 * (noisy - true)) != pytest.approx(0.8, abs=0.009)


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
    assert told.count("earnings/employed: APD 5.00%") == 4, "wanted of either part, and reached"
    tails = sfumato("budget", plan, "--target", "employed=tail:90%", "--spread", "employed=60").stdout
    assert "90.00% of a tail in it" in tails
