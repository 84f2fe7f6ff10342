"""One control has a diagonal system, so a covariance after calibration is a sum over the control's own cells."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.margins import Margins
from sfumato.schema import Grid, LeafGroups
from sfumato.schema.totals import folded

Names = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Leafwise:
    """The boxes of a grid, and the wider ones that some axes tell, seen from the cells of one control.

    Axes that the control does not name come first, as groups; then every leaf of the control's own attributes. The
    groups of the latter only choose among control cells, so they are folded after the arithmetic, not before.
    """

    margins: Margins
    grid: Grid
    kept: Names

    @property
    def names(self) -> Names:
        return tuple(name for name, _ in self.grid.axes)

    @property
    def _control(self) -> Names:
        return tuple(level.name for level in self.margins.by[0])

    @property
    def _outer(self) -> list[tuple[str, LeafGroups]]:
        return [axis for axis in self.grid.axes if axis[0] not in self._control]

    def takes(self, cells: NDArray[Any], kept: Names) -> Floats:
        """The sums of some cells in each control cell, one row a box that only some of the outer axes tell."""
        table, shape = self.margins.domain, self.margins.shapes[0]
        axes = [axis for axis in self._outer if axis[0] in kept]
        axes += [(name, LeafGroups.each(size)) for name, size in zip(self._control, shape, strict=True)]
        grid = Grid(tuple(axes), self.grid.within)
        # How many cells are possible is a product of lengths, save where rules bind them: no cube is read for it.
        found = table.counts(grid) if cells is table.possible else table.totals(cells.astype(np.float64), grid)
        return found.astype(np.float64).reshape(-1, self.margins.size)

    def times(self, parts: Floats, wholes: Floats) -> Floats:
        """The product of what boxes hold of each control cell with what the wider ones do."""
        outer = [len(groups) for _, groups in self._outer]
        wide = [len(groups) if name in self.kept else 1 for name, groups in self._outer]
        return parts.reshape(*outer, -1) * wholes.reshape(*wide, -1)

    def folded(self, values: Floats) -> Floats:
        """The sums over the control cells of each box, in the order of the grid."""
        asked, order = dict(self.grid.axes), [name for name, _ in self._outer]
        part = values.reshape([*values.shape[:-1], *self.margins.shapes[0]])
        for name in self._control:
            axis = len(order)
            if name in asked:
                part = folded(part, axis, asked[name])
                order.append(name)
            else:
                part = part.sum(axis=axis)
        return np.asarray(part, dtype=np.float64).transpose([order.index(name) for name in self.names]).ravel()


def leaves_wide(margins: Margins, grid: Grid) -> float:
    """How many numbers each box of a grid needs, where a slice of the grid's first axis makes them fewer."""
    named = [level.name for level in margins.by[0]]
    if not grid.axes or grid.axes[0][0] in named:
        return 1.0
    return margins.size / math.prod(len(groups) for name, groups in grid.axes if name in named)
