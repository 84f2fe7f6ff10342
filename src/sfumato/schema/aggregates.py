"""Aggregate: the closed set of things that every engine can compute over the rows of a cell."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Rows:
    """How many rows a cell has."""


@dataclass(frozen=True)
class Sum:
    """The sum over a cell of a column or its square, each first held within [low, high], rounded half up to the step.

    Values are integers of the step from there on, so the sum depends on no order and no rounding.
    """

    column: str
    low: Fraction
    high: Fraction
    step: Fraction
    missing: Fraction | None = None
    power: int = 1


@dataclass(frozen=True)
class Weighted:
    """The sums over a cell of the weight and of every replicate weight, each times a column where one is named.

    Values are not clipped: a design-based estimate is of the data as they are. The sums depend on no order of the
    rows, and are exact where weights and values are whole.
    """

    column: str | None = None
    missing: Fraction | None = None


Aggregate = Rows | Sum | Weighted
