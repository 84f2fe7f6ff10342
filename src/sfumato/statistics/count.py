"""Count: how many records a cell has."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from sfumato.privacy import AddRemove, Bounded, Hidden, Move
from sfumato.schema import Aggregate, Rows, Table
from sfumato.statistics.statistic import Statistic


@dataclass(frozen=True)
class Count(Statistic):
    """The number of rows; a unit that comes or goes moves it by its rows, a replaced one by twice as many.

    >>> from sfumato.privacy import ReplaceOne
    >>> Count().move(ReplaceOne("person"), Table(()))
    Bounded(cells=2, l1=2, l2_squared=2, largest=1)
    """

    name: ClassVar[str] = "count"
    unit: str = "records"
    step: Fraction = field(default=Fraction(1), init=False)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (Rows(),)

    def move(self, hidden: Hidden, table: Table) -> Move:  # noqa: ARG002 - the same in every table
        rows = hidden.at_most
        if isinstance(hidden, AddRemove):
            return Bounded(cells=rows, l1=rows, l2_squared=rows**2, largest=rows)
        # All k rows leave one cell for one other: k steps down and k steps up.
        return Bounded(cells=2 * rows, l1=2 * rows, l2_squared=2 * rows**2, largest=rows)

    @property
    def title(self) -> str:
        return f"Number of {self.unit}"


EXAMPLE = Count()
