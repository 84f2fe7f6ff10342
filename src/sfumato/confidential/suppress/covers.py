"""Covers: what a cut says of whole cells beyond what it says of parts of them.

Let sum_i w_i x_i >= 1 be a cut. Whatever some cells A give to it, the others owe 1 - w(A), and no more counts of any of
them than that is: sum_(i not in A) min(w_i, 1 - w(A)) x_i >= 1 - w(A), a knapsack cover. And as no x_i is broken,
sum_i ceil(t w_i) x_i >= ceil(t) for any t (Chvátal, Gomory): just above 1 it asks for two cells where none is enough.
"""

from collections.abc import Iterator

import numpy as np

from sfumato.confidential.suppress.cuts import Cut
from sfumato.suppression import Floats

TAKEN = 0.3
"""How much of a cell is chosen at the least that may be taken for given."""
SHORT, OWED = 0.02, 1e-6
"""How far a choice must fall short of a cover, and what a cut must still owe."""
TIMES = (1, 2)
"""Just above how many times a cut its weights are rounded up."""
BROKEN = 1 - 1e-6
"""Up to what share a weight is less than the whole."""


def cover(cut: Cut, chosen: Floats) -> Cut | None:
    """The cover of a cut of which a choice in parts of cells falls shortest; None where it meets all."""
    most = max(_covers(cut, chosen), key=lambda one: one.short(chosen), default=None)
    return most if most is not None and most.short(chosen) > SHORT else None


def _covers(cut: Cut, chosen: Floats) -> Iterator[Cut]:
    """The covers that take the cells for given of which most is chosen, none to as many as may be."""
    order = np.argsort(-chosen[cut.cells], kind="stable")
    cells, weights = cut.cells[order], cut.weights[order]
    given = np.concatenate([[0.0], np.cumsum(weights)])
    many = int(np.searchsorted(-chosen[cells], -TAKEN, side="right"))
    for taken in range(min(many, len(cells) - 1) + 1):
        owed = 1 - given[taken]
        if owed <= OWED:
            return
        left = np.minimum(weights[taken:] / owed, 1.0)
        if taken:
            yield Cut(cells[taken:], left)
        for times in TIMES:
            yield Cut(cells[taken:], np.ceil(left * times / BROKEN) / (times + 1))
