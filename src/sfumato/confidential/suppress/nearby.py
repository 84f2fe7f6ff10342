"""Nearby: cheaper patterns that differ from one in a part of its tables alone, the best of each part."""

from collections.abc import Callable

import numpy as np

from sfumato.confidential.suppress.bound import Relaxation
from sfumato.confidential.suppress.mending import hidden
from sfumato.suppression import Flags, Integers

PART, CORE = (400, 250), 100
"""How many cells around one are chosen anew together, of small tables and of large, and how many are then done with."""
NODES, ROUNDS, ALL_ROUNDS = 20, 15, (60, 1_000)
"""In how large a tree, and after how many rounds of cuts at the most, around one cell and in all."""
WORTH = 1e-5
"""What of the cost of a pattern a cheaper one must save."""


class Nearby:
    """A pattern, and the cuts that tell which choices nearby are none; every cut is one of the whole table.

    A choice that is mended cut by cut has cells that later ones make needless: `fewer` searches among its cells.
    """

    def __init__(self, relaxation: Relaxation, pattern: Flags, fewer: Callable[[Flags, int], Flags]) -> None:
        self.relaxation, self.pattern = relaxation, hidden(relaxation.task, relaxation.primary, pattern)
        self._fewer = fewer
        self._cost = np.where(relaxation.primary, 0.0, relaxation.task.cost)
        self._choice = relaxation.master(whole=True, nodes=NODES)
        self._rounds, self._part = 0, PART[relaxation.parted]

    def improved(self) -> Flags:
        """The pattern once no part of the tables around a cell of it has a cheaper choice, or programs are spent."""
        done = self.relaxation.primary.copy()
        while (
            not self.relaxation.spent
            and self._rounds < ALL_ROUNDS[self.relaxation.parted]
            and (todo := np.flatnonzero(self.pattern & ~done)).size
        ):
            around = self._around(int(todo[np.argmax(self._cost[todo])]))
            if not self._improve(around):
                done[around[:CORE] if len(around) == self._part else around] = True
        return self.pattern

    def _improve(self, around: Integers) -> bool:
        """Take the cheapest safe choice of some cells, all others held; whether one was found that costs less."""
        part = np.zeros(len(self._cost), dtype=bool)
        part[around] = True
        before = self._cost @ self.pattern
        for _ in range(ROUNDS):
            self._rounds += 1
            self._choice.hold(self.pattern, part)
            _, chosen = self._choice.solve()
            if self._cost @ chosen >= self._cost @ self.pattern * (1 - WORTH):
                break
            cuts, mended = self.relaxation.mended(chosen)
            if self.relaxation.spent:
                break
            safe = [self.pattern, mended, *([self._fewer(mended, self._rounds)] if cuts else [])]
            self.pattern = min(safe, key=lambda cells: float(self._cost @ cells))
            self.relaxation.add(cuts, self._choice)
        return bool(self._cost @ self.pattern < before * (1 - WORTH))

    def _around(self, cell: int) -> Integers:
        """The cells nearest to one by the equations that they share, the cell itself first."""
        entries = self.relaxation.task.linked.equations
        found = last = np.array([cell])
        while len(last) and len(found) < self._part:
            last = np.setdiff1d(np.concatenate([entries.beside(one) for one in last.tolist()]), found)
            found = np.concatenate([found, last])
        return found[: self._part]
