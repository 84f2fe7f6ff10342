"""Flow: the least costly change of published cells that makes a sensitive cell uncertain enough."""

import numpy as np

from sfumato.suppression import Equations, Flags, Floats, Linked, Program, Solution

FARTHEST = 1e7
"""The widest room of a cell in a program, in units of its scale: wider ones are never needed and cost digits."""


class Flow:
    """Two columns a cell, its rise and its fall; the equations hold for their difference.

    All is in units of `scale`, which is near what is asked for, so that a program's tolerance is small beside it.
    """

    def __init__(self, linked: Linked, up: Floats, down: Floats, cost: Floats) -> None:
        size, entries = linked.size, linked.equations
        both = Equations(
            np.concatenate([entries.rows, entries.rows]),
            np.concatenate([entries.cells, entries.cells + size]),
            np.concatenate([entries.signs, -entries.signs]),
            entries.count,
        )
        self.program = Program(both, 2 * size)
        self.size, self.up, self.down = size, up, down
        self.cells, self.scale = np.arange(size), 0.0
        self.program.costs(np.arange(2 * size), np.concatenate([cost, cost]))

    def free(self, cells: Flags) -> None:
        """Cells that are suppressed already cost nothing more."""
        places = np.flatnonzero(cells)
        self.program.costs(np.concatenate([places, places + self.size]), np.zeros(2 * len(places)))

    def _rescale(self, amount: float) -> None:
        if self.scale and 1e-3 < amount / self.scale < 10:
            return
        self.scale = amount
        room = np.concatenate([self.up, self.down]) / amount
        self.program.bounds(np.arange(2 * self.size), np.zeros(2 * self.size), np.minimum(room, FARTHEST))

    def change(self, cell: int, amount: float) -> Floats | None:
        """The least costly change in which a cell rises by an amount, or falls if it is negative; None if none can."""
        self._rescale(abs(amount))
        pair = np.array([cell, cell + self.size])
        asked = np.array([max(amount, 0), max(-amount, 0)]) / self.scale
        self.program.bounds(pair, asked, asked)
        answer = self.program.solve()
        room = np.array([self.up[cell], self.down[cell]]) / self.scale
        self.program.bounds(pair, np.zeros(2), np.minimum(room, FARTHEST))
        return self._net(answer)

    def _net(self, answer: Solution) -> Floats | None:
        if not answer.solved:
            return None
        return (answer.columns[: self.size] - answer.columns[self.size :]) * self.scale
