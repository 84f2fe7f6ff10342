"""Sparse: a table too large to lay out, of which the cells that are not 0 are listed."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sfumato.release.boxes import parts
from sfumato.release.lattice import Lattice
from sfumato.release.noisy import Integers
from sfumato.release.products import Subject, Tabled
from sfumato.release.uncertainty import Uncertainty
from sfumato.schema import Box, Grid, Table

LARGEST_MARGIN = 1 << 24
"""The most cells of a margin that is laid out to answer from: 128 MB while it is made."""
_MOST_KEPT = 8


@dataclass(frozen=True, eq=False)
class Sparse(Tabled):
    """The numbers, increasing, of the cells whose published value is not 0, and those values; all others are 0.

    A cell that is not listed was measured like any other: its published value is 0, with the same error.
    """

    subject: Subject
    table: Table
    places: Integers
    values: Integers
    uncertainty: Uncertainty

    def total(self, box: Box) -> int:
        return int(self.totals(Grid((), box)))

    def totals(self, grid: Grid) -> Integers:
        asked = {*(name for name, _ in grid.axes), *grid.within.masks}
        names = tuple(name for name in self.table.names if name in asked)
        margin = self.table.margin(names)
        if prod(margin.shape) > LARGEST_MARGIN:
            return self._folded(grid)
        return self._margin(names).totals(grid)

    def _margin(self, names: tuple[str, ...]) -> Lattice:
        """The sums by some attributes laid out, made when first asked; the oldest of several go first."""
        if names not in self._margins:
            kept = tuple(self.table.attribute(name) for name in names)
            shape = tuple(len(attribute.levels.leaves) for attribute in kept)
            if len(self._margins) >= _MOST_KEPT:
                del self._margins[next(iter(self._margins))]
            self._margins[names] = Lattice(self._summed(names, shape).reshape(shape), kept)
        return self._margins[names]

    @cached_property
    def _margins(self) -> dict[tuple[str, ...], Lattice]:
        return {}

    def _summed(self, names: tuple[str, ...], shape: tuple[int, ...]) -> Integers:
        flat = np.zeros(len(self.places), dtype=np.int64)
        for name, length in zip(names, shape, strict=True):
            flat *= length
            flat += self.table.leaves_at(self.places, name)
        found = np.zeros(prod(shape), dtype=np.int64)
        np.add.at(found, flat, self.values)
        return found

    def _folded(self, grid: Grid) -> Integers:
        """The sums over every box of a grid, in a pass for each part of it whose boxes do not overlap."""
        found = np.zeros(grid.shape, dtype=np.int64)
        leaves = {name: self.table.leaves_at(self.places, name) for name, _ in grid.axes}
        within = np.ones(len(self.places), dtype=bool)
        for name, mask in grid.within.masks.items():
            within &= mask[leaves[name] if name in leaves else self.table.leaves_at(self.places, name)]
        for chosen, part in parts(grid):
            inside, flat = within.copy(), np.zeros(len(self.places), dtype=np.int64)
            for name, groups in part.axes:
                inside &= np.logical_or.reduce(groups, axis=0)[leaves[name]]
                flat = flat * len(groups) + groups.argmax(axis=0)[leaves[name]]
            sums = np.zeros(prod(part.shape), dtype=np.int64)
            np.add.at(sums, flat[inside], self.values[inside])
            found[np.ix_(*chosen)] = sums.reshape(part.shape)
        return found
