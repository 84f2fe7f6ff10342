"""Floors: what cells are at least, as everybody knows which of their parts are not empty.

Empty cells are published as 0. So a total of three parts that are not empty has three records at least, and to a
contributor what it has itself in each part besides.
"""

import numpy as np

from sfumato.confidential.suppress.own_parts import added_up
from sfumato.suppression import Equations, Floats, Insiders


def floors(equations: Equations, own: Floats) -> Floats:
    """What every cell is at least: what it is by itself, or what its parts are together, whichever is more."""
    parts, parents, least = equations.signs > 0, equations.parents, own
    while True:
        sums = np.bincount(equations.rows[parts], least[equations.cells[parts]], equations.count)
        more = least.copy()
        np.maximum.at(more, parents, sums)
        if np.array_equal(more, least):
            return least
        least = more


def known_least(equations: Equations, insiders: Insiders, floor: Floats) -> Floats:
    """What the cell of every entry is at least to its holding: what all know, and what the holding has beyond that."""
    divided = np.zeros(len(floor), dtype=bool)
    divided[equations.parents] = True
    beyond = np.maximum(insiders.amounts - np.maximum(floor[insiders.cells], 0), 0)
    if len(beyond):
        known = np.where(divided[insiders.cells], -np.inf, beyond)
        beyond = np.maximum(beyond, added_up(equations, insiders.cells, insiders.holdings, known))
    return beyond + np.maximum(floor[insiders.cells], 0)
