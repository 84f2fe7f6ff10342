"""The two-sided geometric law, and the digits in which wide ones are drawn.

Let a = e^-rate. K is G with probability 1/(1 + a) and -1 - G otherwise, where P(G = g) = (1 - a) a^g: that gives k >= 0
the probability (1 - a) a^k / (1 + a), and -k < 0 the probability a (1 - a) a^(k - 1) / (1 + a), which are the law's.
And a^g is the product of a^(2^i d) over the digits d of g, 2^i being what the digit counts: so the digits of G are
independent, each with P(d) proportional to a^(2^i d), and the last, which has no end, is geometric again. The sign goes
with it. Each digit is a law with few thresholds, drawn exactly from a table of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log1p, tanh

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws import exact
from sfumato.draws.laws import LARGEST_SCALE, Law, require
from sfumato.draws.stream import Draws
from sfumato.draws.tables import BATCH, MANY, loops, table_of

_WIDE = 512  # from this scale on, digits are faster than one table
_DIGIT_BITS = 12
_HIGHEST_SCALE_BITS = 8  # the highest part keeps a scale of 128 to 256


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

    def exact_survival(self, m: int, bits: int) -> exact.Bounds:
        work = bits + 16
        power_low, power_high = exact.exponential_minus(m * self.rate, work)
        a_low, a_high = exact.exponential_minus(self.rate, work)
        one = 1 << work
        return (2 * power_low << bits) // (one + a_high), exact.ceiling(2 * power_high << bits, one + a_low)

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        # u < 2 a^m / (1 + a) says m rate < -log u - log((1 + a)/2), and (1 + a)/2 = 1 + expm1(-rate)/2.
        return np.asarray((-log1p(expm1(-self.rate) / 2) - np.log(u)) / float(self.rate))

    def draw(self, n: int, draws: Draws) -> NDArray[np.int64]:
        return by_digits(self.rate, n, draws) if n >= MANY and self.scale >= _WIDE else super().draw(n, draws)


def by_digits(rate: Fraction, n: int, draws: Draws) -> NDArray[np.int64]:
    """Return n independent draws of the two-sided geometric law of a small rate, digit by digit."""
    low_bits = int(1 / rate).bit_length() - _HIGHEST_SCALE_BITS
    width = -(-low_bits // -(-low_bits // _DIGIT_BITS))
    digits = {place: Digit(rate * 2**place, min(width, low_bits - place)) for place in range(0, low_bits, width)}
    tables = {place: table_of(digit, two_sided=False) for place, digit in digits.items()}
    highest, noise = table_of(Highest(rate, low_bits), two_sided=False), np.empty(n, dtype=np.int64)
    low, digit = np.empty((2, min(n, BATCH)), dtype=np.int64)
    for start in range(0, n, BATCH):
        batch = noise[start : start + BATCH]
        low, digit = low[: len(batch)], digit[: len(batch)]
        highest.fill(batch, draws)
        tables[0].fill(low, draws)
        for place in range(width, low_bits, width):
            tables[place].fill(digit, draws)
            low |= np.left_shift(digit, place, out=digit)
        loops().join(batch, low, low_bits)
    return noise


@dataclass(frozen=True)
class Digit:
    """P(d) proportional to e^(-rate d) for d = 0, ..., 2^bits - 1."""

    rate: Fraction
    bits: int

    @property
    def scale(self) -> float:
        return float(2**self.bits)

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """(a^m - a^(2^bits)) / (1 - a^(2^bits))."""
        rate, digit = float(self.rate), np.clip(np.asarray(m, dtype=float), 0, 2**self.bits)
        return np.asarray(np.exp(-rate * digit) * np.expm1(rate * (digit - 2**self.bits)) / expm1(-rate * 2**self.bits))

    def exact_survival(self, m: int, bits: int) -> exact.Bounds:
        if m >= 2**self.bits:
            return 0, 0
        work = bits + 16 + (1 / self.rate).__ceil__().bit_length()  # 1 - a^(2^bits) may be as small as the rate
        low, high = exact.exponential_minus(m * self.rate, work)
        last_low, last_high = exact.exponential_minus(2**self.bits * self.rate, work)
        one = 1 << work
        return max(0, low - last_high << bits) // (one - last_low), exact.ceiling(
            high - last_low << bits, one - last_high
        )

    def inverse_survival(self, u: NDArray[np.float64]) -> None:  # noqa: ARG002
        return None


@dataclass(frozen=True)
class Highest:
    """Twice the highest part H of G, what is left without its `low_bits` lowest bits, plus one if K is negative.

    With b = a^(2^low_bits), P(H >= h) = b^h, and the sign is independent of it: P(2H + sign >= 2h + 1) is
    b^h - (1 - b) b^h / (1 + a) = b^h (a + b) / (1 + a).
    """

    rate: Fraction
    low_bits: int

    @property
    def scale(self) -> float:
        return float(2 / (self.rate * 2**self.low_bits))

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        half, odd = np.divmod(np.maximum(np.asarray(m), 0), 2)
        a, rate = exp(-self.rate), float(self.rate * 2**self.low_bits)
        return np.asarray(np.exp(-rate * half) * np.where(odd == 1, (a + exp(-rate)) / (1 + a), 1.0))

    def exact_survival(self, m: int, bits: int) -> exact.Bounds:
        half, odd = divmod(m, 2)
        work, step = bits + 16, self.rate * 2**self.low_bits
        low, high = exact.exponential_minus(half * step, work)
        if odd:
            (a_low, a_high), (b_low, b_high) = (exact.exponential_minus(one, work) for one in (self.rate, step))
            low = low * (a_low + b_low) // ((1 << work) + a_low)
            high = exact.ceiling(high * (a_high + b_high), (1 << work) + a_high)
        return low >> 16, exact.ceiling(high, 1 << 16)

    def inverse_survival(self, u: NDArray[np.float64]) -> None:  # noqa: ARG002
        return None
