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
from sfumato.schema import Frame, Grid
from sfumato.statistics import Statistic, Total


class FrameSurvey(Sealed):
    """The reports of a plan over a frame, summed by the register's attributes; every unit counts, and counts once."""

    def __init__(self, plan: Plan, microdata: Microdata, frame: Frame) -> None:
        self.plan, self._frame = plan, frame
        self._tabulation = Tabulation(plan, microdata, SystemDraws())
        self._tabulation.refuse_faults()

    def close(self) -> None:
        self._tabulation.close()

    def total(self, grid: Grid, column: str | None = None) -> Replicated:
        """The number of units, or the total of a column, in every box of a grid."""
        if column is None:
            return Replicated(self.records(grid)[..., None])
        measured = {one.of.column: one.of for one in self.plan.measures if isinstance(one.of, Total)}
        if column not in measured:
            raise QueryError(f"The plan does not measure '{column}'; {nearest(column, measured)}")
        return self.each(measured[column], grid)

    def each(self, of: Statistic, grid: Grid) -> Replicated:
        """A statistic that the plan measures, summed over the units in every box of a grid."""
        if not of.additive:
            raise QueryError("Units of a frame are summed, and the statistic of this measure may not be; give --total.")
        measure = next(one for one in self.plan.measures if one.of == of)
        cells = self._tabulation.cells(replace(measure, where={}))
        steps = self._frame.totals(cells.values, grid)
        return Replicated((steps if cells.step == 1 else steps * float(cells.step))[..., None])

    def records(self, grid: Grid) -> NDArray[np.int64]:
        """How many units of the register stand in every box of a grid."""
        return self._frame.counts(grid)

    @property
    def method(self) -> str:
        """How the errors are found, in words."""
        unit = self.plan.hidden.unit
        return f"A census of the register's {unit}s: no sampling error; one that did not report counts as 0."

    def variances(self, estimates: Replicated) -> Floats:
        """A census has no sampling error."""
        return np.zeros(estimates.full.shape)
