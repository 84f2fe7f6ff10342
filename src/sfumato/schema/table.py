"""Table, Box and Grid: which cells there are, and which of them a question is about."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest
from sfumato.schema.attributes import Attribute, Rule
from sfumato.schema.levels import Mask

Where = Mapping[str, str | int | Sequence[str | int]]

LARGEST = 200_000_000
"""The most cells that are laid out in memory, 1.6 GB a column; of a larger table only those are held that are not 0."""
FARTHEST = 2**47
"""The most cells that a table may have at all: their numbers, and sums of them, fit in 64 bits."""
Places = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Box:
    """What a question asks: for each attribute the leaves that count; an attribute left out counts whole."""

    masks: Mapping[str, Mask] = field(default_factory=dict)

    def mask(self, attribute: Attribute) -> Mask:
        return self.masks.get(attribute.name, np.ones(len(attribute.levels.leaves), dtype=bool))

    def within(self, other: "Box") -> "Box":
        """The records that are in both."""
        both = {name: mask & other.masks[name] for name, mask in self.masks.items() if name in other.masks}
        return Box({**self.masks, **other.masks, **both})

    def disjoint(self, other: "Box") -> bool:
        """Whether no record can be in both, as some attribute tells them apart."""
        shared = self.masks.keys() & other.masks.keys()
        return any(not (self.masks[name] & other.masks[name]).any() for name in shared)


@dataclass(frozen=True, eq=False)
class Grid:
    """All boxes of one table as people lay it out: for each axis some groups of leaves, within one universe."""

    axes: tuple[tuple[str, NDArray[np.bool_]], ...]
    within: Box = field(default_factory=Box)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(groups) for _, groups in self.axes)

    def boxes(self) -> Iterator[Box]:
        """The boxes, the last axis running fastest."""
        names = [name for name, _ in self.axes]
        for masks in product(*(groups for _, groups in self.axes)):
            box = self.within
            for name, mask in zip(names, masks, strict=True):
                box = box.within(Box({name: mask}))
            yield box


@dataclass(frozen=True)
class Table:
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
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

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

    def attribute(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise KeyError(f"'{name}' is not an attribute of this table; {nearest(name, self.names)}")

    def margin(self, names: Sequence[str]) -> "Table":
        """The table of some of the attributes, in the order asked for; rules about others no longer bind."""
        kept = tuple(self.attribute(name) for name in names)
        rules = tuple(rule for rule in self.impossible if all(name in names for name, _ in rule.where))
        return Table(kept, rules)

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which cells may hold a record."""
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

    def count(self, box: Box) -> int:
        """How many possible cells lie in a box."""
        ruled = self.ruled
        free = [one for one in self.attributes if not ruled or one.name not in ruled.names]
        found = math.prod(int(box.mask(attribute).sum()) for attribute in free)
        if not ruled:
            return found
        return found * int(ruled.possible[np.ix_(*(box.mask(attribute) for attribute in ruled.attributes))].sum())
