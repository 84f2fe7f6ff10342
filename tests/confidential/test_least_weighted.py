"""`least_weighted`: the weighted frequency below which a cell is not publishable, in the plan and in the assessment."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato

from sfumato.errors import PlanError
from sfumato.plan import Plan

PLAN = """
name = "survey"
sampling = "none is stated"
[data]
unit = "person"
weight = "w"
weight_kind = "base"
[attributes.region]
levels = ["n", "s", "w"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "80"
[[measure]]
name = "records"
of = { statistic = "count", weighted = false }
by = ["region"]
with = { mechanism = "geometric", epsilon = "40" }
[[measure]]
name = "people"
of = { statistic = "total", column = "w", clip = ["0", "100"], step = "1", unit = "persons" }
by = ["region"]
with = { mechanism = "geometric", epsilon = "40" }
[publish]
least = 3
least_weighted = 200
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Four records of 60 in the north, ten of 10 in the south, two of 100 in the west."""
    folder = tmp_path_factory.mktemp("weighted")
    (folder / "plan.toml").write_text(PLAN)
    rows = {"region": ["n"] * 4 + ["s"] * 10 + ["w"] * 2, "w": [60] * 4 + [10] * 10 + [100] * 2}
    pq.write_table(pa.table(rows), folder / "rows.parquet")
    sfumato("run", folder / "plan.toml", "--data", folder / "rows.parquet", "--rehearsal", "3", "--out", folder / "r")
    return folder


@pytest.mark.parametrize(
    ("more", "before"), [((), 1), (("--least-weighted", "50"), 2), (("--least-weighted", "300"), 0)]
)
def test_a_cell_below_it_is_not_publishable_whatever_its_records(files, more, before):
    """Of 240, 100 and 200 by weights, and 4, 10 and 2 records, the rule of 200 and 3 leaves the north alone."""
    out = files / f"report{before}.html"
    asked = ("--data", files / "rows.parquet", "--release", files / "r", "--out", out, "--json", *more)
    told = json.loads(sfumato("assess", files / "plan.toml", *asked))
    for product in told["products"]:
        (part,) = product["by_dimension"]
        assert (part["publishable"]["before"], part["publishable"]["after"]) == (before, before), product["name"]
        assert part["publishable"]["count_known"]
    assert "by their weights" in out.read_text()


def test_it_is_read_back_and_needs_a_weight():
    plan = Plan.parse(PLAN, Path("plan.toml"))
    assert plan.publish.least_weighted == 200
    assert Plan.parse(plan.to_toml(), Path("again.toml")) == plan
    assert "least_weighted" not in Plan.parse(PLAN.replace("least_weighted = 200", ""), Path("p")).to_toml()
    census = PLAN.replace('weight = "w"\nweight_kind = "base"\n', "").replace('sampling = "none is stated"\n', "")
    with pytest.raises(PlanError, match="no weight to weigh records with"):
        Plan.parse(census, Path("plan.toml"))
    with pytest.raises(PlanError, match="above 0"):
        Plan.parse(PLAN.replace("= 200", "= 0"), Path("plan.toml"))
