"""The share attack on cells of one employer: noise infusion gives its make-up away, mechanisms with a claim do not.

The attacker reads published files alone. In a cell of block, sector and ownership that one workplace has to itself,
all numbers are true ones times one factor; the share of women among its workers is their ratio, and the growth from one
year to the next is too.
"""

import numpy as np
import pytest
from tests.synth.test_lodes import given as tables_of

from sfumato.confidential import Microdata, Options, Tabulation, run
from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.row_aggregates import digests_of
from sfumato.draws import SeededDraws
from sfumato.mechanisms import NoiseInfusion
from sfumato.plan import Plan
from sfumato.schema import Box, Units
from sfumato.synth import write

HEAD = "[hidden]"
MEASURES = """
[[measure]]
name = "jobs"
of = "count"
by = ["location", "sector", "ownership"]
with = {with}
[[measure]]
name = "by_sex"
of = "count"
by = ["location", "sector", "ownership", "sex"]
with = {with}
[publish]
answers = ["by_sex"]
"""
INFUSED = '{ mechanism = "noise-infusion", low = "0.05", high = "0.15", per = "workplace_id" }'
WORKERS = 'neighbours = "add-remove"\nunit = "worker"\nid = "worker_id"\nat_most = 3\n'
EMPLOYERS = """neighbours = "size-within"
unit = "establishment"
id = "workplace_id"
alpha = "0.05"
weak = ["sex"]
worker = "worker_id"
at_most = 3
"""
CURVE = """neighbours = "loss-by-size"
unit = "establishment"
id = "workplace_id"
bend = "20"
at = 20
weak = ["sex"]
"""
LIMITS = {
    "noise-infusion": (WORKERS, 'unbounded = "the system in use"', INFUSED),
    "geometric": (WORKERS, 'epsilon = "4"', '{ mechanism = "geometric", epsilon = "2" }'),
    "log-laplace": (EMPLOYERS, 'epsilon = "8"', '{ mechanism = "log-laplace", epsilon = "4" }'),
    "smooth-gamma": (EMPLOYERS, 'epsilon = "8"', '{ mechanism = "smooth-gamma", epsilon = "4" }'),
    "smooth-laplace": (
        EMPLOYERS,
        'epsilon = "8"\ndelta = "0.01"',
        '{ mechanism = "smooth-laplace", epsilon = "4", delta = "0.005" }',
    ),
    "curve-laplace": (CURVE, 'epsilon = "16"', '{ mechanism = "curve-laplace", epsilon = "8" }'),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write("lodes", tmp_path_factory.mktemp("lodes"), rows=30_000).parent


def plan_of(folder, name):
    hidden, limit, with_ = LIMITS[name]
    text = (folder / "lodes.toml").read_text(encoding="utf-8")
    return Plan.parse(
        text[: text.index(HEAD)] + f"[hidden]\n{hidden}[limit]\n{limit}\n" + MEASURES.replace("{with}", with_),
        folder / "lodes.toml",
    )


def attacked(folder, name, out):
    """The published share of women in every cell of one workplace with 20 jobs and more, and the true one."""
    plan = plan_of(folder, name)
    microdata = Microdata.open(tables_of(folder), plan.schema)
    release = run(plan, microdata, None, out, Options(rehearsal=11))
    jobs, by_sex = (one.values * float(one.subject.step) for one in map(release.products.get, ("jobs", "by_sex")))
    true = Tabulation(plan, microdata, SeededDraws(1)).cells(plan.measures[1]).values
    alone = lone_cells(folder) & (true.sum(axis=-1) >= 20)
    with np.errstate(invalid="ignore", divide="ignore"):
        return by_sex[alone][:, 1] / jobs[alone], true[alone][:, 1] / true[alone].sum(axis=-1), jobs[alone]


def lone_cells(folder):
    """The cells of one workplace, which everybody knows, as the list of workplaces is public."""
    plan = plan_of(folder, "noise-infusion")
    table = plan.over.table(plan.measures[0])
    microdata = Microdata.open(tables_of(folder), plan.schema)
    reading = Reading(plan.schema, tuple(table.attributes), (Units("workplace_id"),))
    engine, _ = opened(microdata.sources, reading, b"")
    return np.asarray(engine.aggregate(table, (Units("workplace_id"),), Box())[Units("workplace_id")]) == 1


def found_out(said, true, jobs):
    """How often the published share is the true one but for rounding both numbers, which is 1 job in all of them."""
    return float(np.mean(np.abs(said - true) <= 1 / np.maximum(jobs, 1)))


def test_noise_infusion_gives_away_the_share_of_women_of_an_employer_alone_in_its_cell(folder, tmp_path):
    said, true, jobs = attacked(folder, "noise-infusion", tmp_path / "infused")
    assert len(true) >= 100
    assert found_out(said, true, jobs) > 0.97  # but for the few whose women or men are replaced as small


@pytest.mark.parametrize("name", sorted(LIMITS.keys() - {"noise-infusion"}))
def test_a_mechanism_with_a_claim_does_not(folder, tmp_path, name):
    said, true, jobs = attacked(folder, name, tmp_path / "sound")
    # Geometric noise of both numbers is scaled to three jobs at epsilon 2, a deviation of 2.1 each, so that ratios lie
    # within one job in a third of the cells or so; noise that hides employers, a few percent of many jobs, in fewer.
    assert len(true) >= 100
    assert found_out(said, true, jobs) < 0.5


def test_growth_of_an_employer_is_given_away_by_the_factor_that_lasts(folder):
    """Two years of one employer: 200 jobs, then 260; both published with one factor, whatever it is."""
    factor = float(NoiseInfusion("0.05", "0.15").factors(digests_of(["7"]), SeededDraws(11))[0])
    first, second = np.floor(factor * 200 + 0.5), np.floor(factor * 260 + 0.5)
    assert abs(factor - 1) >= 0.05
    assert second / first == pytest.approx(260 / 200, abs=1.5 / 200)
