"""Calibration weights: records of an adjusted table, weighted so that their totals are those of the signed noisy one.

Drechsler and Soria-Comas (2021): records are made of a table without cells below 0, and each gets the weight T / n, T
the noisy value of its cell and n the records in it. Calibrated to all cells every total is the noisy one, unbiased and
with its error; weights are below 0 where cells are. Calibrated to some margins alone no weight is below 0, and what
these margins tell stays unbiased, nothing finer. A cell that has no record would lose its weight, and its share of the
error with it, so every possible cell has one at least.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sfumato.calibrate.nearest_nonnegative import NearestNonnegative, groups_of, refuse_unknown_levels
from sfumato.calibrate.nonnegative import NonNegative, moved_cube
from sfumato.calibrate.one_carrier import OneCarrier
from sfumato.calibrate.rake import raked
from sfumato.calibrate.set_to_zero import SetToZero
from sfumato.calibrate.step import Diverged, Step, evenly, finer_by, laid_out
from sfumato.calibrate.tidy_rows import rounded
from sfumato.errors import PlanError, nearest
from sfumato.release import Product, WeightedCells
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.margins import Margins
from sfumato.schema import Table
from sfumato.schema.level import By, Level

ADJUSTED: dict[str, NonNegative] = {one.kind: one("records", "") for one in (OneCarrier, SetToZero, NearestNonnegative)}
"""The tables in whole numbers from 0 on that records can be made of."""
CYCLES, TOLERANCE = 2_000, 1e-14
"""How often margins are met in turn at most, and to which part of the whole."""


@dataclass(frozen=True)
class CalibrationWeights(Step):
    """Records of the table that `records` names, weighted to every cell of the noisy one, or to some `margins` of it.

    A margin is a list of attributes, and several are met at once by raking.
    """

    kind: ClassVar[str] = "calibration-weights"
    apart: ClassVar[bool] = True
    of_counts: ClassVar[bool] = True
    name: str
    table: str
    records: str = OneCarrier.kind
    margins: tuple[tuple[str, ...], ...] = ()
    to: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        listed = [self.margins] if isinstance(self.margins, str) else self.margins
        if not all(isinstance(one, (list, tuple)) and all(isinstance(name, str) for name in one) for one in listed):
            raise PlanError(
                f"Step '{self.name}': margins are lists of attributes, one list a margin, for example "
                'margins = [["area"], ["sex", "age"]].'
            )
        object.__setattr__(self, "margins", tuple(tuple(one) for one in listed))

    @property
    def bias(self) -> str:
        if not self.margins:
            return ""
        kept = "; ".join(", ".join(one) or "the total" for one in self.margins)
        return f"Totals by {kept} are unbiased; finer ones are not, and no weight is below 0."

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:
        self.refuse_listed(table, *controls)
        if self.records not in ADJUSTED:
            raise PlanError(
                f"Step '{self.name}' makes records of '{self.records}', which is no way to make whole cells from 0 on; "
                f"{nearest(self.records, ADJUSTED)}"
            )
        for one in self.margins:
            refuse_unknown_levels(self.name, table, one)

    def apply(self, products: Mapping[str, Product]) -> WeightedCells | Diverged:
        signed, table = laid_out(products[self.table], self)
        evenly(signed, self)
        values = signed.values.astype(np.int64)
        adjusted = ADJUSTED[self.records].adjusted(values, table).cells.astype(np.int64)
        records = np.where(table.possible, np.maximum(adjusted, 1), 0)
        note = f"It stands for {int(records.sum()):,} records with weights. {self.bias or 'Every total is unbiased.'}"
        if not self.margins:
            subject = replace(signed.subject, name=self.name, note=" ".join(filter(None, (signed.subject.note, note))))
            return WeightedCells(subject, table, values, signed.uncertainty, records)
        cells = self._to_margins(values, adjusted, table)
        if isinstance(cells, Diverged):
            return cells
        made = moved_cube(self, signed, cells, note)
        return WeightedCells(made.subject, table, made.values, made.uncertainty, records)

    def _to_margins(self, values: Integers, adjusted: Integers, table: Table) -> Floats | Diverged:
        """The adjusted table scaled to the margins of the noisy one."""
        by: tuple[By, ...] = tuple(tuple(map(Level.read, one)) for one in self.margins)
        margins = Margins(table, by)
        aims = margins.of(values.astype(np.float64))
        below = int((aims < 0).sum())
        if below:
            why = f"{below:,} of the margins are below 0, which no weights from 0 on give; coarser ones would do"
            return Diverged(self.name, why)
        cells, missed = raked(
            margins, adjusted.astype(np.float64), aims, CYCLES, TOLERANCE * max(1.0, float(aims.max()))
        )
        if not missed <= 1e-9 * max(1.0, float(aims.max())):
            return Diverged(self.name, "no table without cells below 0 was found that has all of the margins")
        return _in_steps(np.where(table.possible, cells, 0.0), table, self.margins)


def _in_steps(cells: Floats, table: Table, margins: Sequence[Sequence[str]]) -> Floats:
    """Cells rounded to the steps that they will have, such that what all margins tell apart keeps its sums.

    Many cells are alike, so that rounding each by itself would move margins by as many times its error.
    """
    finer, joint = finer_by(cells), np.zeros(cells.size, dtype=np.int64)
    for one in margins:
        groups = groups_of(table, one)
        joint = np.unique(joint * (int(groups.max()) + 1) + groups, return_inverse=True)[1]
    return np.asarray(rounded(cells.ravel() * 2.0**finer, joint).reshape(cells.shape) / 2.0**finer)


EXAMPLE = CalibrationWeights("weighted", "cube")
