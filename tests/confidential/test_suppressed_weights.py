"""Weights in a plan with [suppress]: totals are weighted, and rules look at what holdings know, their own parts."""

from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential.test_suppressed_run import TABLES, shops, told

from sfumato.confidential import Microdata, Options, run
from sfumato.errors import DataError, PlanError
from sfumato.plan import Plan

SAMPLED = 'name = "shops"\nsampling = "none is stated of a test"'
WEIGHTED = TABLES.replace('unit = "shop"\n\n[attr', 'unit = "shop"\nweight = "w"\nweight_kind = "base"\n\n[attr')
WEIGHTED = WEIGHTED.replace('name = "shops"', SAMPLED)
RULE = WEIGHTED.replace("minimum = 3\n", 'minimum = 1\np = "0.9"\n')
"""A p% rule that cells of three or four firms of like size break by themselves: R < 0.9 X1 where few are left."""


def released(folder, text, weights, engine="", out="release"):
    rows = [row | {"w": weight} for row, weight in zip(shops(), weights, strict=True)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "shops.parquet")
    plan = Plan.parse(text, folder / "plan.toml")
    return run(plan, Microdata.open(folder / "shops.parquet", plan.schema, engine), None, folder / out, Options(1))


def ones(weight=1.0):
    return [weight] * len(shops())


def test_published_totals_are_weighted_exactly(tmp_path):
    """Weights are read as they are written: 1.13 is 113 hundredths, though 1.13 / 0.01 is not 113 in doubles."""
    hundredths = [111 + 17 * at for at in range(len(shops()))]
    release = released(tmp_path, WEIGHTED, [one / 100 for one in hundredths])
    assert release.products["pay"].subject.step == Fraction(1, 100)
    found, south = told(release), 0
    for row, weight in zip(shops(), hundredths, strict=True):
        south += row["pay"] * weight if row["place"] == "s" else 0
    assert found[None, None] == sum(row["pay"] * one for row, one in zip(shops(), hundredths, strict=True))
    assert found[None, "s"] == south
    assert found["1a", "s"] == "D"  # one firm, whatever it weighs


def test_weights_make_a_cell_safe_as_nobody_knows_whom_the_others_stand_for(tmp_path):
    """R = T - X1 - X2 of the weighted total T and what the two largest know of themselves."""
    alone = told(released(tmp_path, RULE, ones(), out="alone"))
    heavy = told(released(tmp_path, RULE, ones(5.0), out="heavy"))
    sensitive = {cell for cell, mark in alone.items() if mark == "D"}
    assert ("1c", "e") in sensitive  # four firms of like size at weight 1: R is less than 0.9 of X1 where two remain
    assert "D" not in heavy.values()


def test_weight_1_is_no_weight(tmp_path):
    plain = TABLES.replace("minimum = 3\n", 'minimum = 3\np = "0.3"\n')
    one = told(released(tmp_path, plain, ones(), out="one"))
    weighted = told(released(tmp_path, plain.replace(TABLES.split("[suppress]")[0], WEIGHTED.split("[suppress]")[0]),
                             ones(), out="two"))  # fmt: skip
    assert {cell for cell, mark in one.items() if mark == "D"} == {
        cell for cell, mark in weighted.items() if mark == "D"
    }
    assert all(mark == "D" or weighted[cell] == 100 * mark for cell, mark in one.items())


def test_counts_are_weighted_too(tmp_path):
    counted = WEIGHTED.replace('{ statistic = "total", column = "pay", unit = "dollars" }', '"count"')
    found = released(tmp_path, counted, ones(2.5))
    assert told(found)[None, None] * found.products["pay"].subject.step == Fraction(5, 2) * len(shops())


def test_weights_that_cannot_be_are_refused_before_anything_is_entered(tmp_path):
    with pytest.raises(DataError, match="Column 'w' has weights below 1"):
        released(tmp_path, WEIGHTED, ones(0.5))
    with pytest.raises(DataError, match=r"some values are no whole multiples of the step, 0\.01"):
        released(tmp_path, WEIGHTED, ones(1.005))  # no whole multiple of 0.01
    finer = WEIGHTED.replace("minimum = 3\n", 'minimum = 3\nweight_step = "0.001"\n')
    assert released(tmp_path, finer, ones(1.005)).products["pay"].subject.step == Fraction(1, 1000)
    assert Plan.parse(Plan.parse(finer, tmp_path / "p").to_toml(), tmp_path / "p") == Plan.parse(finer, tmp_path / "p")
    with pytest.raises(PlanError, match="a weight of 1 must be a whole multiple of it"):
        Plan.parse(finer.replace("0.001", "0.03"), tmp_path / "p")
