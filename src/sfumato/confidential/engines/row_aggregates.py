"""Folding: the aggregates of cells, from rows that stand in the order of their cells."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.schema import (
    Aggregate,
    Extremes,
    Influence,
    InSteps,
    Largest,
    Ragged,
    Rows,
    Sorted,
    Sum,
    SumOfProducts,
    Units,
)

Integers = NDArray[np.int64]
LARGEST_SUM = 2**62


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """Rows in the order of their cells: where those of each cell begin, how many they are, and what rows have."""

    first: Integers
    lengths: Integers
    value: Callable[[InSteps], Integers]
    unit: Callable[[str | None], Integers]

    @property
    def cells(self) -> Integers:
        """The cell of every row, as its place among those that have some."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def offsets(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def sums(self, values: Integers) -> Integers:
        """The sums over the rows of each cell."""
        return np.add.reduceat(values, self.first) if len(self.first) else np.empty(0, dtype=np.int64)

    def by_unit(self, per: str | None, values: Integers) -> tuple[Integers, Integers]:
        """A cell for every unit that has rows there, rising, and what the unit's rows there sum to."""
        cells, units = self.cells, self.unit(per)
        order = np.lexsort((units, cells))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(cells[order]) != 0) | (np.diff(units[order]) != 0)
        first = np.flatnonzero(new)
        return cells[order][first], np.add.reduceat(values[order], first) if len(first) else values[:0]


def _products(runs: Runs, one: SumOfProducts) -> Integers:
    x, y = runs.value(one.x), runs.value(one.y)
    if len(x) * float(np.abs(x).max(initial=0)) * float(np.abs(y).max(initial=0)) >= LARGEST_SUM:
        raise DataError("Sums of products may pass 64 bits; use tighter clips or coarser steps.")
    return runs.sums(x * y)


def _units(runs: Runs, one: Units) -> Integers:
    cells, _ = runs.by_unit(one.per, np.ones(int(runs.lengths.sum()), dtype=np.int64))
    return np.bincount(cells, minlength=len(runs.lengths))


def _largest(runs: Runs, one: Largest) -> Integers:
    values = runs.value(one.of) if one.of else np.ones(int(runs.lengths.sum()), dtype=np.int64)
    return largest(*runs.by_unit(one.per, values), len(runs.lengths), one.k)


def largest(cells: Integers, totals: Integers, size: int, k: int) -> Integers:
    """The k largest totals of every cell without their signs, falling.

    >>> largest(np.array([0, 0, 0, 2]), np.array([4, -9, 1, 5]), 3, 2).tolist()
    [[9, 4], [0, 0], [5, 0]]
    """
    totals = np.abs(totals)
    order = np.lexsort((-totals, cells))
    cells, totals = cells[order], totals[order]
    rank = np.arange(len(cells)) - np.searchsorted(cells, cells)
    kept, found = rank < k, np.zeros((size, k), dtype=np.int64)
    found[cells[kept], rank[kept]] = totals[kept]
    return found


def _extremes(runs: Runs, one: Extremes) -> Integers:
    values = runs.value(one.of)
    if not len(runs.first):
        return np.empty((0, 2), dtype=np.int64)
    return np.stack([least_or_most.reduceat(values, runs.first) for least_or_most in (np.minimum, np.maximum)], axis=-1)


def _sorted(runs: Runs, one: Sorted) -> Ragged:
    values = runs.value(one.of)
    return Ragged(runs.offsets, values[np.lexsort((values, runs.cells))])


def _influence(runs: Runs, one: Influence) -> Ragged:
    y, x = runs.value(one.y), runs.value(one.x)
    order = np.lexsort((x, y, runs.cells))
    return Ragged(runs.offsets, np.stack([y[order], x[order]], axis=-1))


FOLDS: dict[type[Aggregate], Callable[[Runs, Any], Any]] = {
    Rows: lambda runs, _: runs.lengths,
    Units: _units,
    Sum: lambda runs, one: runs.sums(runs.value(one.of)),
    SumOfProducts: _products,
    Largest: _largest,
    Extremes: _extremes,
    Sorted: _sorted,
    Influence: _influence,
}
"""How each aggregate is computed; one that is not here is refused before anything is read."""


def laid_out(shape: tuple[int, ...], places: Integers, columns: Mapping[Aggregate, Any]) -> dict[Aggregate, Any]:
    """Columns of the cells at some places over all cells of a shape: 0, or no rows, where there is none."""
    return {one: _over_all(shape, places, column) for one, column in columns.items()}


def _over_all(shape: tuple[int, ...], places: Integers, column: Any) -> Any:
    size = math.prod(shape)
    if isinstance(column, Ragged):
        lengths = np.zeros(size, dtype=np.int64)
        lengths[places] = column.lengths
        return Ragged(np.concatenate([[0], np.cumsum(lengths)]), column.values)
    cells = np.zeros((size, *column.shape[1:]), dtype=np.int64)
    cells[places] = column
    return cells.reshape((*shape, *column.shape[1:]))
