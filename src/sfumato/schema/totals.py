"""Totals: sums of laid-out cells over every box of a grid, and over what boxes share, with few reads of the cells."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.attributes import Attribute
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.leaf_groups import LeafGroups

Number = TypeVar("Number", np.int32, np.int64, np.float64)
Places = NDArray[np.intp]
Floats = NDArray[np.float64]

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
    def of(cls, mask: NDArray[np.bool_], groups: LeafGroups | None = None) -> "Along":
        """The groups of an axis within a universe; without groups, all of the universe as one."""
        if groups is None:
            places = np.flatnonzero(mask)
            return cls(len(mask), places, np.array([len(places)]), shown=False)
        inside = groups.within(mask)
        return cls(len(mask), inside.places, inside.sizes)

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


def folded(values: NDArray[Number], axis: int, groups: LeafGroups) -> NDArray[Number]:
    """The sums over groups of places along one axis, groups that overlap or are empty among them."""
    along = Along(values.shape[axis], groups.places, groups.sizes)
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


def totals_over(values: NDArray[Number], attributes: tuple[Attribute, ...], grid: Grid) -> NDArray[Number]:
    """Sums over every box: select the universe, sum over what is not asked, fold each axis into its groups.

    Axes after those of the attributes stay as they are.
    """
    asked, names = dict(grid.axes), [attribute.name for attribute in attributes]
    alongs = [Along.of(grid.within.mask(one), asked.get(one.name)) for one in attributes]
    alongs += [everything(length, shown=True) for length in values.shape[len(attributes) :]]
    return in_order(folded_over(values, alongs), names, grid)


def in_order(found: NDArray[Number], names: list[str], grid: Grid) -> NDArray[Number]:
    """Sums whose axes stand as the attributes do, laid out as the grid asks."""
    asked = {name for name, _ in grid.axes}
    order = [name for name in names if name in asked]
    places: list[int] = [order.index(name) for name, _ in grid.axes]
    shape: tuple[int, ...] = (*grid.shape, *found.shape[len(places) :])
    places += range(len(places), found.ndim)
    return np.ascontiguousarray(found.transpose(places)).reshape(shape)


def summed_to(
    values: NDArray[np.generic], attributes: tuple[Attribute, ...], kept: set[str], box: Box
) -> tuple[NDArray[np.generic], tuple[Attribute, ...]]:
    """The sums within a box by some attributes, and these: what a question does not tell apart is summed first."""
    held = values
    for place, attribute in reversed(list(enumerate(attributes))):
        if attribute.name not in kept:
            held = held.compress(box.mask(attribute), axis=place).sum(axis=place, dtype=_wide(values))
    return held.astype(_wide(values), copy=False), tuple(one for one in attributes if one.name in kept)


def _wide(values: NDArray[np.generic]) -> type[np.int64] | type[np.float64]:
    return np.float64 if values.dtype.kind == "f" else np.int64


def in_common(
    values: NDArray[np.generic], attributes: tuple[Attribute, ...], ones: list[Box], others: list[Box]
) -> Floats:
    """The sum of the cells that each of some boxes shares with each of some others."""
    apart = {one.name for one in attributes if not _same([*ones, *others], one)}
    held, told = summed_to(values, attributes, apart, ones[0])
    return (_spread(ones, told) * held.ravel().astype(np.float64)) @ _spread(others, told).T


def _same(boxes: list[Box], attribute: Attribute) -> bool:
    """Whether boxes hold the same leaves of an attribute."""
    first = boxes[0].mask(attribute)
    return all(np.array_equal(box.mask(attribute), first) for box in boxes[1:])


def masks(boxes: list[Box], attribute: Attribute) -> Floats:
    """The leaves of an attribute that each box holds, as numbers."""
    return np.stack([box.mask(attribute) for box in boxes]).astype(np.float64)


def _spread(boxes: list[Box], attributes: tuple[Attribute, ...]) -> Floats:
    """For each box the cells of a small table that it holds."""
    found = np.ones((len(boxes), 1))
    for attribute in attributes:
        found = (found[:, :, None] * masks(boxes, attribute)[:, None, :]).reshape(len(boxes), -1)
    return found
