"""Margins: some tables that a cube is summed to, each attribute at a depth of its own, as one linear map A.

Everything that calibration and its errors need of A is here: A x, A' r, A diag(x) A', and A diag(x) f for boxes f.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.normal import Places, Sets
from sfumato.schema import Box, By, Grid, LeafGroups, Table
from sfumato.schema.level import Level, lacking
from sfumato.schema.totals import summed_by


@dataclass(frozen=True, eq=False)
class Facet:
    """One attribute of a margin: the axis of the cube that it is, and, where it is coarser, the group of each leaf."""

    axis: int
    size: int
    up: Places | None = None

    @classmethod
    def of(cls, table: Table, level: Level) -> "Facet":
        attribute = table.attribute(level.name)
        coarse = level.of(attribute)
        up = None if coarse is attribute else attribute.levels.above(coarse.levels)
        return cls(table.names.index(level.name), len(coarse.levels.leaves), up)

    @property
    def of_leaf(self) -> Places:
        return np.arange(self.size) if self.up is None else self.up


Facets = tuple[Facet, ...]


@dataclass(frozen=True, eq=False)
class Margins(Sets):
    """The tables by some attributes each, stacked in order, of the cells of one table."""

    domain: Table
    by: tuple[By, ...]

    @cached_property
    def facets(self) -> list[Facets]:
        return [tuple(Facet.of(self.domain, level) for level in by) for by in self.by]

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(facet.size for facet in facets) for facets in self.facets]

    @cached_property
    def sizes(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(prod(shape) for shape in self.shapes)

    @property
    def single(self) -> bool:
        return len(self.by) == 1

    def table(self, place: int, cells: NDArray[Any]) -> Floats:
        if cells is self.domain.possible and not self.domain.impossible:
            return self._counted(self.facets[place])
        return _summed(cells, self.facets[place]).astype(np.float64).ravel()

    def _counted(self, facets: Facets) -> Floats:
        """How many cells each total sums where all are possible: a product of lengths, so no cube is read for it."""
        named = {facet.axis for facet in facets}
        others = prod(length for axis, length in enumerate(self.domain.shape) if axis not in named)
        lengths = (np.bincount(facet.of_leaf, minlength=facet.size).astype(np.float64) for facet in facets)
        return reduce(lambda one, other: np.outer(one, other).ravel(), lengths, np.array([float(others)]))

    def spread(self, totals: Floats) -> Floats:
        cells = np.zeros(self.domain.shape)
        for part, facets, shape in zip(self.parts(totals), self.facets, self.shapes, strict=True):
            laid = part.reshape(shape)
            for place, facet in enumerate(facets):
                laid = laid if facet.up is None else laid.take(facet.up, axis=place)
            axes = [facet.axis for facet in facets]
            lengths = [length if axis in axes else 1 for axis, length in enumerate(self.domain.shape)]
            cells += laid.transpose(np.argsort(axes)).reshape(lengths)
        return np.where(self.domain.possible, cells, 0.0) if self.domain.impossible else cells

    def of_boxes(self, cells: NDArray[Any], boxes: Sequence[Box]) -> Floats:
        """A diag(x) f for some boxes f, one row a box."""
        return np.concatenate([self.of_grid(cells, Grid((), box)) for box in boxes])

    def of_grid(self, cells: NDArray[Any], grid: Grid) -> Floats:
        """A diag(x) f for every box f of a grid, one row a box."""
        rows = prod(grid.shape)
        return np.concatenate([self._of_grid(cells, grid, facets).reshape(rows, -1) for facets in self.facets], axis=1)

    def _of_grid(self, cells: NDArray[Any], grid: Grid, facets: Facets) -> Floats:
        """One of the tables: axes of the grid come first, and what both name stands in both."""
        masks = [grid.within.mask(attribute) for attribute in self.domain.attributes]
        asked = {self.domain.names.index(name): groups for name, groups in grid.axes}
        told = {facet.axis: facet for facet in facets}
        union = tuple(sorted({*told, *asked}))
        inside = cells if all(mask.all() for mask in masks) else cells[np.ix_(*masks)]
        found, sides = _to(inside, union).astype(np.float64), list[_Side]()
        for place, axis in enumerate(union):
            side = _Side.of(masks[axis], asked.get(axis), told.get(axis))
            found, sides = side.gathered(found, place), [*sides, side]
        laid = found.reshape([length for side in sides for length in (side.rows, side.parts)])
        order = [2 * union.index(axis) for axis in asked] + [2 * union.index(facet.axis) + 1 for facet in facets]
        return laid.transpose([*order, *(axis for axis in range(laid.ndim) if axis not in order)]).reshape(
            [*grid.shape, *(facet.size for facet in facets)]
        )

    def gram(self, cells: NDArray[Any]) -> Floats:
        return np.block([[self._cross(cells, one, other) for other in self.facets] for one in self.facets])

    def _cross(self, cells: NDArray[Any], one: Facets, other: Facets) -> Floats:
        """What two tables share: for each pair of their totals the sum over both."""
        union = tuple(sorted({facet.axis for facet in (*one, *other)}))
        long, wide = (prod(facet.size for facet in facets) for facets in (one, other))
        first, second = (numbers(self.domain.shape, union, facets) for facets in (one, other))
        pairs = first * wide + second
        shared = np.bincount(pairs, _to(cells, union).ravel(), long * wide)
        return shared.reshape(long, wide).astype(np.float64)

    def nests(self, fine: int, coarse: int) -> bool:
        return not lacking(self.by[coarse], self.by[fine])

    def up(self, fine: int, coarse: int) -> Places:
        parts = {facet.axis: facet for facet in self.facets[fine]}
        # A leaf of each finer group tells the coarser one that it is in.
        leaf = {axis: np.unique(facet.of_leaf, return_index=True)[1] for axis, facet in parts.items()}
        above = tuple(Facet(one.axis, one.size, one.of_leaf[leaf[one.axis]]) for one in self.facets[coarse])
        return numbers({axis: facet.size for axis, facet in parts.items()}, tuple(parts), above)


@dataclass(frozen=True, eq=False)
class _Side:
    """One attribute of boxes and margins: which leaves are summed, and to which group and part of a margin each goes.

    A leaf that two groups have is summed twice.
    """

    leaves: Places
    into: Places
    rows: int
    parts: int

    @classmethod
    def of(cls, mask: NDArray[np.bool_], groups: LeafGroups | None, facet: Facet | None) -> "_Side":
        """The leaves are counted within the universe."""
        number = np.cumsum(mask) - 1
        held = LeafGroups.of(mask[None, :]) if groups is None else groups.within(mask)
        part = np.zeros(len(held.places), dtype=np.intp) if facet is None else facet.of_leaf[held.places]
        parts = 1 if facet is None else facet.size
        return cls(number[held.places], held.rows * parts + part, len(held), parts)

    def gathered(self, values: Floats, axis: int) -> Floats:
        """Numbers of the leaves along an axis, summed to a number for every group and part."""
        order = np.argsort(self.into, kind="stable")
        return summed_by(
            values.take(self.leaves[order], axis=axis), axis, np.bincount(self.into, minlength=self.rows * self.parts)
        )


def numbers(lengths: Mapping[int, int] | Sequence[int], axes: tuple[int, ...], facets: Facets) -> Places:
    """For every cell of some axes, so long each, the number of its total in a table by some of them."""
    found: Places = np.zeros([1] * len(axes), dtype=np.intp)
    for facet in facets:
        along = [lengths[axis] if axis == facet.axis else 1 for axis in axes]
        found = found * facet.size + facet.of_leaf.reshape(along)
    return np.broadcast_to(found, [lengths[axis] for axis in axes]).ravel()


def _to(cells: NDArray[Any], axes: Sequence[int]) -> NDArray[Any]:
    """The cells summed to some axes, in rising order."""
    return np.asarray(cells.sum(axis=tuple(axis for axis in range(cells.ndim) if axis not in axes)))


def _summed(cells: NDArray[Any], facets: Facets) -> NDArray[Any]:
    """The cells summed to a table, in the order of its attributes."""
    axes = [facet.axis for facet in facets]
    found = _to(cells, axes).transpose([sorted(axes).index(axis) for axis in axes])
    for place, facet in enumerate(facets):
        if facet.up is not None:
            order, sizes = np.argsort(facet.up, kind="stable"), np.bincount(facet.up, minlength=facet.size)
            found = summed_by(found.take(order, axis=place), place, sizes)
    return found
