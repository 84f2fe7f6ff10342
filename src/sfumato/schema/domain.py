"""Domain: what the numbers of a measure stand for, whether cells of a table or rows of a register."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import nearest
from sfumato.schema.attributes import Attribute, Rule
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.level import By, Level


class Domain(ABC):
    """So many cells, described by attributes; a register's are units that everybody may know of."""

    register: ClassVar[bool]
    """Whether which units there are, and what its attributes say of each, is public."""
    attributes: tuple[Attribute, ...]
    impossible: tuple[Rule, ...]
    """Which combinations of the attributes cannot be."""
    together: int = 0
    """Where firms move: how many units of one share a cell, squared and summed over cells, at most; 0 if unknown."""

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def by(self) -> By:
        """The attributes, each at a depth of its hierarchy, that tell the cells apart."""
        return tuple(Level(attribute.name, attribute.depth) for attribute in self.attributes)

    def attribute(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise KeyError(f"'{name}' is not an attribute of this table; {nearest(name, self.names)}")

    @property
    @abstractmethod
    def possible(self) -> NDArray[np.bool_]:
        """Which cells may hold something."""

    def count(self, box: Box) -> int:
        """How many possible cells lie in a box."""
        return int(self.counts(Grid((), box)))

    @abstractmethod
    def counts(self, grid: Grid) -> NDArray[np.int64]:
        """How many possible cells lie in each box of a grid."""

    @abstractmethod
    def totals(self, column: NDArray[Any], grid: Grid) -> NDArray[Any]:
        """The sums of numbers of the cells over each box of a grid."""

    @abstractmethod
    def common(
        self, ones: list[Box], others: list[Box], column: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """How many possible cells each of some boxes shares with each of some others, or the sum of what these hold."""

    def among(self, grid: Grid, column: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The same of each two boxes of a grid."""
        boxes = list(grid.boxes())
        return self.common(boxes, boxes, column)

    def condensed(self, column: NDArray[Any]) -> tuple[Self, NDArray[Any]]:
        """The cells that questions can tell apart, all of them as a rule, with what a column sums to in each."""
        return self, column
