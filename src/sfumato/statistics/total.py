"""Total: the sum of a column over a cell, each record's value held within public bounds."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError
from sfumato.privacy import Contribution, Exact, exact, plain, positive
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Aggregate, Clipped, Reported, Sum, SumOfProducts
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.weighting import MOST_STEPS, check_weighted, require_weight, weight_row

Bounds = tuple[Exact, Exact]


@dataclass(frozen=True)
class Total(Statistic):
    """A sum of values clipped to [low, high] and rounded to a step, record by record.

    Weighted, each record adds its value times its weight, both clipped and rounded to steps.

    >>> Total("wage", clip=(0, 50_000), step=10).contribution.bounds
    (0, 5000)
    >>> weight = Clipped("w", Fraction(0), Fraction(40), Fraction(1))
    >>> Total("wage", clip=(0, 50_000), step=10, weighted=True).with_weight(weight).contribution.bounds
    (0, 200000)
    """

    name: ClassVar[str] = "total"
    column: str
    clip: tuple[Fraction, Fraction] | None
    step: Fraction
    missing: Fraction | None
    unit: str
    power: int
    clip_value: tuple[Fraction, Fraction] | None
    missing_codes: tuple[Fraction, ...] | None
    """The numbers in the data that stand for a missing value."""
    weighted: bool | None
    weighting: Clipped | None = field(default=None, init=False)

    def __init__(  # noqa: PLR0913, PLR0917 - each is a key of a plan
        self,
        column: str,
        clip: Bounds | None = None,
        step: Exact = 1,
        missing: Exact | None = None,
        unit: str = "",
        power: int = 1,
        clip_value: Bounds | None = None,
        weighted: bool | None = None,
        missing_codes: Sequence[Exact] | None = None,
    ) -> None:
        given = None if missing is None else exact(missing, "missing")
        made = {"column": column, "step": positive(step, "step"), "missing": given, "power": power}
        held = {"clip": _bounds(clip, column, "clip"), "clip_value": _bounds(clip_value, column, "clip_value")}
        said = check_weighted(weighted, f"Total {column}")
        codes = read_codes(missing_codes, missing, column)
        vars(self).update(made, unit=unit or column, weighted=said, weighting=None, missing_codes=codes, **held)
        if power not in {1, 2}:
            raise PlanError(f"The power of {column} is {power!r}; a total is of values (1) or of their squares (2).")
        self._refuse_other_clip()
        self._refuse_unfit()
        self._refuse_unbounded()

    def _refuse_other_clip(self) -> None:
        """Values have a clip; squares have a clip_value, which bounds the value that is squared."""
        if self.power == 2 and self.clip is not None:
            low, high = (_root(max(bound, Fraction(0))) for bound in self.clip)
            raise PlanError(
                f"A total of squares of {self.column} has a clip, which bounded the square; the bound is of the value "
                f'now, and has a key of its own: write clip_value = ["{low}", "{high}"] for the same.'
            )
        if self.power == 1 and self.clip_value is not None:
            raise PlanError(f"clip_value of {self.column} is for totals of squares, power = 2; give clip.")

    def _refuse_unbounded(self) -> None:
        """A weighted total has a clip of its own beside that of the weight."""
        if self.weighted and self.held is None:
            key = "clip" if self.power == 1 else "clip_value"
            raise PlanError(
                f"The weighted total of {self.column} has no bounds, so one row could move it without limit. Give "
                f'{key}, for example {key} = ["0", "50000"].'
            )

    def with_weight(self, weight: Clipped) -> "Total":
        if weight.column == self.column:
            raise PlanError(
                f"A total of {self.column} sums the weight already, and weighted = true would weigh it twice. Write "
                'of = { statistic = "count", weighted = true } for the number of units.'
            )
        weighed = copy(self)
        vars(weighed).update(weighting=weight, step=self._value_step * weight.step)
        _ = weighed.contribution
        return weighed

    @property
    def as_written(self) -> "Total":
        unweighed = copy(self)
        vars(unweighed).update(weighting=None, step=self._value_step)
        return unweighed

    @property
    def _value_step(self) -> Fraction:
        """The step of one row's value, before it is weighted."""
        return self.step if self.weighting is None else self.step / self.weighting.step

    def _refuse_unfit(self) -> None:
        """Bounds that hold no value, that a missing value lies beyond, or that steps do not meet."""
        bounds, column = self.held, self.column
        if bounds and not bounds[0] < bounds[1]:
            raise PlanError(f"The clip of {column} runs from {plain(bounds[0])} to {plain(bounds[1])}; it must rise.")
        if bounds and self.missing is not None and not bounds[0] <= self.missing <= bounds[1]:
            raise PlanError(
                f"The value {plain(self.missing)} for a missing {column} lies outside its clip, "
                f"{plain(bounds[0])} to {plain(bounds[1])}; choose one within."
            )
        said = "The clip" if self.power == 1 else "The square of the clip,"
        for bound in (one**self.power for one in bounds or ()):
            if (bound / self.step).denominator != 1:
                raise PlanError(
                    f"{said} {plain(bound)} of {column} is no multiple of the step {plain(self.step)}; "
                    "values live on multiples of the step, so choose bounds that do."
                )
            if abs(bound / self.step) > MOST_STEPS or abs(bound) > MOST_STEPS**4:
                raise PlanError(
                    f"The clip of {column} reaches beyond 2^53 steps of {plain(self.step)}, where values lose digits; "
                    "use a tighter clip or a coarser step."
                )

    @property
    def held(self) -> tuple[Fraction, Fraction] | None:
        """The bounds of one record's value, whether values are summed or their squares."""
        return self.clip if self.power == 1 else self.clip_value

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The sum of clipped values; without a clip, of what units of a register report, which some relations bound."""
        if self.weighted:
            weight = require_weight(self.weighting, self.title)
            return (SumOfProducts(self._clipped, weight),)
        if self.clip is None and self.power == 1:
            return (Sum(Reported(self.column, self.step, self.missing, self.codes)),)
        if self.held is None:
            _ = self.contribution.bounds  # says that there are none
            return ()
        return (Sum(self._clipped),)

    @property
    def _clipped(self) -> Clipped:
        """What one row has, within its bounds."""
        assert self.held is not None  # noqa: S101 - others were refused
        return Clipped(self.column, *self.held, self._value_step, self.missing, self.power, self.codes)

    @property
    def codes(self) -> tuple[Fraction, ...]:
        """The numbers that stand for a missing value; none where the plan names none."""
        return self.missing_codes or ()

    def value(self, columns: Mapping[Aggregate, Any]) -> NDArray[np.int64]:
        (total,) = (columns[one] for one in self.aggregates)
        return np.asarray(total)

    @property
    def contribution(self) -> Contribution:
        if self.held is None:
            return Contribution(self.column, None, None, self.step, self.power)
        (low, high), step = self._clipped.ends, self._value_step
        row = Contribution(self.column, low * step, high * step, step, self.power)
        return weight_row(row, require_weight(self.weighting, self.title)) if self.weighted else row

    @property
    def value_bounds(self) -> ValueBounds | None:
        if self.held is None:
            return None
        bounds = ValueBounds(self.column, *self.held, self._value_step, self.power)
        return bounds if self.weighting is None else bounds.with_weight(self.weighting)

    @property
    def title(self) -> str:
        what = self.column if self.power == 1 else f"{self.column} squared"
        return f"Total {what} in {self.unit}" if self.unit != self.column else f"Total {what}"


def read_codes(written: Sequence[Exact] | None, missing: Exact | None, column: str) -> tuple[Fraction, ...] | None:
    """The numbers that stand for a missing value, which needs a value in their place."""
    if written is None:
        return None
    if missing is None or isinstance(written, str) or not written:
        raise PlanError(
            f"The missing_codes of {column} are a list of numbers that stand for a missing value, and `missing` is the "
            'value that counts in their place: missing = "0", missing_codes = ["999999999"].'
        )
    return tuple(exact(code, "a missing code") for code in written)


def _bounds(written: Bounds | None, column: str, key: str) -> tuple[Fraction, Fraction] | None:
    """Two bounds, exactly, where there are some."""
    if written is None:
        return None
    if not isinstance(written, (tuple, list)) or len(written) != 2:
        raise PlanError(f'The {key} of {column} is a lowest and a highest value, for example {key} = ["0", "50000"].')
    return exact(written[0], key), exact(written[1], key)


def _root(square: Fraction) -> str:
    """The root of a bound: exactly where it has one, else to six digits.

    >>> _root(Fraction(1600)), _root(Fraction(2)), _root(Fraction("2.25"))
    ('40', '1.41421', '1.5')
    """
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return plain(root) if root**2 == square else f"{float(square) ** 0.5:.6g}"


EXAMPLE = Total("wage", clip=(0, 50_000), step=10)
