"""Ratio: one total over another, with the standard error of Taylor and the interval of Fieller.

An interval of Taylor's error where the denominator looks far from 0, and of Fieller's elsewhere, covers 92% instead of
95% near the switch, wherever that is: it is Taylor's just when the denominator came out too large. Fieller's alone
covers as it says, and far from 0 the two are the same. Where noise is in proportion, ratios are made of both sides of
the intervals of their totals instead (`sides`).
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.estimate import Estimate, Interval, Variance
from sfumato.query.ratio_law import RatioTerms
from sfumato.query.reaching import RatioExcess, noisy_level, ratio_excess
from sfumato.query.sides import NoisySide, RatioError, by_sides, sided_ends, sides_of
from sfumato.release import stated, withheld
from sfumato.release.error_law import ErrorLaw, Floats
from sfumato.release.summed_draws import SummedDraws
from sfumato.release.tails import z_score

ZERO = "The ratio has a denominator of 0; choose a larger group to divide by."
BELOW = "The denominator came out below 0, so the ratio says nothing; choose a larger group to divide by."
COARSE = 2
"""The error, in steps, below which noise is so often 0 that two ratios are compared by what both intervals hold."""


@dataclass(frozen=True, repr=False)
class Ratio(Estimate):
    """A share, mean or ratio; it remembers both totals, so that its interval can be Fieller's."""

    over: float = 0.0
    under: float = 1.0
    over_variance: float = 0.0
    under_variance: float = 0.0
    covariance: float = 0.0
    sides: tuple[NoisySide, ...] = field(default=(), compare=False)
    """What noise is in it: that of the numerator, and that of the denominator besides."""
    inside: bool = False
    """Whether it is of a part of its whole, of which the second side is the rest."""
    bounded: bool = False
    """Whether the true ratio is of a part of its whole where nothing is below 0, so that it lies from 0 to 1."""

    @property
    def as_measured(self) -> bool:
        return False

    @property
    def compared(self) -> ErrorLaw:
        """By both sides of its own interval where it is made of sides, else the law of differences."""
        if not self.sides or not by_sides(*self.sides):
            return self.law.differenced
        over, other = self.sides
        return RatioError(over, other, np.array([self.covariance]), self.inside)

    def interval(self, level: float = 0.95) -> Interval:
        """Where the true ratio lies at this level: no further than it can, which takes no truth out of an interval.

        One that lies where no truth can be stays as it is.
        """
        found = super().interval(level)
        low, high = max(found[0], 0.0), min(found[1], 1.0)
        return Interval(low, high, found.counts) if self.bounded and low <= high else found

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        """How far the ends lie off where both totals are as much larger as what was cut of them may be."""
        if not isinstance(self.bought, RatioExcess):
            return super().allowance(risk)
        level = noisy_level(risk)
        shifts = [(float(np.max(one)), float(np.max(other))) for one, other in self.bought.shifts(risk)]
        moved = (replace(self, over=self.over + one, under=self.under + other) for one, other in shifts)
        (low, high), ends = self.fieller(level), [one.fieller(level) for one in moved]
        below, above = (max(0.0, *(low - one for one, _ in ends)), max(0.0, *(one - high for _, one in ends)))
        return np.array([below]), np.array([above])

    def noise_reach(self, level: float) -> tuple[float, float]:
        """Both sides of the interval by noise, and sampling error added to both."""
        low, high = self.fieller(level)
        sampled = z_score(level) * (stated(self.sampling_se) or 0.0)
        return math.hypot(self.value - low, sampled), math.hypot(high - self.value, sampled)

    @cached_property
    def _known(self) -> dict[float, tuple[float, float]]:
        return {}

    def fieller(self, level: float) -> tuple[float, float]:
        """All ratios R for which over - R under is within its own error of 0 (Fieller 1954)."""
        if level not in self._known:
            self._known[level] = self._fieller(level)
        return self._known[level]

    def _fieller(self, level: float) -> tuple[float, float]:
        if self.sides and by_sides(*self.sides):
            over, other = self.sides
            low, high = sided_ends(level, over, other, np.array([self.covariance]), inside=self.inside)
            if math.isnan(low[0]):
                raise QueryError(too_near(level))
            return float(low[0]), float(high[0])
        low, high = self._terms.ends(level, errors_within(level, *self.sides), *self.sides)
        if math.isnan(low[0]):
            raise QueryError(too_near(level))
        return float(low[0]), float(high[0])

    def refuse_near_zero(self, level: float) -> None:
        """Refuse a ratio whose denominator may be 0 at a level."""
        if by_sides(*self.sides):
            self.fieller(level)
        elif math.isnan(self._terms.fieller(errors_within(level, *self.sides))[0][0]):
            raise QueryError(too_near(level))

    def of_nonnegative(self, nonnegative: bool = True) -> "Ratio":
        """The same of totals none of which is truly below 0; refused where the denominator came out there."""
        if nonnegative and self.under < 0:
            raise QueryError(BELOW)
        return replace(self, bounded=self.inside and nonnegative)

    @property
    def is_coarse(self) -> bool:
        """Whether a side of it has noise of so few steps that it is often 0, and never anything between."""
        law, terms = self.sides[0].law if self.sides else None, self._terms
        if not isinstance(law, SummedDraws):
            return False
        errors = (math.sqrt(float(one[0])) / law.step for one in (terms.over_variance, terms.besides) if one[0] > 0)
        return min(errors, default=0.0) < COARSE

    @property
    def _terms(self) -> RatioTerms:
        told = self.over, self.under, self.over_variance, self.under_variance, self.covariance
        return RatioTerms(*(np.array([one], dtype=np.float64) for one in told))


def ratio_of(
    over: Estimate,
    under: Estimate,
    covariance: Variance,
    unit: str,
    sampled: Variance,
    *,
    apart: bool = False,
    inside: bool = False,
) -> Ratio:
    """The ratio of two totals with their covariance; refused where the denominator may be 0.

    It is `apart` where they were measured each by itself, so that the noise of the denominator has its own law; else
    it is that of the numerator and of what the denominator has besides. It is `inside` where it is a part of it.
    """
    if unsaid := withheld(over.noise_variance, under.noise_variance, covariance):
        if under.value == 0:
            raise QueryError(ZERO)
        value, caveats = over.value / under.value, over.caveats.over(under.caveats)
        return Ratio(value, unsaid, sampled, unit, over.cells, caveats=caveats, under=under.value, inside=inside)
    noise_over, noise_under = float(over.noise_variance), float(under.noise_variance)  # type: ignore[arg-type]
    if under.value == 0:
        raise QueryError(too_near(0.95))
    value = over.value / under.value
    shared = float(covariance)  # type: ignore[arg-type]
    variance = (noise_over - 2 * value * shared + value**2 * noise_under) / under.value**2
    besides = np.array([noise_over + noise_under - 2 * shared])
    sides = sides_of(NoisySide.of(over), NoisySide.of(under), besides, apart=apart, inside=inside)
    found = Ratio(
        value,
        max(variance, 0.0),
        sampled,
        unit,
        over.cells,
        over.grades,
        over.law,
        over.caveats.over(under.caveats),
        over=over.value,
        under=under.value,
        over_variance=noise_over,
        under_variance=noise_under,
        covariance=shared,
        sides=sides,
        inside=inside,
        bought=ratio_excess(over.bought, under.bought, inside=inside),
    )
    found.refuse_near_zero(0.95)
    return found


def errors_within(level: float, *sides: NoisySide) -> Floats:
    """How many standard errors a ratio reaches: where few cells are in one of its sides, as many as its margin."""
    found = np.full(len(sides[0].totals.values), z_score(level))
    for side in sides:
        found = np.fmax(found, side.errors(level))
    # Of totals that were moved, variances count that and nothing says whither: so far a ratio of them may be off.
    return found if all(one.law.noise is one.law for one in sides) else np.hypot(found, 1.0)


def too_near(level: float) -> str:
    """Why a ratio is refused whose denominator may be 0."""
    return (
        f"The denominator is within its own noise of 0 at {level:.0%}, so the ratio could be anything; "
        "choose a larger group to divide by."
    )
