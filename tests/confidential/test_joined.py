"""Rows looked up in other tables: many to one, keys checked, the same numbers as the flat file in every command."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato

from sfumato.cli.agency import check
from sfumato.confidential import Microdata, Options, Tabulation, run
from sfumato.confidential.assessment.assess import assess
from sfumato.confidential.audit import audit_plan
from sfumato.draws import SeededDraws, SystemDraws
from sfumato.errors import DataError, PlanError
from sfumato.plan import Plan
from sfumato.plan.footprint import PER_JOINED

PLAN = """
name = "jobs"
[data]
unit = "job"
[data.tables]
jobs = {}
workers = { on = "worker_id" }
workplaces = { on = "workplace_id" }
[attributes.sex]
levels = ["f", "m"]
of = "worker"
[attributes.county]
levels = ["1", "2", "3"]
of = "establishment"
[attributes.kind]
levels = ["full", "part"]
[hidden]
neighbours = "add-remove"
unit = "worker"
id = "worker_id"
at_most = 2
[limit]
epsilon = "9"
[[measure]]
name = "jobs"
of = "count"
by = ["county", "sex", "kind"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", clip = ["0", "9000"], step = "10" }
by = ["county"]
with = { mechanism = "geometric", epsilon = "1" }
"""


def tables(jobs: int = 3000) -> dict[str, pa.Table]:
    rng = np.random.default_rng(7)
    workers, places = jobs // 2, jobs // 30
    return {
        "jobs": pa.table({
            "worker_id": rng.integers(0, workers, jobs),
            "workplace_id": [f"w{one}" for one in rng.integers(0, places, jobs)],
            "kind": rng.choice(["full", "part"], jobs), "pay": rng.integers(0, 10_000, jobs),
        }),
        "workers": pa.table({"worker_id": rng.permutation(workers), "sex": rng.choice(["f", "m"], workers)}),
        "workplaces": pa.table({
            "workplace_id": [f"w{one}" for one in range(places)], "county": rng.choice(["1", "2", "3"], places)
        }),
    }  # fmt: skip


def plan_of(text: str = PLAN) -> Plan:
    return Plan.parse(text, Path("jobs.toml"))


def cells(sources, engine="", plan=None):
    plan = plan or plan_of()
    tabulation = Tabulation(plan, Microdata.open(sources, plan.schema, engine), SeededDraws(3))
    assert tabulation.read_by.startswith(f"read by the engine {engine}")
    return [tabulation.cells(measure).values.tolist() for measure in plan.measures]


FLAT = PLAN[: PLAN.index("[data.tables]")] + PLAN[PLAN.index("[attributes.sex]") :]


def flat(given):
    return given["jobs"].join(given["workers"], "worker_id").join(given["workplaces"], "workplace_id")


@pytest.mark.parametrize("engine", ["", "duckdb"])
def test_joined_tables_give_the_cells_of_the_flat_file(engine):
    given = tables()
    assert cells(given, engine) == cells(flat(given), "arrays", plan_of(FLAT))


def numbered(given):
    """The same tables with workplaces that are named by numbers, which arrays look up."""
    made = dict(given)
    for name in ("jobs", "workplaces"):
        column = made[name].column_names.index("workplace_id")
        numbers = pa.array([int(one[1:]) - 7 for one in made[name]["workplace_id"].to_pylist()])
        made[name] = made[name].set_column(column, "workplace_id", numbers)
    return made


@pytest.mark.parametrize("at_most", [1, 2])
@pytest.mark.parametrize("named", [numbered, dict], ids=["numbers", "texts"])
def test_arrays_look_rows_up_and_give_the_cells_that_duckdb_gives(named, at_most):
    """What a crowded worker keeps is the same as well."""
    given, plan = named(tables()), plan_of(PLAN.replace("at_most = 2", f"at_most = {at_most}"))
    found = cells(given, "arrays", plan)
    assert found == cells(given, "duckdb", plan)
    assert found == cells(flat(given), "arrays", plan_of(FLAT.replace("at_most = 2", f"at_most = {at_most}")))
    assert sum(sum(sum(kinds) for kinds in sexes) for sexes in found[0]) < 3000


def far_apart(one):
    return one.set_column(0, "worker_id", pc.multiply(one["worker_id"].cast("int64"), 10**9))


def spelt(one):
    """A workplace whose name may be a spelling of another's."""
    names = one["workplace_id"].to_pylist()
    column = one.column_names.index("workplace_id")
    return one.set_column(column, "workplace_id", pa.array([" w0" if name == "w0" else name for name in names]))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            tables() | {name: spelt(tables()[name]) for name in ("jobs", "workplaces")},
            "may be spellings of one another",
        ),
        (tables() | {"workplaces": tables()["workplaces"][1:]}, "some records find no row"),
        (numbered(tables()) | {"workers": tables()["workers"][1:]}, "some records find no row"),
        (tables() | {"workplaces": pa.concat_tables([tables()["workplaces"]] * 2)}, "has a key twice"),
        (tables() | {"workers": far_apart(tables()["workers"])}, "keys of column 'worker_id' lie far apart"),
    ],
    ids=["spelt", "lacking text", "lacking number", "twice", "far apart"],
)
def test_arrays_decline_joined_tables_that_they_are_not_sure_of_and_say_why(given, why):
    plan = plan_of()
    tabulation = Tabulation(plan, Microdata.open(given, plan.schema), SeededDraws(3))
    assert tabulation.read_by.startswith("read by the engine duckdb; arrays declined: ")
    assert why in tabulation.read_by


@pytest.fixture
def folder(tmp_path):
    """The joined plan and its tables, and the same as one flat file."""
    (tmp_path / "jobs.toml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "flat.toml").write_text(FLAT, encoding="utf-8")
    given = tables()
    for name, table in (given | {"flat": flat(given)}).items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    return tmp_path


def both(folder, command, *words):
    """What a command says of the joined tables, and of the flat file."""
    joined = [part for name in tables(60) for part in ("--data", f"{name}={folder / name}.parquet")]
    given = {"jobs": joined, "flat": ["--data", folder / "flat.parquet"]}
    return [sfumato(command, folder / f"{plan}.toml", *data, *words) for plan, data in given.items()]


@pytest.mark.parametrize("of", [(), ("--mean", "pay")])
def test_tabulate_says_the_same_of_joined_tables_as_of_the_flat_file(folder, of):
    one, other = both(folder, "tabulate", "--rows", "county,sex", "--where", "kind=full", *of, "--json")
    assert json.loads(one) == json.loads(other)
    assert json.loads(one)["cells"]


def test_assess_compares_a_release_of_joined_tables_as_one_of_the_flat_file(folder):
    assessed = []
    for name in ("jobs", "flat"):
        plan = Plan.read(folder / f"{name}.toml")
        given = {table: folder / f"{table}.parquet" for table in plan.schema.tables}
        microdata = Microdata.open(given if plan.schema.joined else folder / "flat.parquet", plan.schema)
        run(plan, microdata, None, folder / f"{name} release", Options(rehearsal=5))
        assessed.append(assess(plan, microdata, folder / f"{name} release").numbers["products"])
    one, other = ([product["bounds"] for product in products] for products in assessed)
    assert [bound["rows"] for bound in one] == [bound["rows"] for bound in other] == [3000, 3000]
    assert [product["cells"] for product in assessed[0]] == [12, 3]


def test_an_audit_of_a_plan_with_joined_tables_holds():
    audits = audit_plan(plan_of(), samples=20_000, draws=SeededDraws(2))
    assert {one.measure for one in audits} >= {"jobs", "pay"}
    assert all(one.holds for one in audits)


def test_the_price_counts_what_rows_of_joined_tables_take_beside_their_own():
    joined, alone = (Plan.parse(text, Path("jobs.toml")).memory() for text in (PLAN, FLAT))
    assert joined.bytes == alone.bytes
    assert joined.a_record == alone.a_record + 2 * PER_JOINED


def test_a_plan_with_joined_tables_reads_back_equal_and_runs_from_the_command_line(tmp_path, capsys):
    plan = plan_of()
    assert plan.schema.tables == ("jobs", "workers", "workplaces")
    assert Plan.parse(plan.to_toml(), Path("again.toml")) == plan
    named = []
    for name, table in tables().items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
        named.append(f"{name}={tmp_path / name}.parquet")
    (tmp_path / "jobs.toml").write_text(PLAN, encoding="utf-8")
    check(tmp_path / "jobs.toml", named)
    assert "The data fit the plan" in capsys.readouterr().out
    microdata = Microdata.open({name: tmp_path / f"{name}.parquet" for name in plan.schema.tables}, plan.schema)
    release = run(plan, microdata, None, tmp_path / "release", Options(rehearsal=1))
    assert release.manifest.products[0].name == "jobs"


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"workers": lambda one: pa.concat_tables([one, one[:1]])}, r"'workers.worker_id': some keys stand twice"),
        ({"workers": lambda one: one[1:]}, "'worker_id': some records find no row in workers"),
    ],
)
@pytest.mark.parametrize("engine", ["", "duckdb"])
def test_a_key_that_stands_twice_or_finds_nothing_is_named(spoilt, said, engine):
    given = {name: spoilt.get(name, lambda one: one)(table) for name, table in tables().items()}
    plan = plan_of()
    tabulation = Tabulation(plan, Microdata.open(given, plan.schema, engine), SystemDraws())
    with pytest.raises(DataError, match=said):
        tabulation.refuse_faults()
    assert tabulation.examples(tabulation.faults()[0])


def test_columns_of_two_tables_or_of_none_and_keys_of_two_types_are_refused():
    given, plan = tables(), plan_of()
    twice = given | {"workers": given["workers"].append_column("county", given["workers"]["sex"])}
    with pytest.raises(DataError, match="'county' stands in workers and in workplaces"):
        Tabulation(plan, Microdata.open(twice, plan.schema), SystemDraws())
    lacking = given | {"workers": given["workers"].drop_columns(["sex"])}
    with pytest.raises(
        DataError, match="No table of jobs, workers, workplaces has a column 'sex', which the plan reads"
    ):
        Tabulation(plan, Microdata.open(lacking, plan.schema), SystemDraws())
    typed = given | {
        "workers": given["workers"].set_column(0, "worker_id", given["workers"]["worker_id"].cast("string"))
    }
    with pytest.raises(DataError, match="'worker_id' is of one type in one source"):
        Tabulation(plan, Microdata.open(typed, plan.schema), SystemDraws())


def test_every_table_is_named_once_and_one_holds_the_rows():
    plan = plan_of()
    with pytest.raises(DataError, match="no data were given for 'workplaces'"):
        Microdata.open({"jobs": "a", "workers": "b"}, plan.schema)
    with pytest.raises(DataError, match="joins no table 'worker'; did you mean 'workers'"):
        Microdata.open(dict.fromkeys(["jobs", "worker"], "a"), plan.schema)
    with pytest.raises(PlanError, match="has 2 tables without `on`"):
        plan_of(PLAN.replace('{ on = "worker_id" }', "{}"))
