"""Assessment of whole releases: the truth that it compares with, and its honesty with a negative arm."""

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import ReportRules, assess
from sfumato.errors import PlanError, ReleaseError
from sfumato.plan import Plan
from sfumato.release import Manifest, open_release


def plan_of(text: str) -> sf.Plan:
    return Plan.parse(text, Path("plan.toml"))


def rehearsed(plan: sf.Plan, rows: pa.Table, folder: Path, seed: int = 7) -> Path:
    run(plan, Microdata.open(rows, plan.schema), None, folder, Options(rehearsal=seed))
    return folder


def assessed(plan: sf.Plan, rows: pa.Table, folder: Path, **more):
    return assess(plan, Microdata.open(rows, plan.schema), folder, **more)


def part(numbers: dict, product: str, dimension: int) -> dict:
    (found,) = [one for one in numbers["products"] if one["name"] == product]
    return next(one for one in found["by_dimension"] if one["dimension"] == dimension)


@pytest.fixture
def small(small_plan, make_release):
    folder = make_release()
    return folder, assessed(small_plan, small_rows(), folder).numbers


def test_one_way_differences_are_the_release_less_a_count_of_the_rows(small_plan, small):
    folder, numbers = small
    rows, found = small_rows(), []
    engine = sf.open(folder)
    for name, codes in {"trade": ["11", "12", "21", "22"], "place": ["north", "south", "east"]}.items():
        found += [engine.total({name: code}).value - pc.sum(pc.equal(rows[name], code)).as_py() for code in codes]
    for low, high in ((16, 25), (25, 65), (65, 999)):
        inside = pc.and_(pc.greater_equal(rows["age"], low), pc.less(rows["age"], high))
        band = {16: "16-24", 25: "25-64", 65: "65+"}[low]
        found.append(engine.total({"age": band}).value - pc.sum(inside).as_py())
    assert part(numbers, "jobs", 1)["differences"]["mean_absolute"] == pytest.approx(np.mean(np.abs(found)), rel=1e-12)
    assert part(numbers, "jobs", 1)["differences"]["bias"] == pytest.approx(np.mean(found), rel=1e-9)


def test_all_small_margins_and_the_product_itself_are_looked_at(small):
    _, numbers = small
    jobs = numbers["products"][0]
    assert [one["by"] for one in jobs["tables"]] == [
        ["trade"], ["place"], ["age"], ["trade", "place"], ["trade", "age"], ["place", "age"], ["trade", "place", "age"]
    ]  # fmt: skip
    assert [one["cells"] for one in jobs["tables"]] == [4, 3, 3, 12, 11, 9, 33], "impossible cells are no cells"


def test_what_the_clip_took_is_the_true_total_less_the_clipped_one(small):
    _, numbers = small
    pay = small_rows()["pay"].to_numpy()
    clipped = np.floor(np.minimum(pay, 1000) / 10 + 0.5) * 10
    bounds = numbers["products"][1]["bounds"]
    assert bounds["total"] == pay.sum()
    assert bounds["clipped"] == pytest.approx((pay.sum() - clipped.sum()) / pay.sum(), rel=1e-12)
    assert (bounds["rows"], bounds["dropped"]) == (4000, 0)


def test_rows_beyond_at_most_are_counted(tmp_path):
    plan = plan_of(SMALL.replace('unit = "job"\n[limit]', 'unit = "firm"\nid = "firm"\nat_most = 3\n[limit]'))
    firm = np.repeat(np.arange(800), 5)  # 5 rows each, of which 3 stay
    rows = small_rows().append_column("firm", pa.array(firm))
    numbers = assessed(plan, rows, rehearsed(plan, rows, tmp_path / "r")).numbers
    bounds = numbers["products"][0]["bounds"]
    assert (bounds["rows"], bounds["dropped"]) == (4000, 1600)
    assert bounds["left_out"] == pytest.approx(0.4)


@pytest.mark.parametrize(("at_most", "known"), [(3, False), (5, True)])
def test_margins_are_not_held_against_rows_of_another_draw(tmp_path, at_most, known):
    """Of 5 rows a firm 3 stay, drawn by the run: honest margins seldom hold the cells of another draw."""
    plan = plan_of(SMALL.replace('unit = "job"\n[limit]', f'unit = "firm"\nid = "firm"\nat_most = {at_most}\n[limit]'))
    rows = small_rows().append_column("firm", pa.array(np.repeat(np.arange(800), 5)))
    found = assessed(plan, rows, rehearsed(plan, rows, tmp_path / "r"))
    told = [part["honesty"] for one in found.numbers["products"] for part in one["by_dimension"]]
    told += [one["honesty"] for one in found.numbers["means"]]
    assert {one["held"] is not None for one in told} == {known}
    assert {one["squared"] is not None for one in told} == {known}
    assert ("hold what they speak of" in found.to_html()) == known


GRID = """
name = "grid"
[data]
unit = "job"
repeated_rows = true
[attributes.row]
bands = [{edges}]
[attributes.column]
levels = {columns}
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "1"
[[measure]]
name = "jobs"
of = "count"
by = ["row", "column"]
with = {{ mechanism = "geometric", epsilon = "0.2" }}
"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A release of 4,000 cells with independent noise, and the same with half its variance stated."""
    folder = tmp_path_factory.mktemp("grid")
    columns = [f"c{place}" for place in range(50)]
    plan = plan_of(GRID.format(edges=", ".join(map(str, range(80))), columns=json.dumps(columns)))
    rng = np.random.default_rng(5)
    rows = pa.table({"row": rng.integers(0, 80, 3000), "column": rng.choice(columns, 3000).tolist()})
    honest = rehearsed(plan, rows, folder / "honest", seed=11)
    halved = rehearsed(plan, rows, folder / "halved", seed=11)
    manifest = Manifest.from_bytes((halved / "manifest.json").read_bytes())
    line = manifest.products[0]
    line = line.model_copy(
        update={"uncertainty": {"kind": "independent", "variance": line.uncertainty["variance"] / 2}}
    )
    (halved / "manifest.json").write_bytes(manifest.model_copy(update={"products": [line]}).to_bytes())
    return plan, rows, honest, halved


def expected_coverage(scale: float = 1.0) -> float:
    """P(|K| <= z sqrt(scale V)) of two-sided geometric noise at epsilon 0.2, in closed form."""
    a = math.exp(-0.2)
    reach = math.floor(1.6448536 * math.sqrt(scale * 2 * a / (1 - a) ** 2))
    return 1 - 2 * a ** (reach + 1) / (1 + a)


def test_nine_in_ten_margins_of_an_honest_release_hold_the_truth(grid):
    plan, rows, honest, _ = grid
    found = part(assessed(plan, rows, honest).numbers, "jobs", 2)["honesty"]
    expected = expected_coverage()
    assert 0.88 < expected < 0.92
    # 4,000 independent cells; 6.1 standard deviations are a false alarm in 1e9.
    assert abs(found["held"] - expected) < 6.1 * math.sqrt(expected * (1 - expected) / 4000)
    assert found["held"] == found["truth"]
    assert found["squared"] == pytest.approx(1, abs=0.25)


def test_half_the_variance_stated_is_found_out(grid):
    plan, rows, honest, halved = grid
    found = part(assessed(plan, rows, halved).numbers, "jobs", 2)["honesty"]
    true = part(assessed(plan, rows, honest).numbers, "jobs", 2)["honesty"]
    expected = expected_coverage(0.5)
    assert abs(found["held"] - expected) < 6.1 * math.sqrt(expected * (1 - expected) / 4000)
    assert found["held"] < expected_coverage() - 6.1 * math.sqrt(0.09 / 4000)
    assert found["squared"] == pytest.approx(2 * true["squared"])


CALIBRATED = (
    SMALL.replace('epsilon = "2"', 'epsilon = "4"')
    + """
[[measure]]
name = "by_trade"
of = "count"
by = ["trade"]
with = { mechanism = "geometric", epsilon = "1" }
[[then]]
step = "least-squares"
name = "fitted"
table = "jobs"
to = ["by_trade"]
"""
)


def test_a_calibrated_product_is_compared_with_the_truth_of_its_cube(tmp_path):
    plan = plan_of(CALIBRATED)
    folder = rehearsed(plan, small_rows(), tmp_path / "r")
    numbers = assessed(plan, small_rows(), folder).numbers
    found = {one["name"]: one for one in numbers["products"]}
    assert set(found) == {"fitted", "pay"}, "the cube that was calibrated does not answer"
    product = open_release(folder).products["fitted"]
    table = next(one for one in found["fitted"]["tables"] if one["by"] == ["place"])
    true = [small_rows()["place"].to_pylist().count(code) for code in ("north", "south", "east")]
    said = [sf.open(folder).total({"place": code}, of="fitted").value for code in ("north", "south", "east")]
    assert product.subject.step < 1
    assert table["differences"]["mean_absolute"] == pytest.approx(np.mean(np.abs(np.subtract(said, true))))
    assert found["fitted"]["left_out"] == []


def test_stated_errors_of_a_large_calibrated_table_are_worked_out_for_a_part_and_that_is_said(tmp_path, monkeypatch):
    from sfumato.confidential.assessment import pairs

    plan = plan_of(CALIBRATED)
    folder = rehearsed(plan, small_rows(), tmp_path / "r")
    monkeypatch.setattr(pairs.Pair.table, "__defaults__", (5,))
    numbers = assessed(plan, small_rows(), folder).numbers
    assert part(numbers, "fitted", 3)["stated"] <= 5
    assert part(numbers, "fitted", 3)["cells"] == 33
    (fitted,) = [one for one in numbers["products"] if one["name"] == "fitted"]
    assert any("stand for all 33" in sentence for sentence in fitted["left_out"])


def test_a_universe_is_the_truth_of_its_records_alone(tmp_path):
    within = SMALL.replace('name = "jobs"\n', 'name = "jobs"\nwhere = { place = "north" }\n')
    plan = plan_of(within.replace('by = ["trade", "place", "age"]', 'by = ["trade", "age"]', 1))
    numbers = assessed(plan, small_rows(), rehearsed(plan, small_rows(), tmp_path / "r")).numbers
    assert numbers["products"][0]["bounds"]["rows"] == small_rows()["place"].to_pylist().count("north")


def test_a_release_of_another_plan_is_refused(small_plan, make_release):
    folder = make_release()
    other = plan_of(SMALL.replace('levels = ["north", "south", "east"]', 'levels = ["north", "south", "east", "west"]'))
    with pytest.raises(ReleaseError, match="not what this plan measures"):
        assessed(other, small_rows(), folder)
    renamed = plan_of(SMALL.replace('name = "jobs"', 'name = "posts"'))
    with pytest.raises(ReleaseError, match="does not make"):
        assessed(renamed, small_rows(), folder)


def test_tables_asked_for_are_the_only_ones(small_plan, make_release):
    rules = ReportRules.read(small_plan, ["place,trade"])
    numbers = assessed(small_plan, small_rows(), make_release(), rules=rules).numbers
    assert [one["by"] for one in numbers["products"][0]["tables"]] == [["place", "trade"]]
    with pytest.raises(PlanError, match="did you mean 'trade'"):
        ReportRules.read(small_plan, ["trad"])


def test_an_assessment_shows_nothing_and_stays_in_its_process(small_plan, make_release):
    found = assessed(small_plan, small_rows(), make_release())
    assert repr(found) == "<Assessment: confidential>"
    with pytest.raises(TypeError, match="confidential"):
        pickle.dumps(found)
