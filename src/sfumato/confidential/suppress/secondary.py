"""Secondary suppression: further cells are taken out until every sensitive cell is uncertain enough."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sfumato.confidential.suppress.flow import Flow
from sfumato.confidential.suppress.witnesses import TINY, Witness, Witnesses
from sfumato.errors import DataError
from sfumato.suppression import Flags, Floats, Linked

Progress = Callable[[str, int, int], None]
NEAR = 1 - 1e-6
"""What of a need counts as all of it."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be protected: linked cells, the room that an attacker leaves them, needs either way, and costs."""

    linked: Linked
    up: Floats
    down: Floats
    upper: Floats
    lower: Floats
    cost: Floats
    fixed: Flags
    """Cells that must be published."""

    def sides(self) -> list[tuple[int, int, float]]:
        """Every cell and direction with a need, the largest first: side 0 is up, 1 is down."""
        found = [
            (cell, side, float(need[cell]))
            for side, need in enumerate((self.upper, self.lower))
            for cell in np.flatnonzero(need > 0).tolist()
        ]
        return sorted(found, key=lambda one: (-one[2], one[0], one[1]))


@dataclass(eq=False)
class Search:
    """A pattern in the making: what is suppressed so far, and the witnesses of its uncertainty."""

    task: Task
    suppressed: Flags
    witnesses: Witnesses = field(init=False)
    programs: int = 0

    def __post_init__(self) -> None:
        self.witnesses = Witnesses(self.task.linked.size)

    def run(self, progress: Progress = lambda *_: None) -> None:
        """One program for each side that no witness has protected yet."""
        task, sides = self.task, self.task.sides()
        free = np.where(self.suppressed, 0.0, task.cost)
        open_ = ~task.fixed
        flow = Flow(task.linked, np.where(open_, task.up, 0), np.where(open_, task.down, 0), free)
        for number, (cell, side, need) in enumerate(sides):
            progress("protecting", number, len(sides))
            if self.witnesses.reach[side, cell] >= need * NEAR:
                continue
            change = flow.change(cell, need if side == 0 else -need)
            self.programs += 1
            if change is None:
                raise DataError(f"{task.linked.words(cell)} cannot be protected: {_why(task)}")
            self.take(flow, change)
        progress("protecting", len(sides), len(sides))

    def take(self, flow: Flow, change: Floats) -> None:
        witness = Witness.of(change, self.task.up, self.task.down)
        self.witnesses.add(witness)
        new = np.zeros(len(change), dtype=bool)
        new[witness.cells] = True
        new &= ~self.suppressed
        self.suppressed |= new
        flow.free(new)


def _why(task: Task) -> str:
    if task.fixed.any():
        return "cells that must be published, or what an attacker knows beforehand, give it away; force fewer of them."
    return "what an attacker knows beforehand leaves it no room; publish fewer tables, or allow wider bounds."


__all__ = ["NEAR", "TINY", "Progress", "Search", "Task"]
