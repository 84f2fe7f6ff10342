"""Excess: what a clip takes of a column, up to a farther public bound; one number for a whole table is cheap to buy.

Claim. A record adds clip(v; low, up_to) − clip(v; low, high), which lies from 0 to up_to − high.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.privacy import Contribution, Exact, exact, plain
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Aggregate, Clipped
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.total import Bounds, Total
from sfumato.statistics.weighting import check_weighted, require_weight, weight_row


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
    missing_codes: tuple[Fraction, ...] | None
    weighted: bool | None
    weighting: Clipped | None = field(default=None, init=False)

    def __init__(  # noqa: PLR0913, PLR0917 - each is a key of a plan
        self,
        column: str,
        clip: Bounds,
        up_to: Exact,
        step: Exact = 1,
        missing: Exact | None = None,
        unit: str = "",
        weighted: bool | None = None,
        missing_codes: Sequence[Exact] | None = None,
    ) -> None:
        within = Total(column, clip, step, missing, unit, missing_codes=missing_codes)
        if within.clip is None:
            raise PlanError(f"The excess of {column} is above a clip, that of a total of the plan; give clip.")
        farther = exact(up_to, "up_to")
        if farther <= within.clip[1]:
            raise PlanError(
                f"The excess of {column} is counted above {plain(within.clip[1])} and up to {plain(farther)}, which is "
                "nothing; up_to lies above the clip."
            )
        shared = {"step": within.step, "missing": within.missing, "unit": within.unit}
        said = {"weighted": check_weighted(weighted, f"The excess of {column}"), "weighting": None}
        codes = within.missing_codes
        vars(self).update(column=column, clip=within.clip, up_to=farther, missing_codes=codes, **said, **shared)
        _ = self._wide

    def with_weight(self, weight: Clipped) -> "Excess":
        weighed = copy(self)
        vars(weighed).update(weighting=weight, step=self._value_step * weight.step)
        _ = weighed.contribution, weighed.aggregates
        return weighed

    @property
    def as_written(self) -> "Excess":
        unweighed = copy(self)
        vars(unweighed).update(weighting=None, step=self._value_step)
        return unweighed

    @property
    def _value_step(self) -> Fraction:
        """The step of one row's value, before it is weighted."""
        return self.step if self.weighting is None else self.step / self.weighting.step

    @property
    def _narrow(self) -> Total:
        return self._total(self.clip)

    @property
    def _wide(self) -> Total:
        return self._total((self.clip[0], self.up_to))

    def _total(self, clip: tuple[Fraction, Fraction]) -> Total:
        """The total within some bounds, weighted as the excess is."""
        total = Total(
            self.column, clip, self._value_step, self.missing, weighted=self.weighted, missing_codes=self.missing_codes
        )
        return total if self.weighting is None else total.with_weight(self.weighting)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (*self._wide.aggregates, *self._narrow.aggregates)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        return np.asarray(self._wide.value(columns) - self._narrow.value(columns))

    @property
    def contribution(self) -> Contribution:
        far = self.up_to - self.clip[1]
        row = Contribution(self.column, Fraction(0), far, self._value_step, above=self.clip[1])
        return weight_row(row, require_weight(self.weighting, self.title)) if self.weighted else row

    @property
    def above(self) -> tuple[ValueBounds, Fraction]:
        bounds = ValueBounds(self.column, *self.clip, self._value_step)
        return bounds if self.weighting is None else bounds.with_weight(self.weighting), self.up_to

    @property
    def title(self) -> str:
        high, far = (f"{float(one):,.12g}" for one in (self.clip[1], self.up_to))
        return f"{self.column} above {high}, up to {far} in each record"


EXAMPLE = Excess("wage", clip=(0, 50_000), up_to=200_000, step=10)
