"""LeafGroups: groups of the leaves of one attribute, each as the places of its leaves and not as a row of booleans.

The 8,000 postal codes of a country of 800,000 neighbourhoods are so 800,000 numbers, and not 6.4 GB.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

CROWDED, MOST_DENSE = 8, 2_000_000
"""Where leaves are in more groups than this, what groups share is a product of matrices, if these are no larger."""
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeafGroups:
    """The leaves of each group in turn, rising, how many each has, and how many leaves there are; groups may overlap.

    >>> groups = LeafGroups.of(np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]], dtype=bool))
    >>> groups.places.tolist(), groups.sizes.tolist(), groups.times.tolist()
    ([0, 1, 1, 2], [2, 0, 2], [1, 2, 1])
    """

    places: Places
    sizes: Places
    width: int

    @classmethod
    def of(cls, groups: "LeafGroups | Flags") -> "LeafGroups":
        """The groups, given so or as a row of booleans each."""
        if isinstance(groups, LeafGroups):
            return groups
        # One long row is searched ten times as fast as the rows of a matrix.
        row, places = np.divmod(np.flatnonzero(groups), max(groups.shape[1], 1))
        return cls(places, np.bincount(row, minlength=len(groups)), groups.shape[1])

    @classmethod
    def listed(cls, leaves: Sequence[Sequence[int] | Places], width: int) -> "LeafGroups":
        """The groups by the places of their leaves, rising in each."""
        sizes = np.array([len(one) for one in leaves], dtype=np.intp)
        if all(isinstance(one, np.ndarray) for one in leaves):  # ten times as fast as number by number
            return cls(np.concatenate([np.zeros(0, np.intp), *leaves]), sizes, width)
        return cls(np.fromiter(chain.from_iterable(leaves), np.intp, int(sizes.sum())), sizes, width)

    @classmethod
    def parted(cls, of: NDArray[np.integer], count: int) -> "LeafGroups":
        """The groups that every leaf is in one of, as it says.

        >>> LeafGroups.parted(np.array([1, 0, 1]), 2).dense.astype(int).tolist()
        [[0, 1, 0], [1, 0, 1]]
        """
        return cls(np.argsort(of, kind="stable"), np.bincount(of, minlength=count), len(of))

    @classmethod
    def each(cls, width: int) -> "LeafGroups":
        """Every leaf by itself."""
        return cls(np.arange(width), np.ones(width, dtype=np.intp), width)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def ends(self) -> Places:
        """Where in the places each group ends."""
        return np.cumsum(self.sizes)

    @cached_property
    def rows(self) -> Places:
        """The group that each of the places is of."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def leaves(self, row: int) -> Places:
        """The leaves of one group."""
        return self.places[self.ends[row] - self.sizes[row] : self.ends[row]]

    def mask(self, row: int) -> Flags:
        """Which leaves one group has."""
        found = np.zeros(self.width, dtype=bool)
        found[self.leaves(row)] = True
        return found

    def masks(self) -> Iterator[Flags]:
        """That of every group, one after the other."""
        return map(self.mask, range(len(self)))

    @property
    def dense(self) -> Flags:
        """That of all groups at once, for arithmetic on few of them."""
        found = np.zeros((len(self), self.width), dtype=bool)
        found[self.rows, self.places] = True
        return found

    def at(self, rows: Places | Flags | slice) -> "LeafGroups":
        """Some of the groups, in the order asked for."""
        chosen = np.arange(len(self))[rows]
        sizes = self.sizes[chosen]
        starts, ends = self.ends[chosen] - sizes, np.cumsum(sizes)
        within = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes)
        return LeafGroups(self.places[within], sizes, self.width)

    def within(self, mask: Flags) -> "LeafGroups":
        """The same groups, of the leaves of a universe alone."""
        inside = mask[self.places]
        if inside.all():
            return self
        sizes = np.bincount(self.rows[inside], minlength=len(self))
        return LeafGroups(self.places[inside], sizes, self.width)

    def seen_from(self, leaves: Places) -> "LeafGroups":
        """The same groups of some leaves alone, which are now numbered in this order."""
        number = np.full(self.width, -1, dtype=np.intp)
        number[leaves] = np.arange(len(leaves))
        places = number[self.places]
        rows, places = self.rows[places >= 0], places[places >= 0]
        order = np.lexsort((places, rows))
        return LeafGroups(places[order], np.bincount(rows, minlength=len(self)), len(leaves))

    @property
    def others(self) -> "LeafGroups":
        """Of each group the leaves that it has not."""
        return LeafGroups.of(~self.dense)

    @cached_property
    def times(self) -> Places:
        """How many groups each leaf is in."""
        return np.bincount(self.places, minlength=self.width)

    @property
    def covered(self) -> Flags:
        """Which leaves are in some group."""
        return np.asarray(self.times > 0)

    @property
    def overlap(self) -> bool:
        """Whether some leaf is in two groups."""
        return len(self.places) > self.width or bool(self.times.max(initial=0) > 1)

    @cached_property
    def row_of(self) -> Places:
        """The group of each leaf, -1 of one that is in none; of groups that do not overlap."""
        found = np.full(self.width, -1, dtype=np.intp)
        found[self.places] = self.rows
        return found

    def meet(self, mask: Flags) -> Flags:
        """Which groups have one of some leaves."""
        return np.asarray(np.bincount(self.rows[mask[self.places]], minlength=len(self)) > 0)

    def layers(self) -> list[Places]:
        """Groups in as few sets as a first fit finds, each without overlap; the levels of a tree make one a depth.

        >>> groups = LeafGroups.of(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool))
        >>> [layer.tolist() for layer in groups.layers()]
        [[0, 3], [1, 2]]
        """
        if not self.overlap:
            return [np.arange(len(self))] if len(self) else []
        held: list[tuple[list[int], Flags]] = []
        for row in range(len(self)):
            leaves = self.leaves(row)
            fitting = next((layer for layer in held if not layer[1][leaves].any()), None)
            if fitting is None:
                fitting = ([], np.zeros(self.width, dtype=bool))
                held.append(fitting)
            fitting[0].append(row)
            fitting[1][leaves] = True
        return [np.array(listed, dtype=np.intp) for listed, _ in held]

    def shared(self, weights: Floats) -> Floats:
        """The weights of the leaves that each two groups have in common, summed.

        >>> LeafGroups.of(np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)).shared(np.array([1.0, 2.0, 4.0])).tolist()
        [[3.0, 2.0], [2.0, 6.0]]
        """
        used, column = np.unique(self.places, return_inverse=True)
        if int(self.times.max(initial=0)) > CROWDED and len(self) * len(used) <= MOST_DENSE:
            inside = np.zeros((len(self), len(used)))
            inside[self.rows, column] = 1
            return np.asarray((inside * weights[used]) @ inside.T)
        order = np.argsort(self.places, kind="stable")
        leaves, rows, found = self.places[order], self.rows[order], np.zeros(len(self) ** 2)
        for apart in range(int(self.times.max(initial=0))):  # a leaf's groups stand beside each other now
            same = np.flatnonzero(leaves[apart:] == leaves[: len(leaves) - apart])
            one, other, held = rows[same], rows[same + apart], weights[leaves[same]]
            found += np.bincount(one * len(self) + other, held, len(found))
            if apart:
                found += np.bincount(other * len(self) + one, held, len(found))
        return found.reshape(len(self), len(self))
