"""Replicate cube: the weight and its replicates summed over all cells once, a cell's weights side by side in memory.

Every table over its attributes is then a sum of rows of the cube, without another scan of the records.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.sealed import Sealed
from sfumato.schema import Grid, Table

LARGEST_CUBE = 30_000_000
"""The most numbers, cells times weights, that are held at once: 240 MB."""


@dataclass(frozen=True, eq=False, repr=False)
class ReplicateCube(Sealed):
    """Whole weights over the cells of a table, the last axis the full sample and then every replicate.

    Only whole ones: their sums are the same in any order, so a table from the cube is the table from the records.
    """

    table: Table
    sums: NDArray[np.int64]

    def over(self, grid: Grid) -> NDArray[np.int64]:
        """The sums in every box of a grid, axis by axis; attributes that the grid leaves out are summed over."""
        sums, groups = self.sums, dict(grid.axes)
        for axis in reversed(range(len(self.table.attributes))):
            attribute = self.table.attributes[axis]
            mask = grid.within.masks.get(attribute.name)
            if attribute.name in groups:
                member = groups[attribute.name] if mask is None else groups[attribute.name] & mask
                sums = _grouped(sums, axis, np.asarray(member))
            else:
                sums = sums.sum(axis) if mask is None else sums.compress(mask, axis).sum(axis)
        left = [name for name in self.table.names if name in groups]
        return np.moveaxis(sums, [left.index(name) for name, _ in grid.axes], range(len(left)))


def _grouped(values: NDArray[Any], axis: int, groups: NDArray[np.bool_]) -> NDArray[Any]:
    """Sums over the leaves of every group; leaves that each are a group of their own are only taken."""
    if groups.shape[0] == groups.shape[1] and bool((groups == np.eye(len(groups), dtype=bool)).all()):
        return values
    return np.stack([values.compress(group, axis).sum(axis) for group in groups], axis)
