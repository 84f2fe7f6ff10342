"""Nearby: cheaper patterns that differ from one in a part of its tables alone, the best of each part."""

import numpy as np

from sfumato.confidential.suppress.bound import Relaxation
from sfumato.confidential.suppress.cuts import Cutter
from sfumato.suppression import Flags, Integers

PART, CORE = 400, 100
"""How many cells around one are chosen anew together, and how many of them are then done with, of more than these."""
NODES, ROUNDS, ALL_ROUNDS = 20, 12, 60
"""In how large a tree, and after how many rounds of cuts at the most, around one cell and in all."""
WORTH = 1e-4
"""What of the cost of a pattern a cheaper one must save."""


class Nearby:
    """A pattern, and the cuts that tell which choices nearby are none; every cut is one of the whole table."""

    def __init__(self, relaxation: Relaxation, pattern: Flags) -> None:
        self.relaxation, self.pattern = relaxation, pattern
        self._cost = np.where(relaxation.primary, 0.0, relaxation.task.cost)
        self._choice = relaxation.master(whole=True, nodes=NODES)
        self._cutter = Cutter(relaxation.task, relaxation.primary)
        self._rounds = 0

    def improved(self) -> Flags:
        """The pattern once no part of the tables around a cell of it has a cheaper choice, or programs are spent."""
        done = self.relaxation.primary.copy()
        while (
            not self.relaxation.spent
            and self._rounds < ALL_ROUNDS
            and (todo := np.flatnonzero(self.pattern & ~done)).size
        ):
            around = self._around(int(todo[np.argmax(self._cost[todo])]))
            better = self._best(around)
            if better is None:
                done[around[:CORE] if len(around) == PART else around] = True
            else:
                self.pattern = better
        return self.pattern

    def _best(self, around: Integers) -> Flags | None:
        """The cheapest safe choice that is as the pattern but for some cells; None where none is found."""
        part = np.zeros(len(self._cost), dtype=bool)
        part[around] = True
        self._choice.hold(self.pattern, part)
        self.relaxation.inside = self.pattern.astype(np.float64)
        for _ in range(ROUNDS):
            self._rounds += 1
            _, chosen = self._choice.solve()
            if self._cost @ chosen >= self._cost @ self.relaxation.inside * (1 - WORTH):
                return None
            new = self.relaxation.violated(self._cutter, chosen)
            if self.relaxation.spent:
                return None
            if not new:
                return chosen > 0
            self.relaxation.add([cut for _, cut in new], self._choice)
        return None

    def _around(self, cell: int) -> Integers:
        """The cells nearest to one by the equations that they share, the cell itself first."""
        entries = self.relaxation.task.linked.equations
        found = last = np.array([cell])
        while len(last) and len(found) < PART:
            last = np.setdiff1d(np.concatenate([entries.beside(one) for one in last.tolist()]), found)
            found = np.concatenate([found, last])
        return found[:PART]
