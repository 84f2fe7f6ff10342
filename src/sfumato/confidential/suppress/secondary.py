"""Secondary suppression: further cells are taken out until every sensitive cell is uncertain enough."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.confidential.suppress.flow import Flow
from sfumato.confidential.suppress.guard import Guard, Need, Task
from sfumato.confidential.suppress.witnesses import Witness
from sfumato.errors import DataError
from sfumato.suppression import Flags, Floats

Progress = Callable[[str, int, int], None]


@dataclass(eq=False)
class Search:
    """A pattern in the making: what is suppressed so far, and who guards it."""

    task: Task
    suppressed: Flags
    guard: Guard = field(init=False)
    programs: int = 0

    def __post_init__(self) -> None:
        self.guard = Guard(self.task)

    def run(self, sides: Sequence[Need], costs: Floats | None = None, progress: Progress = lambda *_: None) -> None:
        """One program for each side, and each holding, that no witness has protected yet."""
        task = self.task
        held = self._held()
        flow = Flow(task, ~task.fixed, np.where(self.suppressed, held, task.cost if costs is None else costs))

        def take(witness: Witness) -> None:
            new = witness.cells[~self.suppressed[witness.cells]]
            self.suppressed[new] = True
            flow.charge(new, held[new])

        for number, side in enumerate(sides):
            progress("protecting", number, len(sides))
            if self.guard.secure(side, flow, take) is None:
                raise DataError(f"{task.linked.words(side.members[0])} cannot be protected: {_why(task)}")
        self.programs += flow.program.solves
        progress("protecting", len(sides), len(sides))

    def _held(self) -> Floats:
        """What it costs to change a cell that is missing already: nothing to hide from anybody.

        Where contributors know cells, changes of few of them, and of none that somebody is alone in, hide from most at
        once; a missing cell costs a thousandth of the cheapest, one that somebody knows as much as that.
        """
        known, cost = self.task.insiders, np.zeros(self.task.linked.size)
        if known is not None:
            cost[:] = self.task.cost.min() / 1_000
            cost[known.cells[known.alone]] = self.task.cost.min()
        return cost


def _why(task: Task) -> str:
    if task.fixed.any():
        return (
            "cells that must be published or were published before, or what an attacker knows beforehand, give it "
            "away: force fewer of them, or publish fewer tables."
        )
    return "what contributors and others know beforehand leaves it no room; publish fewer tables, or coarser ones."
