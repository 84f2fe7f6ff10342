"""Least squares on a tree with leaves from 0 on: a quadratic programme, solved by PIQP where it is installed.

What it costs. Of leaves whose measurements are unbiased, those drawn below 0 are raised and nothing is lowered as much,
so leaves near 0 are too large on average: with skewed sizes of 11 jobs on average and errors of some jobs, those of 0
or 1 job by a quarter of one, all of them by 0.2% (`python -m bench tree`).
"""

import numpy as np
from numpy.typing import ArrayLike

from sfumato.calibrate.tree import Tree, least_squares_on
from sfumato.errors import DataError
from sfumato.kernels.tree import Floats

CLOSE = 1e-9
"""How exactly the programme is solved, relative to its numbers."""


def nonnegative_on(tree: Tree, values: ArrayLike, variances: ArrayLike) -> Floats:
    """Estimates for all nodes that add up, with no leaf below 0 and as close to the measurements as that allows."""
    plain = least_squares_on(tree, values, variances)
    if (plain.leaves >= 0).all():
        return plain.estimates
    leaves = _solved(tree, np.asarray(values, dtype=np.float64), np.asarray(variances, dtype=np.float64))
    # An interior point stops just short of the bound, and its sums at a tolerance: both are made exact.
    return tree.totals(np.where(leaves > CLOSE * max(1.0, float(np.abs(leaves).max())), leaves, 0.0))


def _solved(tree: Tree, values: Floats, variances: Floats) -> Floats:
    """The leaves of the programme: all nodes as unknowns, each total equal to its parts, so that nothing fills in."""
    try:
        import piqp
    except ImportError:
        raise DataError(
            "Leaves from 0 on are found with PIQP, which is not installed; `pip install sfumato[agency]` has it."
        ) from None
    from scipy import sparse

    told = np.isfinite(variances)
    if (variances[told] <= 0).any():
        raise DataError("Leaves from 0 on are fitted to measurements with errors; give exact numbers a small variance.")
    weights = np.where(told, 1 / variances, 0.0)
    unit = float(np.median(weights[told])) if told.any() else 1.0
    aims = -weights / unit * np.where(told, values, 0.0)
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = CLOSE
    solver.settings.verbose = False
    squares = sparse.csc_matrix(sparse.diags_array(weights / unit))
    sums = _sums(tree)
    solver.setup(squares, aims, sums, np.zeros(sums.shape[0]), x_l=np.where(tree.inner, -np.inf, 0.0))
    if solver.solve() != piqp.PIQP_SOLVED:
        raise DataError("PIQP found no leaves from 0 on; are some totals measured far below 0?")
    return np.asarray(solver.result.x, dtype=np.float64)[~tree.inner]


def _sums(tree: Tree):  # type: ignore[no-untyped-def] # noqa: ANN202 - a sparse matrix of scipy
    """The equations: each total less its parts is 0."""
    from scipy import sparse

    inner, below = np.flatnonzero(tree.inner), np.flatnonzero(tree.parents >= 0)
    rank = np.cumsum(tree.inner) - 1
    rows = np.concatenate([rank[inner], rank[tree.parents[below]]])
    entries = np.concatenate([np.ones(len(inner)), -np.ones(len(below))])
    columns = np.concatenate([inner, below])
    return sparse.csc_matrix((entries, (rows, columns)), shape=(len(inner), tree.size))
