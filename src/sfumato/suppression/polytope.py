"""Polytope: the least and greatest values of the cells of a cluster, by one linear program each."""

import numpy as np

from sfumato.suppression.clusters import Cluster
from sfumato.suppression.equations import Floats
from sfumato.suppression.program import Program, Solution


class Polytope:
    """A cluster as a linear program in units of what is published around it."""

    def __init__(self, cluster: Cluster, low: Floats, high: Floats) -> None:
        self.cluster = cluster
        self.scale = float(np.abs(cluster.right).max(initial=0)) or 1.0
        self.low, self.high = low / self.scale, high / self.scale
        slack = cluster.slack / self.scale
        self.program = Program(cluster.equations, cluster.size, right=cluster.right / self.scale, slack=slack)
        self.program.bounds(np.arange(cluster.size), self.low, self.high)
        self._costed: int | None = None
        self.whole = np.full(cluster.size, np.inf), np.full(cluster.size, -np.inf)
        """The least and greatest value of each cell in the solutions so far that are whole numbers."""

    def intervals(self) -> tuple[Floats, Floats] | None:
        """The interval of every cell; None where the published numbers contradict each other.

        A solution in which some other cell stands at its bound already is that cell's least or greatest value.
        """
        first = self.program.solve()
        if not first.solved:
            return None
        self.program.primal(chosen=True)
        least, greatest = first.columns.copy(), first.columns.copy()
        self._note(first)
        for cell in range(self.cluster.size):
            for sign, extreme, bound in ((1.0, least, self.low), (-1.0, greatest, self.high)):
                if sign * (extreme[cell] - bound[cell]) <= 1e-12:
                    extreme[cell] = bound[cell]
                    continue
                answer = self._towards(cell, sign)
                if answer.endless:
                    extreme[cell] = bound[cell]
                    continue
                np.minimum(least, answer.columns, out=least)
                np.maximum(greatest, answer.columns, out=greatest)
                self._note(answer)
        return self._whole(least * self.scale), self._whole(greatest * self.scale)

    def _note(self, answer: Solution) -> None:
        """Keep what a solution shows where all of its cells are whole numbers."""
        values = answer.columns * self.scale
        near = np.rint(values)
        if np.abs(values - near).max(initial=0) <= 1e-6:
            np.minimum(self.whole[0], near, out=self.whole[0])
            np.maximum(self.whole[1], near, out=self.whole[1])

    def _whole(self, values: Floats) -> Floats:
        """Values that are whole but for the last digits of the program, as whole numbers."""
        near = np.rint(values)
        with np.errstate(invalid="ignore"):
            return np.where(np.abs(values - near) <= 1e-9 * self.scale, near, values) + 0.0

    def _towards(self, cell: int, sign: float) -> Solution:
        if self._costed is not None:
            self.program.costs(np.array([self._costed]), np.zeros(1))
        self._costed = cell
        self.program.costs(np.array([cell]), np.array([sign]))
        return self.program.surely()
