"""Records: totals are sums of rows, and errors of a whole table are those of its boxes, one by one or in matrices."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.grids import wholes

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan
from sfumato.release.uncertainties import adjusted
from sfumato.schema import Box, Grid

PLAN = """
name = "census"
title = "Employment"
[data]
unit = "establishment"
[frame]
file = "frame.parquet"
id = "id"
[attributes.naics]
levels = [
  { code = "1" }, { code = "2" }, { code = "11", parent = "1" }, { code = "12", parent = "1" },
  { code = "21", parent = "2" }, { code = "111", parent = "11" }, { code = "112", parent = "11" },
  { code = "121", parent = "12" }, { code = "211", parent = "21" }, { code = "212", parent = "21" },
]
[attributes.county]
levels = ["a", "b", "c"]
[attributes.owner]
levels = ["public", "private"]
[hidden]
neighbours = "square-root-within"
unit = "establishment"
id = "id"
beta = { jobs = "0.5" }
[limit]
mu = "3"
[[measure]]
name = "rows"
of = { statistic = "total", column = "jobs", unit = "jobs" }
by = ["establishment"]
with = { mechanism = "square-root", mu = "0.7" }
MEASURES
[[then]]
step = "protected-microdata"
name = "jobs"
table = "rows"
to = [NAMES]
[[exposure]]
kind = "assumed known"
what = "the frame"
why = "registers are public"
"""
GROUP = """
[[measure]]
name = "{name}"
of = {{ statistic = "total", column = "jobs", unit = "jobs" }}
by = {by}
with = {{ mechanism = "clipped-total", mu = "{mu}" }}
given = ["rows"]
"""
SETS = {
    "crossed": {"all": [], "county": ["county"], "branch": ["naics@1"], "both": ["county", "naics@1"]},
    "no finest": {"county": ["county"], "branch": ["naics@1"]},
    "finest alone": {"both": ["county", "naics@1"]},
}
COUNT = 160


def made(folder, sets):
    rng = np.random.default_rng(4)
    codes = {"naics": ["111", "112", "121", "211", "212"], "county": ["a", "b", "c"], "owner": ["public", "private"]}
    ids = [f"e{one}" for one in range(COUNT)]
    pq.write_table(
        pa.table({"id": ids} | {name: rng.choice(one, COUNT) for name, one in codes.items()}), folder / "frame.parquet"
    )
    measures = "".join(GROUP.format(name=name, by=by, mu="0.6") for name, by in sets.items())
    text = PLAN.replace("MEASURES", measures).replace("NAMES", ", ".join(f'"{name}"' for name in sets))
    plan = Plan.parse(text, folder / "plan.toml")
    jobs = np.floor(rng.lognormal(2, 1.2, COUNT)).astype(np.int64)
    run(
        plan,
        Microdata.open(pa.table({"id": ids, "jobs": jobs}), plan.schema),
        None,
        folder / "out",
        Options(rehearsal=3),
    )
    return sf.open(folder / "out").release


@pytest.fixture(scope="module", params=SETS)
def release(request, tmp_path_factory):
    return made(tmp_path_factory.mktemp("records"), SETS[request.param])


def levels(product, name):
    return next(one for one in product.attributes if one.name == name).levels


def grids(product):
    """A plain table, one with parents beside children, one within a filter, and a single total."""
    naics, county, owner = (levels(product, name) for name in ("naics", "county", "owner"))
    leaves = np.eye(len(naics.leaves), dtype=bool)
    tree = np.array([naics.mask(code) for code in naics.codes])
    counties, owners = np.eye(3, dtype=bool), np.eye(2, dtype=bool)
    within = Box({"owner": owner.mask("private"), "county": county.mask(["a", "c"])})
    return {
        "plain": Grid((("county", counties), ("owner", owners)), Box({})),
        "parents too": Grid((("naics", tree), ("owner", owners)), Box({})),
        "filtered": Grid((("naics", leaves), ("county", counties)), within),
        "one": Grid((), Box({})),
    }


SHAPES = ("plain", "parents too", "filtered", "one")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["jobs", "rows"])
def test_a_table_holds_the_totals_and_errors_of_its_boxes_one_by_one(release, name, shape):
    product = release.products[name]
    grid = grids(product)[shape]
    one_by_one = list(grid.boxes())
    assert product.totals(grid).ravel().tolist() == [product.total(box) for box in one_by_one]
    assert product.cell_counts(grid).ravel().tolist() == [product.cells(box) for box in one_by_one]
    alone = [product.covariance(box, box) for box in one_by_one]
    assert product.variances(grid).ravel().tolist() == pytest.approx(alone, rel=1e-9, abs=1e-6 * max(alone))


@pytest.mark.parametrize("most", [1, 4])
def test_a_table_in_pieces_is_the_same_table(release, most, monkeypatch):
    product = release.products["jobs"]
    grid = grids(product)["parents too"]
    whole = product.variances(grid)
    monkeypatch.setattr(adjusted, "MOST", most)
    assert product.variances(grid).tolist() == [pytest.approx(row, rel=1e-9) for row in whole.tolist()]


@pytest.mark.parametrize("kept", [(), ("county",), ("owner",), ("county", "owner")])
def test_the_covariance_of_a_cell_with_its_row_column_or_whole_is_that_of_the_two_boxes(release, kept):
    product = release.products["jobs"]
    grid = grids(product)["plain"]
    pairs = zip(grid.boxes(), wholes(grid, kept), strict=True)
    by_hand = [product.covariance(box, whole) for box, whole in pairs]
    found = product.errors.with_whole(grid, kept).ravel()
    assert found.tolist() == pytest.approx(by_hand, rel=1e-9, abs=1e-6 * max(by_hand))


def dense(product):
    """The covariance of all rows in full matrices: (I − KA) W (I − KA)' + K V K' with K = W A'(A W A' + E)⁻¹."""
    stated, frame = product.uncertainty, product.domain
    weights = np.diag(stated.measured.trend.at(stated.sizes.astype(float), np.zeros(frame.size)))
    sums, taken, drawn = [], [], []
    for control in stated.controls:
        grouping = frame.grouped(control.by)
        rows = np.eye(grouping.size)[grouping.of].T
        largest = [np.sqrt(stated.sizes[row > 0].max()) for row in rows]
        expected = control.trend.at(rows @ stated.sizes, np.array(largest))
        sums.append(rows)
        taken.append(expected)
        drawn.append(expected if control.variances is None else control.variances)
    a, e, v = np.vstack(sums), np.diag(np.concatenate(taken)), np.diag(np.concatenate(drawn))
    gain = weights @ a.T @ np.linalg.inv(a @ weights @ a.T + e)
    left = np.eye(frame.size) - gain @ a
    return left @ weights @ left.T + gain @ v @ gain.T


@pytest.mark.parametrize("shape", SHAPES)
def test_stated_variances_are_those_of_the_full_matrices(release, shape):
    product = release.products["jobs"]
    whole, grid = dense(product), grids(product)[shape]
    by_hand = []
    for box in grid.boxes():
        rows = product.domain.rows(box).astype(float)
        by_hand.append(rows @ whole @ rows)
    assert product.variances(grid).ravel().tolist() == pytest.approx(by_hand, rel=1e-6, abs=1e-6 * max(by_hand))


def test_totals_are_sums_of_the_rows_in_the_file(release, tmp_path):
    product = release.products["jobs"]
    values = pq.read_table(release.folder / "products" / "jobs.parquet")["value"].to_pylist()
    frame = pq.read_table(release.folder / "frame.parquet")
    by_hand = sum(value for value, owner in zip(values, frame["owner"].to_pylist(), strict=True) if owner == "public")
    assert product.total(Box({"owner": levels(product, "owner").mask("public")})) == by_hand
    assert frame["id"].to_pylist() == [f"e{one}" for one in range(COUNT)]
