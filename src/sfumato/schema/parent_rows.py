"""A tree of rows by the row above each: how deep they stand, in which order, and which leaves lie under them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.leaf_groups import LeafGroups

DEEPEST = 64
"""The most rows above one another."""
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class ParentRows:
    """`above` has the row of the parent of each row, -1 at the top; what is above nobody is a leaf.

    >>> tree = ParentRows(np.array([-1, 0, -1, 0]))
    >>> tree.deep.tolist(), tree.leaves.tolist(), tree.tier(0).tolist(), tree.branches.tolist()
    ([0, 1, 0, 1], [1, 2, 3], [0, 2], [0, 1, 3, 2])
    """

    above: Rows

    @cached_property
    def deep(self) -> Rows:
        """How far each row stands below the top; more than `DEEPEST` where that never ends."""
        above, found = self.above, np.zeros(len(self.above), dtype=np.intp)
        while (inner := above >= 0).any() and found.max() <= DEEPEST:
            found += inner
            above = np.where(inner, self.above[above], -1)
        return found

    @cached_property
    def leaves(self) -> Rows:
        """The rows that are above nobody, in their order."""
        return np.flatnonzero(self._lowest)

    @cached_property
    def _lowest(self) -> NDArray[np.bool_]:
        lowest = np.ones(len(self.above), dtype=bool)
        lowest[self.above[self.above >= 0]] = False
        return lowest

    @cached_property
    def branches(self) -> Rows:
        """All rows, each under its parent, whichever order they are listed in."""
        chain = np.full((int(self.deep.max()) + 1, len(self.deep)), -1)
        rows, within = np.arange(len(self.deep)), np.arange(len(self.deep))
        while len(within):
            chain[self.deep[rows], within] = rows
            inner = self.above[rows] >= 0
            rows, within = self.above[rows[inner]], within[inner]
        return np.lexsort(chain[::-1])

    @cached_property
    def branch_turns(self) -> Rows:
        """Of each row its turn among the branches."""
        return np.argsort(self.branches)

    @cached_property
    def under(self) -> LeafGroups:
        """For each row the leaves under it: a mask for each would be the square of a long list."""
        rows = self.leaves
        places, pairs = np.arange(len(rows)), list[tuple[Rows, Rows]]()
        while len(rows):
            pairs.append((rows, places))
            inner = self.above[rows] >= 0
            rows, places = self.above[rows[inner]], places[inner]
        above, below = (np.concatenate(side) for side in zip(*pairs, strict=True))
        order = np.lexsort((below, above))
        return LeafGroups(below[order], np.bincount(above, minlength=len(self.above)), len(self.leaves))

    def tier(self, depth: int) -> Rows:
        """The rows at a depth, and the leaves that end above it: together they hold every leaf once."""
        return np.flatnonzero((self.deep == depth) | (self._lowest & (self.deep < depth)))

    def in_tier(self, row: int, depth: int) -> bool:
        """Whether a row is one of those."""
        return bool(self.deep[row] == depth or (self._lowest[row] and self.deep[row] < depth))
