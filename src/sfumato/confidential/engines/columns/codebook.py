"""Codebook: what a raw value stands for, a leaf or a number of steps, worked out on arrays instead of in SQL.

Each says to the last bit what the dialect of SQL says. A value that it cannot be sure of lacks a meaning, and data
with such a value are read by DuckDB, which finds the meaning or names the rule that is broken.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.sql.dialect import WHOLE, numeral
from sfumato.schema import Attribute, Bands, Clipped, InSteps, Reported

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]
EXACT = 2.0**53
DIGITS = 15
"""The digits up to which DuckDB and Python read a decimal as the same double."""
LACKING = int(np.iinfo(np.int64).min)


class Meaning(ABC):
    """What the values of one column stand for; not a number is a value that is not there."""

    lacking: int
    """What stands for a value without a meaning; of leaves, how many there are."""

    @cached_property
    def dtype(self) -> Any:
        return np.min_scalar_type(self.lacking)

    @abstractmethod
    def of_numbers(self, numbers: Floats) -> Integers: ...

    def of_texts(self, texts: Sequence[str | None]) -> Integers | None:  # noqa: ARG002
        """The meanings of texts; none where numbers are read, as DuckDB alone knows what it takes for a number."""
        return None


@dataclass(frozen=True)
class Listed(Meaning):
    """Codes that are listed one by one, of a column of codes or of a recode."""

    leaves: dict[str, int]
    lacking: int

    def of_texts(self, texts: Sequence[str | None]) -> Integers:
        return np.array([self.leaves.get(one or "", self.lacking) for one in texts], dtype=self.dtype)

    @cached_property
    def _whole(self) -> tuple[Floats, Integers]:
        """The codes that are whole numbers as engines write them, in rising order, and the leaf of each."""
        found = sorted((int(code), leaf) for code, leaf in self.leaves.items() if _is_whole(code))
        return np.array([code for code, _ in found], dtype=float), np.array([leaf for _, leaf in found], dtype=int)

    def of_numbers(self, numbers: Floats) -> Integers:
        codes, leaves = self._whole
        found = np.full(len(numbers), self.lacking, dtype=self.dtype)
        if len(codes):
            place = np.searchsorted(codes, numbers).clip(max=len(codes) - 1)
            same = codes[place] == numbers
            found[same] = leaves[place[same]]
        found[np.isnan(numbers)] = self.leaves.get("", self.lacking)
        return found


@dataclass(frozen=True)
class Banded(Meaning):
    """Bands of a number, and the numbers that mean no answer."""

    edges: Floats
    bands: Integers
    missing: Floats
    nothing: int
    lacking: int

    def of_numbers(self, numbers: Floats) -> Integers:
        band = np.searchsorted(self.edges, numbers, side="right") - 1
        found = np.where(band >= 0, self.bands[band], self.lacking).astype(self.dtype)
        found[~(np.abs(numbers) < EXACT)] = self.lacking
        found[np.isnan(numbers) | np.isin(numbers, self.missing)] = self.nothing
        return found


@dataclass(frozen=True)
class Stepped(Meaning):
    """A value in whole steps: held within the clip, squared where it is to be, rounded half up, held again."""

    one: Clipped

    @cached_property
    def lacking(self) -> int:  # type: ignore[override] # as small as the steps are: it is held for every record
        return int(np.iinfo(self.one.kind).min)

    @property
    def largest(self) -> Fraction:
        """How large a value can be, in steps."""
        return Fraction(max(map(abs, self.one.ends)))

    def of_numbers(self, numbers: Floats) -> Integers:
        one, given = self.one, _given(numbers, self.one)
        nothing = np.isnan(given)
        held = np.maximum(np.minimum(given, float(one.high)), float(one.low))
        held = held * held if one.power == 2 else held
        steps = np.floor(_to_six_places(held / float(one.step)) + 0.5)
        steps[nothing] = 0
        found = steps.astype(np.int64).clip(*one.ends).astype(self.dtype)
        found[nothing] = self.lacking
        return found


@dataclass(frozen=True)
class Standing(Meaning):
    """A value that stands as it is reported: whole steps, 0 or more."""

    one: Reported
    lacking = LACKING
    largest = Fraction(int(EXACT))

    def of_numbers(self, numbers: Floats) -> Integers:
        steps = _given(numbers, self.one) / float(self.one.step)
        steps = np.where(np.isfinite(steps), steps, -1.0)  # those that are no numbers are not sound
        sound = (steps >= 0) & (steps < EXACT) & (np.abs(steps - np.rint(steps)) <= WHOLE)
        return np.where(sound, np.rint(steps), 0).astype(np.int64) + np.where(sound, 0, self.lacking)


def _given(numbers: Floats, one: Clipped | Reported) -> Floats:
    """The numbers, and what those that are not there stand for."""
    if one.missing is None:
        return numbers
    is_missing = np.isnan(numbers) | np.isin(numbers, [float(code) for code in one.codes])
    return np.where(is_missing, float(one.missing), numbers)


def leaf_meaning(attribute: Attribute) -> Meaning | None:
    """What the values of an attribute's column stand for; none where a number in the plan has too many digits."""
    size, missing = len(attribute.levels.leaves), attribute.missing
    leaves = ({"": attribute.missing_leaf} if missing else {}) | attribute.raw_codes
    if not isinstance(attribute.read, Bands):
        return Listed(leaves, size)
    edges = [float(edge) for edge in attribute.read.edges]
    stated = [code for code in map(numeral, missing.codes if missing else ()) if code is not None]
    if not all(_is_short(number) for number in (*edges, *stated)):
        return None
    return Banded(np.array(edges), np.array(attribute.banded), np.array(stated), leaves.get("", size), size)


def value_meaning(one: InSteps) -> Stepped | Standing | None:
    """What the values of a column stand for in steps; none where DuckDB should see to it that sums are exact."""
    if isinstance(one, Reported):
        return Standing(one) if all(_is_short(float(each)) for each in (one.step, *one.codes)) else None
    if not isinstance(one, Clipped):
        return None
    written = (one.low, one.high, one.step, one.missing or Fraction(0), *one.codes)
    return Stepped(one) if all(_is_short(float(each)) for each in written) and Stepped(one).largest < 2**50 else None


def _is_whole(code: str) -> bool:
    """Whether a code is how a whole number is written, in doubles exactly.

    >>> [_is_whole(code) for code in ("7", "-9", "0", "07", "-0", "7.0", "", "9007199254740993", "٣")]
    [True, True, True, False, False, False, False, False, False]
    """
    return re.fullmatch(r"0|-?[1-9][0-9]{0,15}", code) is not None and abs(int(code)) < EXACT


def _is_short(value: float) -> bool:
    """Whether few enough digits say a number for every reader to take it for the same double."""
    digits = f"{value!r}".partition("e")[0].replace(".", "").strip("-0")
    return len(digits) <= DIGITS


def _to_six_places(values: Floats) -> Floats:
    """Rounded to six decimals, halves away from 0, as C and so DuckDB round."""
    scaled = values * 1e6
    whole = np.trunc(scaled)
    rounded = whole + np.where(np.abs(scaled - whole) >= 0.5, np.copysign(1.0, scaled), 0.0)
    return np.where(np.isfinite(scaled), rounded / 1e6, values)
