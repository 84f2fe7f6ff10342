"""Ratio: one total over another, by Taylor where the denominator is sure and by Fieller where it is not."""

import math
from dataclasses import dataclass

from sfumato.errors import QueryError
from sfumato.query.estimate import Estimate, Variance, z_score
from sfumato.release import Withheld

SURE = 4.0
"""A denominator this many standard errors from 0 makes the Taylor error good (SCIENCE 4.3)."""


@dataclass(frozen=True, repr=False)
class Ratio(Estimate):
    """A share, mean or ratio; it remembers both totals, so that its interval can be Fieller's."""

    over: float = 0.0
    under: float = 1.0
    over_variance: float = 0.0
    under_variance: float = 0.0
    covariance: float = 0.0

    @property
    def sure(self) -> bool:
        """Whether the denominator is far enough from 0 for the Taylor error."""
        return self.under**2 >= SURE**2 * self.under_variance

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        return super().interval(level) if self.sure else self.fieller(level)

    def moe(self, level: float = 0.90) -> float | Withheld:
        if isinstance(self.se, Withheld) or self.sure:
            return super().moe(level)
        low, high = self.fieller(level)
        return max(self.value - low, high - self.value)

    def fieller(self, level: float) -> tuple[float, float]:
        """All ratios R for which over - R under is within its own error of 0 (Fieller 1954)."""
        z_squared = z_score(level) ** 2
        a = self.under**2 - z_squared * self.under_variance
        b = self.over * self.under - z_squared * self.covariance
        c = self.over**2 - z_squared * self.over_variance
        if a <= 0:
            raise QueryError(_too_near(level))
        reach = math.sqrt(max(b**2 - a * c, 0.0))
        return (b - reach) / a, (b + reach) / a


def ratio_of(over: Estimate, under: Estimate, covariance: Variance, unit: str, sampled: Variance) -> Ratio:
    """The ratio of two totals with their covariance; refused where the denominator may be 0."""
    for part in (over.noise_variance, under.noise_variance, covariance):
        if isinstance(part, Withheld):
            return Ratio(_divided(over.value, under.value), part, sampled, unit, over.cells)
    noise_over, noise_under = float(over.noise_variance), float(under.noise_variance)  # type: ignore[arg-type]
    if under.value**2 <= z_score(0.95) ** 2 * noise_under:
        raise QueryError(_too_near(0.95))
    value = over.value / under.value
    shared = float(covariance)  # type: ignore[arg-type]
    variance = (noise_over - 2 * value * shared + value**2 * noise_under) / under.value**2
    return Ratio(
        value,
        max(variance, 0.0),
        sampled,
        unit,
        over.cells,
        grades=over.grades,
        over=over.value,
        under=under.value,
        over_variance=noise_over,
        under_variance=noise_under,
        covariance=shared,
    )


def _divided(over: float, under: float) -> float:
    if under == 0:
        raise QueryError("The ratio has a denominator of 0; choose a larger group to divide by.")
    return over / under


def _too_near(level: float) -> str:
    return (
        f"The denominator is within its own noise of 0 at {level:.0%}, so the ratio could be anything; "
        "choose a larger group to divide by."
    )
