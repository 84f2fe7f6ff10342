"""Equations: sums of cells that must hold, told once each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Equations:
    """Sums of cells: equation i says that the cells of its entries, each with its sign, add up to 0."""

    rows: Integers
    cells: Integers
    signs: Floats
    count: int

    @property
    def parents(self) -> Integers:
        """The cell that each equation is about: the total of the others."""
        found = np.zeros(self.count, dtype=np.int64)
        totals = self.signs < 0
        found[self.rows[totals]] = self.cells[totals]
        return found

    @cached_property
    def _starts(self) -> Integers:
        return np.searchsorted(self.rows, np.arange(self.count + 1))

    @cached_property
    def _by_cell(self) -> tuple[Integers, Integers]:
        order = np.argsort(self.cells, kind="stable")
        return self.rows[order], self.cells[order]

    def span(self, row: int) -> slice:
        """The entries of an equation, where they stand in the order of equations."""
        return slice(self._starts[row], self._starts[row + 1])

    def members(self, row: int) -> Integers:
        """The cells of an equation."""
        return self.cells[self.span(row)]

    def of(self, cell: int) -> Integers:
        """The equations that a cell stands in."""
        rows, cells = self._by_cell
        return rows[slice(*np.searchsorted(cells, [cell, cell + 1]))]

    def beside(self, cell: int) -> Integers:
        """The cells that stand in an equation with one, itself as well."""
        return np.unique(np.concatenate([np.array([cell]), *map(self.members, self.of(cell).tolist())]))

    def sums(self, values: Floats) -> Floats:
        """What the signed values of every equation add up to."""
        return np.bincount(self.rows, self.signs * values[self.cells], self.count).astype(np.float64)

    def both_ways(self, width: int) -> "Equations":
        """The equations of changes of so many cells: for what these rise by, and against what they fall by."""
        return Equations(
            np.concatenate([self.rows, self.rows]),
            np.concatenate([self.cells, self.cells + width]),
            np.concatenate([self.signs, -self.signs]),
            self.count,
        )

    def restricted_to(self, cells: Integers, size: int) -> "Equations":
        """The same between some cells, renumbered, where no other cell changes."""
        place = np.full(size, -1, dtype=np.int64)
        place[cells] = np.arange(len(cells))
        entries = place[self.cells] >= 0
        _, rows = np.unique(self.rows[entries], return_inverse=True)
        return Equations(rows, place[self.cells[entries]], self.signs[entries], int(rows.max(initial=-1)) + 1)

    def kept(self, keep: Flags, place: Integers) -> "Equations":
        """Some of the equations, their cells renumbered."""
        entries = keep[self.rows]
        rows = np.cumsum(keep)[self.rows[entries]] - 1
        return Equations(rows, place[self.cells[entries]], self.signs[entries], int(keep.sum()))


def together(rows: Integers, cells: Integers, label: Integers) -> Integers:
    """The least label of all cells that share a row, however far round; labels are cells themselves."""
    while True:
        least = np.full(int(rows.max(initial=-1)) + 1, len(label))
        np.minimum.at(least, rows, label[cells])
        lower = label.copy()
        np.minimum.at(lower, cells, least[rows])
        lower = lower[lower]  # a label is itself a cell of the cluster, which may have found a lower one
        if np.array_equal(lower, label):
            return label
        label = lower


def joined(sums: list[tuple[Integers, Integers]], cells: Integers) -> Equations:
    """All sums over the places of cells, each told once."""
    rows, places, signs, count = [], [], [], 0
    for totals, parts in sums:
        number = count + np.arange(len(totals))
        rows += [number, np.repeat(number, parts.shape[1])]
        places += [np.searchsorted(cells, totals), np.searchsorted(cells, parts.ravel())]
        signs += [-np.ones(len(totals)), np.ones(parts.size)]
        count += len(totals)
    none = np.zeros(0, dtype=np.int64)
    every = Equations(
        np.concatenate([none, *rows]), np.concatenate([none, *places]), np.concatenate([none, *signs]), count
    )
    order = np.lexsort((every.cells, every.rows))
    every = Equations(every.rows[order], every.cells[order], every.signs[order].astype(np.float64), count)
    return every.kept(first_of_each(every, len(cells)), np.arange(len(cells)))


def first_of_each(equations: Equations, size: int) -> Flags:
    """Which equations are told for the first time; they are compared by two sums of fixed random numbers."""
    marks = np.random.Generator(np.random.PCG64(17)).integers(1, 2**62, size=(2, size), dtype=np.int64)
    prints = np.zeros((2, equations.count), dtype=np.int64)
    for place in range(2):
        np.add.at(prints[place], equations.rows, marks[place][equations.cells] * equations.signs.astype(np.int64))
    _, first = np.unique(prints, axis=1, return_index=True)
    keep = np.zeros(equations.count, dtype=bool)
    keep[first] = True
    return keep
