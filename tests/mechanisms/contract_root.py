"""What every mechanism between square-root neighbours is held to, with arithmetic that is not the package's own.

Neighbours are checked in rationals: sqrt(b) - sqrt(a) <= beta for b >= a exactly where d = b - a - beta² is at most 0
or d² <= 4 beta² a. What an attacker sees of a noisy root is its size without its sign, so the law is folded at 0.
"""

import math
from fractions import Fraction

import numpy as np
from scipy.special import log_ndtr, ndtri

TOLERANCE = 1e-9


def neighbours(a: Fraction, b: Fraction, beta: Fraction) -> bool:
    low, high = min(a, b), max(a, b)
    far = high - low - beta**2
    return far <= 0 or far**2 <= 4 * beta**2 * low


def largest_alike(a: int, beta: Fraction, step: Fraction = Fraction(1)) -> int:
    """The largest whole number of steps that is a neighbour of a steps, by bisection on the exact rule."""
    low, high = a, a + 2 + int(2 * (beta**2 / step) + 4 * beta * Fraction(math.isqrt(int(a * step) + 1) + 1) / step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if neighbours(a * step, middle * step, beta) else (low, middle)
    return low


def log_mass(k: np.ndarray, centre: int, scale: float) -> np.ndarray:
    """log P(centre + floor(scale Z + 1/2) = k), from the nearer tail so that nothing cancels."""
    z = np.abs(k - centre)
    near, far = log_ndtr(-(z - 0.5) / scale), log_ndtr(-(z + 0.5) / scale)
    return near + np.log1p(-np.exp(far - near))


def folded(centre: int, scale: float, last: int) -> np.ndarray:
    """The log-probabilities of |root| = 0, …, last."""
    k = np.arange(last + 1)
    one, other = log_mass(k, centre, scale), log_mass(-k, centre, scale)
    return np.where(k > 0, np.logaddexp(one, other), one)


def attained_mu(one: np.ndarray, other: np.ndarray) -> float:
    """The largest mu of any threshold on the likelihood ratio, looked at from both tails."""
    order = np.argsort(-(one - other), kind="stable")
    p, q = np.exp(one[order]), np.exp(other[order])
    power, level = np.cumsum(p), np.cumsum(q)
    missed, kept = (np.append(np.cumsum(part[::-1])[::-1][1:], 0.0) for part in (p, q))
    seen = np.minimum.reduce([power, level, missed, kept]) > 1e-13
    return float(np.max(_probit(power[seen], missed[seen]) - _probit(level[seen], kept[seen])))


def _probit(share: np.ndarray, rest: np.ndarray) -> np.ndarray:
    return np.where(share < rest, ndtri(np.minimum(share, 0.5)), -ndtri(np.minimum(rest, 0.5)))


def hockey_stick(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    return math.fsum(np.maximum(np.exp(one) - math.exp(epsilon) * np.exp(other), 0.0))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2) (Dong, Roth and Su 2022)."""
    return float(
        np.exp(log_ndtr(-epsilon / mu + mu / 2)) - math.exp(epsilon) * np.exp(log_ndtr(-epsilon / mu - mu / 2))
    )
