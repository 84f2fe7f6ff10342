"""Squared: noise on the square root of every value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.release.noisy import Floats, Integers
from sfumato.release.root_error import RootError
from sfumato.release.uncertainties.trend import Trend
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty, amount
from sfumato.schema import Box, Domain, Grid


@dataclass(frozen=True)
class Squared(Uncertainty):
    """Noise on the square root: a value of x steps has variance 4 s² x + 2 s⁴, s² the variance on the root's lattice.

    Taken at the noisy value it is unbiased, and adds up to 4 s² X + 2 n s⁴ over n rows that sum to X. No true total is
    below 0, so a noisy one that is has the variance of 0.
    """

    kind: ClassVar[str] = "squared"
    variance: float

    def over(self, domain: Domain, values: Integers) -> Errors:
        cells, sums = domain.condensed(values)
        counts = domain.condensed(domain.possible.astype(np.int64))[1]
        return Rising(cells, sums, counts, self.variance)

    def in_steps(self, unit: float) -> "Squared":
        return Squared(self.variance * unit)

    @property
    def follows(self) -> bool:
        return True

    @property
    def trend(self) -> Trend:
        return Trend(base=2 * self.variance**2, each=4 * self.variance)

    def roots(self, values: Integers) -> tuple[Floats, float]:
        """The noisy roots of values, and the standard deviation of their noise, on the root's lattice."""
        return np.sqrt(np.maximum(values + round(self.variance), 0.0)), self.variance**0.5

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "variance": self.variance}

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Squared":  # noqa: ARG003 - all is in the manifest
        return cls(amount(written["variance"]))


@dataclass(frozen=True, eq=False)
class Rising(Errors):
    """Errors of values with noise on their roots; totals that share no value share no error."""

    at_once: ClassVar[bool] = True
    domain: Domain
    sums: Integers
    counts: Integers
    variance: float

    def covariance(self, one: Box, other: Box) -> float:
        return float(self.with_whole(Grid((), one.within(other)), ()))

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:  # noqa: ARG002 - a part's cells
        cells, totals = (self.domain.totals(one, grid) for one in (self.counts, self.sums))
        return np.asarray(2 * self.variance**2 * cells + 4 * self.variance * np.maximum(totals, 0), dtype=np.float64)

    def law(self, grid: Grid) -> RootError:
        return RootError(self.variance, np.maximum(self.domain.totals(self.sums, grid).ravel(), 0).astype(np.float64))


EXAMPLE = Squared(2.0)
