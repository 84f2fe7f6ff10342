"""The truncated geometric law: a two-sided geometric that stops at a cap."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws import bounds
from sfumato.draws.laws import Law, require


@dataclass(frozen=True)
class TruncatedGeometric(Law):
    """P(k) proportional to e^(-rate |k|) for |k| <= cap, and nothing beyond.

    >>> law = TruncatedGeometric(Fraction(2), 7)
    >>> [f"{float(law.pmf(k)):.7g}" for k in (0, 1, 7)]      # Li and Krenzke, table 2: 0.76159, 0.10307, 0.0000006
    ['0.7615943', '0.1030706', '6.332875e-07']
    """

    rate: Fraction
    cap: int

    def __post_init__(self) -> None:
        require(self, "rate", Fraction(1, 2**45), Fraction(2**45))
        if not 1 <= self.cap <= 2**16:
            raise ValueError(f"A truncated law needs a cap from 1 to 65,536; got {self.cap}.")

    @property
    def scale(self) -> float:
        return float(min(1 / self.rate, Fraction(self.cap)))

    @property
    def variance(self) -> float:
        return self._moment(2)

    @property
    def fourth_moment(self) -> float:
        return self._moment(4)

    def _moment(self, power: int) -> float:
        k = np.arange(1.0, self.cap + 1)
        return float(2 * np.sum(k**power * self.pmf(k)))

    def pmf(self, k: ArrayLike) -> NDArray[np.float64]:
        rate, size = float(self.rate), np.abs(np.asarray(k, dtype=float))
        return np.where(size <= self.cap, -np.expm1(-rate) * np.exp(-rate * size) / self._whole(), 0.0)

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """2 a^m (1 - a^(cap + 1 - m)) / (1 + a - 2 a^(cap + 1)) for 1 <= m <= cap."""
        rate, size = float(self.rate), np.asarray(m, dtype=float)
        rest = np.clip(self.cap + 1 - size, 0, self.cap)
        tail = 2 * np.exp(-rate * np.maximum(size, 0)) * -np.expm1(-rate * rest) / self._whole()
        return np.where(size > 0, tail, 1.0)

    def _whole(self) -> float:
        """1 + a - 2 a^(cap + 1), the sum of all e^(-rate |k|) times 1 - a, in two positive parts."""
        rate = float(self.rate)
        return -expm1(-rate * (self.cap + 1)) - exp(-rate) * expm1(-rate * self.cap)

    def exact_survival(self, m: int, bits: int) -> bounds.Bounds:
        if m > self.cap:
            return 0, 0
        # The whole is at least 1 - a, more than half of min(rate, 1), and what stands over it is off by few units.
        work = bits + 8 + int(1 / self.rate).bit_length()
        powers = {j: bounds.exponential_minus(j * self.rate, work) for j in (1, m, self.cap + 1)}
        (low, high), (last_low, last_high), (a_low, a_high) = powers[m], powers[self.cap + 1], powers[1]
        one = 1 << work
        least, most = one + a_low - 2 * last_high, one + a_high - 2 * last_low
        return max(0, 2 * (low - last_high) << bits) // most, bounds.ceiling(2 * (high - last_low) << bits, least)
