"""Right tail: how often a number truly among the lowest or the highest is put there in spite of its error.

True numbers x and their errors are taken to be normal, with a standard deviation of the errors that is r times that of
the true numbers. The highest fifth of the noisy ones begins at q √(1 + r²), q being where that of the true ones begins;
so the chance is the integral of φ(x) Φ((x − q √(1 + r²)) / r) from q on, over a fifth. It is the measure by which
Chetty and Friedman 2019 chose an epsilon, and `assess` counts it.
"""

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from sfumato.errors import PlanError

TAIL = 0.2
"""The share of all numbers that are a tail."""
BEGINS, FARTHEST, PLACES = NormalDist().inv_cdf(1 - TAIL), 9.0, 200
"""Where the highest tail of a standard normal law begins, and up to where and at how many places it is summed."""


def right_tail_chance(ratio: float) -> float:
    """The chance that one of a tail is put into it, where errors are `ratio` times as spread as true numbers.

    >>> [round(right_tail_chance(one), 4) for one in (1e-9, 1e9)]      # without errors, and by chance alone
    [1.0, 0.2]
    """
    x, weights = _places()
    put = [math.erfc((BEGINS * math.hypot(1, ratio) - one) / (ratio * math.sqrt(2))) / 2 for one in x]
    return float(np.dot(weights, put)) / TAIL


@cache
def _places() -> tuple[list[float], list[float]]:
    """Places from where a tail begins on, and how much of all numbers each stands for (Gauss and Legendre)."""
    nodes, weights = np.polynomial.legendre.leggauss(PLACES)
    half = (FARTHEST - BEGINS) / 2
    x = BEGINS + (nodes + 1) * half
    return x.tolist(), (weights * half * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)).tolist()


def ratio_for(chance: float, measure: str) -> float:
    """The largest spread of errors, as a part of that of true numbers, at which so many are put into their tail.

    >>> round(ratio_for(right_tail_chance(0.5), "p25"), 6)
    0.5
    """
    if not TAIL < chance < 1:
        raise PlanError(
            f"The target of '{measure}' is to put {chance:.3g} of the cells of a tail into it; {TAIL:g} are put there "
            "by pure chance and all only without noise: give a share between, as tail:90%."
        )
    low, high = 1e-9, 1e9
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if right_tail_chance(middle) >= chance else (low, middle)
    return low
