"""Simple regression in many cells at once: least squares of y on x, and how far one point more or less moves it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FLAT = 1e-9
"""A spread of x, in squares, below which no line is told: all points stand at one place."""


@dataclass(frozen=True, eq=False)
class Moments:
    """The number of points of every cell, their means, and the centred sums of x², of x·y and of y²."""

    count: Floats
    x: Floats
    y: Floats
    xx: Floats
    xy: Floats
    yy: Floats

    @classmethod
    def of(cls, y: Floats, x: Floats, offsets: Integers) -> "Moments":
        """Of points that stand cell after cell, those of cell i from offsets[i] on."""
        lengths = np.diff(offsets)
        cell, count = np.repeat(np.arange(len(lengths)), lengths), lengths.astype(np.float64)

        def summed(values: Floats) -> Floats:
            return np.asarray(np.bincount(cell, values, len(lengths)), dtype=np.float64)

        some = np.maximum(count, 1.0)
        middle_x, middle_y = summed(x) / some, summed(y) / some
        right, up = x - middle_x[cell], y - middle_y[cell]
        return cls(count, middle_x, middle_y, summed(right * right), summed(right * up), summed(up * up))

    @cached_property
    def slope(self) -> Floats:
        """The slope of the line; 0 where all points stand at one place."""
        return np.divide(self.xy, self.xx, out=np.zeros_like(self.xy), where=self.xx > FLAT)

    def at(self, place: float) -> Floats:
        """What the line predicts at a place."""
        return np.asarray(self.y + self.slope * (place - self.x), dtype=np.float64)

    def with_point(self, x: Floats | float, y: Floats | float, sign: int = 1) -> "Moments":
        """The same with one point more in every cell, or one of its own less."""
        count = self.count + sign
        some = np.maximum(count, 1.0)
        right, up = x - self.x, y - self.y
        share = sign * self.count / some
        return Moments(
            count,
            np.asarray(self.x + sign * right / some),
            np.asarray(self.y + sign * up / some),
            np.maximum(self.xx + share * right * right, 0.0),
            np.asarray(self.xy + share * right * up),
            np.maximum(self.yy + share * up * up, 0.0),
        )

    def taken(self, cells: Integers) -> "Moments":
        """Those of some cells, each as often as it is named."""
        return Moments(*(getattr(self, name)[cells] for name in ("count", "x", "y", "xx", "xy", "yy")))

    def error_at(self, place: float) -> Floats:
        """The standard error of what is predicted, as of a sample; 0 where there are fewer than three points."""
        left = np.maximum(self.yy - self.slope * self.xy, 0.0)
        variance = np.divide(left, self.count - 2, out=np.zeros_like(left), where=self.count > 2)
        far = np.divide((place - self.x) ** 2, self.xx, out=np.zeros_like(left), where=self.xx > FLAT)
        return np.asarray(np.sqrt(variance * (1 / np.maximum(self.count, 1.0) + far)), dtype=np.float64)


SLOPE, ERROR, MEAN = "slope", "error", "mean"
"""What may be told of a line beside what it predicts: its slope, the standard error of a prediction, the mean of y."""


def told(moments: Moments, what: str, place: float) -> Floats:
    """What is told of the line of every cell: its slope, what it predicts at a place, the error of that, or the mean.

    >>> line = Moments.of(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0]), np.array([0, 3]))
    >>> told(line, "slope", 0.25).tolist(), told(line, "prediction", 0.25).tolist()
    ([1.0], [0.25])
    """
    if what in {SLOPE, MEAN}:
        return moments.slope if what == SLOPE else moments.y
    return moments.error_at(place) if what == ERROR else moments.at(place)
