"""Pairings: rows of cells two by two in an order that is drawn, what each pair predicts, and the median of that."""

import math
from fractions import Fraction

import numpy as np

from sfumato.draws import Draws
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.noisy_stats import ends_of
from sfumato.release.noisy import Integers
from sfumato.schema import Clipped, Influence, Ragged

FEW_ROWS = 6
"""All pairings are listed of so many rows."""


def all_pairings(count: int) -> list[list[tuple[int, int]]] | None:
    """All ways to pair few rows, each as often as it is drawn; of an odd number one is left out. None of many.

    >>> [len(all_pairings(count)) for count in (0, 1, 2, 3, 4)]
    [1, 1, 1, 3, 3]
    """
    return None if count > FEW_ROWS else _pairings(tuple(range(count)))


def _pairings(rows: tuple[int, ...]) -> list[list[tuple[int, int]]]:
    if len(rows) < 2:
        return [[]]
    if len(rows) % 2:
        return [way for left in range(len(rows)) for way in _pairings(rows[:left] + rows[left + 1 :])]
    first, rest = rows[0], rows[1:]
    return [[(first, one), *way] for at, one in enumerate(rest) for way in _pairings(rest[:at] + rest[at + 1 :])]


def step_of(line: Influence) -> Fraction:
    """The step of what a line is of."""
    assert isinstance(line.y, Clipped)  # noqa: S101 - lines are of values within bounds
    return line.y.step


def paired(of: Influence, rows: Ragged, matchings: int, cells: Cells, draws: Draws) -> Ragged:
    """What pairs of rows predict, rising, of every cell: rows in an order that is drawn, two by two."""
    cell = np.repeat(np.arange(len(rows)), rows.lengths)
    (low, high), place = ends_of(of.y), float(of.at / cells.step)
    found, where = [], []
    for _ in range(matchings):
        order = np.lexsort((*draws.words(2 * len(cell)).reshape(2, -1), cell))
        rank = np.arange(len(cell)) - rows.offsets[cell]
        first = np.flatnonzero((rank % 2 == 0) & (rank + 1 < rows.lengths[cell]))
        one, other = rows.values[order[first]], rows.values[order[first + 1]]
        found.append(predicted(one, other, place, low, high))
        where.append(cell[first])
    at, values = np.concatenate(where), np.concatenate(found)
    sorted_ = np.lexsort((values, at))
    counts = np.bincount(at, minlength=len(rows))
    return Ragged(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), values[sorted_])


def predicted(one: Integers, other: Integers, place: float, low: int, high: int) -> Integers:
    """What the line through two points predicts at a place, held within half a range of the bounds; flat at one x."""
    (y, x), (y_other, x_other) = one.T.astype(np.float64), other.T.astype(np.float64)
    apart = x_other - x
    slope = np.divide(y_other - y, apart, out=np.zeros(len(y)), where=apart != 0)
    middle = (y + y_other) / 2 + slope * (place - (x + x_other) / 2)
    half = (high - low) / 2
    return np.asarray(np.rint(np.clip(middle, low - half, high + half)), dtype=np.int64)


def smooth_sensitivity(held: Integers, low: int, high: int, b: float) -> float:
    """The largest e^(−b k) times how far k + 1 other values may move the median.

    >>> smooth_sensitivity(np.array([0, 5, 10]), 0, 10, 1000.0)      # one other value: from 5 to 0 or to 10
    5.0
    """
    size = len(held)
    if not size:
        return float(high - low)
    middle = (size - 1) // 2
    padded = np.concatenate([np.full(size + 1, low), held, np.full(size + 1, high)]).astype(np.float64)
    start, found = size + 1 + middle, 0.0
    for k in range(size + 1):
        if math.exp(-b * k) * (high - low) <= found:
            break
        above = padded[start : start + k + 2]
        below = padded[start - k - 1 : start + 1]
        found = max(found, math.exp(-b * k) * float((above - below).max()))
    return found
