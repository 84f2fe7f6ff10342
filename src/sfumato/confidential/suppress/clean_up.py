"""Clean-up: secondary cells that nobody needs any more are published again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from sfumato.confidential.suppress.cuts import Cut
from sfumato.confidential.suppress.flow import Flow
from sfumato.confidential.suppress.guard import Need
from sfumato.confidential.suppress.secondary import Progress, Search
from sfumato.suppression import Flags, Floats, Integers

CLEARLY = 1e-3
"""How far a cut must be violated to count: far above what any check of a need tolerates."""
Unions = Callable[[Flags, Integers | None], list[Need]]
"""The sides of the unions that a pattern makes, in some equations or all."""


@dataclass(eq=False)
class CleanUp:
    """One pass over the secondary cells, the costliest first; what could not go once cannot go later."""

    search: Search
    primary: Flags
    unions: Unions
    limit: int
    """The most programs that it may solve."""
    cuts: Sequence[Cut] = ()
    """What every safe pattern meets: a cell without which one is violated is needed, and needs no program."""
    tried: int = 0
    complete: bool = True
    doing: ClassVar[str] = "cleaning up"
    _uses: dict[int, set[Need]] = field(default_factory=dict)
    _used: dict[Need, set[int]] = field(default_factory=dict)

    def run(self, sides: Sequence[Need], progress: Progress = lambda *_: None) -> None:
        search, cost = self.search, self.search.task.cost
        search.guard.settled = True
        flow = self._flow()
        for side in sides:
            self._secure(side, flow)
        secondary = np.flatnonzero(search.suppressed & ~self.primary).tolist()
        for number, cell in enumerate(sorted(secondary, key=lambda one: (-cost[one], one))):
            progress(self.doing, number, len(secondary))
            if flow.program.solves >= self.limit:
                self.complete = False
                break
            if search.suppressed[cell] and not self._alone(cell) and not self._owed(cell):
                self._try(flow, cell)
        self.tried = flow.program.solves
        progress(self.doing, len(secondary), len(secondary))

    def _flow(self) -> Flow:
        """The program of changes of missing cells alone."""
        return Flow(self.search.task, self.search.suppressed, self._shy())

    def _shy(self) -> Floats:
        """Changes through few cells, and around those that somebody knows, serve the most attackers at once."""
        cost, told = np.ones(self.search.task.linked.size), self.search.task.insiders
        if told is not None:
            cost[told.cells[told.alone]] = 10.0
        return cost

    def _alone(self, cell: int) -> bool:
        """Whether without it a sensitive cell would be the one missing member of a sum."""
        entries, suppressed = self.search.task.linked.equations, self.search.suppressed
        for row in entries.of(cell).tolist():
            members = entries.members(row)
            left = members[suppressed[members] & (members != cell)]
            if len(left) == 1 and self.primary[left[0]]:
                return True
        return False

    def _owed(self, cell: int) -> bool:
        """Whether without it a cut would be violated."""
        left = self.search.suppressed.astype(np.float64)
        left[cell] = 0
        return any(cut.short(left) > CLEARLY for cut in self._of.get(cell, ()))

    @cached_property
    def _of(self) -> dict[int, list[Cut]]:
        """The cuts that each cell is in."""
        found: dict[int, list[Cut]] = {}
        for cut in self.cuts:
            for cell in cut.cells.tolist():
                found.setdefault(cell, []).append(cut)
        return found

    def _secure(self, side: Need, flow: Flow) -> bool:
        used = self.search.guard.secure(side, flow, lambda _: None)
        if used is None:
            return False
        self._note(side, used)
        return True

    def _note(self, side: Need, used: set[int]) -> None:
        for number in self._used.get(side, set()):
            self._uses[number].discard(side)
        self._used[side] = used
        for number in used:
            self._uses.setdefault(number, set()).add(side)

    def _try(self, flow: Flow, cell: int) -> None:
        """Publish a cell again if every side is met without it."""
        search = self.search
        gone = set(search.guard.witnesses.using(cell))
        hit = {side for number in gone for side in self._uses.get(number, ())}
        room = flow.close(cell)
        search.suppressed[cell] = False
        kept = search.guard.witnesses.buried(gone)
        before = {side: self._used[side] for side in hit}
        if self._met(flow, cell, hit):
            return
        search.guard.witnesses.unbury(gone, kept)
        search.suppressed[cell] = True
        flow.reopen(cell, room)
        for side, used in before.items():
            self._note(side, used)

    def _met(self, flow: Flow, cell: int, hit: set[Need]) -> bool:
        """Whether without a cell the sides are met that it served, and the unions of what is left."""
        entries = self.search.task.linked.equations
        near = set(entries.beside(cell).tolist())
        # Who stands in a sum with the cell is the likeliest to need it, and one who does is enough.
        stays = sorted(
            (side for side in hit if cell not in side.members),
            key=lambda one: (near.isdisjoint(one.members), -one.need, one.members, one.way),
        )
        new = self.unions(self.search.suppressed, entries.of(cell))
        return all(self._secure(side, flow) for side in [*stays, *new])
