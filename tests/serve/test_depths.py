"""A plan whose tables are cut off at a depth, `area@1`, through audit, assessment, pages and downloads."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.serve.small import seen

from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import Sweep, assess
from sfumato.confidential.audit import audit_plan
from sfumato.confidential.pairs import worst_pairs
from sfumato.draws import SeededDraws
from sfumato.plan import Plan

PLAN = """
name = "areas"
title = "Jobs by area"
[data]
unit = "job"
[attributes.area]
label = "Area"
levels = [
  { code = "N", label = "North" }, { code = "S", label = "South" },
  { code = "N1", label = "Coast", parent = "N" }, { code = "N2", label = "Hills", parent = "N" },
  { code = "S1", label = "Plain", parent = "S" }, { code = "N11", label = "Harbour", parent = "N1" },
  { code = "N12", parent = "N1" }, { code = "N21", parent = "N2" }, { code = "S11", parent = "S1" },
]
[attributes.sex]
levels = ["f", "m"]
[[impossible]]
area = "S"
sex = "m"
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "9"
[[measure]]
name = "cube"
of = "count"
by = ["area@1", "sex"]
with = { mechanism = "geometric", epsilon = "2" }
[[measure]]
name = "coarse"
of = "count"
by = ["area@0"]
with = { mechanism = "geometric", epsilon = "2" }
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", clip = ["0", "1000"], step = "10", unit = "euros" }
by = ["area@1", "sex"]
with = { mechanism = "geometric", epsilon = "2" }
[[then]]
step = "least-squares"
name = "jobs"
table = "cube"
to = ["coarse"]
"""


@pytest.fixture(scope="module")
def agency(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("depths"), np.random.default_rng(1)
    (folder / "plan.toml").write_text(PLAN)
    area = rng.choice(["N11", "N12", "N21", "S11"], 800)
    sex = np.where(area == "S11", "f", rng.choice(["f", "m"], 800))
    pq.write_table(pa.table({"area": area, "sex": sex, "pay": rng.uniform(0, 900, 800)}), folder / "data.parquet")
    plan = Plan.read(folder / "plan.toml")
    run(plan, Microdata.open(folder / "data.parquet", plan.schema), None, folder / "out", Options(rehearsal=1))
    return folder


@pytest.fixture(scope="module")
def truth(agency):
    read = pq.read_table(agency / "data.parquet").to_pydict()
    pairs = [(area[:2], sex) for area, sex in zip(read["area"], read["sex"], strict=True)]
    return {cell: pairs.count(cell) for cell in set(pairs)}


def test_the_audit_holds_its_neighbours_within_the_rules_and_apart_at_every_depth(agency):
    plan = Plan.read(agency / "plan.toml")
    found = audit_plan(plan, samples=20_000, draws=SeededDraws(1))
    assert {one.measure for one in found} >= {"cube", "coarse", "pay"}
    assert all(one.holds for one in found)
    # epsilon 2 a measure: the best test of a cell tells nearly all of it, at either depth.
    told = {one.measure: one.views["a cell"] for one in found if "a cell" in one.views}
    assert told["cube"] > 1.6
    assert told["coarse"] > 1.6
    for pair in worst_pairs(plan):
        areas = {one.as_py()[0] for side in pair for one in side.sources[0]["area"]}
        assert areas == {"N", "S"}, "the other units stand in another cell of the coarsest table too"


def test_an_assessment_compares_with_the_truth_at_the_depth_of_the_table(agency, truth):
    plan = Plan.read(agency / "plan.toml")
    data = Microdata.open(agency / "data.parquet", plan.schema)
    numbers = assess(plan, data, agency / "out", sweep=Sweep.read(plan, {"epsilon": ["2"]}, 2)).numbers
    jobs = next(one for one in numbers["products"] if one["name"] == "jobs")
    assert (jobs["cells"], jobs["bounds"]["total"]) == (6, sum(truth.values()))
    by_area = next(table for table in jobs["tables"] if table["by"] == ["area"])
    assert by_area["cells"] == 3
    assert by_area["differences"]["mean_absolute"] < 4, "noise of epsilon 2, and not a table of other cells"
    assert {one["product"] for one in numbers["sweep"]["points"][0]["utilities"]} == {"pay", "jobs", "pay / jobs"}


def test_pages_and_downloads_show_the_levels_that_there_are_and_no_lower_ones(agency, truth, browse):
    shelf = browse([agency / "out"])
    page = seen(shelf, "/areas~jobs?rows=area&codelist[area]=leaves").text
    assert all(name in page for name in ("Coast", "Hills", "Plain"))
    assert "Harbour" not in page
    for path in ("/", "/privacy/areas", "/areas~jobs?rows=area&cols=sex"):
        assert shelf.get(path).status_code == 200
    card = seen(shelf, "/privacy/areas").text
    assert "Area (level 2 of 3)" in card, "the second of the three that there are, though no table has the third"
    assert "Area (level 1 of 3)" in card, "and of a table by the first alone"
    table = json.loads(shelf.get("/api/v2/tables/areas~jobs/metadata?lang=en").text)
    assert "N11" not in json.dumps(table)
    assert "N1" in table["dimension"]["area"]["category"]["index"]
