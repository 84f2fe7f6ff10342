"""The two-sided geometric law, also known as the discrete Laplace law."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log1p, tanh

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws import bounds
from sfumato.draws.laws import LARGEST_SCALE, Law, require


@dataclass(frozen=True)
class TwoSidedGeometric(Law):
    """The discrete Laplace law P(k) = (1 - a)/(1 + a) a^|k|, a = e^-rate (Ghosh, Roughgarden, Sundararajan 2009).

    >>> law = TwoSidedGeometric(Fraction(1))
    >>> round(law.variance, 6), round(float(law.pmf(0)), 6)      # 2a/(1 - a)^2 and (1 - a)/(1 + a), a = 0.367879
    (1.841347, 0.462117)
    """

    rate: Fraction

    def __post_init__(self) -> None:
        require(self, "rate", Fraction(1, LARGEST_SCALE), Fraction(LARGEST_SCALE))

    @property
    def scale(self) -> float:
        return float(1 / self.rate)

    @property
    def variance(self) -> float:
        """2a / (1 - a)^2."""
        return 2 * exp(-self.rate) / expm1(-self.rate) ** 2

    @property
    def fourth_moment(self) -> float:
        """2a (1 + 10a + a^2) / (1 - a)^4."""
        a = exp(-self.rate)
        return 2 * a * (1 + 10 * a + a * a) / expm1(-self.rate) ** 4

    def pmf(self, k: ArrayLike) -> NDArray[np.float64]:
        """tanh(rate/2) e^(-rate |k|)."""
        rate = float(self.rate)
        return np.asarray(tanh(rate / 2) * np.exp(-rate * np.abs(np.asarray(k, dtype=float))))

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """2 a^m / (1 + a) for m >= 1."""
        rate, size = float(self.rate), np.asarray(m, dtype=float)
        return np.where(size > 0, 2 / (1 + exp(-rate)) * np.exp(-rate * np.maximum(size, 0)), 1.0)

    def exact_survival(self, m: int, bits: int) -> bounds.Bounds:
        work = bits + 16
        power_low, power_high = bounds.exponential_minus(m * self.rate, work)
        a_low, a_high = bounds.exponential_minus(self.rate, work)
        one = 1 << work
        return (2 * power_low << bits) // (one + a_high), bounds.ceiling(2 * power_high << bits, one + a_low)

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        # u < 2 a^m / (1 + a) says m rate < -log u - log((1 + a)/2), and (1 + a)/2 = 1 + expm1(-rate)/2.
        return np.asarray((-log1p(expm1(-self.rate) / 2) - np.log(u)) / float(self.rate))
