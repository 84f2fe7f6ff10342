"""Total: the sum of a column over a cell, each record's value held within public bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.privacy import Contribution, Exact, exact, plain, positive
from sfumato.schema import Aggregate, Clipped, Reported, Sum
from sfumato.statistics.statistic import Statistic

MOST_STEPS = 2**53
"""The largest value in steps: every whole number up to it is exact as a double, which is how engines read values."""


@dataclass(frozen=True)
class Total(Statistic):
    """A sum of values clipped to [low, high] and rounded to a step, record by record.

    >>> Total("wage", clip=(0, 50_000), step=10).contribution.bounds
    (0, 5000)
    """

    name: ClassVar[str] = "total"
    column: str
    clip: tuple[Fraction, Fraction] | None
    step: Fraction
    missing: Fraction | None
    unit: str
    power: int

    def __init__(
        self,
        column: str,
        clip: tuple[Exact, Exact] | None = None,
        step: Exact = 1,
        missing: Exact | None = None,
        unit: str = "",
        power: int = 1,
    ) -> None:
        if clip is not None and (not isinstance(clip, (tuple, list)) or len(clip) != 2):
            raise PlanError(f'The clip of {column} is a lowest and a highest value, for example clip = ["0", "50000"].')
        bounds = None if clip is None else (exact(clip[0], "clip"), exact(clip[1], "clip"))
        given = None if missing is None else exact(missing, "missing")
        made = {"column": column, "clip": bounds, "step": positive(step, "step"), "missing": given, "power": power}
        vars(self).update(made, unit=unit or column)
        if power not in {1, 2}:
            raise PlanError(f"The power of {column} is {power!r}; a total is of values (1) or of their squares (2).")
        if bounds and not bounds[0] < bounds[1]:
            raise PlanError(f"The clip of {column} runs from {plain(bounds[0])} to {plain(bounds[1])}; it must rise.")
        if bounds and self.missing is not None and not bounds[0] <= self.missing <= bounds[1]:
            raise PlanError(
                f"The value {plain(self.missing)} for a missing {column} lies outside its clip, "
                f"{plain(bounds[0])} to {plain(bounds[1])}; choose one within."
            )
        for bound in bounds or ():
            if (bound / self.step).denominator != 1:
                raise PlanError(
                    f"The clip {plain(bound)} of {column} is no multiple of the step {plain(self.step)}; "
                    "values live on multiples of the step, so choose bounds that do."
                )
            if abs(bound / self.step) > MOST_STEPS or abs(bound) > MOST_STEPS**4:
                raise PlanError(
                    f"The clip of {column} reaches beyond 2^53 steps of {plain(self.step)}, where values lose digits; "
                    "use a tighter clip or a coarser step."
                )

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The sum of clipped values; without a clip, of what units of a register report, which some relations bound."""
        if self.clip is None and self.power == 1:
            return (Sum(Reported(self.column, self.step, self.missing)),)
        low, high = (bound * self.step for bound in self.contribution.bounds)
        return (Sum(Clipped(self.column, low, high, self.step, self.missing, self.power)),)

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        (total,) = (columns[one] for one in self.aggregates)
        return np.asarray(total)

    @property
    def contribution(self) -> Contribution:
        low, high = self.clip or (None, None)
        return Contribution(self.column, low, high, self.step, self.power)

    @property
    def note(self) -> str:
        """What is left out of it, in words.

        >>> Total("weight", clip=(0, "1e6"), step="0.001").note
        'Each weight counts from 0 to 1,000,000 at most, in steps of 0.001.'
        """
        if self.clip is None:
            return ""
        low, high, step = (f"{float(one):,.12g}" for one in (*self.clip, self.step))
        what = self.column if self.power == 1 else f"square of {self.column}"
        return f"Each {what} counts from {low} to {high} at most, in steps of {step}."

    @property
    def title(self) -> str:
        return f"Total {self.column} in {self.unit}" if self.unit != self.column else f"Total {self.column}"


EXAMPLE = Total("wage", clip=(0, 50_000), step=10)
