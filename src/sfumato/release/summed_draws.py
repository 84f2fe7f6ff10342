"""SummedDraws: sums of independent draws of one law on whole steps, or of two, whose chances are computed."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.error_law import SMOOTH, EitherError, ErrorLaw, Floats, NoisyTotals, NormalError
from sfumato.release.tails import z_score

MOST_KEPT = 10_000
"""So many margins of single totals are kept by each law."""
_WHOLE = 1e-6
"""How far from a whole number a number of draws may be by rounding."""


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
        if len(totals.noise) != 1:
            return self._reach(level, totals)
        # Tables of shares ask for one total after the other, most of which sum as many draws.
        key = level, float(totals.noise[0]), float(totals.sampled[0])
        if len(self._margins) > MOST_KEPT:
            self._margins.clear()
        if key not in self._margins:
            self._margins[key] = float(self._reach(level, totals)[0][0])
        margin = np.array([self._margins[key]])
        return margin, margin

    @cached_property
    def _margins(self) -> dict[tuple[float, float, float], float]:
        """Margins by level, noise and sampling variance: they depend on nothing else."""
        return {}

    def _reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
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
        if isinstance(other, SummedDraws) and other.step == self.step and other.variance != self.variance:
            return MixedError((self, other))
        return super().plus(other)


@dataclass(frozen=True)
class MixedError(EitherError):
    """Sums of draws of two laws on the same steps, as of releases of unlike epsilons.

    Of a total with so many cells and this variance there is one split into draws of either law, n of one with
    variance V and m of the other with W: n + m cells and n V + m W. Where it is a split into whole draws the margin
    is the least number of steps that holds them together; else that of as many draws of either law as have no less
    variance, the longer of both.
    """

    laws: tuple[SummedDraws, SummedDraws]

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        margin, _ = super().reach(level, totals)
        few, several = self.laws
        split = self._split(totals)
        rough = abs(few.excess) * split[0] + abs(several.excess) * split[1] > SMOOTH * split.sum(axis=0) ** 2
        exact = np.flatnonzero((split > 0).all(axis=0) & rough & (totals.sampled == 0))
        for place in exact:
            draws = int(split[0, place]), int(split[1, place])
            margin[place] = few.step * _within_both(few.probabilities, several.probabilities, draws, level)
        return margin, margin

    def _split(self, totals: NoisyTotals) -> NDArray[np.int64]:
        """How many draws of either law each total sums; none where no split into whole draws is."""
        first, second = (law.variance * law.step**2 for law in self.laws)
        draws = (totals.noise - totals.cells * second) / (first - second)
        split = np.rint([draws, totals.cells - draws])
        whole = (np.abs(split[0] - draws) < _WHOLE * np.maximum(draws, 1.0)) & (split > 0).all(axis=0)
        return np.where(whole, split, 0.0).astype(np.int64)

    def only(self, some: Any) -> "MixedError":  # noqa: ARG002 - the same for all
        return self

    def times(self, unit: float) -> "MixedError":
        first, second = (law.times(unit) for law in self.laws)
        return MixedError((first, second))


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


@lru_cache(maxsize=4096)
def _within_both(one: tuple[float, ...], other: tuple[float, ...], draws: tuple[int, int], level: float) -> int:
    """The least number of steps that hold the sum of some draws of one law and some of another at a level."""
    both = np.convolve(_both_sides(draws_within(one, draws[0])), _both_sides(draws_within(other, draws[1])))
    half = both[len(both) // 2 :]
    return int(np.searchsorted(2 * np.cumsum(half) - half[0], level - 1e-12))


def _both_sides(within: Floats) -> Floats:
    """The chance of every number of steps, from that of no more than so many either way."""
    half = np.diff(within, prepend=0.0) / 2
    return np.concatenate([half[:0:-1], [within[0]], half[1:]])
