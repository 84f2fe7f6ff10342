"""Leaves from 0 on: against a solver by other people, and what the bound costs."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from tests.calibrate.test_tree import sums_of

from sfumato.calibrate.tree import Tree, least_squares_on
from sfumato.calibrate.tree_nonnegative import nonnegative_on
from sfumato.errors import DataError


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_bounded_least_squares_of_scipy(seed):
    rng = np.random.default_rng(seed)
    tree = Tree.nested(np.zeros(12, int), np.repeat(np.arange(4), 3))
    variances = rng.uniform(0.5, 3, tree.size)
    variances[2] = np.inf
    values = tree.totals(rng.poisson(0.7, 12).astype(float)) + rng.normal(size=tree.size) * 1.5
    told = np.isfinite(variances)
    root = 1 / np.sqrt(variances[told])
    theirs = lsq_linear(sums_of(tree)[told] * root[:, None], values[told] * root, (0, np.inf), tol=1e-14).x
    found = nonnegative_on(tree, values, variances)
    assert found[~tree.inner] == pytest.approx(theirs, abs=1e-5)
    assert (found[~tree.inner] >= 0).all()
    np.testing.assert_allclose(sums_of(tree) @ found[~tree.inner], found, atol=1e-12)


def test_without_negative_leaves_it_is_the_plain_fit():
    tree = Tree(np.array([-1, 0, 0]))
    found = nonnegative_on(tree, [12.0, 3.0, 5.0], [1.0, 1.0, 3.0])
    assert found.tolist() == least_squares_on(tree, [12.0, 3.0, 5.0], [1.0, 1.0, 3.0]).estimates.tolist()


def test_the_bound_raises_small_leaves_on_average_and_the_plain_fit_does_not():
    """The bias is real: 400 empty leaves are raised by far more than 6 sd, the plain fit is within 6 sd of 0."""
    tree = Tree.nested(np.zeros(400, int))
    variances = np.r_[40_000.0, np.ones(400)]
    values = np.random.default_rng(3).normal(size=401) * np.sqrt(variances)
    room = 6 * float(np.sqrt(least_squares_on(tree, values, variances).variance(np.full(400, 1 / 400))))
    assert abs(least_squares_on(tree, values, variances).leaves.mean()) < room
    assert nonnegative_on(tree, values, variances)[1:].mean() > room


def test_exact_numbers_are_refused_with_what_would_work():
    with pytest.raises(DataError, match="small variance"):
        nonnegative_on(Tree(np.array([-1, 0, 0])), [1.0, -3.0, 5.0], [1.0, 0.0, 1.0])
