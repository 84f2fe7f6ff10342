"""Bound: what the secondary cells of any safe pattern cost at the least, and the best pattern of small tables."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.confidential.suppress.cuts import Asked, Cut, Cutter, row_cuts
from sfumato.confidential.suppress.guard import Task
from sfumato.suppression import Flags, Floats


class Master:
    """The master program: the least cost of a choice of cells that all cuts so far allow."""

    def __init__(self, task: Task, primary: Flags, *, whole: bool, nodes: int | None = None) -> None:
        import highspy

        self.task, self.primary, self.whole = task, primary, whole
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0)):
            self._highs.setOptionValue(option, value)
        if nodes is not None:
            self._highs.setOptionValue("mip_max_nodes", nodes)
        size = task.linked.size
        self._scale = float(task.cost[~primary].max(initial=1.0))
        high = np.where(task.fixed & ~primary, 0.0, 1.0)
        low = np.where(primary, 1.0, 0.0)
        cost = np.where(primary, 0.0, task.cost / self._scale)
        self._highs.addVars(size, low, high)
        self._highs.changeColsCost(size, np.arange(size, dtype=np.int32), cost)
        if whole:
            kinds = np.full(size, highspy.HighsVarType.kInteger)
            self._highs.changeColsIntegrality(size, np.arange(size, dtype=np.int32), kinds)
        self._alone()

    def _alone(self) -> None:
        """A cell whose equation has no other missing member is known, so a best pattern has no such secondary cell."""
        entries = self.task.linked.equations
        has_primary = np.bincount(entries.rows, self.primary[entries.cells], entries.count) > 0
        for row in np.flatnonzero(~has_primary).tolist():
            members = entries.cells[slice(*np.searchsorted(entries.rows, [row, row + 1]))]
            for cell in members.tolist():
                weights = np.where(members == cell, -1.0, 1.0)
                self._highs.addRow(0.0, np.inf, len(members), members.astype(np.int32), weights)

    def add(self, cut: Cut) -> None:
        self._highs.addRow(1.0, np.inf, len(cut.cells), cut.cells.astype(np.int32), cut.weights)

    def solve(self) -> tuple[float, Floats]:
        """The least cost, and the choice that has it."""
        self._highs.run()
        chosen = np.asarray(self._highs.getSolution().col_value, dtype=np.float64)
        bound = self._highs.getInfo().mip_dual_bound if self.whole else self._highs.getInfo().objective_function_value
        if len(chosen) != self.task.linked.size:
            chosen = np.where(self.primary, 1.0, 0.0)
        return float(bound) * self._scale, np.clip(chosen, 0, 1)


@dataclass(eq=False)
class Relaxation:
    """Rounds of cuts until no side violates one, or as many rounds or programs as are allowed."""

    task: Task
    primary: Flags
    every: list[Asked]
    """The sides that a pattern must meet, and against whom."""
    rounds: int = 50
    limit: int | None = None
    """The most programs; a bound of fewer cuts is lower, and as true."""
    cuts: list[Cut] = field(default_factory=list)
    programs: int = 0
    complete: bool = False

    @property
    def spent(self) -> bool:
        """Whether no more programs are allowed."""
        return self.limit is not None and self.programs >= self.limit

    def rows(self, nodes: int | None) -> tuple[float, Floats]:
        """The bound of single equations alone, in whole cells."""
        return self._master(True, nodes).solve()

    def _master(self, whole: bool, nodes: int | None) -> Master:
        choice = Master(self.task, self.primary, whole=whole, nodes=nodes)
        self.cuts = self.cuts or row_cuts(self.task, self.primary, self.every)
        for cut in self.cuts:
            choice.add(cut)
        return choice

    def run(self, *, whole: bool = False, nodes: int | None = None) -> tuple[float, Floats]:
        """The bound, and the choice of cells that reaches it; in whole cells, and of a tree of so many nodes, if asked.

        A tree that is cut off has a bound as well, and the same one every time.
        """
        self.complete = False
        choice = self._master(whole, nodes)
        cutter = Cutter(self.task, self.primary)
        sides = self.every
        bound, chosen = choice.solve()
        for _ in range(self.rounds):
            cutter.begin(chosen)
            new, sides = self._round(cutter, chosen, sides)
            if not new:
                self.complete = not self.spent
                break
            for cut in new:
                choice.add(cut)
            self.cuts += new
            bound, chosen = choice.solve()
        return bound, chosen

    def _round(self, cutter: Cutter, chosen: Floats, sides: list[Asked]) -> tuple[list[Cut], list[Asked]]:
        """The cuts that a choice violates, and the sides that they are of; the others come again once these are met."""
        new: list[Cut] = []
        short: list[Asked] = []
        for side in sides:
            if self.spent:
                return new, short
            before = cutter.programs
            cut = cutter.cut(side)
            self.programs += cutter.programs - before
            if cut is not None and cut.short(chosen) > 1e-6:
                new.append(cut)
                short.append(side)
        if new or len(sides) == len(self.every):
            return new, short
        return self._round(cutter, chosen, self.every)
