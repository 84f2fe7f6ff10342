"""Sparse: a table too large to lay out, of which the cells that are not 0 are listed."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.release.boxes import layers
from sfumato.release.lattice import Lattice
from sfumato.release.noisy import Integers
from sfumato.release.products import Subject, Tabled
from sfumato.release.uncertainty import Uncertainty
from sfumato.schema import Box, Grid, Table

LARGEST_MARGIN = 1 << 24
"""The most cells of a margin that is laid out to answer from, and of all that are kept: 128 MB."""
Leaves = NDArray[np.integer]


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
        if self.table.margin(names).size > LARGEST_MARGIN:
            return self._folded(grid)
        return self._margin(names).totals(grid)

    def _margin(self, names: tuple[str, ...]) -> Lattice:
        """The sums by some attributes laid out, made when first asked and kept while there is room."""
        found = self._margins.get(names)
        if found is None:
            margin = self.table.margin(names)
            found = Lattice(self._summed(names, margin.shape).reshape(margin.shape), margin.attributes)
            kept = {**self._margins, names: found}
            while len(kept) > 1 and sum(one.values.size for one in kept.values()) > LARGEST_MARGIN:
                del kept[next(iter(kept))]
            self.__dict__["_margins"] = kept  # exchanged whole, so readers need no lock
        return found

    @cached_property
    def _margins(self) -> dict[tuple[str, ...], Lattice]:
        return {}

    def _summed(self, names: tuple[str, ...], shape: tuple[int, ...]) -> Integers:
        flat = np.zeros(len(self.places), dtype=np.int64)
        for name, length in zip(names, shape, strict=True):
            flat *= length
            flat += self._leaves(name)
        found = np.zeros(prod(shape), dtype=np.int64)
        np.add.at(found, flat, self.values)
        return found

    def _leaves(self, name: str) -> Leaves:
        """The leaf of an attribute in each listed cell, kept once somebody asked: to find it takes two divisions."""
        found = self._columns.get(name)
        if found is None:
            length = len(self.table.attribute(name).levels.leaves)
            found = self.table.leaves_at(self.places, name).astype(np.min_scalar_type(length))
            self._columns[name] = found
        return found

    @cached_property
    def _columns(self) -> dict[str, Leaves]:
        return {}

    def _folded(self, grid: Grid) -> Integers:
        """The sums over every box of a grid, from the list: a pass for each way to take groups that do not overlap."""
        held = self._within(grid)
        values, found = self.values[held], np.zeros(grid.shape, dtype=np.int64)
        leaves = [self._leaves(name)[held] for name, _ in grid.axes]
        for chosen in product(*(layers(groups) for _, groups in grid.axes)):
            inside, flat = np.ones(len(values), dtype=bool), np.zeros(len(values), dtype=np.int64)
            for at, places, (_, groups) in zip(leaves, chosen, grid.axes, strict=True):
                part = groups[places]
                inside &= np.logical_or.reduce(part, axis=0)[at]
                flat = flat * len(part) + part.argmax(axis=0)[at]
            sums = np.zeros(tuple(len(places) for places in chosen), dtype=np.int64)
            np.add.at(sums.reshape(-1), flat[inside], values[inside])
            found[np.ix_(*chosen)] = sums
        return found

    def _within(self, grid: Grid) -> NDArray[np.intp]:
        """Which listed cells some box of a grid may hold."""
        held = np.ones(len(self.places), dtype=bool)
        for name, groups in grid.axes:
            if not (some := np.logical_or.reduce(groups, axis=0)).all():
                held &= some[self._leaves(name)]
        for name, mask in grid.within.masks.items():
            held &= mask[self._leaves(name)]
        return np.flatnonzero(held)
