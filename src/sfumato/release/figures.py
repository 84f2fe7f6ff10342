"""Figures: how a number is written for people, a margin beside it, and texts in columns."""

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from sfumato.errors import ReleaseError

EXACT = re.compile(r"-?[0-9]{1,80}(\.[0-9]{1,80})?(e[+-]?[0-9]{1,2})?(/0*[1-9][0-9]{0,79})?")
"""How exact numbers are written: none so long that reading it takes long."""
Rounding = Callable[[float], int]
"""`round` to the nearest, `math.ceil` to what is not less, `math.floor` to what is not more."""
FINEST = Fraction(1, 10**40)
"""No step is finer, and none is coarser than so many to one."""
_MOST_DECIMALS = 9
"""The most decimals that a number is written with."""


def exactly(written: object) -> Fraction:
    """An exact number as a file states it: 3, 0.25 or 1/131072; anything else is refused before it is computed with.

    >>> exactly("1/4")
    Fraction(1, 4)
    """
    if not isinstance(written, str) or not EXACT.fullmatch(written):
        raise ReleaseError(
            f"The manifest states {str(written)[:40]!r} as a number; it was edited, or is not one of ours."
        )
    over, _, under = written.partition("/")
    return Fraction(over) / int(under or 1)


def exact_step(written: object) -> Fraction:
    """A step as a file states it: above 0, and within what a number can be counted in.

    >>> exact_step("0.5")
    Fraction(1, 2)
    """
    step = exactly(written)
    if not FINEST <= step <= 1 / FINEST:
        raise ReleaseError(f"The manifest states a step of {written}; it was edited, or is not one of ours.")
    return step


def number(value: float, way: Rounding = round) -> str:
    """A number as people read it: whole ones with separators, small ones to three digits, a true minus sign.

    A margin is rounded up and an interval outward, so that they hold at their level as they are written.

    >>> number(-1234567), number(0.04567), number(12.5), number(823.1, math.ceil), number(-12.34, math.floor)
    ('−1,234,567', '0.0457', '12.5', '824', '−12.4')
    """
    if value == round(value) or abs(value) >= 100:
        text = f"{on_digit(value, 0, way):,.0f}"
    elif abs(value) >= 1:
        text = f"{on_digit(value, -1, way):.1f}"
    else:
        text = f"{on_digit(value, math.floor(math.log10(abs(value))) - 2, way):.3g}"
    return text.replace("-", "−")


def beside(value: float, margin: float) -> str:
    """A number to the precision of its margin: in full where it has none, to a tenth where that is below 10.

    >>> beside(311.3, 0), beside(1234.0625, 0), beside(504.5, 3.5), beside(504.5, 35.0), beside(40, 3.5)
    ('311.3', '1,234.0625', '504.5', '504', '40')
    """
    if abs(value) < 100 or value == round(value) or margin >= 10:
        return number(value)
    return in_full(value) if margin == 0 else to_digit(value, -1)


def in_full(value: float) -> str:
    """A number with all its decimals, up to six: those of a published total; more are what a float leaves.

    >>> in_full(311.3), in_full(1010.2999999998137), in_full(-0.5)
    ('311.3', '1,010.3', '−0.5')
    """
    whole, _, decimals = to_digit(value, -6).partition(".")
    return f"{whole}.{left}" if (left := decimals.rstrip("0")) else whole


def like(margin: float, value: float) -> str:
    """A margin to the precision of the number it belongs to: whole beside whole numbers, once it is 10 or more.

    >>> like(75.9, 310), like(9.94, 310), like(12.34, 0.5)
    ('76', '10.0', '12.4')
    """
    if margin >= 10 and value == round(value):
        return number(on_digit(margin, 0, math.ceil))
    return number(margin, math.ceil)


def beyond(value: float, margin: float) -> tuple[str, str]:
    """A number and its margin, each with as many decimals as show that the number is larger, where it is.

    >>> beyond(1900, 1163.1), beyond(1160, 1159.5), beyond(1160.4, 1160.2)
    (('1,900', '1,164'), ('1,160', '1,159.5'), ('1,160.4', '1,160.2'))
    """
    texts = number(value), number(margin, math.ceil)
    for place in range(_MOST_DECIMALS):
        if value <= margin or _read(texts[0]) > _read(texts[1]):
            break
        whole = value == round(value)
        texts = number(value) if whole else to_digit(value, -1 - place), to_digit(margin, -1 - place, math.ceil)
    return texts


def _read(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def last_digit(margin: float) -> int:
    """The power of ten of the last digit that a margin leaves a number: the second digit of its own, rounded up.

    >>> last_digit(12345), last_digit(76.4), last_digit(0.987), last_digit(9.92)
    (3, 0, -2, 0)
    """
    first = math.floor(math.log10(margin)) - 1
    return first + (on_digit(margin, first, math.ceil) >= 10.0 ** (first + 2))


def to_digit(value: float, place: int, way: Rounding = round) -> str:
    """A number to a power of ten, written with as many decimals as that has.

    >>> to_digit(1234567, 3), to_digit(-47.318, -1), to_digit(-0.4, 0), to_digit(104, 1, math.ceil)
    ('1,235,000', '−47.3', '0', '110')
    """
    return f"{on_digit(value, place, way):,.{min(max(-place, 0), 9)}f}".replace("-", "−")


def on_digit(value: float, place: int, way: Rounding = round) -> float:
    """A number to a power of ten; what is on it but for the last bits of a float stays there.

    >>> on_digit(1234567, 3), on_digit(0.1 + 0.2, -1, math.ceil), on_digit(-104, 1, math.floor)
    (1235000, 0.3, -110.0)
    """
    if way is round:
        return round(value, -place) + 0.0 if isinstance(value, float) else round(value, -place)
    steps = way(round(value / 10**place if place >= 0 else value * 10**-place, 9))
    return float(steps * 10**place) if place >= 0 else steps / 10**-place + 0.0


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Texts in columns that line up, the last ones, which are numbers, on the right.

    >>> print(aligned(["a", "bb"], [["1", "2"]], numbers=1))
    a  bb
    1   2
    """
    lines = [heads, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    turns = [str.ljust] * (len(heads) - numbers) + [str.rjust] * numbers
    laid = ([turn(one, width) for turn, one, width in zip(turns, line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in laid)
