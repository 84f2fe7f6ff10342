"""Classes: numbers put into at most five groups by rank, each with its ends."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MOST_CLASSES = 5
SHADES = {1: (3,), 2: (2, 5), 3: (1, 3, 5), 4: (1, 2, 4, 5), 5: (1, 2, 3, 4, 5)}
"""Which of five shades stand for so many classes, as far apart as they go."""


@dataclass(frozen=True)
class Classes:
    """Groups of numbers from low to high, which hold both their ends."""

    ends: tuple[tuple[float, float], ...]

    def place(self, value: float) -> int:
        """Which class a number is in."""
        return min(bisect_left([high for _, high in self.ends], value), len(self.ends) - 1)

    def shade(self, value: float) -> int:
        """The shade of a number, 1 to 5, darker or further from the paper the larger it is."""
        return SHADES[len(self.ends)][self.place(value)]


def quantiles(values: Sequence[float]) -> Classes:
    """Classes that hold about equally many numbers; equal numbers are never parted, and ends are numbers that occur.

    >>> quantiles([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).ends
    ((1, 2), (3, 4), (5, 6), (7, 8), (9, 10))
    >>> quantiles([7, 7, 7, 7, 9]).ends
    ((7, 7), (9, 9))
    """
    ordered = sorted(values)
    tops = sorted({ordered[math.ceil(len(ordered) * part / MOST_CLASSES) - 1] for part in range(1, MOST_CLASSES + 1)})
    lows = [ordered[0], *(ordered[bisect_right(ordered, top)] for top in tops[:-1])]
    return Classes(tuple(zip(lows, tops, strict=True)))
