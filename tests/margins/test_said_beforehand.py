"""What is said of the tables of a family before there are data is what is printed beside their numbers."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from tests.families import PLAN, family_plan, family_release

import sfumato as sf
from sfumato.plan.margins import margin_of, needed, with_budget
from sfumato.plan.targets import Target

ALONE = PLAN.split('[[measure]]\nname = "pay"', maxsplit=1)[0]
COUNTS = ALONE.replace('mu = "2"', 'mu = "40"').replace(', also = [["place@0", "sex", "age"]]', "")
NAMES = ("place", "sex", "age", "school")


def printed(folder):
    """The largest 90% margin in any table of up to two variables."""
    opened = sf.open(folder)
    tables = [opened.table(list(by)).columns() for ways in range(3) for by in combinations(NAMES, ways)]
    return max(float(one.moe(0.90).max()) for one in tables)


@pytest.mark.parametrize(("paid", "parts"), [('mu = "0.5"', 1), ('mu = "1.1"', 2), ('mu = "6"', 8), ('rho = "2.5"', 4)])
def test_the_margin_that_is_priced_is_printed_in_whatever_parts_of_a_step(tmp_path, paid, parts):
    """At mu 1.1 cells move in halves, at mu 6 in eighths, where rounding a law adds less than a twelfth."""
    text = COUNTS.replace('even-gaussian", mu = "1"', f'even-gaussian", {paid}')
    plan = family_plan(text if "mu" in paid else text.replace('[limit]\nmu = "40"', '[limit]\nrho = "800"'))
    (measure,) = plan.measures
    assert measure.with_.grain(plan.move(measure)) == parts
    said = margin_of(plan, measure, Target("jobs", 1.0))
    found = printed(family_release(tmp_path / "release", plan.to_toml()))
    assert found == said


@pytest.mark.parametrize("target", [5, 3.5, 1.5])
def test_the_least_budget_for_a_margin_is_the_least_at_which_it_is_printed(tmp_path, target):
    plan = family_plan(COUNTS)
    (measure,) = plan.measures
    least = needed(plan, measure, Target("jobs", target))
    for budget, met in ((least, True), (0.99 * least, False)):
        paid = with_budget(measure.with_, Fraction(budget).limit_denominator(10**6))
        text = replace(plan, measures=(replace(measure, with_=paid),)).to_toml()
        assert (printed(family_release(tmp_path / str(met), text)) <= target) is met
