"""Totals: sums of laid-out cells over every box of a grid at once, and over what boxes have in common."""

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.attributes import Attribute
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.folds import Along, Number, everything, folded_over

Floats = NDArray[np.float64]


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
