"""Sampling error that is stated: public already, outside the guarantee and listed, or bought with budget."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.confidential import Account, Microdata, run
from sfumato.plan import Plan

SURVEY = """
name = "survey"
[data]
unit = "person"
weight = "w"
[attributes.region]
levels = ["n", "s"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "30"
[[measure]]
name = "people"
title = "People"
of = { statistic = "total", column = "w", clip = ["0", "40"], step = "1", unit = "persons" }
by = ["region"]
with = { mechanism = "geometric", epsilon = "10" }
[[measure]]
name = "weights"
of = { statistic = "total", column = "w", clip = ["0", "40"], step = "1" , unit = "weight" }
by = []
with = { mechanism = "geometric", epsilon = "10" }
[[measure]]
name = "squares"
of = { statistic = "total", column = "w", power = 2, clip = ["0", "1600"], step = "1", unit = "squared weight" }
by = []
with = { mechanism = "geometric", epsilon = "10" }
"""
BOUGHT = '[[sampling]]\nof = "people"\nsquares = "squares"\nweights = "weights"\n'


def released(folder: Path, text: str, weights: np.ndarray):
    plan = Plan.parse(text, Path("survey.toml"))
    assert Plan.parse(plan.to_toml(), Path("again.toml")) == plan
    rows = pa.table({"region": np.where(np.arange(len(weights)) % 3 == 0, "n", "s").tolist(), "w": weights})
    Account.create(folder / "l", "persons", plan.hidden, sf.Approximate(100))
    run(plan, Microdata.open(rows, plan.schema), folder / "l", folder / "release")
    return sf.open(folder / "release")


def test_a_bought_function_is_the_poisson_variance_of_the_sample(tmp_path):
    """b = Σw²/Σw − 1: noise of a few units on sums of 10^5 and more moves it by less than a hundredth."""
    weights = np.random.default_rng(1).integers(5, 35, 10_000)
    survey = released(tmp_path, SURVEY + BOUGHT, weights)
    b = survey.release.manifest.sampling["functions"]["people"]["b"]
    assert b == pytest.approx((weights.astype(float) ** 2).sum() / weights.sum() - 1, rel=0.01)
    total = survey.total({"region": "n"}, of="people")
    assert total.sampling_variance == pytest.approx(b * total.value, rel=1e-9)
    poisson = (weights[::3].astype(float) * (weights[::3] - 1)).sum()
    assert total.sampling_variance == pytest.approx(poisson, rel=0.05)


def test_deff_scales_what_is_bought(tmp_path):
    weights = np.full(5_000, 21)
    survey = released(tmp_path, SURVEY + BOUGHT + 'deff = "1.5"\n', weights)
    assert survey.release.manifest.sampling["functions"]["people"]["b"] == pytest.approx(1.5 * 20, rel=0.01)


def test_a_function_outside_the_guarantee_must_be_listed():
    outside = '[[sampling]]\nof = "people"\na = "0"\nb = "20"\nsource = "fitted to these data"\noutside = true\n'
    with pytest.raises(sf.PromiseError, match="leaves 'people' outside the guarantee"):
        Plan.parse(SURVEY + outside, Path("survey.toml")).price()
    listed = '[[exposure]]\nkind = "published"\nwhat = "the variance function of people"\nwhy = "it is two numbers"\n'
    assert Plan.parse(SURVEY + outside + listed, Path("survey.toml")).price()


def test_a_sample_that_says_nothing_of_its_error_is_refused():
    with pytest.raises(sf.PlanError, match="the records are a sample"):
        Plan.parse(SURVEY, Path("survey.toml"))
    with pytest.raises(sf.PlanError, match="needs a, b and source"):
        Plan.parse(SURVEY + '[[sampling]]\nof = "people"\n', Path("survey.toml"))


def test_a_square_is_clipped_as_a_square(tmp_path):
    survey = released(tmp_path, SURVEY + BOUGHT, np.full(1000, 100))
    assert abs(survey.release.products["squares"].total(sf.schema.Box()) - 1_600_000) < 20_000
