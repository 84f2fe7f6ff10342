"""Cuts: what every safe pattern must suppress, as inequalities between cells (Benders' capacity cuts).

Let x_i be 1 where cell i is suppressed, and y any change of the table that published numbers allow: M y = 0 and
-down_i x_i <= y_i <= up_i x_i. For every row combination r = e_p - M' lambda, y_p = r y, so a side that needs y_p >= d
asks for sum_i (r_i+ up_i + r_i- down_i) x_i >= d; as x is 0 or 1, a coefficient above d may be lowered to d. Whatever
lambda is, the inequality holds, so a solver's rounding costs sharpness and never truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.suppress.guard import Need, Own, Task
from sfumato.suppression import Flags, Floats, Integers, Program


@dataclass(frozen=True, eq=False)
class Cut:
    """Cells of which a weighted sum must be at least 1."""

    cells: Integers
    weights: Floats

    def short(self, chosen: Floats) -> float:
        """How much a choice of cells, in part or in whole, falls short of it."""
        return 1.0 - float(self.weights @ chosen[self.cells])


Asked = tuple[Need, Own | None]
"""A side, and what of the room of cells the attacker leaves that it is asked against."""


def rooms(task: Task, asked: Asked) -> tuple[Floats, Floats]:
    """How far cells can move along with a side and against it, in units of what it needs."""
    side, own = asked
    up, down = task.up, task.down
    if own is not None:
        up, down = up.copy(), down.copy()
        up[own.cells], down[own.cells] = own.up, own.down
    return (up / side.need, down / side.need) if side.way == 0 else (down / side.need, up / side.need)


def row_cuts(task: Task, primary: Flags, every: Sequence[Asked]) -> list[Cut]:
    """The cuts of single equations: a cell cannot move unless others of its equation do."""
    entries, found = task.linked.equations, []
    starts = np.searchsorted(entries.rows, np.arange(entries.count + 1))
    of_cell: dict[int, list[int]] = {}
    for entry, cell in enumerate(entries.cells.tolist()):
        of_cell.setdefault(cell, []).append(entry)
    for asked in every:
        (cell,), (up, down) = asked[0].members, rooms(task, asked)
        for entry in of_cell.get(cell, ()):
            row = int(entries.rows[entry])
            cells, signs = (column[starts[row] : starts[row + 1]] for column in (entries.cells, entries.signs))
            mixed = -signs * entries.signs[entry]
            weights = np.where(mixed > 0, up[cells], down[cells])
            found.append(_owed(task, primary, cells[cells != cell], weights[cells != cell]))
    return [cut for cut in found if cut is not None]


def _owed(task: Task, primary: Flags, cells: Integers, weights: Floats) -> Cut | None:
    """The cut of weights, less what the sensitive cells give to it anyway; None where they give it all."""
    owed = 1.0 - float(weights[primary[cells]].sum())
    if owed <= 1e-7:
        return None
    free = (weights > 0) & ~primary[cells] & ~task.fixed[cells]
    return Cut(cells[free], np.minimum(weights[free] / owed, 1.0))


class Cutter:
    """How far one side may go where cells are suppressed in part, and the cut where that is too little."""

    def __init__(self, task: Task, primary: Flags) -> None:
        self.task, self.primary = task, primary
        self.program = Program(task.linked.equations, task.linked.size)
        self.program.primal(chosen=True)
        self._last: int | None = None
        self._bounds: tuple[float, Floats] | None = None

    def cut(self, asked: Asked, chosen: Floats) -> Cut | None:
        """A cut that a choice of cells violates; None where the side is protected."""
        (cell,), (up, down) = asked[0].members, rooms(self.task, asked)
        room_up, room_down = np.minimum(up, 1), np.minimum(down, 1)
        self.program.bounds(np.arange(len(chosen)), -room_down * chosen, room_up * chosen)
        self.program.bounds(np.array([cell]), np.zeros(1), np.full(1, 1.0))
        if self._last is not None:
            self.program.costs(np.array([self._last]), np.zeros(1))
        self.program.costs(np.array([cell]), np.array([-1.0]))
        self._last = cell
        solution = self.program.solve()
        if not solved_short(solution.solved, solution.objective):
            return None
        return self._of(cell, up, down, self.program.duals())

    def _of(self, cell: int, up: Floats, down: Floats, duals: Floats) -> Cut | None:
        entries = self.task.linked.equations
        mixed = np.bincount(entries.cells, entries.signs * duals[entries.rows], len(up))
        mixed[np.abs(mixed) < 1e-9] = 0
        mixed[cell] += 1
        mixed[np.abs(mixed) < 1e-9] = 0
        with np.errstate(invalid="ignore"):
            weights = np.where(mixed > 0, mixed * up, np.where(mixed < 0, -mixed * down, 0))
        cells = np.flatnonzero(weights > 0)
        return _owed(self.task, self.primary, cells, weights[cells])


def solved_short(solved: bool, objective: float) -> bool:
    return solved and -objective < 1 - 1e-6
