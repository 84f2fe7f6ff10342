"""Numbers claim no more than their bounds allow: who was counted, which side of a clip was bought, by what tables."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan
from sfumato.query import open_folder
from sfumato.query.caveats import caveats_of, took_of
from sfumato.release import Subject

EXCESS = """
[[measure]]
name = "above"
of = {{ statistic = "excess", column = "pay", clip = ["{low}", "1000"], up_to = "4000", step = "10", unit = "euros" }}
by = {by}
with = {{ mechanism = "geometric", epsilon = "1" }}
"""


def release(folder, by, low="0", pay_by='["trade", "place", "age"]'):
    text = SMALL.replace('epsilon = "2"', 'epsilon = "3"').replace('clip = ["0", "1000"]', f'clip = ["{low}", "1000"]')
    head, _, tail = text.rpartition('by = ["trade", "place", "age"]')
    plan = Plan.parse(f"{head}by = {pay_by}{tail}" + EXCESS.format(by=by, low=low), Path("small.toml"))
    run(plan, Microdata.open(small_rows(), plan.schema), None, folder / "release", Options(rehearsal=1))
    return open_folder(folder / "release")


PERSONS = Subject("persons", "count", "Persons", "persons", Fraction(1))


@pytest.mark.parametrize(
    ("first", "second", "same"), [("", "weight", False), ("", "", True), ("weight", "weight", True)]
)
def test_a_number_of_records_is_no_earlier_number_of_persons(first, second, same):
    before, after = (replace(PERSONS, weighting=weighting) for weighting in (first, second))
    assert before.counts_as(after) == after.counts_as(before) == same


@pytest.mark.parametrize(
    ("by", "pay_by"),
    [('["age"]', '["trade", "place"]'), ('["trade"]', '["trade@0", "place"]')],
    ids=["another attribute", "a finer level"],
)
def test_an_excess_by_cells_that_its_total_lacks_counts_as_a_whole(tmp_path, by, pay_by):
    engine = release(tmp_path, by, pay_by=pay_by)
    own = float(sum(min(max(pay, 0), 4000) for pay in small_rows()["pay"].to_pylist()))
    low, high = engine.total(of="pay").interval(0.99)
    assert low <= own <= high
    assert engine.table("place", of="pay")["north"].interval(0.9)


def test_an_excess_is_not_counted_where_values_below_the_clip_are_raised(tmp_path):
    engine = release(tmp_path, '["place"]', low="-500")
    product = engine.release.products["pay"]
    assert took_of(product) is None
    assert not any(caveat.bought for caveat in caveats_of(engine.release, product).every)
    assert "noise only" in caveats_of(engine.release, product).said()


def test_an_excess_is_counted_where_the_clip_starts_at_0(tmp_path):
    engine = release(tmp_path, '["place"]')
    product = engine.release.products["pay"]
    assert took_of(product) is not None
    assert [caveat.bought for caveat in caveats_of(engine.release, product).every] == ["4,000"]
    assert isinstance(engine.total(of="pay"), sf.Estimate)
