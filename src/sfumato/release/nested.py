"""Nested margins: control tables each of which is a sum of the next, as a total, a table of it and a finer one are.

G = A V A' + V_c is then a tree, and G p = r is solved in two passes over the controls without a matrix. Upwards, what
the controls below a cell say of its total, M with variance S, is combined with its own: M + S (r − M) / (S + V_c).
Downwards, a cell is pulled by what its own control still asks for after all above have pulled by q in sum:
p = (r − M − S q) / (S + V_c). Where S + V_c is 0 nothing is left to ask, and p = 0 is one of many solutions; totals
and their errors are the same with any. Hay, Rastogi, Miklau and Suciu 2010 have it for equal variances.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.release.margins import Floats, Margins

Axes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Level:
    """One table of a chain, laid over the axes of its cube: S, 1 / (S + V_c), and the axes that the next one sums."""

    spread: Floats
    gain: Floats
    summed: Axes
    """Counted from the last axis, as several right sides stand before the first."""


def chain(tables: Sequence[Axes]) -> list[int] | None:
    """The places of the tables from the coarsest to the finest; nothing where one is no sum of another.

    >>> chain([(2, 0), (0,), ()]), chain([(0,), (1,)])
    ([2, 1, 0], None)
    """
    order = sorted(range(len(tables)), key=lambda place: len(tables[place]))
    sums = all({*tables[up]} <= {*tables[down]} for up, down in pairwise(order))
    return order if sums else None


def nested(margins: Margins, variance: float, noise: Floats) -> Callable[[Floats], Floats] | None:
    """Solutions of G for tables that nest, one right side or several as rows; nothing where the tables do not."""
    names = margins.table.names
    tables = [tuple(names.index(name) for name in by) for by in margins.by]
    order = chain(tables)
    if order is None:
        return None
    ends = np.cumsum([np.prod(shape, dtype=int) for shape in margins.shapes])[:-1]
    levels = _levels(margins, tables, order, variance, np.split(noise, ends))

    def solve(right: Floats) -> Floats:
        parts = np.split(right, ends, axis=-1)
        pulls = _pulls(levels, [_over(margins, tables[place], parts[place]) for place in order])
        found: list[Floats] = [np.empty(0)] * len(order)
        for place, pull in zip(order, pulls, strict=True):
            found[place] = _stacked(tables[place], pull, parts[place].shape)
        return np.concatenate(found, axis=-1)

    return solve


def _levels(
    margins: Margins, tables: list[Axes], order: list[int], variance: float, noise: list[Floats]
) -> list[Level]:
    """The levels from the coarsest to the finest; the variances of sums are summed from the finest up."""
    levels: list[Level] = []
    finest = Margins(margins.table, (margins.by[order[-1]],)).of(margins.table.possible)
    spread = variance * _over(margins, tables[order[-1]], finest)
    for place, up in zip(reversed(order), [*reversed(order[:-1]), None], strict=True):
        own = _over(margins, tables[place], noise[place])
        total = spread + own
        gain = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        above = () if up is None else tables[up]
        summed = tuple(axis - len(margins.table.shape) for axis in tables[place] if axis not in above)
        levels.insert(0, Level(spread, gain, summed))
        spread = (spread * own * gain).sum(axis=summed, keepdims=True)
    return levels


def _pulls(levels: list[Level], rights: list[Floats]) -> list[Floats]:
    """What each control pulls by, level after level from the coarsest."""
    gaps, below = [], np.zeros(())
    for level, right in zip(reversed(levels), reversed(rights), strict=True):
        gap = right - below
        gaps.append(gap)
        below = (below + level.spread * level.gain * gap).sum(axis=level.summed, keepdims=True)
    pulls, above = [], np.zeros(())
    for level, gap in zip(levels, reversed(gaps), strict=True):
        pulls.append((gap - level.spread * above) * level.gain)
        above = above + pulls[-1]
    return pulls


def _over(margins: Margins, axes: Axes, stacked: Floats) -> Floats:
    """The cells of one table, in the order of its axes, laid over those of the cube."""
    lengths = margins.table.shape
    table = stacked.reshape((*stacked.shape[:-1], *(lengths[axis] for axis in axes)))
    lead = stacked.ndim - 1
    ordered = table.transpose((*range(lead), *(lead + place for place in np.argsort(axes).astype(int))))
    return ordered.reshape((*stacked.shape[:-1], *(n if axis in axes else 1 for axis, n in enumerate(lengths))))


def _stacked(axes: Axes, laid: Floats, shape: tuple[int, ...]) -> Floats:
    """The same back."""
    lead = len(shape) - 1
    others = (axis for axis in range(laid.ndim - lead) if axis not in axes)
    return laid.transpose((*range(lead), *(lead + axis for axis in (*axes, *others)))).reshape(shape)
