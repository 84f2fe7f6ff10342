"""Median: the middle of a column over the rows of a cell, each value within public bounds; it may not be summed."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.privacy import Contribution, exact, positive
from sfumato.schema import Clipped, Sorted
from sfumato.statistics.statistic import Statistic


@dataclass(frozen=True)
class Median(Statistic):
    """The lower of the middle values of a cell; of an empty cell the lowest that there can be."""

    name: ClassVar[str] = "median"
    additive: ClassVar[bool] = False
    column: str
    clip: tuple[Fraction, Fraction]
    step: Fraction
    unit: str

    def __init__(self, column, clip, step=1, unit=""):
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "clip", tuple(exact(end, "clip") for end in clip))
        object.__setattr__(self, "step", positive(step, "step"))
        object.__setattr__(self, "unit", unit or column)

    @property
    def aggregates(self):
        return (Sorted(Clipped(self.column, *self.clip, self.step)),)

    def value(self, columns):
        (rows,) = (columns[one] for one in self.aggregates)
        lowest = int(self.clip[0] / self.step)
        middles = rows.offsets[:-1] + (rows.lengths - 1) // 2
        held = np.append(rows.values, lowest)
        return np.where(rows.lengths > 0, held[np.minimum(middles, len(held) - 1)], lowest)

    @property
    def contribution(self):
        """A row is one above a value or one below it."""
        return Contribution(low=Fraction(-1))

    @property
    def title(self):
        return f"Median {self.column}"


EXAMPLE = Median("wage", (0, 100))
