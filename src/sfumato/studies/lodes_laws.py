"""The mechanisms for sizes of employers as their papers write them, and tight: expected errors and draws, by cell.

A cell has n jobs, x of them at its largest workplace. The noise of log-Laplace is on ln(n + 1/alpha); that of the
smooth methods is S Z times a number, with S = max(alpha x, 1). Each stands twice: with the constants of Haney et al.
2017 (algorithms 1, 2 and 3, delta 0.05), and with the least that its claim needs, without bias. Beside them is noise
that hides one worker alone.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp, log, log1p, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DELTA = 0.05
"""Of smooth Laplace in the figures, as in the paper; not a delta that a release may have."""
STEEPEST = 3**0.75
"""The steepest slope of ln(1 + z⁴): what a shift by one scale may lose."""


class SizeNoise(ABC):
    """Noise for counts of jobs that hides sizes within alpha at epsilon."""

    name: str
    shared: ClassVar[bool] = True
    """Whether the cells by traits of one workplace share epsilon."""

    def own(self, epsilon: float, kinds: int) -> float:
        """The epsilon of one of so many cells of a workplace, which have as much in all."""
        return epsilon / kinds if self.shared else epsilon

    @abstractmethod
    def least(self, alpha: float) -> float:
        """The epsilon up to which it is not defined, or has no mean."""

    @abstractmethod
    def expected(self, jobs: Floats, largest: Floats, alpha: float, epsilon: float) -> Floats:
        """The mean absolute error of every cell."""

    @abstractmethod
    def drawn(self, cells: tuple[Floats, Floats], alpha: float, epsilon: float, rng: np.random.Generator) -> Floats:
        """The noisy count of every cell of so many jobs and so large a largest workplace."""


@dataclass(frozen=True)
class LogLaplaceLaw(SizeNoise):
    """Laplace noise on the logarithm, of scale factor · ln(1 + alpha) / epsilon; times 1 − scale² where unbiased."""

    name: str
    factor: int
    unbiased: bool

    def least(self, alpha: float) -> float:
        return self.factor * log1p(alpha)

    def expected(self, jobs: Floats, largest: Floats, alpha: float, epsilon: float) -> Floats:  # noqa: ARG002
        """(n + 1/alpha) E|c e^η − 1|, which for c = 1 is (n + 1/alpha) λ / (1 − λ²).

        E|c e^η − 1| = 2 E(c e^η − 1)⁺ − E(c e^η − 1), and e^η exceeds 1/c with c^(1/λ) / 2.
        """
        scale = self.least(alpha) / epsilon
        c = self._shrunk(scale)
        mean = c ** (1 / scale) * scale / (1 - scale) - (c / (1 - scale**2) - 1)
        return np.asarray((jobs + 1 / alpha) * mean, dtype=np.float64)

    def _shrunk(self, scale: float) -> float:
        return 1 - scale**2 if self.unbiased else 1.0

    def drawn(self, cells: tuple[Floats, Floats], alpha: float, epsilon: float, rng: np.random.Generator) -> Floats:
        jobs, scale = cells[0], self.least(alpha) / epsilon
        noisy = (jobs + 1 / alpha) * np.exp(rng.laplace(0, scale, jobs.size))
        return np.asarray(self._shrunk(scale) * noisy - 1 / alpha, dtype=np.float64)


@dataclass(frozen=True)
class SmoothGammaLaw(SizeNoise):
    """S Z with Z of density (√2 / π) / (1 + z⁴), of mean size 1 / √2, times 16 / epsilon or the least that does."""

    name: str
    tight: bool

    def least(self, alpha: float) -> float:
        return (3 if self.tight else 4) * log1p(alpha)

    def _scale(self, largest: Floats, alpha: float, epsilon: float) -> Floats:
        times = STEEPEST / (epsilon - 3 * log1p(alpha)) if self.tight else 16 / epsilon
        return np.asarray(times * np.maximum(alpha * largest, 1.0))

    def expected(self, jobs: Floats, largest: Floats, alpha: float, epsilon: float) -> Floats:  # noqa: ARG002
        return np.asarray(self._scale(largest, alpha, epsilon) / sqrt(2))

    def drawn(self, cells: tuple[Floats, Floats], alpha: float, epsilon: float, rng: np.random.Generator) -> Floats:
        jobs, largest = cells
        return np.asarray(jobs + self._scale(largest, alpha, epsilon) * quartic(jobs.size, rng))


@dataclass(frozen=True)
class SmoothLaplaceLaw(SizeNoise):
    """S Z with Z Laplace, times 2 / epsilon, at delta 0.05."""

    name: str

    def least(self, alpha: float) -> float:
        return 2 * log(1 / DELTA) * log1p(alpha)

    def expected(self, jobs: Floats, largest: Floats, alpha: float, epsilon: float) -> Floats:  # noqa: ARG002
        return np.asarray(2 / epsilon * np.maximum(alpha * largest, 1.0))

    def drawn(self, cells: tuple[Floats, Floats], alpha: float, epsilon: float, rng: np.random.Generator) -> Floats:
        jobs, largest = cells
        return np.asarray(jobs + self.expected(jobs, largest, alpha, epsilon) * rng.laplace(0, 1, jobs.size))


@dataclass(frozen=True)
class OneWorkerLaw(SizeNoise):
    """Two-sided geometric noise for one worker with one job; the size of an employer is not hidden."""

    shared: ClassVar[bool] = False
    name: str

    def least(self, alpha: float) -> float:  # noqa: ARG002
        return 0.0

    def expected(self, jobs: Floats, largest: Floats, alpha: float, epsilon: float) -> Floats:  # noqa: ARG002
        a = exp(-epsilon)
        return np.full(jobs.shape, 2 * a / (1 - a**2))

    def drawn(self, cells: tuple[Floats, Floats], alpha: float, epsilon: float, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        chance = 1 - exp(-epsilon)
        one, other = rng.geometric(chance, (2, cells[0].size))
        return np.asarray(cells[0] + one - other, dtype=np.float64)


def quartic(count: int, rng: np.random.Generator) -> Floats:
    """Draws with density in proportion to 1 / (1 + z⁴): Cauchy ones, kept with a chance in proportion to the ratio."""
    kept = np.empty(0)
    while kept.size < count:
        z = rng.standard_cauchy(2 * (count - kept.size) + 10)
        kept = np.concatenate([kept, z[rng.random(z.size) * (1 + sqrt(2)) / 2 < (1 + z**2) / (1 + z**4)]])
    return kept[:count]


PAPER = (
    LogLaplaceLaw("log-Laplace, paper", 2, unbiased=False),
    SmoothGammaLaw("smooth gamma, paper", tight=False),
    SmoothLaplaceLaw("smooth Laplace, delta 0.05"),
)
TIGHT = (
    LogLaplaceLaw("log-Laplace, tight", 1, unbiased=True),
    SmoothGammaLaw("smooth gamma, tight", tight=True),
)
ONE_WORKER = OneWorkerLaw("one worker alone")
LAWS: tuple[SizeNoise, ...] = (*PAPER, *TIGHT, ONE_WORKER)
