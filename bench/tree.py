"""Least squares on a tree beside interior-point solvers: five levels, a million leaves, rows in no order.

Clarabel is called with tolerances of 1e-12, on the problem in leaves and totals together (min Σ (x − y)² / v, the
totals equal to the sums of their parts), which is the sparsest way to write it. PIQP gets the same problem with leaves
from 0 on.
"""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from bench.line import Line, timed

from sfumato.calibrate.tree import Tree, TreeFit, least_squares_on
from sfumato.calibrate.tree_nonnegative import nonnegative_on

Measured = tuple[Tree, np.ndarray, np.ndarray, np.ndarray]


def lines(*, quick: bool) -> Iterator[Line]:
    if find_spec("clarabel"):  # pip install sfumato[bench]
        yield against_clarabel(10**4 if quick else 10**6)
    for count in (10**3, 10**4) if quick else (10**4, 10**5, 10**6):
        yield nonnegative(count)


def measured(leaves: int, seed: int = 1) -> Measured:
    """Skewed sizes in a tree of five levels, every node measured, and the true totals."""
    rng = np.random.default_rng(seed)
    sizes = [50, max(50, leaves // 500), max(100, leaves // 20)]
    groups = [rng.integers(0, sizes[2], leaves)]
    for coarse, fine in ((sizes[1], sizes[2]), (sizes[0], sizes[1])):
        groups.insert(0, rng.integers(0, coarse, fine)[groups[0]])
    filled = [np.unique(one, return_inverse=True)[1] for one in groups]
    tree = Tree.nested(np.zeros(leaves, dtype=int), *filled)
    truth = tree.totals(np.floor(rng.lognormal(1.7, 1.25, leaves)))
    variances = 4 * truth * 0.5 + 0.5
    return tree, truth, truth + rng.normal(size=tree.size) * np.sqrt(variances), variances


def against_clarabel(leaves: int) -> Line:
    tree, _, values, variances = measured(leaves)
    least_squares_on(tree, values, variances)
    wall, cpu, fit = min(
        (timed(lambda: least_squares_on(tree, values, variances)) for _ in range(5)), key=lambda one: one[1]
    )
    wall_theirs, cpu_theirs, (theirs, solving) = timed(lambda: clarabel_fit(tree, values, variances))  # type: ignore[misc]
    assert isinstance(fit, TreeFit)
    apart = float(np.max(np.abs(fit.estimates - theirs) / np.maximum(1.0, np.abs(theirs))))
    return Line(
        f"tree least squares, {leaves:,} leaves, 5 levels", "s", wall, "Clarabel, whole call", wall_theirs,
        threads=1, cpu=cpu, cpu_theirs=cpu_theirs, agree=apart < 1e-8,
        note=f"{cpu_theirs / cpu:,.0f}x less CPU; its solver alone says {solving:.2f} s; largest relative "
        f"difference {apart:.1e}",
    )  # fmt: skip


def clarabel_fit(tree: Tree, values: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, float]:
    import clarabel
    from scipy import sparse

    inner = np.flatnonzero(tree.inner)
    rank = np.cumsum(tree.inner) - 1
    below = np.flatnonzero(tree.parents >= 0)
    # Each total less its parts is 0.
    rows = np.concatenate([rank[inner], rank[tree.parents[below]]])
    entries = np.concatenate([np.ones(len(inner)), -np.ones(len(below))])
    sums = sparse.csc_matrix((entries, (rows, np.concatenate([inner, below]))), shape=(len(inner), tree.size))
    scale = 1 / variances
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        sparse.diags_array(scale, format="csc"), -scale * values, sums, np.zeros(len(inner)),
        [clarabel.ZeroConeT(len(inner))], settings,
    )  # fmt: skip
    solution = solver.solve()
    assert str(solution.status) in {"Solved", "AlmostSolved"}, solution.status
    return np.asarray(solution.x), float(solution.solve_time)


def nonnegative(leaves: int) -> Line:
    tree, truth, values, variances = measured(leaves)
    plain = least_squares_on(tree, values, variances)
    wall, cpu, found = timed(lambda: nonnegative_on(tree, values, variances))
    leaf = ~tree.inner
    # The fit without the bound is unbiased, so what the bound adds to it is the bias.
    added, size = np.asarray(found)[leaf] - plain.leaves, truth[leaf]
    small = float(added[size <= 1].mean())
    return Line(
        f"the same with leaves from 0 on, {leaves:,} leaves", "s", wall, cpu=cpu,
        note=f"PIQP; {int((plain.leaves < 0).sum()):,} were below 0; bias {added.mean():+.4f} a leaf (mean size "
        f"{size.mean():.1f}), {small:+.2f} where the true size is 0 or 1",
    )  # fmt: skip
