"""Flow: the least costly change of cells that may move which makes a sensitive cell uncertain enough."""

import numpy as np

from sfumato.confidential.suppress.guard import Need, Own, Task
from sfumato.suppression import ENOUGH, TINY, Flags, Floats, Integers, Program, Solution

FARTHEST = 1e7
"""The widest room of a cell in a program, in units of its scale: wider ones are never needed and cost digits."""


class Flow:
    """Two columns a cell that may move, its rise and its fall; the equations hold for their difference.

    All is in units of `scale`, which is near what is asked for, so that a program's tolerance is small beside it.
    """

    def __init__(self, task: Task, movable: Flags, cost: Floats) -> None:
        self.cells, self.place = np.flatnonzero(movable), np.where(movable, np.cumsum(movable) - 1, -1)
        self.size, self.width = task.linked.size, len(self.cells)
        equations = task.linked.equations.restricted_to(self.cells, self.size).both_ways(self.width)
        self.program = Program(equations, 2 * self.width, afresh=True)
        self.room = np.concatenate([task.up[self.cells], task.down[self.cells]])
        self.scale = 0.0
        self.program.costs(np.arange(2 * self.width), np.concatenate([cost[self.cells], cost[self.cells]]))

    def free(self, cells: Integers) -> None:
        """Cells that are suppressed already cost nothing more."""
        self.charge(cells, np.zeros(len(cells)))

    def charge(self, cells: Integers, cost: Floats) -> None:
        """What cells cost from now on."""
        self.program.costs(self._columns(cells), np.concatenate([cost, cost]))

    def close(self, cell: int) -> Floats:
        """Take a cell as published; what `reopen` needs to undo it."""
        both = self._columns(np.array([cell]))
        room = self.room[both].copy()
        self.room[both] = 0
        self._restore(both)
        return room

    def reopen(self, cell: int, room: Floats) -> None:
        both = self._columns(np.array([cell]))
        self.room[both] = room
        self._restore(both)

    def change(self, side: Need, own: Own | None = None) -> Floats | None:
        """The least costly change that meets a side; None if none can."""
        if side.need != self.scale:
            self.scale = side.need
            self._restore(np.arange(2 * self.width))
        members = np.array([cell for cell in side.members if self.place[cell] >= 0], dtype=np.int64)
        touched = self._columns(members)
        if own is not None:
            known = self.place[own.cells] >= 0
            mine = self._columns(own.cells[known])
            room = np.minimum(np.concatenate([own.up[known], own.down[known]]), self.room[mine])
            self._bound(mine, room)
            touched = np.union1d(touched, mine)
        solution = self._solve(self._columns(members), side.need * ENOUGH / self.scale, side)
        self._restore(touched)
        if not solution.solved:
            return None
        found = np.zeros(self.size)
        found[self.cells] = (solution.columns[: self.width] - solution.columns[self.width :]) * self.scale
        return found

    def _solve(self, columns: Integers, asked: float, side: Need) -> Solution:
        if len(side.members) == 1 and len(columns):
            if self.room[columns[side.way]] < asked * self.scale * (1 - TINY):
                return Solution(False, np.inf, np.zeros(0))  # everybody knows the cell itself better than that
            fixed = np.array([asked, 0.0] if side.way == 0 else [0.0, asked])
            self.program.bounds(columns, fixed, fixed)
            return self.program.solve()
        signs = np.repeat([side.sign, -side.sign], len(columns) // 2)
        self.program.add_row(asked, asked, columns, signs)
        solution = self.program.solve()
        self.program.drop_last_row()
        return solution

    def _columns(self, cells: Integers) -> Integers:
        return np.concatenate([self.place[cells], self.place[cells] + self.width])

    def _restore(self, columns: Integers) -> None:
        self._bound(columns, self.room[columns])

    def _bound(self, columns: Integers, room: Floats) -> None:
        if self.scale:
            self.program.bounds(columns, np.zeros(len(columns)), np.minimum(room / self.scale, FARTHEST))
