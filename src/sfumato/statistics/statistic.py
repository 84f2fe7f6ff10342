"""Statistic: what is computed in a cell, and what one row adds to it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.privacy import Contribution
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Aggregate, Clipped


class Statistic(ABC):
    """What is computed in a cell; it knows no neighbours and no mechanism."""

    name: ClassVar[str]
    additive: ClassVar[bool] = True
    step: Fraction
    unit: str
    weighted: bool | None = None
    """Whether rows count by their weights; None where the plan does not say."""
    weighting: Clipped | None = None
    """The weight of a row within its bounds, where rows count by it."""

    def with_weight(self, weight: Clipped) -> "Statistic":  # noqa: ARG002 - refused, unless a statistic says how
        """The same statistic with rows counted by a weight."""
        raise PlanError(f"{self.title} cannot be weighted. Write weighted = false.")

    @property
    def as_written(self) -> "Statistic":
        """The same statistic as a plan writes it, which names no weight: that is the plan's."""
        return self

    @property
    @abstractmethod
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What an engine must compute for it."""

    @abstractmethod
    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        """What it is in every cell, in whole steps, from what an engine computed."""

    @property
    @abstractmethod
    def contribution(self) -> Contribution:
        """What one row may add to a cell; how far cells go between neighbours is for these to say."""

    @property
    def note(self) -> str:
        """What a reader must know of how values were counted, as one sentence."""
        return ""

    @property
    def value_bounds(self) -> ValueBounds | None:
        """Between which bounds the value of one record counts; none where nothing is held within bounds."""
        return None

    @property
    def above(self) -> tuple[ValueBounds, Fraction] | None:
        """Where it sums what lies above the bounds of totals: these, and the farther bound up to which it does."""
        return None

    @property
    @abstractmethod
    def title(self) -> str:
        """What its numbers are, in a reader's words."""
