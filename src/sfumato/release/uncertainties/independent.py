"""Independent: every cell has noise of its own with the same variance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.error_law import ErrorLaw, NormalError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.summed_draws import SummedDraws
from sfumato.release.uncertainties.trend import Trend
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty, amount
from sfumato.release.written import number
from sfumato.schema import Box, Domain, Grid

MOST_STEPS, SLACK = 4_096, 1e-9
"""The longest law that is listed step by step, and how far its chances may be from 1 in all."""
LEAST_VARIANCE, CUT, UNSTATED_EXCESS = 1e-6, 1e-3, 0.011
"""How far the moments of chances may be from what is stated: chances below 1e-13 and small excesses are left out."""


@dataclass(frozen=True)
class Independent(Uncertainty):
    """Noise of one law in every cell, so two totals share the cells they have in common.

    `excess` is the excess kurtosis of the noise in one cell: 0 for a normal law, 3 for that of Laplace. Where noise is
    a few steps wide, `probabilities` are those of 0, 1, 2, … steps to one side, each of `apart` steps of the product.
    """

    kind: ClassVar[str] = "independent"
    variance: float
    excess: float = 0.0
    probabilities: tuple[float, ...] = ()
    apart: float = 1.0

    def over(self, domain: Domain, values: Integers) -> Errors:  # noqa: ARG002 - the same at every value
        return Even(domain, self.variance, self.law)

    @property
    def law(self) -> ErrorLaw:
        """The law of the noise of totals, in steps."""
        if self.probabilities:
            return SummedDraws(self.probabilities, self.variance / self.apart**2, self.excess, self.apart)
        return NormalError(1.0, max(self.excess, 0.0), self.variance)

    def in_steps(self, unit: float) -> "Independent":
        return replace(self, variance=self.variance * unit**2, apart=self.apart * unit)

    @property
    def even(self) -> float:
        return self.variance

    @property
    def trend(self) -> Trend:
        return Trend(base=self.variance)

    def to_dict(self) -> dict[str, Any]:
        said: dict[str, Any] = {"kind": self.kind, "variance": self.variance}
        said |= {"excess_kurtosis": self.excess} if self.excess else {}
        if self.probabilities:
            said |= {"probabilities": list(self.probabilities)} | ({"apart": self.apart} if self.apart != 1 else {})
        return said

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Independent":  # noqa: ARG003 - all is in the manifest
        chances, excess = written.get("probabilities", ()), number(written.get("excess_kurtosis", 0.0), -2)
        if len(chances) > MOST_STEPS:
            raise ReleaseError("The manifest states a law that noise cannot have; it was edited.")
        probabilities, apart = tuple(amount(one, 1.0) for one in chances), amount(written.get("apart", 1.0))
        if not apart:
            raise ReleaseError("The manifest states noise in steps of 0; it was edited.")
        noise = cls(amount(written["variance"]), excess, probabilities, apart)
        if probabilities:
            noise.refuse_other_law()
        return noise

    def refuse_unfit(self, domain: Domain, values: Integers) -> None:
        """It may be the error of cells that are laid out or listed."""

    def refuse_other_law(self) -> None:
        """Say so where the chances of the noise are not those of a law with the variance that stands beside them."""
        half, steps = np.array(self.probabilities), np.arange(len(self.probabilities), dtype=np.float64)
        total, second, fourth = (2 * float(half @ steps**power) for power in (0, 2, 4))
        if abs(total - self.probabilities[0] - 1) > SLACK:
            raise ReleaseError("The manifest states chances of noise that do not sum to 1; it was edited.")
        variance = self.variance / self.apart**2
        wide = variance > LEAST_VARIANCE
        excess = fourth / second**2 - 3 if wide and second else self.excess
        alike = abs(self.excess - excess) <= UNSTATED_EXCESS + CUT * abs(excess)
        if abs(second - variance) > LEAST_VARIANCE + CUT * variance or not alike:
            raise ReleaseError("The manifest states chances of noise that have another variance; it was edited.")


@dataclass(frozen=True, eq=False)
class Even(Errors):
    """A variance times the cells that two boxes have in common."""

    at_once: ClassVar[bool] = True
    domain: Domain
    variance: float
    drawn: ErrorLaw

    def law(self, grid: Grid) -> ErrorLaw:  # noqa: ARG002 - the same for all totals
        return self.drawn

    def covariance(self, one: Box, other: Box) -> float:
        return self.variance * self.domain.count(one.within(other))

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:  # noqa: ARG002 - a part's cells
        return np.asarray(self.variance * self.domain.counts(grid), dtype=np.float64)

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        return self.variance * self.domain.common(ones, others)

    def among(self, grid: Grid) -> Floats:
        return self.variance * self.domain.among(grid)

    def times(self, cells: Floats) -> Floats:
        return self.variance * cells

    @property
    def weights(self) -> tuple[NDArray[Any], float]:
        return self.domain.possible, self.variance


EXAMPLE = Independent(2.5, 3.0)
