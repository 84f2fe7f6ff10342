"""The tables of Li and Krenzke's bottom-up approach to the ORS query tool, computed again."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.calibrate.rake import raked
from sfumato.confidential import Microdata, Tabulation
from sfumato.draws import SeededDraws, SystemDraws, TruncatedGeometric
from sfumato.mechanisms import Cells, Geometric
from sfumato.mechanisms.truncated_geometric import beyond
from sfumato.plan import Measure, Plan
from sfumato.plan.toml import SHIPPED
from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.margins import Margins
from sfumato.release.uncertainties.normal import Normal
from sfumato.schema import Table
from sfumato.statistics import Count
from sfumato.studies.study import Line
from sfumato.synth.ors import paper_set

SIZES = (5, 4, 3, 3, 3, 2, 2, 2, 2, 2)
"""The only ten sizes of 2 to 5 whose product is the paper's 17,280 cells."""
MARGINS, SEED = "moderate", 1
TABLE_2 = ("0.76159", "0.10307", "0.013949", "0.0018878", "0.0002555", "0.0000346", "0.0000047", "0.0000006")
TABLE_4 = {
    1: (6.592, 0.000, "100.0%"), 2: (3.255, 1.684, "48.3%"), 3: (1.340, 1.082, "19.3%"), 4: (0.522, 0.494, "5.4%"),
    5: (0.200, 0.200, "0.0%"), 6: (0.077, 0.078, "0.0%"), 7: (0.030, 0.030, "0.0%"), 8: (0.012, 0.012, "0.0%"),
    9: (0.005, 0.004, "0.0%"), 10: (0.002, 0.002, "0.0%"),
}  # fmt: skip


def table_2(_runs: int) -> list[Line]:
    """The probabilities of a perturbation at epsilon 2 with a cap of 7."""
    law = TruncatedGeometric(Fraction(2), 7)
    lines = [Line("0", TABLE_2[0], f"{float(law.pmf(0)):.7g}")]
    lines += [Line(f"± {k}", TABLE_2[k], f"{float(law.pmf(k)):.7g}", "each sign") for k in range(1, 8)]
    lines += [Line("variance", "", f"{law.variance:.7f}")]
    return lines + [_delta(law, shift) for shift in (1, 2, 3, 7)]


def _delta(law: TruncatedGeometric, shift: int) -> Line:
    printed, place = ("0.0000006", "section 3.2") if shift == 1 else ("", "")
    return Line(f"delta, a shift of {shift}", printed, f"{beyond(law, shift):.3g}", place=place)


@cache
def paper() -> Plan:
    """The paper's plan as it is shipped: ten variables, 17,280 cells."""
    return Plan.read(SHIPPED / "ors-as-published.toml")


def cube() -> Measure:
    """The measure of the paper's hypercube."""
    return paper().measure("hypercube")


def whole_table() -> Table:
    return paper().table(cube())


def cells(cases: pa.Table, measure: Measure) -> Cells:
    """The true cells of a measure of the cases."""
    plan = replace(paper(), measures=(measure,), controls=(), then=(), sampling="census")
    return Tabulation(plan, Microdata.open(cases, plan.schema), SystemDraws()).cells(measure)


def counted(cases: pa.Table) -> NDArray[np.int64]:
    """How many cases each cell has."""
    return cells(cases, replace(cube(), of=Count(weighted=False), with_=Geometric(7))).values


def pooled_variances(noise: Floats) -> NDArray[np.float64]:
    """For d = 1 … 10 the centred variance of the noise over the cells of all d-way tables together."""
    sums: dict[tuple[int, ...], Floats] = {tuple(range(len(SIZES))): noise}
    pools: dict[int, list[Floats]] = {len(SIZES): [noise.ravel()]}
    for dimension in range(len(SIZES) - 1, 0, -1):
        for kept in combinations(range(len(SIZES)), dimension):
            added = next(axis for axis in range(len(SIZES)) if axis not in kept)
            wider = tuple(sorted((*kept, added)))
            sums[kept] = sums[wider].sum(axis=wider.index(added))
        pools[dimension] = [sums[kept].ravel() for kept in combinations(range(len(SIZES)), dimension)]
    return np.array([np.concatenate(pools[dimension]).var() for dimension in range(1, len(SIZES) + 1)])


def closed_form(variance: float) -> NDArray[np.float64]:
    """What `pooled_variances` is on average for independent noise: C M v/e_d − C² M v/e_d², M cells, C tables."""
    cells, found = prod(SIZES), []
    for dimension in range(1, len(SIZES) + 1):
        pooled = sum(prod(SIZES[axis] for axis in kept) for kept in combinations(range(len(SIZES)), dimension))
        tables = comb(len(SIZES), dimension)
        found.append(tables * cells * variance / pooled - tables**2 * cells * variance / pooled**2)
    return np.array(found)


@dataclass(frozen=True, eq=False)
class Simulation:
    """Noise variances by table dimension: uncalibrated over all and over converged runs, raked, least squares.

    Where no run converged, what is of converged runs is not a number.

    `empty` and `occupied` are the noise after raking in cells without and with cases, over all noise before it.
    """

    plain: NDArray[np.float64]
    plain_converged: NDArray[np.float64]
    raked: NDArray[np.float64]
    least_squares: NDArray[np.float64]
    converged: float
    empty: float
    occupied: float

    @property
    def less(self) -> NDArray[np.float64]:
        """The share of variance that raking takes off, by table dimension; negative where it adds some."""
        return 1 - self.raked / self.plain_converged


def simulate(runs: int, seed: int = SEED, margins_kind: str = MARGINS, tolerance: float = 1e-3) -> Simulation:
    """The paper's evaluation on a synthetic population, `sfumato synth ors-paper`."""
    return simulate_cube(counted(paper_set(seed=seed, margins=margins_kind)), runs, seed, tolerance)


def simulate_cube(true: NDArray[np.int64], runs: int, seed: int = SEED, tolerance: float = 1e-3) -> Simulation:
    """The paper's evaluation: epsilon 7, cap 1, raked in 10 cycles to the ten exact one-way tables."""
    table, law, draws = whole_table(), TruncatedGeometric(Fraction(7), 1), SeededDraws(seed)
    margins = Margins(table, tuple((level,) for level in table.by))
    aims = margins.of(true)
    solve = Normal(margins, table.possible, np.zeros(margins.size), law.variance).solve
    plain, scaled, squared, converged, parts = [], [], [], [], []
    for _ in range(runs):
        cells = (true + law.draw(table.size, draws).reshape(SIZES)).astype(float)
        plain.append(pooled_variances(cells - true))
        pull = solve(aims - margins.of(cells))
        squared.append(pooled_variances(cells + law.variance * margins.spread(pull) - true))
        moved, missed = raked(margins, cells, aims, 10, tolerance)
        converged.append(missed <= tolerance)
        if converged[-1]:
            scaled.append(pooled_variances(moved - true))
            parts.append(_noise_parts(cells - true, moved - true, true > 0))
    kept = np.array(converged)
    before, empty, occupied = np.sum(parts, axis=0) if parts else (1.0, np.nan, np.nan)
    nothing = np.full(len(SIZES), np.nan)
    return Simulation(
        np.mean(plain, axis=0),
        np.mean(np.array(plain)[kept], axis=0) if parts else nothing,
        np.mean(scaled, axis=0) if parts else nothing,
        np.mean(squared, axis=0),
        float(kept.mean()),
        float(empty / before),
        float(occupied / before),
    )


def _noise_parts(before: Floats, after: Floats, has_cases: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Sums of squared noise: before raking in all cells, after it in cells without cases and in those with some."""
    return float((before**2).sum()), float((after[~has_cases] ** 2).sum()), float((after[has_cases] ** 2).sum())
