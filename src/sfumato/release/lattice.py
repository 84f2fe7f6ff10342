"""Lattice: sums of a cube by its attributes, each at one of its levels or not at all, made when first asked and kept.

A table that somebody asks for seldom needs every cell: by major group and region, it needs only the sum of each.
Every choice of one level for each attribute, the whole among them, has a margin; each follows from any finer one. A
question is answered from the smallest margin at hand that tells its boxes apart. All are integer sums of the same
cells, so the answer is the same to the last digit from whichever margin it comes.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from operator import ge
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Integers
from sfumato.schema import Attribute, Grid, LeafGroups
from sfumato.schema.totals import Along, everything, folded_over, in_order
from sfumato.schema.trees import Parts, levels_of

Cells = NDArray[Any]
Key = tuple[int, ...]
"""For each attribute the place of a level among its levels, from the whole to the leaves."""

QUICK = 100_000
"""Reading so few cells takes under a millisecond, so a question that needs no more makes no margin."""
_LARGEST_SHARE = 4
FITS_32_BITS = 2**31 - 1
"""Integers whose sizes sum to no more are summed in 32 bits, in half the memory and half the time."""
FITS_64_BITS = 2**63 - 2**33
"""Integers whose sizes sum to no more have no sum that wraps in 64 bits; a little less, for rounding."""
WRAPS = "all of its values together are more than 64 bits hold, so that sums of them would be wrong"
_PIECE = 1 << 22
"""How many sizes are summed at once."""


def narrow(values: Cells) -> Cells:
    """The integers as they are where 32 bits hold every sum of them, else in 64 bits."""
    if values.dtype != np.int32 or not values.size:
        return values
    largest = max(abs(int(values.min())), abs(int(values.max())))
    if largest * values.size <= FITS_32_BITS:
        return values
    # Slab by slab, as absolute values of the whole cube would be another cube.
    within = sum(int(np.abs(slab).sum(dtype=np.int64)) for slab in values) if values.ndim else largest
    return values if within <= FITS_32_BITS else values.astype(np.int64)


def wraps(values: Cells) -> bool:
    """Whether some sum of integers may be more than 64 bits hold; their sizes are asked for only where that may be.

    >>> wraps(np.array([2**62, -(2**62)])), wraps(np.array([2**62, 2**61, -(2**60)]))
    (True, False)
    """
    largest = max(abs(int(values.min(initial=0))), abs(int(values.max(initial=0))))
    if largest * values.size <= FITS_64_BITS:
        return False
    flat = values.reshape(-1)
    pieces = (flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE))
    return sum(float(np.abs(piece, dtype=np.float64).sum()) for piece in pieces) > FITS_64_BITS


@dataclass(frozen=True, eq=False)
class Lattice:
    """A cube and the margins of it that were made so far; they take no more memory than the cube itself."""

    values: Cells
    attributes: tuple[Attribute, ...]

    @cached_property
    def kept(self) -> dict[Key, Cells]:
        """The margins at hand, the oldest first; the cube itself is the finest and always there."""
        return {}

    @cached_property
    def _cube(self) -> Cells:
        return narrow(self.values)

    @cached_property
    def _levels(self) -> list[list[Parts]]:
        return [levels_of(attribute.levels) for attribute in self.attributes]

    @cached_property
    def _finest(self) -> Key:
        return tuple(len(levels) - 1 for levels in self._levels)

    @property
    def limit_bytes(self) -> int:
        return self._cube.nbytes

    def totals(self, grid: Grid) -> Integers:
        """The totals of all boxes of a grid."""
        asked = dict(grid.axes)
        alongs = [_along(one, grid, asked.get(one.name)) for one in self.attributes]
        found = folded_over(*self._source(alongs))
        return in_order(found, [one.name for one in self.attributes], grid).astype(np.int64)

    def _source(self, alongs: list[Along]) -> tuple[Cells, list[Along]]:
        """The margin that a question is answered from, made first where the question would read much without it."""
        key = tuple(_needed(levels, along) for levels, along in zip(self._levels, alongs, strict=True))
        at, source = self._nearest(key)
        reached = self._at(at, alongs)
        reads = prod(len(along.places) for along in reached)
        if at == key or reads <= QUICK or self._bytes(key) > self.limit_bytes // _LARGEST_SHARE:
            return source, reached
        return self._made(key, at, source), self._at(key, alongs)

    def _at(self, key: Key, alongs: list[Along]) -> list[Along]:
        return [_along_level(levels[one], along) for levels, one, along in zip(self._levels, key, alongs, strict=True)]

    def _nearest(self, key: Key) -> tuple[Key, Cells]:
        """The smallest margin at hand that is nowhere coarser than what is asked for."""
        finer = [(at, one) for at, one in self.kept.items() if all(map(ge, at, key))]
        return min([*finer, (self._finest, self._cube)], key=lambda one: one[1].size)

    def _made(self, key: Key, at: Key, source: Cells) -> Cells:
        """A margin from a finer one, an attribute at a time; what shrinks it most comes first, and is kept as well."""
        sizes = [
            len(levels[one].one) / levels[now].size for levels, one, now in zip(self._levels, key, at, strict=True)
        ]
        for axis in sorted((axis for axis, size in enumerate(sizes) if size < 1), key=lambda axis: sizes[axis]):
            levels = self._levels[axis]
            along = levels[key[axis]].within(levels[at[axis]]).along()
            whole = [everything(length, shown=True) for length in source.shape]
            source = folded_over(source, [*whole[:axis], along, *whole[axis + 1 :]])
            at = (*at[:axis], key[axis], *at[axis + 1 :])
            self._keep(at, source)
        return source

    def _bytes(self, key: Key) -> int:
        return prod(levels[one].size for levels, one in zip(self._levels, key, strict=True)) * self._cube.itemsize

    def _keep(self, key: Key, margin: Cells) -> None:
        """Keep a margin and drop the oldest that do not fit; the store is exchanged whole, so readers need no lock."""
        if margin.nbytes > self.limit_bytes // _LARGEST_SHARE:
            return
        kept = {**self.kept, key: margin}
        while sum(one.nbytes for one in kept.values()) > self.limit_bytes:
            kept.pop(next(iter(kept)))
        self.__dict__["kept"] = kept


def _along(attribute: Attribute, grid: Grid, groups: LeafGroups | None) -> Along:
    if groups is None and attribute.name not in grid.within.masks:
        return everything(len(attribute.levels.leaves), shown=False)
    return Along.of(grid.within.mask(attribute), groups)


def _needed(levels: list[Parts], along: Along) -> int:
    """The coarsest level that still tells the groups of an axis apart; the leaves where groups overlap."""
    if len(along.places) == along.length and not along.shown:
        return 0
    label = np.zeros(along.length, dtype=np.intp)
    label[along.places] = np.repeat(np.arange(1, len(along.sizes) + 1), along.sizes)
    if np.count_nonzero(label) < len(along.places):
        return len(levels) - 1
    return next(place for place, level in enumerate(levels) if (label == label[level.one][level.of]).all())


def _along_level(level: Parts, along: Along) -> Along:
    """What is taken along an axis of leaves, along the axis of a level that tells its groups apart."""
    if level.size == along.length:
        return along
    if level.size == 1 and not along.shown and len(along.places) == along.length:
        return everything(1, shown=False)
    number = np.full(along.length, -1)
    number[level.one] = np.arange(level.size)
    places = number[along.places]
    first = places >= 0
    group = np.repeat(np.arange(len(along.sizes)), along.sizes)[first]
    return Along(level.size, places[first], np.bincount(group, minlength=len(along.sizes)), along.shown)
