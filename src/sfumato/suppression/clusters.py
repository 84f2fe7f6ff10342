"""Clusters: suppressed cells that hang together by equations; what is known of one tells nothing of another."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.suppression.equations import Equations, Floats, Integers, together
from sfumato.suppression.published import Published


@dataclass(frozen=True, eq=False)
class Cluster:
    """Some suppressed cells, the equations between them, and what the published cells of each add up to."""

    cells: Integers
    equations: Equations
    right: Floats
    slack: Floats

    @property
    def size(self) -> int:
        return len(self.cells)


def clusters(published: Published) -> Iterator[Cluster]:
    """All suppressed cells, cluster by cluster, in the order of their first cells."""
    equations, missing = published.linked.equations, published.missing
    entries = missing[equations.cells]
    rows, cells = equations.rows[entries], equations.cells[entries]
    label = together(rows, cells, np.arange(len(missing)))
    told = np.where(missing, 0.0, published.values)
    right = -equations.sums(told)
    sizes = np.bincount(equations.rows, np.abs(told)[equations.cells], equations.count)
    members = np.bincount(equations.rows[~entries], minlength=equations.count)
    # Whole numbers add up exactly; others do so to the last digits that a file has of them.
    exact = np.all(told == np.rint(told))
    slack = published.rounding * members + (0.0 if exact else 1e-12) * sizes
    by_cell = np.argsort(label[missing], kind="stable")
    every = np.flatnonzero(missing)[by_cell]
    by_row = np.argsort(label[cells], kind="stable")
    rows, cells, signs = rows[by_row], cells[by_row], equations.signs[entries][by_row]
    for number in np.unique(label[missing]):
        own = every[slice(*np.searchsorted(label[every], [number, number + 1]))]
        at = slice(*np.searchsorted(label[cells], [number, number + 1]))
        mine, row = np.unique(rows[at], return_inverse=True)
        order = np.lexsort((cells[at], row))
        some = Equations(row[order], np.searchsorted(own, cells[at][order]), signs[at][order], len(mine))
        yield Cluster(own, some, right[mine], slack[mine])
