"""The staircase mechanism: noise that falls in steps as wide as the farthest move of a cell, a pure epsilon.

Claim. Cells of which at most n move, none by more than d steps, lose epsilon.
Law. P(k) in proportion to b^j for j d <= |k| < j d + r and to b^(j + 1) from there to (j + 1) d, b = exp(-epsilon / n).
Proof. Moving one cell by d or less changes |k| by d or less, so it goes one stair up or down at most: the ratio of the
probabilities of what is published of it is at most 1 / b, and that of n cells at most e^epsilon (Geng and Viswanath
2014, here for integers).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1
from typing import ClassVar

import numpy as np

from sfumato.draws import Law, bounds
from sfumato.mechanisms.additive import Additive
from sfumato.privacy import Approximate, bounded, positive


@dataclass(frozen=True)
class StaircaseLaw(Law):
    """Stairs of width d, the first r integers of each higher than the rest, each stair e^-rate times the one before."""

    rate: Fraction
    d: int
    r: int

    @property
    def scale(self):
        return float(self.d / min(self.rate, 1))

    @property
    def variance(self):
        return self._moment(2)

    @property
    def fourth_moment(self):
        return self._moment(4)

    def _moment(self, power):
        k = np.arange(1, int(80 * self.scale) + 2 * self.d, dtype=float)
        return float(2 * np.sum(k**power * self.pmf(k)))

    def _stair(self):
        """The weight of one stair over that of its first integer."""
        return self.r + (self.d - self.r) * exp(-self.rate)

    def pmf(self, k):
        size = np.abs(np.asarray(k, dtype=float))
        stairs = np.floor(size / self.d) + (size % self.d >= self.r)
        return -expm1(-self.rate) / (2 * self._stair() + expm1(-self.rate)) * np.exp(-float(self.rate) * stairs)

    def survival(self, m):
        size = np.maximum(np.asarray(m, dtype=float), 1)
        stair, into = np.floor(size / self.d), size % self.d
        rest = np.maximum(self.r - into, 0) + (self.d - np.maximum(into, self.r)) * exp(-self.rate)
        after = self._stair() * exp(-self.rate)
        weight = 2 * np.exp(-float(self.rate) * stair) * (rest * -expm1(-self.rate) + after)
        return np.where(np.asarray(m) > 0, weight / (2 * self._stair() + expm1(-self.rate)), 1.0)

    def exact_survival(self, m, bits):
        work = bits + 32 + int(1 / self.rate).bit_length() + 2 * self.d.bit_length()
        stair, into = divmod(m, self.d)
        whole, over = 1 << work, max(self.r - into, 0)
        ends = zip(*(bounds.exponential_minus(one * self.rate, work) for one in (1, stair)), strict=True)
        (low, power_low), (high, power_high) = ends
        below, ratio_low, ratio_high = self.d - max(into, self.r), Fraction(low, whole), Fraction(high, whole)

        def over_whole(b, far_b):
            """Its numerator with b and its denominator with far_b, both rising in it."""
            weight = over * (1 - far_b) + below * b * (1 - far_b) + (self.r + (self.d - self.r) * b) * b
            return 2 * weight, 2 * (self.r + (self.d - self.r) * b) - 1 + b

        least, most = over_whole(ratio_low, ratio_high), over_whole(ratio_high, ratio_low)
        shift = Fraction(1 << bits, whole)
        return int(least[0] / most[1] * power_low * shift), -int(-(most[0] / least[1] * power_high * shift) // 1)


@dataclass(frozen=True)
class Staircase(Additive):
    """Staircase noise that costs epsilon."""

    name: ClassVar[str] = "staircase"
    source: ClassVar[str] = "Geng and Viswanath 2014"
    epsilon: Fraction

    def __init__(self, epsilon):
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def loss(self, move):
        bounded(move, self.name)
        return Approximate(self.epsilon)

    def law(self, move):
        move = bounded(move, self.name)
        moved = min(move.cells, move.l1)
        return StaircaseLaw(self.epsilon / moved, move.largest, -(-move.largest // 2))


EXAMPLE = Staircase(1)
