"""RatioLaw: where ratios end whose totals sum few draws, on whole steps.

Fieller's interval holds the ratios R at which over − R under is within its own error of 0. Where the numerator is part
of the denominator that is (1 − R) A − R B, A the noise of the part and B that of the rest; where they share nothing it
is A − R B. Noise of a few steps shows through the other: a margin that just holds the draws of a part is left by half
of those at its end once the rest moves them a little, and 95% intervals of shares held 91%. So each end is where the
law of both, at that very ratio, leaves it, and no nearer than a normal law has it.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.query.sides import NoisySide
from sfumato.release.error_law import Floats
from sfumato.release.summed_draws import SummedDraws, draws_within
from sfumato.release.tails import z_score

FEW_STEPS = 6
"""The widest error, in steps, of the draws that are listed one by one; wider ones are as good as smooth."""
HALVINGS = 22
"""How often the range of an end is halved."""
DOUBLINGS = 10
"""How often an end is sought twice as far, at most."""
AT_ONCE = 10_000
"""Of how many ratios ends are sought in one turn."""
BEYOND = 1e-8
"""The chance of draws that are not listed."""
_NEARLY = 1e-9


def near_zero(totals: Floats, variances: Floats, errors: Floats) -> NDArray[np.bool_]:
    """Which totals are no more than so many of their errors from 0, so that what is divided by them has no ends.

    A whole number of steps often is just as many, and rounding must not tell it from fewer.
    """
    return np.asarray(totals**2 * (1 - _NEARLY) <= errors**2 * variances)


@dataclass(frozen=True, eq=False)
class RatioTerms:
    """Totals over others, their variances by noise and their covariances."""

    over: Floats
    under: Floats
    over_variance: Floats
    under_variance: Floats
    covariance: Floats

    def ends(self, level: float, errors: Floats, *sides: NoisySide) -> tuple[Floats, Floats]:
        """Both ends of each interval: so many errors off, or by the law of both totals where they sum few draws."""
        low, high = self.fieller(errors)
        law = sides[0].law
        if len(sides) < 2 or not isinstance(law, SummedDraws) or sides[1].law != law:
            return low, high
        unit = law.variance * law.step**2
        some = np.flatnonzero(self._summing_few(unit, law.variance) & np.isfinite(low))
        if not len(some):
            return low, high
        told = np.stack(self._told)[:, some]
        found, first, back = np.unique(told, axis=1, return_index=True, return_inverse=True)
        near = np.stack([low[some[first]], high[some[first]]])
        low[some], high[some] = RatioTerms(*found).by_law(level, law, near)[:, back]
        return low, high

    @property
    def _told(self) -> tuple[Floats, ...]:
        return self.over, self.under, self.over_variance, self.under_variance, self.covariance

    def by_law(self, level: float, law: SummedDraws, near: Floats) -> Floats:
        """Both ends by the law of both totals, sought past such that are near, and no nearer than a normal law."""
        normal, ends = np.stack(self.fieller(np.full(len(self.over), z_score(level)))), near.copy()
        for turn in np.array_split(np.arange(len(self.over)), len(self.over) // AT_ONCE + 1):
            test = _RatioTest.of(self._only(np.concatenate([turn, turn])), law)
            ends[:, turn] = test.end(level, near[:, turn].ravel()).reshape(2, -1)
        return np.stack([np.minimum(ends[0], normal[0]), np.maximum(ends[1], normal[1])])

    def fieller(self, errors: Floats) -> tuple[Floats, Floats]:
        """Both ends where over − R under is so many of its errors from 0; NaN where the denominator is."""
        squared = errors**2
        a = self.under**2 - squared * self.under_variance
        a = np.where(near_zero(self.under, self.under_variance, errors), np.nan, a)
        b = self.over * self.under - squared * self.covariance
        c = self.over**2 - squared * self.over_variance
        reach = np.sqrt(np.maximum(b * b - a * c, 0.0))
        return (b - reach) / a, (b + reach) / a

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which numerators are parts of their denominators."""
        return np.isclose(self.covariance, self.over_variance)

    @property
    def besides(self) -> Floats:
        """The variance of what a denominator has besides its numerator."""
        return self.under_variance - self.covariance

    def _summing_few(self, unit: float, variance: float) -> NDArray[np.bool_]:
        """Which sum few draws of such a variance in a unit, and are apart or one inside the other."""
        first, second = self.over_variance / unit, self.besides / unit
        few = (first > 0.5) & (second > 0.5) & (np.minimum(first, second) * variance <= FEW_STEPS**2)
        return np.asarray(few & (self.inside | np.isclose(self.covariance, 0.0)))

    def _only(self, some: NDArray[np.int64]) -> "RatioTerms":
        """Those of some of the ratios."""
        return RatioTerms(*(one[some] for one in self._told))


@dataclass(frozen=True, eq=False)
class _RatioTest:
    """Whether ratios may be true, by the sums of draws of the side with fewer, listed, and of the other."""

    over: Floats
    under: Floats
    inside: NDArray[np.bool_]
    steps: Floats
    chances: Floats
    """The chances that the sums of the side with fewer draws are just so many steps, either way."""
    many: "_Sums"
    swapped: NDArray[np.bool_]
    """Where that side is the denominator's own."""

    @classmethod
    def of(cls, terms: RatioTerms, law: SummedDraws) -> "_RatioTest":
        unit = law.variance * law.step**2
        first, second = terms.over_variance / unit, terms.besides / unit
        few, many = (_Sums.of(law.probabilities, one) for one in (np.minimum(first, second), np.maximum(first, second)))
        over, under = terms.over / law.step, terms.under / law.step
        return cls(over, under, terms.inside, *few.sizes(), many, first > second)

    def end(self, level: float, near: Floats) -> Floats:
        """Where ratios end that may be true, sought from the ratio itself past an end that is near.

        One may be true where noise goes as far as over − R under with a chance of more than one less the level. As R
        goes on every draw is passed for good but those that take the whole denominator, so that there is one end. Where
        these alone have that chance there is none, and the end that is near stays.
        """
        ratio = self.over / self.under
        apart = np.where(near == ratio, _NEARLY, near - ratio)
        held = self.holds(ratio + apart, level)
        for _ in range(DOUBLINGS):
            if not held.any():
                break
            apart = np.where(held, 2 * apart, apart)
            held = self.holds(ratio + apart, level)
        endless = held
        least, most = np.zeros(len(ratio)), np.ones(len(ratio))
        for _ in range(HALVINGS):
            middle = (least + most) / 2
            held = self.holds(ratio + middle * apart, level)
            least, most = np.where(held, middle, least), np.where(held, most, middle)
        return np.where(endless, near, ratio + (most + _NEARLY) * apart)

    def holds(self, ratio: Floats, level: float) -> NDArray[np.bool_]:
        """Whether noise goes as far as each ratio needs at a level."""
        first, second = np.abs(np.where(self.inside, 1 - ratio, 1.0)), np.abs(ratio)
        own, other = np.where(self.swapped, (second, first), (first, second))
        other = np.maximum(other, _NEARLY)
        far = np.abs(self.over - ratio * self.under)
        at, reach = (own / other)[:, None] * self.steps, (far / other)[:, None] - _NEARLY
        within = self.many.up_to(np.floor(at + reach)) - self.many.up_to(np.ceil(at - reach) - 1)
        return np.asarray((self.chances * within).sum(axis=1) < level - _NEARLY)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of draws: the chances that each is no larger than −n, …, n − 1 steps, one sum after the other."""

    chances: Floats
    middles: NDArray[np.int64]
    """Where 0 steps stand."""
    lengths: NDArray[np.int64]
    """How many steps there are either way."""

    @classmethod
    def of(cls, probabilities: tuple[float, ...], draws: Floats) -> "_Sums":
        found, back = np.unique(np.rint(draws).astype(np.int64), return_inverse=True)
        tables = [_chances(probabilities, int(one)) for one in found]
        lengths = np.array([len(one) // 2 for one in tables])
        middles = 2 * (np.cumsum(lengths) - lengths) + lengths
        return cls(np.concatenate(tables), middles[back], lengths[back])

    def up_to(self, steps: Floats) -> Floats:
        """The chance that each sum is no larger than some steps."""
        most = self.lengths[:, None].astype(np.float64)
        return self.chances[self.middles[:, None] + np.clip(steps, -most, most - 1).astype(np.int64)]

    def sizes(self) -> tuple[Floats, Floats]:
        """Steps from 0, and the chances that each sum is just so many either way."""
        steps = np.arange(self.lengths.max(), dtype=np.float64)[None, :]
        just = self.up_to(steps) - self.up_to(steps - 1)
        return steps, np.where(steps < self.lengths[:, None], np.where(steps > 0, 2 * just, just), 0.0)


@lru_cache(maxsize=4096)
def _chances(probabilities: tuple[float, ...], draws: int) -> Floats:
    """The chances that a sum of draws is no larger than −n, …, n − 1 steps, n being as far as it matters."""
    within = draws_within(probabilities, draws)
    within = within[: int(np.searchsorted(within, 1 - BEYOND)) + 1]
    return np.asarray(0.5 + 0.5 * np.concatenate([-within[::-1], within]))
