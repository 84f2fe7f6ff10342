"""Least squares to nested totals, as the step `least-squares` makes it, beside a solver of quadratic programmes.

A cube of a million cells and totals of it at four levels, all measured: five levels of a tree. Ours is the whole step,
from the products that it reads to the one that it makes, whose errors are ready to be asked; the median of five calls.
Clarabel gets the problem in cells and totals together (min Σ (x − y)², the totals equal to the sums of their parts),
which is the sparsest way to write it, timed with the making of its matrices, after a small one that loads the library;
its tolerances are 1e-12. Ratios are of CPU seconds.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from bench.line import Goal, Line, timed

from sfumato.calibrate import LeastSquares
from sfumato.release import Cube, Independent, Product, Subject
from sfumato.schema import Attribute, Levels, Table

VARIANCE = 8.0
NAMES = ("all", "sector", "industry", "county", "cube")


def lines(*, quick: bool) -> Iterator[Line]:
    if find_spec("clarabel"):  # pip install sfumato[bench]
        yield against_clarabel((10, 10, 10, 10) if quick else (50, 10, 25, 80))


def measured(shape: tuple[int, ...], seed: int = 1) -> dict[str, Product]:
    """Skewed sizes by four attributes, and the totals by the first three, two, one and none of them."""
    rng = np.random.default_rng(seed)
    attributes = tuple(Attribute(f"a{place}", Levels.of(range(size))) for place, size in enumerate(shape))
    truth = np.floor(rng.lognormal(1.7, 1.25, shape))
    found: dict[str, Product] = {}
    for kept, name in enumerate(NAMES):
        sums = truth.sum(axis=tuple(range(kept, len(shape))))
        values = np.rint(sums + rng.normal(size=sums.shape) * VARIANCE**0.5).astype(np.int64)
        subject = Subject(name, "count", "Jobs", "jobs", Fraction(1))
        found[name] = Cube(subject, Table(attributes[:kept]), values, Independent(VARIANCE))
    return found


def against_clarabel(shape: tuple[int, ...]) -> Line:
    products, step = measured(shape), LeastSquares("made", NAMES[-1], NAMES[:-1])
    cpu, made = fifth(lambda: step.apply(products))
    by_clarabel(measured((5, 5, 5, 5)))
    _, cpu_theirs, (theirs, status) = timed(lambda: by_clarabel(products))  # type: ignore[misc]
    ours = made.values.ravel() * float(made.subject.step)
    # Ours are integers of a public step, so they are half of it away by rounding alone.
    rounding = float(made.subject.step) / 2
    apart = max(0.0, float(np.max((np.abs(ours - theirs) - rounding) / np.maximum(1.0, np.abs(theirs)))))
    return Line(
        f"least squares to nested totals, {ours.size:,} cells, 5 levels", "CPU s", cpu, "Clarabel", cpu_theirs,
        cpu=cpu, cpu_theirs=cpu_theirs, agree=status == "Solved" and apart < 1e-8, goal=Goal(100),
        note=f"its status: {status}; largest relative difference beyond rounding {apart:.1e}",
    )  # fmt: skip


def fifth(work: Callable[[], Any]) -> tuple[float, Any]:
    """The median CPU seconds of five calls after a first one, and what they make."""
    made = work()
    return float(np.median([timed(work)[1] for _ in range(5)])), made


def by_clarabel(products: Mapping[str, Product]) -> tuple[np.ndarray, str]:
    """The cells that Clarabel finds, and what it says of them."""
    import clarabel
    from scipy import sparse

    tables = [products[name] for name in NAMES]
    sizes = [table.values.size for table in tables]
    values = np.concatenate([table.values.ravel() for table in tables]).astype(float)
    starts = np.cumsum([0, *sizes])
    # Each total less its parts is 0; the parts of a total stand together, as the last attribute runs fastest.
    above = [
        low + np.arange(fine) // (fine // coarse) for low, (coarse, fine) in zip(starts, pairwise(sizes), strict=False)
    ]
    totals = starts[-2]
    rows = np.concatenate([np.arange(totals), *above])
    entries = np.concatenate([np.ones(totals), -np.ones(len(values) - 1)])
    columns = np.concatenate([np.arange(totals), np.arange(1, len(values))])
    sums = sparse.csc_matrix((entries, (rows, columns)), shape=(totals, len(values)))
    squares = sparse.csc_matrix(sparse.eye_array(len(values)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(totals)]
    solution = clarabel.DefaultSolver(squares, -values, sums, np.zeros(totals), cones, settings).solve()
    return np.asarray(solution.x)[totals:], str(solution.status)
