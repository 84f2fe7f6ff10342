"""Count: how many records a cell has, or how many units they stand for by their weights."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy import Contribution
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Aggregate, Clipped, Rows, Sum
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.weighting import check_weighted, require_weight


@dataclass(frozen=True)
class Count(Statistic):
    """The number of rows, to which each adds 1; weighted, each adds its weight.

    >>> persons = Count(weighted=True).with_weight(Clipped("w", Fraction(0), Fraction(40), Fraction(1, 10)))
    >>> persons.contribution.bounds, persons.step
    ((0, 400), Fraction(1, 10))
    """

    name: ClassVar[str] = "count"
    unit: str = "records"
    weighted: bool | None = None
    step: Fraction = field(default=Fraction(1), init=False)
    weighting: Clipped | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        check_weighted(self.weighted, self.title)

    def with_weight(self, weight: Clipped) -> "Count":
        weighed = replace(self)
        vars(weighed).update(weighting=weight, step=weight.step)
        return weighed

    @property
    def as_written(self) -> "Count":
        return replace(self)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (Sum(self._weight),) if self.weighted else (Rows(),)

    @property
    def _weight(self) -> Clipped:
        return require_weight(self.weighting, self.title)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        (rows,) = (columns[one] for one in self.aggregates)
        return np.asarray(rows)

    @property
    def contribution(self) -> Contribution:
        if not self.weighted:
            return Contribution()
        weight = self._weight
        return Contribution(weight.column, weight.low, weight.high, weight.step)

    @property
    def value_bounds(self) -> ValueBounds | None:
        if self.weighting is None:
            return None
        return ValueBounds(self.weighting.column, self.weighting.low, self.weighting.high, self.weighting.step)

    @property
    def title(self) -> str:
        return f"Number of {self.unit}"


EXAMPLE = Count()
