"""Groups: one published value a group of the rows of a public frame, by attributes at some depth of each."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from sfumato.release.products.product import ProductFile
from sfumato.release.products.records import EXAMPLE as ROWS
from sfumato.release.products.records import Records
from sfumato.release.uncertainties import Varying
from sfumato.schema import Frame, Level


@dataclass(frozen=True, eq=False)
class Groups(Records):
    """Totals of rows: the groups that there are, as the public frame says."""

    kind: ClassVar[str] = "groups"
    per_row: ClassVar[bool] = False

    @classmethod
    def holds(cls, frame: Frame) -> bool:
        return frame.groups_by is not None

    @classmethod
    def frame(cls, opened: ProductFile) -> Frame:
        by = tuple(Level.read(one) for one in opened.line.by)
        return super().frame(opened).grouped(by).groups

    def store(self, folder: Path, file: str) -> None:
        from sfumato.release.parquet import codes_of, write_rows

        write_rows(folder / file, {**codes_of(self.domain), "value": self.values, **self.uncertainty.columns})


_FRAME = ROWS.domain.grouped((Level("trade", 0),)).groups
EXAMPLE = Groups(ROWS.subject, _FRAME, np.array([12, 9]), Varying(np.array([3.0, 2.0])))
