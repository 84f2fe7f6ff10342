"""Errors of a whole table of adjusted rows: the covariance of every box with the wider one that it lies in, at once.

With M = A W A' + E the matrix that the step solved, l = M⁻¹ A W q for a total q, and V the noise that controls really
had, two totals q and p have the covariance q'W p − l'M k + l'(V − E) k. The finest controls stand on a diagonal, so
both products are sums over the joint cells that a box meets, and products of short vectors over the other controls.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.normal import Eliminated
from sfumato.release.uncertainties.uncertainty import left_over
from sfumato.schema import Frame, Grid
from sfumato.schema.frame import distinct

Places = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Extra:
    """What the noise of the controls is above what the step took it for, and all that follows from it alone."""

    cell: Places
    """The cell of every row: its finest control, or what tells all controls apart where none does."""
    system: Eliminated
    kappa: Floats
    """Of the finest controls, times the square of their gain."""
    others: Floats

    def joint(self, rows: Floats) -> Floats:
        """V − E over the controls besides the finest, with what those add to the finest, times some rows."""
        return self.system.times(self.kappa * self.system.weight**2, rows) + self.others * rows


@dataclass(frozen=True, eq=False)
class Taken:
    """What boxes take of the joint cells: an entry for each joint cell and box that meet."""

    extra: Extra
    boxes: int
    keys: Places
    amount: Floats

    @classmethod
    def of(cls, frame: Frame, grid: Grid, weight: Floats, extra: Extra) -> "Taken":
        """Of the boxes of a grid, which share no row."""
        box, size = frame.cells(grid)
        inside = box < size
        keys = extra.cell[inside].astype(np.int64) * size + box[inside]
        found, entry = distinct(keys, len(extra.kappa) * size)
        return cls(extra, size, found, np.bincount(entry, weight[inside], len(found)).astype(np.float64))

    @cached_property
    def cell(self) -> Places:
        return self.keys // self.boxes

    @cached_property
    def box(self) -> Places:
        return self.keys % self.boxes

    def within(self, cells: Places, boxes: Places) -> Floats:
        """What some boxes take of some joint cells, which they meet."""
        return self.amount[np.searchsorted(self.keys, cells * self.boxes + boxes)]

    def folded(self, times: Floats) -> Floats:
        """The amounts, each times a number of its joint cell, summed to the controls besides the finest, by box."""
        system, column = self.extra.system, self.amount * times[self.cell]
        listed = [
            np.bincount(self.box * size + up[self.cell], column, size * self.boxes).reshape(self.boxes, size)
            for up, size in zip(system.sets.ups, system.sets.sizes, strict=True)
        ]
        return np.concatenate([np.zeros((self.boxes, 0)), *listed], axis=1)

    @cached_property
    def asked(self) -> Floats:
        return self.folded(self.extra.system.left)

    @cached_property
    def solved(self) -> Floats:
        return self.extra.system.solve(self.asked)

    @cached_property
    def moved(self) -> Floats:
        return self.folded(self.extra.kappa * self.extra.system.weight)


def along(frame: Frame, grid: Grid, kept: tuple[str, ...], weight: Floats, extra: Extra) -> Floats:
    """The covariance of the total of each box of a grid with that of the wider one that only some axes tell."""
    (wide, up), inner = grid.around(kept), Taken.of(frame, grid, weight, extra)
    outer = inner if wide is grid else Taken.of(frame, wide, weight, extra)
    both = inner.amount * outer.within(inner.cell, up[inner.box]) * (extra.system.gain - extra.kappa)[inner.cell]
    # Of no units at all, bincount makes whole numbers.
    own, taken = (np.bincount(inner.box, one, inner.boxes).astype(np.float64) for one in (inner.amount, both))
    solved = outer.solved[up]
    taken += (inner.asked * solved).sum(axis=1)
    taken += (inner.solved * outer.moved[up]).sum(axis=1) + (solved * inner.moved).sum(axis=1)
    taken -= (inner.solved * extra.joint(outer.solved)[up]).sum(axis=1)
    return left_over(own, taken)
