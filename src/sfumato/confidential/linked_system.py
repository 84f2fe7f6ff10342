"""LinkedSystem: the cells of linked tables as one system of equations, and what every holding adds to each cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.sealed import Sealed
from sfumato.confidential.suppress import Contributions
from sfumato.errors import DataError
from sfumato.schema import CellKeys, Component, Family, Frame, Ragged
from sfumato.schema.cell_keys import Keys
from sfumato.schema.nodes import Nodes
from sfumato.suppression import WHOLE, LinkedTables, Nesting

Integers = NDArray[np.int64]
Places = NDArray[np.intp]
LARGEST_EXACT = 2.0**53
"""The largest whole number below which every one is exact as a double, which is how programs are solved."""


@dataclass(frozen=True, eq=False, repr=False)
class HoldingSums(Sealed):
    """What holdings have in the finest cells of a table: the leaf of each attribute, who, and how much."""

    leaves: Mapping[str, Places]
    holdings: Integers
    amounts: Integers


@dataclass(frozen=True, eq=False)
class LinkedSystem:
    """Linked tables by what a release calls their cells (`keys`) and by what equations are made of (`linked`)."""

    cells: CellKeys

    @classmethod
    def of(cls, family: Family) -> "LinkedSystem":
        return cls(CellKeys(family))

    @property
    def family(self) -> Family:
        return self.cells.family

    @cached_property
    def linked(self) -> LinkedTables:
        """One equation for every node and what it falls into, in every combination of the others that a table has."""
        tables = [
            [_nesting(nodes, level) for nodes, level in zip(self.cells.nodes, top, strict=True) if level]
            for top in self.family.tops
        ]
        return LinkedTables.of(tables)

    @cached_property
    def keys(self) -> Keys:
        """The key of each cell of the equations, which know nothing of an attribute that is one whole in all tables."""
        places = {name: place for place, name in enumerate(self.linked.attributes)}
        columns = []
        for nodes in self.cells.nodes:
            place = places.get(nodes.attribute.name)
            if place is None:
                columns.append(np.zeros(1, dtype=np.intp))
                continue
            known = np.array([0 if code == WHOLE else nodes.node[code] for code in self.linked.codes[place]])
            columns.append(known[self.linked.keys[:, place]])
        return self.cells.keys(columns)

    @cached_property
    def _order(self) -> Places:
        return np.argsort(self.keys)

    def places(self, keys: Keys) -> Places:
        """The cells of the equations that have some keys, all of which are there."""
        return self._order[np.searchsorted(self.keys, keys, sorter=self._order)]

    def of_others(self, other: "LinkedSystem") -> Places:
        """The cells of another system, each as the cell that it is here, where all of its tables are."""
        theirs = {
            one.attribute.name: (one, at) for one, at in zip(other.cells.nodes, other.cells.of(other.keys), strict=True)
        }
        columns = []
        for mine in self.cells.nodes:
            if mine.attribute.name not in theirs:
                columns.append(np.zeros(1, dtype=np.intp))
                continue
            nodes, at = theirs[mine.attribute.name]
            unknown = [code for code in nodes.codes if code is not None and code not in mine.node]
            if unknown:
                raise DataError(
                    f"Tables that were published have the level '{unknown[0]}' of '{mine.attribute.name}', which is "
                    "none of this plan; give the attribute the levels that were published."
                )
            columns.append(
                np.array([0 if code is None else mine.node[code] for code in nodes.codes], dtype=np.intp)[at]
            )
        return self.places(np.broadcast_to(self.cells.keys(columns), other.keys.shape))

    def in_both(self, other: "LinkedSystem") -> Places:
        """For each cell of another system the cell that it is here; -1 where it is none."""
        mine, theirs = self.linked, other.linked
        columns = {name: theirs.column(name) for name in theirs.attributes}
        found = mine.places({name: column for name, column in columns.items() if name in mine.attributes})
        split = [np.array(column) != WHOLE for name, column in columns.items() if name not in mine.attributes]
        return np.where(np.any(split, axis=0) if split else False, -1, np.broadcast_to(found, theirs.size))

    def contributions(
        self, tables: Sequence[HoldingSums], waived: Sequence[int] = (), weighed: Sequence[HoldingSums] = ()
    ) -> Contributions:
        """Contributions to every cell, by what holdings have in the finest cells of each table, or in all at once.

        Where rows are `weighed`, cells hold their weighted sums, and what a holding knows is its own part.
        """
        known, (cells, holdings, amounts) = self._summed(tables)
        size = self.linked.size
        totals = np.bincount(cells, amounts, size).astype(np.float64)
        sizes = np.bincount(cells, np.abs(amounts), size).astype(np.float64)
        if weighed:
            _, (places, _, sums) = self._summed(weighed)
            totals = sizes = np.bincount(places, sums, size).astype(np.float64)
        if (sizes >= LARGEST_EXACT).any():
            raise DataError(
                "Totals of the tables pass 2^53 steps, beyond which they are not exact; use a coarser step."
            )
        counts, agreed = np.bincount(cells, minlength=size), np.isin(known, np.array(waived, dtype=np.int64))
        return Contributions(totals, counts, cells, holdings, amounts.astype(np.float64), sizes, agreed)

    def _summed(self, tables: Sequence[HoldingSums]) -> tuple[Integers, tuple[Integers, Integers, Integers]]:
        """The holdings by name, and of every cell those in it, by number, and what each adds."""
        known = np.unique(np.concatenate([table.holdings for table in tables]))
        parts = []
        for component in self.family.components:
            table = tables[self.family.holder(component) or 0 if len(tables) > 1 else 0]
            parts.append(self._entries(component, table, np.searchsorted(known, table.holdings), len(known)))
        cells, holdings, amounts = (np.concatenate(column) for column in zip(*parts, strict=True))
        return known, (cells, holdings, amounts)

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

    def of_table(self, place: int, sums: Ragged, parts: int = 1) -> HoldingSums:
        """What holdings have in the cells of one table, as an engine tells it, by digests of their names.

        Where cells are told in parts of a step, so are the amounts.
        """
        cells = np.repeat(np.arange(self.family.members[place].size), sums.lengths)
        return HoldingSums(self._leaves(place, cells), sums.values[:, 0], sums.values[:, 1] * parts)

    def of_cells(self, place: int, sums: Integers) -> HoldingSums:
        """What the cells of one table hold, whoever it is from."""
        return HoldingSums(self._leaves(place, np.arange(sums.size)), np.zeros(sums.size, dtype=np.int64), sums.ravel())

    def _leaves(self, place: int, cells: Integers) -> dict[str, Places]:
        table, top = self.family.members[place], self.family.tops[place]
        flat = np.unravel_index(cells, table.shape) if table.shape else ()
        levels = [(one, level) for one, level in zip(self.cells.nodes, top, strict=True) if level]
        return {one.attribute.name: one.first(level)[at] for (one, level), at in zip(levels, flat, strict=True)}

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
