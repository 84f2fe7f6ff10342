"""FrameSurvey: what the units of a frame reported, over the boxes of a table; a census of the register."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.design import Floats, Replicated
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed
from sfumato.confidential.tabulate import Tabulation
from sfumato.draws import SystemDraws
from sfumato.errors import QueryError, nearest
from sfumato.plan import Plan
from sfumato.schema import Grid
from sfumato.statistics import Total


class FrameSurvey(Sealed):
    """The reports of a plan over a frame, summed by the register's attributes; every unit counts, and counts once."""

    def __init__(self, plan: Plan, microdata: Microdata) -> None:
        assert plan.framed is not None  # noqa: S101 - asked of plans over a frame
        self.plan, self._frame = plan, plan.framed.frame
        self._tabulation = Tabulation(plan, microdata, SystemDraws())
        self._tabulation.refuse_faults()

    def total(self, grid: Grid, column: str | None = None) -> Replicated:
        """The number of units, or the total of a column, in every box of a grid."""
        if column is None:
            return Replicated(self.records(grid)[..., None])
        measured = {one.of.column: one for one in self.plan.measures if isinstance(one.of, Total)}
        if column not in measured:
            raise QueryError(f"The plan does not measure '{column}'; {nearest(column, measured)}")
        cells = self._tabulation.cells(replace(measured[column], where={}))
        steps = self._frame.totals(cells.values, grid)
        return Replicated((steps if cells.step == 1 else steps * float(cells.step))[..., None])

    def records(self, grid: Grid) -> NDArray[np.int64]:
        """How many units of the register stand in every box of a grid."""
        return self._frame.counts(grid)

    def variances(self, estimates: Replicated) -> Floats:
        """A census has no sampling error."""
        return np.zeros(estimates.full.shape)
