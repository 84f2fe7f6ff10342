"""Own parts: what a contributor has of totals at the least, where it is told of the cells in which it is alone."""

import numpy as np

from sfumato.suppression import Floats, Integers
from sfumato.suppression.equations import Equations


def added_up(entries: Equations, cells: Integers, holdings: Integers, known: Floats) -> Floats:
    """What each holding has of each cell: what is known, else what it has of the parts, by the sum that tells most.

    Cells and holdings are pairs in rising order, with every total that a cell of theirs is a part of; of what is not
    known yet -inf is told. A total with one part alone is that part.
    """
    width = int(max(cells.max(initial=0), holdings.max(initial=0))) + 1
    pair, row, only = _places(entries, cells)
    sums, of = np.unique(row * width + holdings[pair], return_inverse=True)
    total = np.searchsorted(cells * width + holdings, entries.parents[sums // width] * width + sums % width)
    found = known
    while True:
        more = found.copy()
        np.maximum.at(more, total, np.bincount(of, found[pair], len(sums)))
        np.maximum.at(more, pair[only], more[total[of[only]]])
        more = np.where(np.isfinite(known), known, more)
        if np.array_equal(more, found):
            return found
        found = more


def _places(entries: Equations, cells: Integers) -> tuple[Integers, Integers, Integers]:
    """Where each cell is a part: its place among them and the equation; and at which of these it is the only part."""
    parts = np.flatnonzero(entries.signs > 0)
    parts = parts[np.argsort(entries.cells[parts], kind="stable")]
    first = np.searchsorted(entries.cells[parts], cells)
    times = np.searchsorted(entries.cells[parts], cells, side="right") - first
    offset = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    row = entries.rows[parts[np.repeat(first, times) + offset]]
    alone = np.bincount(entries.rows[parts], minlength=entries.count) == 1
    return np.repeat(np.arange(len(cells)), times), row, np.flatnonzero(alone[row])
