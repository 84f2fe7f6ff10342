"""Whole intervals: the least and greatest whole number that a suppressed cell can be."""

import numpy as np

from sfumato.suppression.clusters import Cluster
from sfumato.suppression.equations import Floats
from sfumato.suppression.program import Program
from sfumato.suppression.whole_changes import whole_rooms

CLOSE = 16.0
"""Up to what width an interval of a linear program is looked at by integer programs; a wider one is rounded inwards."""


class WholeIntervals:
    """A cluster in whole numbers, within the intervals that hold for all numbers."""

    def __init__(self, cluster: Cluster, low: Floats, high: Floats, seen: tuple[Floats, Floats]) -> None:
        """`seen` has the least and greatest value of each cell in tables of whole numbers that were met already."""
        self._cluster = cluster
        self._low, self._high = whole_rooms(low, high)
        self._least, self._most = self._low.copy(), self._high.copy()
        self._witnessed = [seen[0] <= self._low, seen[1] >= self._high]

    def intervals(self) -> tuple[Floats, Floats] | None:
        """The interval of every cell; None where no table of whole numbers has the published ones."""
        narrow = np.flatnonzero(self._high - self._low <= CLOSE)
        if (self._low > self._high).any():
            return None
        if len(narrow):
            program = self._program()
            for cell in narrow.tolist():
                for way, sign in enumerate((1.0, -1.0)):
                    if not self._witnessed[way][cell] and not self._narrowed(program, cell, way, sign):
                        return None
        return self._least, self._most

    def _program(self) -> Program:
        cluster = self._cluster
        program = Program(cluster.equations, cluster.size, right=cluster.right, slack=cluster.slack, whole=True)
        program.bounds(np.arange(cluster.size), self._low, self._high)
        return program

    def _narrowed(self, program: Program, cell: int, way: int, sign: float) -> bool:
        """Move one end of an interval inwards to where a table has it; False where there is no table."""
        place = np.array([cell])
        program.costs(place, np.array([sign]))
        answer = program.solve()
        program.costs(place, np.zeros(1))
        if not answer.solved:
            return answer.undecided
        found = np.rint(answer.columns)
        (self._least, self._most)[way][cell] = found[cell]
        # A table in which other cells stand at their bounds shows these to be reached.
        self._witnessed[0] |= found <= self._low
        self._witnessed[1] |= found >= self._high
        return True
