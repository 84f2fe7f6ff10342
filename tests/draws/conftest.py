"""The oracle: survival functions computed by mpmath, with none of the code under test."""

from functools import lru_cache

import mpmath
import pytest

from sfumato.draws import DiscreteNormal, Law, RoundedNormal, TwoSidedGeometric

WIDE = 2**20


def real(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


@lru_cache(maxsize=32)
def bell_sums(variance, digits):
    """Sums over k >= m of e^(-k^2 / 2 variance) for every m, smallest terms first."""
    v = real(variance)
    last = int(mpmath.sqrt(2 * v * digits * 2.4)) + 2
    sums = [mpmath.mpf(0)]
    for k in range(last, -1, -1):
        sums.append(sums[-1] + mpmath.exp(-k * k / (2 * v)))
    return sums[:0:-1]


@lru_cache(maxsize=64)
def midpoint_weight(i):
    return mpmath.bernpoly(2 * i, mpmath.mpf(1) / 2) / mpmath.factorial(2 * i)


def smooth_share(v, x):
    """The share of e^(-k^2 / 2v) at |k| >= x, for any real x: a normal tail and 20 odd derivatives at x - 1/2.

    At v = 2^20 what is left out is below sqrt(40!) / (2 pi 2^10)^40 = 10^-128.
    """
    sd = mpmath.sqrt(v)
    z = (x - mpmath.mpf(1) / 2) / sd
    before, hermite, slopes = mpmath.mpf(0), mpmath.mpf(1), mpmath.mpf(0)
    for n in range(1, 40):
        before, hermite = hermite, z * hermite - (n - 1) * before
        slopes += midpoint_weight((n + 1) // 2) * hermite / sd ** (n + 1) if n % 2 else 0
    return mpmath.erfc(z / mpmath.sqrt(2)) + 2 * mpmath.npdf(z) * slopes


def survival(law: Law, m: int, digits: int = 120) -> mpmath.mpf:
    """P(|K| >= m) to `digits` digits after the point."""
    with mpmath.workdps(digits + 10):
        match law:
            case TwoSidedGeometric(rate):
                a = mpmath.exp(-real(rate))
                return 2 * mpmath.power(a, m) / (1 + a)
            case RoundedNormal(sigma_squared):
                return 2 * mpmath.ncdf(-(m - mpmath.mpf(1) / 2) / mpmath.sqrt(real(sigma_squared)))
            case DiscreteNormal(variance) if variance >= WIDE:
                return smooth_share(real(variance), m)
            case DiscreteNormal(variance):
                sums = bell_sums(variance, digits)
                return 2 * sums[m] / (2 * sums[0] - 1) if m < len(sums) else mpmath.mpf(0)
    raise AssertionError(law)


@pytest.fixture(scope="session")
def smooth():
    return smooth_share


@pytest.fixture(scope="session")
def oracle():
    return survival
