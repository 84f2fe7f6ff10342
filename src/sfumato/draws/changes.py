"""Where noise is not zero: the gaps between changed cells, and what stands there, without the cells in between.

Let q = P(K = 0). Independent cells are zero or not as a coin falls, so the zeros before the next changed cell are
geometric, P(gap >= m) = q^m, independent of one another and of the values; and the value of a changed cell has a fair
sign and P(|K| > m | K != 0) = S(m + 1) / S(1). Both laws are drawn exactly by `sampler`, each from bits of its own, so
what is found has the law of n draws of K of which only those that are not zero are listed. Where more than one cell
in four changes, drawing all of them, some at a time, and listing those is faster, and that is what is done.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws.bounds import Bounds, ceiling
from sfumato.draws.sampler import Invertible, counted, settle, signed
from sfumato.draws.stream import Draws
from sfumato.draws.strips import StripLaw, sample

_MOST_CELLS = 2**47  # the steps of a batch then sum to less than 2^63, whatever they are
_BATCH = 1 << 15
_OFTEN = 1 / 4  # from here on, drawing every cell costs less than gaps and values
_CELLS = 1 << 18
_HAIR = 2.0**-60
_RARE = 2.0**-60  # in 2^47 cells fewer than one change in 8,000 releases: floats need not know of it


class Changed(NamedTuple):
    """Places, increasing, and the values there, none of them zero."""

    places: NDArray[np.int64]
    values: NDArray[np.int64]


def changed(law: StripLaw, n: int, draws: Draws) -> Iterator[Changed]:
    """Yield where n independent draws from the symmetric law are not zero, some at a time."""
    if n > _MOST_CELLS:
        raise ValueError(f"Changed cells are found among up to 2^47 cells; got {n:,}. Draw for some of them at a time.")
    change = law.exact_survival(1, 128)[0] / 2**128
    return _listed(law, n, draws) if change > _OFTEN else _found(law, change, n, draws)


def _listed(law: StripLaw, n: int, draws: Draws) -> Iterator[Changed]:
    """Draw every cell, and yield those that are not zero."""
    for start in range(0, n, _CELLS):
        noise = sample(law, min(_CELLS, n - start), draws)
        places = np.flatnonzero(noise)
        yield Changed(start + places, noise[places])


def _found(law: StripLaw, change: float, n: int, draws: Draws) -> Iterator[Changed]:
    """Draw the gaps between changed cells, and the values of those."""
    gap, size, start = Gap(law, change, n), Size(law, change), 0
    while start < n:
        expected = int((n - start) * change)
        gaps = _drawn(gap, draws.words(min(_BATCH, expected + 4 * isqrt(expected) + 8)), draws)
        places = start - 1 + np.cumsum(gaps + 1)
        start, places = int(places[-1]) + 1, places[places < n]
        words = draws.words(len(places))
        yield Changed(places, signed(_drawn(size, words, draws) + 1, words))


def _drawn(law: "Gap | Size", words: NDArray[np.uint64], draws: Draws) -> NDArray[np.int64]:
    """Return a count for each word, in integers alone where the change is too rare for floats."""
    if law.change >= _RARE:
        return counted(law, words, draws)
    counts = np.zeros(len(words), dtype=np.int64)
    settle(law, (words >> np.uint64(1)).view(np.int64), counts, np.arange(len(words)), draws)
    return counts


@dataclass(frozen=True)
class Gap:
    """min(N, most) where P(N >= m) = P(K = 0)^m; `change` is P(K != 0) to float precision."""

    law: Invertible
    change: float
    most: int

    @property
    def scale(self) -> float:
        return -1 / self._log_zero

    @property
    def _log_zero(self) -> float:
        if self.change < 0.5:
            return log1p(-self.change)
        return log((2**128 - self.law.exact_survival(1, 128)[0]) / 2**128)

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        size = np.maximum(np.asarray(m, dtype=float), 0)
        return np.where(size <= self.most, np.exp(size * self._log_zero), 0.0)

    def exact_survival(self, m: int, bits: int) -> Bounds:
        if m > self.most:
            return 0, 0
        work = bits + 2 * m.bit_length() + 8  # m factors, each off by 3 units at most
        low, high = self.law.exact_survival(1, work)
        least, most = _power((1 << work) - high, m, work, up=False), _power((1 << work) - low, m, work, up=True)
        return least >> (work - bits), ceiling(most, 1 << (work - bits))

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        # u < q^m says m < log u / log q. A u that was rounded to 1 still gives a number above 0, and the half keeps the
        # end away from every whole number.
        return np.clip(np.log(u) / self._log_zero, _HAIR, self.most + 0.5)


def _power(base: int, exponent: int, work: int, *, up: bool) -> int:
    """2^work (base / 2^work)^exponent, every product rounded down, or every one up.

    >>> _power(3 << 8, 3, 10, up=False), 1024 * 0.75**3
    (432, 432.0)
    """
    carry, power = (1 << work) - 1 if up else 0, 1 << work
    for digit in f"{exponent:b}":
        power = (power * power + carry) >> work
        if digit == "1":
            power = (power * base + carry) >> work
    return power


@dataclass(frozen=True)
class Size:
    """|K| - 1 where K is not zero; `change` is P(K != 0) to float precision."""

    law: Invertible
    change: float

    @property
    def scale(self) -> float:
        return self.law.scale

    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        size = np.maximum(np.asarray(m, dtype=float), 0)
        return np.where(size > 0, self.law.survival(size + 1) / self.change, 1.0)

    def exact_survival(self, m: int, bits: int) -> Bounds:
        work = bits + 8
        while (least := self.law.exact_survival(1, work)[0]) < 1 << (bits + 6):
            work *= 2
        (low, high), most = self.law.exact_survival(m + 1, work), self.law.exact_survival(1, work)[1]
        return (low << bits) // most, ceiling(high << bits, least)

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64] | None:
        x = self.law.inverse_survival(u * self.change)
        return None if x is None else np.maximum(x - 1, _HAIR)
