"""A variance function is fitted inside the agency: to known ones exactly, to samples about, and with what it costs."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato

from sfumato.confidential import Microdata
from sfumato.confidential.variance import fit_variance, fitted
from sfumato.errors import QueryError
from sfumato.plan import Plan

PLAN = """
name = "survey"
sampling = "none is stated yet"
[data]
unit = "person"
weight = "w"
weight_kind = "base"
replicates = "r{1..40}"
method = { method = "bootstrap", scale = "1/40" }
[attributes.region]
levels = ["a", "b", "c", "d"]
[attributes.trade]
levels = ["1", "2", "3"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "4"
[[measure]]
name = "records"
of = { statistic = "count", weighted = false }
by = ["region"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "people"
of = { statistic = "total", column = "w", clip = ["0", "40"], step = "1", unit = "persons" }
by = ["region", "trade"]
with = { mechanism = "geometric", epsilon = "2" }
"""


def rows(count: int = 4000) -> pa.Table:
    """Weights of 10 to 30, and 40 replicates that multiply each by 0 or 2: variances are Σw² of a cell, on average."""
    rng = np.random.default_rng(7)
    shares = np.array([0.05, 0.15, 0.3, 0.5])
    columns = {"region": rng.choice(list("abcd"), count, p=shares), "trade": rng.choice(list("123"), count)}
    weight = rng.integers(10, 31, count)
    replicates = {f"r{place}": weight * 2 * rng.integers(0, 2, count) for place in range(1, 41)}
    return pa.table({**columns, "w": weight, **replicates})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan.parse(PLAN, Path("survey.toml"))


@pytest.mark.parametrize(("a", "b"), [(0.0, 22.0), (-1e-5, 300.0), (0.002, 1e-3)])
@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e6])
def test_a_function_that_estimates_follow_is_found_in_any_unit(a, b, unit):
    estimates = np.geomspace(20, 25_000, 30) * unit
    found = fitted(estimates, a * estimates**2 + b * unit * estimates)
    assert found == pytest.approx((a, b * unit), rel=1e-8, abs=1e-12)


def test_half_samples_of_single_records_have_the_b_of_their_squares(plan):
    """E variance = Σw² = 430 x / 20.3: with 40 replicates each variance is good to a fifth, b from 20 cells to a tenth.

    The total, the margins and the cells share records, so the bound is wide: 25%, about three standard errors.
    """
    data = rows()
    found = fit_variance(plan, Microdata.open(data, plan.schema))
    weight = data["w"].to_numpy().astype(float)
    assert found.of.name == "people"
    assert len(found.estimates) == 1 + 4 + 3 + 12
    assert found.bought.b == pytest.approx((weight**2).sum() / weight.sum(), rel=1e-12)
    assert found.b == pytest.approx(found.bought.b, rel=0.25)
    assert 0.8 < found.ratios[1] < 1.25


def test_what_it_costs_is_the_noise_on_the_squares(plan):
    """Geometric noise at epsilon 2 on squares of up to 1600 has a standard error of about 1600 √2 / 2."""
    data = rows()
    found = fit_variance(plan, Microdata.open(data, plan.schema), "people")
    noise = 1600 * math.sqrt(2) / 2
    assert found.bought.off == pytest.approx(noise / (data["w"].to_numpy().astype(float) ** 2).sum(), rel=0.01)
    assert found.bought.costs == "epsilon 2"


@pytest.mark.parametrize(("spent", "limit"), [("mu", "mu"), ("rho", "rho")])
def test_for_a_family_of_tables_squares_are_bought_as_one_number(spent, limit):
    """Normal noise at mu 2, or at rho 2, on squares of up to 1600 has a standard error of 1600 / 2."""
    text = PLAN[: PLAN.index('[[measure]]\nname = "records"')] + PLAN[PLAN.index('[[measure]]\nname = "people"') :]
    text = text.replace('epsilon = "4"', f'{limit} = "4"').replace("geometric", "even-gaussian")
    text = text.replace('epsilon = "2"', f'{spent} = "2"').replace(
        '["region", "trade"]', '{ up_to = 1, of = ["region", "trade"] }'
    )
    plan, data = Plan.parse(text, Path("survey.toml")), rows()
    found = fit_variance(plan, Microdata.open(data, plan.schema))
    squares = (data["w"].to_numpy().astype(float) ** 2).sum()
    assert found.bought.off == pytest.approx(800 / squares, rel=1e-3)
    assert found.bought.costs == f"{spent} 2"
    assert found.bought.with_.words() == {"mu": "rounded-gaussian (mu 2)", "rho": "discrete-gaussian (rho 2)"}[spent]


@pytest.mark.parametrize(
    ("old", "new", "of", "said"),
    [
        ("", "", "records", "'records' does not sum the weight"),
        ('column = "w", clip', 'column = "r1", weighted = false, clip', "", "No measure of the plan sums the weight"),
        ('replicates = "r{1..40}"\nmethod = { method = "bootstrap", scale = "1/40" }', "", "", "fitted to replicates"),
    ],
)
def test_what_has_no_replicated_error_is_refused_in_words(old, new, of, said):
    made = Plan.parse(PLAN.replace(old, new) if old else PLAN, Path("survey.toml"))
    with pytest.raises(QueryError, match=said):
        fit_variance(made, Microdata.open(rows(50), made.schema), of)


def test_too_few_estimates_and_errors_that_rise_are_refused():
    with pytest.raises(QueryError, match="fewer than 5 estimates"):
        fitted(np.array([10.0, 20.0]), np.array([10.0, 20.0]))
    sizes = np.geomspace(10, 1000, 20)
    with pytest.raises(QueryError, match="No b above 0"):
        fitted(sizes, 0.01 * sizes**2 - 0.05 * sizes)


def test_the_command_prints_the_function_and_what_it_takes_and_draws_it(tmp_path):
    (tmp_path / "survey.toml").write_text(PLAN)
    pq.write_table(rows(), tmp_path / "rows.parquet")
    asked = ("variance", tmp_path / "survey.toml", "--data", tmp_path / "rows.parquet")
    said = sfumato(*asked)
    assert said.startswith("CONFIDENTIAL")
    assert "Fitted to 20 estimates." in said
    assert "in 8 groups, the middle estimate of each" in said
    sfumato(*asked, "--plot", tmp_path / "v.svg")
    for words in (
        "outside the promise",
        "outside = true",
        "[[exposure]]",
        'clip_value = ["0", "40"]',
        "epsilon 2 each",
    ):
        assert words in said
    drawn = (tmp_path / "v.svg").read_text()
    assert "CONFIDENTIAL" in drawn
    assert drawn.count("<circle") == 20
    assert (tmp_path / "v.svg").stat().st_mode & 0o077 == 0
    told = json.loads(sfumato(*asked, "--json"))
    assert told["confidential"]
    assert told["estimates"] == 20
    ready = PLAN.replace('sampling = "none is stated yet"\n', "")
    ready += said[said.index("[[sampling]]") : said.index("To buy b")]
    assert Plan.parse(ready, Path("ready.toml")).price().total.words() == "epsilon 3"
