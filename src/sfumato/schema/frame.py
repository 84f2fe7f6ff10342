"""Frame: a public register, one row a unit, read by column; what stands in it everybody may know."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.attributes import Attribute, Rule
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.domain import Domain
from sfumato.schema.level import By, Level

Places = NDArray[np.int32]
Number = TypeVar("Number", np.int64, np.float32, np.float64)
MOST = 1_000_000
"""How many boxes are summed at once."""


@dataclass(frozen=True, eq=False)
class Frame(Domain):
    """For each row and attribute the place of its lowest level; `ids` name the rows where they have names."""

    unit: str
    attributes: tuple[Attribute, ...]
    places: Mapping[str, Places]
    ids: Any = None
    file: str = ""
    id: str = ""
    register: ClassVar[bool] = True
    groups_by: By | None = None
    """Of groups of rows: the attributes, and the depth of each, that they are groups by."""
    impossible: tuple[Rule, ...] = ()
    firms: Places | None = None
    """The firm that each row is of, by a number, where all rows of one move at once."""
    together: int = 0

    @classmethod
    def read(
        cls,
        path: Path,
        unit: str,
        id: str,  # noqa: A002 - the plan's word
        attributes: Sequence[Attribute],
        firm: str | None = None,
        encoding: str | None = None,
    ) -> "Frame":
        """The register in a Parquet or CSV file: an id a row, and a column of codes for each attribute."""
        from sfumato.schema.frame_file import read_frame

        ids, places, firms = read_frame(path, unit, id, attributes, firm, encoding)
        together = 0 if firms is None else int(np.bincount(firms).max(initial=0))
        return cls(unit, tuple(attributes), places, ids, path.name, id, firms=firms, together=together)

    @cached_property
    def size(self) -> int:
        return len(next(iter(self.places.values()))) if self.places else len(self.ids)

    @property
    def by(self) -> By:
        return super().by if self.groups_by is None else self.groups_by

    def rows(self, box: Box) -> NDArray[np.bool_]:
        """Which rows a box is about."""
        kept = np.ones(self.size, dtype=bool)
        for one in self.attributes:
            if one.name in box.masks:
                kept &= box.masks[one.name][self.places[one.name]]
        return kept

    def cells(self, grid: Grid) -> tuple[NDArray[np.intp], int]:
        """The cell of a grid that each row stands in, or the number of cells where it stands in none.

        The groups of an axis must not overlap; where they do, ask box by box.
        """
        flat, size = np.zeros(self.size, dtype=np.intp), int(np.prod(grid.shape, dtype=np.int64))
        outside = ~self.rows(grid.within)
        for name, groups in grid.axes:
            places = self.places[name]
            row = groups.row_of[places]
            outside |= row < 0
            flat = flat * len(groups) + row
        flat[outside] = size
        return flat, size

    def counts(self, grid: Grid) -> NDArray[np.int64]:
        return self.alike.groups.totals(self._alike_counts, grid)

    @cached_property
    def _alike_counts(self) -> NDArray[np.int64]:
        return self.alike.sums(np.ones(self.size, dtype=np.int64))

    def totals(self, column: NDArray[Number], grid: Grid) -> NDArray[Number]:
        """In a pass for each part of the grid without overlap."""
        found = np.zeros(grid.shape, dtype=column.dtype)
        for places, part in grid.apart(MOST):
            flat, size = self.cells(part)
            found[np.ix_(*places)] = summed_by(flat, column, size + 1)[:size].reshape(part.shape)
        return found

    def common(self, ones: list[Box], others: list[Box], column: NDArray[np.float64] | None = None) -> NDArray[Any]:
        held = np.ones(self.size) if column is None else column
        inside = [self.rows(box) for box in others]
        return np.array([[held[rows & other].sum() for other in inside] for rows in map(self.rows, ones)])

    def condensed(self, column: NDArray[Number]) -> tuple["Frame", NDArray[Number]]:
        return self.alike.groups, self.alike.sums(column)

    @property
    def possible(self) -> NDArray[np.bool_]:
        return np.ones(self.size, dtype=bool)

    @cached_property
    def alike(self) -> "Grouping":
        """The rows that no question can tell apart, taken together."""
        return self.grouped(tuple(map(Level, self.names)))

    def grouped(self, by: By) -> "Grouping":
        """The rows by some attributes, each at its lowest level or at a depth of its hierarchy; found once and kept."""
        if by not in self._groupings:
            self._groupings[by] = self._grouped(by)
        return self._groupings[by]

    @cached_property
    def _groupings(self) -> dict[By, "Grouping"]:
        return {}

    def _grouped(self, by: By) -> "Grouping":
        whole = [self.attribute(level.name) for level in by]
        cut = [level.of(attribute) for level, attribute in zip(by, whole, strict=True)]
        widths = [len(attribute.levels.leaves) for attribute in cut]
        width = math.prod(widths)
        keys: NDArray[Any] = np.zeros(self.size, dtype=np.int32 if width < 2**31 else np.int64)
        for attribute, one, length in zip(whole, cut, widths, strict=True):
            keys *= length
            keys += attribute.levels.above(one.levels).astype(keys.dtype)[self.places[attribute.name]]
        found, group = distinct(keys, width)
        finest: dict[str, Attribute] = {}
        columns: dict[str, Places] = {}
        for attribute, places in zip(cut, np.unravel_index(found, widths) if widths else (), strict=True):
            # Of an attribute that is named at several depths the finest tells all.
            other = finest.setdefault(attribute.name, attribute)
            if len(attribute.levels.leaves) >= len(other.levels.leaves):
                finest[attribute.name], columns[attribute.name] = attribute, places.astype(np.int32)
        together = 0 if self.firms is None else int(crowds(self.firms, group).max(initial=0))
        groups = Frame("group", tuple(finest.values()), columns, range(len(found)), groups_by=by, together=together)
        return Grouping(groups, group)


def summed_by(of: NDArray[np.integer[Any]], column: NDArray[Number], size: int) -> NDArray[Number]:
    """The sum of a column over each group of rows; of whole numbers it is exact."""
    if column.dtype.kind == "f":
        return np.asarray(np.bincount(of, column, size), dtype=column.dtype)
    found = np.zeros(size, dtype=column.dtype)
    np.add.at(found, of, column)
    return found


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


def crowds(firms: Places, groups: Places) -> NDArray[np.int64]:
    """For each firm the number of its rows in every group, squared and summed.

    >>> crowds(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])).tolist()      # 2² + 1², and 1²
    [5, 1]
    """
    size, width = (int(one.max(initial=-1)) + 1 for one in (firms, groups))
    pair, pairs = crossed(firms, size, groups, width)
    firm = np.zeros(pairs, dtype=np.int32)
    firm[pair] = firms
    return summed_by(firm, np.bincount(pair, minlength=pairs).astype(np.int64) ** 2, size)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of the rows of a frame: the groups as a frame of their own, and for each row the place of its group."""

    groups: Frame
    of: Places = field(repr=False)

    @property
    def size(self) -> int:
        return self.groups.size

    def sums(self, values: NDArray[Number]) -> NDArray[Number]:
        """The sum over each group; of whole numbers it is exact."""
        return summed_by(self.of, values, self.size)

    def largest(self, values: NDArray[Number]) -> NDArray[Number]:
        """The largest value of each group; every group has a row."""
        # Of the same type as the values: numpy takes ten times as long where it has to cast.
        found = np.empty(self.size, dtype=values.dtype)
        found[self.of] = values
        np.maximum.at(found, self.of, values)
        return found
