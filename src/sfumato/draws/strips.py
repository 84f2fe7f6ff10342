"""Exact draws by strips: two to seven bytes settle all but a few numbers in a hundred, at any scale.

Let P be symmetric and never larger further from zero, S(m) = P(|K| >= m), and 0 < t <= 1. The integers from -e to e - 1
are cut into blocks of w = 2^j, and each block is covered by some of 2^b strips, one upon the other: a strip has area
2^-b, spread evenly over the w numbers of its block, and together they stand at least as high as t P(k) at each of its
numbers k. The last 2^(b - 10) strips are the tail. The share t is the largest, in steps of 2^-16, for which the strips
are enough.

A lead of b bits says which strip, j bits say which number k of its block, and an endless V in [0, 1) says how high in
the strip: a point spread evenly over all strips. It is taken if it lies below t P(k), that is, in strip i of a block if
(i + V) 2^-b < t w P(k). In strip i of the tail, U = (i + V) 2^-b is uniform on [0, 2^-10): the size is
#{m >= 1: U < t S(m)} as in `sampler`, with a fair sign, and it is taken if it is none of -e, ..., e - 1; e is such that
S(e) <= 2^-10, so that every size from e on is reached. Hence each k, wherever it lies, is taken with probability
t P(k), and some number with probability t. A point that is not taken is forgotten with all its bits, and a new one is
tried, or, where few are left, a number is drawn by words. So every number has exactly the law P.

A strip that lies below t P(k) for all numbers of its block settles its number without V. For any other, V is drawn, and
the point is held against bounds on t P(k) in an eighth of the block; between them against `pmf`, with room for the
error it is allowed; and where that is not certain against rigorous bounds in integers, with further bits of V until it
is. So each point is taken or not as its whole endless V says. How many points are tried, and how each was settled,
follows from random bits alone. Bits that are not used are dropped, never read for another number.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws.bounds import Bounds, ceiling
from sfumato.draws.leads import Desk
from sfumato.draws.sampler import Invertible, Uniform, by_words, counted, signed
from sfumato.draws.stream import Draws
from sfumato.kernels.choose import loops
from sfumato.kernels.draws import DOUBTFUL, REFUSED, TAIL, UNSETTLED, Leads, Levels

MANY = 1 << 16  # fewer draws do not pay for strips
_LEAD_BITS = 17  # more strips leave fewer open, and their table leaves less room in the cache
_SHORT_LEAD_BITS = 16
TAIL_BITS = 10
_SCALE_BITS = 7  # a scale is 64 to 127 blocks: more have more edges, fewer have steeper ones
_MOST_BLOCKS = 1 << 12
_PART_BITS = 3
_SHARE_BITS = 16
_ERROR = 2.0**-39  # pmf() and survival() are within 2^-40 of themselves
_LEAST = 2.0**-100  # pmf() need not know of less: a number it takes for impossible is covered too
_SHEET = 1 << 22  # what leads leave open is settled together
_WORTH_LOADING = 50_000_000  # fewer draws do not pay for loading numba, a second where the plain loops take half
_FEW = 1 << 10  # fewer numbers are drawn by words in less time


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


@dataclass(frozen=True, eq=False)
class Strips:
    """The strips of a law: what each lead says, and how high the law stands above the blocks, in strips."""

    thinned: Thinned
    bits: int
    end: int
    leads: Leads
    levels: Levels

    def fill(self, noise: NDArray[np.int64], draws: Draws) -> None:
        """Put an independent draw in every place."""
        places = self._try(noise, draws)
        while len(places) > _FEW:
            again = np.empty(len(places), dtype=np.int64)
            left = self._try(again, draws)
            noise[places] = again
            places = places[left]
        noise[places] = by_words(self.thinned.law, len(places), draws)

    @property
    def lead_bits(self) -> int:
        """How many bits say which strip it is."""
        return len(self.leads.settled).bit_length() - 1

    def _try(self, noise: NDArray[np.int64], draws: Draws) -> NDArray[np.int64]:
        """Try a point for every place, and return the places where it was not taken."""
        desk = Desk.of(self.lead_bits + self.bits, len(noise))
        sheets = range(0, len(noise), _SHEET)
        return np.concatenate([start + self._sheet(noise[start : start + _SHEET], desk, draws) for start in sheets])

    def _sheet(self, noise: NDArray[np.int64], desk: Desk, draws: Draws) -> NDArray[np.int64]:
        places, pieces, words, verdicts = desk.look_up(self.leads, self.levels, self.bits, noise, draws)
        tail, doubtful = np.flatnonzero(verdicts == TAIL), np.flatnonzero(verdicts == DOUBTFUL)
        beyond = self._tail(pieces[tail], words[tail], draws)
        noise[places[tail]], verdicts[tail] = beyond, (beyond < -self.end) | (beyond >= self.end)
        numbers = noise[places[doubtful]]
        verdicts[doubtful] = self._compare(numbers, pieces[doubtful], words[doubtful], draws)
        return places[np.flatnonzero(verdicts == REFUSED)]

    def _tail(self, pieces: NDArray[np.uint64], words: NDArray[np.uint64], draws: Draws) -> NDArray[np.int64]:
        """Return what U gives that begins with the strip and goes on with a word, whose lowest bit is the sign."""
        strip = pieces & np.uint64((1 << (self.lead_bits - TAIL_BITS)) - 1)
        prefix = strip << np.uint64(64 - self.lead_bits) | words >> np.uint64(self.lead_bits)
        return signed(counted(self.thinned, prefix, draws), words)

    def _compare(
        self, numbers: NDArray[np.int64], pieces: NDArray[np.uint64], words: NDArray[np.uint64], draws: Draws
    ) -> NDArray[np.bool_]:
        """Say which points lie below the law, in floats where these are certain."""
        settled, heights = len(self.leads.settled), self.leads.height
        height = heights[(pieces & np.uint64(settled - 1)).view(np.int64) - (settled - len(heights))]
        point = height + (words >> np.uint64(11)) * 2.0**-53
        top = float(self.thinned.share * 2 ** (self.lead_bits + self.bits)) * self.thinned.law.pmf(numbers)
        below = point < top
        for i in np.flatnonzero(np.abs(point - top) <= _ERROR * (1 + top)):
            whole = Uniform((int(height[i]) << 64) + int(words[i]), self.lead_bits + self.bits + 64, draws)
            below[i] = whole.below(partial(self.thinned.exact_pmf, int(numbers[i])))
        return below


@lru_cache(maxsize=8)
def strips_of(law: StripLaw) -> Strips | None:
    """The strips of a law, with the largest share that they can cover; None for one that does not suit them."""
    bits = max(0, int(law.scale).bit_length() - _SCALE_BITS)
    lead_bits = _LEAD_BITS if bits else _SHORT_LEAD_BITS
    tails = law.survival(2.0**bits * np.arange(1, _MOST_BLOCKS)) * (1 + _ERROR)
    end = (int(np.count_nonzero(tails > 2.0**-TAIL_BITS)) + 1) << bits
    if tails[-1] > 2.0**-TAIL_BITS or not all(_is_precise(law, k) for k in (0, end // 3, end)):
        return None
    levels = 2.0 ** (lead_bits + bits) * _bounds(law, bits, end)
    share = _share(levels.max(axis=(1, 2)), 2**lead_bits - 2 ** (lead_bits - TAIL_BITS))
    levels *= float(share)
    return Strips(Thinned(law, share), bits, end, _leads(levels, lead_bits), _widened(levels))


def _is_precise(law: StripLaw, k: int) -> bool:
    """Say whether pmf(k) is as near as it has to be to what exact_survival() says."""
    low, high = Thinned(law, Fraction(1)).exact_pmf(k, 200)
    return low * (1 - _ERROR / 2) <= float(law.pmf(k)) * 2.0**200 <= high * (1 + _ERROR / 2)


def _widened(levels: NDArray[np.float64]) -> Levels:
    """The bounds in four bytes, so much wider that neither these nor the 53 bits read of V make a difference."""
    outward = np.array([-np.inf, np.inf], dtype=np.float32)
    widened: Levels = np.nextafter((levels + np.array([-_ERROR, _ERROR])).astype(np.float32), outward)
    return widened


def _bounds(law: StripLaw, bits: int, end: int) -> NDArray[np.float64]:
    """Lower and upper bounds on P(k) in each part of each block from -end to end."""
    parts = 1 << min(bits, _PART_BITS)
    first = np.arange(-end, end, (1 << bits) // parts)
    last = first + ((1 << bits) // parts - 1)
    least, most = law.pmf(np.where(first < 0, first, last)), law.pmf(np.where(first < 0, last, first))
    return np.stack((least * (1 - _ERROR), most * (1 + _ERROR) + _LEAST), axis=-1).reshape(-1, parts, 2)


def _share(most: NDArray[np.float64], strips: int) -> Fraction:
    """The largest share, in steps of 2^-16, that so many strips cover."""
    low, high = 0, 1 << _SHARE_BITS
    while low < high:
        middle = (low + high + 1) // 2
        fits = np.sum(np.ceil(most * (middle / 2**_SHARE_BITS))) <= strips
        low, high = (middle, high) if fits else (low, middle - 1)
    return Fraction(low, 2**_SHARE_BITS)


def _leads(levels: NDArray[np.float64], lead_bits: int) -> Leads:
    """What each lead says: first the settled ones, then the open ones, each in the order of blocks, then the tail."""
    covering = np.ceil(levels.max(axis=(1, 2))).astype(np.int64)
    below = np.floor(levels.min(axis=(1, 2))).astype(np.int64)
    block = np.arange(len(covering)) - len(covering) // 2
    settled = np.full(2**lead_bits, UNSETTLED, dtype=np.int16)
    settled[: below.sum()] = np.repeat(block, below)
    above = covering - below
    height = np.arange(above.sum()) + np.repeat(covering - np.cumsum(above), above)
    # What is over stands as high as all strips, where it is never taken.
    tail = 2 ** (lead_bits - TAIL_BITS)
    over = 2**lead_bits - tail - covering.sum()
    heights = np.concatenate((height, np.full(over, 2**lead_bits), np.full(tail, -1)))
    blocks = np.pad(np.repeat(block, above), (0, over + tail))
    return Leads(settled, blocks.astype(np.int16), heights.astype(np.int32))


def sample(law: StripLaw, n: int, draws: Draws) -> NDArray[np.int64]:
    """Return n independent draws from the symmetric law, the fastest way there is for so many."""
    strips = strips_of(law) if n >= MANY else None
    if strips is None:
        return by_words(law, n, draws)
    loops("draws", worth=n >= _WORTH_LOADING)
    noise = np.empty(n, dtype=np.int64)
    strips.fill(noise, draws)
    return noise
