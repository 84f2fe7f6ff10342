"""Integer bounds, at any precision, on the exponentials and normal tails that noise laws are made of.

Every function returns integers (low, high) with low <= 2^bits * value <= high. All quantities are positive, and each
rounding goes down on the way to `low` and up on the way to `high`, so the enclosure holds whatever the working
precision; precision only decides how narrow it is. Python integers carry no global state, so threads are safe.
"""

from fractions import Fraction
from functools import lru_cache
from math import factorial, isqrt

_SMOOTH = 2**10  # from this variance on, few terms replace a sum over all integers

Bounds = tuple[int, int]


def ceiling(a: int, b: int) -> int:
    """Return the least integer at or above a/b.

    >>> ceiling(7, 2), ceiling(8, 2)
    (4, 4)
    """
    return -(-a // b)


def _series(z: int, first: int, stride: int, work: int) -> Bounds:
    """Bounds on 2^work (1 + x/d + x^2/(d d') + ...), d, d', ... = first, first + stride, ..., z <= 2^work x < z + 1."""
    low = term = 1 << work
    divisor = first
    while term:
        term = (term * z >> work) // divisor
        low += term
        divisor += stride
    high = term = 1 << work
    divisor = first
    while term > 1 or 2 * (z + 1) > divisor << work:
        term = ceiling(term * (z + 1), divisor << work)
        high += term
        divisor += stride
    # The last term is one unit at most and each one left out is at most half the one before.
    return low, high + 1


def exponential(x: Fraction, bits: int) -> Bounds:
    """Bounds on 2^bits e^x for x >= 0, by Taylor's series at x / 2^h < 2^-8 and h squarings.

    >>> exponential(Fraction(1), 10)      # 1024 e = 2783.5...
    (2783, 2784)
    """
    squarings = 8 + int(x).bit_length()
    work = bits + squarings + 8
    low, high = _series((x.numerator << (work - squarings)) // x.denominator, 1, 1, work)
    for _ in range(squarings):
        low = low * low >> work
        high = ceiling(high * high, 1 << work)
    return low >> (work - bits), ceiling(high, 1 << (work - bits))


@lru_cache(maxsize=256)
def exponential_minus(x: Fraction, bits: int) -> Bounds:
    """Bounds on 2^bits e^-x for x >= 0.

    >>> exponential_minus(Fraction(1), 10)      # 1024 / e = 376.7...
    (376, 377)
    """
    if x >= bits:  # e^-x <= e^-bits < 2^-bits
        return 0, 1
    low, high = exponential(x, bits + 8)
    return (1 << (2 * bits + 8)) // high, ceiling(1 << (2 * bits + 8), low)


def _inverse_tangent(n: int, work: int) -> int:
    """2^work arctan(1/n), off by less than `work` units: each of fewer than work - 1 terms is off by less than one."""
    power = (1 << work) // n
    total, k = power, 1
    while power:
        power //= n * n
        k += 2
        total += power // k if k % 4 == 1 else -(power // k)
    return total


@lru_cache(maxsize=64)
def pi(bits: int) -> Bounds:
    """Bounds on 2^bits pi, by Machin's formula 16 arctan(1/5) - 4 arctan(1/239).

    >>> pi(10)      # 1024 * 3.14159 = 3216.9...
    (3216, 3217)
    """
    guard = 16 + bits.bit_length()
    work = bits + guard
    total = 16 * _inverse_tangent(5, work) - 4 * _inverse_tangent(239, work)
    return (total - 20 * work) >> guard, ceiling(total + 20 * work, 1 << guard)


def erfc_of_root(y: Fraction, bits: int) -> Bounds:
    """Bounds on 2^bits erfc(sqrt(y)) for y >= 0.

    erf(x) = (2 x / sqrt(pi)) e^(-x^2) (1 + 2x^2/3 + (2x^2)^2/(3*5) + ...), Abramowitz and Stegun 7.1.6.

    >>> erfc_of_root(Fraction(1), 10)      # 1024 * 0.157299 = 161.07...
    (161, 162)
    """
    if y >= bits:  # erfc(x) <= e^(-x^2)
        return 0, 1
    guard = 16 + bits.bit_length()
    work = bits + guard
    pi_low, pi_high = pi(work)
    square = 4 * y.numerator << (3 * work)
    root_low = isqrt(square // (y.denominator * pi_high))
    root_high = isqrt(ceiling(square, y.denominator * pi_low)) + 1
    series_low, series_high = _series((2 * y.numerator << work) // y.denominator, 3, 2, work)
    exp_low, exp_high = exponential(y, work)
    erf_low, erf_high = root_low * series_low // exp_high, ceiling(root_high * series_high, exp_low)
    return max(0, (1 << work) - erf_high) >> guard, ceiling((1 << work) - erf_low, 1 << guard)


@lru_cache(maxsize=64)
def _bell_sum(variance: Fraction, start: int, work: int) -> Bounds:
    """Bounds on 2^work times the sum over k >= start >= 1 of e^(-k^2 / 2 variance), for variance <= 2^34."""
    # From n on, with n^2 >= 2 work variance, the sum is at most e^-work (1 + sd): below one unit once work >= 64.
    end = isqrt(int(2 * work * variance)) + 1
    if start >= end:
        return 0, 1
    low, high = exponential_minus(start * start / (2 * variance), work)
    ratio_low, ratio_high = exponential_minus((2 * start + 1) / (2 * variance), work)
    step_low, step_high = exponential_minus(1 / variance, work)
    up = (1 << work) - 1
    sum_low = sum_high = 0
    for _ in range(start, end):
        sum_low += low
        sum_high += high
        low = low * ratio_low >> work
        high = (high * ratio_high + up) >> work
        ratio_low = ratio_low * step_low >> work
        ratio_high = (ratio_high * step_high + up) >> work
    return sum_low, sum_high + 1


@lru_cache(maxsize=64)
def _midpoint_weight(i: int) -> Fraction:
    """The coefficient of x^(2i) in (x/2) / sinh(x/2), which is B_2i(1/2) / (2i)!.

    >>> [str(_midpoint_weight(i)) for i in range(3)]
    ['1', '-1/24', '7/5760']
    """
    terms = (_midpoint_weight(i - j) / (4**j * factorial(2 * j + 1)) for j in range(1, i + 1))
    return -sum(terms, Fraction(0)) if i else Fraction(1)


def _slopes(variance: Fraction, a: Fraction, terms: int) -> Fraction:
    """Minus the sum of w_i f^(2i - 1)(a) / f(a) over i = 1, ..., terms, where f(x) = e^(-x^2 / 2 variance)."""
    before, at, total = Fraction(0), Fraction(1), Fraction(0)
    for n in range(1, 2 * terms):  # f^(n) = (-1)^n h_n f with h_n = (a h_(n-1) - (n - 1) h_(n-2)) / variance
        before, at = at, (a * at - (n - 1) * before) / variance
        total += _midpoint_weight((n + 1) // 2) * at if n % 2 else 0
    return total


def _terms(variance: Fraction, work: int) -> int:
    """The least p with 11 sqrt((2p)!) / (2 pi sd)^(2p) <= 2^-work, or 0 if that takes too many."""
    squared = 39 * variance  # (2 pi)^2 = 39.478...
    return next((p for p in range(1, 64) if 121 * factorial(2 * p) << 2 * work <= squared ** (2 * p)), 0)


@lru_cache(maxsize=64)
def _smooth_tail(variance: Fraction, start: int, bits: int) -> Bounds | None:
    """The bounds of `bell_tail` by the formula of Euler and Maclaurin from a = start - 1/2 on, if it is that close.

    The sum of f(k) = e^(-k^2 / 2v) from start on is the integral of f from a on, less the sum of w_i f^(2i - 1)(a) over
    i = 1, ..., p, up to 2 zeta(2p) / (2 pi)^(2p) times the integral of |f^(2p)|. That derivative is
    sd^(-2p) He_2p(x / sd) f(x), and |He_n(z)| e^(-z^2 / 4) <= 1.0865 sqrt(n!) (Cramer): twice what is left out, over
    the whole sum, is below 11 sqrt((2p)!) / (2 pi sd)^(2p). The whole sum is sqrt(2 pi v) (1 + 2 e^(-2 pi^2 v) + ...).
    """
    if (start - 1) ** 2 >= 2 * bits * variance:  # the share is below erfc((start - 1) / sd sqrt 2) <= e^-bits
        return 0, 1
    guard = 16
    work = bits + guard
    terms = _terms(variance, work)
    if not terms or work + 8 > 28 * variance:  # e^(-2 pi^2 v) < 2^(-28 v)
        return None
    a = start - Fraction(1, 2)
    (low, high), (bell_low, bell_high) = (
        each(a * a / (2 * variance), work) for each in (erfc_of_root, exponential_minus)
    )
    pi_low, pi_high = pi(work)
    square, twice = variance.denominator << 3 * work, 2 * variance.numerator
    root_low, root_high = isqrt(square // (twice * pi_high)), isqrt(ceiling(square, twice * pi_low)) + 1
    more = 2 * _slopes(variance, a, terms)
    size, over = abs(more.numerator), more.denominator << work
    least, most = bell_low * root_low * size // over, ceiling(bell_high * root_high * size, over)
    low, high = (low + least, high + most) if more > 0 else (low - most, high - least)
    return max(0, low - 2) >> guard, ceiling(high + 1, 1 << guard)


def bell_tail(variance: Fraction, start: int, bits: int) -> Bounds:
    """Bounds on 2^bits times the share of e^(-k^2 / 2 variance), k an integer, that lies at |k| >= start >= 1.

    >>> bell_tail(Fraction(1), 1, 10)      # 1024 * (1 - 1 / 2.50663) = 615.48...
    (615, 616)
    """
    if variance >= _SMOOTH and (smooth := _smooth_tail(variance, start, bits)):
        return smooth
    # A rounding error made j steps ago has grown j^2-fold, over at most `end` steps.
    work = max(64, bits + 16 + 2 * isqrt(int(4 * bits * variance) + 1).bit_length())
    tail_low, tail_high = _bell_sum(variance, start, work)
    half_low, half_high = _bell_sum(variance, 1, work)
    one = 1 << work
    return (2 * tail_low << bits) // (one + 2 * half_high), ceiling(2 * tail_high << bits, one + 2 * half_low)
