"""ErrorLaw: how far from a published total the true one may lie, at a level, by the law of the noise in it.

A margin holds at least its level where the law of the noise is computed: for a sum of draws of a known law on whole
steps it is the least number of steps that does. Where the normal law stands in, the margin is its quantile, and where
numbers move in whole steps the least number of steps whose half step beyond reaches that far.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.tails import reach, tail, z_score

Floats = NDArray[np.float64]
SMOOTH = 0.075
"""Excess kurtosis, either way, up to which the expansion of Cornish and Fisher is as good as an exact law."""
FEW_STEPS = 16
"""Half steps of an error up to which whole steps of draws show in what was moved."""
_UNSEEN = 1e-12
"""Of a step: rounding in a variance that is no draw."""


@dataclass(frozen=True, eq=False)
class NoisyTotals:
    """Published totals, the variances that noise and sampling gave them, and how many cells each sums, in its unit.

    A sampling variance is not a number where it is not stated; then margins are of the noise alone.
    """

    values: Floats
    noise: Floats
    sampling: Floats
    cells: Floats

    @property
    def sampled(self) -> Floats:
        return np.where(np.isnan(self.sampling), 0.0, self.sampling)

    @property
    def whole(self) -> Floats:
        return np.maximum(self.noise + self.sampled, 0.0)


class ErrorLaw(ABC):
    """The law of the error of totals of one product."""

    @abstractmethod
    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        """How far below and above each total the true one lies, at this level."""

    def either_way(self, level: float, totals: NoisyTotals) -> Floats:
        """How far the true total lies from each at this level, as one length for both sides: the longer of them."""
        return np.maximum(*self.reach(level, totals))

    @abstractmethod
    def beyond(self, totals: NoisyTotals) -> Floats:
        """How often an error alone is as large as each total."""

    @abstractmethod
    def times(self, unit: float) -> "ErrorLaw":
        """The same in another unit."""

    def only(self, some: Any) -> "ErrorLaw":  # noqa: ARG002 - the same for all, for most
        """That of some of the totals, as an index or a mask tells them."""
        return self

    @property
    def lopsided(self) -> bool:
        """Whether intervals may be longer to one side."""
        return False

    @property
    def by_ends(self) -> bool:
        """Whether rows are ranked by the ends of their intervals, as no variance tells how these lie to each other."""
        return False

    def plus(self, other: "ErrorLaw") -> "ErrorLaw":
        """That of sums of totals with errors of this law and of another: whichever reaches further."""
        return self if self == other else EitherError((self, other))

    @property
    def by_sides(self) -> bool:
        """Whether shares and differences of totals are made of both sides of their intervals."""
        return False

    def without(self, part: "ErrorLaw") -> "ErrorLaw":  # noqa: ARG002 - the same for all, for most
        """That of what is left of totals without a part of them."""
        return self.differenced

    @property
    def moved(self) -> "ErrorLaw":
        """That of totals moved to others."""
        return self

    @property
    def differenced(self) -> "ErrorLaw":
        """That of the difference of two totals."""
        return self

    @property
    def noise(self) -> "ErrorLaw":
        """That of the noise alone, where totals were moved besides."""
        return self


@dataclass(frozen=True)
class NormalError(ErrorLaw):
    """A normal error, or one of which the variance and the excess kurtosis of one draw are known.

    Numbers move in whole steps unless the step is 0. `excess` is that of one draw, of this variance; a total has that
    of as many draws as its own variance is of. Of totals that were moved, which are no whole steps and yet follow draws
    that are, `slack` is half a step of these, added to every margin as long as the error is a few of them.

    >>> NormalError().reach(0.90, NoisyTotals(*np.array([[10.0], [4.0], [0.0], [1.0]])))[0].tolist()
    [3.29]
    >>> NormalError(step=1.0).reach(0.90, NoisyTotals(*np.array([[10.0], [4.0], [0.0], [1.0]])))[0].tolist()
    [3.0]
    """

    step: float = 0.0
    excess: float = 0.0
    variance: float = 0.0
    slack: float = 0.0

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        margin = self._errors(level, totals) * np.sqrt(totals.whole)
        few = (totals.noise > _UNSEEN * self.slack**2) & (totals.noise < (FEW_STEPS * self.slack) ** 2)
        margin = np.where(few & (totals.sampled == 0), margin + self.slack, margin)
        if self.step:
            steps = np.ceil(np.round(margin / self.step - 0.5, 9)) * self.step
            margin = np.where((totals.sampled > 0) | (totals.noise <= _UNSEEN * self.step**2), margin, steps)
        return margin, margin

    def _errors(self, level: float, totals: NoisyTotals) -> Floats:
        """How many standard errors a margin is."""
        found, back = np.unique(self._kurtosis(totals), return_inverse=True)
        return np.array([reach(level, float(one)) for one in found])[back]

    def _kurtosis(self, totals: NoisyTotals) -> Floats:
        if not self.excess:
            return np.zeros(len(totals.values))
        draws = np.maximum(totals.noise / self.variance, 1.0)
        share = np.divide(totals.noise, totals.whole, out=np.zeros(len(draws)), where=totals.whole > 0)
        return np.asarray(np.round(self.excess / draws * share**2, 12), dtype=np.float64)

    def beyond(self, totals: NoisyTotals) -> Floats:
        error = np.sqrt(totals.whole)
        step = np.where(totals.sampled > 0, 0.0, self.step)
        far = np.maximum(np.abs(totals.values) - step / 2, 0.0)
        pairs = zip(far, error, self._kurtosis(totals), strict=True)
        return np.array([tail(one / of, excess) if of else float(one == 0) for one, of, excess in pairs])

    def times(self, unit: float) -> "NormalError":
        return replace(self, step=self.step * unit, variance=self.variance * unit**2, slack=self.slack * unit)


NORMAL = NormalError()
"""A normal error on numbers that move in no steps."""


@dataclass(frozen=True)
class SummedDraws(ErrorLaw):
    """Sums of independent draws of one law on whole steps, P(K = k) = P(K = −k) for k = 0, 1, …, as far as it matters.

    >>> coin = SummedDraws((0.5, 0.25), variance=0.5, excess=-1.0)
    >>> coin.reach(0.90, NoisyTotals(np.zeros(2), np.array([0.5, 1.0]), np.zeros(2), np.ones(2)))[0].tolist()
    [1.0, 2.0]
    """

    probabilities: tuple[float, ...]
    variance: float
    excess: float = 0.0
    step: float = 1.0

    @property
    def moved(self) -> ErrorLaw:
        return replace(self._smooth, step=0.0, slack=self.step / 2)

    @property
    def _smooth(self) -> NormalError:
        """The normal law that stands in where many draws are summed."""
        return NormalError(self.step, max(self.excess, 0.0), self.variance * self.step**2)

    def _draws(self, totals: NoisyTotals) -> NDArray[np.int64]:
        """How many draws each total sums; of one with other draws as well, as many as have no less variance."""
        return np.ceil(np.round(totals.noise / (self.variance * self.step**2), 6)).astype(np.int64)

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        margin, _ = self._smooth.reach(level, totals)
        draws, sampled = self._draws(totals), np.sqrt(totals.sampled)
        exact = np.flatnonzero((draws > 0) & (abs(self.excess) > SMOOTH * draws) & (sampled < self.step / 2))
        found, back = np.unique(draws[exact], return_inverse=True)
        steps = np.array([_within(self.probabilities, int(one), level) for one in found], dtype=np.float64)
        margin[exact] = steps[back] * self.step + z_score(level) * sampled[exact]
        return margin, margin

    def beyond(self, totals: NoisyTotals) -> Floats:
        found, draws = self._smooth.beyond(totals), self._draws(totals)
        exact = (draws > 0) & (abs(self.excess) > SMOOTH * draws) & (totals.sampled == 0)
        for place in np.flatnonzero(exact):
            chances = draws_within(self.probabilities, int(draws[place]))
            least = math.ceil(abs(totals.values[place]) / self.step - 1e-9)
            found[place] = 1 - chances[min(least, len(chances)) - 1] if least else 1.0
        return found

    def times(self, unit: float) -> "SummedDraws":
        return replace(self, step=self.step * unit)

    def plus(self, other: ErrorLaw) -> ErrorLaw:
        from sfumato.release.mixed_error import MixedError

        mixed = isinstance(other, SummedDraws) and other.step == self.step and other.variance != self.variance
        return MixedError((self, other)) if mixed else super().plus(other)


@lru_cache(maxsize=4096)
def draws_within(probabilities: tuple[float, ...], draws: int) -> Floats:
    """The chance that the sum of some draws is no larger, either way, than 0, 1, 2, … steps, up to nearly 1."""
    half = np.array(probabilities)
    variance = 2 * float(half @ np.arange(len(half)) ** 2)
    # Twelve errors and one whole draw: beyond lies less than what the law itself was cut off at.
    longest = min(draws * (len(half) - 1), len(half) + math.ceil(12 * math.sqrt(draws * variance)))
    length = 1 << (2 * longest + 1).bit_length()
    laid = np.zeros(length)
    laid[: len(half)] = half
    laid[length - len(half) + 1 :] += half[:0:-1]
    summed = np.fft.irfft(np.fft.rfft(laid).real ** draws, length)[: longest + 1]
    summed[1:] *= 2
    chances: Floats = np.minimum(np.cumsum(np.maximum(summed, 0.0)), 1.0)
    return chances


@lru_cache(maxsize=4096)
def _within(probabilities: tuple[float, ...], draws: int, level: float) -> int:
    """The least number of steps that hold the sum of some draws at a level."""
    return int(np.searchsorted(draws_within(probabilities, draws), level - 1e-12))


@dataclass(frozen=True)
class EitherError(ErrorLaw):
    """Sums of totals with errors of several laws: whichever reaches further."""

    laws: tuple[ErrorLaw, ...]

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        each = [law.reach(level, totals) for law in self.laws]
        below, above = (np.maximum.reduce(list(side)) for side in zip(*each, strict=True))
        return below, above

    def beyond(self, totals: NoisyTotals) -> Floats:
        return np.asarray(np.maximum.reduce([law.beyond(totals) for law in self.laws]), dtype=np.float64)

    @property
    def lopsided(self) -> bool:
        return any(law.lopsided for law in self.laws)

    def times(self, unit: float) -> "EitherError":
        return EitherError(tuple(law.times(unit) for law in self.laws))

    def only(self, some: Any) -> "EitherError":
        return EitherError(tuple(law.only(some) for law in self.laws))

    @property
    def differenced(self) -> ErrorLaw:
        first, *others = (law.differenced for law in self.laws)
        for law in others:
            first = first.plus(law)
        return first

    def plus(self, other: ErrorLaw) -> ErrorLaw:
        return self if other in self.laws else EitherError((*self.laws, other))
