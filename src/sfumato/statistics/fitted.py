"""Fitted: a regression within each cell, predicted at a point; named so that it can be refused with the reason."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from sfumato.errors import PromiseError
from sfumato.privacy import Hidden, Move
from sfumato.schema import Aggregate, Table
from sfumato.statistics.statistic import Statistic


@dataclass(frozen=True)
class Fitted(Statistic):
    """The least-squares line of y on x in a cell; it may not be summed, and no unit's pull on it is bounded.

    One record far out in x turns the line as far as it likes, and with three records in a cell nothing holds it,
    so a mechanism that scales its noise to a bounded move can claim nothing here.
    """

    name: ClassVar[str] = "fitted"
    additive: ClassVar[bool] = False
    y: str
    x: str
    unit: str = ""
    step: Fraction = field(default=Fraction(1), init=False)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        raise PromiseError(self._why())

    def move(self, hidden: Hidden, table: Table) -> Move:  # noqa: ARG002 - no bound under any neighbours
        raise PromiseError(self._why())

    def _why(self) -> str:
        return (
            f"A regression of {self.y} on {self.x} in a cell has no bounded move: one record can turn the line as far "
            "as it likes, so no additive noise makes a claim about it. Measure clipped totals of "
            f"{self.y} and {self.x} and a count instead, and compute means from those."
        )

    @property
    def title(self) -> str:
        return f"{self.y} fitted on {self.x}"


EXAMPLE = Fitted("child_rank", "parent_rank")
