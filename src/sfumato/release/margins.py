"""Margins: some tables that a cube is summed to, as one linear map A from cells to control cells.

Everything that calibration and its errors need of A is here: A x, A' r, A diag(x) A' and solutions of systems in it.
One table has a diagonal A diag(x) A'; several have a matrix of the size of their cells; above `DENSE` cells a system
is solved by conjugate gradients instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.schema import Box, Grid, Table

Floats = NDArray[np.float64]
DENSE = 5000
"""The most control cells for which a matrix over them is held."""


@dataclass(frozen=True, eq=False)
class Margins:
    """The tables by some attributes each, stacked in order, of the cells of one table."""

    table: Table
    by: tuple[tuple[str, ...], ...]

    @cached_property
    def _axes(self) -> list[tuple[int, ...]]:
        return [tuple(self.table.names.index(name) for name in names) for names in self.by]

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(self.table.shape[axis] for axis in axes) for axes in self._axes]

    @property
    def size(self) -> int:
        """How many control cells there are in all."""
        return sum(prod(shape) for shape in self.shapes)

    @property
    def single(self) -> bool:
        return len(self.by) == 1

    def of(self, cells: NDArray[np.generic]) -> Floats:
        """A x: the margins of the cells, stacked."""
        return np.concatenate([_summed(cells, axes).ravel() for axes in self._axes]).astype(np.float64)

    def spread(self, controls: Floats) -> Floats:
        """A' r: every cell gets the sum of what its control cells hold."""
        cells = np.zeros(self.table.shape)
        for part, axes, shape in zip(self._parts(controls), self._axes, self.shapes, strict=True):
            ordered = part.reshape(shape).transpose(np.argsort(axes))
            cells += ordered.reshape([n if axis in axes else 1 for axis, n in enumerate(self.table.shape)])
        return np.where(self.table.possible, cells, 0.0)

    def _parts(self, controls: Floats) -> list[Floats]:
        return np.split(controls, np.cumsum([prod(shape) for shape in self.shapes])[:-1])

    def split(self, controls: Floats) -> list[Floats]:
        """The stacked controls as the tables that they are."""
        return [part.reshape(shape) for part, shape in zip(self._parts(controls), self.shapes, strict=True)]

    def of_box(self, cells: NDArray[np.generic], box: Box) -> Floats:
        """A diag(x) f: the margins of the cells inside a box."""
        masks = [box.mask(attribute) for attribute in self.table.attributes]
        if all(mask.all() for mask in masks):
            return self.of(cells)
        inside = cells[np.ix_(*masks)]
        parts = []
        for axes, shape in zip(self._axes, self.shapes, strict=True):
            part = np.zeros(shape)
            part[np.ix_(*(masks[axis] for axis in axes))] = _summed(inside, axes)
            parts.append(part.ravel())
        return np.concatenate(parts)

    def of_grid(self, cells: NDArray[np.generic], grid: Grid) -> Floats:
        """A diag(x) f for every box f of a grid, one row a box."""
        rows = prod(grid.shape)
        return np.concatenate([self._table_of_grid(cells, grid, axes).reshape(rows, -1) for axes in self._axes], axis=1)

    def _table_of_grid(self, cells: NDArray[np.generic], grid: Grid, axes: tuple[int, ...]) -> Floats:
        """One of the tables: axes of the grid come first, and what both name stands in both."""
        masks = [grid.within.mask(attribute) for attribute in self.table.attributes]
        asked = {self.table.names.index(name): groups for name, groups in grid.axes}
        union = tuple(sorted({*axes, *asked}))
        inside = _summed(cells[np.ix_(*masks)], union).astype(np.float64)
        beyond = {axis: len(masks) + axis for axis in asked}
        operands: list[Any] = [inside, list(union)]
        for axis, groups in asked.items():
            operands += [groups[:, masks[axis]].astype(np.float64), [beyond[axis], axis]]
        found = np.einsum(*operands, [*beyond.values(), *axes], optimize=True)
        whole = np.zeros((*grid.shape, *(self.table.shape[axis] for axis in axes)))
        whole[np.ix_(*(np.ones(length, dtype=bool) for length in grid.shape), *(masks[axis] for axis in axes))] = found
        return whole

    def gram(self, cells: NDArray[np.generic]) -> Floats:
        """A diag(x) A': its diagonal where there is one table, else the whole matrix."""
        if self.single:
            return self.of(cells)
        return np.block([[self._cross(cells, one, other) for other in self._axes] for one in self._axes])

    def _cross(self, cells: NDArray[np.generic], one: tuple[int, ...], other: tuple[int, ...]) -> Floats:
        """What two tables share: for each pair of their cells the sum over both."""
        union = tuple(sorted({*one, *other}))
        crossed = np.zeros((self._cells(one), self._cells(other)))
        crossed[self._places(one, union), self._places(other, union)] = _summed(cells, union).ravel()
        return crossed

    def _cells(self, axes: tuple[int, ...]) -> int:
        return prod(self.table.shape[axis] for axis in axes)

    def _places(self, axes: tuple[int, ...], union: tuple[int, ...]) -> NDArray[np.intp]:
        """For every cell of the union of two tables the number of its cell in one of them."""
        indices = np.indices([self.table.shape[axis] for axis in union])
        place = np.zeros(self._cells(union), dtype=np.intp)
        for axis in axes:
            place = place * self.table.shape[axis] + indices[union.index(axis)].ravel()
        return place


def _summed(cells: NDArray[np.generic], axes: tuple[int, ...]) -> NDArray[np.generic]:
    """The cells summed to some axes, in the order asked for."""
    others = tuple(axis for axis in range(cells.ndim) if axis not in axes)
    kept = sorted(axes)
    total: NDArray[np.generic] = np.asarray(cells.sum(axis=others))
    return total.transpose([kept.index(axis) for axis in axes])


def solver(matrix: Floats, *, regular: bool = False) -> Callable[[Floats], Floats]:
    """Solutions of a symmetric system, the shortest where it is singular; a vector stands for its diagonal matrix.

    The right side is one vector, or several as the rows of a matrix.
    """
    if matrix.ndim == 1:
        inverse = np.divide(1.0, matrix, out=np.zeros_like(matrix), where=matrix != 0)
        return lambda right: inverse * right
    inverse = np.linalg.inv(matrix) if regular else np.linalg.pinv(matrix, rcond=1e-12, hermitian=True)
    return lambda right: inverse @ right if right.ndim == 1 else (inverse @ right.T).T


def iterated(
    apply: Callable[[Floats], Floats], tolerance: float = 1e-13, most: int = 2000
) -> Callable[[Floats], Floats]:
    """The same by conjugate gradients (Hestenes and Stiefel 1952), for a system that is too large to be held."""

    def solve(right: Floats) -> Floats:
        if right.ndim > 1:
            return np.stack([solve(row) for row in right])
        found, rest = np.zeros_like(right), right.copy()
        search, size = rest.copy(), float(rest @ rest)
        aim = tolerance**2 * max(size, 1e-300)
        for _ in range(most):
            if size <= aim:
                break
            image = apply(search)
            length = size / float(search @ image)
            found += length * search
            rest -= length * image
            size, before = float(rest @ rest), size
            search = rest + (size / before) * search
        return found

    return solve
