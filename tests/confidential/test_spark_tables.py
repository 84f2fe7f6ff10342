"""Joined tables and reports to a frame, in a cluster: the cells, the faults and the words of the other engines."""

from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato
from tests.confidential import test_framed, test_joined
from tests.confidential.test_spark import same_release

from sfumato.confidential import Microdata, Tabulation
from sfumato.confidential.engines.cluster import joins
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.draws import SeededDraws
from sfumato.errors import DataError


def told(plan, sources, engine):
    """What an engine says of data: all cells, or the faults with examples and counts, or why it does not read them."""
    try:
        with closing(Tabulation(plan, Microdata.open(sources, plan.schema, engine), SeededDraws(3))) as read:
            faults = [(str(one), read.examples(one), read.broken(one)) for one in read.faults()]
            return faults or [read.cells(measure).values.tolist() for measure in plan.measures]
    except DataError as refusal:
        return str(refusal)


def alike(spark, folder, plan, tables, engine="spark"):
    """The same said of tables here and in a cluster: whether it was cells."""
    places = {}
    for name, rows in tables.items():
        parts = rows if isinstance(rows, list) else [rows]
        places[name] = [folder / f"{name or 'rows'}{part}.parquet" for part in range(len(parts))]
        for part, place in zip(parts, places[name], strict=True):
            pq.write_table(part, place)
    address = Address.parse(spark)
    there = {name: [ClusterTable(address, str(place)) for place in own] for name, own in places.items()}
    near, far = (one if plan.schema.joined else one[""] for one in (places, there))
    here = told(plan, near, "duckdb")
    assert told(plan, far, engine) == here
    return here


def respelt(rows, names):
    """Workplaces under other names."""
    column = rows.column_names.index("workplace_id")
    made = [names.get(one, one) for one in rows["workplace_id"].to_pylist()]
    return rows.set_column(column, "workplace_id", pa.array(made, pa.string()))


@pytest.mark.slow
def test_rows_are_looked_up_in_a_cluster_as_here(spark, tmp_path):
    given, plan = test_joined.tables(300), test_joined.plan_of()
    halves = {name: [rows.slice(0, len(rows) // 2), rows.slice(len(rows) // 2)] for name, rows in given.items()}
    parted = test_joined.plan_of(test_joined.PLAN.replace("[data.tables]", "repeated_rows = true\n[data.tables]"))
    for tables, of in ((given, plan), (test_joined.numbered(given), plan), (halves, parted)):
        found = alike(spark, tmp_path, of, tables)
        assert 200 < np.sum(found[0]) < 300, "of a worker with three jobs two are kept"


SPOILT = {
    "a worker twice": {"workers": lambda one: pa.concat_tables([one, one[:1], one[:2]])},
    "jobs without their worker": {"workers": lambda one: one[9:]},
    "a workplace without a name": {"workplaces": lambda one: respelt(one, {"w3": " "})},
    "jobs that name no workplace": {"jobs": lambda one: respelt(one, {"w3": None, "w4": ""})},
    "a workplace in two spellings": {"jobs": lambda one: respelt(one, {"w3": "w3 ", "w4": "\uff574"})},
    "all of it": {
        "jobs": lambda one: respelt(one, {"w3": " w3", "w1": "w1\u200b", "w5": None}),
        "workplaces": lambda one: respelt(pa.concat_tables([one[1:], one[2:4]]), {"w3": "w03", "w6": "w6\t"}),
        "workers": lambda one: pa.concat_tables([one[:50], one[:1]]),
    },
}


@pytest.mark.slow
def test_keys_that_stand_twice_or_find_nothing_are_named_in_the_same_words(spark, tmp_path):
    plan, given = test_joined.plan_of(), test_joined.tables(300)
    said = []
    for spoilt in SPOILT.values():
        found = alike(
            spark, tmp_path, plan, {name: spoilt.get(name, lambda own: own)(one) for name, one in given.items()}
        )
        said += [fault for fault, _, rows in found if rows]
    for rule in ("stand twice or are missing", "find no row in workers", "find no row in workplaces", "differ only in"):
        assert any(rule in one for one in said), rule


@pytest.mark.slow
def test_columns_that_stand_in_two_tables_or_in_none_are_refused_in_the_same_words(spark, tmp_path):
    plan, given = test_joined.plan_of(), test_joined.tables(60)
    texts = given["workers"].set_column(0, "worker_id", given["workers"]["worker_id"].cast("string"))
    for workers in (
        given["workers"].append_column("county", given["workers"]["sex"]),
        given["workers"].drop(["sex"]),
        texts,
    ):
        assert isinstance(alike(spark, tmp_path, plan, given | {"workers": workers}), str)


@pytest.mark.slow
def test_without_the_rule_a_key_that_stands_twice_would_be_found_by_the_comparison(spark, tmp_path, monkeypatch):
    """The arm that fails: a worker that stands twice doubles the jobs that find two rows."""
    monkeypatch.setattr(joins.ClusterJoins, "_broken", lambda *_: {})
    given = test_joined.tables(60)
    with pytest.raises(AssertionError):
        alike(spark, tmp_path, test_joined.plan_of(), given | {"workers": pa.concat_tables([given["workers"]] * 2)})


@pytest.mark.slow
def test_a_rehearsal_of_joined_tables_is_the_same_here_and_in_a_cluster(spark, tmp_path):
    (tmp_path / "jobs.toml").write_text(test_joined.PLAN, encoding="utf-8")
    data = []
    for name, rows in test_joined.tables(300).items():
        pq.write_table(rows, tmp_path / f"{name}.parquet")
        data += ["--data", f"{name}={tmp_path / name}.parquet"]
    asked = ["run", tmp_path / "jobs.toml", *data, "--rehearsal", 7, "--out"]
    sfumato(*asked, tmp_path / "here")
    sfumato(*asked, tmp_path / "there", "--spark", spark)
    same_release(tmp_path / "here", tmp_path / "there")


@pytest.mark.slow
def test_reports_to_a_frame_are_read_from_a_cluster_one_row_a_unit(spark, tmp_path):
    pq.write_table(test_framed.frame_table(), tmp_path / "frame.parquet")
    plan, reports = test_framed.plan_in(tmp_path), test_framed.reports()
    half = {name: column[:30] for name, column in reports.items()}
    rest = {name: column[30:] for name, column in reports.items()}
    found = alike(spark, tmp_path, plan, {"": [pa.table(half), pa.table(rest)]}, "")
    assert found[0] == reports["m1emp"]
    assert alike(spark, tmp_path, plan, {"": pa.table(half)}, "spark-reports")[0] == [*half["m1emp"], *[0] * 30]
    for rule, broken in test_framed.FAULTS.items():
        faults = alike(spark, tmp_path, plan, {"": pa.table(broken)}, "")
        assert any(rule in fault and rows for fault, _, rows in faults)
