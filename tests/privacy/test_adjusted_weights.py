"""Weights that depend on other records: where the price of a weighted total still holds, by every small data set."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from sfumato.privacy import AddRemove, Contribution, ReplaceOne
from sfumato.schema import Attribute, Levels, Table

CELLS, STRATA, LARGEST = 2, 2, 2
POPULATION = (Fraction(5), Fraction(9))
"""The public numbers of units in the strata."""
HEAVIEST = 3
ROWS = list(product(range(STRATA), range(CELLS), range(LARGEST + 1)))
"""What a row may be: its stratum, its cell and its value."""
TABLE = Table((Attribute("cell", Levels.of(range(CELLS))),))
WEIGHTED = Contribution(
    "y", Fraction(0), Fraction(LARGEST), weight=Contribution("w", Fraction(0), Fraction(HEAVIEST), Fraction(1))
)


def post_stratified(rows):
    """The weighted total of every cell, weights being N/n within a clip."""
    counts = [sum(row[0] == stratum for row in rows) for stratum in range(STRATA)]
    totals = [Fraction(0)] * CELLS
    for stratum, cell, value in rows:
        totals[cell] += value * min(POPULATION[stratum] / counts[stratum], Fraction(HEAVIEST))
    return totals


def moves(first, second):
    apart = [abs(one - other) for one, other in zip(post_stratified(first), post_stratified(second), strict=True)]
    return sum(apart), sum(one**2 for one in apart)


def data_sets(most):
    return [rows for count in range(most + 1) for rows in combinations_with_replacement(ROWS, count)]


def test_where_the_stratum_is_fixed_a_replaced_row_moves_as_far_as_its_price_says():
    move, most = ReplaceOne("person", fixed=("stratum",)).move(WEIGHTED, TABLE), [Fraction(0), Fraction(0)]
    for others in data_sets(3):
        for one, other in product(ROWS, ROWS):
            if one[0] == other[0]:
                found = moves((*others, one), (*others, other))
                most = [max(pair) for pair in zip(most, found, strict=True)]
    assert most[0] <= move.l1 == 2 * HEAVIEST * LARGEST
    assert most[1] <= move.l2_squared == 2 * (HEAVIEST * LARGEST) ** 2
    assert most == [move.l1, move.l2_squared], "and some move as far"


def test_a_row_that_is_added_moves_twice_its_weight_at_most_and_more_than_the_price_of_base_weights():
    priced, most = AddRemove("person").move(WEIGHTED, TABLE), [Fraction(0), Fraction(0)]
    for others in data_sets(4):
        for row in ROWS:
            most = [max(pair) for pair in zip(most, moves(others, (*others, row)), strict=True)]
    assert most[0] <= 2 * HEAVIEST * LARGEST
    assert most[1] <= 2 * (HEAVIEST * LARGEST) ** 2
    assert most[0] > priced.l1, "so adjusted weights do void the claim of a plan that calls them base weights"


@pytest.mark.parametrize(("added", "total"), [(0, 0.0), (1, 2000 / 21)])
def test_raked_weights_move_by_far_more_than_any_weight(added, total):
    """With cells 1, 400, 1 and 1 the odds ratio is 1/400, so that x / (100 − x) = 1/20 and the other cell has 95.2."""
    cells = np.array([[1.0, 400.0], [added, 1.0]])
    for _ in range(200_000 if not added else 2_000):
        cells *= 100 / cells.sum(axis=1, keepdims=True)
        cells *= 100 / cells.sum(axis=0, keepdims=True)
    assert cells[0, 1] == pytest.approx(total, abs=0.05)
    assert cells[0, 1] / 400 < 1, "no weight of these records comes near a clip of 1"
