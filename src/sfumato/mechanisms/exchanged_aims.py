"""Exchanged aims: what does best by an aim where records are put for others, by the dearest of all exchanges.

Exchanges that may cost most are too many to list. Those are that part in one attribute; whichever is the dearest at
what is found is added, until none is dearer than those that are listed, which cost as little as they can. Attributes
that can be put for each other have one variance: the problem is convex, so what is found by any order of them, and the
mean of all, cost no more.

Components that no exchange moves, as the number of all records where that is public, cost nothing however little noise
they have; they get 1/256 of the variance that is wanted of any cell, and so cost the others next to nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.exchanges import Partings
from sfumato.mechanisms.geometric_program import least_largest
from sfumato.mechanisms.least_cost import GAP, WantedCells
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.mechanisms.pair_search import interchangeable
from sfumato.privacy import EveryTable
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Component

UNMOVED = 2.0**-8
"""What components that no exchange moves have of the variance that is wanted of a cell."""
MOST_ADDED, LARGEST_MATRIX, MOST_CLASSES = 200, 2**24, 600
"""How many exchanges are added to those that part in one attribute, and how large a problem may be."""


@dataclass(frozen=True, eq=False)
class ExchangedAim:
    """What is wanted of cells, and how far rows go that are put for others."""

    design: MarginDesign
    wanted: WantedCells
    move: EveryTable
    targets: Mapping[Component, float]

    @property
    def solvable(self) -> bool:
        """Whether it is not too large."""
        return len(self.wanted.targets) * self._count <= LARGEST_MATRIX and self._count <= MOST_CLASSES

    @property
    def least(self) -> Floats:
        """The variances of the least largest cost at which cells are as wanted."""
        unmoved = self._summed(self.unmoved.astype(np.float64)) > 0
        wanted, found = self.wanted.grouped(self._classes), np.full(self._count, np.nan)
        found[unmoved] = _next_to_nothing(wanted, unmoved)
        parts, costs = wanted.less(found).matrix, np.array(self._listed)
        for _ in range(0 if unmoved.all() else MOST_ADDED):
            found[~unmoved] = least_largest(costs[:, ~unmoved], parts)
            added = self._dearest(found)
            if added @ (1 / found) <= float((costs @ (1 / found)).max()) * (1 + GAP):
                break
            costs = np.vstack([costs, added])
        return np.asarray(found[self._classes], dtype=np.float64)

    @cached_property
    def unmoved(self) -> NDArray[np.bool_]:
        return unmoved(self.partings, self.move)

    @cached_property
    def partings(self) -> Partings:
        return Partings(self.design, self.move.kept or frozenset())

    @property
    def _listed(self) -> list[Floats]:
        """What those cost by each class of components who come or go, and who part in one attribute.

        Where none can part, rows stay in their cell, as if what they add more came or went.
        """
        rows, parted = [], any(one.parts for one in self.partings.given)
        for left, come in self.move.apart:
            if left * come > 0 and parted:
                rows += [self._summed(one.numbers) for one in self.partings.singly(left, come)]
            elif left != come:
                rows += [float(left - come) ** 2 * self._summed(row) for row in self.design.record_costs()]
        return rows

    def _dearest(self, variances: Floats) -> Floats:
        """What the dearest exchange costs by each class of components."""
        every = variances[self._classes]
        ends = ((left, come) for left, come in self.move.apart if left * come > 0)
        rows = [self._summed(self.partings.dearest(left, come, every).numbers) for left, come in ends]
        return max(rows, key=lambda one: float(one @ (1 / variances)), default=np.zeros(self._count))

    def _summed(self, numbers: Floats) -> Floats:
        """Numbers of components, summed over each class."""
        return np.asarray(np.bincount(self._classes, numbers, self._count), dtype=np.float64)

    @property
    def _count(self) -> int:
        return int(self._classes.max()) + 1

    @cached_property
    def _classes(self) -> Integers:
        """Components that are the same but for attributes alike have one number."""
        family = self.design.family
        known, groups = {one: self.targets.get(one, 0.0) for one in family.components}, list[list[int]]()
        for axis in range(len(family.trees)):
            like = (g for g in groups if self.partings.gives_as(g[0], axis) and interchangeable(known, g[0], axis))
            group = next(like, None)
            groups.append([axis]) if group is None else group.append(axis)
        levels = self.partings.levels
        rows = np.hstack([np.sort(levels[:, group], axis=1) for group in groups]) if groups else levels
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def unmoved(partings: Partings, move: EveryTable) -> NDArray[np.bool_]:
    """The components in which no neighbours differ: rows that leave and those that come add as much, and share them."""
    same = all(left == come for left, come in move.apart)
    return np.array([same and not partings.moves(one) for one in partings.design.family.components])


def _next_to_nothing(wanted: WantedCells, known: NDArray[np.bool_]) -> Floats:
    """A variance for every component that is not moved, so that no cell has much of all of them.

    Cells that have nothing of a component, as those of a leaf that ends above it or of an only child, do not bound it.
    """
    parts = known[wanted.components]
    kinds, components = wanted.kinds[parts], wanted.components[parts]
    many = np.bincount(kinds, minlength=len(wanted.targets))[kinds]
    found = np.full(wanted.size, np.inf)
    shares, targets = many * wanted.parts[parts], wanted.targets[kinds]
    some = shares > 0
    np.minimum.at(found, components[some], UNMOVED * targets[some] / shares[some])
    return np.asarray(found[known], dtype=np.float64)
