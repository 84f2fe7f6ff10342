"""Tidy rows: rows made whole numbers or numbers from 0 on, within the cells whose totals they were fitted to."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import how_many
from sfumato.release.noisy import Floats


@dataclass(frozen=True, eq=False)
class Tidied:
    """Fitted rows, the cell of each, and the unit they are in."""

    fitted: Floats
    cells: NDArray[np.int32]
    unit: str

    def values(self, *, nonnegative: bool, whole: bool) -> Floats:
        found = self.from_0_on if nonnegative else self.fitted
        return rounded(found, self.cells) if whole else found

    @cached_property
    def from_0_on(self) -> Floats:
        """The nearest rows that are not negative and have the same total in each cell, or 0 where that is negative."""
        return projected(self.fitted, self.cells)

    def note(self, *, nonnegative: bool, whole: bool) -> str:
        """What tidying changed, for whoever reads the product; the numbers are arithmetic on published ones."""
        said = []
        if nonnegative:
            below, raised = int((self.fitted < 0).sum()), max(0.0, float((self.from_0_on - self.fitted).sum()))
            said.append(
                f"{how_many(below, 'row', 'below 0 was', 'below 0 were')} set to 0 and the others of the same cell "
                "lowered; cells with a total below 0 were set to 0, which raises the total of all by "
                f"{raised:,.1f} {self.unit}."
            )
        if whole:
            said.append("Rows are rounded to whole numbers such that any cell keeps its total to the nearest one.")
        if said:
            said.append("Errors are those of the rows before that.")
        if nonnegative:
            said.append("Totals of few rows are biased upwards.")
        return " ".join(said)


def projected(values: Floats, cells: NDArray[np.integer]) -> Floats:
    """The nearest values from 0 on with the same sum in each cell (Held, Wolfe and Crowder 1974).

    >>> projected(np.array([5.0, 1.0, -2.0, -3.0, 1.0]), np.array([0, 0, 0, 1, 1])).tolist()
    [4.0, 0.0, 0.0, 0.0, 0.0]
    """
    order = np.lexsort((-values, cells))
    sorted_, cell = values[order], cells[order]
    starts = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
    sizes = np.diff(np.r_[starts, len(cell)])
    sums = np.cumsum(sorted_)
    before = np.repeat(np.r_[0.0, sums[starts[1:] - 1]], sizes)
    rank = np.arange(len(cell)) - np.repeat(starts, sizes) + 1
    # The k largest stay positive, k the last rank whose value exceeds what the first k would be lowered by.
    lowered = (sums - before - np.repeat(_totals(sorted_, starts), sizes)) / rank
    kept = np.where(sorted_ > lowered, rank, 0)
    last = np.maximum.reduceat(kept, starts) if len(starts) else np.zeros(0, dtype=np.int64)
    cut = np.where(last > 0, lowered[starts + np.maximum(last, 1) - 1], np.inf)
    found = np.empty_like(values)
    found[order] = np.maximum(sorted_ - np.repeat(cut, sizes), 0.0)
    return found


def _totals(sorted_: Floats, starts: NDArray[np.intp]) -> Floats:
    """The sums of the cells, or 0 where they are negative."""
    return np.maximum(np.add.reduceat(sorted_, starts), 0.0)


def rounded(values: Floats, cells: NDArray[np.integer]) -> Floats:
    """Whole numbers, each within one of its value, whose sums over a cell are the sums rounded.

    >>> rounded(np.array([0.4, 0.4, 0.4, 2.5]), np.array([0, 0, 0, 1])).tolist()
    [0.0, 1.0, 0.0, 2.0]
    """
    order = np.argsort(cells, kind="stable")
    cell = cells[order]
    starts = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
    sizes = np.diff(np.r_[starts, len(cell)])
    sums = np.cumsum(values[order])
    within = np.rint(sums - np.repeat(np.r_[0.0, sums[starts[1:] - 1]], sizes))
    steps = np.diff(within, prepend=0.0)
    steps[starts] = within[starts]
    found = np.empty_like(values)
    found[order] = steps
    return found
