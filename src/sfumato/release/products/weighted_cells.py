"""WeightedCells: a table as records with a weight, so many in every cell that together they weigh what it holds.

Every possible cell has a record at least: a cell below 0 needs one to carry its weight, and one at 0 to carry its
share of the error. Microdata are these records one by one (`sfumato microdata`).
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.noisy import Integers, Noisy
from sfumato.release.products.cube import EXAMPLE as PLAIN
from sfumato.release.products.cube import Cube
from sfumato.release.products.product import ProductFile, Subject
from sfumato.release.uncertainties import Uncertainty

MOST_RECORDS = 2**40


@dataclass(frozen=True, eq=False)
class WeightedCells(Cube):
    """A cube with how many records stand for each cell; the weight of one is the cell's value over their number."""

    kind: ClassVar[str] = "weighted-cells"
    records: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, subject: Subject, noisy: Noisy, uncertainty: Uncertainty) -> "Cube | None":  # noqa: ARG003
        """No mechanism gives records; a step makes them."""
        return None

    @classmethod
    def read(cls, opened: ProductFile) -> "WeightedCells":
        from sfumato.release.parquet import read_numbers

        read = Cube.read(opened)
        possible = read.domain.possible
        listed = read_numbers(opened.path, "records", int(np.count_nonzero(possible))).astype(np.int64)
        if listed.size and not 1 <= listed.min() <= listed.sum() <= MOST_RECORDS:
            raise ReleaseError(f"'{opened.line.name}' has cells without a record, or more records than can be.")
        records = np.zeros(read.domain.shape, dtype=np.int64)
        records[possible] = listed
        return cls(read.subject, read.domain, read.values, read.uncertainty, records)

    @property
    def beside(self) -> dict[str, NDArray[Any]]:
        return {**super().beside, "records": self.records.astype(np.float64)}


EXAMPLE = WeightedCells(PLAIN.subject, PLAIN.domain, PLAIN.values, PLAIN.uncertainty, np.ones((3, 2), dtype=np.int64))
