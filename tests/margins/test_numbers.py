"""Margin-optimal tables: the numbers that follow by hand, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from tests.margins.families import ONE_RECORD, ONE_REPLACED, ORS, family, flat

from sfumato.mechanisms import Cells, EvenGaussian
from sfumato.mechanisms.contrasts import components_of, contrasts, laws_of
from sfumato.mechanisms.exchanges import exchange_cost
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.plan.toml import SHIPPED
from sfumato.privacy import EveryTable
from sfumato.release import Components
from sfumato.release.whole_tables import estimate, residuals_of, whole_tables
from sfumato.schema import Attribute, Box, Levels, Schema, UpTo

TINY = family(flat(2, 3), 1)
MOVE = EveryTable(ONE_RECORD, TINY)
TABLE = np.array([[3, 1, 4], [1, 5, 9]])
CELLS = Cells(TINY, np.concatenate([TABLE.sum(axis=1), TABLE.sum(axis=0)]), Fraction(1), MOVE)


def test_the_tiny_family_has_one_variance_and_a_record_costs_one():
    design = EvenGaussian(1).design(MOVE)
    assert design.variances == (Fraction(11, 6),) * 3
    assert design.cost == 1
    # 6/11 of it is the total's, 2/11 that of two parts, 3/11 that of three.
    assert [design.gain(m) / design.variances[0] for m in (2, 3)] == [Fraction(2, 11), Fraction(3, 11)]
    assert MarginDesign.flat(family(flat(2, 3), 2)).cost == 2


def test_the_laws_of_the_tiny_family():
    laws = {variance for _, variance in laws_of(EvenGaussian(1).design(MOVE))}
    assert laws == {Fraction(11, 6), Fraction(11), Fraction(22)}


def test_a_replaced_record_costs_17_elevenths():
    assert float(exchange_cost(MarginDesign.flat(TINY), frozenset()) / Fraction(11, 6)) == pytest.approx(
        17 / 11, rel=1e-11
    )


def test_contrasts_of_the_tiny_table():
    found = {one: contrasts(TINY, one, table).tolist() for one, table in components_of(CELLS)}
    assert found == {(0, 0): 23, (1, 0): [-7, 7], (0, 1): [-11, -5, 16]}


def test_noisy_contrasts_become_whole_tables_that_agree():
    # y = 25, (−6, 5), (−8, −5, 12): a = 39/4, 61/4 and b = 52/9, 61/9, 112/9.
    noisy = {(0, 0): [25], (1, 0): [-6, 5], (0, 1): [-8, -5, 12]}
    tables = whole_tables(TINY, np.concatenate([noisy[one] for one in TINY.components]))
    assert tables.tolist() == [10, 15, 6, 7, 12]
    residuals = dict(residuals_of(TINY, np.concatenate([noisy[one] for one in TINY.components])))
    assert residuals[1, 0] == pytest.approx([-11 / 4, 11 / 4], rel=1e-14)
    assert residuals[0, 1] == pytest.approx([-23 / 9, -14 / 9, 37 / 9], rel=1e-14)
    assert estimate(TINY, (1, 0), residuals) == pytest.approx([39 / 4, 61 / 4], rel=1e-14)
    assert estimate(TINY, (0, 1), residuals) == pytest.approx([52 / 9, 61 / 9, 112 / 9], rel=1e-14)


def test_covariances_of_the_tiny_family():
    errors = Components((11 / 6,) * 3, rounding=0.0).over(TINY, np.zeros(5, dtype=np.int64))

    def box(**masks: list[int]) -> Box:
        return Box({name: np.array(mask, dtype=bool) for name, mask in masks.items()})

    assert errors.covariance(box(v0=[1, 0]), box(v0=[0, 1])) == pytest.approx(-11 / 12)
    assert errors.covariance(box(v0=[1, 0]), box(v1=[1, 0, 0])) == pytest.approx(11 / 36)
    assert errors.covariance(box(v0=[1, 1]), box()) == pytest.approx(11 / 6)


EVERY_K = ["163/30", "2557/180", "2929/120", "104113/3240", "17551/486", "273563/7290", "1104203/29160",
           "1105769/29160", "184319/4860", "1024/27"]  # fmt: skip


@pytest.mark.parametrize(("up_to", "cost"), list(enumerate(EVERY_K, 1)))
def test_the_variance_of_every_cell_of_the_requirements(up_to, cost):
    assert MarginDesign.flat(family(flat(*ORS), up_to)).cost == Fraction(cost)


@pytest.mark.parametrize(("up_to", "factor"), [(2, 2.036957), (3, 2.070644), (10, 1.998047)])
def test_what_a_replaced_record_costs_beside_one_that_comes(up_to, factor):
    design = MarginDesign.flat(family(flat(*ORS), up_to))
    assert float(exchange_cost(design, frozenset()) / design.cost) == pytest.approx(factor, abs=5e-7)


def test_fifteen_attributes_of_many_sizes():
    sizes = (20, 18, 12, 10, 9, 8, 7, 6, 6, 5, 5, 4, 3, 2, 2)
    assert MarginDesign.flat(family(flat(*sizes), 3)).cost == Fraction(3124092426319, 15097282200)


OCCUPATIONS = Attribute("occupation", Levels.read(SHIPPED / "codes" / "occupations.csv"))


@pytest.mark.parametrize(("up_to", "cost"), [(1, "12677/2070"), (2, "97993/6210"), (3, "6757/270")])
def test_occupations_in_their_tree_with_six_attributes(up_to, cost):
    schema = Schema((OCCUPATIONS, *flat(5, 4, 3, 2, 2, 2).attributes))
    assert MarginDesign.flat(family(schema, up_to)).cost == Fraction(cost)


def test_the_dearest_occupation_costs_488_207ths_beside_the_total():
    assert MarginDesign.flat(family(Schema((OCCUPATIONS,)), 1)).cost - 1 == Fraction(488, 207)


def test_occupations_with_all_six_and_with_all_ten_requirements():
    seven = Schema((OCCUPATIONS, *flat(5, 4, 3, 2, 2, 2).attributes))
    assert float(MarginDesign.flat(family(seven, 7)).cost) == pytest.approx(31.83396, abs=5e-6)
    eleven = Schema((OCCUPATIONS, *flat(*ORS).attributes))
    assert MarginDesign.flat(family(eleven, 3)).cost == Fraction(4314541, 74520)


def test_a_faded_design_loses_a_part_of_its_variance_with_every_variable():
    schema = flat(3, 4, 2)
    move = EveryTable(ONE_RECORD, UpTo(2, schema.names).family(schema))
    design = EvenGaussian(1, fade="0.8").design(move)
    by_ways = {sum(level > 0 for level in one): float(v) for one, v in design.cell_variances.items()}
    assert by_ways == pytest.approx({0: 3.994433, 1: 3.195546, 2: 2.556437}, abs=5e-7)
    replaced = EveryTable(ONE_REPLACED, move.family, frozenset())
    unit = MarginDesign.faded(move.family, Fraction(4, 5))
    assert float(exchange_cost(unit, replaced.kept) / unit.cost) == pytest.approx(1.843363, abs=5e-7)


def test_ten_requirements_that_fade_by_a_fifth_with_every_variable():
    """V is the product over the sizes of 1 + (1 − 1/n) / s, with s = (0.8 − 1/n²) / (1 − 1/n)."""
    design = EvenGaussian(1, fade="0.8").design(EveryTable(ONE_RECORD, family(flat(*ORS), 10)))
    by_ways = {sum(one): float(v) for one, v in design.cell_variances.items()}
    known = [94.1, 75.3, 60.3, 48.2, 38.6, 30.9, 24.7, 19.7, 15.8, 12.6, 10.1]
    assert [by_ways[ways] for ways in range(11)] == pytest.approx(known, abs=0.06)


@pytest.mark.parametrize(("leaf", "expected"), [(0, 1 / 4), (1, 1 / 2)])
def test_half_of_anothers_rounding_is_a_quarter_of_its_variance_at_each_end_of_a_leaf(leaf, expected):
    """Of three leaves the first, less the average, steps by 1 at its end and is −1/3 at the last, which the total has.

    So half of it has (1 + 1/9 − 1/9) / 4; the second steps at both of its ends.
    """
    one = family(flat(3), 1)
    stated = Components((0.0, 0.0), rounding=0.0, inherited=(0.0, 0.5), inherited_rounding=1.0)
    box = Box({"v0": np.arange(3) == leaf})
    assert stated.over(one, np.zeros(one.size, dtype=np.int64)).covariance(box, box) == pytest.approx(expected)
