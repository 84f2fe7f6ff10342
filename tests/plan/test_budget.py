"""Budgets from accuracy targets: the margins are met, the cost is the least, and what cannot be met is said."""

import json
import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from tests.cli.test_cli import sfumato
from tests.quarters import written

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.mechanisms import SquareRoot
from sfumato.plan import Plan
from sfumato.plan.budget import over_periods
from sfumato.plan.margins import needed
from sfumato.plan.targets import Target, read_target
from sfumato.release import Varying

Z = 1.645


@pytest.fixture
def plan(tmp_path):
    return Plan.read(written(tmp_path))


def mus(found) -> dict[str, float]:
    return {share.measure: float(share.after) for share in found.shares}


@pytest.mark.parametrize(("size", "share"), [(4, 0.9), (100, 0.2), (10_000, 0.03)])
def test_rows_get_the_mu_at_which_their_interval_is_as_wide_as_wanted(plan, size, share):
    """A row that is published as x had the noisy root √(x + s²), s = beta / mu, and reaches to (√(x + s²) + z s)²."""
    mu = needed(plan, plan.measure("rows"), Target("rows", share * size, size))

    def margin(mu):
        return (math.sqrt(size + (0.5 / mu) ** 2) + Z * 0.5 / mu) ** 2 - size

    assert margin(mu) == pytest.approx(share * size, rel=0.005)  # the scale is a whole number of eight binary digits
    assert margin(mu * 0.99) > share * size


def test_clipped_totals_get_the_mu_of_the_published_example(plan):
    """Rhode Island's state total has sd 332 at mu 0.2, beta 0.5: √T = (332 · 0.2 + 0.25) / (2 · 0.5) = 66.65."""
    reach = NormalDist().inv_cdf(0.99) * 0.5 / 0.7  # the topcode stands so far above the largest root
    target = Target("state", Z * 332, largest=(66.65 - reach) ** 2)
    assert needed(plan, plan.measure("state"), target, (SquareRoot("0.7"),)) == pytest.approx(0.2, rel=0.01)


def test_the_mu_of_the_rows_is_where_all_cost_least(plan):
    wanted = {"state": (600.0, 90_000.0), "county": (400.0, 40_000.0)}
    found = plan.budget(
        {name: str(one[0]) for name, one in wanted.items()}, largest={n: o[1] for n, o in wanted.items()}
    )
    rows = np.linspace(0.05, 3, 20_000)
    cost = rows**2
    for margin, largest in wanted.values():
        top = math.sqrt(largest) + NormalDist().inv_cdf(0.99) * 0.5 / rows
        cost = cost + ((top - 0.25) * Z / margin) ** 2
    got = mus(found)
    squares = got["rows"] ** 2 + got["state"] ** 2 + got["county"] ** 2
    assert squares == pytest.approx(cost.min(), rel=0.02)  # scales are whole numbers of eight binary digits
    assert np.interp(got["rows"], rows, cost) < 1.005 * cost.min()
    assert all(np.interp(got["rows"] * factor, rows, cost) > 1.02 * cost.min() for factor in (0.4, 2.5))
    assert got["wages"] == 0.5
    assert float(found.total.mu_squared) == pytest.approx(squares + 0.25)


def test_rows_are_not_measured_worse_where_other_totals_hang_on_them(plan):
    got = mus(plan.budget({"state": "200"}, largest={"state": 400}))
    assert got["rows"] == 0.7
    assert got["county"] == 0.6
    assert got["state"] < 0.5


def test_a_release_at_the_allotted_mu_has_the_margins_wanted(tmp_path):
    """Sizes are told from public knowledge; here they are the truth, so the noise must come out as stated."""
    from sfumato.confidential import Microdata, Options, run

    path = written(tmp_path)
    plan = Plan.read(path)
    import pyarrow.parquet as pq

    frame, reports = (pq.read_table(tmp_path / f"{name}.parquet").to_pandas() for name in ("frame", "reports"))
    largest = float(reports.jobs.groupby(frame.county).max().mean())
    allotted = plan.budget({"county": "30"}, largest={"county": largest}).plan
    data = Microdata.open(tmp_path / "reports.parquet", plan.schema)
    release = run(replace(allotted, limit=sf.Gaussian(50)), data, None, tmp_path / "out", Options(rehearsal=2))
    spread = sf.open(tmp_path / "out").release.products["county"].uncertainty
    assert release.manifest.releasable is False
    assert isinstance(spread, Varying)
    assert Z * math.sqrt(spread.variances.mean()) == pytest.approx(30, rel=0.15)


def test_over_the_limit_it_is_said_how_much_wider_margins_would_fit(plan):
    margins, largest = {"state": "12", "county": "9"}, {"state": 900.0, "county": 400.0}
    found = plan.budget(margins, largest=largest)
    assert not found.fits
    assert found.wider > 1
    wider = {name: str(float(one) * found.wider) for name, one in margins.items()}
    assert plan.budget(wider, largest=largest).fits
    narrower = {name: str(float(one) * found.wider * 0.98) for name, one in margins.items()}
    assert not plan.budget(narrower, largest=largest).fits
    assert found.alone == ("state", "county")
    with pytest.raises(sf.PromiseError):
        found.plan.price()


def test_tables_get_the_epsilon_at_which_their_noise_is_as_wanted(small_plan):
    """Discrete Laplace beyond 5 has the chance 2 a⁶ / (1 + a), a = e^−epsilon; a ten-thousandth less is too little."""
    found = small_plan.budget({"jobs": "5"})
    epsilon = mus(found)["jobs"]

    def beyond(epsilon):
        return 2 * math.exp(-6 * epsilon) / (1 + math.exp(-epsilon))

    assert beyond(epsilon) <= 0.1 < beyond(epsilon - 2e-4)
    assert found.shares[0].margin == 5.0
    assert found.plan.price().total.words() == found.total.words()


@pytest.mark.parametrize(("target", "epsilon"), [("2", 0.88324), ("1.9", math.log(4)), ("1", math.log(4))])
def test_a_margin_of_whole_steps_is_bought_whole(small_plan, target, epsilon):
    """2 a³ / (1 + a) = 0.1 at epsilon 0.88323 and 2 a² / (1 + a) = 0.1 at a = 1/4; no noise has a margin of 1.9."""
    assert mus(small_plan.budget({"jobs": target}))["jobs"] == pytest.approx(epsilon, abs=1e-4)


def test_a_year_of_quarters_has_twice_the_mu():
    assert over_periods(sf.Gaussian("1.5"), 4) == sf.Gaussian(3)
    assert over_periods(sf.Approximate("0.5"), 4) == sf.Approximate(2)
    assert over_periods(sf.Concentrated("0.5"), 4) == sf.Concentrated(2)


def test_a_number_without_a_percent_sign_is_in_the_unit_however_small():
    """Half a job is half a job, and 50% of 100 jobs is 50."""
    assert read_target("jobs", "0.5", 100.0, None) == Target("jobs", 0.5, 100.0)
    assert read_target("jobs", "50%", 100.0, None).in_units == 50
    assert read_target("jobs", "0.5", None, None).in_units == 0.5, "for which no size need be known"


@pytest.mark.parametrize(
    ("margins", "sizes", "largest", "said"),
    [
        ({"county": "2%"}, {}, {"county": 9.0}, "state the typical size"),
        ({"county": "300"}, {}, {}, "follows the largest value"),
        ({"rows": "3"}, {}, {}, "state a typical size"),
        ({"contry": "300"}, {}, {}, "did you mean 'county'?"),
        ({"county": "two"}, {}, {}, "write 2% of its size, or 500 in its unit"),
        ({"wages": "0.01"}, {"wages": 100.0}, {}, "No budget brings 'wages' to ± 0.01; at mu"),
        ({"county": "-3%"}, {"county": 10.0}, {"county": 9.0}, "above 0"),
        ({"county": "300"}, {"state": 10.0}, {"county": 9.0}, "'state', which has no target"),
        ({"wages": "0.0001%"}, {"wages": 100.0}, {}, "No budget brings 'wages' to ± 0.0001, APD 0.00%; at mu"),
    ],
)
def test_a_target_that_cannot_be_meant_says_what_is_missing(plan, margins, sizes, largest, said):
    with pytest.raises(PlanError) as refused:
        plan.budget(margins, sizes, largest)
    assert said in str(refused.value)


def test_the_command_takes_patterns_and_tells_the_year(plan, tmp_path):
    words = ["budget", tmp_path / "plan.toml", "--target", "st*=60", "--target", "county=3%", "--size", "county=1200"]
    words += ["--largest", "*=400", "--per-year", "4"]
    said = sfumato(*words).stdout
    assert "makes topcodes low" in said
    assert "4 releases a year" in said
    assert "It fits the plan's limit of mu 2" in said
    told = json.loads(sfumato(*words, "--json").stdout)
    needed = {one["measure"]: float(one["needed"]) for one in told["measures"]}
    assert float(told["total"]["mu_squared"]) == pytest.approx(sum(mu**2 for mu in needed.values()))
    assert float(told["per_year"]["loss"]["mu_squared"]) == pytest.approx(4 * float(told["total"]["mu_squared"]))
    assert told["fits"] is True


def test_price_shows_what_looks_alike_and_a_year_of_it(tmp_path):
    """(√x ± 1)² of Toth's table: 81 to 121, 937.75 to 1,064.25, 9,801 to 10,201."""
    path = written(tmp_path)
    path.write_text(path.read_text().replace('jobs = "0.5"', 'jobs = "1"'))
    told = json.loads(sfumato("price", path, "--per-year", "4", "--json").stdout)
    ends = {one["size"]: (one["low"], one["high"]) for one in told["looks_alike"] if one["variable"] == "jobs"}
    assert ends[100] == pytest.approx((81, 121))
    assert ends[1000] == pytest.approx((937.75, 1064.25), abs=0.01)
    assert ends[10_000] == pytest.approx((9801, 10201))
    up = {one["size"]: one["up"] for one in told["looks_alike"] if one["variable"] == "jobs"}
    assert up[100] == pytest.approx(0.21)
    assert float(told["per_year"]["loss"]["mu_squared"]) == pytest.approx(4 * (0.7**2 + 0.5**2 + 0.6**2 + 0.5**2))
    said = sfumato("price", path, "--per-year", "4").stdout
    assert "81 to 121" in said
    assert "+21%" in said
    assert "4 releases a year" in said
