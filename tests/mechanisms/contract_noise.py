"""The noise checked where it is added: what `perturb` does to Cells, drawn once and looked at in many ways.

Each check has a false-alarm rate of 1e-9 or less. The draws are seeded, so a check that passes once passes always.
Power: 200,000 draws state a geometric variance to 0.53% and a normal one to 0.32% (one standard deviation), and the
threshold stands at 6.1 of those; noise with a standard deviation 5% too small or too large is off by 18 or more of
them, so it is missed less than once in 1e30. 5,000 draws would let it pass more often than not.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.stats import binom, norm

from sfumato.draws import SeededDraws
from sfumato.mechanisms import Cells, Typical
from sfumato.privacy import Bounded
from sfumato.release import Noisy
from sfumato.schema import Attribute, Box, Levels, Rule, Table

FALSE_ALARM = 1e-9
SIDE = 460
TRUE_VALUES = (0, 3, 1_000_000)
"""A third of the cells each: empty, small, large."""


def _table(side: int, impossible: int) -> Table:
    attributes = tuple(Attribute(name, Levels.of(range(side))) for name in ("row", "column"))
    corner = [str(one) for one in range(impossible)]
    return Table(attributes, (Rule.of({"row": corner, "column": corner}),) if impossible else ())


TABLE = _table(SIDE, 40)
SMALL = _table(10, 3)


def true_cells(table: Table, move: Bounded) -> Cells:
    values = np.resize(np.array(TRUE_VALUES, dtype=np.int64), table.shape)
    values[~table.possible] = 0
    return Cells(table, values, Fraction(1), move)


def listed(cells: Cells) -> Cells:
    places = np.flatnonzero(cells.values)
    return replace(cells, values=cells.values.ravel()[places], places=places)


def laid(noisy: Noisy) -> Noisy:
    values = np.zeros(noisy.domain.size, dtype=noisy.values.dtype)
    values[noisy.places] = noisy.values
    return replace(noisy, values=values.reshape(noisy.domain.shape), places=None)


@dataclass(frozen=True, eq=False)
class Bench:
    """A mechanism run twice on 210,000 cells, one stream of draws for both."""

    mechanism: object
    move: Bounded
    cells: Cells
    first: Noisy
    second: Noisy

    @classmethod
    def of(cls, mechanism, move: Bounded, seed: int = 1) -> "Bench":
        cells, draws = true_cells(TABLE, move), SeededDraws(seed)
        return cls(mechanism, move, cells, mechanism.perturb(cells, draws), mechanism.perturb(cells, draws))

    @classmethod
    def sparse(cls, mechanism, move: Bounded, seed: int = 1) -> "Bench":
        """The same cells given as a sparse table, only those that are not 0, and what came out laid out again."""
        cells, draws = true_cells(TABLE, move), SeededDraws(seed)
        given = listed(cells)
        return cls(mechanism, move, cells, *(laid(mechanism.perturb(given, draws)) for _ in range(2)))

    @property
    def law(self):
        return self.mechanism.law(self.move)

    def noise(self, true_value: int | None = None) -> np.ndarray:
        """What was added to the possible cells, or to those of one true value."""
        chosen = TABLE.possible if true_value is None else TABLE.possible & (self.cells.values == true_value)
        return (self.first.values - self.cells.values)[chosen]


def joint_error(mechanism, noisy: Noisy):
    return mechanism.uncertainty(noisy).over(noisy.domain, noisy.values)


def values_are_integers(bench: Bench) -> list[str]:
    kind = bench.first.values.dtype
    return [] if kind == np.int64 else [f"the published values are {kind}, not integers"]


def impossible_cells_stay_zero(bench: Bench) -> list[str]:
    moved = int(np.count_nonzero(bench.first.values[~TABLE.possible]))
    return [f"{moved} impossible cells are not 0"] if moved else []


def noise_is_unbiased(bench: Bench) -> list[str]:
    noise = bench.noise()
    z = abs(float(noise.mean())) / math.sqrt(bench.law.variance / len(noise))
    return [f"the noise has a mean {z:.1f} standard errors from 0"] if z > norm.isf(FALSE_ALARM / 2) else []


def variance_is_the_stated_one(bench: Bench) -> list[str]:
    """All cells together, and the empty, small and large ones apart: the scale may not depend on the value."""
    law, said = bench.law, []
    for group in (None, *TRUE_VALUES):
        noise = bench.noise(group).astype(float)
        error = math.sqrt((law.fourth_moment - law.variance**2) / len(noise))
        z = (float(np.mean(noise**2)) - law.variance) / error
        if abs(z) > norm.isf(FALSE_ALARM / 8):
            said.append(f"the variance of cells of {'any value' if group is None else group} is {z:+.1f} errors off")
    return said


def tails_are_the_laws(bench: Bench) -> list[str]:
    """How many cells moved by m or more, for every m, against the binomial law of that count."""
    size = np.abs(bench.noise())
    m = np.unique(np.ceil(np.linspace(1, 8 * math.sqrt(bench.law.variance) + 1, 40)))
    counts = np.array([np.count_nonzero(size >= one) for one in m])
    chances = bench.law.survival(m)
    rare = np.minimum(binom.cdf(counts, len(size), chances), binom.sf(counts - 1, len(size), chances))
    worst = int(np.argmin(rare))
    if rare[worst] >= FALSE_ALARM / (2 * len(m)):
        return []
    expected = len(size) * float(chances[worst])
    return [f"{counts[worst]} cells moved by {m[worst]:.0f} or more, where {expected:.1f} are expected"]


def cells_are_independent(bench: Bench) -> list[str]:
    """The noise against itself shifted by any number of cells."""
    correlation = _correlations(bench.noise(), bench.noise())[1:]
    return _too_large(correlation, len(bench.noise()), "cells some way apart share noise")


def calls_are_independent(bench: Bench) -> list[str]:
    """The noise of one call against that of the next, in any alignment: no draw is used twice."""
    second = (bench.second.values - bench.cells.values)[TABLE.possible]
    return _too_large(_correlations(bench.noise(), second), len(second), "two calls share noise")


def _correlations(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    left, right = (np.fft.rfft(part - part.mean()) for part in (one, other))
    spread = float(one.std() * other.std()) or math.inf
    return np.fft.irfft(left * np.conj(right), len(one)) / (len(one) * spread)


def _too_large(correlation: np.ndarray, count: int, what: str) -> list[str]:
    largest = float(np.max(np.abs(correlation)))
    bound = norm.isf(FALSE_ALARM / (2 * len(correlation))) / math.sqrt(count)
    return [f"{what}: a correlation of {largest:.4f}"] if largest > bound else []


def total_varies_as_cells_are_many(bench: Bench, calls: int = 2000) -> list[str]:
    """The total of a small table, drawn anew many times: draws shared between cells, wherever, would add up."""
    cells, draws = true_cells(SMALL, bench.move), SeededDraws(2)
    true = int(cells.values.sum())
    totals = np.array([float(bench.mechanism.perturb(cells, draws).values.sum()) - true for _ in range(calls)])
    stated = joint_error(bench.mechanism, bench.mechanism.perturb(cells, draws)).covariance(Box(), Box())
    # The total of 91 cells is close to normal; excess kurtosis of 3 a cell adds 3/91 to the 2 of a normal.
    z = (float(np.mean(totals**2)) / stated - 1) / math.sqrt((2 + 3 / 91) / calls)
    return [f"the variance of the total is {z:+.1f} errors off"] if abs(z) > norm.isf(FALSE_ALARM / 2) else []


def stated_uncertainty_is_the_laws(bench: Bench) -> list[str]:
    one_cell = TABLE.box({"row": "100", "column": "100"})
    stated = joint_error(bench.mechanism, bench.first).covariance(one_cell, one_cell)
    return [] if stated == bench.law.variance else [f"the stated variance is {stated}, the law's {bench.law.variance}"]


def expected_error_is_the_stated_one(bench: Bench) -> list[str]:
    """What a price says of one cell, and of all cells together, before there are data."""
    stated = joint_error(bench.mechanism, bench.first)
    said = []
    for box, cells in ((TABLE.box({"row": "100", "column": "100"}), 1), (Box(), int(TABLE.possible.sum()))):
        error = bench.mechanism.expected(bench.move, Typical(Fraction(3), cells=cells))
        if not math.isclose(error**2, 9 * stated.covariance(box, box), rel_tol=1e-12):
            said.append(f"the error expected of {cells} cells is {error:.4g}")
    return said


NOISE_CHECKS = {
    "values are integers": values_are_integers,
    "impossible cells stay zero": impossible_cells_stay_zero,
    "noise is unbiased": noise_is_unbiased,
    "variance is the stated one": variance_is_the_stated_one,
    "tails are the law's": tails_are_the_laws,
    "cells are independent": cells_are_independent,
    "calls are independent": calls_are_independent,
    "total varies as cells are many": total_varies_as_cells_are_many,
    "stated uncertainty is the law's": stated_uncertainty_is_the_laws,
    "expected error is the stated one": expected_error_is_the_stated_one,
}
