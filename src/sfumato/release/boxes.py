"""Boxes: the boxes of a grid over the cells of a frame, so that a whole table is answered in one pass."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sfumato.schema import Frame, Grid

MOST = 1_000
"""How many boxes are answered at once, which bounds the memory of their errors."""
Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes that share no cell: for each cell the place of its box, or `size` where it is in none."""

    of: Places
    size: int

    @classmethod
    def on(cls, frame: Frame, grid: Grid) -> "Boxes":
        return cls(*frame.cells(grid))

    def sums(self, column: NDArray[np.generic]) -> Floats:
        """The sum over each box."""
        return np.asarray(np.bincount(self.of, column, self.size + 1)[: self.size], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Nested:
    """Boxes that share no cell, and the wider ones that they lie in: `up` is the place of each one's."""

    inner: Boxes
    outer: Boxes
    up: Places

    @classmethod
    def of(cls, frame: Frame, grid: Grid, kept: tuple[str, ...]) -> "Nested":
        """The boxes of a grid, within those that only some of its axes tell."""
        inner = Boxes.on(frame, grid)
        if all(name in kept for name, _ in grid.axes):
            return cls(inner, inner, np.arange(inner.size))
        told = [place for place, (name, _) in enumerate(grid.axes) if name in kept]
        outer = Boxes.on(frame, Grid(tuple(grid.axes[place] for place in told), grid.within))
        places = np.unravel_index(np.arange(inner.size), grid.shape)
        wider = tuple(grid.shape[place] for place in told)
        up = np.ravel_multi_index(tuple(places[place] for place in told), wider) if told else np.zeros(inner.size)
        return cls(inner, outer, np.asarray(up, dtype=np.intp))


def parts(grid: Grid) -> Iterator[tuple[tuple[Places, ...], Grid]]:
    """A grid as smaller ones whose boxes share no cell: the places of each in the whole, one list an axis."""
    for chosen in product(*(_pieces(groups, grid) for _, groups in grid.axes)):
        axes = tuple((name, groups[places]) for (name, groups), places in zip(grid.axes, chosen, strict=True))
        yield chosen, Grid(axes, grid.within)


def _pieces(groups: NDArray[np.bool_], grid: Grid) -> list[Places]:
    """The groups of an axis in sets that do not overlap, none so long that the boxes would be too many."""
    others = int(np.prod(grid.shape, dtype=np.int64)) // max(len(groups), 1)
    longest = max(1, MOST // max(others, 1))
    return [layer[start : start + longest] for layer in layers(groups) for start in range(0, len(layer), longest)]


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
