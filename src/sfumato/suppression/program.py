"""Program: a linear program over the equations of linked tables, solved again and again (HiGHS)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.errors import DataError
from sfumato.suppression.equations import Equations, Floats, Integers

INFINITE = float("inf")
TINY = 1e-9
"""What of one, in the units of a program, counts as nothing: a ten-thousandth of what is forgiven of a need."""
NODES = 5_000
"""In how large a tree whole numbers are looked for; a tree that is cut off has shown nothing."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A solved program: whether there is a solution, its objective and its columns."""

    solved: bool
    objective: float
    columns: Floats

    undecided: bool = False
    """Whether a tree was cut off before it had shown anything."""

    @property
    def endless(self) -> bool:
        """Whether the cost has no least value."""
        return self.objective == -INFINITE


class Program:
    """Columns within bounds, the equations over them, and a cost for each.

    A solution goes on from the last one, or `afresh` from no change at all: where no cost is negative that is where the
    dual simplex may begin, and it is reached sooner from there than by undoing the last. Columns may be `whole`.
    """

    def __init__(
        self,
        equations: Equations,
        width: int,
        *,
        slack: Floats | None = None,
        right: Floats | None = None,
        afresh: bool = False,
        whole: bool = False,
    ) -> None:
        import highspy

        self.afresh = afresh
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex")):
            self._highs.setOptionValue(option, value)
        self._highs.setOptionValue("primal_feasibility_tolerance", TINY)
        self.width = width
        centre = np.zeros(equations.count) if right is None else right
        room = np.zeros(equations.count) if slack is None else slack
        matrix = _by_column(equations, width)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = width, equations.count
        model.col_cost_, model.col_lower_ = np.zeros(width), np.zeros(width)
        model.col_upper_ = np.full(width, INFINITE)
        model.row_lower_, model.row_upper_ = centre - room, centre + room
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = matrix
        if whole:
            model.integrality_ = [highspy.HighsVarType.kInteger] * width
            for option, value in (("presolve", "choose"), ("mip_max_nodes", NODES), ("solver", "choose")):
                self._highs.setOptionValue(option, value)
        self._highs.passModel(model)
        self._error = highspy.HighsStatus.kError
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._infeasible = highspy.HighsModelStatus.kInfeasible
        self._unbounded = (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible)
        self.solves = 0

    def _did(self, status: Any) -> None:
        """A change that the solver refuses, as of a column named twice, must not pass for made."""
        if status == self._error:
            raise RuntimeError("The solver refused a change of its program; a column is named twice or a bound is NaN.")

    def bounds(self, columns: Integers, low: Floats, high: Floats) -> None:
        self._did(self._highs.changeColsBounds(len(columns), columns.astype(np.int32), low, high))

    def costs(self, columns: Integers, cost: Floats) -> None:
        self._did(self._highs.changeColsCost(len(columns), columns.astype(np.int32), cost))

    def add_row(self, low: float, high: float, columns: Integers, signs: Floats) -> None:
        self._did(self._highs.addRow(low, high, len(columns), columns.astype(np.int32), signs))

    def drop_last_row(self) -> None:
        self._did(self._highs.deleteRows(1, np.array([self._highs.getNumRow() - 1], dtype=np.int32)))

    def primal(self, chosen: bool) -> None:
        """Choose the primal simplex, which stays feasible where only costs change."""
        self._highs.setOptionValue("simplex_strategy", 4 if chosen else 1)

    def duals(self) -> Floats:
        """What each equation of the last solution is worth."""
        return np.asarray(self._highs.getSolution().row_dual, dtype=np.float64)

    def solve(self) -> Solution:
        """The least cost; of a program without a bound the objective is minus infinity."""
        if self.afresh:
            self._highs.clearSolver()
        self._highs.run()
        self.solves += 1
        status = self._highs.getModelStatus()
        if status in self._unbounded:
            return Solution(False, -INFINITE, np.zeros(0))
        if status != self._optimal:
            return Solution(False, INFINITE, np.zeros(0), status != self._infeasible)
        found = np.asarray(self._highs.getSolution().col_value, dtype=np.float64)
        return Solution(True, float(self._highs.getInfo().objective_function_value), found)

    def surely(self) -> Solution:
        """The least cost of a program that has solutions: one that the solver gave up is solved from the beginning.

        Whoever took a program that was given up for one without a bound would call a cell uncertain that may be known.
        """
        answer = self.solve()
        if not (answer.solved or answer.endless):
            self._highs.clearSolver()
            answer = self.solve()
        if not (answer.solved or answer.endless):
            raise DataError(
                "The solver gave up on a cell, so that nothing is known of it; audit values in other units."
            )
        return answer


def _by_column(equations: Equations, width: int) -> tuple[Any, Any, Any]:
    order = np.lexsort((equations.rows, equations.cells))
    starts = np.zeros(width + 1, dtype=np.int32)
    np.cumsum(np.bincount(equations.cells, minlength=width), out=starts[1:])
    return starts, equations.rows[order].astype(np.int32), equations.signs[order]
