"""Assessment of a family of tables: every small table and the largest ones, beside what the data say of each."""

from itertools import combinations

import numpy as np
import pyarrow.compute as pc
import pytest
from tests.families import LEAVES, PLAN, family_plan, family_release, family_rows

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import ReportRules, Sweep, assess, laid_out, pairs
from sfumato.errors import PlanError
from sfumato.schema import Attribute, Levels, Schema, UpTo


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return family_release(tmp_path_factory.mktemp("family") / "release")


def assessed(folder, text=PLAN, **more):
    plan = family_plan(text)
    return assess(plan, Microdata.open(family_rows(), plan.schema), folder, **more).numbers


@pytest.fixture(scope="module")
def numbers(folder):
    return {one["name"]: one for one in assessed(folder)["products"]}


def test_every_table_of_one_and_two_variables_and_the_largest_are_looked_at(numbers):
    by = [tuple(one["by"]) for one in numbers["jobs"]["tables"]]
    assert sum(len(one) == 1 for one in by) == 4
    assert sum(len(one) == 2 for one in by) == 6
    assert [one for one in by if len(one) > 2] == [("place", "sex", "age")]
    assert max(len(one["by"]) for one in numbers["pay"]["tables"]) == 2
    # The three go together above the places alone: two parts of the country, two sexes, three ages.
    (largest,) = [one for one in numbers["jobs"]["tables"] if len(one["by"]) == 3]
    assert largest["cells"] == 2 * 2 * 3


def test_differences_are_the_release_less_a_count_of_the_rows(folder, numbers):
    rows, engine, found = family_rows(), sf.open(folder), []
    for sex in "fm":
        for school in "1234":
            both = pc.and_(pc.equal(rows["sex"], sex), pc.equal(rows["school"], school))
            found.append(engine.total({"sex": sex, "school": school}, of="jobs").value - pc.sum(both).as_py())
    (table,) = [one for one in numbers["jobs"]["tables"] if one["by"] == ["sex", "school"]]
    assert table["differences"]["mean_absolute"] == pytest.approx(np.mean(np.abs(found)), rel=1e-12)
    assert table["differences"]["bias"] == pytest.approx(np.mean(found), abs=1e-9)


def test_rows_and_totals_are_counted_once_and_not_once_a_table(numbers):
    rows = family_rows()
    assert numbers["jobs"]["bounds"]["rows"] == numbers["pay"]["bounds"]["rows"] == len(rows)
    assert numbers["pay"]["bounds"]["total"] == pc.sum(rows["pay"]).as_py()
    over = np.maximum(np.array(rows["pay"]) - 60, 0).sum() / pc.sum(rows["pay"]).as_py()
    assert numbers["pay"]["bounds"]["clipped"] == pytest.approx(over, rel=1e-9)
    assert numbers["jobs"]["bounds"]["dropped"] == 0


def test_budgets_that_have_their_numbers_in_other_steps_are_rehearsed_in_those(folder):
    """Numbers that are read in the wrong step are off by half or more in every table."""
    plan = family_plan()
    swept = assessed(folder, sweep=Sweep.read(plan, {"mu": ["0.25", "4"]}, draws=1))["sweep"]["points"]
    assert [point["refused"] for point in swept] == ["", ""]
    small, large = ({one["product"]: one for one in point["utilities"]}["jobs"] for point in swept)
    assert large["relative"] < small["relative"] < 0.2


def test_rehearsals_in_rho_are_scaled_in_rho(tmp_path):
    text = PLAN.replace('mu = "1"', 'rho = "0.5"').replace('mu = "2"', 'rho = "2"')
    folder = family_release(tmp_path / "rho", text)
    swept = assessed(folder, text, sweep=Sweep.read(family_plan(text), {"rho": ["1"]}, draws=1))["sweep"]
    assert not swept["points"][0]["refused"]


def test_stated_errors_are_worked_out_for_every_cell_of_large_tables_too(folder, monkeypatch):
    monkeypatch.setattr(pairs.Pair.table, "__defaults__", (1,))
    for product in assessed(folder)["products"]:
        assert all(part["stated"] == part["cells"] for part in product["by_dimension"])


def test_a_table_that_is_not_held_is_refused_or_said_to_be_none(folder):
    with pytest.raises(PlanError, match="No measure of this plan has all of sex, age, school"):
        ReportRules.read(family_plan(), ["sex,age,school"])
    rules = ReportRules.read(family_plan(), ["place,sex,age"])
    jobs, pay = assessed(folder, rules=rules)["products"]
    assert [one["by"] for one in jobs["tables"]] == [["place", "sex", "age"]]
    assert pay["tables"] == []
    assert pay["left_out"] == ["pay has no table of place, sex, age together."]


def test_a_few_tables_have_all_that_small_ones_are_summed_from():
    """Of 84 tables of three of nine attributes few are chosen, and every pair is in one of them."""
    schema = Schema(tuple(Attribute(name, Levels.of("12")) for name in "abcdefghi"))
    every = UpTo(3, schema.names).family(schema).members
    chosen = laid_out.LaidOut.of(every, [("a", "b", "c")])
    assert len(chosen.tables) < len(every) / 3
    assert all(chosen.holder(pair) is not None for pair in combinations("abcdefghi", 2))
    assert chosen.holder(("a", "b", "c")) is not None
    assert "of its 84 largest tables stand for all" in chosen.unseen()
    values = np.arange(sum(table.size for table in every))
    places = [every.index(table) for table in chosen.tables]
    assert chosen.taken(values).tolist() == [8 * place + cell for place in places for cell in range(8)]
    assert laid_out.LaidOut.of(every[:1]).unseen() == ""


@pytest.mark.parametrize(
    "other", [('"age", "school"] }\n', '"age"] }\n'), ("up_to = 2", "up_to = 3"), (", also = [", ", also = [] } #")]
)
def test_a_release_of_another_family_is_refused(folder, other):
    with pytest.raises(sf.SfumatoError, match="assess it by its own plan"):
        assessed(folder, PLAN.replace(*other))


SURVEY = (
    'sampling = "none is stated"\n' + PLAN[: PLAN.index("[[measure]]")] + PLAN[PLAN.rindex("[[measure]]") :]
).replace('column = "pay", clip = ["0", "60"]', 'column = "w", clip = ["0", "2"]')
DESIGN = (
    'unit = "job"\nweight = "w"\nweight_kind = "base"\n'
    'replicates = "r{0..9}"\nmethod = { method = "bootstrap", scale = "1/10" }\n'
)


def test_sampling_errors_of_each_table_are_those_of_its_replicates(tmp_path):
    rng, rows = np.random.default_rng(3), family_rows(400)
    weights = 2 * rng.integers(0, 2, (10, len(rows)))
    for place, replicate in enumerate([*weights, np.ones(len(rows), dtype=np.int64)]):
        rows = rows.append_column("w" if place == 10 else f"r{place}", [replicate])
    plan = family_plan(SURVEY.replace('unit = "job"\n', DESIGN, 1))
    microdata = Microdata.open(rows, plan.schema)
    run(plan, microdata, None, tmp_path / "release", Options(rehearsal=1))
    (product,) = assess(plan, microdata, tmp_path / "release").numbers["products"]
    cells = [np.array(rows[name]) == code for name, leaves in LEAVES.items() for code in leaves.split()]
    variances = [np.mean([(weight[cell].sum() - cell.sum()) ** 2 for weight in weights]) for cell in cells]
    assert product["by_dimension"][0]["errors"]["sampling"] == pytest.approx(np.median(np.sqrt(variances)), rel=1e-12)
