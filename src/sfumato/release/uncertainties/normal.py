"""Normal: the equations (A W A' + U) p = r of totals that numbers are fitted to, solved in the way that suits them.

A sums cells to some tables of totals, W and U are the variances of cells and totals. Where one table tells all others
apart it stands on a diagonal, D + v, and is eliminated: what is left of the others are the same equations over its
totals, with D v / (D + v) for weights. Tables each of which is a sum of the next are a tree, and are so solved level by
level without a matrix (Hay, Rastogi, Miklau and Suciu 2010 have it for equal variances). Where none tells all others
apart they meet in a matrix, up to `DENSE` totals; above, equations are iterated. Where D + v is 0 nothing is left to
ask, and p = 0 is one of many solutions; fitted totals and their errors are the same with any.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats

Places = NDArray[np.integer]
Solve = Callable[[Floats], Floats]
DENSE = 5000
"""The most totals for which a matrix over them is held."""


class Sets(ABC):
    """Some tables of totals over the same cells, stacked: the linear map A from cells to totals."""

    sizes: tuple[int, ...]
    """How many totals each table has."""

    @abstractmethod
    def table(self, place: int, cells: NDArray[Any]) -> Floats:
        """The totals of one table."""

    @abstractmethod
    def spread(self, totals: Floats) -> Floats:
        """A' p: every cell gets the sum of what the totals that it is in hold."""

    @abstractmethod
    def gram(self, cells: NDArray[Any]) -> Floats:
        """A diag(x) A', the whole matrix."""

    @abstractmethod
    def nests(self, fine: int, coarse: int) -> bool:
        """Whether one table is a sum of another."""

    @abstractmethod
    def up(self, fine: int, coarse: int) -> Places:
        """For each total of a table the place of the one that it is a part of in a table that is a sum of it."""

    @property
    def size(self) -> int:
        return sum(self.sizes)

    def of(self, cells: NDArray[Any]) -> Floats:
        """A x: the totals of the cells, stacked."""
        return np.concatenate([self.table(place, cells) for place in range(len(self.sizes))], axis=-1)

    def parts(self, totals: Floats) -> list[Floats]:
        """Stacked totals as the tables that they are."""
        return np.split(totals, np.cumsum(self.sizes, dtype=np.intp), axis=-1)[:-1]

    @cached_property
    def finest(self) -> int | None:
        """The table that all others are sums of, if there is one."""
        places = range(len(self.sizes))
        return next((one for one in places if all(self.nests(one, other) for other in places)), None)

    def above(self, finest: int) -> "Grouped":
        """The other tables as sums of the one that tells them apart."""
        rest = [place for place in range(len(self.sizes)) if place != finest]
        ups = tuple(self.up(finest, place) for place in rest)
        return Grouped(self.sizes[finest], ups, tuple(self.sizes[place] for place in rest))


@dataclass(frozen=True, eq=False)
class Grouped(Sets):
    """Tables for each of which the total that every cell is in is known; cells are the last axis of what is summed."""

    cells: int
    ups: tuple[Places, ...]
    sizes: tuple[int, ...]

    def table(self, place: int, cells: NDArray[Any]) -> Floats:
        return folded(cells, self.ups[place], self.sizes[place])

    def of(self, cells: NDArray[Any]) -> Floats:
        return super().of(cells) if self.sizes else np.zeros((*cells.shape[:-1], 0))

    def spread(self, totals: Floats) -> Floats:
        found = np.zeros((*totals.shape[:-1], self.cells))
        for part, up in zip(self.parts(totals), self.ups, strict=True):
            found += part[..., up]
        return found

    def gram(self, cells: NDArray[Any]) -> Floats:
        tables = list(zip(self.ups, self.sizes, strict=True))
        blocks = [
            [np.bincount(up * wide + beside, cells, long * wide).reshape(long, wide) for beside, wide in tables]
            for up, long in tables
        ]
        return np.block(blocks) if blocks else np.zeros((0, 0))

    def nests(self, fine: int, coarse: int) -> bool:
        return np.array_equal(self.up(fine, coarse)[self.ups[fine]], self.ups[coarse])

    def up(self, fine: int, coarse: int) -> Places:
        found = np.zeros(self.sizes[fine], dtype=np.intp)
        found[self.ups[fine]] = self.ups[coarse]
        return found


@dataclass(frozen=True, eq=False)
class Normal:
    """The equations of some totals: the weight of every cell, times a scale, and the noise of every total."""

    sets: Sets
    weight: NDArray[Any]
    noise: Floats
    scale: float = 1.0

    @cached_property
    def solve(self) -> Solve:
        """Solutions for one right side, or for several that are the rows of a matrix."""
        if not self.sets.sizes:
            return lambda right: right
        if self.sets.finest is not None:
            return self._by_elimination
        if self.sets.size <= DENSE:
            return inverted(self.scale * self.sets.gram(self.weight), self.noise)
        return iterated(self.times, self.scale * self.sets.of(self.weight) + self.noise)

    def times(self, totals: Floats) -> Floats:
        return self.scale * self.sets.of(self.weight * self.sets.spread(totals)) + self.noise * totals

    @cached_property
    def own(self) -> NDArray[np.bool_]:
        """Which totals are of the finest table."""
        return np.repeat(np.arange(len(self.sets.sizes)) == self.sets.finest, self.sets.sizes)

    @cached_property
    def eliminated(self) -> "Eliminated":
        """The equations without the finest table, where there is one."""
        finest = self.sets.finest
        assert finest is not None  # noqa: S101 - asked for where there is one
        weight = self.scale * self.sets.table(finest, self.weight)
        return Eliminated(weight, self.noise[self.own], self.sets.above(finest), self.noise[~self.own])

    def _by_elimination(self, right: Floats) -> Floats:
        found, own = np.empty_like(right), self.own
        found[..., own], found[..., ~own] = self.eliminated.pulls(right[..., own], right[..., ~own])
        return found


@dataclass(frozen=True, eq=False)
class Eliminated:
    """A table of totals on its diagonal, and others that are sums of it, which have D v / (D + v) behind them."""

    weight: Floats
    """D: the variances of the cells, summed to the finest totals."""
    noise: Floats
    """v: that of the finest totals themselves; infinite where they were not measured."""
    sets: Grouped
    others: Floats

    @cached_property
    def gain(self) -> Floats:
        """1 / (D + v); 0 where nothing was measured."""
        return quotient(np.ones_like(self.weight), self.weight + self.noise)

    @cached_property
    def left(self) -> Floats:
        """V / (D + v): what of their variance cells keep; taken from 1 it would lose the digits of a small v."""
        total = self.weight + self.noise
        return np.divide(self.noise, total, out=np.ones_like(total), where=np.isfinite(total) & (total != 0))

    @cached_property
    def solve(self) -> Solve:
        """The solution on the others for a right side from which the finest totals were eliminated."""
        return Normal(self.sets, self.weight * self.left, self.others).solve

    def pulls(self, finest: Floats, others: Floats) -> tuple[Floats, Floats]:
        """The solution for a right side, on the finest totals and on the others."""
        found = self.solve(others - self.sets.of(self.weight * self.gain * finest))
        return (finest - self.weight * self.sets.spread(found)) * self.gain, found

    def times(self, cells: Floats, rows: Floats) -> Floats:
        """A diag(x) A' of the others times some rows; where it is too large, down to the cells and up again."""
        if len(self.others) <= DENSE:
            return rows @ self.sets.gram(cells)
        return self.sets.of(cells * self.sets.spread(rows))


def folded(values: Floats, up: Places, size: int) -> Floats:
    """The sums over groups along the last axis."""
    if values.ndim == 1:
        return np.asarray(np.bincount(up, values, size), dtype=np.float64)
    rows = values.reshape(-1, values.shape[-1])
    flat = np.bincount((np.arange(len(rows))[:, None] * size + up).ravel(), rows.ravel(), len(rows) * size)
    return np.asarray(flat, dtype=np.float64).reshape(*values.shape[:-1], size)


def quotient(over: Floats, under: Floats) -> Floats:
    """One over the other, and 0 where that is 0."""
    return np.divide(over, under, out=np.zeros(np.broadcast_shapes(over.shape, under.shape)), where=under != 0)


def inverted(matrix: Floats, noise: Floats | None = None) -> Solve:
    """Solutions of a symmetric system, the shortest where it is singular; a vector stands for its diagonal matrix.

    One inverse, then a product a question; where noise is next to nothing it would hold 1 / noise, and lose digits.
    """
    if matrix.ndim == 1:
        diagonal = quotient(np.ones_like(matrix), matrix)
        return lambda right: diagonal * right
    whole = matrix if noise is None else matrix + np.diag(noise)
    if noise is not None and bool((noise > 1e-6 * whole.diagonal().max(initial=0)).all()):
        inverse = np.linalg.inv(whole)
        return lambda right: inverse @ right if right.ndim == 1 else (inverse @ right.T).T
    sizes, axes = np.linalg.eigh(whole)
    some = sizes > 1e-12 * sizes.max(initial=0)
    sizes, axes = sizes[some], axes[:, some]
    return lambda right: ((right @ axes) / sizes) @ axes.T


def iterated(apply: Solve, diagonal: Floats, tolerance: float = 1e-13, most: int = 2000) -> Solve:
    """The same by conjugate gradients (Hestenes and Stiefel 1952), scaled to a diagonal of 1."""
    scale = quotient(np.ones_like(diagonal), np.sqrt(diagonal))

    def solve(right: Floats) -> Floats:
        if right.ndim > 1:
            return np.stack([solve(row) for row in right])
        found, rest = np.zeros_like(right), scale * right
        search, size = rest.copy(), float(rest @ rest)
        aim = tolerance**2 * max(size, 1e-300)
        for _ in range(most):
            if size <= aim:
                break
            image = scale * apply(scale * search)
            length = size / float(search @ image)
            found += length * search
            rest -= length * image
            size, before = float(rest @ rest), size
            search = rest + (size / before) * search
        return scale * found

    return solve
