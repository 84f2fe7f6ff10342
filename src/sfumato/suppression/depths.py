"""Depths: how far cells may fall to somebody who knows which cells are empty, and before any number is published.

No pattern can leave a cell more uncertain downwards than that, so no more is asked. Three cells that are not empty have
three records together, and whoever is alone in one of them knows more.
"""

import numpy as np

from sfumato.suppression.equations import Equations, Floats, Integers
from sfumato.suppression.program import INFINITE, Program

FARTHEST = 1e7
"""The widest room of a cell, in units of what is asked; wider ones are never needed and cost digits."""


class Depths:
    """The program of changes of all cells, where the plan alone and what somebody has bound them."""

    def __init__(self, equations: Equations, deepest: Floats, *, whole: bool) -> None:
        """`deepest` is how far the plan lets each cell fall."""
        self._deepest, self._whole, self._size = deepest, whole, len(deepest)
        self._equations = equations
        self._program: Program | None = None

    def fall(self, cells: Integers, most: float, alone: Integers, known: Integers, rooms: Floats) -> float:
        """How far some cells together may fall, up to `most`, to who is `alone` in some cells and has parts of others.

        `rooms` is how far those `known` ones may fall to it.
        In whole numbers it is rounded down.
        """
        if self._program is None:
            self._program = Program(self._equations.both_ways(self._size), 2 * self._size, afresh=True)
        down = np.minimum(self._deepest, FARTHEST * most)
        down[known] = np.minimum(down[known], rooms)
        up = np.full(self._size, FARTHEST * most)
        up[alone] = down[alone] = 0.0
        program = self._program
        program.bounds(np.arange(2 * self._size), np.zeros(2 * self._size), np.concatenate([up, down]) / most)
        columns = np.concatenate([cells, cells + self._size]).astype(np.int64)
        signs = np.repeat([1.0, -1.0], len(cells))
        program.add_row(-1.0, INFINITE, columns, signs)
        program.costs(columns, signs)
        solution = program.surely()
        program.costs(columns, 0 * signs)
        program.drop_last_row()
        fall = -solution.objective * most
        return float(np.floor(fall + 1e-6 * max(1.0, most))) if self._whole else fall
