"""Additive noise: independent draws of one law on every possible cell, laid out or listed.

Both have the same law. Of a sparse table, cell by cell, the noise is 0 or one of the changes that `Law.changed` finds
among all its cells, and the value is what the records sum to plus that. A cell is listed if its noisy value is not 0,
so which cells are listed says no more than their noisy values do.
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws, Law
from sfumato.mechanisms.cells import Cells
from sfumato.schema import Table

Integers = NDArray[np.int64]


def laid_out(cells: Cells, law: Law, draws: Draws) -> Integers:
    """The noisy value of every cell of a table, 0 where a cell is impossible."""
    table, true = _table(cells), cells.values
    if not table.impossible:
        noise = law.draw(table.size, draws).reshape(table.shape)
        noise += true
        return noise
    values = np.zeros(table.shape, dtype=np.int64)
    values[table.possible] = true[table.possible] + law.draw(int(table.possible.sum()), draws)
    return values


def scattered(cells: Cells, law: Law, draws: Draws) -> tuple[Integers, Integers]:
    """The cells of a sparse table whose noisy value is not 0: their numbers, increasing, and their values.

    Changes come some at a time and in order, so they meet the records up to the last of them, and those that are
    left when no change is.
    """
    table = _table(cells)
    assert cells.places is not None  # noqa: S101 - asked of sparse tables alone
    places, values = _possible(table, cells.places, cells.values)
    found, start = [], 0
    for some in law.changed(table.size, draws):
        stop = int(np.searchsorted(places, some.places[-1], "right")) if len(some.places) else start
        changed, noise = _possible(table, some.places, some.values)
        here = slice(start, stop)
        found.append(summed(np.concatenate([places[here], changed]), np.concatenate([values[here], noise])))
        start = stop
    found.append(summed(places[start:], values[start:]))
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def _possible(table: Table, places: Integers, values: Integers) -> tuple[Integers, Integers]:
    """The cells that may hold a record, and their values."""
    if not table.ruled:
        return places, values
    possible = table.possible_at(places)
    return places[possible], values[possible]


def summed(places: Integers, values: Integers) -> tuple[Integers, Integers]:
    """The places, increasing and each once, at which values do not sum to 0, and what they sum to.

    >>> [part.tolist() for part in summed(np.array([3, 7, 1, 3, 7]), np.array([5, 2, -1, 1, -2]))]
    [[1, 3], [-1, 6]]
    """
    if not len(places):
        return places, values
    order = np.argsort(places, kind="stable")  # two increasing runs, which this merges in one pass
    places, values = places[order], values[order]
    first = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
    sums = np.add.reduceat(values, first)
    kept = sums != 0
    return places[first[kept]], sums[kept]


def _table(cells: Cells) -> Table:
    assert isinstance(cells.table, Table)  # noqa: S101 - a frame is refused before
    return cells.table
