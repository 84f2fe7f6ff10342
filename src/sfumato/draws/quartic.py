"""The quartic law: integer noise with P(k) proportional to 1 / (1 + (k/s)^4), drawn exactly at any rational scale.

Its tails fall as the fourth power, so that noise of one scale hides noise of another, and its logarithm goes nowhere
more than 3^(3/4) / s in a step. Summed over all integers 1 / (1 + (k/s)^4) is (pi s / √2) (sinh t + sin t)/(cosh t −
cos t), t = √2 pi s.

Draws. Of |k| = j the weight is f(j) = s^4 / (s^4 + j^4), a fraction. With L the least power of two that is s or more, j
is proposed in [0, L) with a chance of 1/2, and else in [2^(b-1) L, 2^b L) with b = 1, 2, … of chances 7/8, 7/64, …,
evenly in either. It is taken with 7/8 f(j) in the first, and 16^(b-1) f(j), which is below 1 as j >= 2^(b-1) s, in the
others: so every j is proposed and taken with 7 f(j) / 16 L. With a fair sign, and -0 drawn again, that is the law. A
uniform U is compared with these fractions as in `sampler`: in floats where they are surely apart, else in integers,
reading more of U until they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import cos, cosh, pi, sin, sinh, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws.bounds import Bounds, ceiling
from sfumato.draws.sampler import PREFIX_BITS, Uniform
from sfumato.draws.stream import Draws

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
LARGEST_POWER, LEAST_SCALE = 40, 2
"""Scales are at most 2^40, so that all but one proposal in 2^60 fits 64 bits; below 2 the sums are not those below."""
_TRIPLES = 20
"""How often three bits of one word may be 0 each."""
_BATCH = 1 << 16
_CLOSE = 2.0**-44
"""Floats are that close to the fractions that they stand for, of these: ten roundings, and room for a hundred."""
_SMOOTH, _SUMMED = 1_000, 12
"""The scale from which on sums are integrals to 1e-12, and up to how many scales they are added up below."""
LONGEST = 2**62
"""What is farther from 0 is held to it."""


@dataclass(frozen=True)
class Quartic:
    """The law at one scale, in floats.

    >>> law = Quartic(Fraction(10))
    >>> round(law.total / 10, 6), round(float(law.pmf(0)), 6)      # pi / √2 = 2.221441, and 1 over ten of it
    (2.221441, 0.045016)
    """

    scale: Fraction

    @property
    def total(self) -> float:
        """The sum of 1 / (1 + (k/s)^4) over all integers."""
        s, t = float(self.scale), sqrt(2) * pi * float(self.scale)
        ratio = (sinh(t) + sin(t)) / (cosh(t) - cos(t)) if t < 300 else 1.0
        return pi * s / sqrt(2) * ratio

    @property
    def variance(self) -> float:
        """The square of the scale, as the second moment of 1 / (1 + z^4) over its integral is 1; it has no fourth."""
        return float(self.scale) ** 2

    def pmf(self, k: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(1 / (1 + (np.asarray(k, dtype=float) / float(self.scale)) ** 4) / self.total)

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """P(|K| >= m) for m >= 1: summed up to where the integral from m − 1/2 on is as good, and that from there."""
        size, last = np.maximum(np.asarray(m, dtype=float), 1.0), int(_SUMMED * float(self.scale)) + 1
        if float(self.scale) >= _SMOOTH:
            return np.asarray(self._tail(size))
        sums = np.cumsum(2 * self.pmf(np.arange(1, last))[::-1])[::-1] + self._tail(np.array(float(last)))
        near = np.append(sums, self._tail(np.array(float(last))))[np.minimum(size, last).astype(np.int64) - 1]
        return np.where(size < last, near, self._tail(size))

    def _tail(self, size: Floats) -> Floats:
        """By the integral and its first correction."""
        s = float(self.scale)
        z = (size - 0.5) / s
        slope = 4 * z**3 / (1 + z**4) ** 2 / s
        return np.asarray(2 * (s * _beyond(z) - slope / 24) / self.total)


def _beyond(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """The integral of 1 / (1 + x^4) from z >= 0 on: with w = 1/z, w³/3 − w^7/7 + … where z is large."""
    w = 1 / np.maximum(z, 1e-9)
    root = sqrt(2)
    logs = np.log1p(2 * root * z / (z * z - root * z + 1)) / (4 * root)
    near = pi / (2 * root) - logs - (np.arctan(root * z + 1) + np.arctan(root * z - 1)) / (2 * root)
    far = w**3 * (1 / 3 - w**4 * (1 / 7 - w**4 * (1 / 11 - w**4 / 15)))
    return np.where(z > 30, far, near)


def draw_quartic(scales: Sequence[Fraction], which: NDArray[np.integer], draws: Draws) -> NDArray[np.int64]:
    """Independent draws, each of the scale that `which` names among some, exactly."""
    powers = np.array([_power(scale) for scale in scales], dtype=np.int64)
    floats = np.array([float(scale) for scale in scales])
    noise = np.empty(len(which), dtype=np.int64)
    for start in range(0, len(which), _BATCH):
        waiting = np.arange(start, min(start + _BATCH, len(which)))
        while len(waiting):
            chosen = which[waiting]
            words = draws.words(3 * len(chosen)).reshape(3, -1)
            blocks, sizes = _proposed(words, powers[chosen])
            taken, unsure = _taken(words[2], blocks, sizes / floats[chosen])
            for place in unsure:
                chance = _chance(scales[int(chosen[place])], int(blocks[place]), int(sizes[place]))
                uniform = Uniform(int(words[2][place] >> np.uint64(1)), PREFIX_BITS, draws)
                taken[place] = uniform.below(_bounds(chance))
            negative = (words[0] & np.uint64(1)).astype(bool)
            for place in np.flatnonzero(blocks < 0):  # once in 2^60
                taken[place], sizes[place] = _far(scales[int(chosen[place])], int(powers[chosen[place]]), draws)
            taken &= ~(negative & (sizes == 0))
            noise[waiting[taken]] = np.where(negative, -sizes, sizes)[taken]
            waiting = waiting[~taken]
    return noise


def _power(scale: Fraction) -> int:
    """The power of the least 2^e that is a scale or more."""
    if not LEAST_SCALE <= scale <= 2**LARGEST_POWER:
        raise ValueError(
            f"Quartic draws exactly for a scale from {LEAST_SCALE} to 2^{LARGEST_POWER}; got {float(scale):.4g}. Count "
            "in coarser steps where the noise is too wide, in finer ones where it is next to nothing."
        )
    return (ceiling(scale.numerator, scale.denominator) - 1).bit_length()


def _proposed(words: Words, powers: Integers) -> tuple[Integers, Integers]:
    """The block of each proposal, -1 where a word does not tell it, and the size proposed in it."""
    triples = (words[0] >> np.uint64(2)) & np.uint64((1 << 3 * _TRIPLES) - 1)
    lowest = (triples & (~triples + np.uint64(1))).astype(np.float64)  # a power of two, exact as a float
    zeros = np.log2(np.maximum(lowest, 1.0)).astype(np.int64) // 3
    blocks = np.where(words[0] & np.uint64(2), np.where(triples, zeros + 1, -1), 0)
    width = powers + np.maximum(blocks - 1, 0)
    offsets = (words[1] >> (64 - width).astype(np.uint64)).astype(np.int64)
    return blocks, np.where(blocks > 0, np.int64(1) << width, 0) + offsets


def _taken(words: Words, blocks: Integers, far: Floats) -> tuple[NDArray[np.bool_], Integers]:
    """Which proposals are taken, `far` being their sizes over their scales, and where floats do not say it surely."""
    uniform = ((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-PREFIX_BITS
    chance = np.where(blocks > 0, 16.0 ** np.maximum(blocks - 1, 0), 0.875) / (1 + far**4)
    unsure = (np.abs(uniform - chance) <= _CLOSE * chance + 2.0**-60) & (blocks >= 0)
    return uniform < chance, np.flatnonzero(unsure)


def _chance(scale: Fraction, block: int, size: int) -> Fraction:
    """The chance with which a size is taken."""
    above, below = scale.numerator**4, scale.denominator**4 * size**4
    return Fraction(above, above + below) * (Fraction(7, 8) if block == 0 else 16 ** (block - 1))


def _bounds(number: Fraction) -> Callable[[int], Bounds]:
    return lambda bits: (
        (number.numerator << bits) // number.denominator,
        ceiling(number.numerator << bits, number.denominator),
    )


def _far(scale: Fraction, power: int, draws: Draws) -> tuple[bool, int]:
    """A proposal in a block beyond those that one word tells, and whether it is taken."""
    block = _TRIPLES + 1
    while draws.bits(3) == 0:
        block += 1
    width = power + block - 1
    size = (1 << width) + draws.bits(width)
    return Uniform(draws.bits(PREFIX_BITS), PREFIX_BITS, draws).below(_bounds(_chance(scale, block, size))), min(
        size, LONGEST
    )
