"""Family: some tables over one product of attributes, with all of their margins at every level.

A question is about records, as one to a single table is. It is held if one of the tables tells apart what it tells
apart, at its levels or finer ones, and is answered from the smallest table that does.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from math import prod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.schema.attributes import Attribute, Rule
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.domain import Domain
from sfumato.schema.leaf_groups import LeafGroups
from sfumato.schema.level import Level
from sfumato.schema.table import LARGEST, Table
from sfumato.schema.totals import Floats, masks
from sfumato.schema.trees import Tree, levels_of

Component = tuple[int, ...]
"""For each attribute a level of its tree, from 0, the whole, to its leaves."""
MOST_COMPONENTS = 250_000
"""The most choices of levels that the tables of a family may have, each of which is measured."""


class AskedTables(Protocol):
    """What a family was made of, as it is written."""

    @property
    def up_to(self) -> int: ...

    @property
    def of(self) -> tuple[str, ...]: ...

    @property
    def also(self) -> tuple[tuple[str, ...], ...]: ...


@dataclass(frozen=True, eq=False)
class Family(Domain):
    """Tables that are in no other one of them; their cells stand one table after the other."""

    register: ClassVar[bool] = False
    impossible: ClassVar[tuple[Rule, ...]] = ()  # type: ignore[misc]
    attributes: tuple[Attribute, ...]
    listed: tuple[Table, ...] = field(repr=False)
    spec: AskedTables

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        return tuple(Tree(tuple(levels_of(attribute.levels))) for attribute in self.attributes)

    @cached_property
    def tops(self) -> tuple[Component, ...]:
        """The levels that each table tells apart; tables that are in another one are left out."""
        inside = {below for one in self._listed for below in _up_to(one) if below != one}
        return tuple(one for one in self._listed if one not in inside)

    @cached_property
    def _listed(self) -> tuple[Component, ...]:
        """The levels of every table that is listed, each once."""
        told = ({one.name: len(one.levels.leaves) for one in table.attributes} for table in self.listed)
        return tuple(dict.fromkeys(one for sizes in told if (one := self.levels(sizes)) is not None))

    def levels(self, sizes: Mapping[str, int]) -> Component | None:
        """The levels that tell apart so many parts of attributes; none where its trees have no such levels."""
        found = [tree.at(sizes.get(name, 1)) for name, tree in self._named]
        lacks = any(size > 1 and name not in self.names for name, size in sizes.items())
        return None if lacks or None in found else tuple(level for level in found if level is not None)

    def refuse_too_many(self) -> None:
        """Say so before any is made where its tables have too many choices of levels."""
        count = sum(prod(level + 1 for level in one) for one in self._listed)
        count = min(count, prod(len(tree.parts) for tree in self.trees))
        if count > MOST_COMPONENTS:
            raise PlanError(
                f"The tables have up to {count:,} choices of levels, more than the {MOST_COMPONENTS:,} that are "
                "measured; name fewer attributes, a lower up_to, or fewer levels, as in area@0."
            )

    @cached_property
    def members(self) -> tuple[Table, ...]:
        """The tables, each by the attributes that it tells apart."""
        return tuple(self.table(top) for top in self.tops)

    def table(self, component: Component) -> Table:
        """The table at some levels, by the attributes that it tells apart."""
        parts = zip(self.attributes, self.trees, component, strict=True)
        return Table(tuple(_cut(attribute, tree.rungs[level].size) for attribute, tree, level in parts if level))

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """Every choice of levels that some table tells apart, the whole first, coarser ones before finer."""
        found = {one for top in self.tops for one in _up_to(top)}
        return tuple(sorted(found, key=lambda one: (sum(level > 0 for level in one), one)))

    @property
    def ways(self) -> int:
        """How many attributes a table tells apart at the most."""
        return max(sum(level > 0 for level in top) for top in self.tops)

    def shape(self, component: Component) -> tuple[int, ...]:
        """How many parts each attribute has that a component tells apart."""
        return tuple(tree.rungs[level].size for tree, level in zip(self.trees, component, strict=True) if level)

    dense: ClassVar[bool] = True
    """Its cells are laid out, a table after the other."""

    def refuse_if_too_large(self, most: int = LARGEST) -> None:
        """Say so before anything is opened when the cells would not fit; none of them is listed alone."""
        for member in self.members:
            member.refuse_if_too_large(min(most, LARGEST))
        if self.size > min(most, LARGEST):
            raise PlanError(
                f"The {len(self.members):,} {self.sides} have {self.size:,} cells, more than the {LARGEST:,} that fit; "
                "leave out an attribute, cut one off at a depth, or name a lower up_to."
            )

    @property
    def sides(self) -> str:
        """Its tables as a reader sees them."""
        sizes = (f"{one.name} ({len(one.levels.leaves):,})" for one in self.attributes)
        return f"tables of up to {self.ways} of {', '.join(sizes)}"

    @property
    def size(self) -> int:
        return sum(member.size for member in self.members)

    @property
    def possible(self) -> NDArray[np.bool_]:
        return np.ones(self.size, dtype=bool)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where the cells of each table stand."""
        ends = np.cumsum([0, *(member.size for member in self.members)]).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(ends))

    def holder(self, component: Component) -> int | None:
        """The place of the smallest table that tells some levels apart; none where no table does."""
        fitting = np.flatnonzero((self._tops >= component).all(axis=1))
        return int(fitting[self._sizes[fitting].argmin()]) if len(fitting) else None

    @cached_property
    def _tops(self) -> NDArray[np.intp]:
        return np.array(self.tops, dtype=np.intp).reshape(len(self.tops), len(self.attributes))

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array([member.size for member in self.members])

    def holds(self, names: frozenset[str]) -> bool:
        """Whether some attributes are together in a table, at whatever levels."""
        return self.holder(tuple(int(name in names and tree.depth > 0) for name, tree in self._named)) is not None

    @property
    def _named(self) -> list[tuple[str, Tree]]:
        return list(zip(self.names, self.trees, strict=True))

    def needed(self, grid: Grid) -> list[NDArray[np.intp]]:
        """For each attribute the level that every group of its axis needs, one number where it is no axis."""
        asked = dict(grid.axes)
        found = []
        for attribute, tree in zip(self.attributes, self.trees, strict=True):
            inside = grid.within.mask(attribute)
            groups = asked[attribute.name].within(inside) if attribute.name in asked else LeafGroups.of(inside[None, :])
            found.append(tree.levels_of_groups(groups))
        return found

    def answered(self, grid: Grid, of: Callable[[int, Grid], NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """What tables answer to the boxes of a grid, each the boxes that it holds, and which boxes none does."""
        found, unheld = np.zeros(grid.shape, dtype=np.int64), np.zeros(grid.shape, dtype=bool)
        for places, part, holder in self._parts(grid):
            if holder is None:
                unheld[places] = True
            else:
                found[places] = of(holder, part)
        return found, unheld

    def _parts(self, grid: Grid) -> Iterator[tuple[Any, Grid, int | None]]:
        """The boxes of a grid that one table holds, or none: their places, the grid of these alone, and the table.

        Mostly one holds all. Else boxes at the same levels are asked together.
        """
        needed = dict(zip(self.names, self.needed(grid), strict=True))
        if (holder := self.holder(tuple(int(one.max(initial=0)) for one in needed.values()))) is not None:
            yield ..., grid, holder
            return
        for chosen in product(*(np.unique(needed[name]) for name, _ in grid.axes)):
            told = dict(zip((name for name, _ in grid.axes), map(int, chosen), strict=True))
            some = [np.flatnonzero(needed[name] == level) for name, level in told.items()]
            axes = tuple((name, groups.at(places)) for (name, groups), places in zip(grid.axes, some, strict=True))
            levels = (told.get(name, int(one.max(initial=0))) for name, one in needed.items())
            yield np.ix_(*some), Grid(axes, grid.within), self.holder(tuple(levels))

    def from_table(self, place: int, grid: Grid, of: Callable[[Grid], NDArray[Any]]) -> NDArray[Any]:
        """What a table that holds a grid says of it, where `of` answers in the levels of that table."""
        table, top = self.members[place], dict(zip(self.names, self.tops[place], strict=True))
        ones = {name: tree.rungs[top[name]].parts.one for name, tree in self._named}
        within = Box({name: mask[ones[name]] for name, mask in grid.within.masks.items() if name in table.names})
        axes = tuple((name, groups.seen_from(ones[name])) for name, groups in grid.axes if name in table.names)
        shape = [len(groups) if name in table.names else 1 for name, groups in grid.axes]
        answer = of(Grid(axes, within)).reshape(shape)
        for axis, (name, groups) in enumerate(grid.axes):
            if name not in table.names:  # each group is all of it, or nothing
                answer = answer * (groups.sizes > 0).reshape([-1 if at == axis else 1 for at in range(len(shape))])
        empty = any(not mask.any() for name, mask in grid.within.masks.items() if name not in table.names)
        return np.zeros_like(answer) if empty else answer

    def counts(self, grid: Grid) -> NDArray[np.int64]:
        """How many cells of the table that answers lie in each box; none where no table does."""
        return self.answered(grid, lambda at, part: self.from_table(at, part, self.members[at].counts))[0]

    def totals(self, column: NDArray[Any], grid: Grid) -> NDArray[Any]:
        def of(at: int, part: Grid) -> NDArray[Any]:
            return self.from_table(at, part, lambda cut: self.members[at].totals(column[self.slices[at]], cut))

        return self.answered(grid, of)[0]

    def common(self, ones: list[Box], others: list[Box], column: Floats | None = None) -> Floats:
        """How many combinations of leaves boxes share."""
        if column is not None:
            raise TypeError("The cells of several tables share no column that boxes could sum.")
        found = np.ones((len(ones), len(others)))
        for attribute in self.attributes:
            found *= masks(ones, attribute) @ masks(others, attribute).T
        return found


def _up_to(top: Component) -> Iterator[Component]:
    """Every choice of levels that are no finer."""
    return product(*(range(level + 1) for level in top))


def _cut(attribute: Attribute, size: int) -> Attribute:
    """The attribute, cut off at the level that has so many parts."""
    depth = next(at for at in range(attribute.levels.depth + 1) if len(attribute.levels.cut(at).leaves) == size)
    return Level(attribute.name, depth).of(attribute)
