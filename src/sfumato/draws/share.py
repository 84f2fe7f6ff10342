"""A share of a law: what is left of it where a draw is not always taken."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws.bounds import Bounds, ceiling
from sfumato.draws.sampler import Invertible


class StripLaw(Invertible, Protocol):
    """What strips have to know about a law; `laws.Law` says what each means."""

    def pmf(self, k: ArrayLike) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class Thinned:
    """A law of which only a share is there: t S(m) for S(m)."""

    law: StripLaw
    share: Fraction

    @property
    def scale(self) -> float:
        return self.law.scale

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        return float(self.share) * self.law.survival(m)

    def exact_survival(self, m: int, bits: int) -> Bounds:
        low, high = self.law.exact_survival(m, bits + 8)
        of, whole = self.share.as_integer_ratio()
        return (low * of // whole) >> 8, ceiling(high * of, whole << 8)

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64] | None:
        return self.law.inverse_survival(u / float(self.share))

    def exact_pmf(self, k: int, bits: int) -> Bounds:
        """Integers (low, high), at most 2 apart, with low <= 2^bits t P(k) <= high."""
        low, high = self.exact_survival(abs(k) + 1, bits + 8)
        first_low, first_high = self.exact_survival(abs(k), bits + 8) if k else self._all(bits + 8)
        both_signs = 8 + (k != 0)
        return max(0, first_low - high) >> both_signs, ceiling(first_high - low, 1 << both_signs)

    def _all(self, bits: int) -> Bounds:
        of, whole = self.share.as_integer_ratio()
        return (of << bits) // whole, ceiling(of << bits, whole)
