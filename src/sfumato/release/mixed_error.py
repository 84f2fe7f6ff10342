"""MixedError: the error of sums of draws of two laws on the same whole steps, as of releases of unlike epsilons.

Of a total with so many cells and this variance there is one split into draws of either law, n of one with
variance V and m of the other with W: n + m cells and n V + m W. Where it is a split into whole draws the margin
is the least number of steps that holds them together; else that of as many draws of either law as have no less
variance, the longer of both.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.error_law import SMOOTH, EitherError, Floats, NoisyTotals, SummedDraws, draws_within

_WHOLE = 1e-6
"""How far from a whole number a number of draws may be by rounding."""


@dataclass(frozen=True)
class MixedError(EitherError):
    """Sums of draws of two laws; of more than two whichever reaches further."""

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
def _within_both(one: tuple[float, ...], other: tuple[float, ...], draws: tuple[int, int], level: float) -> int:
    """The least number of steps that hold the sum of some draws of one law and some of another at a level."""
    both = np.convolve(_both_sides(draws_within(one, draws[0])), _both_sides(draws_within(other, draws[1])))
    half = both[len(both) // 2 :]
    return int(np.searchsorted(2 * np.cumsum(half) - half[0], level - 1e-12))


def _both_sides(within: Floats) -> Floats:
    """The chance of every number of steps, from that of no more than so many either way."""
    half = np.diff(within, prepend=0.0) / 2
    return np.concatenate([half[:0:-1], [within[0]], half[1:]])
