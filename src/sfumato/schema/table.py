"""Table: which cells there are, a product of attributes less what cannot be."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.schema.attributes import Attribute, Rule
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.domain import Domain
from sfumato.schema.leaf_groups import LeafGroups
from sfumato.schema.level import Level
from sfumato.schema.levels import Levels
from sfumato.schema.totals import Floats, Number, in_common, masks, summed_to, totals_over

Where = Mapping[str, str | int | Sequence[str | int]]

LARGEST = 200_000_000
"""The most cells that are laid out in memory, 1.6 GB a column; of a larger table only those are held that are not 0."""
FARTHEST = 2**47
"""The most cells that a table may have at all: their numbers, and sums of them, fit in 64 bits."""
Places = NDArray[np.integer]


@dataclass(frozen=True)
class Table(Domain):
    """A product of attributes less its structural zeros.

    >>> from sfumato.schema.levels import Levels
    >>> sex, age = (Attribute("sex", Levels.of("fm")), Attribute("age", Levels.of(["young", "old"])))
    >>> Table((sex, age), (Rule.of({"sex": "m", "age": "old"}),)).possible.tolist()
    [[True, True], [True, False]]
    """

    attributes: tuple[Attribute, ...]
    impossible: tuple[Rule, ...] = ()
    register: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(attribute.levels.leaves) for attribute in self.attributes)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dense(self) -> bool:
        """Whether its cells are laid out; those of a sparse table are listed by their numbers."""
        return self.size <= LARGEST

    @property
    def members(self) -> "tuple[Table, ...]":
        """The tables that are tabulated to fill it: itself."""
        return (self,)

    def refuse_if_too_large(self, most: int = LARGEST) -> None:
        """Say so before anything is opened when the cells would not fit."""
        if self.size > most:
            raise PlanError(
                f"A table of {self.sides} has {self.size:,} cells, more than the {most:,} that fit; "
                "leave out an attribute or measure at a coarser level."
            )
        if self.ruled and self.ruled.size > LARGEST:
            raise PlanError(
                f"Rules about impossible cells bind {self.ruled.sides} together, {self.ruled.size:,} cells, more than "
                f"the {LARGEST:,} that fit; leave out a rule, or one of the attributes."
            )

    @property
    def sides(self) -> str:
        """Its attributes and how many lowest levels each has, as a reader sees them."""
        return " × ".join(f"{name} ({count:,})" for name, count in zip(self.names, self.shape, strict=True))

    @cached_property
    def ruled(self) -> "Table | None":
        """The table of those attributes alone that a rule about impossible cells names."""
        named = {name for rule in self.impossible for name, _ in rule.where}
        kept = tuple(attribute for attribute in self.attributes if attribute.name in named)
        return Table(kept, self.impossible) if kept else None

    @property
    def possible_at_least(self) -> int:
        """How many cells are possible, at the least, told without laying any out: all less those of every rule."""
        told = (dict(rule.where) for rule in self.impossible)
        return self.size - sum(math.prod(_held(one, where) for one in self.attributes) for where in told)

    def leaves_at(self, places: Places, name: str) -> Places:
        """The leaf of an attribute in each of some cells, which are numbered with the last attribute running fastest.

        >>> from sfumato.schema.levels import Levels
        >>> table = Table((Attribute("sex", Levels.of("fm")), Attribute("age", Levels.of("123"))))
        >>> table.leaves_at(np.array([0, 2, 5]), "sex").tolist(), table.leaves_at(np.array([0, 2, 5]), "age").tolist()
        ([0, 0, 1], [0, 2, 2])
        """
        place = self.names.index(name)
        return places // math.prod(self.shape[place + 1 :]) % self.shape[place]

    def possible_at(self, places: Places) -> NDArray[np.bool_]:
        """Which of some cells may hold a record."""
        if not self.ruled:
            return np.ones(len(places), dtype=bool)
        found: NDArray[np.bool_] = self.ruled.possible[tuple(self.leaves_at(places, name) for name in self.ruled.names)]
        return found

    def margin(self, by: Sequence[str | Level]) -> "Table":
        """The table of some of the attributes, each at a depth, in the order asked for; rules about others go."""
        named = [Level.read(one) if isinstance(one, str) else one for one in by]
        attributes = tuple(level.of(self.attribute(level.name)) for level in named)
        return Table(attributes, rules_of(self.impossible, attributes))

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        cells = np.ones(self.shape, dtype=bool)
        for rule in self.impossible:
            masks = [self.box(dict(rule.where)).mask(attribute) for attribute in self.attributes]
            cells[np.ix_(*masks)] = False
        return cells

    def box(self, where: Where) -> Box:
        """The box of records in the named levels, by code or label."""
        masks = {}
        for name, levels in where.items():
            attribute = self.attribute(name)
            try:
                masks[name] = attribute.levels.mask(levels)
            except KeyError as error:
                raise KeyError(f"{attribute.label}: {error.args[0]}") from None
        return Box(masks)

    def counts(self, grid: Grid) -> NDArray[np.int64]:
        """A product of axes, save where rules bind them together."""
        named = set(self.ruled.names) if self.ruled else set()
        asked, found = dict(grid.axes), np.ones(grid.shape, dtype=np.int64)
        for attribute in self.attributes:
            if attribute.name in named:
                continue
            mask = grid.within.mask(attribute)
            if attribute.name in asked:
                found *= _along(grid, {attribute.name}, asked[attribute.name].within(mask).sizes)
            else:
                found *= int(mask.sum())
        if self.ruled:
            axes = tuple((name, groups) for name, groups in grid.axes if name in named)
            told = {name for name, _ in axes}
            held, attributes = summed_to(self.ruled.possible, self.ruled.attributes, told, grid.within)
            found *= _along(grid, named, totals_over(held.astype(np.int64), attributes, Grid(axes, grid.within)))
        return found

    def totals(self, column: NDArray[Number], grid: Grid) -> NDArray[Number]:
        return totals_over(column.reshape(self.shape), self.attributes, grid)

    def common(self, ones: list[Box], others: list[Box], column: Floats | None = None) -> Floats:
        if column is not None:
            return in_common(column.reshape(self.shape), self.attributes, ones, others)
        named, found = self.ruled.names if self.ruled else (), np.ones((len(ones), len(others)))
        for attribute in self.attributes:
            if attribute.name not in named:
                found *= masks(ones, attribute) @ masks(others, attribute).T
        return found * in_common(self.ruled.possible, self.ruled.attributes, ones, others) if self.ruled else found

    def among(self, grid: Grid, column: Floats | None = None) -> Floats:
        """Along one axis: what two groups share is what the leaves hold that are in both."""
        if len(grid.axes) != 1:
            return super().among(grid, column)
        ((name, groups),) = grid.axes
        if name not in self.names:  # all boxes are alike to it
            return np.full((len(groups), len(groups)), self.common([grid.within], [grid.within], column)[0, 0])
        leaves = Grid(((name, LeafGroups.each(groups.width)),), grid.within)
        held = self.counts(leaves) if column is None else self.totals(column, leaves)
        return groups.shared(held.astype(np.float64))


def _along(grid: Grid, names: set[str], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Values of some axes, laid out to be broadcast over all of them."""
    return values.reshape([len(groups) if name in names else 1 for name, groups in grid.axes])


def rules_of(rules: Sequence[Rule], attributes: Sequence[Attribute]) -> tuple[Rule, ...]:
    """The rules that bind a table of some attributes: of levels that are cut off, those that are impossible whole."""
    known = {attribute.name: attribute for attribute in attributes}
    within = [rule for rule in rules if all(name in known for name, _ in rule.where)]
    cut = [Rule(tuple((name, _whole(known[name].levels, codes)) for name, codes in rule.where)) for rule in within]
    return tuple(rule for rule in cut if all(codes for _, codes in rule.where))


def _whole(levels: Levels, codes: tuple[str, ...]) -> tuple[str, ...]:
    """The levels of which all leaves lie under some codes; the codes themselves where nothing is cut off."""
    if levels.whole is None:
        return codes
    up, inside = levels.whole.above(levels), levels.whole.mask(codes)
    full = np.bincount(up, inside, len(levels.leaves)) == np.bincount(up, minlength=len(levels.leaves))
    return tuple(code for code, kept in zip(levels.leaves, full, strict=True) if kept)


def _held(attribute: Attribute, where: Mapping[str, tuple[str, ...]]) -> int:
    """How many leaves of an attribute a rule holds."""
    return (
        int(attribute.levels.mask(where[attribute.name]).sum())
        if attribute.name in where
        else len(attribute.levels.leaves)
    )
