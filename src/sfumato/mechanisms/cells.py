"""Cells: the one type that may hold a true value."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy import Move
from sfumato.schema import Aggregate, Domain, Grouping, Ragged, Replication, Table
from sfumato.schema.replication import SUCCESSIVE

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The true values of one measure, in steps, and how far they can move; printed as a size, and never pickled.

    Counts are held in 32 bits where none needs more; noise is added to them in 64.
    """

    domain: Domain
    values: Integers
    step: Fraction
    move: Move
    grouping: Grouping | None = None
    """Of values that stand one a row of a frame: the groups that they are summed over."""
    places: Integers | None = None
    """Of a sparse table: the numbers, increasing, of the cells whose values these are; all other cells are 0."""
    columns: Mapping[Aggregate, Any] = field(default_factory=dict)
    """What the statistic was made of, and what the mechanism needs beside it; arrays over the cells, or `Ragged`."""
    replication: Replication = SUCCESSIVE
    """How sampling variances follow from the replicates among the columns."""

    def taken(self, domain: Domain, cells: Integers, places: Integers | None = None) -> "Cells":
        """Some of the cells, each as often as it is named, as those of another domain; -1 is a cell without records."""
        shape = domain.shape if isinstance(domain, Table) and places is None else cells.shape

        def take(column: Any) -> Any:
            if isinstance(column, Ragged):
                return column.take(cells)
            width = column.shape[self.values.ndim :]  # of a column that has several numbers a cell
            kept = np.concatenate([column.reshape((-1, *width)), np.zeros((1, *width), dtype=column.dtype)])[cells]
            return kept.reshape((*shape, *width))

        columns = {one: take(column) for one, column in self.columns.items()}
        return replace(self, domain=domain, values=take(self.values), places=places, columns=columns)

    def apart(self, other: "Cells") -> Integers:
        """How far each cell is from the same one of others: by its value, or by 1 where only what it is made of is."""
        found = np.abs(self.values - other.values).ravel()
        for name, column in self.columns.items():
            there = other.columns[name]
            unlike = column.unlike(there) if isinstance(column, Ragged) else column != there
            found = np.maximum(found, unlike.reshape(len(found), -1).any(axis=1))
        return np.asarray(found, dtype=np.int64)

    @property
    def totals(self) -> Integers:
        """The values, summed over their groups where they have some."""
        return self.values if self.grouping is None else self.grouping.sums(self.values)

    def __repr__(self) -> str:
        return f"<Cells: {self.domain.size:,} confidential cells>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("Cells are confidential and cannot be pickled or copied out of the process.")
