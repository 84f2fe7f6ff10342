"""Tree: the leaves of an attribute in parts, parts in larger ones, up to the whole."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.leaf_groups import LeafGroups
from sfumato.schema.levels import Levels
from sfumato.schema.totals import Along, summed_by

Places = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parts:
    """The leaves of an attribute in parts: the part of each leaf, and one leaf of each part."""

    of: Places

    @cached_property
    def one(self) -> Places:
        return np.unique(self.of, return_index=True)[1]

    @property
    def size(self) -> int:
        return len(self.one)

    @cached_property
    def lengths(self) -> Places:
        """How many leaves each part has."""
        return np.bincount(self.of)

    def along(self) -> Along:
        """How the leaves are put together to the parts."""
        return Along(len(self.of), np.argsort(self.of, kind="stable"), np.bincount(self.of))

    def within(self, finer: "Parts") -> "Parts":
        """The same parts, of the parts of a finer level."""
        return Parts(self.of[finer.one])


def levels_of(levels: Levels) -> list[Parts]:
    """The whole, every level that the hierarchy has, and the leaves, each finer than the one before."""
    found = [Parts(np.zeros(len(levels.leaves), dtype=np.intp))]
    for depth in range(levels.depth + 1):
        cut = levels.cut(depth)
        if len(cut.leaves) > found[-1].size:
            found.append(Parts(levels.above(cut)))
    return found


@dataclass(frozen=True, eq=False)
class Rung:
    """One level of a tree, its parts by number; of the whole, which has no parent, it is its own."""

    parts: Parts
    parents: Places
    """For each part the part of the level above that it lies in."""
    order: Places
    """The leaves in an order in which every part of every level is a run."""

    @property
    def size(self) -> int:
        return self.parts.size

    @cached_property
    def children(self) -> Places:
        """How many of its parts each part of the level above has."""
        return np.bincount(self.parents)

    @cached_property
    def siblings(self) -> Places:
        """For each part how many children its parent has, itself among them."""
        return self.children[self.parents]

    @cached_property
    def run(self) -> Places:
        """The parts in the order of the leaves."""
        ordered = self.parts.of[self.order]
        return ordered[np.flatnonzero(np.diff(ordered, prepend=-1))]

    @cached_property
    def ends(self) -> Places:
        """After how many leaves each part ends, in the order of the leaves."""
        return np.cumsum(np.bincount(self.parts.of)[self.run])

    @cached_property
    def _along(self) -> Along:
        return Parts(self.parents).along()

    def summed(self, values: NDArray[Any], axis: int) -> NDArray[Any]:
        """Values of its parts along an axis, summed to those of the level above."""
        part = values if self._along.whole else values.take(self._along.places, axis=axis)
        return summed_by(part, axis, self._along.sizes)

    def means(self, values: Floats, axis: int) -> Floats:
        """The means over the children of each part of the level above."""
        return np.asarray(self.summed(values, axis) / lengthwise(self.children, values.ndim, axis), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Tree:
    """Levels from the whole, which is level 0, to the leaves; a leaf that ends early is its own only child below.

    >>> tree = Tree((Parts(np.array([0, 0, 0])), Parts(np.array([0, 1, 0])), Parts(np.array([0, 1, 2]))))
    >>> tree.depth, tree.rungs[2].parents.tolist(), tree.rungs[2].siblings.tolist(), tree.rungs[2].run.tolist()
    (2, [0, 1, 0], [2, 1, 2], [0, 2, 1])
    """

    parts: tuple[Parts, ...]

    @property
    def depth(self) -> int:
        return len(self.parts) - 1

    @cached_property
    def rungs(self) -> tuple[Rung, ...]:
        order = np.lexsort(tuple(part.of for part in reversed(self.parts)))
        above = (self.parts[0], *self.parts)
        return tuple(Rung(part, up.of[part.one], order) for part, up in zip(self.parts, above, strict=False))

    @cached_property
    def paths(self) -> frozenset[tuple[int, ...]]:
        """How many siblings, itself among them, every part has that a leaf lies in, level by level; each path once."""
        counts = [rung.siblings[rung.parts.of].tolist() for rung in self.rungs[1:]]
        return frozenset(zip(*counts, strict=True)) if counts else frozenset({()})

    def at(self, size: int) -> int | None:
        """The level that has so many parts, if one has."""
        return self._sizes.get(size)

    @cached_property
    def _sizes(self) -> dict[int, int]:
        return {rung.size: level for level, rung in enumerate(self.rungs)}

    def levels_of_groups(self, groups: LeafGroups) -> Places:
        """The coarsest level of which each group is whole parts."""
        found = np.full(len(groups), self.depth)
        for level in range(self.depth - 1, -1, -1):
            part, rows = self.parts[level].of[groups.places], groups.rows
            # The parts that a group meets hold as many leaves as the group where it has all of each.
            met = np.unique(rows * self.parts[level].size + part)
            row, part = np.divmod(met, self.parts[level].size)
            held = np.bincount(row, self.parts[level].lengths[part], len(groups))
            found[held == groups.sizes] = level
        return found

    @cached_property
    def new_ends(self) -> tuple[Places, ...]:
        """The ends of each level that no coarser one has."""
        finer = zip(self.rungs, self.rungs[1:], strict=False)
        return (self.rungs[0].ends, *(np.setdiff1d(one.ends, above.ends) for above, one in finer))

    @cached_property
    def origins(self) -> tuple[list[tuple[Places, Places]], ...]:
        """For each level, and each down to it: which of its ends are new there, and their places among those."""
        return tuple(
            [self._new_there(rung.ends, at) for at in range(level + 1)] for level, rung in enumerate(self.rungs)
        )

    def _new_there(self, ends: Places, level: int) -> tuple[Places, Places]:
        here = np.flatnonzero(np.isin(ends, self.new_ends[level]))
        return here, np.searchsorted(self.new_ends[level], ends[here])

    def averaged(self, masks: Floats) -> list[Floats]:
        """What masks over the leaves, a row each, are on every level: the mean over the children of each part."""
        found = [masks[:, self.parts[-1].one]]
        for rung in self.rungs[:0:-1]:
            found.insert(0, rung.means(found[0], 1))
        return found


def lengthwise(values: NDArray[Any], ndim: int, axis: int) -> NDArray[Any]:
    """Numbers along one axis of an array, laid out to be broadcast over the others."""
    return values.reshape([-1 if place == axis else 1 for place in range(ndim)])
