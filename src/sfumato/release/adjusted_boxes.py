"""Errors of a whole table of adjusted rows: the covariance of every box with the wider one that it lies in, at once.

With M = A W A' + E the matrix that the step solved, l = M⁻¹ A W q for a total q, and V the noise that controls really
had, two totals q and p have the covariance q'W p − l'M k + l'(V − E) k. The finest controls stand on a diagonal, so
both products are sums over the joint cells that a box meets, and products of short vectors over the other controls.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.release.boxes import Boxes, Floats, Nested
from sfumato.schema.frame import distinct

if TYPE_CHECKING:
    from sfumato.release.adjusted import System

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Extra:
    """What the noise of the controls is above what the step took it for, and all that follows from it alone."""

    system: "System"
    finest: Floats
    rest: Floats

    @cached_property
    def pull(self) -> Floats:
        """1 / (D + e) of every joint cell; 0 where no finest total was measured."""
        noise = self.system.joined.finest_noise()
        return np.divide(1.0, self.system.weight + noise, out=np.zeros(len(noise)), where=np.isfinite(noise))

    @cached_property
    def kappa(self) -> Floats:
        noise = self.system.joined.finest_noise()
        known = np.isfinite(noise)
        return np.where(known, self.finest - np.where(known, noise, 0.0), 0.0) * self.pull**2

    def joint(self, columns: Floats) -> Floats:
        """V − E over the controls besides the finest, with what those add to the finest, times some columns."""
        joined = self.system.joined
        noise = np.concatenate([joined.noise[place] for place in joined.rest]) if joined.rest else np.zeros(0)
        return joined.times(self.kappa * self.system.weight**2, columns) + (self.rest - noise)[:, None] * columns


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
        joined = extra.system.joined
        keys = joined.place[inside].astype(np.int64) * boxes.size + boxes.of[inside]
        found, entry = distinct(keys, joined.size * boxes.size)
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
        """The amounts, each times a number of its joint cell, summed over the controls besides the finest, by box."""
        joined, column = self.extra.system.joined, self.amount * times[self.cell]
        shapes = [(joined.ups[place], len(joined.noise[place])) for place in joined.rest]
        listed = [
            np.bincount(up[self.cell] * self.boxes + self.box, column, size * self.boxes).reshape(size, self.boxes)
            for up, size in shapes
        ]
        return np.concatenate(listed) if listed else np.zeros((0, self.boxes))

    @cached_property
    def asked(self) -> Floats:
        return self.folded(1 - self.extra.system.weight * self.extra.pull)

    @cached_property
    def solved(self) -> Floats:
        return self.extra.system.solve(self.asked)

    @cached_property
    def moved(self) -> Floats:
        return self.folded(self.extra.kappa * self.extra.system.weight)


def along(nested: Nested, weight: Floats, extra: Extra) -> Floats:
    """The covariance of the total of each inner box with that of the outer one that it lies in."""
    inner = Taken.of(nested.inner, weight, extra)
    outer = inner if nested.outer is nested.inner else Taken.of(nested.outer, weight, extra)
    both = inner.amount * outer.within(inner.cell, nested.up[inner.box]) * (extra.pull - extra.kappa)[inner.cell]
    found = nested.inner.sums(weight) - np.bincount(inner.box, both, inner.boxes)
    wide = outer.solved[:, nested.up]
    found -= (inner.asked * wide).sum(axis=0)
    found -= (inner.solved * outer.moved[:, nested.up]).sum(axis=0) + (wide * inner.moved).sum(axis=0)
    found += (inner.solved * extra.joint(outer.solved)[:, nested.up]).sum(axis=0)
    return np.asarray(found, dtype=np.float64)
