"""Raking in factor form, in plain numpy: the cells are only read, and what they are multiplied by stands beside them.

The control tables are parted in two sides, the first ones and the rest, in their order. A raked cell is the cell times
a factor of its place on the one side times a factor of its place on the other. One read of the cells, weighed by the
factors of one side, sums them to the places of the other; there each table of that side is met in turn on those few
sums. So a cycle over all tables reads the cells twice and writes none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Side:
    """Some control tables over the places that they tell apart: for each table the control cell of every place.

    The control cells of all tables of the side are numbered through; those of table t begin at `starts[t]`.
    """

    of: Places
    starts: NDArray[np.int64]
    aims: Floats

    @property
    def size(self) -> int:
        return int(self.of.shape[1])

    def tables(self) -> Iterator[tuple[Places, Floats]]:
        """Each table by itself: the control cell of every place, and what it should be."""
        for of, start, end in zip(self.of, self.starts[:-1], self.starts[1:], strict=True):
            yield of - np.int32(start), self.aims[start:end]


@dataclass(frozen=True, eq=False)
class Listed:
    """Cells one by one, each with its place on either side."""

    values: Floats
    first: Places
    second: Places


class Factors(NamedTuple):
    """What the cells of each place are multiplied by, and the largest control missed, infinite if one cannot be met."""

    first: Floats
    second: Floats
    missed: float


def rake(cells: Floats | Listed, first: Side, second: Side, cycles: int, tolerance: float) -> Factors:
    """The factors that meet every control table in turn, round after round, until all are met to a tolerance.

    The cells are a matrix, the places of the first side down and those of the second across, or a list.
    """
    ones, others, missed = np.ones(first.size), np.ones(second.size), np.inf
    sums = _onto_first(cells, others, first.size)
    for _ in range(cycles):
        if not settle(first, sums, ones, tolerance):
            return Factors(ones, others, np.inf)
        across = _onto_second(cells, ones, second.size) * others
        if not settle(second, across, others, tolerance):
            return Factors(ones, others, np.inf)
        sums = _onto_first(cells, others, first.size) * ones
        missed = float(np.maximum(farthest(first, sums), farthest(second, across)))
        if missed <= tolerance:
            break
    return Factors(ones, others, missed)


def settle(side: Side, sums: Floats, factors: Floats, tolerance: float) -> bool:
    """Meet each table of a side in turn, on the sums and in the factors; whether that can be done."""
    for of, aims in side.tables():
        totals = np.bincount(of, sums, len(aims))
        stuck = (totals == 0) & (np.abs(aims) > tolerance)
        if stuck.any() or not np.isfinite(totals).all():
            return False
        factor = np.divide(aims, totals, out=np.zeros_like(totals), where=totals != 0)[of]
        sums *= factor
        factors *= factor
    return True


def farthest(side: Side, sums: Floats) -> float:
    """How far the sums are from the control that they miss most."""
    gaps = [np.abs(np.bincount(of, sums, len(aims)) - aims).max() for of, aims in side.tables()]
    return float(np.max(gaps, initial=0.0))


def _onto_first(cells: Floats | Listed, others: Floats, size: int) -> Floats:
    if isinstance(cells, Listed):
        return np.bincount(cells.first, cells.values * others[cells.second], size).astype(np.float64)
    return np.asarray(cells @ others)


def _onto_second(cells: Floats | Listed, ones: Floats, size: int) -> Floats:
    if isinstance(cells, Listed):
        return np.bincount(cells.second, cells.values * ones[cells.first], size).astype(np.float64)
    return np.asarray(ones @ cells)
