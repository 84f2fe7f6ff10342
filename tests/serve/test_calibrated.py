"""Raked and least-squares products keep the three properties over HTTP: sums of any split are the whole, exactly."""

import random
from fractions import Fraction

import pytest
from tests.serve.conftest import Bench, plan

import sfumato as sf
from sfumato.calibrate import LeastSquares, Rake
from sfumato.confidential import Account, Microdata, run

STEPS = {"raked": Rake, "squared": LeastSquares}


def calibrated(kind: str) -> sf.Plan:
    """The plan of the bench with jobs calibrated to two noisy control tables."""
    whole = plan(f"jobs-{kind}")
    controls = (
        sf.Measure("by_place", sf.Count(), ("place", "sex"), sf.Geometric(4)),
        sf.Measure("by_trade", sf.Count(), ("trade",), sf.Geometric(4)),
    )
    cube = sf.Measure("cube", sf.Count(), ("place", "sex", "age", "trade"), sf.Geometric(2))
    step = STEPS[kind]("jobs", "cube", ("by_place", "by_trade"))
    return sf.Plan(whole.name, whole.schema, whole.hidden, sf.Approximate(10), (cube, *controls), (step,), title="Jobs")


@pytest.fixture(scope="module", params=STEPS)
def served(request, tmp_path_factory, browse):
    bench = Bench(tmp_path_factory.mktemp(request.param))
    chosen = calibrated(request.param)
    Account.create(bench.folder / "l", "jobs", chosen.hidden, sf.Approximate(100))
    run(chosen, Microdata.open(bench.data, chosen.schema), bench.folder / "l", bench.folder / "release")
    return request.param, browse([bench.folder / "release"]), sf.open(bench.folder / "release")


def answer(client, kind, **sums):
    pairs = [(f"sum[{name}]", code) for name, codes in sums.items() for code in codes]
    reply = client.get(f"/api/v2/tables/jobs-{kind}~jobs/data", params=pairs)
    assert reply.status_code == 200, reply.text
    return Fraction(reply.json()["value"][0])


def test_the_step_was_made_and_answers(served):
    kind, _, engine = served
    assert engine.statistics == ("jobs",)
    assert engine.release.manifest.diverged == {}
    assert engine.release.manifest.products[-1].uncertainty["kind"] == {"raked": "raked", "squared": "calibrated"}[kind]


def test_splits_add_up_exactly_over_http_and_in_python(served):
    kind, client, engine = served
    chosen = random.Random(3)
    for _ in range(60):
        attribute = chosen.choice(engine.product().attributes)
        leaves = list(attribute.levels.leaves)
        chosen.shuffle(leaves)
        place = chosen.randint(1, len(leaves) - 1)
        ages = chosen.sample(["16-29", "30-49", "50+"], 2) if attribute.name != "age" else None
        within = {"age": ages} if ages else {}
        whole = answer(client, kind, **within)
        parts = [answer(client, kind, **within, **{attribute.name: part}) for part in (leaves[:place], leaves[place:])]
        assert sum(parts) == whole
        assert Fraction(engine.total(within).value) == whole


def test_a_calibrated_margin_is_closer_to_its_control_than_the_cube_is(served):
    _, _, engine = served
    calibrated_error = engine.total({"trade": "a"}).noise_se
    cube = engine.release.products["cube"]
    box = cube.domain.box({"trade": "a"})
    assert calibrated_error < cube.covariance(box, box) ** 0.5


def test_the_release_says_what_a_step_made_its_product_of(served):
    _, _, engine = served
    made = {line.name: line.made_of for line in engine.release.manifest.products}
    assert made == {"cube": [], "by_place": [], "by_trade": [], "jobs": ["cube", "by_place", "by_trade"]}
