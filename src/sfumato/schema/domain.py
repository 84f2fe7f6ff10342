"""Domain: what the numbers of a measure stand for, whether cells of a table or rows of a register."""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.attributes import Attribute, Rule
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.level import By


class Domain(Protocol):
    """So many cells, described by attributes; a register's are units that everybody may know of."""

    @property
    def register(self) -> bool:
        """Whether which units there are, and what its attributes say of each, is public."""

    @property
    def size(self) -> int: ...

    @property
    def attributes(self) -> tuple[Attribute, ...]: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def by(self) -> By:
        """The attributes, each at a depth of its hierarchy, that tell the cells apart."""

    @property
    def impossible(self) -> tuple[Rule, ...]:
        """Which combinations of the attributes cannot be."""

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Which cells may hold something."""

    def attribute(self, name: str) -> Attribute: ...

    def count(self, box: Box) -> int:
        """How many cells lie in a box."""

    def counts(self, grid: Grid) -> NDArray[np.int64]:
        """How many cells lie in each box of a grid."""

    def totals(self, column: NDArray[Any], grid: Grid) -> NDArray[Any]:
        """The sums of numbers of the cells over each box of a grid."""

    def common(
        self, ones: list[Box], others: list[Box], column: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """How many cells each of some boxes shares with each of some others, or the sum of what these hold."""

    def condensed(self, column: NDArray[Any]) -> tuple[Self, NDArray[Any]]:
        """The cells that questions can tell apart, with what a column sums to in each."""
