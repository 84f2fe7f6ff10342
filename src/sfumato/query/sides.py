"""Sides: shares, ratios and differences of numbers whose intervals are longer to one side, made of both intervals.

Noise in proportion errs further up than down, and further out than a normal law, so that no multiple of a standard
error holds its level for every share of it. But each number has an interval that does, from p − l to p + u, and the
interval of a difference is made of them: (p − q) − √(l² + u'²) to (p − q) + √(u² + l'²), l' and u' being those of q
(Zou and Donner 2008, 'Construction of confidence limits about effect measures', Statistics in Medicine 27). A ratio R
of p to q is in its interval just when p − R q is within that of 0 (Donner and Zou 2012, 'Closed-form confidence
intervals for functions of the normal mean and standard deviation', Statistical Methods in Medical Research 21).
A share is taken as that of p within p + q, q being the rest, as both have noise of their own; where nothing is below 0
it ends in 0 and 1, so that no whole is too near to 0.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.query.estimate import Estimate
from sfumato.release import stated
from sfumato.release.error_law import ErrorLaw, Floats, NoisyTotals
from sfumato.release.tails import z_score

HALVINGS = 40
"""How often an interval that holds a level is halved."""


@dataclass(frozen=True, eq=False)
class NoisySide:
    """Totals whose noise is in ratios and differences, and the law of their errors."""

    totals: NoisyTotals
    law: ErrorLaw

    @classmethod
    def of(cls, estimate: Estimate) -> "NoisySide":
        """The noise of one number."""
        told = estimate.value, stated(estimate.noise_variance), 0.0, estimate.cells
        return cls(
            NoisyTotals(*(np.array([math.nan if one is None else one], dtype=float) for one in told)), estimate.law
        )

    def besides(self, variances: Floats) -> "NoisySide":
        """What wholes have besides these parts, which has such variances and the law of differences of them."""
        none = np.zeros(len(variances))
        return NoisySide(NoisyTotals(none, np.maximum(variances, 0.0), none, self.totals.cells), self.law.differenced)

    def without(self, part: "NoisySide") -> "NoisySide":
        """What is left of wholes without a part, by the law of the cells that are not in it."""
        one, other = self.totals, part.totals
        left = one.values - other.values, np.maximum(one.noise - other.noise, 0.0), one.sampling
        return NoisySide(NoisyTotals(*left, np.maximum(one.cells - other.cells, 0.0)), self.law.without(part.law))

    def errors(self, level: float) -> Floats:
        """How many standard errors the margin of each total is; 0 where it has no noise."""
        error = np.sqrt(np.maximum(self.totals.noise, 0.0))
        margin = self.law.noise.either_way(level, self.totals)
        return np.divide(margin, error, out=np.zeros(len(error)), where=error > 0)

    def reach(self, level: float) -> tuple[Floats, Floats]:
        """How far below and above each total the true one lies."""
        return self.law.reach(level, self.totals)

    def times(self, unit: float) -> "NoisySide":
        """The same in another unit."""
        one = self.totals
        scaled = one.values * unit, one.noise * unit**2, one.sampling * unit**2, one.cells
        return NoisySide(NoisyTotals(*scaled), self.law.times(unit))

    def only(self, some: Any) -> "NoisySide":
        """That of some of the totals."""
        kept = (one[some] for one in (self.totals.values, self.totals.noise, self.totals.sampling, self.totals.cells))
        return NoisySide(NoisyTotals(*kept), self.law.only(some))


def by_sides(*sides: NoisySide) -> bool:
    """Whether what is made of totals is made of both sides of their intervals."""
    return all(one.law.by_sides for one in sides)


def sides_of(
    part: NoisySide, whole: NoisySide, variances: Floats, *, apart: bool, inside: bool
) -> tuple[NoisySide, ...]:
    """The noise of a numerator and that of its denominator: what that has besides, with these variances, or its own."""
    if by_sides(part, whole):
        return part, whole.without(part) if inside else whole
    return part, whole if apart else part.besides(variances)


def sided_ends(
    level: float, over: NoisySide, other: NoisySide, covariance: Floats, *, inside: bool
) -> tuple[Floats, Floats]:
    """Where the true ratio lies of a part and the rest of its whole, or of two totals; NaN where it may be anything."""
    if inside:
        return share_ends(level, over, other)
    return ratio_ends(level, over, other, correlation_of(over, other, covariance))


def share_ends(level: float, part: NoisySide, rest: NoisySide) -> tuple[Floats, Floats]:
    """Where the true share of a part lies, beside the rest of its whole; a whole of 0 or less has none."""
    (below, above), (under, over) = part.reach(level), rest.reach(level)
    one, other = part.totals.values, rest.totals.values
    share = one / np.where(one + other > 0, one + other, np.nan)
    low, high = _least_share(one, other, below, over), 1 - _least_share(other, one, under, above)
    return np.minimum(low, share), np.maximum(high, share)


def _least_share(part: Floats, rest: Floats, below: Floats, above: Floats) -> Floats:
    """The least R for which (1 − R) part − R rest is no more than √((1 − R)² below² + R² above²): 0, or a root."""
    square = (part - below) * (part + below)
    root = np.sqrt(below**2 * rest**2 + above**2 * np.maximum(square, 0.0))
    bottom = part * (part + rest) - below**2 + root
    return np.divide(square, bottom, out=np.zeros_like(part), where=part > below)


def ratio_ends(level: float, over: NoisySide, under: NoisySide, correlation: Floats) -> tuple[Floats, Floats]:
    """Where the true ratio of two totals lies, none of which is below 0; NaN where the lower one may be 0."""
    (below, above), (beneath, beyond) = over.reach(level), under.reach(level)
    one, other = over.totals.values, under.totals.values
    low, high = _root(one, other, below, beyond, correlation, -1), _root(one, other, above, beneath, correlation, 1)
    known = other > beneath
    low = np.where(one > below, low, np.minimum(one / np.where(known, other, np.nan), 0.0))
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _root(one: Floats, other: Floats, near: Floats, far: Floats, correlation: Floats, side: int) -> Floats:
    """The ratio at which one − R other is as far from 0 as its side reaches."""
    a, c = (other - far) * (other + far), (one - near) * (one + near)
    b = one * other - correlation * near * far
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((b + root) / a if side > 0 else c / (b + root), dtype=np.float64)


class MadeOfSides(ErrorLaw):
    """An error that is made of both sides of the intervals of totals."""

    def beyond(self, totals: NoisyTotals) -> Floats:
        """By halving: one less the largest level whose interval leaves out 0."""
        least, most = np.zeros(len(totals.values)), np.ones(len(totals.values))
        for place, value in enumerate(totals.values):
            law, own = self.only([place]), NoisySide(totals, self).only([place]).totals
            for _ in range(HALVINGS):
                level = (least[place] + most[place]) / 2
                below, above = (float(side[0]) for side in law.reach(level, own))
                out = value - below > 0 or value + above < 0
                least[place], most[place] = (level, most[place]) if out else (least[place], level)
        return 1 - least

    @property
    def lopsided(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class RatioError(MadeOfSides):
    """The error of ratios, by the sides of both of their totals; NaN where a denominator may be 0."""

    over: NoisySide
    other: NoisySide
    covariance: Floats
    inside: bool = False

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        low, high = sided_ends(level, self.over, self.other, self.covariance, inside=self.inside)
        return totals.values - low, high - totals.values

    @property
    def by_sides(self) -> bool:
        return True

    def times(self, unit: float) -> "RatioError":
        return replace(self, over=self.over.times(unit), covariance=self.covariance * unit)

    def only(self, some: Any) -> "RatioError":
        return RatioError(self.over.only(some), self.other.only(some), self.covariance[some], self.inside)


@dataclass(frozen=True, eq=False)
class ApartError(MadeOfSides):
    """The error of one total minus another, by the sides of both and their correlation."""

    one: NoisySide
    other: NoisySide
    correlation: Floats

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        (below, above), (under, over) = self.one.reach(level), self.other.reach(level)
        sampled = z_score(level) * np.sqrt(totals.sampled)
        return np.hypot(self._joined(below, over), sampled), np.hypot(self._joined(above, under), sampled)

    def _joined(self, first: Floats, second: Floats) -> Floats:
        """How far two errors reach together."""
        return np.sqrt(np.maximum(first**2 + second**2 - 2 * self.correlation * first * second, 0.0))

    def times(self, unit: float) -> "ApartError":
        return ApartError(self.one.times(unit), self.other.times(unit), self.correlation)

    def only(self, some: Any) -> "ApartError":
        return ApartError(self.one.only(some), self.other.only(some), self.correlation[some])


def apart(one: NoisySide, other: NoisySide, covariance: Floats) -> ErrorLaw:
    """The law of the difference of two totals with this covariance: by their sides, where both have some of their own.

    Else the law of differences of either, whichever reaches further.
    """
    if not by_sides(one, other):
        return one.law.differenced.plus(other.law.differenced)
    return ApartError(one, other, correlation_of(one, other, covariance))


def correlation_of(one: NoisySide, other: NoisySide, covariance: Floats) -> Floats:
    """That of two totals by their variances; 0 where one of them has none."""
    error = np.sqrt(np.maximum(one.totals.noise, 0.0) * np.maximum(other.totals.noise, 0.0))
    found = np.divide(covariance, error, out=np.zeros_like(error), where=error > 0)
    return np.asarray(np.clip(found, -1.0, 1.0), dtype=np.float64)
