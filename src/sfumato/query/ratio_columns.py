"""Columns of ratios: shares, means and changes in percent as arrays, with the margins of Fieller."""

from dataclasses import dataclass

import numpy as np

from sfumato.query.columns import Columns, Floats
from sfumato.query.ratio import ZERO, NoisySide, errors_within, too_near
from sfumato.release import NoNumber, Statuses
from sfumato.release.error_law import NoisyTotals
from sfumato.release.tails import z_score

SURE = 0.95
"""The level at which a denominator must lie apart from 0."""


@dataclass(frozen=True, eq=False)
class RatioColumns(Columns):
    """Ratios as arrays, with the margins of Fieller; NaN where a ratio is refused or its error withheld."""

    parts: Columns = None  # type: ignore[assignment]
    under: Floats = None  # type: ignore[assignment]
    under_variance: Floats = None  # type: ignore[assignment]
    covariance: Floats = None  # type: ignore[assignment]
    rest: NoisySide = None  # type: ignore[assignment]
    bounded: bool = False

    @classmethod
    def of(
        cls, parts: Columns, wholes: Columns, covariance: Floats, sampled: Floats, *, apart: bool, bounded: bool = False
    ) -> "RatioColumns":
        """Each part over its whole, with their covariance by noise and the sampling variance of the ratio.

        They are `apart` where they were measured each by itself (`ratio_of`); `bounded` where no ratio is truly outside
        0 and 1.
        """
        over, under = (one.estimate.astype(np.float64) for one in (parts, wholes))
        beside = parts.noise_variance + wholes.noise_variance - 2 * covariance
        rest = noisy_side(wholes) if apart else noisy_side(parts).besides(beside)
        statuses = _statuses(parts, wholes, errors_of(SURE, noisy_side(parts), rest))
        under = np.where(statuses.missing, np.nan, under)
        ratio = over / under
        noise = parts.noise_variance - 2 * ratio * covariance + ratio * ratio * wholes.noise_variance
        return cls(
            ratio,
            np.maximum(noise / (under * under), 0.0),
            np.where(statuses.missing, np.nan, sampled),
            parts.cells,
            parts.grades,
            parts.law,
            statuses=statuses if statuses.missing.any() else None,
            parts=parts,
            under=under,
            under_variance=wholes.noise_variance,
            covariance=covariance,
            rest=rest,
            bounded=bounded,
        )

    @property
    def lopsided(self) -> bool:
        return True

    def reach(self, level: float) -> tuple[Floats, Floats]:
        """Both sides of each interval; NaN where the whole is within its noise of 0 at this level."""
        z_squared = errors_of(level, noisy_side(self.parts), self.rest) ** 2
        over = self.parts.estimate.astype(np.float64)
        a = self.under * self.under - z_squared * self.under_variance
        a = np.where(a > 0, a, np.nan)
        b = over * self.under - z_squared * self.covariance
        c = over * over - z_squared * self.parts.noise_variance
        reach = np.sqrt(np.maximum(b * b - a * c, 0.0))
        sampled = z_score(level) * np.where(np.isnan(self.sampling_variance), 0.0, self.se_sampling)
        below, above = self.estimate - (b - reach) / a, (b + reach) / a - self.estimate
        return np.hypot(below, sampled), np.hypot(above, sampled)

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """Where true ratios lie, no further than they can."""
        low, high = super().ends(level)
        inside = self.bounded & (low <= 1) & (high >= 0)
        return np.where(inside, np.maximum(low, 0.0), low), np.where(inside, np.minimum(high, 1.0), high)


def noisy_side(columns: Columns) -> NoisySide:
    """The noise of every cell."""
    told = columns.estimate, columns.noise_variance, np.zeros(len(columns)), columns.cells
    return NoisySide(NoisyTotals(*(one.astype(np.float64) for one in told)), columns.law)


def errors_of(level: float, *sides: NoisySide) -> Floats:
    """How many standard errors each ratio reaches; by the normal law where an error is withheld."""
    some = ~np.isnan(sum(one.totals.noise for one in sides))
    found = np.full(len(some), z_score(level))
    found[some] = errors_within(level, *(one.only(some) for one in sides))
    return found


def _statuses(parts: Columns, wholes: Columns, errors: Floats) -> Statuses:
    """Why some cells have no ratio: the part or the whole is missing, or the whole may be 0, so many errors away."""
    inner, outer = (one.statuses or Statuses((), np.zeros(len(one), dtype=int)) for one in (parts, wholes))
    before, of_whole, noise = len(inner.kinds), outer.which.ravel(), wholes.noise_variance
    under = wholes.estimate.astype(np.float64)
    zero, near = len(outer.kinds) + before + 1, len(outer.kinds) + before + 2
    cases = [inner.which.ravel() > 0, of_whole > 0, np.isnan(noise) & (under == 0), under**2 <= errors**2 * noise]
    found = np.select(cases, [inner.which.ravel(), before + of_whole, zero, near], 0)
    return Statuses((*inner.kinds, *outer.kinds, NoNumber(ZERO), NoNumber(too_near(SURE))), found)
