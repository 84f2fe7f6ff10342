"""Codes for a missing value: asked about where values lie far outside, and named by a total, for every engine."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.confidential import Microdata, Tabulation
from sfumato.confidential.clips import clip_fits
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError
from sfumato.plan import Plan

PLAN = """
name = "survey"
[data]
unit = "person"
[attributes.region]
levels = ["north", "south"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "2"
[[measure]]
name = "income"
of = { statistic = "total", column = "income", clip = ["0", "50000"], unit = "dollars"CODES }
by = ["region"]
with = { mechanism = "geometric", epsilon = "1" }
"""
CODES = ', missing = "0", missing_codes = ["999999999", "-9"]'
INCOMES = [12_000, 30_000, 51_000, 8_000, 999_999_999, 999_999_999, -9, 20_000]
"""North has 12,000, 51,000, a code twice and 20,000, in that order by turns; south the rest."""
REGIONS = ["north", "south", "north", "south", "north", "south", "south", "north"]


def plan(codes=""):
    return Plan.parse(PLAN.replace("CODES", codes), Path("survey.toml"))


@pytest.fixture(params=["arrays", "duckdb", "spilled"])
def data(request, tmp_path):
    def data(incomes=INCOMES, regions=REGIONS):
        path = tmp_path / "survey.parquet"
        pq.write_table(pa.table({"region": regions, "income": incomes}), path)
        spilled = request.param == "spilled"
        engine, spill = ("", tmp_path) if spilled else (request.param, None)
        return Microdata.open(path, plan().schema, engine, spill)

    return data


def totals(own, microdata):
    records = Tabulation(own, microdata, SeededDraws(1))
    (measure,) = own.measures
    return records.cells(measure).values.tolist()


def test_codes_count_as_the_value_that_stands_for_a_missing_one(data):
    """North: 12,000 + 50,000 + 20,000; south: 30,000 + 8,000. Without the codes each of the two adds 50,000."""
    assert totals(plan(CODES), data()) == [82_000, 38_000]
    assert totals(plan(', missing = "0"'), data()) == [132_000, 88_000]


def test_codes_count_in_a_cluster_too(spark, tmp_path):
    from sfumato.confidential.engines.sources.cluster import Address, ClusterTable

    pq.write_table(pa.table({"region": REGIONS, "income": INCOMES}), tmp_path / "survey.parquet")
    source = ClusterTable(Address.parse(spark), str(tmp_path / "survey.parquet"))
    assert totals(plan(CODES), Microdata.open(source, plan().schema)) == [82_000, 38_000]


def test_a_plan_with_codes_reads_back(tmp_path):
    own = plan(CODES)
    assert Plan.parse(own.to_toml(), tmp_path / "plan.toml") == own
    assert "missing_codes" not in plan().to_toml()


@pytest.mark.parametrize("codes", [', missing_codes = ["9"]', ', missing = "0", missing_codes = []'])
def test_codes_need_a_value_in_their_place(codes):
    with pytest.raises(PlanError, match=r'missing = "0", missing_codes = \["999999999"\]'):
        plan(codes)


def test_a_value_far_outside_is_asked_about_before_a_clip_is_to_be_widened(data):
    (fit,) = clip_fits(plan(), data())
    (far,) = fit.far
    assert far.rows == 2
    assert fit.words.startswith("Is this a code for a missing value? 2 rows of 'income' reach 50,000,000 or farther")
    assert fit.words.index("missing_codes = [") < fit.words.index("A clip cuts")


def test_named_codes_are_no_values_that_a_clip_cuts(data):
    (fit,) = clip_fits(plan(CODES), data())
    assert (fit.far, fit.cut, fit.largest, fit.least) == ((), 1, 51_000, 0)


def test_a_code_below_all_values_is_asked_about(data):
    """-99999 lies 20 times as far from 0 as any other value."""
    (fit,) = clip_fits(plan(), data([100, 200, 300, 400, -99_999, 500, 600, 700]))
    assert [(far.farthest, far.rows, far.or_farther) for far in fit.far] == [(-99_999, 1, False)]
    assert 'missing_codes = ["-99999"]' in fit.words


@pytest.mark.parametrize(
    "incomes",
    [
        [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 49_000, 49_500],
        [500, 900, 2_000, 8_000, 20_000, 60_000, 150_000, 400_000],
        [3, 4, 4, 5, 5, 5, 6, 90],
    ],
    ids=["even", "a long tail", "small counts"],
)
def test_values_that_follow_on_one_another_are_not_asked_about(data, incomes):
    (fit,) = clip_fits(plan(), data(incomes))
    assert fit.far == ()


def test_an_outlier_within_the_clip_does_not_hide_that_it_is_too_wide(data):
    """One value stands at the clip of 50,000; all others are 700 at most."""
    (fit,) = clip_fits(plan(), data([100, 200, 300, 400, 50_000, 500, 600, 700]))
    assert [far.rows for far in fit.far] == [1]
    assert "no other value is a twentieth as far from 0" in fit.words
