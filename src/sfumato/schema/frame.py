"""Frame: a public register, one row a unit, read by column; what stands in it everybody may know."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest
from sfumato.schema.attributes import Attribute
from sfumato.schema.levels import Levels
from sfumato.schema.table import Box, Grid

Places = NDArray[np.int32]
Number = TypeVar("Number", np.int64, np.float32, np.float64)


@dataclass(frozen=True, eq=False)
class Frame:
    """For each row and attribute the place of its lowest level; `ids` name the rows where they have names."""

    unit: str
    attributes: tuple[Attribute, ...]
    places: Mapping[str, Places]
    ids: Any = None
    file: str = ""
    id: str = ""
    register: ClassVar[bool] = True

    @classmethod
    def read(cls, path: Path, unit: str, id: str, attributes: Sequence[Attribute]) -> "Frame":  # noqa: A002
        """The register in a Parquet or CSV file: an id a row, and a column of codes for each attribute."""
        from sfumato.schema.reading import read_frame

        ids, places = read_frame(path, unit, id, attributes)
        return cls(unit, tuple(attributes), places, ids, path.name, id)

    @cached_property
    def size(self) -> int:
        return len(next(iter(self.places.values()))) if self.places else len(self.ids)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    def attribute(self, name: str) -> Attribute:
        for one in self.attributes:
            if one.name == name:
                return one
        raise PlanError(f"'{name}' is not an attribute of the frame; {nearest(name, self.names)}")

    def rows(self, box: Box) -> NDArray[np.bool_]:
        """Which rows a box is about."""
        kept = np.ones(self.size, dtype=bool)
        for one in self.attributes:
            if one.name in box.masks:
                kept &= box.masks[one.name][self.places[one.name]]
        return kept

    def count(self, box: Box) -> int:
        """How many rows a box is about."""
        return int(self.rows(box).sum())

    def cells(self, grid: Grid) -> tuple[NDArray[np.intp], int]:
        """The cell of a grid that each row stands in, or the number of cells where it stands in none.

        The groups of an axis must not overlap; where they do, ask box by box.
        """
        flat, size = np.zeros(self.size, dtype=np.intp), int(np.prod(grid.shape, dtype=np.int64))
        outside = ~self.rows(grid.within)
        for name, groups in grid.axes:
            places = self.places[name]
            outside |= ~np.logical_or.reduce(groups, axis=0)[places]
            flat = flat * len(groups) + groups.argmax(axis=0)[places]
        flat[outside] = size
        return flat, size

    def grouped(self, by: Sequence[tuple[str, int | None]]) -> "Grouping":
        """The rows by some attributes, each at its lowest level or at a depth of its hierarchy; found once and kept."""
        asked = tuple(by)
        if asked not in self._groupings:
            self._groupings[asked] = self._grouped(asked)
        return self._groupings[asked]

    @cached_property
    def _groupings(self) -> dict[tuple[tuple[str, int | None], ...], "Grouping"]:
        return {}

    def _grouped(self, by: Sequence[tuple[str, int | None]]) -> "Grouping":
        coarse = [_at_depth(self.attribute(name), depth) for name, depth in by]
        widths = [len(attribute.levels.leaves) for attribute, _ in coarse]
        width = math.prod(widths)
        keys: NDArray[Any] = np.zeros(self.size, dtype=np.int32 if width < 2**31 else np.int64)
        for (name, _), (_, up), one in zip(by, coarse, widths, strict=True):
            keys *= one
            keys += up.astype(keys.dtype)[self.places[name]]
        found, group = distinct(keys, width)
        places: dict[str, Places] = {}
        for attribute, _ in reversed(coarse):
            one = len(attribute.levels.leaves)
            places[attribute.name] = (found % one).astype(np.int32)
            found = found // one
        attributes = tuple(attribute for attribute, _ in coarse)
        frame = Frame("group", attributes, {one.name: places[one.name] for one in attributes}, range(len(found)))
        return Grouping(frame, group)


def distinct(keys: NDArray[np.integer[Any]], width: int) -> tuple[NDArray[np.int64], Places]:
    """The different keys below `width` in rising order, and for each key its place among them.

    >>> [part.tolist() for part in distinct(np.array([5, 2, 5]), 6)]
    [[2, 5], [1, 0, 1]]
    """
    # Marking a table of all possible keys takes a tenth of the time of sorting, where such a table is not too long.
    if width > max(4 * len(keys), 2**16):
        sorted_keys, place = np.unique(keys, return_inverse=True)
        return sorted_keys.astype(np.int64), place.astype(np.int32)
    there = np.zeros(width, dtype=bool)
    there[keys] = True
    rank = np.cumsum(there, dtype=np.int32)
    rank -= 1
    return np.flatnonzero(there).astype(np.int64), rank[keys]


def crossed(one: Places, size: int, other: Places, width: int) -> tuple[Places, int]:
    """The groups that two groupings make together, `size` and `width` of them: for each row its place, and how many.

    >>> [crossed(np.array([0, 0, 1]), 2, np.array(other), 2)[1] for other in ([1, 1, 0], [0, 1, 1])]
    [2, 3]
    """
    # Where the one tells all that the other does, nothing is cut further, and nothing need be sorted.
    seen = np.zeros(size, dtype=np.int32)
    seen[one] = other
    if np.array_equal(seen[one], other):
        return one, size
    found, place = distinct(one.astype(np.int64) * width + other, size * width)
    return place, len(found)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of the rows of a frame: the groups as a frame of their own, and for each row the place of its group."""

    groups: Frame
    of: Places = field(repr=False)

    @property
    def size(self) -> int:
        return self.groups.size

    def sums(self, values: NDArray[np.int64], size: int | None = None) -> NDArray[np.int64]:
        """The sum of whole numbers over each group, exact."""
        found = np.zeros(self.size if size is None else size, dtype=np.int64)
        np.add.at(found, self.of, values)
        return found

    def largest(self, values: NDArray[Number]) -> NDArray[Number]:
        """The largest value of each group; every group has a row."""
        # Of the same type as the values: numpy takes ten times as long where it has to cast.
        found = np.empty(self.size, dtype=values.dtype)
        found[self.of] = values
        np.maximum.at(found, self.of, values)
        return found


def _at_depth(attribute: Attribute, depth: int | None) -> tuple[Attribute, NDArray[np.int64]]:
    """An attribute cut off at a depth, and for each of its lowest levels the place of what is above it there."""
    levels = attribute.levels
    if depth is None or depth >= levels.depth:
        return attribute, np.arange(len(levels.leaves))
    if depth < 0:
        raise PlanError(f"{attribute.label} has levels 0 to {levels.depth}; {depth} was asked for.")
    kept = [code for code in levels.codes if levels.depths[code] <= depth]
    records = [one for one in levels.records() if one["code"] in set(kept)]
    cut = Levels.of(records)
    up = np.zeros(len(levels.leaves), dtype=np.int64)
    for code in cut.leaves:
        up[levels.mask(code)] = cut.leaf_index[code]
    return Attribute(f"{attribute.name}_{depth}", cut, of=attribute.of, label=attribute.label), up
