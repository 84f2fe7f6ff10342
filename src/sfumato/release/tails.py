"""Tails: how many standard errors an interval must reach when few cells are summed and their noise is not normal.

Geometric noise is a Laplace law on the integers. The sum of n Laplace laws has excess kurtosis 3/n, so an excess
kurtosis says how many of them a total is like; n is rounded down, to the heavier tail. Where the normal law reaches
further (up to a level of about 91%), it is kept.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

from sfumato.errors import QueryError

LAPLACE = 3.0
CENSUS_90 = 1.645
"""What margins of error at 90% are computed with at the Census Bureau, and everywhere since."""
MANY = 40
"""From so many Laplace laws on, the expansion of Cornish and Fisher (1938) is as good as their exact sum."""


def z_score(level: float) -> float:
    """How many standard errors a two-sided interval reaches.

    >>> round(z_score(0.95), 6)
    1.959964
    """
    if not 0 < level < 1:
        raise QueryError(f"A level of {level} was asked for; it lies between 0 and 1, for example 0.95.")
    return CENSUS_90 if level == 0.90 else NormalDist().inv_cdf((1 + level) / 2)


def reach(level: float, excess: float) -> float:
    """How many standard errors a two-sided interval reaches when noise has this excess kurtosis.

    >>> round(reach(0.99, 0.0), 3), round(reach(0.99, 3.0), 3)      # normal 2.576; Laplace log(100) / sqrt(2) = 3.256
    (2.576, 3.256)
    """
    normal = z_score(level)
    return normal if excess <= 0 or level <= 0.90 else max(normal, _reach(level, _like(excess)))


def laplace_reach(level: float, excess: float) -> float:
    """How many standard errors an interval of a sum of Laplace laws reaches, also where a normal one is longer.

    >>> round(laplace_reach(0.90, LAPLACE), 4)      # log(10) / sqrt(2)
    1.6282
    """
    normal = z_score(level)
    return _reach(level, _like(excess)) if excess > 0 else normal


def tail(errors: float, excess: float) -> float:
    """How often noise of this excess kurtosis goes beyond so many standard errors, on either side."""
    normal = 2 * NormalDist().cdf(-errors)
    return normal if excess <= 0 else max(normal, laplace_tail(errors, excess))


def laplace_tail(errors: float, excess: float) -> float:
    """How often a sum of Laplace laws goes beyond so many standard errors, on either side."""
    many = _like(excess)
    if many < MANY:
        return _beyond(errors, many)
    return 2 * NormalDist().cdf(-_undone(errors, LAPLACE / many))


def _like(excess: float) -> int:
    # On whole steps the excess is a little above that of Laplace.
    return max(1, math.floor(1.01 * LAPLACE / excess))


@lru_cache(maxsize=4096)
def _reach(level: float, many: int) -> float:
    if many >= MANY:
        normal = z_score(level)
        return normal + (normal**3 - 3 * normal) * LAPLACE / many / 24
    return _root(lambda errors: _beyond(errors, many) <= 1 - level, 60.0)


def _beyond(errors: float, many: int) -> float:
    """The probability that the sum of some Laplace laws is beyond so many of its standard errors.

    The sum is the difference of two gamma laws of that shape, G - H, and P(G > x + h) = sum of e^-(x+h) (x+h)^j / j!
    over j < n; the expectation over H is term by term C(n+i-1, i) / 2^(n+i).
    """
    x = errors * math.sqrt(2 * many)
    powers = [1.0]
    for j in range(1, many):
        powers.append(powers[-1] * x / j)
    weights = [math.comb(many + i - 1, i) / 2.0 ** (many + i) for i in range(many)]
    upper = math.fsum(weights[i] * math.fsum(powers[: many - i]) for i in range(many))
    return 2 * math.exp(-x) * upper


def _undone(errors: float, excess: float) -> float:
    """The standard normal number that the expansion maps to so many errors."""
    return _root(lambda normal: normal + (normal**3 - 3 * normal) * excess / 24 >= errors, 2 * errors + 1)


def _root(reached: Callable[[float], bool], high: float) -> float:
    """Where a rising condition begins to hold, between 0 and `high`."""
    low = 0.0
    while high - low > 1e-12 * (1 + high):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
