"""Cuts: what every safe pattern must suppress, as inequalities between cells (Benders' capacity cuts).

Let x_i be 1 where cell i is suppressed, and y any change of the table that published numbers allow: M y = 0 and
-down_i x_i <= y_i <= up_i x_i. For every row combination r = e_p - M' lambda, y_p = r y, so a side that needs y_p >= d
asks for sum_i (r_i+ up_i + r_i- down_i) x_i >= d; as x is 0 or 1, a coefficient above d may be lowered to d. Whatever
lambda is, the inequality holds, so a solver's rounding costs sharpness and never truth. Of d as much is asked as the
audit asks for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.suppress.guard import Need, Own, Task
from sfumato.confidential.suppress.witnesses import Witness
from sfumato.suppression import ENOUGH, Flags, Floats, Integers, Program, Solution

BAND = 1.25
"""How far apart the needs are of sides whose programs have the same bounds."""
WHOLE = 1 - 1e-9
"""What of a cell is all of it."""
MANY = 2_000
"""How many changes are kept from one choice to the next."""
PARTS = 5_040
"""In what parts of one equations are added up in a cut, so that what cancels is 0 exactly."""


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
    for asked in every:
        (cell,), (up, down) = asked[0].members, rooms(task, asked)
        for row in entries.of(cell).tolist():
            cells, signs = entries.cells[entries.span(row)], entries.signs[entries.span(row)]
            weights = np.where(signs != signs[cells == cell], up[cells], down[cells])
            found.append(_owed(task, primary, cells[cells != cell], weights[cells != cell]))
    return [cut for cut in found if cut is not None]


def _owed(task: Task, taken: Flags, cells: Integers, weights: Floats) -> Cut | None:
    """The cut of weights, less what some cells give to it that are taken for suppressed; None where they give it all.

    Whatever is taken, what is left is a cut (a knapsack cover inequality). Cells that do not meet it even all together
    are taken too: one of the others is needed, and is enough.
    """
    owed = ENOUGH - float(weights[taken[cells]].sum())
    if owed <= 1e-7:
        return None
    free = (weights > 0) & ~taken[cells] & ~task.fixed[cells]
    cells, weights = cells[free], np.minimum(weights[free] / owed, 1.0)
    if weights[weights < 1].sum() < 1 - 1e-9:
        cells, weights = cells[weights == 1], weights[weights == 1]
    return Cut(cells, weights)


class Cutter:
    """How far one side may go where cells are suppressed in part, and the cut where that is too little.

    Programs are in units of a band of needs, so that from one side to the next of a like need hardly a bound changes. A
    change through cells that are suppressed whole shows many sides to be protected, for which none is solved.
    """

    def __init__(self, task: Task, primary: Flags) -> None:
        self.task, self.primary, self.programs = task, primary, 0
        self.program = Program(task.linked.equations, task.linked.size)
        self.program.primal(chosen=True)
        self._last: int | None = None
        self._band, self._chosen = 0.0, np.zeros(0)
        self._witnesses: list[Witness] = []
        self._reach = np.zeros((2, 0))

    def begin(self, chosen: Floats) -> None:
        """A choice of cells; what was shown of another holds of it where the cells that showed it are suppressed."""
        self._chosen, self._band = np.where(chosen > WHOLE, 1.0, chosen), 0.0
        self._reach = np.zeros((2, len(chosen)))
        self._witnesses = self._witnesses[-MANY:]
        for one in self._witnesses:
            if np.all(self._chosen[one.cells] == 1):
                self._note(one)

    def raise_to(self, cells: Integers, chosen: Floats) -> None:
        """More of some cells; what was shown of the choice holds as before."""
        self._chosen[cells] = np.where(chosen > WHOLE, 1.0, chosen)
        if self._band:
            self._bound(cells, self.task.up[cells], self.task.down[cells])

    def cut(self, asked: Asked) -> Cut | None:
        """A cut that the choice violates; None where the side is protected."""
        side, own = asked
        (cell,) = side.members
        if own is None and self._reach[side.way, cell] >= side.need * ENOUGH:
            return None
        self._scale(side.need)
        known = None if own is None else own.cells
        if own is not None:
            self._bound(own.cells, own.up, own.down)
        solution = self._farthest(cell, side)
        if known is not None:
            self._bound(known, self.task.up[known], self.task.down[known])
        if not solution.solved:
            return None
        if -solution.objective >= side.need / self._band * ENOUGH:
            self._keep(solution.columns * self._band)
            return None
        return self._of(cell, side.sign, rooms(self.task, asked), self.program.duals())

    def _scale(self, need: float) -> None:
        """The band of a need, and the bounds of all cells in units of it."""
        band = BAND ** math.ceil(math.log(need) / math.log(BAND) - 1e-9)
        if band != self._band:
            self._band = band
            self._bound(np.arange(len(self._chosen)), self.task.up, self.task.down)

    def _bound(self, cells: Integers, up: Floats, down: Floats) -> None:
        chosen = self._chosen[cells]
        self.program.bounds(cells, -np.minimum(down / self._band, 1) * chosen, np.minimum(up / self._band, 1) * chosen)

    def _farthest(self, cell: int, side: Need) -> Solution:
        """The farthest that a cell goes its way, up to what is needed."""
        need, place = side.need / self._band, np.array([cell])
        low, high = (0.0, need) if side.way == 0 else (-need, 0.0)
        self.program.bounds(place, np.array([low]), np.array([high]))
        if self._last is not None:
            self.program.costs(np.array([self._last]), np.zeros(1))
        self.program.costs(place, np.array([-side.sign]))
        self._last = cell
        self.programs += 1
        solution = self.program.solve()
        self._bound(place, self.task.up[place], self.task.down[place])
        return solution

    def _keep(self, change: Floats) -> None:
        witness = Witness.of(change, self.task.up, self.task.down)
        if np.all(self._chosen[witness.cells] == 1):
            self._witnesses.append(witness)
            self._note(witness)

    def _note(self, witness: Witness) -> None:
        for way, reached in enumerate(witness.reach()):
            self._reach[way, witness.cells] = np.maximum(self._reach[way, witness.cells], reached)

    def _of(self, cell: int, sign: float, room: tuple[Floats, Floats], duals: Floats) -> Cut | None:
        entries, (along, against) = self.task.linked.equations, room
        up, down = (along, against) if sign > 0 else (against, along)
        parts = np.bincount(entries.cells, entries.signs * np.rint(duals * PARTS)[entries.rows], len(up))
        parts[cell] += sign * PARTS
        mixed = parts / PARTS
        with np.errstate(invalid="ignore"):
            weights = np.where(mixed > 0, mixed * up, np.where(mixed < 0, -mixed * down, 0))
        cells = np.flatnonzero(weights > 0)
        # Taking the cells that are chosen whole for suppressed makes a cut of the others alone.
        cuts = [_owed(self.task, taken, cells, weights[cells]) for taken in (self.primary, self._chosen == 1)]
        return max((cut for cut in cuts if cut is not None), key=lambda cut: cut.short(self._chosen), default=None)
