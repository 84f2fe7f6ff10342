"""ErrorLaw: how far from a published total the true one may lie, at a level, by the law of the noise in it.

A margin holds at least its level where the law of the noise is computed: for a sum of draws of a known law on whole
steps it is the least number of steps that does. Where the normal law stands in, the margin is its quantile, and where
numbers move in whole steps the least number of steps whose half step beyond reaches that far.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.tails import laplace_reach, reach, tail

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

    @property
    def drawn(self) -> "ErrorLaw":
        """That by which errors are drawn, where margins take a longer one to be safe."""
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

    @property
    def drawn(self) -> "ErrorLaw":
        return LaplaceError(self.step, self.excess, self.variance, self.slack) if self.excess else self


@dataclass(frozen=True)
class LaplaceError(NormalError):
    """Sums of Laplace draws as they are, also in the middle, where a margin is that of a normal law, which is longer.

    >>> totals = NoisyTotals(*np.array([[10.0], [4.0], [0.0], [1.0]]))
    >>> LaplaceError(excess=3.0, variance=4.0).reach(0.50, totals)[0].round(3).tolist()    # sqrt(2) log(2)
    [0.98]
    """

    def _errors(self, level: float, totals: NoisyTotals) -> Floats:
        found, back = np.unique(self._kurtosis(totals), return_inverse=True)
        return np.array([laplace_reach(level, float(one)) for one in found])[back]


NORMAL = NormalError()
"""A normal error on numbers that move in no steps."""


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
