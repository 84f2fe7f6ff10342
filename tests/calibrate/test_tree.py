"""Least squares on a tree, against dense linear algebra that knows nothing of trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space

import sfumato.kernels.tree as plain
from sfumato.calibrate import tree as trees
from sfumato.calibrate.tree import Tree, least_squares_on
from sfumato.errors import DataError
from sfumato.kernels import tree_compiled as compiled

INF = float("inf")


@pytest.fixture(params=[plain, compiled], ids=["plain", "compiled"])
def kernel(request, monkeypatch):
    monkeypatch.setattr(trees, "kernel", lambda: request.param)


@st.composite
def measured(draw):
    """A random forest with true totals, and measurements of them: some exact, some missing."""
    size = draw(st.integers(1, 14))
    parents = [-1] + [draw(st.integers(-1, place - 1)) for place in range(1, size)]
    tree = Tree(np.array(parents))
    leaves = np.array([draw(st.integers(-5, 40)) for _ in range(int((~tree.inner).sum()))], dtype=float)
    variances = np.array([draw(st.sampled_from([0.0, INF, 0.5, 1.0, 3.0, 7.5])) for _ in range(size)])
    errors = np.array([draw(st.floats(-4, 4)) for _ in range(size)])
    truth = sums_of(tree) @ leaves
    values = truth + np.where(
        np.isfinite(variances), np.sqrt(np.where(np.isinf(variances), 0, variances)) * errors, np.nan
    )
    return tree, values, variances


def sums_of(tree: Tree) -> np.ndarray:
    """For each node and leaf whether the leaf is under the node, by walking up."""
    leaves = np.flatnonzero(~tree.inner)
    found = np.zeros((tree.size, len(leaves)))
    for column, node in enumerate(leaves):
        at = node
        while at >= 0:
            found[at, column] = 1
            at = tree.parents[at]
    return found


class Dense:
    """The same by a null space of what is exact and a pseudo-inverse of what is not."""

    def __init__(self, tree: Tree, values: np.ndarray, variances: np.ndarray) -> None:
        self.sums = sums_of(tree)
        exact, told = variances == 0, np.isfinite(variances) & (variances > 0)
        start = np.zeros(self.sums.shape[1])
        self.free = np.eye(self.sums.shape[1])
        if exact.any():
            start = np.linalg.lstsq(self.sums[exact], values[exact], rcond=None)[0]
            self.free = null_space(self.sums[exact], rcond=1e-10)
        root = self.sums[told] / np.sqrt(variances[told])[:, None]
        self.information = (root @ self.free).T @ (root @ self.free)
        self.information[np.abs(self.information) < 1e-12] = 0  # rounding, which the pseudo-inverse would blow up
        self.inverse = np.linalg.pinv(self.information, rcond=1e-10)
        gap = (values[told] - self.sums[told] @ start) / np.sqrt(variances[told])
        self.leaves = start + self.free @ (self.inverse @ ((root @ self.free).T @ gap))

    def determined(self, weights: np.ndarray) -> bool:
        seen = self.free.T @ weights
        return bool(np.allclose(self.information @ (self.inverse @ seen), seen, atol=1e-7))

    def covariance(self, one: np.ndarray, other: np.ndarray) -> float:
        return float((self.free.T @ one) @ self.inverse @ (self.free.T @ other))


@settings(max_examples=150, deadline=None)
@given(measured())
@pytest.mark.parametrize("law", [plain, compiled], ids=["plain", "compiled"])
def test_estimates_and_variances_are_those_of_dense_least_squares(law, problem):
    tree, values, variances = problem
    dense = Dense(tree, values, variances)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "kernel", lambda: law)
        fit = least_squares_on(tree, values, variances)
        assert np.allclose(dense.sums @ fit.leaves, fit.estimates, atol=1e-9)
        for node in range(tree.size):
            if dense.determined(dense.sums[node]):
                assert fit.estimates[node] == pytest.approx(dense.sums[node] @ dense.leaves, abs=1e-7)
                expected = dense.covariance(dense.sums[node], dense.sums[node])
                assert fit.variances[node] == pytest.approx(expected, abs=1e-7)
            else:
                assert fit.variances[node] == INF


@settings(max_examples=100, deadline=None)
@given(measured(), st.lists(st.integers(-2, 2), min_size=28, max_size=28))
@pytest.mark.parametrize("law", [plain, compiled], ids=["plain", "compiled"])
def test_the_error_of_any_two_sums_is_that_of_dense_least_squares(law, problem, chosen):
    tree, values, variances = problem
    dense = Dense(tree, values, variances)
    one, other = np.array(chosen[: tree.size], float), np.array(chosen[14 : 14 + tree.size], float)
    flat = [dense.sums.T @ weights for weights in (one, other)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "kernel", lambda: law)
        fit = least_squares_on(tree, values, variances)
        if dense.determined(flat[0]):
            assert fit.variance(one) == pytest.approx(dense.covariance(flat[0], flat[0]), abs=1e-6)
        else:
            assert fit.variance(one) == INF
        if dense.determined(flat[0]) and dense.determined(flat[1]):
            assert fit.covariance(one, other) == pytest.approx(dense.covariance(*flat), abs=1e-6)


def test_a_sum_over_leaves_may_be_given_by_leaves_alone(kernel):
    tree = Tree.nested([0, 0, 0], [0, 0, 1])
    fit = least_squares_on(tree, [9.0, 5.0, 4.0, 1.0, 3.0, 2.0], [2.0, 1.0, 1.0, 1.0, 4.0, 1.0])
    assert fit.variance([1, 1, 1]) == pytest.approx(fit.variances[0])
    assert fit.variance([1, 1, 0]) == pytest.approx(fit.variance([0, 1, 0, 0, 0, 0]))


def test_leaves_without_a_measurement_share_what_is_left_and_the_rest_stays(kernel):
    tree = Tree(np.array([-1, 0, 0, 0]))
    fit = least_squares_on(tree, [10.0, 4.0, np.nan, np.nan], [1.0, 2.0, INF, INF])
    assert fit.estimates.tolist() == [10.0, 4.0, 3.0, 3.0]
    assert fit.variances.tolist() == [1.0, 2.0, INF, INF]
    assert fit.variance([0, 1, 1]) == pytest.approx(3.0)  # together they are the total less the measured leaf


def test_an_exact_total_is_met_and_moves_the_parts_by_their_variances(kernel):
    fit = least_squares_on(Tree(np.array([-1, 0, 0])), [12.0, 3.0, 5.0], [0.0, 1.0, 3.0])
    assert fit.estimates.tolist() == [12.0, 4.0, 8.0]
    assert fit.variances == pytest.approx([0.0, 0.75, 0.75])


def test_a_state_and_its_counties_at_mu_3_and_4_tenths_are_as_good_as_one_at_5_tenths():
    """Toth's example at beta 1: 2 √1,000,000 · 2 = 4,000 is the error of the state, as .3² + .4² = .5²."""
    sizes = np.array([1_000_000.0, 1_200.0, 640_000.0, 358_800.0])
    sigma = 1 / np.array([0.3, 0.4, 0.4, 0.4])
    fit = least_squares_on(Tree(np.array([-1, 0, 0, 0])), sizes, 4 * sizes * sigma**2)
    assert np.sqrt(fit.variances[0]) == pytest.approx(4000, rel=1e-12)


def test_errors_stated_are_the_errors_made():
    """False alarm 1e-9 a node (6.1 sd); variances 5% too small or large are found."""
    tree = Tree.nested([0, 0, 0, 0, 0], [0, 0, 1, 1, 1])
    variances = np.array([4.0, 1.0, INF, 1.0, 2.0, 0.5, 3.0, 1.0])
    rng, runs = np.random.default_rng(1), 40_000
    told = np.isfinite(variances)
    noise = rng.normal(size=(runs, tree.size)) * np.sqrt(np.where(told, variances, 0))
    fits = [least_squares_on(tree, one, variances) for one in noise]
    squares = np.mean([fit.estimates**2 for fit in fits], axis=0)
    stated = fits[0].variances
    room = 6.1 * stated * np.sqrt(2 / runs)
    assert (np.abs(squares - stated) < room).all()
    assert (np.abs(squares - 1.05 * stated) > room).any()
    assert (np.abs(squares - 0.95 * stated) > room).any()


def test_both_kernels_agree_on_a_large_tree():
    rng = np.random.default_rng(2)
    groups = np.unique(rng.integers(0, 300, 5000), return_inverse=True)[1]
    tree = Tree.nested(groups // 50, groups)
    variances = rng.choice([0.0, INF, 1.0, 2.5], tree.size, p=[0.0, 0.2, 0.4, 0.4])
    values = tree.totals(rng.lognormal(2, 1, 5000)) + rng.normal(size=tree.size)
    found = []
    for law in (plain, compiled):
        sums, fault = law.up(tree.above, tree.inner, values, variances, 1e-9)
        assert fault.kind == 0
        weights = np.where(tree.inner, 0.0, 1.0)
        found.append([law.down(tree.above, tree.inner, sums), law.variances(tree.above, tree.inner, sums),
                      law.slopes(tree.above, tree.inner, weights, sums)])  # fmt: skip
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("values", "variances", "said"),
    [
        ([10.0, 3.0, 5.0], [0.0, 0.0, 0.0], "do not add up"),
        ([10.0, 3.0, np.nan], [1.0, 1.0, 1.0], "node 2 is no number"),
        ([10.0, 3.0, 5.0], [1.0, -1.0, 1.0], "variance of node 1"),
        ([10.0, 3.0, 5.0], [1.0, np.nan, 1.0], "variance of node 1"),
        ([10.0, 3.0], [1.0, 1.0], "3 nodes"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_the_node(kernel, values, variances, said):
    with pytest.raises(DataError, match=said):
        least_squares_on(Tree(np.array([-1, 0, 0])), values, variances)


def test_groups_that_are_not_nested_or_empty_are_refused():
    with pytest.raises(DataError, match="not nested"):
        Tree.nested([0, 1, 0], [0, 0, 1])
    with pytest.raises(DataError, match="no rows"):
        Tree.nested([0, 0], [0, 2])
    with pytest.raises(DataError, match="before its children"):
        Tree(np.array([1, -1]))


def test_nested_controls_of_protected_microdata_give_the_same_rows():
    """The step's own equations, with dense matrices, against two passes over the same measurements."""
    from economy import economy, products

    from sfumato.calibrate.microdata import Problem, at_least_0

    sets = {"all": (), "county": (("county", None),), "cell": (("county", None), ("trade", 0))}
    frame, jobs = economy()
    measured_ = products(frame, jobs, 4, sets)
    problem = Problem(measured_["rows"], tuple(measured_[name] for name in sets))
    sizes = at_least_0(problem.measured)
    tree = Tree.nested(*(one.of for one in problem.groupings))
    aims = [one.values.astype(float) * float(one.subject.step) for one in problem.controls]
    weights = problem.spread.trend.in_steps(float(problem.rows.subject.step)).at(sizes, np.zeros(1))
    fit = least_squares_on(
        tree, np.concatenate([*aims, problem.measured]), np.concatenate([*problem.noise(sizes), weights])
    )
    np.testing.assert_allclose(fit.leaves, problem.fit(sizes), rtol=1e-6, atol=1e-6)
