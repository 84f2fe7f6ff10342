"""Sparse: a table too large to lay out, of which the cells that are not 0 are listed."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.lattice import Lattice
from sfumato.release.noisy import Integers, Noisy
from sfumato.release.products.cube import EXAMPLE as LAID_OUT
from sfumato.release.products.cube import table_of
from sfumato.release.products.product import Held, ProductFile, Subject
from sfumato.release.uncertainties import Uncertainty
from sfumato.schema import FARTHEST, Grid, Table

LARGEST_MARGIN = 1 << 24
"""The most cells of a margin that is laid out to answer from, and of all that are kept: 128 MB."""
Leaves = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Sparse(Held):
    """The numbers, increasing, of the cells whose published value is not 0, and those values; all others are 0.

    A cell that is not listed was measured like any other: its published value is 0, with the same error.
    """

    kind: ClassVar[str] = "sparse"
    subject: Subject
    domain: Table
    values: Integers
    uncertainty: Uncertainty
    places: Integers

    @classmethod
    def of(cls, subject: Subject, noisy: Noisy, uncertainty: Uncertainty) -> "Sparse | None":
        if not isinstance(noisy.domain, Table) or noisy.places is None:
            return None
        return cls(subject, noisy.domain, noisy.values, uncertainty, noisy.places)

    @classmethod
    def read(cls, opened: ProductFile) -> "Sparse":
        from sfumato.release.parquet import read_numbers, read_places, read_values

        table = table_of(opened, FARTHEST)
        # In 64 bits, as sums are: numpy takes ten times as long where it has to cast while it adds.
        values, places = read_values(opened.path, None).astype(np.int64), read_places(opened.path, table)
        uncertainty = opened.uncertainty(lambda name: read_numbers(opened.path, name, len(values)))
        return cls(Subject.read(opened.line), table, values, uncertainty, places)

    def store(self, folder: Path, file: str) -> None:
        from sfumato.release.parquet import listed_cells, write_cells

        columns = {"value": self.values, **self.uncertainty.columns}
        write_cells(folder / file, self.domain, listed_cells(self.places, columns))

    def totals(self, grid: Grid) -> Integers:
        asked = {*(name for name, _ in grid.axes), *grid.within.masks}
        names = tuple(name for name in self.domain.names if name in asked)
        if self.domain.margin(names).size > LARGEST_MARGIN:
            return self._folded(grid)
        return self._margin(names).totals(grid)

    def _margin(self, names: tuple[str, ...]) -> Lattice:
        """The sums by some attributes laid out, made when first asked and kept while there is room."""
        found = self._margins.get(names)
        if found is None:
            margin = self.domain.margin(names)
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
            length = len(self.domain.attribute(name).levels.leaves)
            found = self.domain.leaves_at(self.places, name).astype(np.min_scalar_type(length))
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
        for chosen in product(*(groups.layers() for _, groups in grid.axes)):
            inside, flat = np.ones(len(values), dtype=bool), np.zeros(len(values), dtype=np.int64)
            for at, places, (_, groups) in zip(leaves, chosen, grid.axes, strict=True):
                row = groups.at(places).row_of[at]
                inside &= row >= 0
                flat = flat * len(places) + row
            sums = np.zeros(tuple(len(places) for places in chosen), dtype=np.int64)
            np.add.at(sums.reshape(-1), flat[inside], values[inside])
            found[np.ix_(*chosen)] = sums
        return found

    def _within(self, grid: Grid) -> NDArray[np.intp]:
        """Which listed cells some box of a grid may hold."""
        held = np.ones(len(self.places), dtype=bool)
        for name, groups in grid.axes:
            if not (some := groups.covered).all():
                held &= some[self._leaves(name)]
        for name, mask in grid.within.masks.items():
            held &= mask[self._leaves(name)]
        return np.flatnonzero(held)


EXAMPLE = Sparse(LAID_OUT.subject, LAID_OUT.domain, np.array([3, -1]), LAID_OUT.uncertainty, np.array([1, 4]))
