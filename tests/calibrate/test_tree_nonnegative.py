"""Leaves from 0 on: against a solver by other people, and what the bound costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from tests.calibrate.test_tree import sums_of

import sfumato.kernels.tree as plain
from sfumato.calibrate import tree as trees
from sfumato.calibrate import tree_nonnegative as nonnegative
from sfumato.calibrate.tree import Tree, least_squares_on
from sfumato.calibrate.tree_nonnegative import nonnegative_on
from sfumato.errors import DataError
from sfumato.kernels import tree_compiled as compiled


def bounded(tree, values, variances):
    """The same by the active sets of Stark and Parker, as scipy has them, on a matrix that knows nothing of trees."""
    told = np.isfinite(variances)
    root = 1 / np.sqrt(variances[told])
    return lsq_linear(sums_of(tree)[told] * root[:, None], values[told] * root, (0, np.inf), method="bvls", tol=1e-15)


def unfit(tree, values, variances, estimates):
    """The sum of squares that is made small."""
    told = np.isfinite(variances)
    return float((((values - estimates) ** 2)[told] / variances[told]).sum())


@st.composite
def measured(draw):
    """A random forest of small or empty leaves, all of them measured, and most totals."""
    size = draw(st.integers(2, 16))
    tree = Tree(np.array([-1] + [draw(st.integers(-1, place - 1)) for place in range(1, size)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    variances = rng.choice([0.5, 1.0, 3.0, 40.0], size)
    variances[tree.inner & (rng.random(size) < 0.3)] = np.inf
    truth = tree.totals(rng.poisson(0.7, int((~tree.inner).sum())).astype(float))
    return tree, truth + rng.normal(size=size) * np.sqrt(np.where(np.isfinite(variances), variances, 0)), variances


@settings(max_examples=150, deadline=None)
@given(measured())
@pytest.mark.parametrize("law", [plain, compiled], ids=["plain", "compiled"])
def test_it_is_the_bounded_least_squares_of_scipy(law, problem):
    tree, values, variances = problem
    with pytest.MonkeyPatch.context() as patch:
        for module in (trees, nonnegative):
            patch.setattr(module, "kernel", lambda: law)
        found = nonnegative_on(tree, values, variances)
    assert found[~tree.inner] == pytest.approx(bounded(tree, values, variances).x, abs=1e-8)
    assert (found[~tree.inner] >= 0).all()
    np.testing.assert_allclose(sums_of(tree) @ found[~tree.inner], found, atol=1e-12)


def test_where_leaves_were_never_measured_it_is_as_good_as_scipys():
    """Several answers are equally good then; none is better."""
    rng, tree = np.random.default_rng(4), Tree.nested(np.zeros(12, int), np.repeat(np.arange(4), 3))
    for _ in range(20):
        variances = rng.uniform(0.5, 3, tree.size)
        variances[rng.choice(tree.size, 5, replace=False)] = np.inf
        values = rng.normal(size=tree.size) * 2
        found = nonnegative_on(tree, values, variances)
        assert (found[~tree.inner] >= 0).all()
        best = unfit(tree, values, variances, sums_of(tree) @ np.maximum(bounded(tree, values, variances).x, 0))
        assert unfit(tree, values, variances, found) == pytest.approx(best, rel=1e-8, abs=1e-8)


def large():
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(500), 10)
    tree = Tree.nested(np.zeros(5000, int), groups // 25, groups)
    truth = tree.totals(np.floor(rng.lognormal(1, 1.2, 5000)))
    variances = 2 * truth + 0.5
    return tree, truth + rng.normal(size=tree.size) * np.sqrt(variances), variances


def test_no_leaf_could_move_and_lower_the_sum_of_squares():
    """The conditions of Karush, Kuhn and Tucker, by walking up from every leaf; a plain fit cut off at 0 fails."""
    tree, values, variances = large()

    def scores(estimates):
        return sums_of(tree).T @ ((values - estimates) / variances)

    found = nonnegative_on(tree, values, variances)
    leaves = found[~tree.inner]
    assert np.abs(scores(found)[leaves > 0]).max() < 1e-12
    assert scores(found)[leaves == 0].max() < 1e-12
    assert 300 < (leaves == 0).sum() < 2000
    cut = tree.totals(np.maximum(least_squares_on(tree, values, variances).leaves, 0))
    assert np.abs(scores(cut)[cut[~tree.inner] > 0]).max() > 1e-3


def test_piqp_finds_the_same_where_the_rounds_run_out(monkeypatch):
    """It differs by what an interior point leaves over: less than a thousandth of an error."""
    tree, values, variances = large()
    found = nonnegative_on(tree, values, variances)
    monkeypatch.setattr(nonnegative, "ROUNDS", 0)
    theirs = nonnegative_on(tree, values, variances)
    assert not np.array_equal(found, theirs)
    assert (np.abs(found - theirs) < 1e-3 * np.sqrt(variances)).all()


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
