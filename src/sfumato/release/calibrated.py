"""Uncertainty after calibration: closed forms for least squares, first order for raking."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.counts import cells_in_common, counts_over
from sfumato.release.leafwise import Leafwise, leaves_wide
from sfumato.release.margins import DENSE, Floats, Margins, iterated, solver
from sfumato.release.nested import nested
from sfumato.release.pieces import pieces, sliced
from sfumato.schema import Box, Grid, Table


@dataclass(frozen=True)
class Control:
    """A table a cube was calibrated to: its attributes, and the variance of its own noise in squared cube steps."""

    by: tuple[str, ...]
    variance: float

    def to_dict(self) -> dict[str, Any]:
        return {"by": list(self.by), "variance": self.variance}


def controls_from(written: list[dict[str, Any]]) -> tuple[Control, ...]:
    return tuple(Control(tuple(one["by"]), float(one["variance"])) for one in written)


def noise_of(margins: Margins, controls: tuple[Control, ...]) -> Floats:
    """The variance of every control cell, stacked."""
    return np.concatenate(
        [np.full(int(np.prod(shape)), one.variance) for shape, one in zip(margins.shapes, controls, strict=True)]
    )


def system(margins: Margins, variance: float, noise: Floats) -> Callable[[Floats], Floats]:
    """Solutions of G = A V A' + V_c with V = variance times the identity on the possible cells."""
    possible = margins.table.possible
    if margins.single:
        return solver(variance * margins.gram(possible) + noise)
    if solve := nested(margins, variance, noise):
        return solve
    if margins.size <= DENSE:
        return solver(variance * margins.gram(possible) + np.diag(noise), regular=bool((noise > 0).all()))
    return iterated(lambda controls: variance * margins.of(margins.spread(controls)) + noise * controls)


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Least squares with independent noisy controls: f'Vg − b_f' G⁺ b_g, where b = A V f and G = A V A' + V_c."""

    table: Table
    variance: float
    controls: tuple[Control, ...]

    @cached_property
    def _margins(self) -> Margins:
        return Margins(self.table, tuple(control.by for control in self.controls))

    @cached_property
    def _solve(self) -> Callable[[Floats], Floats]:
        return system(self._margins, self.variance, noise_of(self._margins, self.controls))

    def covariance(self, table: Table, one: Box, other: Box) -> float:
        first = self.variance * self._margins.of_box(table.possible, one)
        second = first if other is one else self.variance * self._margins.of_box(table.possible, other)
        shared = self.variance * table.count(one.within(other))
        return float(shared - first @ self._solve(second))

    def with_whole(self, table: Table, grid: Grid, kept: tuple[str, ...]) -> Floats:
        """The covariances of the totals of a grid, each with the total of the wider box that only some axes tell."""
        if self._margins.single:
            parts = sliced(grid, leaves_wide(table, grid, self._margins.by[0]))
            return np.concatenate([self._by_leaves(table, one, kept) for one in parts])
        return np.concatenate([self._piece(table, *one) for one in pieces(grid, kept, self._margins.size)])

    def _by_leaves(self, table: Table, grid: Grid, kept: tuple[str, ...]) -> Floats:
        leaves = Leafwise(table, grid, self._margins.by[0])
        parts, wholes = (self.variance * leaves.takes(table.possible, names) for names in (names_of(grid), kept))
        weight = leaves.like_control(self._solve(np.ones(self._margins.size)))
        return self.variance * counts_over(table, grid).ravel() - leaves.folded(parts * wholes * weight)

    def _piece(self, table: Table, grid: Grid, wide: Grid, place: NDArray[np.intp]) -> Floats:
        parts = self.variance * self._margins.of_grid(table.possible, grid)
        wholes = parts if wide is grid else self.variance * self._margins.of_grid(table.possible, wide)
        return self.variance * counts_over(table, grid).ravel() - dots(parts, self._solve(wholes)[place])

    def covariances(self, table: Table, ones: list[Box], others: list[Box]) -> Floats:
        """The covariance of each of some totals with each of some others."""
        first, second = (
            self.variance * np.stack([self._margins.of_box(table.possible, box) for box in boxes])
            for boxes in (ones, others)
        )
        return self.variance * cells_in_common(table, ones, others) - first @ self._solve(second).T

    def to_dict(self) -> dict[str, Any]:
        listed = [control.to_dict() for control in self.controls]
        return {"kind": "calibrated", "variance": self.variance, "controls": listed}


def reconciler(margins: Margins, noise: Floats) -> Callable[[Floats], Floats]:
    """The map from noisy controls to the nearest ones that some cube has: a projection on the range of A.

    Cells of a control are weighed by its variance; exact ones (variance 0) weigh a million times the finest noisy one.
    """
    if margins.single:
        return lambda controls: controls
    finest = noise[noise > 0].min() if (noise > 0).any() else 1.0
    weight = 1 / np.where(noise > 0, noise, finest * 1e-6)
    reach = margins.gram(margins.table.possible)
    projection = reach @ np.linalg.pinv((reach * weight) @ reach, rcond=1e-12, hermitian=True) @ (reach * weight)
    return lambda controls: projection @ controls


@dataclass(frozen=True, eq=False)
class Raked:
    """Raking, to first order: f'[(I−KA)V(I−KA)' + K V_c K']g with K = D A'(A D A')⁺ and D the raked cells.

    With r_f = (A D A')⁺ A D f that is variance · (f − A'r_f)'(g − A'r_g) + r_f' V_c r_g, so only margins are needed.
    """

    table: Table
    variance: float
    controls: tuple[Control, ...]
    raked: NDArray[np.float64] = field(repr=False)

    @cached_property
    def _margins(self) -> Margins:
        return Margins(self.table, tuple(control.by for control in self.controls))

    @cached_property
    def _solve(self) -> Callable[[Floats], Floats]:
        return solver(self._margins.gram(self.raked))

    @cached_property
    def _counts(self) -> Floats:
        return self._margins.gram(self.table.possible)

    @cached_property
    def _noise(self) -> Floats:
        """The covariance of the controls that were met, after they were reconciled."""
        noise = noise_of(self._margins, self.controls)
        if self._margins.single:
            return noise
        reconciled = reconciler(self._margins, noise)(np.diag(noise))
        return reconciler(self._margins, noise)(reconciled.T)

    def _pull(self, box: Box) -> Floats:
        return self._solve(self._margins.of_box(self.raked, box))

    def covariance(self, table: Table, one: Box, other: Box) -> float:
        first, second = self._pull(one), self._pull(other)
        in_one, in_other = (self._margins.of_box(table.possible, box) for box in (one, other))
        own = table.count(one.within(other)) - second @ in_one - first @ in_other + first @ _times(self._counts, second)
        return float(self.variance * own + first @ _times(self._noise, second))

    def with_whole(self, table: Table, grid: Grid, kept: tuple[str, ...]) -> Floats:
        """The covariances of the totals of a grid, each with the total of the wider box that only some axes tell."""
        if self._margins.single:
            parts = sliced(grid, leaves_wide(table, grid, self._margins.by[0]))
            return np.concatenate([self._by_leaves(table, one, kept) for one in parts])
        return np.concatenate([self._piece(table, *one) for one in pieces(grid, kept, self._margins.size)])

    def _by_leaves(self, table: Table, grid: Grid, kept: tuple[str, ...]) -> Floats:
        leaves = Leafwise(table, grid, self._margins.by[0])
        in_part, in_whole = (leaves.takes(table.possible, names) for names in (names_of(grid), kept))
        weight = leaves.like_control(self._solve(np.ones(self._margins.size)))
        pull, whole_pull = (weight * leaves.takes(self.raked, names) for names in (names_of(grid), kept))
        counts, noise = leaves.like_control(self._counts), leaves.like_control(self._noise)
        own = pull * whole_pull * counts - whole_pull * in_part - pull * in_whole
        own_and_controls = leaves.folded(self.variance * own + pull * whole_pull * noise)
        return self.variance * counts_over(table, grid).ravel() + own_and_controls

    def _piece(self, table: Table, grid: Grid, wide: Grid, place: NDArray[np.intp]) -> Floats:
        in_part, pull = self._sides(table, grid)
        in_whole, whole_pull = (in_part, pull) if wide is grid else self._sides(table, wide)
        own = counts_over(table, grid).ravel() - dots(whole_pull[place], in_part) - dots(pull, in_whole[place])
        own += dots(pull, _times_rows(self._counts, whole_pull)[place])
        return self.variance * own + dots(pull, _times_rows(self._noise, whole_pull)[place])

    def _sides(self, table: Table, grid: Grid) -> tuple[Floats, Floats]:
        return self._margins.of_grid(table.possible, grid), self._solve(self._margins.of_grid(self.raked, grid))

    def covariances(self, table: Table, ones: list[Box], others: list[Box]) -> Floats:
        """The covariance of each of some totals with each of some others."""
        first, second = (self._solve(self._stacked(self.raked, boxes)) for boxes in (ones, others))
        in_one, in_other = (self._stacked(table.possible, boxes) for boxes in (ones, others))
        own = cells_in_common(table, ones, others) - in_one @ second.T - first @ in_other.T
        own += first @ _times_rows(self._counts, second).T
        return self.variance * own + first @ _times_rows(self._noise, second).T

    def _stacked(self, cells: NDArray[np.generic], boxes: list[Box]) -> Floats:
        return np.stack([self._margins.of_box(cells, box) for box in boxes])

    def to_dict(self) -> dict[str, Any]:
        listed = [control.to_dict() for control in self.controls]
        return {"kind": "raked", "variance": self.variance, "controls": listed}


def _times(matrix: Floats, vector: Floats) -> Floats:
    return matrix * vector if matrix.ndim == 1 else matrix @ vector


def _times_rows(matrix: Floats, rows: Floats) -> Floats:
    return matrix * rows if matrix.ndim == 1 else (matrix @ rows.T).T


def names_of(grid: Grid) -> tuple[str, ...]:
    return tuple(name for name, _ in grid.axes)


def dots(ones: Floats, others: Floats) -> Floats:
    """The inner product of each row with the row beside it."""
    found: Floats = np.einsum("ij,ij->i", ones, others)
    return found
