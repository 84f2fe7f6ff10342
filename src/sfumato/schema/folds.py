"""Folds: the places of each axis of a cube taken, put in groups and summed, with few reads of the cells."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int32, np.int64, np.float64)
Places = NDArray[np.intp]

_SHORT = 8
"""Sums over fewer neighbours than this are slow one by one, and fast as sums of whole slices."""
_WIDE = 4_096
"""Groups of so many cells each are summed one after the other, smaller ones all in one call."""


@dataclass(frozen=True, eq=False)
class Along:
    """What is taken along one axis: the places of each group in turn, and how many each group has.

    An axis that is not shown has one group, and is gone once that is summed.
    """

    length: int
    places: Places
    sizes: NDArray[np.intp]
    shown: bool = True

    @classmethod
    def of(cls, mask: NDArray[np.bool_], groups: NDArray[np.bool_] | None = None) -> "Along":
        """The groups of an axis within a universe; without groups, all of the universe as one."""
        if groups is None:
            places = np.flatnonzero(mask)
            return cls(len(mask), places, np.array([len(places)]), shown=False)
        # One long row is searched ten times as fast as the rows of a matrix.
        row, places = np.divmod(np.flatnonzero(groups), len(mask))
        inside = mask[places]
        if not inside.all():
            row, places = row[inside], places[inside]
        return cls(len(mask), places, np.bincount(row, minlength=len(groups)))

    @cached_property
    def whole(self) -> bool:
        """Whether every place is taken, each once and in its order."""
        return len(self.places) == self.length and bool((np.diff(self.places) == 1).all())

    @cached_property
    def single(self) -> bool:
        """Whether every group is one place, so that there is nothing to sum."""
        return self.shown and bool((self.sizes == 1).all())


@lru_cache(maxsize=256)
def everything(length: int, *, shown: bool) -> Along:
    """Every place of an axis: each by itself where it is shown, else all together."""
    return Along(length, np.arange(length), np.ones(length, int) if shown else np.array([length]), shown)


def folded_over(values: NDArray[Number], alongs: list[Along]) -> NDArray[Number]:
    """The sums of some cells over the groups of every axis; what leaves least comes first, as the rest reads that."""
    part = values
    some = [axis for axis, along in enumerate(alongs) if len(along.places) < along.length]
    for axis in sorted(some, key=lambda axis: len(alongs[axis].places) / alongs[axis].length):
        part = part.take(alongs[axis].places, axis=axis)
    for axis in sorted(range(len(alongs)), key=lambda axis: len(alongs[axis].sizes) / max(1, part.shape[axis])):
        along = alongs[axis]
        part = part if along.whole or axis in some else part.take(along.places, axis=axis)
        part = part if along.single or part.shape[axis] == 1 == len(along.sizes) else summed_by(part, axis, along.sizes)
    return part.reshape([len(along.sizes) for along in alongs if along.shown])


def folded(values: NDArray[Number], axis: int, groups: NDArray[np.bool_]) -> NDArray[Number]:
    """The sums over groups of places along one axis, groups that overlap or are empty among them."""
    along = Along.of(np.ones(values.shape[axis], dtype=bool), groups)
    part = values if along.whole else values.take(along.places, axis=axis)
    return part if along.single else summed_by(part, axis, along.sizes)


def summed_by(values: NDArray[Number], axis: int, sizes: NDArray[np.intp]) -> NDArray[Number]:
    """The sums over neighbours along one axis, so many in each group; a group of none sums to 0.

    The sums are of the cells' own kind: whoever gives 32 bits knows that they suffice.
    """
    before, length, after = prod(values.shape[:axis]), values.shape[axis], prod(values.shape[axis + 1 :])
    laid, ends = values.reshape(before, length, after), np.cumsum(sizes)
    made = np.zeros((before, len(sizes), after), dtype=values.dtype)
    if before * length * after >= _WIDE * len(sizes):
        for group in np.flatnonzero(sizes):
            _add_up(laid[:, ends[group] - sizes[group] : ends[group]], made[:, group])
    elif (some := sizes > 0).any():
        made[:, some] = np.add.reduceat(laid, (ends - sizes)[some], axis=1, dtype=values.dtype)
    return made.reshape(*values.shape[:axis], len(sizes), *values.shape[axis + 1 :])


def _add_up(slab: NDArray[Number], out: NDArray[Number]) -> None:
    """The sums over the middle axis."""
    if slab.shape[1] <= _SHORT and slab.shape[2] <= _SHORT:
        for place in range(slab.shape[1]):
            out += slab[:, place]
    else:
        np.add.reduce(slab, axis=1, out=out, dtype=slab.dtype)
