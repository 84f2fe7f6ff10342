"""The law of Laplace rounded to integers: whatever noise of Laplace's own law satisfies, it does."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws import bounds
from sfumato.draws.laws import LARGEST_SCALE, Law, require


@dataclass(frozen=True)
class RoundedLaplace(Law):
    """A draw of density e^(-|x| / s) / 2s rounded to the nearest integer: |K| >= m where |x| >= m - 1/2.

    >>> law = RoundedLaplace(Fraction(2))
    >>> round(float(law.pmf(0)), 6), round(law.variance, 6)      # 1 - e^(-1/4); 2 s² + 1/12, nearly
    (0.221199, 8.08153)
    """

    width: Fraction

    def __post_init__(self) -> None:
        require(self, "width", Fraction(1, LARGEST_SCALE), Fraction(LARGEST_SCALE))

    @property
    def scale(self) -> float:
        return float(self.width)

    @property
    def variance(self) -> float:
        """The sum of (2m - 1) a^(m - 1/2): √a (1 + a) / (1 - a)², a = e^(-1/s)."""
        a = exp(-1 / self.scale)
        return exp(-0.5 / self.scale) * (1 + a) / expm1(-1 / self.scale) ** 2

    @property
    def fourth_moment(self) -> float:
        """The sum of (m^4 - (m - 1)^4) a^(m - 1/2): √a (1 + 11a + 11a² + a³) / (1 - a)^4."""
        a = exp(-1 / self.scale)
        return exp(-0.5 / self.scale) * (1 + 11 * a + 11 * a**2 + a**3) / expm1(-1 / self.scale) ** 4

    def pmf(self, k: ArrayLike) -> NDArray[np.float64]:
        size = np.abs(np.asarray(k, dtype=float))
        # e^(-(k - 1/2)/s) - e^(-(k + 1/2)/s), halved for the sign.
        beside = -expm1(-1 / self.scale) * np.exp(-(size - 0.5) / self.scale) / 2
        return np.where(size > 0, beside, -expm1(-0.5 / self.scale))

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        size = np.asarray(m, dtype=float)
        return np.where(size > 0, np.exp(-(np.maximum(size, 0.5) - 0.5) / self.scale), 1.0)

    def exact_survival(self, m: int, bits: int) -> bounds.Bounds:
        return bounds.exponential_minus((2 * m - 1) / (2 * self.width), bits)

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """1/2 - s log u, as u < e^(-(m - 1/2)/s) says m < 1/2 - s log u."""
        return np.asarray(0.5 - self.scale * np.log(u))
