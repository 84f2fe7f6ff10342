"""Incomplete: every cell of a table laid out, some of them without a number, each for a reason that was published."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.manifest import ProductLine
from sfumato.release.noisy import Integers, Noisy
from sfumato.release.products.cube import EXAMPLE as CUBE
from sfumato.release.products.cube import Cube, column_of
from sfumato.release.products.product import ProductFile, Subject
from sfumato.release.statuses import NoNumber, Statuses
from sfumato.release.uncertainties import Uncertainty
from sfumato.schema import Grid, Table

MOST_KINDS, LONGEST = 99, 1000
"""The most reasons that a table may have, and the longest."""


@dataclass(frozen=True, eq=False)
class Incomplete(Cube):
    """A table of which `which` says, for every cell, 0 where it holds a number, else the place of its reason from 1 on.

    Which cells hold none follows from published numbers, or was drawn with the rest. What sums several cells holds no
    number if one of them does not.
    """

    kind: ClassVar[str] = "incomplete"
    which: Integers
    kinds: tuple[NoNumber, ...]

    def __post_init__(self) -> None:
        if self.which.shape != self.values.shape or not np.isin(self.which, range(len(self.kinds) + 1)).all():
            raise ValueError("it does not say of every cell whether it holds a number, or why not")
        if self.values[self.which > 0].any():
            raise ValueError("it has a number for a cell that holds none")

    @classmethod
    def of(cls, subject: Subject, noisy: Noisy, uncertainty: Uncertainty) -> "Incomplete | None":
        if not isinstance(noisy.domain, Table) or noisy.statuses is None:
            return None
        which = np.asarray(noisy.statuses.which, dtype=np.int64)
        return cls(subject, noisy.domain, noisy.values, uncertainty, which, noisy.statuses.kinds)

    @classmethod
    def read(cls, opened: ProductFile) -> "Incomplete":
        cube = Cube.read(opened)
        kinds, which = tuple(_reason(one) for one in opened.line.statuses), column_of(opened, cube.domain, "status")
        if len(kinds) > MOST_KINDS:
            raise ValueError("it has more reasons than anybody reads")
        return cls(cube.subject, cube.domain, cube.values, cube.uncertainty, which.astype(np.int64), kinds)

    def write(self, folder: Path) -> ProductLine:
        told = [{"reason": one.reason, "code": one.code, "sdmx": one.sdmx} for one in self.kinds]
        return super().write(folder).model_copy(update={"statuses": told})

    @property
    def beside(self) -> dict[str, NDArray[Any]]:
        return {"status": self.which.astype(np.float32), **super().beside}

    def missing(self, grid: Grid) -> Statuses | None:
        found = np.zeros(grid.shape, dtype=np.int64)
        for place in range(1, len(self.kinds) + 1):
            found[self.domain.totals((self.which == place).astype(np.int64), grid) > 0] = place
        return Statuses(self.kinds, found) if found.any() else None


def _reason(written: dict[str, str]) -> NoNumber:
    """A reason as a manifest states it."""
    if {*written} != {"reason", "code", "sdmx"} or max(map(len, written.values())) > LONGEST:
        raise ValueError("it does not say why a cell holds no number")
    return NoNumber(**written)


_WHICH = np.array([[0, 1], [0, 0], [0, 2]])
EXAMPLE = Incomplete(
    CUBE.subject,
    CUBE.domain,
    np.where(_WHICH > 0, 0, CUBE.values),
    CUBE.uncertainty,
    _WHICH,
    (NoNumber("Fewer than 30 jobs, by the noisy count.", "n", "Q"), NoNumber("Nothing fits.", "⊥")),
)
