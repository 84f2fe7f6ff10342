"""Right tail: how often a number truly among the lowest or the highest is put there in spite of its noise.

True numbers x are taken to be normal about a size; what is published of each follows the law of its noise. The highest
fifth of the published ones begins at t, where P(published > t) is a fifth over all x; so the chance is P(x > q,
published > t) over a fifth, q being where the highest fifth of the true ones begins, and likewise for the lowest. Noise
that is the same about every number is summed: with a chance w of a noise e, P(x > q, x + e > t) sums w times that of x
above both q and t − e. Else what is published of x is summed over x (Gauss and Legendre). It is the measure by which
Chetty and Friedman 2019 chose an epsilon, and `assess` counts it.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from sfumato.mechanisms.published_law import PublishedLaw
from sfumato.release.noisy import Floats

TAIL = 0.2
"""The share of all numbers that are a tail."""
BEGINS, FARTHEST, PLACES = NormalDist().inv_cdf(1 - TAIL), 9.0, 200
"""Where the highest tail of a standard normal law begins, up to where and at how many places of a part it is summed."""
FINE, MOST = 200, 40_000
"""Into how many parts of a standard deviation, of noise or of true numbers, noise is divided, and in all."""
CLOSE = 1e-10
"""To what part of it the number is found at which a tail of the published ones begins."""


def right_tail_chance(law: PublishedLaw, size: float, spread: float, error: float) -> float:
    """The chance that one of a tail is put into it, of numbers so spread about a size; `error` is about that of noise.

    >>> [round(right_tail_chance(PublishedLaw.normal(one), 0.0, 1.0, one), 4) for one in (1e-9, 1e9)]      # by chance
    [1.0, 0.2]
    """
    if law.even:  # and as likely up as down
        return _summed_noise(law, size, spread, error) / TAIL
    return sum(_summed_numbers(law, size, spread, error, side) for side in (1, -1)) / (2 * TAIL)


def _summed_noise(law: PublishedLaw, size: float, spread: float, error: float) -> float:
    """The share of all numbers that are in the highest tail and put there, in standard deviations of the true ones."""
    from scipy.special import ndtr

    wide = max(error, spread * 1e-9)
    places, chances = law.spread_out(size, wide, min(spread, wide) / FINE, MOST)
    noise = (places - size) / spread
    begins = _begins(lambda t: float((chances * ndtr(noise - t)).sum()), BEGINS + max(1.0, error / spread))
    return float((chances * ndtr(-np.maximum(BEGINS, begins - noise))).sum())


def _summed_numbers(law: PublishedLaw, size: float, spread: float, error: float, side: int) -> float:
    x, weights = _normal_places()
    true = size + side * spread * x

    def beyond(t: float) -> Floats:
        """For each true number the chance that it is published beyond, in standard deviations of the true ones."""
        under = law.below(true, np.full(len(x), size + side * spread * t))
        return 1 - under if side > 0 else under

    begins = _begins(lambda t: float((weights * beyond(t)).sum()), BEGINS + max(1.0, error / spread))
    inside = x > BEGINS
    return float((weights * beyond(begins))[inside].sum())


def _begins(share: Callable[[float], float], far: float) -> float:
    """Where the tail of published numbers begins: beyond it lies a fifth of them."""
    low, high = -far, far
    while share(high) > TAIL:
        high *= 2
    while share(low) < TAIL:
        low *= 2
    while high - low > CLOSE * far:
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) > TAIL else (low, middle)
    return high


@cache
def _normal_places() -> tuple[Floats, Floats]:
    """Places of a standard normal law, below, between and beyond its tails, and how much of it each stands for."""
    nodes, weights = np.polynomial.legendre.leggauss(PLACES)
    ends = (-FARTHEST, -BEGINS, BEGINS, FARTHEST)
    halves = [((high - low) / 2, (high + low) / 2) for low, high in pairwise(ends)]
    x = np.concatenate([middle + nodes * half for half, middle in halves])
    mass = np.concatenate([weights * half for half, _ in halves]) * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    return x, mass / mass.sum()
