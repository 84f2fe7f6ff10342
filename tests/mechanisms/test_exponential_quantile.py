"""Quantiles by the exponential mechanism: the claim on exact chances over all small cells, and draws that have them."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.draws import SeededDraws
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import Cells
from sfumato.mechanisms.exponential_quantile import ExponentialQuantile, distances
from sfumato.mechanisms.ranked_choice import RankedChoice
from sfumato.privacy import Bounded, Unsummed
from sfumato.schema import Attribute, Levels, Ragged, Rows, Table
from sfumato.statistics.quantile import Quantile

VALUES = (0, 40, 100)


def largest_loss(mechanism, at, places, *, replaced, within=False):
    """The largest log-ratio of any candidate, over all cells of up to four rows and their neighbours."""
    (of,), move = Quantile("wage", at, clip=(0, 100)).aggregates, Unsummed(Bounded(places, places, places), within)
    cells = {size: list(combinations_with_replacement(VALUES, size)) for size in range(5)}
    chances = {
        rows: mechanism.distribution(of, np.array(rows, dtype=np.int64), move)
        for some in cells.values()
        for rows in some
    }
    pairs = [
        (rows, tuple(sorted((*(rows[1:] if replaced else rows), value))))
        for size in range(4)
        for rows in cells[size]
        for value in VALUES
        if rows or not replaced
    ]
    return max(abs(math.log(a / b)) for one, other in pairs for a, b in zip(chances[one], chances[other], strict=True))


@pytest.mark.parametrize("at", ["1/4", "1/2", "9/10"])
@pytest.mark.parametrize(("places", "replaced"), [(1, False), (2, True)], ids=["a row comes", "a row is replaced"])
def test_no_candidate_is_likelier_by_more_than_epsilon(at, places, replaced):
    loss = largest_loss(ExponentialQuantile("1.5", 5), at, places, replaced=replaced)
    assert 0.2 * 1.5 < loss <= 1.5


@pytest.mark.parametrize("at", ["1/4", "1/2", "9/10"])
def test_where_counts_are_public_a_row_with_another_value_moves_no_rank_by_more_than_the_denominator(at):
    """Over all cells of up to four rows, and so far: a weight for one less would claim too little."""
    mechanism, (of,) = ExponentialQuantile("1.5", 5), Quantile("wage", at, clip=(0, 100)).aggregates
    assert largest_loss(mechanism, at, 2, replaced=True, within=True) <= 1.5
    far, grid = 0, mechanism.grid(of)
    for rows in (rows for size in range(1, 5) for rows in combinations_with_replacement(VALUES, size)):
        for value in VALUES:
            moved = distances(grid, of.at, np.array(rows)) - distances(grid, of.at, np.sort([*rows[1:], value]))
            far = max(far, int(np.abs(moved).max()))
    assert far == of.at.denominator
    within = Unsummed(Bounded(2, 2, 2), within=True)
    assert float(mechanism.base(within, of.at)) == pytest.approx(math.exp(-1.5 / (2 * far)), abs=2**-24)
    assert mechanism.base(within, of.at) <= mechanism.base(Unsummed(Bounded(2, 2, 2)), of.at)


def test_a_weight_that_forgets_how_far_a_row_moves_ranks_is_rejected():
    class Steep(ExponentialQuantile):
        def base(self, move, at):  # as if a quarter were a half
            return super().base(move, Fraction(1, 2))

    assert largest_loss(Steep("1.5", 5), "1/4", 1, replaced=False) > 1.5


def cells_of(rows, count, at="1/4"):
    table = Table((Attribute("cell", Levels.of(range(count))),))
    (of,) = Quantile("wage", at, clip=(0, 100)).aggregates
    column = Ragged(np.arange(count + 1) * len(rows), np.tile(np.array(sorted(rows), dtype=np.int64), count))
    move = Unsummed(Bounded(1, 1, 1))
    return Cells(table, np.zeros(count, dtype=np.int64), Fraction(1), move, columns={of: column})


def test_what_is_published_has_the_stated_chances():
    """6,000 cells alike, chi-square at 1e-9; the chances of an epsilon half as large again are told from them."""
    rows, mechanism = (0, 40, 40, 60, 80, 100), ExponentialQuantile(4, 5)
    cells = cells_of(rows, 6_000)
    (of,) = cells.columns
    drawn = mechanism.perturb(cells, SeededDraws(1)).values
    counted = np.array([(drawn == value).sum() for value in mechanism.grid(of)])

    def misfit(other):
        chances = [float(one) for one in other.distribution(of, np.array(rows), cells.move)]
        return ((counted - 6_000 * np.array(chances)) ** 2 / (6_000 * np.array(chances))).sum()

    assert misfit(mechanism) < chi2.isf(1e-9, 4) < misfit(ExponentialQuantile(6, 5))


def test_a_draw_near_the_end_of_a_chance_is_compared_as_a_fraction():
    """Chances of 1/3 and 2/3: a draw of 1/3 is too near for floats, and the first bits after it decide."""
    choice, rows = RankedChoice(Fraction(1, 2), lambda rows: np.array([1, 0]) + 0 * len(rows)), np.array([7])
    assert choice.chances(rows) == [Fraction(1, 3), Fraction(2, 3)]
    third = 2**64 // 3
    found = [choice.place(rows, third, SeededDraws(seed)) for seed in range(300)]
    assert 50 < sum(found) < 250, "1/3 lies a third of the way to the next word"
    assert choice.place(rows, third - 1, SeededDraws(1)) == 0
    assert choice.place(rows, third + 1, SeededDraws(1)) == 1
    assert choice.place(rows, 2**63, SeededDraws(1)) == 1, "far from it floats do"


def test_the_truth_is_the_least_value_that_enough_rows_do_not_exceed():
    """As numpy's inverted distribution function; of no rows the low end."""
    rng = np.random.default_rng(1)
    rows = [np.sort(rng.integers(0, 101, size)) for size in (0, 1, 4, 7, 50)]
    column = Ragged(np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(np.int64))
    for at in ("1/4", "1/2", "0.9"):
        statistic = Quantile("wage", at, clip=(0, 100))
        known = [np.quantile(one, float(Fraction(at)), method="inverted_cdf") for one in rows[1:]]
        assert statistic.value({statistic.aggregates[0]: column}).tolist() == [0, *known]


def test_it_is_for_quantiles_and_hides_ranks_alone():
    with pytest.raises(PlanError, match='statistic = "quantile"'):
        ExponentialQuantile(1).needs((Rows(),))
    with pytest.raises(PromiseError, match="the order of rows"):
        ExponentialQuantile(1).loss(Bounded(1, 1, 1))
    with pytest.raises(PlanError, match="2 to 10,000"):
        ExponentialQuantile(1, 1)
    with pytest.raises(PlanError, match="a share of the rows"):
        Quantile("wage", "1.5", clip=(0, 1))
    with pytest.raises(PlanError, match="give clip"):
        Quantile("wage", "0.5", clip=None)


def test_a_true_quantile_is_in_steps_and_of_nobody_at_the_lower_end():
    """Of 30, 40 and 50 in steps of 10 half is at 40; a cell without rows is at 20."""
    median = Quantile("wage", "1/2", clip=(20, 50), step=10)
    (of,) = median.aggregates
    assert median.value({of: Ragged(np.array([0, 3, 3]), np.array([3, 4, 5]))}).tolist() == [4, 2]
