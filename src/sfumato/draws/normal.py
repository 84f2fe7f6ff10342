"""The normal laws: the discrete one, and the normal rounded to integers."""

from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws import bounds
from sfumato.draws.laws import LARGEST_SCALE, Law, require

_SMOOTH = 4  # from this variance on, sums over integers equal integrals up to e^(-8 pi^2) < 1e-34 (Poisson summation)
_WIDE = 2**9  # from this scale on, two terms of a series in 1/variance say sums over integers to 2^-44
_WIDER = 2**13  # and one term says where a sum reaches u, to 2^-50 of the scale


@dataclass(frozen=True)
class DiscreteNormal(Law):
    """The law P(k) proportional to e^(-k^2 / 2 variance_parameter) (Canonne, Kamath, Steinke 2020).

    >>> law = DiscreteNormal(Fraction(1))
    >>> round(float(law.pmf(0)), 6), round(law.variance, 6)      # 1 / (1 + 2/e^.5 + 2/e^2 + ...) = 1 / 2.506628
    (0.398942, 1.0)
    """

    variance_parameter: Fraction

    def __post_init__(self) -> None:
        require(self, "variance_parameter", Fraction(1, LARGEST_SCALE**2), Fraction(LARGEST_SCALE**2))

    @property
    def scale(self) -> float:
        return sqrt(self.variance_parameter)

    @property
    def variance(self) -> float:
        """The variance parameter, less what small laws lose."""
        return float(self.variance_parameter) if self.variance_parameter >= _SMOOTH else _summed_moment(self, 2)

    @property
    def fourth_moment(self) -> float:
        """Three times the squared variance parameter, less what small laws lose."""
        v = float(self.variance_parameter)
        return 3 * v * v if self.variance_parameter >= _SMOOTH else _summed_moment(self, 4)

    def pmf(self, k: ArrayLike) -> NDArray[np.float64]:
        """e^(-k^2 / 2 variance_parameter) over its sum."""
        return self._bell(np.asarray(k, dtype=float)) / self._total()

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """Twice the sum of the probabilities from m on, for m >= 1."""
        size = np.asarray(m, dtype=float)
        if self.scale >= _WIDE:
            return np.where(size > 0, self._smooth_tail(np.maximum(size, 1) - 0.5), 1.0)
        tails = 2 * _sums_to_the_right(self._bell(np.arange(16 * self.scale + 2))) / self._total()
        place = np.clip(size, 0, len(tails) - 1).astype(np.int64)
        return np.where(place > 0, tails[place], 1.0)

    def _smooth_tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The normal's tails beyond x, and what the sum over integers from x + 1/2 on has less (`bounds.bell_tail`)."""
        from scipy.special import erfc

        z, v = x / self.scale, float(self.variance_parameter)
        less = z / 12 - 7 / 2880 * (z**3 - 3 * z) / v
        return np.asarray(erfc(z / sqrt(2)) - np.exp(-z * z / 2) / sqrt(2 * pi) * less / v)

    def exact_survival(self, m: int, bits: int) -> bounds.Bounds:
        """Bounds on 2^bits times the sum at |k| >= m over the whole sum."""
        return bounds.bell_tail(self.variance_parameter, m, bits)

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """1/2 - x + x / 24 variance_parameter, x = sigma times the normal quantile of u/2; None for narrower laws."""
        from scipy.special import ndtri

        if self.scale < _WIDER:
            return None
        x = -self.scale * ndtri(u / 2)
        return np.asarray(0.5 + x - x / (24 * float(self.variance_parameter)))

    def _bell(self, k: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.exp(-k * k / (2 * float(self.variance_parameter))))

    def _total(self) -> float:
        if self.variance_parameter >= _SMOOTH:
            return sqrt(2 * pi * self.variance_parameter)
        return 1 + 2 * float(np.sum(self._bell(np.arange(1.0, 65.0))))


@dataclass(frozen=True)
class RoundedNormal(Law):
    """An exact normal of variance sigma_squared rounded half up to an integer: the law wherever a mu is promised.

    >>> law = RoundedNormal(Fraction(9))
    >>> round(law.variance, 6), round(float(law.pmf(0)), 6)      # 9 + 1/12 and Phi(1/6) - Phi(-1/6)
    (9.083333, 0.132368)
    """

    sigma_squared: Fraction

    def __post_init__(self) -> None:
        require(self, "sigma_squared", Fraction(1, LARGEST_SCALE**2), Fraction(LARGEST_SCALE**2))

    @property
    def scale(self) -> float:
        return sqrt(self.sigma_squared)

    @property
    def variance(self) -> float:
        """sigma^2 + 1/12 (Sheppard), less what small laws lose."""
        return float(self.sigma_squared + Fraction(1, 12)) if self.sigma_squared >= _SMOOTH else _summed_moment(self, 2)

    @property
    def fourth_moment(self) -> float:
        """3 sigma^4 + sigma^2/2 + 1/80, the moment of the normal plus a uniform, less what small laws lose."""
        v = float(self.sigma_squared)
        return 3 * v * v + v / 2 + 1 / 80 if self.sigma_squared >= _SMOOTH else _summed_moment(self, 4)

    def pmf(self, k: ArrayLike) -> NDArray[np.float64]:
        """The normal's mass between k - 1/2 and k + 1/2."""
        size = np.abs(np.asarray(k, dtype=float))
        if self.sigma_squared < _SMOOTH:
            return np.where(size > 0, (self.survival(size) - self.survival(size + 1)) / 2, 1 - self.survival(1))
        # Wide laws would lose digits to the difference. Between k - 1/2 and k + 1/2 the density is that of k times
        # e^(-tk/v - t^2/2v); its mean is a series in 1/v whose next term is below 2^-46 wherever P(k) >= 2^-100.
        if self.scale >= _WIDE:
            s, a = 1 / float(self.sigma_squared), (size / self.scale) ** 2 / float(self.sigma_squared)
            more = (a - s) / 24 + (a * a - 6 * a * s + 3 * s * s) / 1920
            more += (a**3 - 15 * a * a * s + 45 * a * s * s - 15 * s**3) / 322560
            return np.asarray(np.exp(-a / (2 * s)) * (1 + more) / (self.scale * sqrt(2 * pi)))
        nodes, weights = np.polynomial.legendre.leggauss(16)
        z = (size[..., None] + nodes / 2) / self.scale
        return np.asarray(np.exp(-z * z / 2) @ (weights / 2) / (self.scale * sqrt(2 * pi)))

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """erfc((m - 1/2) / (sigma sqrt 2)) for m >= 1: the normal falls below 1/2 - m or at or above m - 1/2."""
        from scipy.special import erfc

        size = np.asarray(m, dtype=float)
        return np.where(size > 0, erfc((np.maximum(size, 0.5) - 0.5) / (self.scale * sqrt(2))), 1.0)

    def exact_survival(self, m: int, bits: int) -> bounds.Bounds:
        """Bounds on 2^bits erfc of the root of (2m - 1)^2 / (8 sigma^2)."""
        return bounds.erfc_of_root((2 * m - 1) ** 2 / (8 * self.sigma_squared), bits)

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """1/2 - sigma times the normal quantile of u/2."""
        from scipy.special import ndtri

        return np.asarray(0.5 - self.scale * ndtri(u / 2))


def _summed_moment(law: Law, power: int) -> float:
    """E |K|^power from the survival function, for laws with nothing to speak of past 64."""
    m = np.arange(1.0, 65.0)
    return float(np.sum((m**power - (m - 1) ** power) * law.survival(m)))


def _sums_to_the_right(terms: NDArray[np.float64], block: int = 1024) -> NDArray[np.float64]:
    """Sums of positive terms from each place on, in blocks: a sum of 2^21 terms is rounded 2^12 times, not 2^21.

    >>> _sums_to_the_right(np.array([4.0, 2.0, 1.0])).tolist()
    [7.0, 3.0, 1.0]
    """
    blocks = np.pad(terms, (0, -len(terms) % block)).reshape(-1, block)[::-1, ::-1]
    within = np.cumsum(blocks, axis=1)
    before = np.concatenate(([0.0], np.cumsum(within[:, -1])[:-1]))
    return (within + before[:, None]).ravel()[::-1][: len(terms)]
