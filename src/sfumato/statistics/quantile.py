"""Quantile: the value that a share of the rows of a cell lie at or below; it may not be summed."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.privacy import Contribution, Exact, exact, plain
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Aggregate, Clipped, Ragged, Sorted
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.total import Bounds, Total
from sfumato.statistics.weighting import refuse_weighted


@dataclass(frozen=True)
class Quantile(Statistic):
    """The least value that a share `at` of the rows do not exceed, values held within a clip; of no rows its low end.

    >>> Quantile("wage", "0.5", clip=(0, 100)).contribution.bounds      # a row is one above a value, or one below it
    (-1, 1)
    """

    name: ClassVar[str] = "quantile"
    additive: ClassVar[bool] = False
    column: str
    at: Fraction
    clip: tuple[Fraction, Fraction]
    step: Fraction
    missing: Fraction | None
    unit: str
    weighted: bool | None

    def __init__(
        self,
        column: str,
        at: Exact,
        clip: Bounds,
        step: Exact = 1,
        missing: Exact | None = None,
        unit: str = "",
        weighted: bool | None = None,
    ) -> None:
        within, share = Total(column, clip, step, missing, unit), exact(at, "at")
        if within.clip is None:
            raise PlanError(f'A quantile of {column} is of values within bounds; give clip, as clip = ["0", "250000"].')
        if not 0 < share < 1:
            raise PlanError(f"A quantile of {column} is asked at {plain(share)}; it is a share of the rows, as 0.5.")
        shared = {"step": within.step, "missing": within.missing, "unit": within.unit}
        vars(self).update(
            column=column,
            at=share,
            clip=within.clip,
            weighted=refuse_weighted(weighted, f"A quantile of {column}"),
            **shared,
        )

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (Sorted(Clipped(self.column, *self.clip, self.step, self.missing), self.at),)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        (rows,) = (columns[one] for one in self.aggregates)
        return at_share(rows, self.at, int(self.clip[0] / self.step))

    @property
    def contribution(self) -> Contribution:
        return Contribution(low=Fraction(-1))

    @property
    def value_bounds(self) -> ValueBounds:
        return ValueBounds(self.column, *self.clip, self.step)

    @property
    def title(self) -> str:
        return f"Quantile {plain(self.at)} of {self.column}"


def at_share(rows: Ragged, share: Fraction, empty: int) -> NDArray[np.int64]:
    """The least value that a share of the rows of each cell do not exceed; another of a cell without rows.

    >>> at_share(Ragged(np.array([0, 3, 3]), np.array([4, 7, 9])), Fraction(1, 2), -1).tolist()      # 2 of 3 are half
    [7, -1]
    """
    needed = -(-rows.lengths * share.numerator // share.denominator)
    held = np.append(rows.values, empty)
    return np.asarray(held[np.where(rows.lengths > 0, rows.offsets[:-1] + needed - 1, -1)])


EXAMPLE = Quantile("wage", "0.5", clip=(0, 50_000), step=10)
