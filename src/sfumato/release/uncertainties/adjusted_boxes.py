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
from sfumato.schema import Frame, Grid
from sfumato.schema.frame import distinct

Places = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes that share no cell: for each cell the place of its box, or `size` where it is in none."""

    of: NDArray[np.intp]
    size: int

    def sums(self, column: Floats) -> Floats:
        """The sum over each box."""
        return np.asarray(np.bincount(self.of, column, self.size + 1)[: self.size], dtype=np.float64)


Nested = tuple[Boxes, Boxes, NDArray[np.intp]]
"""Boxes that share no cell, the wider ones that they lie in, and the place of each one's."""


def nested(frame: Frame, grid: Grid, kept: tuple[str, ...]) -> Nested:
    """The boxes of a grid, within those that only some of its axes tell."""
    (wide, up), inner = grid.around(kept), Boxes(*frame.cells(grid))
    return inner, inner if wide is grid else Boxes(*frame.cells(wide)), up


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
    def of(cls, boxes: Boxes, weight: Floats, extra: Extra) -> "Taken":
        inside = boxes.of < boxes.size
        keys = extra.cell[inside].astype(np.int64) * boxes.size + boxes.of[inside]
        found, entry = distinct(keys, len(extra.kappa) * boxes.size)
        return cls(extra, boxes.size, found, np.bincount(entry, weight[inside], len(found)).astype(np.float64))

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


def along(boxes: Nested, weight: Floats, extra: Extra) -> Floats:
    """The covariance of the total of each inner box with that of the outer one that it lies in."""
    within, around, up = boxes
    inner = Taken.of(within, weight, extra)
    outer = inner if around is within else Taken.of(around, weight, extra)
    both = inner.amount * outer.within(inner.cell, up[inner.box]) * (extra.system.gain - extra.kappa)[inner.cell]
    found = within.sums(weight) - np.bincount(inner.box, both, inner.boxes)
    wide = outer.solved[up]
    found -= (inner.asked * wide).sum(axis=1)
    found -= (inner.solved * outer.moved[up]).sum(axis=1) + (wide * inner.moved).sum(axis=1)
    found += (inner.solved * extra.joint(outer.solved)[up]).sum(axis=1)
    return np.asarray(found, dtype=np.float64)
