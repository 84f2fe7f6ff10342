"""The ORS paper's plan and a sound one over the same cases, both released: each attack reads the published files.

On what the paper publishes every attack succeeds without a mistake; on the sound release it is no better than a guess.
"""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.test_cli import sfumato

import sfumato as sf
from sfumato.calibrate import LeastSquares
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.confidential.assessment import assess
from sfumato.confidential.estimands import TotalOf
from sfumato.confidential.true_table import TableLayout, true_table
from sfumato.errors import PlanError, PromiseError
from sfumato.plan.toml import SHIPPED
from sfumato.schema import Box, Grid
from sfumato.statistics import Total
from sfumato.studies.ors_weights import lattice_attack
from sfumato.synth.ors import paper_set

PATH = SHIPPED / "ors-as-published.toml"
PAPER = sf.Plan.read(PATH)
NAMES = tuple(attribute.name for attribute in PAPER.schema.attributes)
SEED = 4
"""Of the cases and of the noise; with these the paper's raking converges."""


def sound_plan() -> sf.Plan:
    """The same tables with a claim: weights held to a bound, every control measured with noise, least squares."""
    weight = Total("weight", clip=("0", "1500"), step="10", unit="jobs")
    cube = sf.Measure("hypercube", weight, NAMES, sf.Geometric(5), title="Employment")
    controls = [sf.Measure(f"by_{name}", weight, (name,), sf.Geometric("0.2")) for name in NAMES]
    steps = (LeastSquares("employment", "hypercube", tuple(one.name for one in controls)),)
    kept = {"schema": replace(PAPER.schema, weight_kind="base"), "hidden": PAPER.hidden, "sampling": PAPER.sampling}
    return sf.Plan("ors-sound", limit=sf.Approximate(7), measures=(cube, *controls), then=steps, **kept)


def released(plan, cases, folder, **options):
    ledger = None
    if not options:
        ledger = folder.with_suffix(".ledger")
        Account.create(ledger, "cases", plan.hidden, plan.limit)
    return run(plan, Microdata.open(cases, plan.schema), ledger, folder, Options(**options))


@pytest.fixture(scope="module")
def cases():
    return paper_set(seed=SEED)


@pytest.fixture(scope="module")
def published(cases, tmp_path_factory):
    """The folder that the paper's plan makes, and the one of the sound plan."""
    folder = tmp_path_factory.mktemp("releases")
    released(PAPER, cases, folder / "paper", mode="as_published", rehearsal=SEED)
    released(sound_plan(), cases, folder / "sound")
    return {name: folder / name for name in ("paper", "sound")}


def occupied(cases) -> np.ndarray:
    """Which cells have records, counted here and by nothing that is tested."""
    cells = np.zeros([len(one.levels.leaves) for one in PAPER.schema.attributes], dtype=bool)
    codes = [[one.levels.leaves.index(code) for code in cases[one.name].to_pylist()] for one in PAPER.schema.attributes]
    cells[tuple(codes)] = True
    return cells


def file_of(folder, name):
    """The numbers in a product's file, in their unit."""
    release = sf.open(folder).release
    step = float(release.products[name].subject.step)
    return pq.read_table(folder / "products" / f"{name}.parquet")["value"].to_numpy() * step


def told(folder):
    """The estimate and the standard error that the query tool shows for every cell of the full table."""
    product = sf.open(folder).release.products["employment"]
    leaves = Grid(tuple((one.name, np.eye(len(one.levels.leaves), dtype=bool)) for one in product.attributes))
    step = float(product.subject.step)
    return product.totals(leaves) * step, np.sqrt(np.maximum(product.variances(leaves), 0)) * step


def rates(called, true) -> tuple[float, float]:
    """The shares of occupied and of empty cells that an attack calls occupied."""
    return float(called[true].mean()), float(called[~true].mean())


def is_a_guess(recall, alarms, cells) -> bool:
    return recall <= alarms + 3 * np.sqrt(max(alarms * (1 - alarms), 1e-9) / cells) + 1e-12


def test_the_lattice_attack_finds_every_occupied_cell_of_the_paper_and_guesses_on_the_sound_release(published, cases):
    true = occupied(cases)
    found = {
        name: lattice_attack(file_of(folder, "hypercube").reshape(true.shape)) for name, folder in published.items()
    }
    assert rates(found["paper"], true) == (1.0, 0.0)
    assert is_a_guess(*rates(found["sound"], true), true.sum())


def test_the_published_error_tells_empty_from_occupied_and_the_stated_one_does_not(published, cases):
    true = occupied(cases)
    called = {}
    for name, folder in published.items():
        estimates, errors = told(folder)
        called[name] = ~np.isclose(errors, np.abs(estimates), rtol=1e-6, atol=1e-3)
    assert rates(called["paper"], true) == (1.0, 0.0)
    assert is_a_guess(*rates(called["sound"], true), true.sum())


def test_exact_controls_give_the_weight_of_the_one_record_that_is_not_known(published, cases):
    """Whoever knows all records but the first subtracts them from the one-way totals."""
    known, hidden = cases.slice(1), float(cases["weight"][0].as_py())
    level = cases["education"][0].as_py()
    rest = sum(
        w for w, e in zip(known["weight"].to_pylist(), known["education"].to_pylist(), strict=True) if e == level
    )
    place = PAPER.schema.attribute("education").levels.leaves.index(level)
    guesses = {name: file_of(folder, "by_education")[place] - rest for name, folder in published.items()}
    assert abs(guesses["paper"] - hidden) < 0.2  # 182 weights rounded to thousandths
    # Noise at epsilon 0.2 on weights of up to 1,500 has a standard deviation of 10,600 jobs: within 1 once in 10,000.
    assert abs(guesses["sound"] - hidden) > 1


def test_the_published_error_is_the_papers_formula_in_any_table(published, cases):
    """SE² = the variance by successive difference replication, computed by another path, + (estimate − truth)²."""
    engine = sf.open(published["paper"])
    true = true_table(PAPER, Microdata.open(cases, PAPER.schema), TableLayout(("education", "strength")), TotalOf())
    shown = engine.table(["education", "strength"])
    for place, truth in true.items():
        estimate = shown.at(place)
        squared = float(true.variances[place]) + (estimate.value - truth.value) ** 2
        assert estimate.se**2 == pytest.approx(squared, rel=1e-3, abs=0.1)


def test_the_raked_tables_meet_the_exact_totals(published):
    engine = sf.open(published["paper"])
    assert engine.release.manifest.diverged == {}
    for name in NAMES:
        exact = file_of(published["paper"], f"by_{name}")
        grid = Grid(((name, np.eye(len(exact), dtype=bool)),), Box())
        product = engine.release.products["employment"]
        assert np.abs(product.totals(grid) * float(product.subject.step) - exact).max() < 0.4


def test_the_release_of_the_paper_is_marked_and_that_of_the_sound_plan_is_not(published):
    paper, sound = (sf.open(folder).release.manifest for folder in published.values())
    assert (paper.mode, paper.releasable, paper.ledger) == ("as_published", False, None)
    assert (sound.mode, sound.releasable, sound.promise.loss) == ("sound", True, {"epsilon": "7"})
    assert [one.kind for one in paper.exposures] == ["invariant", "published", "published", "assumed known"]


def test_unasked_the_plan_is_refused_by_its_steps_and_their_sound_siblings(cases, tmp_path):
    pq.write_table(cases, tmp_path / "cases.parquet")
    words = ["run", PATH, "--data", tmp_path / "cases.parquet", "--out", tmp_path / "r"]
    refused = sfumato(*words, good=False).stderr
    for said in ("'hypercube'", "average weight", "total with a clip", "'employment'", "least-squares", "as_published"):
        assert said in refused
    with pytest.raises(PlanError, match="exists only as published"):
        run(PAPER, Microdata.open(cases, PAPER.schema), None, tmp_path / "r", Options(rehearsal=1))
    assert "NOT FORMALLY PRIVATE" in sfumato("price", PATH).stdout


def test_from_the_command_line_to_the_assessment_and_the_query_tool(cases, tmp_path):
    from tests.serve.conftest import Browser

    from sfumato.serve.app import app

    pq.write_table(cases, tmp_path / "cases.parquet")
    data = ["--data", tmp_path / "cases.parquet"]
    made = sfumato("run", PATH, *data, "--mode", "as_published", "--out", tmp_path / "r").stdout
    assert "NOT releasable: as published, for study alone" in made
    assert "intact" in sfumato("verify", tmp_path / "r", "--json").stdout
    numbers = assess(PAPER, Microdata.open(cases, PAPER.schema), tmp_path / "r").numbers
    assert numbers["release"]["same_plan"]
    answered = Browser(app([tmp_path / "r"])).get("/")
    assert answered.status_code == 200
    assert "ot for publication" in answered.text


def test_under_a_limit_the_papers_plan_has_no_price():
    with pytest.raises(PromiseError, match="no guarantee"):
        replace(PAPER, limit=sf.Approximate(7)).price()
