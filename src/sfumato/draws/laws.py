"""The integer noise laws: what their probabilities and moments are, and how to draw from them exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws import exact
from sfumato.draws.changed import Changed, changed
from sfumato.draws.stream import Draws
from sfumato.draws.tables import sample

LARGEST_SCALE = 2**45
_LARGEST_TABLED_SCALE = 2**17  # 7 standard deviations then fill a table of 2^20 thresholds
_SMOOTH = 4  # from this variance on, sums over integers equal integrals up to e^(-8 pi^2) < 1e-34 (Poisson summation)


class Law(ABC):
    """Noise K on the integers with P(K = k) = P(K = -k)."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """The scale parameter, in integers."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """E K^2, to float precision."""

    @property
    @abstractmethod
    def fourth_moment(self) -> float:
        """E K^4, to float precision."""

    @abstractmethod
    def pmf(self, k: ArrayLike) -> NDArray[np.float64]:
        """P(K = k), within one part in 2^40 wherever it is at least 2^-100."""

    @abstractmethod
    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """P(|K| >= m), within one part in 2^41 wherever it is at least 2^-100."""

    @abstractmethod
    def exact_survival(self, m: int, bits: int) -> exact.Bounds:
        """Integers (low, high), at most 2 apart, with low <= 2^bits P(|K| >= m) <= high, for m >= 1."""

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Reals x with u < P(|K| >= m) exactly when m < x, within 2^-50 (scale + x); None if there is no formula."""
        return None

    def draw(self, n: int, draws: Draws) -> NDArray[np.int64]:
        """Return n independent draws whose law is exactly this one (proof in `sampler`)."""
        return sample(self, n, draws)

    def changed(self, n: int, draws: Draws) -> Iterator[Changed]:
        """Yield, in order, where n independent draws are not zero and what they are; n never fills any memory.

        >>> from sfumato.draws import SeededDraws
        >>> [some] = DiscreteNormal(Fraction(1, 40)).changed(10**9, SeededDraws(1))      # 4e-9 of them are not zero
        >>> len(some.places) < 30 and set(some.values) <= {-1, 1}
        True
        """
        return changed(self, n, draws)


@dataclass(frozen=True)
class DiscreteNormal(Law):
    """The law P(k) proportional to e^(-k^2 / 2 variance_parameter) (Canonne, Kamath, Steinke 2020).

    >>> law = DiscreteNormal(Fraction(1))
    >>> round(float(law.pmf(0)), 6), round(law.variance, 6)      # 1 / (1 + 2/e^.5 + 2/e^2 + ...) = 1 / 2.506628
    (0.398942, 1.0)
    """

    variance_parameter: Fraction

    def __post_init__(self) -> None:
        require(self, "variance_parameter", Fraction(1, LARGEST_SCALE**2), Fraction(_LARGEST_TABLED_SCALE**2))

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
        tails = 2 * _sums_to_the_right(self._bell(np.arange(16 * self.scale + 2))) / self._total()
        size = np.clip(np.asarray(m, dtype=float), 0, len(tails) - 1).astype(np.int64)
        return np.where(size > 0, tails[size], 1.0)

    def exact_survival(self, m: int, bits: int) -> exact.Bounds:
        """Bounds on 2^bits times the sum at |k| >= m over the whole sum."""
        return exact.bell_tail(self.variance_parameter, m, bits)

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
        # Wide laws would lose digits to the difference, and are smooth enough for Gauss-Legendre quadrature.
        nodes, weights = np.polynomial.legendre.leggauss(16)
        z = (size[..., None] + nodes / 2) / self.scale
        return np.asarray(np.exp(-z * z / 2) @ (weights / 2) / (self.scale * sqrt(2 * pi)))

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """erfc((m - 1/2) / (sigma sqrt 2)) for m >= 1: the normal falls below 1/2 - m or at or above m - 1/2."""
        from scipy.special import erfc

        size = np.asarray(m, dtype=float)
        return np.where(size > 0, erfc((np.maximum(size, 0.5) - 0.5) / (self.scale * sqrt(2))), 1.0)

    def exact_survival(self, m: int, bits: int) -> exact.Bounds:
        """Bounds on 2^bits erfc of the root of (2m - 1)^2 / (8 sigma^2)."""
        return exact.erfc_of_root((2 * m - 1) ** 2 / (8 * self.sigma_squared), bits)

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """1/2 - sigma times the normal quantile of u/2."""
        from scipy.special import ndtri

        return np.asarray(0.5 - self.scale * ndtri(u / 2))


def require(law: Law, name: str, least: Fraction, most: Fraction) -> None:
    """Refuse a parameter that is not an exact number from `least` to `most`, and store it as a Fraction."""
    asked, who = getattr(law, name), type(law).__name__
    if not isinstance(asked, (int, Fraction)):
        raise TypeError(f"{who} needs an exact {name}; got {asked!r}. Write Fraction('{asked}').")
    if not least <= asked <= most:
        raise ValueError(
            f"{who} draws exactly for {name} from {float(least):.4g} to {float(most):.4g}; got {asked}. "
            "Count in coarser steps where the noise is too wide, in finer ones where it is next to nothing."
        )
    object.__setattr__(law, name, Fraction(asked))


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
