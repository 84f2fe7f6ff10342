"""Merged: the cells of a table from those of its parts; what is added up adds up, units stand in one part each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.row_aggregates import laid_out
from sfumato.errors import DataError
from sfumato.schema import Aggregate, Extremes, Largest, Ragged, Rows, Sum, SumOfProducts, Units, UnitSums

Integers = NDArray[np.int64]
Columns = Mapping[Aggregate, Any]
WIDE = "The data could not be summed in whole steps of 64 bits (they are too large together)."


def _added(mine: Integers, theirs: Integers, _: Aggregate) -> Integers:
    summed = mine + theirs
    if (((mine ^ summed) & (theirs ^ summed)) < 0).any():  # the sign of both and another of their sum
        raise DataError(WIDE)
    return summed


def _largest(mine: Integers, theirs: Integers, one: Aggregate) -> Integers:
    assert isinstance(one, Largest)  # noqa: S101 - by the table below
    return np.sort(np.concatenate([mine, theirs], axis=-1), axis=-1)[..., ::-1][..., : one.k]


def _extremes(mine: Integers, theirs: Integers, _: Aggregate) -> Integers:
    return np.stack([np.minimum(mine[:, 0], theirs[:, 0]), np.maximum(mine[:, 1], theirs[:, 1])], axis=-1)


MERGED: dict[type[Aggregate], Callable[[Integers, Integers, Aggregate], Integers]] = {
    Rows: _added,
    Sum: _added,
    SumOfProducts: _added,
    Units: _added,
    Largest: _largest,
    Extremes: _extremes,
}
"""How an aggregate of a cell in two parts becomes that of the cell; sums of units stand beside one another."""


@dataclass(frozen=True, eq=False, repr=False)
class PartCells:
    """Cells that hold records, rising, and the aggregates of each; of those of units, pairs of a digest and a sum."""

    places: Integers
    columns: Columns

    def with_(self, other: "PartCells") -> "PartCells":
        """The same of the records of both."""
        places = np.union1d(self.places, other.places)
        mine, theirs = np.searchsorted(places, self.places), np.searchsorted(places, other.places)
        both = np.intersect1d(mine, theirs, assume_unique=True)
        found = dict[Aggregate, Any]()
        for one, column in self.columns.items():
            if isinstance(one, UnitSums):
                found[one] = _beside(len(places), (mine, column), (theirs, other.columns[one]))
                continue
            cells = np.zeros((len(places), *column.shape[1:]), dtype=np.int64)
            cells[theirs] = other.columns[one]
            shared = cells[both].copy()
            cells[mine] = column
            cells[both] = MERGED[type(one)](cells[both], shared, one)
            found[one] = cells
        return PartCells(places, found)


def _beside(size: int, *parts: tuple[Integers, Ragged]) -> Ragged:
    """Sums of units in two parts, by their cells and digests; a digest that stands twice in a cell is one."""
    cells = np.concatenate([np.repeat(places, sums.lengths) for places, sums in parts])
    pairs = np.concatenate([sums.values for _, sums in parts])
    order = np.lexsort((pairs[:, 0], cells))
    cells, digests = cells[order], pairs[order, 0]
    new = np.ones(len(cells), dtype=bool)
    new[1:] = (np.diff(cells) != 0) | (np.diff(digests) != 0)
    first = np.flatnonzero(new)
    sums = np.add.reduceat(pairs[order, 1], first) if len(first) else pairs[:0, 1]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(cells[first], minlength=size))])
    return Ragged(offsets, np.stack([digests[first], sums], axis=-1))


class MergedCells:
    """The cells of one table while parts are added: two are merged where as many were merged into each."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, PartCells]] = []

    def add(self, places: Integers, columns: Columns) -> None:
        """The cells of the next part."""
        parts, cells = 1, PartCells(places, columns)
        while self._waiting and self._waiting[-1][0] <= parts:
            more, before = self._waiting.pop()
            parts, cells = parts + more, before.with_(cells)
        self._waiting.append((parts, cells))

    def listed(self, aggregates: Sequence[Aggregate]) -> tuple[Integers, Columns]:
        """The cells that hold records, and their aggregates."""
        while len(self._waiting) > 1:
            (parts, cells), (more, before) = self._waiting.pop(), self._waiting.pop()
            self._waiting.append((parts + more, before.with_(cells)))
        if not self._waiting:
            return np.empty(0, dtype=np.int64), {one: _nothing(one) for one in aggregates}
        ((_, cells),) = self._waiting
        return cells.places, {one: cells.columns[one] for one in aggregates}

    def over(self, shape: tuple[int, ...], aggregates: Sequence[Aggregate]) -> dict[Aggregate, Any]:
        """The same of all cells of a shape."""
        return laid_out(shape, *self.listed(aggregates))


def _nothing(one: Aggregate) -> Any:
    """An aggregate of no cells."""
    if isinstance(one, UnitSums):
        return Ragged(np.zeros(1, dtype=np.int64), np.empty((0, 2), dtype=np.int64))
    beside = (one.k,) if isinstance(one, Largest) else (2,) if isinstance(one, Extremes) else ()
    return np.empty((0, *beside), dtype=np.int64)
