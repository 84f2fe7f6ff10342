"""Hadamard matrices and successive difference replication: identities that hold to the last bits."""

import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.schema import Replication
from sfumato.statistics.replication import hadamard, sdr_factors


def circular(values):
    """Half the sum of squared successive differences, the last unit beside the first."""
    return np.square(values - np.roll(values, -1)).sum() / 2


def variance(values, replicates=80):
    return float(Replication().variance(values.sum(), values @ sdr_factors(len(values), replicates)))


@pytest.mark.parametrize("order", [1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 80, 84, 160])
def test_rows_and_columns_are_orthogonal_signs_and_the_first_are_ones(order):
    matrix = hadamard(order).astype(int)
    assert set(np.unique(matrix)) <= {-1, 1}
    assert (matrix @ matrix.T == order * np.eye(order)).all()
    assert (matrix[0] == 1).all()
    assert (matrix[:, 0] == 1).all()


@pytest.mark.parametrize("order", [-4, 0, 3, 6, 10, 28, 92])
def test_an_order_that_cannot_be_built_is_refused_by_its_own_number(order):
    with pytest.raises(PlanError, match=rf"order {order} .*80 and 160"):
        hadamard(order)


@pytest.mark.parametrize("count", [1, 2, 78, 79, 80, 1_000])
def test_the_factors_are_three_numbers_and_average_one_for_every_unit(count):
    factors = sdr_factors(count)
    assert factors.shape == (count, 80)
    assert set(np.unique(factors.round(4))) <= {0.2929, 1.0, 1.7071}
    assert np.allclose(factors.mean(axis=1), 1, rtol=0, atol=1e-14)


def test_the_factors_repeat_after_79_units():
    assert (sdr_factors(200)[79:158] == sdr_factors(79)).all()


@pytest.mark.parametrize(("count", "replicates"), [(79, 80), (159, 160), (19, 20), (2, 80), (50, 80)])
def test_the_variance_of_a_total_is_half_the_circular_sum_of_squared_differences(count, replicates):
    values = np.random.default_rng(count).lognormal(5, 1, count)
    assert variance(values, replicates) == pytest.approx(circular(values), rel=1e-12)


def test_a_longer_sample_gives_the_circular_sum_over_its_79_systematic_parts():
    values = np.random.default_rng(1).lognormal(5, 1, 1_000)
    parts = np.bincount(np.arange(1_000) % 79, values)
    assert variance(values) == pytest.approx(circular(parts), rel=1e-12)


def test_a_constant_has_no_variance_and_neither_has_one_unit():
    assert variance(np.full(79, 7.0)) == pytest.approx(0, abs=1e-20)
    assert variance(np.array([7.0])) == 0


def test_in_random_order_it_is_the_variance_of_independent_units():
    # 2,000 samples of 400: the mean of the estimates has a standard error of 0.4%; 3% is beyond seven of them.
    rng = np.random.default_rng(3)
    factors = sdr_factors(400)
    samples = rng.normal(0, 2, (2_000, 400))
    estimates = Replication().variance(samples.sum(axis=1), samples @ factors)
    assert estimates.mean() == pytest.approx(400 * 4, rel=0.03)


@pytest.mark.parametrize(("count", "replicates"), [(0, 80), (5, 2)])
def test_too_few_units_or_replicates_are_refused(count, replicates):
    with pytest.raises(PlanError, match="needs 1 and 4 or more"):
        sdr_factors(count, replicates)
