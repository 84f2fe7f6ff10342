"""Cells: the one type that may hold a true value."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy import Move
from sfumato.schema import Aggregate, Frame, Grouping, Table


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The true values of one measure, in steps, and how far they can move; printed as a size, and never pickled.

    Counts are held in 32 bits where none needs more; noise is added to them in 64.
    """

    table: Table | Frame
    columns: Mapping[Aggregate, NDArray[np.int64]]
    step: Fraction
    move: Move
    grouping: Grouping | None = None
    """Of values that stand one a row of a frame: the groups that they are summed over."""
    places: NDArray[np.int64] | None = None
    """Of a sparse table: the numbers, increasing, of the cells whose values these are; all other cells are 0."""

    @property
    def values(self) -> NDArray[np.int64]:
        """The column of a statistic that needs only one."""
        (column,) = self.columns.values()
        return column

    @property
    def totals(self) -> NDArray[np.int64]:
        """The values, summed over their groups where they have some."""
        return self.values if self.grouping is None else self.grouping.sums(self.values)

    def __repr__(self) -> str:
        return f"<Cells: {self.table.size:,} confidential cells>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("Cells are confidential and cannot be pickled or copied out of the process.")
