"""Excess: what a clip takes of a column, up to a farther public bound; one number for a whole table is cheap to buy.

Claim. A record adds clip(v; low, up_to) − clip(v; low, high), which lies from 0 to up_to − high.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.privacy import Contribution, Exact, exact, plain
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Aggregate
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.total import Bounds, Total


@dataclass(frozen=True)
class Excess(Statistic):
    """The sum of what lies above a clip, record by record, held within a farther bound and rounded to a step.

    >>> Excess("wage", clip=(0, 50_000), up_to=200_000, step=10).contribution.bounds
    (0, 15000)
    """

    name: ClassVar[str] = "excess"
    column: str
    clip: tuple[Fraction, Fraction]
    up_to: Fraction
    step: Fraction
    missing: Fraction | None
    unit: str

    def __init__(
        self,
        column: str,
        clip: Bounds,
        up_to: Exact,
        step: Exact = 1,
        missing: Exact | None = None,
        unit: str = "",
    ) -> None:
        within = Total(column, clip, step, missing, unit)
        if within.clip is None:
            raise PlanError(f"The excess of {column} is above a clip, that of a total of the plan; give clip.")
        farther = exact(up_to, "up_to")
        if farther <= within.clip[1]:
            raise PlanError(
                f"The excess of {column} is counted above {plain(within.clip[1])} and up to {plain(farther)}, which is "
                "nothing; up_to lies above the clip."
            )
        shared = {"step": within.step, "missing": within.missing, "unit": within.unit}
        vars(self).update(column=column, clip=within.clip, up_to=farther, **shared)
        _ = self._wide

    @property
    def _narrow(self) -> Total:
        return Total(self.column, self.clip, self.step, self.missing)

    @property
    def _wide(self) -> Total:
        return Total(self.column, (self.clip[0], self.up_to), self.step, self.missing)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (*self._wide.aggregates, *self._narrow.aggregates)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        return np.asarray(self._wide.value(columns) - self._narrow.value(columns))

    @property
    def contribution(self) -> Contribution:
        return Contribution(self.column, Fraction(0), self.up_to - self.clip[1], self.step, above=self.clip[1])

    @property
    def above(self) -> tuple[ValueBounds, Fraction]:
        return ValueBounds(self.column, *self.clip, self.step), self.up_to

    @property
    def title(self) -> str:
        high, far = (f"{float(one):,.12g}" for one in (self.clip[1], self.up_to))
        return f"{self.column} above {high}, up to {far} in each record"


EXAMPLE = Excess("wage", clip=(0, 50_000), up_to=200_000, step=10)
