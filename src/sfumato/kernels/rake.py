"""Raking in factor form, in plain numpy: the cells are only read, and what they are multiplied by stands beside them.

The control tables are parted in two sides, the first ones and the rest, in their order. A raked cell is the cell times
a factor of its place on the one side times a factor of its place on the other. One read of the cells, weighed by the
factors of one side, sums them to the places of the other; there each table of that side is met in turn on those few
sums. So a cycle over all tables reads the cells twice and writes none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Side:
    """Some control tables over the places that they tell apart.

    Tables that share attributes make a part. The places of a side are the combinations of those of its parts, the last
    running fastest; `widths` says how many places each part has, and `within` which part a table lies in. `of` holds,
    table after table, the control cell of every place of its part; what those of table t should be begins at
    `starts[t]` in the aims.
    """

    widths: Counts
    within: Counts
    of: Places
    starts: Counts
    aims: Floats

    @property
    def size(self) -> int:
        return prod(self.widths.tolist())

    def parts(self) -> Iterator[tuple[tuple[int, int, int], list[tuple[Places, Floats]]]]:
        """Each part: the places before it, its own and those after, and its tables with what they should be."""
        begins = [0, *accumulate(self.widths[self.within].tolist())]
        for part, width in enumerate(self.widths.tolist()):
            before = prod(self.widths[:part].tolist())
            tables = []
            for table in np.flatnonzero(self.within == part):
                start, end = self.starts[table : table + 2]
                tables.append((self.of[begins[table] : begins[table + 1]], self.aims[start:end]))
            yield (before, width, self.size // (before * width)), tables


@dataclass(frozen=True, eq=False)
class ListedCells:
    """Cells one by one, each with its place on either side."""

    values: Floats
    first: Places
    second: Places


class Factors(NamedTuple):
    """What the cells of each place are multiplied by, and the largest control missed, infinite if one cannot be met."""

    first: Floats
    second: Floats
    missed: float


def rake(cells: Floats | ListedCells, first: Side, second: Side, cycles: int, tolerance: float) -> Factors:
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
    for shape, tables in side.parts():
        seen = sums.reshape(shape).sum(axis=(0, 2))
        for of, aims in tables:
            totals = np.bincount(of, seen, len(aims))
            stuck = (totals == 0) & (np.abs(aims) > tolerance)
            if stuck.any() or not np.isfinite(totals).all():
                return False
            factor = np.divide(aims, totals, out=np.zeros_like(totals), where=totals != 0)[of]
            seen *= factor
            for moved in (sums, factors):
                moved.reshape(shape)[:] *= factor[:, None]
    return True


def farthest(side: Side, sums: Floats) -> float:
    """How far the sums are from the control that they miss most."""
    gaps = [0.0]
    for shape, tables in side.parts():
        seen = sums.reshape(shape).sum(axis=(0, 2))
        gaps += [np.abs(np.bincount(of, seen, len(aims)) - aims).max() for of, aims in tables]
    return float(np.max(gaps))


def scale(cells: Floats, down: Floats, across: Floats) -> Floats:
    """The cells times the factors of their places; those of the same place on both sides lie behind one another."""
    made = cells.reshape(len(down), len(across), -1) * down[:, None, None]
    made *= across[:, None]
    return made.reshape(cells.shape)


def _onto_first(cells: Floats | ListedCells, others: Floats, size: int) -> Floats:
    if isinstance(cells, ListedCells):
        return np.bincount(cells.first, cells.values * others[cells.second], size).astype(np.float64)
    return np.asarray(cells @ others)


def _onto_second(cells: Floats | ListedCells, ones: Floats, size: int) -> Floats:
    if isinstance(cells, ListedCells):
        return np.bincount(cells.second, cells.values * ones[cells.first], size).astype(np.float64)
    return np.asarray(ones @ cells)
