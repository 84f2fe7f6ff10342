"""Normal: the equations (A W A' + U) p = r of totals that numbers are fitted to, solved in the way that suits them.

A sums cells to some tables of totals, W and U are the variances of cells and totals. Tables each of which is a sum of
the next are a tree, and are solved in two passes without a matrix. Upwards, what the totals below one say of it, M with
variance S, is combined with its own: M + S (r − M) / (S + U). Downwards, a total is pulled by what it still asks for
after all above have pulled by q in sum: p = (r − M − S q) / (S + U) (Hay, Rastogi, Miklau and Suciu 2010 have it for
equal variances). Where one table tells all others apart it stands on a diagonal and is eliminated, so that only the
others meet in a matrix. A matrix is held up to `DENSE` totals; above, equations are iterated. Where S + U is 0 nothing
is left to ask, and p = 0 is one of many solutions; fitted totals and their errors are the same with any.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.integer]
Cells = NDArray[Any]
"""A number for every cell."""
Solve = Callable[[Floats], Floats]
Levels = list[tuple[Floats, Floats]]
"""From the coarsest table to the finest: S and 1 / (S + U)."""
DENSE = 5000
"""The most totals for which a matrix over them is held."""


class Sets(ABC):
    """Some tables of totals over the same cells, stacked: the linear map A from cells to totals."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """How many totals each table has."""

    @abstractmethod
    def table(self, place: int, cells: Cells) -> Floats:
        """The totals of one table."""

    @abstractmethod
    def spread(self, totals: Floats) -> Floats:
        """A' p: every cell gets the sum of what the totals that it is in hold."""

    @abstractmethod
    def gram(self, cells: Cells) -> Floats:
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

    def of(self, cells: Cells) -> Floats:
        """A x: the totals of the cells, stacked."""
        return np.concatenate([self.table(place, cells) for place in range(len(self.sizes))])

    def parts(self, totals: Floats) -> list[Floats]:
        """Stacked totals as the tables that they are."""
        return np.split(totals, np.cumsum(self.sizes)[:-1], axis=-1)

    @cached_property
    def finest(self) -> int | None:
        """The table that all others are sums of, if there is one."""
        places = range(len(self.sizes))
        return next((one for one in places if all(self.nests(one, other) for other in places)), None)

    @cached_property
    def chain(self) -> list[int] | None:
        """The tables from the coarsest to the finest; nothing where one is no sum of the next."""
        order = sorted(range(len(self.sizes)), key=lambda place: self.sizes[place])
        return order if all(self.nests(fine, coarse) for coarse, fine in pairwise(order)) else None


@dataclass(frozen=True, eq=False)
class Normal:
    """The equations of some totals: the weight of every cell, times a scale, and the noise of every total."""

    sets: Sets
    weight: Cells
    noise: Floats
    scale: float = 1.0

    @cached_property
    def solve(self) -> Solve:
        """Solutions for one right side, or for several that are the rows of a matrix."""
        sets = self.sets
        if sets.chain is not None:
            return self._by_passes(sets.chain)
        if sets.finest is not None:
            return self._without(sets.finest)
        if sets.size <= DENSE:
            return inverted(self.scale * sets.gram(self.weight), self.noise)
        diagonal = self.scale * sets.of(self.weight) + self.noise
        apply = lambda totals: self.scale * sets.of(self.weight * sets.spread(totals)) + self.noise * totals  # noqa: E731
        return iterated(apply, diagonal)

    def _by_passes(self, order: list[int]) -> Solve:
        """Two passes over a chain of tables, given from the coarsest to the finest."""
        ups = [self.sets.up(fine, coarse) for coarse, fine in pairwise(order)]
        own = [self.sets.parts(self.noise)[place] for place in order]
        spread, levels = self.scale * self.sets.table(order[-1], self.weight), Levels()
        for noise, up in zip(reversed(own), [*reversed(ups), None], strict=True):
            total = spread + noise
            gain = quotient(np.ones_like(total), total)
            levels.insert(0, (spread, gain))
            if up is not None:
                spread = folded(spread * noise * gain, up, len(own[-len(levels) - 1]))
        return lambda right: self._passed(levels, ups, order, right)

    def _passed(self, levels: Levels, ups: list[Places], order: list[int], right: Floats) -> Floats:
        parts, gaps, below = self.sets.parts(right), list[Floats](), np.zeros(())
        for place, (spread, gain), up in zip(reversed(order), reversed(levels), [*reversed(ups), None], strict=True):
            gaps.insert(0, parts[place] - below)
            if up is not None:
                size = self.sets.sizes[order[-len(gaps) - 1]]
                below = folded(below + spread * gain * gaps[0], up, size)
        found: list[Floats] = [np.empty(0)] * len(order)
        above = np.zeros(())
        for place, (spread, gain), gap, up in zip(order, levels, gaps, [None, *ups], strict=True):
            above = above if up is None else above[..., up]
            found[place] = (gap - spread * above) * gain
            above = above + found[place]
        return np.concatenate(found, axis=-1)

    def _without(self, finest: int) -> Solve:
        sets, noise = self.sets, self.sets.parts(self.noise)
        rest = [place for place in range(len(sets.sizes)) if place != finest]
        ups, sizes = [sets.up(finest, place) for place in rest], [sets.sizes[place] for place in rest]
        others = np.concatenate([noise[place] for place in rest])
        system = Eliminated(self.scale * sets.table(finest, self.weight), noise[finest], ups, sizes, others)

        def solve(right: Floats) -> Floats:
            parts = sets.parts(right)
            own, beside = system.pulls(parts[finest], np.concatenate([parts[place] for place in rest], axis=-1))
            found = dict(zip(rest, system.parts(beside), strict=True)) | {finest: own}
            return np.concatenate([found[place] for place in range(len(sets.sizes))], axis=-1)

        return solve


@dataclass(frozen=True, eq=False)
class Eliminated:
    """A table of totals on its diagonal, and others that are sums of it, which have D' = D v / (D + v) behind them."""

    weight: Floats
    """D: the variances of the cells, summed to the finest totals."""
    noise: Floats
    """v: that of the finest totals themselves; infinite where they were not measured."""
    ups: Sequence[Places]
    sizes: Sequence[int]
    others: Floats

    def fold(self, cells: Floats) -> Floats:
        """From the finest totals to the others, stacked."""
        nothing = np.zeros((*cells.shape[:-1], 0))
        listed = [folded(cells, up, size) for up, size in zip(self.ups, self.sizes, strict=True)]
        return np.concatenate([nothing, *listed], axis=-1)

    def parts(self, totals: Floats) -> list[Floats]:
        return np.split(totals, np.cumsum(self.sizes), axis=-1)[:-1]

    def unfold(self, totals: Floats) -> Floats:
        """From the others to the finest totals: the sum of those that each is in."""
        found = np.zeros((*totals.shape[:-1], len(self.weight)))
        for part, up in zip(self.parts(totals), self.ups, strict=True):
            found += part[..., up]
        return found

    @cached_property
    def share(self) -> Floats:
        """D / (D + v): how far a finest total pulls its cells."""
        return quotient(self.weight, self.weight + self.noise)

    @cached_property
    def gain(self) -> Floats:
        """1 / (D + v); 0 where nothing was measured."""
        return quotient(np.ones_like(self.weight), self.weight + self.noise)

    @cached_property
    def solve(self) -> Solve:
        """The solution on the others for a right side from which the finest totals were eliminated."""
        cells, others = self.weight * (1 - self.share), self.others
        if len(others) > DENSE:
            return iterated(lambda one: self.fold(cells * self.unfold(one)) + others * one, self.fold(cells) + others)
        return inverted(gram_of(self.ups, self.sizes, cells), others)

    def pulls(self, finest: Floats, others: Floats) -> tuple[Floats, Floats]:
        """The solution for a right side, on the finest totals and on the others."""
        found = self.solve(others - self.fold(self.share * finest))
        return quotient(finest - self.weight * self.unfold(found), self.weight + self.noise), found

    def times(self, cells: Floats, rows: Floats) -> Floats:
        """A diag(x) A' of the others times some rows; where it is too large, down to the cells and up again."""
        if len(self.others) <= DENSE:
            return rows @ gram_of(self.ups, self.sizes, cells)
        return self.fold(cells * self.unfold(rows))


def gram_of(ups: Sequence[Places], sizes: Sequence[int], cells: Floats) -> Floats:
    """A diag(x) A' of tables for each of which the total of every cell is known."""
    tables = list(zip(ups, sizes, strict=True))
    found, starts = np.zeros((sum(sizes), sum(sizes))), np.cumsum([0, *sizes])
    for row, (up, long) in zip(starts, tables, strict=False):
        for column, (beside, wide) in zip(starts, tables, strict=False):
            block = np.bincount(up * wide + beside, cells, long * wide).reshape(long, wide)
            found[row : row + long, column : column + wide] = block
    return found


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

    One inverse and then a product a question; with a factor every question would cost a triangular solve.
    """
    if matrix.ndim == 1:
        diagonal = quotient(np.ones_like(matrix), matrix)
        return lambda right: diagonal * right
    whole = matrix if noise is None else matrix + np.diag(noise)
    regular = noise is not None and bool((noise > 0).all())
    inverse = np.linalg.inv(whole) if regular else np.linalg.pinv(whole, rcond=1e-12, hermitian=True)
    return lambda right: inverse @ right if right.ndim == 1 else (inverse @ right.T).T


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
