"""Box and Grid: which cells a question is about, one set of them or all the sets of a table as people lay it out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.attributes import Attribute
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

    def apart(self, most: int) -> Iterator[tuple[tuple[Places, ...], "Grid"]]:
        """Smaller grids, of about so many boxes at most, whose boxes share no cell, with their places by axis."""
        for chosen in product(*(self._sets(groups, most) for _, groups in self.axes)):
            axes = tuple((name, groups[places]) for (name, groups), places in zip(self.axes, chosen, strict=True))
            yield chosen, Grid(axes, self.within)

    def _sets(self, groups: NDArray[np.bool_], most: int) -> list[Places]:
        """The groups of an axis in sets that do not overlap, none so long that the boxes would be too many."""
        others = int(np.prod(self.shape, dtype=np.int64)) // max(len(groups), 1)
        longest = max(1, most // max(others, 1))
        return [layer[start : start + longest] for layer in layers(groups) for start in range(0, len(layer), longest)]

    def whole(self, kept: tuple[str, ...]) -> "Grid":
        """The same boxes, each widened to what only some of the axes tell."""
        axes = ((name, groups if name in kept else np.ones_like(groups)) for name, groups in self.axes)
        return Grid(tuple(axes), self.within)

    def around(self, kept: tuple[str, ...]) -> tuple["Grid", Places]:
        """The boxes that only some of the axes tell, and for each box of this grid the place of its own among them."""
        axes = tuple(axis for axis in self.axes if axis[0] in kept)
        shape = [len(groups) if name in kept else 1 for name, groups in self.axes]
        place = np.broadcast_to(np.arange(prod(shape)).reshape(shape), self.shape).ravel()
        return self if len(axes) == len(self.axes) else Grid(axes, self.within), place


def layers(groups: NDArray[np.bool_]) -> list[Places]:
    """Groups in as few sets as a first fit finds, each without overlap; the levels of a tree make one a depth.

    >>> [layer.tolist() for layer in layers(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool))]
    [[0, 3], [1, 2]]
    """
    held: list[tuple[list[int], NDArray[np.bool_]]] = []
    for place, group in enumerate(groups):
        fitting = next((layer for layer in held if not (layer[1] & group).any()), None)
        if fitting is None:
            fitting = ([], np.zeros(groups.shape[1], dtype=bool))
            held.append(fitting)
        fitting[0].append(place)
        np.logical_or(fitting[1], group, out=fitting[1])
    return [np.array(listed, dtype=np.intp) for listed, _ in held]
