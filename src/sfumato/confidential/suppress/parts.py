"""Parts: a bound in whole cells of tables that are too large for one tree, as the sum of the bounds of their parts.

However the cost of each cell is shared out among parts, and each cut given to one of them, a pattern costs the sum of
its shares and meets the cuts of every part; so the least costs of the parts add up to a bound (Lagrange). Shared out by
what the cuts of each part are worth in the linear relaxation, the parts add up in fractions of cells to the relaxation,
and each gains in whole cells what a small tree of its own finds: one tree for all would have to branch for all at once.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.confidential.suppress.covers import cover
from sfumato.confidential.suppress.cuts import Cut
from sfumato.confidential.suppress.guard import Task
from sfumato.confidential.suppress.master import Inequality, Master
from sfumato.suppression import Flags, Floats, Integers

GAP = 1e-4
"""What of its least cost the bound of a part may be short of, where its tree is not cut off."""
COVERED = 10
"""How often covers are looked for before a tree is grown."""


class TableParts:
    """The parts of a table by its cuts so far: the rows of each, and what cells cost it."""

    def __init__(self, task: Task, primary: Flags, cuts: Sequence[Cut]) -> None:
        self._task, self._primary = task, primary
        relaxed = Master(task, primary, whole=False)
        for cut in cuts:
            relaxed.add(cut)
        relaxed.solve()
        self._rows, worth = relaxed.rows, relaxed.worth()
        self._branch = _dividing(task, self._rows, worth)
        self._of, self._part = np.unique(_heaviest(self._rows, self._branch), return_inverse=True)
        self.shares, self._most = _shares(task, self._rows, worth, self._part)

    def inside(self, number: int) -> Flags:
        """The cells of the branch that a part is of; its cuts may reach beyond."""
        return np.asarray(self._branch == self._of[number], dtype=bool)

    def tree(self, number: int, nodes: int | None, gap: float = GAP) -> "PartTree":
        """The program of a part alone, in whole cells."""
        own = [self._rows[place] for place in np.flatnonzero(self._part == number).tolist()]
        task = replace(self._task, cost=self.shares[number])
        return PartTree(task, self._primary, own, nodes, gap)

    def bound(self, nodes: int | None) -> tuple[float, Floats]:
        """The bound of the cuts in whole cells, and a choice of cells by the parts that pay most of each."""
        bound, chosen = 0.0, np.where(self._primary, 1.0, 0.0)
        for number in range(len(self.shares)):
            least, here = self.tree(number, nodes).solve()
            bound += least
            chosen = np.where((self._most == number) & ~self._primary, here, chosen)
        return bound, chosen


class PartTree(Master):
    """The program of a part in whole cells, with the covers that its choice in parts of cells fails."""

    def __init__(self, task: Task, primary: Flags, rows: Sequence[Inequality], nodes: int | None, gap: float) -> None:
        super().__init__(task, primary, whole=True, nodes=nodes, gap=gap, rows=rows)
        self._relaxed = Master(task, primary, whole=False, rows=rows)

    def add(self, cut: Cut) -> None:
        super().add(cut)
        self._relaxed.add(cut)

    def solve(self) -> tuple[float, Floats]:
        """The least cost in whole cells, or a bound of it, once no cover is failed or they were looked for enough."""
        for _ in range(COVERED):
            _, chosen = self._relaxed.solve()
            cuts = [Cut(row.cells, row.weights) for row in self.rows if row.least == 1]
            failed = [one for one in (cover(cut, chosen) for cut in cuts) if one is not None]
            for one in failed:
                self.add(one)
            if not failed:
                break
        return super().solve()


def _heaviest(rows: Sequence[Inequality], branch: Integers) -> list[int]:
    """The branch that most of each row lies in."""
    return [int(np.argmax(np.bincount(branch[row.cells], np.abs(row.weights)))) for row in rows]


def _dividing(task: Task, rows: Sequence[Inequality], worth: Floats) -> Integers:
    """Of each cell the branch of the one classification that divides best.

    That is the classification whose branches rows of least worth cross, among those with no branch of over half of all
    cells; the first where all have one.
    """
    linked, found = task.linked, []
    for place in range(len(linked.attributes)):
        branch = linked.branches(place)
        crossed = [float(value) for row, value in zip(rows, worth, strict=True) if np.ptp(branch[row.cells]) > 0]
        found.append((np.bincount(branch).max() > linked.size / 2, sum(crossed), place))
    return linked.branches(min(found)[2])


def _shares(task: Task, rows: Sequence[Inequality], worth: Floats, part: Integers) -> tuple[Floats, Integers]:
    """What each cell costs each part, and the part that pays most of it.

    A part pays what its rows are worth; the rest of a cost is shared out in proportion, that of a cell whose rows are
    worth nothing by how many rows each part has of it.
    """
    count, size = int(part.max(initial=-1)) + 1, task.linked.size
    paid, weight, held = np.zeros((count, size)), np.zeros((count, size)), np.zeros((count, size))
    for row, value, number in zip(rows, worth.tolist(), part.tolist(), strict=True):
        paid[number, row.cells] += value * row.weights
        weight[number, row.cells] += value * np.abs(row.weights)
        held[number, row.cells] += 1
    weight = np.where(weight.sum(0) > 0, weight, held)
    most = np.argmax(weight, axis=0)
    total = weight.sum(0)
    rest = task.cost - paid.sum(0)
    return paid + rest * weight / np.where(total > 0, total, 1.0), most
