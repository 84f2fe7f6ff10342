"""Table 4 of Li and Krenzke on two synthetic populations, and why raking has another sign in each.

The paper's 182 cases are not public. Both populations have 182 cases and ten independent variables with the paper's
numbers of levels. The shares of a variable's k levels are one draw from a Dirichlet law: every parameter is 0.7 k in
the moderate population and 0.45 k in the skewed one. Each case then draws its level. A seed is one data set. Seeds
count from 1, and none is picked for its result.

Rare levels set the sign. Raking multiplies all cells of a level by N / (N + e): N cases, and noise e of a standard
deviation of 3.2 to 4.0 for two or three levels. Runs converge where N + e is above 0. So where N is small, e is mostly
above 0, and the noise in all cells of the level shrinks. Where N is large, factors scatter around 1, and move the cases
themselves: that adds variance, and shows in tables of four and more variables.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import TruncatedGeometric
from sfumato.studies.ors import SIZES, TABLE_4, Simulation, closed_form, counted, simulate, simulate_cube
from sfumato.studies.study import Line
from sfumato.synth.ors import paper_set

POPULATIONS = ("moderate", "skewed")
CASES, SETS = 182, 8
RARE = (2, 5, 10, 20, 40, 91)
"""Cases in the rarer level of the tenth variable, where all other variables are even."""
DIMENSIONS, WAYS = slice(1, 6), "2- to 6-way"
NONE = "no run converged"


def table_4(runs: int) -> list[Line]:
    """The table on both populations, its range over data sets, and what a rare level does."""
    simulations = {kind: simulate(runs, margins_kind=kind) for kind in POPULATIONS}
    few = max(runs // 20, 20)
    return [
        *(line for kind, simulation in simulations.items() for line in population_lines(kind, simulation)),
        *(range_line(kind, few) for kind in POPULATIONS),
        *(rare_line(cases, few) for cases in RARE),
    ]


def population_lines(kind: str, simulation: Simulation) -> list[Line]:
    """Convergence, the ten rows of the table, and where the noise is after raking."""
    closed = closed_form(TruncatedGeometric(Fraction(7), 1).variance)
    remark = f"rarest level has {rarest_level(counted(paper_set(margins=kind)))} cases"
    lines = [Line(f"{kind}: runs that converged", "224 of 1,000", f"{simulation.converged:.1%}", remark)]
    rows = zip(
        simulation.plain_converged, simulation.raked, simulation.plain, closed, simulation.least_squares, strict=True
    )
    for (dimension, printed), (kept, scaled, every, formula, squares) in zip(TABLE_4.items(), rows, strict=True):
        what, published = f"{kind}, {dimension}-way: before / raked / less", "{:.3f} / {:.3f} / {}".format(*printed)
        ours = f"{kept:.3f} / {scaled:.3f} / {_share_less(kept, scaled)}" if simulation.converged else NONE
        best = f"least squares {squares:.4f}, {_share_less(every, squares)}"
        remark = f"all runs {every:.4f}, closed form {formula:.4f}; {best}"
        lines.append(Line(what, published, ours, remark))
    noise = f"{simulation.empty:.0%} in empty cells, {simulation.occupied:.0%} in cells with cases"
    return [*lines, Line(f"{kind}, 10-way: noise after raking over noise before", "", noise)]


def range_line(kind: str, runs: int) -> Line:
    """The share that raking takes off, least to most over the first eight data sets."""
    sets = [simulate(runs, seed, kind) for seed in range(1, SETS + 1)]
    shares = np.array([simulation.less for simulation in sets if simulation.converged])
    ends = zip(np.min(shares, axis=0), np.max(shares, axis=0), strict=True) if len(shares) else []
    ours = ", ".join(f"{low:.0%} to {high:.0%}" for low, high in list(ends)[DIMENSIONS])
    converged = [simulation.converged for simulation in sets]
    remark = f"{WAYS}; {min(converged):.0%} to {max(converged):.0%} converge"
    return Line(f"{kind}, {SETS} data sets, {runs} runs each: less", "", ours or NONE, remark)


def rare_line(cases: int, runs: int) -> Line:
    """The share that raking takes off where nine variables are even and the tenth has a level of so many cases."""
    simulation = simulate_cube(even_cube(cases), runs)
    shares = ", ".join(f"{share:.0%}" for share in simulation.less[DIMENSIONS])
    noise = f"10-way noise {simulation.empty:.0%} in empty cells, {simulation.occupied:.0%} in cells with cases"
    remark = f"{WAYS}; {simulation.converged:.0%} converge; {noise}"
    what = f"all even, but one level of {cases} cases: less"
    return Line(what, "", shares if simulation.converged else NONE, remark)


def even_cube(cases: int, seed: int = 1) -> NDArray[np.int64]:
    """Cases whose variables are independent and even, but for the last, whose second level has so many cases."""
    rng, cube = np.random.default_rng(seed), np.zeros(SIZES, dtype=np.int64)
    levels = [rng.permutation(np.arange(CASES) % size) for size in SIZES[:-1]]
    levels.append(rng.permutation(np.arange(CASES) < cases).astype(np.int64))
    np.add.at(cube, tuple(levels), 1)
    return cube


def rarest_level(cube: NDArray[np.int64]) -> int:
    """The fewest cases that any level of any variable has."""
    axes = range(cube.ndim)
    return min(int(cube.sum(axis=tuple(other for other in axes if other != axis)).min()) for axis in axes)


def _share_less(before: float, after: float) -> str:
    return f"{1 - after / before:.1%}"
