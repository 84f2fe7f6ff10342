"""Weighed: a statistic of rows that stand for others as well, each by the weight of a sample's design."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.privacy import Contribution, plain
from sfumato.schema import Aggregate, InSteps, Reported, Rows, Sum, SumOfProducts
from sfumato.statistics import Statistic


@dataclass(frozen=True)
class Weighed(Statistic):
    """What rows add up to, each times its weight, exactly: in steps of a value times steps of a weight.

    >>> from sfumato.statistics import Count
    >>> Weighed(Count(), "w", Fraction(1, 100)).step
    Fraction(1, 100)
    """

    name: ClassVar[str] = "weighted"
    of: Statistic
    weight: str
    weight_step: Fraction

    def __post_init__(self) -> None:
        if (1 / self.weight_step).denominator != 1:
            raise PlanError(
                f"[suppress] weight_step is {plain(self.weight_step)}; a weight of 1 must be a whole multiple of it, "
                "as it is of 0.01."
            )
        if self.of.weighted is not None:
            raise PlanError(
                f"[suppress] counts rows by '{self.weight}' in all its measures, so that `weighted` in "
                f"'{self.of.title}' says nothing. Leave it out."
            )
        low = self.of.contribution.low
        if self.of.aggregates != (Rows(),) and (self._value is None or (low is not None and low < 0)):
            raise PlanError(
                f"[suppress] weighs rows by '{self.weight}', which is for counts and for totals of values from 0 on; "
                f"'{self.of.title}' is neither."
            )

    @property
    def _value(self) -> InSteps | None:
        return next((one.of for one in self.of.aggregates if isinstance(one, Sum)), None)

    @property
    def parts(self) -> int:
        """How many steps of a weight are 1: what a row has by itself, in its own steps, is told in so many parts."""
        return int(1 / self.weight_step)

    @property
    def weights(self) -> Reported:
        """The weight of a row in whole steps; one that is no whole multiple of the step is a fault of the data."""
        return Reported(self.weight, self.weight_step)

    @property
    def step(self) -> Fraction:  # type: ignore[override]
        return self.of.step * self.weight_step

    @property
    def unit(self) -> str:  # type: ignore[override]
        return self.of.unit

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        value = self._value
        return (Sum(self.weights),) if value is None else (SumOfProducts(value, self.weights),)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        (total,) = (columns[one] for one in self.aggregates)
        return np.asarray(total)

    @property
    def contribution(self) -> Contribution:
        return self.of.contribution

    @property
    def note(self) -> str:
        return f"{self.of.note} Rows count by their weights.".strip()

    @property
    def title(self) -> str:
        return f"{self.of.title}, weighted"
