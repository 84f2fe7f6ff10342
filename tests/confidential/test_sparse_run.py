"""A plan over 10^9 cells runs, answers and is audited; nothing as long as its table is ever made."""

import json
import resource
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import assess
from sfumato.confidential.audit import audit_plan
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError
from sfumato.mechanisms import Geometric
from sfumato.plan import Measure, Plan
from sfumato.plan.memory import expected
from sfumato.privacy import AddRemove, Approximate
from sfumato.query.engine import open_folder
from sfumato.schema import Attribute, Levels, Schema
from sfumato.statistics import Count, Total

SIZES = {"state": 50, "occupation": 500, "industry": 400, "sex": 2, "age": 10, "education": 5}


def plan_of(epsilon: str = "7", *more: Measure, then=()) -> Plan:
    schema = Schema(tuple(Attribute(name, Levels.of(range(size))) for name, size in SIZES.items()), unit="person")
    measures = (Measure("persons", Count(), tuple(SIZES), Geometric(epsilon)), *more)
    return Plan("wide", schema, AddRemove("person"), Approximate(3000), measures, then=then)


def people(path, rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    columns = {name: (size * rng.random(rows) ** 2).astype(np.int16) for name, size in SIZES.items()}
    columns["hours"] = rng.integers(0, 40, rows).astype(np.int16)
    pq.write_table(pa.table(columns), path)
    return columns


def test_a_billion_cells_are_published_in_little_memory(tmp_path):
    """In a process of its own: 10^9 numbers would take 8 GB, and the run holds less than one."""
    columns = people(tmp_path / "people.parquet", 100_000)
    (tmp_path / "plan.toml").write_text(plan_of().to_toml(), encoding="utf-8")
    words = ["run", "plan.toml", "--data", "people.parquet", "--rehearsal", "5", "--out", "release", "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    asked = [sys.executable, "-c", "from sfumato.cli import main; main()", *words]
    subprocess.run(asked, check=True, capture_output=True, cwd=tmp_path)
    assert max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) < 2**20  # KiB, so 1 GiB
    line = json.loads((tmp_path / "release" / "manifest.json").read_text())["products"][0]
    assert line["kind"] == "sparse"
    table = open_folder(tmp_path / "release").table(rows=["sex", "age"])
    truth = np.zeros((2, 10))
    np.add.at(truth, (columns["sex"], columns["age"]), 1)
    # Each total has the noise of 5 x 10^7 cells, 2a / (1 - a)^2 each with a = e^-7; one false alarm in 10^6.
    error = np.sqrt(5e7 * 2 * np.exp(-7) / (1 - np.exp(-7)) ** 2)
    found = np.array([one.value for _, one in table.items()]).reshape(2, 10)
    assert (np.abs(found - truth) < 5.5 * error).all()
    assert (found != truth).any()


def test_sums_of_a_sparse_table_are_those_of_the_records(tmp_path):
    """With hardly any noise the listed cells are the records' own: a GROUP BY of another engine gives the same."""
    import duckdb

    people(tmp_path / "people.parquet", 20_000)
    hours = Measure("hours", Total("hours", clip=(0, 20), step=1), tuple(SIZES), Geometric(2000))
    plan = plan_of("100", hours)
    release = run(plan, Microdata.open(tmp_path / "people.parquet", plan.schema), None, tmp_path / "r", Options(7))
    for name, asked in {"persons": "count(*)", "hours": "sum(least(hours, 20))"}.items():
        names = ", ".join(SIZES)
        query = f"SELECT {names}, {asked}::BIGINT AS n FROM '{tmp_path}/people.parquet' GROUP BY ALL HAVING n <> 0"
        truth = {row[:-1]: row[-1] for row in duckdb.connect().execute(query).fetchall()}
        product = release.products[name]
        leaves = zip(*(product.table.leaves_at(product.places, one).tolist() for one in SIZES), strict=True)
        assert dict(zip(leaves, product.values.tolist(), strict=True)) == truth


def test_the_door_of_sparse_tables_is_audited():
    plan = plan_of("7")
    audits = audit_plan(plan, samples=20_000, draws=SeededDraws(3))
    assert audits
    assert all(one.holds for one in audits)


def test_what_a_sparse_table_cannot_do_is_said_before_anything_is_charged(tmp_path):
    with pytest.raises(PlanError, match=r"changes about 537,882,843; 200,000,000 can be listed.*more budget"):
        plan_of("1").price()
    from sfumato.calibrate import Rake

    states = Measure("states", Count(), ("state",), Geometric(1))
    with pytest.raises(PlanError, match=r"'raked' lays out its tables.*1,000,000,000 cells"):
        plan_of("7", states, then=(Rake("raked", "persons", ("states",)),))
    with pytest.raises(PlanError, match="more than the 200,000,000 that fit"):
        assess(plan_of("7"), Microdata.open(tmp_path / "none.parquet", plan_of().schema), tmp_path)


def test_memory_is_stated_for_what_is_listed_and_a_plan_that_does_not_fit_names_its_attributes():
    from sfumato.plan.memory import refuse_over

    said = expected(plan_of()).words()
    assert said.startswith(
        "about 1,822,103 listed cells: about 0.3 GB of memory, and "
    )  # 10^9 x 2a / (1 + a), a = e^-7
    with pytest.raises(PlanError, match=r"this machine has 0.1 GB; the largest is 'persons' by state \(50\) ×"):
        refuse_over(plan_of(), limit=10**8)
