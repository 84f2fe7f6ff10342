"""CellKeys: one number for each cell of several tables with all of their margins; two tables may share a cell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.schema.boxes import Grid
from sfumato.schema.family import Family
from sfumato.schema.nodes import Nodes, Places
from sfumato.schema.table import FARTHEST

Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AskedCells:
    """The cells that the boxes of a grid are made of: their keys, whether a table has each, and the box of each."""

    keys: Keys
    held: Mask
    box: Places


@dataclass(frozen=True, eq=False)
class CellKeys:
    """All cells of some linked tables with their margins: a node for every attribute, and one number, its key, of all.

    A cell that two tables have in common is one cell.
    """

    family: Family

    def __post_init__(self) -> None:
        if math.prod(self.shape) > FARTHEST:
            raise PlanError(f"The tables have {math.prod(self.shape):,} combinations of levels, more than can be told.")

    @cached_property
    def nodes(self) -> tuple[Nodes, ...]:
        return tuple(Nodes(attribute) for attribute in self.family.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(one.size for one in self.nodes)

    def keys(self, nodes: Sequence[Places]) -> Keys:
        """The keys of cells, given by the node of each attribute."""
        found = np.zeros(np.broadcast_shapes(*(one.shape for one in nodes)) if nodes else (), dtype=np.int64)
        for one, size in zip(nodes, self.shape, strict=True):
            found = found * size + one
        return found

    def of(self, keys: Keys) -> tuple[Places, ...]:
        """The node of each attribute in cells with some keys."""
        found, left = [], keys
        for size in self.shape[::-1]:
            found.append((left % size).astype(np.intp))
            left = left // size
        return tuple(found[::-1])

    def held(self, nodes: Sequence[Places]) -> Mask:
        """Whether a table has cells, given by the node of each attribute."""
        return self._held([one.level[at] for one, at in zip(self.nodes, nodes, strict=True)])

    def _held(self, levels: Sequence[Places]) -> Mask:
        """Whether a table tells some levels apart."""
        found = np.zeros(np.broadcast_shapes(*(one.shape for one in levels)) if levels else (), dtype=bool)
        for top in self.family.tops:
            fits = np.ones_like(found)
            for level, most in zip(levels, top, strict=True):
                fits &= level <= most
            found |= fits
        return found

    def asked(self, grid: Grid) -> AskedCells:
        """What the boxes of a grid are made of, each of as few cells as can be."""
        axes = [*(name for name, _ in grid.axes)]
        others = [one.attribute.name for one in self.nodes if one.attribute.name not in axes]
        parts = {one.attribute.name: self._parts(one, grid) for one in self.nodes}
        order = [*axes, *others]
        nodes = dict(zip(order, np.ix_(*(parts[name][0] for name in order)), strict=True))
        places = np.ix_(*(parts[name][1] for name in axes))
        laid_out = [nodes[one.attribute.name] for one in self.nodes]
        keys, held = self.keys(laid_out), self.held(laid_out)
        shape = [len(parts[name][0]) for name in order]
        box = np.zeros(shape, dtype=np.intp)
        for place, length in zip(places, grid.shape, strict=True):
            box = box * length + place.reshape([*place.shape, *(1 for _ in others)])
        return AskedCells(keys.ravel(), held.ravel(), box.ravel())

    def _parts(self, nodes: Nodes, grid: Grid) -> tuple[Places, Places]:
        """The nodes that each group of an attribute is, one group after the other, and the group of each."""
        groups = dict(grid.axes).get(nodes.attribute.name)
        inside = grid.within.mask(nodes.attribute)
        found = [nodes.within(group & inside) for group in ([inside] if groups is None else groups.masks())]
        group = np.repeat(np.arange(len(found)), [len(one) for one in found])
        return np.concatenate([*found, np.zeros(0, dtype=np.intp)]), group

    def codes(self, keys: Keys) -> list[tuple[str | None, ...]]:
        """The codes of cells, none where an attribute is counted whole."""
        columns = [
            [one.codes[place] for place in at.tolist()] for one, at in zip(self.nodes, self.of(keys), strict=True)
        ]
        return list(zip(*columns, strict=True)) if columns else [()] * len(keys)

    def coded(self, codes: Sequence[Sequence[str | None]]) -> Keys:
        """The keys of cells by their codes, the reverse."""
        columns = zip(self.nodes, zip(*codes, strict=True) if codes else [()] * len(self.nodes), strict=True)
        found = [[0 if code is None else nodes.node[code] for code in column] for nodes, column in columns]
        return self.keys([np.array(one, dtype=np.intp) for one in found])

    def parents(self, keys: Keys, axis: int) -> Keys:
        """The keys of the cells that some are parts of along one attribute; -1 where that is whole."""
        nodes = list(self.of(keys))
        above = self.nodes[axis].parents[nodes[axis]]
        nodes[axis] = np.maximum(above, 0)
        return np.where(above < 0, -1, self.keys(nodes))

    def divided(self, keys: Keys, axis: int) -> Mask:
        """Whether a table has the parts of cells along one attribute, all of them or none."""
        nodes = list(self.of(keys))
        below = self.nodes[axis].splits[nodes[axis]]
        levels = [one.level[at] for one, at in zip(self.nodes, nodes, strict=True)]
        levels[axis] = below
        return self._held(levels) & (below > 0)
