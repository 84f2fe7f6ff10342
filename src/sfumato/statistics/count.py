"""Count: how many records a cell has."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

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

    @property
    def contribution(self) -> Contribution:
        return Contribution()

    @property
    def title(self) -> str:
        return f"Number of {self.unit}"


EXAMPLE = Count()
