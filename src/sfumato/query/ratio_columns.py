"""Columns of ratios: shares, means and changes in percent as arrays, with the margins of `Ratio`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.query.columns import Columns, Floats
from sfumato.query.ratio import BELOW, ZERO, errors_within, too_near
from sfumato.query.ratio_law import RatioTerms, near_zero
from sfumato.query.reaching import RatioExcess, noisy_level, ratio_excess
from sfumato.query.sides import NoisySide, RatioError, by_sides, sided_ends, sides_of
from sfumato.release import NoNumber, Statuses
from sfumato.release.error_law import NoisyTotals
from sfumato.release.tails import z_score

SURE = 0.95
"""The level at which a denominator must lie apart from 0."""


@dataclass(frozen=True, eq=False)
class RatioColumns(Columns):
    """Ratios as arrays, with the margins of `Ratio`; NaN where a ratio is refused or its error withheld."""

    parts: Columns = None  # type: ignore[assignment]
    under: Floats = None  # type: ignore[assignment]
    under_variance: Floats = None  # type: ignore[assignment]
    covariance: Floats = None  # type: ignore[assignment]
    rest: NoisySide = None  # type: ignore[assignment]
    inside: bool = False
    bounded: bool = False

    @classmethod
    def of(
        cls,
        parts: Columns,
        wholes: Columns,
        covariance: Floats,
        sampled: Floats,
        *,
        apart: bool,
        inside: bool = False,
        nonnegative: bool = False,
    ) -> "RatioColumns":
        """Each part over its whole, with their covariance by noise and the sampling variance of the ratio.

        They are `apart` where they were measured each by itself, and one `inside` the other where it is part of it
        (`ratio_of`). Where all is `nonnegative` a whole below 0 has no ratio.
        """
        over, under = (one.estimate.astype(np.float64) for one in (parts, wholes))
        beside = parts.noise_variance + wholes.noise_variance - 2 * covariance
        sides = sides_of(noisy_side(parts), noisy_side(wholes), beside, apart=apart, inside=inside)
        below = (under < 0) & nonnegative
        statuses = _statuses(parts, wholes, _near_zero(wholes, *sides, inside=inside), below)
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
            caveats=parts.caveats.over(wholes.caveats),
            bought=ratio_excess(parts.bought, wholes.bought, inside=inside),
            parts=parts,
            under=under,
            under_variance=wholes.noise_variance,
            covariance=covariance,
            rest=sides[1],
            inside=inside,
            bounded=inside and nonnegative,
        )

    def with_reasons(self, says: Callable[[str], str]) -> "RatioColumns":
        """The same with what is said of ratios that are not there in the words of a reader's language."""
        return self if self.statuses is None else replace(self, statuses=self.statuses.said(says))

    @property
    def lopsided(self) -> bool:
        return True

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        """How far ends lie off where both totals are as much larger as what was cut of them may be."""
        if not isinstance(self.bought, RatioExcess):
            return super().allowance(risk)
        level = noisy_level(risk)
        (low, high), ends = self._noise_ends(level), [self._noise_ends(level, one) for one in self.bought.shifts(risk)]
        below, above = (np.zeros(len(self)) for _ in range(2))
        for least, most in ends:
            below, above = np.fmax(below, low - least), np.fmax(above, most - high)
        return below, above

    def noise_reach(self, level: float) -> tuple[Floats, Floats]:
        """Both sides of each interval; NaN where the whole is within its noise of 0 at this level."""
        sampled = z_score(level) * np.where(np.isnan(self.sampling_variance), 0.0, self.se_sampling)
        low, high = self._noise_ends(level)
        return np.hypot(self.estimate - low, sampled), np.hypot(high - self.estimate, sampled)

    def _noise_ends(self, level: float, shift: tuple[Any, Any] = (0.0, 0.0)) -> tuple[Floats, Floats]:
        """Both ends of each interval by noise; of totals that are larger by so much, where that is asked."""
        part = noisy_side(self.parts)
        if by_sides(part, self.rest):
            low, high = sided_ends(level, part, self.rest, self.covariance, inside=self.inside)
            return np.where(np.isnan(self.under), np.nan, low), np.where(np.isnan(self.under), np.nan, high)
        over, variances = self.parts.estimate.astype(np.float64), (self.parts.noise_variance, self.under_variance)
        terms = RatioTerms(over + shift[0], self.under + shift[1], *variances, self.covariance)
        return terms.ends(level, errors_of(level, part, self.rest), part, self.rest)

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """Where true ratios lie, no further than they can."""
        low, high = super().ends(level)
        inside = self.bounded & (low <= 1) & (high >= 0)
        return np.where(inside, np.maximum(low, 0.0), low), np.where(inside, np.minimum(high, 1.0), high)


def noisy_side(columns: Columns) -> NoisySide:
    """The noise of every cell."""
    told = columns.estimate, columns.noise_variance, np.zeros(len(columns)), columns.cells
    return NoisySide(NoisyTotals(*(one.astype(np.float64) for one in told)), columns.law)


def total_sides(columns: Columns) -> NoisySide:
    """The noise of every cell; of ratios by both sides of their intervals, or by the law of differences."""
    side = noisy_side(columns)
    if not isinstance(columns, RatioColumns):
        return side
    part = noisy_side(columns.parts)
    sided = RatioError(part, columns.rest, columns.covariance, columns.inside)
    return replace(side, law=sided if by_sides(part, columns.rest) else side.law.differenced)


def errors_of(level: float, *sides: NoisySide) -> Floats:
    """How many standard errors each ratio reaches; by the normal law where an error is withheld."""
    some = ~np.isnan(sum(one.totals.noise for one in sides))
    found = np.full(len(some), z_score(level))
    found[some] = errors_within(level, *(one.only(some) for one in sides))
    return found


def _near_zero(wholes: Columns, part: NoisySide, rest: NoisySide, *, inside: bool) -> NDArray[np.bool_]:
    """Which wholes are so near to 0 that a ratio could be anything; by sides a part of a whole above 0 is within it."""
    under = wholes.estimate.astype(np.float64)
    if not by_sides(part, rest):
        return near_zero(under, wholes.noise_variance, errors_of(SURE, part, rest))
    return np.asarray(under <= (0.0 if inside else rest.reach(SURE)[0]))


def _statuses(parts: Columns, wholes: Columns, near: NDArray[np.bool_], below: NDArray[np.bool_]) -> Statuses:
    """Why some cells have no ratio: the part or the whole is missing, or the whole may be 0, or is below it."""
    inner, outer = (one.statuses or Statuses((), np.zeros(len(one), dtype=int)) for one in (parts, wholes))
    before, of_whole, noise = len(inner.kinds), outer.which.ravel(), wholes.noise_variance
    under = wholes.estimate.astype(np.float64)
    zero = len(outer.kinds) + before + 1
    cases = [inner.which.ravel() > 0, of_whole > 0, np.isnan(noise) & (under == 0), near, below]
    found = np.select(cases, [inner.which.ravel(), before + of_whole, zero, zero + 1, zero + 2], 0)
    return Statuses((*inner.kinds, *outer.kinds, NoNumber(ZERO), NoNumber(too_near(SURE)), NoNumber(BELOW)), found)
