"""Box and Grid: which cells a question is about, one set of them or all the sets of a table as people lay it out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.attributes import Attribute
from sfumato.schema.leaf_groups import LeafGroups
from sfumato.schema.levels import Mask

Places = NDArray[np.intp]


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
    """All boxes of one table as people lay it out: for each axis some groups of leaves, within one universe.

    Groups may be given as a row of booleans each.
    """

    axes: tuple[tuple[str, LeafGroups], ...]
    within: Box = field(default_factory=Box)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple((name, LeafGroups.of(groups)) for name, groups in self.axes))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(groups) for _, groups in self.axes)

    def boxes(self) -> Iterator[Box]:
        """The boxes, the last axis running fastest."""
        return map(self.box, product(*map(range, self.shape)))

    def box(self, place: Sequence[int]) -> Box:
        """The box at a place, counted from 0 on each axis."""
        found = self.within
        for (name, groups), row in zip(self.axes, place, strict=True):
            found = found.within(Box({name: groups.mask(row)}))
        return found

    def apart(self, most: int) -> Iterator[tuple[tuple[Places, ...], "Grid"]]:
        """Smaller grids, of about so many boxes at most, whose boxes share no cell, with their places by axis."""
        for chosen in product(*(self._sets(groups, most) for _, groups in self.axes)):
            axes = tuple((name, groups.at(places)) for (name, groups), places in zip(self.axes, chosen, strict=True))
            yield chosen, Grid(axes, self.within)

    def _sets(self, groups: LeafGroups, most: int) -> list[Places]:
        """The groups of an axis in sets that do not overlap, none so long that the boxes would be too many."""
        others = int(np.prod(self.shape, dtype=np.int64)) // max(len(groups), 1)
        longest = max(1, most // max(others, 1))
        return [layer[start : start + longest] for layer in groups.layers() for start in range(0, len(layer), longest)]

    def slices(self, most: int) -> tuple[int, list["Grid"]] | None:
        """Slices along an axis whose groups, laid out over its leaves, are over so many numbers; none where all fit."""
        for axis, (name, groups) in enumerate(self.axes):
            length = max(1, most // max(1, groups.width))
            if len(groups) > length:
                runs = (groups.at(slice(start, start + length)) for start in range(0, len(groups), length))
                before, after = self.axes[:axis], self.axes[axis + 1 :]
                return axis, [Grid((*before, (name, run), *after), self.within) for run in runs]
        return None

    def around(self, kept: tuple[str, ...]) -> tuple["Grid", Places]:
        """The boxes that only some of the axes tell, and for each box of this grid the place of its own among them."""
        axes = tuple(axis for axis in self.axes if axis[0] in kept)
        shape = [len(groups) if name in kept else 1 for name, groups in self.axes]
        place = np.broadcast_to(np.arange(prod(shape)).reshape(shape), self.shape).ravel()
        return self if len(axes) == len(self.axes) else Grid(axes, self.within), place
