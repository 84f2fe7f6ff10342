"""Master: the choice of cells that costs least among those that all cuts allow, in parts of cells or in whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.confidential.suppress.cuts import Cut
from sfumato.confidential.suppress.guard import Task
from sfumato.suppression import Flags, Floats, Integers

STRAIGHT = (("mip_allow_restart", False), ("mip_heuristic_effort", 0.0))
"""A tree of few nodes is grown once: begun anew it is left where it stands. Of one part of a table of three
classifications the bound rose from 7.84 to 7.96 million and the choice fell from 8.07 to 7.99, in half of the time."""


@dataclass(frozen=True, eq=False)
class Inequality:
    """Cells of which a weighted sum is no less than `least`."""

    cells: Integers
    weights: Floats
    least: float


class Master:
    """The master program: the least cost of a choice of cells that all cuts so far allow."""

    def __init__(
        self,
        task: Task,
        primary: Flags,
        *,
        whole: bool,
        nodes: int | None = None,
        gap: float = 0.0,
        rows: Sequence[Inequality] | None = None,
    ) -> None:
        import highspy

        self.task, self.primary, self.whole = task, primary, whole
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (("output_flag", False), ("threads", 1), *STRAIGHT):
            self._highs.setOptionValue(option, value)
        self.grow(nodes, gap)
        size, self._all = task.linked.size, np.arange(task.linked.size, dtype=np.int32)
        self._scale = float(task.cost[~primary].max(initial=1.0))
        self._low, self._high = np.where(primary, 1.0, 0.0), np.where(task.fixed & ~primary, 0.0, 1.0)
        self._highs.addVars(size, self._low, self._high)
        self._highs.changeColsCost(size, self._all, np.where(primary, 0.0, task.cost / self._scale))
        if whole:
            self._highs.changeColsIntegrality(size, self._all, np.full(size, highspy.HighsVarType.kInteger))
        self.rows: list[Inequality] = []
        for row in self._alone() if rows is None else rows:
            self._add(row)

    def _alone(self) -> Iterator[Inequality]:
        """A cell whose equation has no other missing member is known, so a best pattern has no such secondary cell."""
        entries = self.task.linked.equations
        has_primary = np.bincount(entries.rows, self.primary[entries.cells], entries.count) > 0
        for row in np.flatnonzero(~has_primary).tolist():
            members = entries.members(row)
            for cell in members.tolist():
                yield Inequality(members, np.where(members == cell, -1.0, 1.0), 0.0)

    def grow(self, nodes: int | None, gap: float) -> None:
        """How large a tree becomes from here on, and how near to its least cost."""
        self._highs.setOptionValue("mip_rel_gap", gap)
        if nodes is not None:
            self._highs.setOptionValue("mip_max_nodes", nodes)

    def add(self, cut: Cut) -> None:
        self._add(Inequality(cut.cells, cut.weights, 1.0))

    def _add(self, row: Inequality) -> None:
        self.rows.append(row)
        self._highs.addRow(row.least, np.inf, len(row.cells), row.cells.astype(np.int32), row.weights)

    def worth(self) -> Floats:
        """What each row of the last solution is worth, in parts of cells: by how much a cost would fall without it."""
        return np.maximum(np.asarray(self._highs.getSolution().row_dual, dtype=np.float64), 0) * self._scale

    def hold(self, pattern: Flags, part: Flags) -> None:
        """Leave only a part of the cells open to choice; the others are as a pattern has them."""
        same = np.where(pattern, 1.0, 0.0)
        low, high = np.where(part, self._low, same), np.where(part, self._high, same)
        self._highs.changeColsBounds(len(same), self._all, low, high)

    def solve(self) -> tuple[float, Floats]:
        """The least cost, or a bound of it where a tree was cut off, and the choice that was found to cost least."""
        self._highs.run()
        chosen, told = np.asarray(self._highs.getSolution().col_value, dtype=np.float64), self._highs.getInfo()
        if len(chosen) != self.task.linked.size:
            chosen = np.where(self.primary, 1.0, 0.0)
        if self.whole:
            return float(told.mip_dual_bound) * self._scale, np.clip(np.rint(chosen), 0, 1)
        return float(told.objective_function_value) * self._scale, np.clip(chosen, 0, 1)
