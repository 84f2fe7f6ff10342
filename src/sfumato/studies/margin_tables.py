"""All tables of up to three of ten variables at the same mu: one cube of all ten, or the tables themselves.

The cube has noise in each of its 17,280 cells, and a table sums thousands of them; most of what it pays for are
interactions of four variables and more, which nobody asked for. A family pays for the tables that are asked for: all
cells alike, fading with the number of variables, by targets, or for the least sum of variances.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import prod, sqrt

import numpy as np

from sfumato.draws import Draws, RoundedNormal, SeededDraws, TwoSidedGeometric
from sfumato.mechanisms import Cells
from sfumato.mechanisms.contrasts import components_of
from sfumato.mechanisms.even_gaussian import EvenGaussian
from sfumato.privacy import Bounded, EveryTable, Gaussian, exact
from sfumato.release import Subject, measured
from sfumato.release.noisy import Floats, Integers, Noisy
from sfumato.schema import Family, Grid, LeafGroups, Schema, UpTo
from sfumato.studies.ors import SIZES, counted, whole_table
from sfumato.studies.study import Line
from sfumato.synth.ors import paper_set

WAYS = 3
MUS = ("0.25", "0.5", "1", "2", "4")
DELTA = 1e-6
FLAT = "one cube of all ten"
FAMILIES: Mapping[str, EvenGaussian] = {
    "all cells alike": EvenGaussian(1),
    "fading by 0.8": EvenGaussian(1, fade="0.8"),
    "targets 5, with 3 variables 10": EvenGaussian(1, aim={"0": 5, "1": 5, "2": 5, "3": 10}),
    "least sum of variances": EvenGaussian(1, aim="cells"),
}
DESIGNS = (FLAT, *FAMILIES)
ByWays = Mapping[int, Floats]
"""For each number of variables something of all cells of such tables, one after the other."""


@cache
def family() -> Family:
    """The tables of up to three of the ten variables."""
    whole = whole_table()
    return UpTo(WAYS, whole.names).family(Schema(whole.attributes))


@cache
def counts() -> Integers:
    """The cases of a synthetic survey, by all ten variables."""
    return counted(paper_set())


@cache
def stated(name: str, mu: str) -> dict[int, float]:
    """The mean variance of a cell by the number of variables, as a release states it."""
    if name == FLAT:
        each = RoundedNormal(1 / exact(mu, "mu") ** 2).variance
        return {ways: each * cells_summed(ways) for ways in range(WAYS + 1)}
    mechanism, of = replace(FAMILIES[name], mu=exact(mu, "mu")), family()
    move = _move(of)
    unit = 1 / mechanism.grain(move)
    noisy = Noisy(of, np.zeros(of.size, dtype=np.int64), Fraction(1), move)
    errors = mechanism.uncertainty(noisy).in_steps(unit).over(of, noisy.values)
    found: dict[int, list[Floats]] = {}
    for table in of.components:
        told = [one for one, level in zip(of.attributes, table, strict=True) if level]
        axes = tuple((one.name, LeafGroups.each(len(one.levels.leaves))) for one in told)
        variances = errors.with_whole(Grid(axes), tuple(one.name for one in told))
        assert isinstance(variances, np.ndarray)  # noqa: S101 - these errors are always stated
        found.setdefault(len(told), []).append(variances.ravel())
    return {ways: float(np.concatenate(some).mean()) for ways, some in found.items()}


def cells_summed(ways: int) -> float:
    """How many cells of the cube a cell of the tables of so many variables sums, on average."""
    kept = list(combinations(SIZES, ways))
    return prod(SIZES) * len(kept) / sum(map(prod, kept))


def released(name: str, mu: str, draws: Draws) -> ByWays:
    """The errors of all cells of one release."""
    of = family()
    if name == FLAT:
        noise = RoundedNormal(1 / exact(mu, "mu") ** 2).draw(prod(SIZES), draws).reshape(SIZES)
        return _by_ways(of, _tops(of, noise).astype(np.float64))
    mechanism, true = replace(FAMILIES[name], mu=exact(mu, "mu")), _true(of)
    noisy = mechanism.perturb(true, draws)
    product = measured(Subject("tables", "count", "Jobs", "jobs", noisy.step), noisy, mechanism.uncertainty(noisy))
    return _by_ways(of, np.asarray(product.values * float(noisy.step) - true.values, dtype=np.float64))


def _move(of: Family) -> EveryTable:
    return EveryTable(Bounded(1, 1, 1, 1), of)


def _true(of: Family) -> Cells:
    return Cells(of, _tops(of, counts()), Fraction(1), _move(of))


def _tops(of: Family, cube: Integers) -> Integers:
    """The tables of a family, of one of all its attributes."""
    left_out = [tuple(at for at, level in enumerate(top) if not level) for top in of.tops]
    return np.concatenate([cube.sum(axis=axes).ravel() for axes in left_out])


def _by_ways(of: Family, errors: Floats) -> ByWays:
    """The errors of all tables, of those of the largest; a thousandth of a step is the least that is told apart."""
    found: dict[int, list[Floats]] = {}
    for one, table in components_of(Cells(of, np.rint(errors * 1024), Fraction(1), _move(of))):
        found.setdefault(sum(level > 0 for level in one), []).append(table.ravel() / 1024)
    return {ways: np.concatenate(some) for ways, some in found.items()}


def lines(runs: int) -> list[Line]:
    """Mean variances at mu 1 in closed form and of some releases, and standard errors at other budgets."""
    found = []
    for name in DESIGNS:
        draws = SeededDraws(1)
        squares = [{w: float(np.mean(e**2)) for w, e in released(name, "1", draws).items()} for _ in range(runs)]
        told, drawn = stated(name, "1"), {w: float(np.mean([one[w] for one in squares])) for w in range(WAYS + 1)}
        found.append(Line(f"mu 1, {name}", _slashed(told), _slashed(drawn), "variance of 0 / 1 / 2 / 3 variables"))
    for mu in MUS:
        for name in DESIGNS:
            told = {ways: sqrt(variance) for ways, variance in stated(name, mu).items()}
            found.append(Line(f"mu {mu}, {name}", _slashed(told), "", "SD of 0 / 1 / 2 / 3 variables"))
    return found


def _slashed(numbers: Mapping[int, float]) -> str:
    return " / ".join(f"{one:,.0f}" if one >= 1000 else f"{one:.4g}" for _, one in sorted(numbers.items()))


def currencies(_runs: int) -> list[Line]:
    """The geometric cube beside the least sum of variances at the same epsilon and delta, and at a pure epsilon."""
    found = []
    for epsilon in (1, 2, 4, 7):
        each = TwoSidedGeometric(Fraction(epsilon)).variance
        mu = mu_of(epsilon, DELTA)
        ours = [one / mu**2 for one in _least_sums()]
        flat = [each * cells_summed(ways) for ways in range(WAYS + 1)]
        remark = f"mu {mu:.3g}; a cell of three variables, and the total"
        found.append(
            Line(f"epsilon {epsilon}, delta {DELTA:g}", _pair(flat[WAYS], flat[0]), _pair(ours[WAYS], ours[0]), remark)
        )
    return found


def _pair(cell: float, total: float) -> str:
    return f"{cell:,.3g} / {total:,.3g}" if max(cell, total) < 1000 else f"{cell:,.0f} / {total:,.0f}"


@cache
def _least_sums() -> list[float]:
    """The mean variance at mu 1 by the number of variables where their sum is least, before any rounding."""
    sums: dict[int, list[float]] = {ways: [0.0, 0.0] for ways in range(WAYS + 1)}
    variances = FAMILIES["least sum of variances"].design(_move(family())).cell_variances
    for one, variance in variances.items():
        cells, told = prod(family().shape(one)), sums[sum(one)]
        told[0], told[1] = told[0] + cells * float(variance), told[1] + cells
    return [summed / cells for summed, cells in sums.values()]


def mu_of(epsilon: float, delta: float) -> float:
    """The largest mu that is within an epsilon and a delta.

    >>> round(mu_of(1, 1e-6), 3)
    0.237
    """
    low, high = 1e-6, 100.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        within = Gaussian(Fraction(middle)).delta(epsilon) <= delta
        low, high = (middle, high) if within else (low, middle)
    return low
