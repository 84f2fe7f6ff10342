"""Cells: the one type that may hold a true value."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy import Move
from sfumato.schema import Aggregate, Table


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The true values of one measure, in steps, and how far they can move; printed as a size, and never pickled."""

    table: Table
    columns: Mapping[Aggregate, NDArray[np.int64]]
    step: Fraction
    move: Move

    @property
    def values(self) -> NDArray[np.int64]:
        """The column of a statistic that needs only one."""
        (column,) = self.columns.values()
        return column

    def __repr__(self) -> str:
        return f"<Cells: {self.table.size:,} confidential cells>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("Cells are confidential and cannot be pickled or copied out of the process.")
