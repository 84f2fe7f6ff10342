"""Cube: every cell of a table laid out."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.release.lattice import Lattice
from sfumato.release.noisy import Integers, Noisy
from sfumato.release.products.product import Held, ProductFile, Subject
from sfumato.release.uncertainties import Independent, Uncertainty
from sfumato.schema import LARGEST, Attribute, Grid, Level, Levels, Rule, Table

MOST_AXES = 32
"""More than any table has; arrays have few more axes than this."""


@dataclass(frozen=True, eq=False)
class Cube(Held):
    """Every cell laid out, impossible ones held at zero; of a release in 32 bits where no sum needs more."""

    kind: ClassVar[str] = "cube"
    laid_out: ClassVar[bool] = True
    subject: Subject
    domain: Table
    values: Integers
    uncertainty: Uncertainty

    @classmethod
    def of(cls, subject: Subject, noisy: Noisy, uncertainty: Uncertainty) -> "Cube | None":
        if not isinstance(noisy.domain, Table) or noisy.places is not None or noisy.statuses is not None:
            return None
        return cls(subject, noisy.domain, noisy.values, uncertainty)

    @classmethod
    def read(cls, opened: ProductFile) -> "Cube":
        from sfumato.release.parquet import read_values

        table = table_of(opened, LARGEST)
        uncertainty = opened.uncertainty(lambda name: column_of(opened, table, name))
        values = _laid_out(read_values(opened.path, _rows(table)), table)
        return cls(Subject.read(opened.line), table, values, uncertainty)

    def store(self, folder: Path, file: str) -> None:
        from sfumato.release.parquet import laid_out, write_cells

        listed = np.flatnonzero(self.domain.possible) if self.domain.ruled else None
        columns = {"value": self.values, **self.beside}
        flat = {name: column.reshape(-1) for name, column in columns.items()}
        write_cells(folder / file, self.domain, laid_out(self.values.size, listed, flat))

    @property
    def beside(self) -> dict[str, NDArray[Any]]:
        """What stands beside the values in its file."""
        return self.uncertainty.columns

    @cached_property
    def lattice(self) -> Lattice:
        """The margins that questions are answered from."""
        return Lattice(self.values, self.attributes)

    def totals(self, grid: Grid) -> Integers:
        return self.lattice.totals(grid)


def table_of(opened: ProductFile, most: int) -> Table:
    """The table that a manifest says a product is by, of so many cells at most."""
    levels = [Level.read(one) for one in opened.line.by]
    attributes = tuple(level.of(opened.attributes[level.name]) for level in levels)
    if len({level.name for level in levels}) < len(levels) or len(levels) > MOST_AXES:
        raise ValueError(f"it is by an attribute twice, or by more than {MOST_AXES}")
    table = Table(attributes, tuple(Rule.of(where) for where in opened.line.impossible))
    table.refuse_if_too_large(most)
    return table


def column_of(opened: ProductFile, table: Table, name: str) -> NDArray[Any]:
    """A column of numbers of the file of a table, a number for each cell."""
    from sfumato.release.parquet import read_numbers

    return _laid_out(read_numbers(opened.path, name, _rows(table)), table)


def _rows(table: Table) -> int:
    """How many cells the file of a table has: those that may hold a record."""
    return int(np.count_nonzero(table.possible)) if table.impossible else table.size


def _laid_out(values: NDArray[Any], table: Table) -> NDArray[Any]:
    """The values of the possible cells in their places among all, and 0 in the others."""
    if not table.impossible:
        return values.reshape(table.shape)
    cells = np.zeros(table.shape, dtype=values.dtype)
    cells[table.possible] = values
    return cells


_TABLE = Table((Attribute("a", Levels.of("123")), Attribute("b", Levels.of(["4", "5", {"code": "41", "parent": "4"}]))))
_SUBJECT = Subject("jobs", "count", "Jobs", "jobs", Fraction(1))
EXAMPLE = Cube(_SUBJECT, _TABLE, np.arange(6).reshape(3, 2), Independent(2.0))
