"""Records: one published value a row of a public frame; any total is a sum of rows, with its error."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from sfumato.release.noisy import Integers, Noisy
from sfumato.release.products.product import Held, ProductFile, Subject
from sfumato.release.uncertainties import Squared, Uncertainty
from sfumato.schema import Attribute, Frame, Grid, Levels

FRAME = "frame.parquet"


@dataclass(frozen=True, eq=False)
class Records(Held):
    """Protected microdata: public attributes in the frame, a protected value in steps for each of its rows."""

    kind: ClassVar[str] = "records"
    per_row: ClassVar[bool] = True
    subject: Subject
    domain: Frame
    values: Integers
    uncertainty: Uncertainty

    @classmethod
    def of(cls, subject: Subject, noisy: Noisy, uncertainty: Uncertainty) -> Self | None:
        held = isinstance(noisy.domain, Frame) and cls.holds(noisy.domain)
        return cls(subject, noisy.domain, noisy.values, uncertainty) if held else None  # type: ignore[arg-type]

    @classmethod
    def holds(cls, frame: Frame) -> bool:
        """Whether a frame is of rows, and not of groups of them."""
        return frame.groups_by is None

    @classmethod
    def read(cls, opened: ProductFile) -> Self:
        from sfumato.release.parquet import read_numbers, read_values

        frame = cls.frame(opened)
        values = read_values(opened.path, frame.size).astype(np.int64)
        uncertainty = opened.uncertainty(lambda name: read_numbers(opened.path, name, frame.size))
        return cls(Subject.read(opened.line), frame, values, uncertainty)

    @classmethod
    def frame(cls, opened: ProductFile) -> Frame:
        """The frame of a release, which is read once."""
        from sfumato.release.parquet import read_frame

        if FRAME not in opened.shared:
            opened.shared[FRAME] = read_frame(opened.folder / FRAME, opened.unit, opened.attributes)
        frame: Frame = opened.shared[FRAME]
        return frame

    def store(self, folder: Path, file: str) -> None:
        from sfumato.release.parquet import codes_of, write_rows

        frame = self.domain
        if not (folder / FRAME).exists():
            write_rows(folder / FRAME, {frame.id or "id": frame.ids, **codes_of(frame)})
        write_rows(folder / file, {"value": self.values, **self.uncertainty.columns})

    @cached_property
    def _sums(self) -> tuple[Frame, Integers]:
        return self.domain.condensed(self.values)

    def totals(self, grid: Grid) -> Integers:
        cells, sums = self._sums
        return cells.totals(sums, grid)


_LEVELS = Levels.of([*"12", {"code": "11", "parent": "1"}, {"code": "12", "parent": "1"}])
_FRAME = Frame("firm", (Attribute("trade", _LEVELS),), {"trade": np.array([0, 1, 1, 2, 2], dtype=np.int32)}, range(5))
_SUBJECT = Subject("pay", "total", "Pay", "dollars", Fraction(1))
EXAMPLE = Records(_SUBJECT, _FRAME, np.array([4, 1, 7, 0, 9]), Squared(0.5))
