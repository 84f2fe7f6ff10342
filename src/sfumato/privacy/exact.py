"""Exact numbers: budgets, clips and steps are fractions, read from text and never from floats."""

import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from sfumato.errors import PlanError

Exact = Fraction | int | str | Decimal


def exact(number: Exact, what: str) -> Fraction:
    """The fraction that a text, integer or decimal means.

    >>> exact("0.1", "epsilon"), exact("1/3", "mu")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(number, float):
        raise PlanError(
            f'{what} is given as the float {number!r}, which is not exact; write it as text: {what} = "{number}".'
        )
    power = re.search(r"[eE][+-]?0*(\d+)\s*$", str(number)) if isinstance(number, (str, Decimal)) else None
    if power and len(power[1]) > 3:
        raise PlanError(f"{what} is {number}, beyond any number that is meant; keep its power of ten under a thousand.")
    try:
        meant = isinstance(number, (Fraction, int, str, Decimal)) and not isinstance(number, bool)
        return Fraction(number if meant else "no number")
    except (ValueError, InvalidOperation, ZeroDivisionError, OverflowError):
        raise PlanError(
            f'{what} is {str(number)[:40]!r}, which is not a number; write it like "0.5", "1e-6" or "1/3".'
        ) from None


def positive(number: Exact, what: str) -> Fraction:
    """An exact number above zero."""
    value = exact(number, what)
    if value <= 0:
        raise PlanError(f"{what} is {plain(value)}; it must be above 0.")
    return value


def plain(number: Fraction) -> str:
    """The shortest text that reads back as the same fraction.

    >>> plain(Fraction("1e-6")), plain(Fraction(7)), plain(Fraction(1, 3))
    ('1e-6', '7', '1/3')
    """
    under = number.denominator
    places = _decimal_places(under)
    if places is None:
        return f"{number.numerator}/{under}"
    digits = abs(number.numerator) * 10**places // number.denominator
    if digits and places > 4 and len(str(digits)) < 4:
        return f"{'-' if number < 0 else ''}{digits}e-{places}"
    text = f"{digits:0{places + 1}d}"
    whole = f"{text[:-places]}.{text[-places:]}" if places else text
    return ("-" if number < 0 else "") + whole


def _decimal_places(under: int) -> int | None:
    """How many decimals a fraction over this has; none where it has more primes than 2 and 5."""
    twos, fives = (under & -under).bit_length() - 1, 0
    odd = under >> twos
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    return max(twos, fives) if odd == 1 else None


def digits_up(number: float | Fraction, digits: int = 3) -> str:
    """A number of a few digits that is not below another, as a promise must not sound better than it is.

    >>> digits_up(0.28901), digits_up(Fraction(1)), digits_up(1234.5), digits_up(0.0)
    ('0.29', '1', '1,240', '0')
    """
    if not number:
        return "0"
    places = digits - 1 - math.floor(math.log10(number))
    exactly = Fraction(number) * Fraction(10) ** places
    return f"{float(math.ceil(exactly) / Fraction(10) ** places):,.{digits + 3}g}"


def digits_down(number: float, digits: int = 3) -> str:
    """A number above 0 of a few digits that is not above another.

    >>> digits_down(0.44037), digits_down(1.0), digits_down(1239.5)
    ('0.44', '1', '1,230')
    """
    places = digits - 1 - math.floor(math.log10(number))
    return f"{float(math.floor(Fraction(number) * Fraction(10) ** places) / Fraction(10) ** places):,.{digits + 3}g}"


def rounded_up(number: float) -> Fraction:
    """A fraction that is never below a float computed to a relative or absolute 1e-12, on a grid of 1e-9.

    >>> rounded_up(0.1)
    Fraction(100000001, 1000000000)
    """
    if not math.isfinite(number):
        raise PlanError(f"A loss came out as {number}; the budget is too large to be converted.")
    return Fraction(math.floor((number * (1 + 1e-12) + 1e-12) * 10**9) + 1, 10**9)
