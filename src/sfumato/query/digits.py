"""Digits: an estimate as it is seen, with the digits that its margin leaves it; records and details keep all."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sfumato.query.estimate import Estimate
from sfumato.release import Withheld, stated
from sfumato.release.figures import Rounding, in_full, last_digit, number, on_digit, to_digit

_SCALES = ((6, 1_000_000), (3, 100_000))
"""The powers of ten that are left out, and from which number on."""
_DECIMALS = 2
_MOST_MORE = 3
"""The most digits that are written beyond those of a margin, so that a number is seen to lie beyond it."""
_WIDEST = 10_000_000
"""From which number on one is too long to be written in full in a table."""


@dataclass(frozen=True)
class Digits:
    """The power of ten that a number is written to; none where its margin is 0 or withheld, or all digits are wanted.

    >>> digits = Digits.of(Estimate(1234567, 7.5e3**2))
    >>> digits.number(1234567), digits.margin(12336.4), digits.error(7500.0), Digits(None).number(1234567)
    ('1,235,000', '13,000', '7,500', '1,234,567')
    """

    place: int | None
    whole: bool = True
    percent: bool = False
    full: bool = False
    """Whether it is known without error, so that all its decimals are written."""
    more: int = 0
    """Digits beyond those that the margin leaves: of a percentage that is wanted closely, as it has no last one."""
    scale: int = 0
    """The power of ten that is left out and named beside the number: 3 for thousands, 6 for millions."""

    @classmethod
    def of(cls, estimate: Estimate, *, exact: bool = False) -> "Digits":
        """By the 90% margin, so that a number reads the same whichever error stands beside it.

        A number that lies beyond its margin has as many digits as show it.

        >>> near = Digits.of(Estimate(583, (582 / 1.645) ** 2))
        >>> near.number(583), near.margin(582)
        ('583', '582')
        """
        margin, digits, value = stated(estimate.moe(0.90)), cls.by_margin(estimate, exact=exact), estimate.value
        if digits.place is None or margin is None or abs(value) <= margin:
            return digits
        longer = (replace(digits, place=digits.place - one, more=digits.more + one) for one in range(_MOST_MORE + 1))
        return next((one for one in longer if one.beyond(value, margin)), digits)

    @classmethod
    def by_margin(cls, estimate: Estimate, *, exact: bool = False) -> "Digits":
        """Those that the margin leaves, two digits of its own."""
        percent = estimate.unit == "share"
        margin, more = None if exact and not percent else stated(estimate.moe(0.90)), 2 if exact and percent else 0
        place = last_digit(100 * margin if percent else margin) - more if margin else None
        whole = not percent and estimate.value == round(estimate.value)
        return cls(place, whole, percent, full=not percent and margin == 0, more=more)

    def beyond(self, value: float, margin: float) -> bool:
        """Whether a number as it is written is larger than its margin as it is written."""
        return abs(self.rounded(value)) > self.of_error(margin).rounded(margin, math.ceil)

    def short(self, value: float, margin: float) -> "Digits":
        """The same digits counted in thousands or millions, where that writes fewer.

        In millions from a million on, in thousands from 100,000 on, with at most two decimals; and in thousands
        wherever the margin leaves nothing below them.

        >>> digits = Digits.of(Estimate(1907345, 9e4**2)).short(1907345, 1.5e5)
        >>> digits.scale, digits.number(1907345), digits.margin(148037.0)
        (6, '1.91', '0.15')
        >>> Digits.of(Estimate(12345, 33**2)).short(12345, 54).scale  # all of its digits are known
        0
        """
        if self.place is None or self.percent:
            return self
        largest, last = max(abs(value), margin), self.last(self.place)
        fitting = (power for power, least in _SCALES if largest >= least and last >= power - _DECIMALS)
        return replace(self, scale=next(fitting, 3 if last >= 3 else 0))

    @classmethod
    def seen(cls, estimate: Estimate, scale: int | None = None) -> "Digits":
        """As a table shows them: in thousands or millions where its table is, or where that is shorter.

        A number whose error is withheld keeps all.

        >>> Digits.seen(Estimate(1907345, 9e4**2)).scale, Digits.seen(Estimate(1907345, 9e4**2), scale=3).scale
        (6, 3)
        """
        digits, margin = cls.of(estimate), estimate.moe(0.90)
        if scale is not None:
            return digits.counted(scale)
        return digits if isinstance(margin, Withheld) else digits.short(estimate.value, margin)

    def counted(self, scale: int) -> "Digits":
        """The same digits counted in a power of ten; all are written where the margin says nothing of them."""
        return self if self.place is None or self.percent else replace(self, scale=scale)

    def number(self, value: float, way: Rounding = round) -> str:
        """The number itself, to the nearest."""
        if self.place is None:
            if self.percent:
                return _plain(100 * value, way)
            if self.full and not self.whole:
                return in_full(value)
            return number(on_digit(value, 0, way)) if self.whole else number(value, way)
        if self.scale:
            last = self.last(self.place)
            return to_digit(on_digit(value, last, way) / 10**self.scale, last - self.scale)
        return to_digit(100 * value if self.percent else value, self.last(self.place), way)

    def ends(self, low: float, high: float) -> tuple[str, str]:
        """An interval about the number, rounded outward."""
        return self.number(low, math.floor), self.number(high, math.ceil)

    def error(self, error: float) -> str:
        """A standard error of the number: two digits of its own, or all."""
        return self.of_error(error).number(error)

    def margin(self, margin: float) -> str:
        """A margin of the number in as many digits, rounded up, so that it holds at its level as it is written."""
        return self.of_error(margin).number(margin, math.ceil)

    def of_error(self, error: float) -> "Digits":
        """The digits of an error of the number."""
        if self.place is None or not error:
            return replace(self, whole=self.whole and (error >= 10 or not error))
        place = last_digit(100 * error if self.percent else error) - self.more
        return replace(self, place=place, whole=self.whole and error == round(error))

    def last(self, place: int) -> int:
        """The last digit that is written: a whole number has no decimals."""
        return max(place, 0) if self.whole else place

    def rounded(self, value: float, way: Rounding = round) -> float:
        """The number to the last digit that is written."""
        return value if self.place is None else on_digit(value, self.last(self.place) - (2 if self.percent else 0), way)

    @property
    def written(self) -> str:
        """How a spreadsheet is to write it."""
        if self.place is None:
            return "0.0%" if self.percent else "#,##0" if self.whole else "#,##0.0#####" if self.full else "#,##0.0##"
        decimals = max(-self.last(self.place), 0)
        point = f".{'0' * decimals}" if decimals else ""
        return f"0{point}%" if self.percent else f"#,##0{point}"


def common_scale(estimates: Iterable[Estimate]) -> int | None:
    """The power of ten that all numbers of a table can be counted in, so that they are compared at a glance.

    Millions where the largest takes eight digits and each has at most two decimals then; thousands where no margin
    leaves anything below them; ones where all are short. None where no unit suits all, and each has its own.

    >>> thousands = [Estimate(5_410_345, 6.7e4**2), Estimate(154_321, 3.6e4**2)]
    >>> common_scale(thousands), common_scale([*thousands, Estimate(310, 46.0**2)])
    (3, 0)
    >>> common_scale([Estimate(1.784e9, 3.1e7**2), Estimate(7_820_000, 5.9e5**2)])
    6
    """
    told = [(one, Digits.by_margin(one)) for one in estimates]
    places = [(one.value, digits.last(digits.place)) for one, digits in told if digits.place is not None]
    if len(places) < len(told) or not places or any(digits.percent for _, digits in told):
        return None
    largest, last = max(abs(value) for value, _ in places), min(place for _, place in places)
    if largest >= _WIDEST and last >= 6 - _DECIMALS:
        return 6
    if last >= 3:
        return 3
    return 0 if largest < _WIDEST else None


def _plain(percent: float, way: Rounding = round) -> str:
    """A percentage whose error says nothing of its digits: to a tenth, and 0 and 100 without.

    >>> _plain(47.318), _plain(100), _plain(-0.04)
    ('47.3', '100', '0')
    """
    return number(percent) if percent == round(percent) else to_digit(percent, -1, way).removesuffix(".0")
