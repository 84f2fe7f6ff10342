"""Coded column: one column of the records as the numbers that its values stand for, batch after batch."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.columns.codebook import EXACT, Meaning
from sfumato.confidential.engines.columns.scan import is_text
from sfumato.confidential.engines.engine import Unsure
from sfumato.schema import Box

Integers = NDArray[np.integer]
WIDEST = 2**20
"""The widest range of whole numbers that a table of meanings is made for."""


class CodedColumn:
    """What the values of one column stand for: leaves, or whole steps."""

    def __init__(self, column: str, meaning: Meaning | None, kernel: Any) -> None:
        if meaning is None:
            raise Unsure(f"a number that the plan says of column '{column}' has too many digits")
        self.column, self.parts = column, list[Integers]()
        self.meaning, self._kernel = meaning, kernel
        self._dictionary: Any = None
        self._of_dictionary = np.empty(0, dtype=meaning.dtype)
        self._low, self._of_range = 0, np.empty(0, dtype=meaning.dtype)
        self._shift: int | None = None

    def add(self, array: Any) -> None:
        """The next batch."""
        if is_text(array.type):
            part = self._texts(array)
        elif pa.types.is_integer(array.type) and not array.null_count:
            part = self._whole(whole_numbers(array))
        elif pa.types.is_integer(array.type) or pa.types.is_float64(array.type):
            part = self._numbers(array.cast(pa.float64()).to_numpy(zero_copy_only=False))
        else:
            raise Unsure(f"column '{self.column}' is of type {array.type}")
        self.parts.append(part)

    def _texts(self, array: Any) -> Integers:
        coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        if self._dictionary is None or not coded.dictionary.equals(self._dictionary):
            # Nothing, where a record has no text, stands for the same as the empty text.
            table = self.meaning.of_texts([*coded.dictionary.to_pylist(), None])
            if table is None:
                raise Unsure(f"column '{self.column}' is text where a number is read")
            self._dictionary, self._of_dictionary = coded.dictionary, np.asarray(table)
        places = coded.indices
        if places.null_count:
            places = places.cast(pa.int64()).fill_null(len(self._of_dictionary) - 1)
        part = np.empty(len(places), dtype=self.meaning.dtype)
        return self._sound(part, self._kernel.look(_view(places), 0, self._of_dictionary, self.meaning.lacking, part))

    def _whole(self, values: Integers) -> Integers:
        """Whole numbers, by a table of all between the least and the largest where it is small."""
        part = np.empty(len(values), dtype=self.meaning.dtype)
        if not len(values) or self._ranged(values, part):
            return part
        least, most = int(values.min()), int(values.max())
        if max(-least, most) >= EXACT:
            raise Unsure(f"column '{self.column}' has whole numbers beyond 2^53")
        if not self._reaches(least, most):
            return self._numbers(values.astype(np.float64))
        return self._sound(part, self._ranged(values, part))

    def _ranged(self, values: Integers, part: Integers) -> bool:
        """Whether all values have a meaning in the table, which then is in `part`."""
        if self._shift is None:
            return bool(self._kernel.look(values, self._low, self._of_range, self.meaning.lacking, part))
        return bool(self._kernel.shift(values, self._low, self._low + len(self._of_range) - 1, self._shift, part))

    def _reaches(self, least: int, most: int) -> bool:
        """Whether the table of meanings holds a range, made wider if it has to be."""
        if len(self._of_range):
            least, most = min(least, self._low), max(most, self._low + len(self._of_range) - 1)
        if most - least >= WIDEST:
            return False
        if most - least >= len(self._of_range):
            numbers = np.arange(least, most + 1, dtype=np.float64)
            self._low, self._of_range = least, np.asarray(self.meaning.of_numbers(numbers))
            self._shift = _rising(self._of_range, least, self.meaning.lacking)
        return True

    def _numbers(self, numbers: NDArray[np.float64]) -> Integers:
        part = np.asarray(self.meaning.of_numbers(numbers))
        return self._sound(part, not (part == self.meaning.lacking).any())

    def _sound(self, part: Integers, sound: Any) -> Integers:
        if not sound:
            raise Unsure(f"column '{self.column}' has values that have no meaning on arrays")
        return part


def _rising(table: Integers, low: int, lacking: int) -> int | None:
    """What is added to every number from `low` on to find its meaning, where that is all there is to it."""
    shifts = table.astype(np.int64) - np.arange(low, low + len(table))
    plain = bool((table != lacking).all()) and bool((shifts == shifts[0]).all())
    return int(shifts[0]) if plain else None


def _view(array: Any) -> Integers:
    """Integers without nulls where they stand in memory; Arrow's own way would load pandas first."""
    kind = np.dtype(str(array.type))
    if not len(array):
        return np.empty(0, dtype=kind)
    held = np.frombuffer(array.buffers()[1], dtype=kind)
    return held[array.offset : array.offset + len(array)]


def whole_numbers(array: Any) -> Integers:
    """A column of integers without nulls as an array; numbers beyond 64 bits with a sign are DuckDB's."""
    if pa.types.is_uint64(array.type):
        array = array.cast(pa.int64())
    return _view(array)


def inside(box: Box, leaves: dict[str, Integers]) -> NDArray[np.bool_]:
    """Which records of a batch are in a box."""
    return np.asarray(np.logical_and.reduce([mask[leaves[name]] for name, mask in box.masks.items()]))
