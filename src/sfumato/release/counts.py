"""Sums and counts over every box of a grid at once, and the cells that boxes have in common."""

import numpy as np
from numpy.typing import NDArray

from sfumato.release.folds import Along, Number, folded_over
from sfumato.release.noisy import Integers
from sfumato.schema import Attribute, Box, Grid, Table


def totals_over(values: NDArray[Number], attributes: tuple[Attribute, ...], grid: Grid) -> NDArray[Number]:
    """Sums over every box: select the universe, sum over what is not asked, fold each axis into its groups."""
    asked, names = dict(grid.axes), [attribute.name for attribute in attributes]
    alongs = [Along.of(grid.within.mask(one), asked.get(one.name)) for one in attributes]
    return in_order(folded_over(values, alongs), names, grid)


def in_order(found: NDArray[Number], names: list[str], grid: Grid) -> NDArray[Number]:
    """Sums whose axes stand as the attributes do, laid out as the grid asks."""
    asked = {name for name, _ in grid.axes}
    order = [name for name in names if name in asked]
    return np.ascontiguousarray(found.transpose([order.index(name) for name, _ in grid.axes])).reshape(grid.shape)


def counts_over(table: Table, grid: Grid) -> Integers:
    """How many possible cells each box of a grid holds: a product of axes, save where rules bind them together."""
    ruled = table.ruled
    named = set(ruled.names) if ruled else set()
    asked, found = dict(grid.axes), np.ones(grid.shape, dtype=np.int64)
    for attribute in table.attributes:
        if attribute.name in named:
            continue
        mask = grid.within.mask(attribute)
        if attribute.name in asked:
            found *= _along(grid, {attribute.name}, (asked[attribute.name] & mask).sum(axis=1))
        else:
            found *= int(mask.sum())
    if ruled:
        axes = tuple((name, groups) for name, groups in grid.axes if name in named)
        inside = totals_over(*_summed(ruled, {name for name, _ in axes}, grid.within), Grid(axes, grid.within))
        found *= _along(grid, named, inside)
    return found


def _along(grid: Grid, names: set[str], values: Integers) -> Integers:
    """Values of some axes, laid out to be broadcast over all of them."""
    return values.reshape([len(groups) if name in names else 1 for name, groups in grid.axes])


def cells_in_common(table: Table, ones: list[Box], others: list[Box]) -> NDArray[np.float64]:
    """How many possible cells each of some boxes shares with each of some others."""
    ruled = table.ruled
    named = ruled.names if ruled else ()
    found = np.ones((len(ones), len(others)))
    for attribute in table.attributes:
        if attribute.name not in named:
            found *= _masks(ones, attribute) @ _masks(others, attribute).T
    if ruled:
        apart = {one.name for one in ruled.attributes if not _same([*ones, *others], one)}
        held, attributes = _summed(ruled, apart, ones[0])
        found *= (_spread(ones, attributes) * held.ravel()) @ _spread(others, attributes).T
    return found


def _same(boxes: list[Box], attribute: Attribute) -> bool:
    """Whether boxes hold the same leaves of an attribute."""
    first = boxes[0].mask(attribute)
    return all(np.array_equal(box.mask(attribute), first) for box in boxes[1:])


def _summed(table: Table, kept: set[str], box: Box) -> tuple[Integers, tuple[Attribute, ...]]:
    """How many possible cells within a box stand behind each cell of some attributes, and these attributes.

    A rule may bind many cells together; those that a question does not tell apart are summed before all else.
    """
    held: NDArray[np.generic] = table.possible
    for place, attribute in reversed(list(enumerate(table.attributes))):
        if attribute.name not in kept:
            held = held.compress(box.mask(attribute), axis=place).sum(axis=place, dtype=np.int64)
    return held.astype(np.int64, copy=False), tuple(one for one in table.attributes if one.name in kept)


def _masks(boxes: list[Box], attribute: Attribute) -> NDArray[np.float64]:
    return np.stack([box.mask(attribute) for box in boxes]).astype(np.float64)


def _spread(boxes: list[Box], attributes: tuple[Attribute, ...]) -> NDArray[np.float64]:
    """For each box the cells of a small table that it holds."""
    found = np.ones((len(boxes), 1))
    for attribute in attributes:
        found = (found[:, :, None] * _masks(boxes, attribute)[:, None, :]).reshape(len(boxes), -1)
    return found
