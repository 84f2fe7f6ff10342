"""A plan over 10^9 cells runs, answers and is audited; nothing as long as its table is ever made."""

import json
import subprocess
import sys
from dataclasses import replace

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
from sfumato.privacy import AddRemove, Approximate
from sfumato.query import Group, QueryEngine
from sfumato.query.engine import open_folder
from sfumato.release import Cube, Sparse
from sfumato.schema import Attribute, Levels, Rule, Schema
from sfumato.statistics import Count, Total

SIZES = {"state": 50, "occupation": 500, "industry": 400, "sex": 2, "age": 10, "education": 5}


def peak_of(folder, *more: str) -> int:
    """The most bytes that a run held; what the system tells a parent would begin with the parent's own."""
    program = "from sfumato.cli import main\ntry: main()\nexcept SystemExit as end: assert not end.code\n"
    program += "print('held', open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    words = ["run", "plan.toml", "--data", "people.parquet", "--rehearsal", "5", "--out", "release", *more]
    asked = [sys.executable, "-c", program, *words]
    told = subprocess.run(asked, check=True, capture_output=True, cwd=folder, text=True).stdout
    return 1024 * int(told.split("held")[1])


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
    assert peak_of(tmp_path, "--json") < 2**30
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
        leaves = zip(*(product.domain.leaves_at(product.places, one).tolist() for one in SIZES), strict=True)
        assert dict(zip(leaves, product.values.tolist(), strict=True)) == truth


def test_the_door_of_sparse_tables_is_audited():
    plan = plan_of("7")
    audits = audit_plan(plan, samples=20_000, draws=SeededDraws(3))
    assert audits
    assert all(one.holds for one in audits)


def test_what_a_sparse_table_cannot_do_is_said_before_anything_is_charged(tmp_path):
    with pytest.raises(PlanError, match=r"changes about 537,882,843; 200,000,000 can be listed.*more budget"):
        plan_of("1").price()
    with pytest.raises(PlanError, match=r"geometric \(epsilon 0.4148\) changes about .* can be listed"):
        plan_of("7").budget({"persons": "5"})  # 2 a^6 / (1 + a) is 0.1 at a = exp(-0.4148): no short list
    from sfumato.calibrate import Rake

    states = Measure("states", Count(), ("state",), Geometric(1))
    with pytest.raises(PlanError, match=r"'raked' lays out its tables.*1,000,000,000 cells"):
        plan_of("7", states, then=(Rake("raked", "persons", ("states",)),))
    with pytest.raises(PlanError, match="more than the 200,000,000 that fit"):
        assess(plan_of("7"), Microdata.open(tmp_path / "none.parquet", plan_of().schema), tmp_path)


def test_memory_is_stated_for_what_is_listed_and_a_plan_that_does_not_fit_names_its_attributes():
    said = plan_of().memory().words()
    assert said.startswith(
        "about 1,822,103 listed cells: about 0.3 GB of memory, and "
    )  # 10^9 x 2a / (1 + a), a = e^-7
    with pytest.raises(PlanError, match=r"this machine has 0.1 GB; the largest is 'persons' by state \(50\) ×"):
        plan_of().memory().refuse_over(10**8)


@pytest.mark.parametrize("occupied", [True, False], ids=["records alone are noisy", "records are not noisy"])
def test_an_audit_of_a_plan_catches_a_sparse_door_that_some_cells_do_not_pass(monkeypatch, occupied):
    """Without any other record in the unit's cell, so that it is listed by what the unit adds, or by noise."""
    from sfumato.mechanisms import additive

    sound = additive.scattered

    def door(cells, law, draws):
        places, values = sound(cells, law, draws)
        if occupied:
            listed = np.isin(places, cells.places)
            return places[listed], values[listed]
        values[np.isin(places, cells.places)] = cells.values[np.isin(cells.places, places)]
        return places, values

    monkeypatch.setattr(additive, "scattered", door)
    audits = audit_plan(plan_of("3"), samples=20_000, draws=SeededDraws(3))
    assert any(not one.holds for one in audits)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "epsilon", "rows"),
    [((100, 100, 1000), "1", 10**5), ((1000, 1000, 1000), "5", 10**5), ((1000, 1000, 1000), "7", 3 * 10**6)],
    ids=["laid out", "listed by noise", "listed by records"],
)
def test_the_memory_that_is_stated_is_what_a_run_takes(tmp_path, sizes, epsilon, rows):
    """In a process of its own, within 30% of what the system says that it took at most."""
    rng = np.random.default_rng(1)
    named = {f"a{place}": size for place, size in enumerate(sizes)}
    pq.write_table(
        pa.table({name: rng.integers(0, size, rows).astype(np.int16) for name, size in named.items()}),
        tmp_path / "people.parquet",
    )
    schema = Schema(tuple(Attribute(name, Levels.of(range(size))) for name, size in named.items()), unit="person")
    plan = Plan("wide", schema, AddRemove("person"), Approximate(9), (Measure("n", Count(), tuple(named), Geometric(epsilon)),))  # fmt: skip  # noqa: E501
    (tmp_path / "plan.toml").write_text(plan.to_toml(), encoding="utf-8")
    said = plan.memory()
    took = peak_of(tmp_path)
    assert 0.7 < took / (said.bytes + said.a_record * rows) < 1.3


def twins(tmp_path, monkeypatch):
    """A small release published as a sparse one, and its numbers laid out: with a universe, a rule and a step."""
    sizes, rng = {"state": 7, "job": 9, "sex": 2, "age": 5}, np.random.default_rng(3)
    jobs = [{"code": "low"}, {"code": "high"}, *({"code": f"j{n}", "parent": ("low", "high")[n % 2]} for n in range(9))]
    levels = {name: Levels.of(jobs) if name == "job" else Levels.of(range(size)) for name, size in sizes.items()}
    rule = Rule.of({"sex": "1", "age": ["0", "4"]})
    schema = Schema(tuple(Attribute(name, one) for name, one in levels.items()), unit="person", impossible=(rule,))
    hours = Measure("hours", Total("hours", clip=(-20, 20), step="0.5"), tuple(sizes), Geometric(90), where={"state": ("1", "2", "5")})  # fmt: skip  # noqa: E501
    measures = (Measure("persons", Count(), tuple(sizes), Geometric(2)), hours)
    plan = Plan("twin", schema, AddRemove("person"), Approximate(3000), measures)
    columns = {name: rng.integers(0, size, 300) for name, size in sizes.items()}
    columns["job"] = np.array([f"j{n}" for n in columns["job"]])
    columns["age"] = np.where(columns["sex"] == 1, 2, columns["age"])
    pq.write_table(pa.table(columns | {"hours": rng.normal(0, 12, 300)}), tmp_path / "people.parquet")
    monkeypatch.setattr("sfumato.schema.table.LARGEST", 50)
    release = run(plan, Microdata.open(tmp_path / "people.parquet", schema), None, tmp_path / "r", Options(7))
    laid = {}
    for name, product in release.products.items():
        assert isinstance(product, Sparse)
        values = np.zeros(product.domain.size, dtype=np.int64)
        values[product.places] = product.values
        values = values.reshape(product.domain.shape)
        laid[name] = Cube(product.subject, product.domain, values, product.uncertainty)
    return QueryEngine(release), QueryEngine(replace(release, products=laid))


ASKED = [
    {"rows": "state"},
    {"rows": ["state", "age"], "cols": "sex"},
    {"rows": "job", "at": {"job": "all"}, "cols": "state", "where": {"sex": ["1"], "age": ["1", "2", "4"]}},
    {"rows": "state", "at": {"state": [Group("a", ("1", "2")), Group("b", ("2", "5")), "5"]}, "where": {"job": "low"}},
    {"rows": ["age", "job", "sex"], "cols": "state"},
]


@pytest.mark.parametrize("margins", [0, 2**24], ids=["from the list", "from margins"])
def test_whatever_is_asked_is_answered_as_if_the_table_were_laid_out(tmp_path, monkeypatch, margins):
    monkeypatch.setattr("sfumato.release.products.sparse.LARGEST_MARGIN", margins)
    sparse, dense = twins(tmp_path, monkeypatch)
    for of in ("persons", "hours"):
        for asked in ASKED:
            one, other = (engine.table(of=of, **asked) for engine in (sparse, dense))
            assert one.to_jsonstat() == other.to_jsonstat()
            keys = [key for key, _ in other.items()]
            assert keys == [key for key, _ in one.items()]
            assert [repr(one.shares().at(one.place(key))) for key in keys[::7]] == [
                repr(other.shares().at(other.place(key))) for key in keys[::7]
            ]
            assert repr(one.detail(keys[-1])) == repr(other.detail(keys[-1]))
            assert repr(one.compare(keys[0], keys[-1])) == repr(other.compare(keys[0], keys[-1]))
            if len(one.axes) == 1:
                assert one.ranks() == other.ranks()
    means = [engine.mean("hours", {"state": "2", "sex": "1"}, per="persons") for engine in (sparse, dense)]
    assert repr(means[0]) == repr(means[1])
