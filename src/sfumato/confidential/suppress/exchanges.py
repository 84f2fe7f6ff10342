"""Exchanges: a secondary cell is published again where others protect what it did and cost less together."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato.confidential.suppress.clean_up import CLEARLY, CleanUp
from sfumato.confidential.suppress.flow import Flow
from sfumato.confidential.suppress.guard import Need
from sfumato.confidential.suppress.witnesses import Witness
from sfumato.suppression import Integers

LESS = 1 - 1e-6
"""What of the cost of a cell others may cost that it is exchanged for."""


@dataclass(eq=False)
class Exchanges(CleanUp):
    """One pass over the secondary cells, the costliest first; what is exchanged may make room for further exchanges."""

    doing: ClassVar[str] = "exchanging"
    _fresh: list[int] = field(default_factory=list)
    """The cells that were suppressed in the place of the one that is tried."""
    _budget: float = np.inf

    def _flow(self) -> Flow:
        """The program of changes of all cells that may move; those that are missing already cost nothing."""
        task = self.search.task
        return Flow(task, ~task.fixed, np.where(self.search.suppressed, 0.0, task.cost))

    def _alone(self, cell: int) -> bool:
        """Whether it is the one missing cell beside a sensitive one, and the cheapest that could be."""
        entries, suppressed = self.search.task.linked.equations, self.search.suppressed
        for row in entries.of(cell).tolist():
            members = entries.members(row)
            left = members[suppressed[members] & (members != cell)]
            if len(left) == 1 and self.primary[left[0]] and self._none_cheaper(cell, members[~suppressed[members]]):
                return True
        return False

    def _owed(self, cell: int) -> bool:
        """Whether without it a cut would be violated that cheaper cells do not mend."""
        left = self.search.suppressed.astype(np.float64)
        left[cell] = 0
        return any(
            cut.short(left) > CLEARLY and self._none_cheaper(cell, np.setdiff1d(cut.cells[left[cut.cells] == 0], cell))
            for cut in self._of.get(cell, ())
        )

    def _none_cheaper(self, cell: int, others: Integers) -> bool:
        task = self.search.task
        least = task.cost[others[~task.fixed[others]]].min(initial=np.inf)
        return bool(least >= task.cost[cell] * LESS)

    def _try(self, flow: Flow, cell: int) -> None:
        """Exchange a cell, or leave everything as it was."""
        task, search = self.search.task, self.search
        self._fresh, self._budget = [], float(task.cost[cell]) * LESS
        super()._try(flow, cell)
        failed = bool(search.suppressed[cell])
        back = np.array(self._fresh if failed else [cell], dtype=np.int64)
        search.suppressed[back] = False
        flow.charge(back, task.cost[back])
        if failed:
            witnesses = search.guard.witnesses
            witnesses.buried({number for one in self._fresh for number in witnesses.using(one)})
        else:
            flow.reopen(cell, np.array([task.up[cell], task.down[cell]]))

    def _met(self, flow: Flow, cell: int, hit: set[Need]) -> bool:
        """Whether all is met, the unions too that the cells in its place are parts of."""
        if not super()._met(flow, cell, hit):
            return False
        known: set[Need] = set()
        while todo := [side for side in self._unions() if side not in known]:
            known.update(todo)
            if not all(self._secure(side, flow) for side in todo):
                return False
        return True

    def _unions(self) -> list[Need]:
        entries = self.search.task.linked.equations
        rows = np.unique(np.concatenate([[], *(entries.of(one) for one in self._fresh)])).astype(np.int64)
        return self.unions(self.search.suppressed, rows)

    def _secure(self, side: Need, flow: Flow) -> bool:
        """Meet a side, by further cells if need be, while these cost less than the one that is tried."""

        def take(witness: Witness) -> None:
            new = witness.cells[~self.search.suppressed[witness.cells]]
            self.search.suppressed[new] = True
            self._fresh += new.tolist()
            flow.free(new)

        used = self.search.guard.secure(side, flow, take)
        if used is None:
            return False
        self._note(side, used)
        return float(self.search.task.cost[self._fresh].sum()) < self._budget
