"""Count: how many records a cell has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy import Contribution
from sfumato.schema import Aggregate, Rows
from sfumato.statistics.statistic import Statistic


@dataclass(frozen=True)
class Count(Statistic):
    """The number of rows, to which each adds 1."""

    name: ClassVar[str] = "count"
    unit: str = "records"
    step: Fraction = field(default=Fraction(1), init=False)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (Rows(),)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        rows: NDArray[np.int64] = columns[Rows()]
        return rows

    @property
    def contribution(self) -> Contribution:
        return Contribution()

    @property
    def title(self) -> str:
        return f"Number of {self.unit}"


EXAMPLE = Count()
