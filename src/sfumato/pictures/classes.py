"""Classes: numbers put into at most five groups, by rank or by equal round steps, each with its ends."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.errors import QueryError
from sfumato.pictures.svg import round_step

MOST_CLASSES = 5
SHADES = {1: (3,), 2: (2, 5), 3: (1, 3, 5), 4: (1, 2, 4, 5), 5: (1, 2, 3, 4, 5)}
"""Which of five shades stand for so many classes, as far apart as they go."""


@dataclass(frozen=True)
class Classes:
    """Groups of numbers from low to high; `closed` ones hold both their ends, others not their upper one."""

    ends: tuple[tuple[float, float], ...]
    closed: bool

    def place(self, value: float) -> int:
        """Which class a number is in."""
        if self.closed:
            return min(bisect_left([high for _, high in self.ends], value), len(self.ends) - 1)
        return max(bisect_right([low for low, _ in self.ends], value) - 1, 0)

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
    return Classes(tuple(zip(lows, tops, strict=True)), closed=True)


def steps(values: Sequence[float]) -> Classes:
    """Classes of equal round width; some may be empty, so that the ends are easy to say.

    >>> steps([3, 18, 77]).ends
    ((0, 20), (20, 40), (40, 60), (60, 80))
    """
    low, high = min(values), max(values)
    step = round_step((high - low) / MOST_CLASSES)
    while math.floor(high / step) - math.floor(low / step) >= MOST_CLASSES:
        step = round_step(step * 1.5)
    first, last = math.floor(low / step), math.floor(high / step)
    return Classes(tuple((place * step, (place + 1) * step) for place in range(first, last + 1)), closed=False)


def classes_of(values: Sequence[float], kind: str) -> Classes:
    """The classes of a kind."""
    if kind not in {"quantile", "steps"}:
        raise QueryError(f"Classes by '{kind}' were asked for; a map has classes by 'quantile' or by 'steps'.")
    return quantiles(values) if kind == "quantile" else steps(values)
