"""Rows that repeat another row in every column are reported where no key says what one record is."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato

from sfumato.confidential import Microdata
from sfumato.confidential.repeated_records import repeated_records
from sfumato.plan import Plan

PLAN = """
name = "jobs"
[data]
unit = "job"KEY
[attributes.place]
levels = ["north", "south"]
[hidden]
neighbours = "add-remove"
unit = "worker"
id = "worker"
at_most = 9
[limit]
epsilon = "1"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
"""
ROWS = [
    ("w1", "north", 7),
    ("w1", "north", 8),
    ("w2", "south", 7),
    ("w2", "south", 7),
    ("w2", "south", 7),
    ("w3", "north", None),
]
"""One job stands three times; the two jobs of the first worker differ in a column that the plan does not read."""


def plan(tmp_path, key="", text=PLAN):
    return Plan.parse(text.replace("KEY", key), tmp_path / "jobs.toml")


def table(rows=ROWS):
    workers, places, hours = zip(*rows, strict=True)
    return pa.table({"worker": workers, "place": places, "hours": hours})


@pytest.mark.parametrize("kind", ["parquet", "csv", "frame"])
def test_rows_that_repeat_in_every_column_are_counted(tmp_path, kind):
    source = table()
    if kind == "parquet":
        pq.write_table(source, tmp_path / "jobs.parquet")
        source = tmp_path / "jobs.parquet"
    if kind == "csv":
        pyarrow.csv.write_csv(source, tmp_path / "jobs.csv")
        source = tmp_path / "jobs.csv"
    own = plan(tmp_path)
    (found,) = repeated_records(own, Microdata.open(source, own.schema))
    assert (found.repeated, found.rows, found.columns) == (2, 6, 3)


@pytest.mark.parametrize("key", ['\nkey = "job"', "\nrepeated_rows = true"])
def test_a_key_or_the_word_of_the_plan_settles_it(tmp_path, key):
    own = plan(tmp_path, key)
    assert repeated_records(own, Microdata.open(table(), own.schema)) == []


def test_rows_without_a_name_that_are_mostly_alike_are_no_copies(tmp_path):
    """A hundred people of two places and one number of hours are alike by chance."""
    text = PLAN.replace('unit = "worker"\nid = "worker"\nat_most = 9', 'unit = "job"')
    own = plan(tmp_path, text=text)
    rows = pa.table({"place": ["north", "south"] * 50})
    assert repeated_records(own, Microdata.open(rows, own.schema)) == []
    copied = pa.table({"place": ["north"] * 40, "hours": [*range(38), 5, 6]})
    (found,) = repeated_records(own, Microdata.open(copied, own.schema))
    assert found.repeated == 2


def test_check_reports_them(tmp_path):
    (tmp_path / "jobs.toml").write_text(PLAN.replace("KEY", ""), encoding="utf-8")
    pq.write_table(table(), tmp_path / "jobs.parquet")
    words = ("check", tmp_path / "jobs.toml", "--data", tmp_path / "jobs.parquet")
    printed = sfumato(*words)
    assert "2 rows of 6 repeat another row in all 3 columns" in printed
    assert "[data] repeated_rows = true" in printed
    (told,) = json.loads(sfumato(*words, "--json"))["repeated_rows"]
    assert told["repeated"] == 2
