"""Varying: every cell has noise of its own with a variance of its own, which stands beside it in the file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.error_law import ErrorLaw, NormalError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.trend import Trend
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty, amount, not_below
from sfumato.release.written import number
from sfumato.schema import Box, Domain, Grid

NONE = Trend()
"""Of variances that follow no sizes."""


@dataclass(frozen=True, eq=False)
class Varying(Uncertainty):
    """A variance for every cell of a table or row of a frame, 0 where a cell cannot be.

    The variances came from public numbers; the trend says what they would be at other sizes.
    """

    kind: ClassVar[str] = "varying"
    variances: Floats
    trend: Trend = NONE
    excess: float = 0.0
    """The excess kurtosis of the noise in a cell, which totals are taken to have too: 3 for Laplace's law."""

    def over(self, domain: Domain, values: Integers) -> Errors:
        return Apart(*domain.condensed(self.variances), self.variances.reshape(values.shape), self.excess)

    def in_steps(self, unit: float) -> "Varying":
        return Varying(self.variances * unit**2, self.trend.in_steps(unit), self.excess)

    @property
    def drawn(self) -> Floats:
        return self.variances

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        return {"variance": self.variances}

    def to_dict(self) -> dict[str, Any]:
        said = {"kind": self.kind, "slope": self.trend.slope, "reach": self.trend.reach}
        return said | ({"excess_kurtosis": self.excess} if self.excess else {})

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Varying":
        trend = Trend(slope=amount(written["slope"]), reach=number(written["reach"]))
        excess = number(written.get("excess_kurtosis", 0.0), 0, 100)
        return cls(not_below(source.column("variance"), "variance").astype(np.float64, copy=False), trend, excess)


@dataclass(frozen=True, eq=False)
class Apart(Errors):
    """The variances of the cells that two boxes have in common, summed."""

    at_once: ClassVar[bool] = True
    domain: Domain
    held: Floats
    variances: Floats
    excess: float = 0.0

    def law(self, grid: Grid) -> ErrorLaw:
        return NormalError(0.0, self.excess, math.inf) if self.excess else super().law(grid)

    def covariance(self, one: Box, other: Box) -> float:
        return float(self.domain.totals(self.held, Grid((), one.within(other))))

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:  # noqa: ARG002 - a part's cells
        return self.domain.totals(self.held, grid)

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        return self.domain.common(ones, others, self.held)

    def among(self, grid: Grid) -> Floats:
        return self.domain.among(grid, self.held)

    @property
    def weights(self) -> tuple[NDArray[Any], float]:
        return self.variances, 1.0

    def times(self, cells: Floats) -> Floats:
        return self.variances * cells


EXAMPLE = Varying(np.linspace(1.0, 3.0, 12))
