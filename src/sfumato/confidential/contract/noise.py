"""The noise checked where it is added: what `perturb` does to Cells, drawn once and looked at in many ways."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from sfumato.confidential.contract.drawn import DRAWN_CHECKS, FALSE_ALARM, Drawn
from sfumato.draws import Draws, Law, SeededDraws
from sfumato.mechanisms import Additive, Cells, Typical
from sfumato.privacy import Bounded
from sfumato.release import Noisy, stated
from sfumato.schema import Attribute, Box, Levels, Rule, Table

SIDE = 460
TRUE_VALUES = (0, 3, 1_000_000)
"""A third of the cells each: empty, small, large."""


def _table(side: int, impossible: int) -> Table:
    attributes = tuple(Attribute(name, Levels.of(range(side))) for name in ("row", "column"))
    corner = [str(one) for one in range(impossible)]
    return Table(attributes, (Rule.of({"row": corner, "column": corner}),) if impossible else ())


TABLE = _table(SIDE, 40)
SMALL = _table(10, 3)
ONE_CELL = TABLE.box({"row": "100", "column": "100"})


def true_cells(table: Table, move: Bounded) -> Cells:
    values = np.resize(np.array(TRUE_VALUES, dtype=np.int64), table.shape)
    values[~table.possible] = 0
    return Cells(table, values, Fraction(1), move)


def listed(cells: Cells) -> Cells:
    """The same as a sparse table has them: those that are not 0."""
    places = np.flatnonzero(cells.values)
    return replace(cells, values=cells.values.ravel()[places], places=places)


def laid(noisy: Noisy, table: Table) -> Noisy:
    """What came out of a sparse table, laid out again."""
    values = np.zeros(table.size, dtype=noisy.values.dtype)
    values[noisy.places] = noisy.values
    return replace(noisy, values=values.reshape(table.shape), places=None)


@dataclass(frozen=True, eq=False)
class Bench:
    """A mechanism run twice on 210,000 cells, one stream of draws for both."""

    mechanism: Additive
    move: Bounded
    cells: Cells
    first: Noisy
    second: Noisy
    draws: Draws

    @classmethod
    def of(cls, mechanism: Additive, move: Bounded, draws: Draws | None = None, *, sparse: bool = False) -> "Bench":
        """Of all cells; or given as a sparse table, and what came out laid out again."""
        cells, draws = true_cells(TABLE, move), draws or SeededDraws(1)
        if sparse:
            first, second = (laid(mechanism.perturb(listed(cells), draws), TABLE) for _ in range(2))
        else:
            first, second = (mechanism.perturb(cells, draws) for _ in range(2))
        return cls(mechanism, move, cells, first, second, draws)

    @property
    def law(self) -> Law:
        return self.mechanism.law(self.move)

    @cached_property
    def drawn(self) -> Drawn:
        """What was added to the possible cells, and which of them are empty, small and large."""
        possible, true = TABLE.possible, self.cells.values
        first, second = ((noisy.values - true)[possible] for noisy in (self.first, self.second))
        groups: dict[str, NDArray[np.bool_]] = {str(value): true[possible] == value for value in TRUE_VALUES}
        return Drawn(self.law, first, second, groups)

    def variance(self, noisy: Noisy, box: Box) -> float:
        """What is stated of a total."""
        found = stated(self.mechanism.uncertainty(noisy).over(noisy.domain, noisy.values).covariance(box, box))
        return math.nan if found is None else found


def values_are_integers(bench: Bench) -> list[str]:
    kind = bench.first.values.dtype
    return [] if kind == np.int64 else [f"the published values are {kind}, not integers"]


def impossible_cells_stay_zero(bench: Bench) -> list[str]:
    moved = int(np.count_nonzero(bench.first.values[~TABLE.possible]))
    return [f"{moved} impossible cells are not 0"] if moved else []


def total_varies_as_cells_are_many(bench: Bench, calls: int = 2000) -> list[str]:
    """The total of a small table, drawn anew many times: draws shared between cells, wherever, would add up."""
    cells = true_cells(SMALL, bench.move)
    true = int(cells.values.sum())
    drawn = [bench.mechanism.perturb(cells, bench.draws) for _ in range(calls)]
    totals = np.array([float(one.values.sum()) - true for one in drawn])
    # The total of 91 cells is close to normal; excess kurtosis of 3 a cell adds 3/91 to the 2 of a normal.
    z = (float(np.mean(totals**2)) / bench.variance(drawn[0], Box()) - 1) / math.sqrt((2 + 3 / 91) / calls)
    return [] if abs(z) <= norm.isf(FALSE_ALARM / 2) else [f"the variance of the total is {z:+.1f} errors off"]


def stated_uncertainty_is_the_laws(bench: Bench) -> list[str]:
    found = bench.variance(bench.first, ONE_CELL)
    return [] if found == bench.law.variance else [f"the stated variance is {found}, the law's {bench.law.variance}"]


def expected_error_is_the_stated_one(bench: Bench) -> list[str]:
    """What a price says of one cell, and of all cells together, before there are data."""
    said = []
    for box, cells in ((ONE_CELL, 1), (Box(), int(TABLE.possible.sum()))):
        error = stated(bench.mechanism.expected(bench.move, Typical(Fraction(3), cells=cells)))
        if error is None or not math.isclose(error**2, 9 * bench.variance(bench.first, box), rel_tol=1e-12):
            said.append(f"the error expected of {cells} cells is {error}")
    return said


def _of_bench(check: Callable[[Drawn], list[str]]) -> Callable[[Bench], list[str]]:
    return lambda bench: check(bench.drawn)


NOISE_CHECKS = {
    "values are integers": values_are_integers,
    "impossible cells stay zero": impossible_cells_stay_zero,
    **{name: _of_bench(check) for name, check in DRAWN_CHECKS.items()},
    "total varies as cells are many": total_varies_as_cells_are_many,
    "stated uncertainty is the law's": stated_uncertainty_is_the_laws,
    "expected error is the stated one": expected_error_is_the_stated_one,
}
