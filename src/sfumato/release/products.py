"""Product: the published cells of one measure; it answers totals over boxes and their covariances, nothing else."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.release.counts import counts_over
from sfumato.release.lattice import Lattice
from sfumato.release.noisy import Integers
from sfumato.release.statuses import Statuses
from sfumato.release.uncertainty import Batched, Independent, Uncertainty, Withheld
from sfumato.schema import Attribute, Box, Grid, Table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Subject:
    """What the numbers of a product are about."""

    name: str
    statistic: str
    title: str
    unit: str
    step: Fraction
    additive: bool = True
    universe: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mechanism: str = ""
    note: str = ""


class Product(ABC):
    """Published numbers on which any box can be asked; the query engine knows no more than this."""

    subject: Subject
    attributes: tuple[Attribute, ...]

    @abstractmethod
    def total(self, box: Box) -> int:
        """The sum over a box, an exact integer of steps."""

    @abstractmethod
    def covariance(self, one: Box, other: Box) -> float | Withheld:
        """The covariance of two totals by privacy noise, in squared steps."""

    @abstractmethod
    def cells(self, box: Box) -> int:
        """How many published cells a box sums."""

    def refuses(self, names: frozenset[str]) -> str:  # noqa: ARG002 - most products answer every question
        """Why a question that tells these attributes apart, by its axes or filters, has no answer; '' where it has."""
        return ""

    def missing(self, grid: Grid) -> Statuses | None:  # noqa: ARG002 - most products hold every number
        """Which boxes of a grid hold no number, and why; None where all of them hold one."""
        return None

    def totals(self, grid: Grid) -> Integers:
        """The totals of all boxes of a grid."""
        return np.array([self.total(box) for box in grid.boxes()], dtype=np.int64).reshape(grid.shape)

    def cell_counts(self, grid: Grid) -> Integers:
        """How many published cells each box of a grid sums."""
        return np.array([self.cells(box) for box in grid.boxes()], dtype=np.int64).reshape(grid.shape)

    def excess(self, cells: Integers) -> Floats:
        """The excess kurtosis of the noise of totals over so many cells; 0 where it is normal or not known."""
        return np.zeros(len(cells))

    def variances(self, grid: Grid) -> Floats | Withheld:
        """The variances of all totals of a grid."""
        return self.with_whole(grid, tuple(name for name, _ in grid.axes))

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats | Withheld:
        """The covariances of the totals of a grid, each with the total of the wider box that only some axes tell."""
        found = []
        for box, whole in zip(grid.boxes(), _wholes(grid, kept), strict=True):
            shared = self.covariance(box, whole)
            if isinstance(shared, Withheld):
                return shared
            found.append(shared)
        return np.array(found, dtype=float).reshape(grid.shape)

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats | Withheld:
        """The covariance of each of some totals with each of some others."""
        found = np.zeros((len(ones), len(others)))
        for row, one in enumerate(ones):
            for column, other in enumerate(others):
                shared = self.covariance(one, other)
                if isinstance(shared, Withheld):
                    return shared
                found[row, column] = shared
        return found


def _wholes(grid: Grid, kept: tuple[str, ...]) -> Iterator[Box]:
    """For every box of a grid the wider one that only some axes tell."""
    whole = (groups if name in kept else np.ones_like(groups) for name, groups in grid.axes)
    return Grid(tuple((name, masks) for (name, _), masks in zip(grid.axes, whole, strict=True)), grid.within).boxes()


class Tabled(Product):
    """A value a cell of a table, with an uncertainty that knows the table."""

    table: Table
    uncertainty: Uncertainty

    @property
    def attributes(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.table.attributes

    def covariance(self, one: Box, other: Box) -> float | Withheld:
        return self.uncertainty.covariance(self.table, one, other)

    def cells(self, box: Box) -> int:
        return self.table.count(box)

    def cell_counts(self, grid: Grid) -> Integers:
        return counts_over(self.table, grid)

    def excess(self, cells: Integers) -> Floats:
        stated = self.uncertainty.excess if isinstance(self.uncertainty, Independent) else 0.0
        return np.asarray(stated / np.maximum(cells, 1), dtype=np.float64)

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats | Withheld:
        if not isinstance(self.uncertainty, Batched):
            return super().with_whole(grid, kept)
        found = self.uncertainty.with_whole(self.table, grid, kept)
        return found if isinstance(found, Withheld) else found.reshape(grid.shape)

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats | Withheld:
        if not isinstance(self.uncertainty, Batched):
            return super().covariances(ones, others)
        return self.uncertainty.covariances(self.table, ones, others)


@dataclass(frozen=True, eq=False)
class Cube(Tabled):
    """Every cell laid out, impossible ones held at zero; of a release in 32 bits where no sum needs more."""

    subject: Subject
    table: Table
    values: Integers
    uncertainty: Uncertainty

    @cached_property
    def lattice(self) -> Lattice:
        """The margins that questions are answered from."""
        return Lattice(self.values, self.attributes)

    def total(self, box: Box) -> int:
        return int(self.lattice.totals(Grid((), box)))

    def totals(self, grid: Grid) -> Integers:
        return self.lattice.totals(grid)
