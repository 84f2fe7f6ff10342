"""Divergence: what samples of two sides prove about the divergence of Kullback and Leibler, and so about a rho.

The proof is in `evidence`: Donsker and Varadhan's bound, by means that the empirical Bernstein inequality bounds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.bins import Floats, scores

HELD_WITHIN = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0)
"""Bounds that log-ratios are held within: a wider one tells more, and takes more samples."""


@dataclass(frozen=True, eq=False)
class Gauge:
    """A bounded number made of a sample that is large where it speaks for one side: the g of Donsker and Varadhan."""

    of: Callable[[Floats], Floats]
    low: float
    high: float
    fitted: int
    """How many numbers of it were fitted to samples."""

    def divergence(self, one: Floats, other: Floats, confirm: int, alpha: float) -> float:
        """The divergence that it shows, at least, if so many samples have the means and variances of these."""
        gain = -_mean_at_most(-self.of(one), self.high - self.low, confirm, alpha / 2)
        odds = np.exp(self.of(other))
        return gain - math.log(_mean_at_most(odds, math.exp(self.high) - math.exp(self.low), confirm, alpha / 2))


def by_divergence(one: Floats, other: Floats, rest: Floats, other_rest: Floats, alpha: float) -> float:
    """Kullback and Leibler's divergence, by the gauge that promises most on the first samples."""
    gauges = [_binned(one, other), *_linear(one, other)]
    best = max(gauges, key=lambda gauge: gauge.divergence(one, other, len(rest), alpha) - gauge.fitted / len(one))
    return max(0.0, best.divergence(rest, other_rest, len(rest), alpha))


def _binned(one: Floats, other: Floats) -> Gauge:
    """The log-ratio of the bins of samples."""
    ends, ratios = scores(one, other)
    return Gauge(
        lambda values: np.asarray(ratios[np.searchsorted(ends, values, side="right")]),
        float(ratios.min()),
        float(ratios.max()),
        len(ratios),
    )


def _linear(one: Floats, other: Floats) -> list[Gauge]:
    """The log-ratio of two normal laws of one variance, held within several bounds."""
    means, variance = (float(one.mean()), float(other.mean())), float(one.var() + other.var()) / 2
    if variance == 0:
        return []
    slope, middle = (means[0] - means[1]) / variance, (means[0] + means[1]) / 2

    def within(most: float) -> Gauge:
        return Gauge(lambda values: np.clip(slope * (values - middle), -most, most), -most, most, 2)

    return [within(most) for most in HELD_WITHIN]


def _mean_at_most(found: Floats, width: float, count: int, alpha: float) -> float:
    """The empirical Bernstein bound on the mean of numbers within an interval, if so many are like these."""
    log = math.log(2 / alpha)
    spread = width * 7 * log / (3 * (count - 1))
    return float(found.mean()) + math.sqrt(2 * float(found.var(ddof=1)) * log / count) + spread
