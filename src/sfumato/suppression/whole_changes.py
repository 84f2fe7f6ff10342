"""Whole changes: other tables of whole numbers that everything published allows.

A linear program may end between whole numbers, where no table of counts is. A change that it finds counts only as a
whole multiple; where that leaves the room of a cell, an integer program looks for another.
"""

import numpy as np

from sfumato.suppression.equations import Equations, Floats, Integers
from sfumato.suppression.program import INFINITE, Program, Solution

PARTS = (1, 2, 3, 4, 6)
"""Into how many parts of one the entries of a change may fall; of vertices over hierarchies it is mostly 1 or 2."""
OFF = 0.02
"""How far an entry may be from a whole number; the rounded change must leave every equation exactly true."""
FARTHEST = 64.0
"""How many times what is asked a cell may change in an integer program; wider rooms are never needed."""


def whole_direction(change: Floats, equations: Equations) -> Floats | None:
    """The smallest whole change along one that leaves all equations true; None where there is none of few parts."""
    for parts in PARTS:
        near = np.rint(change * parts)
        if np.abs(change * parts - near).max(initial=0) <= OFF and near.any() and not equations.sums(near).any():
            return near / float(np.gcd.reduce(np.abs(near).astype(np.int64)))
    return None


def round_up(needs: Floats, enough: float) -> Floats:
    """Needs of whole numbers: the least whole number that is `enough` of each."""
    return np.asarray(np.maximum(np.ceil(needs * enough - 1e-9), 0), dtype=np.float64)


def whole_rooms(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The whole numbers between two bounds: the least and the greatest."""
    return np.ceil(low - 1e-6), np.floor(high + 1e-6)


class WholeProgram:
    """The rises and falls of the cells of some equations in whole numbers, the smallest change first."""

    def __init__(self, equations: Equations, width: int) -> None:
        self._program = Program(equations.both_ways(width), 2 * width, afresh=True, whole=True)
        self._width = width

    def costs(self, cost: Floats) -> None:
        """What a unit of each cell costs, up or down."""
        self._program.costs(np.arange(2 * self._width), np.concatenate([cost, cost]))

    def change(self, places: Integers, sign: float, asked: float, room: Floats) -> Floats | None:
        """A change by which some cells together move as far as is asked, or farther; None where none was found.

        `room` has how far every cell may rise, and then how far every cell may fall.
        """
        most = np.minimum(room, FARTHEST * max(asked, 1.0))
        self._program.bounds(np.arange(2 * self._width), np.zeros(2 * self._width), most)
        columns = np.concatenate([places, places + self._width]).astype(np.int64)
        self._program.add_row(asked, INFINITE, columns, np.repeat([sign, -sign], len(places)))
        solution: Solution = self._program.solve()
        self._program.drop_last_row()
        if not solution.solved:
            return None
        found = np.rint(solution.columns)
        return found[: self._width] - found[self._width :]
