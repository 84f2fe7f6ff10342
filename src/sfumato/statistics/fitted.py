"""Fitted: what a line of one column on another tells in a cell; it may not be summed.

The line is that of least squares; a mechanism such as `theil-sen` publishes another line near it, and says so.

Chetty and Friedman 2019: the rank of children's incomes on that of their parents, predicted at the 25th percentile.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest
from sfumato.kernels.simple_regression import ERROR, SLOPE, Moments, told
from sfumato.privacy import Contribution, Exact, exact, plain
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Aggregate, Clipped, Influence
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.total import Bounds, Total
from sfumato.statistics.weighting import refuse_weighted

PREDICTION = "prediction"
TOLD = (PREDICTION, SLOPE, ERROR)


@dataclass(frozen=True)
class Fitted(Statistic):
    """The line of y on x, both held within public bounds: what it predicts `at` a value of x, or what else it tells.

    Where all rows have the same x it is flat at their mean; of no rows it is 0.

    >>> Fitted("rank", "parent_rank", at="0.25").title
    'rank predicted at parent_rank 0.25'
    """

    name: ClassVar[str] = "fitted"
    additive: ClassVar[bool] = False
    y: str
    x: str
    at: Fraction
    what: str
    clip: tuple[Fraction, Fraction]
    clip_x: tuple[Fraction, Fraction]
    step: Fraction
    unit: str
    weighted: bool | None

    def __init__(  # noqa: PLR0913, PLR0917 - each is a key of a plan
        self,
        y: str,
        x: str,
        at: Exact = 0,
        what: str = PREDICTION,
        clip: Bounds = (0, 1),
        clip_x: Bounds = (0, 1),
        step: Exact = "0.000001",
        unit: str = "",
        weighted: bool | None = None,
    ) -> None:
        up, right = Total(y, clip, step), Total(x, clip_x, step)
        if up.clip is None or right.clip is None:
            raise PlanError(f"A line of {y} on {x} is of values within bounds; give clip and clip_x.")
        if what not in TOLD:
            raise PlanError(f"A line of {y} on {x} tells no '{what}'; {nearest(what, TOLD)}")
        shared = {"clip": up.clip, "clip_x": right.clip, "step": up.step, "unit": unit or y}
        shared |= {"weighted": refuse_weighted(weighted, f"A line of {y} on {x}")}
        vars(self).update(y=y, x=x, at=exact(at, "at"), what=what, **shared)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        up, right = Clipped(self.y, *self.clip, self.step), Clipped(self.x, *self.clip_x, self.step)
        return (Influence(up, right, self.what, self.at),)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        (rows,), step = (columns[one] for one in self.aggregates), float(self.step)
        y, x = (rows.values[:, place].astype(np.float64) * step for place in (0, 1))
        found = told(Moments.of(y, x, rows.offsets), self.what, float(self.at))
        return np.rint(np.clip(found, -1e6, 1e6) / step).astype(np.int64)

    @property
    def contribution(self) -> Contribution:
        """A row is there or not; how far a line goes by it is for a mechanism to say."""
        return Contribution()

    @property
    def value_bounds(self) -> ValueBounds:
        return ValueBounds(self.y, *self.clip, self.step)

    @property
    def title(self) -> str:
        if self.what == SLOPE:
            return f"Slope of {self.y} on {self.x}"
        said = f"{self.y} predicted at {self.x} {plain(self.at)}"
        return f"Standard error of {said}" if self.what == ERROR else said


EXAMPLE = Fitted("rank", "parent_rank", at="0.25")
