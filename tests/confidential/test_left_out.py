"""What at_most takes is told inside the agency: rows, money, and names that look like a code for none."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato

from sfumato.confidential import Microdata
from sfumato.confidential.left_out import left_out, suspects
from sfumato.plan import Plan

PLAN = """
name = "jobs"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south"]
[hidden]
neighbours = "add-remove"
unit = "worker"
id = "worker"
at_most = 2
[limit]
epsilon = "2"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", clip = ["0", "100"], unit = "dollars" }
by = ["place"]
where = { place = ["north"] }
with = { mechanism = "geometric", epsilon = "1" }
"""
WORKERS = [(str(number), "north" if number % 2 else "south", 10) for number in range(1, 101)]
ROWS = [*WORKERS, *[("0", "north", 50)] * 30]
"""A hundred workers of one job, and thirty jobs whose worker is not known: of these at_most leaves two."""


def table(rows=ROWS):
    workers, places, pay = zip(*rows, strict=True)
    return pa.table({"worker": workers, "place": places, "pay": pay})


def plan(text=PLAN):
    return Plan.parse(text, Path("jobs.toml"))


@pytest.fixture(params=["arrays", "duckdb", "spilled"])
def microdata(request, tmp_path):
    """The rows in a file, for every way of reading that is here."""
    pq.write_table(table(), tmp_path / "jobs.parquet")
    spilled = request.param == "spilled"
    engine, spill = ("", tmp_path) if spilled else (request.param, None)
    return Microdata.open(tmp_path / "jobs.parquet", plan().schema, engine, spill)


def test_rows_money_and_the_code_for_none_are_told_by_every_engine(microdata):
    """28 of 130 rows; of 50 x 10 + 30 x 50 dollars in the north the 28 x 50 that they hold."""
    told = left_out(plan(), microdata).to_dict()
    assert (told["rows"], told["rows_left_out"], told["at_most"], told["column"]) == (130, 28, 2, "worker")
    assert told["measures"] == [{"measure": "pay", "unit": "dollars", "total": 2000, "left_out": 1400}]
    assert told["may_mean_none"] == [{"name": "0", "rows": 30}]
    assert "28 of 130 rows, 0.22 of them" in told["words"]
    assert "'pay' loses 1,400 of 2,000 dollars, 0.7 of it" in told["words"]
    assert "may be codes for none: '0' in 30 rows" in told["words"]
    assert "Choose at_most from public knowledge" in told["words"]


def test_the_rows_of_a_cluster_are_told_as_well(spark, tmp_path):

    from sfumato.confidential.engines.sources.cluster import Address, ClusterTable

    pq.write_table(table(), tmp_path / "jobs.parquet")
    source = ClusterTable(Address.parse(spark), str(tmp_path / "jobs.parquet"))
    told = left_out(plan(), Microdata.open(source, plan().schema)).to_dict()
    assert (told["rows_left_out"], told["measures"][0]["left_out"], told["may_mean_none"][0]["name"]) == (28, 1400, "0")


@pytest.mark.parametrize("rows", [WORKERS, [*WORKERS, ("1", "north", 10)]])
def test_where_no_row_is_left_out_nothing_is_said(rows):
    assert left_out(plan(), Microdata.open(table(rows), plan().schema)).words == ""


def test_a_plan_without_at_most_leaves_out_no_rows():
    own = plan(PLAN.replace('unit = "worker"\nid = "worker"\nat_most = 2', 'unit = "job"'))
    assert left_out(own, Microdata.open(table(), own.schema)) is None


def test_a_group_that_is_large_and_has_a_name_is_not_suspected():
    """Employers of 6 and 5 rows under at_most 2 lose rows, and are no codes."""
    rows = [*WORKERS, *[("4711", "north", 10)] * 6, *[("4712", "south", 10)] * 5]
    told = left_out(plan(), Microdata.open(table(rows), plan().schema)).to_dict()
    assert (told["rows_left_out"], told["may_mean_none"]) == (7, [])


@pytest.mark.parametrize("code", ["0", "000", "9", "99", "999999999", "-9", "NA", "n/a", "", "none", "Unbekannt", "."])
def test_codes_for_none_are_known_by_their_look(code):
    crowded = [("4711", 9), (code, 9), ("4712", 8)]
    assert suspects(crowded, 3) == ((code, 9),)


@pytest.mark.parametrize("name", ["10", "909", "A0", "Nancy", "98"])
def test_other_names_are_not(name):
    assert suspects([("4711", 9), (name, 9), ("4712", 8)], 3) == ()


def test_a_name_that_stands_far_more_often_is_asked_about_whatever_it_is():
    assert suspects([("4711", 50), ("4712", 9)], 3) == (("4711", 50),)
    assert suspects([("4711", 61), ("4712", 60), ("4713", 59)], 3) == (("4711", 61), ("4712", 60))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "jobs.toml").write_text(PLAN, encoding="utf-8")
    pq.write_table(table(), tmp_path / "jobs.parquet")
    return tmp_path


def test_check_is_not_silent_about_at_most(files):
    words = ("check", files / "jobs.toml", "--data", files / "jobs.parquet")
    printed = sfumato(*words)
    assert "leaves out 28 of 130 rows" in printed
    assert printed.index("CONFIDENTIAL") < printed.index("leaves out")
    assert json.loads(sfumato(*words, "--json"))["at_most"]["rows_left_out"] == 28


def test_assess_says_it_on_the_terminal_and_in_the_report(files):
    data = ("--data", files / "jobs.parquet")
    sfumato("run", files / "jobs.toml", *data, "--out", files / "trial", "--rehearsal", "1")
    report = files / "report.html"
    printed = sfumato("assess", files / "jobs.toml", *data, "--release", files / "trial", "--out", report)
    assert "leaves out 28 of 130 rows" in printed
    assert "leaves out 28 of 130 rows" in report.read_text(encoding="utf-8")
    released = (path.read_bytes() for path in (files / "trial").rglob("*") if path.is_file())
    assert not any(b"leaves out" in content for content in released)
