"""Exact draws by inversion: floats propose, integers decide wherever floats could be wrong.

Let S(m) = P(|K| >= m) and let U be uniform on [0, 1), an endless string of random bits. Then |K| = #{m >= 1: U < S(m)}
has P(|K| >= m) = P(U < S(m)) = S(m), and a fair sign on top gives K, for K is symmetric and zero has no sign.

One 64-bit word holds a draw: its lowest bit is the sign, and its upper 63 bits, the prefix w, say that U lies in
[w, w + 1) / 2^63, all later bits being free. A draw is settled in floats only if every U in that interval gives the
same count, with room for the certified float error on both sides. Every other draw is settled in integers, against
rigorous bounds on S(m); if the interval of U still straddles a threshold, 64 further random bits make it narrower, and
so on. So each draw is the count for the whole endless U: how it was settled, and where reading stopped, depend on U but
do not change the count. Hence the law is exactly that of K, not one within 2^-63 of it. The loop ends with probability
one: after b bits, at most 2 of the 2^b intervals are undecided about a threshold.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws.bounds import Bounds
from sfumato.draws.stream import Draws

PREFIX_BITS = 63
_BATCH = 1 << 15  # words that stay in the cache
_TABLE_ERROR = 2.0**-40  # survival() is within 2^-41 of itself; twice that for turning it into integers
_TABLE_END = 2.0**-36  # rarer tails are settled in integers
_FORMULA_ERROR = 2.0**-48  # inverse_survival() is within 2^-50, of a u that is itself off by a few parts in 2^53
_LEAST_MARGIN = 2.0**-30  # costs nothing, and makes float error a non-question at ordinary scales
_FEW = 1 << 16  # prefixes below this say too little about their logarithm


class Invertible(Protocol):
    """What the sampler has to know about a law; `laws.Law` says what each means."""

    def __hash__(self) -> int: ...
    @property
    def scale(self) -> float: ...
    def survival(self, m: ArrayLike) -> NDArray[np.float64]: ...
    def exact_survival(self, m: int, bits: int) -> Bounds: ...
    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64] | None: ...


def by_words(law: Invertible, n: int, draws: Draws) -> NDArray[np.int64]:
    """Return n independent draws from the law, a word each."""
    noise = np.empty(n, dtype=np.int64)
    for start in range(0, n, _BATCH):
        batch = noise[start : start + _BATCH]
        words = draws.words(len(batch))
        batch[:] = signed(counted(law, words, draws), words)
    return noise


def counted(law: Invertible, words: NDArray[np.uint64], draws: Draws) -> NDArray[np.int64]:
    """Return #{m >= 1: U < S(m)} for each U that begins with the upper 63 bits of a word."""
    prefix = (words >> np.uint64(1)).view(np.int64)
    counts, unsettled = _settle_in_floats(law, prefix)
    settle(law, prefix, counts, unsettled, draws)
    return counts


def settle(
    law: Invertible, prefix: NDArray[np.int64], counts: NDArray[np.int64], unsettled: NDArray[np.integer], draws: Draws
) -> None:
    """Put the count for the whole endless U wherever its prefix left that open, in place of the proposal."""
    for i in unsettled:
        counts[i] = _settle_in_integers(law, Uniform(int(prefix[i]), PREFIX_BITS, draws), int(counts[i]))


def signed(sizes: NDArray[np.int64], bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the sizes, negative where the lowest bit is 1.

    >>> signed(np.array([0, 3, 4]), np.array([1, 2, 7], dtype=np.uint64)).tolist()
    [0, 3, -4]
    """
    sign = (bits & np.uint64(1)).view(np.int64)
    return (sizes ^ -sign) + sign


def _settle_in_floats(law: Invertible, prefix: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return proposed sizes |K|, and the places where the proposal is not certain."""
    real = prefix.astype(np.float64)
    x = law.inverse_survival((real + 0.5) * 2.0**-PREFIX_BITS)
    if x is None:
        return _look_up(thresholds(law), prefix)
    # U is known up to a factor 1 + 1/w at most, and neither a geometric nor a normal x moves by more than
    # scale * 1.2534 * |change of log U| (Mills' ratio of a normal is at most sqrt(pi/2)).
    margin = _FORMULA_ERROR * (law.scale + x) + law.scale / np.maximum(real, 1.0) + _LEAST_MARGIN
    distance = np.abs(x - np.maximum(np.rint(x), 1.0))
    return np.ceil(x).astype(np.int64) - 1, np.flatnonzero((distance <= margin) | (prefix < _FEW))


def _look_up(edges: NDArray[np.int64], prefix: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return sizes from the table of thresholds, and the places on an uncertain edge or in the tail past the table."""
    below = np.searchsorted(edges, prefix, side="right")
    return (len(edges) - below) // 2, np.flatnonzero((below % 2 == 1) | (below == 0))


@lru_cache(maxsize=8)
def thresholds(law: Invertible) -> NDArray[np.int64]:
    """Return low(M), high(M), ..., low(1), high(1), increasing, with low(m) <= 2^63 S(m) < high(m) for each m."""
    length = 64
    survival = law.survival(np.arange(1, length + 1))
    while survival[-1] >= _TABLE_END:
        length *= 2
        survival = law.survival(np.arange(1, length + 1))
    # One threshold past the end, so that a law that stops there has nothing left to settle in integers.
    survival = survival[: np.count_nonzero(survival >= _TABLE_END) + 1][::-1] * 2.0**PREFIX_BITS
    low, high = np.floor(survival * (1 - _TABLE_ERROR)), np.floor(survival * (1 + _TABLE_ERROR)) + 1
    edges = np.column_stack((low, high)).ravel().astype(np.int64)
    if np.any(edges[2::2] < edges[1:-1:2]):
        raise ValueError(f"{law} has thresholds too close to tell apart in a table; count in coarser steps.")
    return edges


class Uniform:
    """A uniform U of which only a prefix has been drawn: U is in [prefix, prefix + 1) / 2^bits."""

    def __init__(self, prefix: int, bits: int, draws: Draws) -> None:
        self._prefix, self._bits, self._draws = prefix, bits, draws

    def below(self, bounds: Callable[[int], Bounds]) -> bool:
        """Say whether U is below a number, drawing more of it until bounds at so many bits make that certain."""
        while True:
            low, high = bounds(self._bits)
            if self._prefix + 1 <= low:
                return True
            if self._prefix >= high:
                return False
            self._prefix = self._prefix << 64 | self._draws.bits(64)
            self._bits += 64


def _settle_in_integers(law: Invertible, uniform: Uniform, guess: int) -> int:
    """Return #{m >= 1: U < S(m)} by doubling steps away from the guess, then bisection."""

    def below(m: int) -> bool:
        return uniform.below(partial(law.exact_survival, m))

    low = high = guess
    step = 1
    while low > 0 and not below(low):
        low, high, step = max(0, low - step), low, 2 * step
    if low == guess:
        while below(high := low + step):
            low, step = high, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low
