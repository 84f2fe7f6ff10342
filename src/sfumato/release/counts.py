"""Sums and counts over every box of a grid at once, and the cells that boxes have in common."""

from itertools import groupby
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Integers
from sfumato.schema import Attribute, Box, Grid, Table

Number = TypeVar("Number", np.int64, np.float64)


def totals_over(values: NDArray[Number], attributes: tuple[Attribute, ...], grid: Grid) -> NDArray[Number]:
    """Sums over every box: select the universe, sum over what is not asked, fold each axis into its groups."""
    asked, names = dict(grid.axes), [attribute.name for attribute in attributes]
    masks = [grid.within.mask(attribute) for attribute in attributes]
    part = _summed_out(_within(values, masks), [name in asked for name in names])
    kept = [(name, mask) for name, mask in zip(names, masks, strict=True) if name in asked]
    for axis, (name, mask) in enumerate(kept):
        part = folded(part, axis, asked[name][:, mask])
    order = [name for name, _ in kept]
    return np.ascontiguousarray(part.transpose([order.index(name) for name, _ in grid.axes]))


def _within(values: NDArray[Number], masks: list[NDArray[np.bool_]]) -> NDArray[Number]:
    """The cells of a universe: one axis after the other, the one that leaves least first, as that copies least."""
    part = values
    for axis in sorted(range(len(masks)), key=lambda axis: float(masks[axis].mean())):
        if not masks[axis].all():
            part = part.compress(masks[axis], axis=axis)
    return part


def _summed_out(values: NDArray[Number], kept: list[bool]) -> NDArray[Number]:
    """The sums over the axes that are not kept; neighbours among them are one long axis, which sums the faster."""
    runs = [(keep, prod(values.shape[axis] for axis in axes)) for keep, axes in _runs(kept)]
    part, axis = values.reshape([size for _, size in runs]), 0
    for keep, _ in runs:
        if keep:
            axis += 1
        else:
            part = part.sum(axis=axis)
    return part.reshape([size for size, keep in zip(values.shape, kept, strict=True) if keep])


def _runs(kept: list[bool]) -> list[tuple[bool, list[int]]]:
    return [(keep, list(axes)) for keep, axes in groupby(range(len(kept)), key=lambda axis: kept[axis])]


def folded(values: NDArray[Number], axis: int, groups: NDArray[np.bool_]) -> NDArray[Number]:
    """The sums over groups of places along one axis, groups that overlap or are empty among them."""
    sizes = groups.sum(axis=1)
    gathered = values.take(np.nonzero(groups)[1], axis=axis)
    if (sizes == 1).all():
        return gathered
    shape = list(values.shape)
    shape[axis] = len(groups)
    found = np.zeros(shape, dtype=values.dtype)
    some = sizes > 0
    if some.any():
        starts = np.concatenate([[0], np.cumsum(sizes[some])[:-1]])
        place = (slice(None),) * axis + (some,)
        found[place] = np.add.reduceat(gathered, starts, axis=axis)
    return found


def counts_over(table: Table, grid: Grid) -> Integers:
    """How many possible cells each box of a grid holds: a product of axes, save where rules bind them together."""
    ruled = _ruled(table)
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
        inside = totals_over(ruled.possible.astype(np.int64), ruled.attributes, Grid(axes, grid.within))
        found *= _along(grid, named, inside)
    return found


def _along(grid: Grid, names: set[str], values: Integers) -> Integers:
    """Values of some axes, laid out to be broadcast over all of them."""
    return values.reshape([len(groups) if name in names else 1 for name, groups in grid.axes])


def _ruled(table: Table) -> Table | None:
    """The table of those attributes alone that a rule about impossible cells names."""
    named = {name for rule in table.impossible for name, _ in rule.where}
    kept = tuple(attribute for attribute in table.attributes if attribute.name in named)
    return Table(kept, table.impossible) if kept else None


def cells_in_common(table: Table, ones: list[Box], others: list[Box]) -> NDArray[np.float64]:
    """How many possible cells each of some boxes shares with each of some others."""
    ruled = _ruled(table)
    named = ruled.names if ruled else ()
    found = np.ones((len(ones), len(others)))
    for attribute in table.attributes:
        if attribute.name not in named:
            found *= _masks(ones, attribute) @ _masks(others, attribute).T
    if ruled:
        possible = ruled.possible.ravel()
        found *= (_spread(ones, ruled)[:, possible]) @ (_spread(others, ruled)[:, possible]).T
    return found


def _masks(boxes: list[Box], attribute: Attribute) -> NDArray[np.float64]:
    return np.stack([box.mask(attribute) for box in boxes]).astype(np.float64)


def _spread(boxes: list[Box], table: Table) -> NDArray[np.float64]:
    """For each box the cells of a small table that it holds."""
    found = np.ones((len(boxes), 1))
    for attribute in table.attributes:
        found = (found[:, :, None] * _masks(boxes, attribute)[:, None, :]).reshape(len(boxes), -1)
    return found
