"""Controls from the data: named with a reason, priced as without a bound, met by a step, exact in the release."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.errors import PlanError, PromiseError
from sfumato.plan.control import ControlTable
from sfumato.privacy import Unbounded

HEAD = SMALL[: SMALL.index("[limit]")]
PLAN = (
    HEAD
    + """
[limit]
unbounded = "the totals are invariants"

[[measure]]
name = "cube"
of = "count"
by = ["trade", "place"]
with = { mechanism = "geometric", epsilon = "1" }

[[control]]
name = "by_place"
of = "cube"
by = ["place"]
from = "data"

[[then]]
step = "least-squares"
name = "jobs"
table = "cube"
to = ["by_place"]

[[exposure]]
kind = "invariant"
what = "the totals by_place"
why = "the register publishes them"
"""
)


def plan(text=PLAN):
    return sf.Plan.parse(text, Path("controls.toml"))


def test_a_control_is_written_and_read_back_and_survives_a_change_of_the_plan():
    read = plan()
    assert read.controls == (ControlTable("by_place", "cube", ("place",)),)
    assert [measure.name for measure in read.measures] == ["cube", "by_place"]
    assert "[[control]]" in read.to_toml()
    assert read.to_toml().count("[[measure]]") == 1
    assert plan(read.to_toml()) == read
    assert replace(read, period="2027").measures == read.measures


def test_its_totals_have_no_bound_and_the_plan_must_say_so():
    price = plan().price()
    assert [(one.measure, one.loss.kind) for one in price.spends] == [
        ("cube", "approximate"),
        ("by_place", "unbounded"),
    ]
    assert isinstance(price.total, Unbounded)
    with pytest.raises(PromiseError, match="no guarantee, unbounded: totals of the data"):
        plan(PLAN.replace('unbounded = "the totals are invariants"', 'epsilon = "9"')).price()


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("the totals by_place", "the totals", "leaves 'by_place' outside the guarantee"),
        ('kind = "invariant"', 'kind = "published"', 'kind = "invariant"'),
    ],
)
def test_an_invariant_is_listed_as_one_or_the_plan_is_not_priced(wrong, right, said):
    with pytest.raises(PromiseError, match=said):
        plan(PLAN.replace(wrong, right)).price()


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ('from = "data"', 'from = "date"', "did you mean 'data'"),
        ('from = "data"', 'form = "data"', "did you mean 'from'"),
        ('of = "cube"', 'of = "cub"', "did you mean 'cube'"),
        ('name = "by_place"', 'name = "cube"', "Two products are named 'cube'|No step"),
        ('to = ["by_place"]', 'to = ["cube"]', "the noise of 'cube' is in 'cube' already"),
        ('to = ["by_place"]', 'to = ["by_place", "by_place"]', "names 'by_place' twice"),
        ('by = ["place"]', 'by = ["age"]', "lacks age of 'by_place'"),
    ],
)
def test_what_a_control_cannot_mean_is_refused_in_words(wrong, right, said):
    with pytest.raises(PlanError, match=said):
        plan(PLAN.replace(wrong, right))


def test_no_measure_of_a_plan_is_exact_by_name():
    with pytest.raises(PlanError, match="There is no mechanism 'exact'"):
        plan(PLAN.replace('mechanism = "geometric", epsilon = "1"', 'mechanism = "exact"'))


def test_the_release_holds_the_true_totals_and_the_step_meets_them(tmp_path):
    read, rows = plan(), small_rows()
    release = run(read, Microdata.open(rows, read.schema), None, tmp_path / "r", Options(rehearsal=1))
    codes = read.schema.attribute("place").levels.leaves
    true = np.array([rows["place"].to_pylist().count(code) for code in codes])
    assert (release.products["by_place"].values == true).all()
    made = sf.open(tmp_path / "r").table(["place"])
    assert [round(made[code].value, 6) for code in codes] == true.tolist()
    assert release.manifest.exposures[0].kind == "invariant"
    assert {one.measure: one.mechanism for one in release.manifest.spends}[
        "by_place"
    ] == "none: exact totals of the data"
