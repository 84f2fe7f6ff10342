"""Sparse: a table too large to lay out, of which the cells that are not 0 are listed."""

from collections.abc import Iterator, Mapping, Sequence
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
PIECE = 1 << 16
"""Listed cells that are summed at once: what they are summed by stays in the cache of a core."""


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
        values, places = read_values(opened.path, None), read_places(opened.path, table)
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
            values = self._narrowed(names)
            values = self._summed(names, margin.shape).reshape(margin.shape) if values is None else values
            found = Lattice(values, margin.attributes)
            kept = {**self._margins, names: found}
            while len(kept) > 1 and sum(one.values.size for one in kept.values()) > LARGEST_MARGIN:
                del kept[next(iter(kept))]
            self.__dict__["_margins"] = kept  # exchanged whole, so readers need no lock
        return found

    def _narrowed(self, names: tuple[str, ...]) -> Integers | None:
        """The same sums from the smallest margin that is kept and by more, which is shorter than the list."""
        wider = [(by, kept) for by, kept in self._margins.items() if {*names} < {*by}]
        if not wider:
            return None
        by, kept = min(wider, key=lambda one: one[1].values.size)
        found: Integers = kept.values.sum(axis=tuple(at for at, name in enumerate(by) if name not in names))
        return found

    @cached_property
    def _margins(self) -> dict[tuple[str, ...], Lattice]:
        return {}

    def _summed(self, names: tuple[str, ...], shape: tuple[int, ...]) -> Integers:
        found = np.zeros(prod(shape), dtype=np.int64)
        for places, values in self._pieces(slice(0, len(self.places))):
            flat = np.zeros(len(places), dtype=np.int64)
            for name, length in zip(names, shape, strict=True):
                flat *= length
                flat += self.domain.leaves_at(places, name)
            np.add.at(found, flat, values)
        return found

    def _pieces(self, of: slice) -> Iterator[tuple[Integers, Integers]]:
        """Some of the listed cells in turn, so that nothing as long as the list is made to sum it.

        Values are in 64 bits, as sums are: numpy takes ten times as long where it has to cast while it adds.
        """
        for start in range(of.start, of.stop, PIECE):
            piece = slice(start, min(start + PIECE, of.stop))
            yield self.places[piece], self.values[piece].astype(np.int64, copy=False)

    def _span(self, grid: Grid) -> slice:
        """The part of the list, which increases, from the first corner of all boxes of a grid to the last."""
        first, last = 0, 0
        for name, length in zip(self.domain.names, self.domain.shape, strict=True):
            some = np.flatnonzero(self._some(grid, name))
            if not len(some):
                return slice(0, 0)
            first, last = first * length + int(some[0]), last * length + int(some[-1])
        start, stop = np.searchsorted(self.places, [first, last + 1]).tolist()
        return slice(start, stop)

    def _some(self, grid: Grid, name: str) -> NDArray[np.bool_]:
        """Which leaves of an attribute some box of a grid may hold."""
        every = np.ones(len(self.domain.attribute(name).levels.leaves), dtype=bool)
        held: NDArray[np.bool_] = every & grid.within.masks.get(name, every)
        for axis, groups in grid.axes:
            held &= groups.covered if axis == name else every
        return held

    def _folded(self, grid: Grid) -> Integers:
        """The sums over every box of a grid, from the list: a sum for each way to take groups that do not overlap."""
        ways = [_Way.of(grid, chosen) for chosen in product(*(groups.layers() for _, groups in grid.axes))]
        asked = {*(name for name, _ in grid.axes), *grid.within.masks}
        some = {name: mask for name in asked if not (mask := self._some(grid, name)).all()}
        for places, values in self._pieces(self._span(grid)):
            held = self._within(some, places)
            leaves = [self.domain.leaves_at(places[held], name) for name, _ in grid.axes]
            for way in ways:
                way.add(leaves, values[held])
        found = np.zeros(grid.shape, dtype=np.int64)
        for way in ways:
            found[np.ix_(*way.chosen)] = way.sums
        return found

    def _within(self, some: Mapping[str, NDArray[np.bool_]], places: Integers) -> NDArray[np.intp]:
        """Which of some listed cells lie at these leaves."""
        held = np.ones(len(places), dtype=bool)
        for name, mask in some.items():
            held &= mask[self.domain.leaves_at(places, name)]
        return np.flatnonzero(held)


@dataclass(frozen=True, eq=False)
class _Way:
    """Groups of each axis of a grid that do not overlap, the row of each leaf among them, and the sums of boxes."""

    chosen: tuple[NDArray[np.intp], ...]
    rows: list[NDArray[np.intp]]
    sums: Integers

    @classmethod
    def of(cls, grid: Grid, chosen: tuple[NDArray[np.intp], ...]) -> "_Way":
        rows = [groups.at(places).row_of for places, (_, groups) in zip(chosen, grid.axes, strict=True)]
        return cls(chosen, rows, np.zeros(tuple(len(places) for places in chosen), dtype=np.int64))

    def add(self, leaves: Sequence[NDArray[np.integer]], values: Integers) -> None:
        """Add the values of some cells to the boxes that hold them."""
        inside, flat = np.ones(len(values), dtype=bool), np.zeros(len(values), dtype=np.int64)
        for at, row_of, length in zip(leaves, self.rows, self.sums.shape, strict=True):
            row = row_of[at]
            inside &= row >= 0
            flat = flat * length + row
        np.add.at(self.sums.reshape(-1), flat[inside], values[inside])


EXAMPLE = Sparse(LAID_OUT.subject, LAID_OUT.domain, np.array([3, -1]), LAID_OUT.uncertainty, np.array([1, 4]))
