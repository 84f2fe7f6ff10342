"""Least squares on a tree beside solvers of quadratic programmes: five levels, a million leaves, rows in no order.

All get the problem in leaves and totals together (min Σ (x − y)² / v, the totals equal to the sums of their parts),
which is the sparsest way to write it; a call is timed with the making of its matrices, after a small one that loads
the library. Ours is the median of five calls, theirs one; ratios are of CPU seconds. Clarabel has tolerances of 1e-12.
With leaves from 0 on ours fits again with some leaves held at 0; Clarabel and PIQP have tolerances of 1e-12, which they
take relative to the largest total, and OSQP 1e-9 and two minutes at most. Nobody is compared who does not say that it
is solved, or whose leaves are more than a thousandth of their own error away.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from bench.line import Goal, Line, timed

from sfumato.calibrate.tree import Tree, least_squares_on
from sfumato.calibrate.tree_nonnegative import nonnegative_on

Measured = tuple[Tree, np.ndarray, np.ndarray, np.ndarray]
Found = tuple[np.ndarray, str]
CLOSE = 1e-3
"""How far the leaves of a peer may be from ours, in standard errors."""


def lines(*, quick: bool) -> Iterator[Line]:
    if find_spec("clarabel"):  # pip install sfumato[bench]
        yield against_clarabel(10**4 if quick else 10**6)
    for count in (10**3, 10**4) if quick else (10**4, 10**5, 10**6):
        yield from nonnegative(count)


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
    cpu, fit = fifth(lambda: least_squares_on(tree, values, variances))
    by_clarabel(*small())
    _, cpu_theirs, (theirs, status) = timed(lambda: by_clarabel(tree, values, variances))  # type: ignore[misc]
    apart = float(np.max(np.abs(fit.estimates - theirs) / np.maximum(1.0, np.abs(theirs))))
    return Line(
        f"tree least squares, {leaves:,} leaves, 5 levels", "CPU s", cpu, "Clarabel", cpu_theirs,
        cpu=cpu, cpu_theirs=cpu_theirs, agree=status == "Solved" and apart < 1e-8, goal=Goal(100),
        note=f"its status: {status}; largest relative difference {apart:.1e}",
    )  # fmt: skip


def fifth(work: Callable[[], Any]) -> tuple[float, Any]:
    """The median CPU seconds of five calls after one that compiles, and what they make."""
    made = work()
    return float(np.median([timed(work)[1] for _ in range(5)])), made


def small() -> tuple[Tree, np.ndarray, np.ndarray]:
    tree, _, values, variances = measured(1_000)
    return tree, values, variances


def nonnegative(leaves: int) -> Iterator[Line]:
    tree, truth, values, variances = measured(leaves)
    plain = least_squares_on(tree, values, variances)
    cpu, found = fifth(lambda: nonnegative_on(tree, values, variances))
    leaf = ~tree.inner
    # The fit without the bound is unbiased, so what the bound adds to it is the bias.
    added, size = found[leaf] - plain.leaves, truth[leaf]
    what = f"the same with leaves from 0 on, {leaves:,} leaves"
    yield Line(
        what, "CPU s", cpu, cpu=cpu,
        note=f"{int((plain.leaves < 0).sum()):,} were below 0; bias {added.mean():+.4f} a leaf (mean size "
        f"{size.mean():.1f}), {added[size <= 1].mean():+.2f} where the true size is 0 or 1",
    )  # fmt: skip
    for name in PEERS:
        if find_spec(name.lower()):
            yield beside(what, name, cpu, found, (tree, values, variances))


def beside(what: str, name: str, cpu: float, ours: np.ndarray, given: tuple[Tree, np.ndarray, np.ndarray]) -> Line:
    """One peer on the same problem; it is compared if it says that it is done, and is."""
    PEERS[name](*small())
    _, cpu_theirs, (theirs, status) = timed(lambda: PEERS[name](*given))  # type: ignore[misc]
    tree, _, variances = given
    leaf = ~tree.inner
    solved = status.lower() in {"solved", "piqp_solved"}
    gap = float(np.max(np.abs(ours - theirs)[leaf] / np.sqrt(variances[leaf]))) if solved else np.inf
    note = f"its status: {status}" + (f"; largest difference {gap:.1e} standard errors" if solved else "")
    if gap > CLOSE:
        unsaid = f"not compared; {note}; {cpu_theirs:.2f} CPU s"
        return Line(what, "CPU s", cpu, name, cpu=cpu, agree=False if solved else None, note=unsaid)
    return Line(what, "CPU s", cpu, name, cpu_theirs, cpu=cpu, cpu_theirs=cpu_theirs, agree=True, note=note)


def programme(tree: Tree, values: np.ndarray, variances: np.ndarray) -> tuple[Any, np.ndarray, Any, Any]:
    """Squares, slopes, the sums that are 0 and the leaves, over all nodes; squares are 1 in the middle."""
    from scipy import sparse

    inner, leaves, below = np.flatnonzero(tree.inner), np.flatnonzero(~tree.inner), np.flatnonzero(tree.parents >= 0)
    rank = np.cumsum(tree.inner) - 1
    # Each total less its parts is 0.
    rows = np.concatenate([rank[inner], rank[tree.parents[below]]])
    entries = np.concatenate([np.ones(len(inner)), -np.ones(len(below))])
    sums = sparse.csc_matrix((entries, (rows, np.concatenate([inner, below]))), shape=(len(inner), tree.size))
    picked = sparse.csc_matrix((np.ones(len(leaves)), (np.arange(len(leaves)), leaves)), shape=(len(leaves), tree.size))
    weights = 1 / variances / np.median(1 / variances)
    return sparse.csc_matrix(sparse.diags_array(weights)), -weights * values, sums, picked


def by_clarabel(tree: Tree, values: np.ndarray, variances: np.ndarray, *, bounded: bool = False) -> Found:
    import clarabel
    from scipy import sparse

    squares, slopes, sums, leaves = programme(tree, values, variances)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(sums.shape[0])]
    if bounded:
        sums = sparse.vstack([sums, -leaves], format="csc")
        cones.append(clarabel.NonnegativeConeT(leaves.shape[0]))
    solution = clarabel.DefaultSolver(squares, slopes, sums, np.zeros(sums.shape[0]), cones, settings).solve()
    return np.asarray(solution.x), str(solution.status)


def by_piqp(tree: Tree, values: np.ndarray, variances: np.ndarray) -> Found:
    import piqp

    squares, slopes, sums, _ = programme(tree, values, variances)
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-12
    solver.settings.verbose = False
    solver.setup(squares, slopes, sums, np.zeros(sums.shape[0]), x_l=np.where(tree.inner, -np.inf, 0.0))
    status = solver.solve()
    return np.asarray(solver.result.x), status.name


def by_osqp(tree: Tree, values: np.ndarray, variances: np.ndarray) -> Found:
    import osqp
    from scipy import sparse

    squares, slopes, sums, leaves = programme(tree, values, variances)
    solver, zeros = osqp.OSQP(), np.zeros(sums.shape[0])
    solver.setup(
        squares, slopes, sparse.vstack([sums, leaves], format="csc"), np.zeros(len(zeros) + leaves.shape[0]),
        np.concatenate([zeros, np.full(leaves.shape[0], np.inf)]),
        eps_abs=1e-9, eps_rel=1e-9, max_iter=100_000, time_limit=120.0, verbose=False,
    )  # fmt: skip
    solution = solver.solve()
    return np.asarray(solution.x), str(solution.info.status)


PEERS: dict[str, Callable[[Tree, np.ndarray, np.ndarray], Found]] = {
    "PIQP": by_piqp,
    "OSQP": by_osqp,
    "Clarabel": lambda *given: by_clarabel(*given, bounded=True),
}
