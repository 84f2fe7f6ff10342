"""Mending: the cuts that a choice of whole cells fails, each looked for once the last ones are met.

A side that a choice fails has a cut that says so. The cells that meet it at the least cost are added to the choice, and
the next cut is looked for, of this side and then of all others, until none is left: the choice has become a pattern
that is safe. Which cut of a side is found is chance where cells that are not chosen weigh nothing; so a little of every
cell is chosen, the more the less it costs, and a cut is found that only costly cells meet.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sfumato.confidential.suppress.cuts import Asked, Cut, Cutter
from sfumato.confidential.suppress.guard import Task
from sfumato.suppression import Flags, Floats, Integers

LITTLE = (0.15, 0.02)
"""How much of every cell is chosen at the most, one after the other until a cut is found that the choice fails."""
CHEAP = 0.25
"""The share of cells that cost so little that no more is chosen of any other."""
SHORT = 1e-6
"""How far a choice must fall short of a cut to fail it."""


class Mending:
    """Cutters at a choice of whole cells, and beside it, where a little of every cell is chosen."""

    def __init__(self, task: Task, primary: Flags) -> None:
        self._task, self._primary, self._shares = task, primary, (0.0, *LITTLE)
        self._cutters = [Cutter(task, primary) for _ in self._shares]
        least = float(np.quantile(task.cost[~primary], CHEAP)) if not primary.all() else 1.0
        with np.errstate(divide="ignore"):
            self._light = np.where(primary, 1.0, np.minimum(1.0, least / task.cost))
        self._chosen = np.zeros(0)

    @property
    def programs(self) -> int:
        return sum(cutter.programs for cutter in self._cutters)

    def cuts(self, chosen: Floats, every: Sequence[Asked], spent: Callable[[], bool]) -> Iterator[Cut]:
        """Cut after cut until the choice meets every side, or programs are spent."""
        self._chosen = chosen.copy()
        for share, cutter in zip(self._shares, self._cutters, strict=True):
            cutter.begin(chosen + share * (self._light - chosen))
        for side in every:
            while not spent() and (cut := self._cut(side)) is not None:
                yield cut
                cells = self._cheapest(cut)
                if not len(cells):
                    break  # nothing is left that could meet it, but for rounding
                self._add(cells)

    def pattern(self) -> Flags:
        """The choice as it is mended, without cells that hide nothing."""
        return hidden(self._task, self._primary, self._chosen > 0)

    def _cut(self, side: Asked) -> Cut | None:
        """A cut of a side that the choice fails; None where there is none."""
        plain, *beside = self._cutters
        first = plain.cut(side)
        if first is None or first.short(self._chosen) <= SHORT:
            return None
        for cutter in beside:
            cut = cutter.cut(side)
            if cut is not None and cut.short(self._chosen) > SHORT:
                return cut
        return first

    def _cheapest(self, cut: Cut) -> Integers:
        """The cells that meet a cut, those first that cost least for what they give to it."""
        free = self._chosen[cut.cells] < 1
        cells, weights = cut.cells[free], cut.weights[free]
        order = np.lexsort((cells, self._task.cost[cells] / weights))
        enough = np.searchsorted(np.cumsum(weights[order]), cut.short(self._chosen) - SHORT / 2)
        return cells[order[: int(enough) + 1]]

    def _add(self, cells: Integers) -> None:
        self._chosen[cells] = 1
        for share, cutter in zip(self._shares, self._cutters, strict=True):
            cutter.raise_to(cells, 1 + share * (self._light[cells] - 1))


def hidden(task: Task, primary: Flags, pattern: Flags) -> Flags:
    """A pattern without secondary cells that are the one missing cell of a sum: everybody knows them."""
    entries, found = task.linked.equations, pattern.copy()
    while True:
        missing = np.bincount(entries.rows, found[entries.cells], entries.count)
        known = entries.cells[(missing[entries.rows] == 1) & (found & ~primary)[entries.cells]]
        if not len(known):
            return found
        found[known] = False
