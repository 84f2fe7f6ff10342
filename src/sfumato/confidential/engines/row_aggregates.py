"""Folding: the aggregates of cells, from rows that stand in the order of their cells."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
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
    UnitSums,
)

Integers = NDArray[np.int64]
LARGEST_SUM = 2**62
PACKED = 63
"""How many bits a cell and what its rows have may take to be sorted as one number."""
DIGITS = 15
"""Hexadecimal digits of a digest: 60 bits, so that two of a million units share one with a chance of 4e-7."""


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """Rows in the order of their cells: where those of each cell begin, how many they are, and what rows have."""

    first: Integers
    lengths: Integers
    value: Callable[[InSteps], Integers]
    unit: Callable[[str | None], Integers]
    digest: Callable[[str | None], Integers]
    """Of every row the digest of its unit's name, as `UnitSums` defines it."""
    counts: Integers | None = None
    """How many records each row stands for, where those of a unit in a cell were summed before; else one."""

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

    def amounts(self, of: InSteps | None) -> Integers:
        """What every row has of a value, or how many records it is."""
        if of is not None:
            return self.value(of)
        return np.ones(int(self.lengths.sum()), dtype=np.int64) if self.counts is None else self.counts

    def by_unit(self, units: Integers, values: Integers) -> tuple[Integers, Integers]:
        """A cell for every unit that has rows there, rising, and what the unit's rows there sum to."""
        cells = self.cells
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
    cells, _ = runs.by_unit(runs.unit(one.per), runs.amounts(None))
    return np.bincount(cells, minlength=len(runs.lengths))


def _largest(runs: Runs, one: Largest) -> Integers:
    return largest(*runs.by_unit(runs.unit(one.per), runs.amounts(one.of)), len(runs.lengths), one.k)


def _unit_sums(runs: Runs, one: UnitSums) -> Ragged:
    digests, values = runs.digest(one.per), runs.amounts(one.of)
    order = np.lexsort((digests, runs.cells))
    cells, named = runs.cells[order], digests[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(cells) != 0) | (np.diff(named) != 0)
    first = np.flatnonzero(new)
    sums = np.add.reduceat(values[order], first) if len(first) else values[:0]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(cells[first], minlength=len(runs.lengths)))])
    return Ragged(offsets, np.stack([named[first], sums], axis=-1))


def digests_of(names: Sequence[str]) -> Integers:
    """The digests of some names of units.

    >>> digests_of(["7", "shop"]).tolist()
    [544977996675729576, 637540947655567107]
    """
    return np.array([int(sha256(name.encode()).hexdigest()[:DIGITS], 16) for name in names], dtype=np.int64)


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
    (values,) = _rising(runs, runs.value(one.of))
    return Ragged(runs.offsets, values)


def _influence(runs: Runs, one: Influence) -> Ragged:
    return Ragged(runs.offsets, np.stack(_rising(runs, runs.value(one.y), runs.value(one.x)), axis=-1))


def _rising(runs: Runs, *values: Integers) -> list[Integers]:
    """What rows have, in rising order within their cells: by the first value, then by the next.

    Where a cell and all values fit into 63 bits they are sorted as one number, which is much faster than by columns.
    """
    lows = [int(one.min(initial=0)) for one in values]
    bits = [int(one.max(initial=0) - low).bit_length() for one, low in zip(values, lows, strict=True)]
    if len(runs.lengths).bit_length() + sum(bits) > PACKED:
        order = np.lexsort((*values[::-1], runs.cells))
        return [one[order] for one in values]
    packed = runs.cells.astype(np.int64, copy=False)
    for one, low, width in zip(values, lows, bits, strict=True):
        packed = (packed << width) | (one.astype(np.int64, copy=False) - low)
    packed.sort()
    found = []
    for low, width in zip(lows[::-1], bits[::-1], strict=True):
        found.append((packed & ((1 << width) - 1)) + low)
        packed >>= width
    return found[::-1]


FOLDS: dict[type[Aggregate], Callable[[Runs, Any], Any]] = {
    Rows: lambda runs, _: runs.lengths,
    Units: _units,
    Sum: lambda runs, one: runs.sums(runs.value(one.of)),
    SumOfProducts: _products,
    Largest: _largest,
    UnitSums: _unit_sums,
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
