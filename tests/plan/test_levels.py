"""Levels of a hierarchy by `name@depth` in tables: measured, calibrated to, written, asked and refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.errors import PlanError, QueryError
from sfumato.plan import Plan
from sfumato.release import verify

PLAN = """
name = "areas"
[data]
unit = "job"
repeated_rows = true
[attributes.area]
levels = [
  { code = "N" }, { code = "S" }, { code = "N1", parent = "N" }, { code = "N2", parent = "N" },
  { code = "S1", parent = "S" }, { code = "N11", parent = "N1" }, { code = "N12", parent = "N1" },
]
[attributes.sex]
levels = ["f", "m"]
[[impossible]]
area = "S1"
sex = "m"
[[impossible]]
area = "N11"
sex = "f"
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "90"
MEASURES
"""
MEASURE = """
[[measure]]
name = "{name}"
of = "count"
by = {by}
with = {{ mechanism = "geometric", epsilon = "{epsilon}" }}
"""
STEP = """
[[then]]
step = "{step}"
name = "made"
table = "cube"
to = {to}
"""
LEAVES = ("N2", "S1", "N11", "N12")
ROWS = {
    "area": ["N11"] * 30 + ["N12"] * 20 + ["N2"] * 40 + ["S1"] * 10,
    "sex": ["m"] * 30 + ["f", "m"] * 30 + ["f"] * 10,
}


def parsed(folder, measures, step=""):
    text = PLAN.replace("MEASURES", "".join(MEASURE.format(name=n, by=b, epsilon=e) for n, b, e in measures) + step)
    (folder / "plan.toml").write_text(text)
    return Plan.read(folder / "plan.toml")


def made(folder, measures, step="", rows=ROWS):
    plan = parsed(folder, measures, step)
    run(plan, Microdata.open(pa.table(rows), plan.schema), None, folder / "out", Options(rehearsal=1))
    return sf.open(folder / "out")


def test_a_table_at_a_depth_counts_the_records_under_each_level(tmp_path):
    engine = made(tmp_path, [("cube", '["area@0", "sex"]', "40")])
    assert engine.total({"area": "N"}).value == 90
    assert engine.table("area", "sex").totals.tolist() == [[30, 60], [10, 0]]
    assert engine.total({"area": "N"}).cells == 2
    assert engine.total({"area": "S"}).cells == 1, "S has S1 alone, which no man is in"
    [line] = engine.release.manifest.products
    assert (line.by, line.impossible) == (["area@0", "sex"], [{"area": ["S"], "sex": ["m"]}])
    assert pq.read_table(tmp_path / "out" / line.file).column_names == ["area_0", "sex", "value"]
    assert verify(tmp_path / "out").intact


def test_a_universe_finer_than_the_cells_is_refused_before_anything_is_charged(tmp_path):
    with pytest.raises(PlanError, match=r"Measure .cube., where: .*N11"):
        parsed(tmp_path, [("cube", '["area@0", "sex"]\nwhere = { area = ["N11"] }', 1)])
    assert parsed(tmp_path, [("cube", '["area@0", "sex"]\nwhere = { area = ["N"] }', 1)]).price()


def test_finer_levels_are_refused_in_words_and_coarser_ones_answered(tmp_path):
    engine = made(tmp_path, [("cube", '["area@1", "sex"]', "40")])
    assert engine.total({"area": "N1"}).value == 50
    assert engine.table("area").totals.tolist() == [90, 10]
    with pytest.raises(QueryError, match="'N11' is finer than what was measured; 'N1' is the level above it that was"):
        engine.total({"area": "N11"})
    with pytest.raises(QueryError, match="levels 0 to 1; 2 was asked for"):
        engine.table("area", at={"area": 2})


@pytest.mark.parametrize("step", ["least-squares", "rake"])
@pytest.mark.parametrize(
    "controls", [['["area@0"]'], ['["area@1"]', '["area@0", "sex"]'], ['["area@0"]', '["area@1"]', "[]"]], ids=str
)
def test_controls_at_coarser_levels_are_met(tmp_path, step, controls):
    """With controls of hardly any noise and a cube of much, the fitted cube has the sums of the controls."""
    measures = [("cube", '["area", "sex"]', "0.05"), *((f"c{at}", by, "12") for at, by in enumerate(controls))]
    to = str([f"c{at}" for at in range(len(controls))]).replace("'", '"')
    engine = made(tmp_path, measures, STEP.format(step=step, to=to))
    if "made" not in engine.statistics:
        assert step == "rake", "least squares always finds an answer"
        return
    for at, by in enumerate(controls):
        depth = 1 if "area@1" in by else 0 if "area@0" in by else None
        codes = {0: ["N", "S"], 1: ["N2", "S1", "N1"], None: [None]}[depth]
        aim = engine.release.products[f"c{at}"]
        for code in codes:
            where = {} if code is None else {"area": code}
            wanted = aim.total(sf.schema.Box({"area": aim.domain.attribute("area").levels.mask(code)} if where else {}))
            assert engine.total(where, of="made").value == pytest.approx(wanted, abs=0.05)


def test_stated_errors_after_a_control_at_a_depth_are_those_of_many_runs(tmp_path):
    """600 rehearsals: the variance of a total to sqrt(2/600) = 5.8%, rejected beyond five of that."""
    measures = [("cube", '["area", "sex"]', "0.5"), ("coarse", '["area@1"]', "0.5")]
    plan = parsed(tmp_path, measures, STEP.format(step="least-squares", to='["coarse"]'))
    from sfumato.confidential.tabulate import Tabulation
    from sfumato.draws import SeededDraws
    from sfumato.release import Subject, measured

    microdata, draws = Microdata.open(pa.table(ROWS), plan.schema), SeededDraws(3)
    tabulation = Tabulation(plan, microdata, draws)
    found = []
    box = None
    for _ in range(600):
        products = {}
        for measure in plan.measures:
            noisy = measure.with_.perturb(tabulation.cells(measure), draws, {})
            subject = Subject(measure.name, "count", "Jobs", "jobs", noisy.step)
            products[measure.name] = measured(subject, noisy, measure.with_.uncertainty(noisy))
        (step,) = plan.then
        product = step.apply(products)
        box = product.domain.box({"area": ["N1", "S1"], "sex": "m"})
        found.append(product.total(box) * float(product.subject.step))
    stated = product.covariance(box, box) * float(product.subject.step) ** 2
    ratio = float(np.var(found)) / stated
    assert 0.71 < ratio < 1.29
    assert not 0.71 < ratio / 1.5 < 1.29, "an error stated half again too large is seen"


def test_the_finest_measure_answers_and_a_table_names_an_attribute_once(tmp_path):
    plan = parsed(tmp_path, [("fine", '["area", "sex"]', "1"), ("coarse", '["area@0"]', "1")])
    assert plan.answering == ("fine",)
    assert [plan.over.size(measure) for measure in plan.measures] == [8, 2]
    with pytest.raises(PlanError, match="names an attribute twice"):
        parsed(tmp_path, [("fine", '["area", "area@0"]', "1")])
    with pytest.raises(PlanError, match="'area@3': area has levels @0 to @2"):
        parsed(tmp_path, [("fine", '["area@3"]', "1")])
    with pytest.raises(PlanError, match="lacks area of 'c'"):
        parsed(tmp_path, [("cube", '["area@0"]', "1"), ("c", '["area"]', "1")], STEP.format(step="rake", to='["c"]'))


def test_a_wrong_code_is_told_once_though_two_depths_are_read(tmp_path):
    from sfumato.confidential.tabulate import Tabulation
    from sfumato.draws import SeededDraws

    plan = parsed(tmp_path, [("cube", '["area@0", "sex"]', "1")])
    rows = {"area": ["N11", "N1", "X"], "sex": ["m", "m", "f"]}
    faults = Tabulation(plan, Microdata.open(pa.table(rows), plan.schema), SeededDraws(1)).faults()
    assert [fault.column for fault in faults] == ["area"]
