"""The oracle: survival functions computed by mpmath, with none of the code under test."""

from functools import lru_cache

import mpmath
import pytest

from sfumato.draws import DiscreteNormal, Law, RoundedNormal, TwoSidedGeometric


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


def survival(law: Law, m: int, digits: int = 120) -> mpmath.mpf:
    """P(|K| >= m) to `digits` digits after the point."""
    with mpmath.workdps(digits + 10):
        match law:
            case TwoSidedGeometric(rate):
                a = mpmath.exp(-real(rate))
                return 2 * mpmath.power(a, m) / (1 + a)
            case RoundedNormal(sigma_squared):
                return 2 * mpmath.ncdf(-(m - mpmath.mpf(1) / 2) / mpmath.sqrt(real(sigma_squared)))
            case DiscreteNormal(variance):
                sums = bell_sums(variance, digits)
                return 2 * sums[m] / (2 * sums[0] - 1) if m < len(sums) else mpmath.mpf(0)
    raise AssertionError(law)


@pytest.fixture(scope="session")
def oracle():
    return survival
