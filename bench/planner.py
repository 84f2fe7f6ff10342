"""The errors that ResidualPlanner is made for, coded apart, beside ours: all tables of up to three variables at mu 1.

Three data sets of its paper by the sizes of their variables, and the survey of the demo. Its two programs are written
down here from the paper (Xiao, He, Zhang and Kifer 2023) and share no code with ours: the least sum of the variances of
all cells by the inequality of Cauchy and Schwarz over residual bases, in numpy; the least largest variance as the
convex program that it is, solved by Clarabel, as theirs is through cvxpy. Ours are the aim "cells" and the even design,
which is no optimum by itself: it is shown how near it comes. *SD* is the root mean squared error of a cell, *variance*
the largest of any; CPU is of finding the design, in exact fractions in ours. Neither has noise on it yet, so that
rounding is in neither.

Of a universe of 360 cells no residuals are needed: a matrix holds every cell of every table, and its singular values
bound what any mechanism with normal noise can do (Li and Miklau 2013), which is what the designs come to.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import combinations
from math import prod, sqrt

import numpy as np
from bench.line import Line, timed
from scipy import sparse

from sfumato.mechanisms.margin_aims import unit_design
from sfumato.schema import Attribute, Family, Levels, Schema, UpTo

WAYS = 3
DOMAINS = {
    "Adult": (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2),
    "CPS": (100, 50, 7, 4, 2),
    "Loans": (101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15),
    "ORS": (5, 4, 3, 3, 3, 2, 2, 2, 2, 2),
}
SMALL = (5, 4, 3, 3, 2)
LEAST_SUM, LEAST_LARGEST = "ResidualPlanner's least sum, coded apart", "ResidualPlanner's least largest, by Clarabel"
SINGULAR = "the bound of singular values"
Sizes = tuple[int, ...]
Subset = tuple[int, ...]


def lines(*, quick: bool = False) -> Iterator[Line]:
    for name, sizes in ({"CPS": DOMAINS["CPS"]} if quick else DOMAINS).items():
        ours, cpu = best_of(lambda sizes=sizes: our_mean_error(sizes))
        theirs, cpu_theirs = best_of(lambda sizes=sizes: their_mean_error(sizes))
        yield _line(f"{name}, tables of up to 3: error of a cell", "SD", (ours, cpu), LEAST_SUM, (theirs, cpu_theirs))
        if find_spec("clarabel"):  # pip install sfumato[bench]
            ours, cpu = best_of(lambda sizes=sizes: our_largest(sizes))
            theirs, cpu_theirs = best_of(lambda sizes=sizes: their_largest(sizes))
            what = f"{name}, tables of up to 3: largest variance"
            yield _line(what, "var", (ours, cpu), LEAST_LARGEST, (theirs, cpu_theirs))
    ours, cpu = best_of(lambda: our_mean_error(SMALL))
    bound, cpu_theirs = best_of(lambda: singular_bound(SMALL))
    yield _line("360 cells, tables of up to 3: error of a cell", "SD", (ours, cpu), SINGULAR, (bound, cpu_theirs))


def _line(what: str, unit: str, ours: tuple[float, float], peer: str, theirs: tuple[float, float]) -> Line:
    apart = ours[0] / theirs[0] - 1
    return Line(
        what, unit, ours[0], peer, theirs[0], cpu=ours[1], cpu_theirs=theirs[1], agree=abs(apart) < 1e-4,
        note=f"{ours[0]:.6g} and {theirs[0]:.6g}: {apart:+.1e} apart",
    )  # fmt: skip


def best_of(work: Callable[[], float], times: int = 3) -> tuple[float, float]:
    """What a piece of work finds, and the least CPU that it took."""
    taken = [timed(work) for _ in range(times)]
    found = taken[0][2]
    assert isinstance(found, float)
    return found, min(cpu for _, cpu, _ in taken)


# Ours


def tables(sizes: Sizes) -> Family:
    of = Schema(tuple(Attribute(f"v{place}", Levels.of(range(size))) for place, size in enumerate(sizes)))
    return UpTo(WAYS, of.names).family(of)


def our_mean_error(sizes: Sizes) -> float:
    family = tables(sizes)
    unit_design.cache_clear()
    design = unit_design(family, None, "cells")
    cells = {one: prod(family.shape(one)) for one in family.components}
    summed = sum(cells[one] * float(variance) for one, variance in design.cell_variances.items())
    return sqrt(summed * float(design.cost) / sum(cells.values()))


def our_largest(sizes: Sizes) -> float:
    unit_design.cache_clear()
    return float(unit_design(tables(sizes), None, None).cost)


# Theirs, from the paper


def _subsets(of: Subset) -> Iterator[Subset]:
    for many in range(len(of) + 1):
        yield from combinations(of, many)


def _workload(sizes: Sizes) -> list[Subset]:
    return [one for many in range(WAYS + 1) for one in combinations(range(len(sizes)), many)]


def _cost(sizes: Sizes, residual: Subset) -> float:
    """What a residual mechanism of variance 1 costs."""
    return prod((sizes[at] - 1) / sizes[at] for at in residual)


def _share(sizes: Sizes, residual: Subset, table: Subset) -> float:
    """What a cell of a table has of the variance of a residual mechanism."""
    return _cost(sizes, residual) * prod(1 / sizes[at] ** 2 for at in table if at not in residual)


def their_mean_error(sizes: Sizes) -> float:
    """Least Σ v σ² where Σ p / σ² is 1: (Σ √(v p))²."""
    found: dict[Subset, float] = {}
    cells = 0
    for table in _workload(sizes):
        size = prod(sizes[at] for at in table)
        cells += size
        for residual in _subsets(table):
            found[residual] = found.get(residual, 0.0) + size * _share(sizes, residual, table)
    return sum(sqrt(v * _cost(sizes, residual)) for residual, v in found.items()) / sqrt(cells)


def their_largest(sizes: Sizes) -> float:
    """Least Σ p / s where no cell has a variance above 1: t ≥ p / s as ‖(2 √p, t − s)‖ ≤ t + s."""
    import clarabel

    residuals = _workload(sizes)
    place = {one: at for at, one in enumerate(residuals)}
    count = len(residuals)
    rows, columns, values = [], [], []
    for at, table in enumerate(residuals):
        for residual in _subsets(table):
            rows.append(at)
            columns.append(place[residual])
            values.append(_share(sizes, residual, table))
    bounds = sparse.csc_matrix((values, (rows, columns)), shape=(count, 2 * count))
    eye, none = sparse.identity(count), sparse.csc_matrix((count, count))
    # For each residual, one after the other: t + s, then 2 √p, then t − s.
    parts = [sparse.hstack(pair) for pair in ((-eye, -eye), (none, none), (eye, -eye))]
    order = np.arange(3 * count).reshape(3, count).T.ravel()
    cones = sparse.vstack(parts).tocsr()[order]
    middle = np.stack([np.zeros(count), [2 * sqrt(_cost(sizes, one)) for one in residuals], np.zeros(count)], axis=1)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((2 * count, 2 * count)),
        np.concatenate([np.zeros(count), np.ones(count)]),
        sparse.vstack([bounds, cones]).tocsc(),
        np.concatenate([np.ones(count), middle.ravel()]),
        [clarabel.NonnegativeConeT(count), *[clarabel.SecondOrderConeT(3)] * count],
        settings,
    ).solve()
    return float(found.obj_val)


def singular_bound(sizes: Sizes) -> float:
    """The root of (Σ singular values)² / cells of the universe, over the cells of all tables."""
    parts = []
    for table in _workload(sizes):
        found = np.ones((1, 1))
        for at, size in enumerate(sizes):
            found = np.kron(found, np.eye(size) if at in table else np.ones((1, size)))
        parts.append(found)
    matrix = np.concatenate(parts)
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(matrix.T @ matrix), 0.0))
    return float(values.sum() / sqrt(prod(sizes) * len(matrix)))
