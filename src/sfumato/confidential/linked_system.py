"""LinkedSystem: the cells of linked tables as one system of equations, and what every holding adds to each cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.sealed import Sealed
from sfumato.confidential.suppress import Contributions
from sfumato.schema import Component, Family, Frame, LinkedCells, Ragged
from sfumato.schema.linked_cells import Keys
from sfumato.schema.nodes import Nodes
from sfumato.suppression import WHOLE, Linked, Nesting

Integers = NDArray[np.int64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class HoldingSums(Sealed):
    """What holdings have in the finest cells of a table: the leaf of each attribute, who, and how much."""

    leaves: Mapping[str, Places]
    holdings: Integers
    amounts: Integers


@dataclass(frozen=True, eq=False)
class LinkedSystem:
    """Linked tables by what a release calls their cells (`keys`) and by what equations are made of (`linked`)."""

    cells: LinkedCells

    @classmethod
    def of(cls, family: Family) -> "LinkedSystem":
        return cls(LinkedCells(family))

    @property
    def family(self) -> Family:
        return self.cells.family

    @cached_property
    def linked(self) -> Linked:
        """One equation for every node and what it falls into, in every combination of the others that a table has."""
        tables = [
            [_nesting(nodes, level) for nodes, level in zip(self.cells.nodes, top, strict=True) if level]
            for top in self.family.tops
        ]
        return Linked.of(tables)

    @cached_property
    def keys(self) -> Keys:
        """The key of each cell of the equations."""
        places = {name: place for place, name in enumerate(self.linked.attributes)}
        columns = []
        for nodes in self.cells.nodes:
            place = places[nodes.attribute.name]
            known = np.array([0 if code == WHOLE else nodes.node[code] for code in self.linked.codes[place]])
            columns.append(known[self.linked.keys[:, place]])
        return self.cells.keys(columns)

    @cached_property
    def _order(self) -> Places:
        return np.argsort(self.keys)

    def places(self, keys: Keys) -> Places:
        """The cells of the equations that have some keys, all of which are there."""
        return self._order[np.searchsorted(self.keys, keys, sorter=self._order)]

    def contributions(self, tables: Sequence[HoldingSums], waived: Sequence[int] = ()) -> Contributions:
        """Contributions to every cell, by what holdings have in the finest cells of each table, or in all at once."""
        known = np.unique(np.concatenate([table.holdings for table in tables]))
        parts = []
        for component in self.family.components:
            table = tables[self.family.holder(component) or 0 if len(tables) > 1 else 0]
            parts.append(self._entries(component, table, np.searchsorted(known, table.holdings), len(known)))
        cells, holdings, amounts = (np.concatenate(column) for column in zip(*parts, strict=True))
        size = self.linked.size
        totals = np.bincount(cells, amounts, size).astype(np.float64)
        sizes = np.bincount(cells, np.abs(amounts), size).astype(np.float64)
        counts, agreed = np.bincount(cells, minlength=size), np.isin(known, np.array(waived, dtype=np.int64))
        return Contributions(totals, counts, cells, holdings, amounts.astype(np.float64), sizes, agreed)

    def _entries(
        self, component: Component, table: HoldingSums, holdings: Integers, number: int
    ) -> tuple[Integers, Integers, Integers]:
        """Of every cell at some levels, and at no coarser ones too, the holdings in it and what each adds."""
        nodes = [one.of_leaves(level)[table.leaves[one.attribute.name]] if level else np.zeros(1, dtype=np.intp)
                 for one, level in zip(self.cells.nodes, component, strict=True)]  # fmt: skip
        new = np.ones(len(holdings), dtype=bool)
        for one, level, at in zip(self.cells.nodes, component, nodes, strict=True):
            new &= one.level[at] == level
        keys = np.broadcast_to(self.cells.keys(nodes), new.shape)[new]
        found, which = np.unique(self.places(keys) * number + holdings[new], return_inverse=True)
        summed = np.zeros(len(found), dtype=np.int64)
        np.add.at(summed, which, table.amounts[new])
        return found // number, found % number, summed

    def of_table(self, place: int, sums: Ragged) -> HoldingSums:
        """What holdings have in the cells of one table, as an engine tells it, by digests of their names."""
        table, top = self.family.members[place], self.family.tops[place]
        flat = np.unravel_index(np.repeat(np.arange(table.size), sums.lengths), table.shape) if table.shape else ()
        levels = [(one, level) for one, level in zip(self.cells.nodes, top, strict=True) if level]
        leaves = {one.attribute.name: one.first(level)[at] for (one, level), at in zip(levels, flat, strict=True)}
        return HoldingSums(leaves, sums.values[:, 0], sums.values[:, 1])

    def of_register(self, frame: Frame, rows: Places, holdings: Integers, values: Integers) -> HoldingSums:
        """What rows of a register report, each of a holding by its number."""
        cut = {one.attribute.name: frame.attribute(one.attribute.name).levels.above(one.attribute.levels)
               for one in self.cells.nodes}  # fmt: skip
        leaves = {name: above[frame.places[name][rows]] for name, above in cut.items()}
        return HoldingSums(leaves, holdings[rows], values[rows])


def _nesting(nodes: Nodes, level: int) -> Nesting:
    """The nodes of an attribute down to a level, each under the one that it lies in."""
    kept = [place for place in range(1, nodes.size) if nodes.level[place] <= level]
    parents = {str(nodes.codes[place]): nodes.codes[nodes.parents[place]] or WHOLE for place in kept}
    return Nesting.under(nodes.attribute.name, parents)
