"""Product: the published cells of one measure; it answers totals over boxes and their covariances, nothing else."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Integers
from sfumato.release.uncertainty import Independent, Uncertainty, Withheld
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

    def totals(self, grid: Grid) -> Integers:
        """The totals of all boxes of a grid."""
        return np.array([self.total(box) for box in grid.boxes()], dtype=np.int64).reshape(grid.shape)

    def variances(self, grid: Grid) -> Floats | Withheld:
        """The variances of all totals of a grid."""
        found = []
        for box in grid.boxes():
            variance = self.covariance(box, box)
            if isinstance(variance, Withheld):
                return variance
            found.append(variance)
        return np.array(found, dtype=float).reshape(grid.shape)


@dataclass(frozen=True, eq=False)
class Cube(Product):
    """One value a cell of a table, impossible cells held at zero."""

    subject: Subject
    table: Table
    values: Integers
    uncertainty: Uncertainty

    @property
    def attributes(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.table.attributes

    def total(self, box: Box) -> int:
        return int(self.values[np.ix_(*(box.mask(attribute) for attribute in self.attributes))].sum())

    def covariance(self, one: Box, other: Box) -> float | Withheld:
        return self.uncertainty.covariance(self.table, one, other)

    def cells(self, box: Box) -> int:
        return self.table.count(box)

    def totals(self, grid: Grid) -> Integers:
        return self._summed(self.values, grid)

    def variances(self, grid: Grid) -> Floats | Withheld:
        if not isinstance(self.uncertainty, Independent):
            return super().variances(grid)
        counts = self._summed(self.table.possible.astype(np.int64), grid)
        return np.asarray(counts * self.uncertainty.variance, dtype=np.float64)

    def _summed(self, values: Integers, grid: Grid) -> Integers:
        """Sums over every box at once: select the universe, then fold each axis into its groups."""
        masks = [grid.within.mask(attribute) for attribute in self.attributes]
        part = values[np.ix_(*masks)]
        names = [attribute.name for attribute in self.attributes]
        asked = dict(grid.axes)
        for axis in reversed(range(len(names))):
            if names[axis] not in asked:
                part = part.sum(axis=axis, keepdims=True)
        for axis, name in enumerate(names):
            if name in asked:
                groups = asked[name][:, masks[axis]].astype(np.int64)
                part = np.moveaxis(np.tensordot(groups, part, axes=(1, axis)), 0, axis)
        kept = [axis for axis, name in enumerate(names) if name in asked]
        part = part.reshape([part.shape[axis] for axis in kept])
        order = [name for name in names if name in asked]
        return np.ascontiguousarray(part.transpose([order.index(name) for name, _ in grid.axes]))
