"""Noise infusion: lasting factors with the ramp's law, zeros kept, small cells replaced, over tables and frames."""

from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.confidential import Account, Microdata, Options, Tabulation, run
from sfumato.confidential.engines.row_aggregates import digests_of
from sfumato.draws import SeededDraws, SystemDraws
from sfumato.errors import DataError, PlanError, PromiseError
from sfumato.mechanisms import NoiseInfusion
from sfumato.plan import Plan
from sfumato.privacy import Approximate

RAMP = NoiseInfusion("0.05", "0.15")
DIGESTS = digests_of([str(name) for name in range(200_000)])
PLAN = """
name = "infused"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south", "empty"]
[attributes.sex]
levels = ["f", "m"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
unbounded = "it is the system in use, to be compared with"
[[measure]]
name = "jobs"
of = "count"
by = ["place", "sex"]
with = { mechanism = "noise-infusion", low = "0.05", high = "0.15", per = "shop" }
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", clip = ["0", "100"], step = "1" }
by = ["place"]
with = { mechanism = "noise-infusion", low = "0.05", high = "0.15", per = "shop" }
"""


def jobs(shops=40, rows=4_000):
    rng = np.random.default_rng(5)
    shop = rng.integers(0, shops, rows)
    return pa.table({
        "place": np.where(shop % 2, "north", "south"), "sex": rng.choice(["f", "m"], rows),
        "shop": [f"s{one}" for one in shop], "pay": rng.integers(0, 101, rows),
    })  # fmt: skip


def ramp_moments(low, high):
    """The mean and the variance of d under 2 (high − d) / (high − low)²: a triangle that falls to the right."""
    return low + (high - low) / 3, (high - low) ** 2 / 18


@pytest.mark.parametrize("low", [0.05, 0.01])
def test_factors_have_the_law_of_the_ramp(low):
    drawn = NoiseInfusion(str(low), "0.15").factors(DIGESTS, SeededDraws(3)) - 1
    size, count = np.abs(drawn), len(drawn)
    assert low <= size.min() <= size.max() <= 0.15
    mean, variance = ramp_moments(low, 0.15)
    # Six standard errors: each fails by chance with 2e-9. A uniform law lies 280 of them away in the mean.
    assert abs(size.mean() - mean) < 6 * sqrt(variance / count)
    assert abs(np.mean(drawn > 0) - 0.5) < 6 * 0.5 / sqrt(count)
    assert abs((low + 0.15) / 2 - mean) > 60 * sqrt(variance / count)
    quarter = low + (0.15 - low) * (1 - sqrt(0.75))  # the first quartile
    assert abs(np.mean(size < quarter) - 0.25) < 6 * sqrt(0.25 * 0.75 / count)


def test_a_unit_keeps_its_factor_in_every_table_and_release_of_one_key():
    again = RAMP.factors(DIGESTS[:50][::-1], SeededDraws(3))[::-1]
    assert (again == RAMP.factors(DIGESTS[:100], SeededDraws(3))[:50]).all()
    assert not (again == RAMP.factors(DIGESTS[:50], SeededDraws(4))).any()


def test_the_key_of_a_user_is_kept_readable_by_nobody_else_and_refused_if_spoilt(tmp_path, monkeypatch):
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path))
    first = RAMP.factors(DIGESTS[:9], SystemDraws())
    assert (RAMP.factors(DIGESTS[:9], SystemDraws()) == first).all()
    key = tmp_path / "keys" / "noise-infusion"
    assert (key.stat().st_size, key.stat().st_mode & 0o777) == (32, 0o600)
    assert key.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in key.parent.iterdir()] == ["noise-infusion"]
    key.unlink()
    assert not (RAMP.factors(DIGESTS[:9], SystemDraws()) == first).any()
    key.write_bytes(b"short")
    with pytest.raises(DataError, match="put back the key from a backup"):
        RAMP.factors(DIGESTS[:9], SystemDraws())


def test_a_key_that_cannot_be_kept_is_said_before_anything_is_entered_in_the_ledger(tmp_path, monkeypatch):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "keys").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / "state"))
    plan = Plan.parse(PLAN, Path("infused.toml"))
    account = Account.create(tmp_path / "ledger", "jobs", plan.hidden, Approximate(9))
    with pytest.raises(DataError, match=r"name a folder that can be written in \$SFUMATO_STATE"):
        run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / "r")
    assert len(Account(tmp_path / "ledger").entries) == len(account.entries)
    assert not (tmp_path / "r").exists()


def infused(rows, factor_of):
    """Σ factor · rows, by place and sex, in plain Python."""
    cells = np.zeros((3, 2))
    for row in rows.to_pylist():
        cells[["north", "south", "empty"].index(row["place"]), "fm".index(row["sex"])] += factor_of[row["shop"]]
    return cells


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
def test_a_cell_is_the_sum_of_factor_times_value_and_an_empty_one_stays_empty(engine, tmp_path):
    plan, rows = Plan.parse(PLAN, Path("infused.toml")), jobs()
    release = run(plan, Microdata.open(rows, plan.schema, engine), None, tmp_path / "r", Options(rehearsal=3))
    shops = sorted(set(rows["shop"].to_pylist()))
    factor = dict(zip(shops, RAMP.factors(digests_of(shops), SeededDraws(3)).tolist(), strict=True))
    jobs_, pay = (product.values for product in release.products.values())
    assert (jobs_ == np.floor(infused(rows, factor) + 0.5)).all()
    assert (jobs_[2] == 0).all()
    paid = sum(factor[row["shop"]] * row["pay"] for row in rows.to_pylist() if row["place"] == "north")
    assert pay[0] == np.floor(paid + 0.5)


def test_small_cells_become_one_or_two_by_the_shares_that_these_have():
    rows = pa.table({
        "place": ["north"] * 3, "sex": ["f", "m", "m"], "shop": ["s1", "s2", "s3"], "pay": [1, 1, 1]
    })  # fmt: skip
    plan = Plan.parse(PLAN, Path("infused.toml"))
    cells = Tabulation(plan, Microdata.open(rows, plan.schema), SeededDraws(1)).cells(plan.measures[0])
    drawn = np.array([RAMP.perturb(cells, SeededDraws(seed)).values[0] for seed in range(400)])
    # The true cells are one 1 and one 2, each with one more: 1 and 2 are as likely, whatever the cell's own value.
    # Six standard errors: a false alarm of 2e-9.
    assert set(drawn.ravel().tolist()) == {1, 2}
    assert np.abs((drawn == 1).mean(axis=0) - 0.5).max() < 6 * 0.5 / sqrt(400)
    kept = NoiseInfusion("0.05", "0.15", limit=0, per="shop").perturb(cells, SeededDraws(1)).values
    assert kept.tolist() == [[1, 2], [0, 0], [0, 0]]


def test_of_a_sparse_table_the_cells_that_are_not_0_are_listed(tmp_path):
    """Six attributes of fifty levels each: too many cells to lay out, of which the records are in a few."""
    names = [f"a{one}" for one in range(6)]
    rng = np.random.default_rng(2)
    rows = pa.table({name: rng.integers(0, 50, 300).astype(str) for name in names} | {"shop": rng.integers(0, 9, 300)})
    listed = "".join(f"[attributes.{name}]\nlevels = {[str(one) for one in range(50)]}\n" for name in names)
    text = PLAN[: PLAN.index("[attributes.place]")] + listed + PLAN[PLAN.index("[hidden]") : PLAN.rindex("[[measure]]")]
    plan = Plan.parse(text.replace('["place", "sex"]', str(names)), Path("sparse.toml"))
    release = run(plan, Microdata.open(rows, plan.schema), None, tmp_path / "r", Options(rehearsal=3))
    assert release.products["jobs"].kind == "sparse"
    values = release.products["jobs"].values
    assert set(values.tolist()) <= {1, 2}
    assert len(values) == len(set(zip(*(rows[name].to_pylist() for name in names), strict=True)))


FRAME_PLAN = """
name = "census"
[data]
unit = "establishment"
[frame]
file = "frame.parquet"
id = "id"
[attributes.county]
levels = ["1", "3"]
[hidden]
neighbours = "add-remove"
unit = "establishment"
id = "id"
[limit]
unbounded = "it is the system in use, to be compared with"
[[measure]]
name = "rows"
of = { statistic = "total", column = "jobs", clip = ["0", "1000"] }
by = ["establishment"]
with = { mechanism = "noise-infusion", low = "0.05", high = "0.15" }
[[measure]]
name = "county"
of = { statistic = "total", column = "jobs", clip = ["0", "1000"] }
by = ["county"]
where = { county = ["1"] }
with = { mechanism = "noise-infusion", low = "0.05", high = "0.15" }
[[exposure]]
kind = "assumed known"
what = "the frame: which establishments there are"
why = "registers are public"
"""


def test_rows_and_groups_of_a_frame_are_infused_as_well(tmp_path):
    names, counties, reported = ["a", "b", "c", "d"], ["1", "1", "3", "3"], [100, 0, 300, 40]
    pq.write_table(pa.table({"id": names, "county": counties}), tmp_path / "frame.parquet")
    plan = Plan.parse(FRAME_PLAN, tmp_path / "census.toml")
    data = pa.table({"id": names[::-1], "jobs": reported[::-1]})
    release = run(plan, Microdata.open(data, plan.schema), None, tmp_path / "r", Options(rehearsal=3))
    factors = RAMP.factors(digests_of(names), SeededDraws(3))
    rows, county = (product.values.tolist() for product in release.products.values())
    assert rows == np.floor(factors * reported + 0.5).tolist()
    assert county == [rows[0], 0]


def test_bounds_that_are_none_are_refused_and_a_limit_is_not_met():
    for low, high in (("0.2", "0.1"), ("0.1", "1")):
        with pytest.raises(PlanError, match="low lies below high and both below 1"):
            NoiseInfusion(low, high)
    with pytest.raises(PlanError, match="limit of small cells"):
        NoiseInfusion("0.05", "0.15", limit="-1")
    with pytest.raises(PromiseError, match="no guarantee, unbounded"):
        Plan.parse(PLAN.replace('unbounded = "it is the system in use, to be compared with"', 'epsilon = "9"'),
                   Path("p.toml")).price()  # fmt: skip


def test_no_error_is_stated_and_the_note_says_that_it_is_not_formally_private(tmp_path):
    plan = Plan.parse(PLAN, Path("infused.toml"))
    release = run(plan, Microdata.open(jobs(), plan.schema), None, tmp_path / "r", Options(rehearsal=3))
    assert "confidential" in release.products["jobs"].uncertainty.reason
    assert release.products["jobs"].subject.note.startswith("Not formally private")
    assert Fraction(1, 20) == RAMP.low
