"""Mean: the average of a column over the rows of a cell; it may not be summed.

A mean with a claim is a total over a count, which any two measures give; this one is for noise that follows the data.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.kernels.simple_regression import MEAN, Moments, told
from sfumato.privacy import Contribution, Exact
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Aggregate, Clipped, Influence
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.total import Bounds, Total
from sfumato.statistics.weighting import refuse_weighted


@dataclass(frozen=True)
class Mean(Statistic):
    """The mean of values clipped to [low, high] and rounded to a step; 0 of no rows.

    >>> Mean("wage", clip=(0, 50_000), step=10).title
    'Mean wage'
    """

    name: ClassVar[str] = "mean"
    additive: ClassVar[bool] = False
    column: str
    clip: tuple[Fraction, Fraction]
    step: Fraction
    missing: Fraction | None
    unit: str
    weighted: bool | None

    def __init__(
        self,
        column: str,
        clip: Bounds,
        step: Exact = 1,
        missing: Exact | None = None,
        unit: str = "",
        weighted: bool | None = None,
    ) -> None:
        within = Total(column, clip, step, missing, unit)
        if within.clip is None:
            raise PlanError(f'A mean of {column} is of values within bounds; give clip, as clip = ["0", "200000"].')
        shared = {"step": within.step, "missing": within.missing, "unit": within.unit}
        vars(self).update(
            column=column, clip=within.clip, weighted=refuse_weighted(weighted, f"A mean of {column}"), **shared
        )

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        value = Clipped(self.column, *self.clip, self.step, self.missing)
        return (Influence(value, value, MEAN),)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        (rows,) = (columns[one] for one in self.aggregates)
        values = rows.values[:, 0].astype(np.float64)
        return np.rint(told(Moments.of(values, values, rows.offsets), MEAN, 0.0)).astype(np.int64)

    @property
    def contribution(self) -> Contribution:
        return Contribution()

    @property
    def value_bounds(self) -> ValueBounds:
        return ValueBounds(self.column, *self.clip, self.step)

    @property
    def title(self) -> str:
        return f"Mean {self.column}"


EXAMPLE = Mean("wage", clip=(0, 50_000), step=10)
