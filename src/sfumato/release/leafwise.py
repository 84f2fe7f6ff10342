"""One control has a diagonal system, so a covariance after calibration is a sum over the control's own cells."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.counts import counts_over, totals_over
from sfumato.release.folds import folded
from sfumato.schema import Grid, Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Leafwise:
    """The boxes of a grid seen from the cells of one control: what each box takes of each control cell.

    Axes that the control does not name come first, as groups; then every leaf of the control's own attributes. The
    groups of the latter only choose among control cells, so they are folded after the arithmetic, not before.
    """

    table: Table
    grid: Grid
    by: tuple[str, ...]

    @property
    def _outer(self) -> list[tuple[str, NDArray[np.bool_]]]:
        return [axis for axis in self.grid.axes if axis[0] not in self.by]

    @property
    def _control(self) -> list[int]:
        return [len(self.table.attribute(name).levels.leaves) for name in self.by]

    def takes(self, cells: NDArray[Any], kept: tuple[str, ...]) -> Floats:
        """The sums of some cells in each control cell and each box that only some of the axes tell."""
        axes = [axis for axis in self._outer if axis[0] in kept]
        axes += [(name, np.eye(size, dtype=bool)) for name, size in zip(self.by, self._control, strict=True)]
        grid = Grid(tuple(axes), self.grid.within)
        # How many cells are possible is a product of lengths, save where rules bind them: no cube is read for it.
        if cells is self.table.possible:
            found = counts_over(self.table, grid).astype(np.float64)
        else:
            found = totals_over(np.asarray(cells, dtype=np.float64), self.table.attributes, grid)
        outer = [len(groups) if name in kept else 1 for name, groups in self._outer]
        return found.reshape(outer + self._control)

    def like_control(self, stacked: Floats) -> Floats:
        """Numbers of the control cells, laid out to stand beside what boxes take of them."""
        return stacked.reshape([1] * len(self._outer) + self._control)

    def folded(self, values: Floats) -> Floats:
        """The sums over the control cells of each box, in the order of the grid."""
        asked, outer = dict(self.grid.axes), [name for name, _ in self._outer]
        full = [len(asked[name]) for name in outer] + self._control
        part, order = np.broadcast_to(values, full), list(outer)
        for name in self.by:
            axis = len(order)
            if name in asked:
                part = folded(part, axis, asked[name])
                order.append(name)
            else:
                part = part.sum(axis=axis)
        return np.asarray(part, dtype=np.float64).transpose([order.index(name) for name, _ in self.grid.axes]).ravel()


def leaves_wide(table: Table, grid: Grid, by: tuple[str, ...]) -> float:
    """How many numbers each box of a grid needs, where a slice of the grid's first axis makes them fewer."""
    if not grid.axes or grid.axes[0][0] in by:
        return 1.0
    control = math.prod(len(table.attribute(name).levels.leaves) for name in by)
    return control / math.prod(len(groups) for name, groups in grid.axes if name in by)
