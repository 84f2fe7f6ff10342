"""Replication itself: exact sums in any order, the variance and its identities, replicates built from an order."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential.weighted_sample import SAMPLE, asked, built, sample_rows

import sfumato as sf
from sfumato.confidential import Microdata
from sfumato.confidential.design import Survey
from sfumato.confidential.estimands import MeanOf, RatioOf, ShareOfRow, TotalOf
from sfumato.plan import Plan
from sfumato.schema import Grid
from sfumato.statistics.replication import sdr_factors


@pytest.fixture(scope="module")
def sample() -> sf.Plan:
    return Plan.parse(SAMPLE, Path("sample.toml"))


@pytest.mark.parametrize("of", [TotalOf(), TotalOf("pay"), MeanOf("pay"), RatioOf("pay", "hours"), ShareOfRow()])
def test_the_order_of_rows_and_files_changes_no_digit(sample, of, tmp_path):
    rows = sample_rows(20_000)
    shuffled = rows.take(np.random.default_rng(5).permutation(len(rows)))
    parts = [shuffled.slice(12_000), shuffled.slice(0, 12_000)]
    for place, part in enumerate(parts):
        pq.write_table(part, tmp_path / f"{place}.parquet")
    files = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for plan in (sample, built()):
        tables = [asked(plan, data, of, ("sex", "region")).records() for data in (rows, shuffled, files, files[::-1])]
        assert tables[0] == tables[1] == tables[2] == tables[3]


def test_sums_of_fractional_weights_are_correct_to_the_last_digits_where_plain_sums_are_not(sample):
    rows = sample_rows(20_000)
    weights = rows["w1"].to_numpy()
    exact = math.fsum(weights)
    total = Survey(sample, Microdata.open(rows, sample.schema), ("sex",)).total(Grid(()))
    assert total.values[1] == pytest.approx(exact, rel=1e-15)
    running = [float(np.cumsum(weights[::way])[-1]) for way in (1, -1)]
    assert running[0] != running[1], "a plain sum depends on the order, so the test has something to find"


def test_whole_weights_are_summed_exactly_beyond_what_a_double_holds(sample):
    big = 2**52 + 1
    rows = pa.table({"sex": ["f"] * 5, "region": ["n1"] * 5, **{f"w{place}": [big] * 5 for place in ("", 1, 2, 3, 4)}})
    (cell,) = asked(sample, rows).records()
    assert cell["estimate"] == 5 * big
    assert cell["se"] == 0


def test_the_variance_is_four_over_r_times_the_squared_departures_negative_replicates_included(sample):
    rows = sample_rows()
    replicates = np.array([rows[f"w{place}"].to_numpy() for place in range(1, 5)])
    assert (replicates < 0).any()
    for code in ("f", "m"):
        kept = np.array(rows["sex"].to_pylist()) == code
        for of, value in ((TotalOf(), np.ones(len(rows))), (TotalOf("pay"), rows["pay"].to_numpy())):
            full = math.fsum((rows["w"].to_numpy() * value)[kept])
            departures = [math.fsum((one * value)[kept]) - full for one in replicates]
            (cell,) = asked(sample, rows, of, where={"sex": code}).records()
            assert cell["estimate"] == pytest.approx(full, rel=1e-14)
            assert cell["se"] ** 2 == pytest.approx(math.fsum(one**2 for one in departures), rel=1e-12)


def test_a_domain_may_have_a_negative_replicate_total(sample):
    rows = pa.table({"sex": ["f"], "region": ["S"], "w": [5], "w1": [-3], "w2": [5], "w3": [6], "w4": [4]})
    (cell,) = asked(sample, rows, where={"sex": "f"}).records()
    assert (cell["estimate"], cell["se"]) == (5, math.sqrt(64 + 0 + 1 + 1))


def test_built_from_the_order_a_total_has_half_the_circular_sum_of_squared_successive_differences():
    rows = sample_rows(79)
    in_turn = rows.take(np.argsort(rows["turn"].to_numpy()))
    weighted = in_turn["w"].to_numpy() * in_turn["pay"].to_numpy()
    identity = math.fsum((weighted - np.roll(weighted, -1)) ** 2) / 2
    (cell,) = asked(built(), rows, TotalOf("pay")).records()
    assert cell["se"] ** 2 == pytest.approx(identity, rel=1e-12)


@pytest.mark.parametrize(("rows", "count"), [(1000, None), (1000, 20), (7, 20), (1, 20)])
def test_replicates_built_from_the_order_are_those_of_the_factors(rows, count):
    data = sample_rows(rows)
    weights, turn = data["w"].to_numpy(), data["turn"].to_numpy()
    factors = sdr_factors(rows, count or 80)[turn]
    kept = np.array(data["sex"].to_pylist()) == "f"
    full = weights[kept].sum()
    variance = 4 / factors.shape[1] * (((weights[:, None] * factors)[kept].sum(axis=0) - full) ** 2).sum()
    (cell,) = asked(built(count), data, where={"sex": "f"}).records()
    assert cell["estimate"] == pytest.approx(full, rel=1e-12)
    assert cell["se"] == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-9 * full)


def test_levels_above_the_leaves_add_up_and_shares_of_a_row_to_one(sample):
    rows = sample_rows()
    top = asked(sample, rows, rows=("region",)).records()
    leaves = asked(sample, rows, rows=("region",), at={"region": "@1"}).records()
    assert [cell["region"] for cell in top] == ["N", "S"]
    assert top[0]["estimate"] == pytest.approx(leaves[0]["estimate"] + leaves[1]["estimate"], rel=1e-15)
    shares = asked(sample, rows, ShareOfRow(), ("sex",), "region", at={"region": "all"})
    by_place = dict(shares.items())
    assert by_place[0, 0].value + by_place[0, 3].value == pytest.approx(1)
    assert by_place[0, 0].value == pytest.approx(by_place[0, 1].value + by_place[0, 2].value)


def test_a_census_has_counts_and_no_error():
    plan = Plan.parse(
        SAMPLE.replace('weight = "w"\nweight_kind = "base"\nreplicates = "w{1..4}"', "").replace(
            '"a sample"', '"census"'
        ),
        Path("c"),
    )
    rows = sample_rows()
    cells = asked(plan, rows, rows=("sex",)).records()
    assert [cell["estimate"] for cell in cells] == [rows["sex"].to_pylist().count(code) for code in "fm"]
    assert all(cell["se"] == 0 and cell["records"] == cell["estimate"] for cell in cells)


def test_a_weight_without_replicates_or_order_gives_estimates_and_no_error():
    plan = Plan.parse(SAMPLE.replace('replicates = "w{1..4}"', ""), Path("c"))
    (cell,) = asked(plan, sample_rows()).records()
    assert cell["estimate"] > 0
    assert cell["se"] is None
    assert cell["cv"] is None


def test_an_empty_domain_has_a_total_of_0_and_no_mean(sample):
    rows = sample_rows().filter(pa.compute.equal(sample_rows()["sex"], "f"))
    (_, empty) = asked(sample, rows, rows=("sex",)).records()
    assert (empty["estimate"], empty["se"], empty["cv"], empty["records"]) == (0, 0, 0, 0)
    (_, empty) = asked(sample, rows, MeanOf("pay"), ("sex",)).records()
    assert (empty["estimate"], empty["se"], empty["moe90"]) == (None, None, None)


def test_a_replicate_with_nothing_to_divide_by_leaves_the_error_unstated(sample):
    rows = pa.table(
        {"sex": ["f"], "region": ["S"], "w": [2.0], "w1": [0.0], "w2": [1.0], "w3": [2.0], "w4": [1.0], "pay": [9.0]}
    )
    (cell,) = asked(sample, rows, MeanOf("pay")).records()
    assert cell["estimate"] == 9
    assert cell["se"] is None


@pytest.mark.parametrize(("units", "replicates"), [(0, 80), (10, 3)])
def test_successive_differences_of_no_unit_or_of_too_few_replicates_are_refused(units, replicates):
    with pytest.raises(sf.errors.PlanError, match=f"of {units} units in {replicates} replicates; it needs 1 and 4"):
        sdr_factors(units, replicates)
